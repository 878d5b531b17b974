"""The tables of a comparison, the same for a terminal and for a page, and its records. Counts alone, no text.

Belongs here: titles, rows and what is said above them. Does not belong here: laying them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from deid_platform.evaluation.comparison.comparison import Comparison, Pair, Row, Scored
from deid_platform.evaluation.scores.paired import Difference
from deid_platform.evaluation.scores.scores import Scores
from deid_platform.labels import Label
from deid_platform.reports.summary import interval

_INPUTS = {"topics": "topics and text", "text": "text alone"}
_NOTHING = "–"
_WHOLE = ("precision", "recall", "f1", "leak_rate", "clinical_retention")


@dataclass(frozen=True, slots=True)
class ShownTable:
    """One table.

    Attributes:
        caption: What it is of.
        titles: Of the columns.
        rows: A cell a column.
        texts: How many columns, from the left, are no numbers.
    """

    caption: str
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int = 1


def comparison_tables(found: Comparison) -> list[ShownTable]:
    """What each detector hides; with gold its scores and how far they are from the first's; agreement; labels."""
    tables = [_hidden(found)]
    scored = [(row, row.scored) for row in found.rows if row.scored is not None]
    if scored:
        first = found.rows[0].detector.name
        tables += [_scores(scored), _differences(scored[1:], first)]
        shared = [(row, it) for row, it in scored if it.shared is not None]
        tables += [_on_shared(shared, first)] if shared else []
        failed = [(row, it) for row, it in scored if it.without_failed is not None]
        tables += [_without_failed(failed, first)] if failed else []
    tables.append(_agreement(found))
    if any(row.alone for row in found.rows):
        tables.append(_alone_by_label(found))
    return tables


def comparison_records(found: Comparison) -> Iterator[dict[str, object]]:
    """The same by detector, with exact numbers."""
    for at, row in enumerate(found.rows):
        record: dict[str, object] = {
            "detector": row.detector.name,
            "inputs": row.detector.inputs,
            "notes": found.notes,
            "words": found.words,
            "notes_failed": row.detector.failed,
            "hidden_words": row.words,
            "hidden_by_all_others": row.shared.hits,
            "hidden_by_all_others_share": row.shared.value,
            "hidden_by_it_alone": row.alone,
            "hidden_by_it_alone_by_label": {label.value: words for label, words in row.alone_by_label.items()},
            "kappa": {found.rows[other].detector.name: _kappa_of(pair) for other, pair in _pairs_of(found, at)},
        }
        if row.scored is not None:
            record |= _scored_record(row.scored)
        yield record


def _pairs_of(found: Comparison, at: int) -> Iterator[tuple[int, Pair]]:
    for pair in found.pairs:
        if at in (pair.one, pair.other):
            yield pair.one + pair.other - at, pair


def _kappa_of(pair: Pair) -> dict[str, object]:
    return {"value": pair.kappa.value, "low": pair.kappa.low, "high": pair.kappa.high}


def _scored_record(scored: Scored) -> dict[str, object]:
    record = _measures(scored.scores)
    record |= {"recall_less_first": _fields(scored.recall), "precision_less_first": _fields(scored.precision)}
    answered = scored.without_failed
    record["without_failed_notes"] = answered and {
        "notes": answered.notes,
        "scores": _measures(answered.scores),
        "first": _measures(answered.first),
    }
    shared = scored.shared
    if shared is None:
        return record | {"on_shared_labels": None}
    both = {"labels": shared.labels, "scores": _measures(shared.scores), "first": _measures(shared.first)}
    less = {"recall_less_first": _fields(shared.recall), "precision_less_first": _fields(shared.precision)}
    return record | {"on_shared_labels": both | less}


def _measures(scores: Scores) -> dict[str, object]:
    found = {name: getattr(scores, name) for name in _WHOLE}
    return {
        name: None if it.value is None else {"value": it.value, "low": it.low, "high": it.high}
        for name, it in found.items()
    }


def _fields(difference: Difference | None) -> Mapping[str, float | None] | None:
    if difference is None:
        return None
    return {"value": difference.value, "low": difference.low, "high": difference.high, "p": difference.p}


