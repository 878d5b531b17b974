"""Deterministic counts by occurrence: what is left of gold's texts in a release, and placeholders beyond gold.

Belongs here: these counts. Does not belong here: scores by offsets (`scores.py`), which need the detector's spans.

After Miranda 2025 (3.3.3, worked example in 4.3), for releases of which only the text is known. Of a category with n
gold entities in a note, those whose text is still found, whole, in the release are false negatives; true positives are
n - FN, and false positives the placeholders of the category beyond n. A text that gold holds k times is left as often
as the release has it, but at most k times. What the measure cannot see: an entity half removed counts as found (its
whole text is gone), a placeholder in the wrong place makes up for one that is missing, and a short text ("58") that
also stands elsewhere counts as left.

The texts are looked for as whole words: the paper does not say, and inside words "Ana" would be left in "Banana".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import regex

from deid_platform.evaluation.panel import Counts
from deid_platform.labels import Label

PLACEHOLDERS: Mapping[Label, str] = {
    Label.PATIENT: r"\[NOME\]",
    Label.AGE: r"\[ETÀ\]",
    Label.LOCATION_OTHER: r"\[LUOGO/INDIRIZZO\]",
    Label.DATE: r"\[DATA\]",
}
"""The paper's four categories and their placeholders (4.3)."""


def count_note(
    released: str, gold: Mapping[Label, Sequence[str]], placeholders: Mapping[Label, str] = PLACEHOLDERS
) -> dict[Label, Counts]:
    """Counts of one note by category.

    Args:
        released: The release.
        gold: The texts of the note's gold entities, repeated ones repeated.
        placeholders: A pattern of the placeholders of each category.

    Raises:
        KeyError: Gold has a category without placeholders.
    """
    unknown = [label for label in gold if label not in placeholders]
    if unknown:
        raise KeyError(unknown[0].value)
    return {label: _of(released, gold.get(label, ()), pattern) for label, pattern in placeholders.items()}


def _of(released: str, texts: Sequence[str], pattern: str) -> Counts:
    left = 0
    rest = released
    # The longest first, and each found once: "Anna Rossi" that is left is no "Rossi" that is left as well.
    for text, times in sorted(Counter(texts).items(), key=lambda it: (-len(it[0]), it[0])):
        found = regex.compile(rf"(?<!\w){regex.escape(text)}(?!\w)")
        rest, here = found.subn("\0", rest, count=times)
        left += here
    return Counts(tp=len(texts) - left, fn=left, fp=max(0, len(regex.findall(pattern, released)) - len(texts)))
