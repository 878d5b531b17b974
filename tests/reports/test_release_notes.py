"""Release notes: what analysts are told, what they must do, and what nobody is told."""

from dataclasses import replace

import pytest

from deid_platform.evaluation.sources import Source
from deid_platform.reports.release_notes import MadeWith, ReleaseNotes, TypeLine, release_notes_markdown

OWN = Source.of("site", "topics", notes_of="site", marked_by="adjudicated")
RULES = {OWN: {"recall": (0.989, 0.987, 0.990)}}
FORMER = MadeWith("r_1", "rules d1", "safe_harbor", "k1", "year", {"ehr": (2, "ehr@2026-01-12")}, RULES)
RELEASE = replace(FORMER, release="r_2", reach={"ehr": (3, "ehr@2026-01-19"), "lab": (1, "lab@7")})
LINES = (TypeLine("letter", 20, None, None, None, None, None), TypeLine("progress", 70, 10, 50, 20, None, None))
NOTES = ReleaseNotes(RELEASE, FORMER, LINES, hidden={})


def table_row(markdown: str, *begins: str) -> list[str]:
    """The cells of the one row that begins so."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines() if "|" in line]
    (found,) = (row for row in rows if tuple(row[: len(begins)]) == begins)
    return found[len(begins) :]


def test_counts_scores_and_reach_stand_beside_those_before() -> None:
    told = release_notes_markdown(replace(NOTES, former=replace(FORMER, scores={OWN: {"recall": (0.9, 0.8, 0.95)}})))
    assert told.startswith("# Release r_2\n\nWhat has changed since release r_1.")
    assert table_row(told, "progress") == ["70", "10", "50", "20", "–", "–"]
    assert table_row(told, "letter") == ["20", *"–––––"]
    assert table_row(told, "ehr") == ["3", "ehr@2026-01-19", "2", "ehr@2026-01-12"]
    assert table_row(told, "lab") == ["1", "lab@7", "0", "–"]
    assert table_row(told, "recall") == [
        "0.989 (0.987 to 0.990)",
        "0.900 (0.800 to 0.950)",
    ]
    assert "Every label is treated as before." in told
    assert "was not measured" not in told
    assert "On notes of this site, with its topics, marked by the site's annotators (adjudicated):\n" in told


def test_scores_on_notes_of_others_say_so_and_that_recall_here_was_not_measured() -> None:
    elsewhere = Source.of("synthetic_hospital", "text")
    scores = {elsewhere: {"recall": (0.99, 0.98, 1.0)}}
    told = release_notes_markdown(replace(NOTES, release=replace(RELEASE, scores=scores), former=None))
    assert "## Scores\n\nRecall on this site's notes was not measured.\n" in told
    assert table_row(told, "recall")[0] == "0.990 (0.980 to 1.000)"
    assert f"On {elsewhere}:\n" in told


def test_what_a_policy_hides_or_keeps_is_told_by_label() -> None:
    changed = replace(NOTES, hidden={"DOCTOR": "tag"}, kept=["PROFESSION"], otherwise={"ZIP": "zip3"})
    told = release_notes_markdown(changed)
    for line in ("DOCTOR is hidden now (tag)", "PROFESSION is kept now", "ZIP is hidden otherwise now (zip3)"):
        assert line in told
    assert "cannot be compared" in release_notes_markdown(replace(NOTES, hidden=None))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"key_id": "k2"}, "Join nothing with tables of the former release"),
        ({"dates": "shift"}, "dates shifted with the patient now, years alone before"),
        ({"detector": "rules d2"}, "offsets into texts of the former release hold no longer"),
        ({}, "Delete copies of notes that are not in `research.notes` any more"),
    ],
    ids=["another secret", "another class of dates", "another detector", "the same"],
)
def test_analysts_are_told_what_to_do(change, told) -> None:
    to_do = release_notes_markdown(replace(NOTES, release=replace(RELEASE, **change))).split("## ")[1]
    assert told in to_do
    assert ("Join nothing" in to_do) is ("key_id" in change)


def test_the_first_release_asks_nothing_of_anyone() -> None:
    told = release_notes_markdown(ReleaseNotes(RELEASE, None, LINES))
    assert "The first release." in told
    assert "What to do" not in told
