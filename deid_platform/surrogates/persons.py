"""A person whose names are known, and which ways of writing a name may be theirs.

Belongs here: one person's names and whether a written name fits them. Does not belong here: choosing among several
people (`identity.py`) or what stands in for them (`household.py`, `site_names.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeAlias

import regex
from rapidfuzz.distance import OSA

from deid_platform.surrogates.names import Kind, is_listed, is_usual, letters
from deid_platform.surrogates.written_names import NamePart, Role, Token, WrittenName, full_names, nicknames
from deid_platform.text.names import name_parts

# Letters that a word needs to be known again with one wrong, alone or beside another part of the name.
_MISSPELT_ALONE, _MISSPELT = 5, 4
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’]*")


# What a written word is of a name: where that lies in it, its role, the full word, and whether it is a nickname.
_Known: TypeAlias = tuple[int, int, Role, str, bool]


@dataclass(frozen=True, slots=True, repr=False)
class Person:
    """Somebody whose names are known, from the topics or from a full mention in a note.

    Attributes:
        token: Who it is: a kind and an id of the topics, or the folded names.
        site: Whether the whole site knows the person (providers), or only the patient's own notes.
        sex: F or M where the topics say so.
        given: Folded words of the given name, current and former in this order, with their place in it.
        middle: Folded words of middle names.
        surname: Folded words of surnames.
    """

    token: tuple[str, ...]
    site: bool
    sex: str | None
    given: Mapping[str, int]
    middle: tuple[str, ...]
    surname: tuple[str, ...]
    _words: Mapping[str, tuple[_Known, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Person {self.token[0]}>"

    def fit(self, name: WrittenName) -> tuple[int, tuple[NamePart, ...]] | None:
        """The parts of a written name if it may be this person's, and how many of its words are exactly so."""
        if name.initials:
            return self._fit_initials(name.tokens)
        parts: list[NamePart] = []
        exact = 0
        i = 0
        while i < len(name.tokens):
            token = name.tokens[i]
            if len(token.key) == 1:
                part = self._initial(token, parts)
                if part is not None:
                    parts.append(part)
                    i += 1
                    continue
            found, used = self._word(name.tokens[i : i + 3], alone=len(name.tokens) == 1)
            if not found:
                return None
            exact += used > 0 and not any(part.nickname for part in found)
            parts += found
            i += max(used, 1)
        if len(parts) == 2:
            parts = self._told_apart(parts, surname_first=name.before_comma > 0)
        return exact, tuple(parts)

    def _word(self, tokens: tuple[Token, ...], *, alone: bool) -> tuple[tuple[NamePart, ...], int]:
        """What a word is, whole or split in up to three, and how many tokens it took; 0 where one letter is wrong."""
        first = tokens[0]
        key = ""
        for used, token in enumerate(tokens, start=1):
            key += token.key
            if known := self._words.get(key):
                return _placed(known, first.start, token.end), used
        if alone and (first.upper or first.lower) and first.end - first.start == len(first.key) <= 3:
            fitted = self._fit_initials(_spelled(first))
            if fitted is not None:
                return fitted[1], 1
        least = _MISSPELT_ALONE if alone else _MISSPELT
        if len(first.key) >= least and not is_usual(first.key):
            for word in self._words:
                if len(word) >= least and _one_letter_wrong(word, first.key):
                    return _placed(self._words[word], first.start, first.end), 0
        return (), 0

    def _told_apart(self, parts: list[NamePart], *, surname_first: bool) -> list[NamePart]:
        """The two parts of a name whose given name and surname are one word ("Martin Martin")."""
        if parts[0].word != parts[1].word or parts[0].word not in self.given or parts[0].word not in self.surname:
            return parts
        roles = (Role.SURNAME, Role.GIVEN) if surname_first else (Role.GIVEN, Role.SURNAME)
        return [replace(part, role=role) for part, role in zip(parts, roles, strict=True)]

    def _initial(self, token: Token, before: list[NamePart]) -> NamePart | None:
        """Which of the person's initials a letter can be after what was written before it."""
        given_written = any(part.role is Role.GIVEN for part in before)
        surname_written = any(part.role is Role.SURNAME for part in before)
        if not given_written and (not self.given or token.key in {word[0] for word in self.given}):
            return NamePart(token.start, token.end, Role.GIVEN, token.key, initial=True)
        if not given_written:
            return None
        is_middle = token.key in {word[0] for word in self.middle}
        if not surname_written and not is_middle and token.key in {word[0] for word in self.surname}:
            return NamePart(token.start, token.end, Role.SURNAME, token.key, initial=True)
        return (
            NamePart(token.start, token.end, Role.MIDDLE, token.key, initial=True)
            if is_middle or not self.middle
            else None
        )

    def _fit_initials(self, tokens: Sequence[Token]) -> tuple[int, tuple[NamePart, ...]] | None:
        written = "".join(token.key for token in tokens)
        roles = (Role.GIVEN, Role.SURNAME) if len(tokens) == 2 else (Role.GIVEN, Role.MIDDLE, Role.SURNAME)
        if len(tokens) != len(roles):
            return None
        of_role = {Role.GIVEN: self.given, Role.MIDDLE: self.middle, Role.SURNAME: self.surname}
        for letter, role in zip(written, roles, strict=True):
            if not any(word[0] == letter for word in of_role[role]):
                return None
        return 0, tuple(
            NamePart(t.start, t.end, role, t.key, initial=True) for t, role in zip(tokens, roles, strict=True)
        )


