"""The release summary: what a newcomer needs to know of a refresh, as Markdown or for a terminal.

Belongs here: its content and its layouts. Does not belong here: gathering it (`oversight/summary.py`).
Counts are exact: the summary is for those who run a refresh and answer for it. What analysts and dossiers
show is suppressed where it is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from math import floor

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table

from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.evaluation.sources import NotesOf, Source

INPUTS = {"topics": "with topics", "text": "on text alone"}
MEASURES = {
    "precision": "precision",
    "recall": "recall",
    "recall_conservative": "recall, words hidden whole",
    "f1": "F1",
    "words_kept": "clinical words kept",
    "leak_rate": "notes with a missed identifier",
}


@dataclass(frozen=True)
class DeliveryLine:
    """One delivery's counts, from its files to research."""

    delivery: str
    state: str
    notes_in: int
    rejected: int
    redacted: int
    quarantined: Mapping[str, int]
    """Reason code -> notes."""
    withdrawn: int
    promoted: int
    missing: tuple[str, ...] = ()
    """Requirements of the gate that failed or were not measured."""
    failed: tuple[str, ...] = ()
    """Those of them that failed."""
    waived: tuple[str, ...] = ()
    leaks: int | None = None
    """Notes in which the gate's own leak check found anything; None where it did not run."""
    words_per_second: float | None = None
    indirect: Mapping[str, int] | None = None
    """Category -> indirect identifiers in the redacted notes, whatever the policy does with them; None: not tagged."""
    named: float | None = None
    """Share of notes whose patient has a last name in the topics; None without notes."""
    local_words: int | None = None
    """Words of the feed's own vocabulary that were in force; None where that is not known."""
    languages: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Language -> notes that are `clean`, and `withheld` since nobody measured the detector in it."""


@dataclass(frozen=True)
class Scored:
    """The bench's scores on one set of notes.

    Attributes:
        source: Where they are from.
        scores: Inputs -> measure -> value, low, high.
    """

    source: Source
    scores: Mapping[str, Mapping[str, Mapping[str, float | None]]]


@dataclass(frozen=True)
class ReleaseSummary:
    """A refresh from end to end. Counts, shares and names of things; nothing of any note."""

    site: str
    profile: str | None
    release: str | None
    waiting: tuple[str, ...]
    """Releases that do not yet hold all that the active one holds."""
    policy: str
    notes_shown: int
    """Notes that analysts see: corrected, withdrawn and hidden versions are not among them."""
    deliveries: tuple[DeliveryLine, ...]
    template_text: TemplateCounts = TemplateCounts()  # noqa: RUF009 - it is frozen
    """What of the text was recognised once and its verdict reused, of the last run of each delivery."""
    archives: tuple[str, ...] = ()
    """How far each archive is of which research does not hold all yet."""
    scored: tuple[Scored, ...] = ()
    """The scores that the gate judges by, then those on other notes."""
    unmeasured: tuple[str, ...] = ()
    """Feeds on whose notes recall was not measured."""
    warehouse: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    """What -> how to get there."""

    @property
    def leaks(self) -> int | None:
        """Notes in which the gate's leak check found anything; None where any delivery went unchecked."""
        found = [line.leaks for line in self.deliveries]
        return None if not found or None in found else sum(leaks or 0 for leaks in found)

    @property
    def leaks_stopped(self) -> int:
        """Notes that the leak check kept from being staged."""
        return sum(n for line in self.deliveries for reason, n in line.quarantined.items() if reason.startswith("leak"))


def interval(value: float | None, low: float | None, high: float | None) -> str:
    """A share with its 95% interval."""
    if value is None:
        return "not measured"
    if low is None or high is None:
        return share(value)
    return f"{share(value)} ({share(low)} to {share(high)})"


def share(value: float) -> str:
    """A share to three places, the same from a measurement as from the four places that the warehouse keeps of it."""
    return f"{Decimal(f'{value:.4f}').quantize(Decimal('0.001'), ROUND_HALF_UP)}"


def _reasons(quarantined: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in sorted(quarantined.items())) or "none"


def language_counts(counted: Mapping[str, Mapping[str, int]]) -> str:
    """How many notes passed in each language, and how many were withheld for it."""
    by_number = sorted(counted.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    passed, withheld = (
        ", ".join(f"{code} {it[status]:,}" for code, it in by_number if it.get(status))
        for status in ("clean", "withheld")
    )
    return "; ".join(filter(None, (passed, f"withheld, not measured: {withheld}" if withheld else ""))) or "none told"


def indirect_counts(counted: Mapping[str, int] | None) -> str:
    """How many indirect identifiers there are by category; one that nobody looked for is not 0."""
    if counted is None:
        return "not tagged"
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counted.items()) if count) or "none found"


def _row(line: DeliveryLine) -> tuple[str, ...]:
    """One delivery's cells, in the order of `_COLUMNS`."""
    unmeasured = [name for name in line.missing if name not in line.failed]
    notes = (
        line.state,
        f"failed: {', '.join(line.failed)}" if line.failed else "",
        f"not measured: {', '.join(unmeasured)}" if unmeasured else "",
        f"waived: {', '.join(line.waived)}" if line.waived else "",
        f"`deid gate {line.delivery}` shows what to do next" if line.missing or line.state == "refused" else "",
    )
    return (
        line.delivery,
        f"{line.notes_in:,}",
        f"{line.rejected:,}",
        f"{line.redacted:,}",
        f"{sum(line.quarantined.values()):,}",
        _reasons(line.quarantined),
        f"{line.withdrawn:,}",
        f"{line.promoted:,}",
        language_counts(line.languages),
        f"{line.words_per_second:,.0f}" if line.words_per_second else "from cache",
        indirect_counts(line.indirect),
        "no notes" if line.named is None else f"{floor(1000 * line.named) / 10}% of notes",
        "not known" if line.local_words is None else f"{line.local_words:,}",
        "; ".join(filter(None, notes)),
    )


