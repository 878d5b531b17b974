"""Surrogates of the library's notes: other identifiers in the same places, written as they were."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from deid_platform.corpora.formats.marked import marked_note
from deid_platform.corpora.library.authors import Use, authors, notes_by
from deid_platform.corpora.library.refill import refilled
from deid_platform.corpora.schemes import scheme_of
from deid_platform.labels import Label

NOTE = """language: en

⟦OKONKWO, NGOZI|PATIENT patient⟧ MRN ⟦00482931|MEDICALRECORD⟧ rm ⟦412|HOSPITAL⟧ bed ⟦7B|HOSPITAL⟧ on ⟦3/14/24|DATE⟧
Mrs ⟦Okonkwo|PATIENT patient⟧ is a ⟦welder|PROFESSION⟧, strength 4/5, on Eliquis. Moved to ⟦4 West|HOSPITAL⟧.
Dtr ⟦Chi|PATIENT relative⟧ ⟦(617) 555-0144|PHONE relative⟧; seen by ⟦JS|DOCTOR staff⟧ ⟦3/15|DATE⟧
"""


@pytest.fixture
def gold():
    return marked_note(NOTE, "n1", scheme_of("i2b2-2014")).gold


def surfaces(text, spans):
    return [text[span.start : span.end] for span in spans]


def test_what_is_no_identifier_stays_and_identifiers_have_other_values(gold):
    text, spans = refilled(gold, 1)
    assert [span.label for span in spans] == [span.label for span in sorted(gold.spans)]
    outside = re.split("|".join(map(re.escape, sorted(surfaces(text, spans), key=len, reverse=True))), text)
    assert " is a " in "".join(outside)
    assert "strength 4/5, on Eliquis" in text
    before, after = surfaces(gold.note.text, sorted(gold.spans)), surfaces(text, spans)
    changed = [b != a for b, a, span in zip(before, after, spans, strict=True) if span.label is not Label.PROFESSION]
    assert all(changed)


def test_one_person_stays_one_and_is_written_as_before(gold):
    text, spans = refilled(gold, 2)
    full, again = [s for s, span in zip(surfaces(text, spans), spans, strict=True) if span.label is Label.PATIENT][:2]
    assert re.fullmatch(r"[A-Z' -]+, [A-Z' -]+", full)
    assert again.upper() == full.split(",")[0]


def test_numbers_of_rooms_and_records_keep_their_form(gold):
    text, spans = refilled(gold, 3)
    values = dict(zip(surfaces(gold.note.text, sorted(gold.spans)), surfaces(text, spans), strict=True))
    assert re.fullmatch(r"\d{3}", values["412"])
    assert re.fullmatch(r"\d[A-Z]", values["7B"])
    assert re.fullmatch(r"\d West", values["4 West"])
    assert re.fullmatch(r"00\d{6}", values["00482931"])
    assert re.fullmatch(r"\d{1,2}/\d{1,2}/\d\d", values["3/14/24"])
    assert re.fullmatch(r"[A-Z]{2}", values["JS"])


def test_the_seed_decides(gold):
    assert refilled(gold, 1) == refilled(gold, 1)
    assert refilled(gold, 1) != refilled(gold, 2)
    other = replace(gold, note_id="n2")
    assert refilled(gold, 1) != refilled(other, 1)


@pytest.mark.parametrize("one", authors(Use.TRAINING), ids=lambda one: one.name)
def test_spans_of_each_note_stand_where_they_say(one):
    for written in list(notes_by(one))[::6]:
        text, spans = refilled(written.gold, 5)
        assert len(spans) == len(written.gold.spans)
        ends = [0, *(span.end for span in spans)]
        assert all(end <= span.start < span.end <= len(text) for end, span in zip(ends, spans, strict=False))
        # The last words behind the last identifier are the author's.
        tail = written.gold.note.text[max((span.end for span in written.gold.spans), default=0) :]
        assert text.endswith(tail)
