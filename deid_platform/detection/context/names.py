"""Context of names: the titles and labels before a word, and the verbs of a person after it.

Belongs here: the context that distinguishes a patient's name or initials from the word or the abbreviation with
the same letters. Does not belong here: which words are names of patients (`topics/`).

Functions take the note's text and an interval of it, and look at most `REACH` code points to either side.
"""

from __future__ import annotations

import regex

from deid_platform.detection.context.persons import surely_a_person
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.classes import is_common
from deid_platform.lexicon.lists import word_list, written_terms
from deid_platform.text.compiled import compiled
from deid_platform.text.fold import fold_term
from deid_platform.text.lookbehind import Lookbehind

REACH = 60
"""Code points before and after a word that its context may fill."""

_LONGEST_ABBREVIATION = 3

_TITLE = Lookbehind(
    r"(?<![\p{L}\p{M}])(?:mr|mrs|ms|miss|mx|dr|drs|doctor|prof|professor|master|madam|sir|sister|rev|hon|capt|sgt|"
    r"nurse|sra?|srta|señora?|don|doña|sig|sig\.ra|signora?|dott|dott\.ssa|mme|mlle|monsieur|madame|herr|frau)"
    r"\.?[ \t]+(?:\p{Lu}\.[ \t]*)?\n?",
    REACH,
)
_DOCTOR = Lookbehind(r"(?<![\p{L}\p{M}])(?:drs?|doctor|prof|professor)\b\.?[ \t]+(?:\p{Lu}\.[ \t]*)?\n?", REACH)
_LABEL = Lookbehind(
    r"(?<![\p{L}\p{M}])(?:patient(?:['’]s)?(?:[ \t]+name)?|pt|client|name(?:[ \t]+is)?|named|called|dear|re|attn|cc|"
    r"aka|a\.k\.a\.|alias|nicknamed?|goes[ \t]+by|prefers|"
    r"(?:first|last|middle|maiden|given|family|sur|fore)(?:[ \t]?name)?(?=[ \t]*[:=]))"
    r"\b\.?[ \t]*[:=#]?[ \t]*[\"“'‘(]?\n?",
    REACH,
)
_KIN = Lookbehind(
    r"(?<![\p{L}\p{M}])(?:(?:step|grand|god|half-?|foster )?(?:son|daughter|mother|father|brother|sister|mom|dad|"
    r"parent|child|sibling)|"
    rf"{alternatives(written_terms('kin.en.sure.one'), any_writing=True, behind=True)}|baby)(?:[ \t]*-?[ \t]*in-law)?"
    r"[ \t]*(?:named|called|is|[,:(\-–])?[ \t]*\n?",
    REACH,
)
_ACTS = (
    r"is|was|has|had|does|did|denies|denied|reports|reported|states|stated|says|said|presents|presented|"
    r"complains|complained|feels|felt|notes|noted|describes|described|endorses|endorsed|admits|admitted|"
    r"lives|works|takes|took|returns|returned|comes|came|called|calls|agrees|agreed|declines|declined|"
    r"tolerated|tolerates|underwent|verbalizes|verbalized|appears|remains|continues|continued|wants|wanted|needs|"
    r"understands|understood|arrived|arrives|ambulated|ambulates|slept|ate|voided|consented|expressed|refused|"
    r"refuses|requested|requests|thinks|believes|hopes|smokes|drinks|eats|sleeps|walks|looks|seems|rates|recalls|"
    r"remembers|mentions|mentioned|tells|told|asks|asked|can(?:not)?|could|would|should"
)
_ADVERBS = r"(?:(?:also|now|still|again|currently|actually|really|just|then|always|never)[ \t]+)?"
# A number that is no age: "Max was 120".
_QUANTITY = r"[ \t]+\d++(?![\d\s\-–]*(?:y|mo|we|da)\p{L}*)"
_ACTING = compiled(
    rf"(?:['’]s\b|\s+{_ADVERBS}(?:{_ACTS})\b(?!{_QUANTITY})|"
    r",[ \t]+who\b|,[ \t]*(?:an?[ \t]+|aged?[ \t]+)?\d{1,3}[\s\-]*(?:y|mo|[mf]\b|/))",
    regex.IGNORECASE,
)
# What only somebody who speaks, feels or is of an age does: enough without any capital.
_SPEAKING = compiled(
    rf"\s+{_ADVERBS}(?:denies|denied|reports|reported(?!ly)|states|says|said|complains|complained|feels|endorses|endorsed|"
    r"verbalizes|verbalized|describes|lives|works|agrees|wants|understands|"
    r"(?:is|was)\s+(?:an?\s+)?(?:\p{L}+\s+)?\d{1,3}[\s-]*(?:y|mo|week|day)\p{L}*|"
    r"(?:is|was|has been)\s+(?:feeling|doing|complaining|worried|happy|anxious|tearful|pleasant|here|asleep|living|"
    r"working|accompanied|alert|awake|married|retired|divorced|widowed|single|a\s+(?:pleasant|delightful|very)))\b",
    regex.IGNORECASE,
)
_HUMANS = frozenset((
    "baby", "boy", "child", "daughter", "doctor", "father", "female", "girl", "husband", "infant", "lady", "male",
    "man", "mother", "nurse", "parent", "patient", "person", "pt", "sister", "son", "wife", "woman",
))  # fmt: skip
_SENTENCE_END = Lookbehind(r"(?:^|[\r\n.!?:;•*\-–—>|\[(\"“])\s*", REACH)
_NUMBER_AFTER = compiled(rf"[ \t]*[#=:]?[ \t]*\d|[ \t]+(?:is|was|of){_QUANTITY}")
_TOKEN = compiled(r"\p{L}[\p{L}\p{M}'’]*")
_MINOR_WORDS = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "per", "the", "to", "with"}
)

