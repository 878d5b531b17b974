"""A stage that fails on a note fails that note alone, with a code and without its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Document
from deid_platform.detection.pipeline import Candidates, Pipeline, Stage
from deid_platform.engine import LocalEngine
from deid_platform.errors import Code
from deid_platform.notes import Note, Patient, Provider, Topics

SECRET = "Quarmby"
TOPICS = Topics.of(
    [Patient("P1", first_name="Zebulon", last_name=SECRET)], [Provider("D1", first_name="Ada", last_name="Ndoye")], []
)
NOTES = [Note(str(at), text, patient_id="P1") for at, text in enumerate(["Dr. Ndoye came.", f"Saw {SECRET}.", "Ok."])]


@dataclass(frozen=True)
class Failing(DetectorSpec):
    """One stage raises where a document holds the secret."""

    stage: str = ""

    def build(self) -> Pipeline:
        pipeline = self.pipeline()
        pipeline.stages[self.stage] = _failing(pipeline.stages[self.stage])
        return pipeline


def _failing(stage: Stage) -> Stage:
    def fail(documents: Sequence[Document], candidates: Candidates) -> Candidates:
        for document in documents:
            if SECRET in document.text:
                raise ValueError(document.text)
        return stage(documents, candidates)

    return fail


STAGES = list(DetectorSpec("ensemble", topics=TOPICS).pipeline().stages)


def test_the_stages_are_those_of_the_ensemble() -> None:
    assert {"rules", "propagation", "gazetteer", "roster", "model:minilm", "recovery", "relatives"} <= set(STAGES)


@pytest.mark.parametrize("stage", STAGES)
def test_the_note_alone_fails(stage: str) -> None:
    spec = Failing("ensemble", topics=TOPICS, stage=stage)
    found = list(LocalEngine().detect(spec, NOTES))
    assert [one.error for one in found] == [None, Code.DETECTOR_FAILED, None]
    assert found[1].spans is None
    assert [len(one.spans or ()) for one in found] == [1, 0, 0]
