"""The contracts that every detector of notes and every model keep, each as one check."""

from __future__ import annotations

import pickle
from collections.abc import Callable

from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.detection.api import Detector, Document, Evidence, SourceKind
from deid_platform.detection.resolve.merge import well_formed
from deid_platform.notes import Note

AWKWARD_TEXTS = (
    "",
    " ",
    "\n\n\r\n\t",
    "Seen by Dr. Ndoye on 3/14/2019.",
    "Patient: Jane Doe\rMRN: 00123456\rDOB: 1/2/1960",  # lone carriage returns
    "👩🏽‍⚕️ Dr. Ndoye 🎉 called 617-555-0123 👍",
    "Dr. Jose\u0301 A\u0301lvarez saw her on 3/14/2019",  # combining accents
    "𝔇𝔯. 𝒩ame 𐍈 3/14/2019 𠜎",  # astral code points
    "İSTANBUL İİİ Dr. İnan 3/14/2019 ẞ ŉ ΐ",  # lower case that grows
    "مريض: أحمد ٣/١٤/٢٠١٩ Dr. Haddad",
    "\ufeffNAME:\u00a0JANE\u200bDOE\u202f3/14/2019",
    "\ud800 lone surrogate 3/14/2019",
    "Dr. Ndoye " * 2000,
    "x" * 20_000,
)


def check_detector(make_detector: Callable[[], NoteDetector]) -> None:
    """Asserts the contract of `NoteDetector` on awkward texts."""
    notes = [Note(str(i), text, patient_id="P1") for i, text in enumerate(AWKWARD_TEXTS)]
    detector = make_detector()
    found = detector.detect(notes)

    assert len(found) == len(notes)
    for note, spans in zip(notes, found, strict=True):
        assert well_formed(spans, len(note.text))
        for span in spans:
            surface = note.text[span.start : span.end]
            assert surface == surface.strip()
            assert 0.0 < span.score <= 1.0
            assert span.source
    assert found[0] == ()
    assert detector.detect([]) == []

    assert make_detector().detect(notes) == found, "a second build finds the same"
    one_by_one = [spans for note in notes for spans in detector.detect([note])]
    assert one_by_one == found, "a note's spans do not depend on its neighbours"
    assert detector.detect(notes[::-1]) == found[::-1]


def check_spec(spec: DetectorSpec, secrets: tuple[str, ...]) -> None:
    """Asserts that a spec survives pickling and that neither it nor its detector prints what it knows."""
    copy = pickle.loads(pickle.dumps(spec))
    assert copy.detector_digest == spec.detector_digest
    notes = [Note("1", "Dr. Ndoye saw Zebulon Quarmby (MRN 00987654) on 3/14/2019", patient_id="P1")]
    assert copy.build().detect(notes) == spec.build().detect(notes)
    for printed in (repr(spec), repr(spec.build()), str(spec)):
        assert not any(secret in printed for secret in secrets)


def check_model(make_model: Callable[[], Detector]) -> None:
    """Asserts the contract of models (`deid_platform/detection/models`) on awkward texts."""
    documents = [Document(Note(str(i), text)) for i, text in enumerate(AWKWARD_TEXTS)]
    model = make_model()
    found = model.detect(documents)

    assert len(found) == len(documents)
    for document, candidates in zip(documents, found, strict=True):
        for candidate in candidates:
            assert 0 <= candidate.start < candidate.end <= len(document.text)
            assert candidate.evidence is Evidence.PREDICTED
            assert candidate.source.kind is SourceKind.MODEL
            assert candidate.source.name
            assert 0.0 <= candidate.confidence <= 1.0
    assert any(found), "a model that finds nothing in any of them shows nothing here"
    assert model.detect([]) == []

    assert make_model().detect(documents) == found, "a second build finds the same"
    assert [model.detect([document])[0] for document in documents] == found
    assert model.detect(documents[::-1]) == found[::-1]
