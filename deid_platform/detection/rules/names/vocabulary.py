"""Names by vocabulary: capitalised words of which the shipped lists have at least one as a name.

Belongs here: the one pass over a text's capitalised words, and where a name among them ends. Does not belong here:
the class of each word (`lexicon/classes.py`), which two make a name (`pairs.py`), eponyms (`eponyms.py`), verbs of
persons (`person_subject.py`), names that their context shows (`en/people.yaml`), names found elsewhere in the note
(`resolve/propagate/names.py`).

The result depends only on the line of the words and the first word of the next line.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from deid_platform.detection.api import Candidate, Source, SourceKind
from deid_platform.detection.context.names import about_a_person
from deid_platform.detection.rules.names.context_names import context_name
from deid_platform.detection.rules.names.eponyms import (
    is_eponym_s_name,
    is_in_an_eponym,
    names_a_thing,
    names_surely_a_thing,
)
from deid_platform.detection.rules.names.pairs import is_nobody_else, is_pair, is_place, is_reversed_pair, is_somebody
from deid_platform.detection.rules.names.person_subject import is_person_subject
from deid_platform.labels import Label
from deid_platform.lexicon.classes import (
    POSSESSIVE,
    WordClass,
    bears_a_name,
    ends_as_a_word,
    is_clinics_word,
    is_unknown,
    word_class,
)
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term
from deid_platform.text.names import PARTICLES

SOURCE = Source(SourceKind.RULES, "given-name")
PAIR_SOURCE = Source(SourceKind.RULES, "listed-name")
_CAPITALISED = regex.compile(r"(?<![\p{L}\p{M}\p{N}'’])\p{Lu}[\p{L}\p{M}]*(?:['’‐‑\-]\p{L}[\p{L}\p{M}]+)*+(?![\p{N}])")
# Between the words of one name: a space, the full stop of an initial, a particle, a nickname in quotes.
_BETWEEN = regex.compile(
    r"\.?[ \t]{1,2}(?:(?:de|del|della|la|las|los|van|von|der|den|ter|bin|ibn|al|el|da|di|dos|du|y)[ \t]){0,2}"
    r"(?:[(\"“'‘]\p{L}{2,15}[)\"”'’][ \t])?"
)
_COMMA = regex.compile(r"[ \t]?,[ \t]{0,2}")
_SUFFIX = regex.compile(r",?[ \t](?:Jr|Sr|JR|SR|II|III)\b\.?")
# After a name at the start of a line: a record number, a date of birth.
_NUMBER_NEXT = regex.compile(r"[ \t]{1,20}[(|#]?[ \t]?(?:\d{5,12}\b|\d{1,2}/\d{1,2}/\d{2,4}|(?:MRN|DOB|M\.?R\.? ?#)\b)")
# Behind the initial of a name that is cut short: "Jack T., seen at", "Frank G. residing in".
_INITIAL_ENDS = regex.compile(r"\.(?=[,)]|['’]s|[ ](?:who|residing|living|seen|treated|admitted|presents)\b)")
# Words of these lists are lettered themselves ("Ward B., seen at").
_THINGS = ("ward_words", "clinical_words", "title_stopwords", "months", "services")
_SHORTEST_GIVEN = 4
_LONGEST_ABBREVIATION = 5
_LISTED = WordClass.GIVEN | WordClass.SURNAME
_ORDINARY = WordClass.ORDINARY | WordClass.CLINICAL
_MAY_FOLLOW = _LISTED | WordClass.LONE


def vocabulary_names(text: str, start: int = 0, end: int | None = None) -> Iterator[Candidate]:
    """Listed names: a given name with a surname, or a given name alone that has no other meaning.

    Args:
        text: The note.
        start: Where to begin.
        end: Where to stop; the end of the text unless told.

    Yields:
        Spans labelled PATIENT, since nothing says whose name it is.
    """
    words = list(_CAPITALISED.finditer(text, start, len(text) if end is None else end))
    kinds = [word_class(m[0]) for m in words]
    kinds.append(0)  # of what follows the last
    count = len(words)
    position = 0
    while position < count:
        used = 1
        # Most words are neither in a list nor before one that is, and are passed over without a call.
        known = kinds[position] & _LISTED or (
            position + 1 < count and kinds[position + 1] & _MAY_FOLLOW and _may_precede(words, kinds, position)
        )
        found = None
        if known or text.startswith(".", words[position].start() + 1):
            found = _name_at(text, words, kinds, position)
        if found is None and (
            not kinds[position] & _ORDINARY
            or kinds[position] & WordClass.ARTICLE
            or kinds[position + 1] & WordClass.SETTLEMENT
        ):
            found = context_name(text, words, kinds, position)
        if found is not None:
            span, used = found
            if span is not None:
                yield span
        position += used


def _may_precede(words: list[regex.Match[str]], kinds: list[int], i: int) -> bool:
    """Whether a word on no list of names stands before a surname or a given name."""
    if words[i + 1].start() - words[i].end() > 3:
        return False
    if kinds[i] & WordClass.SENSES == WordClass.ORDINARY:  # a surname all the same, if it stands in "Rash, Derrick"
        return bool(kinds[i + 1] & WordClass.LONE) and words[i].string.startswith(",", words[i].end())
    if kinds[i]:
        return False
    if ends_as_a_word(words[i][0]):
        return False
    return bool(kinds[i + 1] & _LISTED)


def _name_at(text: str, words: list[regex.Match[str]], kinds: list[int], i: int) -> tuple[Candidate | None, int] | None:
    """The name that begins at a word, with the number of words that it takes; None if there is none.

    An eponym that looks like a full name takes its words and is no name, lest one of them be taken for one.
    """
    first, kind = words[i], kinds[i]
    if len(first[0]) == 1:
        return _initial_name(text, words, kinds, i)
    chain = _chain(text, words, i)
    if len(chain) > 1:
        eponym = _last_of_eponym(words, chain)
        if eponym is not None and not is_somebody(text, words, kinds, i, eponym):
            return None, eponym - i + 1
        last = _last_of_full_name(text, words, kinds, chain)
        if eponym is not None:
            last = max(eponym, last or 0)
        if last is not None:
            return _span(text, first, words[last], PAIR_SOURCE, 0.7), last - i + 1
    last = _after_comma(text, words, kinds, i)
    if last is not None:
        return _span(text, first, words[last], PAIR_SOURCE, 0.7), last - i + 1
    if len(chain) == 2 and is_person_subject(text, first.start(), words[i + 1].end()) and is_pair(words, kinds, i):
        return _span(text, first, words[i + 1], PAIR_SOURCE, 0.7), 2
    if (
        kind & WordClass.LONE
        and not kind & (WordClass.ORDINARY | WordClass.CLINICAL)
        and _stands_alone(text, words, kinds, i)
    ):
        last = i + 1 if len(chain) == 2 and _is_trailing_initial(text, words[i + 1]) else i
        return _span(text, first, words[last], SOURCE, 0.6), last - i + 1
    if (
        len(chain) == 2
        and kind & WordClass.GIVEN
        and not kind & WordClass.CLINICAL
        and _ends_in_initial(text, first, words[i + 1])
    ):
        return _span(text, first, words[i + 1], SOURCE, 0.6), 2
    if kind & WordClass.GIVEN and _is_about_somebody(text, first):
        return _span(text, first, first, SOURCE, 0.6), 1
    return None


def _chain(text: str, words: list[regex.Match[str]], i: int) -> list[int]:
    """The indices of capitalised words that follow one another as the words of one name do, at most five."""
    chain = [i]
    caps = _all_caps(words[i][0])
    while len(chain) < 5 and chain[-1] + 1 < len(words):
        here, following = words[chain[-1]], words[chain[-1] + 1]
        if here[0].endswith(("'s", "’s")) or not _BETWEEN.fullmatch(text, here.end(), following.start()):
            break
        dotted = text[here.end() : here.end() + 1] == "."
        if (dotted and len(here[0]) > 1 and here[0] not in {"St", "ST"}) or (
            len(following[0]) > 1 and _all_caps(following[0]) != caps
        ):
            break
        chain.append(chain[-1] + 1)
    return chain


def _last_of_eponym(words: list[regex.Match[str]], chain: list[int]) -> int | None:
    """The index of the last word of an eponym that looks like a full name and begins with the chain's first word."""
    names = fold_term(words[chain[0]][0])
    last = None
    for index in chain[1:3]:
        names += " " + fold_term(POSSESSIVE.sub("", words[index][0]))
        if is_eponym_s_name(names):
            last = index
    return last


