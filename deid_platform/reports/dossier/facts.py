"""What a dossier states. Every number of it is of the ledger or of `quality`.

Belongs here: the facts as values. Does not belong here: what follows from them (`verdict.py`) or how they look
(`page.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from deid_platform.evaluation.scores.scores import suppress
from deid_platform.evaluation.sources import MarkedBy, NotesOf, Source

JUDGED = "judged_pairs"
"""The gold that judges of lost medicine are measured on."""
READ = "read_notes"
"""What stands for gold where people read a sample of a delivery."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of `quality`; None where it is withheld or was not measured."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None


_UNKNOWN = Source(NotesOf.NOT_RECORDED, NotesOf.NOT_RECORDED, MarkedBy.NOT_RECORDED)


@dataclass(frozen=True, slots=True)
class Reading:
    """A figure and what it is of.

    Attributes:
        gold: What it was measured on: `site`, `library` or `synthetic_hospital`.
        inputs: `topics` or `text`.
        family: As `warehouse/quality/lab.py` has it; `words` for the bench's own.
        subject: `ALL`, a label, a locale, a sex, a risk.
        measure: As `warehouse/quality/lab.py` has it.
        figure: The figure.
        judge: The language model that judged; empty where none did.
        source: On whose notes, with whose topics, marked by which hand.
    """

    gold: str
    inputs: str
    family: str
    subject: str
    measure: str
    figure: Figure
    judge: str = ""
    source: Source = _UNKNOWN


@dataclass(frozen=True, slots=True)
class Feed:
    """What the release holds of one feed.

    `gold` is the least number of its notes with gold that the gate knew of for any of its deliveries, and `measured`
    whether that was enough for each. The last three are shares of its notes: those whose patient the topics know by a
    last name, a birth date, a record number. None where that was not measured of each delivery, or the notes are fewer
    than 11.
    """

    name: str
    deliveries: int
    newest: str
    promoted: int
    quarantined: int
    withdrawn: int
    demonstration: bool
    gold: int = 0
    measured: bool = False
    named: float | None = None
    dated: float | None = None
    numbered: float | None = None


@dataclass(frozen=True, slots=True)
class Treatment:
    """What the policy does with a label."""

    label: str
    action: str
    identifier: str | None
    """The letter of 45 CFR 164.514(b)(2)(i); None where that list has no such label."""
    risk: str


NOT_TAGGED, NOT_AT_HAND = "not tagged", "not at hand"


