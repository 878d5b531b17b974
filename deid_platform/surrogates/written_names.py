"""How a name stands in a text: its words, initials, titles and order.

Belongs here: taking a span's own text apart, and the part of a name that each word is as far as the text alone tells.
Does not belong here: whose name it is (`identity.py`) or what replaces it (`keyed.py`).

What is no word of a name stays as it is, from a closed list only: titles, credentials, generational suffixes and the
small words inside surnames. A text with anything else in it (digits, other scripts) is not read at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import pairwise

import regex

from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.lists import rows, written_terms
from deid_platform.surrogates.names import Kind, is_listed, letters
from deid_platform.text.names import PARTICLES

# A word may hold one digit that a scanner took for a letter, if it has three letters more.
_TOKEN = regex.compile(
    r"(?:\p{Latin}{3,}[0158]\p{Latin}*|\p{Latin}{1,2}[0158]\p{Latin}{2,})(?!\d)"
    r"|\p{Latin}[\p{Latin}\p{M}]*(?:['’ʼ]\p{Latin}[\p{Latin}\p{M}]*)*"
)
_MISREAD = str.maketrans("0158", "olsb")
_BETWEEN = regex.compile(r"[\s.,;:^()\[\]\"'’“”/&*_|‐‑–\-\u00ad\u200b-\u200d\u2060]*")
_POSSESSIVE = regex.compile(r"['’ʼ][sS]$")
_CREDENTIALS = regex.compile(
    rf"(?:\s*,\s*|\s+|\s*\()(?:(?:{alternatives(written_terms('credentials.sure'), any_writing=False)})\.?"
    r"|PT|OT|MBA|Esq\.?|III|II|IV|[Jj]r\.?|JR\.?|[Ss]r\.?|SR\.?)\)?$"
)
_TITLES = frozenset(
    {
        *("mr", "mrs", "ms", "miss", "mx", "dr", "drs", "doctor", "prof", "professor", "sir", "madam", "master", "rev"),
        *("nurse", "sig", "signor", "signora", "dott", "dottor", "dottssa", "sr", "sra", "srta"),
        *("mme", "mlle", "monsieur", "madame", "herr", "frau", "baby", "babyboy", "babygirl", "boy", "girl"),
    }
)
_TITLE_BEFORE = regex.compile(
    r"\b(?:m(?:rs?|s|iss|x|me|lle)|drs?|doctor|prof(?:essor)?|sig(?:\.?ra)?|dott(?:\.?ssa)?|sra?|herr|frau|nurse)"
    r"\.?[ \t]{0,2}$",
    regex.IGNORECASE,
)
# Small words of surnames that are given names when they come first and with a capital: "Al Smith", "Van Johnson".
_GIVEN_TOO = frozenset({"al", "van"})


class Role(StrEnum):
    """Which part of a name a word is."""

    GIVEN = "given"
    MIDDLE = "middle"
    SURNAME = "surname"


@dataclass(frozen=True, slots=True, repr=False)
class NamePart:
    """One part of a written name.

    Attributes:
        start: Its first code point within the span's text.
        end: One past its last.
        role: Which part of the name it is.
        word: What it says, folded, letters only; of an initial the letter, of a nickname the given name if one is
            known for certain.
        initial: Whether only the first letter is written.
        nickname: Whether it is written as a nickname.
    """

    start: int
    end: int
    role: Role
    word: str
    initial: bool = False
    nickname: bool = False

    def __repr__(self) -> str:
        return f"<Part {self.role}>"


@dataclass(frozen=True, slots=True, repr=False)
class Token:
    """A word as it is written: its place in the span's text, its folded letters and its case."""

    start: int
    end: int
    key: str
    upper: bool
    lower: bool = False

    def __repr__(self) -> str:
        return "<Token>"


@dataclass(frozen=True, slots=True, repr=False)
class WrittenName:
    """One person's name within a span.

    Attributes:
        tokens: Its words and initials, without titles, suffixes and particles.
        before_comma: How many of them stand before a comma that puts the surname first; 0 without one.
        hyphened: Which tokens are joined to the next by a hyphen.
        titled: Whether a title stands before it, in the span or in the text.
        initials: Whether it is initials alone.
    """

    tokens: tuple[Token, ...]
    before_comma: int
    hyphened: frozenset[int]
    titled: bool
    initials: bool

    def __repr__(self) -> str:
        return f"<WrittenName of {len(self.tokens)}>"


def follows_title(text: str, start: int) -> bool:
    """Whether a title stands right before a place of a text."""
    return _TITLE_BEFORE.search(text[max(0, start - 12) : start]) is not None


@lru_cache(maxsize=16384)
def read_names(surface: str, titled: bool) -> tuple[WrittenName, ...] | None:
    """The names in a span's text, one for each side of an "and".

    Args:
        surface: The span's own text.
        titled: Whether a title stands before it.

    Returns:
        None where the text holds something else than names.
    """
    end = len(surface)
    while (credential := _CREDENTIALS.search(surface, 0, end)) is not None and credential.start() > 0:
        end = credential.start()
    tokens: list[Token] = []
    position = 0
    for match in _TOKEN.finditer(surface, 0, end):
        if not _BETWEEN.fullmatch(surface, position, match.start()):
            return None
        position = match.end()
        word = _POSSESSIVE.sub("", match[0])
        key = letters(word.translate(_MISREAD))
        tokens.append(Token(match.start(), match.start() + len(word), key, word.isupper(), word.islower()))
    if not tokens or not _BETWEEN.fullmatch(surface, position, end):
        return None
    names: list[WrittenName] = []
    current: list[Token] = []
    for token in tokens:
        joined = current and "&" in surface[current[-1].end : token.start]
        if joined or (token.key == "and" and current):
            names += _one_name(surface, current, titled)
            current = []
        if token.key != "and":
            current.append(token)
    names += _one_name(surface, current, titled)
    return tuple(names) if names else None