def person(
    token: tuple[str, ...],
    rows: Iterable[tuple[str | None, str | None, str | None]],
    *,
    site: bool = False,
    sex: str | None = None,
) -> Person:
    """A person from the given, middle and last names of one or more rows, the current one first."""
    given: dict[str, int] = {}
    middle: dict[str, None] = {}
    surname: dict[str, None] = {}
    words: dict[str, tuple[_Known, ...]] = {}
    for first_name, middle_name, last_name in rows:
        first, other, last = words_to_replace(first_name), words_to_replace(middle_name), words_to_replace(last_name)
        for place, word in enumerate(first):
            given.setdefault(word, place)
        middle.update(dict.fromkeys(other))
        surname.update(dict.fromkeys(last))
        for role, group in ((Role.SURNAME, last), (Role.GIVEN, first), (Role.MIDDLE, other)):
            for word in group:
                words.setdefault(word, ((0, len(word), role, word, False),))
        # What may be run together: the whole surname with its particles, double given names, given name and surname.
        whole = letters(last_name or "")
        if len(last) == 1 and whole:
            words.setdefault(whole, ((0, len(whole), Role.SURNAME, last[0], False),))
        for run in (last, first, (*first[:1], *last[:1]), (*last[:1], *first[:1])):
            if len(run) > 1:
                words.setdefault("".join(run), _run_together(run, given))
    for word in given:
        for called in nicknames(word) + (() if is_listed(Kind.GIVEN, word) else full_names(word)):
            words.setdefault(called, ((0, len(called), Role.GIVEN, word, True),))
    letter = (sex or "")[:1].upper()
    return Person(token, site, letter if letter in ("F", "M") else None, given, tuple(middle), tuple(surname), words)


def given_places(names: Iterable[str | None]) -> dict[str, int]:
    """The folded words of given names, the current one first, with their place in it."""
    places: dict[str, int] = {}
    for name in names:
        for place, word in enumerate(words_to_replace(name)):
            places.setdefault(word, place)
    return places


def corrected_spellings(given: Mapping[str, int], word: str) -> tuple[str, str]:
    """The current and the oldest spelling of a given name that was corrected; any other word twice as it is."""
    if word not in given:
        return word, word
    same = [key for key, place in given.items() if place == given[word]]
    return same[0], same[-1]


@lru_cache(maxsize=65536)
def words_to_replace(name: str | None) -> tuple[str, ...]:
    """The folded words of a name field without particles, unless it has no others ("Das")."""
    words = name_parts(name) or _WORD.findall(name or "")
    return tuple(key for word in words if (key := letters(word)))


def _run_together(run: Sequence[str], given: Mapping[str, int]) -> tuple[_Known, ...]:
    parts: list[_Known] = []
    position = 0
    for word in run:
        role = Role.GIVEN if word in given else Role.SURNAME
        parts.append((position, position + len(word), role, word, False))
        position += len(word)
    return tuple(parts)


def _placed(known: tuple[_Known, ...], start: int, end: int) -> tuple[NamePart, ...]:
    """Parts of a known word at the place where it is written; the last one reaches to its end."""
    if len(known) == 1:
        _, _, role, word, nickname = known[0]
        return (NamePart(start, end, role, word, nickname=nickname),)
    *most, (last, _, role, word, _) = known
    return (*(NamePart(start + a, start + b, r, w) for a, b, r, w, _ in most), NamePart(start + last, end, role, word))


def _one_letter_wrong(known: str, written: str) -> bool:
    """Whether one letter of a word of four or more is wrong, missing, doubled or swapped: its first or last stays."""
    return (
        -2 < len(known) - len(written) < 2
        and (known[0] == written[0] or known[-1] == written[-1])
        and OSA.distance(known, written, score_cutoff=1) <= 1
    )


def _spelled(token: Token) -> tuple[Token, ...]:
    return tuple(
        Token(token.start + i, token.start + i + 1, letter, token.upper, token.lower)
        for i, letter in enumerate(token.key)
    )
