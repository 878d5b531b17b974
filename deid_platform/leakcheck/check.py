"""The verdict on one redacted note.

Belongs here: bringing together what may be left, in the text, in what stands for removed text, and in the
columns beside it. Does not belong here: each search (the other modules of this package), or what to do with a
note that leaks (the gate).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import zip_longest
from types import MappingProxyType

from deid_platform.labels import Label
from deid_platform.leakcheck.births import birth_date_left, tells_day_and_month
from deid_platform.leakcheck.columns import Released, columns_left
from deid_platform.leakcheck.comparable import GAP, NAME_GAP, ComparableText, comparable_texts, fold, line_of, tokens_of
from deid_platform.leakcheck.constants import constants_moved
from deid_platform.leakcheck.encoded import loosely, undecoded
from deid_platform.leakcheck.institution import Institution
from deid_platform.leakcheck.intervals import confused, full_days
from deid_platform.leakcheck.kin import Kin
from deid_platform.leakcheck.kinds import Leak, LeakKind, kept_kinds
from deid_platform.leakcheck.old_ages import date_tells, tag_tells
from deid_platform.leakcheck.reported import Reported
from deid_platform.leakcheck.roster import roster_residue, source_id_left
from deid_platform.leakcheck.seasons import parts_left, zone_within, zones_left
from deid_platform.leakcheck.shapes import shapes_left
from deid_platform.leakcheck.shifts import dates_left, year_left
from deid_platform.leakcheck.strangers import Strangers
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.policy import GENERAL, REMOVED, Action, Policy
from deid_platform.text import readable

# What a coarsened value may look like inside a tag: a year, a decade, two years, three digits of a ZIP code.
_VALUE = r"(?:\d{4}s?|\d{4}-\d{4}|\d{3})"
_SAID_OF_INDIRECT = (REMOVED, *GENERAL.values())
_WORD = re.compile(r"[^\W\d_]+")
_STRAY_GAP = re.compile(f"[{GAP}{NAME_GAP}]")


@dataclass(frozen=True, repr=False)
class LeakCheck:
    """Looks for leaks in the notes of one delivery; made by `of`.

    Attributes:
        policy: What may remain.
        strangers: Everybody in the topics.
        kin: Relatives and mothers of patients.
        institution: Its own names, where surrogates take their place.
        reported: What was reported as leaked.
        reported_in: Note id -> what was reported in that note, and is no identifier elsewhere.
        exempt: Kinds that the policy keeps.
        tag: A tag of the policy, with or without a coarsened value.
    """

    policy: Policy
    strangers: Strangers
    kin: Kin
    institution: Institution
    reported: Reported
    reported_in: Mapping[str, Reported]
    exempt: frozenset[LeakKind]
    tag: re.Pattern[str]

    def __repr__(self) -> str:
        return "<LeakCheck>"

    @classmethod
    def of(
        cls,
        topics: Topics,
        policy: Policy,
        *,
        reported: Iterable[str] = (),
        reported_in: Mapping[str, Iterable[str]] = MappingProxyType({}),
    ) -> LeakCheck:
        """A check for all notes that come with these topics.

        Args:
            topics: Everybody who may be named.
            policy: By which the notes were redacted.
            reported: Strings that were reported as leaked; they leak in every note.
            reported_in: Note id -> strings that leak in that note alone.
        """
        tag = _tag_of(policy, indirect=policy.hides_indirect)
        spare = policy.labels[Label.DOCTOR] is Action.KEEP
        # A reader may have marked a tag with the name beside it, also one that only an earlier policy put there.
        marked = _tag_of(policy, indirect=True)
        return cls(
            policy=policy,
            strangers=Strangers(topics, spare_providers=spare),
            kin=Kin(topics, spare_providers=spare),
            institution=Institution(topics, policy),
            reported=Reported.of(reported, marked),
            reported_in={note_id: Reported.of(strings, marked) for note_id, strings in reported_in.items()},
            exempt=frozenset(kept_kinds(policy)),
            tag=tag,
        )

    def check(
        self,
        note: Note,
        known_as: Sequence[Patient],
        redacted: str,
        applied: Sequence[Span],
        released: Released | None = None,
        *,
        lengths: Sequence[int] | None = None,
    ) -> tuple[Leak, ...]:
        """What is left in a redacted note.

        Args:
            note: The original.
            known_as: All rows of the note's own patient, current and former (`Topics.patients_known_as`);
                empty where the topics do not know the patient.
            redacted: The redacted text.
            applied: The spans that were replaced; offsets into the original.
            released: The columns that go with it.
            lengths: How many code points stand in the place of each span, in order. Without them the places are
                found by what lies between them, of which a surrogate may hold some too.

        Returns:
            The kinds of leak, each once, in the order of `LeakKind`; empty for a clean note.
        """
        found = set(self._in_text(note, known_as, redacted, sorted(applied), lengths))
        if released is not None:
            found.update(columns_left(note, known_as, released, self.policy))
            if released.note_type and self._left(note, known_as, released.note_type, ()) - self.exempt:
                found.add(LeakKind.COLUMN_TYPE)
        return tuple(Leak(kind) for kind in LeakKind if kind in found - self.exempt)

    def could_find(
        self, note: Note, known_as: Sequence[Patient], redacted: str, applied: Sequence[Span], released: Released
    ) -> bool:
        """Whether `check` could find something reported, or somebody, in a note that is clean otherwise.

        It could where the spans do not fit the text.

        Args:
            note: The original.
            known_as: Rows of the note's own patient.
            redacted: The redacted text.
            applied: The spans that were replaced; offsets into the original.
            released: The columns that go with it.
        """
        applied = sorted(applied)
        gaps = _gaps(note.text, applied)
        if gaps is None:
            return True
        # A text without its indirect identifiers, or spans without what people added, fit no more: each is asked beside
        # the text and the spans that do.
        moved = _replaced(gaps, redacted, None) or ()
        found = set(columns_left(note, known_as, released, self.policy))
        found.update(kind for row in known_as for kind in self._old_ages(note, [row], redacted, applied, moved))
        for read in (_joined(gaps, applied), self._bare(redacted), released.note_type or ""):
            found |= self._of_people(note, known_as, (*comparable_texts(read), *map(ComparableText, loosely(read))))
        # A clean note shows none of the source's ids, whoever is in the topics.
        return bool(found - self.exempt - {LeakKind.SOURCE_ID})

    def _in_text(
        self,
        note: Note,
        known_as: Sequence[Patient],
        redacted: str,
        applied: Sequence[Span],
        lengths: Sequence[int] | None,
    ) -> Iterator[LeakKind]:
        gaps = _gaps(note.text, applied)
        replaced = None if gaps is None else _replaced(gaps, redacted, lengths)
        yield from self._old_ages(note, known_as, redacted, applied, replaced or ())
        if gaps is None or replaced is None:
            yield LeakKind.MISALIGNED
            yield from self._left(note, known_as, self._bare(redacted), applied)
            return
        # What is left of the original, and apart from it what was put in.
        left = self._left(note, known_as, _joined(gaps, applied), applied)
        yield from left
        put_in = [self.tag.sub("", text) for text in replaced]
        if any(put_in):
            originals = [note.text[span.start : span.end] for span in applied]
            shown = list(map(self._not_by_chance, replaced, applied, originals))
            whole = self._of_people(note, known_as, comparable_texts(self._bare(_woven(gaps, shown))), strangers=False)
            if self._reported(note, comparable_texts(self._bare(redacted))):
                whole.add(LeakKind.REPORTED)
            if self.policy.shifts_dates:
                told = zip(applied, originals, put_in, strict=True)
                dates = [(old, new) for span, old, new in told if span.label is Label.DATE]
                named = (
                    zone_within(note.text, span.start, span.end)
                    for span, new in zip(applied, put_in, strict=True)
                    if new and span.label is not Label.DATE
                )
                if any(named) or zones_left(put_in) or constants_moved(note.text, applied, put_in) or confused(dates):
                    yield LeakKind.DATE_SHAPE
                # Another date may come to lie on the day of birth; whether the birth stayed is asked place by place.
                whole.discard(LeakKind.BIRTH_DATE)
            births = {row.birth_date for row in known_as if row.birth_date is not None}
            if (
                whole - left
                or any(map(self._shows, put_in, applied, originals))
                or any(_shows_birth(new, old, births) for new, old in zip(put_in, originals, strict=True))
            ):
                yield LeakKind.SURROGATE

    def _left(self, note: Note, known_as: Sequence[Patient], text: str, applied: Sequence[Span] = ()) -> set[LeakKind]:
        read = comparable_texts(text)
        found = {kind for reading in read for kind in shapes_left(reading)}
        found |= self._of_people(note, known_as, (*read, *map(ComparableText, loosely(text))))
        if any(undecoded(reading.text, reading.folded) for reading in read if reading.as_seen):
            found.add(LeakKind.UNDECODED)
        days = full_days(note.text[span.start : span.end] for span in applied if span.label is Label.DATE)
        if self.policy.dates.moved and any(
            dates_left(reading, note.note_date, language=note.language, others=days) or parts_left(reading)
            for reading in read
        ):
            found.add(LeakKind.DATE_SHAPE)
        if self.policy.hides_years and any(map(year_left, read)):
            found.add(LeakKind.LONE_YEAR)
        return found

    def _of_people(
        self, note: Note, known_as: Sequence[Patient], read: Iterable[ComparableText], *, strangers: bool = True
    ) -> set[LeakKind]:
        found: set[LeakKind] = set()
        for reading in read:
            for patient in known_as:
                found.update(roster_residue(reading, patient))
            if source_id_left(note, reading):
                found.add(LeakKind.SOURCE_ID)
            if self._reported(note, (reading,)):
                found.add(LeakKind.REPORTED)
            if strangers:
                found.update(self.strangers.residue(reading, known_as))
                found.update(self.kin.residue(reading, known_as))
                found.update(self.institution.residue(reading))
        return found - self.exempt

    def _reported(self, note: Note, read: Sequence[ComparableText]) -> bool:
        here = self.reported_in.get(note.note_id)
        return self.reported.stands_in(read) or (here is not None and here.stands_in(read))

    def _not_by_chance(self, put_in: str, span: Span, original: str) -> str:
        """What was put in a place, without the words of a provider's surrogate that did not stand there before.

        Such a surrogate is the same in every patient's notes, whatever the patient's name is: now and then it is that
        very name, and tells nothing by it.
        """
        if span.label is not Label.DOCTOR or self.policy.labels[span.label] is not Action.SURROGATE:
            return put_in
        before = "".join(tokens_of(fold(original)))
        return _WORD.sub(lambda word: word[0] if fold(word[0]) in before else GAP, put_in)

    def _bare(self, redacted: str) -> str:
        """A redacted text without its tags: "[PATIENT]" must not leak a person called Patient."""
        name = self.policy.tagged(Label.PATIENT)
        return self.tag.sub(lambda tag: NAME_GAP if tag.group() == name else GAP, redacted)

    def _shows(self, put_in: str, span: Span, original: str) -> bool:
        """Whether what stands in a place shows what stood there, or all that follows from it."""
        if not put_in or self.policy.labels[span.label] is Action.AGE90:
            # "90+-year-old" for a person of 90 says no more than the policy does.
            return False
        if self.policy.shifts_dates and span.label is Label.DATE and not tells_day_and_month(original):
            # A month may be the same one after the shift: only a tag would tell by how little it was moved.
            return False
        tokens = tokens_of(fold(readable(original).text))
        return bool(tokens) and line_of(tokens) in line_of(tokens_of(fold(readable(put_in).text)))

    def _old_ages(
        self,
        note: Note,
        known_as: Sequence[Patient],
        redacted: str,
        applied: Sequence[Span],
        replaced: Sequence[str],
    ) -> Iterator[LeakKind]:
        """A year that tells that somebody is over 89: in a tag, or in the place of a date that was moved."""
        if self.policy.labels[Label.DATE] is Action.YEAR and note.note_date is not None:
            born = [row.birth_date for row in known_as[:1] if row.birth_date is not None]
            years = [int(year) for tag in self.tag.finditer(redacted) for year in re.findall(r"\d{4}", tag.group())]
            if any(tag_tells(year, note.note_date, born) for year in years):
                yield LeakKind.TAG_YEAR
        if self.policy.shifts_dates:
            written = note.note_date or datetime.now(UTC).date()
            births = {row.birth_date for row in known_as if row.birth_date is not None}
            moved = [
                span
                for span, shown in zip(applied, replaced, strict=False)
                if span.label is Label.DATE and self.tag.sub("", shown)
            ]
            if any(date_tells(note.text, span.start, span.end, written, births) for span in moved):
                yield LeakKind.OLD_DATE


def _shows_birth(put_in: str, original: str, births: Collection[date]) -> bool:
    """Whether a date of birth stands where it stood, written in another way perhaps."""
    if not births or not put_in:
        return False
    new, old = ComparableText(put_in), ComparableText(original)
    return any(birth_date_left(born, old) and birth_date_left(born, new) for born in births)


def _tag_of(policy: Policy, *, indirect: bool) -> re.Pattern[str]:
    names = [label.value for label in Label]
    labels = "(?:" + "|".join(map(re.escape, names)) + ")"
    said = "(?:" + "|".join(map(re.escape, (*names, *_SAID_OF_INDIRECT * indirect))) + ")"
    plain = re.escape(policy.tag).replace(re.escape("{label}"), said)
    valued = re.escape(policy.tag_with_value).replace(re.escape("{label}"), labels)
    return re.compile(f"{plain}|{valued.replace(re.escape('{value}'), _VALUE)}")


def _joined(gaps: Sequence[str], applied: Sequence[Span]) -> str:
    """What is left of a text, with a gap where something was removed."""
    # A character of the original that looks like a gap of ours would part a name: it counts as one that nobody sees.
    own = [_STRAY_GAP.sub("\u200b", gap) for gap in gaps]
    return _woven(own, [NAME_GAP if span.label is Label.PATIENT else GAP for span in applied])


def _woven(gaps: Sequence[str], between: Sequence[str]) -> str:
    return "".join(part for pair in zip_longest(gaps, between, fillvalue="") for part in pair)


def _gaps(text: str, applied: Sequence[Span]) -> list[str] | None:
    """What lies between the replaced spans; None if they overlap or reach outside the text."""
    gaps: list[str] = []
    position = 0
    for span in applied:
        if span.start < position or span.end > len(text):
            return None
        gaps.append(text[position : span.start])
        position = span.end
    return [*gaps, text[position:]]


def _replaced(gaps: Sequence[str], redacted: str, lengths: Sequence[int] | None) -> list[str] | None:
    """What stands between the gaps in a redacted text; None unless it is the gaps in order, with what has these
    lengths in between, or where they are not known anything at all."""
    if lengths is not None:
        return _measured(gaps, redacted, lengths)
    first, last = gaps[0], gaps[-1]
    if len(gaps) == 1:
        return [] if redacted == first else None
    if not redacted.startswith(first) or not redacted.endswith(last):
        return None
    replaced: list[str] = []
    position = len(first)
    for gap in gaps[1:-1]:
        place = redacted.find(gap, position)
        if place < 0:
            return None
        replaced.append(redacted[position:place])
        position = place + len(gap)
    if position > len(redacted) - len(last):
        return None
    return [*replaced, redacted[position : len(redacted) - len(last)]]


def _measured(gaps: Sequence[str], redacted: str, lengths: Sequence[int]) -> list[str] | None:
    if len(lengths) != len(gaps) - 1 or any(length < 0 for length in lengths):
        return None
    replaced: list[str] = []
    position = 0
    for gap, length in zip(gaps, (*lengths, 0), strict=True):
        if not redacted.startswith(gap, position):
            return None
        position += len(gap)
        replaced.append(redacted[position : position + length])
        position += length
    return replaced[:-1] if position == len(redacted) else None