def _last_of_full_name(text: str, words: list[regex.Match[str]], kinds: list[int], chain: list[int]) -> int | None:
    """The index of the surname of a full name whose first word is the chain's first."""
    first = kinds[chain[0]]
    caps = _all_caps(words[chain[0]][0])
    last = None
    for index in chain[1:]:
        kind, word = kinds[index], words[index][0]
        if len(word) == 1 or word.lower() in PARTICLES:
            continue
        eponym = bool(first & WordClass.GIVEN) and is_in_an_eponym(words[chain[0]][0], word)
        if bears_a_name(word.lower()) or (kind & WordClass.CLINICAL and not (kind & WordClass.SURNAME or eponym)):
            break
        known = bool(kind & (WordClass.SURNAME | WordClass.GIVEN)) or eponym
        plain = bool(kind & WordClass.ORDINARY)
        if plain and not (kind & WordClass.SURNAME and first & WordClass.LONE and not caps):
            break
        if first & WordClass.CLINICAL:  # "Kelly clamp", "Vincent Osei"
            fits = (
                bool(first & WordClass.GIVEN and kind & (WordClass.SURNAME | WordClass.GIVEN))
                and not kind & WordClass.CLINICAL
            )
        elif first & WordClass.ORDINARY:
            fits = bool(first & WordClass.GIVEN) and (bool(kind & WordClass.SURNAME) or eponym)
        elif first & WordClass.GIVEN:
            fits = (
                known or bool(first & WordClass.LONE) or not (caps or first & (WordClass.SURNAME | WordClass.CLINICAL))
            )
        elif first & WordClass.SURNAME:
            fits = bool(kind & WordClass.GIVEN) or (known and not caps)
        else:
            fits = bool(kind & WordClass.SURNAME) and not caps and len(words[chain[0]][0]) > 2 < len(word)
        if not fits and last is None:
            break
        if not known and last is not None:
            break
        last = index
    if last is None or words[chain[0]][0] == words[last][0] or is_place(words, chain[0], last):
        return None
    end = words[last].end()
    if names_a_thing(text, end) and (names_surely_a_thing(text, end) or not is_nobody_else(first, kinds[last])):
        return None
    return last


