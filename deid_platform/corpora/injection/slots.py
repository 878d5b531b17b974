"""What the slots of a way write.

Belongs here: names of slots, patterns of people, dates and numbers, and the label of each. Does not belong here: the
values (`chart.py`), the notation (`ways.py`) or words of a language (`words.py`).

Patterns are copied, except for their tokens. People: F f first name and its initial, L l surname, M middle initial,
K middle name, N nickname, U E surname and first name in capitals, X x surname and first name with one slip, A a without
accents, P W first and second half of a double surname, J surname joined. Who has no middle name or no second surname is
written without M, K or W and what stands around it ("F M. L" is "F L", never "John J. Smith"); so is N beside F.
Dates: YYYY YY Month Mon MM M DD D Do. Numbers: # is the next digit; digits left over stand at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from typing import NamedTuple

from anyascii import anyascii

from deid_platform.corpora.injection.chart import PEOPLE, Chart
from deid_platform.corpora.injection.words import months
from deid_platform.labels import Label
from deid_platform.lexicon.month_names import ordinal
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import Person

DAYS = ("note", "birth", "admit", "discharge", "past", "old", "next")
_DATE_TOKEN = re.compile(r"YYYY|YY|Month|Mon|MM|M|DD|Do|D")
_LETTER = re.compile(r"[A-Za-z]")
_MAY_LACK = frozenset("MKWN")
_BRACKETS = ("()", "[]", '""', "''", "«»", "“”", "‘’")
_FAMILY = ("patient", "relative", "relative2")
_OLD = 89

# Field of a chart -> its label. `doctor2.user` has the label of `doctor.user`.
_PERSONAL: Mapping[str, Label | None] = {
    "title": None, "kin": None, "Kin": None, "specialty": None,
    "street": Label.STREET, "city": Label.CITY, "state": Label.STATE, "zip": Label.ZIP, "country": Label.COUNTRY,
    "phone": Label.PHONE, "phone2": Label.PHONE, "pager": Label.PHONE, "fax": Label.FAX, "email": Label.EMAIL,
    "user": Label.USERNAME, "profession": Label.PROFESSION, "short": Label.HOSPITAL,
}  # fmt: skip
_PLAIN: Mapping[str, Label | None] = {
    "town": Label.CITY, "clinic": Label.HOSPITAL, "clinic2": Label.HOSPITAL, "employer": Label.ORGANIZATION,
    "pharmacy": Label.ORGANIZATION, "insurer": Label.ORGANIZATION, "school": Label.ORGANIZATION,
    "landmark": Label.LOCATION_OTHER, "url": Label.URL, "ip": Label.IPADDR, "mrn": Label.MEDICALRECORD,
    "plan": Label.HEALTHPLAN, "account": Label.ACCOUNT, "encounter": Label.IDNUM, "accession": Label.IDNUM,
    "license": Label.LICENSE, "device": Label.DEVICE, "plate": Label.VEHICLE, "vin": Label.VEHICLE,
    "biometric": Label.BIOID, "he": None, "He": None, "his": None, "His": None, "him": None,
}  # fmt: skip
_NUMBERS = ("mrn", "national_id", "plan", "account", "encounter", "accession", "license", "device", "plate", "vin",
            "biometric")  # fmt: skip
_NUMBER_FIELDS = ("phone", "phone2", "pager", "fax")


class Written(NamedTuple):
    """What writes one slot.

    Attributes:
        write: The text; empty where the chart has no such value.
        label: What it is; None for plain words.
        labelled: Whether that holds for a chart; always unless given.
    """

    write: Callable[[Chart], str]
    label: Label | None = None
    labelled: Callable[[Chart], Label | None] | None = None

    def in_case(self, change: Callable[[str], str]) -> Written:
        """The same in capitals, or without."""
        return self._replace(write=lambda chart: change(self.write(chart)))


@cache
def writer(name: str, pattern: str | None, language: str) -> Written:
    """What writes a slot.

    Args:
        name: Of the slot: `patient`, `patient.city`, `past`, `mrn`.
        pattern: For people and dates, or of a number.
        language: Of the note.

    Raises:
        KeyError: There is no such slot.
        ValueError: The pattern is none for it, or is missing.
    """
    if name in PEOPLE or name in DAYS:
        if not pattern:
            raise ValueError
        return _person(name, pattern) if name in PEOPLE else _date(name, pattern, language)
    plain = _value(name, language)
    if pattern is None:
        return plain
    field = name.rpartition(".")[2]
    if "#" not in pattern or not (name in _NUMBERS or field in _NUMBER_FIELDS):
        raise ValueError
    return plain._replace(write=lambda chart: in_pattern(plain.write(chart), pattern))


def _value(name: str, language: str) -> Written:
    if name == "national_id":
        return Written(lambda c: c.value("national_id"), labelled=lambda c: c.locale.national_id_label)
    if name == "patient.age":
        return Written(lambda c: str(c.age), labelled=lambda c: Label.AGE if c.age > _OLD else None)
    who, dot, field = name.partition(".")
    if dot:
        label = _PERSONAL[field]
        if who not in (*PEOPLE, "clinic", "clinic2"):
            raise KeyError(name)
        return Written(lambda c: c.field(who, field, language), label)
    return Written(lambda c: c.value(name), _PLAIN[name])


def _person(who: str, pattern: str) -> Written:
    """What writes a person; a pattern of parts that the person lacks writes nothing."""
    copied, tokens = _LETTER.split(pattern), _LETTER.findall(pattern)
    if not tokens:
        raise ValueError
    lacking = {"N": _nickname} if "F" in tokens else {}
    parts = [(lacking.get(token, _PARTS[token]), token in _MAY_LACK) for token in tokens]

    def write(chart: Chart) -> str:
        person = chart.person(who)
        text, before = "", copied[0]
        for number, (part, may_lack) in enumerate(parts, start=1):
            after = copied[number]
            if written := part(person, chart.dice):
                text, before = text + before + written, after
            elif may_lack:
                before = _closed(before, after, first=not text, last=number == len(parts))
            else:
                return ""
        return text + before if text else ""

    return Written(write, Label.PATIENT if who in _FAMILY else Label.DOCTOR)


def _nickname(person: Person, _: Dice) -> str:
    """Beside the first name; elsewhere that stands in for it."""
    return person.nickname


def _closed(before: str, after: str, *, first: bool, last: bool) -> str:
    """What stands between the neighbours of a part that is missing; a stop behind it was its own."""
    after = after.removeprefix(".")
    if before[-1:] + after[:1] in _BRACKETS:
        before, after = before[:-1], after[1:]
    if first:
        return before
    if last:
        return ("." if before.startswith(".") else "") + after
    return max(before, after, key=lambda text: len(text.strip()))


def _date(which: str, pattern: str, language: str) -> Written:
    tokens = _DATE_TOKEN.findall(pattern)
    if not tokens or tokens == ["YYYY"]:
        raise ValueError
    return Written(lambda c: written_date(c.day(which), pattern, language), Label.DATE)


def written_date(day: date, pattern: str, language: str) -> str:
    """A day by a pattern, with the names of the language's months."""
    return _DATE_TOKEN.sub(lambda token: _DATE_PARTS[token[0]](day, language), pattern)


