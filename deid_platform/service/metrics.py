"""What the service counts of itself, as Prometheus reads it.

Belongs here: counts and seconds. Does not belong here: anything of a note, its id or its patient: labels are the
service's own addresses, states and codes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from deid_platform.service.queue import Queue

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """Counts since the service started."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._notes: Counter[str] = Counter()
        self._within: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()
        self._summed: dict[str, float] = {}

    def request(self, route: str, status: int, seconds: float) -> None:
        """Counts one request that was answered."""
        self._requests[route, status] += 1
        self._seconds[route] += 1
        self._summed[route] = self._summed.get(route, 0.0) + seconds
        within = self._within.setdefault(route, [0] * len(_SECONDS))
        for place, most in enumerate(_SECONDS):
            within[place] += seconds <= most

    def note(self, outcome: str) -> None:
        """Counts one note: `redacted`, or the code for which it is withheld."""
        self._notes[outcome] += 1

    def text(self, queue: Queue) -> str:
        """All of it, with the state of the queue."""
        return "\n".join((*self._counts(), *self._histogram(), *_gauges(queue), ""))

    def _counts(self) -> Iterator[str]:
        yield from _head("deid_requests_total", "counter", "Requests answered, by address and status.")
        for (route, status), count in sorted(self._requests.items()):
            yield f'deid_requests_total{{route="{route}",status="{status}"}} {count}'
        yield from _head("deid_notes_total", "counter", "Notes, redacted or withheld, by code.")
        for outcome, count in sorted(self._notes.items()):
            yield f'deid_notes_total{{outcome="{outcome}"}} {count}'

    def _histogram(self) -> Iterator[str]:
        name = "deid_request_seconds"
        yield from _head(name, "histogram", "Seconds from a request's head to the end of its answer.")
        for route, within in sorted(self._within.items()):
            for most, count in zip(_SECONDS, within, strict=True):
                yield f'{name}_bucket{{route="{route}",le="{most}"}} {count}'
            yield f'{name}_bucket{{route="{route}",le="+Inf"}} {self._seconds[route]}'
            yield f'{name}_sum{{route="{route}"}} {self._summed[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {self._seconds[route]}'


def _gauges(queue: Queue) -> Iterator[str]:
    for name, meaning, value in (
        ("deid_ready", "Whether the model is loaded.", int(queue.ready)),
        ("deid_workers", "Worker processes.", queue.workers),
        ("deid_workers_busy", "Worker processes that read notes.", queue.busy),
        ("deid_queue_waiting", "Requests and lines of streams that wait.", queue.waiting),
        ("deid_queue_places", "How many requests may wait.", queue.places),
    ):
        yield from _head(name, "gauge", meaning)
        yield f"{name} {value}"


def _head(name: str, kind: str, meaning: str) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} {kind}"
