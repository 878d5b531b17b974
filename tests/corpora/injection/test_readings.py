"""Lists made by reading: ids and offsets, never text, and never of another text."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from importlib import resources
from itertools import pairwise
from pathlib import Path

import pytest

from deid_platform.corpora.catalogue import PUBLISHED, carriers, corpus_of
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.injection.carriers import completed, with_reading
from deid_platform.corpora.injection.corpus import Part
from deid_platform.corpora.injection.readings import Reading, has_reading, reading_of, text_digest
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

READ = [name for name in PUBLISHED if has_reading(name)]
_LINE = re.compile(r"#.*|[\w-]+\t(?:left out|read\t[0-9a-f]{12}|\d+\t\d+\t[A-Z-]+)")


@pytest.mark.parametrize("name", READ)
def test_a_list_holds_no_text(name: str) -> None:
    path = resources.files("deid_platform.corpora.injection") / "data" / "readings" / f"{name}.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if not _LINE.fullmatch(line)] == []


@pytest.mark.parametrize("name", READ)
def test_identifiers_of_a_carrier_never_overlap(name: str) -> None:
    reading = reading_of(name)
    assert set(reading.places) <= set(reading.digests)
    for places in reading.places.values():
        assert all(one[1] <= other[0] for one, other in pairwise(places))
        assert all(start < end for start, end, _ in places)


def reading(text: str) -> Reading:
    return Reading({"n1": ((0, 3, Label.PATIENT),)}, 0, {"n1": text_digest(text)})


def test_a_note_that_nobody_read_is_no_carrier() -> None:
    found = list(with_reading([Note("n1", "Ann left."), Note("n2", "Bob left.")], reading("Ann left.")))
    assert [carrier.note.note_id for carrier in found] == ["n1"]
    assert [(slot.start, slot.end, slot.label) for slot in found[0].slots] == [(0, 3, Label.PATIENT)]


def test_a_list_adds_to_gold_what_its_publisher_left_unlabelled() -> None:
    text = "Ann of Hospital Bichat left with Bob."
    gold = Gold("n1", (Span(16, 22, Label.HOSPITAL), Span(33, 36, Label.DOCTOR)), note=Note("n1", text))
    places = ((0, 3, Label.PATIENT), (7, 22, Label.HOSPITAL))
    (whole,) = completed([gold, replace(gold, note_id="n2", note=Note("n2", "x"))], Reading(
        {"n1": places}, 1, {"n1": text_digest(text)}
    ))  # fmt: skip
    assert [text[s.start : s.end] for s in whole.spans] == ["Ann", "Hospital Bichat", "Bob"]
    assert [s.label for s in whole.spans] == [Label.PATIENT, Label.HOSPITAL, Label.DOCTOR]


def test_another_text_than_the_one_that_was_read_is_refused() -> None:
    with pytest.raises(DeidError) as raised:
        list(with_reading([Note("n1", "Anna left.")], reading("Ann left.")))
    assert raised.value.code is Code.GOLD_INVALID
    assert "Anna" not in str(raised.value)


@pytest.mark.skipif("DEID_CORPORA" not in os.environ, reason="NOT RUN on published notes: DEID_CORPORA names no folder")
@pytest.mark.parametrize("name", READ)
def test_every_list_fits_the_published_texts(name: str) -> None:
    assert Path(os.environ["DEID_CORPORA"]).is_dir()
    for part in Part:
        for carrier in carriers(corpus_of(name, None), None, part, refused=lambda _: None):
            text = carrier.note.text
            assert all(text[slot.start : slot.end].strip() for slot in carrier.slots)
