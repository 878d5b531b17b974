"""How names are written: the parts and spellings of a person's name and of a street, capitals.

Belongs here: what gazetteer, roster, rules and surrogates must agree on about the shape of names. Does not
belong here: where names come from, which spans they become, or what stands around them (`detection/context/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

import regex

from deid_platform.text.fold import fold_term
from deid_platform.text.tokens import line_of

PARTICLES = frozenset(
    {
        *("al", "bin", "da", "das", "de", "del", "den", "der", "di", "dos", "du", "el", "ibn", "la", "las", "le"),
        *("los", "st", "ter", "van", "von", "y"),
    }
)
"""Small words inside surnames, which on their own name nobody."""

# Further words that stand before the word that they belong to, of which some are names or words as well.
_OPENING = PARTICLES | {"mc", "mac", "dela", "della", "dello", "degli", "dei", "ten", "te", "zu", "bint", "abu"}
_APART = regex.compile(r"[\s\-‐‑–—]+")
_GENERATIONS = frozenset({"jr", "sr", "ii", "iii", "iv"})
_MOST_JOINED = 4
_TOKEN = regex.compile(r"\p{L}[\p{L}\p{M}'’]*")
_DIGRAPHS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "ø": "oe", "Ø": "Oe", "å": "aa"}
)
_UNIT = regex.compile(
    r"[ \t]*,?[ \t]*"
    r"(?:(?:apt|apartment|suite|ste|unit|bldg|building|floor|fl|room|rm)\b\.?[ \t]*#?[ \t]*\w+|#[ \t]*\w+)",
    regex.IGNORECASE,
)
_LONGEST_UNIT = 40
_UNIT_WORD = regex.compile(r" (?:apt|apartment|suite|ste|unit|bldg|building|floor|fl|room|rm)\b")
_SUFFIXES = {
    "alley": "aly", "avenue": "ave", "boulevard": "blvd", "circle": "cir", "court": "ct", "crescent": "cres",
    "drive": "dr", "expressway": "expy", "freeway": "fwy", "heights": "hts", "highway": "hwy", "lane": "ln",
    "parkway": "pkwy", "place": "pl", "plaza": "plz", "road": "rd", "route": "rte", "square": "sq", "street": "st",
    "terrace": "ter", "trail": "trl", "turnpike": "tpke",
    "north": "n", "south": "s", "east": "e", "west": "w",
}  # fmt: skip
_LONG = {short: long for long, short in _SUFFIXES.items()} | {"av": "avenue", "str": "street"}


def capitalised(surface: str) -> bool:
    """Whether every word of it begins with a capital letter."""
    tokens = _TOKEN.findall(surface)
    return bool(tokens) and all(token[0].isupper() for token in tokens)


@lru_cache(maxsize=65536)
def name_parts(name: str | None) -> tuple[str, ...]:
    """The words of a name field that can stand for it alone: "de la Cruz-Roy" gives "Cruz" and "Roy"."""
    return tuple(t for t in _TOKEN.findall(name or "") if t.lower() not in PARTICLES)


@lru_cache(maxsize=4096)
def name_words(name: str | None) -> tuple[str, ...]:
    """The folded words of a name field, without a generation: "O'Brien-Roy, Jr." gives "o", "brien", "roy"."""
    return tuple(word for word in line_of(name or "").split() if word not in _GENERATIONS)


@lru_cache(maxsize=4096)
def single_names(name: str | None) -> tuple[str, ...]:
    """The names that a name field consists of, each with its particles: "van der Berg-O'Dea" gives two."""
    found: list[str] = []
    opening: list[str] = []
    for word in filter(None, _APART.split(name or "")):
        opening.append(word)
        if line_of(word) not in _OPENING:
            found.append(" ".join(opening))
            opening = []
    return tuple(found)


@lru_cache(maxsize=4096)
def spellings(name: str | None) -> tuple[str, ...]:
    """A name field as lines of words, in all the ways in which its words run together.

    "de la Cruz" gives "de la cruz", "dela cruz", "de lacruz" and "delacruz"; "Müller" also gives "mueller",
    "McDonald" also "mc donald".
    """
    if not name:
        return ()
    written = [name_words(name)]
    if not name.isascii() and (written_out := name_words(name.translate(_DIGRAPHS))) != written[0]:
        written.append(written_out)
    found: list[str] = []
    for words in written:
        if not words:
            continue
        found.append(" ".join(words))
        if len(words) == 1 and len(words[0]) >= 6 and words[0].startswith(("mc", "mac")):
            prefix = 2 if words[0].startswith("mc") else 3
            found.append(f"{words[0][:prefix]} {words[0][prefix:]}")
        if 1 < len(words) <= _MOST_JOINED:
            found.extend(_joined(words))
    return tuple(dict.fromkeys(found))


def _joined(words: tuple[str, ...]) -> Iterator[str]:
    for gaps in product((" ", ""), repeat=len(words) - 1):
        yield "".join(word + gap for word, gap in zip(words, (*gaps, ""), strict=True))


def street_lines(street: str | None) -> tuple[str, ...]:
    """A street address as lines of words without its unit, its suffix written out and abbreviated."""
    words = line_of(street or "")
    unit = _UNIT_WORD.search(words)
    tokens = (words[: unit.start()] if unit else words).split()
    if "#" in (street or "") and unit is None and len(tokens) > 2 and tokens[-1].isdigit():
        tokens.pop()
    if len(" ".join(tokens)) < 6 or len(tokens) < 2:
        return ()
    long = " ".join(_LONG.get(word, word) if i else word for i, word in enumerate(tokens))
    short = " ".join(_SUFFIXES.get(word, word) if i else word for i, word in enumerate(tokens))
    return tuple(dict.fromkeys((" ".join(tokens), long, short)))


def is_street_word(word: str) -> bool:
    """Whether a word is one of those that streets end in: "St", "Avenue"."""
    return fold_term(word).strip(".") in _SUFFIXES or fold_term(word).strip(".") in _LONG


def after_unit(text: str, end: int) -> int:
    """Where an address ends whose street ends there: after ", Apt 3", "#4B" or "Suite 200" if one follows."""
    unit = _UNIT.match(text, end, end + _LONGEST_UNIT)
    return unit.end() if unit else end
