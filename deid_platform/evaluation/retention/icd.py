"""Diagnosis codes predicted from a note and from its release: JSC and NSDCG.

Belongs here: what a predictor of codes is, one by terms, one around a classifier, and the two metrics. Does not belong
here: whether such metrics measure what is lost (`judge_validation.py` correlates them with the truth; Aghakasiri 2025,
table 4, find -0.51 to 0.43 for JSC).

Both are of Pissarra 2024 (arXiv 2406.00062), whose predictor is a BioBERT for ICD-10. That paper was not at hand; what
Aghakasiri 2025 (2.3, 6.2.1) say of it is that JSC is the Jaccard index of the predicted sets of codes, and that NSDCG
compares the rankings by scores and not the sets. The rest was decided here, and no figure compares with theirs:

- A note for which neither text gives a code has no JSC: it would be 0/0, and calling it 1 lets a predictor that
  predicts nothing look perfect. Such notes are counted.
- NSDCG takes the softmax of the scores of the original as the gain of each code, discounts it by log2(1 + rank) in the
  ranking of the release, and divides by the same sum in the ranking of the original: 1 for equal rankings.
- Codes with equal scores share the mean discount of their ranks; an order by name would be an accident.
- Only codes that either text gives a score are ranked: among the tens of thousands of others the gain would drown.

The coder by terms finds titles and inclusion terms of ICD-10-CM in the text, gives their category (three characters),
and skips what is denied just before. It is no substitute for a trained one; `Classifier` takes any sequence classifier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Protocol

import numpy as np
import regex
from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention.lexical_shapes import words_of_class
from deid_platform.evaluation.retention.retention import mean_interval
from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Ratio
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold, fold_term

Scores = Mapping[str, float]
"""Codes with a score above 0, the higher the likelier."""
_ASIDE = regex.compile(r"\s*[\(\[][^)\]]*[\)\]]")
_QUALIFIED = regex.compile(
    r"^(?:other|unspecified|essential|primary|other specified) |,? (?:unspecified|nos|nec|without complications?"
    r"|not elsewhere classified|unspecified (?:organism|site))$|, (?:unspecified|initial encounter|site) .*$"
)
_CHAPTERS = frozenset("ABCDEFGHIJKLMNOPQRST")
_SHORTEST = 4
_DENIED = 24  # code points before a term in which "no", "denies" or "without" denies it
_CATEGORY = 3


class CodePredictor(Protocol):
    """Predicts codes."""

    @property
    def digest(self) -> str:
        """`sha256:` and the digest of whatever decides its scores."""
        ...

    def scores(self, texts: Sequence[str]) -> Sequence[Scores]:
        """Scores of codes, a text each; those above `threshold` are predicted."""
        ...

    @property
    def threshold(self) -> float:
        """From which score on a code counts as predicted."""
        ...


class TermCoder:
    """A predictor by terms: a code's score is log2(1 + how often its terms are said and not denied).

    Args:
        terms: Folded terms with their code; those of ICD-10-CM unless given.
    """

    threshold = 1.0

    def __init__(self, terms: Mapping[str, str] | None = None) -> None:
        self._terms = dict(sorted((icd10cm_terms() if terms is None else terms).items()))

    @property
    def digest(self) -> str:
        """Of its terms and codes."""
        rows = "\n".join(f"{term}\t{code}" for term, code in self._terms.items())
        return f"sha256:{sha256(rows.encode()).hexdigest()}"

    def scores(self, texts: Sequence[str]) -> list[Scores]:
        """Scores of codes, a text each."""
        folded = [fold(text).text for text in texts]
        terms = self._possible(folded)
        automaton = AhoCorasick(
            list(terms), implementation=Implementation.ContiguousNFA, matchkind=MatchKind.LeftmostLongest
        )
        return [self._of(text, automaton, list(terms.values())) for text in folded]

    def _possible(self, texts: Sequence[str]) -> Mapping[str, str]:
        """Terms that may stand in any of the texts: an automaton of all takes longer to build than texts to search."""
        words = {word for text in texts for word in text.split()}
        begins = {word[:end] for word in words for end in range(1, len(word) + 1)}
        ends = {word[start:] for word in words for start in range(len(word))}

        def may_stand(term: str) -> bool:
            first, *between = term.split()
            return not between or (first in ends and between[-1] in begins and words.issuperset(between[:-1]))

        return {term: code for term, code in self._terms.items() if may_stand(term)}

    def _of(self, text: str, automaton: AhoCorasick, codes: Sequence[str]) -> Scores:
        found: Counter[str] = Counter()
        for index, start, end in automaton.find_matches_as_indexes(text):
            whole = not text[max(0, start - 1) : start].isalnum() and not text[end : end + 1].isalnum()
            before = regex.split(r"[.;:\n]", text[max(0, start - _DENIED) : start])[-1].split()
            if whole and words_of_class("negation").isdisjoint(before):
                found[codes[index]] += 1
        return {code: float(np.log2(1 + count)) for code, count in found.items()}


class Classifier:
    """A predictor around any sequence classifier.

    Args:
        probabilities: For texts, a row of probabilities each, a column a code.
        codes: The columns' codes.
        digest: `sha256:` and the digest of the model's weights.
        threshold: From which probability on a code counts as predicted.

    Raises:
        DeidError: `input-invalid` without a digest.
    """

    def __init__(
        self,
        probabilities: Callable[[Sequence[str]], Sequence[Sequence[float]]],
        codes: Sequence[str],
        digest: str,
        *,
        threshold: float = 0.5,
    ) -> None:
        if not regex.fullmatch(r"sha256:[0-9a-f]{64}", digest):
            raise DeidError(Code.INPUT_INVALID, "a classifier without the digest of its model")
        self._probabilities = probabilities
        self._codes = tuple(codes)
        self.digest = digest
        self.threshold = threshold

    def scores(self, texts: Sequence[str]) -> list[Scores]:
        """Scores of all its codes, a text each."""
        return [dict(zip(self._codes, row, strict=True)) for row in self._probabilities(texts)]


@dataclass(frozen=True, slots=True)
class NoteCodes:
    """Codes of one note before and after.

    Attributes:
        before: How many the original predicts.
        after: How many the release predicts.
        both: How many both do.
        jsc: Jaccard index of the two sets; None where both are empty.
        nsdcg: Agreement of the two rankings, from 0 to 1; None where the original gives no score.
    """

    before: int
    after: int
    both: int
    jsc: float | None
    nsdcg: float | None


def note_codes(pairs: Sequence[tuple[str, str]], predictor: CodePredictor) -> list[NoteCodes]:
    """JSC and NSDCG of notes: original and release of each."""
    found = [predictor.scores([pair[side] for pair in pairs]) for side in (0, 1)]
    result = []
    for one, other in zip(*found, strict=True):
        before, after = ({c for c, s in side.items() if s >= predictor.threshold} for side in (one, other))
        both = before & after
        result.append(NoteCodes(len(before), len(after), len(both), jaccard(before, after), nsdcg(one, other)))
    return result


def code_agreement(
    codes: Sequence[NoteCodes], patients: Sequence[str | None], *, resamples: int = RESAMPLES
) -> dict[str, Ratio]:
    """The means `jsc` and `nsdcg` over notes, with their intervals over patients; a note without a code is left out.

    Args:
        codes: Of each note.
        patients: Whose each note is.
        resamples: Bootstrap resamples.
    """
    found = {}
    for measure in ("jsc", "nsdcg"):
        both = [(getattr(code, measure), whose) for code, whose in zip(codes, patients, strict=True)]
        values = np.array([value for value, _ in both if value is not None], dtype=np.float64)
        low, high = mean_interval(values, [whose for value, whose in both if value is not None], resamples)
        found[measure] = Ratio(float(values.mean()) if len(values) else None, low, high, len(values))
    return found


def jaccard(one: set[str], other: set[str]) -> float | None:
    """Codes in both sets, of those in either; None where there are none."""
    return len(one & other) / len(one | other) if one or other else None


def nsdcg(original: Scores, released: Scores) -> float | None:
    """Agreement of the ranking of the release with that of the original; None where the original has no score."""
    codes = sorted({code for side in (original, released) for code, score in side.items() if score > 0})
    if not any(score > 0 for score in original.values()):
        return None
    one, other = (np.array([side.get(code, 0.0) for code in codes]) for side in (original, released))
    gain = np.exp(one - one.max())
    gain /= gain.sum()
    return float((gain * _discounts(other)).sum() / (gain * _discounts(one)).sum())


def _discounts(scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """1 / log2(1 + rank) by falling score; equal scores share the mean of theirs."""
    _, group, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    every = 1 / np.log2(np.arange(2, len(scores) + 2))
    ends = np.cumsum(counts)
    means = np.add.reduceat(every, np.concatenate(([0], ends[:-1]))) / counts
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = means[group]
    return found


@cache
def icd10cm_terms() -> Mapping[str, str]:
    """Folded terms of ICD-10-CM with their category: titles and inclusion terms, whole and without qualifiers.

    Where several categories have a term, the first in the order of the codes has it. Single words of common English
    are no terms. Reading the package takes seconds.
    """
    import simple_icd_10_cm as icd

    terms: dict[str, str] = {}
    for code in icd.get_all_codes():
        if code[:1] not in _CHAPTERS or not code[1:2].isdigit() or "-" in code:
            continue
        for written in (icd.get_description(code), *icd.get_inclusion_term(code)):
            for term in _forms(written):
                terms.setdefault(term, code[:_CATEGORY])
    return terms


def _forms(written: str) -> set[str]:
    forms = {fold_term(written), fold_term(_ASIDE.sub("", written))}
    for form in list(forms):
        before = ""
        while form != before:
            before, form = form, _QUALIFIED.sub("", form).strip()
        forms.add(form)
    ordinary = (word_list("common_words"), word_list("ordinary_words"))
    return {f for f in forms if len(f) >= _SHORTEST and (" " in f or not any(f in words for words in ordinary))}
