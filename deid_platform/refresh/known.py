"""Whether the topics know a patient: by a last name, by a date of birth, by a record number.

Belongs here: which values say something of somebody, and which stand where nothing is known. Does not belong here: how
a name is recognised in a note (`detection/topics/`, `leakcheck/`), or what follows for a delivery (`measure.py`).

A row that names nobody is no roster: the leak check then looks for no name. So a patient counts as known only by a last
name. A patient who was admitted as Doe is not known yet; `named_later.py` looks for the name once a row brings it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import regex

from deid_platform.notes import Facility, Patient, Provider

FEWEST = 20
"""Patients under which one last name for most of them may be a family's."""
_FILLERS = frozenset(
    """
    anon anonima anonimo anonym anonyma anonyme anonymed anonymised anonymized anonymous apellido apellidos babyboy
    babygirl cognome confidential deidentified desconocida desconocido dummy familyname fullname identified ignota
    ignoto inconnu inconnue infant lastname lname missing na nachname name nan neonate newborn nil nn nolastname nom
    nombre noname none notapplicable notavailable notgiven notknown notprovided notrecorded null paciente patient
    patientin paziente placeholder pseudonym redacted removed sconosciuta sconosciuto subject surname tba tbd test
    testpatient trauma unbekannt undefined unidentified unk unkn unknown unknownunknown unnamed unspecified withheld
    xx zz
    """.split()  # noqa: SIM905 - a list would be longer
)
"""Words that stand in a field for names when nobody knows one, folded and without spaces."""
_ALIASES = {
    "doe": frozenset("baby boy girl infant jane janie jon john johnny newborn unknown".split()),  # noqa: SIM905
    "mustermann": frozenset({"max", "erika"}),
}
"""Last names that name nobody beside these first names, or beside none; beside any other they may be somebody's."""
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_NUMBERED = regex.compile(r"\p{N}")
_LETTER = regex.compile(r"\p{L}")
_WHOLE_LETTER = regex.compile(r"[\p{Han}\p{Hangul}\p{Hiragana}\p{Katakana}]")
"""Of scripts in which one letter may be a whole name."""
_REPEATED = 3
_FIRST_BIRTH = date(1901, 1, 2)
"""Before it nobody who is in a note was born: 1900-01-01 stands for an unknown day."""


class Known(NamedTuple):
    """What the topics know of one patient."""

    named: bool
    dated: bool
    numbered: bool


def known(rows: Sequence[Patient], filler: str | None = None) -> Known:
    """What all rows of a patient, current and former, say together.

    Args:
        rows: `Topics.patients_known_as`.
        filler: The last name that most patients share (`Topics.filler`): it names nobody.
    """
    return Known(
        any(names_somebody(row) and (filler is None or folded_name(row.last_name) != filler) for row in rows),
        any(row.birth_date is not None and row.birth_date >= _FIRST_BIRTH for row in rows),
        any(_is_number(row.mrn) for row in rows),
    )


def names_somebody(row: Patient | Provider) -> bool:
    """Whether a row has a last name that is one.

    Not names are: blanks and signs, single letters, words with digits, one letter repeated, what is written where a
    name is unknown, and the row's own number. In Chinese, Japanese and Korean a single letter may be a name.
    """
    words = _words(row.last_name)
    if not _tells(words) or (row.last_name or "").strip().casefold() in _numbers(row):
        return False
    beside = _ALIASES.get("".join(words))
    return beside is None or any(_is_word(word) for word in set(_words(row.first_name)) - beside - _FILLERS)


def names_a_place(row: Facility) -> bool:
    """Whether a row has a name that is one."""
    return _tells(_words(row.name))


@lru_cache(maxsize=65536)
def folded_name(last_name: str | None) -> str:
    """A last name as two rows that share it have it; empty if it is none."""
    words = _words(last_name)
    return " ".join(words) if _tells(words) else ""


def filler_of(patients_by_name: Iterable[tuple[str, int]], patients: int) -> str | None:
    """The last name that stands for most patients; None if there are few of them, or none does.

    Args:
        patients_by_name: Last names that are names, folded, each with how many patients have it.
        patients: How many there are.
    """
    name, most = max(patients_by_name, key=lambda it: it[1], default=("", 0))
    return name if patients >= FEWEST and 2 * most > patients else None


def _words(value: str | None) -> list[str]:
    """The words of a value, folded, without those that hold a digit."""
    return [word.casefold() for word in _WORD.findall(value or "") if not _NUMBERED.search(word)]


def _tells(words: Sequence[str]) -> bool:
    if "".join(words) in _FILLERS or _FILLERS.issuperset(words):
        return False
    return any(_is_word(word) for word in words if word not in _FILLERS)


def _is_word(word: str) -> bool:
    letters = _LETTER.findall(word)
    if len(letters) < 2:
        return _WHOLE_LETTER.search(word) is not None
    return len(letters) < _REPEATED or len(set(letters)) > 1


def _numbers(row: Patient | Provider) -> set[str]:
    ids = (row.patient_id, row.mrn, row.ssn) if isinstance(row, Patient) else (row.provider_id, row.npi)
    return {value.strip().casefold() for value in ids if value}


def _is_number(value: str | None) -> bool:
    """Whether a record number tells one patient from another: not blank, no word for none, no zeros alone."""
    signs = "".join(_WORD.findall(value or "")).casefold()
    return bool(signs.strip("0")) and signs not in _FILLERS
