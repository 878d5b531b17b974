"""Where a figure is from: on whose notes it was measured, with whose topics, and by which hand these were marked.

Belongs here: the words for that, what follows from a gold by its name, and how it reads. Does not belong here: which
notes are measured (`bench/gate/measured_notes.py`), or keeping it (`warehouse/migrations/code/c_held_out.sql`).

The words are a closed list, which the database checks: a source is shown beside figures, and carries no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from deid_platform.corpora.gold_words import AS_WRITTEN, OWN
from deid_platform.evaluation.scores.scores import suppress


class NotesOf(StrEnum):
    """Whose notes, and whose topics where the detector was given any."""

    SITE = "site"
    DEMONSTRATION = "demonstration"
    """Of feeds that deid.toml marks as demonstration data."""
    BOTH = "site_and_demonstration"
    LIBRARY = "library"
    """Whole notes that many authors wrote for the platform, with the topics that they gave (`corpora/library`)."""
    HOSPITAL = "synthetic_hospital"
    PUBLISHED = "published"
    """Published notes; a program wrote identifiers into them, and made the topics with these."""
    OWN_CORPUS = "own_corpus"
    """Of a corpus that a site has, as `[corpora]` of deid.toml or a licence says."""
    PAIRS = "pairs"
    """Pairs of texts that come with the platform."""
    NOT_RECORDED = "not_recorded"


NO_TOPICS = "none"
"""What stands for topics where the detector was given the text alone."""


class MarkedBy(StrEnum):
    """By which hand gold was marked."""

    ADJUDICATED = "adjudicated"
    """Two annotators of the site, and a third person where they differ: a round of `deid annotate`."""
    ANNOTATORS = "annotators"
    """People outside such a round, as deid.toml says."""
    SLOTS = "slots"
    """A program that wrote identifiers into slots of the site's own corpus, as deid.toml says."""
    AUTHORS = "authors"
    """The people who wrote the notes."""
    WRITER = "writer"
    """The program that wrote the notes."""
    WRITTEN_IN = "written_in"
    """The program that wrote identifiers into published notes."""
    READERS = "readers"
    """Two readers and an adjudicator, of what was hidden; there is no gold."""
    LABELLERS = "labellers"
    """People who labelled pairs of texts."""
    SEVERAL = "several"
    """Some notes by one hand, others by another."""
    UNNAMED = "unnamed"
    """Gold files of the site; nobody has said who marked them."""
    NOT_RECORDED = "not_recorded"


HANDS = (MarkedBy.ANNOTATORS, MarkedBy.SLOTS, MarkedBy.WRITER)
"""What deid.toml may say of a feed's gold."""
OF_GOLD: Mapping[str, tuple[NotesOf, MarkedBy]] = {
    "site": (NotesOf.NOT_RECORDED, MarkedBy.NOT_RECORDED),  # said by each held-out set; this is of earlier ones
    "library": (NotesOf.LIBRARY, MarkedBy.AUTHORS),
    "synthetic_hospital": (NotesOf.HOSPITAL, MarkedBy.WRITER),
    "judged_pairs": (NotesOf.PAIRS, MarkedBy.LABELLERS),
    "read_notes": (NotesOf.SITE, MarkedBy.READERS),
    "i2b2": (NotesOf.PUBLISHED, MarkedBy.ANNOTATORS),
    "conll": (NotesOf.PUBLISHED, MarkedBy.ANNOTATORS),
    "hospital": (NotesOf.HOSPITAL, MarkedBy.WRITER),
    **{f"library_{language}": (NotesOf.LIBRARY, MarkedBy.WRITTEN_IN) for language in ("en", "es", "it", "fr")},
}
_OTHER = (NotesOf.PUBLISHED, MarkedBy.WRITTEN_IN)
FLATTERY = "whose ways rules and model learned: flattery"
_NOTES = {
    NotesOf.SITE: "this site",
    NotesOf.DEMONSTRATION: "demonstration data",
    NotesOf.BOTH: "this site and of demonstration data",
    NotesOf.HOSPITAL: "the synthetic hospital",
    NotesOf.PUBLISHED: "others, published",
    NotesOf.OWN_CORPUS: "a corpus of this site's own",
    NotesOf.NOT_RECORDED: "an unrecorded source",
}
_TOPICS = {
    NotesOf.SITE: "its topics",
    NotesOf.LIBRARY: "the topics that they gave",
    NotesOf.PUBLISHED: "topics made for them",
    NotesOf.PAIRS: "no topics",
    NotesOf.NOT_RECORDED: "topics of an unrecorded source",
}
_OWN_TOPICS = "its own topics"
_HANDS = {
    MarkedBy.ADJUDICATED: "marked by the site's annotators (adjudicated)",
    MarkedBy.ANNOTATORS: "marked by people, as deid.toml says",
    MarkedBy.SLOTS: "marked by the program that wrote identifiers into slots of its corpus",
    MarkedBy.AUTHORS: "marked by those who wrote them",
    MarkedBy.WRITER: "marked by the program that wrote them",
    MarkedBy.WRITTEN_IN: "marked by the program that wrote identifiers into them",
    MarkedBy.READERS: "without gold, as two readers and an adjudicator judge them",
    MarkedBy.LABELLERS: "labelled by people",
    MarkedBy.SEVERAL: "marked by several hands",
    MarkedBy.UNNAMED: "marked by a hand that deid.toml does not name",
    MarkedBy.NOT_RECORDED: "marked by an unrecorded hand",
}


