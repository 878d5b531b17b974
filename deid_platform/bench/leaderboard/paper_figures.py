"""Figures of tokens and of names as the papers count them, for the laboratory and the leaderboard.

Belongs here: which ways of counting go to `quality`, under which names. Does not belong here: any formula
(`evaluation/`).

Aghakasiri 2025 has three: providers are identifiers (table 12), providers are text that should stay (table 2, here
`patient_only`), and that again where a token is hidden only as a whole (table 13, two-sided). Its figure 3 is F1 as in
table 2, by tokens of the note. Zambare 2026, table 9, has the recall of names alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from deid_platform.evaluation.scores.bootstrap import Estimate
from deid_platform.evaluation.scores.by_length import EDGES, by_length
from deid_platform.evaluation.scores.name_groups import count_names, name_recalls
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN
from deid_platform.evaluation.scores.token_scores import Partly, Providers, TokenCounts, count_tokens, token_scores
from deid_platform.notes import Span
from deid_platform.warehouse.quality.lab import TOKEN_LENGTHS, LabScore

Read = tuple[str, Sequence[Span], Sequence[Span], str | None]
"""A text, its identifiers, what is hidden, and whose it is."""
_MEASURES = ("accuracy", "recall", "precision", "f1")


def of_tokens(read: Sequence[Read], resamples: int) -> Iterator[LabScore]:
    """Figures of tokens with providers as identifiers: hidden in part, whole, and on both sides."""
    for partly in Partly:
        end = "" if partly is Partly.GENEROUS else f"_{partly.value}"
        for score in _figures(_counted(read, partly, Providers.COUNTED), end, resamples):
            if score.measure != "recall_two_sided":  # the conservative one
                yield score


def of_patients_alone(read: Sequence[Read], resamples: int) -> Iterator[LabScore]:
    """The same with providers as text that should stay, and F1 by length; of gold that many wrote for show alone.

    Beside figures of the same notes with providers, their number would tell how many providers a site's gold has.
    """
    generous = _counted(read, Partly.GENEROUS, Providers.ORDINARY)
    yield from _figures(generous, "_patient_only", resamples)
    yield from _figures(_counted(read, Partly.TWO_SIDED, Providers.ORDINARY), "_patient_only_two_sided", resamples)
    subjects = dict(zip(EDGES, TOKEN_LENGTHS, strict=True))
    for some in by_length(generous, resamples=resamples):
        if some.notes >= SMALLEST_SHOWN:
            yield _share("length", "f1_patient_only", some.scores.f1, subjects[some.least])


def of_names(read: Sequence[Read], sexes: Mapping[str, str], locale: str, resamples: int) -> Iterator[LabScore]:
    """Recall of names by sex, popularity, decade and meaning; of surrogate corpora alone, as `of_patients_alone`.

    Args:
        read: The notes.
        sexes: Of each patient.
        locale: Whose names they are.
        resamples: Of the bootstrap.
    """
    counts = [
        count_names(
            *(text, gold, [(it.start, it.end) for it in hidden]),
            sex=sexes.get(whose or "", ""),
            locale=locale,
            cluster=whose,
        )
        for text, gold, hidden, whose in read
    ]
    for group, recall in name_recalls(counts, resamples=resamples):
        yield _share("names", "recall", recall, group)


def _counted(read: Sequence[Read], partly: Partly, providers: Providers) -> list[TokenCounts]:
    return [
        count_tokens(text, gold, hidden, partly=partly, providers=providers, by_label=False, cluster=whose)
        for text, gold, hidden, whose in read
    ]


def _figures(counts: Sequence[TokenCounts], end: str, resamples: int) -> Iterator[LabScore]:
    scores = token_scores(counts, resamples=resamples)
    for measure in _MEASURES:
        yield _share("tokens", f"{measure}{end}", getattr(scores, measure))


def _share(family: str, measure: str, it: Estimate, subject: str = "ALL") -> LabScore:
    return LabScore(family, measure, it.value, it.low, it.high, it.total, subject)
