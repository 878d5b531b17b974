"""What is left of a patient's name in a text.

Belongs here: the ways in which one known person's name is written, and looking for them. Does not belong
here: other people's names (`strangers.py`), or numbers and addresses (`roster.py`).

Names are compared by whole words. Parts shorter than three letters, and particles, count only as part of
the whole name, as no word list could tell them from abbreviations. A name that is also a common word
(data/common_words.txt) counts where it is written as a name is. The roster always wins: for a patient
called Bruce, "Bruce protocol" is a leak.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from deid_platform.leakcheck.comparable import NAME_GAP, ComparableText, fold, tokens_of, word_list
from deid_platform.leakcheck.kinds import LeakKind
from deid_platform.notes import Patient

SHORTEST_NAME = 3
_SHORTEST_SPLIT = 6
_SHORTEST_SPELLED = 4
_SHORTEST_GLUED = 5
_SHORTEST_RUN_ON, _SHORTEST_BEFORE, _SHORTEST_BEHIND = 7, 4, 6
_CONTEXT = 80
_SPLIT_PLACES = 50

_NAME_BEFORE = re.compile(rf"(?:\b(?:name|patient|pt|mr|mrs|ms|miss|master|dear)\b[.:]?|{NAME_GAP})\s*$", re.IGNORECASE)
_NAME_AFTER = re.compile(
    rf"['’]s\b|,?\s*{NAME_GAP}|,?\s+(?:is|was|has|had|denies|denied|reports|reported|states|stated|presents|presented"
    r"|feels|felt|complains|complained|lives|returns|returned)\b"
)
_SENTENCE_END = ".!?:;•*-–—"
_CAPITALISED = re.compile(r"(?<![^\W\d_])[^\W\d_]+")
# Spellings without the sign: "Müller" as Mueller, "Søren" as Soeren.
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_SPELLED_BETWEEN = r"[\W_]{1,4}"
# A line may be wrapped, quoted ("> ") and indented.
_PIECES_BETWEEN = r"(?:[\s_*|/\\>'-]{1,24}|\.)"
_HYPHEN_BETWEEN = r"-\s{0,4}"
_RUN_ON_TITLES = frozenset({"mr", "mrs", "ms", "pt"})
_TITLE = r"(?<![^\W_])(?:mr|mrs|ms|miss|mx|master|patient|pt|name)[.:]?\s{1,3}"


@dataclass(frozen=True, slots=True, repr=False)
class NameForms:
    """How one name of a person may be written.

    Attributes:
        words: Any of these as a whole word is the name.
        damaged: Any of these anywhere: the name as a wrong decoding shows it.
    """

    words: tuple[str, ...]
    damaged: tuple[str, ...]

    @classmethod
    def of(cls, name: str) -> NameForms:
        """The forms of a name, "O'Vask-Brennock" as ovask, vask, brennock and ovaskbrennock."""
        words: dict[str, None] = {}
        for spelling in (name, name.casefold().translate(_SPELLED_OUT)):
            parts = name_parts(spelling)
            words |= dict.fromkeys(part for part in parts if _tells(part))
            # What stands behind an apostrophe is also written alone.
            behind = re.findall(r"(?<=[^\W\d_]')[^\W\d_]{4,}", fold(spelling))
            words |= dict.fromkeys(part for part in behind if not is_ordinary(part))
            if len(parts) > 1 and len("".join(parts)) >= SHORTEST_NAME:
                words["".join(parts)] = None
        return cls(tuple(words), tuple(_damaged(name)))


def name_parts(name: str) -> list[str]:
    """The words of a name, folded."""
    return [token for token in tokens_of(fold(name)) if token[0].isalpha()]


def _tells(part: str) -> bool:
    """Whether a part of a name may stand for it: three letters, or two in a script without case, and no particle."""
    if part in word_list("particles"):
        return False
    return len(part) >= SHORTEST_NAME or (len(part) > 1 and _caseless(part))


def _caseless(part: str) -> bool:
    return part.upper() == part


def _damaged(name: str) -> Iterator[str]:
    """What becomes of a name with accents that is read in the wrong encoding."""
    if name.isascii():
        return
    for sign in "\ufffd?":
        marked = "".join(c if c.isascii() else sign for c in name)
        if sum(c.isalpha() for c in marked) >= SHORTEST_NAME:
            yield fold(marked)
    for encoding in ("latin-1", "cp1252"):
        yield fold(name.encode("utf-8", "replace").decode(encoding, "replace"))


@dataclass(frozen=True, slots=True, repr=False)
class PersonForms:
    """How a patient's names may be written, each alone and together."""

    names: tuple[tuple[LeakKind, NameForms], ...]
    glued: tuple[str, ...]
    initialled: frozenset[str]
    together: re.Pattern[str] | None

    @classmethod
    def of(cls, patient: Patient) -> PersonForms:
        """The forms of a row of the topics."""
        names = tuple(
            (kind, NameForms.of(name))
            for kind, name in (
                (LeakKind.FIRST_NAME, patient.first_name),
                (LeakKind.MIDDLE_NAME, patient.middle_name),
                (LeakKind.LAST_NAME, patient.last_name),
            )
            if name
        )
        first, middle, last = (
            "".join(name_parts(name or "")) for name in (patient.first_name, patient.middle_name, patient.last_name)
        )
        glued = (first + last, last + first) if first and last and len(first + last) >= _SHORTEST_GLUED else ()
        initialled: set[str] = set()
        if first and len(last) >= _SHORTEST_GLUED:
            initialled = {first[0] + last, last + first[0], first[0] + middle[:1] + last, last + first[0] + middle[:1]}
        return cls(
            names,
            glued,
            frozenset(form for form in initialled if not is_ordinary(form)),
            _together(patient, first, last),
        )


