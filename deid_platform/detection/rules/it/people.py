"""Validators of Italian names of people: where one ends, and whether it is one.

Belongs here: what `people.yaml` names. Does not belong here: which words are Italian (`words.py`), and what holds in
any language (`en/`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.people import bare
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.it.initials import italian_initials
from deid_platform.detection.rules.it.words import (
    LINKS,
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

_ARTICLE_BEFORE = regex.compile(
    r"(?:\b(?i:il|al|dal|del|col|sul|un|lo|e|ed|con|per|invi[oa]|visito|gentile|gent\.?|egregio|egr\.?|spett\.?(?:le)?)"
    r"[ \t]{1,2}|dell['’]|all['’])\Z"
)
_BARE_SIG = regex.compile(r"\b(?i:sigg?)\.?[ \t\r\n]{1,3}\Z")
# Small words with which a name may begin where nothing else shows it: "de Rossi", not "di Roma".
_FIRST_LINKS = frozenset({"de", "d'", "d"})
_INITIALS = regex.compile(r"\p{Lu}\.[ ]?\p{Lu}\.(?:[ ]?\p{Lu}\.)?")


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
def italian_person(text: str, start: int, end: int) -> Interval | None:
    """A name after a word that other things follow as well: no common or clinical word, and no abbreviation."""
    place = _name(text, start, end, trusted=False)
    if place is None:
        return None
    words = [t for t in WORD.findall(text, *place) if len(bare(t)) > 1]
    kinds = [word_class(word) for word in words]
    clinical = len(words) == 1 and kinds[0] & WordClass.CLINICAL and not kinds[0] & WordClass.GIVEN
    return None if clinical or names_a_thing(text, place[1]) or is_called_after(text, place[0]) else place


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
