"""Recall of names by whose they are and what they are like: sex, popularity, decade, and other meanings.

Belongs here: which group a word of a name is of, and the recall of each group. Does not belong here: recall of all
identifiers (`scores.py`), or which names there are (`surrogates/locales/name_sources.py`).

After Zambare 2026, table 9 (recall of names alone, by sex and locale), and Xiao 2023 (arXiv 2305.11348: popularity,
decade of popularity and polysemy of names). Groups are of words, since a patient's given name may be frequent and the
surname rare. By sex stand the names of patients, relatives among them; of clinicians nothing is known.

Popularity and decade are those of the United States, so they are told of names of `en_US` alone: of another country's
names all would be rare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Resampling, column
from deid_platform.evaluation.scores.tokens import touched, word_offsets, words_between
from deid_platform.labels import PERSONS, Label
from deid_platform.lexicon.classes import is_ordinary, is_town
from deid_platform.notes import Span
from deid_platform.surrogates.locales.name_pools import PARTICLES
from deid_platform.surrogates.locales.name_sources import births, census_rank
from deid_platform.surrogates.pools import faker_names
from deid_platform.text.fold import fold_term

ALL = "names"
SEXES = {"F": "names sex F", "M": "names sex M"}
POPULARITY = ("names popular", "names usual", "names rare")
DECADES = ("names last frequent before 1970", "names first frequent since 1970", "names frequent before and since 1970")
MEANINGS = ("names that are words", "names that are no words")
GROUPS = (ALL, *SEXES.values(), *POPULARITY, *DECADES, *MEANINGS)
"""Every group; a word of a name is of several."""
AMERICAN = "en_US"
_FIRST_RANK, _USUAL_RANK = (
    1_000,
    25_000,
)  # of surnames, in the census of the United States


@dataclass(frozen=True, slots=True)
class NameCounts:
    """Words of names in one note.

    Attributes:
        total: Group to its words.
        hidden: Group to those of them that are hidden at least in part, whatever the label.
        cluster: Whose note it is, for resampling.
    """

    total: Mapping[str, int]
    hidden: Mapping[str, int]
    cluster: str | None = field(default=None, repr=False)


def count_names(
    text: str,
    gold: Sequence[Span],
    hidden: Iterable[tuple[int, int]],
    *,
    sex: str = "",
    locale: str = "",
    cluster: str | None = None,
) -> NameCounts:
    """Counts the words of one note's names by group; initials and particles ("de") are in no group.

    Args:
        text: The original text; all offsets are its code points.
        gold: Its identifiers.
        hidden: Places that are hidden.
        sex: The patient's, "F" or "M"; anything else is in no group.
        locale: Whose names they are; popularity and decade are told of `AMERICAN` ones alone.
        cluster: The patient, for resampling.
    """
    words = word_offsets(text)
    found = touched(words, hidden)
    total: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for span in (it for it in gold if it.label in PERSONS):
        for at in range(*words_between(words, span.start, span.end)):
            word = fold_term(text[max(span.start, words[at, 0]) : min(span.end, words[at, 1])])
            if len(word) < 2 or word in PARTICLES:
                continue
            of_sex = SEXES.get(sex) if span.label is Label.PATIENT else None
            groups = [ALL, *([of_sex] if of_sex else []), *groups_of(word, american=locale == AMERICAN)]
            total.update(groups)
            right.update(groups if found[at] else ())
    return NameCounts(total, right, cluster)


@cache
def groups_of(word: str, *, american: bool) -> tuple[str, ...]:
    """The groups of a folded word of a name, but for its bearer's sex.

    - popular: among the thousand surnames or the 700 given names that Faker's pool gives frequencies of;
    - usual: a given name that was among the thousand most frequent of many years, or a surname to rank 25,000;
    - rare: any other;
    - decades: of given names, by the registers of births, but for words that are surnames of the first rank (Smith);
    - words: those of common English and of clinics, and towns.
    """
    meaning = MEANINGS[not (is_ordinary(word) or is_town(word))]
    if not american:
        return (meaning,)
    decade = births().get(word)
    rank = census_rank(word)
    if word in _popular():
        popular = POPULARITY[0]
    elif decade in ("old", "new", "lasting") or (rank is not None and rank <= _USUAL_RANK):
        popular = POPULARITY[1]
    else:
        popular = POPULARITY[2]
    given = rank is None or rank > _FIRST_RANK
    of_decade = dict(zip(("old", "new", "lasting"), DECADES, strict=True)).get(decade or "") if given else None
    return (meaning, popular, *([of_decade] if of_decade else []))


@cache
def _popular() -> frozenset[str]:
    attributes = ("first_names_female", "first_names_male", "last_names")
    return frozenset(fold_term(name) for it in attributes for name in faker_names(AMERICAN, it))


def name_recalls(
    counts: Iterable[NameCounts], *, resamples: int = RESAMPLES, seed: int = 0
) -> Iterator[tuple[str, Estimate]]:
    """The recall of each group that has a word, with a 95% interval over patients."""
    notes = list(counts)
    rows = [[*(it.hidden.get(g, 0) for g in GROUPS), *(it.total.get(g, 0) for g in GROUPS)] for it in notes]
    if not rows:
        return
    share = Resampling(rows, [it.cluster for it in notes], resamples=resamples, seed=seed).share
    for at, group in enumerate(GROUPS):
        estimate = share(column(at), column(len(GROUPS) + at))
        if estimate.total:
            yield group, estimate
