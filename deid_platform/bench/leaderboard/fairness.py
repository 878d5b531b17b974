"""Whether the detector serves every name alike: its scores by locale, and of names by sex, over the same carriers.

Belongs here: bringing together what the scores of surrogate corpora sealed. Does not belong here: those scores
(`corpus_scores.py`) or their formulas (`evaluation/scores/scores.py`).

After Zambare 2026, experiment 2: the carriers are the same in every locale, so what differs is whose names they hold.
Sex is told by names alone, as in its table 9: recall of the words of patients' names, not of all identifiers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from deid_platform.bench.leaderboard.corpora import CorpusKey
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.bootstrap import Estimate, Resampling, column
from deid_platform.evaluation.scores.scores import NoteCounts, Scores, summarise
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site

REFERENCE = "en_US"


@dataclass(frozen=True)
class Fairness:
    """Scores on the text alone, by whose names the notes hold.

    Attributes:
        corpora: The corpora that every locale has been scored on.
        by_locale: Locale -> its scores, of all identifiers.
        by_sex: "F" and "M" -> recall of words of patients' names.
        by_both: Locale and sex, likewise.
    """

    corpora: tuple[str, ...]
    by_locale: Mapping[str, Scores]
    by_sex: Mapping[str, Estimate]
    by_both: Mapping[tuple[str, str], Estimate]

    @property
    def locale_gap(self) -> float | None:
        """By how much the recall of the worst locale lies below that of en_US; None without en_US."""
        reference = self.by_locale.get(REFERENCE)
        if reference is None or reference.recall.value is None:
            return None
        return max(reference.recall.value - (it.recall.value or 0) for it in self.by_locale.values())

    @property
    def sex_gap(self) -> float | None:
        """How far apart the recalls of the two sexes' names are; None with one of them."""
        found = [it.value for it in self.by_sex.values() if it.value is not None]
        return abs(found[0] - found[1]) if len(found) == 2 else None


def fairness(site: Site) -> Fairness:
    """Compares the locales on the corpora that all of them have been scored on by the detector in force.

    Raises:
        DeidError: `input-empty` if no corpus has been scored in every locale that has any score.
    """
    digest = site.spec(None).detector_digest
    scored: dict[str, set[str]] = defaultdict(set)
    for partition in site.store.partitions(tables.CORPUS_COUNTS):
        manifest = site.store.manifest(tables.CORPUS_COUNTS, partition)
        # Earlier versions sealed no words of names.
        if manifest is not None and manifest.meta.get("detector_digest") == digest and "names" in manifest.meta:
            corpus, _, locale = partition.partition(".")
            scored[locale].add(corpus)
    shared = sorted(set.intersection(*scored.values())) if scored else []
    if not shared:
        raise DeidError(Code.INPUT_EMPTY, tables.CORPUS_COUNTS)
    counts: dict[str, list[NoteCounts]] = defaultdict(list)
    names: dict[tuple[str, str], list[tuple[tuple[int, int], str]]] = defaultdict(list)
    for locale in sorted(scored):
        for corpus in shared:
            key = CorpusKey(corpus, locale)
            for row in site.store.stream(tables.CORPUS_COUNTS, key.partition):
                if row["inputs"] == "text":
                    of_patient = f"{key.partition}/{row['patient_id']}"
                    one = NoteCounts(**{name: row[name] for name in tables.COUNTS}, cluster=of_patient)
                    counts[locale].append(one)
                    words, right = (row[name] for name in tables.NAME_COUNTS)
                    names[locale, row["sex"]].append(((right, words), of_patient))
    resamples = site.settings.bench.resamples

    def recall(some: list[tuple[tuple[int, int], str]]) -> Estimate:
        resampled = Resampling([row for row, _ in some], [whose for _, whose in some], resamples=resamples)
        return resampled.share(column(0), column(1))

    by_sex: dict[str, list[tuple[tuple[int, int], str]]] = defaultdict(list)
    for (_, sex), some in names.items():
        by_sex[sex] += some
    return Fairness(
        tuple(shared),
        {name: summarise(some, resamples=resamples) for name, some in sorted(counts.items())},
        {sex: recall(some) for sex, some in sorted(by_sex.items())},
        {group: recall(some) for group, some in sorted(names.items())},
    )
