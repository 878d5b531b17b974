"""What decides where the parts of the ensemble disagree: doubt, the judge, and how far recovery goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Candidate, Document, Evidence, Likelihoods, Source, SourceKind
from deid_platform.detection.combination import Combination
from deid_platform.detection.resolve.doubt import Doubt
from deid_platform.detection.resolve.judgement import Judgement, ToWeigh
from deid_platform.detection.resolve.vocabulary_judge import VocabularyJudge
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note

FACILITY = Source(SourceKind.RULES, "facility")
TEXT = "SHE WAS SEEN AT MERCY HOSPITAL"


def read(text: str, likely: Mapping[str, float] | None = None, *, models: int = 1) -> Document:
    """A document whose words are no identifiers, as sure as can be, but for those that are given."""
    document = Document(Note("n", text))
    words = [(at, at + len(word), (likely or {}).get(word, 0.0)) for word, at in _words(text)]
    document.likelihoods = [Likelihoods(*zip(*words, strict=True)) for _ in range(models)]
    return document


def _words(text: str) -> list[tuple[str, int]]:
    found, at = [], 0
    for word in text.split(" "):
        found.append((word, at))
        at += len(word) + 1
    return found


def candidate(
    text: str,
    surface: str,
    *,
    label: Label = Label.HOSPITAL,
    source: Source = FACILITY,
    evidence: Evidence = Evidence.CONTEXT,
    confidence: float = 0.7,
) -> Candidate:
    start = text.index(surface)
    return Candidate(start, start + len(surface), label, source, evidence, confidence)


def left(text: str, found: list[Candidate]) -> list[str]:
    return [text[it.start : it.end] for it in found]


def test_what_every_model_doubts_is_cut_off_at_both_ends_and_never_inside() -> None:
    document = read("IN MERCY OF THE LAKE TODAY", {"MERCY": 0.9, "LAKE": 0.2})
    whole = candidate(document.text, document.text)
    assert left(document.text, Doubt(0.001)(document, [whole])) == ["MERCY OF THE LAKE"]


def test_one_model_that_does_not_doubt_is_enough() -> None:
    document = read(TEXT, models=2)
    document.likelihoods[1] = read(TEXT, {"MERCY": 0.01}).likelihoods[0]
    assert left(TEXT, Doubt(0.001)(document, [candidate(TEXT, TEXT)])) == ["MERCY"]


def test_a_candidate_that_is_doubted_whole_goes_only_if_its_evidence_is_weak() -> None:
    document = read(TEXT)
    for evidence in Evidence:
        kept = Doubt(0.001)(document, [candidate(TEXT, "MERCY HOSPITAL", evidence=evidence)])
        assert bool(kept) is (evidence > Evidence.CONTEXT), evidence


@pytest.mark.parametrize(
    "exempt",
    [
        candidate(TEXT, TEXT, source=Source(SourceKind.ROSTER)),
        candidate(TEXT, TEXT, source=Source(SourceKind.GAZETTEER)),
        candidate(TEXT, TEXT, source=Source(SourceKind.CROSS_NOTE, "name")),
        candidate(TEXT, TEXT, source=Source(SourceKind.RULES, "site-ward", of_site=True)),
        candidate(TEXT, TEXT, evidence=Evidence.PROVEN),
        candidate(TEXT, TEXT, label=Label.USERNAME),
        candidate(TEXT, TEXT, label=Label.MEDICALRECORD),
    ],
    ids=str,
)
def test_what_no_model_may_doubt(exempt: Candidate) -> None:
    assert Doubt(1.0)(read(TEXT), [exempt]) == [exempt]


def test_a_word_with_a_digit_is_never_doubted() -> None:
    document = read("AT 12B ELM STREET")
    found = Doubt(0.001)(document, [candidate(document.text, document.text, label=Label.STREET)])
    assert left(document.text, found) == ["12B"]


def test_nothing_is_doubted_where_no_model_has_read() -> None:
    assert Doubt(1.0)(Document(Note("n", TEXT)), [candidate(TEXT, TEXT)]) == [candidate(TEXT, TEXT)]


def test_the_ensemble_takes_back_what_a_rule_reads_as_a_name_in_capitals() -> None:
    text = "DISCHARGED IN GOOD CONDITION. ACTIVITY AS TOLERATED AT OAKVALE REGIONAL MEDICAL CENTER WITH FAMILY."
    note = Note("n", text)
    united = DetectorSpec("ensemble", combination=Combination(doubt_below=0)).build().detect([note])[0]
    (default,) = DetectorSpec("ensemble").build().detect([note])
    assert [text[s.start : s.end] for s in default] == ["OAKVALE REGIONAL MEDICAL CENTER"]
    assert sum(s.end - s.start for s in united) > sum(s.end - s.start for s in default)


def test_the_judge_weighs_only_what_is_weakly_founded() -> None:
    text = "wound healing well"
    seen: list[list[str]] = []

    class Clinical:
        def weigh(self, asked: Sequence[ToWeigh]) -> list[list[float]]:
            seen.extend(left(document.text, list(removals)) for document, removals in asked)
            return [[1.0] * len(removals) for _, removals in asked]

    def judgement(candidates: list[Candidate]) -> list[Candidate]:
        (kept,) = Judgement(Clinical(), 0.5)([Document(Note("n", text))], [candidates])
        return kept

    weak = candidate(text, "wound healing", evidence=Evidence.PREDICTED, source=Source(SourceKind.MODEL, "toy"))
    assert judgement([weak]) == []
    for strong in (
        candidate(text, "healing", source=Source(SourceKind.ROSTER)),
        candidate(text, "healing", label=Label.PATIENT),
        candidate(text, "healing", evidence=Evidence.INTRODUCED),
        candidate(text, "healing", source=Source(SourceKind.RULES, "site-ward", of_site=True)),
    ):
        # What overlaps something that may not be weighed is not weighed either.
        assert set(judgement([weak, strong])) == {weak, strong}
    assert seen == [["wound healing"]]


def test_a_removal_with_a_word_of_somebody_who_is_named_is_not_weighed() -> None:
    text = "Mrs. Paget has wound pain. PAGET'S disease, no fever."
    named = candidate(text, "Paget", label=Label.PATIENT, evidence=Evidence.INTRODUCED)
    eponym = candidate(text, "PAGET'S disease", label=Label.DOCTOR, evidence=Evidence.PREDICTED)
    wound = candidate(text, "wound", label=Label.DOCTOR, evidence=Evidence.PREDICTED)

    class Clinical:
        def weigh(self, asked: Sequence[ToWeigh]) -> list[list[float]]:
            return [[1.0] * len(removals) for _, removals in asked]

    documents = [Document(Note("n", text)), Document(Note("m", text))]
    kept = Judgement(Clinical(), 1.0)(documents, [[named, eponym, wound], [eponym, wound]])
    assert kept == [[named, eponym], []]  # what is weighed of one document does not depend on another


def test_a_removal_stays_below_the_weight() -> None:
    text = "wound by Quarmby"
    document = Document(Note("n", text))
    (weights,) = VocabularyJudge().weigh([(document, [candidate(text, text), candidate(text, "wound")])])
    assert 0 < weights[0] < weights[1] == 1
    found = candidate(text, text, evidence=Evidence.PREDICTED)
    assert Judgement(VocabularyJudge(), 1.0)([document], [[found]]) == [[found]]


def test_a_judge_is_part_of_the_detector_and_has_to_be_known() -> None:
    choices = (
        Combination(),
        Combination(doubt_below=0),
        Combination(recover_up_to=0.5),
        Combination(judge="vocabulary"),
    )
    assert len({DetectorSpec("ensemble", combination=choice).detector_digest for choice in choices}) == len(choices)
    for detector, judge, code in (
        ("ensemble", "vocabluary", Code.DETECTOR_UNKNOWN),
        ("rules", "vocabulary", Code.SETTINGS_INVALID),
    ):
        with pytest.raises(DeidError) as refused:
            DetectorSpec(detector, combination=Combination(judge=judge)).build()
        assert refused.value.code is code
