"""The library's notes: readable, of many hands, and each author for one use."""

from __future__ import annotations

from collections import Counter

import pytest

from deid_platform.corpora.library.authors import FOLDER, Use, author, authors, digest, notes_by, topics_of
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label

SEALED: dict[str, str] = {}
"""SHA-256 of the notes of each sealed author, since before the first measurement."""


@pytest.fixture(scope="module")
def library():
    return {one.name: list(notes_by(one)) for one in authors()}


def test_each_folder_has_its_author_and_each_author_a_folder():
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert folders == {one.name for one in authors()}


def test_each_author_writes_one_language(library):
    for one in authors():
        assert {written.gold.note.language for written in library[one.name]} == {one.language}


def test_no_two_notes_begin_alike(library):
    begins = Counter(" ".join(note.gold.note.text.split()[:12]) for notes in library.values() for note in notes)
    assert [begin for begin, count in begins.items() if count > 1] == []


def test_notes_are_whole(library):
    lengths = [len(note.gold.note.text.split()) for notes in library.values() for note in notes]
    assert min(lengths) >= 200
    assert max(lengths) <= 700


def test_identifiers_have_no_space_at_their_ends_and_hold_a_letter_or_a_digit(library):
    for notes in library.values():
        for note in notes:
            for span in note.gold.spans:
                surface = note.gold.note.text[span.start : span.end]
                assert surface == surface.strip(), note.gold.note_id
                assert any(c.isalnum() for c in surface), note.gold.note_id


def test_people_are_patients_or_staff_and_some_are_relatives(library):
    whom = Counter(
        (span.label, who)
        for notes in library.values()
        for note in notes
        for span, who in zip(note.gold.spans, note.whom, strict=True)
    )
    assert whom[Label.PATIENT, "patient"] > whom[Label.PATIENT, "relative"] > 0
    assert whom[Label.DOCTOR, "staff"] > 0


def test_ids_of_notes_and_patients_are_their_authors(library):
    ids = [note.gold.note_id for notes in library.values() for note in notes]
    assert len(ids) == len(set(ids))
    for name, notes in library.items():
        topics = topics_of(notes)
        assert all(patient.startswith(f"{name}/") for patient in topics.patients)
        known = {note.gold.note.patient_id for note in notes} - {None}
        assert known == set(topics.patients)


def test_the_master_index_knows_nothing_of_some_notes(library):
    notes = [note for some in library.values() for note in some]
    assert 0 < sum(note.patient is None for note in notes) < len(notes) / 2


@pytest.mark.parametrize("one", authors(Use.SEALED), ids=lambda one: one.name)
def test_sealed_notes_are_what_they_were(one):
    assert digest(one) == SEALED[one.name]


def test_an_author_who_is_not_there_is_answered_with_the_nearest():
    with pytest.raises(DeidError) as caught:
        author("en-us-rurall")
    assert caught.value.code is Code.CORPUS_UNKNOWN
    assert "en-us-rural" in str(caught.value)
