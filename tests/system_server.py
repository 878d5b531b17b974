"""A PostgreSQL server made of the machine's own binaries, as an institution runs one: TCP, scram and TLS alone."""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from free_port import free_port
from sqlalchemy import URL

SUPERUSER = "administrator"
_SETTINGS = {
    "listen_addresses": "'127.0.0.1'",
    "unix_socket_directories": "''",
    "password_encryption": "'scram-sha-256'",
    "ssl": "on",
    "ssl_cert_file": "'server.crt'",
    "ssl_key_file": "'server.key'",
    # Hundreds of databases that nobody needs after a crash of the machine; a crash of the server loses nothing.
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "'64MB'",
    "max_wal_size": "'2GB'",
    "timezone": "'UTC'",
}


def binaries() -> Path | None:
    """The folder of the newest PostgreSQL server that the machine has, or None."""
    found = [folder for folder in Path("/usr/lib/postgresql").glob("*/bin") if (folder / "initdb").is_file()]
    if found:
        return max(found, key=lambda folder: int(folder.parent.name) if folder.parent.name.isdigit() else 0)
    initdb = shutil.which("initdb")
    return Path(initdb).resolve().parent if initdb else None


@dataclass(frozen=True)
class Authority:
    """A certificate authority of one's own."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def made(cls) -> Authority:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of the tests")])
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        certificate = _certificate(name, key, name, key, days=2, critical=constraints)
        return cls(key, certificate)

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, *, host: str = "127.0.0.1", expired: bool = False) -> tuple[bytes, bytes]:
        """A certificate and its key for a server of that name or address, both PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternative: x509.GeneralName
        try:
            alternative = x509.IPAddress(ip_address(host))
        except ValueError:
            alternative = x509.DNSName(host)
        certificate = _certificate(
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]),
            key,
            self.certificate.subject,
            self.key,
            days=-1 if expired else 2,
            plain=x509.SubjectAlternativeName([alternative]),
        )
        encoding, no_password = serialization.Encoding.PEM, serialization.NoEncryption()
        return (
            certificate.public_bytes(encoding),
            key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, no_password),
        )


def _certificate(
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    signer: ec.EllipticCurvePrivateKey,
    *,
    days: int,
    critical: x509.ExtensionType | None = None,
    plain: x509.ExtensionType | None = None,
) -> x509.Certificate:
    now = datetime.now(tz=UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .public_key(key.public_key())
        .issuer_name(issuer)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=3))
        .not_valid_after(now + timedelta(days=days))
    )
    if critical:
        builder = builder.add_extension(critical, critical=True)
    if plain:
        builder = builder.add_extension(plain, critical=False)
    return builder.sign(signer, hashes.SHA256())


