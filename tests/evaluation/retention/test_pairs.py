"""The pairs that judges are validated on."""

from __future__ import annotations

from collections import Counter

from deid_platform.evaluation.retention.pairs import Split, labelled_pairs

PAIRS = labelled_pairs()


def test_there_are_enough_half_hard_and_half_held_out() -> None:
    assert len(PAIRS) >= 400
    for split in Split:
        mine = labelled_pairs(split)
        assert 0.45 <= len(mine) / len(PAIRS) <= 0.55
        assert 0.45 <= sum(pair.hard for pair in mine) / len(mine) <= 0.55
        assert 0.4 <= sum(pair.changed for pair in mine) / len(mine) <= 0.6


def test_three_languages_are_in_both_halves() -> None:
    assert min(Counter(pair.language for pair in PAIRS)[it] for it in ("it", "es")) >= 40
    for split in Split:
        counts = Counter((pair.language, pair.changed) for pair in labelled_pairs(split))
        assert all(counts[language, changed] >= 8 for language in ("en", "it", "es") for changed in (True, False))


def test_no_pair_and_no_original_is_there_twice() -> None:
    assert len({pair.name for pair in PAIRS}) == len(PAIRS)
    assert len({" ".join(pair.original.lower().split()) for pair in PAIRS}) == len(PAIRS)


def test_every_pair_is_a_chunk_that_differs() -> None:
    for pair in PAIRS:
        assert pair.original != pair.released, pair.name
        assert 3 <= len(pair.original.split()) <= 25, pair.name


def test_many_kinds_of_change_and_of_no_change() -> None:
    kinds = {changed: {pair.kind for pair in PAIRS if pair.changed is changed} for changed in (True, False)}
    assert {"dose", "eponym", "negation", "laterality", "unit", "birth_year", "age"} <= kinds[True]
    assert {"surrogate_drug", "age_over_89", "paraphrase", "ocr", "provider", "date"} <= kinds[False]
