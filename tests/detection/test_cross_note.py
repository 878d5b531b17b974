"""What a patient's other notes tell is found in a note, and nothing that only looks like it."""

from __future__ import annotations

import pickle
from itertools import permutations
from pathlib import Path

import pytest

from deid_platform.detection import DetectorSpec, two_pass
from deid_platform.detection.resolve.cross_note import Mentioned, mentioned_in, together
from deid_platform.detection.two_pass import PatientMentionIndex
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

TOLD = Mentioned(
    {"ostrowe": Label.PATIENT, "young": Label.PATIENT, "foley": Label.DOCTOR, "quillfeather": Label.PATIENT},
    {"7741903-22": Label.IDNUM, "Tarn & Sedge Ropeworks": Label.ORGANIZATION},
)
HITS_AND_NEAR_MISSES = [
    ("Ostrowe at bedside.", ["Ostrowe"]),
    ("Sister (R. Ostrowe's) called.", ["R. Ostrowe"]),
    ("OSTROWE AT BEDSIDE", ["OSTROWE"]),
    ("Quillfeather-Bane signed.", ["Quillfeather-Bane"]),
    ("Ostrowe sign negative.", []),
    ("ostrowe at bedside.", []),
    ("Ostrowes are birds; an ostrowe is one.", []),
    ("Young denies pain.", ["Young"]),
    ("Young adult, young at heart.", []),
    ("Foley reports that he will come.", ["Foley"]),
    ("Foley draining clear urine.", []),
    ("Specimen 7741903-22 received.", ["7741903-22"]),
    ("Specimen 17741903-22 received.", []),
    ("Back at Tarn & Sedge Ropeworks since June.", ["Tarn & Sedge Ropeworks"]),
    ("Ropeworks.", []),
]


@pytest.mark.parametrize(("text", "found"), HITS_AND_NEAR_MISSES)
def test_mentions_and_what_only_looks_like_them(text: str, found: list[str]) -> None:
    spans = DetectorSpec("rules").cross_note_search()(Note("n", text), (), TOLD)
    assert [text[span.start : span.end] for span in spans] == found


def test_what_was_found_stays_and_is_joined_with_what_others_tell() -> None:
    text = "Ada Ostrowe called 617-555-0142."
    first = (Span(0, 3, Label.PATIENT, 0.8, "rules:given"), Span(19, 31, Label.PHONE, 0.9, "rules:phone"))
    spans = DetectorSpec("rules").cross_note_search()(Note("n", text), first, TOLD)
    assert [text[span.start : span.end] for span in spans] == ["Ada", "Ostrowe", "617-555-0142"]


@pytest.mark.parametrize(
    ("surface", "label", "score", "names", "strings"),
    [
        ("Ada Ostrowe", Label.PATIENT, 0.8, ["ada", "ostrowe"], []),
        ("van der Ostrowe", Label.DOCTOR, 0.7, ["ostrowe", "vanderostrowe"], []),
        ("Ostrowe", Label.PATIENT, 0.6, [], []),  # the lists alone say so
        ("Follow Up", Label.PATIENT, 0.8, [], []),
        ("Grace Young", Label.PATIENT, 0.8, ["grace", "young"], []),
        ("7741903", Label.MEDICALRECORD, 0.8, [], ["7741903"]),
        ("77419", Label.MEDICALRECORD, 0.8, [], []),  # may be a value elsewhere
        ("March 2024", Label.DATE, 0.9, [], []),
        ("Tarn Ropeworks", Label.ORGANIZATION, 0.8, [], ["Tarn Ropeworks"]),
        ("Family Practice", Label.HOSPITAL, 0.8, [], []),
    ],
)
def test_only_what_is_sure_and_telling_is_told(
    surface: str, label: Label, score: float, names: list[str], strings: list[str]
) -> None:
    told = mentioned_in(surface, [Span(0, len(surface), label, score, "rules:x")])
    assert (sorted(told.names), sorted(told.strings)) == (names, strings)


def test_what_notes_tell_does_not_depend_on_their_order_and_a_patient_outranks_staff() -> None:
    each = [Mentioned({"ostrowe": label}) for label in (Label.DOCTOR, Label.PATIENT, Label.DOCTOR)]
    assert {together(order).names["ostrowe"] for order in permutations(each)} == {Label.PATIENT}


def test_a_note_of_nobody_tells_nothing_and_is_told_nothing() -> None:
    index = PatientMentionIndex()
    index.add(None, TOLD)
    index.add("p1", TOLD)
    assert not index.by_others(None, Mentioned())
    assert not index.by_others("p2", Mentioned())
    assert not index.by_others("p1", TOLD)
    assert index.by_others("p1", Mentioned()) == TOLD
    assert "strowe" not in repr((index, TOLD, DetectorSpec("rules").cross_note_search()))


LETTERS = [
    Note("1", "Seen by Dr. Wamsutter Ostrowe. Employer: Tarn & Sedge Ropeworks", patient_id="p1"),
    Note("2", "Wounds healed, plan as by Ostrowe service. Back at Tarn & Sedge Ropeworks.", patient_id="p1"),
    Note("3", "Wounds healed, plan as by Ostrowe service.", patient_id="p2"),
]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
def test_notes_read_together_tell_each_other(workers: int) -> None:
    found = {
        note.note_id: [note.text[span.start : span.end] for span in detection.spans or ()]
        for note, detection in LocalEngine(workers=workers).detect_in_two_passes(DetectorSpec("rules"), lambda: LETTERS)
    }
    assert found["2"] == ["Ostrowe", "Tarn & Sedge Ropeworks"]
    assert found["3"] == []


def test_notes_that_change_between_the_looks_are_refused() -> None:
    reads = iter([LETTERS, LETTERS[1:], LETTERS, [*LETTERS, LETTERS[0]]])
    for _ in range(2):
        with pytest.raises(DeidError) as refused:
            list(LocalEngine().detect_in_two_passes(DetectorSpec("patterns"), lambda: next(reads)))
        assert refused.value.code is Code.INPUT_INVALID


def test_between_the_passes_lie_offsets_and_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    dump = two_pass.pickle.dump
    monkeypatch.setattr(
        two_pass.pickle, "dump", lambda item, file: (written.append(pickle.dumps(item)), dump(item, file))
    )
    notes = [Note("a", "We met Mrs. Ostrowe today.", patient_id="p"), Note("b", "Ostrowe at bedside.", patient_id="p")]
    done = list(LocalEngine().detect_in_two_passes(DetectorSpec("rules"), lambda: iter(notes)))
    assert [len(detection.spans or ()) for _, detection in done] == [1, 1]
    assert len(written) == 2
    assert not any(b"strowe" in each for each in written)


def test_an_allow_list_takes_back_nothing_that_other_notes_name(tmp_path: Path) -> None:
    keep = tmp_path / "keep.txt"
    keep.write_text("Stelara Ward\n")
    notes = [
        Note("a", "Dear Mr. Ward Stelara,\nall is well.", patient_id="p"),
        Note("b", "Results of Stelara Ward pending.", patient_id="p"),
    ]
    for spec in (DetectorSpec("rules"), DetectorSpec("rules", keep=keep)):
        (_, (note, detection)) = LocalEngine().detect_in_two_passes(spec, lambda: iter(notes))
        assert "Stelara" in [note.text[span.start : span.end].split()[0] for span in detection.spans or ()]
