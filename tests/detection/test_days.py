"""Days as a note writes them, and what a model alone calls a day."""

from __future__ import annotations

import pytest

from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.resolve.days import days
from deid_platform.labels import Label
from deid_platform.notes import Note

MODEL, RULE = Source(SourceKind.MODEL, "tiny"), Source(SourceKind.RULES, "date-month-day")


def remains(marked: str, source: Source = MODEL, language: str = "en") -> list[str]:
    """What remains of the stretch between brackets, called a date, and what else is one."""
    before, rest = marked.split("⟦")
    inside, after = rest.split("⟧")
    text = before + inside + after
    evidence = Evidence.PREDICTED if source is MODEL else Evidence.LISTED
    found = Candidate(len(before), len(before) + len(inside), Label.DATE, source, evidence, 0.6)
    kept = days(Document(Note("n", text, language=language)), [found])
    return [text[c.start : c.end] for c in kept if c.source is source]


@pytest.mark.parametrize(
    "marked",
    [
        "on ⟦3/14/2019⟧",
        "⟦20230918104417⟧",
        "⟦14 marzo⟧",
        "⟦Easter Sunday⟧",
        "until the ⟦23rd⟧",
        "hasta el ⟦9⟧",
        "CARE VISITED ⟦28/8⟧;",
        "⟦30 01 25⟧ vad",
        "signed ⟦3-22-Z4⟧",
        "⟦22/IV⟧",
        "⟦09/25/23-1420⟧",
        "exp ⟦12/2026⟧",
        "seen 8/29/2024, back ⟦9/3⟧",
        "⟦Mon the 27th⟧",
        "⟦la Virgen de agosto⟧",
    ],
)
def test_what_can_be_a_day_stays(marked):
    assert remains(marked) == [marked.split("⟦")[1].split("⟧")[0]]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("BP ⟦146/88⟧", []),
        ("GCS ⟦14/15⟧", []),
        ("seen 2/14/25. Device settings ⟦12/6⟧, rate 14", []),
        ("seen 11/1/24, BP averages 122/77 of ⟦12/14⟧ readings", []),
        ("TOF ⟦1/4   2/4⟧", []),
        ("at ⟦13.55⟧", []),
        ("⟦02.47⟧ 12D", []),
        ("Maviret ⟦2020⟧", []),
        ("⟦7,09 lact 11⟧", []),
        ("⟦levo 22⟧ epi", []),
        ("in ⟦18 mo⟧", []),
        ("pupils 4/4 to ⟦3/3⟧", []),
        ("⟦16/6   60⟧", ["16/6"]),
        ("on ⟦the 23rd⟧", ["23rd"]),
        ("seen 16/06/2024: ⟦11/6   60⟧", ["11/6"]),
    ],
)
def test_digits_that_cannot_be_a_day_are_cut(marked, expected):
    assert remains(marked) == expected


def test_a_long_number_that_is_no_day_stays_hidden_as_a_number():
    text = "Datix 2024-66310"
    found = Candidate(6, len(text), Label.DATE, MODEL, Evidence.PREDICTED, 0.5)
    (kept,) = days(Document(Note("n", text)), [found])
    assert (kept.start, kept.end, kept.label) == (6, len(text), Label.IDNUM)


@pytest.mark.parametrize(
    ("text", "confidence", "kept"),
    [
        ("PM 77/0186", 0.95, ["77/0186"]),
        ("PM 77/0186", 0.5, []),
        ("strength 4/5", 0.95, []),
        ("Realise le 6 aoA»t 2024", 0.95, ["6 aoA»t 2024"]),
    ],
)
def test_a_sure_model_is_believed_unless_something_claims_the_numbers(text, confidence, kept):
    start = next(at for at, c in enumerate(text) if c.isdigit())
    marked = Candidate(start, len(text), Label.DATE, MODEL, Evidence.PREDICTED, confidence)
    remaining = days(Document(Note("n", text)), [marked])
    assert [text[c.start : c.end] for c in remaining] == kept


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [("Ktr. am 9.5., dann", "de", ["9.5"]), ("Kalium 3.5. Dann", "en", []), ("Kalium 3,5. Dann", "de", [])],
)
def test_german_days_end_in_a_full_stop(text, language, expected):
    assert [text[c.start : c.end] for c in days(Document(Note("n", text, language=language)), [])] == expected


def test_the_weakest_rule_gives_way_to_a_claim():
    assert remains("strength ⟦4/13⟧ x", RULE) == ["4/13"]
    assert remains("BP ⟦9/13⟧, well", RULE) == []