def _together(patient: Patient, first: str, last: str) -> re.Pattern[str] | None:
    """What must stand together to be a name: the full one where no part counts alone, and a title with a surname
    that is too short or a particle; None where neither is needed."""
    if not first or not last or not patient.first_name or not patient.last_name:
        return None
    one, two = (re.escape(name.strip()) for name in (patient.first_name, patient.last_name))
    between = r"[\s,_-]{1,3}(?:[^\W\d_]\.?[\s,]{1,2})?"
    ways = []
    if not any(_tells(part) and not is_ordinary(part) for part in (first, last)):
        ways = [f"{one}{between}{two}", f"{two}{between}{one}", rf"{re.escape(first[0])}\.\s?{two}"]
    if not _tells(last):
        ways.append(f"(?P<titled>{_TITLE}{two})")
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(ways)})(?![^\W_])", re.IGNORECASE) if ways else None


def names_left(person: PersonForms, reading: ComparableText) -> Iterator[LeakKind]:
    """Which names of a patient a text still shows, possibly repeated."""
    for kind, forms in person.names:
        if any(_word_left(word, reading) for word in forms.words) or any(d in reading.folded for d in forms.damaged):
            yield kind
    if any(glued in reading.line for glued in person.glued) or not person.initialled.isdisjoint(reading.words):
        yield LeakKind.LAST_NAME
    if person.together is not None:
        for match in person.together.finditer(reading.text):
            # The last word is the name's, whichever way round it stands; the first may be a title.
            last = _CAPITALISED.findall(match.group())[-1]
            if last[0].isupper() and (match.groupdict().get("titled") or match.group()[0].isupper()):
                yield LeakKind.LAST_NAME
                break


def is_ordinary(word: str) -> bool:
    """Whether a word is one that running text is full of, name or not."""
    return word in word_list("common_words") or word in word_list("function_words")


def _word_left(word: str, reading: ComparableText) -> bool:
    if is_ordinary(word):
        return word in reading.words and _written_as_name(word, reading.text)
    if word in reading.words or f"{word}s" in reading.words or _run_on(word, reading):
        return True
    # Scripts without case write no spaces either.
    return (_caseless(word) and word in reading.folded) or _split_left(word, reading)


def _run_on(word: str, reading: ComparableText) -> bool:
    """Whether a long name is run together with words around it: "MrsQuillfeatherreports", "scanQuillfeather.pdf".

    What makes other names of a name is shorter: "Richardson", "Andersonville", "Manchester".
    """
    if len(word) < _SHORTEST_RUN_ON or word not in reading.folded:
        return False
    parted = (token.split(word, 1) for token in reading.words if word in token)
    return any(
        before in _RUN_ON_TITLES
        or len(before) >= _SHORTEST_BEFORE
        or len(after) >= _SHORTEST_BEHIND
        or (before and after and len(before + after) > _SHORTEST_BEFORE)
        for before, after in parted
    )


def _split_left(word: str, reading: ComparableText) -> bool:
    """Whether neighbouring tokens spell a name: "Quill-\\nfeather", "Q u i l l"."""
    if len(word) < _SHORTEST_SPELLED:
        return False
    place = reading.squeezed.find(word)
    for _ in range(_SPLIT_PLACES):
        if place < 0:
            return False
        first, last = reading.places.get(place), reading.places.get(place + len(word))
        if first is not None and last is not None and _spells(word, reading.tokens[first:last], reading.folded):
            return True
        place = reading.squeezed.find(word, place + 1)
    return False


def _spells(word: str, pieces: list[str], folded: str) -> bool:
    """Whether pieces are a name taken apart rather than words that happen to spell it, such as "for man"."""
    if all(len(piece) == 1 for piece in pieces):
        parted = _SPELLED_BETWEEN
    elif len(word) < _SHORTEST_SPLIT:
        return False
    elif all(map(is_ordinary, pieces)):
        parted = _HYPHEN_BETWEEN
    else:
        parted = _PIECES_BETWEEN
    return re.search(parted.join(map(re.escape, pieces)), folded) is not None


def _written_as_name(word: str, text: str) -> bool:
    """Whether a common word is somewhere written with a capital that no sentence, line or heading explains."""
    for match in _CAPITALISED.finditer(text):
        found = match.group()
        if not found[0].isupper() or fold(found) != word:
            continue
        before = text[max(0, match.start() - _CONTEXT) : match.start()].rpartition("\n")[2]
        after = text[match.end() : match.end() + _CONTEXT].partition("\n")[0]
        if _NAME_BEFORE.search(before) or _NAME_AFTER.match(after):
            return True
        starts = not before.strip() or before.rstrip()[-1] in _SENTENCE_END
        heading = len(found) > 1 and found.isupper() and not any(c.islower() for c in before + after)
        if not starts and not heading:
            return True
    return False
