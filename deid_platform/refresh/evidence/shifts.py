"""Who moves with whom, of all that any delivery has told until today.

Belongs here: the links between patients in the whole note store, and whether a delivery's rows were made by them. Does
not belong here: how far anybody moves (`surrogates/dates.py`).

Detection goes by the topics as of a delivery, dates do not: a newborn whose mother is named a delivery later has the
mother's shift in the earlier notes too, once those are made anew.
"""

from __future__ import annotations

from deid_platform.notes import Delivery, Patient, Topics
from deid_platform.refresh.datasets.derived import MOTHERS, PATIENTS
from deid_platform.refresh.datasets.tables import PATIENT_ROWS
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.store import NoteStore


def links_known(store: NoteStore) -> Topics:
    """The mother of every patient whose mother any delivery has named, of all feeds: patients are the same in all."""
    linked: list[Patient] = []
    for delivery in sorted(map(Delivery.parse, store.partitions(PATIENT_ROWS)), key=lambda d: (d.feed, d.seq)):
        rows = MOTHERS.of(store, delivery.key).to_pylist()
        linked += (Patient(row["patient_id"], mother_id=row["mother_id"]) for row in rows)
    return Topics.of(patients=linked)


def shifts_digest(store: NoteStore, delivery: Delivery, recipe: Recipe) -> str | None:
    """Names with whom those patients of a delivery's notes move who do not move by themselves.

    Args:
        store: Holds what was found in the delivery's notes.
        delivery: Which delivery.
        recipe: Says who moves with whom.

    Returns:
        None where the policy shifts no dates.
    """
    if recipe.links is None:
        return None
    linked = recipe.links.patients.keys()
    here = set(PATIENTS.of(store, delivery.key)["patient_id"].to_pylist()) if linked else set[str]()
    moved = ((patient, recipe.moved_with(patient)) for patient in sorted(here & linked))
    return recipe.keyring.digest("shifts", *(part or "" for pair in moved for part in pair))
