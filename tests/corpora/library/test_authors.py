"""The library's notes: readable, of many hands, and each author for one use."""

from __future__ import annotations

from collections import Counter

import pytest

from deid_platform.corpora.library.authors import FOLDER, Use, author, authors, digest, notes_by, topics_of
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label

SEALED = {
    "en-ca": "be860027ead131f60072659bdaee1a8f59db6712f0a906569bd927f5517b809f",
    "en-us-south": "fcdb1558836863d5e50e38918ca9ae0978dbfd18702951e6a3e2772c1441da1f",
    "es-cl": "1b3ce4cadaf074dc63dcd9af8021c17d5a8a317aa3ecb43ff336538ac425e2c5",
    "it-toscana": "3abbd177a4d598f96d8c40d3371375e4914d9d8f0664f9d5a0859e61317c0c78",
    "fr-ch": "7f4bc15cd3d2586ba6b868b3275796eec47b0f302478935c4804998cbb7ffda9",
    "de-at": "4369e9a30e5bead8ffd7f73729f8381af96a0dc045c2d2ee810b881e397ecece",
}
"""SHA-256 of the notes of each sealed author, since before the first measurement."""


@pytest.fixture(scope="module")
def library():
    return {one.name: list(notes_by(one)) for one in authors()}


def test_each_folder_has_its_author_and_each_author_a_folder():
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert folders == {one.name for one in authors()}


def test_the_library_is_of_many_authors_kinds_and_languages(library):
    notes = Counter({one.language: 0 for one in authors()})
    for one in authors():
        notes[one.language] += len(library[one.name])
    assert sum(notes.values()) >= 900
    least = {"en": 400, "es": 160, "it": 160, "fr": 120, "de": 60}
    assert all(notes[language] >= count for language, count in least.items())
    kinds = {note.gold.note.note_type.lower() for some in library.values() for note in some}
    assert len(kinds) >= 70
    uses = Counter(one.use for one in authors())
    assert uses[Use.TRAINING] >= 8
    assert uses[Use.THRESHOLDS] >= 2
    assert uses[Use.TEST] + uses[Use.SEALED] >= 4
    assert {one.language for one in authors(Use.SEALED)} == set(notes)


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