def _after_comma(text: str, words: list[regex.Match[str]], kinds: list[int], i: int) -> int | None:
    """The index of the last word of "Surname, Given M"."""
    if i + 1 >= len(words) or not _COMMA.fullmatch(text, words[i].end(), words[i + 1].start()):
        return None
    given = kinds[i + 1]
    if _all_caps(words[i][0]) != _all_caps(words[i + 1][0]) or len(words[i + 1][0]) == 1:
        return None
    if is_reversed_pair(words, kinds, i) and is_person_subject(text, words[i].start(), words[i + 1].end()):
        return i + 1
    if kinds[i] & (WordClass.ORDINARY | WordClass.SURNAME) == WordClass.ORDINARY or not given & WordClass.GIVEN:
        return None
    last = i + 1
    initial = (
        i + 2 < len(words) and len(words[i + 2][0]) == 1 and text[words[i + 1].end() : words[i + 2].start()] == " "
    )
    if initial:
        last = i + 2
    alone_on_line = _begins_line(text, words[i].start())
    if alone_on_line and _NUMBER_NEXT.match(text, words[last].end()):
        return last
    if kinds[i] & (WordClass.CLINICAL | WordClass.SURNAME) == WordClass.CLINICAL:
        return None
    sure = bool(given & WordClass.LONE) and bool(kinds[i] & WordClass.SURNAME) and not is_clinics_word(words[i][0])
    unsure = bool(kinds[i] & WordClass.ORDINARY) or bool(given & WordClass.ORDINARY)
    if (
        (initial and not (kinds[i] & WordClass.ORDINARY and given & WordClass.ORDINARY))
        or (alone_on_line and not unsure)
        or sure
    ):
        return None if is_place(words, i, i + 1) else last
    return None


