"""What a change of the key secret does not separate.

Belongs here: saying which former releases tell of the dates of the policy in force. Does not belong here: keys
(`keys.py`), or refusing another class of dates under one secret, which is the database's.

Another secret gives other keys and other shifts, but most of a note's text stays as it is, and links its two rows as a
key would. So a release with shifted dates is no safer beside one of a former secret than beside one of its own.
"""

from __future__ import annotations

from typing import NamedTuple

from deid_platform.redaction.policy import DateClass
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.release_notes import DATES
from deid_platform.warehouse.officer.releases import releases
from deid_platform.warehouse.server.roles import Role

NOT_SEPARATED = "another secret does not separate them: unchanged text links the notes of both"


class Told(NamedTuple):
    """A release of a former secret that tells of the shifts of today's, or of which today's tell.

    Attributes:
        release: Its name.
        said: What it tells, in a sentence.
        other_class: Whether it shows dates of another class, which tell most.
    """

    release: str
    said: str
    other_class: bool


def told_by_former(site: Site) -> tuple[Told, ...]:
    """Releases that analysts saw under former secrets and whose dates, beside those of today's policy, tell shifts.

    Raises:
        DeidError: `warehouse-not-ready` or `warehouse-unreachable`.
    """
    now = site.policy.dates
    seen = [
        found
        for found in releases(site.warehouse.engine(Role.OFFICER))
        if found.activated_at is not None and found.key_id != site.keyring.key_id
    ]
    return tuple(
        Told(found.release, _said(found.release, found.dates, now), found.dates != now.value)
        for found in seen
        if now.moved or found.dates in (DateClass.SHIFT, DateClass.SEASON)
    )


def _said(release: str, before: str | None, now: DateClass) -> str:
    if before == now.value:
        tells = "the two shifts of a patient tell how far they lie apart"
    elif DateClass.TRUE in (before, now):
        tells = "the true dates tell every shift"
    elif DateClass.NONE in (before, now):
        tells = "what says when in the one tells little of the other"
    else:
        tells = "the one tells the shifts of the other, or most of them"
    return f"{release} showed {DATES[before]}, today's policy shows {DATES[now.value]}: {tells}; {NOT_SEPARATED}"
