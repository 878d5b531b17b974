"""Dossiers and signatures in the ledger.

Belongs here: recording which dossier of a release was written, and what was concluded from it. Does not belong here:
writing one (`oversight/dossier.py`), or the signature itself (`oversight/signing.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import Engine, text

from deid_platform.warehouse.server.connection import begin

CONCLUSIONS = ("fit", "fit-with-conditions", "unfit")


@dataclass(frozen=True, slots=True)
class Signed:
    """The signature in force of a release.

    Attributes:
        release: The release.
        dossier: Digest of the dossier that was signed.
        who: Who concluded.
        conclusion: One of `CONCLUSIONS`.
        reason: Why, with the conditions if there are any.
        reassess_by: The last day on which it holds.
        public_key: The key that verifies the signature, in base64.
        signature: In base64.
        at: When it was recorded.
        lapsed: Whether that day is over.
        valid: Whether the server verified the signature, by a key of a signer where the administrator named any.
    """

    release: str
    dossier: str
    who: str
    conclusion: str
    reason: str
    reassess_by: date
    public_key: str
    signature: str
    at: datetime
    lapsed: bool
    valid: bool


def record_dossier(officer: Engine, release: str, digest: str) -> None:
    """Records that a dossier was written, unless it is the newest one already.

    Args:
        officer: The engine of the role `officer`.
        release: Of which release.
        digest: SHA-256 of its file, 64 hex characters.

    Raises:
        DeidError: `dossier-unknown` if there is no such release.
    """
    with begin(officer) as connection:
        connection.execute(text("SELECT ctl.record_dossier(:r, :d)"), {"r": release, "d": digest})


def newest_dossier(officer: Engine, release: str) -> str | None:
    """Digest of the dossier that was written last, be it again; None if none was."""
    statement = text("SELECT digest FROM ctl.newest_dossier WHERE release = :r")
    with begin(officer) as connection:
        return connection.execute(statement, {"r": release}).scalar()


def release_of(officer: Engine, digest: str) -> str | None:
    """The release of a dossier; None if it was not written here."""
    with begin(officer) as connection:
        return connection.execute(text("SELECT release FROM ctl.dossier WHERE digest = :d"), {"d": digest}).scalar()


def record_signature(
    officer: Engine,
    digest: str,
    *,
    who: str,
    conclusion: str,
    reason: str,
    signed_on: date,
    reassess_by: date,
    public_key: str,
    signature: str,
) -> str:
    """Records what a person concludes from a dossier, if the server finds that the signature is one.

    Returns:
        The release.

    Raises:
        DeidError: `dossier-unknown` if it is not the newest one of its release; `waiver-invalid` naming `who`, `reason`
            or `until`; `signature-invalid` naming `day`, `key` (of no signer), `who` (another than the key's signer) or
            `signature`.
    """
    values = {
        "d": digest, "who": who, "conclusion": conclusion, "reason": reason, "day": signed_on, "until": reassess_by,
        "key": public_key, "signature": signature,
    }  # fmt: skip
    statement = text("SELECT ctl.sign_dossier(:d, :who, :conclusion, :reason, :day, :until, :key, :signature)")
    with begin(officer) as connection:
        return str(connection.execute(statement, values).scalar_one())


@dataclass(frozen=True, slots=True)
class Signer:
    """Whose signatures count: the key, the person, and when it ended, if it did."""

    public_key: str
    who: str
    ended_at: datetime | None


def signers(officer: Engine) -> tuple[Signer, ...]:
    """Whose signatures count; those of any key while there is none."""
    with begin(officer) as connection:
        rows = connection.execute(text("SELECT public_key, who, ended_at FROM ctl.signer ORDER BY at, public_key"))
        return tuple(Signer(row.public_key, row.who, row.ended_at) for row in rows)


def signed(officer: Engine, release: str) -> Signed | None:
    """The signature in force of a release, lapsed or not; None without one."""
    statement = text(
        "SELECT release, dossier, who, conclusion, reason, reassess_by, public_key, signature, at, lapsed, valid"
        " FROM ctl.signed WHERE release = :r"
    )
    with begin(officer) as connection:
        row = connection.execute(statement, {"r": release}).one_or_none()
    return None if row is None else Signed(**row._mapping)
