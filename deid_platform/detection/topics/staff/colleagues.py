"""Owners of initials: the note's own clinicians, another colleague, or nobody known.

Belongs here: the initials of names, and what the topics and a note know of them. Does not belong here: where
initials stand (`positions.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

import regex

from deid_platform.detection.api import Candidate, Document
from deid_platform.labels import Label
from deid_platform.notes import Provider, Topics
from deid_platform.text.fold import fold_term
from deid_platform.text.names import PARTICLES

_NAME = regex.compile(r"\p{L}[\p{L}\p{M}'’]*")
_APOSTROPHE = regex.compile(r"['’](?=\p{L}{2})")
_MOST_KNOWN = 200
"""Sets of initials beyond which to be among them says nothing: there are 676 of two letters."""


class Who(IntEnum):
    """Who is known to have some initials."""

    NOBODY = 0
    PERHAPS_OWN = 1
    """Three letters of which the first and the last are those of somebody whom the note names."""
    COLLEAGUE = 2
    OWN = 3
    """Whoever wrote the note, or whom it names."""


@dataclass(frozen=True, slots=True, repr=False)
class Known:
    """Initials, in small letters, that a note may use. Its `repr` shows none.

    Attributes:
        own: Of those who wrote the note or whom it names.
        colleagues: Of everybody who works in the institution.
    """

    own: frozenset[str] = frozenset()
    colleagues: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in ("own", "colleagues"):
            if len(getattr(self, name)) > _MOST_KNOWN:
                object.__setattr__(self, name, frozenset())

    def __repr__(self) -> str:
        return "<Known>"

    def who(self, letters: str) -> Who:
        """Who has these folded letters for initials."""
        if letters in self.own:
            return Who.OWN
        if letters in self.colleagues:
            return Who.COLLEAGUE
        # Topics have no middle names.
        return Who.PERHAPS_OWN if len(letters) == 3 and letters[0] + letters[2] in self.own else Who.NOBODY


class Colleagues:
    """The initials of an institution's staff. Its `repr` shows none of them.

    Args:
        topics: The providers of the institution; nothing else of them is used.
    """

    def __init__(self, topics: Topics | None = None) -> None:
        self._by_id: dict[str, frozenset[str]] = {}
        for row in topics.every_provider() if topics else ():
            known = self._by_id.get(row.provider_id, frozenset())
            self._by_id[row.provider_id] = known.union(_provider_initials(row))
        self._all = frozenset(letters for known in self._by_id.values() for letters in known)

    def __repr__(self) -> str:
        return "<Colleagues>"

    def known_in(self, document: Document, people: Iterable[Candidate]) -> Known:
        """What initials a note may use: its author's, those of the people found in it, and everybody's."""
        author = self._by_id.get(document.note.provider_id or "", frozenset())
        return Known(author | initials_of(document.text, people), self._all)


def initials_of(text: str, people: Iterable[Candidate]) -> frozenset[str]:
    """The initials, in small letters, of the staff among the people found in a note."""
    return frozenset(
        letters
        for span in people
        if span.label is Label.DOCTOR
        for letters in name_initials(text[span.start : span.end])
    )


def name_initials(name: str) -> Iterator[str]:
    """First and last, and all initials of a full name: "Ana Liz Mendes" gives "am" and "alm"; none of one word.

    Of a surname with an apostrophe or particles either part may be meant: "Ana O'Dell" is AO and AD.
    """
    last, comma, first = name.partition(",")
    words = _NAME.findall(f"{first} {last}" if comma else name)
    main = [word for word in words[:-1] if word.lower() not in PARTICLES] + words[-1:]
    if len(main) < 2:
        return
    letters = [fold_term(word)[0] for word in main]
    lasts = [main[-1], *_APOSTROPHE.split(main[-1])[1:], *[word for word in words[1:] if word.lower() in PARTICLES][:1]]
    yield from dict.fromkeys(letters[0] + fold_term(word)[0] for word in lasts)
    if len(letters) == 3:
        yield "".join(letters)


def _provider_initials(row: Provider) -> Iterator[str]:
    """As `name_initials`, with each word of a double surname as the last: "Ana Ruiz-Mendes" is AR, AM and ARM."""
    surname = row.last_name or ""
    for last in {surname, *surname.replace("-", " ").split()}:
        yield from name_initials(f"{row.first_name or ''} {last}")
