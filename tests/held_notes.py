"""Notes that a refresh quarantines: one leaks, on one the detector fails, of one the patient is lost; for the queue."""

from __future__ import annotations

import pytest

from deid_platform.detection.two_pass import Detection
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.redact.decisions import in_force
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.review.quarantine import Queue

WATERMARK = "2026-01-05"
PATIENTS = [
    {
        "patient_id": "p1",
        "first_name": "Thandiwe",
        "last_name": "Quillfeather",
        "birth_date": "1950-03-04",
        "street": "12 Baker Street",
    },
    # Nobody can tell whose row this was.
    {"patient_id": "", "first_name": "Umberto"},
]
LEAK = "Ms. Quillfeather, née Quill-\nfeather, is well."
AT_HOME = "Ms. Quillfeather of 12 Baker Street is well."
BROKEN = "Her neighbour Umberto brought the tablets."
UNKNOWN = "Of a patient without a row: is well."
NOTES = [
    {"note_id": "1", "patient_id": "p1", "text": LEAK},
    {"note_id": "2", "patient_id": "p1", "text": BROKEN},
    {"note_id": "3", "patient_id": "p1", "text": "BP 120/80."},
    {"note_id": "4", "patient_id": "p9", "text": UNKNOWN},
]
NOTES_AT_HOME = [{**NOTES[0], "text": AT_HOME}, *NOTES[1:]]
NAME = Span(0, 0 + len("Ms. Quillfeather"), Label.PATIENT)


class Scripted(LocalEngine):
    """Finds the first name of note 1, and fails on note 2."""

    def detect(self, spec, notes, *, tagging=False, on_batch=None, on_reuse=None):
        for index, note in enumerate(notes):
            if note.text == BROKEN:
                yield Detection(index, None, Code.DETECTOR_FAILED)
            else:
                yield Detection(index, (NAME,) if note.text.startswith("Ms.") else ())


class Refresh:
    """Takes a delivery in, where it is another one, and redacts it, as a refresh does; returns the rows by note."""

    def __init__(self, site, deliver, take_in):
        self._site, self._deliver, self._take_in = site, deliver, take_in
        self._arrived = {}
        self.undecided = False
        """Whether the rows are those of `NOTES` of which nothing is decided."""

    def __call__(self, notes=NOTES, watermark=WATERMARK, recipe=None) -> dict[str, dict]:
        site, delivery = self._site, Delivery("hospital", watermark)
        if self._arrived.get(watermark) != notes:
            self._take_in(self._deliver(watermark, notes=notes, patients=PATIENTS))
            self._arrived[watermark] = notes
        rulings = in_force(site, delivery)
        self.undecided = (notes, watermark, recipe, rulings.digest) == (NOTES, WATERMARK, None, "")
        made_by = recipe or site.recipe(delivery)
        deidentify(delivery, store=site.store, recipe=made_by, engine=Scripted(), rulings=rulings)
        return {row["note_id"]: row for row in site.store.rows(tables.REDACTED_NOTES, delivery.key)}


@pytest.fixture(scope="module")
def refresh(site, deliver, take_in) -> Refresh:
    return Refresh(site, deliver, take_in)


@pytest.fixture
def queue(site, refresh):
    """The queue of an installation in which nothing was decided yet."""
    with site.warehouse.administer() as connection:
        connection.exec_driver_sql("SET session_replication_role = replica")
        connection.exec_driver_sql("DELETE FROM ctl.ruling")
    site.store.write(tables.RULINGS, tables.ALL, [])
    if not refresh.undecided:
        refresh()
    return Queue(site)


def key(site, note="1"):
    return site.note_key("hospital", note)
