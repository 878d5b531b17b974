"""The sections of a dossier, and their numbers: what refers to one names it here.

Belongs here: names and order. Does not belong here: what a section says (`dossier.html.j2`).
"""

from __future__ import annotations

SECTIONS = (
    "Decide in ten minutes",
    "What was released",
    "By whose decision",
    "How well identifiers are found",
    "What was missed",
    "An adversary's view",
    "What is left of the medicine",
    "What reviewers say",
    "Fairness",
    "What was held back",
    "The law's questions",
    "Versions",
    "Change",
    "What is not known",
)


def section(name: str) -> str:
    """How a text refers to a section: `section 6`."""
    return f"section {SECTIONS.index(name) + 1}"
