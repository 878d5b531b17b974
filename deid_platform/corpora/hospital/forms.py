"""A person, a date or a number written by a pattern.

Belongs here: what the tokens of a pattern stand for. Does not belong here: the plain slots (`slots`, `numbers`), those
of places (`place_forms`) or the patterns themselves (`data/ways`).

A pattern is copied as it stands, except for its tokens.

People (`{patient~L, F M.}`; also relative, relative2, author, pcp, attending, consultant, nurse):

    F f    first name, its initial          L l    surname, its initial
    M      middle initial                   N      nickname
    X x    surname, first name with a slip  A a    surname, first name without accents
    J S    surname with its hyphen, apostrophe or spaces removed, or a hyphen made a space
    P W    the first half of a double surname, and the second
    R      surname without its particle      U E    surname, first name in capitals beside what is not
    K      a middle name                     G      a generation ("Jr", "III")
    H      surname broken by a hyphen at the end of a line; with a soft hyphen: h
    B      surname with a space in it        C      surname letter by letter
    O o    surname, first name as a scanner reads it, one letter a digit or rn for m

Dates (`{past~Mon D, YYYY}`): YYYY YY, Month Mon MM M Rom (Roman month), DD D Do (4th) Word (fourth).

Numbers (`{patient.phone~### ###-####}`): `#` is the next digit of what the slot writes, `_` passes one over, `$` is
any digit; digits left over are written at the end unless one was passed over.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from deid_platform.corpora.hospital import dates, library, place_forms, slots
from deid_platform.corpora.hospital.chart import Chart
from deid_platform.corpora.hospital.numbers import DAYS, day_of
from deid_platform.corpora.hospital.rule import SlotRule
from deid_platform.corpora.hospital.spec import Shape
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.pools import Share, given_names

_PEOPLE = ("patient", "relative", "relative2", "author", "pcp", "attending", "consultant", "nurse")
_PERSON_TOKEN = re.compile(r"[A-Za-z]")
DATE_TOKEN = re.compile(r"YYYY|YY|Month|Mon|MM|M|Rom|DD|Do|D|Word")
_SOFT_HYPHEN = "\N{SOFT HYPHEN}"
# What a scanner takes for what; the first that occurs past the first letter is mistaken.
_SCANNED = (("l", "1"), ("o", "0"), ("m", "rn"), ("s", "5"), ("i", "1"), ("e", "c"), ("a", "o"), ("n", "ri"))


@dataclass(frozen=True, repr=False)
class Person:
    """The parts of a name; a note knows no middle initial of relatives and staff."""

    first: str
    last: str
    middle: str = ""
    nickname: str = ""
    sex: str = "F"
    share: Share = Share.HOSPITAL


def _person(chart: Chart, role: str) -> Person:
    if role == "patient":
        r = chart.resident
        return Person(r.first, r.last, r.middle, r.nickname, r.sex, chart.place.spec.name_share)
    if role in chart.relatives:
        kin = chart.relatives[role]
        return Person(kin.first, kin.last, nickname=library.nicknames().get(kin.first, kin.first))
    provider = chart.people[role].provider
    return Person(provider.first_name or "", provider.last_name or "")


def _plain(name: str) -> str:
    folded = unicodedata.normalize("NFKD", name.translate(str.maketrans("łŁøØı", "lLoOi")))
    return "".join(c for c in folded if not unicodedata.combining(c))


def _joined(name: str) -> str:
    return re.sub(r"[ '’-]", "", name)


def _middle(name: str) -> int:
    return max(2, len(name) // 2)


def _scanned(name: str) -> str:
    for right, wrong in _SCANNED:
        at = name.find(right, 1)
        if at > 0:
            return name[:at] + wrong + name[at + len(right) :]
    return name + "."


def _middle_name(person: Person, dice: Dice) -> str:
    """A name that the middle initial may stand for."""
    names = [name for name in given_names("en_US", person.sex, person.share) if name[0] == person.middle]
    return dice.pick(names) if names else person.middle


_PARTS: Mapping[str, Callable[[Person, Dice], str]] = {
    "F": lambda p, _: p.first,
    "f": lambda p, _: p.first[:1],
    "L": lambda p, _: p.last,
    "l": lambda p, _: slots.initials("", p.last),
    "M": lambda p, _: p.middle,
    "N": lambda p, _: p.nickname,
    "X": lambda p, dice: slots.misspelt(p.last, dice.between(0, 299)),
    "x": lambda p, dice: slots.misspelt(p.first, dice.between(0, 299)),
    "A": lambda p, _: _plain(p.last),
    "a": lambda p, _: _plain(p.first),
    "J": lambda p, _: _joined(p.last),
    "S": lambda p, _: p.last.replace("-", " "),
    "P": lambda p, _: re.split(r"[ -]", p.last)[0],
    "W": lambda p, _: re.split(r"[ -]", p.last)[-1],
    "R": lambda p, _: p.last.rpartition(" ")[2],
    "U": lambda p, _: p.last.upper(),
    "E": lambda p, _: p.first.upper(),
    "K": _middle_name,
    "G": lambda _, dice: dice.pick(("Jr", "Sr", "II", "III", "IV")),
    "H": lambda p, _: p.last[: _middle(p.last)] + "-\n" + p.last[_middle(p.last) :],
    "h": lambda p, _: p.last[: _middle(p.last)] + _SOFT_HYPHEN + p.last[_middle(p.last) :],
    "B": lambda p, _: p.last[: _middle(p.last)] + " " + p.last[_middle(p.last) :],
    "C": lambda p, _: "-".join(_joined(p.last)).upper(),
    "O": lambda p, _: _scanned(p.last),
    "o": lambda p, _: _scanned(p.first),
}


def part(token: str, person: Person, dice: Dice) -> str:
    """What one token of a pattern writes of a person's name."""
    return _PARTS[token](person, dice)


