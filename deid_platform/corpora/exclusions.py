"""Exclusions: note types and opted-out patients whose notes are never taken in.

Belongs here: whether one note is excluded and why, and reading the list of opt-outs. Does not belong here:
what becomes of an excluded note (`refresh/intake/sealing.py`), or withdrawals, which a feed itself states (`files.py`).

The list of opt-outs is a state, not a stream: it says who is out now. In doubt a note is out, and a list that
cannot be read whole is an error, never an empty list.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.single_files import read_patient_ids
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Note
from deid_platform.settings import Settings

# "PsychotherapyNote", "SUDNote" (but not "SUDs"), "Part2": where a word begins without a separator before it.
_WORD_BEGINS = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?:[a-rt-z]|s[a-z]))|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)
_WORD = re.compile(r"[^\W_]+")
_NO_PLURAL = ("ss", "us", "is")  # "illness", "status", "diagnosis"


@dataclass(frozen=True, repr=False)
class Exclusions:
    """Which notes never enter.

    Args:
        note_types: Terms that mark a type as excluded: see `reason`.
        untyped: Whether a note without a type is out as well.
        patients: Source ids of those who opted out, of all feeds.

    Raises:
        DeidError: `settings-invalid` for a term without a word in it.
    """

    note_types: tuple[str, ...] = ()
    untyped: bool = False
    patients: frozenset[str] = frozenset()
    _terms: tuple[str, ...] = field(init=False, compare=False)
    _pattern: re.Pattern[str] | None = field(init=False, compare=False)

    def __post_init__(self) -> None:
        terms = sorted({"".join(_words(term)) for term in self.note_types})
        if not all(terms):
            raise DeidError(Code.SETTINGS_INVALID, "exclusions.note_types")
        # Separators inside a term do not count, those around it do.
        shapes = (" ?".join(map(re.escape, term)) for term in terms)
        object.__setattr__(self, "_terms", tuple(terms))
        object.__setattr__(self, "_pattern", re.compile(rf"(?<!\S)(?:{'|'.join(shapes)})(?!\S)") if terms else None)

    def __repr__(self) -> str:
        return "<Exclusions>"

    @classmethod
    def load(cls, settings: Settings) -> Exclusions:
        """What deid.toml says now, with the list of opt-outs as it is now.

        Raises:
            DeidError: `opt-outs-unreadable` if a list is configured and missing, empty or not whole;
                `settings-invalid` for a term without a word in it.
        """
        chosen = settings.exclusions
        patients = frozenset[str]() if chosen.opt_outs is None else _opt_outs(settings.path(chosen.opt_outs))
        return cls(chosen.note_types, chosen.untyped, patients)

    def reason(self, note: Note) -> Reason | None:
        """Why a note never enters; None if it may.

        A type is excluded if a term stands in it as whole words. Case, accents, plurals, "and", and what
        separates the words do not count: "substance use" is in "SubstanceUse_Intake" and in "Substance-Use
        Programs", but "SUD" is not in "Sudden death". Where patients have opted out, a note that names no
        patient is out too: it may be theirs.
        """
        if note.patient_id in self.patients:
            return Reason.OPTED_OUT
        if self.patients and note.patient_id is None:
            return Reason.MISSING_PATIENT
        if note.note_type is None:
            return Reason.MISSING_TYPE if self.untyped else None
        return Reason.EXCLUDED_TYPE if self._pattern and _matches(self._pattern, note.note_type) else None

    def opted_out(self) -> list[str]:
        """The patients who opted out, by their source ids, in order."""
        return sorted(self.patients)

    def digest(self, keyring: Keyring) -> str:
        """A keyed digest that changes with whatever is excluded."""
        terms = self._terms
        return keyring.digest("exclusions", str(len(terms)), *terms, str(self.untyped), *self.opted_out())


def _opt_outs(path: Path) -> frozenset[str]:
    patients = set()
    for item in read_patient_ids(path):
        if not isinstance(item, Rejection):
            patients.add(item)
        elif item.reason is not Reason.DUPLICATE_ID:
            # Whose row it was nobody can tell.
            raise DeidError(Code.OPT_OUTS_UNREADABLE, f"exclusions.opt_outs, line {item.row}: {item.reason.value}")
    if not patients:
        raise DeidError(Code.OPT_OUTS_UNREADABLE, "exclusions.opt_outs, no rows")
    return frozenset(patients)


@lru_cache(maxsize=4096)  # a site has few types, and each note has one
def _matches(pattern: re.Pattern[str], note_type: str) -> bool:
    return pattern.search(" ".join(_words(note_type))) is not None


def _words(text: str) -> Iterable[str]:
    """The words of a type or a term, folded: lower case, in the singular, without accents and without "and"."""
    decomposed = unicodedata.normalize("NFKD", text)
    # Accents, soft hyphens and zero-width characters.
    plain = "".join(c for c in decomposed if unicodedata.category(c) not in ("Mn", "Cf"))
    words = [_singular(word.casefold()) for word in _WORD.findall(_WORD_BEGINS.sub(" ", plain))]
    return [word for word in words if word != "and"]


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(_NO_PLURAL) else word
