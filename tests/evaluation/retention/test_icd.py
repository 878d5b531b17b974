"""Diagnosis codes before and after."""

from __future__ import annotations

from math import exp, log2

import pytest

from deid_platform.errors import DeidError
from deid_platform.evaluation.retention.icd import Classifier, TermCoder, icd10cm_terms, jaccard, note_codes, nsdcg

CODER = TermCoder({"hypertension": "I10", "atrial fibrillation": "I48", "pneumonia": "J18"})


def test_an_example_by_hand() -> None:
    original = "Hypertension. Atrial fibrillation, hypertension at goal. No pneumonia."
    released = "Hypertension. [NAME], hypertension at goal. Pneumonia."
    found = note_codes([(original, released)], CODER)[0]
    # I10 and I48 before, I10 and J18 after: one of three.
    assert (found.before, found.after, found.both) == (2, 2, 1)
    assert found.jsc == pytest.approx(1 / 3)
    # Scores before: I10 log2(3), I48 1, J18 0; after: I10 log2(3), J18 1, I48 0.
    gains = [exp(log2(3)), exp(1), exp(0)]
    discounts = [1, 1 / log2(3), 1 / 2]
    best = sum(g * d for g, d in zip(gains, discounts, strict=True))
    got = gains[0] * discounts[0] + gains[1] * discounts[2] + gains[2] * discounts[1]
    assert found.nsdcg == pytest.approx(got / best)


def test_equal_rankings_are_one_and_scores_may_differ() -> None:
    assert nsdcg({"A": 3, "B": 2, "C": 1}, {"A": 0.9, "B": 0.5, "C": 0.1}) == pytest.approx(1)


def test_equal_scores_share_their_ranks() -> None:
    turned = nsdcg({"A": 2, "B": 1}, {"A": 1, "B": 1})
    mean = (1 + 1 / log2(3)) / 2
    assert turned == pytest.approx(mean * (exp(2) + exp(1)) / (exp(2) + exp(1) / log2(3)))


def test_a_release_without_codes_keeps_no_ranking() -> None:
    assert nsdcg({"A": 2, "B": 1}, {}) == nsdcg({"A": 2, "B": 1}, {"A": 0, "B": 0})
    assert nsdcg({}, {"A": 1}) is None


def test_no_codes_at_all_are_no_figure() -> None:
    assert jaccard(set(), set()) is None
    assert jaccard({"A"}, set()) == 0
    found = note_codes([("Well today.", "Well today.")], CODER)[0]
    assert (found.jsc, found.nsdcg) == (None, None)


def test_denied_and_partial_terms_are_not_coded() -> None:
    found = CODER.scores(["Denies pneumonia. Prehypertension. Pneumonia denied? pneumonia"])[0]
    assert found == {"J18": pytest.approx(log2(3))}


def test_a_classifier_by_its_probabilities() -> None:
    digest = "sha256:" + "0123456789abcdef" * 4
    model = Classifier(
        lambda texts: [[0.9, 0.2] if "fever" in t else [0.1, 0.8] for t in texts], ["R50", "Z00"], digest
    )
    found = note_codes([("fever", "fever"), ("fever", "[NAME]")], model)
    assert [it.jsc for it in found] == [1, 0]
    assert found[0].nsdcg == 1 and found[1].nsdcg is not None and found[1].nsdcg < 1
    with pytest.raises(DeidError):
        Classifier(lambda texts: [], [], "random")


def test_a_coder_says_what_it_is_made_of() -> None:
    assert CODER.digest == TermCoder({"pneumonia": "J18", "hypertension": "I10", "atrial fibrillation": "I48"}).digest
    assert CODER.digest != TermCoder({"pneumonia": "J18"}).digest


@pytest.mark.slow
def test_terms_of_icd_10_cm() -> None:
    terms = icd10cm_terms()
    wanted = {
        "hypertension": "I10",
        "atrial fibrillation": "I48",
        "type 2 diabetes mellitus": "E11",
        "seizure disorder": "G40",
        "low back pain": "M54",
    }
    assert {term: terms.get(term) for term in wanted} == wanted
    assert "fall" not in terms and "pain" not in terms


def test_beside_other_texts_a_text_has_the_same_codes() -> None:
    texts = ["Atrial fibrillation, no pneumonia.", "xatrial fibrillationx and hypertension", "atrial\nfibrillation", ""]
    alone = [CODER.scores([text])[0] for text in texts]
    assert CODER.scores(texts) == alone
    assert [sorted(it) for it in alone] == [["I48"], ["I10"], ["I48"], []]
    assert TermCoder({"atrial fibrillation": "I48"}).scores(["seen today"]) == [{}]
