"""Names on no list, by what the sentence says of the person: "At this point Qadirov is stable".

Belongs here: one or two capitalised words of running text, or initials, with a person's verb, and a word after an
initial. Does not belong here: names with a listed word (`vocabulary.py`), or with a title, a label or a role beside
them (`en/people.yaml`, `en/care_team.yaml`).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from deid_platform.detection.api import Candidate, Source, SourceKind
from deid_platform.detection.context.names import speaks
from deid_platform.detection.rules.names.eponyms import names_a_thing
from deid_platform.detection.rules.names.person_subject import is_person_subject
from deid_platform.labels import Label
from deid_platform.lexicon.classes import WordClass, ends_as_a_word, is_clinics_word, word_class
from deid_platform.text.fold import fold_term
from deid_platform.text.lookbehind import Lookbehind

_SOURCE = Source(SourceKind.RULES, "unlisted-name")
_SCORE = 0.65
_REACH = 24
_WORD = r"\p{Lu}(?:\p{Ll}[\p{L}\p{M}]++|['’]\p{Lu}\p{Ll}++)(?:[-‐–]\p{Lu}\p{Ll}++)?"
# Only before what may be a verb in small letters, since most capitals begin a sentence or a heading.
_BEFORE_VERB = regex.compile(
    rf"(?<![\p{{L}}\p{{M}}\p{{N}}'’.\-/&])(?P<name>{_WORD}(?:[ ](?:\p{{Lu}}\.[ ])?{_WORD})?)"
    r"(?=['’]s[ \t]+\p{Ll}|[ \t\r\n]{1,2}\p{Ll}{2,})"
)
# What a thing has before it, and a person has not; "at this point" and "the patient" go with persons.
_DETERMINED = Lookbehind(
    r"\b(?:the|an?|this|that|these|those|her|his|our|their|its|your|my|no|any|each|every|some|of|new|old|with|by|on|per)"
    r"[ \t\r\n]{1,2}(?:(?!(?:point|time|moment|stage|visit|morning|evening|afternoon|night|day|week|month|year|date"
    r"|patient|pt|child|infant|baby|boy|girl|m[ae]n|wom[ae]n|gentleman|lady|resident|client|mother|father|parents?|sister"
    r"|brother|sibling|twin|son|daughter|wife|husband|partner|friend|neighbou?r|aunt|uncle|niece|nephew|cousin)\b)"
    r"\p{Ll}+[ \t])?\n?",
    _REACH,
)
# What is done to things as well.
_DONE = regex.compile(
    r"[ \t\r\n]{1,3}(?:called[ ](?:in|to)"
    r"|(?:is|was)[ ](?:(?:now|then|also|again)[ ])?(?:positioned|placed|taken|started|prepped))\b"
)
# "B. Pickelhaub" within a sentence: at the start of a line it numbers a list.
_INITIALED = regex.compile(
    r"(?:(?<=[\p{Ll}\p{N}])[,;]?[ ]|[(&/])"
    rf"(?P<name>\p{{Lu}}\.[ ]?(?:\p{{Lu}}\.[ ]?)?(?P<surname>{_WORD}))(?![\p{{L}}\p{{N}}])"
)
_DOTTED = regex.compile(r"(?<![\p{L}\p{N}.])(?P<name>(?:\p{Lu}\.[ ]?){2,3})(?=[ ]\p{Ll})")
_NOBODY = ("U.S.", "U. S.", "U.K.", "D.C.", "E.R.", "O.R.", "I.V.", "P.O.", "E.D.", "C.T.")
# Species, which are written after the initial of their genus.
_SPECIES = frozenset(
    """
    acnes aeruginosa agalactiae albicans anthracis aureus baumannii bovis burgdorferi canis capitis catarrhalis cepacia
    cereus cloacae coli diff difficile enterica enterocolitica epidermidis faecalis faecium flexneri fragilis freundii
    fumigatus gattii glabrata gonorrhoeae hominis influenzae jejuni jirovecii kansasii krusei leprae lugdunensis
    maltophilia marcescens meningitidis mirabilis monocytogenes neoformans oxytoca parapsilosis perfringens pertussis
    pneumonia pneumoniae pneumophila pylori pyogenes saprophyticus sonnei tetani tropicalis tuberculosis typhi viridans
    vulgaris
    """.split()  # noqa: SIM905 - a list literal would take fifty lines
)


def unlisted_names(text: str) -> Iterator[Candidate]:
    """Names of running text that are on no list, or that are surnames alone.

    Yields:
        Spans labelled PATIENT, since nothing says whose name it is.
    """
    for start, end in (*_acting(text), *_initialed(text), *_dotted(text)):
        yield Candidate.by_rule(start, end, Label.PATIENT, _SCORE, _SOURCE)


def _acting(text: str) -> Iterator[tuple[int, int]]:
    for match in _BEFORE_VERB.finditer(text):
        name = match["name"]
        if not _may_name(name.rpartition(" ")[2]):  # as of most words that stand before a verb
            continue
        start, end = match.span("name")
        words = [word for word in name.split() if not word.endswith(".")]
        # "When Chayotl", "Unfortunately Tzabeth", but not "Patient Advocate".
        while len(words) > 1 and not _may_name(words[0]) and not is_clinics_word(words[0]):
            start = text.index(words[1], start + len(words.pop(0)))
        if not all(map(_may_name, words)) or _DETERMINED(text, start):
            continue
        done = _DONE.match(text, end) or any(map(ends_as_a_word, words))
        if speaks(text, end) or (is_person_subject(text, start, end) and not done):
            yield start, end


def _initialed(text: str) -> Iterator[tuple[int, int]]:
    for match in _INITIALED.finditer(text):
        surname = match["surname"]
        if fold_term(surname) not in _SPECIES and _may_name(surname) and not names_a_thing(text, match.end()):
            yield match.span("name")


def _dotted(text: str) -> Iterator[tuple[int, int]]:
    for match in _DOTTED.finditer(text):
        if match["name"] not in _NOBODY and speaks(text, match.end("name")):
            yield match.span("name")


def _may_name(word: str) -> bool:
    return not word_class(word) & (WordClass.ORDINARY | WordClass.CLINICAL)
