"""Files in, files out: what `deid redact` does, without a warehouse or a store.

Belongs here: one pass over a file of notes with topics beside it. Does not belong here: reading formats
(`corpora/`), detection or redaction themselves, or printing (`cli/`). Nothing imported here is slow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import ClassVar, NamedTuple

from deid_platform.corpora import Format, Reason, Rejection, Role
from deid_platform.corpora.columns import ColumnMapping
from deid_platform.corpora.given_spans import GivenSpans
from deid_platform.corpora.refusals import Refusals
from deid_platform.corpora.single_files import read_notes, read_topic
from deid_platform.corpora.source import STANDARD_INPUT, opened
from deid_platform.deidentify.release_note import (
    NoteReleaser,
    Redacted,
    ReleaseSpec,
    languages_accepted,
    reason_of,
    settled,
    text_note_id,
)
from deid_platform.detection import DetectorSpec
from deid_platform.detection.resolve.cross_note import Mentioned
from deid_platform.detection.two_pass import Detection, FirstPass, SecondPass, first_pass
from deid_platform.engine.engines import Engine
from deid_platform.engine.warm_up import made_up_note
from deid_platform.engine.workers import Job, Task
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import Keyring, plain_digest
from deid_platform.notes import Note, Topics
from deid_platform.redaction.policy import Policy
from deid_platform.runtime.output import Output
from deid_platform.surrogates.date_order import NOTHING_SAID, DateOrder, DateWriting


@dataclass
class Outcome:
    """What a pass did: counts only."""

    read_as: Format | None = None
    """How the notes are written, where it is not the input's name that says so."""
    notes: int = 0
    found: int = 0
    """Spans that were found, among them years alone where the policy hides them."""
    replaced: int = 0
    """Those of them that the policy hides."""
    undecided: int = 0
    """Dates that became tags since nothing says which number is the day."""
    refusals: Refusals = field(default_factory=Refusals)
    """Input rows that were refused, by reason, with their lines."""
    undated: int = 0
    """Notes without a valid date; they are treated as if written today, which hides the most years."""
    withheld: dict[str, int] = field(default_factory=dict)
    """Reason code -> notes that are not in the output: a stage failed on them, or the leak check found something."""
    unmeasured: dict[str, int] = field(default_factory=dict)
    """Language -> notes that were withheld for it."""

    @property
    def complete(self) -> bool:
        """Whether every input row is in the output."""
        return not self.refusals.lost and not self.withheld


def read_topics(
    files: Mapping[Role, Path | None], mapping: ColumnMapping | None = None
) -> tuple[Topics, dict[str, int]]:
    """Topics from their files, as the institution writes them; a second row of one id is kept as a former one.

    Args:
        files: Role to file.
        mapping: How their columns become fields.

    Returns:
        The topics, and how many optional values were dropped from rows that stand, by role: a birth date that
        is none.

    Raises:
        DeidError: `topic-invalid` with role, line and reason of the first row that is lost, `column-unknown` where that
            is for its columns, `input-empty` if there is no row: a roster that is only half read would leave names in,
            and whoever gave the file can mend it.
    """
    topics = Topics()
    mapping = mapping or ColumnMapping({})
    dropped: dict[str, int] = {}
    for role, path in files.items():
        if path is None:
            continue
        upserts, rejections = read_topic(path, role, columns=mapping.columns, ignore=mapping.ignore)
        for refused in rejections:
            if refused.reason is Reason.UNKNOWN_COLUMN:
                raise DeidError(Code.COLUMN_UNKNOWN, f"{role.value}: {refused.unknown}")
            if not refused.stands:
                raise DeidError(Code.TOPIC_INVALID, f"{role.value}, line {refused.row}: {refused.reason.value}")
            if refused.reason is Reason.IMPOSSIBLE_DATE:
                dropped[role.value] = dropped.get(role.value, 0) + 1
        if not upserts:
            raise DeidError(Code.INPUT_EMPTY, role.value)
        topics = topics.folded(upserts)
    return topics, dropped


