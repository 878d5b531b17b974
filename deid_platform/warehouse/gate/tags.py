"""The tags that a policy writes, as a pattern for the server.

Belongs here: what a tag in a redacted text may look like, in regular expressions of PostgreSQL. Does not belong
here: writing tags (`redaction/`), or in how many notes others may stand (`suites/language.yaml`).
"""

from __future__ import annotations

import re
from typing import TypedDict

from deid_platform.labels import Label
from deid_platform.redaction.policy import Action, Policy

FOREIGN_TAG = (
    "EXISTS (SELECT FROM regexp_matches(text, :outline, 'g') AS found(tag) WHERE CASE"
    " WHEN tag[1] = ANY(CAST(:written AS text[])) THEN false WHEN tag[1] ~ :coarse THEN false"
    " ELSE tag[1] ~ :alike END)"
)
"""SQL: whether a note's `text` has a tag that the policy does not write; parameters as of `tag_patterns`.

PostgreSQL builds an expression's states anew for every match: the larger the expression, the dearer each. So a small
outline goes over the text, and CASE, which keeps its order, asks the largest last. On 4,000 characters with 140 tags
it takes 0.25 ms, where one expression for all took 7.
"""

# Three letters or more: [X] and [CT] are clinicians' own.
_ANY_NAME = "[A-Z][A-Z_-]{2,}"
# What redaction leaves of a date and of a ZIP code; it leaves nothing of anything else.
_COARSE = {Action.YEAR: "[0-9]{4}(?:s|-[0-9]{4})?", Action.ZIP3: "[0-9]{3}"}
_FIELD = re.compile(r"\{(label|value)\}")


class TagPatterns(TypedDict):
    """Parameters of `FOREIGN_TAG`.

    Attributes:
        outline: What may be a tag, by how the policy sets its tags off from the text.
        written: The tags without a value that the policy writes.
        alike: Of what may be one, what is one: a name in capitals, or a label with a number.
        coarse: Tags with a value that the policy writes.
    """

    outline: str
    written: list[str]
    alike: str
    coarse: str


def tag_patterns(policy: Policy) -> TagPatterns:
    """The patterns of a policy's tags. Labels are English, whatever the note's language."""
    templates = (policy.tag, policy.tag_with_value)
    labels = {label: policy.labels[label] for label in Label if policy.labels[label] is not Action.KEEP}
    any_label = "|".join(re.escape(label) for label in Label)
    coarse = (
        _filled(policy.tag_with_value, label=re.escape(label), value=_COARSE[action])
        for label, action in labels.items()
        if action in _COARSE
    )
    return TagPatterns(
        outline="|".join(dict.fromkeys(_outline(template) for template in templates)),
        written=[*(policy.tagged(label) for label in labels), *policy.indirect_tags],
        alike=_whole(
            _filled(policy.tag, label=_ANY_NAME),
            _filled(policy.tag_with_value, label=f"(?:{any_label})", value=".*[0-9].*"),
        ),
        coarse=_whole(*coarse),
    )


def _whole(*patterns: str) -> str:
    return f"^(?:{'|'.join(patterns)})$"


def _filled(template: str, **patterns: str) -> str:
    """A tag's template as a pattern: its fields by theirs, the rest as it stands."""
    pieces = _FIELD.split(template)
    return "".join(patterns[piece] if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))


def _outline(template: str) -> str:
    """A tag's first and last characters, and between them anything on the line but those."""
    pieces = _FIELD.split(template)
    first, last = pieces[0], pieces[-1]
    capital = "[A-Z]" if pieces[1] == "label" else ""
    return f"{re.escape(first)}{capital}[^{re.escape(first[-1] + last[0])}\\n]*{re.escape(last)}"
