"""One redacted row: what the worker processes of a refresh make of a note after the first pass.

Belongs here: the second pass, release and the row's columns. Does not belong here: rows around this one, the note store
or the warehouse (`refresh/redact/delivery.py`); nothing imported here is slow or starts a thread, since workers are
forked from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from deid_platform.deidentify.release_note import NoteReleaser, Release, reason_of
from deid_platform.detection.two_pass import FirstPass, SecondPass
from deid_platform.engine.warm_up import made_up_note
from deid_platform.engine.workers import Job, Task
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.tokens import word_offsets
from deid_platform.keys import plain_digest
from deid_platform.languages import released_language
from deid_platform.languages.telling import languages_of
from deid_platform.leakcheck import Released
from deid_platform.notes import Patient, Span
from deid_platform.refresh.datasets.tables import indirect_rows
from deid_platform.refresh.recipe.recipe import Recipe
from deid_platform.refresh.redact.decision import Ruling, laid_over
from deid_platform.refresh.redact.leak_places import Place, hidden_in_part, in_sight, leak_places
from deid_platform.refresh.redact.whole_words import whole_places, widened

Row = dict[str, Any]
OFFSET_MISSING = "offset-missing"
"""Reason code: dates are moved by offsets from outside, and there is none for the note's patient."""
LEFT_IN_PART = "leak-in-part"
"""Reason code: people hide a part of what leaks, and the leak check no longer knows the rest."""


class Item(NamedTuple):
    """A note after the first pass, its type as it may be shown, and what people decided about it.

    `held` is a reason code; `mended` says which spans they added and removed; `public` where dates stand that the notes
    of many patients share.
    """

    first: FirstPass
    note_type: str
    held: str | None = None
    mended: Ruling | None = None
    public: tuple[tuple[int, int], ...] = ()

    def __repr__(self) -> str:
        return "<Item>"


@dataclass(frozen=True)
class RedactionJob(Job[Item, Row]):
    """Makes the redacted rows of a recipe."""

    recipe: Recipe
    fault: ClassVar[Code] = Code.REDACTION_FAILED

    @property
    def digest(self) -> str:
        """The platform's, the recipe's, and what was reported in single notes."""
        recipe = self.recipe
        reported = (part for note_id, strings in sorted(recipe.reported_in.items()) for part in (note_id, *strings, ""))
        languages = sorted(recipe.languages)
        return plain_digest(super().digest, recipe.digest, *languages, recipe.keyring.digest("reported in", *reported))

    def build(self) -> Redacting:
        """The second pass and what releases notes."""
        return Redacting(self.recipe, SecondPass(self.recipe.spec.cross_note_search), self.recipe.release_spec.build())

    def failed(self, item: Item) -> Row:
        """A row without text."""
        return {**_withheld(self.recipe, item), "reason": self.fault.slug}