_MODAL = compiled(r"\s+(?:(?:not|also|likely|probably|possibly|certainly|definitely|then)\s+)?(?P<verb>\p{Ll}+)")
# After "I saw Will" or "May," these are no verbs.
_NO_VERBS = frozenset((
    "about", "after", "again", "alone", "and", "as", "at", "because", "before", "but", "by", "during", "early",
    "for", "from", "herself", "himself", "if", "in", "into", "last", "later", "on", "or", "over", "regarding",
    "since", "that", "this", "to", "today", "tomorrow", "tonight", "twice", "until", "via", "when", "where",
    "while", "who", "whose", "with", "yesterday",
))  # fmt: skip
_IN_THE_MONTH = Lookbehind(
    r"\b(?:in|since|until|till|last|next|this|early|late|mid|during|through|(?:end|beginning|middle|month|\d) of|"
    r"\d{1,2}(?:st|nd|rd|th)?)[\s\-]+",
    REACH,
)
_OF_THE_MONTH = compiled(r"[\s,.\-/]*(?:\d|['’]\d\d\b|of\s+(?:\d|this|last|next))|\s+(?:through|thru|until)\b")
_COLOURED = compiled(
    r"[ \t]+(?:(?:fe)?male|(?:wo)?m[ae]n|gentleman|lady|race|american|blood|cells?|counts?|matter|or|stools?|sputum|"
    r"discharge|phlegm|mucus|tinged|plaques?|coat(?:ed|ing)?|light|zone|top|tube|line|noise|tea|vegetables|leafy|"
    r"colou?r(?:ed)?|non-?hispanic|caucasian|drainage|emesis|bile|urine|lesions?|nodules?|patch(?:es)?)\b|"
    r"[ \t]*[/,\-][ \t]*(?:caucasian|non|or|white|yellow|brown)",
    regex.IGNORECASE,
)
_RACE = Lookbehind(r"(?:race|ethnicity|colou?r|hispanic)[ \t]*[:=]?[ \t]*(?:is[ \t]+)?\n?", REACH)
_THINGS = compiled(
    r"[ \t]+(?:surgery|clinic|cent(?:er|re)|exam(?:ination)?|pain|ct|mri|x-?rays?|injur(?:y|ies)|trauma|specialists?|"
    r"therapy|ultrasound|scan|protocol|unit|program|medicine|care|room|status|syndrome|disease|sign|test|manage(?:r|ment))\b",
    regex.IGNORECASE,
)


def _before(expression: str) -> Lookbehind:
    return Lookbehind(expression, REACH)


def _after(pattern: str) -> regex.Pattern[str]:
    return compiled(pattern, regex.IGNORECASE)


# The other sense of a word that is a name too: what stands before it, what follows it; None where nothing tells.
_MONTH_SENSE = (_IN_THE_MONTH, _OF_THE_MONTH)
_COLOUR_SENSE = (_RACE, _COLOURED)
_SENSES: dict[str, tuple[Lookbehind | None, regex.Pattern[str] | None]] = {
    **dict.fromkeys((*written_terms("months"), "spring", "summer", "autumn", "winter"), _MONTH_SENSE),
    **dict.fromkeys(
        ("white", "black", "brown", "green", "gray", "grey", "red", "blue", "gold", "silver", "pink"), _COLOUR_SENSE
    ),
    "max": (
        _before(r"\b(?:grade|assist|efforts?|doses?|daily|rate|temp|hr|flow|velocity|t|v|min)[ \t.:/\-]*\n?"),
        _after(
            r"[ \t.:/\-]*(?:assist|doses?|efforts?|hr\b|heart|flow|temp|of\b|per\b|predicted|gradient|velocity|daily|"
            r"weight|inspiratory|strength|[ax]\b|=)"
        ),
    ),
    "long": (
        None,
        _after(
            r"[\s-](?:term|qt|acting|standing|leg|arm|head|axis|bone|history|beach|island|course|stay|time|discussion|"
            r"period|lived|distance|segment)"
        ),
    ),
    "young": (None, _after(r"\s+(?:adult|(?:wo)?man|child|(?:fe)?male|lady|boy|girl|people|patient|onset)")),
    "day": (
        _before(
            r"\b(?:hospital|op(?:erative)?|pod|each|every|per|next|same|one|first|second|third|of|treatment|cycle|last|"
            r"this|all|good|other|mother['’]?s|father['’]?s|valentine['’]?s|memorial|labor|christmas|thanksgiving)"
            r"[\s-]+"
        ),
        _after(r"\s*(?:one|two|three|of|before|after|hospital|treatment)\b"),
    ),
    "page": (None, _after(r"\s+(?:one|of|to|me|us|with)\b")),
    "rose": (None, _after(r"\s+(?:bengal|to)\b")),
    "art": (_before(r"of the\s+"), _after(r"\s+(?:line|therapy)\b")),
    "case": (None, _after(r"\s+(?:report|conference|was|discussed)\b")),
    "bill": (_before(r"\b(?:hospital|medical|the|a)\s+"), _after(r"\s+(?:insurance|to|for)\b")),
}  # fmt: skip


