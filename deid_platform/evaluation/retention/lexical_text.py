"""A chunk as words that two writings of the same thing share.

Belongs here: words, placeholders, numbers with units, synonyms. Does not belong here: what is a date or a number of a
record by its shape (`lexical_shapes.py`), or what follows from a word that is lost (`lexical_judge.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import regex

from deid_platform.evaluation.retention.lexical_shapes import lines_of, shapes_in, words_of_class
from deid_platform.text.fold import fold_term

PLACEHOLDER = "\N{REPLACEMENT CHARACTER}"
_WORD = regex.compile(
    r"(?P<hole>\[[^\]\n]{1,40}\]|\*{3,}|\bX{4,}\b|<[\p{Lu}_]{3,}>|_{4,}|█+)"
    r"|(?P<number>\d+(?:[.,]\d+)*(?![\p{L}\d]))"
    r"|(?P<mixed>(?=\p{L}*\d)[\p{L}\d]+(?:[.,]\d+)*)"
    r"|(?P<word>(?:w/o|w/|b/l|y/o)(?![\p{L}])|\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*)|(?P<sign>[%°])",
    regex.IGNORECASE,
)
_NUMBER = regex.compile(r"\d+(?:\.\d+)*(?: |$)")
_OPENS = regex.compile(r"(?:(?<!\b\p{L})(?<!\b(?:[Dd]r|[Mm]rs?|[Mm]s|[Ss]ig|[Ss]ra?|[Dd]ra))\.|[;:!?|\n])\s*$")
_AMOUNT = regex.compile(r"(\d+(?:[.,]\d+)*)(\p{L}+)")
_EVERY = regex.compile(r"q(\d+)h?")
_BASE = {"g": (1000.0, "mg"), "mcg": (0.001, "mg"), "l": (1000.0, "ml"), "weeks": (7.0, "days"), "week": (7.0, "days"),
         "day": (1.0, "days"), "h": (1.0, "h")}  # fmt: skip
_GRADES = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6"}
_COUNTED = (
    "zero|one uno una|two due dos|three tre tres|four quattro cuatro|five cinque cinco|six sei seis|seven sette siete"
    "|eight otto ocho|nine nove nueve|ten dieci diez|eleven|twelve|thirteen|fourteen|fifteen"
)
_COUNTS = {word: str(n) for n, words in enumerate(_COUNTED.split("|")) for word in words.split()}


@dataclass(frozen=True, slots=True, repr=False)
class Word:
    """A word of a chunk.

    Attributes:
        form: By which it is compared.
        written: As the chunk has it, folded.
        start: Where it begins in the chunk.
        end: Where it ends.
        shape: What it is a part of by its shape: `date`, `contact`, `address`, `code`; else "".
        capital: Whether it is written with a capital.
        upper: Whether all of it is written in capitals.
        opens: Whether a sentence, a field or a line ends before it.
        dashed: Whether a dash joins it to the word before.
        initial: Whether it is one letter with a full stop at its side.
    """

    form: str
    written: str
    start: int
    end: int
    shape: str
    capital: bool
    upper: bool = False
    opens: bool = False
    dashed: bool = False
    initial: bool = False

    @property
    def is_placeholder(self) -> bool:
        """Whether it stands for something hidden."""
        return self.form == PLACEHOLDER

    @property
    def is_code(self) -> bool:
        """Whether it mixes letters and digits and is no number of a record by its shape: "I10", "T3N1M0", "V617F"."""
        return not self.shape and not self.is_number and any(map(str.isdigit, self.written)) and not self.is_placeholder

    @property
    def is_number(self) -> bool:
        """Whether it is a number, with or without its unit."""
        return _NUMBER.match(self.form) is not None


@cache
def _synonyms() -> Mapping[tuple[str, ...], str]:
    return {tuple(other.split()): line[0] for line in lines_of("judge_synonyms.tsv") for other in line[1:]}


def opposites(one: str, other: str) -> bool:
    """Whether one folded word says the opposite of another: by the list, or by a prefix that denies."""
    pair = sorted((one, other), key=len)
    return (one, other) in _opposed() or (
        len(pair[0]) > 3 and pair[1].removesuffix(pair[0]) in ("un", "in", "im", "non", "ab", "dis", "a", "an")
    )


@cache
def _opposed() -> frozenset[tuple[str, str]]:
    return frozenset(pair for one, other in lines_of("judge_opposites.tsv") for pair in ((one, other), (other, one)))


def words(text: str) -> list[Word]:
    """The words of a chunk; punctuation is none."""
    return _with_units(_joined(list(_plain(text, shapes_in(text)))))


def _plain(text: str, shapes: Sequence[tuple[int, int, str]]) -> Iterator[Word]:
    for match in _WORD.finditer(text):
        start, end = match.span()
        written = fold_term(match.group())
        shape = next((name for a, b, name in shapes if a <= start < b), "")
        if match["hole"]:
            yield Word(PLACEHOLDER, written, start, end, "", False)
            continue
        capital = match.group()[:1].isupper()
        form = _COUNTS.get(written, written).replace(",", ".") if not match["word"] else _COUNTS.get(written, written)
        amount = _AMOUNT.fullmatch(written) if match["mixed"] else None
        every = _EVERY.fullmatch(written)
        grade = _GRADES.get(written) if match.group().isupper() and _is_graded(text, start) else None
        if regex.fullmatch(r"\d{1,2}(?:st|nd|rd|th)", written):
            shape = shape or "date"
        if grade:
            yield Word(grade, written, start, end, shape, False)
        elif every:
            yield Word(f"every {every[1]} h", written, start, end, shape, False)
        elif amount and amount[2] in words_of_class("unit") | words_of_class("duration"):
            middle = start + len(amount[1])
            yield Word(amount[1].replace(",", "."), amount[1], start, middle, shape, False)
            yield Word(amount[2], amount[2], middle, end, shape, False)
        else:
            initial = end - start == 1 and "." in text[max(0, start - 1) : end + 1]
            opens = _OPENS.search(text, max(0, start - 8), start) is not None
            dashed = text[max(0, start - 1) : start] in ("-", "–")
            form = _plain_number(form) if match["number"] else form
            yield Word(form, written, start, end, shape, capital, match.group().isupper(), opens, dashed, initial)


def _is_graded(text: str, start: int) -> bool:
    return regex.search(r"(?i)\b(?:class|stage|type|grade|nyha|level)\s+$", text[:start]) is not None


def _plain_number(form: str) -> str:
    """ "1.000" as a separated thousand and "2.50" as 2.5: only where both writings would be the same number."""
    if regex.fullmatch(r"\d{1,3}(?:\.\d{3})+", form) and not form.startswith("0"):
        return form.replace(".", "")
    try:
        return f"{float(form):g}" if len(form) < 7 else form
    except ValueError:
        return form


def _joined(found: list[Word]) -> list[Word]:
    """Synonyms by their first writing, the longest first."""
    known = _synonyms()
    result: list[Word] = []
    at = 0
    while at < len(found):
        for size in (4, 3, 2, 1):
            some = found[at : at + size]
            form = known.get(tuple(word.written for word in some)) if len(some) == size else None
            if form is not None:
                result.append(replace(some[0], form=form, end=some[-1].end))
                at += size
                break
        else:
            result.append(found[at])
            at += 1
    return result


def _with_units(found: list[Word]) -> list[Word]:
    """Numbers with the unit that follows, in the unit's base: "1 g" and "1,000 mg" are one amount."""
    result: list[Word] = []
    for word in found:
        before = result[-1] if result else None
        unit = word.form if word.form in words_of_class("unit") | words_of_class("duration") | {"units", "h"} else None
        if unit and before and before.is_number and " " not in before.form and not before.shape:
            factor, base = _BASE.get(unit, (1.0, unit))
            try:
                form = f"{float(before.form) * factor:g} {base}"
            except ValueError:
                form = f"{before.form} {base}"
            result[-1] = replace(before, form=form, end=word.end)
        else:
            result.append(word)
    return result
