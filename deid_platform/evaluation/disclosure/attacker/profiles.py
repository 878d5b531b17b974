"""What an attacker holds of people: a line for each patient of the topics.

Belongs here: such lines, and what is true of a patient's age. Does not belong here: what is asked about them.
"""

from __future__ import annotations

from datetime import date

from deid_platform.notes import Patient

BANDS = ((0, 17), (18, 29), (30, 44), (45, 59), (60, 74), (75, 89), (90, 130))
"""Ages in years, both ends within."""


def profile(patient: Patient) -> str:
    """All that the topics know of a patient, in one line; without the patient's id, which nobody else has."""
    name = " ".join(filter(None, (patient.first_name, patient.middle_name, patient.last_name)))
    known = (
        name,
        patient.sex,
        None if patient.birth_date is None else patient.birth_date.isoformat(),
        *(patient.street, patient.city, patient.state, patient.zip),
        *(patient.mrn, patient.ssn, patient.phone, patient.email, patient.relatives),
    )
    return "; ".join(" ".join(value.split()) for value in known if value and value.strip())


def band(born: date, day: date) -> int | None:
    """Which of `BANDS` an age is in; None where the birth is after the day, or the age is none."""
    age = day.year - born.year - ((day.month, day.day) < (born.month, born.day))
    return next((at for at, (low, high) in enumerate(BANDS) if low <= age <= high), None)
