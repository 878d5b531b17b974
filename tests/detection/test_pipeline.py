"""The stages: each can be switched off by name, and a model joins them by one entry of the registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from detector_contract import check_model

from deid_platform.detection import DetectorSpec, stage_names
from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.registry import MODELS, Model
from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Topics

WORDS = {
    "Zorbel": Label.PATIENT,
    "Foley": Label.PATIENT,
    "Quarmby": Label.DOCTOR,
    "aspirin": Label.PATIENT,
    "Ndoye": Label.DOCTOR,
}


class ToyModel:
    """Finds every word of a list, as sure as a model can be; remembers how many documents it was given at once."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        self.batches.append(len(documents))
        return [list(self._find(document.text)) for document in documents]

    def _find(self, text: str) -> Iterator[Candidate]:
        for word, label in WORDS.items():
            start = text.find(word)
            if start >= 0:
                source = Source(SourceKind.MODEL, "toy")
                yield Candidate(start, start + len(word), label, source, Evidence.PREDICTED, 0.999)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> ToyModel:
    model = ToyModel()
    monkeypatch.setitem(MODELS, "toy", Model(lambda *_: model, lambda: "toy-1"))
    return model


def found(text: str, spec: DetectorSpec) -> list[tuple[str, str]]:
    (spans,) = spec.build().detect([Note("n", text, patient_id="P1")])
    return [(text[span.start : span.end], span.label.value) for span in spans]


def test_the_toy_model_keeps_the_contract_of_models() -> None:
    check_model(ToyModel)


def test_a_model_joins_by_one_entry_and_reads_a_whole_batch_at_once(toy: ToyModel) -> None:
    notes = [Note(str(i), f"the Zorbel account, page {i}") for i in range(7)]
    spans = DetectorSpec("ensemble", models=("toy",)).build().detect(notes)
    assert [[span.source for span in each] for each in spans] == [["model:toy"]] * 7
    assert toy.batches == [7]
    assert DetectorSpec("rules").build().detect(notes) == [()] * 7


def test_what_a_model_and_a_rule_find_is_merged_and_of_equals_the_rule_names_it(toy: ToyModel) -> None:
    assert found("Seen by Dr. Quarmby today.", DetectorSpec("ensemble", models=("toy",))) == [("Quarmby", "DOCTOR")]
    (spans,) = DetectorSpec("ensemble", models=("toy",)).build().detect([Note("n", "Seen by Dr. Quarmby today.")])
    assert [span.source for span in spans] == ["rules:doctor-title"]


def test_what_a_model_predicts_is_recovered_however_probable_it_is(toy: ToyModel) -> None:
    text = "Foley catheter placed; aspirin given."
    assert found(text, DetectorSpec("ensemble", models=("toy",))) == []
    assert found(text, DetectorSpec("ensemble", models=("toy",), without=("recovery", "local_words"))) == [
        ("Foley", "PATIENT"),
        ("aspirin", "PATIENT"),
    ]


def test_what_a_model_predicts_is_told_to_no_other_note_and_marks_nothing_else_in_its_own(toy: ToyModel) -> None:
    text = "the Zorbel account. Later Zorbel again."
    (spans,) = DetectorSpec("ensemble", models=("toy",)).build().detect([Note("n", text)])
    assert [(span.start, span.score) for span in spans] == [(4, 0.999)]
    assert not mentioned_in(text, spans)


def test_the_roster_knows_better_than_a_model(toy: ToyModel, topics: Topics) -> None:
    text = "Zebulon Quarmby called."
    (spans,) = (
        DetectorSpec("ensemble", topics=topics, models=("toy",)).build().detect([Note("n", text, patient_id="P1")])
    )
    assert [(text[s.start : s.end], s.label, s.source) for s in spans] == [("Zebulon Quarmby", Label.PATIENT, "roster")]


def test_what_a_model_marks_around_a_name_takes_nothing_from_its_evidence(
    toy: ToyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WORDS, "We met Mrs. Vexworth", Label.PATIENT)
    text = "We met Mrs. Vexworth today."
    (spans,) = DetectorSpec("ensemble", models=("toy",)).build().detect([Note("n", text)])
    assert [(text[span.start : span.end], span.source) for span in spans] == [
        ("We met Mrs. Vexworth", "rules:person-title")
    ]
    assert "vexworth" in mentioned_in(text, spans).names


