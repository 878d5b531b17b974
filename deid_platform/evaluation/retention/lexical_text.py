"""A chunk as words that two writings of the same thing share.

Belongs here: words, placeholders, numbers with units, synonyms, and what is a date or a number of a record by its shape.
Does not belong here: what follows from a word that is lost (`lexical_judge.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import regex

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
_AMOUNT = regex.compile(r"(\d+(?:[.,]\d+)*)(\p{L}+)")
_EVERY = regex.compile(r"q(\d+)h?")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|gen|mag|giu|lug|ago|set|ott|dic|ene|abr)\p{L}*"
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)(?:day)?"
_SHAPES = {
    "date": regex.compile(
        rf"\b\d{{4}}-\d{{1,2}}-\d{{1,2}}\b|\b\d{{1,2}}([/.\-])\d{{1,2}}\1\d{{2,4}}\b|\b\d{{1,2}}/\d{{1,2}}\b"
        r"|\b\d{1,2}\.\d{1,2}\.(?=\s|$)"
        rf"|\b\d{{1,2}}/(?:19|20)\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)?[ -](?:de )?{_MONTH}\b(?:[ ,-]+(?:de )?\d{{4}}\b)?"
        rf"|\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?|\b{_MONTH},? (?:of )?(?:19|20)\d\d\b"
        rf"|\b(?:19|20)\d\d\b|\b(?:spring|summer|autumn|fall|winter) of \d{{4}}\b|(?<!/)\b{_DAY}\b(?!/)"
        r"|\b\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\b",
        regex.IGNORECASE,
    ),
    "contact": regex.compile(
        r"\S+@\S+|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{3,4}\b|\b\d{3}-\d{4}\b|\b0\d{1,3}[ -]\d{5,8}\b|\bhttps?:\S+"
    ),
    "address": regex.compile(
        r"\b\d{1,5}(?:/\d+)?(?: \p{Lu}\p{L}+){1,3} (?:street|st|lane|road|rd|court|ct|way|terrace|avenue|ave|drive|dr)\b"
        r"|\b(?:via|viale|piazza|calle|avenida)(?: \p{L}+){1,4},? \d+|\b(?:apt|apartment|suite|int) ?\w+\b",
        regex.IGNORECASE,
    ),
    "code": regex.compile(
        r"\b\d{5,}\b|\b\p{Lu}{1,3}-?\d{2,}(?:-\d+)+\b|\b\d{2,4}[-/]\d{2,}[-/]\d{2,}\b|\b\p{Lu}{2,}-?\d{3,}[-\w]*\b"
        r"|\b\p{L}{2,}\d{4,}\b|\b\d{4}/\d{4,}\b"
    ),
}
_VITAL_BEFORE = 14
_BASE = {"g": (1000.0, "mg"), "mcg": (0.001, "mg"), "l": (1000.0, "ml"), "weeks": (7.0, "days"), "week": (7.0, "days"),
         "day": (1.0, "days"), "h": (1.0, "h")}  # fmt: skip
_GRADES = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6"}
_COUNTS = {
    word: str(n)
    for n, words in enumerate(
        ("zero", "one uno una", "two due dos", "three tre tres", "four quattro cuatro", "five cinque cinco", "six sei seis",
         "seven sette siete", "eight otto ocho", "nine nove nueve", "ten dieci diez", "eleven", "twelve", "thirteen",
         "fourteen", "fifteen")
    )
    for word in words.split()
}  # fmt: skip


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
    """

    form: str
    written: str
    start: int
    end: int
    shape: str
    capital: bool

    @property
    def is_placeholder(self) -> bool:
        """Whether it stands for something hidden."""
        return self.form == PLACEHOLDER

    @property
    def is_number(self) -> bool:
        """Whether it is a number, with or without its unit."""
        return _NUMBER.match(self.form) is not None


@cache
def words_of_class(name: str) -> frozenset[str]:
    """The words of a class of `data/judge_words.tsv`."""
    return _classes()[name]


@cache
def _classes() -> Mapping[str, frozenset[str]]:
    return {line[0]: frozenset(line[1].split()) for line in _lines("judge_words.tsv")}


@cache
def _synonyms() -> Mapping[tuple[str, ...], str]:
    return {tuple(other.split()): line[0] for line in _lines("judge_synonyms.tsv") for other in line[1:]}


def _lines(name: str) -> list[list[str]]:
    text = (files("deid_platform.evaluation.retention") / "data" / name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def opposites(one: str, other: str) -> bool:
    """Whether one folded word says the opposite of another: by the list, or by a prefix that denies."""
    pair = sorted((one, other), key=len)
    return (one, other) in _opposed() or (
        len(pair[0]) > 3 and pair[1].removesuffix(pair[0]) in ("un", "in", "im", "non", "ab", "dis", "a", "an")
    )


@cache
def _opposed() -> frozenset[tuple[str, str]]:
    return frozenset(pair for one, other in _lines("judge_opposites.tsv") for pair in ((one, other), (other, one)))


def words(text: str) -> list[Word]:
    """The words of a chunk; punctuation is none."""
    shapes = [(m.start(), m.end(), name) for name, shape in _SHAPES.items() for m in shape.finditer(text)]
    shapes = [it for it in shapes if it[2] != "date" or not _is_measured(text, it[0], it[1])]
    return _with_units(_joined(list(_plain(text, shapes))))


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
        if grade:
            yield Word(grade, written, start, end, shape, False)
        elif every:
            yield Word(f"every {every[1]} h", written, start, end, shape, False)
        elif amount and amount[2] in words_of_class("unit") | words_of_class("duration"):
            middle = start + len(amount[1])
            yield Word(amount[1].replace(",", "."), amount[1], start, middle, shape, False)
            yield Word(amount[2], amount[2], middle, end, shape, False)
        else:
            yield Word(_plain_number(form) if match["number"] else form, written, start, end, shape, capital)


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


def _is_measured(text: str, start: int, end: int) -> bool:
    """Whether what has the shape of a short date is a measurement: "BP 142/88", "strength 4/5", "8/10 pain"."""
    parts = regex.split(r"\D+", text[start:end].strip("."))
    if len(parts) != 2 or not all(parts) or len(parts[1]) == 4:
        return len(parts) == 1 and not 1900 <= int("0" + parts[0]) <= 2100 and parts[0] != ""
    one, other = map(int, parts)
    if one > 31 or other > 31 or not one or not other or (one > 12 and other > 12):
        return True
    near = fold_term(text[max(0, start - _VITAL_BEFORE) : start]).replace(":", " ").split()
    after = fold_term(text[end : end + 10]).split()[:1]
    return not words_of_class("vital").isdisjoint(near) or after in (["pain"], ["strength"], ["murmur"])