def after_title(text: str, start: int) -> bool:
    """Whether a title stands before that place: "Mr. ", "Dr. J. ", "Sig.ra "."""
    return _TITLE(text, start)


def after_doctor_title(text: str, start: int) -> bool:
    """Whether the title before that place is a physician's or a professor's."""
    return _DOCTOR(text, start)


def after_label(text: str, start: int) -> bool:
    """Whether a label or a word for a person introduces that place: "Patient: ", "Pt ", "goes by ", "Dear "."""
    return _LABEL(text, start)


def after_kin(text: str, start: int) -> bool:
    """Whether a word for a relative introduces that place: "her husband ", "mother, "."""
    return _KIN(text, start)


def acts_as_person(text: str, end: int) -> bool:
    """Whether what follows is what a person does or has: " reports", " is a 54-year-old", "'s"."""
    return _ACTING.match(text, end, end + REACH) is not None


def speaks(text: str, end: int) -> bool:
    """Whether what follows is what nobody but a person does: " denies", " is feeling"; whatever the case."""
    return _SPEAKING.match(text, end, end + REACH) is not None


def in_capitals(text: str, start: int, end: int) -> bool:
    """Whether the words around an interval, on its line, have no small letter: a capital says nothing there."""
    before, after = _neighbours(text, start, end)
    beside = [word for word in (*before[-2:], *after[:2]) if len(word) > 1]
    return bool(beside) and all(word.isupper() for word in beside)


def is_abbreviation(text: str, start: int, end: int) -> bool:
    """Whether a word is written as one of every clinic's: "ANA" and "PEG" even in the notes of an Ana or a Peggy."""
    surface = text[start:end]
    return (
        len(surface) <= _LONGEST_ABBREVIATION
        and surface.isupper()
        and surface.lower() in word_list("short_abbreviations")
        and not in_capitals(text, start, end)
    )


def about_a_person(text: str, start: int, end: int) -> bool:
    """Whether letters that are an abbreviation or a word as well can be nothing there but somebody's name."""
    return after_title(text, start) or speaks(text, end) or surely_a_person(text, start, end)


def reads_as_name(text: str, start: int, end: int) -> bool:
    """Whether a common word at that place reads as a name: by its capital and by what stands around it.

    "Will denies pain", "saw Will today" and "Mr. Green" do; "will return", "Will return", "in May" and a word
    in a line of capitals do not. In small letters a title tells, or a verb that no modal takes: "will denies".
    """
    surface = text[start:end]
    word = fold_term(surface)
    if after_title(text, start):
        return True
    if not surface[0].isupper():
        return word not in _HUMANS and speaks(text, end)
    introduced = after_label(text, start) or after_kin(text, start)
    if len(surface) > 1 and surface.isupper():
        return about_a_person(text, start, end) or (introduced and not _in_other_sense(word, text, start, end))
    if _in_other_sense(word, text, start, end):
        return False
    if introduced or acts_as_person(text, end):
        return True
    return not _SENTENCE_END(text, start) and not _in_heading(text, start, end)


def _in_other_sense(word: str, text: str, start: int, end: int) -> bool:
    if word in ("will", "may"):
        verb = _MODAL.match(text[end : end + REACH].lower() if text[start:end].isupper() else text[end : end + REACH])
        if verb is not None and verb["verb"] not in _NO_VERBS and not acts_as_person(text, end):
            return True
    before, after = _SENSES.get(word, (None, None))
    return (
        _NUMBER_AFTER.match(text, end, end + REACH) is not None
        or (_THINGS.match(text, end, end + REACH) is not None)
        or (before is not None and before(text, start))
        or (after is not None and after.match(text, end, end + REACH) is not None)
    )


def _in_heading(text: str, start: int, end: int) -> bool:
    """Whether the words on both sides are capitalised and common, as in a heading or a title."""
    before, after = _neighbours(text, start, end)
    beside = [word for word in (*before[-2:], *after[:2]) if word.lower() not in _MINOR_WORDS]
    return len(beside) >= 2 and all(word[0].isupper() and is_common(fold_term(word)) for word in beside)


def _neighbours(text: str, start: int, end: int) -> tuple[list[str], list[str]]:
    before = text[max(0, start - REACH) : start].rpartition("\n")[2]
    after = text[end : end + REACH].partition("\n")[0]
    return _TOKEN.findall(before), _TOKEN.findall(after)
