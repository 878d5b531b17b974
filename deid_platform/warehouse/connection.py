"""How each role reaches the warehouse, and how its refusals are told without their values.

Belongs here: engines by role and the translation of errors. Does not belong here: any statement about
notes, gates or releases.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.roles import Role, password
from deid_platform.warehouse.server import SUPERUSER, EmbeddedServer, psql_binary

DATABASE = "deid"
MAINTENANCE_DATABASE = "postgres"

# The gate's own conditions; their messages are written in migrations/sql and name nothing but requirements,
# deliveries and releases.
_OWN_STATES = {
    "DG001": Code.GATE_REFUSED,
    "DG002": Code.GATE_UNKNOWN_DELIVERY,
    "DG003": Code.WAIVER_INVALID,
    "DG004": Code.RELEASE_CONFLICT,
}
# undefined table, function, schema; database does not exist; role does not exist (28000 says that on a socket)
_NOT_READY = {"42P01", "42883", "3F000", "3D000"}
_UNREACHABLE_CLASSES = ("08", "28", "57P")


class Warehouse:
    """The warehouse as its roles see it.

    Args:
        where: The embedded server (started when first needed), or the administrator's URL of a real one.
            There, each role's password comes from the environment (`roles.password`).
        database: The database's name; a URL's own name takes precedence.

    Raises:
        DeidError: `settings-invalid` if the URL cannot be parsed.
    """

    def __init__(self, where: EmbeddedServer | str, *, database: str = DATABASE) -> None:
        self._server = where if isinstance(where, EmbeddedServer) else None
        self._url: URL | None = None
        if not isinstance(where, EmbeddedServer):
            try:
                self._url = make_url(where).set(drivername="postgresql+psycopg")
            except (ArgumentError, ValueError):
                raise DeidError(Code.SETTINGS_INVALID, "DEID_WAREHOUSE_URL") from None
        self.database = (self._url.database if self._url is not None else None) or database
        self._engines: dict[str, Engine] = {}

    def __repr__(self) -> str:
        return f"<Warehouse {'embedded' if self.embedded else 'server'} {self.database}>"

    @property
    def embedded(self) -> bool:
        """Whether this is the embedded server, which trusts its socket."""
        return self._server is not None

    def describe(self) -> str:
        """Where it is, for people: no role, no password."""
        if self._server is not None:
            return f"embedded PostgreSQL, database {self.database}, in {self._server.data}"
        assert self._url is not None  # noqa: S101 - one of the two is set
        host = self._url.query.get("host", self._url.host)
        return f"PostgreSQL at {host}, database {self.database}"

    def accept(self, feed: str, *, demonstration: bool, allow_real: bool = False) -> None:
        """Refuses data that the embedded server is not meant for.

        Args:
            feed: The feed's name.
            demonstration: Whether the feed is marked as demonstration data.
            allow_real: The operator has said that real data may go there all the same.

        Raises:
            DeidError: `feed-not-demonstration`.
        """
        if self.embedded and not demonstration and not allow_real:
            raise DeidError(Code.FEED_NOT_DEMONSTRATION, feed)

    def url(self, role: str) -> URL:
        """The connection URL of a role, password included; `str` masks it."""
        if self._server is not None:
            self._server.start()
            return self._server.url(role, self.database)
        assert self._url is not None  # noqa: S101 - one of the two is set
        # _replace, not set: set leaves what is None as it was, and would send the administrator's password.
        return self._url._replace(username=role, password=password(role), database=self.database)

    def engine(self, role: Role) -> Engine:
        """The engine that connects as one role; made once, holds no connection between uses."""
        if role not in self._engines:
            self._engines[role] = _engine(self.url(role))
        return self._engines[role]

    def dbt_environment(self) -> dict[str, str]:
        """The variables by which `dbt/profiles.yml` finds this warehouse; holds the modeller's password, if any."""
        url = self.url(Role.MODELLER)
        host, port = url.query.get("host", url.host), url.query.get("port", url.port)
        return {
            "DEID_DBT_HOST": str(host or "localhost"),
            "DEID_DBT_PORT": str(port or 5432),
            "DEID_DBT_DATABASE": self.database,
            "DEID_PASSWORD_DEID_MODELLER": str(url.password or ""),
        }

    def psql(self, role: Role = Role.ANALYST) -> tuple[list[str], dict[str, str]]:
        """The command line of a psql session as one role, and what it needs in its environment."""
        if self._server is not None:
            self._server.start()
            return self._server.psql(role, self.database), {}
        url = self.url(role)
        plain = url._replace(drivername="postgresql", password=None).render_as_string()
        return [psql_binary(), plain], {"PGPASSWORD": str(url.password)} if url.password else {}

    def admin_engine(self, *, maintenance: bool = False) -> Engine:
        """The administrator's engine, for bootstrap and migration only.

        Args:
            maintenance: Connect to the server's own database, as before ours exists.
        """
        database = MAINTENANCE_DATABASE if maintenance else self.database
        if self._server is not None:
            self._server.start()
            return _engine(self._server.url(SUPERUSER, database))
        assert self._url is not None  # noqa: S101 - one of the two is set
        return _engine(self._url.set(database=database))

    @contextmanager
    def administer(self, *, maintenance: bool = False) -> Iterator[Connection]:
        """A connection of the administrator in autocommit, with errors translated."""
        engine = self.admin_engine(maintenance=maintenance).execution_options(isolation_level="AUTOCOMMIT")
        with translated(), engine.connect() as connection:
            yield connection

    @contextmanager
    def begin(self, role: Role) -> Iterator[Connection]:
        """One transaction as a role, with errors translated."""
        with begin(self.engine(role)) as connection:
            yield connection


