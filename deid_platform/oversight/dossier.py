"""Writes the dossier of a release, and signs it.

Belongs here: where its file lies, what the ledger keeps of it, and when a signature counts. Does not belong here: what
it says (`dossier_entries.py`), its page (`reports/dossier`), or keys (`signing.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from sqlalchemy import Engine

from deid_platform.errors import Code, DeidError
from deid_platform.oversight.dossier_entries import gathered
from deid_platform.oversight.signing import Ask, Statement, digest_of, load_key, public_key, sign, signature_file
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.archive import held_back
from deid_platform.reports import dossier as page
from deid_platform.runtime.output import Output
from deid_platform.warehouse.officer.dossiers import newest_dossier, record_dossier, record_signature, release_of
from deid_platform.warehouse.officer.releases import activate_release, release, releases
from deid_platform.warehouse.server.roles import Role


@dataclass(frozen=True)
class Written:
    """A dossier's file."""

    release: str
    path: Path
    digest: str
    verdict: page.Verdict


@dataclass(frozen=True)
class Signature:
    """A signature's file, and whether analysts see the release now."""

    release: str
    path: Path
    public_key: str
    active: bool


def write_dossier(site: Site, name: str | None = None) -> Written:
    """Writes a release's dossier into `dossiers` of the installation's home, and records its digest.

    The same facts make the same file; other facts make another one beside it, so that a signed dossier stays. Facts
    that are true again make their former file the newest one.

    Args:
        site: The installation.
        name: The release; by default the one that analysts see, else the newest one.

    Raises:
        DeidError: `release-unknown`.
    """
    officer = site.warehouse.engine(Role.OFFICER)
    found = release(officer, name or _newest(officer))
    facts = gathered(site, found)
    html = page.dossier_html(facts)
    digest = digest_of(html.encode())
    path = dossier_path(site, found.release, digest)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write(path, html)
    record_dossier(officer, found.release, digest)
    return Written(found.release, path, digest, page.verdict(facts))


def dossier_path(site: Site, release: str, digest: str) -> Path:
    """Where a dossier lies."""
    return site.settings.home_path / "dossiers" / f"{release}-{digest[:8]}.html"


def sign_dossier(
    site: Site,
    path: Path,
    key: Path,
    *,
    who: str,
    conclusion: str,
    reason: str,
    reassess_by: date,
    ask: Ask | None = None,
) -> Signature:
    """Signs a dossier that was written here, and shows its release to analysts where it waited for that alone.

    Args:
        site: The installation.
        path: The dossier's file.
        key: The officer's key, in PEM.
        who: The person.
        conclusion: `fit`, `fit-with-conditions` or `unfit`.
        reason: Why, at least ten characters.
        reassess_by: The last day on which it holds; after today.
        ask: Whom to ask for the key's password, as for `load_key`.

    Raises:
        DeidError: `dossier-unknown` if it is not the newest dossier of a release as it was written; `dossier-key`;
            `waiver-invalid` naming `who`, `reason` or `until`; `signature-invalid` naming `key` if it is no signer's,
            or `who` if its signer has another name.
    """
    officer = site.warehouse.engine(Role.OFFICER)
    try:
        digest = digest_of(path.read_bytes())
    except OSError:
        raise DeidError(Code.DOSSIER_UNKNOWN, path.name) from None
    named = release_of(officer, digest)
    if named is None or newest_dossier(officer, named) != digest:
        raise DeidError(Code.DOSSIER_UNKNOWN, path.name)
    private = load_key(key, ask=ask)
    who, reason = who.strip(), reason.strip()  # as the ledger keeps them
    today = datetime.now(tz=UTC).date()
    statement = Statement(named, digest, conclusion, who, reason, today, reassess_by)
    signature, public = sign(statement, private), public_key(private)
    record_signature(
        officer, digest, who=who, conclusion=conclusion, reason=reason, signed_on=today, reassess_by=reassess_by,
        public_key=public, signature=signature,
    )  # fmt: skip
    beside = path.with_suffix(".signature.json")
    _write(beside, signature_file(statement, signature, public))
    return Signature(named, beside, public, _shown(site, named, conclusion))


def _newest(officer: Engine) -> str:
    every = releases(officer)
    active = [it.release for it in every if it.state == "active"]
    if not every:
        raise DeidError(Code.RELEASE_UNKNOWN)
    return (active or [every[-1].release])[0]


def _write(path: Path, content: str) -> None:
    with Output.at(path).opened() as file:
        file.write(content)


def _shown(site: Site, name: str, conclusion: str) -> bool:
    if conclusion == "unfit" or held_back(site):
        return False
    try:
        activate_release(site.warehouse.engine(Role.PROMOTER), name)
    except DeidError as error:
        if error.code in (Code.RELEASE_CONFLICT, Code.RELEASE_DATES):
            return False
        raise
    return True
