"""Slots for places: homes, towns, facilities and firms.

Belongs here: what a note can say of a place, whole and in parts. Does not belong here: who lives there
(`households`) or the plain slots of people (`slots`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from deid_platform.corpora.hospital.chart import Chart
from deid_platform.corpora.hospital.library import state_name, words
from deid_platform.corpora.hospital.people import Organization
from deid_platform.corpora.hospital.rule import SlotRule
from deid_platform.corpora.hospital.spec import Shape
from deid_platform.labels import Label
from deid_platform.notes import Facility

_COUNTRIES = (
    *("Mexico", "India", "Italy", "Poland", "Germany", "Brazil", "Canada", "Nigeria", "Kenya", "Turkey", "France"),
    *("Guatemala", "Vietnam", "Ukraine", "Haiti", "Nepal", "Honduras", "Jamaica", "Lebanon", "Peru", "Ghana"),
)
STREET_KINDS = {
    "St": "Street", "Ave": "Avenue", "Rd": "Road", "Dr": "Drive", "Ln": "Lane", "Ct": "Court", "Pl": "Place",
}  # fmt: skip
"""Kinds of streets, in short and in full."""
_STREET = re.compile(r"(?P<house>\d+) (?P<road>.+?)(?P<unit>,? (?:(?:Apt|Unit|Lot)\b|#).*)?")


def _street(chart: Chart) -> str:
    return chart.resident.patient.street or ""


def _street_part(chart: Chart, part: str) -> str:
    match = _STREET.fullmatch(_street(chart))
    return (match[part] or "") if match else ""


def _spelt_out(road: str) -> str:
    before, _, last = road.rpartition(" ")
    return f"{before} {STREET_KINDS.get(last, last)}"


def _facility_rules(role: str, facility: Callable[[Chart], Facility]) -> dict[str, SlotRule]:
    def of(value: Callable[[Facility], str | None], label: Label, shape: Shape | None = None) -> SlotRule:
        return SlotRule(lambda c: value(facility(c)) or "", label, shape)

    name = of(lambda f: f.name, Label.HOSPITAL, Shape.CLINIC_LOCATION)
    return {
        f"{role}.name": name._replace(shape_if=lambda c: "-" in (facility(c).name or "")),
        f"{role}.caps": of(lambda f: (f.name or "").upper(), Label.HOSPITAL),
        f"{role}.abbreviation": of(lambda f: f.abbreviation, Label.HOSPITAL, Shape.CLINIC_ABBREVIATION),
        f"{role}.street": of(lambda f: f.street, Label.STREET),
        f"{role}.city": of(lambda f: f.city, Label.CITY),
        f"{role}.state": of(lambda f: f.state, Label.STATE),
        f"{role}.zip": of(lambda f: f.zip, Label.ZIP),
        f"{role}.phone": of(lambda f: f.phone, Label.PHONE),
        f"{role}.fax": SlotRule(lambda c: c.place.faxes[facility(c).facility_id], Label.FAX),
    }


def _organization_rules(role: str, label: Label, shapes: dict[str, Shape]) -> dict[str, SlotRule]:
    values: dict[str, tuple[Callable[[Organization], str], Label]] = {
        "name": (lambda o: o.name, label),
        "cc": (lambda o: o.name, label),
        "street": (lambda o: o.street, Label.STREET),
        "street_caps": (lambda o: o.street.upper(), Label.STREET),
        "city": (lambda o: o.city.name, Label.CITY),
        "state": (lambda o: o.city.state, Label.STATE),
        "zip": (lambda o: o.city.zip, Label.ZIP),
        "phone": (lambda o: o.phone, Label.PHONE),
        "fax": (lambda o: o.fax, Label.FAX),
    }
    return {
        f"{role}.{name}": SlotRule(lambda c, v=value: v(c.firms[role]), of, shapes.get(name))  # type: ignore[misc]
        for name, (value, of) in values.items()
    }


def place_rules() -> dict[str, SlotRule]:
    """Slots for addresses and their parts, towns, facilities and firms."""

    def crossroad(chart: Chart) -> str:
        return f"{chart.dice.pick(words('streets'))} {chart.dice.pick(('St', 'Ave', 'Rd', 'Street', 'Avenue'))}"

    written: dict[str, tuple[Callable[[Chart], str], Label]] = {
        "patient.house": (lambda c: _street_part(c, "house"), Label.STREET),
        "patient.road": (lambda c: _street_part(c, "road"), Label.STREET),
        "patient.street_bare": (
            lambda c: f"{_street_part(c, 'house')} {_street_part(c, 'road')}".strip(),
            Label.STREET,
        ),
        "patient.street_long": (
            lambda c: f"{_street_part(c, 'house')} {_spelt_out(_street_part(c, 'road'))}{_street_part(c, 'unit')}",
            Label.STREET,
        ),
        "patient.crossroad": (crossroad, Label.STREET),
        "patient.po_box": (
            lambda c: f"{c.dice.pick(('PO Box', 'P.O. Box', 'P O Box', 'Box'))} {c.dice.between(10, 9999)}",
            Label.STREET,
        ),
        "patient.zip4": (lambda c: f"{c.resident.patient.zip}-{c.dice.digits(4)}", Label.ZIP),
        "patient.state_name": (lambda c: state_name(c.resident.patient.state or ""), Label.STATE),
        "patient.elsewhere": (lambda c: c.elsewhere.name, Label.CITY),
        "patient.elsewhere_state": (lambda c: c.elsewhere.state, Label.STATE),
        "patient.elsewhere_state_name": (lambda c: state_name(c.elsewhere.state), Label.STATE),
        "patient.country": (lambda c: c.dice.pick(_COUNTRIES), Label.COUNTRY),
        "patient.school": (
            lambda c: f"{c.dice.pick(words('streets'))} {c.dice.pick(('Elementary', 'Middle School', 'Academy'))}",
            Label.ORGANIZATION,
        ),
        "patient.church": (
            lambda c: f"{c.dice.pick(words('streets'))} {c.dice.pick(('Methodist', 'Lutheran', 'Baptist'))} Church",
            Label.ORGANIZATION,
        ),
        "hospital.brand": (lambda c: c.place.brand, Label.HOSPITAL),
        "site.room": (lambda c: str(c.dice.between(100, 899)), Label.HOSPITAL),
        "site.bed": (lambda c: str(c.dice.between(1, 30)), Label.HOSPITAL),
        "site.unit": (
            lambda c: f"{c.dice.between(2, 9)} {c.dice.pick(('North', 'East', 'South', 'West'))}",
            Label.HOSPITAL,
        ),
    }
    table = {name: SlotRule(value, label) for name, (value, label) in written.items()}
    table |= {
        "patient.street": SlotRule(_street, Label.STREET),
        "patient.street_caps": SlotRule(lambda c: _street(c).upper(), Label.STREET, Shape.CAPS_ADDRESS),
        "patient.street_alone": SlotRule(_street, Label.STREET, Shape.PARTIAL_ADDRESS),
    }
    table |= _facility_rules("site", lambda c: c.facility)
    table |= _facility_rules("hospital", lambda c: c.hospital)
    table |= _facility_rules("clinic", lambda c: c.resident.clinic)
    for role in ("outside", "therapy", "homecare"):
        table |= _organization_rules(role, Label.HOSPITAL, {"cc": Shape.CC_ORGANIZATION})
    table |= _organization_rules("employer", Label.ORGANIZATION, {"name": Shape.EMPLOYER})
    addresses = {"street": Shape.PHARMACY_ADDRESS, "street_caps": Shape.PHARMACY_ADDRESS}
    table |= _organization_rules("pharmacy", Label.ORGANIZATION, addresses)
    return table
