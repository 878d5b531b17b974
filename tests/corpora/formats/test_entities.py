"""Gold of texts and types without offsets: where its entities stand, and what costs a note."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deid_platform.cli import app
from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.formats import gold_format
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.gold_sets import GoldSet, form_of
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label

NOTE = "Rosa D'Amico, 47 anni, nata a Forlì,\n torna all'Ospedale di Forlì. ROSA ha 47 cani; Forlìmpopoli no."


def line(note_id: str, *entities: tuple[str, str], text: str = NOTE) -> str:
    listed = [{"text": words, "type": kind} for words, kind in entities]
    return json.dumps({"note_id": note_id, "text": text, "entities": listed}, ensure_ascii=False)


def written(folder: Path, *lines: str, name: str = "gold.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{each}\n" for each in lines), "utf-8")
    return path


def read(path: Path) -> list[Gold | Rejection]:
    return list(gold_format("entities").read(path, scheme="miranda-2025"))


def test_every_occurrence_of_an_entity_as_a_whole_word_is_a_span(tmp_path: Path) -> None:
    entities = (
        ("Rosa D'Amico", "NOME"),
        ("47", "ETÀ"),
        ("Forlì", "LUOGO/INDIRIZZO"),
        ("Ospedale di Forlì", "OSPEDALE"),
    )
    (gold,) = read(written(tmp_path, line("1", *entities, ("47", "ETÀ"))))
    assert isinstance(gold, Gold) and gold.note is not None
    assert [(NOTE[it.start : it.end], it.label) for it in gold.spans] == [
        ("Rosa D'Amico", Label.PATIENT),
        ("47", Label.AGE),
        ("Forlì", Label.LOCATION_OTHER),
        ("Ospedale di Forlì", Label.HOSPITAL),  # the town within it is none of its own
        ("47", Label.AGE),
    ]
    assert (gold.note_id, gold.note.text, gold.note.language) == ("1", NOTE, "it")


def test_a_line_break_stands_for_a_blank_and_no_entity_at_all_is_gold_too(tmp_path: Path) -> None:
    one, none = read(written(tmp_path, line("1", ("Forlì, torna", "LUOGO/INDIRIZZO")), line("2")))
    assert isinstance(one, Gold) and isinstance(none, Gold)
    assert [NOTE[it.start : it.end] for it in one.spans] == ["Forlì,\n torna"]
    assert none.spans == ()


def test_of_an_entity_that_crosses_a_longer_one_the_rest_is_a_span(tmp_path: Path) -> None:
    (gold,) = read(written(tmp_path, line("1", ("Ospedale di Forlì", "OSPEDALE"), ("Forlì. ROSA", "NOME"))))
    assert isinstance(gold, Gold)
    assert [NOTE[it.start : it.end] for it in gold.spans] == ["Ospedale di Forlì", "ROSA"]


def test_a_corpus_of_such_notes_is_filled_with_surrogates(tmp_path: Path) -> None:
    written(tmp_path, line("1", ("Rosa D'Amico", "NOME"), ("Forlì", "LUOGO/INDIRIZZO")), name="notes.jsonl")
    own = '[corpora.sets.mine]\npath = "notes.jsonl"\nformat = "entities"\nscheme = "miranda-2025"\n'
    config = tmp_path / "deid.toml"
    config.write_text(f'site = "north"\n{own}')
    asked = ["corpora", "fill", "mine", str(tmp_path / "out"), "--locale", "it_IT", "--config", str(config)]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    packed = sorted((tmp_path / "out").rglob("notes*.jsonl.gz"))
    filled = "".join(gzip.decompress(file.read_bytes()).decode() for file in packed)
    assert "47 anni" in filled and "D'Amico" not in filled and "Forlì," not in filled


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (line("b", ("47", "ETÀ"), ("Rosa Bianchi", "NOME")), Reason.ABSENT_ENTITY),
        (line("b", ("rosa d'amico", "NOME")), Reason.ABSENT_ENTITY),  # case as written
        (line("b", ("Forl", "LUOGO/INDIRIZZO")), Reason.ABSENT_ENTITY),  # no whole word
        (line("b", (" ", "NOME")), Reason.ABSENT_ENTITY),
        (line("b", ("47", "NUMERO DI SCARPE")), Reason.UNKNOWN_LABEL),
        (json.dumps({"note_id": "b", "text": NOTE, "entities": [["47", "ETÀ"]]}), Reason.MALFORMED_ROW),
        (json.dumps({"note_id": "b", "text": NOTE, "entities": "47"}), Reason.MALFORMED_ROW),
        (json.dumps({"note_id": "b", "text": NOTE, "spans": []}), Reason.MISSING_GOLD),
        (json.dumps({"note_id": "b", "entities": []}), Reason.EMPTY_TEXT),
        (line("a"), Reason.DUPLICATE_NOTE_ID),
    ],
)
def test_what_cannot_be_used_costs_its_note_alone_with_a_reason(tmp_path: Path, broken: str, reason: Reason) -> None:
    first, rejected, last = read(written(tmp_path, line("a"), broken, line("z")))
    assert isinstance(first, Gold) and isinstance(last, Gold) and isinstance(rejected, Rejection)
    assert (rejected.reason, rejected.row) == (reason, 2)
    assert "Bianchi" not in repr(rejected)


def test_it_is_told_by_its_first_line_and_never_written(tmp_path: Path) -> None:
    path = written(tmp_path, line("1", ("47", "ETÀ")))
    assert form_of(path) == form_of(tmp_path) == "entities"
    assert [len(gold.spans) for gold in GoldSet(path)] == [2]
    with pytest.raises(DeidError) as error:
        gold_format("entities").write([], tmp_path / "out.jsonl")
    assert error.value.code is Code.FORMAT_UNKNOWN


def test_a_detector_is_scored_on_it_and_the_notes_that_it_costs_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path, line("1", ("Rosa D'Amico", "NOME")), line("2", ("Bianchi", "NOME")))
    done = CliRunner().invoke(app, ["evaluate", str(path), "--detector", "rules", "--json", "--resamples", "2"])
    assert done.exit_code == 3, done.output
    assert "1 row refused: absent_entity, line 2" in done.stderr
    assert json.loads(done.stdout.splitlines()[0])["notes"] == 1
    assert "Bianchi" not in done.output
