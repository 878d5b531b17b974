"""Names by vocabulary: capitalised words of which the shipped lists know at least one as a name.

Belongs here: the one pass over a text's capitalised words, and what kind of word each is. Does not belong
here: names that their surroundings give away (`data/people.yaml`), what persons do (`acting.py`), names found
elsewhere in the note (`mentions.py`).

A verdict depends on nothing but the line that the words stand on and the first word of the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import regex

from deid_platform.detection.detector import word_list
from deid_platform.detection.naming import PARTICLES, is_common
from deid_platform.detection.patterns.acting import acts
from deid_platform.detection.reading import fold_term
from deid_platform.labels import Label
from deid_platform.notes import Span

SOURCE = "patterns:given-name"
PAIR_SOURCE = "patterns:listed-name"
_CAPITALISED = regex.compile(r"(?<![\p{L}\p{M}\p{N}'’])\p{Lu}[\p{L}\p{M}]*(?:['’‐‑\-]\p{L}[\p{L}\p{M}]+)*+(?![\p{N}])")
# Between the words of one name: a space, the full stop of an initial, a particle, a nickname in quotes.
_BETWEEN = regex.compile(
    r"\.?[ \t]{1,2}(?:(?:de|del|della|la|las|los|van|von|der|den|ter|bin|ibn|al|el|da|di|dos|du|y)[ \t]){0,2}"
    r"(?:[(\"“'‘]\p{L}{2,15}[)\"”'’][ \t])?"
)
_COMMA = regex.compile(r"[ \t]?,[ \t]{0,2}")
_POSSESSIVE = regex.compile(r"['’][sS]?$")
_SUFFIX = regex.compile(r",?[ \t](?:Jr|Sr|JR|SR|II|III)\b\.?")
_AFTER = regex.compile(r"['’]?s?[ \t]+(?P<noun>\p{L}+)")
# After a name at the start of a line: a record number, a date of birth.
_NUMBER_NEXT = regex.compile(r"[ \t]{1,20}[(|#]?[ \t]?(?:\d{5,12}\b|\d{1,2}/\d{1,2}/\d{2,4}|(?:MRN|DOB|M\.?R\.? ?#)\b)")
_INSIDE_SENTENCE = regex.compile(r"(?<=\p{Ll}[ \t]{1,2})")
_LONGEST_ABBREVIATION = 5
# Endings of English and medical words; a word that no list knows and that ends so is hardly a given name.
_WORD_ENDING = regex.compile(
    r".*(?:ly|ing|ings|ed|tion|tions|sion|ment|ments|ness|ous|ive|able|ible|ity|ities|ism|ists?|ful|less|ship|ance"
    r"|ence|ies|ical|ial|ology|ologist|itis|osis|emia|ectomy|otomy|ostomy|oma|pathy|scopy|scopic|gram|grams|graphy|plasty"
    r"|mycin|cillin|olol|pril|sartan|statin|azole|idine|amine|ide|oxin|mab|nib|zepam|zolam|cycline|floxacin|ase|ic|ics"
    r"|tic|al|ar|ary|ory|ular|oid|ward|wards|where|night|self|selves|thing|body|day|time)"
)


class Kind:
    """What the lists know of a word, as bits (plain integers: an enum's flags take most of the pass's time)."""

    GIVEN = 1
    LONE = 2
    SURNAME = 4
    ORDINARY = 8
    CLINICAL = 16


@lru_cache(maxsize=65536)
def kind_of(word: str) -> int:
    """The kinds of a capitalised word, possessive or not; hyphenated ones by their parts as well."""
    folded = fold_term(_POSSESSIVE.sub("", word)).strip(".'-")
    kind = 0
    parts = [folded, *(folded.split("-") if "-" in folded else ())]
    if any(p in word_list("given_names") for p in parts[:2]):
        kind |= Kind.GIVEN
    if folded in word_list("lone_given_names"):
        kind |= Kind.LONE
    if folded in word_list("surnames") or (len(parts) > 2 and all(p in word_list("surnames") for p in parts[1:])):
        kind |= Kind.SURNAME
    if is_ordinary(folded) or (len(parts) > 2 and any(is_ordinary(p) for p in parts[1:])):
        kind |= Kind.ORDINARY
    if folded in _clinical_words():
        kind |= Kind.CLINICAL
    return kind


def is_ordinary(folded: str) -> bool:
    """Whether a folded word is one of common English, of clinics, or one that never begins a name."""
    lists = ("ordinary_words", "title_stopwords", "generic_institution_words")
    return is_common(folded) or any(folded in word_list(name) for name in lists)


def names_a_thing(text: str, end: int) -> bool:
    """Whether the word after a name makes it an eponym: a sign, a test, an instrument."""
    following = _AFTER.match(text, end)
    return following is not None and following["noun"].lower() in word_list("eponym_nouns")


def vocabulary_names(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Names that the lists know: with a surname beside the given name, or given names alone that are nothing else.

    Args:
        text: The note.
        start: Where to begin.
        end: Where to stop; the end of the text unless told.

    Yields:
        Spans labelled PATIENT, since nothing says whose name it is.
    """
    words = list(_CAPITALISED.finditer(text, start, len(text) if end is None else end))
    kinds = [kind_of(m[0]) for m in words]
    position = 0
    while position < len(words):
        used = 1
        known = kinds[position] & (Kind.GIVEN | Kind.SURNAME) or _may_precede(words, kinds, position)
        if known or text.startswith(".", words[position].start() + 1):
            found = _name_at(text, words, kinds, position)
            if found is not None:
                span, used = found
                yield span
        position += used


