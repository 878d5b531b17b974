"""Checks a delivery before it is taken in.

Belongs here: reading a folder, or a period of a database, as the intake would, and counting. Does not belong here:
taking anything in (`refresh/intake/sealing.py`), or who is told. Nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import floor
from pathlib import Path

from deid_platform.corpora import Rejection, Role
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.corpora.feeds import open_database, open_folder
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.folders import passed_over, roles_of
from deid_platform.corpora.formats.delimited import FEED as TABLES
from deid_platform.corpora.refusals import Refusals
from deid_platform.corpora.rows import Record
from deid_platform.corpora.structured import StructuredRow
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Facility, Note, Patient, Provider
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.recipe.note_types import released_type
from deid_platform.refresh.topics.known import fillers_of, folded_name, known, names_a_place, names_somebody
from deid_platform.warehouse.gate.measures import OTHER_TYPE

_KINDS = {Note: "notes", Patient: "patients", Provider: "providers", Facility: "facilities"}
_ROWS_A_STEP = 256
_LAST_NAME = "last name"


@dataclass(frozen=True)
class Checked:
    """Counts of one delivery; nothing here identifies anyone.

    Attributes:
        rows: `notes`, `patients`, `providers`, `facilities` or `statements` (withdrawn, rejoined) -> rows that count.
        refusals: What is refused, by file and reason.
        other_types: Notes whose type would be shown as `other`, where the feed lists types.
        passed_over: Files that no role claims.
        spreadsheets: How many of those are workbooks.
        encodings: Files with bytes of another encoding -> the one to try, if any can be proposed.
        waiting: Rows of a database that are in no delivery yet.
        undated: Errors about rows of a database that never will be.
        advice: What a database lacks that a person should know.
        nameless: Whether patients are there, or would be, and none has a last name.
        kept_back: Table beside the notes -> columns of its files that are not released.
        telling: Of topics' rows, how many say something of somebody: topic -> what they have -> rows.
    """

    rows: dict[str, int]
    refusals: Refusals
    other_types: int
    passed_over: int = 0
    spreadsheets: int = 0
    encodings: Mapping[str, str | None] = field(default_factory=dict)
    waiting: int = 0
    undated: tuple[DeidError, ...] = ()
    advice: str | None = None
    nameless: bool = False
    telling: dict[str, dict[str, int]] = field(default_factory=dict)
    kept_back: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def shares(self) -> list[str]:
        """Topic by topic the shares of rows that have a name, and what else tells people apart."""
        return [
            f"{topic} with a "
            + ", a ".join(f"{what} {floor(1000 * many / self.rows[topic]) / 10}%" for what, many in told.items())
            for topic, told in self.telling.items()
        ]

    @property
    def named(self) -> float | None:
        """The share of patients with a last name; None without patients."""
        told = self.telling.get("patients")
        return None if told is None else told[_LAST_NAME] / self.rows["patients"]

    @property
    def empty(self) -> bool:
        """Whether nothing would be left of it, so that a refresh refuses it whole."""
        return not any(self.rows.values())


def check_folder(
    site: Site | None,
    feed: str | None,
    folder: Path,
    *,
    head: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Checked:
    """Reads a folder as a delivery of a feed, under the feed's mapping and the site's exclusions.

    Withdrawals of what no delivery has brought are not looked for: that is known in the note store alone.

    Args:
        site: The installation; None for a folder that belongs to none.
        feed: Its feed; None for one without a mapping.
        folder: Of any name.
        head: How many rows of each file are read; by default all.
        progress: Called with the number of rows read since the last call.

    Raises:
        DeidError: `feed-unreadable` if the folder cannot be listed; `feed-link`; `feed-unknown` if there is no such
            feed; `feed-mapping`; `opt-outs-unreadable`.
    """
    exclusions = Exclusions()
    note_types: tuple[str, ...] = ()
    reader = FilesFeed("folder", folder.parent)
    if site is not None and feed is not None:
        exclusions, note_types = site.exclusions, site.feed(feed).note_types
        home = site.settings.home_path
        # What a compressed Parquet file is laid out in: no folder is made for it.
        reader = open_folder(site.settings, feed, spool=home if home.is_dir() else None)
    else:
        folder = folder.resolve()  # whoever names it may well name a link
    rows = chain(
        reader.inspect_folder(folder, never=exclusions.reason, head=head),
        islice(reader.structured_in(folder), head),
    )
    checked = _counted(rows, note_types, progress)
    others, spreadsheets = passed_over(reader.place(folder), reader.file_format, reader.claims)
    return replace(
        checked,
        passed_over=others,
        spreadsheets=spreadsheets,
        encodings=reader.proposed_encodings(folder, checked.refusals),
        kept_back=reader.kept_back(folder),
    )


def refuse_other_folder(site: Site | None, folder: Path) -> None:
    """Refuses what cannot be a delivery's folder: what is not there, a file, or the folder that deliveries lie in.

    Raises:
        DeidError: `feed-unreadable`, with what to name instead: folders that are named as deliveries, which tells
            nothing of anybody.
    """
    if folder.is_file():
        raise DeidError(Code.FEED_UNREADABLE, "a file: name the folder that it lies in")
    if not folder.is_dir():
        near = "" if site is None else _newest_of_feeds(site, folder.name)
        raise DeidError(Code.FEED_UNREADABLE, f"there is no such folder{near}")
    beneath = FilesFeed("folder", folder).deliveries()
    if beneath and not any(roles_of(TABLES, path.name) for path in folder.iterdir() if path.is_file()):
        example = folder / beneath[-1].watermark
        raise DeidError(
            Code.FEED_UNREADABLE, f"{len(beneath)} deliveries in this folder: check one of them, such as {example}"
        )


def _newest_of_feeds(site: Site, watermark: str) -> str:
    """The delivery of that name where a feed has one, else each feed's newest."""
    folders: list[Path] = []
    for name, feed in sorted(site.settings.feeds.items()):
        with suppress(DeidError):
            arrived = [] if feed.from_database else [it.watermark for it in site.deliveries(name)]
            folders += [
                site.settings.path(feed.path) / (watermark if watermark in arrived else it) for it in arrived[-1:]
            ]
    named = [it for it in folders if it.name == watermark] or folders
    return f"; there is {', '.join(map(str, named))}" if named else ""


