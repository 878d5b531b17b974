"""Whether the marts still say what they were built from, so that they need not be built again.

Belongs here: digests of what marts are built from and of the marts, and the mark that a build leaves. Does not belong
here: which marts there are (`dbt/`), or building them (`assets/research.py`).

A build that ended well marks the marts with a keyed digest of every row that they are built from, of every row of
their own, and of the project. They stand as long as the same digest comes out. The mark is taken away before a build,
so one that fails, or is killed, leaves none, and neither does one during which anything changed. It lies with the
marts, on the row type of one of them, so it is restored with them and goes with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy import Connection, Engine, text

from deid_platform.keys import Keyring
from deid_platform.warehouse.server.connection import begin


class MartRelations(NamedTuple):
    """Which tables a project builds and what they are built from, by schema and name.

    Attributes:
        state: Names what the project's files say.
        sources: What its models read.
        models: What it fills.
        seeds: What it loads from its own files.
    """

    state: str
    sources: Sequence[tuple[str, str]]
    models: Sequence[tuple[str, str]]
    seeds: Sequence[tuple[str, str]]


class BuiltMarts:
    """The marts of a warehouse, and what a build of them would read now.

    Args:
        modeller: The engine of the role `deid_modeller`.
        keyring: The site's keys: the mark can be read by whoever reads marts, and tells nobody of notes.
        relations: The project's tables.

    Raises:
        DeidError: `warehouse-unreachable` or `warehouse-statement`.
    """

    def __init__(self, modeller: Engine, keyring: Keyring, relations: MartRelations) -> None:
        self._modeller = modeller
        self._keyring = keyring
        self._relations = relations
        self._sources = self._said(relations.sources)

    @property
    def stand(self) -> bool:
        """Whether a build would make them as they are.

        Raises:
            DeidError: As the class.
        """
        with begin(self._modeller) as connection:
            mark = connection.execute(_MARK, {"mart": self._marked}).scalar()
        return mark is not None and mark == self._digest()

    @contextmanager
    def built(self, *, whole: bool) -> Iterator[None]:
        """Around a build, which marks them where it ends well and nothing has changed meanwhile.

        Args:
            whole: Whether it builds all of them.

        Raises:
            DeidError: As the class.
        """
        self._mark(None)
        yield
        if whole and self._sources == self._said(self._relations.sources):
            self._mark(self._digest())

    @property
    def _marked(self) -> str:
        return _quoted(min(self._relations.models))

    def _mark(self, digest: str | None) -> None:
        with begin(self._modeller) as connection:
            if _there(connection, self._marked):
                said = "NULL" if digest is None else f"'{digest}'"
                connection.execute(text(f"COMMENT ON TYPE {self._marked} IS {said}"))  # which takes no parameters

    def _digest(self) -> str | None:
        """Of sources, tables and project; None where one of them is missing."""
        tables = self._said([*self._relations.models, *self._relations.seeds])
        if self._sources is None or tables is None:
            return None
        return self._keyring.digest("marts", self._relations.state, *self._sources, *tables)

    def _said(self, relations: Sequence[tuple[str, str]]) -> list[str] | None:
        """What the rows of some tables say, whatever their order; None where one of them is missing."""
        said = []
        with begin(self._modeller.execution_options(isolation_level="REPEATABLE READ")) as connection:
            for name in map(_quoted, sorted(relations)):
                if not _there(connection, name):
                    return None
                rows = connection.execute(text(_ROWS.format(name))).one()
                said.append(" ".join([name, *map(str, rows)]))
        return said


# 128 bits of the rows; a sum, since their order is nobody's and there may be millions.
_ROWS = "SELECT count(*), sum(hash_record_extended(r, 0)), sum(hash_record_extended(r, 1)) FROM {} r"
_MARK = text("SELECT obj_description(to_regtype(:mart), 'pg_type')")


def _quoted(relation: tuple[str, str]) -> str:
    return ".".join(f'"{part}"' for part in relation)


def _there(connection: Connection, name: str) -> bool:
    return connection.execute(text("SELECT to_regclass(:name)"), {"name": name}).scalar() is not None
