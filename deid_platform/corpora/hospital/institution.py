"""The institution as a whole: its facilities, its staff, and the practices around it.

Belongs here: what a seed makes of the institution and what the structured topics say of it. Does not
belong here: its patients (`households`), what happens to them (`deliveries`), what is written (`chart`).
"""

from __future__ import annotations

from dataclasses import replace

from deid_platform.corpora.hospital import identifiers, library
from deid_platform.corpora.hospital.draws import address, first_name, locale, organization, surname
from deid_platform.corpora.hospital.households import settle
from deid_platform.corpora.hospital.library import City
from deid_platform.corpora.hospital.people import Institution, Staff, ascii_slug
from deid_platform.corpora.hospital.spec import HospitalSpec
from deid_platform.notes import Facility, Provider
from deid_platform.surrogates.dice import Dice

MAIN_HOUSES = 6  # hospitals and institutes come first among the facilities, clinics after


def build(spec: HospitalSpec) -> Institution:
    """The institution that a spec describes."""
    dice = Dice(spec.seed, "institution")
    region = tuple(c for c in library.cities() if c.state == library.cities()[0].state)
    listed = library.pairs("practices")
    brand = dice.pick(library.words("brands"))
    facilities = _facilities(dice, brand, region)
    staff = _staff(spec, region[0].area_code, brand)
    by_role = {role: tuple(s for s in staff if s.role == role) for role in ("physician", "advanced", "nurse")}
    practices = {
        specialty: tuple(organization(dice, name, dice.pick(region)) for name, of in listed if of == specialty)
        for specialty in dict.fromkeys(of for _, of in listed)
    }
    place = Institution(
        spec=spec,
        slug=ascii_slug(brand),
        brand=brand,
        facilities=facilities,
        faxes={f.facility_id: identifiers.phone(dice, dice.pick(region).area_code, style=0) for f in facilities},
        staff=staff,
        by_role=by_role,
        residents=(),
        practices=practices,
    )
    return replace(place, residents=settle(spec, place, facilities[MAIN_HOUSES:], region))


def _facilities(dice: Dice, brand: str, region: tuple[City, ...]) -> tuple[Facility, ...]:
    towns = dice.some(region, 14)
    short = "".join(word[:2] for word in brand.split()).upper()
    named = [
        (f"{brand} Regional Medical Center", f"{short}RMC", towns[0]),
        (f"{brand} Children's Hospital", f"{short}CH", towns[0]),
        (f"{brand} Community Hospital", f"{short}COMH", towns[1]),
        (f"{brand} Heart & Vascular Institute", f"{short}HVI", towns[0]),
        (f"{brand} Women's Center", f"{short}WC", towns[0]),
        (f"{brand} Cancer Pavilion", f"{short}CANP", towns[0]),
    ]
    for number, town in enumerate(towns[2:]):
        code = ascii_slug(town.name)[:3].upper()
        dashed = (f"{brand} Primary Care-{town.name}", f"{short}PC{code}", town)
        others = (
            (dashed, 0.06),
            ((f"{brand} Internal Medicine-{town.name}", f"{short}IM{code}", town), 0.06),
            ((f"{brand} Family Medicine {town.name}", f"{short}FM{code}", town), 0.5),
            ((f"{town.name} Community Clinic", f"{code}COMCL", town), 0.38),
        )
        # One clinic at least is joined to its town by a dash, the shape that detectors break at.
        named.append(dashed if number == 0 else dice.weighted(others))
    return tuple(
        Facility(
            f"F{number:03d}",
            name,
            abbreviation,
            address(dice, flats=0.0),
            town.name,
            town.state,
            town.zip,
            identifiers.phone(dice, town.area_code, style=0),
        )
        for number, (name, abbreviation, town) in enumerate(named, 1)
    )


def _staff(spec: HospitalSpec, area_code: str, brand: str) -> tuple[Staff, ...]:
    people: list[Staff] = []
    specialties = library.specialties()
    for number in range(1, max(60, min(600, spec.patient_count // 12)) + 1):
        dice = Dice(spec.seed, "staff", number)
        role = dice.weighted((("physician", 0.55), ("advanced", 0.2), ("nurse", 0.25)))
        title = {
            "physician": dice.weighted((("MD", 0.8), ("DO", 0.2))),
            "advanced": dice.weighted((("PA-C", 0.45), ("NP", 0.35), ("FNP-BC", 0.2))),
            "nurse": dice.weighted((("RN", 0.7), ("LPN", 0.15), ("CMA", 0.15))),
        }[role]
        sex = "F" if dice.chance(0.55) else "M"
        origin, share = locale(dice), spec.name_share
        first, last = first_name(dice, sex, share, origin), surname(dice, share, origin)
        slug = ascii_slug(last)
        user = (
            f"{(slug + 'xx')[:2].upper()}{dice.digits(4)}"
            if dice.chance(0.6)
            else f"{ascii_slug(first)[:1]}{slug[:6]}{dice.between(1, 99)}"
        )
        phone = identifiers.phone(dice, area_code)
        provider = Provider(
            f"D{number:04d}",
            first,
            last,
            title,
            None if role == "nurse" else identifiers.npi(dice),
            user,
            phone if dice.chance(0.9) else None,
        )
        people.append(
            Staff(
                provider,
                role,
                specialties[len(people) % len(specialties)],
                phone,
                dice.pick(("{}-{}", "{}{}")).format(dice.between(1, 9), dice.digits(4)),
                identifiers.dea(dice, last),
                f"{brand[0]}{dice.digits(2)}.{dice.digits(6)}",
            )
        )
    return tuple(people)
