"""Days that a note writes as it writes its others, and what a model alone takes for a day and cannot be one.

    writing    how a note writes its days
    claims     what else two numbers may be: a score, a dose, a pressure
    predicted  which part of what a model marks can be a day

Belongs here: the stage. Does not belong here: days that show themselves (`detection/rules`).

A month and a day in a table or in running text are a date where the calendar allows it, nothing around them claims
them, and the note's other days lie near. What a model or the weakest rule calls a day and something else claims is
taken back, and what a model that is not sure calls one and is none. A weekday beside a date is part of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.resolve.days.claims import ADDED_FROM, CLAIMED, Verdict, pairs_in
from deid_platform.detection.resolve.days.predicted import codes_in, days_of, with_weekday
from deid_platform.detection.resolve.days.writing import Writing
from deid_platform.labels import Label

_CONFIDENCE = 0.7
_SURE = 0.9
"""From this probability on a model is believed where numbers are no day as the note writes them: they may be misread,
or somebody's number. On the threshold authors' notes it found 150 words of identifiers and hid 60 others in vain."""
_OF_NOTE = Source(SourceKind.RULES, "day-as-the-note-writes-it")


def days(document: Document, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates of a document with its further days, and without what is none."""
    text = document.text
    verdicts = _verdicts(document, candidates)
    kept = [part for candidate in candidates for part in _checked(text, candidate, verdicts)]
    covered = [(c.start, c.end) for c in kept]
    for (start, end), verdict in verdicts.items():
        if verdict >= ADDED_FROM and not any(first < end and start < last for first, last in covered):
            kept.append(Candidate.by_rule(start, end, Label.DATE, _CONFIDENCE, _OF_NOTE))
    return [with_weekday(text, c) if c.label is Label.DATE else c for c in kept]


def _is_sure(candidate: Candidate, verdicts: dict[tuple[int, int], Verdict]) -> bool:
    """Whether a model is so sure that only what claims the numbers is believed against it."""
    claimed = (pair for pair, verdict in verdicts.items() if verdict == CLAIMED)
    return (
        candidate.evidence is Evidence.PREDICTED
        and candidate.confidence >= _SURE
        and not any(start < candidate.end and candidate.start < end for start, end in claimed)
    )


def _verdicts(document: Document, candidates: Sequence[Candidate]) -> dict[tuple[int, int], Verdict]:
    """How surely each pair of numbers is a day."""
    pairs = list(pairs_in(document.text))
    if not pairs:
        return {}
    writing = Writing.of(document.text, document.note.language, candidates)
    return {(start, end): writing.verdict(document.text, start, end) for start, end in pairs}


def _checked(text: str, candidate: Candidate, verdicts: dict[tuple[int, int], Verdict]) -> Iterator[Candidate]:
    """A candidate, or what remains of one that is little founded."""
    if candidate.label is not Label.DATE or candidate.evidence > Evidence.LISTED or _is_sure(candidate, verdicts):
        yield candidate
    elif candidate.evidence is Evidence.LISTED:
        verdict = verdicts.get((candidate.start, candidate.end))
        if verdict is None or verdict >= 0:
            yield candidate
    else:
        for start, end in days_of(text, candidate.start, candidate.end, verdicts):
            yield candidate._replace(start=start, end=end)
        for start, end in codes_in(text, candidate.start, candidate.end):
            yield candidate._replace(start=start, end=end, label=Label.IDNUM)