def _one_name(surface: str, tokens: list[Token], titled: bool) -> list[WrittenName]:
    while len(tokens) > 1 and tokens[0].key in _TITLES and "," not in surface[tokens[0].end : tokens[1].start]:
        titled = True
        tokens = tokens[1:]
    comma = next((i for i in range(1, len(tokens)) if _puts_first(surface, tokens, i)), 0)
    kept = [i for i, token in enumerate(tokens) if not _is_particle(surface, tokens, i, comma)] or [*range(len(tokens))]
    if not kept:
        return []
    hyphened = {
        place
        for place, (i, j) in enumerate(pairwise(kept))
        if j == i + 1 and surface[tokens[i].end : tokens[j].start] in ("-", "‐", "‑", "–")
    }
    before = sum(1 for i in kept if i < comma)
    words = tuple(tokens[i] for i in kept)
    return [WrittenName(words, before, frozenset(hyphened), titled, all(len(token.key) == 1 for token in words))]


def _puts_first(surface: str, tokens: list[Token], i: int) -> bool:
    """Whether a comma, or the caret of HL7, says that what stands before a token is the surname."""
    between = surface[tokens[i - 1].end : tokens[i].start]
    return "," in between or "^" in between


def _is_particle(surface: str, tokens: list[Token], i: int, comma: int) -> bool:
    token = tokens[i]
    if token.key not in PARTICLES or i == len(tokens) - 1:
        return False
    # Nor is one all that stands for the surname: "Das, Maria", "Y. Das".
    if i + 1 == comma or (len(token.key) == 1 and token.upper):
        return False
    first_capital = i == 0 and comma == 0 and surface[token.start].isupper()
    return not (first_capital and (token.key in _GIVEN_TOO or is_listed(Kind.GIVEN, token.key)))


def parts_alone(name: WrittenName, *, clinician: bool) -> tuple[NamePart, ...]:
    """The parts of a name that nobody is known to bear.

    Args:
        name: The written name.
        clinician: Whether a single word is more likely a surname, as it is in what a note says of its staff.
    """
    tokens = name.tokens
    count = len(tokens)
    if count == 1:
        return _single(tokens[0], name.titled or clinician)
    if name.initials:
        roles = [Role.GIVEN, *[Role.MIDDLE] * (count - 2), Role.SURNAME]
    elif name.before_comma:
        given = count - name.before_comma
        roles = [Role.SURNAME] * name.before_comma + [Role.GIVEN, *[Role.MIDDLE] * (given - 1)]
    else:
        roles = [Role.GIVEN, *[Role.MIDDLE] * (count - 2), Role.SURNAME]
        if count - 2 in name.hyphened:
            roles[count - 2] = Role.SURNAME
        elif 0 in name.hyphened:
            roles[1] = Role.GIVEN
    return tuple(_part(token, role) for token, role in zip(tokens, roles, strict=True))


def _single(token: Token, surname_likely: bool) -> tuple[NamePart, ...]:
    listed = {kind: is_listed(kind, token.key) for kind in (Kind.GIVEN, Kind.SURNAME)}
    if (
        (token.upper or token.lower)
        and 2 <= len(token.key) <= 3
        and not any(listed.values())
        and token.end - token.start < 4
    ):
        roles = (Role.GIVEN, Role.SURNAME) if len(token.key) == 2 else (Role.GIVEN, Role.MIDDLE, Role.SURNAME)
        return tuple(
            NamePart(token.start + i, token.start + i + 1, role, token.key[i], initial=True)
            for i, role in enumerate(roles)
        )
    given = listed[Kind.GIVEN] or full_names(token.key)
    is_surname = not given or (surname_likely and (listed[Kind.SURNAME] or not given))
    return (_part(token, Role.SURNAME if is_surname else Role.GIVEN),)


def _part(token: Token, role: Role) -> NamePart:
    if len(token.key) == 1:
        return NamePart(token.start, token.end, role, token.key, initial=True)
    full = full_names(token.key)
    if role is Role.GIVEN and len(full) == 1 and not is_listed(Kind.GIVEN, token.key):
        return NamePart(token.start, token.end, role, full[0], nickname=True)
    return NamePart(token.start, token.end, role, token.key)


def nicknames(given: str) -> tuple[str, ...]:
    """What people with a folded given name are called, folded."""
    return _nickname_table()[0].get(given, ())


def full_names(nickname: str) -> tuple[str, ...]:
    """The folded given names that a folded nickname may stand for."""
    return _nickname_table()[1].get(nickname, ())


@cache
def _nickname_table() -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
    called: dict[str, dict[str, None]] = {}
    meant: dict[str, dict[str, None]] = {}
    for row in rows("nicknames"):
        given, nickname = map(letters, row)
        called.setdefault(given, {})[nickname] = None
        meant.setdefault(nickname, {})[given] = None
    return {k: tuple(v) for k, v in called.items()}, {k: tuple(v) for k, v in meant.items()}
