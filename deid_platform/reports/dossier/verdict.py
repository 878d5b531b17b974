"""Whether a release is fit, why, and with what doubt: what the first lines of a dossier say.

Belongs here: what follows from the facts. Does not belong here: the conclusion that a person signs, who may see it
otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from deid_platform.languages import UNDETERMINED
from deid_platform.reports.dossier.facts import Dossier, Figure


class Standing(StrEnum):
    """What the measurements say of a release."""

    SUPPORTED = "supported"
    DOUBTFUL = "doubtful"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the measurements say, why, and what they leave open.

    Attributes:
        standing: Unsupported if anything speaks against it, doubtful if something is not known or was waived.
        against: What speaks against it.
        reasons: What speaks for it.
        doubts: What is not known or was waived.
    """

    standing: Standing
    against: tuple[str, ...]
    reasons: tuple[str, ...]
    doubts: tuple[str, ...]


def verdict(dossier: Dossier) -> Verdict:
    """What follows from the facts."""
    against = tuple(_against(dossier))
    doubts = tuple(_doubts(dossier))
    standing = Standing.UNSUPPORTED if against else Standing.DOUBTFUL if doubts else Standing.SUPPORTED
    return Verdict(standing, against, tuple(_reasons(dossier)), doubts)


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
    for measure, threshold, end, words in (
        (recall, "recall", "low", "The lower end of recall" + (", of words hidden whole," if "_" in recall else "")),
        ("precision", "precision", "value", "Precision"),
        ("clinical_retention", "clinical_retention", "value", "The share of clinical terms kept"),
    ):
        found, least = dossier.figure(measure), dossier.thresholds.get(threshold)
        value = None if found is None else getattr(found, end)
        if least is not None and value is not None and value < least:
            said.append(f"{words} is {percent(value)}; the profile asks for {percent(least)}.")
    if dossier.marked:
        said.append(
            "Reviewers marked identifiers as missed in its notes, and nobody has hidden those notes or said why they "
            "stay (`deid finding marks`)."
        )
    if not dossier.policy_is_at_hand:
        said.append("The policy is not at hand as the release was made with it, so what it hides cannot be said.")
    return said


def _reasons(dossier: Dossier) -> list[str]:
    said = []
    met = [it for it in dossier.requirements if not it.failed and not it.waived]
    if met:
        said.append(f"Every delivery met: {', '.join(it.name for it in met)}.")
    for inputs, words in (("topics", "With the institution's topics"), ("text", "On the text alone")):
        recall, leaks = (dossier.figure(name, inputs=inputs) for name in ("recall", "leak_rate"))
        if recall is not None and leaks is not None:
            said.append(
                f"{words}, {between(recall)} of identifying words are found; {between(leaks)} of notes with "
                "identifiers keep at least one in part or whole."
            )
    disclosed = dossier.figure("notes_disclosed", family="disclosure")
    if disclosed is not None:
        said.append(f"A direct identifier is left in {between(disclosed)} of the notes measured.")
    first, chance = (dossier.figure(name, family="linkage") for name in ("first", "chance"))
    if first is not None and chance is not None:
        said.append(
            "An attacker who holds everybody's topics puts the true patient first for "
            f"{between(first)} of the notes measured; by chance it would be {percent(chance.value)}."
        )
    kept = dossier.figure("clinical_retention")
    if kept is not None:
        beside = ", not counting what goes with indirect identifiers" if dossier.hides_indirect else ""
        said.append(f"Of the clinical terms, {between(kept)} are left as they were{beside}.")
    return said


def _doubts(dossier: Dossier) -> list[str]:
    said = []
    if dossier.gold is None:
        said.append("Nothing was measured for this detector.")
    elif dossier.gold != "site":
        said.append("Recall on this institution's own notes was not measured: the figures are of invented notes.")
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
    if dossier.demonstration:
        said.append("The notes are demonstration data, which says nothing about real ones.")
    if dossier.figure("first", family="linkage") is None:
        said.append("How well an attacker who holds everybody's topics could link notes to patients was not measured.")
    if dossier.retracted:
        said.append("Readers have reported leaks in this release; the notes were hidden.")
    return said