@lru_cache(maxsize=1)
def _clinical_words() -> frozenset[str]:
    """Single words of the shipped clinical lists: eponyms, drugs, devices, scores, and whatever else is clinical."""
    lists = ("eponyms", "drugs", "devices", "tests_and_scores", "clinical_names")
    return frozenset(word for name in lists for term in word_list(name) for word in term.split()[:1] if " " not in term)


def _may_precede(words: list[regex.Match[str]], kinds: list[int], i: int) -> bool:
    """Whether a word that is in no list of names stands before one that is a surname or a given name."""
    if i + 1 >= len(words) or words[i + 1].start() - words[i].end() > 3:
        return False
    if kinds[i] == Kind.ORDINARY:  # a surname all the same, if it stands in "Rash, Derrick"
        return bool(kinds[i + 1] & Kind.LONE) and words[i].string.startswith(",", words[i].end())
    if kinds[i]:
        return False
    if _WORD_ENDING.fullmatch(words[i][0].lower()):
        return False
    return bool(kinds[i + 1] & (Kind.SURNAME | Kind.GIVEN))


def _name_at(text: str, words: list[regex.Match[str]], kinds: list[int], i: int) -> tuple[Span, int] | None:
    """The name that begins at a word, with the number of words that it takes; None if there is none."""
    first, kind = words[i], kinds[i]
    if len(first[0]) == 1:
        return _initial_name(text, words, kinds, i)
    chain = _chain(text, words, i)
    if len(chain) > 1 and not kind & Kind.CLINICAL:
        last = _last_of_full_name(text, words, kinds, chain)
        if last is not None:
            return _span(text, first, words[last], PAIR_SOURCE, 0.7), last - i + 1
    last = _after_comma(text, words, kinds, i)
    if last is not None:
        return _span(text, first, words[last], PAIR_SOURCE, 0.7), last - i + 1
    if len(chain) == 2 and acts(text, first.start(), words[i + 1].end()) and _is_pair(words, kinds, i):
        return _span(text, first, words[i + 1], PAIR_SOURCE, 0.7), 2
    if kind & Kind.LONE and not kind & (Kind.ORDINARY | Kind.CLINICAL) and _stands_alone(text, words, kinds, i):
        last = i + 1 if len(chain) == 2 and _is_trailing_initial(text, words[i + 1]) else i
        return _span(text, first, words[last], SOURCE, 0.6), last - i + 1
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


