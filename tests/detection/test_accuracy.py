"""What detectors must reach on held-out writing of the hospital; `benchmarks/accuracy.py` measures more of it."""

from __future__ import annotations

import pytest

from deid_platform.corpora.hospital import HospitalSpec, Part, generate
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.scores.scores import Scores, count_note, summarise
from deid_platform.notes import Topics

pytestmark = pytest.mark.slow

NOTES = 150
# Recall and precision.
LEAST = {
    ("rules", "topics"): (0.985, 0.975),
    ("rules", "text"): (0.90, 0.95),
    ("ensemble", "topics"): (0.995, 0.975),
    ("ensemble", "text"): (0.99, 0.975),
}


@pytest.fixture(scope="module")
def scores() -> dict[tuple[str, str], Scores]:
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

    return {
        (name, inputs): scored(DetectorSpec(name, topics=topics if inputs == "topics" else None))
        for name, inputs in LEAST
    }


@pytest.mark.parametrize(("detector", "inputs"), LEAST)
def test_it_finds_what_nobody_developed_it_on(
    detector: str, inputs: str, scores: dict[tuple[str, str], Scores]
) -> None:
    found, (recall, precision) = scores[detector, inputs], LEAST[detector, inputs]
    assert found.recall.total > 1000
    assert found.recall.value >= recall
    assert found.precision.value >= precision
