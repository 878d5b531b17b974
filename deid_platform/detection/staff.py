"""Initials of the people who work in a clinic, by where they stand: signatures, dictation lines, charting columns.

Belongs here: which two or three letters of a note are a staff member's, whoever that is, and the initials of those
whom a note names. Does not belong here: a patient's initials (`roster/initials.py`), or names (`patterns/`).

A place says more or less. What stands where nothing but initials stands ("Transcribed: sa", "Handoff AM to CC", a
column headed "Init") counts whatever the letters; elsewhere ("- KR", "LM RN", "KR/dc") letters that every clinic uses
for something else count only if they are those of a known member of the staff. Units and credentials never count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

import regex

from deid_platform.detection.detector import word_list
from deid_platform.detection.naming import PARTICLES
from deid_platform.detection.reading import fold_term
from deid_platform.labels import Label
from deid_platform.notes import Span

_REACH = 60
_WIDEST = 400  # code points of a row of a table
_MOST_ROWS = 100
_SURE = 0.95  # proven by its place: no clinical abbreviation
_LIKELY = 0.8
_MOST_KNOWN = 200
"""Sets of initials beyond which to be among them says nothing: there are 676 of two letters."""

_CAPITALS = regex.compile(r"(?<![\p{L}\p{M}\p{N}])\p{Lu}{2,3}(?![\p{L}\p{M}\p{N}])")
_NAME = regex.compile(r"\p{L}[\p{L}\p{M}]*")
_CREDENTIALS = (
    r"(?:RN|LPN|LVN|CNA|CMA|RMA|MD|DO|NP|PA(?:-C)?|APRN|ARNP|CRNA|CNM|DNP|RRT|PharmD|RPh|DPT|OTR|LCSW|MSW|BSN|MSN)"
)
# Never initials, wherever they stand: credentials, units, and what is said of them.
_NEVER = frozenset((
    "rn", "lpn", "lvn", "cna", "cma", "rma", "md", "do", "np", "pa", "crna", "cnm", "dnp", "rrt", "dpt", "otr", "msw",
    "bsn", "msn", "phd", "ed", "er", "or", "ir", "icu", "ccu", "sicu", "tcu", "iv", "ct", "mr", "mri", "us", "xr", "pt",
    "ot", "ob", "gyn", "gi", "gu", "hd", "ems", "snf", "ltc", "op", "no", "yes", "na", "tbd", "of", "on", "the",
    "pm", "none", "to", "in", "is", "not", "for", "per", "and", "pcp", "mds", "who", "cdc",
))  # fmt: skip
_CLINICAL_PAIRS = frozenset((
    "nc/at", "ad/hd", "am/pm", "ac/pc", "bs/bm", "bp/hr", "hr/bp", "hr/rr", "cv/rs", "cn/ms", "dm/ht", "ca/mg", "na/cl",
    "bm/bs", "vs/io", "ap/pa", "rr/hr", "cr/bu", "ll/rl", "le/ue", "ue/le", "lt/rt", "rt/lt", "fx/dx", "hx/px", "dx/tx",
    "rx/tx", "sx/rx", "en/id",
))  # fmt: skip
_ITEM_ABOVE = regex.compile(r"(?:\A|\n)[ \t]*[-–—~•*][^\n]*\n$")
_ITEM_BELOW = regex.compile(r"\r?\n[ \t]*[-–—~•*]")
_LAST_LINE = regex.compile(r"\r?(?:\n[ \t\r]*(?:\n|$)|$)")
_DASHES = ("-", "–", "—", "~")
_SEPARATORS = "|\t;"
_SIGNED = regex.compile(r"[ \t]*(?:[-–—~]{1,2}|/s/)[ \t]*|.*[.!?)][ \t]+[-–—~]{1,2}[ \t]*")
_SENTENCE_DASH = regex.compile(r"[.!?)][ \t]*(?:[ \t]|(?:\r?\n[ \t]*)+)[-–—~]{1,2}[ \t]*$")
_CLOSED = regex.compile(r"[.!?)\d][ \t]*\r?\n$|\n[ \t]*\r?\n$")
_BLANK = regex.compile(r"[ \t]*(?:[-–—~][ \t]*)?")
_TYPIST = regex.compile(
    r"(?:/(?P<other>\p{Lu}{2,3}|\p{Ll}{2,3})|:(?P<other>\p{Lu}{2}|\p{Ll}{2,3}))"
    r"[ \t]*(?:\d{1,2}[/\-]\d{1,2}[/\-]\d{2,4}.*)?\r?$"
)
_TITLED = regex.compile(rf"[ \t]*,?[ \t]+{_CREDENTIALS}\b")
_TITLED_LINE = regex.compile(rf"[ \t]*,?[ \t]+{_CREDENTIALS}[ \t.]*$")
_TOLD = regex.compile(
    r"\b(?:report(?:ed)?|hand-?(?:ed[ \t]+)?off|given|per|by|from|to|with|w/|d/w|called|paged|notified)"
    r"[ \t]+(?:to[ \t]+)?$",
    regex.IGNORECASE,
)
_ROLE = regex.compile(
    r"\b(?:technologist|technician|sonographer|transcriptionist|transcriber|scribe|typist|"
    r"(?:verified|checked|witnessed|drawn|collected|administered|charted|recorded|documented|entered|typed|signed)"
    r"[ \t]+by)"
    r"[ \t]*[:,|=]?[ \t]*$|\binit(?:ial)?s?\.?[ \t]*[:=][ \t]*$",
    regex.IGNORECASE,
)
_RELIEVED = regex.compile(r"\b(?:hand-?off|hand-?over|relieved|relief|report)[ \t:]+(?:from[ \t]+)?$", regex.IGNORECASE)
_RELIEVER = regex.compile(
    r"\b(?:hand-?off|hand-?over|report)[ \t:]+(?:from[ \t]+)?\p{Lu}{2,3}[ \t]+(?:to|->|→|>)[ \t]+$", regex.IGNORECASE
)
_TO_ANOTHER = regex.compile(r"[ \t]+(?:to|->|→|>)[ \t]+\p{Lu}{2,3}(?![\p{L}\p{N}])")
_REACHED = regex.compile(r"[ \t]+(?:paged|notified|informed|aware|updated|called|texted|at bedside)\b")
_ASKED = regex.compile(r"\b(?:per|by|d/w|paged|notified|called|signed|asked)[ \t:]+$", regex.IGNORECASE)
# Before letters that are no clinic's abbreviation.
_DONE_BY = regex.compile(
    r"\b(?:assessed|reviewed|read|given|placed|taken|seen|done|performed|noted|completed|prepared|obtained|received|"
    r"co-?signed|ordered|removed|started|changed|hung|reported|sent|applied|inserted|notified)[ \t]+by[ \t:]+$|"
    r"(?<![\p{L}\p{N}])(?:rn|lpn|cna|nurse|tech|aide|author|staff|recorder|circulator|scrub|by)[ \t]*[:|][ \t]*$",
    regex.IGNORECASE,
)
_ENCLOSED = regex.compile(r"[.!?][ \t]*(?:[(\[]|/{1,2}[ \t]*)$")
_CLOSING = regex.compile(r"[)\]/]{0,2}[ \t]*$")
_BEFORE_NAME = regex.compile(
    rf"\)[ \t]+(?:\p{{Lu}}[\p{{L}}\p{{M}}'’.\-]*[ \t]+){{0,3}}\p{{Lu}}[\p{{L}}\p{{M}}'’.\-]+"
    rf"[ \t]*,[ \t]*{_CREDENTIALS}\b"
)
_DICTATED = regex.compile(r"(?<![\p{L}\p{N}])(?:DD?|dict(?:ated|ator)?)[ \t]?:[ \t]*$", regex.IGNORECASE)
_THEN_TYPED = regex.compile(r"[ \t,;/|]*(?:TT?|trans\p{L}*)[ \t]?:[ \t]*(?P<other>\p{L}{2,3})(?![\p{L}\p{N}])")
_FIELD = regex.compile(r"[:=][ \t]*(?P<initials>\p{L}{2,3})(?=[ \t]*(?:[.,;|)\r\n]|$))")
_FIELD_NAME = regex.compile(
    r"(?<![\p{L}\p{N}])(?:transcribed|transcriber|transcriptionist|typed|typist|scribed?|initials|dictator)"
    r"(?:[ \t]+by)?[ \t]*$",
    regex.IGNORECASE,
)
_HEADING = regex.compile(
    r"[|\t;\n][ \t]{0,20}+(?i:init(?:ial)?s?|by|rn|nurse|staff|tech|signed|signature|sig|(?:done|given|charted)[ ]by)"
    r"\.?[ \t]*(?=[|\t;\r\n])"
)
_CELL = regex.compile(r"[ \t]*(?P<one>\p{Lu}{2,3})(?:[ \t]*[/,][ \t]*(?P<two>\p{Lu}{2,3}))?[ \t\r]*")


def staff_initials(text: str, known: Collection[str], source: str) -> Iterator[Span]:
    """Initials of staff in a whole note.

    Args:
        text: The note.
        known: Initials, in small letters, of people of whom the note may speak.
        source: What the spans name as their source.
    """
    known = known if len(known) <= _MOST_KNOWN else ()
    for match in _CAPITALS.finditer(text):
        start, end = match.span()
        if match[0].lower() in _NEVER:
            continue
        left, right = _line(text, start, end)
        if after := _other(text, start, end, left, right, known):
            yield Span(start, end, Label.DOCTOR, _LIKELY, source)
            yield Span(*after, Label.DOCTOR, _LIKELY, source)
        elif score := _score(text, start, end, left, right, known):
            yield Span(start, end, Label.DOCTOR, score, source)
    for start, end in (*_in_fields(text), *_in_columns(text)):
        yield Span(start, end, Label.DOCTOR, _SURE, source)


def initials_of(text: str, people: Iterable[Span]) -> frozenset[str]:
    """The initials, in small letters, of the staff among the people found in a note."""
    return frozenset(
        letters
        for span in people
        if span.label is Label.DOCTOR
        for letters in name_initials(text[span.start : span.end])
    )


def name_initials(name: str) -> Iterator[str]:
    """First and last, and all initials of a full name: "Ana Liz Mendes" gives "am" and "alm"; none of one word."""
    last, comma, first = name.partition(",")
    ordered = f"{first} {last}" if comma else name
    letters = [fold_term(word)[0] for word in _NAME.findall(ordered) if word.lower() not in PARTICLES]
    if len(letters) > 1:
        yield letters[0] + letters[-1]
        if len(letters) == 3:
            yield "".join(letters)


def _other(text: str, start: int, end: int, left: int, right: int, known: Collection[str]) -> tuple[int, int] | None:
    """Whoever typed what these initials dictated: the second half of "KR:dc", "AM/CC" or "D: JS T: ab"."""
    pair = None
    if _BLANK.fullmatch(text, left, start):
        pair = _TYPIST.match(text, end, right)
    elif _DICTATED.search(text, left, start):
        pair = _THEN_TYPED.match(text, end, right)
    if pair is None:
        return None
    one, two = fold_term(text[start:end]), fold_term(pair["other"])
    clear = not (_abbreviates(one) and _abbreviates(two)) or one in known or two in known
    # In small letters after a colon, or alone between a sentence and a blank line, hardly anything else stands.
    placed = pair["other"].islower() or (len(one) == len(two) == 2 and _closes(text, left, right))
    if two in _NEVER or f"{one}/{two}" in _CLINICAL_PAIRS or not (clear or placed):
        return None
    first, last = pair.span("other")
    return first, last


def _score(text: str, start: int, end: int, left: int, right: int, known: Collection[str]) -> float:
    """How sure it is that capitals at that place of a line are a staff member's initials; 0 if not at all."""
    if _stands_sure(text, start, end, left, right):
        return _SURE
    letters = fold_term(text[start:end])
    signs = _signs(text, start, end, left, right)
    if _abbreviates(letters) and letters not in known:
        return _SURE if signs and len(letters) == 2 and _after_sentence(text, start, left) else 0.0
    if signs:
        return _SURE if letters in known else _LIKELY
    if letters not in known or _abbreviates(letters):
        return 0.0
    alone = not text[left:start].strip() and not text[end:right].strip()
    return _LIKELY if alone or _ASKED.search(text, left, start) or _REACHED.match(text, end, right) else 0.0


