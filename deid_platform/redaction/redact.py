"""How spans become redacted text.

Belongs here: applying a policy's action to each span. Does not belong here: finding spans, or choosing
between overlapping ones (`detection/`): overlapping input is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.ages import age90
from deid_platform.redaction.births import births, kept_birth_year, near_birth, tells_old_age
from deid_platform.redaction.lone_years import lone_years
from deid_platform.redaction.parts_of_years import SOURCE as PART_OF_YEAR
from deid_platform.redaction.parts_of_years import parts_of_years
from deid_platform.redaction.policy import Action, Policy
from deid_platform.redaction.public_dates import public_dates
from deid_platform.redaction.years import kept_year
from deid_platform.redaction.zips import zip3
from deid_platform.text import Decoded, readable

if TYPE_CHECKING:
    from deid_platform.surrogates.keyed import Surrogates


class Piece(NamedTuple):
    """A stretch of the original, code points, end exclusive, and what stands in its place."""

    start: int
    end: int
    put_in: str


@dataclass(frozen=True, slots=True, repr=False)
class Redaction:
    """A redacted note.

    Attributes:
        text: The redacted text.
        applied: The spans whose text was replaced, in order; offsets into the original.
        replacements: What stands in place of each.
        indirect: What was taken out beside them, in order.
    """

    text: str
    applied: tuple[Span, ...]
    replacements: tuple[str, ...]
    indirect: tuple[Piece, ...] = ()

    def __repr__(self) -> str:
        return f"<Redaction of {len(self.applied)} spans>"

    @property
    def lengths(self) -> list[int]:
        """How many code points stand in the place of each span, in order."""
        return [len(replacement) for replacement in self.replacements]

    @property
    def counts(self) -> Mapping[Label, int]:
        """How many spans of each label were replaced."""
        return Counter(span.label for span in self.applied)


def redact(
    note: Note,
    spans: Sequence[Span],
    policy: Policy,
    *,
    birth_date: date | None = None,
    surrogates: Surrogates | None = None,
    public: Collection[tuple[int, int]] = (),
) -> Redaction:
    """Replace what a policy removes; everything between the spans stays code point by code point.

    Where a policy moves dates or puts tags for them, years that stand alone go the same way (`lone_years`). Where it
    hides what is finer than a year, so do weeks and quarters (`parts_of_years`), each of which becomes a tag.

    Args:
        note: The note. One without a date is read as if written today, which hides the most years.
        spans: What was found in it, in any order, non-overlapping; touching spans are separate.
        policy: What to do with each label.
        birth_date: The patient's, where the topics know it: some years are kept only if it allows.
        surrogates: Say what stands in for whom, where the policy wants that.
        public: Where dates stand that the notes of many patients share: they are not moved.

    Raises:
        DeidError: `span-bounds` if spans overlap or reach outside the text; the reference is the source
            that the span names. `policy-invalid` if the policy wants surrogates and there are none, or
            those of a policy that chose otherwise.
    """
    ordered = sorted(spans, key=lambda span: (span.start, span.end))
    position = 0
    for span in ordered:
        if span.start < position or span.end > len(note.text):
            raise DeidError(Code.SPAN_BOUNDS, span.source or None)
        position = span.end
    seen = readable(note.text)
    # What a span says decides what becomes of it, whatever it is written in; one that shows nothing has no say.
    read = {span: shown for span in ordered if (shown := _as_read(span, seen))}
    if policy.hides_parts_of_years:
        parts = _written(parts_of_years(seen.text, sorted(read.values()), years_in_words=policy.hides_years), seen)
        within = {span for span in ordered if any(span.start < part.end and span.end > part.start for part in parts)}
        read = {span: shown for span, shown in read.items() if span not in within} | parts
        ordered = sorted({*(span for span in ordered if span not in within), *parts})
    if policy.hides_years:
        read |= _written(lone_years(seen.text, sorted(read.values())), seen)
        ordered = sorted({*ordered, *read})
    fixed = [read[span] for span in read if any(span.start < end and span.end > start for start, end in public)]
    replacing = _Replacing(replace(note, text=seen.text), sorted(read.values()), policy, birth_date, surrogates, fixed)
    applied: list[Span] = []
    replacements: list[str] = []
    pieces: list[str] = []
    end = len(note.text)
    # From right to left, so that every offset still points into the original.
    for span in reversed(ordered):
        replacement = replacing.replacement(read[span]) if span in read else policy.tagged(span.label)
        if replacement is not None:
            pieces += (note.text[span.end : end], replacement)
            end = span.start
            applied.append(span)
            replacements.append(replacement)
    pieces.append(note.text[:end])
    return Redaction("".join(reversed(pieces)), tuple(reversed(applied)), tuple(reversed(replacements)))


def _as_read(span: Span, seen: Decoded) -> Span | None:
    """A span in the offsets of the readable text; None if nothing is read there."""
    place = seen.shown(span.start, span.end)
    return None if place is None else replace(span, start=place[0], end=place[1])


def _written(years: Iterable[Span], seen: Decoded) -> dict[Span, Span]:
    """Spans of the readable text by their places in the note; what one escape holds of several has one place."""
    places: dict[Span, Span] = {}
    last: Span | None = None
    for shown in years:
        start, end = seen.origin(shown.start, shown.end)
        if last is not None and start < last.end:
            shown = places.pop(last)
            start, end = last.start, max(last.end, end)
        last = replace(shown, start=start, end=end)
        places[last] = shown
    return places


class _Replacing:
    """What stands in the place of each span of one note."""

    def __init__(
        self,
        note: Note,
        ordered: Sequence[Span],
        policy: Policy,
        birth_date: date | None,
        surrogates: Surrogates | None,
        fixed: Iterable[Span],
    ) -> None:
        self._note, self._policy, self._birth_date = note, policy, birth_date
        self._written = note.note_date or datetime.now(UTC).date()
        keeps_births = policy.labels[Label.DATE] is Action.BIRTH_YEAR
        self._births = births(note, ordered, birth_date) if keeps_births else frozenset()
        # Where years are kept, a season's is too.
        unmoved = {s for s in ordered if s.source == PART_OF_YEAR and policy.labels[Label.DATE] is not Action.YEAR}
        if policy.shifts_dates:
            unmoved |= public_dates(note.text, ordered, note.note_date, note.language)
            unmoved.update(span for span in fixed if span.label is Label.DATE)
        self._unmoved = unmoved
        moved = [span for span in ordered if span not in unmoved]
        self._surrogates = _surrogates(note, moved, policy, surrogates)

    def replacement(self, span: Span) -> str | None:
        """What stands in a span's place; None where its text stays."""
        if span in self._unmoved:
            return self._policy.tagged(span.label)
        surface = self._note.text[span.start : span.end]
        match self._policy.labels[span.label]:
            case Action.SURROGATE:
                # A date may come out as it went in, and has been moved all the same.
                return self._surrogate(span)
            case Action.BIRTH_YEAR if span not in self._births:
                return None
            case action:
                replaced = self._removed(span, surface, action)
                return None if replaced == surface else replaced

    def _removed(self, span: Span, surface: str, action: Action) -> str:
        value: str | None = None
        match action:
            case Action.KEEP:
                return surface
            case Action.AGE90:
                age = age90(surface)
                return self._policy.tagged(span.label) if age is None else age
            case Action.ZIP3:
                value = zip3(surface, language=self._note.language)
            case Action.BIRTH_YEAR:
                value = kept_birth_year(self._note, surface, self._birth_date)
            case Action.YEAR:
                value = kept_year(
                    surface,
                    note_date=self._written,
                    birth_date=self._birth_date,
                    near_birth=near_birth(self._note.text, span.start),
                )
        return self._policy.tagged(span.label, value)

    def _surrogate(self, span: Span) -> str:
        old = span.label is Label.DATE and tells_old_age(self._note, span, self._written, self._birth_date)
        surrogate = None if old else self._surrogates.get(span)
        return self._policy.tagged(span.label) if surrogate is None else surrogate


def _surrogates(
    note: Note, ordered: Sequence[Span], policy: Policy, surrogates: Surrogates | None
) -> Mapping[Span, str | None]:
    """The surrogate of each span that the policy wants replaced with one; None where a tag has to do."""
    if not policy.uses_surrogates:
        return {}
    if surrogates is None:
        raise DeidError(Code.POLICY_INVALID, "surrogates need the key secret")
    if (surrogates.consistency, surrogates.date_shift) != (policy.consistency, policy.date_shift):
        raise DeidError(Code.POLICY_INVALID, "surrogates of another policy")
    wanted = [span for span in ordered if policy.labels[span.label] is Action.SURROGATE]
    return dict(zip(wanted, surrogates.replace(note, wanted), strict=True))
