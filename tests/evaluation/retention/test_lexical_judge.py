"""The judge of chunks by their words."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.retention.judges import Kind
from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
from deid_platform.evaluation.retention.lexical_text import opposites, words
from deid_platform.evaluation.retention.pairs import Split, labelled_pairs

JUDGE = LexicalJudge()

CHANGED = [
    ("dose", "Start ramipril 5 mg at night.", "Start ramipril [ID] at night.", "amount"),
    ("another dose", "Start ramipril 5 mg at night.", "Start ramipril 50 mg at night.", "amount"),
    ("unit", "Insulin 10 units now.", "Insulin 10 ml now.", "amount"),
    ("dose within a date", "Took 20 mg of prednisone on 4/5.", "Took [DATE].", "amount"),
    ("negation", "There is no pleural effusion.", "There is pleural effusion.", "negation"),
    ("side", "Pain in the left ankle.", "Pain in the right ankle.", "laterality"),
    ("diagnosis", "Treated for endocarditis.", "Treated for [NAME].", "term"),
    ("drug with a capital", "Takes Xarelto for it.", "Takes [PERSON] for it.", "term"),
    ("eponym", "A positive Kernig sign today.", "A positive [NAME] sign today.", "term"),
    ("year of birth", "DOB 3/4/1950, seen alone.", "DOB [DATE], seen alone.", "birth_year"),
    ("age", "A 44 year old woman.", "A [AGE] year old woman.", "amount"),
    ("added finding", "Lungs are clear.", "Lungs are clear with wheezing.", "term"),
    ("Italian negation", "Non febbre da ieri.", "Febbre da ieri.", "negation"),
    ("Spanish side", "Edema en pierna izquierda.", "Edema en pierna derecha.", "laterality"),
]
UNCHANGED = [
    ("name", "Mr. Ortega has a cough.", "[NAME] has a cough."),
    ("name that is a word of clinics", "Mrs. Pain has no pain.", "Mrs. [NAME] has no pain."),
    ("surrogate that is a drug", "Elena Brandt has a cough.", "Allegra Brandt has a cough."),
    ("date", "Echo on 3/4/2011 was normal.", "Echo on [DATE] was normal."),
    ("shifted date", "Echo on 3/4/2011 was normal.", "Echo on 5/6/2012 was normal."),
    ("telephone", "Call (555) 010-0199 if worse.", "Call [PHONE] if worse."),
    ("number of a record", "MRN 445566 had a fever.", "MRN [ID] had a fever."),
    ("day and month of birth", "DOB 3 May 1950, seen alone.", "DOB [DATE] 1950, seen alone."),
    ("age over 89", "A 95 year old woman.", "A 90+ year old woman."),
    ("same amount in another unit", "Amoxicillin 1 g given.", "Amoxicillin 1,000 mg given."),
    ("synonym", "Known hypertension, stable.", "Known HTN, stable."),
    ("punctuation", "Heart regular, lungs clear.", "Heart regular; lungs clear"),
    ("noise of OCR", "No evidence of metastasis.", "No ev1dence of rnetastasis."),
]


@pytest.mark.parametrize("original, released, reason", [c[1:] for c in CHANGED], ids=[c[0] for c in CHANGED])
def test_what_is_lost_or_altered(original: str, released: str, reason: str) -> None:
    found = JUDGE.judge([(original, released)])[0]
    assert found.changed and reason in found.reasons


@pytest.mark.parametrize("original, released", [c[1:] for c in UNCHANGED], ids=[c[0] for c in UNCHANGED])
def test_what_is_no_clinical_change(original: str, released: str) -> None:
    assert JUDGE.judge([(original, released)])[0].changed is False


def test_it_is_no_chat_model() -> None:
    assert JUDGE.identity.kind is Kind.LEXICAL
    assert JUDGE.identity.metric == "lexical retention"
    assert JUDGE.identity == LexicalJudge().identity


def test_it_agrees_with_its_own_development_pairs() -> None:
    """A floor under what it was tuned on; how good it is on other pairs is printed by `judge_validation`."""
    pairs = labelled_pairs(Split.DEVELOP)
    right = sum(v.changed is p.changed for p, v in zip(pairs, JUDGE.judge([p.texts for p in pairs]), strict=True))
    assert right >= 0.95 * len(pairs)


def test_reasons_and_words_show_nothing_of_a_note() -> None:
    found = JUDGE.judge([("Start ramipril 5 mg.", "Start [NAME].")])[0]
    assert set(found.reasons) <= {"term", "amount"}
    assert "ramipril" not in repr(words("ramipril"))


def test_words_with_units_and_shapes() -> None:
    found = words("1,000 mg on 3/4/2011, BP 142/88, q4h")
    assert [word.form for word in found] == ["1000 mg", "on", "3", "4", "2011", "bp", "142", "88", "every 4 h"]
    assert [word.shape for word in found] == ["", "", "date", "date", "date", "", "", "", ""]


@pytest.mark.parametrize(
    "one, other, opposite", [("able", "unable", True), ("in", "out", True), ("able", "table", False)]
)
def test_opposites(one: str, other: str, opposite: bool) -> None:
    assert opposites(one, other) is opposites(other, one) is opposite