@dataclass(frozen=True, slots=True)
class Source:
    """Where a figure is from.

    Attributes:
        notes_of: Whose notes.
        topics_of: Whose topics: a word of `NotesOf`, or `NO_TOPICS`.
        marked_by: By which hand.
        notes: How many, as it may be shown; empty where it is not said.
        feeds: The site's feeds that they are of, where it is said.
        authors: Of the library's notes, by how many authors they are; 0 where it is not said.
    """

    notes_of: NotesOf
    topics_of: str
    marked_by: MarkedBy
    notes: str = ""
    feeds: Sequence[str] = ()
    authors: int = 0

    @classmethod
    def of(
        cls,
        gold: str,
        inputs: str,
        *,
        notes_of: str | None = None,
        marked_by: str | None = None,
        notes: str = "",
        feeds: Sequence[str] = (),
        authors: int = 0,
    ) -> Source:
        """From the name of a gold, and what is recorded beside it.

        Args:
            gold: A word of `warehouse.lab.GOLDS`.
            inputs: `topics` or `text`.
            notes_of: Whose notes, where it is recorded.
            marked_by: By which hand, likewise.
            notes: How many notes, as it may be shown.
            feeds: The site's feeds that they are of.
            authors: Of how many authors of the library.
        """
        known, hand = _of_own(gold) if gold.startswith(OWN) else OF_GOLD.get(gold, _OTHER)
        whose = NotesOf(notes_of) if notes_of else known
        return cls(
            whose,
            topics_of(whose, inputs),
            MarkedBy(marked_by) if marked_by else hand,
            notes,
            feeds,
            authors,
        )

    @classmethod
    def of_meta(cls, meta: Mapping[str, Any], inputs: str = "topics") -> Source:
        """From the manifest of a gold or of what was measured on it."""
        return cls.of(
            *(meta["gold"], inputs),
            notes_of=meta.get("notes_of"),
            marked_by=meta.get("marked_by"),
            notes=suppress(meta["notes"]) if "notes" in meta else "",
            feeds=tuple(sorted(meta.get("gold_by_feed", ()))),
            authors=meta.get("authors", 0),
        )

    @property
    def words(self) -> dict[str, str]:
        """The three words, for what reads no prose."""
        return {"notes_of": self.notes_of.value, "topics_of": self.topics_of, "marked_by": self.marked_by.value}

    @property
    def of_site(self) -> bool:
        """Whether it is notes of the site's own feeds, be they demonstration data."""
        return self.notes_of in (NotesOf.SITE, NotesOf.DEMONSTRATION, NotesOf.BOTH)

    @property
    def rank(self) -> int:
        """Which gold counts before which others; 0 is the first.

        A site's own, marked by people or planted in slots of its notes; the library's whole notes; notes of a program,
        a demonstration's or the synthetic hospital's.
        """
        if self.notes_of is NotesOf.LIBRARY:
            return 1
        if self.notes_of is NotesOf.HOSPITAL:
            return 3
        return 2 if self.marked_by is MarkedBy.WRITER else 0

    @property
    def invented(self) -> bool:
        """Whether the author of the notes is known to be that of the notes that rules and model learned from."""
        return self.notes_of is NotesOf.HOSPITAL or (
            self.notes_of is NotesOf.DEMONSTRATION and self.marked_by is MarkedBy.WRITER
        )

    @property
    def whose(self) -> str:
        """Whose notes, and how many, in words."""
        count = f"{self.notes} " if self.notes else ""
        if self.notes_of is NotesOf.PAIRS:
            return f"{count}pairs of texts that come with the platform"
        if self.notes_of is NotesOf.LIBRARY:
            authors = "1 author" if self.authors == 1 else f"{self.authors or 'several'} authors"
            return f"{count}whole notes of {authors}, not this site's"
        said = "the demonstration (the synthetic hospital)" if self._demonstrated else _NOTES[self.notes_of]
        if self.feeds and self.notes_of is NotesOf.SITE:
            said += f"'s {'feed' if len(self.feeds) == 1 else 'feeds'} {', '.join(self.feeds)}"
        return f"{count}notes of {said}"

    @property
    def hand(self) -> str:
        """By which hand, in words."""
        said = _HANDS[self.marked_by]
        return f"{said}, {FLATTERY}" if self.invented and self.marked_by is MarkedBy.WRITER else said

    @property
    def topics(self) -> str:
        """With whose topics, in words."""
        if self.topics_of == NO_TOPICS:
            return "on text alone"
        if self.marked_by is MarkedBy.WRITTEN_IN:
            return f"with {_TOPICS[NotesOf.PUBLISHED]}"
        return f"with {_TOPICS.get(NotesOf(self.topics_of), _OWN_TOPICS)}"

    @property
    def both(self) -> str:
        """The same for figures with topics that stand beside those on text alone, where there are any with topics."""
        if self.topics_of == NO_TOPICS:
            return str(self)
        return f"{self.whose}, {self.topics} and on text alone, {self.hand}"

    def __str__(self) -> str:
        return f"{self.whose}, {self.topics}, {self.hand}"

    @property
    def _demonstrated(self) -> bool:
        return self.notes_of is NotesOf.DEMONSTRATION and self.marked_by is MarkedBy.WRITER


def _of_own(gold: str) -> tuple[NotesOf, MarkedBy]:
    """Of a corpus of the site's own: filled by a program, or with the spans that came with it."""
    as_written = gold.endswith(f"-{AS_WRITTEN}")
    return NotesOf.OWN_CORPUS, MarkedBy.ANNOTATORS if as_written else MarkedBy.WRITTEN_IN


def topics_of(whose: NotesOf, inputs: str) -> str:
    """Whose topics a detector was given: those of the notes, or none."""
    return NO_TOPICS if inputs == "text" else whose.value


def notes_of_feeds(demonstrations: Iterable[bool]) -> NotesOf:
    """Whose the notes of some feeds are, by whether each of these feeds is demonstration data."""
    kinds = set(demonstrations)
    if len(kinds) > 1:
        return NotesOf.BOTH
    return NotesOf.DEMONSTRATION if True in kinds else NotesOf.SITE


def one_hand(hands: Iterable[MarkedBy]) -> MarkedBy:
    """The hand of notes of which each has one."""
    kinds = set(hands)
    return MarkedBy.SEVERAL if len(kinds) > 1 else kinds.pop() if kinds else MarkedBy.NOT_RECORDED
