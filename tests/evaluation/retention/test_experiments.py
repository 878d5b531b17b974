"""Chunks against sentences, and one alignment against another."""

from __future__ import annotations

from collections.abc import Sequence

from deid_platform.evaluation.retention.alignment import chunks_of, fuzzy_chunks_of, sentences_of
from deid_platform.evaluation.retention.experiments import judged, misaligned, plant, unchanged, with_noise
from deid_platform.evaluation.retention.judge_validation import Quality
from deid_platform.evaluation.retention.judges import ChunkPair, Identity, Kind, Verdict

TEXT = "Mr. Alan Poe was seen. He takes 5 mg of warfarin daily.\nNo fever since then, he says."
NAME, DOSE = (4, 12), (32, 36)
NOTE = plant(TEXT, [(*NAME, "[NAME]"), (*DOSE, "[ID]")], [DOSE])


class SeesTags:
    """Calls whatever has a tag changed."""

    identity = Identity(Kind.CHAT, "toy", "sha256:" + "0123456789abcdef" * 4)

    def judge(self, pairs: Sequence[ChunkPair]) -> list[Verdict]:
        return [Verdict("[" in released) for _, released in pairs]


def test_what_was_planted() -> None:
    assert NOTE.released == "Mr. [NAME] was seen. He takes [ID] of warfarin daily.\nNo fever since then, he says."
    assert [t for t, lost in zip(TEXT.split(), NOTE.lost, strict=True) if lost] == ["5", "mg"]
    pairs = list(zip(TEXT.split(), NOTE.partners, strict=True))
    assert pairs[:5] == [("Mr.", 0), ("Alan", None), ("Poe", None), ("was", 2), ("seen.", 3)]
    assert all(NOTE.released.split()[p] == t for t, p in pairs if p is not None)


def test_a_unit_is_changed_if_a_loss_touches_it() -> None:
    # Sentences: a title, which ends one too; a name (called changed, wrongly); a dose (rightly); nothing.
    assert judged([NOTE], SeesTags(), sentences_of) == Quality(tp=1, tn=2, fp=1, fn=0)
    # One chunk of 18 tokens: the dose.
    assert judged([NOTE], SeesTags(), chunks_of) == Quality(tp=1, tn=0, fp=0, fn=0)


def test_the_truth_of_a_note() -> None:
    assert unchanged(NOTE) == 0
    assert unchanged(NOTE, sentences_of) == 0.75
    assert unchanged(plant("", [], [])) is None


def test_without_noise_needleman_wunsch_misaligns_nothing() -> None:
    assert misaligned(NOTE, chunks_of) == (0, 14)
    assert misaligned(NOTE, sentences_of) == (0, 14)


def test_a_token_beside_another_sentence_is_misaligned() -> None:
    def turned(original: str, released: str) -> list[object]:
        whole = chunks_of(original, released)[0]
        return [type(whole)(whole.original, "Mr.", whole.pairs, (0, 0))]

    assert misaligned(NOTE, turned) == (13, 14)  # type: ignore[arg-type]


def test_noise_keeps_the_partners() -> None:
    note = plant(
        " ".join(f"{word}{i}" for i in range(20) for word in ("metoprolol", "succinate", "forty", "units")), [], []
    )
    noisy = with_noise(note, 0.5)
    assert noisy.released != note.released
    for original, partner in zip(note.original.split(), noisy.partners, strict=True):
        assert partner is not None
        assert len(set(original) & set(noisy.released.split()[partner].lower())) >= len(set(original)) // 3
    wrong, total = misaligned(noisy, fuzzy_chunks_of)
    assert total == 80 and wrong < 20