def _last_of_full_name(text: str, words: list[regex.Match[str]], kinds: list[int], chain: list[int]) -> int | None:
    """The index of the surname of a full name whose first word is the chain's first."""
    first = kinds[chain[0]]
    caps = _all_caps(words[chain[0]][0])
    last = None
    for index in chain[1:]:
        kind, word = kinds[index], words[index][0]
        if len(word) == 1 or word.lower() in PARTICLES:
            continue
        eponym = bool(first & Kind.GIVEN) and _names_an_eponym(words[chain[0]][0], word)
        if word.lower() in word_list("eponym_nouns") or (kind & Kind.CLINICAL and not (kind & Kind.SURNAME or eponym)):
            break
        known = bool(kind & (Kind.SURNAME | Kind.GIVEN)) or eponym
        plain = bool(kind & Kind.ORDINARY)
        if plain and not (kind & Kind.SURNAME and first & Kind.LONE and not caps):
            break
        if first & Kind.ORDINARY:
            fits = bool(first & Kind.GIVEN) and (bool(kind & Kind.SURNAME) or eponym)
        elif first & Kind.GIVEN:
            fits = known or bool(first & Kind.LONE) or not (caps or first & (Kind.SURNAME | Kind.CLINICAL))
        elif first & Kind.SURNAME:
            fits = bool(kind & Kind.GIVEN) or (known and not caps)
        else:
            fits = bool(kind & Kind.SURNAME) and not caps and len(words[chain[0]][0]) > 2 < len(word)
        if not fits and last is None:
            break
        if not known and last is not None:
            break
        last = index
    if last is None or words[chain[0]][0] == words[last][0] or names_a_thing(text, words[last].end()):
        return None
    if _is_place(words, chain[0], last) or _is_eponym(words, chain[0], last):
        return None
    return last


def _is_pair(words: list[regex.Match[str]], kinds: list[int], i: int) -> bool:
    """Whether two words that act as a person does are given name and surname, one of them perhaps a common word."""
    first, second = kinds[i], kinds[i + 1]
    if (first | second) & Kind.CLINICAL or _is_place(words, i, i + 1):
        return False
    if not first & Kind.GIVEN:
        return bool(second & Kind.SURNAME) and _is_unknown(words[i][0], first) and not second & Kind.ORDINARY
    if _is_unknown(words[i + 1][0], second):
        return True
    if first & Kind.ORDINARY or second & Kind.SURNAME:
        return bool(second & Kind.SURNAME) and not _is_clinics_word(words[i + 1][0])
    return bool(first & Kind.LONE) and not _is_institutions_word(words[i + 1][0])


def _is_reversed_pair(words: list[regex.Match[str]], kinds: list[int], i: int) -> bool:
    """As `_is_pair`, of two words with a comma between them."""
    surname, given = kinds[i], kinds[i + 1]
    if (surname | given) & Kind.CLINICAL or _is_place(words, i, i + 1):
        return False
    if not surname & Kind.SURNAME and fold_term(words[i][0]) in word_list("cities"):
        return False  # "In Boston, April was seen"
    if not given & Kind.GIVEN:
        listed = surname & Kind.SURNAME and not surname & Kind.ORDINARY
        may_be_given = given & Kind.SURNAME and not _is_clinics_word(words[i + 1][0])
        unknown = _is_unknown(words[i][0], surname), _is_unknown(words[i + 1][0], given)
        return bool((listed and unknown[1]) or (may_be_given and unknown[0]))
    if surname & Kind.SURNAME:
        return not _is_clinics_word(words[i][0])
    if _is_unknown(words[i][0], surname):
        return True
    # "However, Mary denies": a common word counts only where no sentence begins, or in capitals.
    emphasised = _all_caps(words[i][0]) or _INSIDE_SENTENCE.match(words[i].string, words[i].start())
    return bool(given & Kind.LONE and emphasised) and not _is_institutions_word(words[i][0])


def _is_unknown(word: str, kind: int) -> bool:
    """Whether no list knows a word, and it is built like no English or medical one."""
    return not kind and len(word) > 2 and not _WORD_ENDING.fullmatch(word.lower())


def _is_clinics_word(word: str) -> bool:
    return fold_term(word) in word_list("clinical_words")


def _is_institutions_word(word: str) -> bool:
    """Whether a word stands for no person whatever precedes it: a place, a title, a thing."""
    lists = ("title_stopwords", "generic_institution_words", "ordinary_words")
    return any(fold_term(word) in word_list(name) for name in lists)


