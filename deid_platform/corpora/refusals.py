"""Refused rows for a person to read: by file and reason, with the first lines, and advice on unknown columns.

Belongs here: counting rejections. Does not belong here: deciding on them (`rows.py`, `files.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from deid_platform.corpora import Reason, Rejection, Role, UnknownColumns
from deid_platform.corpora.rows import roles_with

FIRST = 20
"""How many lines of one kind of refusal are kept."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass
class Refused:
    """The rows of one file that were refused for one reason.

    Attributes:
        stands: Whether the rows count all the same, see `Rejection.stands`.
        lines: The first `FIRST` of them.
    """

    role: Role
    file: str
    reason: Reason
    stands: bool
    rows: int = 0
    lines: list[int] = field(default_factory=list)


@dataclass
class Refusals:
    """Rejections as they are met, counted by file and reason."""

    _kinds: dict[tuple[str, Reason], Refused] = field(default_factory=dict)
    _unknown: dict[Role, UnknownColumns] = field(default_factory=dict)

    def add(self, rejection: Rejection) -> None:
        """Counts one."""
        key = (rejection.file, rejection.reason)
        kind = self._kinds.get(key)
        if kind is None:
            kind = Refused(rejection.role, *key, stands=rejection.stands)
            self._kinds[key] = kind
        kind.rows += 1
        if len(kind.lines) < FIRST:
            kind.lines.append(rejection.row)
        if rejection.unknown is not None:
            self._unknown.setdefault(rejection.role, rejection.unknown)

    def __iter__(self) -> Iterator[Refused]:
        return iter(
            sorted(self._kinds.values(), key=lambda kind: (list(Role).index(kind.role), kind.file, kind.reason))
        )

    def clear(self) -> None:
        """Forgets all."""
        self._kinds.clear()
        self._unknown.clear()

    @property
    def lost(self) -> int:
        """How many rows, or rests of files, do not count."""
        return sum(kind.rows for kind in self if not kind.stands)

    @property
    def unknown(self) -> dict[Role, UnknownColumns]:
        """The unknown columns of the first row of each role that has some."""
        return dict(self._unknown)

    def mapping(self, columns: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """The columns that probably are a field, with what to map each to.

        Args:
            columns: What is mapped already: what a column is in another file, it stays.
        """
        targets: dict[str, list[str]] = {}
        for role, unknown in self._unknown.items():
            for name, target_field in unknown.fields:
                # In another role, the field may have a column that already bears its name.
                target = target_field if len(roles_with(target_field)) == 1 else f"{role}.{target_field}"
                targets.setdefault(name, [columns[name]] if name in columns else []).append(target)
        return {name: ", ".join(some) for name, some in targets.items()}

    def undecided(self) -> list[str]:
        """The columns that are named and may be anything, in their order."""
        guessed = {name for unknown in self._unknown.values() for name, _ in unknown.fields}
        named = dict.fromkeys(name for unknown in self._unknown.values() for name in unknown.named)
        return [name for name in named if name not in guessed]

    def lacks(self, role: Role, name: str) -> bool:
        """Whether rows of a role are refused for unknown columns, and none of their columns is a field or may be it."""
        unknown = self._unknown.get(role)
        return unknown is not None and name not in unknown.there | {target for _, target in unknown.fields}

    def advice(self, columns: Mapping[str, str] = MappingProxyType({})) -> str | None:
        """The line that maps columns, for a feed of deid.toml; None if nothing is guessed. It never ignores one.

        Args:
            columns: What the feed maps already: TOML takes a key once.
        """
        if not (fields := self.mapping(columns)):
            return None
        mapped = {**columns, **fields}
        pairs = (f"{_key(name)} = {json.dumps(mapped[name], ensure_ascii=False)}" for name in mapped)
        return f"columns = {{ {', '.join(pairs)} }}"


def lines_of(kind: Refused) -> str:
    """The first lines of a kind of refusal, for people."""
    shown = ", ".join(map(str, kind.lines))
    return f"line{'s' if kind.rows > 1 else ''} {shown}{', ...' if kind.rows > len(kind.lines) else ''}"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)