def _initial_name(text: str, words: list[regex.Match[str]], kinds: list[int], i: int) -> tuple[Candidate, int] | None:
    """ "J. Okonkwo", "J. R. Smith": initials with full stops before a listed surname.

    Of someone who acts, the surname may be a common word as well, or one that no list knows.
    """
    chain = _chain(text, words, i)
    for index in chain[1:]:
        if text[words[index - 1].end() : words[index - 1].end() + 1] != ".":
            return None
        if len(words[index][0]) > 1:
            kind = kinds[index]
            surname = bool(kind & WordClass.SURNAME) and not kind & (WordClass.ORDINARY | WordClass.CLINICAL)
            may_be = kind & (WordClass.SURNAME | WordClass.CLINICAL) == WordClass.SURNAME or is_unknown(
                words[index][0], kind
            )
            if may_be and not surname and not is_clinics_word(words[index][0]):
                surname = is_person_subject(text, words[i].start(), words[index].end())
            if not surname or len(words[index][0]) < 3 or names_a_thing(text, words[index].end()):
                return None
            return _span(text, words[i], words[index], PAIR_SOURCE, 0.7), index - i + 1
    return None


def _stands_alone(text: str, words: list[regex.Match[str]], kinds: list[int], i: int) -> bool:
    """Whether a given name alone is one: no part of a place's or thing's name, and no abbreviation."""
    word = words[i]
    if _all_caps(word[0]) and len(word[0]) <= _LONGEST_ABBREVIATION:
        return False
    if names_a_thing(text, word.end()) or text[word.end() : word.end() + 1] in "-/&®™":
        return False
    if i and text[words[i - 1].end() : word.start()] == " " and len(words[i - 1][0]) > 1:
        before = words[i - 1][0]
        return before.lower() not in {"san", "santa", "saint", "port", "fort", "lake", "mount", "new"} and not (
            kinds[i - 1] & WordClass.CLINICAL
        )
    return True


def _is_about_somebody(text: str, word: regex.Match[str]) -> bool:
    """Whether a given name that may be an abbreviation or a word as well is said to do what only people do."""
    start, end = word.span()
    end -= 2 * word[0].endswith(("'s", "’s", "'S", "’S"))
    return about_a_person(text, start, end)


def _is_trailing_initial(text: str, word: regex.Match[str]) -> bool:
    return len(word[0]) == 1 and text[word.end() : word.end() + 1] in {".", ",", ";", ":", ")", "\r", "\n", ""}


def _ends_in_initial(text: str, given: regex.Match[str], initial: regex.Match[str]) -> bool:
    """Whether a given name that is also a word stands before an initial as a name does: "Jack T., seen at"."""
    word = given[0]
    listed = any(word.lower() in word_list(name) for name in _THINGS)
    if listed or len(word) < _SHORTEST_GIVEN or len(initial[0]) > 1 or word.isupper():
        return False
    return _INITIAL_ENDS.match(text, initial.end()) is not None


def _begins_line(text: str, start: int) -> bool:
    while start and text[start - 1] in " \t|>•*-":
        start -= 1
    return start == 0 or text[start - 1] in "\r\n"


def _all_caps(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _span(text: str, first: regex.Match[str], last: regex.Match[str], source: Source, score: float) -> Candidate:
    surface = last[0]
    end = last.end() - (len(surface) - len(POSSESSIVE.sub("", surface)))
    suffix = _SUFFIX.match(text, end) if end == last.end() and first is not last else None
    return Candidate.by_rule(first.start(), suffix.end() if suffix else end, Label.PATIENT, score, source)
