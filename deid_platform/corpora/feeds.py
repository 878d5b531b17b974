"""The reader of a feed, as deid.toml describes it.

Belongs here: which reader a format has. Does not belong here: reading (`files.py`, `formats/`, `sql/`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deid_platform.corpora import Reader, Role
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats import FileFormat, file_format
from deid_platform.corpora.formats.delimited import Tables
from deid_platform.corpora.formats.documents import Documents
from deid_platform.corpora.formats.scan import Scans
from deid_platform.corpora.reading import TOPIC_ROLES
from deid_platform.corpora.rows import shapes
from deid_platform.corpora.scans.recognition import Engine
from deid_platform.corpora.structured import StructuredTable
from deid_platform.errors import Code, DeidError
from deid_platform.settings import FeedSettings, Settings
from deid_platform.settings.structured import StructuredSettings

if TYPE_CHECKING:
    from deid_platform.corpora.sql.feed import SqlFeed


DATABASES = {
    "sql": "tables, views and queries of a database, by a watermark",
    "omop": "a database of the OMOP common data model, 5.3 and 5.4",
}
"""Formats of feeds that are no files -> what a person reads of each."""


def open_feed(settings: Settings, name: str, *, spool: Path) -> Reader:
    """The reader of one feed.

    Args:
        settings: All of deid.toml.
        name: The feed.
        spool: Folder of the PHI zone for temporary files.

    Raises:
        DeidError: `feed-unknown`, `feed-mapping`.
    """
    if settings.feed(name).from_database:
        return open_database(settings, name)
    return open_folder(settings, name, spool=spool)


def topics_reading(settings: Settings, name: str) -> str:
    """What decides which fields the topics of a feed have, as text: which column is which field, which rows count.

    Raises:
        DeidError: `feed-unknown`, `feed-mapping`; `feed-unreadable` if the file of a query cannot be read.
    """
    feed = settings.feed(name)
    own, mapped = shapes(), shapes(feed.columns, feed.ignore)
    columns = {
        role.value: [
            sorted(mapped[role].columns.items() - own[role].columns.items()),
            sorted(own[role].columns.keys() - mapped[role].columns.keys()),
        ]
        for role in TOPIC_ROLES.values()
    }
    tables = {role.value: [feed.schema_name, feed.tables.get(role.value)] for role in TOPIC_ROLES.values()}
    try:
        queries = {
            role.value: settings.path(feed.queries[role.value]).read_text(encoding="utf-8-sig")
            for role in TOPIC_ROLES.values()
            if role.value in feed.queries
        }
    except (OSError, UnicodeDecodeError):
        raise DeidError(Code.FEED_UNREADABLE, f"{name}: query") from None
    return json.dumps([feed.format, columns, "*" in feed.ignore, tables, queries], sort_keys=True)


def open_folder(settings: Settings, name: str, *, spool: Path | None) -> FilesFeed:
    """The reader of a feed of folders; raises as `open_feed`."""
    feed = settings.feed(name)
    tables = Tables(encoding=feed.encoding, numbers=feed.workbook_numbers)
    return FilesFeed(
        name=name,
        root=settings.path(feed.path),
        columns=feed.columns,
        ignore=feed.ignore,
        defaults=feed.defaults,
        max_chars=feed.max_chars,
        site=settings.site,
        spool=spool,
        file_format=tables if feed.format == "files" else _format_of(feed),
        tables=tables,
        reading=f"{settings.site} {feed.reading}",
        follow_links=feed.follow_links,
        structured_tables=structured_tables(feed),
    )


def structured_tables(feed: FeedSettings) -> tuple[StructuredTable, ...]:
    """The tables beside a feed's notes, as its settings map them."""
    return tuple(
        StructuredTable(name, table.row, table.patient, {**table.columns, **dict.fromkeys(table.keep)}, table.released)
        for name, table in feed.structured.items()
    )


def open_database(settings: Settings, name: str) -> SqlFeed:
    """The reader of a feed from a database; raises as `open_feed`. Nothing is connected."""
    from deid_platform.corpora.sql.connection import Database
    from deid_platform.corpora.sql.feed import SqlFeed
    from deid_platform.corpora.sql.omop import Omop, omop_columns
    from deid_platform.corpora.sql.periods import Periods
    from deid_platform.corpora.sql.sources import Beside, Layout, Tables

    feed = settings.feed(name)
    tables = Tables(
        feed=name,
        tables={Role(role): table for role, table in feed.tables.items()},
        queries={Role(role): settings.path(path) for role, path in feed.queries.items()},
        watermark=feed.watermark,
        # A note's own date, which stands in for OMOP's watermark, is no column of any other table.
        watermarks=(dict.fromkeys(TOPIC_ROLES.values(), "") if feed.format == "omop" else {})
        | {Role(role): column for role, column in feed.watermarks.items()},
        schema=feed.schema_name,
        ignore=feed.ignore,
    )
    layout: Layout = tables
    columns = feed.columns
    if feed.format == "omop":
        layout = Omop(tables, feed.vocabulary_schema, columns)
        columns = omop_columns(columns)
    return SqlFeed(
        name=name,
        database=Database(
            feed=name,
            variable=feed.url_env or f"DEID_FEED_{name.upper()}_URL",
            timezone=feed.timezone,
            timeout_seconds=feed.timeout_seconds,
        ),
        layout=layout,
        periods=Periods(feed.period, feed.since, feed.initial),
        columns=columns,
        ignore=feed.ignore,
        defaults=feed.defaults,
        max_chars=feed.max_chars,
        site=settings.site,
        reading=f"{settings.site} {feed.reading}",
        beside=tuple(
            Beside(table, _rows_of(settings, named), named.watermark or feed.watermark, feed.schema_name)
            for table, named in zip(structured_tables(feed), feed.structured.values(), strict=True)
        ),
    )


def _rows_of(settings: Settings, table: StructuredSettings) -> str | Path:
    """The table, or the file of the query, that holds the rows of a table beside the notes."""
    return str(table.table) if table.query is None else settings.path(table.query)


def _format_of(feed: FeedSettings) -> FileFormat:
    chosen = file_format(feed.format)
    if isinstance(chosen, Scans):
        language = feed.defaults.get("language", chosen.language)
        return replace(chosen, engine=Engine(feed.recognition), language=language, encoding=feed.encoding)
    if isinstance(chosen, Documents):
        return replace(chosen, encoding=feed.encoding)
    return chosen
