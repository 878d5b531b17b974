"""What a slot writes, what it is, and which shape it has.

Belongs here: the table from slot names to values of a chart, with label and shape; people in full. Does not belong
here: prose; places (`places`), dates and numbers (`numbers`), patterns (`forms`). A slot without a label is plain text
(a pronoun, a credential); one with a label is gold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from deid_platform.corpora.hospital.chart import OLD_AGE, Chart
from deid_platform.corpora.hospital.library import pairs, words
from deid_platform.corpora.hospital.numbers import date_rules, number_rules
from deid_platform.corpora.hospital.people import Kin, Staff
from deid_platform.corpora.hospital.places import place_rules
from deid_platform.corpora.hospital.rule import SlotRule
from deid_platform.corpora.hospital.spec import Shape
from deid_platform.labels import Label


def misspelt(name: str, slip: int) -> str:
    """The name with one slip of the hand in its last word: two letters swapped, one lost or one doubled.

    Args:
        name: At least two letters.
        slip: Any number; it says which slip, and where (never at the first letter).
    """
    before, space, word = name.rpartition(" ")
    place = 1 + slip // 3 % max(1, len(word) - 2)
    head, letter, rest = word[:place], word[place], word[place + 1 :]
    if slip % 3 == 0 and rest and rest[0] != letter:
        word = head + rest[0] + letter + rest[1:]
    elif slip % 3 == 1 and len(word) > 4:
        word = head + rest
    else:
        word = head + letter + letter + rest
    return before + space + word


@cache
def _common_words() -> frozenset[str]:
    return frozenset(words("surnames_common_words")) | {name for name, _ in pairs("first_common_words")}


@cache
def _eponyms() -> frozenset[str]:
    return frozenset(words("surnames_eponyms"))


def is_common_word(value: Callable[[Chart], str]) -> Callable[[Chart], bool]:
    """Whether what is written is also an everyday word."""
    return lambda chart: value(chart) in _common_words()


def initials(first: str, last: str) -> str:
    """The first letter of each; of a surname with a particle, the first capital."""
    return first[:1] + "".join(c for c in last if c.isupper())[:1]


def _title(chart: Chart) -> str:
    if "minor" in chart.facts:
        return ""
    if chart.resident.sex == "M":
        return "Mr. "
    return "Mrs. " if any(kin.kin == "husband" for kin in chart.resident.kin) else "Ms. "


def _formal(chart: Chart) -> str:
    return chart.resident.first if "minor" in chart.facts else chart.resident.last


def _noun(chart: Chart) -> str:
    if "newborn" in chart.facts:
        return "infant"
    young = "minor" in chart.facts
    if chart.resident.sex == "M":
        return "boy" if young else "man"
    return "girl" if young else "woman"


def _age(chart: Chart) -> int:
    days = (chart.days["note"] - chart.resident.born).days
    if days < 28:
        return days
    return max(1, days // 30) if chart.years < 2 else chart.years


def _age_unit(chart: Chart) -> str:
    if "newborn" in chart.facts:
        return "day"
    return "month" if chart.years < 2 else "year"


_ONES = ("", "-one", "-two", "-three", "-four", "-five", "-six", "-seven", "-eight", "-nine")
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def _age_in_words(chart: Chart) -> str:
    return _TENS[chart.years // 10] + _ONES[chart.years % 10] if 20 <= chart.years < 100 else str(chart.years)


def _is_old(chart: Chart) -> bool:
    return chart.years > OLD_AGE


def _patient(value: Callable[[Chart], str], shape: Shape | None = None) -> SlotRule:
    return SlotRule(value, Label.PATIENT, shape)


def _part(value: Callable[[Chart], str]) -> SlotRule:
    # One part of the name standing alone: rare if that part is also a word.
    return SlotRule(value, Label.PATIENT, Shape.PATIENT_COMMON_WORD, shape_if=is_common_word(value))


def _full(chart: Chart) -> str:
    return f"{chart.resident.first} {chart.resident.last}"


def _full_middle(chart: Chart) -> str:
    r = chart.resident
    return f"{r.first} {r.middle}. {r.last}" if r.middle else _full(chart)


def _last_first(chart: Chart) -> str:
    r = chart.resident
    return f"{r.last}, {r.first} {r.middle}".rstrip()


def _patient_rules() -> dict[str, SlotRule]:
    by_sex: dict[str, tuple[str, str]] = {
        "he": ("she", "he"),
        "He": ("She", "He"),
        "his": ("her", "his"),
        "His": ("Her", "His"),
        "him": ("her", "him"),
        "himself": ("herself", "himself"),
        "patient.sex": ("Female", "Male"),
        "patient.sex_letter": ("F", "M"),
    }
    rules = {
        name: SlotRule(lambda c, f=female, m=male: m if c.resident.sex == "M" else f)  # type: ignore[misc]
        for name, (female, male) in by_sex.items()
    }
    field: dict[str, tuple[Callable[[Chart], str], Label]] = {
        "mrn": (lambda c: c.resident.patient.mrn or "", Label.MEDICALRECORD),
        "ssn": (lambda c: c.resident.patient.ssn or "", Label.SSN),
        "phone": (lambda c: c.resident.patient.phone or "", Label.PHONE),
        "email": (lambda c: c.resident.patient.email or "", Label.EMAIL),
        "city": (lambda c: c.resident.patient.city or "", Label.CITY),
        "state": (lambda c: c.resident.patient.state or "", Label.STATE),
        "zip": (lambda c: c.resident.patient.zip or "", Label.ZIP),
        "plan_id": (lambda c: c.resident.plan_id, Label.HEALTHPLAN),
        "account": (lambda c: c.resident.account, Label.ACCOUNT),
        "landmark": (lambda c: c.dice.pick(words("landmarks")), Label.LOCATION_OTHER),
    }
    rules |= {f"patient.{name}": SlotRule(value, label) for name, (value, label) in field.items()}
    return rules | {
        "man": SlotRule(_noun),
        "side": SlotRule(lambda c: c.side),
        "patient.title": SlotRule(_title),
        "patient.formal": _part(_formal),
        "patient.first": _part(lambda c: c.resident.first),
        "patient.last": _part(lambda c: c.resident.last),
        "patient.full": SlotRule(
            _full, Label.PATIENT, Shape.PATIENT_EPONYM, shape_if=lambda c: c.resident.last in _eponyms()
        ),
        "patient.full_middle": _patient(_full_middle),
        "patient.last_first": _patient(_last_first),
        "patient.initials": _patient(lambda c: initials(c.resident.first, c.resident.last), Shape.PATIENT_INITIALS),
        "patient.nickname": _patient(lambda c: c.resident.nickname, Shape.PATIENT_NICKNAME),
        "patient.misspelt": _patient(lambda c: misspelt(_formal(c), c.dice.between(0, 299)), Shape.PATIENT_MISSPELT),
        "patient.maiden_name": _patient(lambda c: c.resident.maiden_name),
        "patient.age": SlotRule(lambda c: str(_age(c)), Label.AGE, Shape.AGE_OVER_89, gold_if=_is_old),
        "patient.age_words": SlotRule(_age_in_words, Label.AGE, Shape.AGE_OVER_89, gold_if=_is_old),
        "patient.age_unit": SlotRule(_age_unit),
        "patient.a": SlotRule(lambda c: "an" if str(_age(c)).startswith("8") or _age(c) in (11, 18) else "a"),
    }


_INFORMAL = {"mother": "Mom", "father": "Dad"}


def _kin_rules(role: str) -> dict[str, SlotRule]:
    def kin(chart: Chart) -> Kin:
        return chart.relatives[role]

    def plain(value: Callable[[Kin], str]) -> SlotRule:
        return SlotRule(lambda c: value(kin(c)))

    def named(value: Callable[[Kin], str], label: Label = Label.PATIENT, shape: Shape | None = None) -> SlotRule:
        return SlotRule(lambda c: value(kin(c)), label, shape)

    return {
        f"{role}.kin": plain(lambda k: k.kin),
        f"{role}.Kin": plain(lambda k: k.kin.capitalize()),
        f"{role}.informal": plain(lambda k: _INFORMAL.get(k.kin, k.kin.capitalize())),
        f"{role}.first": named(lambda k: k.first),
        f"{role}.full": named(lambda k: f"{k.first} {k.last}"),
        f"{role}.inline": named(lambda k: f"{k.first} {k.last}".lower(), shape=Shape.RELATIVE_INLINE),
        f"{role}.phone": named(lambda k: k.phone, Label.PHONE),
    }


def _staff_rules(role: str) -> dict[str, SlotRule]:
    def of(value: Callable[[Staff], str], label: Label | None = None, shape: Shape | None = None) -> SlotRule:
        return SlotRule(lambda c: value(c.people[role]), label, shape)

    def full(staff: Staff) -> str:
        return f"{staff.provider.first_name} {staff.provider.last_name}"

    def short_phone(chart: Chart) -> str:
        # A digit lost, or only the last seven: what a busy typist leaves of a number.
        digits = "".join(c for c in chart.people[role].phone if c.isdigit())
        return chart.dice.pick((f"{digits[:3]}-555-{digits[6:9]}", f"555-{digits[6:]}"))

    return {
        f"{role}.full": of(full, Label.DOCTOR),
        f"{role}.caps": of(lambda s: full(s).upper(), Label.DOCTOR, Shape.PROVIDER_CAPS),
        f"{role}.beside_user": of(full, Label.DOCTOR, Shape.NAME_BESIDE_USER_ID),
        f"{role}.last": of(lambda s: s.provider.last_name or "", Label.DOCTOR),
        f"{role}.first": of(lambda s: s.provider.first_name or "", Label.DOCTOR),
        f"{role}.last_first": of(lambda s: f"{s.provider.last_name}, {s.provider.first_name}", Label.DOCTOR),
        f"{role}.initials": of(
            lambda s: initials(s.provider.first_name or "", s.provider.last_name or ""),
            Label.DOCTOR,
            Shape.PROVIDER_INITIALS,
        ),
        f"{role}.title": of(lambda s: s.provider.title or ""),
        # "Dr." is for physicians; others go by their first and last name.
        f"{role}.dr": of(lambda s: "Dr. " if s.role == "physician" else ""),
        f"{role}.called": of(
            lambda s: (s.provider.last_name or "") if s.role == "physician" else full(s), Label.DOCTOR
        ),
        f"{role}.user": of(lambda s: s.provider.user_id or "", Label.USERNAME),
        f"{role}.npi": of(lambda s: s.provider.npi or "", Label.IDNUM),
        f"{role}.license": of(lambda s: s.license, Label.LICENSE),
        f"{role}.dea": of(lambda s: s.dea, Label.LICENSE),
        f"{role}.phone": of(lambda s: s.phone, Label.PHONE),
        f"{role}.pager": of(lambda s: s.pager, Label.PHONE),
        f"{role}.specialty": of(lambda s: s.specialty),
        f"{role}.short_phone": SlotRule(short_phone, Label.PHONE, Shape.SHORT_PHONE),
    }


@cache
def rules() -> dict[str, SlotRule]:
    """Every slot by name."""
    table = _patient_rules() | place_rules() | date_rules() | number_rules()
    for role in ("relative", "relative2"):
        table |= _kin_rules(role)
    for role in ("author", "pcp", "attending", "consultant", "nurse"):
        table |= _staff_rules(role)
    return table
