"""Refused rows for a person to read: by file and reason, with the first lines, and advice on unknown columns.

Belongs here: counting rejections. Does not belong here: deciding on them (`rows.py`, `files.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
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

    def mapping(self) -> tuple[dict[str, str], list[str]]:
        """The columns that are named: those that probably are a field, with it, and the others."""
        roles: dict[str, list[Role]] = {}
        others: dict[str, None] = {}
        fields: dict[str, str] = {}
        for role, unknown in self._unknown.items():
            others.update(dict.fromkeys(unknown.named))
            for name, target in unknown.fields:
                roles.setdefault(name, []).append(role)
                fields[name] = target
        for name, target in fields.items():
            # In another role, the field may have a column that already bears its name.
            if len(roles[name]) == 1 and len(roles_with(target)) > 1:
                fields[name] = f"{roles[name][0]}.{target}"
        return fields, [name for name in others if name not in fields]

    def advice(self, columns: Mapping[str, str] = MappingProxyType({}), ignore: Sequence[str] = ()) -> Iterator[str]:
        """What to write into a feed of deid.toml for the columns that are named, a line each.

        Args:
            columns: What the feed maps already: TOML takes a key once.
            ignore: What it ignores already.
        """
        fields, others = self.mapping()
        if fields:
            mapped = {**columns, **fields}
            yield f"columns = {{ {', '.join(f'{_key(name)} = {json.dumps(mapped[name])}' for name in mapped)} }}"
        if others:
            yield f"ignore = [{', '.join(map(json.dumps, [*ignore, *others]))}]"


def lines_of(kind: Refused) -> str:
    """The first lines of a kind of refusal, for people."""
    shown = ", ".join(map(str, kind.lines))
    return f"line{'s' if kind.rows > 1 else ''} {shown}{', ...' if kind.rows > len(kind.lines) else ''}"


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name)
