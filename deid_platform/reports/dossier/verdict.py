"""Whether a release is fit, why, and with what doubt: what the first lines of a dossier say.

Belongs here: what follows from the facts. Does not belong here: the conclusion that a person signs, who may see it
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from deid_platform.evaluation.sources import MarkedBy, Source
from deid_platform.languages import UNDETERMINED
from deid_platform.reports.dossier.facts import Dossier, Figure, counted
from deid_platform.reports.summary import INPUTS

_NOBODY = (MarkedBy.UNNAMED, MarkedBy.NOT_RECORDED)


class Standing(StrEnum):
    """What the measurements say of a release."""

    SUPPORTED = "supported"
    DOUBTFUL = "doubtful"
    NOT_CONTRADICTED = "not-contradicted"
    """Nothing speaks against it; recall on the notes of all its feeds was not measured."""
    CONTRADICTED = "contradicted"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the measurements say, why, and what they leave open.

    Attributes:
        standing: Contradicted if anything speaks against it; not contradicted where recall on the site's own notes was
            not measured; doubtful if something else is not known or was waived.
        opening: Whether recall on the site's own notes was measured, and what on.
        against: What speaks against it.
        met: The requirements that every delivery met.
        reasons: Where figures are from, in words, and what they say.
        doubts: What is not known or was waived.
    """

    standing: Standing
    opening: tuple[str, ...]
    against: tuple[str, ...]
    met: tuple[str, ...]
    reasons: tuple[tuple[str, tuple[str, ...]], ...]
    doubts: tuple[str, ...]


def verdict(dossier: Dossier) -> Verdict:
    """What follows from the facts."""
    against = tuple(_against(dossier))
    doubts = tuple(_doubts(dossier))
    met = tuple(it.name for it in dossier.requirements if not it.failed and not it.waived)
    return Verdict(
        _standing(dossier, against, doubts), tuple(_opening(dossier)), against, met, _reasons(dossier), doubts
    )


def _standing(dossier: Dossier, against: Sequence[str], doubts: Sequence[str]) -> Standing:
    if against:
        return Standing.CONTRADICTED
    if dossier.unmeasured:
        return Standing.NOT_CONTRADICTED
    return Standing.DOUBTFUL if doubts else Standing.SUPPORTED


def _opening(dossier: Dossier) -> Iterator[str]:
    """What a reader knows before any figure: whether recall is of the site's own notes, and what else it is of."""
    missing = dossier.unmeasured
    if len(missing) == len(dossier.feeds):
        yield "Recall on this site's notes was not measured."
    else:
        for feed in missing:
            yield f"Recall on the notes of this site's feed {feed.name} was not measured."
    for feed in missing:
        if feed.gold and not feed.measured:
            yield f"Gold of feed {feed.name} is of {counted(feed.gold)} notes, fewer than the gate asks for."
    for number, source in enumerate(dossier.sources):
        yield f"Recall was measured {'beside it ' if number else ''}on {source.both}."
        if source.invented:
            yield "Figures on notes of that program are too good."


def percent(share: float | None) -> str:
    """A share in per cent, to a hundredth; a share of almost all or nothing is never rounded to all or nothing."""
    if share is None:
        return "withheld"
    said = f"{100 * share:.2f}%"
    return (
        {"100.00%": "over 99.99%", "0.00%": "under 0.01%"}.get(said, said) if 0 < share < 1 else f"{100 * share:.0f}%"
    )


def points(figure: Figure) -> str:
    """A difference of two shares with its interval, in percentage points."""
    if figure.value is None:
        return "withheld (fewer than 11)"
    said = f"{100 * figure.value:+.2f} points"
    if figure.low is None or figure.high is None:
        return said
    return f"{said} ({100 * figure.low:+.2f} to {100 * figure.high:+.2f})"


def between(figure: Figure) -> str:
    """A share with its interval."""
    if figure.value is None:
        return "withheld (fewer than 11)"
    if figure.low is None or figure.high is None:
        return percent(figure.value)
    return f"{percent(figure.value)} ({percent(figure.low)} to {percent(figure.high)})"