def _stands_sure(text: str, start: int, end: int, left: int, right: int) -> bool:
    """Whether nothing but a member of the staff stands at such a place."""
    if _ROLE.search(text, left, start) or _RELIEVER.search(text, left, start):
        return True
    if _RELIEVED.search(text, left, start):
        return _TO_ANOTHER.match(text, end, right) is not None
    if text[start - 1 : start] == "(" and _BEFORE_NAME.match(text, end, end + 2 * _REACH):
        return True
    if _BLANK.fullmatch(text, left, start):
        return _TITLED_LINE.match(text, end, right) is not None
    return _TITLED.match(text, end, right) is not None and _TOLD.search(text, left, start) is not None


def _signs(text: str, start: int, end: int, left: int, right: int) -> bool:
    """Whether capitals end a line as a signature does, or have a credential after them."""
    if _TITLED.match(text, end, right) or _DONE_BY.search(text, left, start):
        return True
    if _ENCLOSED.search(text, left, start) and _CLOSING.match(text, end, right):
        return True
    if text[end:right].strip() or not _SIGNED.fullmatch(text, left, start):
        return False
    # An item of a list is no signature.
    bullet = text[left:start].strip() in _DASHES and _ITEM_ABOVE.search(text, max(0, left - _WIDEST), left)
    return not bullet and not _ITEM_BELOW.match(text, right)


