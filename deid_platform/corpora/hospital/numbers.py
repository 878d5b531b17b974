"""Slots for dates and for the numbers that name a specimen, a device, a vehicle or a machine.

Belongs here: values drawn when they are mentioned. Does not belong here: people and places (`slots`).
"""

from __future__ import annotations

from collections.abc import Callable

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


def date_rules() -> dict[str, SlotRule]:
    """Slots for every date of a note in every way of writing it."""
    rules: dict[str, SlotRule] = {}
    for which in (
        "note",
        "birth",
        "delivered",
        "admit",
        "discharge",
        "stay",
        "recent",
        "past",
        "old",
        "next",
        "soon",
        "eve",
    ):

        def write(chart: Chart, way: str, which: str = which) -> str:
            day = chart.stay_day() if which == "stay" else chart.day(which)
            return dates.WAYS[chart.date_way if way == "any" else way](day, chart.dice)

        for way in ("any", *dates.WAYS):
            rules[f"{which}.{way}"] = SlotRule(
                lambda c, write=write, way=way: write(c, way),  # type: ignore[misc]
                Label.DATE,
                _DATE_SHAPES.get(way),
            )
        rules[f"{which}.year"] = SlotRule(lambda c, which=which: str(c.day(which).year) if which != "stay" else "")  # type: ignore[misc]
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
    return rules | {
        "id.claim": SlotRule(lambda c: f"{identifiers.letters(c.dice, 2)}-{c.dice.digits(8)}", Label.IDNUM),
        "id.order": SlotRule(lambda c: c.dice.digits(9), Label.IDNUM),
        "id.device": SlotRule(
            lambda c: f"{identifiers.letters(c.dice, 3)}{c.dice.digits(6)}{c.dice.pick('HSGR')}", Label.DEVICE
        ),
        "id.plate": SlotRule(lambda c: identifiers.plate(c.dice), Label.VEHICLE),
        "id.driver": SlotRule(lambda c: f"{identifiers.letters(c.dice, 2)}{c.dice.digits(6)}", Label.LICENSE),
        "id.ip": SlotRule(lambda c: identifiers.ip_address(c.dice), Label.IPADDR),
        "id.portal": SlotRule(lambda c: f"https://portal.{c.place.slug}.example.org", Label.URL),
        "id.site": SlotRule(lambda c: f"www.{c.place.slug}.example.com/{ascii_slug(c.primary)}", Label.URL),
        "id.staff_mail": SlotRule(
            lambda c: (
                f"{ascii_slug(c.people['author'].provider.first_name or '')[:1]}"
                f"{ascii_slug(c.people['author'].provider.last_name or '')}@{c.place.slug}.example.org"
            ),
            Label.EMAIL,
        ),
        "time": SlotRule(_time),
        "clock": SlotRule(lambda c: _time(c).replace(":", "")),
        "clock12": SlotRule(lambda c: _clock12(c)),
    }
