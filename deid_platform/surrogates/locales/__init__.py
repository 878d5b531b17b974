"""Locales: the people, places and numbers that stand in a corpus of one country or language.

    locale                            what is asked of a locale; `records` what is handed out
    naming, name_pools, name_sources  how people put a name together, the names, where these come from
    places                            towns
    words, patterns, institutions     streets and institutions by template, by pattern, shortened by staff
    faker_values                      those that Faker draws as well
    numbers/                          what has a check digit or a reserved range
    catalogue                         how much of each there is

Belongs here: eleven locales in Latin letters and what each holds. Does not belong here: who gets which (a corpus),
dates (the language of a note decides how they are written), or surrogates keyed by a secret (`surrogates/keyed.py`).

To add a locale: a row of `locale.py`, `name_sources.py` and `naming.py`, the files of `data/`, and its numbers.
"""

from deid_platform.surrogates.locales.catalogue import THIN, Row, catalogue, catalogue_markdown
from deid_platform.surrogates.locales.locale import INSTITUTIONS, LOCALES, UNLISTED, Locale, locale
from deid_platform.surrogates.locales.name_pools import is_listed
from deid_platform.surrogates.locales.records import Address, Person

__all__ = [
    "INSTITUTIONS",
    "LOCALES",
    "THIN",
    "UNLISTED",
    "Address",
    "Locale",
    "Person",
    "Row",
    "catalogue",
    "catalogue_markdown",
    "is_listed",
    "locale",
]
