"""A patient of a surrogate corpus: who it is, the family, and every number that all of the patient's notes share.

Belongs here: what belongs to the patient. Does not belong here: what belongs to one note (`chart.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta

from deid_platform.corpora.injection.institution import Institution
from deid_platform.corpora.injection.words import KIN
from deid_platform.notes import Patient
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import Address, Person

RELATIVES = 2
_SAME_SURNAME = 0.6


class Relative:
    """Somebody of the family."""

    def __init__(self, institution: Institution, dice: Dice, last: str, kin: Mapping[str, tuple[str, ...]]) -> None:
        sex = "F" if dice.chance(0.5) else "M"
        locale = institution.locale
        surname = last if dice.chance(_SAME_SURNAME) else None
        self.person: Person = locale.person(dice, sex, institution.share, surname=surname)
        self.kin: str = dice.pick(kin[sex])
        self.address: Address = locale.address(dice, institution.share)
        self.phone: str = locale.mobile(dice)
        self.email: str = locale.email(dice, self.person)

    def __repr__(self) -> str:
        return "<Relative>"


class PatientFile:
    """One patient.

    Args:
        institution: Where the patient is known.
        patient_id: As in the topics.
        sex: F or M.
        age: In years on the day of the first note.
        day: That day.
        language: Of the notes.
    """

    def __init__(
        self, institution: Institution, patient_id: str, *, sex: str, age: int, day: date, language: str
    ) -> None:
        self._dice = dice = Dice(institution.seed, "patient", patient_id)
        self._institution = institution
        self._language = language
        self._values: dict[str, str] = {}
        self.patient_id = patient_id
        self.sex = sex
        self.age = age
        locale = institution.locale
        self.person: Person = locale.person(dice, sex, institution.share)
        self.address: Address = locale.address(dice, institution.share)
        self.birth = day - timedelta(days=age * 365 + age // 4 + dice.between(1, 360))
        self.relatives = tuple(Relative(institution, dice, self.person.last, KIN[language]) for _ in range(RELATIVES))
        # Each value has dice of its own: what a note asks for first must not decide what it gets.
        self._seed = (institution.seed, patient_id)

    def __repr__(self) -> str:
        return "<PatientFile>"

    def value(self, name: str) -> str:
        """A number, a place or an occupation of the patient's, the same whenever it is asked for."""
        found = self._values.get(name)
        if found is None:
            found = self._values[name] = _DRAWN[name](self, Dice(*self._seed, name))
        return found

    def row(self) -> Patient:
        """The row of the topics."""
        p, a = self.person, self.address
        known = Dice(*self._seed, "known").between(0, RELATIVES)
        return Patient(
            patient_id=self.patient_id,
            first_name=p.first,
            middle_name=p.middle or None,
            last_name=p.last,
            birth_date=self.birth,
            sex=self.sex,
            mrn=self.value("mrn"),
            ssn=self.value("national_id"),
            phone=self.value("phone"),
            email=self.value("email"),
            street=a.street,
            city=a.city,
            state=a.state or None,
            zip=a.postcode,
            relatives="; ".join(f"{r.person.first} {r.person.last}" for r in self.relatives[:known]) or None,
        )


_Draw = Callable[[PatientFile, Dice], str]


def _of_locale(name: str) -> _Draw:
    return lambda file, dice: getattr(file._institution.locale, name)(dice)


def _institution(name: str) -> _Draw:
    return lambda file, dice: getattr(file._institution.locale, name)(dice, file.address, file._institution.share)


def _letters(dice: Dice, count: int) -> str:
    return "".join(dice.pick("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(count))


_DRAWN: Mapping[str, _Draw] = {
    "mrn": _of_locale("mrn"),
    "account": _of_locale("account"),
    "plan": _of_locale("health_plan"),
    "plate": _of_locale("plate"),
    "phone": lambda file, dice: file._institution.locale.phone(dice, file.address),
    "phone2": _of_locale("mobile"),
    "national_id": lambda file, dice: file._institution.locale.national_id(dice, file.person, file.birth),
    "email": lambda file, dice: file._institution.locale.email(dice, file.person),
    "user": lambda file, dice: file._institution.locale.user_name(dice, file.person),
    "employer": _institution("employer"),
    "school": _institution("school"),
    "pharmacy": _institution("pharmacy"),
    "insurer": _institution("insurer"),
    "landmark": _institution("landmark"),
    "profession": lambda file, dice: file._institution.locale.profession(dice, file._language),
    "vin": lambda _, dice: (
        f"0{_letters(dice, 2)}{dice.digits(2)}{_letters(dice, 3)}{dice.digits(1)}{_letters(dice, 2)}{dice.digits(6)}"
    ),
    "biometric": lambda _, dice: dice.pick(
        (f"FP-{dice.digits(7)}", f"IRIS{dice.digits(6)}", f"VP-{dice.digits(5)}-{_letters(dice, 2)}", dice.digits(9))
    ),
    "device": lambda _, dice: dice.pick(
        (
            f"{_letters(dice, 3)}{dice.digits(6)}{_letters(dice, 1)}",
            dice.digits(8),
            f"SN-{dice.digits(4)}-{dice.digits(4)}",
        )
    ),
}
