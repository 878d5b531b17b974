"""What noise does to the notes of the synthetic hospital, and how exactly gold is carried over to the noisy text.

    python benchmarks/noise.py [--notes 400] [--seed 11]

The gold of a noisy note is exact, since the edits are known. Carrying it over by alignment alone, as is done with
letters that were scanned, shows how far that method can be trusted.

    touched      identifiers whose surface is another
    edits        of each kind, of all edits of identifiers
    carried      identifiers that found a place by alignment
    exact        of those in notes that are still gold, the ones with exactly their place
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice

from deid_platform.corpora.gold import Gold
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.noise import Distribution, Kind, NoiseSpec, noisy
from deid_platform.corpora.scans.carry_over import carry_over

RATES = ((0.1, 0.0), (0.3, 0.02), (0.6, 0.1), (1.0, 0.3))


def row(golds: Sequence[Gold], spec: NoiseSpec) -> str:
    """The table's row of one pair of rates."""
    made = [noisy(gold, spec) for gold in golds]
    total = Distribution.of(made)
    unplaced = kept = exact = 0
    for gold, each in zip(golds, made, strict=True):
        assert each.gold.note is not None
        carried = carry_over(gold, each.gold.note.text)
        unplaced += len(carried.unplaced)
        if carried.gold is not None:
            kept += len(gold.spans)
            pairs = zip(carried.gold.spans, each.gold.spans, strict=True)
            exact += sum((one.start, one.end) == (other.start, other.end) for one, other in pairs)
    edits = sum(total.inside.values())
    kinds = (f"{100 * total.inside.get(kind, 0) / edits:.0f}%" for kind in Kind)
    cells = (
        f"{spec.identifiers:.1f}",
        f"{spec.outside:.2f}",
        f"{total.identifiers:,}",
        f"{100 * total.touched / total.identifiers:.1f}%",
        f"{100 * sum(total.outside.values()) / total.words:.1f}%",
        *kinds,
        f"{100 - 100 * unplaced / total.identifiers:.2f}%",
        f"{100 * exact / kept:.2f}%",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=400)
    parser.add_argument("--seed", type=int, default=11)
    chosen = parser.parse_args()
    found = (
        Gold(note.note_id, delivery.gold[note.note_id], delivery.clinical[note.note_id], note)
        for delivery in generate(HospitalSpec(seed=chosen.seed, notes=chosen.notes))
        for note in delivery.notes
    )
    golds = list(islice(found, chosen.notes))
    head = ("identifiers", "outside", "count", "touched", "words touched", *Kind, "carried", "exact")
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for identifiers, outside in RATES:
        print(row(golds, NoiseSpec(identifiers, outside=outside, seed=chosen.seed)), flush=True)


if __name__ == "__main__":
    main()
