"""A round as a spreadsheet, for reviewers who would rather have that: out as CSV, and decisions back.

Belongs here: columns, and what of a sheet is believed. Does not belong here: what a decision is (`decisions.py`).

Back come only the removal's key, category and severity; the other columns are for people. All of a sheet is kept or
none of it.
"""

from __future__ import annotations

import csv
from pathlib import Path

from deid_platform.annotation.rounds import Role
from deid_platform.errors import Code, DeidError
from deid_platform.output import Output
from deid_platform.refresh.site import Site
from deid_platform.review.decisions import Decision, decide, decisions_of, offered
from deid_platform.review.rounds import removals_of_round

COLUMNS = ("removal", "label", "before", "removed", "after", "category", "severity")


def export(site: Site, number: int, role: Role, path: Path) -> int:
    """Writes what a role may decide, with what it said so far; returns how many rows.

    Raises:
        DeidError: `output-unusable`.
    """
    members = removals_of_round(site, number)
    mine = decisions_of(site.store, number, role)
    keys = offered(site, number, role)
    with Output.at(path).opened() as stream:
        sheet = csv.writer(stream, lineterminator="\n")
        sheet.writerow(COLUMNS)
        for key in keys:
            found, said = members[key], mine.get(key)
            texts = (_plain(text) for text in (found.before, found.removed, found.after))
            category, severity = (said.category.value, said.severity or "") if said else ("", "")
            sheet.writerow((key, found.label, *texts, category, severity))
    return len(keys)


def take_back(site: Site, number: int, role: Role, path: Path) -> int:
    """Keeps the decisions of a sheet, whose rows without a category are left as they are; returns how many.

    Raises:
        DeidError: `decision-invalid` with the row's number, the first below the head being 2; `decision-invalid` if a
            row is not this role's to decide; `input-invalid` if it is no CSV file with the columns that come back.
    """
    said: dict[str, Decision | None] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            sheet = csv.DictReader(stream)
            if not {"removal", "category", "severity"} <= set(sheet.fieldnames or ()):
                raise DeidError(Code.INPUT_INVALID, "the sheet lacks a column")
            for at, row in enumerate(sheet, start=2):
                category, severity = ((row.get(name) or "").strip().lower() for name in ("category", "severity"))
                if not category:
                    continue
                try:
                    decision = Decision.parse(category, severity or None)
                except DeidError as error:
                    raise DeidError(Code.DECISION_INVALID, f"row {at}: {error.ref}") from None
                if (key := row.get("removal") or "") in said:
                    raise DeidError(Code.DECISION_INVALID, f"row {at}: twice")
                said[key] = decision
    except (OSError, ValueError, csv.Error):
        raise DeidError(Code.INPUT_INVALID, "the sheet") from None
    if said:
        decide(site, number, role, said)
    return len(said)


def _plain(text: str) -> str:
    """A cell that no spreadsheet takes for a formula, in which a note could run what its writer wants."""
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text
