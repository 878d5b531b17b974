"""What attacks found, each figure beside its yardsticks: what a guess would find, and what the untouched text shows.

Belongs here: pairing figures with their yardsticks. Does not belong here: the attacks (`evaluation/`), or which figure
is a yardstick of which (`words.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deid_platform.reports.dossier.facts import Dossier, Reading
from deid_platform.reports.dossier.verdict import between, percent
from deid_platform.reports.dossier.words import ATTACKS, Yardsticks, measure_in_words, subject_in_words
from deid_platform.reports.summary import INPUTS

TITLES = ("of", "measure", "this release, 95% interval", "by chance", "the text untouched", "better", "counted")
Row = tuple[str, str, str, str, str, str, str]


def attack_rows(dossier: Dossier, family: str, inputs: str) -> Iterator[Row]:
    """The lines of a family of attacks, each figure that has a yardstick beside what it is measured against."""
    readings = list(dossier.of_family(family, inputs=inputs))
    beside = {(it.subject, it.measure): it for it in readings}
    for it in readings:
        yardsticks = ATTACKS.get((family, it.measure))
        if yardsticks is not None:
            yield _row(it, inputs, yardsticks, beside)


def _row(it: Reading, inputs: str, yardsticks: Yardsticks, beside: Mapping[tuple[str, str], Reading]) -> Row:
    given = f"{subject_in_words(it.subject)}, {INPUTS[inputs]}"
    return (
        f"{given}, by {it.judge}" if it.judge else given,
        measure_in_words(it.measure),
        between(it.figure),
        _yardstick(yardsticks.chance, it.subject, beside),
        _yardstick(yardsticks.untouched, it.subject, beside),
        "lower" if yardsticks.lower else "higher",
        "" if it.figure.n is None else f"{it.figure.n:,}",
    )


def _yardstick(of: str | float | None, subject: str, beside: Mapping[tuple[str, str], Reading]) -> str:
    if of is None:
        return "–"
    if isinstance(of, float):
        return percent(of)
    found = beside.get((subject, of))
    return "not measured" if found is None else percent(found.figure.value)
