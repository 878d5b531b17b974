"""Keyed identifiers and digests: what research sees instead of a source's own ids.

Belongs here: everything that the key secret signs, and the plain digests of what is not PHI. Does not
belong here: where the secret comes from (`settings/`) or what stands in for a name (`surrogates/`).

A plain hash of a medical record number, or of a short note, can be guessed by hashing all candidates;
an HMAC cannot without the secret. There is no table from keys back to ids: the source can recompute.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import pairwise
from pathlib import Path

from deid_platform.errors import Code, DeidError

MIN_SECRET_BYTES = 32
_PLACEHOLDERS = re.compile(
    rb"change.?(me|this|it)|secret|pass.?w(or)?d|passphrase|placeholder|example|default|replace.?(me|this)|your.?key"
    rb"|letmein|qwerty|hunter2",
    re.IGNORECASE,
)
PREFIXES = {"note": "n", "patient": "p", "provider": "d", "encounter": "e"}


class Keyring:
    """Derives keys and digests from one secret for one site.

    Args:
        secret: At least 32 bytes; never logged, never in `repr`.
        site: The institution; the same source id at two sites gives two keys.
        former: Whether it is only kept to know older releases by. It may be weak: that is a reason to change it.

    Raises:
        DeidError: `secret-weak` if somebody could guess it (`guessable`), or if a former one is empty.
    """

    def __init__(self, secret: bytes, *, site: str, former: bool = False) -> None:
        if not secret or (not former and guessable(secret, least=MIN_SECRET_BYTES)):
            raise DeidError(Code.SECRET_WEAK)
        self._secret = secret
        self.site = site

    def __repr__(self) -> str:
        return "<Keyring>"

    def mac(self, purpose: str, *parts: str | bytes) -> bytes:
        """HMAC-SHA256 over length-prefixed parts, so that ("ab", "c") and ("a", "bc") differ."""
        return self._message(purpose, *parts).digest()

    def _message(self, purpose: str, *parts: str | bytes) -> hmac.HMAC:
        message = hmac.new(self._secret, digestmod=hashlib.sha256)
        _add(message, (purpose, self.site, *parts))
        return message

    @property
    def key_id(self) -> str:
        """Names the secret without revealing it, so that a rotation is visible in every row."""
        return self.mac("key-id").hex()[:12]

    def key(self, kind: str, *source_id: str) -> str:
        """The research-side key of a source id: one letter for its kind, then 26 base32 characters (130 bits)."""
        return f"{PREFIXES[kind]}_" + base64.b32encode(self.mac(f"{kind}-key", *source_id)).decode().lower()[:26]

    def digest(self, *parts: str | bytes) -> str:
        """A keyed content digest, 32 hexadecimal characters."""
        return self.digest_of(parts)

    def digest_of(self, parts: Iterable[str | bytes]) -> str:
        """As `digest`, of parts that are more than memory should hold."""
        message = self._message("digest")
        _add(message, parts)
        return message.hexdigest()[:32]

    def digests(self, *parts: str | bytes, then: Iterable[Iterable[str | bytes]]) -> Iterator[str]:
        """What `digest` gives of the parts and of all groups so far, after each group, for the price of one digest.

        Args:
            parts: What all of them begin with.
            then: Groups of further parts.
        """
        message = self._message("digest", *parts)
        for group in then:
            _add(message, group)
            yield message.hexdigest()[:32]


def _add(message: hmac.HMAC, parts: Iterable[str | bytes]) -> None:
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        message.update(len(raw).to_bytes(8, "big"))
        message.update(raw)


def file_digest(path: Path) -> str:
    """SHA-256 of a file that is no PHI, such as weights.

    Raises:
        OSError: If it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def guessable(secret: bytes, *, least: int) -> bool:
    """Whether a secret is short, made by a rule, or what a template said until somebody should have changed it.

    A random secret is not refused by mistake: in 32 random bytes, or 12 characters of base64, each of these has a
    probability under one in a million.

    Args:
        secret: A key secret or a password.
        least: The fewest bytes that will do.
    """
    if len(secret) < least or len(set(secret)) < least // 4 or _PLACEHOLDERS.search(secret):
        return True
    # One block again and again, whole or cut off: from some place on it equals its own beginning.
    if any(secret.startswith(secret[period:]) for period in range(1, len(secret) // 2 + 1)):
        return True
    # Ascending, descending or any other even stride, such as an alphabet followed by the digits.
    strides = Counter((after - before) % 256 for before, after in pairwise(secret))
    return strides.most_common(1)[0][1] > (len(secret) - 1) * 2 / 3


def plain_digest(*parts: str | bytes) -> str:
    """A digest of what is not PHI (rules, thresholds, policies), the same at every site; 32 hex characters."""
    message = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        message.update(len(raw).to_bytes(8, "big"))
        message.update(raw)
    return message.hexdigest()[:32]


@cache
def package_digest(package: str) -> str:
    """A digest of a package's rules, both code and data: its .py, .yaml, .txt and .tsv files, 32 hex characters.

    Rules are code as much as tables: hashing both means that no change of behaviour keeps an old approval.

    Args:
        package: Its importable name; its subpackages and folders count.
    """
    return plain_digest(*(part for path, file in _rules_of(files(package)) for part in (path, file.read_bytes())))


@cache
def module_digest(*modules: str) -> str:
    """A digest of single modules' code, 32 hex characters.

    Args:
        modules: Their importable names.
    """
    parts = (name.rpartition(".") for name in modules)
    return plain_digest(*((files(package) / f"{module}.py").read_bytes() for package, _, module in parts))


def _rules_of(folder: Traversable, within: str = "") -> Iterator[tuple[str, Traversable]]:
    """The rule files of a folder with their paths inside the package, in the order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        path = f"{within}{entry.name}"
        if entry.is_dir() and not entry.name.startswith("__"):
            yield from _rules_of(entry, f"{path}/")
        elif entry.name.endswith((".py", ".yaml", ".txt", ".tsv")):
            yield path, entry
