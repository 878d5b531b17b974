"""Token scores of Aghakasiri 2025, tables 2, 12 and 13, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.errors import DeidError
from deid_platform.evaluation.scores.token_scores import (
    Confusion,
    Partly,
    Providers,
    count_tokens,
    token_offsets,
    token_scores,
)
from deid_platform.labels import Label
from deid_platform.notes import Span

#       0         1         2         3         4         5
#       0123456789012345678901234567890123456789012345678901234567
TEXT = "Orrin Vask-Hale, 61, saw Dr. Pell. Naproxen/ASA stopped --"
# Tokens: Orrin | Vask-Hale, | 61, | saw | Dr. | Pell. | Naproxen/ASA | stopped | --
GOLD = [Span(0, 15, Label.PATIENT), Span(17, 19, Label.AGE), Span(29, 33, Label.DOCTOR)]


def found(*places: tuple[int, int]) -> list[Span]:
    return [Span(start, end, Label.PATIENT) for start, end in places]


# "Orrin" whole, "Vask" of "Vask-Hale,", the age not at all, "Pell" whole, "Naproxen" of "Naproxen/ASA", "saw" whole.
HIDDEN = found((0, 5), (6, 10), (29, 33), (35, 43), (21, 24))


def test_a_token_is_a_run_without_white_space() -> None:
    assert [TEXT[a:b] for a, b in token_offsets(TEXT)] == TEXT.split()
    assert token_offsets(" \n").shape == (0, 2)


@pytest.mark.parametrize(
    ("partly", "expected"),
    [
        # 4 gold tokens, 5 others. "Vask-Hale," is half hidden, "Naproxen/ASA" too.
        (Partly.GENEROUS, Confusion(tp=3, tn=3, fp=2, fn=1)),
        (Partly.CONSERVATIVE, Confusion(tp=2, tn=3, fp=2, fn=2)),
        (Partly.TWO_SIDED, Confusion(tp=2, tn=4, fp=1, fn=2)),
    ],
)
def test_a_token_hidden_in_part_counts_in_three_ways(partly: Partly, expected: Confusion) -> None:
    assert count_tokens(TEXT, GOLD, HIDDEN, partly=partly).all == expected


def test_scores_are_those_of_the_paper_for_its_own_counts() -> None:
    """Table 2, AHS, Presidio: A 0.82, R 0.76, P 0.17, F1 0.28; table 13, Llama-3.3: 0.99, 0.99, 0.76, 0.86."""
    for cells, printed in (
        (Confusion(5508, 120245, 26544, 1772), (0.82, 0.76, 0.17, 0.28)),
        (Confusion(7214, 144545, 2244, 66), (0.99, 0.99, 0.76, 0.86)),
    ):
        whole = count_tokens("", [], [])
        scores = token_scores([type(whole)(154_069, cells)])
        values = (scores.accuracy.value, scores.recall.value, scores.precision.value, scores.f1.value)
        assert [round(value or 0, 2) for value in values] == pytest.approx(printed, abs=0.011)
        assert scores.recall.low is None, "one note has no spread"


def test_a_comma_left_behind_a_name_names_nobody_and_a_token_without_letters_is_hidden_whole() -> None:
    assert count_tokens(TEXT, GOLD, found((0, 14)), partly=Partly.CONSERVATIVE).all.tp == 1, "the last letter is left"
    assert count_tokens(TEXT, GOLD, found((0, 15)), partly=Partly.CONSERVATIVE).all.tp == 2
    assert count_tokens(TEXT, [], found((56, 57)), partly=Partly.TWO_SIDED).all.fp == 0
    assert count_tokens(TEXT, [], found((56, 58)), partly=Partly.TWO_SIDED).all.fp == 1


@pytest.mark.parametrize(
    ("providers", "expected"),
    [
        (Providers.COUNTED, Confusion(tp=3, tn=3, fp=2, fn=1)),
        (Providers.ORDINARY, Confusion(tp=2, tn=3, fp=3, fn=1)),  # "Pell." is hidden wrongly
        (Providers.LEFT_OUT, Confusion(tp=2, tn=3, fp=2, fn=1)),  # and here it is nothing
    ],
)
def test_providers_are_identifiers_or_text_or_nothing(providers: Providers, expected: Confusion) -> None:
    assert count_tokens(TEXT, GOLD, HIDDEN, providers=providers).all == expected


def test_a_token_of_a_provider_and_a_patient_is_an_identifier() -> None:
    gold = [Span(6, 10, Label.HOSPITAL), Span(11, 15, Label.PATIENT)]
    counts = count_tokens(TEXT, gold, [], providers=Providers.LEFT_OUT)
    assert (counts.all.fn, counts.all.tn) == (1, 8)


def test_labels_that_were_not_counted_are_not_taken_for_right() -> None:
    counts = count_tokens(TEXT, GOLD, HIDDEN, by_label=False)
    assert counts.all == count_tokens(TEXT, GOLD, HIDDEN).all
    with pytest.raises(DeidError, match="input-invalid"):
        token_scores([counts], Label.DOCTOR)


def test_a_label_stands_against_the_rest() -> None:
    counts = count_tokens(TEXT, GOLD, [Span(0, 15, Label.PATIENT), Span(29, 33, Label.PATIENT)])
    assert counts.all == Confusion(tp=3, tn=5, fp=0, fn=1)
    assert counts.labels[Label.PATIENT] == Confusion(tp=2, tn=6, fp=1, fn=0)
    assert counts.labels[Label.DOCTOR] == Confusion(tp=0, tn=8, fp=0, fn=1)
    other = count_tokens("no name here", [], [])
    scores = token_scores([counts, other], Label.DOCTOR)
    assert scores.counts == Confusion(tp=0, tn=11, fp=0, fn=1)
    assert (scores.recall.value, scores.precision.value) == (0.0, None)


def test_intervals_are_over_patients() -> None:
    good, bad = count_tokens(TEXT, GOLD, GOLD, cluster="a"), count_tokens(TEXT, GOLD, [], cluster="b")
    assert token_scores([good, good]).recall.low is None
    scores = token_scores([good, good, bad, bad])
    assert (scores.recall.low, scores.recall.value, scores.recall.high) == (0.0, 0.5, 1.0)


def test_a_span_outside_the_text_is_refused() -> None:
    with pytest.raises(DeidError):
        count_tokens("short", [], found((0, 9)))


spans = st.lists(
    st.builds(
        lambda start, length, label: Span(start, min(len(TEXT), start + length), label),
        st.integers(0, len(TEXT) - 1),
        st.integers(1, 20),
        st.sampled_from((Label.PATIENT, Label.DOCTOR, Label.AGE)),
    ),
    max_size=5,
)


@given(spans, spans)
def test_the_three_ways_agree_on_what_is_an_identifier_and_order_as_they_should(
    gold: list[Span], predicted: list[Span]
) -> None:
    generous, conservative, two_sided = (count_tokens(TEXT, gold, predicted, partly=way).all for way in Partly)
    for one in (conservative, two_sided):
        assert one.tp + one.fn == generous.tp + generous.fn
        assert one.fp + one.tn == generous.fp + generous.tn
    assert conservative.tp == two_sided.tp <= generous.tp
    assert two_sided.fp <= conservative.fp == generous.fp
