"""What holds for all patterns, whatever they look for; the tables are in test_patterns_*.py."""

from __future__ import annotations

import pytest

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Document
from deid_platform.detection.rules import Rules
from deid_platform.detection.rules.catalogue import load_recognizers
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note

RULES = DetectorSpec().build()


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_header_is_found_at_the_start_of_a_line_whatever_ends_lines(newline: str) -> None:
    text = f"Visit{newline}RE: Quarmby, Jane{newline}stable"
    spans = RULES.detect([Note("n", text)])[0]
    assert [text[s.start : s.end] for s in spans] == ["Quarmby, Jane"]


HOSTILE = (
    *("a.a.a.", "7", "12-34-", "Aa ", "A", "1/", "1/1/", "a@", "a:", " ", "Dr. ", "May 1 ", "mar-", "on the 9th and "),
    *("call 617-", "a.com.", "1:ab:", "fax ", "MRN ####", "#1", "A1", "12 34 ", "id number ", "GB82 "),
    *("617-\n", "1-\n", "617 555\n", "6 1 7 ", "3/14/", "3/14,", "Setpember 3 ", "March l4, ", "Easter ", "MA 15000 "),
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_ends_in_spans_or_in_a_coded_failure(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    try:
        spans = Rules(timeout_s=0.2).detect([Document(Note("n", text))])[0]
    except DeidError as error:
        assert error.code is Code.DETECTOR_FAILED
        assert error.ref is not None
        assert text[:12] not in str(error)
    else:
        assert all(0 <= span.start < span.end <= len(text) for span in spans)


def test_recognizers_have_names_of_their_own_and_sound_confidences() -> None:
    recognizers = load_recognizers()
    assert len({r.name for r in recognizers}) == len(recognizers)
    assert all(0 < r.confidence <= 1 for r in recognizers)
