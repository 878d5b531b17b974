"""Dates that the notes of many patients share because a template or a leaflet has them.

Belongs here: counting them over a feed, what makes one of them a constant, and naming those of a delivery. Does not
belong here: dates that words alone tell to be public (`redaction/public_dates.py`), or what becomes of them
(`redaction/redact.py`).

A constant that was moved tells how far any two patients' dates lie apart, and all shifts as soon as somebody finds the
leaflet. A date counts as one where, behind the same words,

- it stands in the notes of at least five patients,
- these notes were written at least sixty days apart from first to last: the notes of a delivery share its own days, and
  admissions, results and visits of one day stand in notes of the weeks around it, and
- at least a twentieth of the patients who have any date behind these words have this one: on one of the thousand days
  on which patients were admitted, few of them were.

A date without a year behind the same words, and one with a year whatever the words, counts where it stands in the notes
of at least ten patients, written more than half a year apart, and the third condition holds: of the patients who have
any such date, a day of the year is that of few, and so is a day.

It is folded over all deliveries of the feed until today: a delivery whose notes hold a date that turns out to be one is
due again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from hashlib import blake2b
from itertools import zip_longest
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from deid_platform.keys import module_digest, plain_digest
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.datasets.deliveries import deliveries_of
from deid_platform.refresh.datasets.derived import derived
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.store import NoteStore

LEAST_PATIENTS = 5
LEAST_DAYS_APART = 60
LEAST_SHARE = 0.05
LEAST_PATIENTS_OF_DOUBTFUL = 10
LEAST_DAYS_APART_OF_DOUBTFUL = 181
_WORDS, _REACH = 3, 80
_WORD = re.compile(r"[^\W\d_]+")
_YEAR_TOLD = re.compile(
    r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])|[0-9][/.-][0-9]{1,2}[/.-][0-9]{2}\Z|['’][0-9]{2}\Z|(?:19|20)[0-9]{6}"
)
_DIGIT = re.compile("[0-9]")
_YEAR_ALONE = re.compile(r"\W*[0-9]{4}\W*")
_RAW = ["note_id", "patient_id", "note_date", "text", "content_digest"]


def shared_keys(text: str, spans: Sequence[Span]) -> Iterator[tuple[Span, int, int]]:
    """Each date that could be a constant: its place, and what names it, with the words before it, and these alone.

    A date with a year is named a second time, without its words. The name of the words is odd where more is asked for.
    """
    for span in spans:
        surface = " ".join(text[span.start : span.end].split()).casefold()
        if span.label is not Label.DATE or not _DIGIT.search(surface) or _YEAR_ALONE.fullmatch(surface):
            continue
        with_year = _YEAR_TOLD.search(surface) is not None
        before = _WORD.findall(text[max(0, span.start - _REACH) : span.start])[-_WORDS:]
        words = " ".join(before or ["", *_WORD.findall(text[span.end : span.end + _REACH])[:_WORDS]]).casefold()
        if with_year:
            yield span, _named(f"\0\0{surface}"), _ANY_WORDS
        # Apart from those with a year: behind the same words stand others.
        yield span, _named(f"{words}\0{surface}"), _named(words) & ~1 if with_year else _named(f"\0{words}") | 1


def repeated_dates(store: NoteStore, feed: str) -> frozenset[int]:
    """What names the constants of a feed, of all its deliveries that the detector has read until today.

    Raises:
        DeidError: `not-materialized` or `store-torn` if what was found in a delivery is not there.
    """
    of_each = [_dates_of(store, delivery) for delivery in deliveries_of(store, tables.FIRST_PASS, feed)]
    every = pa.concat_tables([tables.SHARED_DATES_SCHEMA.empty_table(), *of_each])
    by_date = every.group_by("key").aggregate([("count", "sum"), ("first", "min"), ("last", "max"), ("words", "min")])
    apart = pc.subtract(by_date["last_max"], by_date["first_min"])
    enough = pc.and_(pc.greater_equal(by_date["count_sum"], LEAST_PATIENTS), pc.greater_equal(apart, LEAST_DAYS_APART))
    candidates = [
        row
        for row in by_date.filter(enough).to_pylist()
        if not row["words_min"] & 1 or row["last_max"] - row["first_min"] >= LEAST_DAYS_APART_OF_DOUBTFUL
    ]
    if not candidates:
        return frozenset()
    patients: defaultdict[int, set[int]] = defaultdict(set)
    keys = pa.array([row["key"] for row in candidates], pa.uint64())
    for row in every.filter(pc.is_in(every["key"], value_set=keys)).select(["key", "patients"]).to_pylist():
        patients[row["key"]].update(row["patients"])
    behind = _patients_behind(of_each, pa.array([row["words_min"] for row in candidates], pa.uint64()))
    return frozenset(
        row["key"]
        for row in candidates
        if len(patients[row["key"]]) >= (LEAST_PATIENTS_OF_DOUBTFUL if row["words_min"] & 1 else LEAST_PATIENTS)
        and row["count_sum"] >= LEAST_SHARE * behind[row["words_min"]]
    )


def repeated_digest(
    store: NoteStore, delivery: Delivery, recipe: Recipe, repeated: frozenset[int] | None = None
) -> str | None:
    """Names those constants of a feed that stand in a delivery's notes.

    Args:
        store: Holds what was found in the delivery's notes.
        delivery: Which delivery.
        recipe: Says whether dates are moved.
        repeated: The feed's constants, where they are at hand.

    Returns:
        None where the policy shifts no dates.
    """
    if not recipe.policy.shifts_dates:
        return None
    constants = repeated_dates(store, delivery.feed) if repeated is None else repeated
    here = constants.intersection(_dates_of(store, delivery)["key"].to_pylist()) if constants else frozenset[int]()
    return recipe.keyring.digest("repeated dates", *map(str, sorted(here)))


def _patients_behind(of_each: Sequence[pa.Table], wanted: pa.Array) -> dict[int, int]:
    """How many patients have a date behind some words, those of two deliveries twice, as in the counts of dates."""
    found: defaultdict[int, int] = defaultdict(int)
    for table in of_each:
        by_words = table.group_by("words").aggregate([("behind", "max")])
        for row in by_words.filter(pc.is_in(by_words["words"], value_set=wanted)).to_pylist():
            found[row["words"]] += row["behind_max"]
    return found


def _dates_of(store: NoteStore, delivery: Delivery) -> pa.Table:
    """A delivery's dates, each once for the words before it, and those with a year once more for any words."""
    parts = [
        part.digest
        for dataset in (tables.RAW_NOTES, tables.FIRST_PASS)
        for part in store.required(dataset, delivery.key).parts
    ]
    made_from = plain_digest(module_digest(__name__, "deid_platform.refresh.datasets.tables"), *parts)
    return derived(
        store, tables.SHARED_DATES, delivery.key, made_from=made_from, make=lambda: _counted(store, delivery)
    )


