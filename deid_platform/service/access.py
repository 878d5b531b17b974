"""Who may ask the service.

Belongs here: tokens, and what a service without any may listen on. Does not belong here: users, certificates or TLS,
which are a proxy's.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from deid_platform.errors import Code, DeidError

TOKENS_VARIABLE, TOKENS_FILE_VARIABLE = "DEID_SERVE_TOKENS", "DEID_SERVE_TOKENS_FILE"
_LEAST = 32  # characters
_FEWEST_DIFFERENT = 8  # characters: what `secrets` makes of 32 has far more
_LINE = re.compile(r"([a-z][a-z0-9_-]{0,39}):([!-~]+)")


class Tokens:
    """The tokens of the service's clients, of which it keeps digests alone.

    Args:
        by_client: Name of a client -> its token.
    """

    def __init__(self, by_client: Mapping[str, str]) -> None:
        self._digests = {client: _digest(token) for client, token in by_client.items()}

    def __repr__(self) -> str:
        return "<Tokens>"

    def __bool__(self) -> bool:
        return bool(self._digests)

    @classmethod
    def read(cls, file: Path | None = None) -> Tokens:
        """Those of a file, else of the file that DEID_SERVE_TOKENS_FILE names, else of DEID_SERVE_TOKENS.

        Raises:
            DeidError: `tokens-invalid` with the line and the reason.
        """
        named = os.environ.get(TOKENS_FILE_VARIABLE)
        file = file or (Path(named) if named else None)
        if file is None:
            return cls.parse(os.environ.get(TOKENS_VARIABLE, ""))
        try:
            return cls._some(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise DeidError(Code.TOKENS_INVALID, "the file cannot be read") from None

    @classmethod
    def _some(cls, written: str) -> Tokens:
        # Of a file that was named: an empty one is a mistake, and must not open the service.
        if not (tokens := cls.parse(written)):
            raise DeidError(Code.TOKENS_INVALID, "there is none")
        return tokens

    @classmethod
    def parse(cls, written: str) -> Tokens:
        """Lines `client:token`; empty ones and those that begin with # are passed over."""
        found: dict[str, str] = {}
        for number, line in enumerate(written.splitlines(), start=1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            match = _LINE.fullmatch(line)
            if match is None:
                raise DeidError(Code.TOKENS_INVALID, f"line {number}: not name:token")
            client, token = match.groups()
            if client in found or token in found.values():
                raise DeidError(Code.TOKENS_INVALID, f"line {number}: stands twice")
            if len(token) < _LEAST or len(set(token)) < _FEWEST_DIFFERENT:
                raise DeidError(Code.TOKENS_INVALID, f"line {number}: too short")
            found[client] = token
        return cls(found)

    def client_of(self, authorization: str | None) -> str | None:
        """The client whose token a header bears; None if it is nobody's.

        The time that it takes tells nothing of any token: digests are compared, and all of them.
        """
        scheme, _, token = (authorization or "").partition(" ")
        given = _digest(token.strip())
        client = None
        for name, digest in self._digests.items():
            if secrets.compare_digest(given, digest):
                client = name
        return client if scheme.lower() == "bearer" else None


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_listening(host: str, tokens: Tokens) -> None:
    """Refuses a service that anybody on a network could ask.

    Raises:
        DeidError: `service-open`.
    """
    if not tokens and not is_loopback(host):
        raise DeidError(Code.SERVICE_OPEN)


def is_own_name(host: str | None) -> bool:
    """Whether a Host header means this machine: a page of another name could otherwise let that point here."""
    name = (host or "").lower()
    return is_loopback(name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0])


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
