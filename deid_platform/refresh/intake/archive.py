"""The first load of an archive: a folder too large for one delivery becomes many, and how far they are.

Belongs here: the plan, kept sealed in the note store, and the step by which folders become deliveries. Does not belong
here: splitting files (`corpora/archive.py`) or refreshing (`main_job/command.py`): once split, they are ordinary
deliveries.

The order makes it safe to kill: folders are written under a name that no reader looks at, then the plan is kept, then
the folders get their names, and none is a delivery before all have theirs. Without a plan the split begins anew; with
one, the rest of the folders get their names.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from deid_platform.corpora import Rejection, Role
from deid_platform.corpora import archive as tables_of
from deid_platform.corpora.files import DAY, SPLITTING, FilesFeed
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.sealing import STATEMENT_KEPT
from deid_platform.warehouse.gate.queries import DeliverySummary, summary
from deid_platform.warehouse.server.roles import Role as Login


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that was split, and how much of it research holds.

    Attributes:
        delivery: The name that it would have as one delivery.
        parts: Its deliveries in order, with their rows of notes.
        held: Those that were promoted.
    """

    delivery: Delivery
    parts: Mapping[Delivery, int]
    held: frozenset[Delivery] = frozenset()

    @property
    def whole(self) -> bool:
        """Whether research holds all of it."""
        return len(self.held) == len(self.parts)

    def __str__(self) -> str:
        done = sum(self.parts[part] for part in self.held)
        return (
            f"{self.delivery.key}: {len(self.held):,} of {len(self.parts):,} deliveries promoted, "
            f"{done:,} of {sum(self.parts.values()):,} notes"
        )


class Pace:
    """How far the deliveries of an archive are, and how long the rest takes at the pace of those refreshed until now.

    Args:
        parts: All of them, with their rows of notes.
        due: Those that are still to be refreshed.
        clock: Seconds that only grow.
    """

    def __init__(
        self, parts: Mapping[Delivery, int], due: list[Delivery], *, clock: Callable[[], float] = monotonic
    ) -> None:
        self.due = tuple(due)
        self._parts = parts
        self._left = sum(parts[part] for part in due)
        self._waiting = len(due)
        self._refreshed = 0
        self._failed: list[Delivery] = []
        self._clock, self._since = clock, clock()

    def through(self, part: Delivery, *, promoted: bool) -> None:
        """One more was refreshed; what failed took its time and is not done."""
        self._left -= self._parts[part]
        self._refreshed += self._parts[part]
        self._waiting -= 1
        if not promoted:
            self._failed.append(part)

    def __str__(self) -> str:
        total, failed = sum(self._parts.values()), sum(self._parts[part] for part in self._failed)
        said = (
            f"{len(self._parts) - self._waiting - len(self._failed):,} of {len(self._parts):,} deliveries, "
            f"{total - self._left - failed:,} of {total:,} notes"
        )
        if self._failed:
            said += f"; {len(self._failed):,} failed"
        if not self._left or not self._refreshed:
            return said
        seconds = (self._clock() - self._since) * self._left / self._refreshed
        return f"{said}; about {hours_and_minutes(seconds)} left"


def hours_and_minutes(seconds: float) -> str:
    """A time as an estimate bears it: "2 h 05 min", "34 min"."""
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    return f"{hours:,} h {minutes:02} min" if hours else f"{minutes} min"


def archives(site: Site) -> list[Archive]:
    """Every archive that was split, with what the release of each of its deliveries holds.

    Raises:
        DeidError: `warehouse-not-ready` or `warehouse-unreachable`.
    """
    keys = site.store.partitions(tables.ARCHIVES)
    held = summary(site.warehouse.engine(Login.OFFICER)).deliveries if keys else ()
    return [_archive(site, Delivery.parse(key), held) for key in keys]


def under_way(site: Site) -> list[Archive]:
    """Those of which research does not hold all yet."""
    return [archive for archive in archives(site) if not archive.whole]


def held_back(site: Site) -> bool:
    """Whether no release may be shown yet: none is, and a part of an archive would look like all there is."""
    return summary(site.warehouse.engine(Login.OFFICER)).release is None and bool(under_way(site))