def _engine(url: URL) -> Engine:
    # NullPool: a connection that outlives its use would be shared by forked workers and keep a database from
    # being dropped; a new one costs milliseconds. hide_parameters keeps values out of SQLAlchemy's messages.
    return create_engine(url, poolclass=NullPool, hide_parameters=True, connect_args={"connect_timeout": 10})


@contextmanager
def begin(engine: Engine) -> Iterator[Connection]:
    """One transaction on an engine, with errors translated; commits when the block ends well."""
    with translated(), engine.begin() as connection:
        yield connection


@contextmanager
def translated() -> Iterator[None]:
    """Turns every database error into a coded one.

    Postgres quotes values in DETAIL, in CONTEXT and in many a primary message, so nothing of it is kept but
    the SQLSTATE; only the gate's own conditions keep their message, which names requirements.
    """
    try:
        yield
    except psycopg.Error as error:
        raise _coded(error) from None
    except DBAPIError as error:
        original = error.orig
        if not isinstance(original, psycopg.Error):
            raise DeidError(Code.WAREHOUSE_STATEMENT, type(error).__name__) from None
        raise _coded(original) from None
    except SQLAlchemyError as error:
        raise DeidError(Code.WAREHOUSE_STATEMENT, type(error).__name__) from None


def _coded(error: psycopg.Error) -> DeidError:
    state = error.sqlstate
    if state is None:
        # No server spoke: the socket, the network or the login failed; else the driver refused a value itself.
        if isinstance(error, psycopg.OperationalError):
            return DeidError(Code.WAREHOUSE_UNREACHABLE)
        return DeidError(Code.WAREHOUSE_STATEMENT, type(error).__name__)
    if state in _OWN_STATES:
        return DeidError(_OWN_STATES[state], error.diag.message_primary)
    if state in _NOT_READY:
        return DeidError(Code.WAREHOUSE_NOT_READY, state)
    if state.startswith(_UNREACHABLE_CLASSES):
        return DeidError(Code.WAREHOUSE_UNREACHABLE, state)
    return DeidError(Code.WAREHOUSE_STATEMENT, state)
