"""Scores by corpus and locale as Markdown, for docs/detection.md.

Belongs here: the tables. Does not belong here: scoring (`bench/leaderboard/corpora.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from deid_platform.evaluation.experiments.corpus_statistics import CorpusScores


def corpus_scores_markdown(found: Sequence[CorpusScores]) -> str:
    """Recall and precision, a row a locale and a column a corpus, with the worst corpus and the worst locale."""
    corpora = list(dict.fromkeys(row.corpus for row in found))
    locales = list(dict.fromkeys(row.locale for row in found))
    cells = {(row.corpus, row.locale): row for row in found}
    lines = [
        f"Worst corpus on the text alone: {_worst(found, lambda row: row.corpus)}; worst locale: "
        f"{_worst(found, lambda row: row.locale)} (means of recall).",
        "",
        "Recall with topics / on text alone:",
        "",
        "| locale | " + " | ".join(corpora) + " |",
        "| --- |" + " --- |" * len(corpora),
    ]
    for locale in locales:
        row = (cells.get((corpus, locale)) for corpus in corpora)
        shown = ("" if it is None else f"{_share(it.recall)} / {_share(it.text_recall)}" for it in row)
        lines.append(f"| `{locale}` | " + " | ".join(shown) + " |")
    lines += ["", *_corpora(found, corpora)]
    return "\n".join(lines) + "\n"


def _corpora(found: Sequence[CorpusScores], corpora: Sequence[str]) -> Iterator[str]:
    """What each corpus is made of, over all locales."""
    titles = ("corpus", "notes", "identifiers", "names on no list", "precision with topics / on text alone",
              "notes with a miss, text alone")  # fmt: skip
    yield f"| {' | '.join(titles)} |"
    yield "| --- |" + " --- |" * 5
    for corpus in corpora:
        rows = [row for row in found if row.corpus == corpus]
        figures = (
            f"{rows[0].notes}",
            f"{min(r.identifiers for r in rows):,} to {max(r.identifiers for r in rows):,}",
            _range([r.unlisted for r in rows]),
            f"{_range([r.precision for r in rows])} / {_range([r.text_precision for r in rows])}",
            _range([r.text_missed for r in rows]),
        )
        yield f"| {corpus} | " + " | ".join(figures) + " |"


def _worst(found: Sequence[CorpusScores], name: Callable[[CorpusScores], str]) -> str:
    by_name: dict[str, list[float]] = {}
    for row in found:
        by_name.setdefault(name(row), []).append(row.text_recall or 0.0)
    worst = min(by_name, key=lambda key: sum(by_name[key]) / len(by_name[key]))
    return f"`{worst}` ({_share(sum(by_name[worst]) / len(by_name[worst]))})"


def _range(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{min(known):.2f} to {max(known):.2f}" if known else "–"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
