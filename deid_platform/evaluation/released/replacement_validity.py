"""Whether each identifier was replaced as it should be: whole, under its label, by a plausible surrogate.

Belongs here: judging a replacement against its gold. Does not belong here: making surrogates (`surrogates/`), or
whether a reader can tell what was missed among them (`evaluation/disclosure/plain_sight.py`).

After replacement validity in MedDeID (arXiv 2609.10049), which the three parts and these rules stand for here. Fully
covered: all letters and digits are hidden. Right label: the replaced span that hides most of it has its label, which is
what the surrogate was chosen by. Plausible: what stands there now could be read as such a thing, and is not the thing
itself: no tag; not the original, whatever its case and spacing; letters for letters and as many digits as before, dates
that are dates where the original was one, addresses that parse. A replacement is plausible for the span that it
replaces and its label, so a name replaced by a plausible date under the label DATE fails by its label alone.

All three rules are of form. They do not say that a surrogate's sex, nationality or interval fits.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np
import regex

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.bootstrap import RESAMPLES, Estimate, Resampling, column
from deid_platform.evaluation.scores.token_scores import covered
from deid_platform.labels import NAMES_AND_PLACES, PERSONS, Label
from deid_platform.notes import Note, Span
from deid_platform.surrogates.date_shapes import read_date

_TAG = regex.compile(r"[\[<{*_].*[\]>}*_]|X{3,}|redacted", regex.IGNORECASE | regex.DOTALL)
_LETTER = regex.compile(r"\p{L}")
_EMAIL = regex.compile(r"[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+")
_URL = regex.compile(r"(?:\w+://)?[^\s.]+(?:\.[^\s.]+)+")


@dataclass(frozen=True, slots=True)
class ValidityCounts:
    """Gold identifiers of one note.

    Attributes:
        labels: Of each label: how many, fully covered, under the right label, plausibly replaced, all three.
        cluster: Whose note it is, for resampling; None makes it a cluster of its own.
    """

    labels: Mapping[Label, tuple[int, ...]]
    cluster: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Validity:
    """Shares of gold identifiers.

    Attributes:
        covered: All of their letters and digits are hidden.
        labelled: What hides most of it has its label.
        plausible: All that was put in its place is plausible.
        valid: All three.
        labels: `valid` by gold label.
    """

    covered: Estimate
    labelled: Estimate
    plausible: Estimate
    valid: Estimate
    labels: Mapping[Label, Estimate]


def count_validity(
    note: Note, gold: Sequence[Span], applied: Sequence[Span], replacements: Sequence[str]
) -> ValidityCounts:
    """Judge one note.

    Args:
        note: The original; its date and language are how dates in it are read.
        gold: What is an identifier.
        applied: The spans that were replaced, as `Redaction.applied`.
        replacements: What stands in place of each.

    Raises:
        DeidError: `span-bounds` if a span reaches outside the text.
        ValueError: If there are not as many replacements as spans.
    """
    if any(span.end > len(note.text) for span in (*gold, *applied)):
        raise DeidError(Code.SPAN_BOUNDS, "evaluation")
    hidden = covered(len(note.text), applied)
    fits = [
        plausible(span.label, note.text[span.start : span.end], new, note.language, note.note_date)
        for span, new in zip(applied, replacements, strict=True)
    ]
    found: dict[Label, list[int]] = {}
    for span in gold:
        telling = [at for at in range(span.start, span.end) if note.text[at].isalnum()]
        if not telling:
            continue
        over = [at for at, other in enumerate(applied) if other.overlaps(span)]
        most = max(over, key=lambda at: applied[at].shared(span), default=None)
        parts = (
            bool(hidden[telling].all()),
            most is not None and applied[most].label is span.label,
            bool(over) and all(fits[at] for at in over),
        )
        row = found.setdefault(span.label, [0] * 5)
        for at, holds in enumerate((True, *parts, all(parts))):
            row[at] += holds
    return ValidityCounts({label: tuple(row) for label, row in found.items()}, note.patient_id)


def validity(counts: Iterable[ValidityCounts], *, resamples: int = RESAMPLES, seed: int = 0) -> Validity:
    """Shares over many notes, with bootstrap intervals over patients."""
    notes = list(counts)
    labels = [label for label in Label if any(label in note.labels for note in notes)]
    rows = [[number for label in labels for number in note.labels.get(label, (0,) * 5)] for note in notes]
    by_label = np.array(rows, dtype=np.float64).reshape(len(notes), len(labels), 5)
    table = np.concatenate([by_label.sum(axis=1), by_label.reshape(len(notes), 5 * len(labels))], axis=1)
    share = Resampling(table, [note.cluster for note in notes], resamples=resamples, seed=seed).share
    whole, labelled, likely, valid = (share(column(at), column(0)) for at in range(1, 5))
    return Validity(
        whole, labelled, likely, valid,
        {label: share(column(5 * at + 9), column(5 * at + 5)) for at, label in enumerate(labels)},
    )  # fmt: skip


def plausible(label: Label, original: str, new: str, language: str = "en", near: date | None = None) -> bool:
    """Whether something could be read as a thing of that label and is not the original; the module says how.

    Args:
        label: Under which it was replaced.
        original: What stood there.
        new: What stands there now.
        language: The note's.
        near: When the note was written.
    """
    if not new.strip() or _TAG.search(new) or _plain(new) == _plain(original):
        return False
    if label is Label.DATE:
        return not _is_date(original, language, near) or _is_date(new, language, near)
    check = _CHECKS.get(label)
    if check is not None:
        return check(new)
    if label in NAMES_AND_PLACES or label is Label.PROFESSION:
        in_capitals = original.isupper() and len(original) > 1
        return (
            bool(_LETTER.search(new))
            and new.isupper() >= in_capitals
            and not (label in PERSONS and any(map(str.isdigit, new)))
        )
    return _digits(new) == _digits(original)


def _is_ip(new: str) -> bool:
    try:
        ipaddress.ip_address(new.strip())
    except ValueError:
        return False
    return True


_CHECKS: dict[Label, Callable[[str], bool]] = {
    Label.EMAIL: lambda new: bool(_EMAIL.fullmatch(new.strip())),
    Label.URL: lambda new: bool(_URL.fullmatch(new.strip())),
    Label.IPADDR: _is_ip,
    Label.AGE: lambda new: any(map(str.isdigit, new)),
    Label.USERNAME: lambda new: any(map(str.isalnum, new)),
}


def _is_date(written: str, language: str, near: date | None) -> bool:
    try:
        return read_date(written.strip(), language, near) is not None
    except ValueError:
        return False


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