def check_delivery(
    site: Site, delivery: Delivery, *, head: int | None = None, progress: Callable[[int], None] | None = None
) -> Checked:
    """Reads a delivery that has arrived; otherwise as `check_folder`.

    Raises:
        DeidError: As the feed's reader.
    """
    feed = site.feed(delivery.feed)
    if not feed.from_database:
        folder = site.settings.path(feed.path) / delivery.watermark
        return check_folder(site, delivery.feed, folder, head=head, progress=progress)
    reader = open_database(site.settings, delivery.feed)
    rows = chain(
        reader.inspect(delivery, never=site.exclusions.reason, head=head), islice(reader.structured(delivery), head)
    )
    return replace(
        _counted(rows, feed.note_types, progress),
        waiting=reader.waiting(),
        undated=tuple(reader.refused()),
        advice=reader.layout.advice(),
        kept_back=reader.kept_back(),
    )


def _counted(
    found: Iterable[Record | StructuredRow | Rejection],
    note_types: Sequence[str],
    progress: Callable[[int], None] | None,
) -> Checked:
    rows: Counter[str] = Counter()
    telling: dict[str, Counter[str]] = {}
    names: Counter[str] = Counter()
    refusals = Refusals()
    others = 0
    for number, item in enumerate(found, start=1):
        if progress is not None and number % _ROWS_A_STEP == 0:
            progress(_ROWS_A_STEP)
        if isinstance(item, Rejection):
            refusals.add(item)
            continue
        if isinstance(item, StructuredRow):
            rows[f"structured-{item.table}"] += 1
            continue
        rows[_KINDS.get(type(item), "statements")] += 1
        if isinstance(item, Patient | Provider | Facility):
            told = telling.setdefault(_KINDS[type(item)], Counter())
            for what, has in _told(item).items():
                told[what] += has
            if isinstance(item, Patient) and names_somebody(item):
                names[folded_name(item.last_name)] += 1
        if note_types and isinstance(item, Note):
            others += released_type(item.note_type, note_types) == OTHER_TYPE
    for filler in fillers_of(names.items(), rows["patients"]):
        telling["patients"][_LAST_NAME] -= names[filler]
    unnamed = "patients" in telling and not telling["patients"][_LAST_NAME]
    return Checked(
        dict(+rows),
        refusals,
        others,
        nameless=unnamed or ("patients" not in telling and refusals.lacks(Role.PATIENTS, "last_name")),
        telling={topic: dict(told) for topic, told in telling.items()},
    )


def _told(row: Patient | Provider | Facility) -> dict[str, bool]:
    if isinstance(row, Facility):
        return {"name": names_a_place(row)}
    if isinstance(row, Provider):
        return {_LAST_NAME: names_somebody(row)}
    of_row = known([row])
    return {_LAST_NAME: of_row.named, "birth date": of_row.dated, "record number": of_row.numbered}