def _counted(store: NoteStore, delivery: Delivery) -> pa.Table:
    patients: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    behind: defaultdict[int, set[int]] = defaultdict(set)
    days: dict[tuple[int, int], tuple[int, int]] = {}
    raw_rows = _rows(store, tables.RAW_NOTES, delivery, _RAW)
    for raw, first in zip_longest(raw_rows, _rows(store, tables.FIRST_PASS, delivery, ["content_digest", "spans"])):
        if raw is None or first is None or raw["content_digest"] != first["content_digest"]:
            break  # taken in again: the detector reads it anew before anything is redacted
        if raw["note_date"] is None:
            continue
        whose = _named(raw["patient_id"] or f"\0{raw['note_id']}")
        written: date = raw["note_date"]
        day = written.toordinal()
        for _, key, words in shared_keys(raw["text"], tables.spans_of(first["spans"])):
            patients[key, words].add(whose)
            behind[words].add(whose)
            one, other = days.get((key, words), (day, day))
            days[key, words] = min(one, day), max(other, day)
    return pa.Table.from_pylist(
        [
            {
                "key": key,
                "words": words,
                "patients": sorted(who)[:LEAST_PATIENTS_OF_DOUBTFUL],
                "count": len(who),
                "behind": len(behind[words]),
                "first": days[key, words][0],
                "last": days[key, words][1],
            }
            for (key, words), who in patients.items()
        ],
        schema=tables.SHARED_DATES_SCHEMA,
    )


def _rows(store: NoteStore, dataset: str, delivery: Delivery, columns: list[str]) -> Iterator[dict[str, Any]]:
    for table in store.read(dataset, delivery.key):
        for batch in table.select(columns).to_batches(max_chunksize=tables.NOTES_A_BLOCK):
            yield from batch.to_pylist()


def _named(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest())


_ANY_WORDS = _named("\0") | 1
