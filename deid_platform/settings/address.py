"""Where a note may be sent: this machine, and hosts that deid.toml names; and how a database proves that it is itself.

Belongs here: the verdict on an address, before anything is connected to. Does not belong here: the connection
(`llm/endpoint.py`, `store/location.py`, `warehouse/server/connection.py`, `corpora/sql/connection.py`).

An address is taken apart by one strict pattern and put together again from the parts that were judged, so that no
other reading of it can lead elsewhere. This machine is a literal loopback address, or the name `localhost`, which is
never looked up: another name that resolves to a loopback address now may resolve to anything a moment later. Any other
host has to be named, and is reached over TLS alone, whose certificate says that it is that host.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from deid_platform.errors import Code, DeidError

if TYPE_CHECKING:
    from sqlalchemy import URL

_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[A-Za-z0-9._-]+)*)/?"
)
_LOCALHOST = "localhost"
_HERE = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Address:
    """A permitted endpoint.

    Attributes:
        url: What is connected to: never a name that resolves by chance.
        host: The name or address that the server goes by, as a certificate would have it.
        is_local: Whether it is on this machine.
    """

    url: str
    host: str
    is_local: bool


def permitted(url: str, allowed_hosts: Collection[str] | None = ()) -> Address:
    """The address of an endpoint, if notes may be sent there.

    Args:
        url: Scheme, host, perhaps a port, and the path under which the interface lies, such as `/v1`.
        allowed_hosts: Hosts that are trusted with notes, each alone or with a port, as deid.toml names them. None: the
            address itself is what it names.

    Raises:
        DeidError: `endpoint-refused`; the reference says why and shows nothing of the address, which may hold a key.
    """
    parts = _URL.fullmatch(url.strip())
    if parts is None or ".." in (parts["host"], *parts["path"].split("/")):
        raise _refused("not of the form https://host:port/path, in lower case and without user, password or query")
    secure = parts["scheme"] == "https"
    host = parts["host"].strip("[]")
    port = int(parts["port"] or (443 if secure else 80))
    local = host == _LOCALHOST or _is_loopback(host)
    if not 0 < port < 65536:
        raise _refused("no such port")
    if not local:
        if allowed_hosts is not None and host not in allowed_hosts and f"{host}:{port}" not in allowed_hosts:
            raise _refused("neither on this machine nor in llm.allowed_hosts")
        if not secure:
            raise _refused("a host other than this machine is reached by https alone")
    reached = _HERE if host == _LOCALHOST else parts["host"]
    return Address(f"{parts['scheme']}://{reached}:{port}{parts['path']}", host, local)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name, or a number in another notation
        return False


def _refused(why: str) -> DeidError:
    return DeidError(Code.ENDPOINT_REFUSED, why)


def verified(url: URL) -> URL:
    """The URL of a PostgreSQL server with `sslmode=verify-full`, where it leads over a network and nobody has said
    otherwise: notes travel."""
    host = url.query.get("host", url.host) or os.environ.get("PGHOST") or "/"
    if str(host).startswith("/") or "sslmode" in url.query or os.environ.get("PGSSLMODE"):
        return url
    return url.update_query_dict({"sslmode": "verify-full"})
