"""Gathers the notes of a release from the warehouse and from the policies at hand.

Belongs here: which two releases are compared, and what their policies do with each label. Does not belong here: the
layout (`reports/release_notes.py`), or counting notes, which is the database's.
"""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import Engine

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.sources import Source
from deid_platform.labels import Indirect, Label
from deid_platform.redaction.policy import Action, Policy, load_policy
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.release_notes import Interval, MadeWith, ReleaseNotes, TypeLine
from deid_platform.warehouse.officer.releases import (
    Release,
    extents,
    former_release,
    note_counts,
    published_scores,
    release,
    releases,
)
from deid_platform.warehouse.server.roles import Role


def release_notes(site: Site, name: str | None = None) -> ReleaseNotes:
    """What a release changes for those who read the one before it.

    Args:
        site: The installation.
        name: The release; by default the one that analysts see.

    Raises:
        DeidError: `release-unknown` if there is no such release, or none that analysts see.
    """
    officer = site.warehouse.engine(Role.OFFICER)
    now = release(officer, name or _active(officer))
    before = former_release(officer, now.release)
    former = release(officer, before) if before else None
    counts = note_counts(officer, before, now.release)
    hidden, kept, otherwise = (
        _compared(policy_as_made(site, former), policy_as_made(site, now)) if former else (None, (), {})
    )
    return ReleaseNotes(
        release=_made_with(officer, now),
        former=_made_with(officer, former) if former else None,
        types=[TypeLine(**asdict(line)) for line in counts],
        hidden=hidden,
        kept=kept,
        otherwise=otherwise,
    )


def _active(officer: Engine) -> str:
    for found in releases(officer):
        if found.state == "active":
            return found.release
    raise DeidError(Code.RELEASE_UNKNOWN)


def _made_with(officer: Engine, found: Release) -> MadeWith:
    scores: dict[Source, dict[str, Interval]] = {}
    for score in published_scores(officer, found.detector_digest):
        source = Source.of(score.gold, score.inputs, notes_of=score.notes_of, marked_by=score.marked_by)
        scores.setdefault(source, {})[score.measure] = (score.value, score.low, score.high)
    return MadeWith(
        release=found.release,
        detector=f"{found.detector} {found.detector_digest}",
        policy=found.policy,
        key_id=found.key_id,
        dates=found.dates,
        reach={each.feed: (each.deliveries, each.newest) for each in extents(officer, found.release)},
        scores=scores,
    )


def policy_as_made(site: Site, made: Release) -> Policy | None:
    """The policy that a release was made by, shipped or the site's own; None if neither is just as it was."""
    for known in (site.settings.redaction.policy, made.policy):
        try:
            policy = load_policy(known)
        except DeidError:
            continue
        if policy.digest == made.policy_digest:
            return policy
    return None


def _compared(
    former: Policy | None, now: Policy | None
) -> tuple[dict[str, str] | None, tuple[str, ...], dict[str, str]]:
    """Labels and categories that are hidden now and were kept, kept and were hidden, and hidden otherwise."""
    if former is None or now is None:
        return None, (), {}
    before, after = _actions(former), _actions(now)
    changed = [name for name in after if before[name] != after[name]]
    keep = Action.KEEP.value
    return (
        {name: after[name] for name in changed if before[name] == keep},
        tuple(name for name in changed if after[name] == keep),
        {name: after[name] for name in changed if keep not in (before[name], after[name])},
    )


def _actions(policy: Policy) -> dict[str, str]:
    """What becomes of each label and of each category of indirect identifiers."""
    labels = {label.value: policy.labels[label].value for label in Label}
    return labels | {f"indirect {it.value}": policy.indirect_action(it).value for it in Indirect}
