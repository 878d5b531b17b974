"""Signatures: a name after the last sentence of a message, or alone on its last line.

Belongs here: what the end of a paragraph shows. Does not belong here: names after a closing or a greeting
(`en/messages.yaml`), initials (`topics/staff/`).
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from deid_platform.detection.api import Candidate, Source, SourceKind
from deid_platform.detection.rules.en.messages import addressee, is_a_name, is_short_name
from deid_platform.labels import Label
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.classes import WordClass, word_class
from deid_platform.lexicon.lists import written_terms

_SOURCE = Source(SourceKind.RULES, "signature")
_SCORE = 0.9
_LONGEST_END = 32
_REACH = 90  # code points of the end that are read
_MESSAGE_REACH = 600
_WORD = r"\p{Lu}[\p{L}\p{M}'’\-]+"
_NAME = rf"(?P<name>(?:\p{{Lu}}\.[ \t]?)?{_WORD}(?:[ \t](?:\p{{Lu}}\.?[ \t])?{_WORD})?)"
_CREDENTIAL = alternatives(
    [form for how in ("sure", "comma", "role") for form in written_terms(f"credentials.{how}")], any_writing=False
)
_CREDENTIALS = rf"(?:[ \t]*,?[ \t]+{_CREDENTIAL})*"
_EXTENSION = r"(?:[ \t]*,?[ \t]+(?i:x|ext\.?|pager|\#)[ \t]?\d{3,5})?"
_LAST = regex.compile(
    rf"(?P<ended>[.!?)][\"”’)]?|[,;])?(?P<gap>[ \t]{{1,4}}|[ \t]*\r?\n[ \t]*)(?P<dash>[-–—~]{{1,2}}[ \t]?)?"
    rf"{_NAME}{_CREDENTIALS}{_EXTENSION}[ \t]*[\"”)]?\s*$"
)
_SIGNED_ALONE = regex.compile(rf"[ \t]*(?P<dash>[-–—~]{{1,2}})[ \t]?{_NAME}{_CREDENTIALS}\s*")
_MAY_END = regex.compile(r"(?:\s|^)[-–—~]{0,2}(?:\p{Lu}\S*\p{L}[\"”)]?|(?i:x|ext\.?|pager|\#)?[ \t]?\d{3,5})$")
# What one writes to another person, and not about one.
_MESSAGE = regex.compile(
    r"(?<![\p{L}])(?i:please|pls|plz|thanks|thank[ ]you|thx|hi|hello|hey|dear|good[ ](?:morning|afternoon|evening)"
    r"|let[ ]me[ ]know|(?:can|could|would|will)[ ](?:you|u)|call[ ]me|will[ ]call"
    r"|sounds[ ]good|got[ ]it|ok[ ]to|fyi|i['’]ll|your?|gentile|car[oa]"
    r"|grazie|ti|le[ ]invio)(?!\p{L})"
)
_INITIAL = regex.compile(r"\p{Lu}\.[ \t]?")
_ITEM = regex.compile(r"[ \t]*(?:[-–—•*]|\d{1,2}[.)])[ \t]*\S")


def signature_names(text: str) -> Iterator[Candidate]:
    """The name with which a paragraph ends that is a message, or that is nothing but a signature after a dash."""
    tail = text[-_REACH:].rstrip()
    if not tail or tail[-1] in ".:,;" or not _MAY_END.search(tail, max(0, len(tail) - _LONGEST_END)):
        return  # as nearly all paragraphs end
    alone = _SIGNED_ALONE.fullmatch(text) if len(text) <= _REACH else None
    if alone is not None:
        signs = _signs(text, alone, sure=alone["dash"] != "-")
    else:
        last = _LAST.search(text, max(0, len(text) - _REACH))
        if last is None:
            return
        alone, signs = last, _closes(text, last)
    if signs:
        start, end = alone.span("name")
        yield Candidate.by_rule(start, end, Label.DOCTOR, _SCORE, _SOURCE)


def _closes(text: str, last: regex.Match[str]) -> bool:
    """Whether the last words of a paragraph sign it: after its last sentence, and after a dash or in a message."""
    parted = "\n" in last["gap"]
    sentence = last["ended"] is not None and last["ended"] not in ",;"
    if not sentence and not (parted and last["ended"]):
        return False
    if not _signs(text, last, sure=True):
        return False
    if last["dash"]:
        return sentence and not _is_item(text, last.start())
    return _MESSAGE.search(text, max(0, last.start() - _MESSAGE_REACH), last.start()) is not None


def _signs(text: str, match: regex.Match[str], *, sure: bool) -> bool:
    """Whether a match holds the name of a possible signer: a given name, or, at a certain position, any other."""
    start, end = match.span("name")
    initial = _INITIAL.match(text, start, end)
    start = initial.end() if initial else start
    if addressee(text, start, end) != (start, end):
        return False
    first = text[start:end].split()[0]
    return bool(word_class(first) & WordClass.GIVEN) or (sure and (is_a_name(first) or is_short_name(first)))


def _is_item(text: str, end: int) -> bool:
    """Whether the line that ends there is an item of a list."""
    start = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
    return _ITEM.match(text, start, end) is not None