def _against(dossier: Dossier) -> list[str]:
    said = []
    for it in dossier.requirements:
        if it.failed:
            said.append(f"The requirement {it.name} is not met by {it.failed} of the deliveries and was not waived.")
    # As the gate judges; of a detector that was measured before conservative recall was, by what there is.
    recall = "recall" if dossier.figure("recall_conservative") is None else "recall_conservative"
    kept = "clinical_retention" if dossier.figure("words_kept") is None else "words_kept"
    for measure, threshold, end, words in (
        (recall, "recall", "low", "The lower end of recall" + (", of words hidden whole," if "_" in recall else "")),
        ("precision", "precision", "value", "Precision"),
        (kept, "clinical_retention", "value", "The share of clinical words kept"),
    ):
        found, least = dossier.figure(measure), dossier.thresholds.get(threshold)
        value = None if found is None else getattr(found, end)
        if least is not None and value is not None and value < least:
            said.append(f"{words} is {percent(value)}{_on(dossier, measure)}; the profile asks for {percent(least)}.")
    if dossier.marked:
        said.append(
            "Reviewers marked identifiers as missed in its notes, and nobody has hidden those notes or said why they "
            "stay (`deid finding marks`)."
        )
    if not dossier.policy_is_at_hand:
        said.append("The policy is not at hand as the release was made with it, so what it hides cannot be said.")
    return said


def _on(dossier: Dossier, measure: str) -> str:
    found = dossier.reading(measure)
    return "" if found is None else f" on {found.source}"


def _reasons(dossier: Dossier) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What figures say, under where they are from."""
    said: dict[str, list[str]] = {}
    for source, words in _statements(dossier):
        said.setdefault(f"{replace(source, notes='').whose}, {source.hand}", []).append(words)
    return tuple((source, tuple(lines)) for source, lines in said.items())


def _statements(dossier: Dossier) -> Iterator[tuple[Source, str]]:
    for gold in dossier.golds:
        yield from _found_and_kept(dossier, gold)
    disclosed = dossier.reading("notes_disclosed", family="disclosure")
    if disclosed is not None:
        yield disclosed.source, f"A direct identifier is left in {between(disclosed.figure)} of the notes measured."
    first, chance = (dossier.reading(name, family="linkage") for name in ("first", "chance"))
    if first is not None and chance is not None:
        yield (
            first.source,
            "An attacker who holds everybody's topics puts the true patient first for "
            f"{between(first.figure)} of the notes measured; by chance it would be {percent(chance.figure.value)}.",
        )


def _found_and_kept(dossier: Dossier, gold: str) -> Iterator[tuple[Source, str]]:
    for inputs in INPUTS:
        recall, leaks = (dossier.reading(name, inputs=inputs, gold=gold) for name in ("recall", "leak_rate"))
        if recall is not None and leaks is not None:
            yield (
                recall.source,
                f"{_capital(recall.source.topics)}, {between(recall.figure)} of identifying words are found; "
                f"{between(leaks.figure)} of notes with identifiers keep at least one in part or whole.",
            )
    words, terms = (dossier.reading(name, gold=gold) for name in ("words_kept", "clinical_retention"))
    beside = ", not counting what goes with indirect identifiers" if dossier.hides_indirect else ""
    if words is not None:
        yield words.source, f"Of the words that identify nobody, {between(words.figure)} are left as they were{beside}."
    elif terms is not None:
        yield terms.source, f"Of the clinical terms, {between(terms.figure)} are left as they were{beside}."


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _doubts(dossier: Dossier) -> list[str]:
    said = []
    if dossier.gold is None:
        said.append("Nothing was measured for this detector.")
    elif (source := dossier.source()) is not None and source.marked_by in _NOBODY:
        said.append("Nobody has said by which hand that gold was marked (`gold_by` of the feed).")
    elsewhere = [it.code for it in dossier.languages if it.notes and it.gold != "site" and it.code != UNDETERMINED]
    if elsewhere:
        said.append(f"Not measured on this institution's own notes: recall in {', '.join(elsewhere)}.")
    if dossier.gold is not None and dossier.held_out is None:
        said.append("How often what it was measured on had been looked at was not counted.")
    if dossier.held_out is not None and dossier.held_out.changed:
        said.append(
            f"The held-out set {dossier.held_out.name} is another one than that of the former release "
            f"({dossier.held_out.former}): notes or gold were changed, so that a better figure may be an easier set."
        )
    for it in dossier.waivers:
        if it.state == "in force":
            said.append(f"{it.requirement} is waived for {it.covers} until {it.until} by {it.who}.")
    for feed in dossier.feeds:
        if feed.named is not None and feed.named < dossier.thresholds.get("roster_share", 0):
            said.append(
                f"The topics have the patient's last name for {percent(feed.named)} of the notes of {feed.name} alone: "
                "for the others the leak check knew no name."
            )
    if dossier.demonstration:
        said.append("The notes are demonstration data, which says nothing about real ones.")
    if dossier.figure("first", family="linkage") is None:
        said.append("How well an attacker who holds everybody's topics could link notes to patients was not measured.")
    if dossier.retracted:
        said.append("Readers have reported leaks in this release; the notes were hidden.")
    return said
