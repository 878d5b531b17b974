"""What a dossier says of a release: figures and entries of the ledger, of `quality` and of the note store.

Belongs here: which of them go into it. Does not belong here: its page (`reports/dossier`), its file and its signature
(`dossier.py`), or measuring (`bench/lab/measures.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, text

from deid_platform.evaluation.retention.lexical_judge import judge_digest
from deid_platform.evaluation.sources import Source
from deid_platform.labels import HIPAA_IDENTIFIER, RISK, Indirect, Label
from deid_platform.notes import Delivery
from deid_platform.oversight.release_notes import policy_as_made
from deid_platform.redaction.policy import Policy
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.reports import dossier as page
from deid_platform.warehouse.gate.queries import ledger, notes_shown
from deid_platform.warehouse.gate.waivers import waivers
from deid_platform.warehouse.officer.marks import open_marks
from deid_platform.warehouse.officer.releases import Release, former_release, release
from deid_platform.warehouse.officer.reviews import ruled
from deid_platform.warehouse.quality.held_out import looked_at
from deid_platform.warehouse.quality.judges import judges_of
from deid_platform.warehouse.quality.lab import lab_scores
from deid_platform.warehouse.server.connection import begin
from deid_platform.warehouse.server.roles import Role

_DECISIONS = (
    "activated", "switched", "signed", "retracted", "mark-dismissed", "dossier-demanded", "dossier-not-demanded",
)  # fmt: skip


def gathered(site: Site, found: Release) -> page.Dossier:
    """The facts of a release."""
    officer = site.warehouse.engine(Role.OFFICER)
    policy = policy_as_made(site, found)
    authors = _authors(site, found.detector_digest)
    readings, judges = _readings(officer, found.detector_digest, found.policy_digest, authors)
    facts = page.Dossier(
        site=site.settings.site,
        release=found.release,
        state=found.state,
        as_of=_as_of(officer, found, judges),
        profile=site.settings.profile,
        policy=found.policy,
        policy_title=policy.title if policy else found.policy,
        legal_basis=policy.legal_basis if policy else "not at hand",
        policy_description=policy.description.strip() if policy else "The policy is not at hand as it was.",
        policy_is_at_hand=policy is not None,
        dates=found.dates,
        treatments=_treatments(policy),
        indirect=_indirect(site, policy, found.release),
        feeds=_feeds(officer, found.release),
        notes=notes_shown(officer) if found.state == "active" else None,
        versions={
            "detector": f"{found.detector} {found.detector_digest}",
            "policy": f"{found.policy} {found.policy_digest}",
            "key": found.key_id,
            "release": found.release,
        },
        requirements=_requirements(officer, found.release),
        languages=_languages(officer, found.release),
        waivers=_waivers(officer, found.release),
        decisions=[
            page.Decision(it.at, it.event, it.who or "", it.reason or "")
            for it in ledger(officer, release=found.release)
            if it.event in _DECISIONS
        ],
        readings=readings,
        thresholds={
            name.removeprefix("min_"): getattr(site.settings.thresholds, name)
            for name in ("min_recall", "min_precision", "min_clinical_retention", "min_roster_share")
        },
        change=_change(officer, found),
        retracted=_retracted(officer, found.release),
        ruled=ruled(officer, found.release),
        marked=any(found.release in it.releases for it in open_marks(officer)),
    )
    return replace(facts, held_out=_held_out(officer, found, facts.gold))


def _as_of(officer: Engine, found: Release, judges: Sequence[str]) -> datetime:
    """When the newest of the facts was recorded; that a dossier was written is none."""
    statement = text(
        "SELECT max(f.at) FROM ("
        " SELECT at FROM ctl.ledger WHERE release = :r AND event <> 'dossier'"
        " UNION ALL SELECT at FROM quality.scores WHERE detector_digest = :d"
        " UNION ALL SELECT at FROM quality.lab_scores"
        " WHERE detector_digest = ANY(CAST(:j AS text[])) OR (detector_digest = :d AND locale = '')"
        " UNION ALL SELECT at FROM ctl.look WHERE detector_digest = :d"
        " UNION ALL SELECT at FROM ctl.open_marks() WHERE :r = ANY(releases)) f"
    )
    values = {"r": found.release, "d": found.detector_digest, "j": [judge_digest(), *judges]}
    with begin(officer) as connection:
        newest = connection.execute(statement, values).scalar()
    return (newest or found.created_at).astimezone(UTC)


def _treatments(policy: Policy | None) -> Sequence[page.Treatment]:
    if policy is None:
        return ()
    return [
        page.Treatment(it.value, policy.labels[it].value.replace("_", " "), HIPAA_IDENTIFIER[it], RISK[it].value)
        for it in Label
    ]


def _indirect(site: Site, policy: Policy | None, name: str) -> Sequence[page.IndirectTreatment]:
    """How many indirect identifiers the notes of a release have, as the note store counted them when they were made."""
    if policy is None:
        return ()
    statement = text("SELECT delivery FROM ctl.publication WHERE release = :r ORDER BY delivery")
    with begin(site.warehouse.engine(Role.OFFICER)) as connection:
        deliveries: Sequence[str] = connection.execute(statement, {"r": name}).scalars().all()
    manifests = [site.store.manifest(tables.REDACTED_NOTES, Delivery.parse(it).key) for it in deliveries]
    of_release = [it for it in manifests if it is not None and it.meta["release"] == name]
    counts: list[Mapping[str, int] | None] = [it.meta.get("indirect") for it in of_release]

    def found(category: Indirect) -> int | str:
        if not counts or len(counts) < len(deliveries):
            return page.NOT_AT_HAND
        known = [counted for counted in counts if counted is not None]
        return page.NOT_TAGGED if len(known) < len(counts) else sum(counted[category.value] for counted in known)

    return [page.IndirectTreatment(it.value, policy.indirect_action(it).value, found(it)) for it in Indirect]


def _feeds(officer: Engine, name: str) -> list[page.Feed]:
    statement = text(
        "SELECT d.feed AS name, count(*) AS deliveries, (array_agg(d.delivery ORDER BY d.delivery_seq DESC))[1] AS "
        "newest, sum(p.approved) AS promoted, sum(p.quarantined) AS quarantined, sum(p.withdrawn) AS withdrawn,"
        " bool_or(d.demonstration) AS demonstration, min(coalesce(g.notes, 0)) AS gold,"
        " bool_and(coalesce(g.passed, false)) AS measured,"
        " count(t.notes) = count(*) AND sum(t.notes) > 10 AS known, sum(t.notes) AS notes,"
        " sum(t.named) AS named, sum(t.dated) AS dated, sum(t.numbered) AS numbered"
        " FROM ctl.publication p JOIN ctl.delivery d ON d.delivery = p.delivery"
        " LEFT JOIN LATERAL (SELECT s.passed, CAST(s.measured ->> 'notes' AS bigint) AS notes FROM ctl.gate s"
        "  WHERE s.delivery = p.delivery AND s.staged_digest = p.staged_digest AND s.requirement = 'site_gold'"
        "  ORDER BY s.id DESC LIMIT 1) g ON true"
        " LEFT JOIN LATERAL ("
        "  SELECT (g.measured->>'notes')::int AS notes, (g.measured->>'with_roster')::int AS named,"
        "  (g.measured->>'with_birth_date')::int AS dated, (g.measured->>'with_number')::int AS numbered"
        "  FROM ctl.gate g WHERE g.delivery = d.delivery AND d.release = p.release AND g.requirement = 'topics'"
        "  AND g.staged_digest = d.staged_digest AND g.detector_digest = d.detector_digest"
        "  AND g.measured ? 'with_number' ORDER BY g.id DESC LIMIT 1) t ON true"
        " WHERE p.release = :r GROUP BY d.feed ORDER BY d.feed"
    )

    def feed(told: dict[str, Any]) -> page.Feed:
        known, notes = told.pop("known"), told.pop("notes")
        shares = {what: float(told[what] / notes) if known else None for what in ("named", "dated", "numbered")}
        return page.Feed(**told | shares)

    with begin(officer) as connection:
        return [feed(dict(row._mapping)) for row in connection.execute(statement, {"r": name})]


def _requirements(officer: Engine, name: str) -> list[page.Requirement]:
    statement = text(
        "SELECT s.requirement AS name, count(*) FILTER (WHERE s.state = 'passed') AS passed,"
        " count(*) FILTER (WHERE s.state = 'waived') AS waived,"
        " count(*) FILTER (WHERE s.state IN ('failed', 'missing')) AS failed"
        " FROM ctl.publication p JOIN ctl.delivery d ON d.delivery = p.delivery AND d.release = p.release"
        " CROSS JOIN LATERAL ctl.gate_state(d.delivery, d.staged_digest) s"
        " WHERE p.release = :r GROUP BY s.requirement ORDER BY s.requirement"
    )
    with begin(officer) as connection:
        return [page.Requirement(**row._mapping) for row in connection.execute(statement, {"r": name})]


def _languages(officer: Engine, name: str) -> list[page.Language]:
    """The languages of a release's notes, as the gate has them of its deliveries; the newest figures count."""
    statement = text(
        "SELECT g.measured->'languages' AS languages FROM ctl.publication p"
        " JOIN ctl.delivery d ON d.delivery = p.delivery AND d.release = p.release"
        " CROSS JOIN LATERAL ctl.gate_state(d.delivery, d.staged_digest) s JOIN ctl.gate g ON g.id = s.gate"
        " WHERE p.release = :r AND s.requirement = 'languages' ORDER BY g.id"
    )
    found: dict[str, page.Language] = {}
    with begin(officer) as connection:
        rows: Sequence[Mapping[str, Any] | None] = connection.execute(statement, {"r": name}).scalars().all()
    for code, counted in (item for row in rows for item in (row or {}).items()):
        gold = next((it for it in ("site", "library", "synthetic_hospital", "shipped") if it in counted), None)
        figures = counted[gold] if gold else {"notes": None, "recall_low": None, "precision": None}
        before = found.get(code)
        found[code] = page.Language(
            code,
            counted["notes"] + (before.notes if before else 0),
            counted["withheld"] + (before.withheld if before else 0),
            gold,
            figures["notes"],
            figures["recall_low"],
            figures["precision"],
        )
    return [found[code] for code in sorted(found)]


