"""Where an identifier ends: words at the ends of candidates that are no part of one are cut off, whatever found them.

Belongs here: the one rule for ends, of all sources. Does not belong here: which words these are
(`lexicon/data/seam_words.tsv`, `credentials.tsv`, `kin.tsv`), or what becomes of candidates that overlap (`merge.py`).

Titles, roles, kin and function words at either end of a name, credentials behind it, labels before a number, the sex
behind it, the time of day behind a date and the number of a row before it, and what stands over a gap of a table are
cut. What the topics, a check digit or the site's own recognizers found stays as it is. Particles ("de la Cruz") stay
before a name, a word that is a name too ("May", "Son") where it is written as one. A candidate is never cut down to
nothing, unless a model alone found it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import regex

from deid_platform.detection.api import Candidate, Document, Evidence, SourceKind
from deid_platform.labels import NAMES_AND_PLACES, PERSONS, Label
from deid_platform.lexicon.lists import word_list, written_terms
from deid_platform.text.fold import fold_term
from deid_platform.text.names import PARTICLES

_NUMBERS = frozenset((
    Label.PHONE, Label.FAX, Label.SSN, Label.MEDICALRECORD, Label.HEALTHPLAN, Label.ACCOUNT, Label.LICENSE,
    Label.DEVICE, Label.IDNUM,
))  # fmt: skip
_KNOWING = (SourceKind.ROSTER, SourceKind.GAZETTEER, SourceKind.CROSS_NOTE)
_GAP = regex.compile(r"[ ]{3,}|\t|[ ][|☐☑☒][ ]?|\|[ ]")
_TOKEN = regex.compile(r"[\p{L}\p{M}\d][\p{L}\p{M}\d'’\-]*(?:\.\p{L}[\p{L}\p{M}]*)*\.?")
_LABEL = regex.compile(
    r"(?<![\p{L}\d])([\p{L}/]{1,10}(?:\.\p{L}{1,3})*)\.?(?:[ ]?(?:n[°ºo.]{0,2}|no\.?|\#))?[ ]?[:.\-]?[ ]+(?=\S*\d)"
)
_SEX = regex.compile(r"[ ]+\d{1,3}[ ]?[MFVHmf]\Z")
_FIGURES = 4
_ROW = regex.compile(r"\d{1,2}[.)]?[ ]+(?=\d{1,2}[/\-.]\d{1,2}(?![\d.]))")
_TIME = regex.compile(
    r"(?:(?<!,)[ ]+(?:at[ ])?(?:(?:[01]?\d|2[0-3])[:h][0-5]\d|(?:[01]\d|2[0-3])(?<!19|20)[0-5]\d)"
    r"|[ ]+(?:[AaPp]\.?[Mm]\.?))\Z"
)
_HOUR = regex.compile(r"\s+\d{1,2}(?=[:h]\d)")
_NEXT_LINE = regex.compile(r"(?<=\d.*\p{L}{3}.*)[ \t]*\n[ \t]*\d{1,2}\Z")
_TITLED = regex.compile(r"[ ](?:Dr|Mr|Mrs|Ms|Prof|Dra|Dott|Mme)\b\.?[ ]+\p{Lu}.*\Z", regex.DOTALL)
_APART = ' \t\r\n,;:()[]"“”'  # and the end of the text, which is in every string
_OPENING = PARTICLES | {
    "della",
    "dello",
    "degli",
    "dei",
    "lo",
    "li",
    "si",
    "dal",
    "san",
    "santa",
    "ait",
    "ben",
    "mc",
    "mac",
}
_DOCTOR = regex.compile(r"(?:Dr|Pr|Prof)\.?[ ]\Z")
_TORN = regex.compile(r"-[ ]?\s?\Z")
_IN_LIST = regex.compile(r"\p{Lu}{2,3},")  # initials, one after another
_ROOM = regex.compile(r"[ ]\d")
_TELLING = 4  # letters of the shortest word that is nobody's initials
_SIGN = regex.compile(r"[^\p{L}\p{M}\d]+")


def ends(document: Document, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, each ending where its identifier does."""
    text, french = document.text, document.note.language == "fr"
    named = (
        c
        for c in candidates
        if c.label not in NAMES_AND_PLACES or c.evidence > Evidence.CONTEXT or not _is_room(text, c)
    )
    return [part for candidate in named for part in _trimmed(text, candidate, french=french)]


