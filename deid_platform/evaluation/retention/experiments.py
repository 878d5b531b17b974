"""What the choices of retention change: chunks or sentences, one alignment or another, under noise.

Belongs here: these comparisons on notes whose losses were planted, so that the truth is known token by token. Does not
belong here: the alignments (`alignment.py`), or a judge's quality on labelled pairs (`judge_validation.py`).

Aghakasiri 2025, appendix J, compares 20-token chunks with sentences on 100 samples of each (accuracy 0.983 against
0.980, precision 0.547 against 0.543, recall 0.630 for both) and says that OCR leaves few whole sentences. The second
check that a review of the paper asks for is another alignment than Needleman-Wunsch on noisy text: how often it puts
tokens beside the wrong ones, and what the judge then makes of it. A unit (chunk or sentence) is truly changed if a
planted loss touches it. A masked date of birth is one, since the paper's judge calls a lost year of birth a change.

Table 4 correlates each metric of retention with the truth, note by note: Pearson and Spearman.

    python -m deid_platform.evaluation.retention.experiments
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from deid_platform.corpora.gold import Gold
from deid_platform.corpora.noise import NoiseSpec, noisy
from deid_platform.evaluation.retention.alignment import Chunk, chunks_of, fuzzy_chunks_of, places, sentences_of, tokens
from deid_platform.evaluation.retention.judge_validation import Quality, correlation, quality
from deid_platform.evaluation.retention.judges import Judge, Verdict
from deid_platform.evaluation.retention.retention import Pair, note_retentions
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.births import near_birth

Cut = Callable[[str, str], Sequence[Chunk]]
CUTS: dict[str, Cut] = {
    "chunks, Needleman-Wunsch": chunks_of,
    "sentences, Needleman-Wunsch": sentences_of,
    "chunks, fuzzy": fuzzy_chunks_of,
}


@dataclass(frozen=True, slots=True, repr=False)
class Planted:
    """A note with a release of which it is known what it lost.

    Attributes:
        original: The note's text.
        released: Its release.
        lost: For each token of the original, whether a loss touches it.
        partners: For each token of the original, the index of the same token in the release; None if it was replaced.
    """

    original: str
    released: str
    lost: tuple[bool, ...]
    partners: tuple[int | None, ...]

    def __repr__(self) -> str:
        return "<Planted>"


def plant(text: str, hidden: Sequence[tuple[int, int, str]], lost: Sequence[tuple[int, int]]) -> Planted:
    """A release in which stretches are replaced.

    Args:
        text: The note's.
        hidden: Start, end and what stands there instead, in order and apart.
        lost: Those of these stretches that are clinical.
    """
    parts: list[str] = []
    moved: list[tuple[int, int]] = []  # start of a stretch that stays, and where it begins in the release
    at = length = 0
    for start, end, tag in (*hidden, (len(text), len(text), "")):
        moved.append((at, length))
        parts += [text[at:start], tag]
        length += start - at + len(tag)
        at = end
    released = "".join(parts)
    spans = places(text)
    starts = [start for start, _ in places(released)]
    partners: list[int | None] = []
    for a, b in spans:
        if any(start < b and a < end for start, end, _ in hidden):
            partners.append(None)
            continue
        old, new = moved[bisect_left(moved, (a + 1, 0)) - 1]
        place = bisect_left(starts, new + a - old)
        partners.append(place if starts[place : place + 1] == [new + a - old] else None)
    touched = tuple(any(start < b and a < end for start, end in lost) for a, b in spans)
    return Planted(text, released, touched, tuple(partners))


def with_noise(note: Planted, share: float, seed: int = 0) -> Planted:
    """The same with noise of character recognition on a share of the release's tokens."""
    spans = tuple(Span(start, end, Label.IDNUM) for start, end in places(note.released))
    gold = Gold("note", spans, note=Note("note", note.released))
    made = noisy(gold, NoiseSpec(identifiers=share, seed=seed)).gold
    text = made.note.text if made.note else ""
    starts = [start for start, _ in places(text)]
    # A token that was split keeps its first part; one that was joined to another is part of that.
    index = [max(0, bisect_left(starts, span.start + 1) - 1) for span in made.spans]
    return replace(note, released=text, partners=tuple(None if p is None else index[p] for p in note.partners))


