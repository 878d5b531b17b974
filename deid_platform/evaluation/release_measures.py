"""Every measure of a release by its texts, in one table: what is left of identifiers and of the medicine.

Belongs here: which measures a release has, under which names, and by which category. Does not belong here: any formula
(each measure's own module), judges that are models (`retention/`), or how the table is shown (`cli/released.py`).

Withheld notes are in no measure. Without gold stand the measures that need none: lexical retention, diagnosis codes,
utility. Where spans of a release are not known, tokens and replacements are those of its aligned texts
(`evaluation/released/released.py`), and a replacement has no label of its own that could be right or wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from deid_platform.evaluation.disclosure.residue import NoteResidue, note_residue, residue
from deid_platform.evaluation.disclosure.shift_secrecy import FITS, left_by_knowledge
from deid_platform.evaluation.experiments.efficiency import PER, api_cost
from deid_platform.evaluation.experiments.utility import Example, learnable
from deid_platform.evaluation.panel.occurrence_counts import count_note as count_occurrences
from deid_platform.evaluation.panel.panel import Counts
from deid_platform.evaluation.released.released import NoteRelease, Place
from deid_platform.evaluation.released.replacement_validity import count_validity, validity
from deid_platform.evaluation.retention.icd import CodePredictor, TermCoder, code_agreement, note_codes
from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
from deid_platform.evaluation.retention.retention import Pair, note_retentions, retention
from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Ratio
from deid_platform.evaluation.scores.by_length import by_length
from deid_platform.evaluation.scores.token_scores import Partly, Providers, count_tokens, token_scores
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.surrogates.dates import DateShift

ALL = "all"
Marked = tuple[NoteRelease, tuple[Span, ...]]
"""A release of a note with gold."""
Places = Sequence[Sequence[Place]]
"""What each release hides."""


class Figure(NamedTuple):
    """One figure.

    Attributes:
        measure: What it is.
        category: Of what: a label, a category, a length, or all.
        value: None where there is nothing to measure.
        low: Lower end of the 95% interval over patients; None where there is none.
        high: Upper end.
        n: How many were measured: identifiers, tokens, notes; None where that has no meaning.
    """

    measure: str
    category: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None


class Asked(NamedTuple):
    """What asking a language model took.

    Attributes:
        notes: How many it was asked about.
        seconds: Until all were answered.
        tokens: That it read and wrote; None where the server did not tell of each answer.
    """

    notes: int
    seconds: float
    tokens: tuple[int, int] | None


def measures(
    releases: Sequence[NoteRelease], *, predictor: CodePredictor | None = None, resamples: int = RESAMPLES
) -> Iterator[Figure]:
    """Every figure of released texts.

    Args:
        releases: Notes with what was released of them.
        predictor: Of diagnosis codes; the coder by terms unless given.
        resamples: Bootstrap resamples over patients.
    """
    shown = [one for one in releases if one.text is not None]
    marked = [(one, one.gold) for one in shown if one.gold is not None]
    if any(gold for _, gold in marked):
        places = [one.places for one, _ in marked]
        yield from _of_residue(marked, resamples)
        yield from _of_occurrences(marked)
        yield from _of_tokens(marked, places, resamples)
        yield from _of_replacements(marked, places, resamples)
    if shown:
        yield from _of_medicine(shown, predictor or TermCoder(), resamples)


def of_shift(by: DateShift, notes: Iterable[Note]) -> Iterator[Figure]:
    """How many bits of a date shift are left to a reader who knows something of one event on a note's day."""
    days = sorted({note.note_date for note in notes if note.note_date is not None})
    for known, fits in FITS.items() if days else ():
        found = left_by_knowledge(by, fits, days)
        yield Figure("bits of the date shift left", f"knowing {known}", found.bits, n=len(days))


def of_asking(asked: Asked, prices: tuple[float, float] | None = None) -> Iterator[Figure]:
    """What asking a language model took, a note: seconds, tokens, and the price of so many notes (Murugadoss 2024).

    Args:
        asked: Of all notes.
        prices: For 1,000 tokens that it reads, and that it writes, in any currency; None where nobody said.
    """
    n = asked.notes
    yield Figure("seconds a note", ALL, asked.seconds / n, n=n)
    if asked.tokens is None:
        return
    read, written = (tokens / n for tokens in asked.tokens)
    yield Figure("tokens read a note", ALL, read, n=n)
    yield Figure("tokens written a note", ALL, written, n=n)
    if prices is not None:
        yield Figure(f"price of {PER} notes", ALL, api_cost(read, written, *prices), n=n)


