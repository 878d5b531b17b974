"""Numbers of a country that name a person: telephones, national identifiers, health plans, licences.

    country  what a country has of numbers
    english  the United States, Great Britain, Australia and Canada
    europe   Spain, Italy and France
    asia     China, India, Bangladesh and Saudi Arabia

Belongs here: one module a group of countries, and `NUMBERS`, which says what each locale has. Does not belong here:
plain patterns without a check digit, which are data (`data/<locale>.yaml`).

Telephone numbers come from the ranges that a country keeps for fiction, where it keeps any; else from blocks that the
country's numbering plan leaves empty, as far as is known. Identifiers carry valid check digits and come from ranges
that are not assigned, where such are known; each function says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from deid_platform.surrogates.locales.numbers import asia, english, europe
from deid_platform.surrogates.locales.numbers.country import Country

NUMBERS: Mapping[str, Country] = {
    "en_US": english.UNITED_STATES,
    "en_GB": english.GREAT_BRITAIN,
    "en_AU": english.AUSTRALIA,
    "en_CA": english.CANADA,
    "es_ES": europe.SPAIN,
    "it_IT": europe.ITALY,
    "fr_FR": europe.FRANCE,
    "zh": asia.CHINA,
    "hi": asia.INDIA,
    "bn": asia.BANGLADESH,
    "ar": asia.SAUDI_ARABIA,
}
"""What numbers a locale has."""
