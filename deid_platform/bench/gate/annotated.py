"""Notes of whose gold people were asked, and that somebody accepted.

Belongs here: what is kept of them, and whether a note still has the text that people saw. Does not belong here: rounds
and annotators (`review/annotation/`), or which notes are measured (`measured_notes.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deid_platform.keys import Keyring
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.store import NoteStore


@dataclass(frozen=True, slots=True)
class AcceptedNote:
    """A note with accepted gold.

    Attributes:
        delivery: That which brought the version that was annotated.
        text_digest: As `text_digest` gave it; None from earlier versions of the platform.
        key_id: Of the secret by which it did.
    """

    delivery: str
    text_digest: str | None
    key_id: str | None

    def fits(self, delivery: Delivery, text: str, rings: Iterable[Keyring]) -> bool:
        """Whether gold of a delivery is of this text: a delivery may be made anew after people saw it.

        True of other deliveries, and where nothing is kept to tell it by, or only by a secret that is not given any
        more.
        """
        known = [ring for ring in rings if ring.key_id == self.key_id]
        return delivery.key != self.delivery or all(text_digest(ring, text) == self.text_digest for ring in known)


def accepted_notes(store: NoteStore) -> dict[str, AcceptedNote]:
    """Each note with accepted gold by its name, which is its feed's and its id."""
    if store.manifest(tables.ANNOTATION_ACCEPTED, tables.ALL) is None:
        return {}
    return {
        f"{row['feed']}/{row['note_id']}": AcceptedNote(row["delivery"], row.get("text_digest"), row.get("key_id"))
        for row in store.stream(tables.ANNOTATION_ACCEPTED, tables.ALL)
    }


def text_digest(keyring: Keyring, text: str) -> str:
    """A keyed digest of a note's text as it is handed out."""
    return keyring.digest("annotation", text)
