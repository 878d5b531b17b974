"""Checks: what decides whether a pattern's match is an identifier, where the pattern alone cannot.

Belongs here: `CHECKS`, the registry of the names that tables refer to. Does not belong here: checks
themselves (one module a kind) or patterns (`../data/*.yaml`).
"""

from __future__ import annotations

from deid_platform.detection.patterns.checks import contacts, dates, institutions, names, numbers, places
from deid_platform.detection.patterns.checks.place import Check, Place

__all__ = ["CHECKS", "Check", "Place"]

CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        dates.numeric_date, dates.iso_date, dates.dashed_date, dates.compact_date, dates.month_day,
        dates.plain_month_day, dates.dictated_day, dates.header_day, dates.month_year, dates.day_range,
        dates.short_range, dates.lost_slash, dates.slipped_year, dates.misread_date, dates.bare_day,
        dates.bare_day_word, dates.old_age, dates.old_age_not_heat, dates.old_age_written, dates.birth_year,
        dates.school_year, contacts.international_phone, contacts.foreign_phone, contacts.valid_phone,
        contacts.regional_phone, contacts.dialled, contacts.ip_address, contacts.link, numbers.card, numbers.npi,
        numbers.dea, numbers.vin, numbers.au_medicare, numbers.code, numbers.long_number, names.person, names.titled,
        names.titled_last_first, names.person_last_first, names.listed, names.introduced, names.before_credential,
        names.initials, names.relative, names.acting, names.given, names.addressed, names.colleague,
        institutions.organization, institutions.own_organization, institutions.saint, institutions.chain,
        institutions.known_hospital, institutions.hospital_abroad, institutions.facility_code,
        institutions.facility_alone, institutions.lowercase_institution, institutions.shop, places.city,
        places.known_city, places.street, places.town, places.known_city_or_state, places.state, places.country,
        places.landmark, places.home_town, places.city_or_code, places.city_or_abbreviation, places.named_after,
    )
} | numbers.PROVEN  # fmt: skip
