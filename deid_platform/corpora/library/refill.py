"""Other people, places, dates and numbers for a note of the library, so that no name of it is learned.

Belongs here: what stands in for each identifier of a training note. Does not belong here: who is meant, and how names,
dates and numbers were written (`surrogates/`, which does the same for a redaction).

A surrogate is written as the identifier was: a room stays a room, an extension an extension, "Smith, J." a surname and
an initial. Where nothing plausible stands in for a written form, and for some institutions and places, which are words
of many kinds that no generator writes, the author's own stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deid_platform.corpora.gold import Gold
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.keyed import Surrogates
from deid_platform.surrogates.locales import LOCALES, Address, Locale, locale
from deid_platform.surrogates.pools import Share
from deid_platform.text.fold import fold_term

_OF_LANGUAGE: Mapping[str, tuple[str, ...]] = {
    "en": ("en_US", "en_GB", "en_AU", "en_CA"),
    "es": ("es_ES",),
    "it": ("it_IT",),
    "fr": ("fr_FR",),
}
_AT_HOME = 0.7
"""The share of notes whose places and institutions are of a country of the note's language."""
_STAYS = 0.2
"""The share of institutions and places that stay the author's own."""
_AS_WRITTEN = 0.4
"""The share of institutions of which only the words that say which one are changed."""


@dataclass(frozen=True)
class _Drawing:
    """What the institutions and places of one note are drawn from."""

    dice: Dice
    locale: Locale
    home: Address
    language: str


_INSTITUTIONS: Mapping[Label, tuple[Callable[[_Drawing], str], ...]] = {
    Label.HOSPITAL: (
        lambda d: d.locale.hospital(d.dice, d.home)[0],
        lambda d: d.locale.hospital(d.dice, d.home)[1],
        lambda d: d.locale.practice(d.dice, d.home),
        lambda d: d.locale.pharmacy(d.dice, d.home),
    ),
    Label.ORGANIZATION: (
        lambda d: d.locale.employer(d.dice, d.home),
        lambda d: d.locale.employer(d.dice, d.home),
        lambda d: d.locale.school(d.dice, d.home),
        lambda d: d.locale.insurer(d.dice, d.home),
    ),
    Label.LOCATION_OTHER: (lambda d: d.locale.landmark(d.dice, d.home),),
    Label.CITY: (lambda d: d.locale.town(d.dice),),
}


def refilled(gold: Gold, seed: int, share: Share = Share.TRAINING) -> tuple[str, tuple[Span, ...]]:
    """A note with other identifiers in the places of its own.

    Args:
        gold: With its text; spans do not overlap.
        seed: The same seed gives the same text.
        share: Of the names of people.

    Returns:
        The text and its spans.
    """
    note = gold.note
    if note is None:
        return "", ()
    spans = sorted(gold.spans)
    secret = hashlib.sha256(f"refill/{seed}/{gold.note_id}".encode()).hexdigest().encode()
    stranger = Note(note.note_id, note.text, note_date=note.note_date, language=note.language)
    drawn = Surrogates(Keyring(secret, site="library"), None, share=share).replace(stranger, spans)
    dice = Dice(seed, "refill", gold.note_id)
    drawing = _drawing(dice, note.language)
    said: dict[tuple[Label, str], str] = {}
    parts: list[str] = []
    made: list[Span] = []
    done = length = 0
    for span, surrogate in zip(spans, drawn, strict=True):
        surface = note.text[span.start : span.end]
        key = (span.label, fold_term(surface))
        if key not in said:
            said[key] = _value(span.label, surface, surrogate, drawing)
        before = note.text[done : span.start]
        start = length + len(before)
        parts += [before, said[key] if span.label not in (Label.PATIENT, Label.DOCTOR) else surrogate or surface]
        length, done = start + len(parts[-1]), span.end
        made.append(Span(start, length, span.label, source="gold"))
    return "".join([*parts, note.text[done:]]), tuple(made)


def _drawing(dice: Dice, language: str) -> _Drawing:
    own = _OF_LANGUAGE.get(language[:2], ())
    chosen = locale(dice.pick(own if own and dice.chance(_AT_HOME) else LOCALES))
    return _Drawing(dice, chosen, chosen.address(dice), language[:2])


def _value(label: Label, surface: str, surrogate: str | None, drawing: _Drawing) -> str:
    dice = drawing.dice
    if label is Label.HOSPITAL and any(c.isdigit() for c in surface):
        return surrogate or surface
    if label is Label.PROFESSION:
        return drawing.locale.profession(dice, drawing.language) if not dice.chance(_STAYS) else surface
    if label not in _INSTITUTIONS:
        return surrogate or surface
    if dice.chance(_STAYS) or drawing.language not in _OF_LANGUAGE:
        return surface
    if surrogate and (dice.chance(_AS_WRITTEN) or " " not in surface):
        return surrogate
    value = dice.pick(_INSTITUTIONS[label])(drawing)
    return value.upper() if surface.isupper() else value.lower() if surface.islower() else value
