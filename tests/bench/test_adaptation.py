"""What marked notes of a site are worth: which notes a site is measured on, and what is forgotten elsewhere."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from deid_platform.corpora.library.authors import Use, author, authors
from deid_platform.evaluation.scores.scores import NoteCounts

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def adaptation(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("adaptation")


def test_each_note_is_in_one_fold_and_learned_from_in_the_others(adaptation: ModuleType) -> None:
    notes = adaptation.marked_notes(author("de-bayern"))
    parts = list(adaptation.folds(notes, 3))
    assert sorted(note.note_id for held, _ in parts for note in held) == sorted(note.note_id for note in notes)
    for held, rest in parts:
        assert {note.note_id for note in held} | {note.note_id for note in rest} == {note.note_id for note in notes}
        assert len(held) + len(rest) == len(notes)


@pytest.mark.parametrize(("name", "all_others"), [("en-us-county", False), ("it-lazio", False), ("en-ca", True)])
def test_elsewhere_are_other_authors_of_the_same_use_and_some_stay_to_learn_from(
    adaptation: ModuleType, name: str, all_others: bool
) -> None:
    site = author(name)
    elsewhere = adaptation.elsewhere_of(site, None)
    others = [one for one in authors(site.use) if one != site]
    assert site not in elsewhere
    assert set(elsewhere) <= set(others)
    assert (len(elsewhere) == len(others)) is all_others
    assert adaptation.elsewhere_of(site, [name, "es-es"]) == [author("es-es")]
    assert site.use is not Use.TRAINING or len(others) - len(elsewhere) > 6


def counts(*missed: int) -> tuple[NoteCounts, ...]:
    return tuple(NoteCounts(100, 20 - lost, 0, lost, 1, 1, cluster=str(at)) for at, lost in enumerate(missed))


def test_what_is_forgotten_is_that_of_the_worst_fold(adaptation: ModuleType) -> None:
    before = adaptation.Point(0, (), (counts(2, 2, 2),), 0)
    after = adaptation.Point(10, (), (counts(2, 2, 1), counts(2, 3, 4)), 0)
    none, lost = adaptation.forgotten([before, after])
    assert none[0].value == 0
    assert lost[0].value == pytest.approx(-0.05)


def test_the_table_has_a_row_for_each_size_as_far_as_the_notes_reach(
    adaptation: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    learned: list[int] = []

    def trained(marked: list, how: object, folder: Path) -> str:
        learned.append(len(marked))
        return str(folder)

    def counted(notes: list, model: str, workers: int) -> tuple[NoteCounts, ...]:
        return tuple(NoteCounts(100, 18 + (model != "minilm"), 1, 2, 5, 4, cluster=note.note_id) for note in notes)

    monkeypatch.setattr(adaptation, "trained", trained)
    monkeypatch.setattr(adaptation, "counted", counted)
    told = ("de-bayern", "--sizes", "4", "40", "--by", "lot", "--elsewhere-notes", "3")
    files = (tmp_path / "curve.png", tmp_path / "curve.json")
    monkeypatch.setattr("sys.argv", ["adaptation.py", *told, "--figure", str(files[0]), "--json", str(files[1])])
    adaptation.main()
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| de-bayern")]
    assert [row[1] for row in rows] == ["0", "4", "8"]
    assert learned == [4, 4, 8, 8]
    assert [row[3][:7] for row in rows] == ["+0.0000", "+0.0048", "+0.0048"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert "recall, de-bayern, 8 notes" in files[1].read_text()
