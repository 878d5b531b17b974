"""Addresses that stand in for addresses: city, state, ZIP code and area code that belong together.

Belongs here: places and streets, line by line. Does not belong here: names of institutions (`institutions.py`) or
which spans of a note are one address (`keyed.py`).

Within one patient's notes a state has one surrogate, and its cities lie in that: "Akron, OH 44308" and "Ohio" agree.
A city abroad stays in its country where the platform lists enough of its cities.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cache
from typing import NamedTuple

import regex

from deid_platform.surrogates.names import Deck, Home, Kind, Pool, invented_pool, letters, read_lines
from deid_platform.surrogates.numbers import Draw, scrambled, stand_in_number
from deid_platform.surrogates.pools import cities
from deid_platform.text.fold import fold_term
from deid_platform.text.names import name_parts

_LANGUAGES = {"it": "IT", "de": "DE", "pl": "PL", "nl": "NL", "sv": "SE", "es": "ES", "fr": "FR"}
_ZIP = regex.compile(r"(\d{5})([-\s]?\d{4})?")
_MAYBE_ORDINAL = regex.compile(r"(\d+)((?:st|nd|rd|th)\b)?", regex.IGNORECASE)
_STREET_TOKEN = regex.compile(
    r"\d+(?:st|nd|rd|th)\b|\d+\p{L}?\b|\d+|[\p{L}\p{M}][\p{L}\p{M}'’\-]*\.?", regex.IGNORECASE
)
_GERMAN = regex.compile(
    r"(?P<name>\p{L}[\p{L}\-]*?)(?P<kind>-?(?:stra(?:ß|ss)e|str\.?|weg|platz|allee|gasse|ring))", regex.I
)
_KINDS_ABROAD = {
    **dict.fromkeys(("via", "viale", "piazza", "corso", "largo", "vicolo", "strada", "piazzale"), "it_IT"),
    **dict.fromkeys(("calle", "avenida", "plaza", "paseo", "camino", "carrera", "avda", "c", "ronda"), "es"),
    **dict.fromkeys(("rue", "chemin", "quai", "impasse", "allee", "cours"), "fr"),
    **dict.fromkeys(("rua", "travessa", "praca"), "pt_BR"),
    **dict.fromkeys(("ulica", "ul", "aleja"), "pl_PL"),
}
_STREET_WORDS = frozenset(
    {
        *("st", "street", "ave", "av", "avenue", "rd", "road", "dr", "drive", "ln", "lane", "ct", "court", "blvd"),
        *("boulevard", "way", "pl", "place", "ter", "terrace", "cir", "circle", "pkwy", "parkway", "hwy", "highway"),
        *("sq", "square", "trl", "trail", "row", "plaza", "plz", "loop", "alley", "aly", "path", "pike", "run"),
        *("route", "rte", "rt", "rr", "rural", "county", "po", "p", "o", "box", "pob", "apo", "fpo", "psc", "unit"),
        *("apt", "apartment", "suite", "ste", "bldg", "building", "floor", "fl", "room", "rm", "lot", "space", "no"),
        *("n", "s", "e", "w", "ne", "nw", "se", "sw", "north", "south", "east", "west", "northeast", "northwest"),
        *("southeast", "southwest", "crescent", "close", "gardens", "mews", "flat", "and", "of", "the"),
        *(
            "de",
            "del",
            "della",
            "delle",
            "dei",
            "degli",
            "dello",
            "di",
            "des",
            "du",
            "la",
            "le",
            "las",
            "los",
            "do",
            "da",
        ),
    }
)


class Place(NamedTuple):
    """A city with its state, the first three digits of its ZIP codes and its area code."""

    city: str
    state: str
    zip3: str
    area: str


def home_state(city: str | None, state: str | None) -> str | None:
    """The postal abbreviation that a state's name or a listed city tells; None where neither does."""
    if state and (code := _state_codes().get(fold_term(state).strip(" ."))):
        return code
    found = _states_of().get(fold_term(city), frozenset()) if city else frozenset()
    return next(iter(found)) if len(found) == 1 else None


