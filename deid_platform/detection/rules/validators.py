"""Checks: what decides whether a pattern's match is an identifier, where the pattern alone cannot.

Belongs here: `CHECKS`, the registry of the names that tables refer to. Does not belong here: checks
themselves (one module a kind) or patterns (`../data/*.yaml`).
"""

from __future__ import annotations

from deid_platform.detection.rules.validators import (
    ages,
    care_team,
    contacts,
    dates,
    employers,
    hasty,
    holidays,
    institutions,
    italian,
    italian_initials,
    landmarks,
    messages,
    mistyped,
    names,
    numbers,
    places,
    professions,
    registers,
    spanish,
    whereabouts,
    zips,
)
from deid_platform.detection.rules.engine.validator import Validator, Interval

__all__ = ["CHECKS", "Check", "Place"]

VALIDATORS: dict[str, Validator] = {
    check.__name__: check
    for check in (
        dates.numeric_date, dates.iso_date, dates.dashed_date, dates.compact_date, dates.month_day,
        dates.date_among_numbers,
        dates.plain_month_day, dates.listed_day, dates.dictated_day, dates.header_day, dates.month_year,
        dates.day_range, dates.short_range, dates.bare_day, dates.bare_day_word, mistyped.lost_slash,
        mistyped.misread_date, mistyped.mistyped_date, mistyped.mistyped_iso_date, mistyped.mixed_short_date,
        mistyped.oddly_separated_date, mistyped.mistyped_written_date, mistyped.misspelt_month, ages.old_age,
        ages.old_age_not_heat, ages.old_age_written, ages.old_age_unmeasured, ages.old_decade, ages.birth_year,
        ages.school_year, holidays.holiday, contacts.international_phone, contacts.foreign_phone,
        contacts.valid_phone, contacts.phone_digit_by_digit, contacts.regional_phone, contacts.dialled,
        contacts.ip_address, contacts.link, numbers.card, numbers.npi, numbers.dea, numbers.vin,
        numbers.au_medicare, numbers.code, numbers.long_number, names.person, names.titled, names.labelled,
        names.titled_last_first, names.person_last_first, names.listed, names.introduced, messages.recipient,
        names.before_credential, names.initials, names.relative, names.acting, names.given, names.addressed,
        names.colleague, names.torn, names.one_aged, messages.addressee, messages.handed, messages.credited_day,
        messages.paired, messages.arrowed, messages.bedded_pair, messages.correspondent, messages.roomed,
        messages.staffed, messages.asked, messages.run_together, messages.handle, messages.signing,
        institutions.organization, institutions.own_organization, institutions.saint, institutions.chain,
        institutions.known_hospital, institutions.hospital_abroad, institutions.facility_code,
        institutions.facility_alone, institutions.lowercase_institution, spanish.spanish_postcode,
        institutions.shop, employers.employer,
        employers.named_employer, employers.firm, employers.firm_before_noun, employers.agency,
        employers.small_employer,
        professions.profession, landmarks.landmark, landmarks.small_landmark, landmarks.highway, places.city,
        places.known_city, places.street, places.town, places.known_city_or_state, places.state, places.country,
        places.home_town, places.city_or_code, places.city_or_abbreviation, places.named_after, zips.state_zip,
        hasty.lowercase_name, hasty.lowercase_officer, hasty.small_house, hasty.letters_apart, registers.numbered,
        whereabouts.street_spoken, whereabouts.unlisted_place, whereabouts.area_named, whereabouts.hospital_named,
        whereabouts.small_city, whereabouts.small_chain, whereabouts.user_name,
    )
} | numbers.PROVEN | care_team.CARE | italian.ITALIAN | italian_initials.ITALIAN_INITIALS  # fmt: skip
