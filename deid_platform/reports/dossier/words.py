"""What a dossier calls a measure, and what it is a measure of.

Belongs here: words for the keys of the laboratory (`warehouse/quality/lab.py`), and what a reader compares a figure
with. Does not belong here: figures (`facts.py`), or tables (`page.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MEASURES: Mapping[str, str] = {
    "precision": "of the words that are hidden, those that identify (precision)",
    "recall": "identifying words found (recall)",
    "f1": "recall and precision in one figure (F1)",
    "accuracy": "tokens judged rightly, hidden or not",
    "entity_recall": "identifiers covered whole",
    "leak_rate": "notes with a missed identifier",
    "words_kept": "words kept that identify nobody",
    "clinical_retention": "clinical terms kept",
    "strict_f1": "F1 of identifiers found from their first letter to their last",
    "overlapping_f1": "F1 of identifiers found in part or whole",
    "strict_recall": "identifiers found from their first letter to their last",
    "overlapping_recall": "identifiers found in part or whole",
    "recall_of_site": "recall of all notes of the site, weighed as the sample was drawn",
    "precision_of_site": "precision of the same",
    "recall_difference": "change in recall",
    "precision_difference": "change in precision",
    "identifier_characters_found": "letters and digits of identifiers hidden",
    "other_characters_hidden": "letters and digits of other text hidden",
    "alid": "how far the text is from each identifier: nothing, where it still stands there",
    "levenshtein_recall": "identifiers that nothing in the text resembles",
    "direct_recall": "notes in which nothing resembles any direct identifier",
    "quasi_recall": "of a note's other identifiers (dates, places, ages), those that nothing resembles",
    "notes_disclosed": "notes that keep a direct identifier",
    "patients_disclosed": "patients of whom a note keeps one",
    "patient_disclosed_at_site": "the same at as many notes a patient as this site has, if notes leak independently",
    "first": "the true patient ranks first of all patients",
    "top_ten": "the true patient is among the first ten",
    "right": "right answers",
    "right_by_linkage": "right answers by counting shared words instead of a language model",
    "unanswered": "without an answer, which counts as wrong",
    "notes_by_model": "notes in which a language model sees it",
    "told_apart": "missed words that a reader's best rule tells from surrogates",
    "share_missed": "words missed",
    "lexical_retention": "clinical words left, as the lexical judge compares both texts",
    "cire": "clinical information left, as a language model compares both texts (CIRE)",
    "chat_retention": "clinical information left, as a language model that names what changed sees it",
    "jsc": "diagnosis codes that both texts say, of those that either says",
    "nsdcg": "how alike the diagnosis codes of both texts rank (NSDCG)",
    "score_raw": "score of the task learned from true notes",
    "score_released": "score of the task learned from released notes",
    "score_transferred": "learned from released notes and done on true ones",
    "difference": "change by redaction",
    "difference_transferred": "change, done on true notes",
    "most_frequent": "score of whoever always gives the most frequent answer",
    "kappa": "agreement beyond chance (kappa)",
    "pearson": "correlation with people's labels (Pearson)",
    "spearman": "correlation of the order with people's labels (Spearman)",
    "share_of_removals": "of the removals that were read",
    "share_of_relevant": "of the clinically relevant removals",
    "share_right": "of the removals, those that were right",
    "share_settled": "of the removals drawn, those that have been decided",
    "missed_per_note": "identifiers that readers saw missed, a note",
    "missed_agreement": "agreement on what is missed",
}
"""Measure -> what it says, unless its family says otherwise."""

_OF_FAMILY: Mapping[str, Mapping[str, str]] = {
    "tokens": {
        "recall": "identifying tokens found (recall)",
        "precision": "of the tokens that are hidden, those that identify (precision)",
    },
    "judges": {
        "accuracy": "pairs judged rightly",
        "recall": "of the pairs in which medicine is lost, those that the judge says (recall)",
        "precision": "of the pairs that the judge calls lost, those that are (precision)",
    },
    "panel": {
        "recall": "identifiers hidden, as the panel sees them (recall)",
        "precision": "of what is hidden, what the panel calls an identifier (precision)",
    },
}
"""Family -> measures whose words are other ones there."""
_WAYS = {
    "conservative": "a token counts as hidden only whole",
    "two_sided": "so does one that is no identifier",
    "patient_only": "of patients' identifiers alone",
}


def measure_in_words(measure: str, family: str = "words") -> str:
    """What a measure of a family says; a key that nobody has put into words has blanks for its underscores."""
    said = {**MEASURES, **_OF_FAMILY.get(family, {})}
    if measure in said:
        return said[measure]
    for way, counted in _WAYS.items():
        if measure.endswith(f"_{way}"):
            return f"{measure_in_words(measure.removesuffix(f'_{way}'), family)}; {counted}"
    return measure.replace("_", " ")


def subject_in_words(subject: str) -> str:
    """What a figure is of."""
    for prefix in ("attack ", "indirect ", "task "):
        subject = subject.removeprefix(prefix)
    return "all" if subject == "ALL" else subject


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """What stands beside a figure of an attack.

    Attributes:
        chance: The measure of one who guesses; None if nobody can guess at it.
        untouched: The same of the text as it was before redaction: a measure, or the share that it is by definition;
            None if that was never measured.
        lower: Whether a lower figure is the better one.
    """

    chance: str | None = None
    untouched: str | float | None = None
    lower: bool = True


ATTACKS: Mapping[tuple[str, str], Yardsticks] = {
    # Nothing was hidden there: each identifier stands where it was written.
    **{
        ("residue", name): Yardsticks(untouched=0.0, lower=False)
        for name in ("alid", "levenshtein_recall", "direct_recall", "quasi_recall")
    },
    ("disclosure", "notes_disclosed"): Yardsticks(untouched="notes_disclosed_raw"),
    ("disclosure", "patients_disclosed"): Yardsticks(untouched="patients_disclosed_raw"),
    ("disclosure", "patient_disclosed_at_site"): Yardsticks(),
    ("linkage", "first"): Yardsticks("chance", "first_raw"),
    ("linkage", "top_ten"): Yardsticks("chance_top_ten", "top_ten_raw"),
    ("attacker", "right"): Yardsticks("chance", "right_raw"),
    ("attacker", "right_by_linkage"): Yardsticks("chance"),
    ("attacker", "unanswered"): Yardsticks(),
    ("indirect", "notes_by_model"): Yardsticks(),
    ("indirect", "unanswered"): Yardsticks(),
    ("plain sight", "told_apart"): Yardsticks("told_apart_chance"),
}
"""Family and measure of an attack -> its yardsticks, which stand beside its figure and in no row of their own."""
