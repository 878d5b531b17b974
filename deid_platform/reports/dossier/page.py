"""A dossier as one HTML file: no script, no request to anywhere, printable.

Belongs here: the tables that the page shows, and filling the template. Does not belong here: the facts, the verdict.

The file is the same for the same facts, so that its digest names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from deid_platform.evaluation.sources import NO_TOPICS
from deid_platform.labels import Label
from deid_platform.reports.dossier.attacks import TITLES, attack_rows
from deid_platform.reports.dossier.bars import bars
from deid_platform.reports.dossier.decide import headline, looks
from deid_platform.reports.dossier.facts import Dossier, HeldOut, Reading, counted
from deid_platform.reports.dossier.questions import health_dcat, questions
from deid_platform.reports.dossier.sections import SECTIONS
from deid_platform.reports.dossier.verdict import between, percent, points, verdict
from deid_platform.reports.dossier.words import measure_in_words, subject_in_words
from deid_platform.reports.pages import template
from deid_platform.reports.release_notes import DATES
from deid_platform.reports.summary import INPUTS

Row = TypeVar("Row", bound=tuple[str, ...])
_MEASURES = (
    *("recall", "recall_conservative", "precision", "f1", "recall_of_site", "precision_of_site", "entity_recall"),
    *("leak_rate", "words_kept", "clinical_retention"),
)
_FAMILIES = {
    "tokens": "Tokens between blanks (Aghakasiri 2025, tables 2, 12 and 13)",
    "spans": "Spans",
    "characters": "Characters",
    "residue": "What is left of each identifier (Pissarra 2024)",
    "disclosure": "Direct identifiers left",
    "linkage": "Linkage by an attacker who holds everybody's topics",
    "attacker": "What a language model learns of a patient, among numbered choices, beside a guess",
    "indirect": "Released notes with something that tells who somebody is although it names nobody",
    "plain sight": "Identifiers left that a reader can tell from surrogates, beside chance",
    "missed": "Missed words by kind and risk (Murugadoss 2024, supplementary table 1)",
    "retention": "What is left of the medicine",
    "judges": "How good the judge of lost medicine is, on labelled pairs that it was not tuned on",
    "review": "Words that were hidden although no gold marks them, as two readers and an adjudicator judge them "
    "(Aghakasiri 2025, tables 14 and 3)",
    "read notes": "Words that were hidden in a sample of the site's notes without gold, as two readers and an "
    "adjudicator judge them",
    "utility": "A task learned from released notes beside the same from true ones",
    "panel": "Identifiers hidden or left as a panel of language models says, and how often spans say the same "
    "(Miranda 2025)",
    "stability": "The same notes in other formats",
    "length": "By length of note",
}
_LANGUAGE_GOLD = {
    "site": "gold of its own feeds",
    "library": "the library's whole notes",
    "synthetic_hospital": "the synthetic hospital",
    "shipped": "the notes that the shipped model was measured on",
    None: "nothing",
}
_YOUNG = 30  # days; of a younger set its age says little
FOUND = ("panel", "tokens", "spans", "characters", "length", "stability")
MISSED = ("missed",)
ADVERSARY = ("residue", "disclosure", "linkage", "attacker", "indirect", "plain sight")
MEDICINE = ("retention", "judges", "utility")
REVIEW = ("review", "read notes")
_OF_NO_NOTE = ("judges", "review")
"""Families for which it makes no difference whether the detector was given topics."""
_NO_SHARES = ("kappa", "missed_per_note")
_DIFFERENCES = ("difference", "difference_transferred", "recall_difference", "precision_difference")


def dossier_html(dossier: Dossier) -> str:
    """The page."""
    source, found = dossier.source(), verdict(dossier)
    told = headline(dossier)
    fairness_on, fairness = _fairness(dossier)
    return template("dossier/dossier.html.j2").render(
        d=dossier,
        verdict=found,
        sections=SECTIONS,
        headline=told,
        looks=looks(dossier, found),
        look_numbers={name: number for number, name in enumerate(SECTIONS, start=1)},
        here=f"{found.opening[0]} " if dossier.unmeasured else "",
        source=source or "nothing",
        topics=source.topics if source else "with topics",
        dates=DATES[dossier.dates],
        gold=source.both if source else "nothing",
        scores=_scores(dossier, dossier.gold),
        beside=[
            (it.both, it.topics, _scores(dossier, gold))
            for gold in dossier.golds[1:]
            if (it := dossier.source(gold)) is not None
        ],
        held_out=_held_out(dossier.held_out),
        labels=_by_label(dossier),
        bars=bars([(name, error) for name, error, _ in _errors(dossier)], str(source)),
        found=_tables(dossier, FOUND, _rows),
        missed=_tables(dossier, MISSED, _rows),
        attack_titles=TITLES,
        adversary=_tables(dossier, ADVERSARY, attack_rows),
        medicine=_tables(dossier, MEDICINE, _rows),
        reviewed=_tables(dossier, REVIEW, _rows),
        unsettled=_unsettled(dossier),
        not_found=_not_measured(dossier, FOUND),
        not_attacked=_not_measured(dossier, ADVERSARY),
        not_kept=_not_measured(dossier, MEDICINE),
        fairness=fairness,
        fairness_on=fairness_on,
        questions=questions(dossier),
        dcat=health_dcat(dossier) if dossier.policy.startswith("gdpr") else None,
        language_gold=_LANGUAGE_GOLD,
        percent=percent,
        between=between,
        counted=counted,
    )


def _scores(dossier: Dossier, gold: str | None) -> list[tuple[str, ...]]:
    rows = []
    for measure in _MEASURES:
        found = [dossier.figure(measure, inputs=inputs, gold=gold) for inputs in INPUTS]
        if any(it is not None for it in found):
            rows.append((measure_in_words(measure), *("not measured" if it is None else between(it) for it in found)))
    return rows


def _held_out(it: HeldOut | None) -> list[str]:
    """What was measured on, how often it had been looked at, and what that means."""
    if it is None:
        return ["What these figures were measured on was not sealed before, and looks at it were not counted."]
    age = f"{it.days} days" if it.days >= _YOUNG else f"less than {_YOUNG} days"
    said = [
        f"Measured on the held-out set {it.name} of {counted(it.notes)} notes, sealed on {it.sealed_on}, {age} before "
        "this release's detector was last measured on it. By then figures had been computed from its gold "
        f"{_times(it.looks)}, with {_detectors(it.detectors)}."
    ]
    if it.seen or it.other_sets:
        said.append(
            f"It is no new set: {counted(it.seen)} of its notes were in sets before it. Other sets with notes of it "
            f"were looked at {_times(it.other_looks)}; all of them together with {_detectors(it.every_detector)}."
        )
    if it.own_sets > 1:
        said.append(f"This detector was measured on {it.own_sets} sets of this gold; the newest figures are shown.")
    return [
        *said,
        "Whoever has seen figures can change the detector until they are better on these very notes. The more looks "
        "with other detectors, the more the figures flatter. Scoring outside the ledger is not counted.",
    ]


def _times(looks: int) -> str:
    return "once" if looks == 1 else f"{looks:,} times"


def _detectors(count: int) -> str:
    return f"{count:,} {'detector' if count == 1 else 'detectors'}"


def _by_label(dossier: Dossier) -> list[tuple[str, ...]]:
    rows = []
    for it in dossier.treatments:
        found = [dossier.figure(measure, subject=it.label) for measure in ("recall", "entity_recall", "precision")]
        if any(figure is not None and figure.value is not None for figure in found):
            rows.append((it.label, it.risk, *("–" if figure is None else between(figure) for figure in found)))
    return rows


def _errors(dossier: Dossier) -> list[tuple[str, float, str]]:
    """Share of words missed by label, the largest first."""
    found = []
    for it in dossier.treatments:
        figure = dossier.figure("recall", subject=it.label)
        if figure is not None and figure.value is not None:
            found.append((it.label, 1 - figure.value, it.risk))
    return sorted(found, key=lambda row: -row[1])


def _tables(
    dossier: Dossier, families: Sequence[str], rows_of: Callable[[Dossier, str, str], Iterable[Row]]
) -> list[tuple[str, list[Row]]]:
    """A table for each family of which there is a figure, with its caption."""
    tables = []
    for family in families:
        rows = [row for inputs in INPUTS for row in rows_of(dossier, family, inputs)]
        if rows:
            tables.append((f"{_FAMILIES[family]}. On {_sources(dossier, family)}", rows))
    return tables


def _sources(dossier: Dossier, family: str) -> str:
    """Where the figures of a family are from, each source once."""
    found = [it.source for inputs in INPUTS for it in dossier.of_family(family, inputs=inputs)]
    if {it.topics_of == NO_TOPICS for it in found} == {True, False} and len({(it.whose, it.hand) for it in found}) == 1:
        return found[0].both  # with topics they come first
    return "; on ".join(dict.fromkeys(map(str, found)))


def _not_measured(dossier: Dossier, families: Sequence[str]) -> list[str]:
    """Families without a figure; where a policy makes no surrogates, there is nothing to tell from them."""
    return [
        _FAMILIES[family]
        for family in families
        if not any(_rows(dossier, family, inputs) for inputs in INPUTS)
        and (family != "plain sight" or dossier.makes_surrogates)
    ]


def _rows(dossier: Dossier, family: str, inputs: str) -> list[tuple[str, str, str, str]]:
    def said(it: Reading) -> tuple[str, str, str, str]:
        subject = subject_in_words(it.subject)
        of = "" if it.figure.n is None else f"{it.figure.n:,}"
        given = subject if family in _OF_NO_NOTE else f"{subject}, {INPUTS[inputs]}"
        given = f"{given}, by {it.judge}" if it.judge else given
        return given, measure_in_words(it.measure, family), _shown(it), of

    return [said(it) for it in dossier.of_family(family, inputs=inputs) if not _nothing_of_label(it)]


def _nothing_of_label(it: Reading) -> bool:
    """A label that no reader marked, or of too few notes: what was read is said by the line of all labels."""
    return it.measure == "missed_per_note" and it.subject in tuple(Label) and not it.figure.value


def _shown(it: Reading) -> str:
    if it.measure in _DIFFERENCES:
        return points(it.figure)
    if it.measure in _NO_SHARES and it.figure.value is not None:
        low, high = it.figure.low, it.figure.high
        return f"{it.figure.value:.2f}" + ("" if low is None or high is None else f" ({low:.2f} to {high:.2f})")
    return between(it.figure)


def _unsettled(dossier: Dossier) -> bool:
    """Whether shares of a round of review are of a part of it."""
    said = (it for family in REVIEW for inputs in INPUTS for it in dossier.of_family(family, inputs=inputs))
    settled = [it.figure.value for it in said if it.measure == "share_settled"]
    return any(value is None or value < 1 for value in settled)


def _fairness(dossier: Dossier) -> tuple[str, list[tuple[str, str, str]]]:
    """Where the figures by sex and locale are from, and they: of the first gold that was measured so."""
    for gold in dossier.golds:
        rows, on = [], ""
        for it in dossier.of_family("words", gold=gold):
            if it.measure == "recall" and it.subject.startswith(("sex ", "locale ")):
                precision = dossier.figure("precision", subject=it.subject, gold=gold)
                rows.append((it.subject, between(it.figure), "–" if precision is None else between(precision)))
                on = str(it.source)
        if rows:
            return on, rows
    return "", []
