"""The vocabulary of a feed's notes: which words are in force for a delivery, and what changes them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.doctor import installation
from deid_platform.keys import Keyring
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.evidence.local_words import Thresholds, newest_words, words_digest, words_for
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.settings import DetectionSettings
from deid_platform.store import NoteStore

KEYS = Keyring(hashlib.sha256(b"words").digest(), site="north")
THRESHOLDS = Thresholds(patients=5, introduced=0.02, growth=0.5)
TEXT = "Wears a zirconal. The ZQT was raised, as a quillon."


@pytest.fixture
def store(tmp_path: Path) -> NoteStore:
    return NoteStore(tmp_path / "store", KEYS)


def bring(store: NoteStore, number: int, notes: Iterable[tuple[str | None, str]]) -> Delivery:
    """Notes as patient and text."""
    rows = [
        dict.fromkeys(tables.RAW_SCHEMA.names)
        | {"note_id": f"n{number}-{at}", "patient_id": patient, "text": text, "language": "en"}
        for at, (patient, text) in enumerate(notes)
    ]
    delivery = Delivery("hospital", str(number))
    store.write(tables.RAW_NOTES, delivery.key, [pa.Table.from_pylist(rows, schema=tables.RAW_SCHEMA)])
    return delivery


def each(text: str, *patients: int) -> list[tuple[str, str]]:
    return [(f"p{at}", text) for at in patients]


def words(store: NoteStore, delivery: Delivery, thresholds: Thresholds = THRESHOLDS) -> set[str]:
    return set(words_for(store, delivery, thresholds, KEYS).words) & {"zirconal", "ZQT", "quillon", "marbit"}


def test_patients_of_several_deliveries_are_counted_together_and_each_once(store: NoteStore) -> None:
    first = bring(store, 1, each(TEXT, 0, 1, 2))
    assert words(store, first) == set()
    same = bring(store, 2, each(TEXT, 0, 1, 2))
    assert words(store, same) == set(), "three patients, twice"
    third = bring(store, 3, each(TEXT, 3, 4))
    assert words(store, third) == {"zirconal", "quillon"}
    assert words(store, first) == set(), "as of the first delivery"


def test_neither_a_later_delivery_nor_one_that_is_taken_in_again_changes_the_words_of_an_older_one(store: NoteStore):
    first = bring(store, 1, each(TEXT, *range(6)))
    before = words_for(store, first, THRESHOLDS, KEYS)
    bring(store, 2, each("Mr. Zirconal. A quillon.", *range(6)))
    bring(store, 1, each(TEXT, *range(4)))
    assert words_for(store, first, THRESHOLDS, KEYS) == before
    assert words_digest(store, first, THRESHOLDS) == before.digest


def test_a_word_that_something_introduces_by_now_leaves_at_once(store: NoteStore) -> None:
    bring(store, 1, each(TEXT, *range(6)))
    assert words(store, Delivery("hospital", "1")) == {"zirconal", "quillon"}
    second = bring(store, 2, each("Dr. Zirconal came.", 9))
    assert words(store, second) == {"quillon"}


def test_new_words_come_in_where_there_are_enough_of_them(store: NoteStore) -> None:
    first = bring(store, 1, each("A zirconal, a quillon, of this and of that.", *range(6)))
    known = words_for(store, first, THRESHOLDS, KEYS)
    second = bring(store, 2, each("With marbit.", *range(6)))
    assert words_for(store, second, THRESHOLDS, KEYS) == known, "two of them are no half"
    more = " ".join(f"marbit{letter}" for letter in "abcdefgh")
    third = bring(store, 3, each(f"With {more}.", *range(6)))
    assert words(store, third) >= {"marbit", "zirconal"}


def test_other_thresholds_make_the_words_anew(store: NoteStore) -> None:
    first = bring(store, 1, each(TEXT, *range(6)))
    assert words(store, first)
    stricter = replace(THRESHOLDS, patients=7)
    assert words_digest(store, first, stricter) is None
    assert words(store, first, stricter) == set()
    assert words(store, first, replace(THRESHOLDS, patients=0)) == set()
    assert words_digest(store, first, replace(THRESHOLDS, patients=0)) == ""


def test_words_that_cannot_be_read_are_made_anew(store: NoteStore, tmp_path: Path) -> None:
    first = bring(store, 1, each(TEXT, *range(6)))
    before = words_for(store, first, THRESHOLDS, KEYS)
    part = next((tmp_path / "store" / tables.LOCAL_WORDS / first.key).glob("*.parquet"))
    part.write_bytes(b"torn")
    assert words_for(store, first, THRESHOLDS, KEYS) == before
    assert newest_words(store, "hospital", THRESHOLDS) == before.words


def test_a_delivery_that_was_not_taken_in_has_no_words(store: NoteStore) -> None:
    assert not words_for(store, Delivery("hospital", "7"), THRESHOLDS, KEYS).words
    assert not store.partitions(tables.LOCAL_WORDS)


def test_the_newest_words_of_a_feed_are_those_of_its_newest_delivery(store: NoteStore) -> None:
    for number, patients in ((1, range(2)), (2, range(6))):
        words_for(store, bring(store, number, each(TEXT, *patients)), THRESHOLDS, KEYS)
    assert {"zirconal", "quillon"} <= newest_words(store, "hospital", THRESHOLDS)
    assert newest_words(store, "clinic", THRESHOLDS) == frozenset()


def test_the_words_are_part_of_the_dictionarys_digest_and_not_of_the_detectors() -> None:
    plain, local = DetectorSpec("rules"), DetectorSpec("rules", local_words=frozenset({"zirconal"}))
    assert plain.dictionary_digest(KEYS) != local.dictionary_digest(KEYS)
    assert plain.detector_digest == local.detector_digest


SHARED = "Rehab: OT eval vandro today, vandro on board. vandro precautions."


def test_a_refresh_keeps_what_its_notes_share(
    deliver: Callable[..., Delivery], take_in: Callable[..., object], site: Site
) -> None:
    site = Site(site.settings.model_copy(update={"detection": DetectionSettings()}))

    def redacted(delivery: Delivery) -> list[dict]:
        deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=site.engine)
        return site.store.rows(tables.REDACTED_NOTES, delivery.key)

    alone = deliver("2021-01-04", notes=[{"note_id": "a0", "patient_id": "P0", "text": SHARED}])
    take_in(alone)
    (row,) = redacted(alone)
    shown = row["text"].count("vandro")
    assert shown < SHARED.count("vandro"), "one patient's word is nobody's vocabulary"
    shared = deliver(
        "2021-01-11",
        notes=[{"note_id": f"b{at}", "patient_id": f"P{at}", "text": SHARED} for at in range(1, 12)],
    )
    take_in(shared)
    assert all(row["text"].count("vandro") > shown for row in redacted(shared))
    meta = site.store.required(tables.REDACTED_NOTES, shared.key).meta
    assert meta["local_words"] == len(site.recipe(shared).spec.local_words) > 0
    assert site.recipe(alone).spec.local_words == frozenset()
    assert f"hospital {meta['local_words']}" in installation._local_words(site)