def _names_an_eponym(given: str, surname: str) -> bool:
    """Whether a word is the name in an eponym, as "Glasgow" in "Violet Glasgow", and both together are none."""
    bare = fold_term(_POSSESSIVE.sub("", surname))
    return bare in word_list("eponyms") and fold_term(f"{given} {bare}") not in word_list("eponyms")


def _after_comma(text: str, words: list[regex.Match[str]], kinds: list[int], i: int) -> int | None:
    """The index of the last word of "Surname, Given M"."""
    if i + 1 >= len(words) or not _COMMA.fullmatch(text, words[i].end(), words[i + 1].start()):
        return None
    given = kinds[i + 1]
    if _all_caps(words[i][0]) != _all_caps(words[i + 1][0]) or len(words[i + 1][0]) == 1:
        return None
    if _is_reversed_pair(words, kinds, i) and acts(text, words[i].start(), words[i + 1].end()):
        return i + 1
    if kinds[i] & (Kind.ORDINARY | Kind.SURNAME) == Kind.ORDINARY or not given & Kind.GIVEN:
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
    if kinds[i] & (Kind.CLINICAL | Kind.SURNAME) == Kind.CLINICAL:
        return None
    sure = bool(given & Kind.LONE) and bool(kinds[i] & Kind.SURNAME) and not _is_clinics_word(words[i][0])
    unsure = bool(kinds[i] & Kind.ORDINARY) or bool(given & Kind.ORDINARY)
    if (initial and not (kinds[i] & Kind.ORDINARY and given & Kind.ORDINARY)) or (alone_on_line and not unsure) or sure:
        return None if _is_place(words, i, i + 1) else last
    return None


def _initial_name(text: str, words: list[regex.Match[str]], kinds: list[int], i: int) -> tuple[Span, int] | None:
    """ "J. Okonkwo", "J. R. Smith": initials with full stops before a listed surname.

    Of someone who acts, the surname may be a common word as well, or one that no list knows.
    """
    chain = _chain(text, words, i)
    for index in chain[1:]:
        if text[words[index - 1].end() : words[index - 1].end() + 1] != ".":
            return None
        if len(words[index][0]) > 1:
            kind = kinds[index]
            surname = bool(kind & Kind.SURNAME) and not kind & (Kind.ORDINARY | Kind.CLINICAL)
            may_be = kind & (Kind.SURNAME | Kind.CLINICAL) == Kind.SURNAME or _is_unknown(words[index][0], kind)
            if may_be and not surname and not _is_clinics_word(words[index][0]):
                surname = acts(text, words[i].start(), words[index].end())
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
            kinds[i - 1] & Kind.CLINICAL
        )
    return True


def _is_trailing_initial(text: str, word: regex.Match[str]) -> bool:
    return len(word[0]) == 1 and text[word.end() : word.end() + 1] in {".", ",", ";", ":", ")", "\r", "\n", ""}


def _is_place(words: list[regex.Match[str]], first: int, last: int) -> bool:
    """Whether the words are a known city or country, or a city and the state after it."""
    folded = [fold_term(w[0]) for w in words[first : last + 1]]
    whole = " ".join(folded)
    places = word_list("cities") | word_list("countries")
    return whole in places or (folded[0] in places and folded[-1] in {"virginia", "georgia", "carolina", "dakota"})


def _is_eponym(words: list[regex.Match[str]], first: int, last: int) -> bool:
    return " ".join(fold_term(w[0]) for w in words[first : last + 1]) in word_list("eponym_persons")


def _begins_line(text: str, start: int) -> bool:
    while start and text[start - 1] in " \t|>•*-":
        start -= 1
    return start == 0 or text[start - 1] in "\r\n"


def _all_caps(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _span(text: str, first: regex.Match[str], last: regex.Match[str], source: str, score: float) -> Span:
    surface = last[0]
    end = last.end() - (len(surface) - len(_POSSESSIVE.sub("", surface)))
    suffix = _SUFFIX.match(text, end) if end == last.end() and first is not last else None
    return Span(first.start(), suffix.end() if suffix else end, Label.PATIENT, score, source)