def _trimmed(text: str, candidate: Candidate, *, french: bool) -> Iterator[Candidate]:
    source = candidate.source
    if source.kind in _KNOWING or source.of_site or candidate.evidence is Evidence.PROVEN:
        yield candidate
        return
    parts = [part for piece in _pieces(text, candidate) if (part := _cut(text, piece, french=french)) is not None]
    if parts or candidate.evidence is Evidence.PREDICTED:
        yield from parts
    else:
        yield candidate


def _pieces(text: str, candidate: Candidate) -> Iterator[Candidate]:
    """A candidate without gaps of tables: each cell by itself, and no label of the next one ("ROE, JADE     MRN")."""
    if candidate.evidence >= Evidence.LABELLED:
        yield candidate
        return
    gaps = [(gap.start(), gap.end()) for gap in _GAP.finditer(text, candidate.start, candidate.end)]
    if not gaps:
        yield candidate
        return
    starts = [candidate.start, *(end for _, end in gaps)]
    for start, end in zip(starts, [*(start for start, _ in gaps), candidate.end], strict=True):
        if start == candidate.start or fold_term(text[start:end]) not in word_list("seam_words.label"):
            yield candidate._replace(start=start, end=end)


def _cut(text: str, candidate: Candidate, *, french: bool) -> Candidate | None:
    """A piece without the words at its ends that are no part of it; None if nothing remains."""
    start, end = candidate.start, candidate.end
    if candidate.label in PERSONS:
        start, end = _of_name(text, start, end, french=french)
    elif candidate.label in NAMES_AND_PLACES and candidate.label is not Label.STREET:
        start, end = _of_place(text, start, end)
    elif candidate.label in _NUMBERS:
        start, end = _of_number(text, start, end)
    elif candidate.label is Label.DATE:
        start, end = _of_date(text, start, end)
    start, end = _without_signs(text, start, end, candidate.evidence)
    if start >= end:  # a piece that a gap ends may be empty from the start
        return None
    return candidate if (start, end) == candidate[:2] else candidate._replace(start=start, end=end)


def _without_signs(text: str, start: int, end: int, evidence: Evidence) -> tuple[int, int]:
    """What a model marks, without signs at its ends; rules say where theirs belong."""
    if evidence is not Evidence.PREDICTED:
        return start, end
    while start < end and _SIGN.fullmatch(text, start, start + 1):
        start += 1
    while start < end and _SIGN.fullmatch(text, end - 1, end):
        end -= 1
    return start, end


def _of_name(text: str, start: int, end: int, *, french: bool) -> tuple[int, int]:
    words = [match.span() for match in _TOKEN.finditer(text, start, end)]
    written = any(_is_written_as_name(text[slice(*word)]) for word in words)
    first, last = 0, len(words)
    while first < last and _opens_no_name(text, words[first], start, written=written, french=french):
        first += 1
    while first < last and _closes_no_name(text, words[last - 1], start, written=written):
        last -= 1
    if first == last:
        nobody = all(_names_nobody(text[slice(*word)]) for word in words)
        return (start, start) if nobody else (start, end)
    low = start if first == 0 else words[first][0]
    high = end if last == len(words) else words[last - 1][1]
    return low, high


def _is_room(text: str, candidate: Candidate) -> bool:
    """Whether a name is the word of a room whose number follows: "Sala 2"."""
    word = fold_term(text[candidate.start : candidate.end])
    return word in word_list("seam_words.room") and _ROOM.match(text, candidate.end) is not None


def _is_written_as_name(surface: str) -> bool:
    return surface[0].isupper() and len(surface) > 1


def _names_nobody(surface: str) -> bool:
    """Whether a word by itself is no name, nor anybody's initials."""
    bare = surface.rstrip(".")
    if any(map(str.isdigit, surface)) or bare.casefold() in _written("seam_words.title"):
        return True
    return len(bare) >= _TELLING and fold_term(bare) in _openers() and not _is_a_name(fold_term(bare))


