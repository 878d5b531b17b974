"""Makes the list of words that the notes of several institutions share (`lexicon/data/shared_words.txt`).

    python -m deid_platform.training.shared_words

Belongs here: which words of the library's training authors are in it. Does not belong here: how a note's words are
counted (`detection/resolve/word_counts.py`), or what the list decides (`detection/resolve/local_words.py`).

A word is in the list if it is vocabulary by the counts over all notes of these authors, each of which is a patient's;
notes of several authors of them have it, or, in a language of one author alone, more notes; and it stands in no
identifier that any of them marked. Since that is marked, words with a capital count as well: nouns of German.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import regex

from deid_platform.corpora.library.authors import Use, authors, notes_by
from deid_platform.detection.resolve.word_counts import WordCount, WordCounts, standings, vocabulary
from deid_platform.text.fold import fold_term

LEAST_PATIENTS = 3
LEAST_OF_ONE_AUTHOR = 4
LEAST_AUTHORS = 2
MOST_INTRODUCED = 0.02
PATH = Path(str(files("deid_platform.lexicon"))) / "data" / "shared_words.txt"
_HEAD = (
    "# Words that notes of several institutions share and that stand in no identifier there: in small letters, or in\n"
    "# capitals where they count in capitals alone. `python -m deid_platform.training.shared_words` makes the list.\n"
)
_WORD = regex.compile(r"[\p{L}\p{M}]+")


def shared_words() -> list[str]:
    """The words of the list, of the library as it is."""
    counts = WordCounts()
    written_by: defaultdict[str, set[str]] = defaultdict(set)
    identifying: set[str] = set()
    training = authors(Use.TRAINING)
    alone = {one.name for one in training if len(authors(Use.TRAINING, language=one.language)) == 1}
    for one in training:
        for item in notes_by(one):
            if (note := item.gold.note) is None:
                continue
            counts.add(note.note_id, note.text)
            for span in item.gold.spans:
                identifying.update(map(fold_term, _WORD.findall(note.text, span.start, span.end)))
            for word in standings(note.text):
                written_by[word].add(one.name)
    shared = {
        word: count
        for word, count in counts.counts().items()
        if word not in identifying
        and (len(written_by[word]) >= LEAST_AUTHORS or _of_one(count, alone.issuperset(written_by[word])))
    }
    words = vocabulary(shared, patients=LEAST_PATIENTS, introduced=MOST_INTRODUCED, titled=LEAST_PATIENTS)
    return sorted(words, key=_order)


def _of_one(count: WordCount, alone: bool) -> bool:
    """Whether enough notes of the one author of a language have a word."""
    return alone and max(count.small, count.capitals, count.titled) >= LEAST_OF_ONE_AUTHOR


def text_of(words: Iterable[str]) -> str:
    """The file of a list of words."""
    return _HEAD + "".join(f"{word}\n" for word in words)


def _order(word: str) -> tuple[str, str]:
    return word.lower(), word


if __name__ == "__main__":
    PATH.write_text(text_of(shared_words()), encoding="utf-8")
