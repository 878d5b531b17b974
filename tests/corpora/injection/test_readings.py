"""Lists made by reading: ids and offsets, never text, and never of another text."""

from __future__ import annotations

import gzip
import json
import os
import re
from dataclasses import replace
from importlib import resources
from itertools import pairwise
from pathlib import Path

import pytest

from deid_platform.corpora import Rejection, catalogue, overview
from deid_platform.corpora.catalogue import PUBLISHED, carriers, corpus_of, read_corpus
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


def refuse(_: Rejection) -> None:
    pytest.fail("a note was rejected")


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
    note, read = Note("n1", "Anna left."), reading("Ann left.")
    for made in (with_reading([note], read), completed([Gold("n1", (), note=note)], read)):
        with pytest.raises(DeidError) as raised:
            list(made)
        assert raised.value.code is Code.GOLD_INVALID
        assert "Anna" not in str(raised.value)


def test_only_carriers_have_what_was_listed_beside_the_gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"n1": "Ann saw Bob. N° FINESS 9 8 7 6", "n2": "Cy saw 1 1 1 1"}
    lines = [
        {"note_id": "n1", "text": texts["n1"], "spans": [[8, 11, "NOM", "Bob"]]},
        {"note_id": "n2", "text": texts["n2"], "spans": [[0, 2, "NOM", "Cy"]]},
    ]
    corpus = corpus_of("eds_templates", None)
    path = tmp_path / corpus.files[0]
    path.parent.mkdir()
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines).encode()))
    monkeypatch.setenv(catalogue.FOLDER_VARIABLE, str(tmp_path))
    listed = Reading({"n1": ((23, 30, Label.IDNUM),)}, 1, {"n1": text_digest(texts["n1"])})
    for module in (catalogue, overview):
        monkeypatch.setattr(module, "reading_of", lambda _: listed)
    found = [one for part in Part for one in carriers(corpus, None, part, refused=refuse)]
    assert [[(s.start, s.end, s.label) for s in one.slots] for one in found] == [
        [(8, 11, Label.PATIENT), (23, 30, Label.IDNUM)]
    ]
    published = [gold.spans for gold in read_corpus(corpus, None, refused=refuse)]
    assert [[(s.start, s.end) for s in spans] for spans in published] == [[(8, 11)], [(0, 2)]]
    seen = overview.overview(corpus, None)
    assert (sum(seen.notes.values()), sum(seen.carriers.values()), seen.left_out) == (2, 1, 1)


@pytest.mark.skipif("DEID_CORPORA" not in os.environ, reason="NOT RUN on published notes: DEID_CORPORA names no folder")
@pytest.mark.parametrize("name", READ)
def test_every_list_fits_the_published_texts(name: str) -> None:
    assert Path(os.environ["DEID_CORPORA"]).is_dir()
    for part in Part:
        for carrier in carriers(corpus_of(name, None), None, part, refused=lambda _: None):
            text = carrier.note.text
            assert all(text[slot.start : slot.end].strip() for slot in carrier.slots)


@pytest.mark.skipif("DEID_CORPORA" not in os.environ, reason="NOT RUN on published notes: DEID_CORPORA names no folder")
@pytest.mark.parametrize("name", [name for name in READ if PUBLISHED[name].slots == "gold"])
def test_a_listed_place_widens_what_is_published_and_never_cuts_or_relabels_it(name: str) -> None:
    read = reading_of(name)
    notes = list(read_corpus(corpus_of(name, None), None, refused=refuse))
    assert len(notes) == len(read.digests) + read.left_out
    for gold in notes:
        for start, end, label in read.places.get(gold.note_id, ()):
            touched = [span for span in gold.spans if start < span.end and span.start < end]
            assert all(start <= span.start and span.end <= end and span.label is label for span in touched)
            assert not any((span.start, span.end) == (start, end) for span in touched)
