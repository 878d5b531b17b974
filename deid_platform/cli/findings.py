"""Commands on what a reader found in a released note: retract.

Belongs here: arguments and what a person reads of the answers. Does not belong here: what any of it does
(`refresh/findings.py`).
"""

from __future__ import annotations

import re
from typing import Annotated

import typer

from deid_platform.cli.terminal import Config, console, site_of
from deid_platform.errors import Code, DeidError

_SPAN = re.compile(r"(\d{1,9})[:-](\d{1,9})")


def retract(
    note_key: Annotated[str, typer.Argument(help="As research.notes shows it.")],
    span: Annotated[str, typer.Option(help="Where it stands in the redacted text: START:END in characters from 0.")],
    label: Annotated[str, typer.Option(help="What kind of identifier it is, such as PATIENT.")],
    who: Annotated[str, typer.Option(help="Who found it.")],
    at_most: Annotated[
        int, typer.Option(min=0, help="With more other notes than this holding the same string, hide this one alone.")
    ] = 1000,  # findings.MOST_MATCHES, whose module takes long to load
    config: Config = None,
) -> None:
    """Hide a note in which a reader found an identifier, in every release at once.

    Every other note in which the same string stands as words of its own is hidden too. No delivery passes the gate
    again until `deid refresh` has made and measured it anew: notes that still hold the string are then quarantined.
    The string itself is printed nowhere and logged nowhere. Exit status 3 says that it stands in too many notes.
    """
    from deid_platform.labels import Label
    from deid_platform.refresh.findings import report

    place = _SPAN.fullmatch(span)
    if place is None or int(place[1]) >= int(place[2]):
        raise DeidError(Code.FINDING_INVALID, "span")
    if label not in Label.__members__.values():
        raise DeidError(Code.LABEL_UNKNOWN, "--label")
    start, end = map(int, place.groups())
    found = report(site_of(config), note_key, start, end, label=Label(label), who=who, most_matches=at_most)
    console.print(
        f"finding {found.number}, a string of {found.length} characters: {found.hidden:,} notes hidden; it stands in"
        f" {found.matches:,} other notes, in {found.releases:,} releases",
        highlight=False,
    )
    console.print("the gate is shut for what was measured before: run `deid refresh`", highlight=False)
    if found.matches > at_most:
        console.print(f"in more than {at_most:,} other notes: those were left as they are", highlight=False)
        raise typer.Exit(3)
