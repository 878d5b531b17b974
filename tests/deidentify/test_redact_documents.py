"""`deid redact` on documents, mails and workbooks: text out, and the document stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import deid
from openpyxl import Workbook

from deid_platform.corpora.office import workbook

RTF = b"{\\rtf1 Seen by Dr. Alan Reed.{\\v Alan Reed}}"
MAIL = b"From: Alan Reed <alan.reed@example.org>\nTo: clinic@example.org\nSubject: Knee\n\nSeen by Dr. Alan Reed."


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("letter.rtf", RTF, "Seen by Dr. [DOCTOR].\n\n[not read: hidden text]"),
        ("mail.EML", MAIL, "Seen by Dr. [DOCTOR]."),
    ],
)
def test_a_document_is_one_note_and_its_text_comes_out(tmp_path: Path, name: str, content: bytes, shown: str) -> None:
    path, out = tmp_path / name, tmp_path / "out.txt"
    path.write_bytes(content)
    done = deid("redact", str(path), "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert out.read_text().endswith(shown)
    assert "Reed" not in out.read_text()
    assert "alan.reed" not in out.read_text()
    assert "the document itself is as it was and holds all of it" in done.stderr
    assert path.read_bytes() == content


def test_a_document_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "letter.rtf"
    path.write_bytes(b"{\\rtf1 Seen by Dr. Alan Reed.}")
    done = deid("redact", str(path), "-o", str(path))
    assert (done.returncode, "input-invalid" in done.stderr) == (1, True), done.stderr
    assert b"Reed" in path.read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("letter.docx", b"PK\x03\x04 cut", "truncated_file"),
        ("letter.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "locked_file"),
        ("letter.odt", b"PK", "unsupported_content"),
        ("letter.eml", b"Alan Reed", "unreadable_file"),
    ],
)
def test_a_document_that_cannot_be_read_is_refused_by_its_reason(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)
    done = deid("redact", str(tmp_path / name), "-o", str(tmp_path / "out.txt"))
    assert (done.returncode, f"1 row refused: {reason}" in done.stderr) == (3, True), done.stderr
    assert "Reed" not in done.stderr


def test_a_workbook_is_a_table_of_notes_and_ids_may_be_numbers(tmp_path: Path) -> None:
    book = Workbook()
    for row in (["note_id", "NOTE_TXT"], [7, "Seen by Dr. Alan Reed."], ["b", "Well."]):
        book.active.append(row)
    book.save(tmp_path / "notes.xlsx")
    out = tmp_path / "out.jsonl"
    done = deid("redact", str(tmp_path / "notes.xlsx"), "-o", str(out), "--columns", "NOTE_TXT=text")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["note_id"], row["text"]) for row in rows] == [("7", "Seen by Dr. [DOCTOR]."), ("b", "Well.")]


def test_a_roster_in_a_workbook_needs_its_ids_as_text(tmp_path: Path) -> None:
    (tmp_path / "notes.jsonl").write_text('{"note_id": "a", "patient_id": "007", "text": "Quillby is well."}\n')
    for number, given in enumerate(("007", 7)):
        book = Workbook()
        for row in (["patient_id", "last_name"], [given, "Quillby"]):
            book.active.append(row)
        roster = tmp_path / f"roster-{number}.xlsx"
        book.save(roster)
        done = deid("redact", str(tmp_path / "notes.jsonl"), "-o", str(tmp_path / "out"), "--patients", str(roster))
        if number:
            assert (done.returncode, "topic-invalid [patients, line 2: number_cell]" in done.stderr) == (1, True)
        else:
            assert done.returncode == 0, done.stderr
            assert "Quillby" not in (tmp_path / "out").read_text()


def test_without_the_library_the_command_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(workbook, "import_module", missing)
    (tmp_path / "notes.xlsx").write_bytes(b"PK")
    done = deid("redact", str(tmp_path / "notes.xlsx"), "-o", str(tmp_path / "out"))
    assert "document-reader-missing [openpyxl]" in done.stderr, done.stderr
