"""Whether what the bench sealed belongs together: the sample, its gold, what was found in that.

Belongs here: what each is made of, and refusing what is of another. Does not belong here: making any of them
(`measured_notes.py`, `scoring.py`), or figures.

A refresh makes one after the other. Whoever materializes one of them alone leaves those behind that are made of it.
"""

from __future__ import annotations

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.redaction.ages import age90
from deid_platform.refresh.datasets import tables
from deid_platform.store import Manifest, NoteStore

_MADE_OF = "made_of"


def made_of(sealed: Manifest) -> dict[str, str]:
    """What goes into the `meta` of whatever is made of this."""
    return {_MADE_OF: plain_digest(*(part.digest for part in sealed.parts))}


def marks_young(store: NoteStore, of: tables.BenchSet = tables.OWN) -> bool:
    """Whether a set's gold marks ages under 90, as a site's own may; where it does not, one that is found is no error.

    Raises:
        DeidError: `not-materialized`.
    """
    return any(
        age90(surface := row["text"][span.start : span.end]) == surface
        for row in store.stream(of.gold, tables.ALL)
        for span in tables.spans_of(row["gold"])
        if span.label is Label.AGE
    )


def current_detections(store: NoteStore, of: tables.BenchSet = tables.OWN) -> Manifest:
    """The manifest of what was found in a set's gold, where that is the gold of today and of the sample of today.

    What earlier versions of the platform sealed does not say what it is made of, and counts.

    Raises:
        DeidError: `not-materialized`, naming what is missing or has to be made anew.
    """
    detections, gold = (store.required(name, tables.ALL) for name in (of.detections, of.gold))
    sample = store.manifest(tables.TEST_SET, tables.ALL)
    for made, source in ((gold, sample), (detections, gold)):
        known = made.meta.get(_MADE_OF)
        if known is not None and (source is None or made_of(source)[_MADE_OF] != known):
            raise DeidError(Code.NOT_MATERIALIZED, f"{made.dataset}/{made.partition}")
    return detections
