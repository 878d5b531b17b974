"""What recovery keeps: how many words that detection found are clinical terms, label by label.

Belongs here: detecting with and without recovery on a random sample of the site's notes (Murugadoss 2024, tables 3 and
4). Does not belong here: recovery (`detection/resolve/recovery`).

The sample is of all notes alike. A test set would not do, since it prefers notes with identifiers.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.tokens import touched, word_offsets
from deid_platform.notes import Delivery, Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.departed import who_left
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.topics.as_of import topics_as_of
from deid_platform.surrogates.dice import Dice
from deid_platform.text.fold import fold_term

SEED = 20


@dataclass
class Recovered:
    """Counts over a sample.

    Attributes:
        notes: Notes read.
        found: Label -> words that detection finds without recovery.
        kept: Label -> those of them that recovery keeps.
        terms: Term and label -> whose notes it was kept in, once for each time.
    """

    notes: int = 0
    found: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    terms: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, note: Note, without: Sequence[Span], with_recovery: Sequence[Span]) -> None:
        """Counts one note, by its spans without and with recovery."""
        self.notes += 1
        words = word_offsets(note.text)
        hidden = touched(words, [(span.start, span.end) for span in with_recovery])
        for span in without:
            found = touched(words, [(span.start, span.end)])
            kept = found & ~hidden
            self.found[span.label.value] += int(found.sum())
            self.kept[span.label.value] += int(kept.sum())
            if kept.any() and (kept == found).all():
                term = fold_term(note.text[span.start : span.end])
                self.terms[term, span.label.value][note.patient_id or note.note_id] += 1


def recovered(site: Site, *, progress: Callable[[int], object] = lambda _: None) -> Recovered:
    """Reads a sample and seals the terms of enough patients; the rest of them is forgotten.

    Raises:
        DeidError: `not-materialized` if the store has no notes; `detector-failed` if a note cannot be searched.
    """
    found = Recovered()
    sampled = _sample(site, site.settings.dictionaries.recovered_sample)
    if not sampled:
        raise DeidError(Code.NOT_MATERIALIZED, tables.RAW_NOTES)
    for delivery, notes in sampled.items():
        # Without the language model, whose every failure would end this, and which finds no terms of its own here.
        spec = replace(site.spec(topics_as_of(site.store, delivery)), chat=None)
        with_recovery = (it.spans for it in site.engine.detect(spec, notes))
        without = [it.spans for it in site.engine.detect(replace(spec, without=("recovery",)), notes)]
        for note, kept, all_found in zip(notes, with_recovery, without, strict=True):
            if kept is None or all_found is None:
                raise DeidError(Code.DETECTOR_FAILED, tables.RECOVERED)
            found.add(note, all_found, kept)
            progress(1)
    least = site.settings.dictionaries.harvest_minimum_patients
    rows = [
        {"phrase": term, "label": label, "patients": len(patients), "notes": patients.total()}
        for (term, label), patients in sorted(found.terms.items(), key=lambda it: (-it[1].total(), it[0]))
        if len(patients) >= least
    ]
    table = pa.Table.from_pylist(rows, schema=tables.HARVEST_SCHEMA)
    site.store.write(tables.RECOVERED, tables.ALL, [table], meta=lambda: {"notes": found.notes, "terms": len(rows)})
    return found


def _sample(site: Site, size: int) -> dict[Delivery, list[Note]]:
    """So many of the store's notes that have not left, all alike."""
    drawn = heapq.nsmallest(size, _drawn(site), key=lambda it: it[0])
    chosen: dict[Delivery, list[Note]] = defaultdict(list)
    for _, delivery, note in drawn:
        chosen[delivery].append(note)
    return chosen


def _drawn(site: Site) -> Iterator[tuple[int, Delivery, Note]]:
    left = who_left(site)
    for key in site.store.partitions(tables.RAW_NOTES):
        delivery = Delivery.parse(key)
        for row in site.store.stream(tables.RAW_NOTES, key):
            note = tables.from_row(Note, row)
            if not left.has(delivery, note.note_id, note.patient_id):
                yield Dice(SEED, key, note.note_id).between(0, 1 << 60), delivery, note


def shares(found: Recovered) -> Iterable[tuple[str, int, int, float]]:
    """Label, words found, words kept, and the share kept; all labels together last."""
    rows = [(label, count, found.kept[label]) for label, count in sorted(found.found.items())]
    rows.append(("all", found.found.total(), found.kept.total()))
    return [(label, count, kept, kept / count if count else 0.0) for label, count, kept in rows]
