"""Shares of chunks without a clinical change."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from deid_platform.errors import DeidError
from deid_platform.evaluation.retention.judges import ChunkPair, Identity, Kind, PairClassifier, Verdict
from deid_platform.evaluation.retention.retention import NoteRetention, Pair, note_retentions, retention

DIGEST = "sha256:" + "0123456789abcdef" * 4
CHAT = Identity(Kind.CHAT, "toy", DIGEST)


class Looks:
    """Says changed where the released text holds one word, and nothing where it holds another."""

    identity = CHAT

    def __init__(self) -> None:
        self.seen: list[ChunkPair] = []

    def judge(self, pairs: Sequence[ChunkPair]) -> list[Verdict]:
        self.seen += pairs
        return [
            Verdict(None if "silent" in released else "[DOSE]" in released, ("dose",) * ("[DOSE]" in released))
            for _, released in pairs
        ]


def _words(n: int, **other: str) -> str:
    return " ".join(other.get(f"w{i}", f"w{i}") for i in range(n))


def test_an_example_by_hand() -> None:
    # 60 tokens are three chunks: a name in the first, a dose in the second, nothing in the third: 1 - 1/3.
    judge = Looks()
    notes = [
        Pair(_words(60), _words(60, w3="[NAME]", w25="[DOSE]")),
        Pair(_words(20), _words(20)),  # 1
        Pair(_words(40), _words(40, w0="[DOSE]", w30="silent")),  # 0, since no answer counts as changed
    ]
    counts = note_retentions(notes, judge)
    assert [(n.chunks, n.identical, n.changed, n.unanswered) for n in counts] == [
        (3, 1, 1, 0),
        (1, 1, 0, 0),
        (2, 0, 2, 1),
    ]
    assert len(judge.seen) == 4  # identical chunks are not shown
    found = retention(counts, judge.identity)
    assert found.metric == "chat retention"
    assert found.mean == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert found.pooled == pytest.approx(1 - 3 / 6)
    assert found.answered == pytest.approx(1 - 2 / 5)
    assert found.reasons == {"dose": 2}
    assert found.low is not None and found.high is not None and found.low < found.mean < found.high


def test_notes_of_one_patient_are_resampled_together() -> None:
    same = [NoteRetention(10, 0, c, 0, cluster=p) for p in ("a", "b") for c in (1, 9)]
    found = retention(same, CHAT)
    assert found.low == found.high == found.mean == 0.5  # either patient has the same mean
    assert retention(same[:2], CHAT).low is None


def test_nothing_to_measure_is_no_figure() -> None:
    found = retention(note_retentions([Pair("", "")], Looks()), CHAT)
    assert (found.notes, found.mean, found.pooled) == (0, None, None)


def test_a_judge_that_answers_nothing_has_measured_nothing() -> None:
    silent = [Pair(_words(40), _words(40, w0="silent")), Pair(_words(20), _words(20))]
    found = retention(note_retentions(silent, Looks()), CHAT)
    assert (found.notes, found.mean, found.low, found.pooled, found.answered) == (0, None, None, None, None)
    assert (found.chunks, found.identical, found.unanswered) == (3, 2, 1)


def test_only_a_chat_model_that_says_yes_or_no_gives_cire() -> None:
    assert {kind: Identity(kind, "m", DIGEST).metric for kind in Kind} == {
        Kind.YES_OR_NO: "CIRE",
        Kind.CHAT: "chat retention",
        Kind.LEXICAL: "lexical retention",
        Kind.PARAPHRASE: "paraphrase retention",
        Kind.ENTAILMENT: "entailment retention",
    }


@pytest.mark.parametrize("model, digest", [("", DIGEST), ("m", ""), ("m", "sha256:12"), ("m", "sha256:" + "0" * 64)])
def test_a_model_without_a_name_or_digest_is_refused(model: str, digest: str) -> None:
    with pytest.raises(DeidError):
        Identity(Kind.PARAPHRASE, model, digest)


def test_a_paraphrase_model_is_asked_once() -> None:
    asked: list[ChunkPair] = []

    def same(pairs: Sequence[ChunkPair]) -> list[float]:
        asked.extend(pairs)
        return [0.9 if a == b else 0.2 for a, b in pairs]

    judge = PairClassifier(same, Identity(Kind.PARAPHRASE, "stub", DIGEST))
    assert [v.changed for v in judge.judge([("a", "a"), ("a", "b")])] == [False, True]
    assert len(asked) == 2
    assert judge.judge([]) == []


def test_an_entailment_model_is_asked_both_ways() -> None:
    def follows(pairs: Sequence[ChunkPair]) -> list[float]:
        return [float(set(b.split()) <= set(a.split())) for a, b in pairs]

    judge = PairClassifier(follows, Identity(Kind.ENTAILMENT, "stub", DIGEST))
    pairs = [("no fever", "no fever"), ("no fever", "fever"), ("fever", "no fever")]
    assert [v.changed for v in judge.judge(pairs)] == [False, True, True]


@pytest.mark.parametrize("answer", [[0.5], [0.5, 1.5], [0.5, 0.5, 0.5]])
def test_answers_that_are_no_probabilities_are_refused(answer: list[float]) -> None:
    judge = PairClassifier(lambda _: answer, Identity(Kind.PARAPHRASE, "stub", DIGEST))
    with pytest.raises(DeidError):
        judge.judge([("a", "a"), ("a", "b")])


def test_no_number_is_no_answer() -> None:
    judge = PairClassifier(lambda pairs: [float("nan")] * len(pairs), Identity(Kind.PARAPHRASE, "stub", DIGEST))
    assert judge.judge([("a", "b")])[0].changed is None


@pytest.mark.parametrize("kind", [Kind.CHAT, Kind.LEXICAL])
def test_a_pair_classifier_is_no_other_judge(kind: Kind) -> None:
    with pytest.raises(DeidError):
        PairClassifier(lambda pairs: [0.0] * len(pairs), Identity(kind, "stub", DIGEST))