def misaligned(note: Planted, cut: Cut) -> tuple[int, int]:
    """How many of the tokens that stay are in a chunk whose other side lacks them, and how many stay."""
    wrong = total = 0
    for chunk in cut(note.original, note.released):
        first, other = chunk.at
        last = other + len(tokens(chunk.released))
        for partner in note.partners[first : first + len(tokens(chunk.original))]:
            if partner is not None:
                total += 1
                wrong += not other <= partner < last
    return wrong, total


def judged(notes: Sequence[Planted], judge: Judge, cut: Cut) -> Quality:
    """A judge against the planted truth, a unit at a time; identical units are not shown to it."""
    labels: list[bool] = []
    found: list[Chunk] = []
    for note in notes:
        for chunk in cut(note.original, note.released):
            labels.append(_is_lost(note, chunk))
            found.append(chunk)
    asked = [chunk for chunk in found if not chunk.is_identical]
    answers: Iterator[Verdict] = iter(judge.judge([(chunk.original, chunk.released) for chunk in asked]))
    return quality(labels, [Verdict(False) if chunk.is_identical else next(answers) for chunk in found])


def unchanged(note: Planted, cut: Cut = chunks_of) -> float | None:
    """The truth of a note: the share of its units that no planted loss touches; None of an empty note."""
    labels = [_is_lost(note, chunk) for chunk in cut(note.original, note.released)]
    return 1 - sum(labels) / len(labels) if labels else None


def _is_lost(note: Planted, chunk: Chunk) -> bool:
    first = chunk.at[0]
    return any(note.lost[first : first + len(tokens(chunk.original))])


def planted_hospital(notes: int, seed: int = 17) -> list[Planted]:
    """Notes of the hospital with their identifiers hidden, and with them a share of their clinical terms.

    The share is drawn for each note, from none to half, so that notes differ in what they lost.
    """
    from deid_platform.corpora.hospital.deliveries import generate
    from deid_platform.corpora.hospital.spec import HospitalSpec, Part

    delivery = next(iter(generate(HospitalSpec(notes=2 * notes, part=Part.SHOWN))))
    dice = Random(seed)  # noqa: S311 - an experiment's
    found = []
    for note in delivery.notes[:notes]:
        share = dice.uniform(0, 0.5)
        lost = [place for place in delivery.clinical[note.note_id] if dice.random() < share]
        names = [s for s in delivery.gold[note.note_id] if s.label not in (Label.AGE, Label.PROFESSION)]
        hidden = [(s.start, s.end, f"[{s.label.value}]") for s in names] + [(a, b, "[PATIENT]") for a, b in lost]
        lost += [(s.start, s.end) for s in names if s.label is Label.DATE and near_birth(note.text, s.start)]
        found.append(plant(note.text, sorted(hidden), lost))
    return found


def main(notes: int = 150) -> None:
    """Prints the comparisons, and how metrics of retention go with the truth."""
    from deid_platform.evaluation.retention.icd import TermCoder, note_codes
    from deid_platform.evaluation.retention.lexical_judge import LexicalJudge

    planted, judge = planted_hospital(notes), LexicalJudge()
    print(f"{judge.identity.model}: {notes} notes of the hospital")  # noqa: T201
    for share in (0.0, 0.1, 0.3):
        made = [with_noise(note, share) if share else note for note in planted]
        for name, cut in CUTS.items():
            errors = [misaligned(note, cut) for note in made]
            wrong, total = (sum(side) for side in zip(*errors, strict=True))
            it = judged(made, judge, cut)
            values = (it.accuracy.value, it.precision.value, it.recall.value)
            shares = " ".join("-" if value is None else f"{value:.3f}" for value in values)
            print(f"noise {share:.1f}  {name:28} misaligned {wrong / total:.4f}  A P R {shares}")  # noqa: T201
    truth = [unchanged(note) for note in planted]
    codes = note_codes([(note.original, note.released) for note in planted], TermCoder())
    retained = note_retentions([Pair(note.original, note.released) for note in planted], judge)
    metrics = {
        judge.identity.metric: [note.value for note in retained],
        "JSC": [note.jsc for note in codes],
        "NSDCG": [note.nsdcg for note in codes],
    }
    for name, of_notes in metrics.items():
        found = correlation(of_notes, truth)
        pair = " ".join("-" if value is None else f"{value:.2f}" for value in (found.pearson, found.spearman))
        print(f"{name:28} Pearson and Spearman with the truth {pair}, {found.notes} notes")  # noqa: T201


if __name__ == "__main__":
    main()
