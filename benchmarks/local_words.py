"""What vocabulary that notes share takes back, by language: of identifiers, and of other words that the model hides.

    python benchmarks/local_words.py [--use thresholds] [--author NAME]... [--notes N] [--patients 3]

Each author of the library is a feed, whose notes are counted as a refresh counts them. Words of the notes, on text
alone, as the stage `local_words` finds and leaves them, before recovery. With `--use training` the shipped words are
those of the same authors, so that only the feeds' own words say something. What is printed is Markdown.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import regex
from aims import table

from deid_platform.corpora.formats.marked import MarkedNote
from deid_platform.corpora.library.authors import Author, Use, authors, notes_by
from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Candidate, Document
from deid_platform.detection.pipeline import Candidates
from deid_platform.detection.resolve.local_words import LocalWords, shared_words
from deid_platform.detection.resolve.word_counts import WordCounts, vocabulary

_WORD = regex.compile(r"[\p{L}\p{N}]+")
_STAGE = "local_words"


def words_of(notes: Iterable[MarkedNote], patients: int) -> frozenset[str]:
    """The vocabulary of an author's notes."""
    counts = WordCounts()
    for item in notes:
        if (note := item.gold.note) is not None:
            counts.add(note.patient_id or note.note_id, note.text)
    return frozenset(filter(str.islower, vocabulary(counts.counts(), patients=patients, introduced=0.02)))


def counted(item: MarkedNote, document: Document, found: Sequence[Candidate], stages: Sequence[LocalWords]) -> Counter:
    """Words of a note: identifying ones, those hidden before, and those that each stage gives away."""
    identifying = {at for span in item.gold.spans for at in range(span.start, span.end)}
    hidden = [_places(found), *(_places(stage(document, found)) for stage in stages)]
    total: Counter = Counter()
    for match in _WORD.finditer(document.text):
        which = "identifying" if match.start() in identifying else "other"
        total[which] += 1
        total.update((which, number) for number, places in enumerate(hidden) if match.start() in places)
    return total


def _places(found: Iterable[Candidate]) -> set[int]:
    return {at for candidate in found for at in range(candidate.start, candidate.end)}


def of_author(one: Author, most: int, patients: int) -> Iterator[Counter]:
    """The counts of an author's notes."""
    written = list(notes_by(one))
    stages = [LocalWords(shared_words()), LocalWords(shared_words(), words_of(written, patients))]
    pipeline = DetectorSpec("ensemble", professions=True).pipeline()
    seen: list[tuple[Document, list[Candidate]]] = []

    def looking(documents: Sequence[Document], candidates: Candidates) -> Candidates:
        seen.extend(zip(documents, candidates, strict=True))
        return candidates

    pipeline.stages[_STAGE] = looking
    for item in written[:: max(1, len(written) // most)][:most]:
        seen.clear()
        if (note := item.gold.note) is None:
            continue
        pipeline.detect([note])
        if len(seen) == 1 and seen[0][0].text == note.text:
            yield counted(item, *seen[0], stages)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--use", default=Use.THRESHOLDS.value, choices=[use.value for use in Use])
    parser.add_argument("--author", action="append", help="only these of them")
    parser.add_argument("--notes", type=int, default=1000, help="the most of each author")
    parser.add_argument("--patients", type=int, default=3)
    arguments = parser.parse_args()
    totals: defaultdict[str, Counter] = defaultdict(Counter)
    for one in authors(Use(arguments.use)):
        if not arguments.author or one.name in arguments.author:
            for counts in of_author(one, arguments.notes, arguments.patients):
                totals[one.language].update(counts)
    head = (
        "language",
        "identifying words",
        "given away, shipped words",
        "given away, with own words",
        "wrongly hidden before",
        "after, shipped words",
        "after, with own words",
    )
    rows = [
        (
            language,
            f"{total['identifying']:,}",
            *(f"{total['identifying', 0] - total['identifying', number]:,}" for number in (1, 2)),
            *(f"{total['other', number]:,}" for number in (0, 1, 2)),
        )
        for language, total in totals.items()
    ]
    print(table(head, rows))


if __name__ == "__main__":
    main()
