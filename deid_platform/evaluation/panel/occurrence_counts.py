"""Deterministic counts by occurrence: what is left of gold's texts in a release, and placeholders beyond gold.

Belongs here: these counts. Does not belong here: how a tag is written (`evaluation/released/tags.py`), or scores by
offsets (`evaluation/scores/scores.py`), which need the detector's spans.

After Miranda 2025 (3.3.3, worked example in 4.3), for releases of which only the text is known. Of a category with n
gold entities in a note, those whose text is still found, whole, in the release are false negatives; true positives are
n - FN, and false positives the placeholders of the category beyond n. A text that gold holds k times is left as often
as the release has it, but at most k times. What the measure cannot see: an entity half removed counts as found (its
whole text is gone), a placeholder in the wrong place makes up for one that is missing, and a short text ("58") that
also stands elsewhere counts as left. A release with surrogates has no placeholders, so no false positives either.

The texts are looked for as whole words, whatever their white space: the paper does not say, and inside words "Ana"
would be left in "Banana". The paper's four categories are name, age, place and date; labels of none of them are a
category each, so that a release with any tags can be counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import regex

from deid_platform.evaluation.panel.panel import Counts
from deid_platform.evaluation.released.tags import TAG, label_of_tag
from deid_platform.labels import PERSONS, Label
from deid_platform.notes import Span

_PLACES = (Label.STREET, Label.CITY, Label.STATE, Label.COUNTRY, Label.ZIP, Label.LOCATION_OTHER)
CATEGORIES: Mapping[str, Sequence[Label]] = {
    "name": PERSONS,
    "age": (Label.AGE,),
    "place": _PLACES,
    "date": (Label.DATE,),
}
"""The paper's four categories: NOME, ETÀ, LUOGO/INDIRIZZO, DATA."""
_OF_LABEL = {label: category for category, labels in CATEGORIES.items() for label in labels}


def category_of(label: Label) -> str:
    """The category that a label is counted under."""
    return _OF_LABEL.get(label, label.value)


def count_note(original: str, gold: Sequence[Span], released: str) -> dict[str, Counts]:
    """Counts of one note by category, of those that gold or a tag of the release has.

    Args:
        original: The note's text.
        gold: Its identifiers.
        released: The release.
    """
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for span in gold:
        texts[category_of(span.label)].append(original[span.start : span.end])
    tags = _tags(released) - _tags(original)
    return {
        category: _of(released, texts.get(category, ()), tags[category])
        for category in dict.fromkeys((*CATEGORIES, *texts, *tags))
        if category in texts or category in tags
    }


def left(released: str, texts: Sequence[str]) -> Counter[str]:
    """How often each text is still found in a release, at most as often as it is given.

    The longest is looked for first, and each found once: "Anna Rossi" that is left is no "Rossi" that is left as well.
    """
    remaining = Counter[str]()
    rest = released
    for text, times in sorted(Counter(texts).items(), key=lambda item: (-len(item[0]), item[0])):
        words = text.split()
        if not words:
            continue
        written = r"\s+".join(map(regex.escape, words))
        pattern = regex.compile(rf"(?<!\w){written}(?!\w)")
        rest, remaining[text] = pattern.subn("\0", rest, count=times)
    return remaining


def _tags(text: str) -> Counter[str]:
    labels = map(label_of_tag, TAG.findall(text))
    return Counter(category_of(label) for label in labels if label is not None)


def _of(released: str, texts: Sequence[str], tags: int) -> Counts:
    remaining = left(released, texts).total()
    return Counts(tp=len(texts) - remaining, fn=remaining, fp=max(0, tags - len(texts)))
