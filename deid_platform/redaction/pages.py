"""The page docs/policies.md: every policy, its legal basis, its actions and an example.

Belongs here: turning policies into that page. Does not belong here: policies themselves (`policies/`).
"""

from __future__ import annotations

import re
from datetime import date
from importlib import resources

from deid_platform.labels import HIPAA_IDENTIFIER, Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.policy import Action, NoteDateRule, Policy, load_policy, policy_names
from deid_platform.redaction.redact import redact

_MARK = re.compile(r"\{([A-Z-]+)\|([^}]*)\}")
_ACTIONS = {
    Action.TAG: "a tag stands in its place",
    Action.KEEP: "the text stays",
    Action.YEAR: "a tag with the year, where one can be read and tells of nobody over 89",
    Action.ZIP3: "a tag with the first three digits of a US ZIP code, 000 for areas of 20,000 people or fewer",
    Action.AGE90: "ages up to 89 stay, older ones become 90+; a tag where no age can be read",
}
_NOTE_DATES = {
    NoteDateRule.YEAR: "its year, unless the patient is over 89 in it",
    NoteDateRule.SHIFT: "shifted by a whole number of weeks, the same for all notes of a patient",
    NoteDateRule.DROP: "nothing",
}
_NOTE_DATE, _BIRTH_DATE = date(2019, 4, 2), date(1926, 3, 9)


def policies_markdown() -> str:
    """The whole page."""
    note, spans = _example()
    parts = [
        "# Policies",
        "A policy says what becomes of each label, and on what legal ground. "
        "`deid redact --policy NAME` and `[redaction]` in deid.toml choose one: a name from this page or a path to "
        "a YAML file of the same form. A policy that leaves a label without an action is refused. "
        "What lies between the identifiers stays as it was written, character by character.",
        "This page is generated from the policies by `deid_platform.redaction.pages`.",
        "## Actions",
        _table(("action", "what is left"), [(f"`{a.value}`", text) for a, text in _ACTIONS.items()]),
        "## The example before redaction",
        f"Written on {_NOTE_DATE.isoformat()}. People and places are invented; the topics know the date of birth.",
        _block(note.text),
    ]
    for name in policy_names():
        parts += _policy(load_policy(name), note, spans)
    return "\n\n".join(parts) + "\n"


def _policy(policy: Policy, note: Note, spans: list[Span]) -> list[str]:
    kept = [label.value for label in Label if policy.labels[label] is Action.KEEP]
    return [
        f"## `{policy.name}`: {policy.title}",
        f"Legal basis: {policy.legal_basis}. {policy.description.strip()}",
        f"Stays: {', '.join(kept) or 'nothing'}. Of the structured note date remains: {_NOTE_DATES[policy.note_date]}.",
        _table(
            ("label", "164.514(b)(2)(i)", "action"),
            [
                (label.value, HIPAA_IDENTIFIER[label] or "not listed", f"`{policy.labels[label].value}`")
                for label in Label
            ],
        ),
        "The example:",
        _block(redact(note, spans, policy, birth_date=_BIRTH_DATE).text),
    ]


def _example() -> tuple[Note, list[Span]]:
    """The marked-up example as a note and its spans."""
    source = (resources.files("deid_platform.redaction") / "data" / "example_note.txt").read_text(encoding="utf-8")
    marked = "".join(line for line in source.splitlines(keepends=True) if not line.startswith("#"))
    text, spans, position = "", [], 0
    for match in _MARK.finditer(marked):
        text += marked[position : match.start()]
        spans.append(Span(len(text), len(text) + len(match[2]), Label(match[1]), source="example"))
        text += match[2]
        position = match.end()
    return Note("example", text + marked[position:], note_date=_NOTE_DATE), spans


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = (header, ("---",) * len(header), *rows)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _block(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"