def prepare(
    site: Site, folder: Path, feed: str, *, notes: int, progress: Callable[[int], None] = lambda _: None
) -> Archive:
    """Splits an archive into deliveries of a feed, or finishes that, or finds it done.

    Args:
        site: The installation.
        folder: The archive, named by the day until which it reaches.
        feed: The feed whose deliveries it becomes.
        notes: About how many notes a delivery shall have.
        progress: Called with numbers of rows; every row is read twice.

    Raises:
        DeidError: `feed-not-demonstration`; `archive-format`, `archive-name`, `archive-size`, `archive-broken`;
            `archive-changed` if the files are not those, or `notes` is not the number, by which it was split before;
            `feed-unreadable`; `feed-write` if the feed's folder cannot be written.
    """
    site.accept(feed)
    folder = folder.resolve()
    if site.feed(feed).format != "files":
        raise DeidError(Code.ARCHIVE_FORMAT, feed)
    reader = site.reader(feed)
    assert isinstance(reader, FilesFeed)  # noqa: S101 - that is the format's reader
    delivery = _named(feed, folder, reader)
    source = replace(reader, root=folder.parent)
    work = reader.root / f"{SPLITTING}{delivery.watermark}"
    files = site.keyring.digest("archive files", source.marker(delivery), str(notes))
    plan = site.store.manifest(tables.ARCHIVES, delivery.key)
    try:
        if plan is None:
            with suppress(FileNotFoundError):
                shutil.rmtree(work)
            _free(reader, delivery)
            _refuse_unread_withdrawals(source, delivery)
            try:
                meta = _split(site, source, delivery, work, notes=notes, files=files, progress=progress)
                _free(reader, delivery)  # one that arrived meanwhile would take the place of the first
            except Exception:  # what is left of it would hide deliveries for ever
                shutil.rmtree(work, ignore_errors=True)
                raise
            plan = site.store.write(tables.ARCHIVES, delivery.key, (), meta=lambda: meta)
        elif plan.meta["files"] not in _known_as(site, source, delivery, notes):
            raise DeidError(Code.ARCHIVE_CHANGED, delivery.key)
        _publish(work, reader.root, map(Delivery.parse, plan.meta["deliveries"]))
    except (OSError, sqlite3.Error):
        raise DeidError(Code.FEED_WRITE, feed) from None
    return _archive(site, delivery, summary(site.warehouse.engine(Login.OFFICER)).deliveries)


def _split(
    site: Site,
    source: FilesFeed,
    delivery: Delivery,
    work: Path,
    *,
    notes: int,
    files: str,
    progress: Callable[[int], None],
) -> dict[str, object]:
    """Writes the folders of an archive's deliveries, and returns the plan."""
    work.mkdir(mode=0o700)
    needed = tables_of.folders_needed(source, delivery, notes=notes, keyring=site.keyring, work=work, progress=progress)
    names = [_part(delivery, number) for number in range(needed)]
    to = [work / name.watermark for name in names]
    written = tables_of.split(source, delivery, to, keyring=site.keyring, progress=progress)
    if files != site.keyring.digest("archive files", source.marker(delivery), str(notes)):
        raise DeidError(Code.ARCHIVE_CHANGED, delivery.key)
    return {"files": files, "deliveries": {n.key: rows for n, rows in zip(names, written, strict=True)}}


def _named(feed: str, folder: Path, reader: FilesFeed) -> Delivery:
    """The archive as one delivery: a day, from a folder in which no sensor finds it."""
    with suppress(DeidError):
        delivery = Delivery(feed, folder.name)
        if delivery.seq >= 10**13 and delivery.seq % DAY == 0 and folder.parent != reader.root.resolve():
            return delivery
    raise DeidError(Code.ARCHIVE_NAME, feed)


def _free(reader: FilesFeed, delivery: Delivery) -> None:
    """Refuses a day of which the feed has a delivery already: two would have no order."""
    if any(delivery.seq <= each.seq < delivery.seq + DAY for each in reader.deliveries()):
        raise DeidError(Code.ARCHIVE_NAME, delivery.key)


def _refuse_unread_withdrawals(source: FilesFeed, delivery: Delivery) -> None:
    """Refuses an archive that withdraws somebody whom nobody can tell.

    One delivery is refused by the gate for that. Of many it would be the last one, after the others are shown.
    """
    said = (source.withdrawals(delivery, known_patients=None, known_notes=None), source.rejoinings(delivery))
    for role, statements in zip((Role.WITHDRAWN, Role.REJOINED), said, strict=True):
        if any(isinstance(it, Rejection) and it.reason.value not in STATEMENT_KEPT for it in statements):
            raise DeidError(Code.ARCHIVE_BROKEN, role.value)


def _part(delivery: Delivery, number: int) -> Delivery:
    """A delivery of the archive: its day at a minute of its own, before any delivery of a later day."""
    day = str(delivery.seq // DAY)
    return Delivery(delivery.feed, f"{day}T{number // 60:02}{number % 60:02}")


def _known_as(site: Site, source: FilesFeed, delivery: Delivery, notes: int) -> set[str]:
    """The digests of files and size under every secret in use."""
    marker = source.marker(delivery)
    return {ring.digest("archive files", marker, str(notes)) for ring in site.keyrings}


def _publish(work: Path, root: Path, parts: Iterable[Delivery]) -> None:
    """Gives the folders their names; they are deliveries once the folder in which they were is gone."""
    for part in parts:
        with suppress(FileNotFoundError):  # it has its name already
            (work / part.watermark).rename(root / part.watermark)
    with suppress(FileNotFoundError):
        shutil.rmtree(work)


def _archive(site: Site, delivery: Delivery, held: tuple[DeliverySummary, ...]) -> Archive:
    plan = site.store.required(tables.ARCHIVES, delivery.key).meta["deliveries"]
    parts = {Delivery.parse(key): rows for key, rows in plan.items()}
    promoted = {Delivery.parse(each.delivery) for each in held if each.state == "promoted"}
    return Archive(delivery, parts, frozenset(promoted & parts.keys()))
