"""How names are written: forms of a person's name and of a street, common words, capitals, context.

Belongs here: what gazetteer, roster and patterns must agree on about the shape of names. Does not belong
here: where names come from or which spans they become.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from deid_platform.detection.detector import word_list
from deid_platform.detection.reading import fold_term

PARTICLES = frozenset(
    {
        *("al", "bin", "da", "das", "de", "del", "den", "der", "di", "dos", "du", "el", "ibn", "la", "las", "le"),
        *("los", "st", "ter", "van", "von", "y"),
    }
)
"""Small words inside surnames, which on their own name nobody."""

_UNIT = regex.compile(r",?\s(?:apt|apartment|suite|ste|unit|bldg|building|floor|fl|room|rm)\b|,?\s#")
_TOKEN = regex.compile(r"\p{L}[\p{L}\p{M}'’]*")
_SENTENCE_END = regex.compile(r"(?:^|[\r\n.!?:;•*\-–—>|\[(\"“])\s*$")
# What only a person does: after a capitalised word at the start of a sentence, that word is a name.
_PERSON_ACTS = regex.compile(
    r"(?:['’]s\b|\s+(?:also\s+|now\s+|still\s+|again\s+|currently\s+)?"
    r"(?:is|was|has|had|does|did|denies|denied|reports|reported|states|stated|says|said|presents|presented|"
    r"complains|complained|feels|felt|notes|noted|describes|described|endorses|endorsed|admits|admitted|"
    r"lives|works|takes|took|returns|returned|comes|came|called|calls|agrees|agreed|declines|declined|"
    r"tolerated|underwent|verbalizes|verbalized|appears|remains|continues|continued|wants|needs|understands)\b)"
)
_NAME_BEFORE = regex.compile(
    r"(?:\b(?:mr|mrs|ms|miss|mx|dr|master|sr|patient|pt|named|name|name is|is|and|with|for|to|of|by|dear|"
    r"son|daughter|mother|father|wife|husband|brother|sister)\b\.?:?)\s+$",
    regex.IGNORECASE,
)

_SUFFIXES = {
    "avenue": "ave", "boulevard": "blvd", "circle": "cir", "court": "ct", "drive": "dr", "expressway": "expy",
    "freeway": "fwy", "highway": "hwy", "lane": "ln", "parkway": "pkwy", "place": "pl", "plaza": "plz",
    "road": "rd", "square": "sq", "street": "st", "terrace": "ter", "trail": "trl", "turnpike": "tpke",
}  # fmt: skip
_LONG = {short: long for long, short in _SUFFIXES.items()}


def is_common(word: str) -> bool:
    """Whether a folded word is one of common English or of every clinic's vocabulary."""
    return word in word_list("common_words") or word in word_list("clinical_words")


def capitalised(surface: str) -> bool:
    """Whether every word of it begins with a capital letter."""
    tokens = _TOKEN.findall(surface)
    return bool(tokens) and all(token[0].isupper() for token in tokens)


@lru_cache(maxsize=65536)
def name_parts(name: str | None) -> tuple[str, ...]:
    """The words of a name field that can stand for it alone: "de la Cruz-Roy" gives "Cruz" and "Roy"."""
    return tuple(t for t in _TOKEN.findall(name or "") if t.lower() not in PARTICLES)


def person_forms(first: str | None, middle: str | None, last: str | None) -> tuple[str, ...]:
    """The full name in the orders in which notes write it; empty without both first and last name."""
    if not first or not last:
        return ()
    forms = [f"{first} {last}", f"{last}, {first}", f"{last},{first}", f"{last} {first}"]
    if middle:
        initial = middle.strip()[:1]
        for inner in (middle, initial, f"{initial}."):
            forms += [f"{first} {inner} {last}", f"{last}, {first} {inner}"]
    return tuple(dict.fromkeys(forms))


def street_forms(street: str | None) -> tuple[str, ...]:
    """A street address as given, and with its suffix written out or abbreviated; folded."""
    if not street:
        return ()
    folded = fold_term(street)
    if len(folded) < 6:
        return ()
    words = folded.replace(".", "").replace(",", " ").split()
    long = " ".join(_LONG.get(word, word) if i else word for i, word in enumerate(words))
    short = " ".join(_SUFFIXES.get(word, word) if i else word for i, word in enumerate(words))
    plain = (" ".join(words), long, short)
    return tuple(dict.fromkeys((folded, *plain, *(_UNIT.sub(lambda m: "," + m[0].lstrip(","), f) for f in plain))))


def street_without_unit(form: str) -> str:
    """A folded street address up to its apartment, suite or unit."""
    unit = _UNIT.search(form)
    return form[: unit.start()] if unit else form


def reads_as_name(text: str, start: int, end: int) -> bool:
    """Whether a common word at that place reads as a name: by its capital and by what stands around it.

    "Will denies pain", "saw Will today" and "Mr. Green" do; "will return", "Will return" and a word in a
    line of capitals do not.
    """
    surface = text[start:end]
    if not surface[0].isupper():
        return False
    before = text[max(0, start - 40) : start]
    after = text[end : end + 40]
    if len(surface) > 1 and surface.isupper():
        # In a line of capitals a capital says nothing: only a title or a label does.
        return bool(regex.search(r"\b(?:MR|MRS|MS|DR|PATIENT|NAME|PT)\b\.?:?[ \t]*$", before, regex.IGNORECASE))
    if _PERSON_ACTS.match(after):
        return True
    if _SENTENCE_END.search(before):
        return bool(_NAME_BEFORE.search(before))
    return True
