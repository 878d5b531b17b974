"""Test notes of published corpora whose prose stands in a training part of any corpus: makes the list of them anew.

    DEID_CORPORA=... python benchmarks/near_copies.py > deid_platform/corpora/injection/data/near_copies.tsv

The list has ids alone. `tests/corpora/injection/test_near_copies.py` refuses one that is not the texts'.
"""

from __future__ import annotations

from deid_platform.corpora.catalogue import found_near_copies
from deid_platform.corpora.injection.near_copies import SHARE, WORDS


def main() -> None:
    """Prints the list."""
    print(f"# Test notes of which more than {SHARE:.0%} of the {WORDS}-word shingles stand in a training part.")
    print("# Made by benchmarks/near_copies.py: the project's own; no text of any note.")
    for corpus, note_id in found_near_copies(None):
        print(f"{corpus}\t{note_id}")


if __name__ == "__main__":
    main()
