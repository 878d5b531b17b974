"""Tables whose header, or whose label in the cell before, names an identifier.

Belongs here: the cells of rows that bars, tabs, commas or wide gaps separate. Does not belong here: fields with a colon
(`en/people.yaml`), rows without any header (`en/messages.yaml`), initials in columns (`topics/staff/columns.py`).

The result depends on one paragraph alone: a table ends at a blank line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import regex

from deid_platform.detection.api import Candidate, Source, SourceKind
from deid_platform.detection.rules.engine.validator import validator_named
from deid_platform.labels import Label
from deid_platform.text.fold import fold_term
from deid_platform.text.offsets import trim

OF_TABLE = Source(SourceKind.RULES, "table-column")
_LINE = regex.compile(r"[^\r\n]+")
_RULE = regex.compile(r"[\s|:+=\-]*")
_LONGEST_ROW = 600
_LONGEST_SPACED_ROW = 200
_MOST_CELLS = 24
_LONGEST_HEADER = 30  # code points of a cell that names a column
_SPACED_CELL = regex.compile(r"\S+(?:[ ]\S+)*")
_LISTED_CELL = regex.compile(r'[ \t]*(?:"[^"\r\n]*"|[^,\r\n]*)(?:,|$)')
_LEAST_LISTED = 3
_NO_HEADER = regex.compile(r"[\d:;?!()\[\]=<>%+*]")
_SLACK = 2  # code points by which a cell may begin before its heading

_COLUMNS = {
    Label.PATIENT: "name, patient, patient name, pt, pt name, full name, last name, first name, middle name, "
    "maiden name, client, client name, member name, resident name, mother, father, guardian, spouse, next of kin, "
    "nok, emergency contact, contact name, contact person, guarantor, subscriber, insured, informant, caregiver, "
    "caller, surname, forename, given name, family name, pt last name, pt first name, patient last name, patient "
    "first name, infant, baby, nombre, paciente, nome, cognome, nome e cognome, cognome e nome, nominativo, "
    "assistito, paziente, nom, nachname, vorname",
    Label.DOCTOR: "provider, physician, doctor, attending, surgeon, nurse, rn, lpn, cna, pcp, gp, author, "
    "ordering provider, ordering physician, ordering md, ordering, ordered by, signed by, performed by, entered "
    "by, seen by, given by, done by, administered by, recorded by, charted by, documented by, verified by, "
    "checked by, collected by, drawn by, resulted by, reviewed by, read by, interpreted by, requested by, "
    "referred by, prescribed by, dispensed by, placed by, removed by, completed by, reported by, reported to, "
    "notified, called to, called by, taken by, received by, authorized by, prescriber, prescribing provider, "
    "requesting provider, referring, referring physician, referring provider, clinician, consultant, consulting, "
    "consulting physician, assigned nurse, nurse name, nurse assigned, primary nurse, primary rn, day rn, night "
    "rn, am rn, pm rn, charge nurse, provider name, physician name, doctor name, staff name, staff, staff member, "
    "attending physician, attending md, attending provider, admitting, admitting physician, admitting md, primary "
    "care, primary care provider, primary care physician, pcp name, resident md, intern, fellow, on call, "
    "on-call, covering, covering md, covering provider, backup, anesthesiologist, anesthesia provider, crna, "
    "assistant, first assistant, scrub, scrub nurse, circulator, circulating nurse, proceduralist, operator, "
    "therapist, pharmacist, case manager, social worker, case worker, technician, technologist, tech, "
    "interpreter, witness, witnessed by, cosigner, cosigned by, radiologist, pathologist, cardiologist, "
    "hospitalist, md, dr, sender, médico, medico, medico curante, operatore, infermiere, infermiera, medico "
    "refertante, firma, médecin, arzt",
    Label.MEDICALRECORD: "mrn, mr#, mr #, mrn#, med rec, med rec #, medical record, medical record number, "
    "medical record no, chart, chart #, chart no, chart number, patient id, patient no, hospital number, hosp no, "
    "unit no, nhs number",
    Label.DATE: "dob, d.o.b., date of birth, birth date, birthdate, birthday",
    Label.PHONE: "phone, phone number, telephone, tel, cell, mobile, home phone, work phone, pager, callback",
    Label.FAX: "fax, fax number",
    Label.EMAIL: "email, e-mail, email address",
    Label.SSN: "ssn, social security, social security number, ss#",
    Label.ACCOUNT: "account, acct, account number, account no, acct #, encounter, encounter id, csn, har, fin",
    Label.HEALTHPLAN: "member id, policy number, policy no, policy, insurance id, subscriber id, group number, "
    "medicare id",
    Label.IDNUM: "id, accession, accession number, accession no, specimen id, specimen number, case number, order "
    "number, employee id, badge",
    Label.LICENSE: "npi, license, licence, dea, license number",
    Label.STREET: "address, street, street address, home address",
    Label.CITY: "city, town, city of residence",
    Label.ZIP: "zip, zip code, postcode, postal code",
    Label.USERNAME: "user, user id, username, user name, login",
    Label.ORGANIZATION: "employer, company",
    Label.HOSPITAL: "facility, hospital, clinic, practice, referring facility",
}
_LABELS = {title: label for label, titles in _COLUMNS.items() for title in titles.split(", ")}
# Headings of columns that hold nothing to hide; with one of them a row of two cells is a header.
_PLAIN = frozenset((
    "role", "dose", "date", "time", "value", "result", "status", "specialty", "room", "rm", "bed", "type", "note",
    "notes", "comment", "comments", "reason", "diagnosis", "dx", "shift", "service", "department", "dept", "unit",
    "relationship", "relation", "sex", "gender", "age", "visit", "visit type", "department name", "medication",
    "drug", "test", "plan", "days", "title", "credentials", "code status", "code", "location", "phone", "pager",
    "task", "to do", "initials", "signature",
))  # fmt: skip
# Beside one of them "Name" is a drug's.
_GIVEN_TO_PATIENTS = frozenset(("dose", "route", "frequency", "strength", "sig", "dosage", "qty", "refills"))
_NAMED = {Label.PATIENT, Label.DOCTOR}
_WORDED = {Label.STREET, Label.CITY, Label.ORGANIZATION, Label.HOSPITAL, Label.USERNAME, Label.EMAIL}
_CHECKED = {Label.ORGANIZATION: "organization", Label.HOSPITAL: "organization", Label.CITY: "city"}

Cell = tuple[int, int]


def table_names(text: str) -> Iterator[Candidate]:
    """Identifiers in the columns and beside the labels of a paragraph's tables."""
    for separator in "|\t":
        if separator in text:
            yield from _barred(text, separator)
    if "\n" in text or "\r" in text:
        if "  " in text:
            yield from _headed(text, _spaced_cells, _under, least=2)
        if "," in text:
            yield from _headed(text, _listed_cells, _in_order, least=_LEAST_LISTED)


