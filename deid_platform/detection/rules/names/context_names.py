"""Names in prose: capitalised words in a sentence that are neither English nor clinical words.

Belongs here: the context before and after a word in a sentence that makes it the name of a town or an institution ("her
dentist in Sacaton"), or of a person whose name is on a list ("PCP is Okonjo"). Does not belong here: which words are
capitalised (`vocabulary.py`), names that a title or a label shows (`en/people.yaml`).

Sources: the project's own, from how clinical prose speaks of things. What is done "with" or "using" something, what is
"of" something and what follows an article is a drug, a device or a part of the body, not a person.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import regex

from deid_platform.detection.api import Candidate, Source, SourceKind
from deid_platform.detection.rules.en.unlisted_persons import BUILT, GOES_ON
from deid_platform.detection.rules.names.eponyms import lies_in_an_eponym, names_a_thing
from deid_platform.labels import Label
from deid_platform.lexicon.classes import WordClass, is_rare_word, is_town, is_unknown
from deid_platform.lexicon.lists import word_list
from deid_platform.text.compiled import compiled
from deid_platform.text.fold import fold_term
from deid_platform.text.lookbehind import Lookbehind

SOURCE = Source(SourceKind.RULES, "name-in-context")
_PLACE_SOURCE = Source(SourceKind.RULES, "place-in-context")
SCORE = 0.6
_REACH = 40
_NEAR = 20
_SHORTEST = 3
# Days, and greetings of Italian letters.
_NO_NAMES = frozenset(
    ("mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun", "caro", "cara", "cari", "care")
)
_WORDS = WordClass.ORDINARY | WordClass.CLINICAL
_LISTED = WordClass.GIVEN | WordClass.SURNAME
_LONGEST = 3
_BEFORE = compiled(r"(?P<word>\p{L}+|@)(?P<sep>[ ]|[ ]?\(|,[ ])$")
_LONGEST_PREPOSITION = 9
_PLACED = frozenset(
    ("@", "at", "From", "Near", "from", "in", "near", "outside", "to", "around", "toward", "towards", "via")
)
# What is in, at or from something that is no place: a limb in a bandage, a plate from its maker.
_IN_A_THING = Lookbehind(
    r"\b(?:wrapped|soaked|dressed|covered|placed|packed|immersed|dissolved|diluted|mixed|suspended|reconstituted|bathed"
    r"|fixed|stored|embedded|put|held|secured|mounted|loaded|changes?|increase|decrease|interest|bound|seated|enclosed)"
    r"[ ](?:\p{Ll}+[ ])?in[ ]|\b(?:derived|plates?|screws?|made|system|kit|implants?|device|catheter|suture|obtained"
    r"|weaned|switched|changed|converted|differs?|different|result(?:ed|ing)?|suffer(?:s|ed|ing)?|stemming|secondary|relief"
    r"|toxicity|reaction|rash|effects?)[ ]from[ ]|\bdirected[ ]at[ ]",
    _REACH,
)
# Before "to": somebody goes or is brought there.
_MOVED = Lookbehind(
    r"\b(?:go|goes|went|going|gone|com(?:e|es|ing)|came|return(?:s|ed|ing)?|back|transfer(?:s|red|ring)?|mov(?:e|es|ed|ing)"
    r"|dr[oi]ve(?:s|n)?|driving|fl[ey]w?|flown|flies|flying|sent|send|sending|tak(?:e|en|ing)|took|brought|bring|way|out"
    r"|refer(?:red|ral)?|trip|travel(?:s|led|ed|ling|ing)?|discharge[ds]?|admitted|close|closer|commutes?|commuting|shipped"
    r"|airlifted|mailed|walk(?:s|ed|ing)?|hitchhiked|relocat(?:e|ed|ing)|deployed|records|fax(?:ed)?|call(?:ed)?"
    r"|transport(?:ed)?|on|home|off|over|up|down|d/c|dc|dispo|disposition|next)"
    r"[ ](?:(?!due\b)\p{Ll}+[ ]){0,2}to[ ]",
    _REACH,
)
# What stands before "to" and a thing: a cause, a side, a drug's substitute.
_TO_A_THING = Lookbehind(
    r"\b(?:due|secondary|allerg\p{L}+|expos\p{L}+|similar|related|attribut\p{L}+|respon\p{L}+|addition|prior|relative|superior"
    r"|inferior|anterior|posterior|proximal|distal|lateral|medial|adjacent|appl\p{L}+|sensitiv\p{L}+|resistan\p{L}+|intoleran\p{L}+"
    r"|switch\p{L}*|chang\p{L}+|convert\p{L}*|transition\p{L}*|titrat\p{L}+|reaction|compar\p{L}+|equivalent|parallel|opposed"
    r"|added|attached|connected|secured|sutured)[ ](?:\p{Ll}+[ ])?to[ ]",
    _REACH,
)
# Behind these a name is a thing's as well: what is used, what is given, what something is part or sign of.
_OF_THINGS = frozenset(
    """
    a absorbable an and any applied apply as bilateral both by consistent curved deep degree del della di degrees each
    extra first given gauge good grew had has inch injected large like loaded mm modified more negative normal
    of on or other over plain port positive possible prior probable received repeat reverse round rubber running s
    second sharp simple size small some start started straight such superficial than that the then these third this
    those tried two type under underwent use used using utilizing via with without
    """.split()  # noqa: SIM905 - a list literal would take thirty lines
)
# What an institution ends in for short: "Riverview Psych", "Westover High", "Greater Zion Baptist".
_KINDS = frozenset(
    """
    academy airport baptist behavioral church college correctional courthouse elementary extended high jail
    junior lutheran manor memorial mercy methodist middle pharmacy prep presbyterian preschool prison psych
    rec shelter snf tech trinity university
    """.split()  # noqa: SIM905 - a list literal would take thirty lines
)
# Departments are nobody's place: "Postanesthesia Care Unit".
_MEDICAL = compiled(
    r"(?i:post|pre|intra|peri|endo|electro|neuro|cardio|gastro|broncho|angio|hemo|onco|radio|tele)\p{Ll}{4,}"
)
# A number, a hyphen or an abbreviation's full stop: "#20 Hank", "K-Lor", "St. Jude".
_NO_NAME_BEFORE = compiled(r"(?:(?<!\d)\#?\d{1,3}[ ]|[\-‐‑&/.+]|\bSt\.[ ]|(?<![\p{L}\p{N}])\p{Lu}\p{Ll}+[ ])$")
# Whom a paper is by: "(Osei and Tolland, 2019)", "Osei et al."
_CITED = compiled(r"[ ](?:and|&)[ ]\p{L}+,?[ ]\(?(?:19|20)\d\d\b|,?[ ]et[ ]al\b|,?[ ]\(?(?:19|20)\d\d\b")
# How a sentence goes on after a patient, and a verb that begins after the first word of a sentence.
_COMPLAINS = compiled(
    r"[ ](?:[csp]/[opw]|[aph]/[ow]|NPO|POD|HD|DOL|hx|going|cont['’]?d|note|agreeable|amenable|tearful|excused|absent"
    r"|comfortable|cooperative|resting|asleep|transported|sleepy|happy|anxious|able|unable)\b"
)
_BEGINS = Lookbehind(r"(?:^|[\r\n.!?:;>•*][ \t]{0,2})", _REACH)
_DOES = compiled(
    r"[ ](?!(?:need|re|coated|soaked|based|assisted|guided|shaped|curved|modified)\b)\p{Ll}{2,}ed\b(?![ ]\p{Ll}+s\b)"
)
# How a word ends that is no town's, though no list knows it.
OF_MEDICINE = compiled(
    r".*(?:olog(?:y|ist|ic)|iatry|iatrics?|surgery|therapy|pathy|scop[ey]|scopic|graphy|gram|ectomy|plasty|tomy|itis|osis|emia"
    r"|mycin|cillin|olol|pril|sartan|statin|azole|idine|zepam|zolam|cycline|floxacin|oxin|caine|coccus|monas|ella|virus"
    r"|bacter|mab|nib|gel|seal|graft|lene|fil|cryl)"
)
_OF_NEXT = compiled(r"[ ](?:di|del|della|dei)\b")
DRUG_NEXT = compiled(r"[ ]+\d+(?:[.,]\d+)?[ ]?(?:mg|mcg|ml|cc|%|units?|g|fr|mm|cm|meq)\b", regex.IGNORECASE)
TRADE_MARK = compiled(r"[®™/\-‐‑'’]")


def context_name(text: str, words: list[regex.Match[str]], kinds: list[int], i: int) -> tuple[Candidate, int] | None:
    """The name in the middle of a sentence that begins at a word, with the number of words that it takes.

    Args:
        text: The note.
        words: Its capitalised words.
        kinds: Their kinds.
        i: The index of the word, which is none of English or of clinics, or stands before a noun of places.
    """
    start, word, kind = words[i].start(), words[i][0], kinds[i]
    preposition = _preposition(text, start)
    if preposition:
        if kind & WordClass.ARTICLE:
            return _with_article(text, words, kinds, i)
        if kind & _WORDS and not opens_a_place(words, kinds, i):
            return None
        return _place(text, words, kinds, i, preposition) if kind & _WORDS or may_be_a_place(word, kind) else None
    if kind & _WORDS or not (kind & _LISTED or is_town(fold_term(word))) or not is_strange(word, kind):
        return None
    before = _BEFORE.search(text, max(0, start - _REACH), start)
    if before is not None and _of_things(before["word"]):
        return None
    if _NO_NAME_BEFORE.search(text, max(0, start - _NEAR), start):
        return None
    last = _last(words, kinds, i, _is_somebody_s)
    end = words[last].end()
    if not _goes_on(text, start, end):
        return None
    if TRADE_MARK.match(text, end) or names_a_thing(text, end) or lies_in_an_eponym(text, start, end):
        return None
    surface = fold_term(text[start:end])
    if surface in word_list("countries") or _CITED.match(text, end):
        return None
    listed_among_things = (
        not kind & WordClass.GIVEN and before is not None and before["sep"] == ", " and text.startswith(",", end)
    )
    if last == i and (listed_among_things or fold_term(words[i][0]) in _first_of_eponyms()):
        return None
    label = Label.CITY if is_town(surface) else Label.PATIENT
    return Candidate.by_rule(start, end, label, SCORE, SOURCE), last - i + 1


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether a sentence continues as after a person; at its start, also with a person's verb."""
    if GOES_ON.match(text, end) or _COMPLAINS.match(text, end):
        return True
    return _BEGINS(text, start) and _DOES.match(text, end) is not None


