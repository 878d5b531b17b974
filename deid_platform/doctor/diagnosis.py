"""What a check of `deid doctor` says.

Belongs here: the record, and how a failure becomes one. Does not belong here: any check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from deid_platform.errors import DeidError


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at."""

    subject: str
    good: bool
    detail: str


def look(subject: str, at: Callable[[], str]) -> Diagnosis:
    """What a check shows, or the failure that it raises."""
    try:
        return Diagnosis(subject, True, at())
    except DeidError as error:
        return Diagnosis(subject, False, said(error))


def said(error: DeidError) -> str:
    """A failure with what to do about it."""
    ref = f" [{error.ref}]" if error.ref else ""
    return f"{error.code.slug}{ref}: {error.code.remedy}"