def place_for(deck: Deck, city: str | None, state: str | None, avoid: Container[str] = ()) -> Place:
    """The American place that stands in for a city, or for somewhere in a state.

    Args:
        deck: The patient's.
        city: As written; None for "somewhere".
        state: Its postal abbreviation, where it is known.
        avoid: Folded names of cities that may not be drawn.
    """
    rows = us_places() if state is None else _places_in(other_state(deck, state))
    folded = fold_term(city or "")
    first = deck.number("city", folded) % len(rows)
    for step in range(len(rows)):
        place = rows[(first + step) % len(rows)]
        if fold_term(place.city) != folded and fold_term(place.city) not in avoid:
            return place
    return next(p for p in us_places() if fold_term(p.city) != folded and fold_term(p.city) not in avoid)


def area_for(deck: Deck, area: str) -> str | None:
    """The area code that stands in for one: of the state that stands in for its own; None where that is not known."""
    state = _state_of_area().get(area)
    if state is None:
        return None
    rows = _places_in(other_state(deck, state))
    return rows[deck.number("area", area) % len(rows)].area


def other_state(deck: Deck, state: str) -> str:
    """The state that stands in for one, by postal abbreviations; no two have the same."""
    drawn = deck.draw(_state_pool(), state.lower(), (), ident=None)
    return (drawn or "OH").upper()


def written_state(deck: Deck, surface: str) -> str | None:
    """A state in the writing of the original, "OH" or "Ohio"; None where it is no American state."""
    code = _state_codes().get(fold_term(surface).strip(" ."))
    if code is None:
        return None
    return state_as(other_state(deck, code), surface)


def state_as(code: str, surface: str) -> str:
    """A state's abbreviation or name, as the original has it."""
    short = sum(c.isalpha() for c in surface) <= 2
    return code if short else _state_names()[code]


def stand_in_city(deck: Deck, surface: str, place: Place, language: str) -> str | None:
    """A city in the country of the original: `place` for an American one."""
    country = _country_of(surface, language)
    if country is None:
        return place.city
    names = _abroad().get(country) or cities(country)
    first = deck.number("city", country, fold_term(surface)) % len(names) if names else 0
    others = (names[(first + step) % len(names)] for step in range(len(names)))
    return next((name for name in others if fold_term(name) != fold_term(surface)), None)


def stand_in_zip(draw: Draw, surface: str, place: Place, language: str, avoid: Container[str] = ()) -> str | None:
    """A ZIP code of the place; another country's postcode of the same shape.

    Args:
        draw: The patient's.
        surface: As written.
        place: Where it is to lie.
        language: The note's.
        avoid: Numbers that may not be drawn, without leading zeros.
    """
    match = _ZIP.fullmatch(surface.strip())
    if match is None or not language.casefold().startswith("en"):
        return stand_in_number(draw, surface, avoid)
    first = draw(f"zip/{match[1]}")[0]
    drawn = (f"{place.zip3}{1 + (first + step) % 99:02}" for step in range(99))
    code = next(code for code in drawn if code != match[1] and code.lstrip("0") not in avoid)
    return code + _numbers_moved(draw, match[2] or "")


def stand_in_street(deck: Deck, draw: Draw, surface: str, avoid: Container[str] = ()) -> str | None:
    """A street address with other numbers and another name; kinds of streets, directions and units stay.

    Args:
        deck: The patient's.
        draw: The patient's.
        surface: As written.
        avoid: Folded names that may not be drawn.
    """
    made: list[str] = []
    position = 0
    names: list[tuple[int, int]] = []
    family = next((_KINDS_ABROAD[w] for w in _folded_words(surface) if w in _KINDS_ABROAD), None)
    for match in _STREET_TOKEN.finditer(surface):
        word = fold_term(match[0]).rstrip(".")
        if match[0][0].isdigit() or word in _STREET_WORDS or word in _KINDS_ABROAD:
            continue
        if names and regex.fullmatch(r"[\s.'’\-]*", surface[names[-1][1] : match.start()]):
            names[-1] = (names[-1][0], match.end())
        else:
            names.append((match.start(), match.end()))
    for start, end in names:
        name = surface[start:end]
        moved = scrambled(draw, name) if len(name) == 1 and name.isascii() else _street_name(deck, name, family, avoid)
        made += (_numbers_moved(draw, surface[position:start]), moved)
        position = end
    made.append(_numbers_moved(draw, surface[position:]))
    drawn: str = "".join(made)
    return drawn if fold_term(drawn) != fold_term(surface) else None