def _barred(text: str, separator: str) -> Iterator[Candidate]:
    columns: list[Label | None] = []
    fields = False  # whether the row before was a label and its value
    end = 0
    for line in _LINE.finditer(text):
        if _is_parted(text, end, line.start()) or line.end() - line.start() > _LONGEST_ROW:
            columns, fields = [], False
        end = line.end()
        if text.find(separator, line.start(), min(end, line.start() + _LONGEST_ROW)) < 0:
            columns, fields = [], False
            continue
        if _RULE.fullmatch(text, line.start(), end):
            fields = False
            continue
        cells = _cells(text, line.start(), end, separator)
        header = _labels_of(text, cells)
        known = sum(label is not None for label in header)
        if known < 2 and _is_field(text, cells, header, after_field=fields):
            yield from _row(text, cells[1:], header[:1])
            columns, fields = [], True
            continue
        fields = False
        if columns and len(columns) == len(cells) and known < 2:
            yield from _row(text, cells, columns)
        elif known >= 2 or (len(cells) > 1 and known and all(_is_title(text, cell) for cell in cells)):
            columns = header
            if len(cells) == 2 and header[0] is not None and header[1] is None:
                # "Patient | Roe, Jane": perhaps a label and its value.
                yield from _row(text, cells[1:], [header[0]], person="listed")
        else:
            columns = []
            for k, label in enumerate(header[:-1]):
                if label is not None:
                    yield from _row(text, [cells[k + 1]], [label])
                    fields = len(cells) == 2


def _is_field(text: str, cells: Sequence[Cell], header: Sequence[Label | None], *, after_field: bool) -> bool:
    """Whether a row is a label and its value, and not the header of a table of two columns."""
    if len(cells) != 2 or header[0] not in _NAMED or header[1] is not None or _title(text, cells[1]) in _PLAIN:
        return False
    return after_field or validator_named("correspondent")(text, *cells[1]) == cells[1]


