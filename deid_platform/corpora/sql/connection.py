"""A connection to a feed's database: one, read-only, with errors that quote nothing.

Belongs here: the URL and where it is found, what is set on a connection of each kind of database, and which code an
error has. Does not belong here: any statement that reads rows.

SQLAlchemy and the drivers print statements, parameters, rows and URLs. Nothing of that is kept but an SQLSTATE, or the
type of the error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import URL, Connection, Engine, Function, NullPool, create_engine, func, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from deid_platform.corpora import Reason
from deid_platform.errors import Code, DeidError
from deid_platform.settings.address import verified

STREAMED = {"stream_results": True, "yield_per": 200}
"""How rows are fetched: by a cursor of the server's, less than a megabyte of ordinary notes at once."""
_CONNECT_SECONDS = 10
_UTC_CLOCKS = {
    "mysql": lambda: func.utc_timestamp(),
    "mariadb": lambda: func.utc_timestamp(),
    "mssql": lambda: func.sysutcdatetime(),
    "oracle": lambda: func.sys_extract_utc(text("systimestamp")),
}
# Where a refused connection has no SQLSTATE, its wording has to tell. It is matched, never shown: it quotes names.
_REFUSED = (
    (Code.FEED_TLS, re.compile(r"certificate|SSL error|SSL was required|sslmode|sslrootcert|no encryption", re.I)),
    (
        Code.FEED_LOGIN,
        re.compile(
            r"authentication failed|no password supplied|access denied|login failed|invalid username"
            r"|role \".*\" does not exist|not permitted to log in|pg_hba\.conf",
            re.I,
        ),
    ),
    (Code.FEED_URL, re.compile(r"database \".*\" does not exist|unknown database", re.I)),
)


