"""One note, redacted and checked for leaks, or a reason in its place.

Belongs here: the policy and the leak check, one after the other, and closed where either fails. Does not belong here:
finding spans (`detection/`), or the notes around this one (`deidentify/files.py`, `refresh/`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING

from deid_platform.detection.resolve.merge import merged
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring, plain_digest
from deid_platform.labels import Label
from deid_platform.languages import is_code
from deid_platform.languages.shipped import SHIPPED
from deid_platform.languages.telling import languages_of
from deid_platform.leakcheck import LeakCheck, Released
from deid_platform.notes import IndirectMention, Note, Patient, Span, Topics
from deid_platform.redaction.indirect import without_indirect
from deid_platform.redaction.policy import Policy
from deid_platform.redaction.public_dates import public_dates
from deid_platform.redaction.redact import Redaction, redact
from deid_platform.surrogates.date_order import NOTHING_SAID, DateWriting, undecided
from deid_platform.surrogates.dates import GivenShifts

if TYPE_CHECKING:
    from deid_platform.surrogates.keyed import Surrogates


def text_note_id(text: str) -> str:
    """The id of a note of which nothing but the text is known.

    Under one id, all such texts would have their dates moved alike, and one name in two of them the same surrogate.
    """
    return plain_digest(text)


@dataclass(frozen=True, slots=True, repr=False)
class Redacted:
    """A note that was redacted and in which the leak check found nothing.

    Attributes:
        text: The redacted text.
        spans: All identifiers that were found, with offsets into the original, whether or not the policy hides their
            label. Under a policy with surrogates, the places of what was put in, with offsets into the redacted text:
            the length of an original date beside the shifted one would tell the shift.
        found: How many were found, among them years alone where the policy hides them.
        replaced: How many of them the policy hides.
        undecided: How many dates became tags since nothing says which of their numbers is the day.
    """

    text: str
    spans: tuple[Span, ...]
    found: int
    replaced: int
    undecided: int = 0

    def __repr__(self) -> str:
        return "<Redacted>"


@dataclass(frozen=True)
class ReleaseSpec:
    """What notes are released by; picklable, for the process that builds it.

    Attributes:
        policy: What replaces an identifier.
        topics: What is known of patients, providers and facilities; None means nothing.
        keyring: Signs surrogates, where the policy wants them.
        reported: Strings that were reported as leaked; they leak in every note.
        links: Topics that say who shares whose date shift, where more is known of that than `topics` tells.
        tagged: Whether indirect identifiers are tagged, as in a refresh with `detection.indirect`.
        reported_in: Note id -> strings that were reported in that note; they leak in it alone.
        writing: How the site writes dates in numbers.
        given: Offsets of dates from outside, in place of keyed shifts.
        languages: Those in which the detector was measured; a refresh, whose gate measures them, sees to it itself.
    """

    policy: Policy
    topics: Topics | None = None
    keyring: Keyring | None = None
    reported: tuple[str, ...] = field(default=(), repr=False)
    links: Topics | None = None
    tagged: bool = False
    reported_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    writing: DateWriting = NOTHING_SAID
    languages: frozenset[str] = frozenset(SHIPPED)
    given: GivenShifts | None = None

    def build(self) -> NoteReleaser:
        """What redacts and checks notes.

        Raises:
            DeidError: `secret-missing` if the policy wants surrogates and there is no key; `policy-invalid` if it hides
                indirect identifiers and nothing tags them.
        """
        if self.policy.hides_indirect and not self.tagged:
            raise DeidError(Code.POLICY_INVALID, "indirect: only a refresh with detection.indirect tags them")
        surrogates = None
        if self.policy.uses_surrogates:
            if self.keyring is None:
                raise DeidError(Code.SECRET_MISSING)
            from deid_platform.surrogates.keyed import Surrogates  # deferred: pools of names, for few policies

            surrogates = Surrogates(
                self.keyring,
                self.topics,
                links=self.links,
                consistency=self.policy.consistency,
                date_shift=self.policy.date_shift,
                writing=self.writing,
                given=self.given,
            )
        return NoteReleaser((self.leak_check(),), self.topics, surrogates, self.languages, self.writing)

    def leak_check(self) -> LeakCheck:
        """Looks for what is left of anybody in the topics, and of what was reported."""
        return LeakCheck.of(self.topics or Topics(), self.policy, reported=self.reported, reported_in=self.reported_in)


@dataclass(frozen=True, slots=True, repr=False)
class Release:
    """What became of one note.

    Attributes:
        redaction: The redacted note, to be shown only if nothing withholds it; None if redaction failed.
        columns: What would be shown beside it, if any column was asked for.
        withheld: Why the note is not released: `redaction-failed`, or `note-leaks` with the first kind of leak, as
            `leak-last-name`. None if it is.
    """

    redaction: Redaction | None
    columns: Released | None = None
    withheld: DeidError | None = None

    def __repr__(self) -> str:
        return "<Release>"


class NoteReleaser:
    """Redacts notes and checks them for leaks, one after the other; made by `ReleaseSpec.build`.

    Args:
        checks: Leak checks under one policy; a note must pass all of them.
        topics: What is known of the notes' patients.
        surrogates: Says what stands for whom, where the policy wants that.
        languages: Those of which `redacted` lets notes pass.
        writing: How the site writes dates in numbers.
    """

    def __init__(
        self,
        checks: Sequence[LeakCheck],
        topics: Topics | None,
        surrogates: Surrogates | None,
        languages: Collection[str] = tuple(SHIPPED),
        writing: DateWriting = NOTHING_SAID,
    ) -> None:
        self._said = writing
        self._checks = tuple(checks)
        self._languages = languages
        self._topics = topics
        self._surrogates = surrogates

    def __repr__(self) -> str:
        return "<NoteReleaser>"

    @property
    def _policy(self) -> Policy:
        return self._checks[0].policy

    def knowing(self, rows: Topics) -> NoteReleaser:
        """The same releaser for notes that bring rows of their own: it looks for what is left of these people too."""
        topics = self._topics.folded(rows) if self._topics else rows
        return NoteReleaser(
            (*self._checks, LeakCheck.of(rows, self._policy)),
            topics,
            self._surrogates and self._surrogates.knowing(topics),
            self._languages,
            self._said,
        )

    def release(
        self,
        note: Note,
        spans: Sequence[Span],
        columns: Callable[[Sequence[Patient]], Released] | None = None,
        indirect: Sequence[IndirectMention] | None = None,
        public: Sequence[tuple[int, int]] = (),
    ) -> Release:
        """A note by the policy of the leak check, which then looks at it. Whatever raises withholds the note.

        Args:
            note: The original.
            spans: What was found in it, non-overlapping.
            columns: Makes the columns that go with the text, of all rows of the note's patient.
            indirect: Its indirect identifiers; None where nobody tagged them.
            public: Where dates stand that the notes of many patients share.
        """
        try:
            known_as = self._topics.patients_known_as(note.patient_id) if self._topics else ()
            released = None if columns is None else columns(known_as)
            birth_date = known_as[0].birth_date if known_as else None
            policy = self._policy
            redaction = redact(note, spans, policy, birth_date=birth_date, surrogates=self._surrogates, public=public)
            # Of the text with all indirect identifiers: what goes with one may be half of what leaks.
            leaks = [
                leak
                for check in self._checks
                for leak in check.check(
                    note, known_as, redaction.text, redaction.applied, released, lengths=redaction.lengths
                )
            ]
            if policy.hides_indirect:
                redaction = without_indirect(note.text, redaction, indirect, policy)
        except Exception:  # whatever was raised may quote the note, which does not pass
            return Release(None, withheld=DeidError(Code.REDACTION_FAILED))
        withheld = DeidError(Code.NOTE_LEAKS, f"leak-{leaks[0].kind.value}") if leaks else None
        return Release(redaction, released, withheld)

    def redacted(self, note: Note, spans: Sequence[Span]) -> Redacted:
        """A note that passed.

        Raises:
            DeidError: Why it did not; see `Release`. `language-unmeasured` with the languages of the note in which the
                detector was not measured.
        """
        if unmeasured := [code for code in languages_of(note.text, note.language).all if code not in self._languages]:
            raise DeidError(Code.LANGUAGE_UNMEASURED, " ".join(unmeasured))
        release = self.release(note, spans)
        if release.withheld is not None or release.redaction is None:
            raise release.withheld or DeidError(Code.REDACTION_FAILED)
        redaction = release.redaction
        shown = places(redaction) if self._policy.uses_surrogates else spans
        found, replaced = len({*spans, *redaction.applied}), len(redaction.applied)
        return Redacted(redaction.text, tuple(shown), found, replaced, self._undecided(note, redaction))

    def _undecided(self, note: Note, redaction: Redaction) -> int:
        """How many dates stayed tags since nothing says which number is the day."""
        if not self._policy.shifts_dates or self._said.order is not None:
            return 0
        public = public_dates(note.text, redaction.applied, note.note_date, note.language)
        put_in = [
            (note.text[span.start : span.end], new)
            for span, new in zip(redaction.applied, redaction.replacements, strict=True)
            if span.label is Label.DATE and span not in public
        ]
        dates = tuple(old for old, _ in put_in)
        tag = self._policy.tagged(Label.DATE)
        return sum(new == tag and undecided(old, dates, note.language, note.note_date, None) for old, new in put_in)


def reason_of(error: DeidError) -> str:
    """Why a note is withheld, as a code that is counted and shown."""
    return error.code.slug if error.code is Code.LANGUAGE_UNMEASURED else error.ref or error.code.slug


def languages_accepted(named: Iterable[str]) -> frozenset[str]:
    """The languages that the detector was measured in when it was shipped, and those that somebody measured.

    Raises:
        DeidError: `input-invalid` for what is no language.
    """
    codes = [code.strip().lower() for code in named]
    for code in codes:
        if not is_code(code):
            raise DeidError(Code.INPUT_INVALID, f"languages: {code[:8]!r} is no code of ISO 639-1, such as de")
    return frozenset((*SHIPPED, *codes))


def places(redaction: Redaction) -> Iterator[Span]:
    """Where the replacements stand in the redacted text, in order."""
    moved = 0
    for span, replacement in zip(redaction.applied, redaction.replacements, strict=True):
        start = span.start + moved
        if replacement:
            yield replace(span, start=start, end=start + len(replacement))
        moved += len(replacement) - (span.end - span.start)


def settled(spans: Sequence[Span], policy: Policy) -> tuple[Span, ...]:
    """Spans of another detector without overlaps: of those that share text one is made, with the label of which the
    policy hides the most, so that what it hides of one is not shown for the sake of another."""

    def rank(span: Span) -> tuple[object, ...]:
        score = -1.0 if isnan(span.score) else span.score
        return policy.hidden(span.label), score, span.end - span.start, span.label

    return tuple(replace(best, start=start, end=end) for best, start, end in merged(spans, rank=rank))
