"""`deid evaluate --misses` and `--json`: the words behind the table, and the table in exact numbers."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from deid_platform.cli import app
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.misses import miss_lines
from deid_platform.evaluation.scores.scores import count_note
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

TEXT = "Ms. Quillfeather met Dr. Alan Reed on 03/04/2019.\nHer aunt Jo Brandt-Lowe of Millbrook called from room 12."
GOLD = {
    "note_id": "n1",
    "text": TEXT,
    "spans": [
        [TEXT.index(surface), TEXT.index(surface) + len(surface), label]
        for surface, label in (
            ("Quillfeather", "PATIENT"),
            ("Alan Reed", "DOCTOR"),
            ("Jo Brandt-Lowe", "PATIENT"),
        )
    ],
}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(GOLD) + "\n" + json.dumps({"note_id": "n2", "text": "Well.", "spans": []}) + "\n")
    return path


def evaluate(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_misses_are_shown_in_context_in_a_private_file(gold: Path, tmp_path: Path) -> None:
    shown = evaluate(gold, "--misses", tmp_path / "misses.jsonl", "--detector", "roster")
    assert shown.exit_code == 0, shown.output
    assert "6 missed words" in " ".join(shown.stdout.split())
    assert "belongs into the PHI zone" in " ".join(shown.stdout.split())
    assert stat.S_IMODE((tmp_path / "misses.jsonl").stat().st_mode) == 0o600
    found = lines_of((tmp_path / "misses.jsonl").read_text())
    assert [(line["text"], line["label"], line["words"]) for line in found] == [
        ("Quillfeather", "PATIENT", 1),
        ("Alan Reed", "DOCTOR", 2),
        ("Jo Brandt-Lowe", "PATIENT", 3),
    ]
    for line in found:
        assert (line["note_id"], line["kind"]) == ("n1", "missed")
        assert TEXT[line["start"] : line["end"]] == line["text"]
        assert line["before"] + line["text"] + line["after"] == TEXT[max(0, line["start"] - 40) : line["end"] + 40]


def test_the_words_of_the_file_add_up_to_the_scores(gold: Path, tmp_path: Path) -> None:
    shown = evaluate(gold, "--misses", tmp_path / "misses.jsonl", "--json")
    whole, *labels = lines_of(shown.stdout)
    assert "belongs into the PHI zone" in " ".join(shown.stderr.split())
    words = dict.fromkeys(("missed", "wrongly hidden"), 0)
    for line in lines_of((tmp_path / "misses.jsonl").read_text()):
        words[line["kind"]] += line["words"]
    assert words == {"missed": whole["missed_words"], "wrongly hidden": whole["wrongly_hidden_words"]}
    assert words["wrongly hidden"] >= 3, "the date, which this gold does not mark"
    assert whole["label"] == "all"
    assert whole["recall"] == (whole["gold_words"] - whole["missed_words"]) / whole["gold_words"]
    assert (whole["notes"], whole["gold_words"]) == (2, 6)
    assert {"PATIENT", "DOCTOR", "DATE"} <= {row["label"] for row in labels}
    assert all(row.keys() == whole.keys() and row["f1"] is row["notes"] is None for row in labels)


def test_the_misses_may_not_replace_an_input(gold: Path, tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("patient_id\np1\n")
    (tmp_path / "link").symlink_to(gold)
    for target in (gold, tmp_path / "link", tmp_path / "patients.csv"):
        content = target.read_text()
        refused = evaluate(gold, "--misses", target, "--patients", tmp_path / "patients.csv")
        assert isinstance(refused.exception, DeidError)
        assert (refused.exception.code, refused.exception.ref) == (Code.INPUT_INVALID, "output is the input")
        assert target.read_text() == content


def test_a_pass_that_fails_leaves_no_file_of_misses(gold: Path, tmp_path: Path) -> None:
    assert evaluate(gold, "--misses", tmp_path / "misses.jsonl", "--detector", "oracle").exit_code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["gold.jsonl"]


WORDS = "Ann O'Brien-Smith, 3/4/19; 王小明 x"
spans = st.lists(
    st.builds(
        lambda start, length, label: Span(start, min(len(WORDS), start + length), label),
        st.integers(0, len(WORDS) - 1),
        st.integers(1, 12),
        st.sampled_from((Label.PATIENT, Label.DATE)),
    ),
    max_size=5,
)


@given(spans, spans)
def test_each_word_that_one_side_alone_touches_is_in_one_line(gold: list[Span], predicted: list[Span]) -> None:
    counts = count_note(WORDS, gold, predicted)
    lines = [json.loads(line) for line in miss_lines(Note("n", WORDS), gold, predicted)]
    found = {kind: sum(ln["words"] for ln in lines if ln["kind"] == kind) for kind in ("missed", "wrongly hidden")}
    assert found == {"missed": counts.false_negatives, "wrongly hidden": counts.false_positives}
    assert [ln["start"] for ln in lines] == sorted({ln["start"] for ln in lines})
    for line in lines:
        own = gold if line["kind"] == "missed" else predicted
        assert any(s.label == line["label"] and s.start < line["end"] and line["start"] < s.end for s in own)