def _waivers(officer: Engine, name: str) -> list[page.Waived]:
    statement = text(
        "SELECT d.delivery, d.feed FROM ctl.publication p JOIN ctl.delivery d ON d.delivery = p.delivery"
        " WHERE p.release = :r"
    )
    with begin(officer) as connection:
        rows = connection.execute(statement, {"r": name}).all()
    concerned = {row.delivery for row in rows} | {row.feed for row in rows}
    return [
        page.Waived(it.requirement, it.covers, it.who, it.reason, it.until, it.state)
        for it in waivers(officer)
        if it.delivery in concerned or it.feed in concerned
    ]


def _authors(site: Site, detector_digest: str) -> int:
    """By how many authors the library's notes are on which a detector was measured here; 0 if it was not."""
    metrics = site.store.manifest(tables.LIBRARY.metrics, tables.ALL)
    return int(metrics.meta["authors"]) if metrics and metrics.meta["detector_digest"] == detector_digest else 0


def _readings(
    officer: Engine, detector_digest: str, policy_digest: str, authors: int = 0
) -> tuple[list[page.Reading], list[str]]:
    """What was measured of a detector, as analysts see it, of its releases under the policy, and of the judges; and the
    digests of those judges that are language models."""
    statement = text(
        "SELECT gold, inputs, label, measure, value, low, high, n, notes_of, marked_by FROM quality.scores"
        " WHERE detector_digest = :d"
        " ORDER BY gold, inputs, label, measure"
    )
    with begin(officer) as connection:
        rows = connection.execute(statement, {"d": detector_digest}).all()
    readings = [
        page.Reading(
            *(row.gold, row.inputs, "words", row.label, row.measure),
            page.Figure(row.value, row.low, row.high, row.n),
            source=Source.of(row.gold, row.inputs, notes_of=row.notes_of, marked_by=row.marked_by, authors=authors),
        )
        for row in rows
    ]
    of_detector = [
        (on, it)
        for on, it in lab_scores(officer, detector_digest)
        if not on.locale and on.policy_digest in ("", policy_digest)
    ]
    judges = judges_of(officer, {on.judge for on, _ in of_detector if on.judge})
    of_judges = [each for digest in (judge_digest(), *sorted(judges)) for each in lab_scores(officer, digest)]
    for on, it in (*of_detector, *of_judges):
        # A judge that is not written down says nothing that a person could weigh.
        if not on.judge or on.judge in judges:
            figure = page.Figure(it.value, it.low, it.high, it.n)
            judge = judges[on.judge].name if on.judge else ""
            source = Source.of(on.gold, on.inputs, notes_of=on.notes_of, marked_by=on.marked_by)
            readings.append(page.Reading(on.gold, on.inputs, it.family, it.subject, it.measure, figure, judge, source))
    return readings, sorted(judges)


