"""A name that nothing introduces is a clinician's where a model says so; a patient's is never taken for one."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.resolve.clinicians import relabel_clinicians
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Topics

LISTED = (Source(SourceKind.RULES, "listed-name"), Evidence.LISTED)
REPEATED = (Source(SourceKind.RULES, "name-repeated"), Evidence.CONTEXT)
TITLE = (Source(SourceKind.RULES, "person-title"), Evidence.INTRODUCED)
SITE = (Source(SourceKind.RULES, "site-names", of_site=True), Evidence.LISTED)
GAZETTEER = (Source(SourceKind.GAZETTEER), Evidence.LISTED)
ROSTER = (Source(SourceKind.ROSTER), Evidence.PROVEN)
MODEL = (Source(SourceKind.MODEL, "minilm"), Evidence.PREDICTED)
CHAT = (Source(SourceKind.MODEL, "chat/identifiers"), Evidence.PREDICTED)
TEXT = "OT Ann Reed. Mrs. Vane here. Reed at 9."
Found = tuple[Source, Evidence]


def candidate(surface: str, found_by: Found, label: Label = Label.PATIENT, *, last: bool = False) -> Candidate:
    start = TEXT.rindex(surface) if last else TEXT.index(surface)
    return Candidate(start, start + len(surface), label, *found_by, 0.9)


SAID = candidate("Ann Reed", MODEL, Label.DOCTOR)


def label_of(first: Candidate, *others: Candidate) -> Label:
    return relabel_clinicians(Document(Note("n", TEXT)), [first, *others])[0].label


@pytest.mark.parametrize("found_by", [LISTED, REPEATED], ids=["listed", "repeated"])
def test_what_nothing_introduces_is_a_clinicians_where_a_model_says_so(found_by: Found) -> None:
    assert label_of(candidate("Ann Reed", found_by), SAID) is Label.DOCTOR
    assert label_of(candidate("Reed", found_by), SAID) is Label.DOCTOR


@pytest.mark.parametrize(
    ("first", "others"),
    [
        pytest.param(candidate("Ann Reed", LISTED), [], id="no model says anything"),
        pytest.param(candidate("Ann Reed", LISTED), [candidate("Ann Reed", MODEL)], id="it says a patient's"),
        pytest.param(candidate("Reed", LISTED, last=True), [SAID], id="it says so of another place"),
        pytest.param(candidate("Ann Reed", LISTED), [SAID, candidate("Reed", MODEL)], id="two models disagree"),
        pytest.param(candidate("Ann Reed", LISTED), [candidate("Ann", CHAT, Label.DOCTOR)], id="a language model's"),
        pytest.param(candidate("Ann Reed", TITLE), [SAID], id="introduced"),
        pytest.param(candidate("Ann Reed", SITE), [SAID], id="a site's own recognizer"),
        pytest.param(candidate("Ann Reed", GAZETTEER), [SAID], id="a name of the topics"),
        pytest.param(candidate("Ann Reed", ROSTER), [SAID], id="the roster"),
        pytest.param(
            candidate("Ann Reed", LISTED), [SAID, candidate("Reed", TITLE, last=True)], id="elsewhere a title"
        ),
        pytest.param(candidate("Ann Reed", LISTED), [SAID, candidate("Reed", ROSTER, last=True)], id="on the roster"),
    ],
)
def test_whoever_may_be_the_patient_stays_one(first: Candidate, others: list[Candidate]) -> None:
    assert label_of(first, *others) is Label.PATIENT


def test_all_else_stays_as_it_is() -> None:
    before = [candidate("Ann Reed", LISTED), SAID, candidate("Vane", TITLE), candidate("9", MODEL, Label.DATE)]
    after = relabel_clinicians(Document(Note("n", TEXT)), before)
    assert after == [before[0]._replace(label=Label.DOCTOR), *before[1:]]


def labels(text: str, topics: Topics | None = None, without: tuple[str, ...] = ()) -> Mapping[str, Label]:
    (spans,) = (
        DetectorSpec("ensemble", topics=topics, without=without).build().detect([Note("n", text, patient_id="p")])
    )
    return {text[span.start : span.end]: span.label for span in spans}


NOTE = "Physio: Margaret Hollis, seen 10:30. Plan discussed with consultant Robert Finch; he will review."


def test_the_ensemble_hides_the_same_and_knows_its_clinicians() -> None:
    before, after = labels(NOTE, without=("clinicians",)), labels(NOTE)
    assert before.keys() == after.keys()
    assert before["Robert Finch"] is Label.PATIENT
    assert after["Robert Finch"] is Label.DOCTOR


def test_the_roster_outranks_the_model() -> None:
    topics = Topics.of([Patient("p", "Robert", None, "Finch")])
    assert labels(NOTE, topics)["Robert Finch"] is Label.PATIENT
