"""The institution's own names in a text whose names are surrogates.

Belongs here: providers and facilities of the topics, where a policy puts others in their place: among surrogates a
true name is taken for one more, and every other provider's surrogate tells where it was. Does not belong here:
policies that tag or keep them, under which detection answers for providers; patients (`roster.py`, `strangers.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from deid_platform.labels import Label
from deid_platform.leakcheck.comparable import ComparableText, fold, line_of, tokens_of, word_list
from deid_platform.leakcheck.kinds import LeakKind
from deid_platform.leakcheck.names import is_ordinary
from deid_platform.leakcheck.strangers import Phrases, full_names, written_as_names
from deid_platform.notes import Facility, Topics
from deid_platform.redaction.policy import Action, Policy

_SHORTEST = 6


class Institution:
    """Full names of providers and telling names of facilities, as far as a policy puts surrogates in their place.

    Args:
        topics: All providers and facilities, with what they were formerly called.
        policy: Says which of them are replaced.
    """

    def __init__(self, topics: Topics, policy: Policy) -> None:
        providers = topics.every_provider() if _stood_in(policy, Label.DOCTOR) else ()
        facilities = topics.every_facility() if _stood_in(policy, Label.HOSPITAL) else ()
        self._providers = Phrases(line for row in providers for line in full_names(row))
        self._facilities = Phrases(line for row in facilities for line in facility_names(row))

    def __repr__(self) -> str:
        return f"<Institution: {self._providers!r}, {self._facilities!r}>"

    def residue(self, reading: ComparableText) -> Iterator[LeakKind]:
        """The kinds of the institution's names that a text shows."""
        if any(written_as_names(line, reading) for line in set(self._providers.found(reading.line))):
            yield LeakKind.PROVIDER_NAME
        if self._facilities.found(reading.line):
            yield LeakKind.FACILITY_NAME


def facility_names(facility: Facility) -> Iterator[str]:
    """The line of a facility's name, if there is a word in it that others are not called by."""
    tokens = tokens_of(fold(facility.name or ""))
    telling = [t for t in tokens if t.isalpha() and t not in word_list("facility_words") and not is_ordinary(t)]
    if telling and len(tokens) > 1 and len("".join(tokens)) >= _SHORTEST:
        yield line_of(tokens)


def _stood_in(policy: Policy, label: Label) -> bool:
    return policy.labels[label] is Action.SURROGATE
