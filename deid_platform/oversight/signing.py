"""Signatures under a dossier's conclusion, which anybody can verify offline.

Belongs here: keys, signing, verifying. Does not belong here: recording a signature, which is the ledger's
(`warehouse/officer/dossiers.py`).

Ed25519 (RFC 8032) over the statement as JSON with sorted keys. The statement names the dossier by the SHA-256 of its
file, so that a changed dossier has no signature.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from deid_platform.errors import Code, DeidError

PASSWORD_VARIABLE = "DEID_OFFICER_KEY_PASSWORD"  # noqa: S105 - the name of a variable
_ENCRYPTED = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"

Ask = Callable[[], str]
"""Asks somebody for a password, who may have none."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a person concludes from a dossier.

    Attributes:
        release: The release.
        dossier: SHA-256 of the dossier's file.
        conclusion: `fit`, `fit-with-conditions` or `unfit`.
        who: The person.
        reason: Why, with the conditions if there are any.
        signed_on: The day.
        reassess_by: The last day on which it holds.
    """

    release: str
    dossier: str
    conclusion: str
    who: str
    reason: str
    signed_on: date
    reassess_by: date

    @property
    def message(self) -> bytes:
        """What is signed."""
        return json.dumps(asdict(self), sort_keys=True, default=str, ensure_ascii=False).encode()


def digest_of(dossier: bytes) -> str:
    """SHA-256 of a dossier's file, 64 hex characters."""
    return hashlib.sha256(dossier).hexdigest()


def make_key(path: Path, *, ask: Ask | None = None) -> str:
    """Writes a new key that only its owner can read, under a password if there is one.

    Args:
        path: The file to make.
        ask: Whom to ask for a password that the environment does not hold; nobody if None.

    Returns:
        The public key, in base64.

    Raises:
        DeidError: `dossier-key` if the file is there already or cannot be made.
    """
    key = Ed25519PrivateKey.generate()
    password = os.environ.get(PASSWORD_VARIABLE) or (ask() if ask else None)
    encryption = serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pem)
    except OSError:
        raise DeidError(Code.DOSSIER_KEY, path.name) from None
    return public_key(key)


def load_key(path: Path, *, ask: Ask | None = None) -> Ed25519PrivateKey:
    """The officer's key.

    Args:
        path: Its file, in PEM.
        ask: Whom to ask for its password, if it has one that the environment does not hold; nobody if None.

    Raises:
        DeidError: `dossier-key`.
    """
    password = os.environ.get(PASSWORD_VARIABLE)
    try:
        pem = path.read_bytes()
        if not password and ask and _ENCRYPTED in pem:
            password = ask()
        key = serialization.load_pem_private_key(pem, password.encode() if password else None)
    except (OSError, ValueError, TypeError):
        raise DeidError(Code.DOSSIER_KEY, path.name) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise DeidError(Code.DOSSIER_KEY, path.name)
    return key


def public_key(key: Ed25519PrivateKey) -> str:
    """What verifies its signatures, in base64."""
    raw = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return base64.b64encode(raw).decode()


def sign(statement: Statement, key: Ed25519PrivateKey) -> str:
    """The signature, in base64."""
    return base64.b64encode(key.sign(statement.message)).decode()


def signature_file(statement: Statement, signature: str, public: str) -> str:
    """What goes to whoever verifies: the statement, its signature and the public key, as JSON."""
    said = json.loads(statement.message)
    return (
        json.dumps({"statement": said, "signature": signature, "public_key": public}, indent=2, ensure_ascii=False)
        + "\n"
    )


def verified(dossier: bytes, signed: str, *, public: str | None = None) -> Statement:
    """The statement of a signature that belongs to a dossier.

    Args:
        dossier: The dossier's file.
        signed: What `signature_file` wrote.
        public: The key that the signer is known by; without it, the signature's own proves no more than that dossier
            and statement are unchanged.

    Raises:
        DeidError: `signature-invalid`, naming what does not fit: `file`, `dossier`, `key` or `signature`.
    """
    try:
        found = json.loads(signed)
        said = dict(found["statement"])
        signed_on, reassess_by = (date.fromisoformat(said.pop(name)) for name in ("signed_on", "reassess_by"))
        statement = Statement(**said, signed_on=signed_on, reassess_by=reassess_by)
        signature, own = _decoded(found["signature"]), str(found["public_key"])
        key = Ed25519PublicKey.from_public_bytes(_decoded(own))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DeidError(Code.SIGNATURE_INVALID, "file") from None
    if statement.dossier != digest_of(dossier):
        raise DeidError(Code.SIGNATURE_INVALID, "dossier")
    if public is not None and public != own:
        raise DeidError(Code.SIGNATURE_INVALID, "key")
    try:
        key.verify(signature, statement.message)
    except InvalidSignature:
        raise DeidError(Code.SIGNATURE_INVALID, "signature") from None
    return statement


def _decoded(said: str) -> bytes:
    """Base64 in the one form that `sign` and `public_key` write."""
    decoded = base64.b64decode(said, validate=True)
    if base64.b64encode(decoded).decode() != said:
        raise ValueError
    return decoded