class Redacting(Task[Item, Row]):
    """Redacts notes after the first pass, and says where one leaks."""

    def __init__(self, recipe: Recipe, second_pass: SecondPass, releaser: NoteReleaser) -> None:
        self._recipe = recipe
        self._second_pass = second_pass
        self._releaser = releaser

    def __call__(self, batch: Sequence[Item]) -> list[Row]:
        """One row an item."""
        return [self._row(item) for item in batch]

    def warm_up(self) -> None:
        """Loads pools, lists and patterns."""
        self([Item(made_up_note(), "letter")])

    def leak_places(self, item: Item) -> Iterator[Place]:
        """Where a note leaks with the spans as people mended them, from the last place to the first.

        None where the detector failed on it.
        """
        spans = self._second_pass(item.first).spans
        if spans is not None:
            yield from self._places(item, self._mended(item, spans))

    def _places(self, item: Item, spans: Sequence[Span]) -> Iterator[Place]:
        policy, row = self._recipe.policy, _withheld(self._recipe, item)

        def withheld_for(more: Sequence[Span]) -> str | None:
            release = self._release(item, row, laid_over(spans, more, policy))
            return None if release.withheld is None else reason_of(release.withheld)

        hidden = [s for s in spans if policy.hidden(s.label)]
        return leak_places(item.first.note.text, hidden, policy, withheld_for)

    def _mended(self, item: Item, spans: Sequence[Span]) -> tuple[Span, ...]:
        if item.mended is None:
            return tuple(spans)
        return item.mended.mended(spans, item.first.note.text, self._recipe.policy)

    def _row(self, item: Item) -> Row:
        """One redacted row; without text and with a reason, if any stage fails or anything leaks."""
        recipe = self._recipe
        row = _withheld(recipe, item)
        if item.held is not None:
            return {**row, "reason": item.held}
        # What people answer for is the one failure that they decided about.
        excused = None if item.mended is None else item.mended.held_for
        if recipe.roster_lost(item.first.note) and excused != "roster-lost":
            return {**row, "reason": "roster-lost"}
        if recipe.offset_missing(item.first.note.patient_id):
            return {**row, "reason": OFFSET_MISSING}
        if recipe.unmeasured(row["languages"]) and excused != Code.LANGUAGE_UNMEASURED.slug:
            return {**row, "reason": Code.LANGUAGE_UNMEASURED.slug}
        detection = self._second_pass(item.first)
        if detection.error is not None or detection.spans is None:
            # Nobody answers for it: a note of which nothing is known to be found would be shown whole.
            return {**row, "reason": (detection.error or Code.DETECTOR_FAILED).slug}
        spans = self._mended(item, detection.spans)
        release = self._release(item, row, spans)
        if release.redaction is not None and release.columns is not None:
            row |= {
                "note_year": release.columns.note_year,
                "shifted_date": release.columns.shifted_date,
                "spans": [
                    {"start": s.start, "end": s.end, "label": s.label.value, "source": s.source}
                    for s in release.redaction.applied
                ],
                "lengths": release.redaction.lengths,
                "indirect": indirect_rows(item.first.detection.indirect),
            }
            if release.withheld is None:
                if self._hidden_in_part(item, detection.spans, spans):
                    return {**row, "reason": LEFT_IN_PART}
                return {**row, "text": release.redaction.text, "reason": None}
        return {**row, "reason": reason_of(release.withheld or DeidError(Code.REDACTION_FAILED))}

    def _release(self, item: Item, row: Row, spans: Sequence[Span]) -> Release:
        recipe, note = self._recipe, item.first.note

        def columns(known_as: Sequence[Patient]) -> Released:
            dated = recipe.released_date(note, known_as[0].birth_date if known_as else None)
            offset = recipe.offset(note.patient_id)
            return Released(
                row["note_type"], row["language"], dated.year, dated.day, recipe.keyring.site, offset=offset
            )

        return self._releaser.release(note, spans, columns, item.first.detection.indirect, item.public)

    def _hidden_in_part(self, item: Item, found: Sequence[Span], spans: Sequence[Span]) -> bool:
        """Whether people hide a part of what leaks without them, so that the leak check does not know the rest."""
        if item.mended is None or not item.mended.added:
            return False
        text, policy = item.first.note.text, self._recipe.policy
        alone = item._replace(mended=replace(item.mended, added=()))
        words = in_sight(whole_places(text), (s for s in spans if policy.hidden(s.label)))
        places = self._places(alone, self._mended(alone, found))
        return hidden_in_part(places, widened(text, item.mended.added), words)


def _withheld(recipe: Recipe, item: Item) -> Row:
    """The row of a note of which nothing is shown."""
    note = item.first.note
    of_patient = recipe.known(note)
    told = languages_of(note.text, note.language)
    return {
        "note_id": note.note_id,
        "patient_id": note.patient_id,
        "encounter_id": note.encounter_id,
        "provider_id": note.provider_id,
        "note_type": item.note_type,
        "note_year": None,
        "shifted_date": None,
        "shift_key": recipe.shift_key(note.patient_id),
        "language": released_language(told.main),
        "languages": [told.main, *told.others],
        "words": len(word_offsets(note.text)),
        "with_roster": of_patient.named,
        "with_birth_date": of_patient.dated,
        "with_number": of_patient.numbered,
        "text": None,
        "spans": [],
        "lengths": [],
        "indirect": None,
    }
