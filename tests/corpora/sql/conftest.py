"""Databases that a feed reads: SQLite, and the real Postgres of the session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, NullPool, create_engine

from deid_platform.corpora.feeds import open_database
from deid_platform.corpora.sql.feed import SqlFeed
from deid_platform.settings import FeedSettings, Settings
from deid_platform.warehouse.server.server import SUPERUSER, EmbeddedServer

VARIABLE = "DEID_FEED_EHR_URL"


class SourceDatabase:
    """A hospital's database, which a test fills by plain SQL."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.kind = engine.dialect.name

    def run(self, *statements: str) -> None:
        with self.engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def add(self, table: str, *rows: dict[str, Any]) -> None:
        """Inserts rows whatever they hold: quotes, NUL, line ends."""
        mark = "?" if self.kind == "sqlite" else "%s"
        with self.engine.begin() as connection, closing(connection.connection.cursor()) as cursor:
            for row in rows:
                names = ", ".join(f'"{name}"' for name in row)
                marks = ", ".join([mark] * len(row))
                cursor.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))

    def feed(self, **keys: Any) -> SqlFeed:
        """The reader of `[feeds.ehr]` with these keys."""
        settings = Settings(site="north", feeds={"ehr": FeedSettings(**{"format": "sql", **keys})})
        return open_database(settings, "ehr")


@pytest.fixture(scope="module")
def postgres(embedded_server: EmbeddedServer) -> Iterator[Engine]:
    """A database of the module's own."""
    name = f"ehr_{os.urandom(4).hex()}"
    admin = create_engine(embedded_server.url(SUPERUSER, "postgres"), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield create_engine(embedded_server.url(SUPERUSER, name), poolclass=NullPool)
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.warehouse)])
def source(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceDatabase:
    """An empty database, named by the feed's variable."""
    if request.param == "sqlite":
        engine = create_engine(f"sqlite:///{tmp_path / 'ehr.db'}", poolclass=NullPool)
        engine.connect().close()
        (tmp_path / "ehr.db").touch()
    else:
        engine = request.getfixturevalue("postgres")
        with engine.begin() as connection:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE")
            connection.exec_driver_sql("DROP SCHEMA IF EXISTS phi CASCADE")
            connection.exec_driver_sql("CREATE SCHEMA public")
    monkeypatch.setenv(VARIABLE, engine.url.render_as_string(hide_password=False))
    return SourceDatabase(engine)


@pytest.fixture
def sqlite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceDatabase:
    """As `source`, in SQLite alone."""
    engine = create_engine(f"sqlite:///{tmp_path / 'ehr.db'}", poolclass=NullPool)
    (tmp_path / "ehr.db").touch()
    monkeypatch.setenv(VARIABLE, str(engine.url))
    return SourceDatabase(engine)
