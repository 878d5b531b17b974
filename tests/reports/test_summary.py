"""The release summary: counts that a reader can add up."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.sources import Source
from deid_platform.reports.summary import (
    DeliveryLine,
    ReleaseSummary,
    Scored,
    interval,
    language_counts,
    summary_markdown,
)


def of(shown: int, *promoted: int, waiting: tuple[str, ...] = ()) -> str:
    lines = tuple(DeliveryLine(f"f@{n}", "promoted", p, 0, p, {}, 0, p) for n, p in enumerate(promoted))
    return summary_markdown(ReleaseSummary("s", "demo", "r_1", waiting, "safe_harbor", shown, lines))


def test_what_is_in_research_is_what_was_promoted_less_what_has_gone() -> None:
    assert "95: 120 promoted, 25 of them since corrected, withdrawn or hidden" in of(95, 100, 20)


def test_no_sum_is_shown_where_there_is_nothing_to_add_up() -> None:
    assert "promoted, " not in of(120, 100, 20)
    assert "promoted, " not in of(95, 100, 20, waiting=("r_2",))  # promoted into two releases


def test_a_measurement_and_what_the_warehouse_keeps_of_it_are_shown_alike() -> None:
    measured, kept = (0.248538, 0.22476, 0.28138), (0.2485, 0.2248, 0.2814)
    assert interval(*measured) == interval(*kept) == "0.249 (0.225 to 0.281)"


def test_indirect_identifiers_are_counted_and_what_nobody_tagged_is_not_0() -> None:
    def shown(counted: dict[str, int] | None) -> str:
        line = DeliveryLine("f@1", "promoted", 9, 0, 9, {}, 0, 9, indirect=counted)
        return summary_markdown(ReleaseSummary("s", "demo", "r_1", (), "safe_harbor", 9, (line,)))

    assert "| FAMILY 1,200, ORIGIN 3 |" in shown({"ORIGIN": 3, "FAMILY": 1200, "CARE": 0})
    assert "| none found |" in shown({"FAMILY": 0}) and "| not tagged |" in shown(None)


SCORES = {"topics": {"recall": {"value": 0.999, "low": 0.998, "high": 1.0}}}


@pytest.mark.parametrize(
    ("source", "unmeasured", "here", "on"),
    [
        (
            Source.of("synthetic_hospital", "topics", notes="150"),
            ("ehr",),
            "not measured; below: 150 invented notes",
            "150 notes of the synthetic hospital, with its own topics and on text alone, marked by the program",
        ),
        (
            Source.of("site", "topics", notes_of="site", marked_by="slots", notes="120", feeds=("ehr",)),
            ("lab",),
            "measured; not on those of lab",
            "120 notes of this site's feed ehr, with its topics and on text alone, marked by the program that wrote "
            "identifiers into slots of its corpus",
        ),
    ],
)
def test_scores_stand_beside_where_they_are_from(source, unmeasured, here: str, on: str) -> None:
    lines = (DeliveryLine("ehr@1", "promoted", 9, 0, 9, {}, 0, 9),)
    summary = ReleaseSummary(
        "s", "demo", "r_1", (), "safe_harbor", 9, lines, scored=(Scored(source, SCORES),), unmeasured=unmeasured
    )
    shown = summary_markdown(summary)
    assert f"- **recall, own notes**: {here}\n" in shown and f"Measured on {on}" in shown


def test_the_library_leads_and_a_programs_notes_say_that_they_flatter() -> None:
    lines = (DeliveryLine("hospital@1", "promoted", 9, 0, 9, {}, 0, 9),)
    library = Source.of("library", "topics", notes="160", authors=4)
    own = Source.of("site", "topics", notes_of="demonstration", marked_by="writer", notes="685", feeds=("hospital",))
    low = {"topics": {"recall": {"value": 0.951, "low": 0.94, "high": 0.96}, "words_kept": {"value": 0.98}}}
    scored = (Scored(library, low), Scored(own, SCORES))
    shown = summary_markdown(ReleaseSummary("s", "demo", "r_1", (), "safe_harbor", 9, lines, scored=scored))
    assert "- **recall, own notes**: measured, on demonstration data\n" in shown
    leads = shown.index(
        "Measured on 160 whole notes of 4 authors, not this site's, with the topics that they gave and on text alone, "
        "marked by those who wrote them; the gate judges by these."
    )
    beside = shown.index("Measured on 685 notes of the demonstration (the synthetic hospital)")
    assert leads < shown.index("| recall | 0.951 (0.940 to 0.960) |") < beside < shown.index("| recall | 0.999")
    assert "| clinical words kept | 0.980 |" in shown and shown.count("learned: flattery") == 1


def test_languages_are_named_with_what_was_withheld() -> None:
    counted = {"th": {"withheld": 2}, "en": {"clean": 1300, "quarantined": 1}, "de": {"clean": 3, "withheld": 4}}
    assert language_counts(counted) == "en 1,300, de 3; withheld, not measured: de 4, th 2"
    assert language_counts({}) == "none told"