def street_words(street: str | None) -> Iterator[str]:
    """The folded words that name a street: of "18 Teasel Row" and "Teaselstraße 18" the teasel."""
    for word in name_parts(street):
        german = _GERMAN.fullmatch(word)
        folded = letters(word if german is None else german["name"])
        if folded not in _STREET_WORDS:
            yield folded


def _street_name(deck: Deck, surface: str, family: str | None, avoid: Container[str]) -> str:
    german = _GERMAN.fullmatch(surface)
    if german is not None:
        stem = fold_term(german["name"])
        return (deck.draw(deck.surname_pool("de_DE"), stem, avoid, ident=stem) or "") + str(german["kind"])
    folded = fold_term(surface).replace(".", "")
    pool = invented_pool() if family is None else deck.surname_pool(family)
    name = deck.draw(pool, folded, avoid, ident="street/" + folded) or "Alderbrook"
    return name.upper() if surface.isupper() and len(surface) > 1 else name.lower() if surface.islower() else name


def _numbers_moved(draw: Draw, text: str) -> str:
    """A text with every number in it replaced, "42nd" by another ordinal one."""

    def moved(match: regex.Match[str]) -> str:
        number = stand_in_number(draw, match[1]) or match[1]
        return _ordinal(number, match[2]) if match[2] else number

    return str(_MAYBE_ORDINAL.sub(moved, text))


def _ordinal(number: str, like: str) -> str:
    ending = "th" if number[-2:] in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return number + (ending.upper() if like.isupper() else ending)


def _folded_words(surface: str) -> list[str]:
    return [fold_term(m[0]).rstrip(".") for m in _STREET_TOKEN.finditer(surface)]


def _country_of(city: str, language: str) -> str | None:
    """The country whose cities list this one, the note's language first; None for the United States."""
    own = _LANGUAGES.get(language.casefold()[:2])
    if own is not None:
        return own
    folded = fold_term(city)
    if folded in _states_of():
        return None
    return _country_of_listed().get(folded)


@cache
def us_places() -> tuple[Place, ...]:
    """The listed cities of the United States."""
    return tuple(Place(*line.split("\t")) for line in read_lines("us_places.tsv"))


@cache
def _places_in(state: str) -> tuple[Place, ...]:
    return tuple(place for place in us_places() if place.state == state)


@cache
def _state_of_area() -> dict[str, str | None]:
    """The state of each area code; None where its listed cities lie in several."""
    found: dict[str, set[str]] = {}
    for place in us_places():
        found.setdefault(place.area, set()).add(place.state)
    return {area: states.pop() if len(states) == 1 else None for area, states in found.items()}


@cache
def _states_of() -> dict[str, frozenset[str]]:
    """The states that have a listed city of a folded name."""
    found: dict[str, frozenset[str]] = {}
    for place in us_places():
        city = fold_term(place.city)
        found[city] = found.get(city, frozenset()) | {place.state}
    return found


@cache
def _state_names() -> dict[str, str]:
    return dict(line.split("\t") for line in read_lines("us_states.tsv"))


@cache
def _state_codes() -> dict[str, str]:
    codes = {fold_term(name): code for code, name in _state_names().items()}
    return codes | {code.lower(): code for code in _state_names()}


@cache
def _state_pool() -> Pool:
    codes = tuple(sorted({place.state.lower() for place in us_places()}))
    return Pool(Home(Kind.PLACE, "states", "", 0), codes, codes, {code: i for i, code in enumerate(codes)})


@cache
def _country_of_listed() -> dict[str, str]:
    """The country of each listed city abroad, by its folded name; the first that lists it."""
    found: dict[str, str] = {}
    for country, names in _abroad().items():
        for name in names:
            found.setdefault(fold_term(name), country)
    return found


@cache
def _abroad() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for line in read_lines("cities_abroad.tsv"):
        country, city = line.split("\t")
        found.setdefault(country, []).append(city)
    return {country: tuple(names) for country, names in found.items()}