class SystemServer:
    """One server of its own on a free port of the loopback address; every login needs TLS and a password."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.log = folder / "log"
        self.program = program
        self.authority = Authority.made()
        self.superuser_password = secrets.token_hex(16)
        self.port = free_port()
        self._server: subprocess.Popen[bytes] | None = None
        # The server refuses to run as root.
        self.user = _somebody() if os.geteuid() == 0 else None

    @classmethod
    def made(cls) -> SystemServer:
        """A new server, started.

        Raises:
            FileNotFoundError: The machine has no server binaries.
        """
        program = binaries()
        if program is None:
            raise FileNotFoundError("no PostgreSQL server binaries")
        folder = Path(tempfile.mkdtemp(prefix="deid-tcp-"))
        server = cls(folder, program)
        if server.user:
            shutil.chown(folder, server.user)
        password = folder / "password"
        server.write("password", server.superuser_password.encode())
        server._initdb(password)
        password.unlink()
        server.certify()
        server.write("root.crt", server.authority.pem)
        server.root_certificate.chmod(0o644)
        folder.chmod(0o711)  # the client, another user, reads the authority's certificate
        server.configure(_SETTINGS | {"port": str(server.port)})
        server.allow("hostssl all all 127.0.0.1/32 scram-sha-256")
        server.start()
        return server

    @property
    def root_certificate(self) -> Path:
        """The authority's certificate, for `sslrootcert`."""
        return self.folder / "root.crt"

    def url(self, database: str = "postgres", **changes: str) -> str:
        """The administrator's URL; `changes` to its host, port, username, password or parameters."""
        parts = {"username": SUPERUSER, "password": self.superuser_password, "host": "127.0.0.1"}
        parts |= {name: changes.pop(name) for name in list(changes) if name in parts}
        port = int(changes.pop("port", self.port))
        query = {"sslmode": "verify-full", "sslrootcert": str(self.root_certificate)} | changes
        made = URL.create("postgresql", port=port, database=database, query=query, **parts)  # type: ignore[arg-type]
        return made.render_as_string(hide_password=False)

    def write(self, name: str, content: bytes) -> None:
        """A file of the server's, relative to its folder."""
        path = self.folder / name
        path.write_bytes(content)
        path.chmod(0o600)
        if self.user:
            shutil.chown(path, self.user)

    def certify(self, *, host: str = "127.0.0.1", expired: bool = False) -> None:
        """Gives the server a certificate; it counts from the next start or reload."""
        certificate, key = self.authority.issue(host=host, expired=expired)
        self.write("data/server.crt", certificate)
        self.write("data/server.key", key)

    def configure(self, settings: Mapping[str, str]) -> None:
        """Adds settings; they count from the next start or reload."""
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{key} = {value}\n" for key, value in settings.items())

    def allow(self, *rules: str) -> None:
        """Replaces pg_hba.conf; it counts from the next start or reload."""
        self.write("data/pg_hba.conf", "".join(f"{rule}\n" for rule in rules).encode())

    def reload(self) -> None:
        """Lets new settings, rules and certificates count."""
        self._process().send_signal(signal.SIGHUP)
        time.sleep(0.3)  # nothing tells when the postmaster has read them

    def start(self) -> None:
        """Starts it as a child of this process: one whose parent has gone stays a zombie where nobody reaps."""
        with self.log.open("ab") as log:
            self._server = subprocess.Popen(
                [str(self.program / "postgres"), "-D", str(self.data)],
                user=self.user,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + 60
        while not self._ready():
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(self.log.read_text(errors="replace")[-2000:])
            time.sleep(0.02)

    def stop(self) -> None:
        """Ends it in good order; whoever is connected is cut off."""
        self._end(signal.SIGINT)

    def restart(self) -> None:
        """Ends it and starts it anew, as a failover does."""
        self.stop()
        self.start()

    def crash(self) -> None:
        """kill -9 to the server, and its recovery."""
        self._end(signal.SIGKILL)
        while self._backends():  # they notice and go
            time.sleep(0.02)
        try:
            self.start()
        except RuntimeError:
            # Unlogged tables whose creation the crash undid can make the first recovery fail ("File exists"); it
            # leaves behind what the second one needs. A service manager starts it again in the same way.
            self.start()

    def remove(self) -> None:
        """Stops it and deletes all that is its own."""
        if self._server is not None:
            self._end(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, how: signal.Signals) -> None:
        process = self._process()
        process.send_signal(how)
        process.wait(timeout=60)
        self._server = None

    def _process(self) -> subprocess.Popen[bytes]:
        assert self._server is not None, "the server is not running"
        return self._server

    def _ready(self) -> bool:
        with contextlib.suppress(OSError, IndexError):
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            return int(lines[0]) == self._process().pid and lines[7].strip() == "ready"
        return False

    def _backends(self) -> list[str]:
        """Processes that still run in the data folder: a new server would refuse to start beside them."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "cwd").readlink() == self.data:
                    found.append(process.name)
        return found

    def _initdb(self, password: Path) -> None:
        subprocess.run(
            [
                *(str(self.program / "initdb"), "-D", str(self.data), "-U", SUPERUSER, f"--pwfile={password}"),
                *("-A", "scram-sha-256", "-E", "UTF8", "--no-locale", "--no-sync"),
            ],
            check=True,
            user=self.user,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )


def _somebody() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)
