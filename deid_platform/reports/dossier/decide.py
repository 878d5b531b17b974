"""What somebody who has ten minutes looks at before signing: one headline figure, what the others say beside it, and
what each bad answer would mean.

Belongs here: which facts these are, and when they speak for not signing. Does not belong here: the verdict
(`verdict.py`), or the layout. No threshold is made up here: what the gate's profile demands and what chance gives are
facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from deid_platform.reports.dossier.facts import Dossier, Reading, counted
from deid_platform.reports.dossier.verdict import Verdict, between, percent
from deid_platform.reports.summary import INPUTS


class Mark(StrEnum):
    """What a fact asks of the reader."""

    GOOD = "good"
    LOOK = "look closer"
    STOP = "do not sign"


@dataclass(frozen=True, slots=True)
class Look:
    """One thing to look at.

    Attributes:
        at: What.
        here: What stands here, figures with where they are from.
        mark: What that asks of the reader.
        bad: What a bad answer would mean.
        unsigned: When not to sign.
        section: Where the dossier says more.
    """

    at: str
    here: str
    mark: Mark
    bad: str
    unsigned: str
    section: str


@dataclass(frozen=True, slots=True)
class Headline:
    """The one figure to remember, and how others relate to it.

    Attributes:
        figure: The figure with its interval; None if nothing was measured.
        said: What it counts.
        on: Where it is from.
        related: What others count, and say beside it: figure, words, where it is from.
    """

    figure: str | None
    said: str
    on: str
    related: tuple[tuple[str, str, str], ...]


def headline(dossier: Dossier) -> Headline:
    """The share of notes in which anything of an identifier is left: of all figures the one that a patient feels."""
    leak = _leak(dossier)
    if leak is None:
        return Headline(None, "How many notes keep an identifier was not measured.", "", ())
    said = "of the notes keep at least one identifier, in part or whole, whatever its kind"
    return Headline(between(leak.figure), said, str(leak.source), tuple(_related(dossier, leak)))


def _leak(dossier: Dossier) -> Reading | None:
    return next(filter(None, (dossier.reading("leak_rate", inputs=inputs) for inputs in INPUTS)), None)


def _related(dossier: Dossier, leak: Reading) -> Iterator[tuple[str, str, str]]:
    def beside(it: Reading) -> str:
        same = it.source.whose == leak.source.whose
        return f"{it.source}" if same else f"{it.source}: other notes than the headline's, so neither follows the other"

    direct = dossier.reading("notes_disclosed", family="disclosure")
    if direct is not None:
        yield (
            between(direct.figure),
            "of the notes keep a direct identifier: a name, a number or an address that leads to somebody by itself. "
            "The headline counts dates, places, ages and clinicians too, so it is the larger of the two on the same "
            "notes",
            beside(direct),
        )
    recall = dossier.reading("recall", inputs=leak.inputs)
    if recall is not None:
        yield (
            between(recall.figure),
            "of the identifying words are found. A note has many of them, so that a small share of words missed is a "
            "larger share of notes",
            beside(recall),
        )
    first = dossier.reading("first", family="linkage")
    if first is not None:
        yield (
            between(first.figure),
            "of the notes lead an attacker who holds everybody's topics to the true patient first. He goes by "
            "whatever is left, indirect identifiers included, so that this may be the larger even where the headline "
            "is nothing",
            beside(first),
        )


def looks(dossier: Dossier, found: Verdict) -> tuple[Look, ...]:
    """What to look at, in the order in which it decides."""
    return tuple(_looks(dossier, found))


def _looks(dossier: Dossier, found: Verdict) -> Iterator[Look]:
    if dossier.demonstration:
        yield Look(
            "What the notes are",
            "demonstration data",
            Mark.STOP,
            "Every figure is of notes that nobody wrote about a patient: none says what happens on real ones.",
            "For any use but learning how this page is read.",
            "What was released",
        )
    yield Look(
        "What speaks against it",
        f"{len(found.against)} of the first lines" if found.against else "nothing",
        Mark.STOP if found.against else Mark.GOOD,
        "The release misses what this institution itself asked for, or carries a leak that somebody has marked.",
        "While anything speaks against it.",
        "By whose decision",
    )
    yield _whose(dossier)
    yield _headline(dossier)
    yield _linked(dossier)
    yield _kept(dossier)
    yield Look(
        "Waivers",
        f"{len(_waived(dossier))} in force" if _waived(dossier) else "none",
        Mark.LOOK if _waived(dossier) else Mark.GOOD,
        "A requirement of the gate was not met, and a person answers for that instead of a measurement.",
        "If you would not have signed that waiver yourself.",
        "By whose decision",
    )
    reported = dossier.retracted or dossier.marked
    yield Look(
        "Leaks that readers reported",
        f"{counted(dossier.retracted)} notes hidden" if dossier.retracted else "none",
        Mark.STOP if dossier.marked else Mark.LOOK if reported else Mark.GOOD,
        "Readers saw an identifier that every stage had missed: where there is one of its kind, there may be more.",
        "While marked identifiers wait for a decision (deid finding marks).",
        "What was held back",
    )
    yield Look(
        "What the policy leaves",
        f"{dossier.policy_title}" if dossier.policy_is_at_hand else "the policy is not at hand",
        Mark.LOOK if dossier.policy_is_at_hand else Mark.STOP,
        "What is kept on purpose (ages, years, towns, clinicians) reaches the recipient, however good the detector is.",
        "If the recipient's agreement does not cover what the table of labels keeps.",
        "What was released",
    )


def _whose(dossier: Dossier) -> Look:
    on = "; ".join(it.whose for it in dossier.sources) or "nothing"
    return Look(
        "Whose notes were measured",
        on,
        Mark.LOOK if dossier.unmeasured or dossier.demonstration else Mark.GOOD,
        "The detector may never have seen what this institution's clinicians write: its figures are of other people.",
        "For real notes, while nobody has marked a sample of this institution's own (deid annotate).",
        "How well identifiers are found",
    )


def _headline(dossier: Dossier) -> Look:
    told, least = headline(dossier), dossier.thresholds.get("recall")
    # As the gate judges: of words hidden whole where that was measured.
    recall = dossier.figure("recall_conservative") or dossier.figure("recall")
    low = None if recall is None else recall.low
    below = low is not None and least is not None and low < least
    asked = (
        "" if low is None or least is None else f"; recall is at least {percent(low)}, and {percent(least)} is asked"
    )
    return Look(
        "Notes that keep an identifier",
        "not measured" if told.figure is None else f"{told.figure} on {told.on}{asked}",
        Mark.STOP if told.figure is None or below else Mark.LOOK,
        "As many of the recipient's notes show something of somebody: a name, a date of care, a clinician.",
        "If the recipient may not see as many, or if the lower end of recall is under what the profile asks for.",
        "What was missed",
    )


def _linked(dossier: Dossier) -> Look:
    first, chance = (dossier.reading(name, family="linkage") for name in ("first", "chance"))
    known = first is not None and chance is not None and chance.figure.value is not None
    here, above = "not measured", True
    if known and first is not None and chance is not None:
        here = f"{between(first.figure)}, by chance {percent(chance.figure.value)}, on {first.source}"
        low = first.figure.low if first.figure.low is not None else first.figure.value
        above = low is None or low > (chance.figure.value or 0.0)
    return Look(
        "What an attacker makes of it",
        here,
        Mark.LOOK if above else Mark.GOOD,
        "Notes lead to their patients by what is left of the story, without any identifier.",
        "If the recipient can hold such lists and nothing but their word keeps them from trying.",
        "An adversary's view",
    )


def _kept(dossier: Dossier) -> Look:
    kept = dossier.reading("words_kept") or dossier.reading("clinical_retention")
    least = dossier.thresholds.get("clinical_retention")
    value = None if kept is None else kept.figure.value
    below = value is None or (least is not None and value < least)
    return Look(
        "What is left of the medicine",
        "not measured" if kept is None else f"{between(kept.figure)} on {kept.source}",
        Mark.LOOK if below else Mark.GOOD,
        "Research draws conclusions from text in which diagnoses, drugs or findings were taken for names.",
        "If the question of the research hangs on words that are hidden.",
        "What is left of the medicine",
    )


def _waived(dossier: Dossier) -> list[str]:
    return [it.requirement for it in dossier.waivers if it.state == "in force"]