@dataclass(frozen=True)
class Database:
    """Where a feed's rows are. It holds no URL, so that neither a `repr` nor a pickle can show the password.

    Attributes:
        feed: The feed's name.
        variable: The environment variable that holds the URL, or with `_FILE` behind it the path of a file that does.
        timezone: Where watermarks were written.
        timeout_seconds: How long one statement may take, where the database can be told.
    """

    feed: str
    variable: str
    timezone: str = "UTC"
    timeout_seconds: int = 3600

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """One read-only transaction; whatever goes wrong in the block has a code.

        Raises:
            DeidError: `feed-url`, `feed-unreachable`, `feed-login`, `feed-tls`, `feed-statement`.
        """
        engine = self._engine()
        with self._coded(connecting=True):
            connection = engine.connect()
        with self._coded(), connection:
            self._prepare(connection)
            yield connection

    def now(self, connection: Connection) -> datetime:
        """The database's clock, as a wall clock at the feed's time zone shows it."""
        clock: Function[Any] = _UTC_CLOCKS.get(connection.dialect.name, func.current_timestamp)()
        moment: Any = connection.execute(select(clock)).scalar_one()
        if isinstance(moment, str):
            moment = datetime.fromisoformat(moment)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return aware.astimezone(ZoneInfo(self.timezone)).replace(tzinfo=None)  # type: ignore[no-any-return]

    def _engine(self) -> Engine:
        url = self._url()
        arguments: dict[str, Any] = {}
        if url.get_backend_name() in ("postgresql", "mysql", "mariadb"):
            arguments = {"connect_timeout": _CONNECT_SECONDS}
        try:
            # NullPool: a step reads for minutes and then not for hours, and a pool would be shared by forked workers.
            return create_engine(url, poolclass=NullPool, hide_parameters=True, connect_args=arguments)
        except NoSuchModuleError:
            raise DeidError(Code.FEED_URL, f"{self.variable}: no such kind of database") from None
        except ImportError:
            raise DeidError(Code.FEED_URL, f"{self.variable}: its driver is not installed") from None
        except (SQLAlchemyError, TypeError, ValueError):
            raise DeidError(Code.FEED_URL, f"{self.variable}: not a URL of a database") from None

    def _url(self) -> URL:
        said = os.environ.get(self.variable) or self._of_file()
        if not said:
            raise DeidError(Code.FEED_URL, f"{self.variable}: not set")
        try:
            url = make_url(said.strip())
        except (ArgumentError, ValueError):
            raise DeidError(Code.FEED_URL, f"{self.variable}: not a URL of a database") from None
        if url.drivername in ("postgresql", "postgres"):
            url = url.set(drivername="postgresql+psycopg")
        if url.get_backend_name() == "sqlite":
            self._must_exist(url)
        return verified(url) if url.get_backend_name() == "postgresql" else url

    def _of_file(self) -> str | None:
        path = os.environ.get(f"{self.variable}_FILE")
        try:
            return Path(path).read_text(encoding="utf-8") if path else None
        except (OSError, UnicodeDecodeError):
            raise DeidError(Code.FEED_URL, f"{self.variable}_FILE: cannot be read") from None

    def _must_exist(self, url: URL) -> None:
        """SQLite would make a database that is not there."""
        path = url.database or ""
        if not path.startswith("file:") and not Path(path).is_file():
            raise DeidError(Code.FEED_UNREACHABLE, self.feed)

    def _prepare(self, connection: Connection) -> None:
        seconds = self.timeout_seconds
        match connection.dialect.name:
            case "postgresql":
                connection.execution_options(postgresql_readonly=True)
                settings = {"TimeZone": self.timezone, "statement_timeout": str(1000 * seconds)}
                for name, value in settings.items():
                    connection.execute(select(func.set_config(name, value, False)))
                _lenient_dates(connection)
            case "sqlite":
                connection.exec_driver_sql("PRAGMA query_only = ON")
                _driver(connection).text_factory = _text
            case "mysql" | "mariadb":
                connection.exec_driver_sql("SET SESSION TRANSACTION READ ONLY")
                zone = "+00:00" if self.timezone == "UTC" else self.timezone
                connection.execute(text("SET SESSION time_zone = :zone"), {"zone": zone})
                limit, scale = ("max_statement_time", 1) if _is_mariadb(connection) else ("max_execution_time", 1000)
                connection.execute(text(f"SET SESSION {limit} = :limit"), {"limit": seconds * scale})
            case "oracle":
                connection.exec_driver_sql("SET TRANSACTION READ ONLY")

    @contextmanager
    def _coded(self, *, connecting: bool = False) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self._code(error, connecting=connecting) from None
        except (SQLAlchemyError, UnicodeDecodeError) as error:
            raise DeidError(Code.FEED_STATEMENT, f"{self.feed}: {type(error).__name__}") from None
        except OSError:
            raise DeidError(Code.FEED_UNREACHABLE, self.feed) from None

    def _code(self, error: DBAPIError, *, connecting: bool) -> DeidError:
        state = str(getattr(error.orig, "sqlstate", None) or "")
        said = str(error.orig)
        refused = (code for code, wording in _REFUSED if connecting and wording.search(said))
        if state.startswith("28"):
            return DeidError(Code.FEED_LOGIN, self.feed)
        if code := next(refused, None):
            return DeidError(code, f"{self.variable}: no such database" if code is Code.FEED_URL else self.feed)
        lost = connecting and not state
        # Shut down or not up yet; busy: SQLite has no state for it.
        if lost or error.connection_invalidated or state.startswith(("08", "57P")) or "database is locked" in said:
            return DeidError(Code.FEED_UNREACHABLE, self.feed)
        return DeidError(Code.FEED_STATEMENT, f"{self.feed}: {state or type(error.orig).__name__}")


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


def _is_mariadb(connection: Connection) -> bool:
    return bool(getattr(connection.dialect, "is_mariadb", False))


def _text(raw: bytes) -> object:
    """Text of SQLite, which need not be UTF-8: one bad value must not end the reading."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return Reason.INVALID_UTF8


def _lenient_dates(connection: Connection) -> None:
    """Has psycopg read days that Python has not (infinity, before Christ) as impossible, where it would raise."""
    from psycopg import DataError
    from psycopg.types.datetime import DateLoader, TimestampLoader, TimestamptzLoader

    def lenient(base: Any) -> Any:
        def load(self: Any, data: Any) -> object:
            try:
                return base.load(self, data)
            except DataError:
                return Reason.IMPOSSIBLE_DATE

        return type(f"Lenient{base.__name__}", (base,), {"load": load})

    adapters = _driver(connection).adapters
    for name, base in (("date", DateLoader), ("timestamp", TimestampLoader), ("timestamptz", TimestamptzLoader)):
        adapters.register_loader(name, lenient(base))
