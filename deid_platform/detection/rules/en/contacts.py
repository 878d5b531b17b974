"""Validators of contacts: whether digits are a telephone number, a network address or a link.

Belongs here: the validators that `contacts.yaml` names. Does not belong here: patterns (`contacts.yaml`).
"""

from __future__ import annotations

import ipaddress

import regex

from deid_platform.detection.rules.engine.validator import Interval, validator

# Where the numbering plans are known that a number without a country code is tried on, the likeliest first.
_REGIONS = ("US", "CA", "GB", "AU", "FR", "ES", "IT", "IN", "DE")
_DATE_LIKE = regex.compile(
    r"\d{1,2}[ ./\-]\d{4}|\d{1,2}[ ./\-]\d{1,2}[ ./\-](?:\d{2}|\d{4})|\d{4}(?:[ ./\-]\d{1,2}){2}"
    r"|(?:\d{4}[/.\-]|\d{1,2}[/.\-]\d{1,2})(?:19|20)\d\d"  # one separator lost
)
# Rows of answers are digits one by one as well, and none of theirs is large.
_ANSWERS = regex.compile(
    r"\b(?:scor(?:e[ds]?|ing)|items?|answers?|responses?|grades?|ratings?|phq-?\d?|gad-?7|epds|audit|cage|questions?|row)"
    r"\b[^\r\n]{0,30}$",
    regex.IGNORECASE,
)
_CALLED = regex.compile(
    r"\b(?:call(?:s|ed|ing)?|phones?|tel|telephone|cell|mobile|ph|contact|dial|reach(?:ed)?|text|number|pager|beeper|fax)"
    r"\b[^\d\r\n]{0,24}$",
    regex.IGNORECASE,
)
_LARGEST_ANSWER = "4"
_NETWORK = regex.compile(r"\b(?:ip|ipv4|host|server|address|network|subnet|from)\b\W{0,6}$", regex.IGNORECASE)


_EXTENSION = regex.compile(r"[ \t,;]{0,3}\(?\p{L}{1,9}\.?[ \t:#.]{0,3}\d{1,6}\)?$|#\d{1,6}$")
_IPV6 = regex.compile(r"(?=.*\d)(?:.*[A-Fa-f]|.*[0-9A-Fa-f]{4}|.*\.|(?:[^:]+:){7})")
_OPENING = {")": "(", "]": "["}


@validator
def international_phone(text: str, start: int, end: int) -> Interval | None:
    """A number that begins with + and has a possible length for its country."""
    import phonenumbers  # deferred: most notes never need it

    try:
        number = phonenumbers.parse(_EXTENSION.sub("", text[start:end]).replace("(0)", ""))
    except phonenumbers.NumberParseException:
        return None
    return (start, end) if phonenumbers.is_possible_number(number) else None


@validator
def foreign_phone(text: str, start: int, end: int) -> Interval | None:
    """A number after the prefix of calls abroad ("0044 20 ..."), which begins with the code of its country."""
    number = text[start:end].removeprefix("011").removeprefix("00")
    return (start, end) if _valid_in("+" + number, "ZZ") else None


def _valid_in(number: str, region: str) -> bool:
    import phonenumbers  # deferred: most notes never need it

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


@validator
def valid_phone(text: str, start: int, end: int) -> Interval | None:
    """Ten digits without separators that are an assigned American number."""
    return (start, end) if _valid_in(text[start:end], "US") else None


@validator
def phone_digit_by_digit(text: str, start: int, end: int) -> Interval | None:
    """Ten digits one by one that are an assigned American number, and no row of answers to a questionnaire."""
    digits = "".join(c for c in text[start:end] if c.isdigit())
    before = text[max(0, start - 40) : start]
    if _CALLED.search(before):
        return start, end
    answers = max(digits) <= _LARGEST_ANSWER or _ANSWERS.search(before)
    return None if answers or not _valid_in(digits, "US") else (start, end)


@validator
def regional_phone(text: str, start: int, end: int) -> Interval | None:
    """A number that is valid in the numbering plan of one of the regions served."""
    surface = text[start:end]
    if _DATE_LIKE.fullmatch(surface):
        return None
    return (start, end) if any(_valid_in(surface, region) for region in _REGIONS) else None


@validator
def dialled(text: str, start: int, end: int) -> Interval | None:
    """Digits after a word such as "call", of a telephone number's length even where one is lost or gained."""
    digits = sum(c.isdigit() for c in text[start:end])
    return (start, end) if 7 <= digits <= 13 and not _DATE_LIKE.fullmatch(text[start:end]) else None


@validator
def ip_address(text: str, start: int, end: int) -> Interval | None:
    """An IPv4 or IPv6 address; one of four single digits, as sections are numbered, only where a word says so.

    A short IPv6 address must have a digit and a letter, or a group of four: "12::30" is a slip in a time of day.
    """
    surface = text[start:end]
    try:
        ipaddress.ip_address(surface)
    except ValueError:
        return None
    if ":" in surface and not _IPV6.match(surface):
        return None
    numbered = len(surface) == 7 and ":" not in surface
    return (start, end) if not numbered or _NETWORK.search(text, max(0, start - 24), start) else None


@validator
def link(text: str, start: int, end: int) -> Interval | None:
    """A web address without the punctuation of the sentence around it; a bracket that it opens belongs to it."""
    while end > start and text[end - 1] in ".,;:!?)]}>\"'":
        opening = _OPENING.get(text[end - 1])
        if opening and text.count(opening, start, end) >= text.count(text[end - 1], start, end):
            break
        end -= 1
    return (start, end) if end - start > 3 else None