def test_a_model_and_its_digest_are_part_of_what_the_bench_approves(
    toy: ToyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = {DetectorSpec("ensemble", models=("toy",)).detector_digest, DetectorSpec("rules").detector_digest}
    monkeypatch.setitem(MODELS, "toy", Model(lambda *_: toy, lambda: "toy-2"))
    assert len({*digests, DetectorSpec("ensemble", models=("toy",)).detector_digest}) == 3


@pytest.mark.parametrize("name", ["rules", "roster", "recovery"])
def test_a_model_that_is_called_as_a_stage_replaces_none(
    name: str, toy: ToyModel, topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, name, Model(lambda *_: toy, lambda: "toy-1"))
    text = "Zebulon Quarmby, SSN 900-12-3456. Foley catheter."
    alone = found(text, DetectorSpec("rules", topics=topics))
    assert found(text, DetectorSpec("ensemble", topics=topics, models=(name,))) == alone
    assert toy.batches == [1]


@pytest.mark.parametrize("detector", ["rules", "patterns"])
def test_a_model_that_would_not_run_is_refused(detector: str, toy: ToyModel) -> None:
    spec = DetectorSpec(detector, models=("toy",))
    for use in (DetectorSpec.build, lambda spec: spec.detector_digest):
        with pytest.raises(DeidError) as refused:
            use(spec)
        assert refused.value.code is Code.SETTINGS_INVALID


def test_a_note_on_which_a_model_fails_is_withheld_alone(toy: ToyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ToyModel.detect

    def failing(model: ToyModel, documents: Sequence[Document]) -> list[list[Candidate]]:
        if any("Zorbel" in document.text for document in documents):
            raise ValueError("Zorbel")
        return whole(model, documents)

    monkeypatch.setattr(ToyModel, "detect", failing)
    notes = [Note(str(number), f"{name} was here") for number, name in enumerate(("Quarmby", "Zorbel", "Ndoye"))]
    read = LocalEngine().detect_in_two_passes(DetectorSpec("ensemble", models=("toy",)), lambda: notes)
    assert [(d.error, d.spans is None) for _, d in read] == [(None, False), (Code.DETECTOR_FAILED, True), (None, False)]


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(DeidError) as refused:
        DetectorSpec("ensemble", models=("tyo",)).build()
    assert refused.value.code is Code.DETECTOR_UNKNOWN


# A text in which only one stage finds something, what that is, and whether the topics are known.
BY_ONE_STAGE = [
    ("recognizers", "call 617-555-0142", "617-555-0142", False),
    ("line_wraps", "Phone: 617-555-\n0142", "617-555-\n0142", False),
    ("vocabulary", "Aurelia Brightwater came.", "Aurelia Brightwater", False),
    ("tables", "Name | Age\nOstrowe | 45\nTatewell | 51\n", "Ostrowe", False),
    ("propagation", "Mr. Ostrowe came.\n\nThe wound of Ostrowe heals.", "Ostrowe", False),
    ("staff_initials", "Dictated by: KQ", "KQ", False),
    ("gazetteer", "the MEMPLCPC desk", "MEMPLCPC", True),
    ("roster", "zebulon came", "zebulon", True),
]


@pytest.mark.parametrize(("stage", "text", "surface", "known"), BY_ONE_STAGE, ids=[case[0] for case in BY_ONE_STAGE])
def test_a_stage_that_is_switched_off_finds_nothing(
    stage: str, text: str, surface: str, known: bool, topics: Topics
) -> None:
    # Patterns know some of it too.
    others = ("recognizers",) if stage == "staff_initials" else ()
    spec = DetectorSpec("rules", topics=topics if known else None, without=others)
    with_it, without_it = found(text, spec), found(text, replace(spec, without=(*others, stage)))
    assert [name for name, _ in with_it].count(surface) > [name for name, _ in without_it].count(surface)


@pytest.mark.parametrize("stage", stage_names("rules"))
def test_every_stage_can_be_switched_off_and_makes_another_detector(stage: str) -> None:
    spec = DetectorSpec("rules", without=(stage,))
    assert stage not in spec.stages
    assert spec.detector_digest != DetectorSpec("rules").detector_digest
    spec.build().detect([Note("n", "Seen by Dr. Quarmby on 3/14/2019; MRN 00987654.")])


def test_a_stage_that_a_detector_does_not_have_is_refused() -> None:
    with pytest.raises(DeidError) as refused:
        DetectorSpec("roster", without=("recovery",)).build()
    assert refused.value.code is Code.STAGE_UNKNOWN


def test_an_answer_does_not_depend_on_who_else_is_in_the_batch() -> None:
    detector = DetectorSpec("rules").build()
    notes = [Note(str(i), f"Mr. Ostrowe{'a' * i} came on 3/{i + 1}/2019.\n\nOstrowe left.") for i in range(9)]
    together = detector.detect(notes)
    assert together == [detector.detect([note])[0] for note in notes]
