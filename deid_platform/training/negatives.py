r"""Parts of notes without any identifier, from which a model learns what to leave alone.

Belongs here: drawing them from vocabularies (`lexicon/`) and from patterns of five languages (`grammar/`). Does not
belong here: how many of them a model sees (`mixture.py`), or notes with identifiers (`corpora/`).

A file of `grammar/` holds pools, each below its name in brackets; `any` holds those of all languages. One pattern a
line, and in short pools several, parted by ` || `:

    {n:4-28} {z:0-59} {f:0.4-9.9}   a whole number; one of two digits; a number with one decimal
    {=stable|improving}             one of several words
    {@finding}                      one pattern of that pool, or a term of the vocabularies: see `_Writer`
    \n                              a new line

A pattern names nobody, no place, no institution and no date: by docs/library-brief.md, a weekday alone, a time, a
duration, an age under 90, a language and an eponym identify nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files

import regex

from deid_platform.lexicon.lists import rows, word_list, written_terms
from deid_platform.surrogates.dice import Dice
from deid_platform.text.fold import fold_term
from deid_platform.training.labelled import Labelled

NEGATIVES = "negatives"
"""The corpus of these texts."""
LANGUAGES = ("en", "es", "it", "fr", "de")
PATTERNS = ("line", "sentence", "table")
"""The pools of a language whose patterns stand for themselves; all others are parts of them."""
_SHARES = (("en", 0.36), ("es", 0.18), ("it", 0.18), ("fr", 0.16), ("de", 0.12))
_LEAST, _MOST = 60, 300  # words of a text
_SLOT = regex.compile(r"\{[^{}]*\}")
_POOL = regex.compile(r"\[([a-z]{2,})\]")
_MARKERS = ("- ", "* ", "• ", "# ", "> ", "-> ", "[ ] ", "[x] ", "☐ ", "{n}. ", "{n}) ", "{a}. ", "{a}) ")
_JOINTS = (("\n", 6.0), (". ", 2.0), ("; ", 1.5), (", ", 1.0), (" / ", 0.5), (" - ", 0.7), (" | ", 0.5), ("  ", 0.8))
_MISREAD = (("l", "1"), ("o", "0"), ("O", "0"), ("i", "l"), ("I", "l"))
_ELIDED = regex.compile(r"\bde (?=[AEIOUÉÈaeioué])")


def negatives(count: int, seed: int) -> Iterator[Labelled]:
    """So many texts without an identifier.

    Args:
        count: How many.
        seed: The same seed gives the same texts.
    """
    for number in range(count):
        dice = Dice(seed, NEGATIVES, number)
        language = dice.weighted(_SHARES)
        yield Labelled(f"{language}-{number}", NEGATIVES, "", _Writer(dice, language).text(), ())


@cache
def pools(language: str) -> Mapping[str, tuple[str, ...]]:
    """The patterns of a language and of all languages, by the name of their pool."""
    read: dict[str, list[str]] = {}
    name = ""
    for file in ("any", language):
        content = files("deid_platform.training").joinpath("grammar", f"{file}.txt").read_text("utf-8")
        for line in content.splitlines():
            if header := _POOL.fullmatch(line):
                name = header[1]
            elif line and not line.startswith("# "):
                read.setdefault(name, []).extend([line] if name in PATTERNS else line.split(" || "))
    return {name: tuple(patterns) for name, patterns in read.items()}


class _Writer:
    """Writes one text.

    Args:
        dice: What it is drawn with.
        language: ISO 639-1.
    """

    def __init__(self, dice: Dice, language: str) -> None:
        self._dice = dice
        self._language = language
        self._pools = pools(language)
        self._decimal = "." if language == "en" or dice.chance(0.35) else ","
        self._terms: dict[str, Callable[[], str]] = {
            "brand": self._brand,
            "generic": self._generic,
            "device": self._device,
            "eponym": self._eponym,
            "abbr": lambda: dice.pick(_abbreviations(language)),
            "labname": lambda: dice.pick(_laboratory(language))[0],
            "labval": lambda: self._measured("{name} {value}{unit}"),
            "labrow": lambda: self._measured("{name:<12}{value:<8}{flag:<4}{low} - {high} {unit}"),
            "flag": lambda: dice.pick(("H", "L", "HH", "LL", "neg", "pos", "1+", "2+", "tr", "pending", "<5")),
        }

    def text(self) -> str:
        """A text of 60 to 300 words."""
        dice, blocks = self._dice, list[str]()
        wanted = dice.between(_LEAST, _MOST - 60)
        kinds = tuple((kind, weight * dice.between(1, 4)) for kind, weight in self._kinds())
        while sum(len(block.split()) for block in blocks) < wanted:
            blocks.append(dice.weighted(kinds)())
        lines = dice.pick(("\n", "\n", "\n\n")).join(blocks).split("\n")
        while sum(len(line.split()) for line in lines) > _MOST:
            lines.pop()
        return self._worn("\n".join(lines))

    def _kinds(self) -> tuple[tuple[Callable[[], str], float], ...]:
        return ((self._headed, 3), (self._lines, 2), (self._listed, 1.5), (self._prose, 1.5), (self._table, 0.8))

    def _headed(self) -> str:
        heading, dice = self._draw("heading"), self._dice
        heading = heading if dice.chance(0.75) else heading.capitalize()
        ending = dice.pick((":\n", ": ", "\n", ":", " - ", ":\n", "\n" + "-" * len(heading) + "\n"))
        return heading + ending + self._lines()

    def _lines(self) -> str:
        joint = self._dice.weighted(_JOINTS)
        drawn = self._several("line", self._dice.between(2, 5))
        return joint.join(drawn if joint == "\n" else [line.rstrip(".") for line in drawn])

    def _listed(self) -> str:
        marker = self._dice.pick(_MARKERS)
        drawn = self._several("line", self._dice.between(3, 6))
        letters = "abcdef" if self._dice.chance(0.5) else "ABCDEF"
        return "\n".join(marker.format(n=n + 1, a=letters[n]) + line for n, line in enumerate(drawn))

    def _prose(self) -> str:
        return " ".join(self._several("sentence", self._dice.between(2, 4)) + self._several("line", 1))

    def _table(self) -> str:
        return self._draw("table")

    def _several(self, pool: str, count: int) -> list[str]:
        """Different patterns of a pool."""
        return [self._written(pattern) for pattern in self._dice.some(self._pools[pool], count)]

    def _draw(self, pool: str) -> str:
        return self._written(self._dice.pick(self._pools[pool]))

    def _written(self, text: str) -> str:
        while "{" in text:
            text = _SLOT.sub(lambda slot: self._value(slot[0][1:-1]), text)
        return text.replace("\\n", "\n")

    def _value(self, slot: str) -> str:
        if slot[0] == "=":
            return self._dice.pick(slot[1:].split("|"))
        if slot[0] == "@":
            return self._terms[slot[1:]]() if slot[1:] in self._terms else self._draw(slot[1:])
        low, high = slot[2:].split("-")
        if slot[0] == "f":
            return self._number(float(low), float(high), 1)
        number = self._dice.between(int(low), int(high))
        return f"{number:02d}" if slot[0] == "z" else str(number)

    def _number(self, low: float, high: float, decimals: int) -> str:
        scale = 10**decimals
        drawn = self._dice.between(round(low * scale), round(high * scale)) / scale
        return f"{drawn:.{decimals}f}".replace(".", self._decimal)

    def _measured(self, pattern: str) -> str:
        name, unit, between = self._dice.pick(_laboratory(self._language))
        low, high = between.split("-")
        decimals = len(low.partition(".")[2])
        value = self._number(float(low), float(high), decimals)
        unit = "" if unit == "-" or (pattern.startswith("{name} ") and self._dice.chance(0.5)) else f" {unit}"
        flag = self._dice.pick(("", "", "H", "L", "*"))
        low, high = low.replace(".", self._decimal), high.replace(".", self._decimal)
        return pattern.format(name=name, value=value, unit=unit, flag=flag, low=low, high=high)

    def _brand(self) -> str:
        own = self._language != "en" and self._dice.chance(0.7)
        term = self._dice.pick(_brands(self._language if own else "en"))
        return self._dice.weighted(((term[:1].upper() + term[1:], 7.5), (term, 1.3), (term.upper(), 1.2)))

    def _generic(self) -> str:
        term = self._dice.pick(_generics(self._language))
        often = 9.0 if self._language == "de" else 1.5
        return self._dice.weighted(((term.capitalize(), often), (term, 8.0 - often % 8), (term.upper(), 0.5)))

    def _device(self) -> str:
        term = self._dice.pick(_devices())
        return term.title() if self._dice.chance(0.8) else term.upper() if self._dice.chance(0.5) else term

    def _eponym(self) -> str:
        if self._language == "en":
            term = self._dice.pick(_eponyms())
            name, space, rest = term.partition(" ")
            return name.title().replace("'S", "'s") + space + rest
        term = self._dice.pick(_eponym_names())
        return term.capitalize() if self._dice.chance(0.9) else term.upper()

    def _worn(self, text: str) -> str:
        """A text as it comes out of a system: in one case, wrapped, misread or of another encoding."""
        dice = self._dice
        if self._language == "fr":
            text = _ELIDED.sub("d'", text)
        if dice.chance(0.08):
            text = _cased(text, str.upper)
        elif dice.chance(0.1):
            text = _cased(text, str.lower)
        if dice.chance(0.06):
            text = _wrapped(text, dice.between(44, 72))
        if dice.chance(0.02):
            text = text.encode("utf-8").decode("latin-1")
        elif dice.chance(0.02):
            old, new = dice.pick(_MISREAD)
            text = text.replace(old, new)
        return text


def _cased(text: str, change: Callable[[str], str]) -> str:
    return "".join(new if len(new := change(old)) == 1 else old for old in text)


def _wrapped(text: str, width: int) -> str:
    """A text whose lines end at a column, in the middle of a phrase."""
    lines: list[str] = []
    for line in text.split("\n"):
        while len(line) > width and " " in line[1:width]:
            at = line.rindex(" ", 1, width)
            lines.append(line[:at])
            line = line[at + 1 :]
        lines.append(line)
    return "\n".join(lines)


@cache
def _names() -> frozenset[str]:
    lists = ("given_names", "surnames", "lone_given_names", "cities", "towns", "countries", "italian_cities")
    return frozenset[str]().union(*map(word_list, lists))


def _nameless(terms: Iterator[str]) -> tuple[str, ...]:
    """Terms none of whose words is anybody's name or a place's."""
    return tuple(
        term for term in terms if _names().isdisjoint((fold_term(term), *regex.split(r"[ \-]", fold_term(term))))
    )


@cache
def _brands(language: str) -> tuple[str, ...]:
    terms = written_terms("drugs" if language == "en" else f"european_drugs.{language}")
    return _nameless(term for term in terms if len(term) > 3 and fold_term(term) not in word_list("common_words"))


@cache
def _generics(language: str) -> tuple[str, ...]:
    return _nameless(iter(written_terms(f"generic_drugs.{language}")))


@cache
def _devices() -> tuple[str, ...]:
    return _nameless(term for term in written_terms("devices") if len(term) > 3)


@cache
def _eponyms() -> tuple[str, ...]:
    """Eponyms with their noun."""
    return tuple(term for term in written_terms("eponyms") if " " in term)


@cache
def _eponym_names() -> tuple[str, ...]:
    given = word_list("given_names") | word_list("cities") | word_list("countries") | word_list("common_words")
    return tuple(term for term in written_terms("eponym_names") if fold_term(term) not in given)


@cache
def _abbreviations(language: str) -> tuple[str, ...]:
    return tuple(term.upper() for term in written_terms(f"clinical_abbreviations.{language}"))


@cache
def _laboratory(language: str) -> tuple[tuple[str, str, str], ...]:
    """Name, unit and range of what a laboratory measures."""
    return tuple((name, unit, span) for name, unit, span, spoken in rows("laboratory") if language in spoken.split())
