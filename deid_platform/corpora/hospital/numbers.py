"""Slots for dates and for the numbers that name a specimen, a device, a vehicle or a machine.

Belongs here: values drawn when they are mentioned. Does not belong here: people and places (`slots`).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from deid_platform.corpora.hospital import dates, identifiers
from deid_platform.corpora.hospital.chart import Chart
from deid_platform.corpora.hospital.people import ascii_slug
from deid_platform.corpora.hospital.rule import SlotRule
from deid_platform.corpora.hospital.spec import Shape
from deid_platform.labels import Label

_DATE_SHAPES = {
    "typo": Shape.DATE_TYPO,
    "slashed_month": Shape.MONTH_YEAR,
    "day": Shape.STANDALONE_DAY,
}


DAYS = (
    *("note", "birth", "delivered", "admit", "discharge", "stay", "recent", "past", "old", "next", "soon", "eve"),
    *("from", "to", "visit"),
)


def day_of(chart: Chart, which: str) -> date:
    """The date of that name, one of `DAYS`."""
    return chart.stay_day() if which == "stay" else chart.day(which)


def date_rules() -> dict[str, SlotRule]:
    """Slots for every date of a note in every way of writing it."""
    rules: dict[str, SlotRule] = {}
    for which in DAYS:

        def write(chart: Chart, way: str, which: str = which) -> str:
            return dates.WAYS[chart.date_way if way == "any" else way](day_of(chart, which), chart.dice)

        for way in ("any", *dates.WAYS):
            rules[f"{which}.{way}"] = SlotRule(
                lambda c, write=write, way=way: write(c, way),  # type: ignore[misc]
                Label.DATE,
                _DATE_SHAPES.get(way),
            )
        rules[f"{which}.year"] = SlotRule(lambda c, which=which: str(day_of(c, which).year))  # type: ignore[misc]
        rules[f"{which}.weekday"] = SlotRule(
            lambda c, which=which: dates.WEEKDAYS[day_of(c, which).weekday()]  # type: ignore[misc]
        )
    return rules


def _time(chart: Chart) -> str:
    return f"{chart.dice.between(7, 19):02d}:{chart.dice.between(0, 59):02d}"


def _clock12(chart: Chart) -> str:
    hour = chart.dice.between(7, 18)  # office hours
    return f"{(hour - 1) % 12 + 1}:{chart.dice.between(0, 59):02d} {'AM' if hour < 12 else 'PM'}"


def number_rules() -> dict[str, SlotRule]:
    """Slots for numbers, addresses of machines, and times of day."""

    def year(chart: Chart) -> str:
        return f"{chart.days['note'].year % 100:02d}"

    specimen: dict[str, Callable[[Chart], str]] = {
        "accession": lambda c: f"{c.dice.pick('SCH')}{year(c)}-{c.dice.digits(6)}",
        "slide": lambda c: (
            f"{c.dice.pick('SPK')}L{year(c)}-{c.dice.between(100, 9999)} {c.dice.pick('ABC')}{c.dice.between(1, 9)}"
        ),
        "tape": lambda c: f"{c.dice.pick('KMTV')}-{c.dice.between(100, 499)}-{c.dice.digits(2)}",
        "specimen": lambda c: f"{identifiers.letters(c.dice, 2)}{c.dice.digits(7)}",
    }
    rules = {f"id.{name}": SlotRule(value, Label.IDNUM, Shape.SPECIMEN_NUMBER) for name, value in specimen.items()}
    drawn: dict[str, tuple[Callable[[Chart], str], Label]] = {
        "claim": (lambda c: f"{identifiers.letters(c.dice, 2)}-{c.dice.digits(8)}", Label.IDNUM),
        "order": (lambda c: c.dice.digits(9), Label.IDNUM),
        "case": (lambda c: f"{identifiers.letters(c.dice, 1)}{c.dice.digits(5)}", Label.IDNUM),
        "study": (lambda c: f"{c.dice.digits(3)}-{c.dice.digits(4)}", Label.IDNUM),
        "badge": (lambda c: c.dice.digits(6), Label.IDNUM),
        "wristband": (lambda c: f"{identifiers.letters(c.dice, 1)}{c.dice.digits(10)}", Label.IDNUM),
        "photo": (lambda c: f"IMG_{c.dice.digits(4)}_{ascii_slug(c.resident.last)}.jpg", Label.IDNUM),
        "fingerprint": (lambda c: f"FP-{c.dice.digits(7)}", Label.BIOID),
        "policy": (lambda c: f"{identifiers.letters(c.dice, 3)}{c.dice.digits(7)}", Label.HEALTHPLAN),
        "group": (lambda c: c.dice.digits(6), Label.HEALTHPLAN),
        "medicaid": (lambda c: f"{c.dice.between(1, 9)}{c.dice.digits(11)}", Label.HEALTHPLAN),
        "device": (
            lambda c: f"{identifiers.letters(c.dice, 3)}{c.dice.digits(6)}{c.dice.pick('HSGR')}",
            Label.DEVICE,
        ),
        "udi": (lambda c: f"(01)0{c.dice.digits(13)}(21){c.dice.digits(8)}", Label.DEVICE),
        "plate": (lambda c: identifiers.plate(c.dice), Label.VEHICLE),
        "vin": (lambda c: identifiers.vin(c.dice), Label.VEHICLE),
        "driver": (lambda c: f"{identifiers.letters(c.dice, 2)}{c.dice.digits(6)}", Label.LICENSE),
        "passport": (lambda c: f"{identifiers.letters(c.dice, 1)}{c.dice.digits(8)}", Label.LICENSE),
        "ip": (lambda c: identifiers.ip_address(c.dice), Label.IPADDR),
        "ip6": (lambda c: identifiers.ip6_address(c.dice), Label.IPADDR),
        "portal": (lambda c: f"https://portal.{c.place.slug}.example.org", Label.URL),
        "site": (lambda c: f"www.{c.place.slug}.example.com/{ascii_slug(c.primary)}", Label.URL),
        "meeting": (lambda c: f"https://video.{c.place.slug}.example.net/j/{c.dice.digits(9)}", Label.URL),
        "staff_mail": (lambda c: _mail_of(c, "author"), Label.EMAIL),
        "nurse_mail": (lambda c: _mail_of(c, "nurse"), Label.EMAIL),
        "consultant_mail": (lambda c: _mail_of(c, "consultant"), Label.EMAIL),
        "pcp_mail": (lambda c: _mail_of(c, "pcp"), Label.EMAIL),
        "kin_mail": (
            lambda c: (
                f"{ascii_slug(c.relatives['relative'].first)}{ascii_slug(c.relatives['relative'].last)}@mail.example.com"
            ),
            Label.EMAIL,
        ),
        "login": (
            lambda c: (
                f"{ascii_slug(c.resident.first)[:1]}{ascii_slug(c.resident.last)}{c.resident.born.year % 100:02d}"
            ),
            Label.USERNAME,
        ),
    }
    rules |= {f"id.{name}": SlotRule(value, label) for name, (value, label) in drawn.items()}
    return rules | {
        "time": SlotRule(_time),
        "clock": SlotRule(lambda c: _time(c).replace(":", "")),
        "clock12": SlotRule(lambda c: _clock12(c)),
        "day.holiday": SlotRule(lambda c: c.dice.pick(_HOLIDAYS), Label.DATE, Shape.HOLIDAY),
    }


_HOLIDAYS = ("Christmas", "Thanksgiving", "Labor Day", "Memorial Day", "New Year's Eve", "the Fourth of July", "Easter")


def _mail_of(chart: Chart, role: str) -> str:
    provider = chart.people[role].provider
    local = f"{ascii_slug(provider.first_name or '')[:1]}{ascii_slug(provider.last_name or '')}"
    return f"{local}@{chart.place.slug}.example.org"
