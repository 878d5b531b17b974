"""Validators of Italian text: where a name, a town, an institution or a street ends, and whether it is one.

Belongs here: the validators that `italian.yaml` names. Does not belong here: which words are Italian (`words.py`), and
what holds in any language (`en/`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.dates import is_day, numbers_in
from deid_platform.detection.rules.en.people import bare, stops_a_name
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.it.initials import italian_initials
from deid_platform.detection.rules.it.words import (
    LINKS,
    LONGEST_ABBREVIATION,
    WORD,
    is_called_after,
    is_italian_word,
    may_be_surname,
    may_be_trusted,
    may_follow,
    written_in_capitals,
)
from deid_platform.detection.rules.names.eponyms import names_a_thing
from deid_platform.lexicon.classes import WordClass, is_common, word_class
from deid_platform.lexicon.lists import word_list

_MOST_GENERIC = 6  # words before the first of an institution's own
_ARTICLE_BEFORE = regex.compile(
    r"(?:\b(?i:il|al|dal|del|col|sul|un|lo|e|ed|con|per|invi[oa]|visito|gentile|gent\.?|egregio|egr\.?|spett\.?(?:le)?)"
    r"[ \t]{1,2}|dell['’]|all['’])\Z"
)
_BARE_SIG = regex.compile(r"\b(?i:sigg?)\.?[ \t\r\n]{1,3}\Z")
# Small words with which a name may begin where nothing else shows it: "de Rossi", not "di Roma".
_FIRST_LINKS = frozenset({"de", "d'", "d"})
_INITIALS = regex.compile(r"\p{Lu}\.[ ]?\p{Lu}\.(?:[ ]?\p{Lu}\.)?")
_SHARE_NEXT = regex.compile(
    r"[ ](?i:medi[oa]|distal[ei]|prossimal[ei]|superior[ei]|inferior[ei]|estern[oai]|intern[oai]|lateral[ei]|medial[ei]"
    r"|anterior[ei]|posterior[ei]|central[ei]|sup|inf|dist|pross|ant|post|del|della|dell['’]|di|circa)\b"
)
_BEFORE_CODE = regex.compile(r"[\p{L}\p{M}'’.\-]+(?:[ ][\p{L}\p{M}'’.\-]+){0,5}(?=[ ,]{1,2}\(?\Z)")
_TOWN_NEXT = regex.compile(r"(?:[ ]?[\-–][ ]?|,?[ ]{1,2})(\p{Lu}[\p{L}\p{M}'’.\-]*(?:[ ][\p{L}\p{M}'’.\-]+){0,4})")
_CODE = regex.compile(r"[ ]\(([A-Z]{2}|ROMA|Roma)\)")
_NUMERAL = regex.compile(r"[ ](?:[IVX]{1,5}|\d{1,2})\b(?![.,/]\d)")
_ROMAN = regex.compile(r"[ivx]+")
_LEGAL_ENDINGS = (".l.", ".a.", ".c.", ".s.")
_SEATS = frozenset({"reggio calabria", "ascoli piceno", "vibo valentia", "massa carrara", "reggio emilia", "la spezia"})
# What stands behind a town's own name although it is a word of records ("Nocera Superiore").
_SITUATIONS = frozenset(
    {
        *("superiore", "inferiore", "marittima", "marittimo", "interna", "centrale", "centro", "alta", "alto", "nord"),
        *("sud", "est", "ovest"),
    }
)
_PHONE_DIGITS = {"0": range(6, 13), "3": range(9, 12), "8": range(6, 11)}
_NUMBER_DIGITS = 4
_LISTED = WordClass.GIVEN | WordClass.SURNAME
_MEDICAL = WordClass.ORDINARY | WordClass.CLINICAL


@validator
def italian_name(text: str, start: int, end: int) -> Interval | None:
    """A name after a title or a label: its first word may be a word of English ("sig. Pace"), but none of records."""
    if _INITIALS.fullmatch(text, start, end):
        bare_sig = _BARE_SIG.search(text, max(0, start - 8), start)  # a prescription has it too
        return italian_initials(text, start, end) if bare_sig else (start, end)
    place = _name(text, start, end, trusted=True)
    if place is None or not _BARE_SIG.search(text, max(0, start - 8), start):
        return place
    # "Sig. Take one daily" is a prescription's; "il sig. Pace" is a man.
    first = WORD.match(text, *place)
    title = _BARE_SIG.search(text, max(0, start - 8), start)
    article = _ARTICLE_BEFORE.search(text, max(0, title.start() - 12), title.start()) if title else None
    return place if article or first is None or not is_common(bare(first[0])) else None


@validator
def italian_labelled(text: str, start: int, end: int) -> Interval | None:
    """As `italian_name`, after a label that stands before drugs and devices as well ("Nome: Augmentin")."""
    place = italian_name(text, start, end)
    if place is None:
        return None
    kinds = [word_class(t) for t in WORD.findall(text, *place) if len(bare(t)) > 1]
    listed = WordClass.GIVEN | WordClass.SURNAME
    return None if kinds and all(k & WordClass.CLINICAL and not k & listed for k in kinds) else place


@validator
def italian_person(text: str, start: int, end: int) -> Interval | None:
    """A name after a word that other things follow as well: no common or clinical word, and no abbreviation."""
    place = _name(text, start, end, trusted=False)
    if place is None:
        return None
    words = [t for t in WORD.findall(text, *place) if len(bare(t)) > 1]
    kinds = [word_class(word) for word in words]
    clinical = len(words) == 1 and kinds[0] & WordClass.CLINICAL and not kinds[0] & WordClass.GIVEN
    return None if clinical or names_a_thing(text, place[1]) or is_called_after(text, place[0]) else place


@validator
def italian_listed(text: str, start: int, end: int) -> Interval | None:
    """A name of which the shipped lists know a word that is nothing else."""
    place = italian_person(text, start, end)
    if place is None:
        return None
    kinds = [word_class(word) for word in WORD.findall(text, *place)]
    medical = WordClass.ORDINARY | WordClass.CLINICAL
    return place if any(k & (WordClass.GIVEN | WordClass.SURNAME) and not k & medical for k in kinds) else None


@validator
def italian_relative(text: str, start: int, end: int) -> Interval | None:
    """A name after the label of a relative, where diseases stand as well: a listed one, or two words on no list."""
    place = italian_listed(text, start, end)
    if place is not None:
        return place
    place = italian_person(text, start, end)
    words = [bare(t) for t in WORD.findall(text, *place)] if place else []
    return (
        place if len(words) > 1 and all(len(w) > 1 and not word_class(w) & WordClass.CLINICAL for w in words) else None
    )


@validator
def italian_listed_small(text: str, start: int, end: int) -> Interval | None:
    """As `italian_listed`, of words in small letters."""
    words = WORD.findall(text, start, end)
    kinds = [word_class(word) for word in words]
    names = WordClass.GIVEN | WordClass.SURNAME
    if is_italian_word(bare(words[0])) or not kinds[0] & names or kinds[0] & (WordClass.ORDINARY | WordClass.CLINICAL):
        return None
    second = len(words) > 1 and kinds[1] & names and not is_italian_word(bare(words[1]))
    return (start, end) if second or len(words) == 1 else (start, start + len(words[0]))


def _name(text: str, start: int, end: int, *, trusted: bool) -> Interval | None:
    """Narrows a run of words to the name in it: after words that are common in records, up to the next such word."""
    capitals = written_in_capitals(text, start, end)
    begin: int | None = None
    last: regex.Match[str] | None = None
    named = False
    for token in WORD.finditer(text, start, end):
        word = bare(token[0])
        if word in LINKS and not (named and token[0].isupper() and len(word) == 1):
            if begin is None and not trusted and token[0][0].islower() and word not in _FIRST_LINKS:
                return None  # "medico della Continuità"
            begin = token.start() if begin is None else begin
            continue
        if len(word) <= 1:
            begin = token.start() if begin is None else begin
            last = token if named or trusted else last
            continue
        after_given = named and last is not None and bool(word_class(last[0]) & WordClass.GIVEN)
        trust = may_be_trusted(word) if trusted and not named else after_given and may_be_surname(word)
        if not (trust or may_follow(token[0], capitals=capitals)):
            if named or trusted:
                break
            begin, last = None, None
            continue
        begin = token.start() if begin is None else begin
        named, last = True, token
    if begin is None or last is None or not (named or trusted):
        return None
    stop = last.end()
    stop -= 2 * text[begin:stop].lower().endswith(("'s", "’s"))
    while stop > begin and text[stop - 1] in ".'’-":
        stop -= 1
    return (begin, stop) if stop > begin else None


@validator
def italian_town(text: str, start: int, end: int) -> Interval | None:
    """A town after a word of birth, residence or origin: up to the first word that is no part of its name."""
    tokens = list(WORD.finditer(text, start, end))
    capitals = written_in_capitals(text, start, end)
    stop = start
    for token in tokens:
        word = bare(token[0])
        if word in LINKS:
            continue
        short = token[0].isupper() and not capitals and 1 < len(word) <= LONGEST_ABBREVIATION
        clinical = word_class(word) & WordClass.CLINICAL and word not in word_list("cities")
        if stop > start and word in _SITUATIONS:
            stop = token.end()
            continue
        if short or is_italian_word(word) or (clinical and not word_class(word) & WordClass.SURNAME):
            break
        if len(word) > 1:
            stop = token.end()
    stop -= text[start:stop].endswith(".")
    thing = names_a_thing(text, stop) or is_called_after(text, start)
    return (start, stop) if stop > start and not thing else None


@validator
def italian_town_or_code(text: str, start: int, end: int) -> Interval | None:
    """As `italian_town`, or the code of a province after one."""
    code = end - start == 2 and text[start:end].isupper() and text[:start].rstrip()[-1:] in "(,-–/"
    return (start, end) if code else italian_town(text, start, end)


@validator
def italian_postcode(text: str, start: int, end: int) -> Interval | None:
    """A postcode before a town, or the town after it, or the code of its province."""
    town = _TOWN_NEXT.match(text, end) if text[start].isdigit() else None
    if town is not None:
        return (start, end) if italian_place(text, *town.span(1)) else None
    if end - start > 2:
        return italian_place(text, start, end)
    return (start, end) if text[:start].rstrip(" (,")[-1:].isalpha() else None


@validator
def italian_place(text: str, start: int, end: int) -> Interval | None:
    """As `italian_town`, after a word that other things follow as well: no common English word alone."""
    place = italian_town(text, start, end)
    if place is None:
        return None
    words = [w for t in WORD.findall(text, *place) if (w := bare(t)) not in LINKS]
    known = any(w in word_list("cities") or w in word_list("italian_cities") for w in words)
    plain = all(stops_a_name(w) or word_class(w) & (WordClass.CLINICAL | WordClass.ORDINARY) for w in words)
    return place if known or not plain else None


@validator
def italian_city(text: str, start: int, end: int) -> Interval | None:
    """A city of the shipped list, unless criteria, a score or the like are called after it."""
    return None if is_called_after(text, start) or names_a_thing(text, end) else (start, end)


@validator
def italian_province(text: str, start: int, end: int) -> Interval | None:
    """A town before the code of its province, or that code: not an abbreviation of the words before it."""
    code = _CODE.match(text, end)
    if code is not None:
        place = italian_town(text, start, end)
        town, letters = text[start:end], code[1]
        if place is None or place[1] != end:
            return None
    else:
        before = _BEFORE_CODE.search(text, max(0, start - 60), start)
        town, letters = before[0] if before else "", text[start:end]
    words = [w for t in WORD.findall(town) if (w := bare(t)) not in LINKS and t[0].isupper()]
    if not words or is_italian_word(words[-1]) or word_class(words[-1]) & WordClass.CLINICAL:
        return None
    abbreviates = len(words) > 1 and "".join(w[0] for w in words[-2:]) == letters.lower()
    return None if abbreviates and " ".join(words[-2:]) not in _SEATS else (start, end)


@validator
def italian_institution(text: str, start: int, end: int) -> Interval | None:
    """An institution, a firm or an office with a word of its own: not "Clinica Chirurgica", "Presidio Ospedaliero"."""
    capitals = written_in_capitals(text, start, end)
    generic, last = 0, None
    for token in WORD.finditer(text, start, end):
        word = bare(token[0])
        if word in LINKS or not token[0][0].isupper():
            continue
        short = token[0].isupper() and not capitals and len(word) <= LONGEST_ABBREVIATION and "." not in token[0]
        if last is not None and word in _SITUATIONS:
            last = token
            continue
        if (
            is_italian_word(word)
            or (short and not word_class(word) & WordClass.SURNAME and last is None)
            or "." in word
        ):
            if last is not None:
                break
            generic += 1
            if generic > _MOST_GENERIC:
                return None
            continue
        if last is not None and short:
            break
        if len(word) > 1:
            last = token
    if last is None:
        return None
    stop = last.end()
    numeral = _NUMERAL.match(text, stop, end)
    stop = numeral.end() if numeral else stop
    if stop < end and text[stop] in '"”»':
        stop += 1
    dotted = text[stop - 1] == "." and not text[start:stop].lower().endswith(_LEGAL_ENDINGS)
    return start, stop - dotted


@validator
def italian_firm(text: str, start: int, end: int) -> Interval | None:
    """As `italian_institution`, where common words follow as well: a word of its own must be no clinical one."""
    place = italian_institution(text, start, end)
    if place is None:
        return None
    words = [bare(t) for t in WORD.findall(text, *place) if t[0].isupper()]
    own = [w for w in words if not is_italian_word(w) and w not in LINKS]
    listed = WordClass.GIVEN | WordClass.SURNAME
    return None if all(word_class(w) & WordClass.CLINICAL and not word_class(w) & listed for w in own) else place


@validator
def italian_street(text: str, start: int, end: int) -> Interval | None:
    """A street whose name has a word of its own, a day or a numeral: not "via Endovenosa 2"."""
    for token in list(WORD.finditer(text, start, end))[1:]:
        word = bare(token[0])
        if word in LINKS or not token[0][0].isupper() or len(word) == 1:
            continue
        if word in word_list("months") or _ROMAN.fullmatch(word):
            return start, end
        short = token[0].isupper() and not text[start:end].isupper() and len(word) <= LONGEST_ABBREVIATION
        clinical = word_class(word) & WordClass.CLINICAL and not word_class(word) & (
            WordClass.SURNAME | WordClass.GIVEN
        )
        return None if short or clinical or is_italian_word(word) else (start, end)
    return None


@validator
def italian_day(text: str, start: int, end: int) -> Interval | None:
    """A day and its month, in this order, which are no share of something ("al 1/3 medio")."""
    day, month = numbers_in(text, start, end)[:2]
    share = day < month <= _NUMBER_DIGITS and _SHARE_NEXT.match(text, end)
    return None if share or not is_day(month, day) else (start, end)


@validator
def italian_phone(text: str, start: int, end: int) -> Interval | None:
    """Digits after a word such as "tel.", of the length of a telephone number of their kind: not "numero 350.000"."""
    digits = "".join(c for c in text[start:end] if c.isdigit())
    digits = digits.removeprefix("0039") if text[start] != "+" else digits[2:]
    return (start, end) if len(digits) in _PHONE_DIGITS[digits[0]] else None


@validator
def italian_number(text: str, start: int, end: int) -> Interval | None:
    """A record's number after its label: four digits at least."""
    return (start, end) if sum(c.isdigit() for c in text[start:end]) >= _NUMBER_DIGITS else None
