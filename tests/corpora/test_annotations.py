"""From annotations to spans: what is annotated is covered, and nothing else but the white space inside it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.corpora import Reason
from deid_platform.corpora.annotations import Annotation, GoldFaultError, spans_of
from deid_platform.corpora.schemes import scheme_of

SCHEME = scheme_of("i2b2-2014")


def spans(pieces, text, surface=None, exact=False):
    return spans_of([Annotation(tuple(pieces), "PATIENT", surface, 7)], text, SCHEME, exact=exact).spans


@given(text=st.text("ab \n😀", min_size=1, max_size=30), data=st.data())
def test_pieces_are_covered_and_nothing_else_but_white_space_between_them(text, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=8)))
    pieces = list(zip(cuts[::2], cuts[1::2], strict=False))
    found = spans(data.draw(st.permutations(pieces)), text)
    covered = {i for span in found for i in range(span.start, span.end)}
    annotated = {i for start, end in pieces for i in range(start, end)}
    assert annotated <= covered
    assert not "".join(text[i] for i in covered - annotated).strip()
    # No two of them could have been one.
    for one, other in pairwise(found):
        assert text[one.end : other.start].strip()


@pytest.mark.parametrize(
    ("text", "surface", "exact", "holds"),
    [
        ("Ann\r\nLee", "Ann Lee", False, True),
        ("Ann\r\nLee", "Ann Lee", True, False),
        ("Ann Lee", "AnnLee", False, False),
        ("Ann Lee", "ann lee", False, False),
        ("Ann Lee", "Ann Lee", True, True),
        ("Ann Lee", None, True, True),
    ],
)
def test_a_surface_is_the_texts_or_its_words(text, surface, exact, holds):
    if holds:
        (span,) = spans([(0, len(text))], text, surface, exact)
        assert (span.start, span.end, span.source) == (0, len(text), "gold")
        return
    with pytest.raises(GoldFaultError) as fault:
        spans([(0, len(text))], text, surface, exact)
    assert (fault.value.reason, fault.value.place) == (Reason.SPAN_MISMATCH, 7)


@pytest.mark.parametrize(
    ("one", "other", "overlap"), [((0, 3), (3, 6), False), ((0, 4), (3, 6), True), ((0, 9), (3, 6), True)]
)
def test_spans_may_touch_and_not_overlap_unless_that_is_wanted(one, other, overlap):
    marked = [Annotation((other,), "CITY", None, 2), Annotation((one,), "PATIENT", None, 1)]
    assert len(spans_of(marked, "x" * 9, SCHEME, exact=True, overlaps=True).spans) == 2
    if not overlap:
        assert len(spans_of(marked, "x" * 9, SCHEME, exact=True).spans) == 2
        return
    with pytest.raises(GoldFaultError) as fault:
        spans_of(marked, "x" * 9, SCHEME, exact=True)
    assert (fault.value.reason, fault.value.place) == (Reason.SPAN_OVERLAP, 2)
