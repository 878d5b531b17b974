"""Which tags a policy writes, as regular expressions of PostgreSQL.

Belongs here: what a tag in a redacted text may look like, for the server to count. Does not belong here: writing
tags (`redaction/`), or how many others a delivery may hold (`suites/language.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from deid_platform.labels import Label
from deid_platform.redaction.policy import Action, Policy

# Three letters or more: [X] and [CT] are clinicians' own.
_ANY_NAME = "[A-Z][A-Z_-]{2,39}"
# What redaction leaves of a date and of a ZIP code; it leaves nothing of anything else.
_COARSE = {Action.YEAR: "[0-9]{4}(?:s|-[0-9]{4})?", Action.ZIP3: "[0-9]{3}"}


class TagPatterns(NamedTuple):
    """Two regular expressions; what the first matches beyond the second is no tag of the policy's.

    Attributes:
        alike: What looks like a tag: a name in capitals, or a label with a number, set as the policy sets its tags.
        written: The tags that the policy writes.
    """

    alike: str
    written: str


def tag_patterns(policy: Policy) -> TagPatterns:
    """The patterns of a policy's tags. Labels are English in every language."""
    # A value with a digit in it, within the tag's own end and line.
    inside = f"[^{re.escape(policy.tag_with_value[-1])}\\n]{{0,40}}"
    labels = {label: policy.labels[label] for label in Label if policy.labels[label] is not Action.KEEP}
    return TagPatterns(
        alike=_any_of(
            [
                _tag(policy.tag, label=_ANY_NAME),
                _tag(policy.tag_with_value, label=_any_of(map(re.escape, Label)), value=f"{inside}[0-9]{inside}"),
            ]
        ),
        written=_any_of(
            [
                _tag(policy.tag, label=_any_of(map(re.escape, labels))),
                *(
                    _tag(policy.tag_with_value, label=re.escape(label), value=_COARSE[action])
                    for label, action in labels.items()
                    if action in _COARSE
                ),
            ]
        ),
    )


def _any_of(patterns: Iterable[str]) -> str:
    return f"(?:{'|'.join(patterns)})"


def _tag(template: str, **patterns: str) -> str:
    """A tag's template as a pattern: its fields by theirs, the rest as it stands."""
    pieces = re.split(r"\{(label|value)\}", template)
    return "".join(patterns[piece] if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))
