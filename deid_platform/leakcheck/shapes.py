"""What still has the shape of an identifier, whoever's it is.

Belongs here: shapes that hardly anything else in a note has. Does not belong here: identifiers that only
the topics can tell (`roster.py`, `strangers.py`), or ages (`ages.py`).

Repetitions are bounded: a hostile text must not cost more than its length. A pattern starts with what it must
find rather than with a look behind, which lets `re` skip to the next candidate: twice as fast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ipaddress import IPv6Address

from deid_platform.leakcheck.ages import age_left
from deid_platform.leakcheck.comparable import ComparableText
from deid_platform.leakcheck.kinds import LeakKind

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_SSN = re.compile(r"[0-9](?<![0-9].)[0-9]{2}-[0-9]{2}-[0-9]{4}(?![0-9])")
# By the North American plan neither area nor exchange starts with 0 or 1, as columns of results may.
_PHONE = re.compile(
    r"[(2-9](?<![0-9].)(?:(?<=\()[2-9][0-9]{2}\) {0,2}|(?<=[0-9])[0-9]{2}[-. ])[2-9][0-9]{2}[-. ][0-9]{4}(?![0-9])"
)
_URL = re.compile(r"https?://\S|(?<!\w)www\.\w")
_IP4 = re.compile(r"[0-9](?<![0-9.].)[0-9]{0,2}(?:\.[0-9]{1,3}){3}(?![0-9]|\.[0-9])")
_IP6 = re.compile(r":(?:[0-9a-f]{1,4}:){3}")
_SHORT_IP6 = re.compile(r"(?<![\w:.])(?:[0-9a-f]{1,4}:){0,7}:[0-9a-f:.]{0,39}")
_TELLS_IP6 = re.compile(r"[a-f]|[0-9]{4}|\.")
_MRN_CUES = frozenset(("mrn", "med", "medical", "chart", "acct", "account"))
_MRN = re.compile(
    r"(?<![^\W_])(?:mrn|med(?:ical)? rec(?:ord)?(?: (?:number|no|num))?|chart (?:number|no)|acct|account (?:number|no))"
    r"(?![^\W_])[\s.:#=]{0,4}(?:is )?[a-z]{0,3}-?\d(?:-?\d){4,14}(?!\d)"
)
_CARD = re.compile(r"[3-6](?<![0-9.-].)[0-9]{3}(?:[ -]?[0-9]{4}){2}[ -]?[0-9]{1,7}(?![0-9-])")
_UNIT = r"(?!\s?(?:mg|mcg|ml|cc|cm|mm|units?|tabs?|tablets?|caps?|capsules?|drops?|doses?|days?|weeks?|x)\b|\s?%)"
_NUMERIC_DATE = re.compile(
    r"(?<![\d./])(?<!\d-)(?:"
    r"(?P<a>\d{1,2})\s?(?P<sep>[/.-])\s?(?P<b>\d{1,2})\s?(?P=sep)\s?(?:19|20)\d\d"
    r"|(?P<c>\d{1,2})/(?P<d>\d{1,2})/\d\d"
    r"|(?P<e>\d\d)(?P<dash>[.-])(?P<f>\d\d)(?P=dash)\d\d"
    r"|(?:19|20)\d\d(?P<mark>[/.-])(?P<g>\d{1,2})(?P=mark)(?P<h>\d{1,2})"
    r"|(?P<month>0?[1-9]|1[0-2])/(?:19|20)\d\d"
    # A dash may lead to another date, not to the rest of a longer number.
    r")(?!\d|/\d|-\d+(?![\d/.-]))" + _UNIT
)
# Further numbers behind or before it, as in a file's number, make a day that a calendar could hold no less one.
_DATE_AMONG_NUMBERS = re.compile(
    r"(?<!\d)(?:(?P<a>\d{1,2})(?P<sep>[/-])(?P<b>\d{1,2})(?P=sep)(?:19|20)\d\d(?!\d)"
    r"|(?:19|20)\d\d(?P<mark>[/-])(?P<c>\d\d)(?P=mark)(?P<d>\d\d)(?!\d)"
    r"|(?<!\d\.)(?P<e>\d\d)\.(?P<f>\d\d)\.(?:19|20)\d\d(?=[/.-]\d)"
    r"|(?<!\d/)(?P<g>0\d)/(?P<h>\d\d)/\d\d(?=/\d{1,2}(?!\d))(?!/\d\d/\d\d(?!\d)))"
)
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|JANUARY|FEBRUARY|MARCH|APRIL|MAY|JUNE|JULY|AUGUST|SEPTEMBER|OCTOBER|NOVEMBER|DECEMBER"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_MONTH_WORDS = frozenset(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    """.split()  # noqa: SIM905 - a list literal would fill a screen
)
_SHORT = r"(?:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEPT?|OCT|NOV|DEC)\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:19|20)\d\d"
_WORDY_DATE = re.compile(
    rf"(?<![^\W_])(?:{_MONTH}[\s-]{{1,2}}{_DAY}(?![^\W_]|[.:/]\d){_UNIT}"
    rf"|{_MONTH},?[\s-](?:of )?{_YEAR}(?!\d)"
    rf"|(?<![\d./])\d{{1,2}}(?:(?:st|nd|rd|th)[\s-]?(?:of )?|[\s-]?(?:of )?(?!May[\s,](?!{_YEAR})))"
    rf"{_MONTH}(?![^\W_])"
    rf"|{_DAY}[\s-]?{_SHORT}[\s-]?(?:{_YEAR}|\d\d)(?!\d)"
    rf"|{_SHORT}[\s-]{_DAY},?[\s-]{_YEAR}(?!\d)"
    rf"|{_SHORT},?[\s-]{_YEAR}(?!\d))"
)


