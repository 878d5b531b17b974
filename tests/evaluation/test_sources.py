"""Where a figure is from: a closed list of words, and how it reads."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from deid_platform.evaluation.sources import HANDS, MarkedBy, NotesOf, Source, notes_of_feeds, one_hand
from deid_platform.settings.feeds import FeedSettings
from deid_platform.warehouse.quality.lab import GOLDS

AUTHOR = "whose ways rules and model learned: flattery"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            Source.of("synthetic_hospital", "topics", notes="685"),
            f"685 notes of the synthetic hospital, with its own topics, marked by the program that wrote them, "
            f"{AUTHOR}",
        ),
        (
            Source.of("synthetic_hospital", "text"),
            f"notes of the synthetic hospital, on text alone, marked by the program that wrote them, {AUTHOR}",
        ),
        (
            Source.of("site", "topics", notes_of="site", marked_by="adjudicated", notes="120", feeds=("ehr",)),
            "120 notes of this site's feed ehr, with its topics, marked by the site's annotators (adjudicated)",
        ),
        (
            Source.of("site", "text", notes_of="site", marked_by="slots", feeds=("ehr", "lab")),
            "notes of this site's feeds ehr, lab, on text alone, marked by the program that wrote identifiers into "
            "slots of its corpus",
        ),
        (
            Source.of("site", "topics", notes_of="demonstration", marked_by="writer"),
            "notes of the demonstration (the synthetic hospital), with its own topics, marked by the program that "
            f"wrote them, {AUTHOR}",
        ),
        # Demonstration data may be published notes: nobody has said that the hospital wrote them.
        (
            Source.of("site", "topics", notes_of="demonstration", marked_by="unnamed"),
            "notes of demonstration data, with its own topics, marked by a hand that deid.toml does not name",
        ),
        (
            Source.of("library", "topics", notes="160", authors=4),
            "160 whole notes of 4 authors, not this site's, with the topics that they gave, marked by those who wrote "
            "them",
        ),
        (
            Source.of("library", "text", notes="40", authors=1),
            "40 whole notes of 1 author, not this site's, on text alone, marked by those who wrote them",
        ),
        (
            Source.of("library", "text"),
            "whole notes of several authors, not this site's, on text alone, marked by those who wrote them",
        ),
        (
            Source.of("site", "topics"),
            "notes of an unrecorded source, with topics of an unrecorded source, marked by an unrecorded hand",
        ),
        (
            Source.of("mtsamples", "topics"),
            "notes of others, published, with topics made for them, marked by the program that wrote identifiers "
            "into them",
        ),
        (
            Source.of("judged_pairs", "text"),
            "pairs of texts that come with the platform, on text alone, labelled by people",
        ),
        (
            Source.of("read_notes", "topics"),
            "notes of this site, with its topics, without gold, as two readers and an adjudicator judge them",
        ),
    ],
)
def test_a_source_says_whose_notes_whose_topics_and_by_which_hand(source: Source, said: str) -> None:
    assert str(source) == said


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Source.of("site", "topics", notes_of="site", marked_by="adjudicated"), Source.of("library", "topics")),
        (Source.of("site", "topics", notes_of="site", marked_by="slots"), Source.of("library", "topics")),
        (Source.of("site", "topics", notes_of="demonstration", marked_by="unnamed"), Source.of("library", "topics")),
        (Source.of("library", "topics"), Source.of("site", "topics", notes_of="demonstration", marked_by="writer")),
        (Source.of("library", "topics"), Source.of("site", "topics", notes_of="site", marked_by="writer")),
        (Source.of("library", "text"), Source.of("synthetic_hospital", "text")),
    ],
)
def test_notes_of_people_count_before_those_of_programs_and_a_sites_own_before_others(first, second) -> None:
    assert first.rank < second.rank


@pytest.mark.parametrize("gold", GOLDS)
@pytest.mark.parametrize("inputs", ["topics", "text"])
def test_every_gold_has_three_words_of_the_list(gold: str, inputs: str) -> None:
    words = Source.of(gold, inputs).words
    assert words["notes_of"] in tuple(NotesOf) and words["marked_by"] in tuple(MarkedBy)
    assert words["topics_of"] == ("none" if inputs == "text" else words["notes_of"])


@pytest.mark.parametrize("told", [{"notes_of": "Ann Quill"}, {"marked_by": "Ann Quill"}])
def test_no_other_word_is_a_source(told: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="not a valid"):
        Source.of("site", "topics", **told)


def test_the_words_that_the_database_takes_are_of_the_list() -> None:
    folder = resources.files("deid_platform.warehouse.migrations") / "sql"
    statement = (folder / "0021_sources.sql").read_text(encoding="utf-8")
    whose, hands = (set(re.findall(r"'(\w+)'", part)) for part in re.findall(r"IN \(([^)]*)\)", statement))
    assert whose == {NotesOf.SITE, NotesOf.DEMONSTRATION, NotesOf.BOTH}
    not_of_site = {MarkedBy.AUTHORS, MarkedBy.WRITTEN_IN, MarkedBy.LABELLERS, MarkedBy.NOT_RECORDED}
    assert hands == set(MarkedBy) - not_of_site


def test_deid_toml_names_the_hands_that_the_list_has() -> None:
    for hand in HANDS:
        assert FeedSettings(path="in", gold_by=hand.value).gold_by == hand
    with pytest.raises(ValueError, match="gold_by"):
        FeedSettings(path="in", gold_by="adjudicated")  # rounds of annotation say that, and nobody else


def test_of_several_feeds_and_hands_none_is_named_for_all() -> None:
    assert notes_of_feeds([False, False]) is NotesOf.SITE and notes_of_feeds([True]) is NotesOf.DEMONSTRATION
    assert notes_of_feeds([False, True]) is NotesOf.BOTH
    assert one_hand([MarkedBy.SLOTS, MarkedBy.SLOTS]) is MarkedBy.SLOTS
    assert one_hand([MarkedBy.SLOTS, MarkedBy.ADJUDICATED]) is MarkedBy.SEVERAL