def _of_residue(marked: Sequence[Marked], resamples: int) -> Iterator[Figure]:
    """By label too; direct and quasi-identifiers are the paper's two categories."""
    notes = [note_residue(it.note.text, gold, it.shown, cluster=it.note.patient_id) for it, gold in marked]
    found = residue(notes, resamples=resamples)
    yield _ratio("ALID", ALL, found.alid)
    yield _share("LR", ALL, found.lr)
    yield _share("LRDI", "direct identifiers", found.lrdi)
    yield _ratio("LRQI", "quasi-identifiers", found.lrqi)
    for label in Label:
        of_label = [NoteResidue(tuple(it for it in note.distances if it[0] is label), note.cluster) for note in notes]
        if any(note.distances for note in of_label):
            found = residue(of_label, resamples=resamples)
            yield _ratio("ALID", label.value, found.alid)
            yield _share("LR", label.value, found.lr)


def _of_occurrences(marked: Sequence[Marked]) -> Iterator[Figure]:
    """Counts have no interval in the paper, and none here."""
    totals: dict[str, Counts] = {}
    for it, gold in marked:
        for category, counts in count_occurrences(it.note.text, gold, it.shown).items():
            totals[category] = totals.get(category, Counts()) + counts
    for category, counts in ((ALL, sum(totals.values(), Counts())), *totals.items()):
        for name in ("precision", "recall", "f1"):
            n = counts.tp + (counts.fp if name == "precision" else counts.fn)
            yield Figure(f"occurrences, {name}", category, getattr(counts, name), n=n)


def _of_tokens(marked: Sequence[Marked], places: Places, resamples: int) -> Iterator[Figure]:
    hidden = [[place.span(gold) for place in some] for (_, gold), some in zip(marked, places, strict=True)]
    for partly in (Partly.GENEROUS, Partly.TWO_SIDED):
        for providers in Providers:
            counts = [
                count_tokens(
                    *(it.note.text, gold, found),
                    partly=partly,
                    providers=providers,
                    by_label=False,
                    cluster=it.note.patient_id,
                )
                for (it, gold), found in zip(marked, hidden, strict=True)
            ]
            scores = token_scores(counts, resamples=resamples)
            how = f"{partly.value.replace('_', '-')}, providers {providers.value.replace('_', ' ')}"
            for name in ("accuracy", "precision", "recall", "f1"):
                yield _share(f"tokens, {name}", how, getattr(scores, name))
            if partly is Partly.GENEROUS and providers is Providers.ORDINARY:  # as in figure 3
                for length in by_length(counts, resamples=resamples):
                    of = f"from {length.least} tokens" + (f" to {length.below - 1}" if length.below else "")
                    yield _share("tokens, f1", f"{of}, {how}", length.scores.f1)


def _of_replacements(marked: Sequence[Marked], places: Places, resamples: int) -> Iterator[Figure]:
    counts = [
        count_validity(it.note, gold, [place.span(gold) for place in some], [place.put_in for place in some])
        for (it, gold), some in zip(marked, places, strict=True)
    ]
    found = validity(counts, resamples=resamples)
    yield _share("replaced whole", ALL, found.covered)
    if all(it.redaction is not None for it, _ in marked):
        yield _share("replaced under the right label", ALL, found.labelled)
    yield _share("replaced plausibly", ALL, found.plausible)
    yield _share("replaced validly", ALL, found.valid)
    for label, share in found.labels.items():
        yield _share("replaced validly", label.value, share)


def _of_medicine(shown: Sequence[NoteRelease], predictor: CodePredictor, resamples: int) -> Iterator[Figure]:
    judge = LexicalJudge()
    patients = [it.note.patient_id for it in shown]
    pairs = [Pair(it.note.text, it.shown, it.note.patient_id) for it in shown]
    kept = retention(note_retentions(pairs, judge), judge.identity, resamples=resamples)
    yield Figure("lexical retention", ALL, kept.mean, kept.low, kept.high, kept.notes)
    codes = note_codes([(it.note.text, it.shown) for it in shown], predictor)
    for measure, ratio in code_agreement(codes, patients, resamples=resamples).items():
        yield _ratio(measure.upper(), ALL, ratio)
    examples = [Example(it.note.text, it.shown, it.note.note_type, it.note.patient_id) for it in shown]
    task = learnable("note type", examples, resamples=resamples)
    if task is not None:
        for name in ("raw", "released", "transferred"):
            yield Figure(f"utility, {name}", task.task, getattr(task, name), n=task.notes)
        yield Figure("utility, most frequent class", task.task, task.most_frequent, n=task.notes)
        yield Figure("utility, lost", task.task, task.loss.value, task.loss.low, task.loss.high, task.notes)


def _share(measure: str, category: str, share: Estimate) -> Figure:
    return Figure(measure, category, share.value, share.low, share.high, share.total)


def _ratio(measure: str, category: str, ratio: Ratio) -> Figure:
    return Figure(measure, category, ratio.value, ratio.low, ratio.high, ratio.n)
