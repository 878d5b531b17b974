"""A round as a spreadsheet, for reviewers who would rather have that: out as CSV, and decisions back.

Belongs here: columns, and what of a sheet is believed. Does not belong here: what a decision is (`decisions.py`), or
a mark (`missed.py`).

Back come only the removal's key, for whom the row was written (`written.py`), category, severity and missed
identifiers; the other columns are for people. All of a sheet is kept or none of it. A cell of missed identifiers reads
`PATIENT high: Ann Bell; DATE low: 3 May`: label, severity and words, which are looked for in the text of the row,
wherever they are not hidden.

A note's writer must not run anything on a reviewer's machine. A spreadsheet takes a cell for a formula by its first
sign, and which cells there are depends on its language: a German, Italian or Spanish one ends them at each semicolon,
in whatever quotes that stands. So an apostrophe comes before each such sign at which any of them could begin a cell.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from deid_platform.errors import Code, DeidError
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import Role
from deid_platform.review.decisions import Decision, decisions_of
from deid_platform.review.missed import Mark, keep, marks_of, placed, shown
from deid_platform.review.rounds import Removal, removals_of_round
from deid_platform.review.written import WRITTEN_FOR, check_reader, token
from deid_platform.runtime.output import Output

COLUMNS = ("removal", WRITTEN_FOR, "label", "before", "removed", "after", "category", "severity", "missed")
_BEGINS = r"([A-Za-z-]+)\s+(high|low)\s*:"
_FORMULA = re.compile(r"((?:^|[;,|\t\r\n])[\s\"\u200b\ufeff]*)('*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a cell could begin with a sign of formulas, in ASCII or full width: its separator, and apostrophes before."""
_MISSED = re.compile(rf"\s*{_BEGINS}\s*(.+?)\s*(?:;(?=\s*{_BEGINS})|;?\s*$)", re.DOTALL | re.IGNORECASE)


def export(site: Site, number: int, role: Role, path: Path) -> int:
    """Writes what a role is shown, with what it said so far; returns how many rows.

    Raises:
        DeidError: `output-unusable`.
    """
    members = removals_of_round(site, number)
    mine = decisions_of(site.store, number, role)
    marks = list(marks_of(site.store, number, role).values())
    keys = shown(site, number, role)
    with Output.at(path).opened() as stream:
        sheet = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
        sheet.writerow(COLUMNS)
        for key in keys:
            found, said = members[key], mine.get(key)
            texts = (inert(text) for text in (found.before, found.removed, found.after))
            category, severity = (said.category.value, said.severity or "") if said else ("", "")
            missed = "; ".join(
                f"{it.span.label.value} {it.severity}: {found.words(it.span)}" for it in marks if it.removal == key
            )
            written_for = token(site.keyring, number, role, key)
            sheet.writerow((key, written_for, found.label, *texts, category, severity, inert(missed)))
    return len(keys)


def take_back(site: Site, number: int, role: Role, path: Path) -> tuple[int, int]:
    """Keeps the decisions and marks of a sheet, whose empty cells are left as they are; returns how many of each.

    Raises:
        DeidError: `decision-invalid` or `mark-invalid` with the row's number, the first below the head being 2; either
            if a row is not this role's to decide; `review-role` if a row was not written for this round and role;
            `input-invalid` if it is no CSV file with the columns that come back.
    """
    said: dict[str, Decision | None] = {}
    marks: list[Mark] = []
    members = removals_of_round(site, number)
    seen: set[str] = set()
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            sheet = csv.DictReader(stream)
            if not {"removal", WRITTEN_FOR, "category", "severity"} <= set(sheet.fieldnames or ()):
                raise DeidError(Code.INPUT_INVALID, "the sheet lacks a column")
            for at, row in enumerate(sheet, start=2):
                try:
                    key, said_for = ((row.get(name) or "").strip() for name in ("removal", WRITTEN_FOR))
                    if any((row.get(name) or "").strip() for name in (WRITTEN_FOR, "category", "missed")):
                        check_reader(site, number, role, key, said_for)
                    if decision := _decision(row):
                        said[key] = decision
                    found = _marks(key, as_it_was(row.get("missed") or "").strip(), members)
                except DeidError as error:
                    raise DeidError(error.code, f"row {at}: {error.ref}") from None
                if (decision or found) and key in seen:
                    raise DeidError(Code.DECISION_INVALID, f"row {at}: twice")
                seen |= {key} if decision or found else set()
                marks += found
    except (OSError, ValueError, csv.Error):
        raise DeidError(Code.INPUT_INVALID, "the sheet") from None
    keep(site, number, role, said, marks)
    return len(said), len(marks)


def _decision(row: Mapping[str, str | None]) -> Decision | None:
    category, severity = ((row.get(name) or "").strip().lower() for name in ("category", "severity"))
    return Decision.parse(category, severity or None) if category else None


def _marks(key: str, cell: str, members: Mapping[str, Removal]) -> list[Mark]:
    """What a cell marks: each place in the row's text where the words stand and are not hidden."""
    found: list[Mark] = []
    at = 0
    while at < len(cell):
        part = _MISSED.match(cell, at)
        if part is None or key not in members:
            raise DeidError(Code.MARK_INVALID, "missed")
        at = part.end()
        label, severity, words = part.group(1).upper(), part.group(2).lower(), part.group(3)
        here = [Mark.parse(key, *place, label, severity) for place in _places(words, members[key].text)]
        here = [it for it in here if _is_missed(members[key], it)]
        if not here:
            raise DeidError(Code.MARK_INVALID, "missed: not in the text, or hidden already")
        found += here
    return found


def _places(words: str, text: str) -> list[tuple[int, int]]:
    pattern = r"\s+".join(map(re.escape, words.split()))
    return [match.span() for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", text)]


def _is_missed(removal: Removal, it: Mark) -> bool:
    try:
        placed(removal, it)
    except DeidError:
        return False
    return True


def inert(text: str) -> str:
    """A cell that no spreadsheet takes for a formula, nor any part of it, wherever it ends a cell."""
    return _FORMULA.sub(r"\1'\2", text)


def as_it_was(cell: str) -> str:
    """The text that `inert` made a cell of."""
    return _FORMULA.sub(lambda found: found[1] + found[2][1:], cell)
