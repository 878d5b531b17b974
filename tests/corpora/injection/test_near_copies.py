"""Test notes whose prose stands in a training part: listed by id, and carriers of no test corpus."""

from __future__ import annotations

import json
import os
import re
from importlib import resources
from pathlib import Path

import pytest

from deid_platform.corpora import catalogue, overview
from deid_platform.corpora.catalogue import (
    PUBLISHED,
    carriers,
    corpus_of,
    found_near_copies,
    is_carrier,
    read_corpus,
)
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.injection.corpus import Part, part_of
from deid_platform.corpora.injection.near_copies import SHARE, WORDS, TrainingProse, near_copies_of
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

PROSE = "was admitted with fever and a cough that had lasted for nine days before the visit"
OTHER = "has a stiff knee after a fall from the stairs of the house in the early morning hours"
published = pytest.mark.skipif(
    "DEID_CORPORA" not in os.environ, reason="NOT RUN on published notes: DEID_CORPORA names no folder"
)


def gold(text: str, *names: str, note_id: str = "n") -> Gold:
    spans = (Span(text.index(name), text.index(name) + len(name), Label.PATIENT) for name in names)
    return Gold(note_id, tuple(spans), note=Note(note_id, text))


@pytest.mark.parametrize(
    ("trained", "tested", "share"),
    [
        (gold(PROSE), gold(PROSE.upper().replace(" ", ",\n")), 1.0),  # case and what stands between words say nothing
        (gold(PROSE), gold(OTHER), 0.0),
        (gold(PROSE), gold(f"{PROSE} {OTHER}"), 9 / 27),
        # Two that differ in names alone.
        (gold("Ann Poe is ill and Ann Poe is here", "Ann Poe"), gold("Bo is ill and Bo is here", "Bo"), 0.0),
        (gold("Here Ann Poe was well", "Ann Poe"), gold("Here Bo was well", "Bo"), 1.0),
        (gold(PROSE), gold("fever and a cough"), 0.0),
        (gold("No rash."), gold("no rash"), 1.0),  # shorter than a shingle
        (gold(PROSE), gold("..."), 0.0),
    ],
)
def test_the_share_of_a_note_that_stands_in_training(trained: Gold, tested: Gold, share: float) -> None:
    assert TrainingProse([trained]).share(tested) == pytest.approx(share)


def test_pieces_of_several_training_notes_count_together() -> None:
    half = len(PROSE) // 2
    training = [gold(PROSE), gold(OTHER)]
    mixed = gold(f"{PROSE} {OTHER}", note_id="mixed")
    assert list(TrainingProse(training).near_copies([mixed, gold(PROSE[:half] * 3, note_id="own")])) == ["mixed"]


def test_the_list_holds_no_text() -> None:
    path = resources.files("deid_platform.corpora.injection") / "data" / "near_copies.tsv"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert [number for number, line in enumerate(lines, 1) if not re.fullmatch(r"[a-z0-9_]+\t[\w-]+", line)] == []
    assert len(set(lines)) == len(lines) > 100
    assert {line.partition("\t")[0] for line in lines} <= set(PUBLISHED)


def test_a_near_copy_is_of_neither_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of("asq_phi", None)
    path = tmp_path / corpus.files[0].removesuffix(".gz")
    path.parent.mkdir()
    ids = [f"q{number}" for number in range(40)]
    path.write_text("".join(json.dumps({"note_id": i, "text": PROSE, "spans": []}) + "\n" for i in ids))
    path = path.rename(path.with_name("queries.jsonl"))
    monkeypatch.setenv(catalogue.FOLDER_VARIABLE, str(tmp_path))
    of_test = [note_id for note_id in ids if part_of(note_id) is Part.TEST]
    copies = {of_test[0], of_test[3], next(note_id for note_id in ids if part_of(note_id) is Part.TRAINING)}
    for module in (catalogue, overview):
        monkeypatch.setattr(module, "paths_of", lambda *_: [path])
        monkeypatch.setattr(module, "near_copies_of", lambda name: copies if name == "asq_phi" else frozenset())

    def made(part: Part) -> list[str]:
        return [it.note.note_id for it in carriers(corpus, None, part, refused=lambda _: pytest.fail("a rejection"))]

    assert made(Part.TEST) == [note_id for note_id in of_test if note_id not in copies]
    assert made(Part.TRAINING) == [note_id for note_id in ids if note_id not in of_test]  # as before
    seen = overview.overview(corpus, None)
    assert (sum(seen.notes.values()), seen.left_out, seen.near_copies) == (40, 0, 2)
    assert seen.carriers == {Part.TRAINING: 40 - len(of_test), Part.TEST: len(of_test) - 2}


@published
def test_the_list_is_that_of_the_published_texts() -> None:
    found = list(found_near_copies(None))
    assert {name: {i for it, i in found if it == name} for name in PUBLISHED} == {
        name: near_copies_of(name) for name in PUBLISHED
    }


def shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return set(zip(*(words[at:] for at in range(WORDS)), strict=False))


@published
@pytest.mark.parametrize("trained", PUBLISHED)
def test_no_test_carrier_stands_in_a_training_part(trained: str) -> None:
    def refuse(_: object) -> None:
        pytest.fail("a note was rejected")

    seen: set[tuple[str, ...]] = set()
    for one in read_corpus(PUBLISHED[trained], None, Part.TRAINING, refused=refuse):
        seen |= shingles(one.note.text if one.note else "")
    assert len(seen) > 500
    for name, corpus in PUBLISHED.items():
        tested = list(carriers(corpus, None, Part.TEST, refused=refuse)) if is_carrier(corpus, None) else []
        shares = [len(own & seen) / len(own) for it in tested if (own := shingles(it.note.text))]
        assert (len(shares) > 30) is bool(tested), name
        assert max(shares, default=0) <= SHARE, name