def _hidden(found: Comparison) -> ShownTable:
    failed = any(row.detector.failed for row in found.rows)
    titles = ["detector", "reads", "words hidden", "share of them that all others hide too", "hidden by it alone"]
    rows = [
        (
            row.detector.name,
            _INPUTS[row.detector.inputs],
            f"{row.words:,}",
            interval(row.shared.value, row.shared.low, row.shared.high) if row.words else _NOTHING,
            f"{row.alone:,}",
            *((f"{row.detector.failed:,}",) if failed else ()),
        )
        for row in found.rows
    ]
    titles += ["notes on which it failed"] if failed else []
    return ShownTable("What each hides", tuple(titles), tuple(rows), texts=2)


def _scores(scored: list[tuple[Row, Scored]]) -> ShownTable:
    clinical = any(it.scores.clinical_retention.total for _, it in scored)
    measures = _WHOLE if clinical else _WHOLE[:-1]
    titles = ("detector", "precision", "recall", "F1", "notes with a missed identifier", "clinical terms kept")
    rows = tuple((row.detector.name, *(_shown(it.scores, name) for name in measures)) for row, it in scored)
    return ShownTable("Against gold, all labels", titles[: len(measures) + 1], rows)


def _differences(scored: list[tuple[Row, Scored]], first: str) -> ShownTable:
    rows = tuple((row.detector.name, _less(it.recall), _less(it.precision)) for row, it in scored)
    caption = f"Against {first} on the same notes, all labels"
    return ShownTable(caption, ("detector", f"recall less that of {first}", f"precision less that of {first}"), rows)


def _on_shared(scored: list[tuple[Row, Scored]], first: str) -> ShownTable:
    titles = ("detector", "labels", "recall", f"{first}, recall", "precision", f"{first}, precision", "recall less")
    rows = []
    for row, it in scored:
        assert it.shared is not None  # noqa: S101 - chosen so
        both = (it.shared.scores, it.shared.first)
        measured = (_shown(scores, name) for name in ("recall", "precision") for scores in both)
        rows.append((row.detector.name, str(it.shared.labels), *measured, _less(it.shared.recall)))
    return ShownTable(f"The same, on the labels that both it and {first} look for", titles, tuple(rows))


def _without_failed(scored: list[tuple[Row, Scored]], first: str) -> ShownTable:
    titles = ("detector", "notes", "precision", "recall", "F1", f"{first}, precision", f"{first}, recall")
    rows = []
    for row, it in scored:
        found = it.without_failed
        assert found is not None  # noqa: S101 - chosen so
        measured = [_shown(found.scores, name) for name in ("precision", "recall", "f1")]
        measured += [_shown(found.first, name) for name in ("precision", "recall")]
        rows.append((row.detector.name, f"{found.notes:,}", *measured))
    return ShownTable("The same, without the notes on which it failed", titles, tuple(rows))


def _agreement(found: Comparison) -> ShownTable:
    rows = []
    for pair in found.pairs:
        kappa = pair.kappa
        value = _NOTHING if kappa.value is None else interval(kappa.value, kappa.low, kappa.high)
        names = (found.rows[at].detector.name for at in (pair.one, pair.other))
        rows.append((*names, f"{kappa.both:,}", f"{kappa.only_one:,}", f"{kappa.only_other:,}", value))
    titles = ("one", "other", "words hidden by both", "only by the one", "only by the other", "Cohen's kappa")
    return ShownTable("How far two of them agree", titles, tuple(rows), texts=2)


def _alone_by_label(found: Comparison) -> ShownTable:
    names = tuple(row.detector.name for row in found.rows)
    rows = tuple(
        (
            label.value,
            *(f"{words:,}" if (words := row.alone_by_label.get(label, 0)) else _NOTHING for row in found.rows),
        )
        for label in Label
        if any(label in row.alone_by_label for row in found.rows)
    )
    return ShownTable("Words that it alone hides, by its label", ("label", *names), rows)


def _shown(scores: Scores, measure: str) -> str:
    found = getattr(scores, measure)
    return _NOTHING if found.value is None else interval(found.value, found.low, found.high)


def _less(difference: Difference | None) -> str:
    """The difference with its interval."""
    if difference is None or difference.value is None:
        return _NOTHING
    low, high = difference.low, difference.high
    between = "" if low is None or high is None else f" ({_signed(low)} to {_signed(high)})"
    return _signed(difference.value) + between


def _signed(value: float) -> str:
    """To three places; no minus before nothing."""
    return f"{value:.3f}" if abs(value) >= 0.0005 else "0.000"
