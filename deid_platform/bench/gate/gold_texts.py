"""For which text gold without one was first used: its offsets fit no other.

Belongs here: remembering that, and telling when a note has another text. Does not belong here: gold that people made
in rounds, of which the text is kept (`annotated.py`), or what becomes of gold that does not fit (`measured_notes.py`).
"""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa

from deid_platform.bench.gate.annotated import text_digest
from deid_platform.corpora.gold import Gold
from deid_platform.errors import DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Delivery, Note
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site


class GoldTexts:
    """The texts that gold without one was used for, by delivery and note; what cannot be read begins anew.

    Args:
        site: Its store keeps them, as keyed digests.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._known: dict[tuple[str, str], tuple[str, str]] = {}
        self._learnt = False
        with suppress(DeidError):
            for row in site.store.rows(tables.GOLD_TEXTS, tables.ALL):
                self._known[row["delivery"], row["note_id"]] = row["gold_digest"], row["text_digest"]

    def fits(self, delivery: Delivery, note: Note, gold: Gold) -> bool:
        """Whether gold is of this text, as far as anybody knows: it was never used for another, or is other gold."""
        place = delivery.key, note.note_id
        for ring in self._site.keyrings:
            if place in self._known and self._known[place][0] == _digest(ring, gold):
                return self._known[place][1] == text_digest(ring, note.text)
        self._known[place] = _digest(self._site.keyring, gold), text_digest(self._site.keyring, note.text)
        self._learnt = True
        return True

    def keep(self) -> None:
        """Seals what was learnt, if anything was."""
        if not self._learnt:
            return
        rows = [(*place, *digests) for place, digests in sorted(self._known.items())]
        table = pa.Table.from_pylist(
            [dict(zip(tables.GOLD_TEXTS_SCHEMA.names, row, strict=True)) for row in rows],
            schema=tables.GOLD_TEXTS_SCHEMA,
        )
        self._site.store.write(tables.GOLD_TEXTS, tables.ALL, [table])


def _digest(ring: Keyring, gold: Gold) -> str:
    spans = (f"{it.start}-{it.end} {it.label.value}" for it in gold.spans)
    return ring.digest("gold", *spans, "clinical", *(f"{start}-{end}" for start, end in gold.clinical))
