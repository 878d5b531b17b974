"""What two or three letters stand for in a clinic, when they are not somebody's initials.

Belongs here: how well known letters are as an abbreviation. Does not belong here: whose initials they are, or where
they stand (`detection/topics/staff/`, `detection/topics/roster/initials.py`).
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

import regex

from deid_platform.lexicon.lists import word_list

# Credentials, offices, units and services: said of people and beside them, never their names.
_OFFICES = frozenset((
    "rn", "lpn", "lvn", "cna", "cma", "rma", "md", "do", "np", "pa", "crna", "cnm", "dnp", "rrt", "dpt", "otr", "msw",
    "bsn", "msn", "phd", "ed", "er", "or", "ir", "icu", "ccu", "sicu", "tcu", "iv", "ct", "mr", "mri", "us", "xr", "pt",
    "ot", "ob", "gyn", "gi", "gu", "hd", "ems", "snf", "ltc", "op", "pcp", "mds", "cdc",
))  # fmt: skip
_WORDS = frozenset(
    (
        "no",
        "yes",
        "na",
        "tbd",
        "of",
        "on",
        "the",
        "pm",
        "none",
        "to",
        "in",
        "is",
        "not",
        "for",
        "per",
        "and",
        "who",
    )
)
# Whom one calls, asks and discusses with by what they do.
_CONSULTED = frozenset((
    "cm", "sw", "rt", "st", "rd", "id", "nm", "ns", "nsg", "ps", "cv", "cts", "gs", "ic", "ep", "hem", "onc", "ent",
    "uro", "ccm", "mfm", "rx", "hh", "va", "dr", "hm", "poa", "apn", "fp", "im", "em", "dme", "ip", "lab", "nh", "gp",
))  # fmt: skip
# How and when something is given, and what is given, sent and placed.
_ORDERED = frozenset((
    "po", "im", "sc", "sq", "sl", "pr", "pv", "ac", "hs", "qd", "bd", "bid", "tid", "qid", "prn", "od", "os", "ou",
    "am", "pm", "ra", "ns", "lr", "io", "bp", "hr", "rr", "ua", "ng", "og", "bm", "bs", "ekg", "ecg", "cxr", "abx",
    "ivf", "tx", "dx", "hx", "sx", "fx", "ha", "cp", "mi", "dm", "ca", "lv", "rv", "le", "ue",
))  # fmt: skip
_DOTTED_TERMS = frozenset((
    "ac", "am", "bm", "bid", "cc", "ct", "do", "dc", "ed", "er", "ga", "gi", "gu", "hs", "id", "im", "ir", "iv", "md",
    "mr", "np", "ob", "od", "oob", "or", "os", "ot", "ou", "pa", "pc", "pm", "po", "pr", "prn", "pt", "qd", "qid",
    "rn", "sc", "sl", "sq", "tid", "us", "va",
))  # fmt: skip
# What makes letters a part of a term ("CK-MB", "anti-KR") or the name of a value ("KR 12", "KR: 4").
_JOINED_BEFORE = regex.compile(
    r"[^\s(\[{|,;\-–—~][-–—~+&.'’:=%@_\\]+\Z|(?<!\p{L}\p{L}|\s|/|^)/\Z|[\p{L}\p{N}%=<>@_#]\Z"
)
_JOINED_AFTER = regex.compile(
    r"['’](?!s\b)|[-–\\+&.:=%@_][^\s)\]]|/(?!\p{L}\p{L})|[ ]?[=<>+%]|:?[ ]+\#?\d(?!\d?[:/]\d|\d{3}(?!\d))"
)
_BESIDE = 12
_ABBREVIATED = ("short_abbreviations", "initials_stopwords", "common_words")
# Longer ones are also names of tests and drugs, and words.
_OF_THREE = ("abbreviations", "tests_and_scores", "clinical_words", "ordinary_words", "drugs")


class AbbreviationKind(IntEnum):
    """How little letters mean but somebody's initials."""

    OFFICE = 0
    WORD = 1
    CLINICAL = 2
    FREE = 3


@lru_cache(maxsize=4096)
def abbreviation_kind(letters: str) -> AbbreviationKind:
    """What folded letters are: an office ("rn"), a word ("or"), an abbreviation of every clinic ("ms"), or free."""
    if letters in _OFFICES:
        return AbbreviationKind.OFFICE
    if letters in _WORDS:
        return AbbreviationKind.WORD
    lists = _ABBREVIATED + _OF_THREE * (len(letters) > 2)
    known = letters in _CONSULTED or any(letters in word_list(name) for name in lists)
    return AbbreviationKind.CLINICAL if known else AbbreviationKind.FREE


def is_dotted_term(letters: str) -> bool:
    """Whether letters with full stops are a clinic's own: "p.o.", "b.i.d.", "M.D."."""
    return letters in _DOTTED_TERMS


def is_consulted(letters: str) -> bool:
    """Whether folded letters name a service that is asked and told as a person is: "d/w ID", "paged RT"."""
    return letters in _CONSULTED


def is_ordered(letters: str) -> bool:
    """Whether folded letters are what is given, sent or found: "given PO", "sent UA", "noted HA"."""
    return letters in _ORDERED


def stands_apart(text: str, start: int, end: int) -> bool:
    """Whether letters stand for themselves, and not as a part of a term or with a value."""
    before = text[max(0, start - 4) : start]
    return not _JOINED_BEFORE.search(before) and not _JOINED_AFTER.match(text, end, end + _BESIDE)
