"""The date shift: one secret, whole number of weeks a patient.

Belongs here: how far, and the shifted structured date. Does not belong here: dates inside texts
(`redaction/`).

The shift is an HMAC of the patient alone, so that intervals between a patient's notes stay exact, in
every delivery and on every machine. Whole weeks keep weekdays true.
"""

from __future__ import annotations

from datetime import date, timedelta

from deid_platform.keys import Keyring

MAX_WEEKS = 52


def shift_days(keyring: Keyring, patient_id: str) -> int:
    """How many days a patient's dates move: 7 to 364 days back or ahead, in whole weeks, never 0."""
    return _days(keyring.mac("date-shift", patient_id))


def shifted(keyring: Keyring, day: date, *, patient_id: str | None, note_id: str) -> date | None:
    """A note's date, moved with its patient.

    Args:
        keyring: Signs the shift.
        day: The note's date.
        patient_id: Whose note it is; a note without a patient moves by its own `note_id`.
        note_id: The note.

    Returns:
        The shifted date, on the same day of the week; None where the calendar ends (years 1 and 9999).
    """
    mac = keyring.mac("date-shift-note", note_id) if patient_id is None else keyring.mac("date-shift", patient_id)
    try:
        return day + timedelta(days=_days(mac))
    except OverflowError:
        return None


def _days(mac: bytes) -> int:
    # 104 outcomes from 64 bits: the bias is below 1e-17. 0..51 are weeks back, 52..103 weeks ahead.
    step = int.from_bytes(mac[:8], "big") % (2 * MAX_WEEKS)
    weeks = step - MAX_WEEKS if step < MAX_WEEKS else step - MAX_WEEKS + 1
    return 7 * weeks
