"""What a country has of numbers: one function for each.

Belongs here: the record. Does not belong here: the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from deid_platform.labels import Label
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales.records import Person

Plain = Callable[[Dice], str]
Phone = Callable[[Dice, str], str]
"""A number of an area, whose code is given as dialled within the country."""
NationalId = Callable[[Dice, Person, date], str]


@dataclass(frozen=True, repr=False, slots=True)
class Country:
    """The numbers of a country.

    Attributes:
        phone: A line of an area.
        mobile: A mobile telephone.
        national_id: What the country knows a person by.
        label: What that number is: SSN, HEALTHPLAN or IDNUM.
        plan: Health insurance; None where a pattern will do.
        account: A bank account; None where a pattern will do.
        license: A doctor's number; None where a pattern will do.
    """

    phone: Phone
    mobile: Plain
    national_id: NationalId
    label: Label
    plan: Plain | None = None
    account: Plain | None = None
    license: Plain | None = None
