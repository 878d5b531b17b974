"""Capitalised words on no list: whether they are a person, or a service, a brand or a thing.

Belongs here: where such a name ends, what is not a person's name, and how a sentence continues after a person. Does not
belong here: after which cues to ask (`care_team.py`), names on the lists (`people.py`).

Services, agencies, references, brands and methods (`lexicon/data/services.txt`) are not persons.
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.people import (
    NAME_TOKEN,
    bare,
    person_last_first,
    stops_a_name,
    titled,
    titled_last_first,
)
from deid_platform.detection.rules.engine.validator import Interval
from deid_platform.detection.rules.it.words import is_italian_word
from deid_platform.detection.rules.names.eponyms import is_eponym_s_name, names_a_thing
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.classes import WordClass, ends_as_a_word, word_class
from deid_platform.lexicon.lists import word_list, written_terms
from deid_platform.text.fold import fold_term

REACH = 60
SHORTEST = 3
LONGEST_ABBREVIATION = 5
NAMED = WordClass.GIVEN | WordClass.SURNAME
# "CareFirst", "AirEvac", but "McKay", "DeLuca".
_CAMEL = regex.compile(r"(?!(?:Mac|Mc|Del?|D[aiu]|L[aeo]|V[ao]n|Fitz|St)\p{Lu}).*\p{Ll}\p{Lu}")
SPECIALTY = regex.compile(
    r".*(?:ology|ologist|ologists|iatry|iatrics|iatric|surgery|therapy|pathy|scopy|scopic|graphy|graphic|gram|ectomy"
    r"|plasty|stomy|tomy|ation|itis|osis|emia|mycin|cillin|olol|pril|sartan|statin|azole|idine|zepam|zolam|cycline"
    r"|floxacin|oxin|logia|iatria|chirurgia|terapia|care|health|med|meds|rx|tech|net|lab|labs|diagnostics)"
)
# How English and medical words end; not the endings of surnames as well: -al, -ar, -ic, -ed.
BUILT = regex.compile(
    r".*(?:ly|tions?|sions?|ments?|ness|ous|able|ible|ity|ities|isms?|ists?|ful|less|ship|ance|ence|ies|ical|ics|ular"
    r"|oid|ing|ings)"
)
_LETTERS = regex.compile(r"\p{L}+")
_TITLE_CASE = regex.compile(r"\p{Lu}['’]?\p{Lu}?[\p{Ll}\p{M}]")
_THING_NEXT = regex.compile(r"[®™]|[-‐‑]\p{L}|/\p{Ll}|[ \t]+\d+(?:[.,]\d+)?[ ]?(?:mg|mcg|ml|cc|%|units?|g|fr|mm|cm)\b")
_NAME_NEXT = regex.compile(r"[ \t]+(?P<word>\p{Lu}[\p{L}'’]+)")
_SURNAME_NEXT = regex.compile(r"[ ](?P<word>\p{Lu}[\p{Ll}'’\-]+)")
_DATE_NEXT = regex.compile(r"[ \t]+\d{1,4}(?:st|nd|rd|th)?(?![\d:/.\-])")
_CREDENTIAL = alternatives(written_terms("credentials.sure") + written_terms("credentials.role"), any_writing=True)
# What a sentence goes on with after somebody who is named in it: it ends, says when, where, to whom, or what they do.
GOES_ON = regex.compile(
    r"""(?:['’]s)?(?:
    [ \t]*(?:$|[\r\n.,;:)\[\]}&"”+@>|=]|[-–—]{1,2}[ \t]|/(?!\p{Ll}))
    |[ \t]+(?:[@&(+\#\d]|x[ ]?\d|w/|[-–—]
    |(?:at|on|in|of|from|for|with|re|regarding|about|and|or|but|who|whom|whose|that|this|these|to|via|by|per|after|as
    |before|during|while|when|if|so|because|again|also|then|than|now|here|there|too|not|yet|has|had|have|is|was|were
    |will|would|can|could|did|does|may|must|should|without|until|since|over|through|prior|upon|both|today|tonight
    |tomorrow|yesterday|overnight|earlier|later|twice|once|daily|weekly|monthly|personally|directly|immediately
    |extensively|briefly|promptly|stat|asap|first|last|next|every|anytime|a|an|the|his|her|their|our|my|us|me
    |states?|stated|says?|said|reports?|reported|agree[sd]?|recommend(?:s|ed)|advise[sd]|note[sd]|feels?|felt|thinks
    |wants|wanted|asks?|asked|aware|notified|updated|informed|posted|paged|called|calling|present|attending|following|covering
    |assisting|rounding|returned|return|calls|saw|sees|seen|gave|took|made|did|done|came|comes|went|goes|left|arrived
    |relieved|confirm(?:s|ed)|verified|verifies|explained|order(?:s|ed)|placed|removed|performed|completed|started
    |denie[sd]|declined|declines|verbalized|verbalised|requested|requests|provided|provides|attempted|spoke|tried|found
    |signed|rang|phoned|brought|drove|visited|held|helped|assisted|drew|draws|sent|wrote|put|sat|told|heard|kept|fed|woke|ran|began|available|unavailable|out|off|up|back|around|ok|okay|pt|patient|<credential>
    |che|al|alla|di|da|dal|dalla|del|il|lo|la|le|e|ha|hanno|è|era|si|con|riferisce|abita|vive|viene|presente|tel|dopo)\b)
    )""".replace("<credential>", _CREDENTIAL),
    regex.VERBOSE | regex.IGNORECASE,
)
DOES = regex.compile(r"[ \t]+\p{L}+(?:ed|es|s)\b", regex.IGNORECASE)
OTHERS = ("services", "title_stopwords", "care_team_roles", "kin.weak")
_OF_INSTITUTIONS = ("services", "generic_institution_words", "place_nouns")


def name_at_start(text: str, start: int, end: int) -> Interval | None:
    """The name that begins a run of words, with a surname that is a common word."""
    place = at_once(text, start, end) or common_name(text, start, end)
    return with_common_surname(text, *place) if place else None


def at_once(text: str, start: int, end: int) -> Interval | None:
    """The name that begins here; in capitals only up to the verb."""
    if text[start:end].isupper():
        for token in list(NAME_TOKEN.finditer(text, start, end))[1:]:
            if GOES_ON.match(text, token.start() - 1) and not word_class(token[0]) & NAMED:
                end = token.start() - 1
                break
    place = person_last_first(text, start, end)
    return place if place is not None and place[0] == start else None


def common_name(text: str, start: int, end: int) -> Interval | None:
    """A common word that is a listed surname or given name as well, where it is written as a name in a sentence."""
    first = NAME_TOKEN.match(text, start, end)
    if first is None or not _TITLE_CASE.match(first[0]) or _DATE_NEXT.match(text, first.end()):
        return None
    word = bare(first[0])
    if not word_class(word) & NAMED or word in word_list("clinical_words") or word in word_list("months"):
        return None
    return None if _is_heading(text, start) else titled(text, start, end)


def behind_a_word(text: str, start: int, end: int) -> Interval | None:
    """A listed surname with the common word before it that is a given name, or without it if that is a role."""
    place = person_last_first(text, start, end)
    if place is None or text[start:end].isupper() or not word_class(text[place[0] : place[1]]) & WordClass.SURNAME:
        return None
    word = bare(text[start : place[0]].strip())
    if any(word in word_list(name) for name in (*OTHERS, "clinical_words")):
        return place
    return (start, place[1]) if " " not in word else None


def with_common_surname(text: str, start: int, end: int) -> Interval:
    """A name with the common word after it that is its surname: "Ottavine Cope," in a sentence."""
    following = _SURNAME_NEXT.match(text, end)
    surface = text[start:end]
    if following is None or " " in surface or not _TITLE_CASE.match(surface):
        return start, end
    word = bare(following["word"])
    if is_service(word) or word in word_list("title_stopwords") or word in word_list("clinical_words"):
        return start, end
    stop = following.end() - (2 if following["word"].endswith(("'s", "’s")) else 0)
    if not GOES_ON.match(text, stop) or word_class(word) & WordClass.CLINICAL or _is_heading(text, start):
        return start, end
    return start, stop


def short(text: str, start: int, end: int) -> Interval | None:
    """A name of two letters ("Vo")."""
    first = NAME_TOKEN.match(text, start, end)
    if first is None or len(bare(first[0])) != 2 or not _TITLE_CASE.match(first[0]) or stops_a_name(bare(first[0])):
        return None
    return None if word_class(first[0]) & WordClass.CLINICAL else titled_last_first(text, start, end)


def is_nobody(text: str, start: int, end: int) -> bool:
    """Whether words are those of a service, a brand, a place or a thing."""
    surface = text[start:end]
    tokens = NAME_TOKEN.findall(surface)
    words = [bare(token) for token in tokens]
    # "Child" may be a surname behind a given name.
    first, *others = words
    if is_service(first) or any(is_service(word) and not word_class(word) & WordClass.SURNAME for word in others):
        return True
    if is_italian_word(first) and not word_class(first) & NAMED:  # "madre Diabete"
        return True
    if "  " in surface or _THING_NEXT.match(text, end):
        return True
    if any(word in word_list("kin.weak") and not word_class(word) & NAMED for word in words):
        return True
    if names_a_thing(text, end) and not GOES_ON.match(text, end):  # a saw, but "Swindrel saw him"
        return True
    if any(_CAMEL.match(token) for token in tokens) or any(map(str.isdigit, surface)):
        return True
    following = _NAME_NEXT.match(text, end)
    if following is not None and not following["word"].isupper():
        word = fold_term(following["word"])
        if any(word in word_list(name) for name in _OF_INSTITUTIONS):
            return True
    if len(words) == 1:
        abbreviated = not word_class(tokens[0]) and surface.isupper() and len(surface) <= LONGEST_ABBREVIATION
        return abbreviated and not _is_capitals_line(text, start)
    joined = " ".join(words)
    return is_city_or_country(joined) or is_eponym_s_name(joined)


def is_clinical(text: str, start: int, end: int) -> bool:
    """Whether a single word is a clinical term by itself, or several are nothing but such terms."""
    kinds = [word_class(token) for token in NAME_TOKEN.findall(text, start, end) if len(bare(token)) > 1]
    if len(kinds) == 1:
        return bool(kinds[0] & WordClass.CLINICAL)
    return all(kind & WordClass.CLINICAL and not kind & NAMED for kind in kinds)


def may_be_somebody(text: str, start: int, end: int) -> bool:
    """Whether one of the words is a listed name, or none is built like an English or medical word."""
    words = [token for token in NAME_TOKEN.findall(text, start, end) if len(bare(token)) > 1]
    kinds = [word_class(word) for word in words]
    if any(kind & NAMED and not kind & WordClass.CLINICAL for kind in kinds):
        return True
    if all(is_city_or_country(fold_term(word)) for word in words):
        return False
    unknown = [
        not kind and len(word) >= SHORTEST and not is_built(word) for word, kind in zip(words, kinds, strict=True)
    ]
    # A common word may be the surname of somebody whose given name no list knows.
    return unknown[0] and all(
        new or kind & WordClass.SENSES == WordClass.ORDINARY for new, kind in zip(unknown, kinds, strict=True)
    )


def is_known(text: str, start: int, end: int) -> bool:
    """Whether one word of a name is a listed name without another meaning."""
    kinds = [word_class(token) for token in NAME_TOKEN.findall(text, start, end)]
    return any(kind & NAMED and not kind & (WordClass.ORDINARY | WordClass.CLINICAL) for kind in kinds)


def is_built(word: str) -> bool:
    """Whether a word ends as English and medical words do; in capitals, where every word is, by any such ending."""
    folded = fold_term(word)
    built = BUILT.fullmatch(folded) is not None or SPECIALTY.fullmatch(folded) is not None
    return built or (word.isupper() and ends_as_a_word(word))


def is_service(folded: str) -> bool:
    """Whether a folded word is a service or a method, not a person."""
    return folded in word_list("services")


def is_thing(folded: str) -> bool:
    """Whether a folded word is a drug, a device or a test."""
    return any(folded in word_list(name) for name in ("drugs", "devices", "tests_and_scores", "clinical_names"))


def is_city_or_country(folded: str) -> bool:
    """Whether folded words are a known city or country."""
    return folded in word_list("cities") or folded in word_list("countries")


def _is_heading(text: str, start: int) -> bool:
    """Whether every longer word before a place in its line is capitalised."""
    line = text[max(text.rfind("\n", 0, start), text.rfind("\r", 0, start), start - REACH) + 1 : start]
    words = [word for word in _LETTERS.findall(line) if len(word) > 3]
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _is_capitals_line(text: str, start: int) -> bool:
    first = max(text.rfind("\n", 0, start), start - REACH) + 1
    return not any(map(str.islower, text[first:start]))
