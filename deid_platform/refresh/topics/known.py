"""Whether the topics know a patient: by a last name, by a date of birth, by a record number.

Belongs here: which values say something of somebody, and which stand where nothing is known. Does not belong here: how
a name is recognised in a note (`detection/topics/`, `leakcheck/`), or what follows for a delivery
(`refresh/staging/measure.py`).

A row that names nobody is no roster: the leak check then looks for no name. So a patient counts as known only by a last
name. A patient who was admitted as Doe is not known yet; `refresh/hiding/late_names.py` looks for the name once a row
brings it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import regex

from deid_platform.notes import Facility, Patient, Provider

FEWEST = 20
"""Patients under which one last name for most of them may be a family's."""
_OF_A_FAMILY = 4
_SHARED = 0.1
"""Share of patients that has one last name where it stands for something else: Male and Female, or four cities."""
_OF_NATIONS = frozenset("kaur kim le lee lê nguyen nguyễn park pham phạm singh tran trần".split())  # noqa: SIM905
"""Last names that a tenth and more of a nation have: alone or together they may be those of most patients."""
_INITIALS = 2
_FILLERS = frozenset(
    """
    alias anon anonima anonimo anonym anonyma anonyme anonymed anonymised anonymized anonymous apellido
    apellidos babyboy babygirl blinded cancellato coded cognome confidencial confidential confidentiel deceased
    default deidentified deleted desconocida desconocido dummy eliminada eliminado encoded encrypted entfernt
    familyname female femenino femme femmina fullname geloescht gelöscht geschwärzt hidden homme identified
    ignota ignoto inconnu inconnue infant lastname lname male maschio masculino masked missing mr mrs mrx ms
    männlich na nachname name nan neonate newborn nil nn nolastname nom nombre noname none notapplicable
    notavailable notgiven notknown notprovided notrecorded null onbekend onbekende paciente patient patientin
    paziente placeholder private pseudo pseudonym pseudonymised pseudonymized redacted removed rimosso
    sconosciuta sconosciuto subject suppressed supprime supprimé supprimée surname tba tbd test testpatient
    testperson trauma unbekannt undefined unidentified unk unkn unknown unknownfemale unknownmale unknownunknown
    unnamed unspecified vertraulich verwijderd weiblich withheld xx zz
    """.split()  # noqa: SIM905 - a list would be longer
)
"""Words that stand in a field for names when nobody knows one, folded and without spaces."""
_ALIASES = {
    "doe": frozenset("baby boy girl infant jane janie jon john johnny newborn unknown".split()),  # noqa: SIM905
    "mustermann": frozenset({"max", "erika"}),
}
"""Last names that name nobody beside these first names, or beside none; beside any other they may be somebody's."""
_SPELLED = frozenset(
    """
    alfa alpha beta bravo charlie delta echo foxtrot gamma golf hotel india juliet juliett kilo lima mike november
    omega oscar papa quebec romeo sierra sigma tango uniform victor whiskey xray yankee zulu
    """.split()  # noqa: SIM905
)
"""Words that stand for letters, as behind Trauma."""
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


def known(rows: Sequence[Patient], fillers: Collection[str] = ()) -> Known:
    """What all rows of a patient, current and former, say together.

    Args:
        rows: `Topics.patients_known_as`.
        fillers: Last names that stand for most patients (`Topics.fillers`): they name nobody.
    """
    return Known(
        any(names_somebody(row) and folded_name(row.last_name) not in fillers for row in rows),
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


def fillers_of(patients_by_name: Iterable[tuple[str, int]], patients: int) -> frozenset[str]:
    """Last names that together stand for most patients and name none; none where there are few patients.

    These are one name, several that each more than a tenth of the patients share, or all of two letters: initials.

    Args:
        patients_by_name: Last names that are names, folded, each with how many patients have it.
        patients: How many there are.
    """
    if patients < FEWEST:
        return frozenset()
    least = max(_SHARED * patients, _OF_A_FAMILY)
    counted = [(name, many) for name, many in patients_by_name if many > least or _is_initials(name)]
    shared = {name: many for name, many in counted if many > least and name not in _OF_NATIONS}
    most = max(shared.values(), default=0)
    shared = {name: many for name, many in shared.items() if 3 * many > most}
    initials = {name: many for name, many in counted if _is_initials(name)}
    return frozenset(name for names in (shared, initials) if 2 * sum(names.values()) > patients for name in names)


def _is_initials(name: str) -> bool:
    """Whether it may be a person's initials: where most patients have such a name, it is no Li, Wu or Ng."""
    if len(name) > _INITIALS + 1 + _INITIALS:
        return False
    return all(len(word) <= _INITIALS for word in name.split()) and not _WHOLE_LETTER.search(name)


def _words(value: str | None) -> list[str]:
    """The words of a value, folded, without those that hold a digit."""
    return [word.casefold() for word in _WORD.findall(value or "") if not _NUMBERED.search(word)]


def _tells(words: Sequence[str]) -> bool:
    if "trauma" in words:
        words = [word for word in words if word not in _SPELLED]
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