@dataclass(frozen=True, slots=True)
class IndirectTreatment:
    """What the policy does with a category of indirect identifiers, and how many the redacted notes have."""

    category: str
    action: str
    found: int | str
    """Before the policy; `NOT_TAGGED` or `NOT_AT_HAND` where it is not known of a delivery of the release."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """How a requirement of the gate stands over all deliveries of the release."""

    name: str
    passed: int
    waived: int
    failed: int


@dataclass(frozen=True, slots=True)
class Language:
    """The notes of one language in the deliveries of the release, and what was measured of the detector in it.

    Attributes:
        code: ISO 639-1; `und` where too little is written to tell, `mis` for a script of no language that is known.
        notes: That passed.
        withheld: That were quarantined, since nobody measured the detector in one of their languages.
        gold: What the figures are of: `site`, `library`, `synthetic_hospital`, `shipped`; None if there are none.
        gold_notes: How many notes of that gold; None of shipped figures.
        recall_low: Lower end of the 95% interval of recall.
        precision: Of words.
    """

    code: str
    notes: int
    withheld: int
    gold: str | None = None
    gold_notes: int | None = None
    recall_low: float | None = None
    precision: float | None = None


@dataclass(frozen=True, slots=True)
class Waived:
    """A waiver that a delivery of the release needs or needed."""

    requirement: str
    covers: str
    who: str
    reason: str
    until: date
    state: str


@dataclass(frozen=True, slots=True)
class Decision:
    """An entry of the ledger by which somebody decided on the release."""

    at: datetime
    event: str
    who: str
    reason: str


@dataclass(frozen=True, slots=True)
class Change:
    """The release beside the one that analysts saw before it, with where its figures are from."""

    former: str
    policy: str
    detector_digest: str
    recall: Figure | None
    precision: Figure | None
    source: Source = _UNKNOWN


@dataclass(frozen=True, slots=True)
class HeldOut:
    """What the figures were measured on, and how often it had been looked at by then.

    Attributes:
        name: What people call the set.
        notes: How many.
        seen: Of these, those whose text was in a set that was sealed before it.
        sealed_on: The day on which it was sealed.
        days: From then to the last look of this release's detector.
        looks: At the set, that last one included.
        detectors: That looked at it.
        other_sets: Other sets that hold some of its notes and were looked at.
        other_looks: At these.
        every_detector: That looked at it or at these.
        own_sets: Sets of this gold that the release's detector was measured on; the newest figures count.
        former: The set that the former release was measured on; None if it was not counted, or there is none.
    """

    name: str
    notes: int
    seen: int
    sealed_on: date
    days: int
    looks: int
    detectors: int
    other_sets: int = 0
    other_looks: int = 0
    every_detector: int = 1
    own_sets: int = 1
    former: str | None = None

    @property
    def changed(self) -> bool:
        """Whether the former release was measured on another set."""
        return self.former is not None and self.former != self.name


@dataclass(frozen=True)
class Dossier:
    """The facts of one release.

    Attributes:
        site: The institution's name of deid.toml.
        release: The release's name.
        state: `active`, `building`, `left`, `withheld`, `expired`.
        as_of: When the newest of the facts was recorded.
        profile: The gate's profile.
        policy: Name of the policy.
        policy_title: Its title.
        legal_basis: The rule that it serves.
        policy_description: What it removes, leaves and why.
        policy_is_at_hand: Whether the policy was read as the release was made with it; its labels are empty else.
        dates: The class of dates.
        treatments: Label by label.
        indirect: Category by category of indirect identifiers; empty where the policy is not at hand.
        feeds: Feed by feed.
        notes: Notes that analysts see of it now; None if it is not the active one.
        versions: What it was made with: name -> value.
        requirements: The gate's.
        waivers: Those that its deliveries need.
        decisions: Who decided what.
        readings: What was measured.
        thresholds: Least values of the profile: measure -> value.
        change: Beside the former release; None for the first.
        retracted: Notes that were hidden after readers reported a leak.
        marked: Whether reviewers marked identifiers in its notes that nobody has acted upon.
        ruled: Quarantined notes of its feeds about which people decided, by what they decided last.
        held_out: What the figures were measured on; None of figures of before looks were counted.
        languages: Of its notes.
        demonstration: Whether any feed is of demonstration data.
    """

    site: str
    release: str
    state: str
    as_of: datetime
    profile: str | None
    policy: str
    policy_title: str
    legal_basis: str
    policy_description: str
    policy_is_at_hand: bool
    dates: str | None
    treatments: Sequence[Treatment]
    feeds: Sequence[Feed]
    notes: int | None
    versions: Mapping[str, str]
    requirements: Sequence[Requirement]
    waivers: Sequence[Waived]
    decisions: Sequence[Decision]
    readings: Sequence[Reading]
    thresholds: Mapping[str, float] = field(default_factory=dict)
    change: Change | None = None
    retracted: int = 0
    marked: bool = False
    ruled: Mapping[str, int] = field(default_factory=dict)
    held_out: HeldOut | None = None
    indirect: Sequence[IndirectTreatment] = ()
    languages: Sequence[Language] = ()

    @property
    def hides_indirect(self) -> bool:
        """Whether the policy takes indirect identifiers out, which no figure counts."""
        return any(it.action != "keep" for it in self.indirect)

    @property
    def demonstration(self) -> bool:
        """Whether any feed holds demonstration data."""
        return any(feed.demonstration for feed in self.feeds)

    @property
    def promoted(self) -> int:
        """Notes that were promoted into it, corrected versions included."""
        return sum(feed.promoted for feed in self.feeds)

    @property
    def golds(self) -> Sequence[str]:
        """What it was measured on; the gate judges by the first."""
        return golds_of(self.readings)

    @property
    def gold(self) -> str | None:
        """What the gate judges by."""
        return next(iter(self.golds), None)

    def gold_for(self, family: str) -> str | None:
        """The gold that counts for a family: the laboratory does not measure on the library."""
        fixed = {"judges": JUDGED, "read notes": READ, "words": self.gold}
        if family in fixed:
            return fixed[family]
        return next((it for it in self.golds if it != "library"), self.gold)

    def figure(
        self,
        measure: str,
        *,
        inputs: str = "topics",
        family: str = "words",
        subject: str = "ALL",
        gold: str | None = None,
    ) -> Figure | None:
        """A figure on the gold that counts for its family unless another is named; None if it was not measured."""
        found = self.reading(measure, inputs=inputs, family=family, subject=subject, gold=gold)
        return None if found is None else found.figure

    def reading(
        self,
        measure: str,
        *,
        inputs: str = "topics",
        family: str = "words",
        subject: str = "ALL",
        gold: str | None = None,
    ) -> Reading | None:
        """The same with where it is from."""
        wanted = (gold or self.gold_for(family), inputs, family, subject, measure)
        return next(
            (it for it in self.readings if (it.gold, it.inputs, it.family, it.subject, it.measure) == wanted), None
        )

    def source(self, gold: str | None = None) -> Source | None:
        """Where the scores on a gold are from, on the first unless another is named; None if it was not measured.

        It says of how many notes the scores on the first are.
        """
        found = self.reading("recall", gold=gold)
        if found is None:
            return None
        first = self.held_out is not None and found.gold == self.gold
        return replace(found.source, notes=counted(self.held_out.notes)) if self.held_out and first else found.source

    @property
    def sources(self) -> Sequence[Source]:
        """Where the scores are from, in the order of gold."""
        return [it for it in map(self.source, self.golds) if it is not None]

    @property
    def unmeasured(self) -> Sequence[Feed]:
        """Feeds of it on whose own notes recall was not measured, or on fewer than the gate asks for."""
        if not any(it.of_site for it in self.sources):
            return self.feeds
        return [it for it in self.feeds if not it.measured]

    def of_family(self, family: str, *, inputs: str = "topics", gold: str | None = None) -> Iterator[Reading]:
        """All figures of a family on the gold that counts; of judges, on labelled pairs; of read notes, on no gold."""
        gold = gold or self.gold_for(family)
        return (it for it in self.readings if (it.gold, it.inputs, it.family) == (gold, inputs, family))

    @property
    def makes_surrogates(self) -> bool:
        """Whether anything is replaced with what a true identifier could be taken for."""
        return any(it.action == "surrogate" for it in self.treatments)


def golds_of(readings: Sequence[Reading]) -> Sequence[str]:
    """What the bench measured on, in the order in which it counts (`Source.rank`)."""
    ranks = {it.gold: it.source.rank for it in readings if it.gold in ("site", "library", "synthetic_hospital")}
    return sorted(ranks, key=ranks.__getitem__)


def counted(count: int) -> str:
    """A count as a dossier shows it: under 11 withheld."""
    return suppress(count)