def _preposition(text: str, start: int) -> str:
    """The preposition of places before a word, if one stands there."""
    if not start or text[start - 1] != " ":
        return ""
    word = text[max(0, start - _LONGEST_PREPOSITION) : start - 1].rpartition(" ")[2]
    return word if word in _PLACED else ""


def _with_article(text: str, words: list[regex.Match[str]], kinds: list[int], i: int) -> tuple[Candidate, int] | None:
    """What has a capital article in the middle of a sentence: "at The Alfred"."""
    last = _last(words, kinds, i, _is_capitalised)
    end = words[last].end()
    if last == i or not GOES_ON.match(text, end) or not words[i + 1][0].istitle():
        return None
    return Candidate.by_rule(words[i].start(), end, Label.HOSPITAL, SCORE, _PLACE_SOURCE), last - i + 1


def _is_capitalised(word: str, _kind: int) -> bool:
    return word.istitle()


def _behind_possessive(text: str, end: int) -> int:
    return end + 2 * text.startswith(("'s", "’s"), end)


def _of_things(word: str) -> bool:
    return word.lower() in _OF_THINGS and not (len(word) == 1 and word.isupper())


def _place(
    text: str, words: list[regex.Match[str]], kinds: list[int], i: int, preposition: str
) -> tuple[Candidate, int] | None:
    """The place after a preposition, with the nouns of institutions and settlements that its name ends in."""
    start = words[i].start()
    last = _last(words, kinds, i, _is_a_place_s)
    end = words[last].end()
    if not kinds[i] and _MEDICAL.fullmatch(words[i][0]):
        return None
    if (
        not GOES_ON.match(text, end)
        or TRADE_MARK.match(text, _behind_possessive(text, end))
        or DRUG_NEXT.match(text, end)
    ):
        return None
    if text.startswith(("'s", "’s"), end) and fold_term(words[last][0]) in _first_of_eponyms():
        return None
    if names_a_thing(text, end) or _IN_A_THING(text, start) or _CITED.match(text, end) or _OF_NEXT.match(text, end):
        return None
    town = is_town(fold_term(text[start:end]))
    if preposition == "to" and not town and not _MOVED(text, start):
        listed = any(kinds[k] & _LISTED for k in range(i, last + 1)) and is_strange(words[i][0], kinds[i])
        told = listed and not _TO_A_THING(text, start)
        return (Candidate.by_rule(start, end, Label.PATIENT, SCORE, SOURCE), last - i + 1) if told else None
    institution = preposition in ("@", "at") or _is_institution_s(words[last][0])
    label = Label.HOSPITAL if institution else Label.CITY
    return Candidate.by_rule(start, end, label, SCORE, _PLACE_SOURCE), last - i + 1


