"""Checks of places and institutions: where such a name ends, and whether it names anything of its own.

Belongs here: functions (text, start, end) -> the interval to tag, narrowed if need be, or None. Does not
belong here: patterns (`../data/*.yaml`) or checks of people (`names.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.detector import word_list
from deid_platform.detection.naming import is_common
from deid_platform.detection.patterns.checks.names import NAME_TOKEN, bare, stops_a_name
from deid_platform.detection.patterns.checks.place import Place
from deid_platform.detection.patterns.vocabulary import Kind, kind_of, names_a_thing
from deid_platform.detection.reading import fold_term

_STATES = frozenset(
    """
    alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois
    indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri
    montana nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia wisconsin wyoming
    """.split()  # noqa: SIM905 - a list literal would take forty lines
)
_AUSTRALIAN_STATES = frozenset({"NSW", "VIC", "QLD", "ACT", "TAS", "SA", "NT"})
_NATIONS = frozenset({"american", "national", "european", "international", "world", "royal", "british", "canadian"})
_SOCIETY = regex.compile(
    r"\b(?:College|Society|Association|Academy|Institutes?|Organi[sz]ation|Board|Federation|League)\b"
)
_CITY_BEFORE = regex.compile(r"(\p{Lu}[\p{L}'’.\-]+(?:[ ]\p{Lu}[\p{L}'’.\-]+){0,2})[ \t]*,[ \t]*$")
_TITLE_WORDS = regex.compile(r"(?:[ ]\p{Lu}?[\p{L}\-]+){1,4}")
_FINDING = regex.compile(r"[ \t]*(?::|,[ \t]*(?i:s1|rrr|regular|reg|normal|nl|heart|no|hs|s1s2|hrrr))")
_SHAPED = regex.compile(r"\b(?i:straight|curved)[ ]$")
_PAIRED_THING = regex.compile(r"[ ](?:and|or)[ ]\p{Lu}\p{L}+[ ](?:clamps?|forceps|retractors?)\b")
_SENTENCE_INSIDE = regex.compile(r"(?<!\b(?i:ave|blvd|pkwy|hwy|apt|ste|bldg|rte|unit))(?<=\p{L}{3})\.[ \t]")


def organization(text: str, start: int, end: int) -> Place | None:
    """An institution's name with at least one word of its own: not "Primary Care" or "Emergency Department"."""
    tokens, _ = _own_words(text, start, end)
    stop = _without_tail(text, tokens, end) if tokens else end
    tokens, own = _own_words(text, start, stop)
    return (tokens[0].start(), stop) if own and not _learned_society(text, tokens, stop) else None


def own_organization(text: str, start: int, end: int) -> Place | None:
    """As `organization`, where the generic part is everyday clinical prose as well ("Physical Therapy", "Drugs").

    One of its own words must then be no common one, or two of them must read as a place ("Old Mill").
    """
    place = organization(text, start, end)
    if place is None:
        return None
    _, own = _own_words(text, *place)
    words = [w for w in own if w[:1].isalpha()]
    rare = any(not (stops_a_name(w) or kind_of(w) & Kind.CLINICAL) or w in word_list("cities") for w in words)
    scenic = _reads_as_place([bare(t) for t in NAME_TOKEN.findall(text, *place)])
    return place if rare or scenic else None


def landmark(text: str, start: int, end: int) -> Place | None:
    """A place by what it is, "Birch Point Marina": one word of its own must be no common one, or read as a place."""
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    while tokens and bare(tokens[0][0]) in word_list("title_stopwords"):
        tokens.pop(0)
    words = [bare(t[0]) for t in tokens]
    own = any(not stops_a_name(w) and not kind_of(w) & Kind.CLINICAL for w in words[:-1])
    return (tokens[0].start(), end) if own or (len(words) > 2 and _reads_as_place(words[:-1])) else None


def hospital_abroad(text: str, start: int, end: int) -> Place | None:
    """A hospital whose kind stands first, "Ospedale Niguarda": a later word must be no common one."""
    later = [bare(t) for t in NAME_TOKEN.findall(text, start, end)[1:]]
    return (start, end) if any(len(w) > 2 and not stops_a_name(w) for w in later) else None


def _reads_as_place(words: list[str]) -> bool:
    """Whether a noun of nature or settlement follows another word, as in "Old Mill"."""
    return any(word in word_list("place_nouns") for word in words[1:])


def _learned_society(text: str, tokens: list[regex.Match[str]], end: int) -> bool:
    """Whether the name is a society's whose guidelines notes quote ("American College of Rheumatology")."""
    return bare(tokens[0][0]) in _NATIONS and _SOCIETY.search(text, tokens[0].start(), end) is not None


def _own_words(text: str, start: int, end: int) -> tuple[list[regex.Match[str]], list[str]]:
    """The words of an institution's name from the first that can begin it, and those that are its own, folded."""
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    generic = word_list("generic_institution_words")
    while tokens and ((word := fold_term(tokens[0][0]).strip(".'-")) in word_list("title_stopwords") or len(word) == 1):
        tokens.pop(0)
    if not tokens or fold_term(text[tokens[0].start() : end]) in word_list("generic_phrases"):
        return tokens, []
    words = [fold_term(t[0]).removesuffix("'s").strip(".'-") for t in tokens]
    own = [w for w in words if w not in generic and (w not in word_list("clinical_words") or w in word_list("cities"))]
    return tokens, own


