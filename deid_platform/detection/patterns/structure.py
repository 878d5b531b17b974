"""Names by layout: tables whose header names an identifier, and the line above a street address.

Belongs here: what follows from the arrangement of lines and cells. Does not belong here: labels with a
colon, signature lines and what else a pattern can say (`data/people.yaml`).

A verdict depends on one paragraph alone: a table ends at a blank line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from deid_platform.detection.patterns.checks import CHECKS
from deid_platform.detection.patterns.vocabulary import Kind, kind_of
from deid_platform.detection.reading import fold_term
from deid_platform.detection.spans import trim
from deid_platform.labels import Label
from deid_platform.notes import Span

_TABLE = "patterns:table-column"
_ADDRESSEE = "patterns:address-block"
_LINE = regex.compile(r"[^\r\n]+")
_RULE = regex.compile(r"[\s|:+=\-]*")
_LONGEST_ROW = 600
_MOST_CELLS = 24
_LONGEST_HEADER = 30  # code points of a cell that names a column
_NAME_LINE = regex.compile(
    r"(?:(?i:to|attn|attention|mr|mrs|ms|miss|dr)\b[.:]?[ \t]*)?"
    r"(?P<name>\p{Lu}[\p{L}\p{M}'’.\-]*(?:[ \t]+(?:\p{L}{2,3}[ \t]+)?\p{Lu}[\p{L}\p{M}'’.\-]*){1,3})"
    r"(?:[ \t]*,[ \t]*[A-Z][A-Za-z.\-]{1,8}){0,3}[ \t]*"
)

_COLUMNS = {
    Label.PATIENT: "name, patient, patient name, pt, pt name, full name, last name, first name, client, member name, "
    "resident name, mother, father, guardian, spouse, next of kin, emergency contact, contact name, guarantor, "
    "subscriber, insured, informant, nombre, paciente, nome, paziente, nom, nachname, vorname",
    Label.DOCTOR: "provider, physician, doctor, attending, surgeon, nurse, rn, pcp, author, ordering provider, "
    "ordering physician, signed by, performed by, entered by, referring, referring physician, clinician, consultant, "
    "assigned nurse, staff, médico, medico, médecin, arzt",
    Label.MEDICALRECORD: "mrn, mr#, mr #, mrn#, med rec, med rec #, medical record, medical record number, "
    "medical record no, chart, chart #, chart no, chart number, patient id, patient no, hospital number, nhs number",
    Label.DATE: "dob, d.o.b., date of birth, birth date, birthdate, birthday",
    Label.PHONE: "phone, phone number, telephone, tel, cell, mobile, home phone, work phone, pager, callback",
    Label.FAX: "fax, fax number",
    Label.EMAIL: "email, e-mail, email address",
    Label.SSN: "ssn, social security, social security number, ss#",
    Label.ACCOUNT: "account, acct, account number, account no, acct #, encounter, encounter id, csn, har, fin",
    Label.HEALTHPLAN: "member id, policy number, policy no, policy, insurance id, subscriber id, "
    "group number, medicare id",
    Label.IDNUM: "id, accession, accession number, accession no, specimen id, specimen number, case number, "
    "order number, employee id, badge",
    Label.LICENSE: "npi, license, licence, dea, license number",
    Label.STREET: "address, street, street address, home address",
    Label.CITY: "city, town, city of residence",
    Label.ZIP: "zip, zip code, postcode, postal code",
    Label.USERNAME: "user, user id, username, user name, login",
    Label.ORGANIZATION: "employer, company",
    Label.HOSPITAL: "facility, hospital, clinic, practice, referring facility",
}
_LABELS = {title: label for label, titles in _COLUMNS.items() for title in titles.split(", ")}
_NAMED = {Label.PATIENT, Label.DOCTOR}
_WORDED = {Label.STREET, Label.CITY, Label.ORGANIZATION, Label.HOSPITAL, Label.USERNAME, Label.EMAIL}
_CHECKED = {Label.ORGANIZATION: "organization", Label.HOSPITAL: "organization", Label.CITY: "city"}

Cell = tuple[int, int]


def structure_names(text: str, found: Sequence[Span]) -> Iterator[Span]:
    """Identifiers that the layout shows.

    Args:
        text: The note.
        found: Spans found so far; only streets are looked at.

    Yields:
        The cells of a table's identifying columns, and the name on the line above a street address.
    """
    if "|" in text:
        yield from _tables(text, "|")
    if "\t" in text:
        yield from _tables(text, "\t")
    for span in found:
        if span.label is Label.STREET:
            yield from _addressee(text, span.start)


def _tables(text: str, separator: str) -> Iterator[Span]:
    columns: list[Label | None] = []
    end = 0
    for line in _LINE.finditer(text):
        broken = text.count("\n", end, line.start()) > 1 or text.count("\r", end, line.start()) > 1
        end = line.end()
        if broken or line.end() - line.start() > _LONGEST_ROW or text.find(separator, line.start(), end) < 0:
            columns = []
            if text.find(separator, line.start(), min(end, line.start() + _LONGEST_ROW)) < 0:
                continue
        if columns and _RULE.fullmatch(text, line.start(), end):
            continue
        cells = _cells(text, line.start(), end, separator)
        header = [_LABELS.get(_title(text, cell)) for cell in cells]
        if columns and len(columns) == len(cells) and sum(h is not None for h in header) < 2:
            yield from _row(text, cells, columns)
        elif sum(h is not None for h in header) >= 2 or (
            len(cells) > 1 and any(header) and all(_is_title(text, cell) for cell in cells)
        ):
            columns = header
            if len(cells) == 2 and header[0] is not None and header[1] is None:
                # "Patient | Roe, Jane": perhaps a label and its value.
                yield from _row(text, cells[1:], [header[0]], person="listed")
        else:
            columns = []
            known = [k for k, h in enumerate(header) if h is not None]
            yield from (s for k in known if k + 1 < len(cells) for s in _row(text, [cells[k + 1]], [header[k]]))


def _cells(text: str, start: int, end: int, separator: str) -> list[Cell]:
    """The cells of a row without white space; the empty ones before the first and after the last bar are none."""
    cells: list[Cell] = []
    position = start
    while position <= end and len(cells) < _MOST_CELLS:
        stop = text.find(separator, position, end)
        stop = end if stop < 0 else stop
        place = trim(text, position, stop)
        if place is not None or (position != start and stop != end):
            cells.append(place or (position, position))
        position = stop + 1
    return cells


def _title(text: str, cell: Cell) -> str:
    start, end = cell
    return fold_term(text[start:end]).strip("*_: ") if end - start <= _LONGEST_HEADER else ""


def _is_title(text: str, cell: Cell) -> bool:
    """Whether a cell may name a column: short and without a digit."""
    surface = text[cell[0] : cell[1]]
    return 0 < len(surface) <= _LONGEST_HEADER and not any(c.isdigit() for c in surface)


def _row(
    text: str, cells: Sequence[Cell], columns: Sequence[Label | None], *, person: str = "titled"
) -> Iterator[Span]:
    for (start, end), label in zip(cells, columns, strict=True):
        if label is None or start == end:
            continue
        surface = text[start:end]
        place: Cell | None = (start, end)
        if label in _NAMED:
            place = CHECKS[person](text, start, end) if any(c.isupper() for c in surface) else None
        elif label in _CHECKED:
            place = CHECKS[_CHECKED[label]](text, start, end)
        elif not (any(map(str.isalpha, surface)) if label in _WORDED else sum(map(str.isdigit, surface)) >= 3):
            place = None
        if place is not None:
            yield Span(*place, label, 0.8, _TABLE)


def _addressee(text: str, street: int) -> Iterator[Span]:
    """The name on the line above a street address that begins its line."""
    line = street
    while line and text[line - 1] in " \t":
        line -= 1
    if line == 0 or text[line - 1] not in "\r\n":
        return
    above = line - 1
    if above and text[above - 1 : above + 1] == "\r\n":
        above -= 1
    start = max(text.rfind("\n", 0, above), text.rfind("\r", 0, above)) + 1
    place = trim(text, start, above)
    match = _NAME_LINE.fullmatch(text, *place) if place and place[1] - place[0] <= 60 else None
    if match is None:
        return
    kinds = [kind_of(word) for word in regex.findall(r"\p{L}[\p{L}\p{M}'’\-]+", match["name"])]
    listed = any(kind & (Kind.GIVEN | Kind.SURNAME) for kind in kinds)
    plain = sum(bool(kind & Kind.ORDINARY) and not kind & (Kind.GIVEN | Kind.SURNAME) for kind in kinds)
    if listed and not plain:
        begin, stop = match.span("name")
        yield Span(begin, stop, Label.PATIENT, 0.7, _ADDRESSEE)
