"""What a soak says at its end: what was wrong in any delivery, and what grew from the first deliveries to the last.

Belongs here: what is kept of a delivery, and figures from that. Does not belong here: how it is measured (`run.py`),
or what is wrong with a delivery (`model.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from statistics import median

from soak.model import Found

LIMIT = 1.5
"""How many times as much as the first third of deliveries the last third may take: flat, as far as a machine is that
other work runs on."""
_FEWEST = 6  # figures, of which each third is a pair


@dataclass(frozen=True)
class Line:
    """What is kept of a delivery. Disk and memory are in MB."""

    delivery: str
    struck: tuple[str, ...]
    """What was killed or restarted, in this order."""
    calm: bool
    tries: int
    """Refreshes until one ended well."""
    seconds: float
    """Of the refresh that ended well."""
    memory: float
    """The most that all processes of that refresh had together."""
    store: float
    """Disk of the note store."""
    postgres: float
    """Disk of the server, with its journal."""
    database: float
    """Of that, the warehouse alone."""
    dagster: float
    """Disk of Dagster's storage."""
    connections: int
    """To the warehouse, once the refresh had ended."""
    runs: int
    """Of Dagster, up to now; so are the next two."""
    sent: int
    """Notes in deliveries, corrected ones again."""
    rows: int
    """Versions of notes in the warehouse, in all its releases."""
    live: int
    shown: int
    held: int
    code: str
    """A digest of the platform's code and rules."""
    found: Found


Resource = tuple[str, Callable[[Line], float], bool]
RESOURCES: tuple[Resource, ...] = (
    # What it is, a delivery's figure, and whether calm deliveries alone have it.
    ("seconds of a refresh", lambda line: line.seconds, True),
    ("memory of a refresh, MB", lambda line: line.memory, True),
    ("connections after it", lambda line: float(line.connections), False),
    ("note store, MB a thousand notes sent", lambda line: 1000 * line.store / max(line.sent, 1), False),
    ("warehouse, MB a thousand rows", lambda line: 1000 * line.database / max(line.rows, 1), False),
    ("Dagster's storage, MB a run", lambda line: line.dagster / max(line.runs, 1), False),
)


@dataclass(frozen=True)
class Growth:
    """A resource in the first and the last third of the deliveries, by the median."""

    resource: str
    first: float
    last: float

    @property
    def flat(self) -> bool:
        """Whether it stayed within the limit; what was nothing and is one, such as a connection, is not flat."""
        return self.last <= LIMIT * self.first


def growths(lines: Sequence[Line]) -> Iterator[Growth]:
    """Of each resource that enough deliveries have a figure of. The first delivery is an archive and counts nowhere."""
    for name, figure, calm in RESOURCES:
        figures = [figure(line) for line in lines[1:] if line.calm or not calm]
        third = len(figures) // 3
        if len(figures) >= _FEWEST:
            yield Growth(name, median(figures[:third]), median(figures[-third:]))


def breaches(lines: Sequence[Line]) -> list[str]:
    """What must not be, in words; of growth only at the end, when there is a last third."""
    wrong = [
        f"{line.delivery}: {field.name} {count}"
        for line in lines
        for field in fields(Found)
        if (count := getattr(line.found, field.name))
    ]
    return wrong + [f"not flat: {growth.resource}" for growth in growths(lines) if not growth.flat]


def verdict(lines: Sequence[Line]) -> Iterator[str]:
    """What went wrong, and what grew, as Markdown."""
    last, struck = lines[-1], [name for line in lines for name in line.struck]
    yield "| | |\n| --- | --- |"
    yield f"| deliveries, notes sent, Dagster's runs | {len(lines)}, {last.sent:,}, {last.runs} |"
    yield f"| versions of the platform's code | {len({line.code for line in lines})} |"
    yield f"| struck | {', '.join(f'{name} {struck.count(name)}' for name in sorted(set(struck))) or 'nothing'} |"
    yield f"| refreshes that were begun again | {sum(line.tries - 1 for line in lines)} |"
    yield f"| notes at the end: live, shown, held back | {last.live:,}, {last.shown:,}, {last.held:,} |"
    for field in fields(Found):
        yield f"| {field.name} | {sum(getattr(line.found, field.name) for line in lines)} |"
    yield "\n| median of a delivery | first third | last third | |\n| --- | --- | --- | --- |"
    judged = {growth.resource: growth for growth in growths(lines)}
    for name, *_ in RESOURCES:
        if growth := judged.get(name):
            yield f"| {name} | {growth.first:,.1f} | {growth.last:,.1f} | {'flat' if growth.flat else 'GROWS'} |"
        else:
            yield f"| {name} | - | - | not judged: under {_FEWEST} deliveries |"