def _without_tail(text: str, tokens: list[regex.Match[str]], end: int) -> int:
    """Where a facility's name ends: behind its last generic word only a place stands ("Family Medicine Lynford")."""
    generic = [i for i, t in enumerate(tokens) if bare(t[0]) in word_list("generic_institution_words")]
    if not generic:
        return end
    for position in range(generic[-1] + 1, len(tokens)):
        kind = kind_of(tokens[position][0])
        place = bare(tokens[position][0]) in word_list("cities")
        if not place and (
            kind & (Kind.ORDINARY | Kind.CLINICAL)
            or tokens[position][0].isupper() != text[tokens[0].start() : end].isupper()
        ):
            before: int = tokens[position - 1].end()
            return before
    return end


def city(text: str, start: int, end: int) -> Place | None:
    """A place's name that is not made of common or clinical words alone, or that is a known city's."""
    words = [fold_term(t).strip(".'-") for t in NAME_TOKEN.findall(text, start, end)]
    known = fold_term(text[start:end]) in word_list("cities")
    return (start, end) if known or (words and not all(map(is_common, words))) else None


def town(text: str, start: int, end: int) -> Place | None:
    """A place after a word that other things follow as well: up to the first word that is no part of its name."""
    if text[start:end].isupper() and end - start <= 3:
        return (start, end) if text[start:end] in _AUSTRALIAN_STATES else None
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    if not tokens:
        return start, end  # a postcode
    stop = start
    capitals = text[start:end].isupper()
    for token in tokens:
        word = bare(token[0])
        clinical = kind_of(token[0]) & Kind.CLINICAL and word not in word_list("cities")
        code = token[0].isupper() and len(word) <= 3 and not capitals
        if word in word_list("title_stopwords") or clinical or code or (stop > start and word in _STATES):
            break
        stop = token.end()
    surface = fold_term(text[start:stop])
    if surface in word_list("countries"):
        return None  # left to the recognizer that calls it a country
    known = surface in word_list("cities")
    rare = any(not stops_a_name(bare(t[0])) for t in tokens if t.end() <= stop)
    return (start, stop) if stop > start and (known or rare) and not names_a_thing(text, stop) else None


def known_city(text: str, start: int, end: int) -> Place | None:
    """A city of the shipped list, unless a thing bears its name ("the Jackson table")."""
    known = fold_term(text[start:end]) in word_list("cities") and not names_a_thing(text, end)
    return (start, end) if known else None


def known_city_or_state(text: str, start: int, end: int) -> Place | None:
    """A city of the shipped list, or the state after one."""
    if end - start > 2:
        return known_city(text, start, end)
    line = max(text.rfind("\n", 0, start), start - 40, 0)
    before = _CITY_BEFORE.search(text, line, start)
    if before is None:
        return None
    words = before[1].split()
    known = any(fold_term(" ".join(words[i:])) in word_list("cities") for i in range(len(words)))
    return (start, end) if known else None


def state(text: str, start: int, end: int) -> Place | None:
    """A state's name, unless a thing or a word of medicine bears it ("Minnesota tube", "California Verbal")."""
    return None if names_a_thing(text, end) or _borne_by_a_title(text, end) else (start, end)


def country(text: str, start: int, end: int) -> Place | None:
    """A country's name, unless a thing bears it ("India ink", "Japan Coma Scale")."""
    return state(text, start, end)


def saint(text: str, start: int, end: int) -> Place | None:
    """A place named after a saint or a mountain, of which no disease is ("St. Vitus dance")."""
    second = list(NAME_TOKEN.finditer(text, start, end))[1:2]
    ordinary = bool(second) and second[0][0][:1].isupper() and kind_of(second[0][0]) & Kind.ORDINARY
    longer = text.count(" ", start, end) > 1
    return None if names_a_thing(text, end) or (ordinary and not longer) else (start, end)


def chain(text: str, start: int, end: int) -> Place | None:
    """A firm that is no abbreviation of an examination ("CVS: regular rate")."""
    beside = _FINDING.match(text, end)
    return None if beside is not None and text[start:end].isupper() else (start, end)


def known_hospital(text: str, start: int, end: int) -> Place | None:
    """A hospital of the shipped list, unless an instrument bears its name ("Ochsner clamp")."""
    thing = (
        names_a_thing(text, end) or _PAIRED_THING.match(text, end) or _SHAPED.search(text, max(0, start - 10), start)
    )
    return None if thing else (start, end)


def _borne_by_a_title(text: str, end: int) -> bool:
    """Whether capitalised words after a place's name end in what a test or a scale is called."""
    following = _TITLE_WORDS.match(text, end)
    return following is not None and any(w.lower() in word_list("eponym_nouns") for w in following[0].split())


def street(text: str, start: int, end: int) -> Place | None:
    """A street whose name has a word of its own, if it is written without capitals."""
    surface = text[start:end]
    words = [w for t in NAME_TOKEN.findall(surface) if len(w := fold_term(t).strip(".'-")) > 1]
    if words[0] in {"am", "pm", "mg", "ml", "cc", "mm", "cm"} or _SENTENCE_INSIDE.search(surface):
        return None
    return (start, end) if any(c.isupper() for c in surface) or not all(map(is_common, words[:-1])) else None
