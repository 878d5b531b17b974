"""Figures: the test set against its population, and scores by label.

Belongs here: pictures of aggregates, as PNG. Does not belong here: computing what they show, or any value
from a note.

Counts from 1 to 10 are not drawn, not even as a bar that could be measured: "<11" stands in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deid_platform.evaluation.scores.bootstrap import Estimate
from deid_platform.evaluation.scores.sampling import GroupShare, TestSet
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN, Scores, suppress
from deid_platform.reports.drawing import BLUE, GREY, ORANGE, canvas, error, errors, headed, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_GROUPS = 40
_LONGEST_NAME = 34
# How a count that is not shown begins: too small, or withheld to protect another.
_WITHHELD = ("<", "–")


def sample_figure(test_set: TestSet, path: Path | None = None) -> bytes:
    """Share of the population beside share of the sample, a row a group.

    Args:
        test_set: What `sampling.sample` returned.
        path: Where to write the picture too.

    Returns:
        A PNG. Beyond 40 groups, the smallest share the last row.
    """
    rows = _rows(test_set.groups)
    population = sum(group.population for group in test_set.groups)
    sampled = len(test_set.note_ids)
    figure, axes = canvas([name for name, _, _ in rows])
    counts = list(zip(_shown([whole for _, whole, _ in rows]), _shown([taken for _, _, taken in rows]), strict=True))
    for y, ((_, whole, taken), (whole_shown, taken_shown)) in enumerate(zip(rows, counts, strict=True)):
        ends: list[float] = []
        if not whole_shown.startswith(_WITHHELD):
            ends.append(100 * whole / population)
            axes.plot(ends[-1], y, "o", color=BLUE, markersize=9, fillstyle="none", markeredgewidth=1.8, clip_on=False)
        if not taken_shown.startswith(_WITHHELD):
            ends.append(100 * taken / sampled)
            axes.plot(ends[-1], y, "D", color=ORANGE, markersize=5.5, zorder=3, clip_on=False)
        if len(ends) == 2:
            axes.plot(ends, (y, y), color="#b8b8b8", linewidth=2, zorder=1.5)
        _beside(axes, y, f"{whole_shown} → {taken_shown}")
    _beside(axes, -0.9, "notes → sampled")
    axes.set_xlim(left=0)
    axes.set_xlabel("share of notes, %", fontsize=9.5)
    share = "" if test_set.phi_share is None else f"; {test_set.phi_share:.0%} show their own patient's identifiers"
    headed(
        figure,
        axes,
        "Test set against population",
        f"{suppress(sampled)} of {suppress(population)} notes in {len(test_set.groups)} groups{share}",
        (("o", BLUE, "none", "population"), ("D", ORANGE, "full", "test set")),
    )
    return png(figure, path)


def scores_figure(
    scores: Scores, path: Path | None = None, *, title: str = "What is missed, by label", source: str = ""
) -> bytes:
    """Share of words missed and of words wrongly hidden for every label with 95% intervals, all labels on top.

    The axis is logarithmic: what counts is whether one word in a hundred is missed or one in a thousand.

    Args:
        scores: What `evaluation.scores.summarise` returned.
        path: Where to write the picture too.
        title: What was measured.
        source: On whose notes, with whose topics, marked by which hand.

    Returns:
        A PNG.
    """
    rows: list[tuple[str, Estimate, Estimate]] = [("All labels", scores.recall, scores.precision)]
    rows += [(label.value, by.recall, by.precision) for label, by in scores.labels.items()]
    figure, axes = canvas([name for name, _, _ in rows])
    counts = [suppress(scores.recall.total), *_shown([recall.total for _, recall, _ in rows[1:]])]
    for y, ((_, recall, precision), count) in enumerate(zip(rows, counts, strict=True)):
        error(axes, recall, y - 0.16, BLUE, "o")
        error(axes, precision, y + 0.16, ORANGE, "D")
        _beside(axes, y, f"{count} words")
    _beside(axes, -0.9, "in gold")
    axes.axhline(0.5, color="#b8b8b8", linewidth=1)
    axes.get_yticklabels()[0].set_fontweight("bold")
    errors(axes, source)
    headed(
        figure,
        axes,
        title,
        f"{suppress(scores.notes)} notes, {suppress(scores.words)} words; label-blind; not drawn under 11 words",
        (("o", BLUE, "full", "missed (1 - recall)"), ("D", ORANGE, "full", "wrongly hidden (1 - precision)")),
    )
    return png(figure, path)


def _rows(groups: Sequence[GroupShare]) -> list[tuple[str, int, int]]:
    """Name, population and sample of each row: the largest groups by name, the rest together."""
    largest = sorted(groups, key=lambda g: (-g.population, g.note_type, g.period))
    shown, rest = largest, []
    if len(groups) > MOST_GROUPS:
        shown, rest = largest[: MOST_GROUPS - 1], largest[MOST_GROUPS - 1 :]
    shown = sorted(shown, key=lambda g: (g.note_type, g.period))
    rows = [(_name(group), group.population, group.sampled) for group in shown]
    if rest:
        rows.append((f"{len(rest)} smaller groups", sum(g.population for g in rest), sum(g.sampled for g in rest)))
    return rows


def _name(group: GroupShare) -> str:
    kind = group.note_type if len(group.note_type) <= _LONGEST_NAME else group.note_type[: _LONGEST_NAME - 1] + "…"
    # A dollar sign would start a formula.
    return f"{kind}, {group.period}".replace("$", r"\$")


def _shown(counts: Sequence[int]) -> list[str]:
    """The counts of one column as they may be shown beside their total.

    Where a single count is suppressed, the total would give it away; then the smallest other one is
    withheld as well.
    """
    shown = [suppress(count) for count in counts]
    if sum(text.startswith("<") for text in shown) == 1:
        others = [i for i, count in enumerate(counts) if count >= SMALLEST_SHOWN]
        if others:
            shown[min(others, key=lambda i: counts[i])] = _WITHHELD[1]
    return shown


def _beside(axes: Axes, y: float, text: str) -> None:
    axes.text(1.02, y, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8.5, color=GREY)
