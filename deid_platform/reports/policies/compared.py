"""The shipped policies side by side, and which to choose for what.

Belongs here: the rows of both tables. Does not belong here: the page around them (`page.py`), or a policy's own text,
which is in its file (`redaction/policies/`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from deid_platform.labels import Label
from deid_platform.redaction.policy import Action, NoteDateRule, Policy, load_policy

_CHOOSING: Mapping[str, tuple[str, str]] = {
    "safe_harbor_plus_providers": (
        "text for research in the United States without an expert's determination, and nobody's name in it",
        "years stay, days go: intervals within a year are lost. This is where most should begin",
    ),
    "safe_harbor": (
        "the same, where who treated the patient and in which hospital matters",
        "names of clinicians and hospitals stay; a patient taken for a clinician stays with them",
    ),
    "surrogate": (
        "text that reads as it was written, with true intervals between dates",
        "an expert has to determine it; one known date of a patient tells all of that patient's",
    ),
    "patient_only": (
        "letters in which only the patient is to be hidden, with dates of care and ages",
        "an expert, consent or an ethics board; a schema and a role of its own",
    ),
    "limited_dataset": (
        "true dates, towns and ZIP codes, for recipients who sign a data use agreement",
        "it is protected health information still; a schema and a role of its own",
    ),
    "gdpr_it": (
        "notes in the European Union, with the categories that were measured on Italian notes",
        "it stays personal data: a legal basis and safeguards are needed ([the European Health Data Space]"
        "(law-ehds.md), [Italy](law-italy.md))",
    ),
}
"""Policy -> what it is for, and what to mind; in the order in which to consider them."""


def compared(dates: Mapping[NoteDateRule, str]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A table of what becomes of each label, a column a policy.

    Args:
        dates: What each rule leaves of a note's own date, in words.

    Returns:
        Its titles and its rows; labels that all policies treat alike share one.
    """
    policies = [load_policy(name) for name in _CHOOSING]
    rows: dict[tuple[str, ...], list[str]] = {}
    for label in Label:
        done = tuple(_cell(policy.labels[label]) for policy in policies)
        rows.setdefault(done, []).append(label.value)
    titles = ("label", *(f"[`{policy.name}`](#{_anchor(policy)})" for policy in policies))
    return titles, [
        *((", ".join(labels), *done) for done, labels in rows.items()),
        ("date beside the note", *(dates[policy.note_date] for policy in policies)),
        ("who may read it", *("a limited data set's readers" if it.limited else "analysts" for it in policies)),
        ("legal basis", *(policy.legal_basis for policy in policies)),
    ]


def choices() -> list[tuple[str, ...]]:
    """What a reader needs, the policy for that, and what to mind."""
    return [(need, f"`{name}`", mind) for name, (need, mind) in _CHOOSING.items()]


def _cell(action: Action) -> str:
    return "**stays**" if action is Action.KEEP else f"`{action.value}`"


def _anchor(policy: Policy) -> str:
    """Where the policy's own heading is, as a reader of Markdown names headings."""
    return re.sub(r"[^\w\- ]", "", f"{policy.name}: {policy.title}".lower()).replace(" ", "-")
