"""Which clinical terms recovery looks for: the shipped lists, and what a site adds.

Belongs here: gathering terms and dropping mere names. Does not belong here: finding them in a note (`finder.py`), or
reading a licensed vocabulary (`lexicon/vocabularies/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

_LANGUAGES = ("en", "es", "it", "fr", "de")
_DRUGS = (
    "substances",
    "drugs",
    *(f"generic_drugs.{language}" for language in _LANGUAGES),
    *(f"european_drugs.{language}" for language in _LANGUAGES if language != "en"),
)
LISTS = (
    "eponyms",
    *_DRUGS,
    "devices",
    "procedures",
    "tests_and_scores",
    "abbreviations",
    "clinical_names",
    "icd10cm",
)
"""The shipped lists, `data/<name>.txt`, or the terms of `data/<name>.tsv` with a mark."""
_OF_LANGUAGES = tuple(f"clinical_abbreviations.{language}" for language in _LANGUAGES)
_LEAST = 3  # letters of an abbreviation that are hardly somebody's initials
_NAMES = ("given_names", "surnames", "cities", "countries")


def clinical_terms(own: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """The folded terms that recovery looks for, each with the list that it comes from.

    Terms that consist of people's or places' names alone ("Robert Jones", "Denver") are left out.

    Args:
        own: An institution's own terms; their list is called `site`.
    """
    names = names_of_people_and_places()
    lists = [
        *((name, word_list(name)) for name in LISTS),
        ("abbreviations", abbreviations()),
        ("site", map(fold_term, own)),
    ]
    for source, terms in [*lists, ("eponyms", _turned(word_list("eponyms")))]:
        for term in terms:
            if len(term) >= 2 and term not in names and not names.issuperset(term.split()):
                yield term, source


def _turned(eponyms: Iterable[str]) -> Iterator[str]:
    """Eponyms of two people with the names in the other order: "canada-cronkhite syndrome"."""
    for term in eponyms:
        names, space, rest = term.partition(" ")
        one, hyphen, other = names.partition("-")
        if hyphen and other.isalpha() and not other.endswith("s"):
            yield f"{other}-{one}{space}{rest}"


@cache
def abbreviations() -> frozenset[str]:
    """The folded terms that are clinical in capitals alone; of two letters, those that every clinic has."""
    words = frozenset[str]().union(*map(word_list, LISTS)) | word_list("common_words") | word_list("clinical_words")
    further = (term for name in _OF_LANGUAGES for term in word_list(name) if len(term) >= _LEAST)
    return word_list("abbreviations") | (frozenset(further) - words)


@cache
def things() -> frozenset[str]:
    """Folded terms that nobody is called by: drugs, and devices but for those that are called after their inventors."""
    drugs = frozenset[str]().union(*map(word_list, _DRUGS))
    names = word_list("eponym_names") | word_list("eponyms") | names_of_people_and_places()
    devices = (term for term in word_list("devices") if _is_sold(term, names))
    return (drugs | frozenset(devices)) - names_of_people_and_places()


def _is_sold(device: str, names: frozenset[str]) -> bool:
    """Whether a device has a model's number, or several words and no eponym's as far as the lists know.

    One word alone may be its maker's, and that is a person's as well.
    """
    first, several, _ = device.partition(" ")
    return any(c.isdigit() for c in device) or (bool(several) and names.isdisjoint(first.split("-")))


@cache
def names_of_people_and_places() -> frozenset[str]:
    """The folded given names, surnames, cities and countries of the shipped lists."""
    return frozenset[str]().union(*map(word_list, _NAMES))


@cache
def words_of_clinics() -> frozenset[str]:
    """Words of every clinic's notes and of common English that no list has as a name."""
    return (word_list("clinical_words") | word_list("common_words")) - names_of_people_and_places()


@cache
def eponym_heads() -> frozenset[str]:
    """The folded nouns after which the names of eponyms are called clinical."""
    return word_list("eponym_nouns") | word_list("eponym_conditions")
