"""Telling what was missed from surrogates: each rule by hand, and three ways of choosing surrogates."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.disclosure.plain_sight import Knowledge, Rule, ShownMention, plain_sight
from deid_platform.evaluation.disclosure.plain_sight_simulation import Way, compared, released

NAMES = [f"{a}{b}{c}" for a in "BDFGKLMNPRST" for b in ("an", "el", "or", "ix", "um") for c in "abcdefghijklmnopqrst"]


def record(*notes: str) -> list[ShownMention]:
    """Mentions of one person: names by note, the true one with a star."""
    return [
        ShownMention(number, "patient", name.rstrip("*"), residual=name.endswith("*"))
        for number, note in enumerate(notes)
        for name in note.split()
    ]


@pytest.mark.parametrize(
    ("notes", "rule", "pointed", "right"),
    [
        (("Pell Pell Vask*",), Rule.ODD_IN_NOTE, 1, 1),
        (("Pell PELL Vask*",), Rule.ODD_IN_NOTE, 1, 1),
        (("Pell Vask*",), Rule.ODD_IN_NOTE, 0, 0),  # which of the two?
        (("Pell Pell", "Vask*"), Rule.ODD_IN_NOTE, 0, 0),
        (("Pell Pell", "Vask*"), Rule.ODD_IN_RECORD, 1, 1),
        (("Vask* Vask* Pell",), Rule.ODD_IN_NOTE, 1, 0),  # mostly missed: the surrogate is the odd one
        (("Pell Vask*", "Reed Vask*"), Rule.RETURNS, 2, 2),
        (("Pell", "Pell"), Rule.RETURNS, 2, 0),
        (("Pell Reed Vask* Vask* Vask*",), Rule.REPEATS, 3, 3),
        (("Pell Reed Vask* Vask*",), Rule.REPEATS, 0, 0),
        (("Pell Quillfeather*",), Rule.UNMAKEABLE, 1, 1),
        (("555-0134 555-0199 5550123*",), Rule.FORMAT, 1, 1),
        (("555-0134 555-0199 555-0123*",), Rule.FORMAT, 0, 0),
    ],
)
def test_a_rule_by_hand(notes: tuple[str, ...], rule: Rule, pointed: int, right: int) -> None:
    knowledge = Knowledge(makeable=lambda name: name != "Quillfeather", most_repeats=2)
    mentions = record(*notes)
    found = plain_sight([mentions], knowledge).rules[rule]
    residual = sum(mention.residual for mention in mentions)
    assert (found.chance.hits, found.chance.total) == (pointed, len(mentions))
    assert (found.told.hits, found.told.total) == (right, residual)
    assert found.precision.total == pointed


def test_who_stands_for_whom_is_known_to_the_reader() -> None:
    mentions = [ShownMention(0, who, name, name == "Vask") for who, name in
                (("patient", "Pell"), ("patient", "Pell"), ("doctor", "Vask"))]  # fmt: skip
    assert plain_sight([mentions]).best is None


def test_a_rule_tells_only_where_it_is_right_as_often_as_wrong() -> None:
    surely = plain_sight([record("Pell Pell Vask*"), record("Reed Reed")])
    assert (surely.best, surely.told, surely.leaking_notes) == (Rule.ODD_IN_NOTE, 1.0, 0.5)
    hardly = plain_sight([record("Pell Pell Vask*"), record("Reed Reed Hale Dunn")])
    assert hardly.rules[Rule.ODD_IN_NOTE].precision.value == pytest.approx(1 / 3)
    assert (hardly.best, hardly.told) == (None, 0.0)


def test_a_surrogate_is_chosen_as_the_way_says() -> None:
    patients = [[["p", "p", "p", "p"], ["p", "d"]]]
    for way, distinct in ((Way.CONSISTENT, 1), (Way.PER_NOTE, 2)):
        (one,) = released(patients, NAMES, 0.0, way)
        assert len({mention.shown for mention in one if mention.entity == "p"}) == distinct
    (varied,) = released([[["p"] * 40]], NAMES, 0.0, Way.VARIED, most_repeats=2)
    counts = [[mention.shown for mention in varied].count(name) for name in {mention.shown for mention in varied}]
    assert max(counts) == 2 and len(counts) > 20
    (missed,) = released(patients, NAMES, 1.0, Way.VARIED)
    assert all(mention.residual for mention in missed)
    assert len({mention.shown for mention in missed}) == 2, "a true name is the same in all notes"
    with pytest.raises(ValueError, match="too few"):
        next(released(patients, NAMES[:5], 0.0, Way.CONSISTENT))


def test_consistent_surrogates_give_away_what_is_missed_and_varied_ones_do_not() -> None:
    """As in BRATsynthetic at 0.1% misses: 27.1% of documents leak with consistent surrogates, 0.1% with varied ones.

    Documents of 79 people with 4 mentions each. With consistent surrogates a person leaks if one mention of the four is
    missed: 4 p (1 - p)^3, so a document does in 1 - (1 - that)^79 = 27.0%. With varied ones a name has to be missed in
    all four places, which is beyond the three repeats of a surrogate.
    """
    documents = [[[f"person{i}" for i in range(79)] * 4]] * 200
    p = 0.001
    expected = 1 - (1 - 4 * p * (1 - p) ** 3) ** 79
    assert expected == pytest.approx(0.270, abs=0.001)
    found = compared(documents, NAMES, p, resamples=50)
    assert found[Way.CONSISTENT].best is Rule.ODD_IN_NOTE
    assert found[Way.CONSISTENT].leaking_notes == pytest.approx(expected, abs=0.1)
    assert found[Way.CONSISTENT].told > 0.99
    assert (found[Way.VARIED].best, found[Way.VARIED].leaking_notes) == (None, 0.0)


def test_surrogates_that_change_from_note_to_note_hide_one_mention_a_note_and_give_away_what_returns() -> None:
    patients = [[["p"], ["p"], ["p"], ["p"]]] * 1500
    found = compared(patients, NAMES, 0.05, resamples=50)
    # By the patient's other notes, if the name was missed in none of them.
    assert found[Way.CONSISTENT].best is Rule.ODD_IN_RECORD
    assert found[Way.CONSISTENT].told == pytest.approx(0.95**3, abs=0.06)
    per_note = found[Way.PER_NOTE]
    # Of the missed, those whose name was missed in another note too.
    assert per_note.best is Rule.RETURNS
    assert per_note.told == pytest.approx(1 - 0.95**3, abs=0.06)
    assert per_note.rules[Rule.RETURNS].precision.value == 1.0
