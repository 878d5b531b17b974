"""What of a database is the rows of a role: a table, a view, or the SELECT of a file.

Belongs here: finding columns, and naming them as deid.toml does; the same of tables beside the notes. Does not belong
here: which rows are whose delivery (`feed.py`), or OMOP's tables (`omop.py`).

Every name goes through SQLAlchemy's quoting; none is ever formatted into a statement. A query is a file of the
site's, as trusted as deid.toml, and read as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, FromClause, Inspector, column, inspect, select, table, text

from deid_platform.corpora import Role
from deid_platform.corpora.rows import Shape
from deid_platform.corpora.structured import StructuredTable
from deid_platform.errors import Code, DeidError

EVERY = "*"
"""Among the ignored columns: all that are not mapped."""

Cells = dict[str, object]


@dataclass(frozen=True)
class Source:
    """The rows of one role.

    Attributes:
        rows: What is selected from.
        columns: Name as deid.toml or the format has it -> column.
        watermark: The column that says when a row was written; None where there is none.
        needs: Columns that only `convert` reads.
        convert: Makes the cells of a row from the values of `columns` and `needs`.
    """

    rows: FromClause
    columns: Mapping[str, ColumnElement[Any]]
    watermark: ColumnElement[Any] | None
    needs: Mapping[str, ColumnElement[Any]] = field(default_factory=dict)
    convert: Callable[[Cells], Cells] | None = None

    def of_field(self, name: str, shape: Shape) -> ColumnElement[Any] | None:
        """The column of a field."""
        return next((found for known, found in self.columns.items() if shape.columns.get(known) == name), None)


class Layout(Protocol):
    """How a database holds the roles. Two of one feed are equal, and pickle."""

    def sources(self, connection: Connection, shapes: Mapping[Role, Shape]) -> dict[Role, Source]:
        """The source of each role that the database has.

        Raises:
            DeidError: `feed-table`; any error of the database.
        """
        ...

    def advice(self) -> str | None:
        """What the layout lacks that a person should know before anything is taken in."""
        ...


@dataclass(frozen=True)
class Tables(Layout):
    """Tables, views and queries by role; the format `sql`.

    Attributes:
        feed: The feed's name.
        tables: Role -> table, `schema.table` if it is in another schema.
        queries: Role -> file of a SELECT.
        watermark: The column that says when a row was written.
        watermarks: Role -> that column where it has another name; empty where a topic has none.
        schema: The schema of tables that are named without one.
        ignore: Columns that are never asked for; `*` for all that are not mapped.
    """

    feed: str
    tables: Mapping[Role, str]
    queries: Mapping[Role, Path]
    watermark: str
    watermarks: Mapping[Role, str] = field(default_factory=dict)
    schema: str | None = None
    ignore: Collection[str] = ()

    def sources(self, connection: Connection, shapes: Mapping[Role, Shape]) -> dict[Role, Source]:
        """The source of each role that has a table or a query."""
        return {role: self.source(connection, role, shapes[role]) for role in Role if self.has(role)}

    def advice(self) -> str | None:
        """Nothing: what is not named is not wanted."""
        return None

    def has(self, role: Role) -> bool:
        """Whether a table or a query is named for a role."""
        return role in self.tables or role in self.queries

    def found(self, connection: Connection, role: Role) -> tuple[FromClause, tuple[str, ...]]:
        """What a role's rows are selected from, and its columns.

        Raises:
            DeidError: `feed-table`; `feed-unreadable` if the query's file cannot be read.
        """
        if role in self.queries:
            return queried(connection, self.queries[role], self.feed, role)
        schema, _, name = self.tables[role].rpartition(".")
        found = tabled(connection, name, schema or self.schema)
        if found is None:
            raise DeidError(Code.FEED_TABLE, f"{self.feed}: {role}")
        return found

    def source(self, connection: Connection, role: Role, shape: Shape) -> Source:
        """The source of a role; raises as `found`."""
        rows, names = self.found(connection, role)
        known = aliases(names, [*shape.columns, *self.ignore])
        watermark = marked(self.feed, role, rows, names, self.watermarks.get(role, self.watermark))
        return Source(rows, wanted(rows, known, shape, self.ignore, watermark), watermark)


@dataclass(frozen=True)
class Beside:
    """Where the rows of a table beside the notes are.

    Attributes:
        table: How it is released.
        rows: A table or view, `schema.table` if it is in another schema, or the file of a SELECT.
        watermark: The column that says when a row was written.
        schema: The schema of a table that is named without one.
    """

    table: StructuredTable
    rows: str | Path
    watermark: str
    schema: str | None = None

    @property
    def called(self) -> str:
        """What it is called beside the roles."""
        return f"structured-{self.table.name}"

    def found(self, connection: Connection, feed: str) -> tuple[FromClause, dict[str, str]]:
        """What its rows are selected from, and its columns: name -> name in deid.toml; raises as `Tables.found`."""
        if isinstance(self.rows, Path):
            rows, names = queried(connection, self.rows, feed, self.called)
        else:
            schema, _, name = self.rows.rpartition(".")
            table = tabled(connection, name, schema or self.schema)
            if table is None:
                raise DeidError(Code.FEED_TABLE, f"{feed}: {self.called}")
            rows, names = table
        return rows, aliases(names, self._mapped)

    def source(self, connection: Connection, feed: str) -> Source:
        """Its source, with no column that nobody mapped; raises as `Tables.found`."""
        rows, known = self.found(connection, feed)
        columns = {alias: rows.c[name] for name, alias in known.items() if alias in self._mapped}
        if columns.keys() != self._mapped:
            raise DeidError(Code.FEED_TABLE, f"{feed}: {self.called}, a column that is mapped")
        return Source(rows, columns, marked(feed, self.called, rows, known, self.watermark))

    @property
    def _mapped(self) -> set[str]:
        return {*self.table.labels, self.table.row, self.table.patient}


def tabled(connection: Connection, name: str, schema: str | None) -> tuple[FromClause, tuple[str, ...]] | None:
    """A table or view with its columns; None if there is none of that name."""
    inspector: Inspector = connection.info.setdefault("deid_inspector", inspect(connection))
    if not inspector.has_table(name, schema):
        return None
    empty = select(text("*")).select_from(table(name, schema=schema)).where(text("1 = 0"))
    names = tuple(connection.execute(empty).keys())
    return table(name, *map(column, names), schema=schema).alias(), names


def queried(connection: Connection, path: Path, feed: str, role: str) -> tuple[FromClause, tuple[str, ...]]:
    """The SELECT of a file with its columns.

    Raises:
        DeidError: `feed-unreadable` if the file cannot be read; `feed-table` if two columns have one name.
    """
    try:
        said = path.read_text(encoding="utf-8-sig").strip().rstrip(";")
    except (OSError, UnicodeDecodeError):
        raise DeidError(Code.FEED_UNREADABLE, f"{feed}: query of {role}") from None
    # A colon would begin a parameter; the line's end closes a comment at the end.
    query = re.sub(r":(?=\w)", r"\\:", said) + "\n"
    probe = select(text("*")).select_from(text(f"({query}) q")).where(text("1 = 0"))
    names = tuple(connection.execute(probe).keys())
    if len(set(names)) != len(names):
        raise DeidError(Code.FEED_TABLE, f"{feed}: {role}, two columns of one name")
    return text(query).columns(*map(column, names)).subquery("q"), names


def aliases(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Column -> its name in deid.toml: as it is written there, or but for capitals, which many databases fold."""
    exact = set(known)
    folded: dict[str, set[str]] = {}
    for name in exact:
        folded.setdefault(name.casefold(), set()).add(name)
    return {
        name: name if name in exact or len(folded.get(name.casefold(), ())) != 1 else min(folded[name.casefold()])
        for name in names
    }


def marked(feed: str, role: str, rows: FromClause, names: Iterable[str], said: str) -> ColumnElement[Any] | None:
    """The watermark's column; None where none is wanted.

    Raises:
        DeidError: `feed-table` if the rows have none of that name.
    """
    if not said:
        return None
    found = [name for name in names if name == said] or [name for name in names if name.casefold() == said.casefold()]
    if len(found) != 1:
        raise DeidError(Code.FEED_TABLE, f"{feed}: {role}, column of the watermark")
    return rows.c[found[0]]


def wanted(
    rows: FromClause,
    known: Mapping[str, str],
    shape: Shape,
    ignore: Collection[str],
    watermark: ColumnElement[Any] | None,
) -> dict[str, ColumnElement[Any]]:
    """The columns that are asked for: all but those that are ignored, and the watermark unless it is mapped."""
    found: dict[str, ColumnElement[Any]] = {}
    for name, alias in known.items():
        mapped = alias in shape.columns
        left_out = alias in ignore or (EVERY in ignore and not mapped)
        if not left_out and (mapped or rows.c[name] is not watermark):
            found[alias] = rows.c[name]
    return found
