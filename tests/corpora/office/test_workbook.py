"""Workbooks as tables: ids as they are shown, and nothing hidden or beside the table read without a word."""

from __future__ import annotations

import zipfile
from datetime import date, datetime
from io import BytesIO

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.styles import Font

from deid_platform.corpora import Reason
from deid_platform.corpora.office import Limits, RefusedDocumentError, workbook
from deid_platform.corpora.office.workbook import workbook_rows
from deid_platform.errors import Code, DeidError


@pytest.fixture
def book():
    made = Workbook()
    made.active.append(["patient_id", "birth_date"])
    return made


def saved(book: Workbook) -> bytes:
    written = BytesIO()
    book.save(written)
    return written.getvalue()


def rows(book: Workbook, *, numbers: bool = False) -> list[tuple[int, object]]:
    return list(workbook_rows(saved(book), numbers=numbers))


def refusal(content: bytes, **options) -> Reason:
    with pytest.raises(RefusedDocumentError) as caught:
        list(workbook_rows(content, numbers=False, **options))
    return caught.value.reason


def test_texts_and_dates_are_what_the_sheet_shows(book):
    book.active.append(["007", date(1950, 3, 1)])
    book.active.append(["a_x000D_b", datetime.fromisoformat("1950-03-02T10:30")])
    book.active.append([None, None])
    book.active.append(["  ", "x"])
    assert rows(book) == [
        (2, {"patient_id": "007", "birth_date": date(1950, 3, 1)}),
        (3, {"patient_id": "a\rb", "birth_date": date(1950, 3, 2)}),
        (5, {"patient_id": "  ", "birth_date": "x"}),
    ]


@pytest.mark.parametrize(
    ("value", "number_format", "strict", "lenient"),
    [
        (7, "General", Reason.NUMBER_CELL, "7"),
        (7, "0", Reason.NUMBER_CELL, "7"),
        (7, "00000", "00007", "00007"),
        (7.0, "General", Reason.NUMBER_CELL, "7"),
        (-7, "00000", Reason.NUMBER_CELL, "-7"),
        (7.5, "General", Reason.NUMBER_CELL, Reason.NUMBER_CELL),
        (10**15, "General", Reason.NUMBER_CELL, Reason.NUMBER_CELL),
        (True, "General", Reason.MALFORMED_ROW, Reason.MALFORMED_ROW),
        ("#N/A", "General", Reason.MALFORMED_ROW, Reason.MALFORMED_ROW),
        ("=1+1", "General", Reason.MALFORMED_ROW, Reason.MALFORMED_ROW),
    ],
)
def test_a_number_is_an_id_only_where_no_zero_can_be_lost(book, value, number_format, strict, lenient):
    book.active.append(["x", None])
    book.active["A2"].value = value
    book.active["A2"].number_format = number_format
    for numbers, expected in ((False, strict), (True, lenient)):
        assert rows(book, numbers=numbers) == [(2, {"patient_id": expected, "birth_date": None})]


def test_a_formula_gives_the_result_that_the_file_holds(book):
    book.active.append(["=A9", "x"])
    assert list(workbook_rows(_with_result(saved(book)), numbers=False)) == [
        (2, {"patient_id": "p1", "birth_date": "x"})
    ]


def _with_result(content: bytes) -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            part = old.read(name).decode()
            for empty in ("<v></v>", "<v />", "<v/>"):
                part = part.replace(f'<c r="A2"><f>A9</f>{empty}', '<c r="A2" t="str"><f>A9</f><v>p1</v>')
            new.writestr(name, part)
    return written.getvalue()


def test_a_hidden_row_a_hidden_value_and_a_comment_cost_their_rows(book):
    sheet = book.active
    for number in range(2, 5):
        sheet.append([f"p{number}", "x" if number == 4 else None])
    sheet.row_dimensions[2].hidden = True
    sheet["A3"].comment = Comment("SECRET", "Quill")
    sheet.column_dimensions["B"].hidden = True
    assert rows(book) == [
        (2, Reason.HIDDEN_CONTENT),
        (3, Reason.UNSUPPORTED_CONTENT),
        (4, {"patient_id": "p4", "birth_date": Reason.HIDDEN_CONTENT}),
    ]


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_told_and_not_read(book, state):
    book.active.append(["p1", None])
    hidden = book.create_sheet("SECRET")
    hidden.append(["SECRET"])
    hidden.sheet_state = state
    book.create_sheet("empty")
    assert rows(book) == [(1, Reason.HIDDEN_CONTENT), (2, {"patient_id": "p1", "birth_date": None})]


def test_of_two_sheets_with_rows_nobody_knows_which_is_the_table(book):
    book.create_sheet("more").append(["x"])
    assert refusal(saved(book)) is Reason.SEVERAL_SHEETS


def test_a_value_without_a_column_costs_its_row_and_a_far_cell_nothing_else(book):
    book.active.append(["p1", None, "beside"])
    book.active["XFD1048576"] = "far"
    book.active["A3"] = "p2"
    assert rows(book) == [
        (2, Reason.MALFORMED_ROW),
        (3, {"patient_id": "p2", "birth_date": None}),
        (1048576, Reason.MALFORMED_ROW),
    ]


@pytest.mark.parametrize("head", [["id", "id"], ["id", 1]])
def test_a_header_that_tells_no_columns_apart_is_none(head):
    made = Workbook()
    made.active.append(head)
    made.active["A1"].font = Font(bold=True)
    assert refusal(saved(made)) is Reason.UNREADABLE_FILE


def test_an_empty_workbook_has_no_rows():
    assert rows(Workbook()) == []


def test_locked_broken_and_huge_workbooks_are_refused(book, archive):
    content = saved(book)
    assert refusal(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")) is Reason.LOCKED_FILE
    assert refusal(content[:300]) is Reason.TRUNCATED_FILE
    assert refusal(archive({"xl/workbook.xml": "<SECRET"})) is Reason.UNREADABLE_FILE
    assert refusal(content, limits=Limits(part_bytes=100)) is Reason.LIMIT_EXCEEDED


def test_entities_are_refused(book):
    written = BytesIO()
    with zipfile.ZipFile(BytesIO(saved(book))) as old, zipfile.ZipFile(written, "w") as new:
        for name in old.namelist():
            part = old.read(name).decode()
            if name.endswith("sheet1.xml"):
                part = f'<!DOCTYPE x [<!ENTITY a "SECRET">]>{part}'
            new.writestr(name, part)
    assert refusal(written.getvalue()) is Reason.UNREADABLE_FILE


def test_without_the_library_its_package_is_named(book, monkeypatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(workbook, "import_module", missing)
    with pytest.raises(DeidError) as caught:
        rows(book)
    assert (caught.value.code, caught.value.ref) == (Code.DOCUMENT_READER_MISSING, "openpyxl")
