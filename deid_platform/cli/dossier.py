"""Commands on dossiers: dossier write, key, sign, verify.

Belongs here: arguments and what a person reads of the answers. Does not belong here: what any of it does
(`oversight/dossier.py`, `oversight/signing.py`).
"""

from __future__ import annotations

import sys
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from deid_platform.cli.terminal import Config, Who, Why, counted, say, site_of

dossier = typer.Typer(help="Dossiers: the evidence for a release, to be read and signed.", no_args_is_help=True)

DossierFile = Annotated[Path, typer.Argument(help="The dossier that `deid dossier write` wrote.")]


class Decision(StrEnum):
    """What a person concludes from a dossier."""

    FIT = "fit"
    FIT_WITH_CONDITIONS = "fit-with-conditions"
    UNFIT = "unfit"


@dossier.command("write")
def write(
    release: Annotated[
        str | None, typer.Argument(help="By default the one that analysts see, else the newest.")
    ] = None,
    config: Config = None,
) -> None:
    """Write a release's dossier as one HTML file, from the ledger and from what was measured."""
    from deid_platform.oversight.dossier import write_dossier

    written = write_dossier(site_of(config), release)
    say(f"{written.release}: {written.verdict.standing.value}, {counted(len(written.verdict.doubts), 'doubt')}")
    typer.echo(written.path)


@dossier.command("key")
def key(path: Annotated[Path, typer.Argument(help="The file to make.")]) -> None:
    """Make a key to sign dossiers with, under a password that is asked for at a terminal.

    Else DEID_OFFICER_KEY_PASSWORD, if set, protects it.
    """
    from deid_platform.oversight.signing import make_key

    def ask() -> str:
        return str(
            typer.prompt(
                "password of the new key (Enter for none)",
                default="",
                show_default=False,
                hide_input=True,
                confirmation_prompt=True,
                err=True,
            )
        )

    public = make_key(path, ask=ask if sys.stdin.isatty() else None)
    say("give this public key to whoever verifies your signatures:")
    typer.echo(public)


@dossier.command("signer")
def signer(
    public_key: Annotated[str, typer.Argument(help="As `deid dossier key` printed it.")],
    who: Who,
    end: Annotated[bool, typer.Option("--end", help="Signatures by it count no more from now on.")] = False,
    config: Config = None,
) -> None:
    """Say, as the administrator, whose signatures count. Once anybody is named, those of other keys are refused.

    Those that other keys made before are shown as invalid.
    """
    from deid_platform.warehouse.migrate import register_signer

    register_signer(site_of(config).warehouse.admin_engine(), public_key, who, ends=end)
    say(f"signatures by this key {'count no more from now on' if end else f'count as those of {who}'}")


@dossier.command("sign")
def sign(
    path: DossierFile,
    who: Who,
    why: Why,
    decision: Annotated[Decision, typer.Option(help="The conclusion.")],
    until: Annotated[datetime, typer.Option(formats=["%Y-%m-%d"], help="The last day on which it holds.")],
    key: Annotated[Path, typer.Option(help="Your key, in PEM.")],
    config: Config = None,
) -> None:
    """Sign what you conclude from a dossier. Analysts then see a release that waited for it.

    The key's password is asked for at a terminal, unless DEID_OFFICER_KEY_PASSWORD holds it.
    """
    from deid_platform.oversight.dossier import sign_dossier

    def ask() -> str:
        return str(typer.prompt("password of the key", hide_input=True, err=True))

    signed = sign_dossier(
        site_of(config),
        path,
        key,
        who=who,
        conclusion=decision.value,
        reason=why,
        reassess_by=until.date(),
        ask=ask if sys.stdin.isatty() else None,
    )
    say(f"{signed.release}: {decision.value} until {until:%Y-%m-%d}")
    if signed.active:
        say(f"analysts see {signed.release} now")
    typer.echo(signed.path)


@dossier.command("verify")
def verify(
    path: DossierFile,
    signature: Annotated[Path | None, typer.Option(help="By default the file beside it.")] = None,
    public_key: Annotated[str | None, typer.Option(help="The signer's public key, from the signer.")] = None,
) -> None:
    """Check offline that a signature belongs to a dossier. Exit status 1 means that it does not, or has lapsed."""
    from datetime import UTC

    from deid_platform.errors import Code, DeidError
    from deid_platform.oversight.signing import verified

    try:
        read = path.read_bytes(), (signature or path.with_suffix(".signature.json")).read_text(encoding="utf-8")
    except OSError:
        raise DeidError(Code.SIGNATURE_INVALID, "file") from None
    found = verified(*read, public=public_key)
    said = f"{found.release}: {found.conclusion}, by {found.who} on {found.signed_on}, until {found.reassess_by}"
    typer.echo(said)
    if public_key is None:
        say("unchanged since it was signed; --public-key shows whether it is the signer's key")
    if found.reassess_by < datetime.now(tz=UTC).date():
        say("the conclusion has lapsed")
        raise typer.Exit(1)