def _opens_no_name(text: str, word: tuple[int, int], start: int, *, written: bool, french: bool) -> bool:
    surface = text[slice(*word)]
    behind = text[word[1] : word[1] + 1]
    abbreviated = behind == "." and surface.casefold() in _written("seam_words.title")
    if (behind not in _APART and not abbreviated) or _IN_LIST.match(text, word[0]):
        return False
    if french and surface in ("M.", "M", "MM.", "MM"):
        return _DOCTOR.search(text, max(0, start - 6), start) is None
    folded = fold_term(surface.rstrip("."))
    if any(map(str.isdigit, surface)):
        return _is_a_number(surface) or folded in _openers()
    if written and surface.islower():
        return folded not in PARTICLES and not _is_a_name(folded)
    if folded in _OPENING or len(surface.rstrip(".")) == 1:
        return False
    if surface.casefold().rstrip(".") in _written("seam_words.function"):
        return not _may_be_name(surface, folded)
    return folded in _openers() and not _may_be_name(surface, folded)


def _closes_no_name(text: str, word: tuple[int, int], start: int, *, written: bool) -> bool:
    surface = text[slice(*word)]
    bare = surface.rstrip(".")
    folded = fold_term(bare)
    if word[0] > start and text[word[0] - 1] not in _APART:
        return False
    if any(map(str.isdigit, surface)):
        return _is_a_number(surface) or folded in _openers()
    if len(bare) == 1:
        return written and bare.islower()
    if bare in _credentials():
        return True
    if surface.islower():
        return written and not _TORN.search(text, start, word[0]) and (folded in PARTICLES or not _is_a_name(folded))
    if surface[1:].islower():
        return folded in _openers() and len(bare) >= _TELLING and not _is_a_name(folded)
    return folded in _openers() and not _is_a_name(folded)


def _is_a_number(surface: str) -> bool:
    """Whether a word with a digit is a number and not a misread name: "33A", not "1ngrid"."""
    return surface[0].isdigit() and sum(map(str.isalpha, surface)) < 3


def _may_be_name(surface: str, folded: str) -> bool:
    """Whether a word is written as a name and is one of the lists: "Son", "May"."""
    return surface[:1].isupper() and _is_a_name(folded) and folded not in word_list("seam_words.title")


@cache
def _is_a_name(folded: str) -> bool:
    return folded in word_list("given_names") or folded in word_list("surnames")


@cache
def _written(name: str) -> frozenset[str]:
    return frozenset(term.casefold().rstrip(".") for term in written_terms(name))


def _of_place(text: str, start: int, end: int) -> tuple[int, int]:
    if (titled := _TITLED.search(text, start + 1, end)) is not None:
        end = titled.start()
    words = [match.span() for match in _TOKEN.finditer(text, start, end)]
    first, last = 0, len(words)
    if any(text[begin].isupper() or text[begin].isdigit() for begin, _ in words):
        while first < last and text[slice(*words[first])].islower() and _is_function(text, words[first]):
            first += 1
        while first < last and text[slice(*words[last - 1])].islower() and _is_function(text, words[last - 1]):
            last -= 1
    if first == last:
        return start, end
    return (start if first == 0 else words[first][0]), (end if last == len(words) else words[last - 1][1])


def _is_function(text: str, word: tuple[int, int]) -> bool:
    return fold_term(text[slice(*word)].rstrip(".")) in word_list("seam_words.function")


def _of_number(text: str, start: int, end: int) -> tuple[int, int]:
    label = _LABEL.match(text, start, end)
    while label is not None and fold_term(label[1]) in word_list("seam_words.label"):
        start = label.end()
        label = _LABEL.match(text, start, end)
    if (sex := _SEX.search(text, start, end)) is not None and sum(
        map(str.isdigit, text[start : sex.start()])
    ) > _FIGURES:
        end = sex.start()
    return start, end


def _of_date(text: str, start: int, end: int) -> tuple[int, int]:
    if (row := _ROW.match(text, start, end)) is not None:
        start = row.end()
    hour = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    if hour > start and (match := _HOUR.match(text, hour)) is not None and match.end() == end:
        end = hour
    for behind in (_TIME, _NEXT_LINE):
        if (match := behind.search(text, start + 1, end)) is not None:
            end = match.start()
    return start, end


@cache
def _openers() -> frozenset[str]:
    return (
        frozenset(
            word
            for name in (
                "seam_words.title",
                "seam_words.role",
                "seam_words.label",
                "seam_words.function",
                "kin.sure",
                "kin.weak",
            )
            for word in word_list(name)
        )
        - PARTICLES
    )


@cache
def _credentials() -> frozenset[str]:
    return frozenset(written_terms("credentials.sure")) | frozenset(written_terms("credentials.comma"))
