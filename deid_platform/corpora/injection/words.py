"""Words of the languages that carriers are written in: months, titles, relatives, degrees, specialties, pronouns.

Belongs here: what a slot or an anchor needs to speak a language. Does not belong here: names and places of a locale
(`surrogates/locales`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from deid_platform.lexicon.month_names import month_words

LANGUAGES = ("en", "es", "it", "fr")
"""Languages that ways are written in."""


@cache
def months(language: str, *, short: bool) -> tuple[str, ...]:
    """The twelve months; without the full stop of an abbreviation."""
    return month_words(language, short=short)


TITLES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "en": {"F": ("Ms.", "Mrs."), "M": ("Mr.",)},
    "es": {"F": ("Sra.", "Dña."), "M": ("Sr.", "D.")},
    "it": {"F": ("Sig.ra", "sig.ra"), "M": ("Sig.", "sig.")},
    "fr": {"F": ("Mme",), "M": ("M.",)},
}
KIN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "en": {
        "F": ("daughter", "wife", "sister", "mother", "niece", "granddaughter", "aunt", "cousin"),
        "M": ("son", "husband", "brother", "father", "nephew", "grandson", "uncle", "cousin"),
    },
    "es": {
        "F": ("hija", "esposa", "hermana", "madre", "sobrina", "nieta", "tía", "prima"),
        "M": ("hijo", "esposo", "hermano", "padre", "sobrino", "nieto", "tío", "primo"),
    },
    "it": {
        "F": ("figlia", "moglie", "sorella", "madre", "nipote", "zia", "cugina", "nuora"),
        "M": ("figlio", "marito", "fratello", "padre", "nipote", "zio", "cugino", "genero"),
    },
    "fr": {
        "F": ("fille", "épouse", "sœur", "mère", "nièce", "tante", "cousine", "belle-fille"),
        "M": ("fils", "mari", "frère", "père", "neveu", "oncle", "cousin", "gendre"),
    },
}
DEGREES: Mapping[str, tuple[str, ...]] = {
    "en": ("MD", "DO", "MD, PhD", "MBBS"), "es": ("MD", "MIR", "FEA"), "it": ("MD", "PhD"), "fr": ("MD", "PH", "PU-PH")
}  # fmt: skip
NURSE_DEGREES: Mapping[str, tuple[str, ...]] = {
    "en": ("RN", "LPN", "BSN, RN", "NP"), "es": ("DUE", "enf."), "it": ("inf.",), "fr": ("IDE", "IBODE")
}  # fmt: skip
SPECIALTIES: Mapping[str, tuple[str, ...]] = {
    "en": ("cardiology", "family medicine", "general surgery", "nephrology", "neurology", "oncology", "orthopedics",
           "internal medicine", "pediatrics", "psychiatry", "pulmonology", "rheumatology", "urology"),
    "es": ("cardiología", "cirugía general", "medicina interna", "nefrología", "neurología", "oncología",
           "pediatría", "psiquiatría", "reumatología", "traumatología", "urología"),
    "it": ("cardiologia", "chirurgia generale", "medicina interna", "nefrologia", "neurologia", "oncologia",
           "ortopedia", "pediatria", "psichiatria", "reumatologia", "urologia"),
    "fr": ("cardiologie", "chirurgie viscérale", "médecine interne", "néphrologie", "neurologie", "oncologie",
           "pédiatrie", "psychiatrie", "rhumatologie", "orthopédie", "urologie"),
}  # fmt: skip
PRONOUNS: Mapping[str, Mapping[str, str]] = {
    "F": {"he": "she", "He": "She", "his": "her", "His": "Her", "him": "her"},
    "M": {"he": "he", "He": "He", "his": "his", "His": "His", "him": "him"},
}