def _headed(
    text: str,
    cells_of: Callable[[str, int, int], list[Cell]],
    row_of: Callable[[list[Cell], list[Cell]], list[Cell] | None],
    *,
    least: int,
) -> Iterator[Candidate]:
    """Tables without bars: only below a header with at least two column names and no other cells."""
    heading: list[Cell] = []
    columns: list[Label | None] = []
    end = 0
    for line in _LINE.finditer(text):
        parted = _is_parted(text, end, line.start())
        start, end = line.span()
        if parted or end - start > _LONGEST_SPACED_ROW:
            columns = []
            continue
        if columns and _RULE.fullmatch(text, start, end):
            continue
        if not columns and (_NO_HEADER.search(text, start, end) or text[end - 1] == "."):
            continue
        cells = cells_of(text, start, end)
        if len(cells) < 2:
            columns = []
            continue
        header = _labels_of(text, cells)
        titles = all(_is_title(text, cell) and text[cell[1] - 1] not in ".:" for cell in cells)
        # Without bars such words follow one another in prose as well: there must be nothing else.
        plain = all(
            label is not None or _title(text, cell) in _PLAIN for label, cell in zip(header, cells, strict=True)
        )
        if len(cells) >= least and titles and plain and any(header):
            heading, columns = [(first - start, last - start) for first, last in cells], header
        elif columns:
            row = row_of(heading, [(first - start, last - start) for first, last in cells])
            if row is None:
                columns = []
            else:
                yield from _row(text, [(first + start, last + start) for first, last in row], columns)


def _spaced_cells(text: str, start: int, end: int) -> list[Cell]:
    if text.find("  ", start, end) < 0:
        return []
    return [cell.span() for cell in _SPACED_CELL.finditer(text, start, end)]


def _listed_cells(text: str, start: int, end: int) -> list[Cell]:
    if text.find(",", start, end) < 0:
        return []
    cells: list[Cell] = []
    for cell in _LISTED_CELL.finditer(text, start, end):
        last = cell.end() - (text[cell.end() - 1 : cell.end()] == ",")
        if cell.end() == cell.start():
            break
        place = trim(text, cell.start(), last)
        if place is not None and text[place[0]] == '"' and place[1] - place[0] > 1:
            place = trim(text, place[0] + 1, place[1] - 1)
        cells.append(place or (last, last))
    return cells


def _in_order(heading: list[Cell], cells: list[Cell]) -> list[Cell] | None:
    return cells if len(cells) == len(heading) else None


def _under(heading: list[Cell], cells: list[Cell]) -> list[Cell] | None:
    """The cells of a row by the columns under which they stand; None if two stand under one."""
    if len(cells) == len(heading):
        return cells
    row: list[Cell] = [(0, 0)] * len(heading)
    for cell in cells:
        under = [k for k, (start, _) in enumerate(heading) if start - _SLACK <= cell[0]]
        if not under or row[under[-1]] != (0, 0):
            return None
        row[under[-1]] = cell
    return row


def _is_parted(text: str, end: int, start: int) -> bool:
    """Whether a blank line stands between the end of a line and the start of the next."""
    return text.count("\n", end, start) > 1 or text.count("\r", end, start) > 1


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


def _labels_of(text: str, cells: Sequence[Cell]) -> list[Label | None]:
    """What each cell names as the heading of a column, or as a label."""
    titles = [_title(text, cell) for cell in cells]
    if not _GIVEN_TO_PATIENTS.isdisjoint(titles):
        titles = ["" if title == "name" else title for title in titles]
    halves = {"first", "last"} <= set(titles)
    return [Label.PATIENT if halves and title in ("first", "last") else _LABELS.get(title) for title in titles]


def _title(text: str, cell: Cell) -> str:
    start, end = cell
    return fold_term(text[start:end]).strip("*_: ") if end - start <= _LONGEST_HEADER else ""


def _is_title(text: str, cell: Cell) -> bool:
    """Whether a cell may name a column: short and without a digit."""
    surface = text[cell[0] : cell[1]]
    return 0 < len(surface) <= _LONGEST_HEADER and not any(c.isdigit() for c in surface)


def _row(
    text: str, cells: Sequence[Cell], columns: Sequence[Label | None], *, person: str = "labelled"
) -> Iterator[Candidate]:
    for (start, end), label in zip(cells, columns, strict=True):
        if label is None or start == end:
            continue
        surface = text[start:end]
        place: Cell | None = (start, end)
        if label in _NAMED:
            check = validator_named("staffed" if label is Label.DOCTOR and person == "labelled" else person)
            place = check(text, start, end) if any(c.isupper() for c in surface) else None
        elif label in _CHECKED:
            place = validator_named(_CHECKED[label])(text, start, end)
        elif not (any(map(str.isalpha, surface)) if label in _WORDED else sum(map(str.isdigit, surface)) >= 3):
            place = None
        if place is not None:
            yield Candidate.by_rule(*place, label, 0.8, OF_TABLE)
