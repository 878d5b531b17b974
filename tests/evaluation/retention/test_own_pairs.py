"""A judge beside several physicians, worked by hand: votes that are missing or split, and answers that do not come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention.judges import Verdict
from deid_platform.evaluation.retention.own_pairs import (
    MAJORITY,
    OwnPair,
    agreement_of,
    beside_physicians,
    own_pairs,
    physicians,
)

CHANGED, SAME, SILENT = Verdict(True), Verdict(False), Verdict(None)


def pair(note: str | None = None, **votes: bool) -> OwnPair:
    return OwnPair("a", "b", votes, note)


PAIRS = [
    pair("n1", ann=True, ben=True),
    pair("n1", ann=True, ben=False),  # split
    pair("n2", ann=False, ben=False),
    pair("n2", ben=False),  # Ann did not read it
    pair("n3", ann=True, ben=True),
]


def test_a_label_is_what_more_than_half_of_those_say_who_read_the_pair() -> None:
    assert [it.label for it in PAIRS] == [True, None, False, False, True]
    assert [it.mean for it in PAIRS] == [1, 0.5, 0, 0, 1]
    assert physicians(PAIRS) == ["ann", "ben"]


def test_a_judge_is_counted_where_there_is_a_label_and_silence_is_wrong() -> None:
    found = beside_physicians(PAIRS, [CHANGED, CHANGED, SAME, CHANGED, SILENT])
    whole = found.by[MAJORITY]
    assert (whole.tp, whole.tn, whole.fp, whole.fn, whole.unanswered) == (1, 1, 1, 1, 1)
    assert (whole.accuracy.value, whole.kappa) == (0.5, 0)
    assert (found.by["ann"].pairs, found.by["ben"].pairs) == (4, 5)
    # Verdicts 1 1 0 1 beside means 1 1/2 0 0: of four pairs, since one has no answer.
    assert found.pairs.notes == 4
    assert found.pairs.pearson == pytest.approx(0.375 / (0.75 * 0.6875) ** 0.5)
    # Ranks 3 3 1 3 beside 4 3 1.5 1.5: covariance 2, variances 3 and 4.5, in sums.
    assert found.pairs.spearman == pytest.approx(2 / (3 * 4.5) ** 0.5)
    # Notes: unchanged 0 and 1/2 of the pairs by the judge, 1/4 and 1 by people; the third has no answer.
    assert found.notes is not None
    assert (found.notes.notes, found.notes.pearson) == (2, pytest.approx(1))


def test_kappa_of_many_is_over_the_pairs_that_everybody_read() -> None:
    # Ann and Ben agree on three of four; five of eight votes are for a change.
    kappa, pairs = agreement_of(PAIRS)
    chance = (5 / 8) ** 2 + (3 / 8) ** 2
    assert (kappa, pairs) == (pytest.approx((3 / 4 - chance) / (1 - chance)), 4)
    # With the judge, without its silence: three pairs, on which all, a third and all agree; six of nine votes.
    kappa, pairs = agreement_of(PAIRS, [CHANGED, CHANGED, SAME, CHANGED, SILENT])
    chance = (5 / 9) ** 2 + (4 / 9) ** 2
    assert (kappa, pairs) == (pytest.approx(((1 + 1 / 3 + 1) / 3 - chance) / (1 - chance)), 3)
    assert agreement_of([pair(ann=True)]) == (None, 1)
    assert beside_physicians([pair(ann=True)], [CHANGED]).notes is None


def test_votes_are_by_name_in_a_list_or_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    votes = [{"ann": True, "ben": None}, [False, None, True], True]
    lines = (json.dumps({"original": "a", "released": "b", "changed": it, "note_id": 7}) for it in votes)
    path.write_text("\n".join(lines))
    found = own_pairs(path)
    assert [it.votes for it in found] == [
        {"ann": True},
        {"physician 1": False, "physician 3": True},
        {"physician 1": True},
    ]
    assert {it.note_id for it in found} == {"7"}
    with pytest.raises(DeidError) as error:
        own_pairs(tmp_path / "none.jsonl")
    assert error.value.code is Code.GOLD_MISSING


def test_a_table_has_a_column_for_each_physician(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text('\ufefforiginal,released,note_id,ann,ben\n"a, b",c,7,yes,\nd,"e\nf",,No,1\n')
    found = own_pairs(path)
    assert [(it.texts, it.votes, it.note_id) for it in found] == [
        (("a, b", "c"), {"ann": True}, "7"),
        (("d", "e\nf"), {"ann": False, "ben": True}, None),
    ]


@pytest.mark.parametrize(
    ("table", "ref"),
    [
        ("original,released,ann\na,b,perhaps\n", "line 2: changed is no vote of anybody"),
        ("original,released,ann\na,b,\n", "line 2: changed is no vote of anybody"),
        ("original,ann\na,yes\n", "line 2: released is no text"),
        ("original,released,ann\na,b\n", "line 2: more or fewer cells than the first line"),
        ('original,released,ann\na,"b,yes\n', "line 2: not CSV"),
    ],
)
def test_a_row_that_says_nothing_is_refused_by_its_line(tmp_path: Path, table: str, ref: str) -> None:
    (tmp_path / "mine.csv").write_text(table)
    with pytest.raises(DeidError) as error:
        own_pairs(tmp_path / "mine.csv")
    assert (error.value.code, error.value.ref) == (Code.GOLD_INVALID, ref)
