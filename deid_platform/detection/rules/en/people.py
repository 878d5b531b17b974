"""Validators of people's names: where a name ends, and whether it is one.

Belongs here: the validators that `people.yaml` names. Does not belong here: names of places (`addresses.py`).
"""

from __future__ import annotations

from functools import lru_cache

import regex

from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.names.clinical_words import is_a_disease, is_substance
from deid_platform.detection.rules.names.eponyms import is_eponym_s_name, stands_for_its_thing
from deid_platform.lexicon.classes import WordClass, ends_as_a_word, is_common, word_class
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term
from deid_platform.text.names import PARTICLES

NAME_TOKEN = regex.compile(r"\p{L}[\p{L}\p{M}'’.\-]*")
# Particles with which a name may begin; the others follow its first word.
_FIRST_PARTICLES = frozenset({"de", "del", "la", "van", "von", "al", "el", "bin", "ibn", "di", "da", "du", "st", "le"})
_DAY_NEXT = regex.compile(r"[ \t]+\d")
_SURE_CREDENTIAL = regex.compile(r"[ \t]*,?[ \t]*(?:MD|DO|RN|NP|PA)\b")
_CREDENTIALS = frozenset().union(*(word_list(f"credentials.{how}") for how in ("sure", "comma", "rare", "role")))
_FIELDS = frozenset({"dob", "mrn", "ssn", "sex", "age"})
_TITLE_BEFORE = regex.compile(r"(?<=(?<!\p{L})(?:Mr|Mrs|Ms|Dr|Doctor)\.?[ \t]{1,3})")
_SHORTEST_SURNAME = 3
_BEHIND_INITIAL = regex.compile(r"(?<=\G\p{Lu}\.?[ \t]{1,3})\p{L}+$")
# "Caucasian", "Cantonese-speaking", "Cree", "Ashkenazi".
ORIGIN = regex.compile(
    r"(?i:.*(?:ian|ean|can|man|ese|ish|ino|ina|ani|azi|speaking|veteran|witness|catholic|muslim|hindu|jew)s?)"
)
# Who speaks for a patient, behind a name.
_FOR_PATIENT = regex.compile(
    r"[ ,(\-–—]{1,3}(?:(?:his|her|their|the)[ ])?(?i:next[ ]of[ ]kin|nok|emergency[ ]contact|(?:legal[ ])?guardian"
    r"|health[ ]?care[ ]|(?:medical[ ])?power[ ]of|(?:hc|d|m)?poa\b|hcp\b|surrogate)"
)
_SECOND_HALF = regex.compile(r"\p{Ll}+$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def stops_a_name(folded: str) -> bool:
    """Whether a folded word is common, ordinary or a month's name: no part of a name by itself."""
    return (
        is_common(folded)
        or folded in word_list("title_stopwords")
        or (folded in word_list("ordinary_words") and not _may_be_name(folded))
        or (folded[:3] in _MONTHS and folded in word_list("months"))
    )


def _never_a_name(word: str) -> bool:
    return word in word_list("title_stopwords") or (word in word_list("clinical_words") and not _may_be_name(word))


def _name(text: str, start: int, end: int, *, trust_first: bool) -> Interval | None:
    """Narrows a run of words to the name in it: up to the first word that is no part of a name.

    A common word inside stands if it is a name as well and stands where one does: behind a comma, behind a
    given name, or before a word that is not common ("Sarah Young Ndiaye"). After a title the first word
    stands whatever it is, unless no name is ever written so ("Dr. The").
    """
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    words = [bare(token[0]) for token in tokens]
    capitals = text[start:end].isupper()
    last = None
    named = False
    for position, (token, word) in enumerate(zip(tokens, words, strict=True)):
        if len(word) <= 1:
            # An initial belongs to the name before it ("Anna S."); after a title initials are all there is ("Dr. K").
            if word and token[0][0].isupper() and (named or (trust_first and max(map(len, words)) == 1)):
                last, named = token, True
            continue
        if word in PARTICLES:
            continue
        if position == 0 and "-" in word and _is_credential(token[0]):
            return None  # "FNP-BC", which no surname looks like
        trusted = trust_first and position == 0 and not _never_a_name(word)
        foreign = position > 0 and (_is_credential(token[0]) or (not capitals and _abbreviation(token[0])))
        if foreign or (stops_a_name(word) and not trusted):
            if position == 0:
                if trust_first or word in word_list("title_stopwords"):
                    return None
                if len(tokens) > 1 and not _may_be_name(word):
                    start = tokens[1].start()  # "Later Harmon": the name begins behind it
                continue  # "Will Harmon": decided by what follows
            if foreign or not named or not _stands_as_name(text, tokens, words, position):
                break
        named = True
        last = token
    if last is None or not named:
        return None
    stop = last.end()
    surface = text[last.start() : stop]
    if surface.lower().endswith(("'s", "’s")):
        stop -= 2
    while stop > start and text[stop - 1] in ".'’-":
        stop -= 1
    return (start, stop) if stop > start else None


def _stands_as_name(text: str, tokens: list[regex.Match[str]], words: list[str], position: int) -> bool:
    """Whether a common word inside a name belongs to it."""
    if _is_initial(tokens[position - 1]):
        return position == len(tokens) - 1 or _may_be_name(words[position])
    if not _may_be_name(words[position]):
        return False
    behind_comma = "," in text[tokens[position - 1].end() : tokens[position].start()]
    following = words[position + 1] if position + 1 < len(words) else ""
    before_name = len(following) > 1 and not stops_a_name(following) and not _is_credential(tokens[position + 1][0])
    gap = text[tokens[position].end() : tokens[position + 1].start()] if following else ""
    given_before = bool(word_class(words[position - 1]) & WordClass.GIVEN)
    return behind_comma or before_name or given_before or not following or gap.startswith(("  ", "\t"))


def _is_credential(token: str) -> bool:
    """Whether a word is written as credentials are: "DO" and "FNP-BC", but not "Do" or "Ma"."""
    return token[:2].isupper() and bare(token) in _CREDENTIALS | _FIELDS


@lru_cache(maxsize=65536)
def bare(token: str) -> str:
    """A word folded, without possessive and punctuation."""
    return fold_term(token).removesuffix("'s").strip(".'-")


def _may_be_name(word: str) -> bool:
    return word in word_list("surnames") or word in word_list("given_names")


def _is_initial(token: regex.Match[str]) -> bool:
    return len(token[0].rstrip(".")) == 1


@validator
def person(text: str, start: int, end: int) -> Interval | None:
    """A name where nothing but its place says so: it needs a word that is no common one and no abbreviation."""
    place = _name(text, start, end, trust_first=False)
    if place is None or _abbreviation(text[place[0] : place[1]]) or is_a_disease(text, *place):
        return None
    if is_eponym_s_name(fold_term(text[place[0] : place[1]])) and stands_for_its_thing(text, *place):
        return None
    short = place[1] - place[0] == 2 and not _may_be_name(fold_term(text[place[0] : place[1]]))
    return None if short else place


@validator
def titled(text: str, start: int, end: int) -> Interval | None:
    """A name after a title or a label, where "Green" is a name too."""
    return _name(text, start, end, trust_first=True)


@validator
def labelled(text: str, start: int, end: int) -> Interval | None:
    """As `titled`, and a surname that is a word before a comma and a given name; a drug, a device or a test is none."""
    place = reversed_name(text, start, end) or titled(text, start, end)
    return None if place is None or is_substance(text[place[0] : place[1]]) else place


@validator
def addressed(text: str, start: int, end: int) -> Interval | None:
    """As `titled`; after a title a clinic's word is a name too, if written like one ("Mr. Rash", "Dr. Mild")."""
    place = titled(text, start, end)
    first = NAME_TOKEN.match(text, start, end)
    if (
        place is not None
        or first is None
        or first[0].removesuffix("'S").isupper()
        or not _TITLE_BEFORE.match(text, start)
    ):
        return place
    name = bare(first[0])
    if len(name) < _SHORTEST_SURNAME or name in word_list("title_stopwords"):
        return None
    if text.startswith(":", first.end()):
        return None  # a label, and the title a street's "Drive": "12 Linden Dr. Home: ..."
    return start, start + len(first[0].removesuffix("'s").removesuffix("’s").rstrip(".'-"))


@validator
def torn(text: str, start: int, end: int) -> Interval | None:
    """A surname that the end of a line or a scanner tore in two: its second half is no word, nor a verb's form."""
    first, second = NAME_TOKEN.match(text, start, end), _SECOND_HALF.search(text, start, end)
    if first is None or second is None:
        return None
    half = second[0]
    if word_class(half) & ~(WordClass.GIVEN | WordClass.SURNAME) or is_common(half) or half in PARTICLES:
        return None
    # Without a hyphen what follows a whole name is rather a rare verb.
    hyphenated = first[0].endswith("-")
    verb = ends_as_a_word(half) or half.endswith("s")
    return (start, end) if hyphenated or not (verb or _may_be_name(bare(first[0]))) else None


@validator
def titled_last_first(text: str, start: int, end: int) -> Interval | None:
    """As `addressed`; what follows a comma belongs to the name only if it is a listed given name.

    An initial is all of a name before a drug or a test: "Dr. A. Metoprolol was held."
    """
    place = addressed(text, start, _before_doubtful_comma(text, start, end))
    behind = None if place is None else _BEHIND_INITIAL.search(text, *place)
    if place is None or behind is None or not is_substance(behind[0]):
        return place
    return place[0], place[0] + 1


@validator
def listed(text: str, start: int, end: int) -> Interval | None:
    """A name of which the shipped lists know a word that is nothing else, in whatever case."""
    place = person(text, start, end)
    if place is None:
        return None
    kinds = [word_class(t) for t in NAME_TOKEN.findall(text, *place)]
    return place if any(_is_listed(kind) for kind in kinds) else None


@validator
def listed_in_small_letters(text: str, start: int, end: int) -> Interval | None:
    """As `listed`; of two words in small letters both, if they are a given name and a surname of the lists."""
    first, _, second = text[start:end].partition(" ")
    both = fold_term(first) in word_list("given_names") and fold_term(second) in word_list("surnames")
    return (start, end) if both else listed(text, start, start + len(first))


@validator
def introduced(text: str, start: int, end: int) -> Interval | None:
    """A name after a verb that things and places follow as well: no clinical term alone, no country or city."""
    place = person(text, start, end)
    if place is None:
        return None
    surface = fold_term(text[place[0] : place[1]])
    if surface in word_list("countries") or surface in word_list("cities"):
        return None
    return None if " " not in surface and word_class(surface) & WordClass.CLINICAL else place


@validator
def before_credential(text: str, start: int, end: int) -> Interval | None:
    """The name that ends where a credential follows: back to the last word that is no part of it."""
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    first = len(tokens)
    comma = text.rfind(",", start, end)
    for position in range(len(tokens) - 1, -1, -1):
        word = bare(tokens[position][0])
        if word in PARTICLES:
            continue  # "Tommie van Buren": it belongs to the name if what stands before it does
        surname = position == len(tokens) - 1 or tokens[position].end() <= comma
        if stops_a_name(word) and not (_may_be_name(word) or (surname and not _never_a_name(word))):
            break
        first = position
    while first < len(tokens) and bare(tokens[first][0]) in PARTICLES - _FIRST_PARTICLES:
        first += 1
    words = [bare(t[0]) for t in tokens[first:]]
    if " ".join(words) in word_list("cities") or words == ["washington"]:
        return None  # "Pittsburgh, PA", "Washington, DC"
    if not any(len(w) > 1 and not (stops_a_name(w) and not _may_be_name(w)) for w in words):
        return None
    if all(_abbreviation(token[0]) for token in tokens[first:]) and not _SURE_CREDENTIAL.match(text, end):
        return None
    return tokens[first].start(), max(tokens[-1].end(), tokens[first].end())


@validator
def initials(text: str, start: int, end: int) -> Interval | None:
    """Two or three capitals that are no abbreviation of a clinic's."""
    letters = "".join(c for c in text[start:end] if c.isalpha()).lower()
    known = is_common(letters) or letters in word_list("initials_stopwords") or word_class(letters) & WordClass.CLINICAL
    while text[end - 1].isspace():
        end -= 1
    return None if known else (start, end)


@validator
def relative(text: str, start: int, end: int) -> Interval | None:
    """A name after a word of kinship or birth, where a given name is one even if it is a common word ("Mark")."""
    return person(text, start, end) or _given_that_is_a_word(text, start, end)


@validator
def named_kin(text: str, start: int, end: int) -> Interval | None:
    """A whole name where a note says what its bearer is to the patient: both words may be common ("Faith Power").

    A disease has a mother, but no next of kin: there any two words do that no clinic writes.
    """
    words = [bare(token[0]) for token in NAME_TOKEN.finditer(text, start, end)]
    if _given_and_surname(text[start:end], words[0], words[-1]):
        return start, end
    clinics = any(word in word_list("clinical_words") or word in word_list("title_stopwords") for word in words)
    return (start, end) if _FOR_PATIENT.match(text, end) and not clinics else None


@validator
def given_and_surname(text: str, start: int, end: int) -> Interval | None:
    """A given name beside a surname in whatever case, or beside a word of no clinic."""
    words = [bare(token[0]) for token in NAME_TOKEN.finditer(text, start, end)]
    known = len(words) > 1 and _given_and_surname(text[start:end], words[0], words[-1])
    return (start, end) if known else None


@validator
def reversed_name(text: str, start: int, end: int) -> Interval | None:
    """Surname, comma, given name, in the same way."""
    surname, comma, given = text[start:end].partition(",")
    first = NAME_TOKEN.search(given)
    known = comma and first is not None and _given_and_surname(text[start:end], bare(first[0]), bare(surname))
    return (start, end) if known else None


@validator
def whole_name(text: str, start: int, end: int) -> Interval | None:
    """A given name and a surname in either order: no department, and no word that says that there is nobody."""
    words = [bare(token[0]) for token in NAME_TOKEN.finditer(text, start, end)]
    straight = len(words) > 1 and _given_and_surname(text[start:end], words[0], words[-1])
    return (start, end) if straight else reversed_name(text, start, end)


def _given_and_surname(surface: str, given: str, surname: str) -> bool:
    """Whether a given name stands beside a surname, or beside a word of no clinic ("Breast Cancer, mother")."""
    if not word_class(given) & WordClass.GIVEN or given in word_list("title_stopwords") or is_substance(surface):
        return False
    if surname in word_list("clinical_words"):
        return False
    kind = word_class(surname)
    if kind & WordClass.SURNAME:
        return True
    return not kind & WordClass.CLINICAL and not is_common(given) and not ends_as_a_word(surname)


def _given_that_is_a_word(text: str, start: int, end: int) -> Interval | None:
    first = NAME_TOKEN.match(text, start, end)
    if first is None or first[0].isupper() or not first[0][0].isupper() or _DAY_NEXT.match(text, first.end()):
        return None
    word = bare(first[0])
    known = word_class(word) & WordClass.GIVEN and word not in word_list("title_stopwords")
    place = titled(text, start, end) if known else None
    return None if place is None or is_a_disease(text, *place) else place


@validator
def one_aged(text: str, start: int, end: int) -> Interval | None:
    """A name where a note also says of what origin or faith somebody is: a listed one, or built like no word."""
    place = person(text, start, end)
    if place is None:
        return None
    words = NAME_TOKEN.findall(text, *place)
    if any(_is_listed(word_class(word)) for word in words):
        return place
    return place if not any(map(ORIGIN.fullmatch, words)) and not ends_as_a_word(words[-1]) else None


@validator
def given(text: str, start: int, end: int) -> Interval | None:
    """A name whose first word is a given name, in whatever case."""
    first = NAME_TOKEN.match(text, start, end)
    known = first is not None and word_class(first[0]) & WordClass.GIVEN
    return _name(text, start, end, trust_first=False) if known else None


def _is_listed(kind: int) -> bool:
    return bool(kind & (WordClass.GIVEN | WordClass.SURNAME)) and not kind & (WordClass.ORDINARY | WordClass.CLINICAL)


def _abbreviation(surface: str) -> bool:
    """Whether a single word looks like one: up to four capitals that no list knows as a name."""
    letters = surface.strip(".")
    if not 1 < len(letters) <= 4 or not letters.isupper() or not letters.isalpha():
        return False
    return not _may_be_name(letters.lower()) or is_common(letters.lower())


def _before_doubtful_comma(text: str, start: int, end: int) -> int:
    comma = text.find(",", start, end)
    if comma < 0:
        return end
    following = NAME_TOKEN.search(text, comma, end)
    if following is not None and fold_term(following[0]).strip(".'-") in {"jr", "sr", "ii", "iii"}:
        return end
    known = (
        following is not None
        and word_class(following[0]) & (WordClass.GIVEN | WordClass.ORDINARY | WordClass.CLINICAL) == WordClass.GIVEN
    )
    return end if known else comma
