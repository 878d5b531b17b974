"""How streets, institutions and plain numbers of a locale are written: templates and the words that fill them.

Belongs here: reading `data/<locale>.yaml` and filling a template. Does not belong here: numbers with a check digit
(`numbers/`), names of people (`naming.py`), or the words, which are data.

A file maps a name to its entries. An entry with `{slots}` is a template: a slot is another name, or `{city}`, or
`{n1}` to `{n4}`, a number of at most so many digits. `join` makes the entries of two or three columns of words, each
with each. Words that templates take are split by share as names are, so that a made-up clinic of a test is in no
training text; what is no word, but a word class ("Street", "Farmacia"), is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

import yaml

from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales.patterns import fill
from deid_platform.surrogates.pools import Share, share_of

_DATA = files("deid_platform.surrogates.locales") / "data"
_HIGHEST = {"n1": 9, "n2": 99, "n3": 480, "n4": 9890}
_ENOUGH = 12
"""Lists of fewer words are of all shares: floors and kinds of street, not names."""


class Words:
    """The word lists and templates of a locale.

    Args:
        content: Entries by name.
    """

    def __init__(self, content: Mapping[str, tuple[str, ...]]) -> None:
        self._content = content
        self._shared: dict[tuple[str, Share | None], tuple[str, ...]] = {}

    def __repr__(self) -> str:
        return "<Words>"

    def entries(self, name: str, share: Share | None = None) -> tuple[str, ...]:
        """What stands under a name: of a share, where it is a list of names.

        Raises:
            KeyError: The locale has nothing of that name.
        """
        found = self._shared.get((name, share))
        if found is None:
            every = self._content[name]
            if share is None or len(every) < _ENOUGH or any("{" in e or "#" in e for e in every) or name in _CLASSES:
                found = every
            else:
                found = tuple(e for e in every if share_of(e) is share) or every
            self._shared[name, share] = found
        return found

    def draw(self, name: str, dice: Dice, share: Share | None = None, city: str = "") -> str:
        """One of the entries of a name, its slots filled."""
        template = dice.pick(self.entries(name, share))

        def filler(slot: str) -> str:
            if slot == "city":
                return city
            highest = _HIGHEST.get(slot)
            return self.draw(slot, dice, share, city) if highest is None else str(dice.between(1, highest))

        return fill(template, filler) if "{" in template else template

    def ways(self, name: str, share: Share | None = None) -> int:
        """How many different entries a name can give, numbers aside; a city counts as one."""
        return sum(_product(self, template, share) for template in self.entries(name, share))

    def __contains__(self, name: str) -> bool:
        return name in self._content


@cache
def words(locale: str) -> Words:
    """The words of a locale, and of those that its file names under `also`."""
    return Words(_content(locale))


def _content(file: str) -> dict[str, tuple[str, ...]]:
    text = (_DATA / f"{file}.yaml").read_text("utf-8")
    said: dict[str, list[Any]] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    found: dict[str, tuple[str, ...]] = {}
    for other in said.pop("also", ()):
        found |= _content(other)
    return found | {name: _entries(entries) for name, entries in said.items()}


def _entries(entries: Any) -> tuple[str, ...]:
    if isinstance(entries, dict):
        return tuple("".join(parts) for parts in product(*entries["join"]) if _reads(parts))
    return tuple(str(entry) for entry in entries)


def _reads(parts: tuple[str, ...]) -> bool:
    """No letter thrice and no part twice where two words meet ("Hillll", "Fieldfield")."""
    first, last = parts[0].lower(), parts[-1].lower()
    return first != last and first[-1] != last[0]


def _product(words: Words, template: str, share: Share | None) -> int:
    ways = 1
    for piece in template.split("{")[1:]:
        slot = piece.partition("}")[0]
        ways *= 1 if slot == "city" or slot in _HIGHEST else words.ways(slot, share)
    return ways


# Lists of word classes that are long enough to be taken for lists of names.
_CLASSES = frozenset({"way", "ordinal", "trade", "specialty", "ramo", "metier", "street_kind", "compass", "branch"})
