"""Shares of removals by category and severity, as tables 14 and 3 of Aghakasiri 2025, and how far readers agree.

Belongs here: counting. Does not belong here: showing (`cli/review.py`).

The intervals are those of the bootstrap over patients. They speak of the notes that the round was drawn from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deid_platform.annotation.rounds import ANNOTATORS, Role
from deid_platform.evaluation.bootstrap import Estimate, Resampling, column
from deid_platform.refresh.site import Site
from deid_platform.review.decisions import Category, Decision, Severity, Standing, standing
from deid_platform.review.rounds import removals_of_round


@dataclass(frozen=True, slots=True)
class Report:
    """A round in figures.

    Attributes:
        categories: Of all removals counted, the share of each category.
        severities: Of the clinically relevant ones, the share of each severity.
        read_twice: Removals that both readers decided.
        kappa: Cohen's kappa of their categories; None where chance alone would always agree.
        kappa_severity: The same of the severity, where both call a removal clinically relevant.
    """

    standing: Standing
    categories: Mapping[Category, Estimate]
    severities: Mapping[Severity, Estimate]
    read_twice: int
    kappa: float | None
    kappa_severity: float | None


def report(site: Site, number: int, *, role: Role | None = None) -> Report:
    """The figures of what is settled, or of what one role says."""
    found = standing(site, number)
    members = removals_of_round(site, number)
    said = found.settled if role is None else found.by_role[role]
    counted = {key: decision for key, decision in said.items() if key in members}
    one, other = (found.by_role[who] for who in ANNOTATORS)
    pairs = [(one[key], other[key]) for key in members if key in one and key in other]
    relevant = [(a.severity, b.severity) for a, b in pairs if a.severity and b.severity]
    categories, severities = shares(list(counted.values()), [members[key].patient for key in counted])
    return Report(
        found,
        categories,
        severities,
        len(pairs),
        kappa([(a.category, b.category) for a, b in pairs]),
        kappa(relevant),
    )


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