_COLUMNS = (
    "delivery",
    "notes in",
    "rows refused",
    "redacted",
    "quarantined",
    "why",
    "withdrawn",
    "promoted",
    "languages",
    "words/s",
    "indirect identifiers",
    "last name in topics",
    "words of its own",
    "gate",
)


def _score_rows(it: Scored) -> Iterator[tuple[str, ...]]:
    for measure, name in MEASURES.items():
        cells = (it.scores[inputs].get(measure, {}) for inputs in it.scores)
        yield (name, *(interval(cell.get("value"), cell.get("low"), cell.get("high")) for cell in cells))


def _shown(summary: ReleaseSummary) -> str:
    """The notes that analysts see, and how they come from what was promoted."""
    promoted = sum(line.promoted for line in summary.deliveries)
    gone = promoted - summary.notes_shown
    if gone <= 0 or summary.waiting:
        return f"{summary.notes_shown:,}"
    return f"{summary.notes_shown:,}: {promoted:,} promoted, {gone:,} of them since corrected, withdrawn or hidden"


def recall_here(sources: Iterable[Source], unmeasured: Sequence[str]) -> str:
    """Whether recall was measured on this site's notes, and of which feeds it was not."""
    sources = tuple(sources)
    own = next((it for it in sources if it.of_site), None)
    if own is None:
        return "; ".join(("not measured", *(f"below: {_others(it)}" for it in sources[:1])))
    said = "measured" + (", on demonstration data" if own.notes_of is NotesOf.DEMONSTRATION else "")
    return said + (f"; not on those of {', '.join(unmeasured)}" if unmeasured else "")


def _others(source: Source) -> str:
    """Whose notes the figures are of where the site's own were not measured."""
    return f"{source.notes} invented notes".lstrip() if source.invented else source.whose


def _titled(summary: ReleaseSummary) -> Iterator[tuple[str, Scored]]:
    """Each set of scores under what they are of; the gate judges by the first."""
    for number, it in enumerate(summary.scored):
        yield it.source.both + ("" if number else "; the gate judges by these"), it


def _headline(summary: ReleaseSummary) -> dict[str, str]:
    return {
        "site": summary.site,
        "release": (summary.release or "none active")
        + (f"; not complete yet: {', '.join(summary.waiting)}" if summary.waiting else ""),
        **({"archive under way": "; ".join(summary.archives)} if summary.archives else {}),
        **(
            {"recall, own notes": recall_here((it.source for it in summary.scored), summary.unmeasured)}
            if summary.scored
            else {}
        ),
        "policy": summary.policy,
        "gate profile": summary.profile or "none",
        "notes in research": _shown(summary),
        "leaks": f"{summary.leaks_stopped:,} quarantined by the leak check; "
        + (
            "not checked in what was staged" if summary.leaks is None else f"{summary.leaks:,} found in what was staged"
        ),
        "template text": f"{summary.template_text.share:.1%} of characters reused, "
        f"about {summary.template_text.seconds_saved:.1f} s saved",
        "warehouse": summary.warehouse,
        **summary.places,
    }


def summary_markdown(summary: ReleaseSummary) -> str:
    """The summary as Markdown, for the Dagster UI and for documents."""
    lines = [f"- **{name}**: {value}" for name, value in _headline(summary).items()]
    lines += ["", "| " + " | ".join(_COLUMNS) + " |", "|" + " --- |" * len(_COLUMNS)]
    lines += ["| " + " | ".join(row) + " |" for row in map(_row, summary.deliveries)]
    for title, it in _titled(summary):
        lines += ["", f"Measured on {title}. Words, 95% bootstrap intervals.", ""]
        lines += ["| measure | " + " | ".join(INPUTS.get(i, i) for i in it.scores) + " |"]
        lines += ["|" + " --- |" * (1 + len(it.scores))]
        lines += ["| " + " | ".join(row) + " |" for row in _score_rows(it)]
    return "\n".join(lines) + "\n"


def summary_panel(summary: ReleaseSummary) -> RenderableType:
    """The summary for a terminal."""
    headline = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in _headline(summary).items():
        headline.add_row(f"[bold]{name}[/]", value)
    parts: list[RenderableType] = [headline]
    for line in summary.deliveries:
        parts += ["", _delivery_table(line)]
    for title, it in _titled(summary):
        scores = Table(title=f"measured on {title}", title_justify="left", box=None, padding=(0, 2, 0, 0))
        scores.add_column("word level, 95% interval")
        for inputs in it.scores:
            scores.add_column(INPUTS.get(inputs, inputs))
        for row in _score_rows(it):
            scores.add_row(*row)
        parts += ["", scores]
    return Panel(Group(*parts), title="release summary", title_align="left", expand=False)


def _delivery_table(line: DeliveryLine) -> Table:
    table = Table(title=line.delivery, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, value in list(zip(_COLUMNS, _row(line), strict=True))[1:]:
        table.add_row(f"  {name}", value)
    return table
