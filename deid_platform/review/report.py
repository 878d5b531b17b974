"""Shares of removals by category and severity, as tables 14 and 3 of Aghakasiri 2025, and how far readers agree.

Belongs here: counting. Does not belong here: showing (`cli/review.py`).

The intervals are those of the bootstrap over patients. They speak of the notes that the round was drawn from. Where
nothing was missed every resample says so too: that interval is a point.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deid_platform.evaluation.scores.bootstrap import Estimate, Ratio, Resampling, Table, column, divided
from deid_platform.labels import Label
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import ANNOTATORS, Role
from deid_platform.review.decisions import Category, Decision, Severity, Standing, standing
from deid_platform.review.missed import Missed, compared
from deid_platform.review.rounds import Removal, removals_of_round, source_of

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class MissedFigures:
    """Identifiers that the detector missed, in what the round shows of notes.

    Attributes:
        notes: Notes of which the shown text was read: by both readers, or by the role that is asked for.
        found: Missed identifiers in them: those that both readers marked or the adjudicator did, or that role's.
        per_note: Their mean.
        labels: The mean of each label that somebody used.
        severities: The mean of each severity.
        agreement: F1 of the two readers' marks: the share of all their marks that the other marked too.
        apart: What one reader alone marked, and the adjudicator did not.
    """

    notes: int
    found: int
    per_note: Ratio
    labels: Mapping[Label, Ratio]
    severities: Mapping[Severity, Ratio]
    agreement: Ratio
    apart: int


@dataclass(frozen=True, slots=True)
class Report:
    """A round in figures.

    Attributes:
        categories: Of all removals counted, the share of each category.
        severities: Of the clinically relevant ones, the share of each severity.
        read_twice: Removals that both readers decided.
        kappa: Cohen's kappa of their categories; None where chance alone would always agree.
        kappa_severity: The same of the severity, where both call a removal clinically relevant.
        kappa_interval: The 95% interval of `kappa`; None with fewer than two patients.
        kappa_severity_interval: The same of `kappa_severity`.
        missed: Identifiers that the detector missed.
        source: What the round was drawn from: `gold`, `notes` or a delivery. Only in the first are the removals those
            outside gold.
    """

    standing: Standing
    categories: Mapping[Category, Estimate]
    severities: Mapping[Severity, Estimate]
    read_twice: int
    kappa: float | None
    kappa_severity: float | None
    kappa_interval: Interval | None
    kappa_severity_interval: Interval | None
    missed: MissedFigures
    source: str


def report(site: Site, number: int, *, role: Role | None = None) -> Report:
    """The figures of what is settled, or of what one role says."""
    found = standing(site, number)
    members = removals_of_round(site, number)
    said = found.settled if role is None else found.by_role[role]
    counted = {key: decision for key, decision in said.items() if key in members}
    one, other = (found.by_role[who] for who in ANNOTATORS)
    twice = [key for key in members if key in one and key in other]
    said_twice = [(one[key].category, other[key].category) for key in twice]
    relevant = [
        (a, b, members[key].patient)
        for key in twice
        if (a := one[key].severity) is not None and (b := other[key].severity) is not None
    ]
    severe = [(a, b) for a, b, _ in relevant]
    categories, severities = shares(list(counted.values()), [members[key].patient for key in counted])
    return Report(
        found,
        categories,
        severities,
        len(twice),
        kappa(said_twice),
        kappa(severe),
        kappa_interval(said_twice, [members[key].patient for key in twice]),
        kappa_interval(severe, [patient for _, _, patient in relevant]),
        missed_figures(site, number, role=role),
        source_of(site.store, number),
    )


def missed_figures(site: Site, number: int, *, role: Role | None = None) -> MissedFigures:
    """Missed identifiers a note, of what is settled or of what one role says."""
    members = removals_of_round(site, number)
    marks = compared(site, number)
    read = marks.read_twice if role is None else marks.read[role]
    # A note that names no patient is a cluster of its own.
    patients = {members[key].note_id: members[key].patient for key in members if key in read}
    ruled = marks.by_role[Role.ADJUDICATOR]
    counted: Mapping[str, Sequence[Missed]] = (
        {note: _settled(marks.agreed.get(note, []), ruled.get(note, [])) for note in patients}
        if role is None
        else {note: marks.by_role[role].get(note, []) for note in patients}
    )
    found = [it for its in counted.values() for it in its]
    labels = [label for label in Label if any(it.span.label is label for it in found)]
    rows = [
        [
            len(its),
            *(sum(it.span.label is label for it in its) for label in labels),
            *(sum(it.severity is severity for it in its) for severity in Severity),
            1,
        ]
        for its in counted.values()
    ]
    resampling = Resampling(rows or [[0] * (len(labels) + len(Severity) + 2)], list(patients.values()) or [None])

    def per_note(at: int) -> Ratio:
        return resampling.ratio(column(at), column(-1), len(counted)) if counted else Ratio(None, None, None, 0)

    return MissedFigures(
        len(counted),
        len(found),
        per_note(0),
        {label: per_note(1 + at) for at, label in enumerate(labels)},
        {severity: per_note(1 + len(labels) + at) for at, severity in enumerate(Severity)},
        _agreement(marks.agreed, marks.apart, members),
        sum(
            not any(it.span.overlaps(other.span) for other in ruled.get(note, []))
            for note, its in marks.apart.items()
            for it in its
        ),
    )


def _settled(agreed: Sequence[Missed], ruled: Sequence[Missed]) -> list[Missed]:
    return [*agreed, *(it for it in ruled if not any(it.span.overlaps(other.span) for other in agreed))]


def _agreement(
    agreed: Mapping[str, Sequence[Missed]], apart: Mapping[str, Sequence[Missed]], members: Mapping[str, Removal]
) -> Ratio:
    """2a / (2a + b): a identifiers that both marked, b marks of one reader alone."""
    patients = {it.note_id: it.patient for it in members.values()}
    notes = [note for note in agreed if agreed[note] or apart[note]]
    if not notes:
        return Ratio(None, None, None, 0)
    rows = [[2 * len(agreed[note]), 2 * len(agreed[note]) + len(apart[note])] for note in notes]
    marks = sum(total for _, total in rows)
    return Resampling(rows, [patients[note] for note in notes]).ratio(column(0), column(1), marks)


def shares(
    decisions: Sequence[Decision], patients: Sequence[str | None]
) -> tuple[dict[Category, Estimate], dict[Severity, Estimate]]:
    """Shares of categories among all decisions, and of severities among the clinically relevant ones."""
    if not decisions:
        nothing = Estimate(None, None, None, 0, 0)
        return dict.fromkeys(Category, nothing), dict.fromkeys(Severity, nothing)
    rows = [[*(d.category is c for c in Category), *(d.severity is s for s in Severity), 1] for d in decisions]
    resampling = Resampling(rows, patients)
    first = len(Category)
    by_category = {c: resampling.share(column(at), column(-1)) for at, c in enumerate(Category)}
    relevant = column(list(Category).index(Category.RELEVANT))
    return by_category, {s: resampling.share(column(first + at), relevant) for at, s in enumerate(Severity)}


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of two readers over any number of categories."""
    if not pairs:
        return None
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs)
    one, other = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    chance = sum(one[category] * other[category] for category in one)
    # Integers as long as possible, so that perfect agreement is 1.
    return None if chance == n * n else (agreed * n - chance) / (n * n - chance)


def kappa_interval(pairs: Sequence[tuple[str, str]], patients: Sequence[str | None]) -> Interval | None:
    """The 95% interval of `kappa` by the bootstrap over patients; None where it cannot be estimated.

    Resamples in which chance alone would always agree have no kappa and are left out.
    """
    names = sorted({name for pair in pairs for name in pair})
    if not names:
        return None
    cells = [(a, b) for a in names for b in names]
    resampling = Resampling([[pair == cell for cell in cells] for pair in pairs], patients)
    found = resampling.of(lambda sums: _kappas(sums, len(names)), len(pairs))
    return None if found.low is None or found.high is None else (found.low, found.high)


def _kappas(sums: Table, names: int) -> Table:
    """Kappa of each table of counts; shape (..., names * names) in, (...) out, NaN where there is none."""
    counts = sums.reshape(*sums.shape[:-1], names, names)
    n = counts.sum(axis=(-2, -1))
    agreed = np.trace(counts, axis1=-2, axis2=-1)
    chance = (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1)
    return divided(agreed * n - chance, n * n - chance)
