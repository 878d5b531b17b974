"""What was missed, by kind and by risk: Murugadoss 2024, supplementary table 1, for one's own notes.

Belongs here: sorting missed words into the paper's categories. Does not belong here: the words in context
(`misses.py`), or who could be found by them (`evaluation/disclosure/adversary.py`, `evaluation/disclosure/linkage.py`).

Each missed word of gold is in one row, that of the first gold span that touches it. A row's share is its count over all
gold words, found or not, so the shares add up to 1 - recall, as the paper's do: its 921 words are 0.4% of some 230,000,
and 6 of them 0.0026%. Words are those of the scores (`tokens.py`), which follow the paper's; a word that is found in
part counts as found there.

The paper's annotators knew more than a label says. A relative is told from the patient by a word of kinship before the
name, a pharmacy and a clinic's location by their words: plain rules of this module, which may err between two rows of
the table and never lose a word. Whose a telephone number is cannot be told: the paper's row is of doctors' numbers.
Risks are those of `labels.RISK`, where a street is high, a town moderate ("moderate/high" in the paper). Rows that the
paper has none of, since it missed none there, are added: numbers of the patient, addresses on the net, ages, and what
its table leaves out (professions, states and countries).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import regex

from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Column, Estimate, Resampling, column
from deid_platform.evaluation.scores.tokens import touched, word_offsets, words_between
from deid_platform.labels import RISK, Label, Risk
from deid_platform.notes import Span


class Category(StrEnum):
    """The rows of the table; the first eleven are the paper's."""

    PATIENT_NAME = "patient name"
    RELATIVE_NAME = "patient relative name"
    PROVIDER_NAME = "doctor/nurse name or initial"
    DATE = "dates"
    PHONE = "phone number / pager number"
    LOCATION = "location (partial address)"
    CLINIC = "clinic location"
    OTHER_NUMBER = "other alphanumeric identifier"
    PHARMACY = "pharmacy name"
    HEALTHCARE = "healthcare organization"
    COMPANY = "organization/company"
    PATIENT_NUMBER = "patient's number"
    NET = "e-mail, web or IP address"
    AGE = "ages"
    REGION = "state or country"
    PROFESSION = "profession"


_BY_LABEL = {
    Label.PATIENT: Category.PATIENT_NAME,
    Label.DOCTOR: Category.PROVIDER_NAME,
    Label.USERNAME: Category.PROVIDER_NAME,
    Label.DATE: Category.DATE,
    **dict.fromkeys((Label.PHONE, Label.FAX), Category.PHONE),
    **dict.fromkeys((Label.STREET, Label.CITY, Label.ZIP, Label.LOCATION_OTHER), Category.LOCATION),
    Label.HOSPITAL: Category.HEALTHCARE,
    Label.ORGANIZATION: Category.COMPANY,
    **dict.fromkeys(
        (Label.SSN, Label.MEDICALRECORD, Label.HEALTHPLAN, Label.ACCOUNT), Category.PATIENT_NUMBER
    ),
    **dict.fromkeys((Label.EMAIL, Label.URL, Label.IPADDR), Category.NET),
    Label.AGE: Category.AGE,
    **dict.fromkeys((Label.STATE, Label.COUNTRY), Category.REGION),
    Label.PROFESSION: Category.PROFESSION,
}  # fmt: skip
_KIN = regex.compile(
    r"\b(?:mother|father|mom|dad|mum|parents?|brother|sister|siblings?|wife|husband|spouse|partner|son|daughter|child"
    r"|aunt|uncle|niece|nephew|cousin|grand\w+|next of kin|emergency contact|guardian|fianc\w+"
    r"|madre|padre|fratello|sorella|moglie|marito|figli[oa]|nonn[oa]|zi[oa]|nipote|hij[oa]|herman[oa]|espos[oa]"
    r"|m[eè]re|p[eè]re|fr[eè]re|s[oœ]e?ur|mari|femme|fils|fille|mutter|vater|bruder|schwester|frau|tochter|sohn)\b"
    r"[^\n.;]{0,24}$",
    regex.IGNORECASE,
)
_PHARMACY = regex.compile(
    r"pharm|farmac|apothe|apotek|chemist|drug ?(?:store|mart)|walgreen|rite ?aid|\bcvs\b", regex.IGNORECASE
)
_CLINIC = regex.compile(
    r"clinic|primary care|\boffices?\b|\bunit\b|\bward\b|\bfloor\b|campus|\bsuite\b|\brooms?\b|\bbuilding\b"
    r"|ambulator|reparto|consultorio|cabinet|praxis",
    regex.IGNORECASE,
)
_PLACES_AND_BODIES = (Label.HOSPITAL, Label.ORGANIZATION, Label.LOCATION_OTHER)


