"""A stage that fails on a note fails that note alone, with a code and without its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Document
from deid_platform.detection.combination import Combination
from deid_platform.detection.models.loading import Models
from deid_platform.detection.pipeline import Candidates, Pipeline, Stage
from deid_platform.detection.registry import JUDGES
from deid_platform.detection.resolve.judgement import ToWeigh
from deid_platform.engine.engines import LocalEngine
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

    def build(self, models: Models | None = None) -> Pipeline:
        pipeline = self.pipeline(models)
        pipeline.stages[self.stage] = _failing(pipeline.stages[self.stage])
        return pipeline


def _failing(stage: Stage) -> Stage:
    def fail(documents: Sequence[Document], candidates: Candidates) -> Candidates:
        for document in documents:
            if SECRET in document.text:
                raise ValueError(document.text)
        return stage(documents, candidates)

    return fail


SPEC = DetectorSpec("ensemble", topics=TOPICS, combination=Combination(judge="vocabulary"))
STAGES = list(SPEC.pipeline().stages)


def test_the_stages_are_those_of_the_ensemble() -> None:
    resolving = {"recovery", "judge", "clinicians", "relatives"}
    assert {"rules", "propagation", "gazetteer", "roster", "model:minilm", *resolving} <= set(STAGES)


@pytest.mark.parametrize("stage", STAGES)
def test_the_note_alone_fails(stage: str) -> None:
    spec = Failing("ensemble", topics=TOPICS, combination=SPEC.combination, stage=stage)
    found = list(LocalEngine().detect(spec, NOTES))
    assert [one.error for one in found] == [None, Code.DETECTOR_FAILED, None]
    assert found[1].spans is None
    assert [len(one.spans or ()) for one in found] == [1, 0, 0]


class Undecided:
    """A judge that cannot say."""

    def weigh(self, asked: Sequence[ToWeigh]) -> list[list[float]]:
        raise ValueError(asked[0][0].text)


class Terse:
    """A judge that leaves something out."""

    def weigh(self, asked: Sequence[ToWeigh]) -> list[list[float]]:
        return [[1.0] * (len(removals) - 1) for _, removals in asked]


@pytest.mark.parametrize("judge", [Undecided, Terse])
def test_a_note_that_a_judge_cannot_weigh_is_withheld(judge: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(JUDGES, "odd", judge)
    spec = DetectorSpec("ensemble", combination=Combination(judge="odd"))
    # The first has a place in running text, the second a direct identifier, which no judge weighs.
    found = list(
        LocalEngine().detect(
            spec, [Note("1", "She moved here from Peebles last spring."), Note("2", "SSN 123-45-6789")]
        )
    )
    assert [one.error for one in found] == [Code.DETECTOR_FAILED, None]
    assert found[0].spans is None
    assert found[1].spans