def _last(words: list[regex.Match[str]], kinds: list[int], i: int, fits: Callable[[str, int], bool]) -> int:
    """The index of the last of the words that follow each other and fit."""
    last = i
    while last + 1 < len(words) and last - i + 1 < _LONGEST:
        following = words[last + 1]
        if words[i].string[words[last].end() : following.start()] != " " or not fits(following[0], kinds[last + 1]):
            break
        last += 1
    return last


def _is_somebody_s(word: str, kind: int) -> bool:
    return not kind & _WORDS and not word.isupper() and (bool(kind) or is_unknown(word, kind))


def _is_a_place_s(word: str, kind: int) -> bool:
    return may_be_a_place(word, kind) or _is_settlement_s(word) or _is_institution_s(word)


def _is_settlement_s(word: str) -> bool:
    return word.istitle() and word.lower() in word_list("place_nouns")


def _is_institution_s(word: str) -> bool:
    folded = word.lower()
    return word.istitle() and (folded in word_list("generic_institution_words") or folded in _KINDS)


@lru_cache(maxsize=4096)
def may_be_a_place(word: str, kind: int) -> bool:
    """Whether a word may be a town's: as `is_strange`, but one that nothing knows may end as rarer words do."""
    if not _is_no_word(word, kind):
        return False
    return bool(kind) or not (
        is_rare_word(word) or BUILT.fullmatch(word.lower()) or OF_MEDICINE.fullmatch(word.lower())
    )


def opens_a_place(words: list[regex.Match[str]], kinds: list[int], i: int) -> bool:
    """Whether an ordinary word stands before a noun of nature or settlement, as in "Willow Bend"."""
    if i + 1 >= len(words) or words[i + 1].start() - words[i].end() != 1 or kinds[i] & WordClass.CLINICAL:
        return False
    return _is_settlement_s(words[i + 1][0]) and fold_term(words[i][0]) not in word_list("clinical_words")


def is_strange(word: str, kind: int) -> bool:
    """Whether a capitalised word is neither English nor clinical, and, if on no list, not built like such a word."""
    return _is_no_word(word, kind) and (bool(kind) or is_unknown(word, kind))


def _is_no_word(word: str, kind: int) -> bool:
    """Whether a word is on no list of English or clinical words, and is neither an abbreviation nor a day."""
    return not (kind & _WORDS or len(word) < _SHORTEST or word.isupper() or word.lower() in _NO_NAMES)


@cache
def _first_of_eponyms() -> frozenset[str]:
    """The first words of the eponyms of several words, without their possessive."""
    firsts = (term.split()[0] for term in word_list("eponyms") if " " in term)
    return frozenset(word.removesuffix("'s") for word in firsts)
