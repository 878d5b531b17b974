"""A person whose names are known, and which ways of writing a name may be theirs.

Belongs here: one person's names and whether a written name fits them. Does not belong here: choosing among several
people (`identity.py`) or what stands in for them (`household.py`, `site_names.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import regex
from rapidfuzz.distance import OSA

from deid_platform.detection.naming import name_parts
from deid_platform.surrogates.names import Kind, is_listed, is_usual, letters
from deid_platform.surrogates.written_names import Part, Role, Token, WrittenName, full_names, nicknames

# Letters that a word needs to be known again with one wrong, alone or beside another part of the name.
_MISSPELT_ALONE, _MISSPELT = 5, 4
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}'’]*")


@dataclass(frozen=True, slots=True, repr=False)
class Person:
    """Somebody whose names are known, from the topics or from a full mention in a note.

    Attributes:
        token: Who it is: a kind and an id of the topics, or the folded names.
        site: Whether the whole site knows the person (providers), or only the patient's own notes.
        sex: F or M where the topics say so.
        given: Folded words of the given name, current and former, with their place in it.
        middle: Folded words of middle names.
        surname: Folded words of surnames.
    """

    token: tuple[str, ...]
    site: bool
    sex: str | None
    given: Mapping[str, int]
    middle: tuple[str, ...]
    surname: tuple[str, ...]
    _words: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Person {self.token[0]}>"

    def fit(self, name: WrittenName) -> tuple[int, tuple[Part, ...]] | None:
        """The parts of a written name if it may be this person's, and how many of its words are exactly so."""
        if name.initials:
            return self._fit_initials(name.tokens)
        parts: list[Part] = []
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

    def _word(self, tokens: tuple[Token, ...], *, alone: bool) -> tuple[tuple[Part, ...], int]:
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
        for word in self._words if len(first.key) >= least and not is_usual(first.key) else ():
            if len(word) >= least and OSA.distance(word, first.key, score_cutoff=1) <= 1:
                return _placed(self._words[word], first.start, first.end), 0
        return (), 0

    def _told_apart(self, parts: list[Part], *, surname_first: bool) -> list[Part]:
        """The two parts of a name whose given name and surname are one word ("Martin Martin")."""
        if parts[0].word != parts[1].word or parts[0].word not in self.given or parts[0].word not in self.surname:
            return parts
        roles = (Role.SURNAME, Role.GIVEN) if surname_first else (Role.GIVEN, Role.SURNAME)
        return [replace(part, role=role) for part, role in zip(parts, roles, strict=True)]

    def _initial(self, token: Token, before: list[Part]) -> Part | None:
        """Which of the person's initials a letter can be after what was written before it."""
        given_written = any(part.role is Role.GIVEN for part in before)
        surname_written = any(part.role is Role.SURNAME for part in before)
        if not given_written and (not self.given or token.key in {word[0] for word in self.given}):
            return Part(token.start, token.end, Role.GIVEN, token.key, initial=True)
        if not given_written:
            return None
        is_middle = token.key in {word[0] for word in self.middle}
        if not surname_written and not is_middle and token.key in {word[0] for word in self.surname}:
            return Part(token.start, token.end, Role.SURNAME, token.key, initial=True)
        return (
            Part(token.start, token.end, Role.MIDDLE, token.key, initial=True) if is_middle or not self.middle else None
        )

    def _fit_initials(self, tokens: Sequence[Token]) -> tuple[int, tuple[Part, ...]] | None:
        written = "".join(token.key for token in tokens)
        roles = (Role.GIVEN, Role.SURNAME) if len(tokens) == 2 else (Role.GIVEN, Role.MIDDLE, Role.SURNAME)
        if len(tokens) != len(roles):
            return None
        of_role = {Role.GIVEN: self.given, Role.MIDDLE: self.middle, Role.SURNAME: self.surname}
        for letter, role in zip(written, roles, strict=True):
            if not any(word[0] == letter for word in of_role[role]):
                return None
        return 0, tuple(Part(t.start, t.end, role, t.key, initial=True) for t, role in zip(tokens, roles, strict=True))


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
    words: dict[str, tuple[Part, ...]] = {}
    for first_name, middle_name, last_name in rows:
        groups = [name_words(name) for name in (first_name, middle_name)]
        last = name_words(last_name)
        for place, word in enumerate(groups[0]):
            given.setdefault(word, place)
        middle.update(dict.fromkeys(groups[1]))
        surname.update(dict.fromkeys(last))
        by_role = ((Role.SURNAME, last), (Role.GIVEN, groups[0]), (Role.MIDDLE, groups[1]))
        for role, group in by_role:
            for word in group:
                words.setdefault(word, (Part(0, len(word), role, word),))
        # What may be run together: the whole surname with its particles, double given names, given name and surname.
        whole = letters(last_name or "")
        if len(last) == 1 and whole:
            words.setdefault(whole, (Part(0, len(whole), Role.SURNAME, last[0]),))
        for run in (by_role[0][1], by_role[1][1], [*groups[0][:1], *last[:1]], [*last[:1], *groups[0][:1]]):
            if len(run) > 1:
                words.setdefault("".join(run), _run_together(run, given))
    for word in list(given):
        for called in nicknames(word) + (() if is_listed(Kind.GIVEN, word) else full_names(word)):
            words.setdefault(called, (Part(0, len(called), Role.GIVEN, word, nickname=True),))
    letter = (sex or "")[:1].upper()
    return Person(token, site, letter if letter in ("F", "M") else None, given, tuple(middle), tuple(surname), words)


def name_words(name: str | None) -> list[str]:
    """The folded words of a name field without particles, unless it has no others ("Das")."""
    words = name_parts(name) or _WORD.findall(name or "")
    return [key for word in words if (key := letters(word))]


def _run_together(run: list[str], given: Mapping[str, int]) -> tuple[Part, ...]:
    parts = []
    position = 0
    for word in run:
        role = Role.GIVEN if word in given else Role.SURNAME
        parts.append(Part(position, position + len(word), role, word))
        position += len(word)
    return tuple(parts)


def _placed(parts: tuple[Part, ...], start: int, end: int) -> tuple[Part, ...]:
    """Parts of a known word at the place where it is written; a single one takes the whole place."""
    if len(parts) == 1:
        part = parts[0]
        return (Part(start, end, part.role, part.word, nickname=part.nickname),)
    placed = [Part(start + p.start, start + p.end, p.role, p.word) for p in parts]
    placed[-1] = Part(placed[-1].start, end, placed[-1].role, placed[-1].word)
    return tuple(placed)


def _spelled(token: Token) -> tuple[Token, ...]:
    return tuple(
        Token(token.start + i, token.start + i + 1, letter, token.upper, token.lower)
        for i, letter in enumerate(token.key)
    )
