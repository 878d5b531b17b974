"""What the rules must reach on held-out writing of the hospital; `benchmarks/accuracy.py` measures more of it."""

from __future__ import annotations

import pytest

from deid_platform.corpora.hospital import HospitalSpec, Part, generate
from deid_platform.detection import DetectorSpec
from deid_platform.engine import LocalEngine
from deid_platform.evaluation.scores import Scores, count_note, summarise
from deid_platform.notes import Topics

pytestmark = pytest.mark.slow

NOTES = 150


@pytest.fixture(scope="module")
def scores() -> dict[str, Scores]:
    topics, newest = Topics(), {}
    for delivery in generate(HospitalSpec(seed=11, notes=NOTES, part=Part.HELD_OUT)):
        topics = topics.folded(delivery.topics)
        newest |= {note.note_id: (note, delivery.gold[note.note_id]) for note in delivery.notes}
    notes = [note for note, _ in newest.values()]
    assert len(notes) >= NOTES * 0.9

    def scored(spec: DetectorSpec) -> Scores:
        return summarise(
            count_note(note.text, newest[note.note_id][1], found.spans or (), cluster=note.patient_id)
            for note, found in LocalEngine().detect_in_two_passes(spec, lambda: notes)
        )

    return {"topics": scored(DetectorSpec("rules", topics=topics)), "text": scored(DetectorSpec("rules"))}


@pytest.mark.parametrize(("inputs", "recall", "precision"), [("topics", 0.985, 0.975), ("text", 0.90, 0.95)])
def test_rules_find_what_nobody_developed_them_on(
    inputs: str, recall: float, precision: float, scores: dict[str, Scores]
) -> None:
    found = scores[inputs]
    assert found.recall.total > 1000
    assert found.recall.value >= recall
    assert found.precision.value >= precision