def _change(officer: Engine, found: Release) -> page.Change | None:
    before = former_release(officer, found.release)
    if before is None:
        return None
    former = release(officer, before)
    every = _readings(officer, former.detector_digest, former.policy_digest)[0]
    recall, precision = (
        next(
            (
                it
                for it in every
                if (it.gold, it.inputs, it.family, it.subject, it.measure) == (gold, "topics", "words", "ALL", measure)
            ),
            None,
        )
        for gold in [next(iter(page.golds_of(every)), None)]
        for measure in ("recall", "precision")
    )
    change = page.Change(before, former.policy, former.detector_digest, None, None)
    if recall is None or precision is None:
        return change
    return replace(change, recall=recall.figure, precision=precision.figure, source=recall.source)


def _held_out(officer: Engine, found: Release, gold: str | None) -> page.HeldOut | None:
    """What the detector was measured on, and the looks up to its own last one: later ones flatter other figures."""
    known = None if gold is None else looked_at(officer, found.detector_digest, gold)
    if gold is None or known is None:
        return None
    before = former_release(officer, found.release)
    former = None if before is None else looked_at(officer, release(officer, before).detector_digest, gold)
    return page.HeldOut(
        name=known.name,
        notes=known.notes,
        seen=known.seen,
        sealed_on=known.sealed_at.astimezone(UTC).date(),
        days=(known.until - known.sealed_at).days,
        looks=known.looks,
        detectors=known.detectors,
        other_sets=known.other_sets,
        other_looks=known.other_looks,
        every_detector=known.every_detector,
        own_sets=known.own_sets,
        former=None if former is None else former.name,
    )


def _retracted(officer: Engine, name: str) -> int:
    hidden = (it.counts.get("hidden", 0) for it in ledger(officer, release=name) if it.event == "retracted")
    return sum(int(str(it)) for it in hidden)
