"""What each source adds, counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

from deid_platform.corpora.gold_sets import GoldSet
from deid_platform.detection import DetectorSpec
from deid_platform.evaluation.scores.contributions import Contribution, contributions, contributions_on
from deid_platform.evaluation.scores.files import contributions_to
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

TEXT = "Ann Lee saw Foley on 3/14"
#       0   4   8   12    18 21
GOLD = [Span(0, 7, Label.PATIENT), Span(21, 25, Label.DATE)]


def found(start: int, end: int, source: str) -> Span:
    return Span(start, end, Label.PATIENT, source=source)


def test_words_by_who_found_them() -> None:
    both = [found(0, 7, "rules:title"), found(0, 3, "model:m"), found(12, 17, "model:m"), found(21, 25, "rules:date")]
    assert contributions([(TEXT, GOLD, both), (TEXT, GOLD, [found(8, 17, "rules:title")])]) == [
        Contribution("rules:date", right=2, right_alone=2, wrong=0, wrong_alone=0),
        # Lee alone, and in the second note "saw Foley" wrongly.
        Contribution("rules:title", right=2, right_alone=1, wrong=2, wrong_alone=2),
        Contribution("model:m", right=1, right_alone=0, wrong=1, wrong_alone=1),
    ]


def test_a_word_that_one_source_finds_twice_is_its_own() -> None:
    (one,) = contributions([(TEXT, GOLD, [found(0, 3, "a"), found(0, 7, "a")])])
    assert one == Contribution("a", right=2, right_alone=2, wrong=0, wrong_alone=0)


def test_of_a_detector_on_a_gold_file(tmp_path: Path) -> None:
    text = "Seen by Dr. Alan Reed on 3/14/2019."
    line = {"note_id": "1", "text": text, "spans": [[12, 21, "DOCTOR"], [25, 34, "DATE"]]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(line))
    rows = contributions_to(GoldSet(tmp_path / "gold.jsonl"), spec=DetectorSpec("rules"))
    assert {row.source for row in rows} >= {"rules:doctor-title"}
    assert sum(row.right_alone for row in rows) <= 5
    assert all(row.wrong == 0 for row in rows)


def test_what_recognizers_cost_is_told_of_those_that_find_nothing_too() -> None:
    note = Note("1", "Seen by Dr. Alan Reed on 3/14/2019; call 617-555-0142.")
    rows = contributions_on([(note, (Span(12, 21, Label.DOCTOR),))], DetectorSpec("rules"))
    by_source = {row.source: row for row in rows}
    assert by_source["rules:doctor-title"].seconds > 0
    assert {row.right + row.wrong for row in rows} > {0}
    assert all(source.startswith("rules:") for source, row in by_source.items() if row.seconds)
