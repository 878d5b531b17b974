"""Consistent, per-note and varied surrogates compared: what a reader tells of identifiers that are missed by chance.

Belongs here: made-up releases of given mentions. Does not belong here: the reader's rules (`plain_sight.py`), or the
platform's own surrogates (`surrogates/`).

Only who is mentioned where is taken from real or synthetic notes. Each mention is missed independently with the given
rate and then shows the true name; else it shows a surrogate:

- CONSISTENT: one for a person in all notes of the patient, as the policy `surrogate` has it.
- PER_NOTE: one for a person in a note, another in the next.
- VARIED: at each mention the last surrogate stays with a chance of a half and no more often than a limit, else another
  is drawn: the Markov chain of BRATsynthetic (Osborne 2025, doi 10.3390/electronics14193945), which knows no limit. By
  its abstract, 27.1% of documents leak with consistent surrogates and 0.1% with its own at 0.1% misses, 94.2% and 57.7%
  at 5%.

True names and surrogates come from one list, so that rarity tells nothing: what is measured is consistency alone. A
site's own misses are not independent (a nickname is missed each time): worse for VARIED and PER_NOTE than shown here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import numpy as np

from deid_platform.evaluation.disclosure.plain_sight import Knowledge, PlainSight, Record, ShownMention, plain_sight
from deid_platform.evaluation.scores.bootstrap import RESAMPLES

MOST_REPEATS = 3
_STAYS = 0.5

Mentions = Sequence[Sequence[Hashable]]
"""Of each note of a patient, who is mentioned, in order."""


class Way(StrEnum):
    """How surrogates are chosen."""

    CONSISTENT = "consistent"
    PER_NOTE = "per_note"
    VARIED = "varied"


def compared(
    patients: Sequence[Mentions],
    names: Sequence[str],
    miss_rate: float,
    *,
    most_repeats: int = MOST_REPEATS,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Mapping[Way, PlainSight]:
    """What a reader tells with each way of choosing surrogates; the same mentions are missed in all three.

    Args:
        patients: Who is mentioned in whose notes.
        names: The list that true names and surrogates are drawn from; longer than anybody's mentions.
        miss_rate: Chance of each mention to be missed.
        most_repeats: How often a varied surrogate may stand in one note.
        resamples: Bootstrap resamples over patients.
        seed: Of names, misses and resampling.

    Raises:
        ValueError: If the list is too short to draw from without repeating.
    """
    found: dict[Way, PlainSight] = {}
    for way in Way:
        records = released(patients, names, miss_rate, way, most_repeats=most_repeats, seed=seed)
        knowledge = Knowledge(most_repeats=most_repeats if way is Way.VARIED else None)
        found[way] = plain_sight(records, knowledge, resamples=resamples, seed=seed)
    return found


def released(
    patients: Iterable[Mentions],
    names: Sequence[str],
    miss_rate: float,
    way: Way,
    *,
    most_repeats: int = MOST_REPEATS,
    seed: int = 0,
) -> Iterator[Record]:
    """Released records, one a patient; see `compared`."""
    misses, dice = np.random.default_rng((seed, 1)), np.random.default_rng((seed, 2))
    for notes in patients:
        total = sum(map(len, notes))
        if 2 * total > len(names):
            raise ValueError("too few names to draw from")
        drawn = iter(dice.choice(len(names), size=2 * total, replace=False))
        missed = iter(misses.random(total) < miss_rate)
        true: dict[Hashable, str] = {}
        stands: dict[Hashable, str] = {}
        record: list[ShownMention] = []
        for number, note in enumerate(notes):
            repeats: dict[Hashable, int] = {}
            if way is not Way.CONSISTENT:
                stands = {}
            for entity in note:
                name = true.get(entity) or true.setdefault(entity, names[next(drawn)])
                if next(missed):
                    record.append(ShownMention(number, entity, name, residual=True))
                    continue
                used = repeats.get(entity, 0)
                stays = way is not Way.VARIED or (used < most_repeats and dice.random() < _STAYS)
                if entity not in stands or not stays:
                    stands[entity], used = names[next(drawn)], 0
                repeats[entity] = used + 1
                record.append(ShownMention(number, entity, stands[entity], residual=False))
        yield record
