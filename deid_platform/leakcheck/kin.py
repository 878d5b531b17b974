"""Names of a patient's relatives and mother in a text.

Belongs here: those whom the patient's own rows name, and the mother where she is a patient too. Does not belong here:
the patient (`names.py`), or everybody else (`strangers.py`), of whom full names alone are sought.

A full name counts wherever it is written as one. A single name counts beside a title or a word for kin, since half the
town may bear it; behind "Dr." it is somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from deid_platform.leakcheck.comparable import ComparableText, fold, word_list
from deid_platform.leakcheck.kinds import LeakKind
from deid_platform.leakcheck.names import SHORTEST_NAME, name_parts
from deid_platform.leakcheck.strangers import INITIAL, full_names, written_as_names
from deid_platform.notes import Patient, Topics

_FAMILIES_KEPT = 4096
_COMMENT = re.compile(r"\([^)]*\)|\[[^\]]*\]|[-–:].*$")
_KIN = (
    r"(?:mother|mom|mum|mama|mommy|father|dad|daddy|parents?|daughter|son|child|wife|husband|spouse|partner|sister|brother"
    r"|sibling|twin|aunt|uncle|niece|nephew|cousin|grand(?:mother|father|ma|pa|son|daughter)|fianc[ée]e?|girlfriend"
    r"|boyfriend|friend|neighbou?r|guardian|caregiver|proxy|nok|kin|(?:step|foster)[\s-]?(?:mother|father|son|daughter)"
    r"|(?:mother|father|sister|brother|son|daughter)-in-law"
    r"|madre|padre|hij[ao]|espos[ao]|marido|herman[ao]|figli[ao]|moglie|marito|sorella|fratello|mère|père|fille|fils"
    r"|épouse|mari|sœur|frère|mutter|vater|tochter|sohn|ehefrau|ehemann|schwester|bruder)"
)
_TITLE = r"(?:mr|mrs|ms|miss|mx|sr|sra|sig|sig\.ra|mme|frau|herr)\.?"
_BEFORE = re.compile(
    rf"(?<![^\W_])(?:{_TITLE}|{_KIN}(?:\s?[,:(])?(?:\s(?:is|was|named|called|name\sis))?|named|called|contact:?)\s{{1,3}}"
    r"(?:[^\W\d_]+\.?\s)?\Z",
    re.IGNORECASE,
)
_BEHIND = re.compile(rf"\s?[,(]\s?(?:(?:his|her|their|the|patient'?s|pt'?s)\s)?{_KIN}(?![^\W_])", re.IGNORECASE)
_REACH = 40


@dataclass(frozen=True, slots=True, repr=False)
class _Family:
    """Whom a patient's rows name.

    Attributes:
        full: Lines of full names.
        alone: Single names, folded.
    """

    full: frozenset[str]
    alone: frozenset[str]


class Kin:
    """Relatives and mothers of everybody in the topics.

    Args:
        topics: Say who is whose mother.
        spare_providers: Whether a full name that a provider bears too is left out, as among `Strangers`.
    """

    def __init__(self, topics: Topics, *, spare_providers: bool) -> None:
        self._topics = topics
        self._spared = (
            frozenset(line for p in topics.every_provider() for line in full_names(p))
            if spare_providers
            else frozenset()
        )

    def __repr__(self) -> str:
        return "<Kin>"

    def residue(self, reading: ComparableText, own: Sequence[Patient]) -> Iterator[LeakKind]:
        """The kind of leak where a text names a relative.

        Args:
            reading: The text.
            own: All rows of the note's own patient.
        """
        mothers = dict.fromkeys(row.mother_id for row in own if row.mother_id)
        rows = tuple(row for mother in mothers for row in self._topics.patients_known_as(mother))
        if not rows and not any(row.relatives for row in own):
            return
        family = _family(tuple(own), rows)
        line = INITIAL.sub("", reading.line)
        lines = (full for full in family.full - self._spared if full in line)
        if any(written_as_names(full, reading) for full in lines) or _alone(family.alone & reading.words, reading):
            yield LeakKind.RELATIVE_NAME


def _alone(names: Iterable[str], reading: ComparableText) -> bool:
    """Whether a single name stands beside a title or a word for kin, with a capital."""
    wanted = frozenset(names)
    if not wanted:
        return False
    for word, start, end in reading.written:
        if word in wanted and reading.text[start].isupper():
            before = reading.text[max(0, start - _REACH) : start]
            if _BEFORE.search(before) or _BEHIND.match(reading.text, end):
                return True
    return False


@lru_cache(maxsize=_FAMILIES_KEPT)
def _family(own: tuple[Patient, ...], mothers: tuple[Patient, ...]) -> _Family:
    """The names of a family but the patient's own, which are sought by stricter rules; kept, as notes lie together."""
    people = [*mothers, *(person for row in own for person in _relatives(row.relatives or ""))]
    mine = {part for row in own for name in _names(row) for part in name_parts(name)}
    mine_full = {line for row in own for line in full_names(row)}
    parts = {part for person in people for name in _names(person) for part in name_parts(name)}
    alone = {part for part in parts - mine if len(part) >= SHORTEST_NAME and part not in word_list("particles")}
    return _Family(frozenset(line for p in people for line in full_names(p)) - mine_full, frozenset(alone))


def _names(person: Patient) -> Iterator[str]:
    yield from (name for name in (person.first_name, person.middle_name, person.last_name) if name)


def _relatives(names: str) -> Iterator[Patient]:
    """The people of a list such as "Voss, Mirela (daughter); Tobin Carter"; a single word is a given name."""
    for written in names.split(";"):
        last, comma, first = _COMMENT.sub(" ", written).strip().partition(",")
        words = last.split()
        if comma:
            yield Patient("", first.strip(), None, last.strip())
        elif words:
            surname = next(
                (place for place in range(1, len(words)) if fold(words[place]) in word_list("particles")), -1
            )
            cut = surname if surname > 0 else max(1, len(words) - 1)
            yield Patient("", " ".join(words[:cut]), None, " ".join(words[cut:]) or None)