_SHAPES = (
    ("Xx", Shape.PATIENT_MISSPELT),
    ("N", Shape.PATIENT_NICKNAME),
    ("HhBC", Shape.NAME_BROKEN),
    ("Oo", Shape.NAME_SCANNED),
    ("AaJSPWR", Shape.NAME_RESPELT),
)


def _person_rule(role: str, pattern: str) -> SlotRule:
    tokens = _PERSON_TOKEN.findall(pattern)
    if not tokens or any(token not in _PARTS for token in tokens):
        raise DeidError(Code.TEMPLATE_INVALID, pattern)

    def write(chart: Chart) -> str:
        person = _person(chart, role)
        return _PERSON_TOKEN.sub(lambda match: part(match[0], person, chart.dice), pattern)

    family = role in ("patient", "relative", "relative2")
    label = Label.PATIENT if family else Label.DOCTOR
    shape = next((shape for letters, shape in _SHAPES if set(letters) & set(tokens)), None)
    if shape in (Shape.PATIENT_MISSPELT, Shape.PATIENT_NICKNAME) and role != "patient":
        shape = None
    if set(tokens) <= set("flM"):
        shape = {"patient": Shape.PATIENT_INITIALS}.get(role, None if family else Shape.PROVIDER_INITIALS)
    elif re.search(r"[FL]{2}", pattern):
        shape = Shape.NAME_RUN_TOGETHER
    if role == "patient" and tokens in (["F"], ["L"]):
        return SlotRule(write, label, Shape.PATIENT_COMMON_WORD, shape_if=slots.is_common_word(write))
    return SlotRule(write, label, shape)


_DATE_SHAPES = {
    "M/YY": Shape.MONTH_YEAR,
    "MM/YY": Shape.MONTH_YEAR,
    "M/YYYY": Shape.MONTH_YEAR,
    "MM/YYYY": Shape.MONTH_YEAR,
    "Do": Shape.STANDALONE_DAY,
}


def _date_rule(which: str, pattern: str) -> SlotRule:
    if not DATE_TOKEN.search(pattern):
        raise DeidError(Code.TEMPLATE_INVALID, pattern)

    def write(chart: Chart) -> str:
        parts = dates.parts(day_of(chart, which))
        return DATE_TOKEN.sub(lambda match: parts[match[0]], pattern)

    return SlotRule(write, Label.DATE, _DATE_SHAPES.get(pattern))


def _number_rule(plain: SlotRule, pattern: str) -> SlotRule:
    if not set(pattern) & set("#_"):
        raise DeidError(Code.TEMPLATE_INVALID, pattern)

    def write(chart: Chart) -> str:
        text = plain.value(chart)
        digits = iter("".join(c for c in text if c.isdigit()))

        def one(match: re.Match[str]) -> str:
            if match[0] == "$":
                return chart.dice.digits(1)
            digit = next(digits, "")
            return digit if match[0] == "#" else ""

        written = re.sub(r"[#_$]", one, pattern) if text else ""
        return written if "_" in pattern else written + "".join(digits)

    return plain._replace(value=write)


@cache
def rule(name: str, pattern: str) -> SlotRule:
    """The rule that writes the value of that name by a pattern.

    Raises:
        DeidError: `template-invalid` if there is no such value or the pattern has no token.
    """
    if name in _PEOPLE:
        return _person_rule(name, pattern)
    if name in DAYS:
        return _date_rule(name, pattern)
    plain = slots.rules().get(name)
    if plain is None or plain.label is None:
        raise DeidError(Code.TEMPLATE_INVALID, name)
    if "%" in pattern:
        return place_forms.rule(plain, name.rpartition(".")[2], pattern)
    return _number_rule(plain, pattern)