def _after_sentence(text: str, start: int, left: int) -> bool:
    """Whether a dash, and before it the end of a sentence, stands before a place."""
    return _SENTENCE_DASH.search(text, max(0, left - _REACH), start) is not None


def _closes(text: str, left: int, right: int) -> bool:
    """Whether a line is the last of its paragraph and comes after the end of a sentence, or after a blank line."""
    return bool(_LAST_LINE.match(text, right)) and _CLOSED.search(text, max(0, left - _REACH), left) is not None


def _line(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the line around a place begins and ends, as far as it matters."""
    left = max(0, start - _REACH, text.rfind("\n", max(0, start - _REACH), start) + 1)
    right = text.find("\n", end, end + _REACH)
    right = right if right >= 0 else min(len(text), end + _REACH)
    return left, right - (right > end and text[right - 1] == "\r")


def _in_fields(text: str) -> Iterator[tuple[int, int]]:
    """Initials in a field of the dictation line, also in small letters: "Transcribed: sa"."""
    for match in _FIELD.finditer(text):
        initials, start = match["initials"], match.start()
        letters = initials in (initials.upper(), initials.lower()) and initials.lower() not in (*_NEVER, "by")
        if letters and _FIELD_NAME.search(text, max(0, start - _REACH), start):
            yield match.span("initials")


def _in_columns(text: str) -> Iterator[tuple[int, int]]:
    """Initials in the cells under a heading such as "Init" or "By"."""
    read: dict[int, int] = {}  # how far each column has been read: a heading there is none
    for heading in _HEADING.finditer(text):
        top = text.rfind("\n", max(0, heading.start() - _WIDEST), heading.start() + 1) + 1
        bottom = text.find("\n", heading.end(), heading.end() + _WIDEST)
        header = text[top:bottom] if 0 <= bottom < top + _WIDEST else ""
        sign = next((sign for sign in _SEPARATORS if sign in header), None)
        if sign is None:
            continue
        column = text.count(sign, top, heading.end())
        if heading.start() < read.get(column, 0):
            continue
        start = bottom + 1
        for _ in range(_MOST_ROWS):
            stop = text.find("\n", start, start + _WIDEST)
            stop = stop if stop >= 0 else min(len(text), start + _WIDEST)
            if text.count(sign, start, stop) != header.count(sign):
                break
            yield from _in_cell(text, start, stop, sign, column)
            start = stop + 1
        read[column] = start - 1


def _in_cell(text: str, start: int, stop: int, sign: str, column: int) -> Iterator[tuple[int, int]]:
    for _ in range(column):
        start = text.find(sign, start, stop) + 1
    edge = text.find(sign, start, stop)
    cell = _CELL.fullmatch(text, start, edge if edge >= 0 else stop)
    for group in ("one", "two"):
        if cell is not None and cell[group] and cell[group].lower() not in _NEVER:
            yield cell.span(group)


@lru_cache(maxsize=4096)
def _abbreviates(letters: str) -> bool:
    """Whether every clinic writes these letters for something else."""
    return letters in word_list("short_abbreviations") or letters in word_list("initials_stopwords")