def shapes_left(reading: ComparableText) -> Iterator[LeakKind]:
    """The kinds of shape that a text still shows, each once."""
    for kind, test in _TESTS:
        if test(reading.folded):
            yield kind
    if not _MRN_CUES.isdisjoint(reading.words) and _MRN.search(reading.folded):
        yield LeakKind.MRN_SHAPE
    if age_left(reading):
        yield LeakKind.AGE_SHAPE
    # Only the text as written tells March from a march.
    if _numeric_date(reading.folded) or (
        not _MONTH_WORDS.isdisjoint(reading.words) and _WORDY_DATE.search(reading.text)
    ):
        yield LeakKind.DATE_SHAPE


def _email(folded: str) -> bool:
    return "@" in folded and _EMAIL.search(folded) is not None


def _ip(folded: str) -> bool:
    """An address, rather than the number of a paragraph or of a version."""
    for match in _IP4.finditer(folded):
        octets = match.group().split(".")
        if all(int(octet) < 256 for octet in octets) and (
            max(map(len, octets)) == 3 or sum(len(octet) > 1 for octet in octets) > 1
        ):
            return True
    return _IP6.search(folded) is not None or ("::" in folded and any(map(_short_ip6, _SHORT_IP6.findall(folded))))


def _short_ip6(written: str) -> bool:
    """An IPv6 address with zeros left out; a digit and a letter, or a group of four, tell it from "12::30"."""
    try:
        IPv6Address(written.rstrip(".:"))
    except ValueError:
        return False
    return any(c.isdigit() for c in written) and _TELLS_IP6.search(written) is not None


def _url(folded: str) -> bool:
    return ("http" in folded or "www." in folded) and _URL.search(folded) is not None


def _card(folded: str) -> bool:
    return any(_luhn(re.sub(r"\D", "", match.group())) for match in _CARD.finditer(folded))


def _luhn(digits: str) -> bool:
    doubled = (int(d) * (1 + place % 2) for place, d in enumerate(reversed(digits)))
    return 13 <= len(digits) <= 19 and sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0


def _numeric_date(folded: str) -> bool:
    """A date of day, month and year, or of month and four-digit year, that a calendar could hold."""
    if any(match["month"] or _possible(match) for match in _NUMERIC_DATE.finditer(folded)):
        return True
    return any(map(_possible, _DATE_AMONG_NUMBERS.finditer(folded)))


def _possible(match: re.Match[str]) -> bool:
    """Whether the two numbers beside the year can be a day and a month."""
    numbers = [int(n) for name in "abcdefgh" if (n := match[name])]
    return 0 < min(numbers) <= 12 and 0 < max(numbers) <= 31


def _found(shape: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda folded: shape.search(folded) is not None


_TESTS: tuple[tuple[LeakKind, Callable[[str], bool]], ...] = (
    (LeakKind.EMAIL_SHAPE, _email),
    (LeakKind.SSN_SHAPE, _found(_SSN)),
    (LeakKind.PHONE_SHAPE, _found(_PHONE)),
    (LeakKind.URL_SHAPE, _url),
    (LeakKind.IP_SHAPE, _ip),
    (LeakKind.CARD_SHAPE, _card),
)
