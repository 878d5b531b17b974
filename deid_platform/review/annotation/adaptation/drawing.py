"""Drawing notes for people to mark.

Belongs here: which notes may be drawn, and which are. Does not belong here: how unsure a model is
(`training/uncertainty.py`).

Notes to learn from are those of which the model is least sure; notes for the thresholds and for the comparison are
drawn by lot. No note is drawn that the bench measures on or that a round of annotation holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nsmallest

from deid_platform.bench.gate.annotated import text_digest
from deid_platform.bench.gate.eligible import population
from deid_platform.bench.leaderboard.training import measured_on
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Note
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.adaptation.members import Member, keep_members, members
from deid_platform.review.annotation.rounds import (
    RoundNote,
    notes_at,
    notes_of_round,
    rounds,
)
from deid_platform.training.plan import text_digest as plain_digest_of
from deid_platform.training.uncertainty import SHARES, Drawable, Part, drawn, part_of, uncertainty

POOL = 2000
"""Of so many notes, drawn by lot, it is told how unsure the model is."""


def draw(
    site: Site, most: int, *, pool: int = POOL, progress: Callable[[int], object] = lambda _: None
) -> dict[str, Member]:
    """Draws notes for people to mark, and keeps which ones.

    Args:
        site: The installation.
        most: How many are wanted: three in five to learn from, one in five for each of the other parts.
        pool: Of how many notes it is asked how unsure the model is.
        progress: Called with the number of notes done since the last call.

    Returns:
        The new notes by their keys, in the order in which they are worth marking. Fewer than wanted if a part has no
        more.

    Raises:
        DeidError: `not-materialized` if no sample was drawn yet: nobody could tell which notes are measured on;
            `input-empty` if no note is left; `settings-invalid` for a detector without a model.
    """
    models = _models(site)
    rows = _pool(site, pool)
    measured = measured_on(site)
    texts: dict[str, Note] = {}
    notes: list[Drawable] = []
    for key, note in notes_at(site, rows):
        progress(1)
        if plain_digest_of(note.text) in measured:
            continue
        texts[key] = note
        patient = note.patient_id or key
        unsure = 0.0
        if part_of(patient) is Part.LEARN:
            unsure = max(uncertainty(model, note.text) for model in models)
        notes.append(Drawable(key, patient, note.note_type or "", unsure))
    chosen = [(note.key, part) for part in Part for note in _of_part(notes, part, most)]
    if not chosen:
        raise DeidError(Code.INPUT_EMPTY, "no note outside the test set is left")
    where = dict(rows)
    made = {
        key: Member(RoundNote(key, **where[key], text_digest=text_digest(site.keyring, texts[key].text)), part)
        for key, part in chosen
    }
    keep_members(site, made)
    return made


def _of_part(notes: Sequence[Drawable], part: Part, most: int) -> list[Drawable]:
    mine = [note for note in notes if part_of(note.patient) is part]
    wanted = max(1, round(most * SHARES[part]))
    # Keys have nothing to do with what a note says: their order is a lot.
    return drawn(mine, wanted) if part is Part.LEARN else sorted(mine, key=lambda it: it.key)[:wanted]


def _models(site: Site) -> list[TokenClassifier]:
    """The models of the detector that is configured."""
    spec = site.spec(None)
    folders = [model.folder for model in spec.chosen_models().values() if model.folder is not None]
    if not folders:
        raise DeidError(Code.SETTINGS_INVALID, "detection.detector: it has no model")
    return [site.models.token_classifier(folder, professions=spec.professions) for folder in folders]


def _pool(site: Site, most: int) -> list[tuple[str, dict[str, str]]]:
    """Notes that may be drawn, by lot, first those of patients of whom no note is measured on."""
    store = site.store
    sampled = {f"{row['feed']}/{row['note_id']}" for row in store.rows(tables.TEST_SET, tables.ALL)}
    annotated = (note for number in rounds(store) for note in notes_of_round(store, number).values())
    before = (member.note for member in members(site).values())
    taken = sampled | {f"{it.feed}/{it.note_id}" for some in (annotated, before) for it in some}
    every = population(site)
    patients = {note.patient_id for note, _ in every.named(sampled).values()} - {None}
    lots = (
        (note.patient_id in patients, _key(site, note.note_id), note.note_id)
        for note in every
        if note.note_id not in taken
    )
    drawn_names = [(key, name) for _, key, name in nsmallest(most, lots)]
    found = every.named([name for _, name in drawn_names])
    return [(key, _where(name, found[name][1])) for key, name in drawn_names]


def _key(site: Site, name: str) -> str:
    feed, _, note_id = name.partition("/")
    return site.note_key(feed, note_id)


def _where(name: str, delivery: Delivery) -> dict[str, str]:
    return {"feed": delivery.feed, "delivery": delivery.key, "note_id": name.removeprefix(f"{delivery.feed}/")}