def date_writing(order: str | None) -> DateWriting:
    """How notes write dates in numbers: in the order given, else as the deid.toml in force says, if there is one.

    Raises:
        DeidError: `settings-invalid`; `input-invalid` for another order.
    """
    if order not in (None, *DateOrder):
        raise DeidError(Code.INPUT_INVALID, f"date order: {did_you_mean(str(order), tuple(DateOrder))}")
    from deid_platform.settings import RedactionSettings, load_settings

    try:
        said = load_settings().redaction
    except DeidError as error:
        if error.code is not Code.SETTINGS_MISSING:
            raise
        said = RedactionSettings()
    return DateWriting.of(order or said.date_order, said.date_zeros)


def redact_file(
    source: Path,
    target: Path,
    *,
    spec: DetectorSpec,
    policy: Policy,
    engine: Engine,
    keyring: Keyring | None = None,
    beside: Iterable[Path | None] = (),
    mapping: ColumnMapping | None = None,
    table_format: Format | None = None,
    given: GivenSpans | None = None,
    scores: bool = False,
    writing: DateWriting = NOTHING_SAID,
    languages: Collection[str] = (),
    progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Redacts a file of notes, in its order, into JSON lines `{"note_id", "text", "spans"}`, or plain text into text.

    `spans` are all identifiers that were found, with offsets into the original text, whether or not the policy hides
    their label; what one note of a patient tells is found in the others. Under a policy with surrogates they are the
    places of what was put in, with offsets into the redacted text: the length of an original date beside the shifted
    one would tell the shift. Each note goes through the leak check. Rows that are refused, notes on which a stage
    fails, notes that leak and notes in a language that the detector was not measured in are counted and left out: a
    note is never passed through unredacted. A file appears whole or not at all.

    Args:
        source: Notes as JSON lines, CSV or Parquet: note_id and text, the note's other fields optional; a plain text,
            which is one note; `-` for standard input.
        target: Written beside itself first and then renamed, readable by its owner alone; through a link, what it
            leads to. A device or a pipe, and `-` for standard output, is written to as notes are done.
        spec: The detector, with topics or for the text alone.
        policy: What replaces each label.
        engine: Where detection and redaction run.
        keyring: Signs surrogates, where the policy wants them.
        beside: The other files that this pass was made from: topics, a policy, a secret.
        mapping: How the notes' columns become fields.
        table_format: How the notes are written; by default what the name or, of standard input, the beginning says.
        given: Spans of another detector, in place of what `spec` finds; a note that has none is withheld.
        scores: Whether the score of a span, if it has one, follows its label.
        writing: How the notes write dates in numbers.
        languages: Those of which notes pass too, beside those that the detector was measured in.
        progress: Called with the number of notes done since the last call.

    Raises:
        DeidError: `input-empty` if there is no row; `input-invalid`, before anything is read, for a language that is
            none, or if writing would replace the notes themselves or a file beside them, through whatever link or path;
            `output-unusable` if the target is a folder or cannot be opened; `secret-missing` if the policy wants
            surrogates and there are none; what `source.opened` and `GivenSpans.of` raise.
    """
    if policy.uses_surrogates and keyring is None:
        raise DeidError(Code.SECRET_MISSING)
    accepted = languages_accepted(languages)
    behind = Path("/dev/stdin") if source == STANDARD_INPUT else source
    output = Output.at(target).apart_from((behind, *beside))
    outcome = Outcome()
    mapping = mapping or ColumnMapping({})

    def good(path: Path) -> Iterator[Note]:
        # Read twice, counted once.
        outcome.refusals.clear()
        outcome.undated = 0
        # Only id, text and spans are written, so a column more does no harm here.
        for item in read_notes(
            path,
            columns=mapping.columns,
            ignore=mapping.ignore,
            defaults=mapping.defaults,
            strict=False,
            spool=output.folder,
            table_format=outcome.read_as,
        ):
            if isinstance(item, Rejection):
                if item.reason is Reason.IMPOSSIBLE_DATE:
                    outcome.undated += 1
                    continue
                outcome.refusals.add(item)
            else:
                yield item

    with (
        opened(source, table_format, mapping.shapes()[Role.NOTES], spool=output.folder) as (path, outcome.read_as),
        output.opened() as lines,
    ):
        if given is None:
            detect = partial(engine.detect, spec, on_batch=progress)
            found = first_pass(detect, lambda: good(path), spool=output.folder)
        else:
            found = _given(given, policy, good(path))
        release = ReleaseSpec(policy, spec.topics, keyring, writing=writing, languages=accepted)
        job = _RedactionJob(release, spec, outcome.read_as in (Format.TEXT, Format.DOCUMENT), scores)
        for done in engine.run(job, found, on_batch=None if given is None else progress):
            if done.line is None:
                outcome.withheld[done.reason] = outcome.withheld.get(done.reason, 0) + 1
                for code in done.unmeasured:
                    outcome.unmeasured[code] = outcome.unmeasured.get(code, 0) + 1
                continue
            outcome.notes += 1
            outcome.found += done.found
            outcome.replaced += done.replaced
            outcome.undecided += done.undecided
            lines.write(done.line)
        if outcome.complete and not outcome.notes:
            raise DeidError(Code.INPUT_EMPTY, "notes")
    return outcome


def _given(given: GivenSpans, policy: Policy, notes: Iterable[Note]) -> Iterator[FirstPass]:
    """Each note with the spans that were given for it, settled where they overlap."""
    for index, note in enumerate(notes):
        spans = None
        if note in given:
            spans = settled(given.of(note), policy)
        yield FirstPass(note, Detection(index, spans, Code.SPANS_MISSING if spans is None else None), Mentioned())


class _Line(NamedTuple):
    """What became of one note: a line of the output, or the reason for which there is none."""

    line: str | None
    reason: str = ""
    unmeasured: tuple[str, ...] = ()
    found: int = 0
    replaced: int = 0
    undecided: int = 0

    def __repr__(self) -> str:
        return "<_Line>"


@dataclass(frozen=True)
class _RedactionJob(Job[FirstPass, _Line]):
    """The second pass over notes, redaction and the leak check.

    Attributes:
        release: What notes are released by.
        detector: Of the second pass.
        as_text: Whether the output is the redacted text alone.
        scores: Whether the score of a span follows its label.
    """

    release: ReleaseSpec
    detector: DetectorSpec
    as_text: bool
    scores: bool
    fault: ClassVar[Code] = Code.REDACTION_FAILED

    @property
    def digest(self) -> str:
        writing = self.release.writing.parts
        return plain_digest(super().digest, self.detector.detector_digest, self.release.policy.digest, *writing)

    def build(self) -> _Redacting:
        return _Redacting(self, SecondPass(self.detector.cross_note_search), self.release.build())

    def failed(self, item: FirstPass) -> _Line:  # noqa: ARG002 - nothing of it is shown
        return _Line(None, self.fault.slug)


class _Redacting(Task[FirstPass, _Line]):
    def __init__(self, job: _RedactionJob, second_pass: SecondPass, releaser: NoteReleaser) -> None:
        self._job = job
        self._second_pass = second_pass
        self._releaser = releaser

    def __call__(self, batch: Sequence[FirstPass]) -> list[_Line]:
        return [self._line(item) for item in batch]

    def warm_up(self) -> None:
        self([made_up_note()])

    def _line(self, item: FirstPass) -> _Line:
        note, detection = item.note, self._second_pass(item)
        if detection.spans is None:
            return _Line(None, (detection.error or Code.DETECTOR_FAILED).slug)
        if self._job.as_text:
            note = replace(note, note_id=text_note_id(note.text))
        try:
            redacted = self._releaser.redacted(note, detection.spans)
        except DeidError as withheld:
            unmeasured = withheld.ref or "" if withheld.code is Code.LANGUAGE_UNMEASURED else ""
            return _Line(None, reason_of(withheld), tuple(unmeasured.split()))
        line = redacted.text if self._job.as_text else _json(note, redacted, scores=self._job.scores)
        return _Line(line, found=redacted.found, replaced=redacted.replaced, undecided=redacted.undecided)


def _json(note: Note, redacted: Redacted, *, scores: bool) -> str:
    spans: list[list[object]] = []
    for span in redacted.spans:
        scored = (span.score,) if scores and not isnan(span.score) else ()
        spans.append([span.start, span.end, span.label.value, *scored])
    row = {"note_id": note.note_id, "text": redacted.text, "spans": spans}
    return json.dumps(row, ensure_ascii=False) + "\n"
