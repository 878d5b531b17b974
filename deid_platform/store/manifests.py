"""What a partition holds, as its sealed manifest says it.

Belongs here: the form of a manifest, and its seal. Does not belong here: whether it is the newest one (`heads.py`), or
where its file lies (`note_store.py`).
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.store.parts import Part

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a partition holds. `meta` carries counts and digests only, so it may be shown anywhere.

    `generation` counts the partition's manifests, from 1; those of earlier versions of the platform have 0.
    """

    dataset: str
    partition: str
    key_id: str
    parts: tuple[Part, ...]
    meta: Mapping[str, Any] = field(default_factory=dict)
    generation: int = 0

    @property
    def rows(self) -> int:
        """Rows over all parts."""
        return sum(part.rows for part in self.parts)

    def sealed(self, keyring: Keyring) -> tuple[bytes, str]:
        """Its file, and its seal."""
        document = {**asdict(self), "meta": dict(self.meta)}
        # What is sealed is what a reader will parse back, so a tuple must already be a list here.
        document = json.loads(json.dumps(document))
        seal = _seal(document, keyring)
        return json.dumps({**document, "seal": seal}, indent=1).encode(), seal

    @classmethod
    def opened(cls, raw: bytes, dataset: str, partition: str, rings: Mapping[str, Keyring]) -> tuple[Manifest, str]:
        """The manifest in a file, and its seal.

        Args:
            raw: The file.
            dataset: Of the partition in whose folder it lies.
            partition: The same.
            rings: All that may have sealed it, by their ids.

        Raises:
            DeidError: `store-torn` if none of them sealed it, or if it is another partition's.
        """
        torn = DeidError(Code.STORE_TORN, f"{dataset}/{partition}")
        try:
            document = json.loads(raw)
        except ValueError:
            raise torn from None
        seal = document.pop("seal", "") if isinstance(document, dict) else ""
        ring = rings.get(document.get("key_id", "")) if isinstance(document, dict) else None
        if ring is None or not hmac.compare_digest(seal, _seal(document, ring)):
            raise torn
        manifest = cls(**{**document, "parts": tuple(Part(**part) for part in document["parts"])})
        if (manifest.dataset, manifest.partition) != (dataset, partition):
            raise torn
        return manifest, seal


def _seal(document: object, ring: Keyring) -> str:
    return ring.digest("manifest", json.dumps(document, sort_keys=True))