@dataclass(frozen=True, slots=True)
class MissedRow:
    """A row of the table.

    Attributes:
        category: What was missed; None in a row of all of a risk.
        risk: How far it goes towards a person.
        share: Its words, of all words of gold, with the interval over patients.
    """

    category: Category | None
    risk: Risk
    share: Estimate


@dataclass(frozen=True, slots=True)
class MissedTable:
    """The table: the rows that have a word, those of most risk and most words first, and their sums.

    Attributes:
        rows: A category has a row for each of its risks.
        by_risk: All of a risk.
        by_category: All of each category that has a word; its risk is the highest.
    """

    rows: tuple[MissedRow, ...]
    by_risk: tuple[MissedRow, ...]
    by_category: tuple[MissedRow, ...]


@dataclass(frozen=True, slots=True, repr=False)
class ReadNote:
    """A note with what is an identifier in it and what was found.

    Attributes:
        text: The original text.
        gold: What is an identifier.
        predicted: What the detector says is one.
        cluster: Whose note it is, for resampling; None makes it a cluster of its own.
    """

    text: str
    gold: Sequence[Span]
    predicted: Sequence[Span]
    cluster: str | None = None

    def __repr__(self) -> str:
        return "<ReadNote>"


def category_of(text: str, span: Span) -> Category:
    """The row of a gold span."""
    surface = text[span.start : span.end]
    if span.label is Label.PATIENT and _KIN.search(text, max(0, span.start - 60), span.start):
        return Category.RELATIVE_NAME
    if span.label in _PLACES_AND_BODIES and _PHARMACY.search(surface):
        return Category.PHARMACY
    if span.label is Label.HOSPITAL and _CLINIC.search(surface):
        return Category.CLINIC
    return _BY_LABEL.get(span.label, Category.OTHER_NUMBER)


def missed_by_risk(notes: Iterable[ReadNote], *, resamples: int = RESAMPLES, seed: int = 0) -> MissedTable:
    """The table of what was missed; see the module for what adds up to what."""
    kinds = [(category, risk) for category in Category for risk in Risk]
    places = {kind: at for at, kind in enumerate(kinds)}
    rows: list[list[int]] = []
    clusters: list[str | None] = []
    for note in notes:
        row = [0] * (len(kinds) + 1)
        words = word_offsets(note.text)
        row[-1] = int(touched(words, ((s.start, s.end) for s in note.gold)).sum())
        found = touched(words, ((s.start, s.end) for s in note.predicted))
        counted = found.copy()
        for span in sorted(note.gold):
            first, last = words_between(words, span.start, span.end)
            missed = int((~counted[first:last]).sum())
            counted[first:last] = True
            if missed:
                row[places[category_of(note.text, span), RISK[span.label]]] += missed
        rows.append(row)
        clusters.append(note.cluster)
    table = np.array(rows, dtype=np.float64).reshape(-1, len(kinds) + 1)
    resampled = Resampling(table, clusters, resamples=resamples, seed=seed)
    gold = column(len(kinds))
    found_rows = [
        MissedRow(category, risk, resampled.share(column(at), gold)) for at, (category, risk) in enumerate(kinds)
    ]

    def all_of(one: Category | Risk) -> Estimate:
        return resampled.share(_sum_of([at for at, kind in enumerate(kinds) if one in kind]), gold)

    by_risk = [MissedRow(None, risk, all_of(risk)) for risk in Risk]
    order = list(Risk)
    shown = sorted(
        (row for row in found_rows if row.share.hits), key=lambda row: (order.index(row.risk), -row.share.hits)
    )
    highest = {row.category: row.risk for row in reversed(shown)}
    by_category = [MissedRow(it, highest[it], all_of(it)) for it in dict.fromkeys(row.category for row in shown) if it]
    return MissedTable(tuple(shown), tuple(by_risk), tuple(by_category))


def _sum_of(columns: Sequence[int]) -> Column:
    return lambda sums: sums[..., columns].sum(axis=-1)
