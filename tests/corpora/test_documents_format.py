"""The format `documents` and workbooks as tables: which file is which note, what is refused, and the contract."""

from __future__ import annotations

import hashlib
from datetime import date

import pytest
from openpyxl import Workbook

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.feeds import open_feed
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats.documents import FEED
from deid_platform.corpora.office import outlook, workbook
from deid_platform.notes import Delivery, Note, Patient
from deid_platform.settings import FeedSettings, Settings

DAY = Delivery("letters", "2026-01-05")
RTF = b"{\\rtf1 Seen by Dr. Quill.}"
EML = b"From: Ann <a@x.org>\nSubject: Pain\n\nIt hurts."


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "letters" / DAY.watermark
    path.mkdir(parents=True)
    return path


def read(folder, file_format=FEED, **options):
    """What was read, and why the rest was refused, as (file, place, reason, note id)."""
    items = list(FilesFeed("letters", folder.parent, file_format=file_format, **options).notes(DAY))
    refused = [(i.file, i.row, i.reason, i.note_id) for i in items if isinstance(i, Rejection)]
    return [item for item in items if not isinstance(item, Rejection)], refused


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("letter.docx", (Role.NOTES,)),
        ("Ann Lee.RTF", (Role.NOTES,)),
        ("patients.eml", (Role.NOTES,)),
        ("mail.msg", (Role.NOTES,)),
        ("letter.doc", (Role.NOTES,)),
        ("letter.odt", (Role.NOTES,)),
        ("documents.csv", (Role.NOTES,)),
        ("letter.txt", ()),
        ("letter.pdf", ()),
        ("patients.xlsx", ()),
    ],
)
def test_documents_and_their_table_hold_notes(name, roles):
    assert FEED.roles(name) == roles


def test_a_table_says_which_note_a_file_is(folder):
    (folder / "a.rtf").write_bytes(RTF)
    (folder / "b.eml").write_bytes(EML)
    (folder / "c.rtf").write_bytes(RTF)
    (folder / "documents.csv").write_text("file,note_id,patient_id,note_date\na.rtf,n1,p1,2026-01-02\nb.eml,n2,p2,\n")
    notes, refused = read(folder)
    assert notes == [
        Note("n1", "Seen by Dr. Quill.", patient_id="p1", note_date=date(2026, 1, 2)),
        Note("n2", "From: Ann <a@x.org>\nSubject: Pain\n\nIt hurts.", patient_id="p2"),
    ]
    assert refused == [("notes[2]", 1, Reason.MISSING_NOTE_ID, None)]


def test_without_a_table_the_bytes_say_it_and_never_the_name(folder):
    (folder / "Ann Lee.rtf").write_bytes(RTF)
    ((note,), _) = read(folder)
    assert note.note_id == f"document-{hashlib.sha256(RTF).hexdigest()[:32]}"


def test_what_cannot_be_read_is_refused_alone_with_its_reason(folder, monkeypatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(outlook, "import_module", missing)
    contents = {
        "a.docx": b"no zip", "b.doc": b"\xd0\xcf\x11\xe0", "c.rtf": b"{\\rtf1 cut", "d.rtf": RTF,
        "e.msg": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "f.eml": b"no mail", "g.rtf": b"{\\rtf1 {\\v SECRET}}",
    }  # fmt: skip
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "h.rtf").mkdir()
    notes, refused = read(folder)
    assert [note.text for note in notes] == ["Seen by Dr. Quill.", "[not read: hidden text]"]
    assert [reason for _, _, reason, _ in refused] == [
        Reason.UNREADABLE_FILE, Reason.UNSUPPORTED_CONTENT, Reason.TRUNCATED_FILE, Reason.UNSUPPORTED_CONTENT,
        Reason.UNREADABLE_FILE, Reason.UNREADABLE_FILE,
    ]  # fmt: skip


def test_the_feed_keeps_the_reader_contract(tmp_path, contract):
    m = contract.MARKER
    root = tmp_path / "ehr"

    def deliver(watermark, file, content):
        path = root / watermark / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    deliver("2026-01-05", f"n-{m}.rtf", f"{{\\rtf1 Seen {m}.}}")
    deliver("2026-01-05", f"m-{m}.eml", f"From: {m}\nSubject: {m}\n\n{m}")
    for ending in ("docx", "rtf", "eml", "msg", "doc"):
        deliver("2026-01-05", f"bad-{m}.{ending}", m)
    deliver("2026-01-05", "patients.csv", f"patient_id,last_name,birth_date\np-{m},{m},1950-02-01\n,{m},\n")
    deliver("2026-01-05", "withdrawn.csv", f"note_id,patient_id\nw-{m},\n,q-{m}\n")
    deliver("2026-01-05", "rejoined.csv", f"patient_id,{m}\n{m},\n")
    deliver("2026-01-12", "rejoined.csv", f"patient_id\nq-{m}\n")
    deliver("2026-01-12", f"n-{m}.rtf", f"{{\\rtf1 Corrected {m}.}}")
    (root / f"no delivery {m}").mkdir()

    def rewrite(delivery):
        (root / delivery.watermark / f"n-{m}.rtf").write_bytes(b"{\\rtf1 Another text.}")

    contract.check_reader(lambda: FilesFeed("ehr", root, file_format=FEED), rewrite)


def test_a_feed_of_the_settings_reads_documents_and_workbooks_beside_them(tmp_path, folder):
    book = Workbook()
    for row in (["patient_id", "last_name"], ["007", "Lee"], [8, "Bell"]):
        book.active.append(row)
    book.save(folder / "patients.xlsx")
    (folder / "a.rtf").write_bytes(RTF)
    letters = FeedSettings(format="documents", path=folder.parent, demonstration=True)
    for numbers, patients in ((False, ["007"]), (True, ["007", "8"])):
        feeds = {"letters": letters.model_copy(update={"workbook_numbers": numbers})}
        reader = open_feed(Settings(site="north", profile="demo", feeds=feeds), "letters", spool=tmp_path)
        assert [note.text for note in reader.notes(DAY)] == ["Seen by Dr. Quill."]
        topics, refused = reader.topics(DAY)
        assert [*topics.patients] == patients
        assert [r.reason for r in refused] == ([] if numbers else [Reason.NUMBER_CELL])
    assert topics.patients["007"] == Patient("007", last_name="Lee")


def test_a_workbook_without_its_library_is_refused_alone(folder, monkeypatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(workbook, "import_module", missing)
    (folder / "notes-1.xlsx").write_bytes(b"PK")
    (folder / "notes-2.csv").write_text("note_id,text\nn1,x\n")
    reader = FilesFeed("letters", folder.parent)
    items = list(reader.notes(DAY))
    assert [getattr(item, "reason", None) for item in items] == [Reason.UNSUPPORTED_CONTENT, None]
