"""Everything that decides what a note's redacted row looks like, and the digests that name it.

Belongs here: detector, policy, keys and what the topics say of a patient, together. Does not belong here: any step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cached_property
from typing import Any

from deid_platform.deidentify.release_note import ReleaseSpec
from deid_platform.detection import DetectorSpec
from deid_platform.keys import Keyring, module_digest, package_digest
from deid_platform.languages import UNDETERMINED
from deid_platform.languages.shipped import SHIPPED
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Note, Patient, Topics
from deid_platform.redaction.policy import Policy
from deid_platform.redaction.structured import ReleasedDate, released_date
from deid_platform.refresh.topics.known import Known, known
from deid_platform.surrogates.date_order import NOTHING_SAID, DateWriting
from deid_platform.surrogates.dates import GivenShifts, shift_scope

_DECIDING = (
    "deid_platform.labels",
    "deid_platform.deidentify.release_note",
    "deid_platform.refresh.topics.known",
    "deid_platform.refresh.redact.leak_places",
    "deid_platform.refresh.recipe.note_types",
    "deid_platform.refresh.redact.row",
    "deid_platform.refresh.redact.decision",
    "deid_platform.refresh.hiding.search_job",
    "deid_platform.refresh.redact.whole_words",
)
"""Modules that decide what a row looks like, beside the packages that the digests name."""


@dataclass(frozen=True)
class Recipe:
    """Everything that decides what a note's redacted row looks like.

    Attributes:
        spec: The detector and its topics.
        policy: What replaces an identifier.
        keyring: The site's keys.
        note_types: Types that research may see by name; any other becomes `other`, since a type is free
            text at its source.
        rosters_incomplete: Whether rows of the patients topic were lost on their way in. Then a note whose
            patient no row names is quarantined: nobody can tell what its patient is called.
        min_roster_share: Least share of notes whose patient the topics must name for the delivery to count
            as detected with topics; below it, only the scores on text alone speak for it.
        reported: Strings that somebody found in the clear and reported: a note that shows one leaks.
        reported_in: The same of strings that are common elsewhere: note id -> those that leak in this note alone.
        links: Who is whose mother, of all that any delivery has told until today: a link that comes late moves the
            dates of earlier notes too. The topics' own unless given.
        writing: How the feed writes dates in numbers.
        languages: Those of which notes are not quarantined. No part of the digest: a row names its languages, so that
            one made before can be judged anew.
        gold_files: Names the feed's gold as it lay there, which is measured before; no part of the digest either.
        upserts: Names what the topics were folded from (`topics.upserts_until`); None where nobody asked.
        columns: Names the columns of topics that are others than those by which notes were first published
            (`refresh/topics/topic_columns.py`); empty where all are the same.
        given: Offsets of dates from outside, in place of keyed shifts.
    """

    spec: DetectorSpec
    policy: Policy
    keyring: Keyring
    note_types: tuple[str, ...] = ()
    rosters_incomplete: bool = False
    min_roster_share: float = 0.95
    reported: tuple[str, ...] = field(default=(), repr=False)
    reported_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    links: Topics | None = None
    writing: DateWriting = NOTHING_SAID
    languages: frozenset[str] = frozenset(SHIPPED)
    gold_files: str = ""
    upserts: str | None = None
    columns: str = ""
    given: GivenShifts | None = None

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digests that each note version carries."""
        return {
            "detector_digest": self.spec.detector_digest,
            "dictionary_digest": self.spec.dictionary_digest(self.keyring),
            "policy_digest": self.policy.digest,
            "key_id": self.keyring.key_id,
        }

    @cached_property
    def detection_digest(self) -> str:
        """Keyed digest of all that decides what is found in a note: another policy finds the same."""
        return self.keyring.digest("detection", self.digests["detector_digest"], self.digests["dictionary_digest"])

    @cached_property
    def digest(self) -> str:
        """Keyed digest of all that decides a row but the note: when it changes, every row is made anew."""
        return self.digest_with(self.digests["dictionary_digest"], rosters_incomplete=self.rosters_incomplete)

    def digest_with(
        self, dictionary_digest: str, *, rosters_incomplete: bool, reported: Sequence[str] | None = None
    ) -> str:
        """What `digest` is with other topics, of which no more is known than this, and with other reported strings."""
        return self.keyring.digest(
            "recipe",
            *{**self.digests, "dictionary_digest": dictionary_digest}.values(),
            # What passed an older leak check has not passed this one.
            package_digest("deid_platform.leakcheck"),
            package_digest("deid_platform.languages"),
            package_digest("deid_platform.text"),
            module_digest(*_DECIDING),
            self.keyring.digest("reported", *sorted(self.reported if reported is None else reported)),
            *self.note_types,
            str(rosters_incomplete),
            str(self.min_roster_share),
            *(self.writing.parts if self.policy.shifts_dates else ()),
            *(() if self.given is None else ("offsets", self.given.digest, str(self.given.keyed_if_missing))),
        )

    @cached_property
    def reported_by_digest(self) -> dict[str, str]:
        """The reported strings, each by a keyed digest of its own."""
        return {self.keyring.digest("reported string", string): string for string in self.reported}

    def unmeasured(self, languages: Iterable[str]) -> bool:
        """Whether any of a note's languages is one in which the detector was not measured."""
        return not {code for code in languages if code != UNDETERMINED} <= self.languages

    @property
    def release(self) -> str:
        """The release that a note redacted this way belongs to."""
        return release_name(self.spec, self.policy, self.keyring, self.columns, offsets=self.given is not None)

    @property
    def release_spec(self) -> ReleaseSpec:
        """What its notes are released by."""
        tagged = self.spec.indirect is not None
        return ReleaseSpec(
            self.policy,
            self.spec.topics,
            self.keyring,
            self.reported,
            self._links,
            tagged,
            self.reported_in,
            self.writing,
            given=self.given,
        )

    @cached_property
    def leak_check(self) -> LeakCheck:
        """Looks for what is left of anybody in the topics, and of what was reported."""
        return self.release_spec.leak_check()

    def __reduce__(self) -> tuple[type[Recipe], tuple[Any, ...]]:
        # What was built here stays here: a worker builds its own.
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    @property
    def _links(self) -> Topics | None:
        return self.spec.topics if self.links is None else self.links

    def released_date(self, note: Note, birth_date: date | None) -> ReleasedDate:
        """What research may see of a note's own date."""
        return released_date(
            note, self.policy, self.keyring, birth_date=birth_date, topics=self._links, given=self.given
        )

    def moved_with(self, patient_id: str | None) -> str | None:
        """Whose shift a patient's dates have; None where the policy shifts none, or nobody is known."""
        if patient_id is None or not self.policy.dates.moved:
            return None
        return shift_scope(self._links, patient_id)

    def offset(self, patient_id: str | None) -> int | None:
        """By how many days a patient's dates move where somebody outside drew that."""
        return None if self.given is None or patient_id is None else self.given.days.get(patient_id)

    def offset_missing(self, patient_id: str | None) -> bool:
        """Whether nothing says how far the dates of a patient's notes move."""
        return self.given is not None and self.given.lacks(patient_id)

    def shift_key(self, patient_id: str | None) -> str | None:
        """A keyed digest of whose shift a patient's dates have: the warehouse shows no two of one patient."""
        if patient_id is not None and (days := self.offset(patient_id)) is not None:
            return self.keyring.digest("shift-key", "given", patient_id, str(days))
        scope = self.moved_with(patient_id)
        return None if scope is None else self.keyring.digest("shift-key", scope)

    def patients(self, note: Note) -> tuple[Patient, ...]:
        """All that the topics say, and once said, of a note's patient; empty if they do not know them."""
        return self.spec.topics.patients_known_as(note.patient_id) if self.spec.topics else ()

    def known(self, note: Note) -> Known:
        """What the topics know of a note's patient."""
        return known(self.patients(note), self.spec.topics.fillers if self.spec.topics else ())

    def roster_lost(self, note: Note) -> bool:
        """Whether the row that names a note's patient may be one that was lost."""
        topics = self.spec.topics
        # Of a feed that names nobody, a lost row named nobody either.
        there = self.patients(note) if topics and topics.nameless else self.known(note).named
        return self.rosters_incomplete and not there


def release_name(
    spec: DetectorSpec, policy: Policy, keyring: Keyring, columns: str = "", *, offsets: bool = False
) -> str:
    """Names a release: another detector, policy or secret is another one, never a mixture, and so are topics that are
    read by other columns (`Recipe.columns`), and dates that are moved by offsets from outside.

    The dictionaries are not part of it, since they grow with every delivery.
    """
    parts = (spec.detector_digest, policy.digest, keyring.key_id, *filter(None, [columns, "offsets" * offsets]))
    return "r_" + keyring.digest("release", *parts)[:12]