def in_pattern(number: str, pattern: str) -> str:
    """A number's digits by a pattern; what is left of them stands at the end, letters at the front."""
    if not number:
        return ""
    digits = iter([c for c in number if c.isdigit()])
    letters = "".join(c for c in number if c.isalpha())
    written = "".join(next(digits, "") if c == "#" else c for c in pattern)
    return letters + written.rstrip(" -./") + "".join(digits)


_DATE_PARTS: Mapping[str, Callable[[date, str], str]] = {
    "YYYY": lambda d, _: str(d.year),
    "YY": lambda d, _: f"{d.year % 100:02d}",
    "Month": lambda d, language: months(language, short=False)[d.month - 1],
    "Mon": lambda d, language: months(language, short=True)[d.month - 1],
    "MM": lambda d, _: f"{d.month:02d}",
    "M": lambda d, _: str(d.month),
    "DD": lambda d, _: f"{d.day:02d}",
    "D": lambda d, _: str(d.day),
    "Do": lambda d, _: ordinal(d.day),
}


def _slip(name: str, dice: Dice) -> str:
    """A name with two letters swapped, one lost, or one twice."""
    if len(name) < 4:
        return name + name[-1:]
    at = dice.between(1, len(name) - 2)
    kind = dice.between(0, 2)
    if kind == 0 and name[at] != name[at + 1]:
        return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    return name[:at] + name[at + 1 :] if kind == 1 else name[: at + 1] + name[at:]


_PARTS: Mapping[str, Callable[[Person, Dice], str]] = {
    "F": lambda p, _: p.first,
    "f": lambda p, _: p.first[:1],
    "L": lambda p, _: p.last,
    "l": lambda p, _: p.last[:1],
    "M": lambda p, _: p.middle[:1],
    "K": lambda p, _: p.middle,
    "N": lambda p, _: p.nickname or p.first,
    "U": lambda p, _: p.last.upper(),
    "E": lambda p, _: p.first.upper(),
    "X": lambda p, dice: _slip(p.last, dice),
    "x": lambda p, dice: _slip(p.first, dice),
    "A": lambda p, _: anyascii(p.last),
    "a": lambda p, _: anyascii(p.first),
    "P": lambda p, _: re.split(r"[ -]", p.last)[0],
    "W": lambda p, _: re.split(r"[ -]", p.last)[-1] if re.search(r"[ -]", p.last) else "",
    "J": lambda p, _: re.sub(r"[ '’-]", "", p.last),
}
