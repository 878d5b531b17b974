"""The parts of a partition, and the sealed list of those of a write that has not come to its end.

Belongs here: what is said of a Parquet file, and which parts of an unfinished write may still be taken over. Does not
belong here: files (`note_store.py`), or what of a part's rows still holds (`refresh/datasets/reuse.py`).

The list names the manifest that the write was to replace. Once another manifest is in that place, a list that is put
back is no list. Within one write an older list only says less.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate

from deid_platform.keys import Keyring

UNFINISHED = "unfinished.json"


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file of a partition: its name, rows, bytes and keyed digest."""

    name: str
    rows: int
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A write that has not come to its end.

    Attributes:
        partition: The partition, with its dataset.
        replaces: Names the manifest that it was to replace; empty where there was none.
        parts: Whole ones, in order.
    """

    partition: str
    replaces: str
    parts: tuple[Part, ...] = ()

    def with_parts(self, written: Sequence[Part]) -> Unfinished:
        """The list once a later write, which starts from the first row, has come so far.

        What the former write had beyond that is kept: the later one may end early too.
        """
        so_far = sum(part.rows for part in written)
        through = accumulate(part.rows for part in self.parts)
        beyond = (part for part, rows in zip(self.parts, through, strict=True) if rows > so_far)
        return Unfinished(self.partition, self.replaces, (*written, *beyond))

    def sealed(self, keyring: Keyring) -> bytes:
        """Its file."""
        document = json.loads(json.dumps(asdict(self)))
        return json.dumps({**document, "seal": _seal(document, keyring)}).encode()

    @classmethod
    def opened(cls, raw: bytes, expected: Unfinished, keyring: Keyring) -> Unfinished:
        """The list in a file, if it was sealed by this key for the same write; else the expected one, without parts."""
        try:
            document = json.loads(raw)
            if not hmac.compare_digest(document.pop("seal"), _seal(document, keyring)):
                return expected
            found = cls(**{**document, "parts": tuple(Part(**part) for part in document["parts"])})
        except (ValueError, TypeError, KeyError, AttributeError):
            return expected
        return found if (found.partition, found.replaces) == (expected.partition, expected.replaces) else expected


def _seal(document: object, keyring: Keyring) -> str:
    # Under another word than manifests: a list in a manifest's place would pass for a whole partition.
    return keyring.digest("unfinished", json.dumps(document, sort_keys=True))
