"""The format `scan`: which file is which note, what is refused, and the contract of all readers."""

from __future__ import annotations

import hashlib
import os
import pickle
from datetime import date

import pytest
from PIL import Image

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.feeds import open_feed
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.folders import passed_over
from deid_platform.corpora.formats import file_format
from deid_platform.corpora.formats.scan import FEED, Scans, word_boxes
from deid_platform.corpora.scans import recognition
from deid_platform.corpora.scans.pages import Limits
from deid_platform.corpora.scans.recognition import Engine
from deid_platform.notes import Delivery, Note
from deid_platform.settings import FeedSettings, Settings

DAY = Delivery("letters", "2026-01-05")
LETTER = ["Dear Dr. Quillfeather,", "thank you for seeing Ann Lee (34) today."]
TEXT = "\n".join(LETTER)


@pytest.fixture(autouse=True)
def no_tesseract(monkeypatch):
    """These tests start no process: what has no text layer cannot be read."""
    monkeypatch.setattr(recognition.shutil, "which", lambda program: None)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "letters" / DAY.watermark
    path.mkdir(parents=True)
    return path


def feed(folder, **options):
    return FilesFeed("letters", folder.parent, file_format=FEED, **options)


def read(folder, **options):
    """What was read, and why the rest was refused, as (file, place, reason, note id)."""
    items = list(feed(folder, **options).notes(DAY))
    refused = [(i.file, i.row, i.reason, i.note_id) for i in items if isinstance(i, Rejection)]
    return [item for item in items if not isinstance(item, Rejection)], refused


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("letter.pdf", (Role.NOTES,)),
        ("Ann Lee.PDF", (Role.NOTES,)),
        ("patients.pdf", (Role.NOTES,)),
        ("fax.tif", (Role.NOTES,)),
        ("photo.jpeg", (Role.NOTES,)),
        ("photo.heic", (Role.NOTES,)),
        ("documents.csv", (Role.NOTES,)),
        ("documents-2.jsonl.gz", (Role.NOTES,)),
        ("documents.pdf", (Role.NOTES,)),
        ("documents.txt", ()),
        ("letter.txt", ()),
        ("letterpdf", ()),
        ("patients.csv", ()),
    ],
)
def test_letters_and_their_table_hold_notes(name, roles):
    assert FEED.roles(name) == roles


def test_a_table_says_which_note_a_file_is(folder, pdf):
    (folder / "a.pdf").write_bytes(pdf(LETTER))
    (folder / "b.pdf").write_bytes(pdf(["Second."]))
    (folder / "documents.csv").write_text(
        "file,note_id,patient_id,note_date,note_type,language\na.pdf,n1,p1,2026-01-02,letter,en\nb.pdf,n2,p2,,,\n"
    )
    first = Note("n1", TEXT, patient_id="p1", note_date=date(2026, 1, 2), note_type="letter")
    assert read(folder) == ([first, Note("n2", "Second.", patient_id="p2")], [])


def test_names_are_the_same_however_their_accents_are_written(folder, pdf):
    (folder / "Zoe\u0308.pdf").write_bytes(pdf(LETTER))
    (folder / "documents.csv").write_text("file,note_id\n Zo\u00eb.pdf ,n1\n")
    assert read(folder) == ([Note("n1", TEXT)], [])


def test_columns_of_the_table_are_mapped_like_any_others(folder, pdf):
    (folder / "a.pdf").write_bytes(pdf(LETTER))
    (folder / "documents.csv").write_text("file,DOC_ID,clerk\na.pdf,n1,x\n")
    notes, refused = read(folder, columns={"DOC_ID": "note_id"}, ignore=("clerk",))
    assert (notes, refused) == ([Note("n1", TEXT)], [])
    assert [reason for _, _, reason, _ in read(folder)[1]] == [Reason.UNKNOWN_COLUMN]


@pytest.mark.parametrize(
    ("table", "refused"),
    [
        ("a.pdf,n1\n", [("notes[1]", 1, Reason.MISSING_NOTE_ID, None)]),
        ("a.pdf,n1\nb.pdf,\n", [("notes[1]", 1, Reason.MISSING_NOTE_ID, None)]),
        ("a.pdf,n1\nb.pdf,n2\nb.pdf,n3\n", [("notes[1]", 1, Reason.DUPLICATE_ID, None)]),
        ("a.pdf,n1\nb.pdf,n1\n", [("notes[1]", 1, Reason.DUPLICATE_NOTE_ID, "n1")]),
        ("a.pdf,n1\nb.pdf,n2\nc.pdf,n3\n", [("notes[2]", 4, Reason.BROKEN_ATTACHMENT, "n3")]),
        ("a.pdf,n1\nb.pdf,n2\n../2026-01-05/a.pdf,n3\n", [("notes[2]", 4, Reason.BROKEN_ATTACHMENT, "n3")]),
        ("a.pdf,n1\nb.pdf,n2\n,n3\n", [("notes[2]", 4, Reason.MALFORMED_ROW, "n3")]),
        (
            'a.pdf,n1\nb.pdf,"n2\n',
            [("notes[1]", 1, Reason.MISSING_NOTE_ID, None), ("notes[2]", 3, Reason.MALFORMED_ROW, None)],
        ),
    ],
    ids=["unnamed", "no id", "named twice", "an id twice", "not there", "a path", "no file", "broken quoting"],
)
def test_a_file_whose_note_nobody_can_tell_is_refused_and_costs_no_other(folder, pdf, table, refused):
    (folder / "a.pdf").write_bytes(pdf(LETTER))
    (folder / "b.pdf").write_bytes(pdf(["Second."]))
    (folder / "documents.csv").write_text(f"file,note_id\n{table}")
    notes, found = read(folder)
    assert notes[0] == Note("n1", TEXT)
    assert found == refused


def test_a_file_that_the_table_does_not_name_is_not_even_opened(folder, pdf):
    (folder / "a.pdf").write_bytes(pdf(LETTER, locked=True))
    (folder / "documents.csv").write_text("file,note_id\n")
    assert read(folder) == ([], [("notes[0]", 1, Reason.MISSING_NOTE_ID, None)])


def test_two_tables_are_one(folder, pdf):
    for name in ("a", "b"):
        (folder / f"{name}.pdf").write_bytes(pdf(LETTER))
    (folder / "documents-1.csv").write_text("file,note_id\na.pdf,n1\n")
    (folder / "documents-2.jsonl").write_text('{"file": "b.pdf", "note_id": "n2"}\n')
    assert read(folder) == ([Note("n1", TEXT), Note("n2", TEXT)], [])


def test_a_table_that_was_corrected_is_read_anew(folder, pdf):
    (folder / "a.pdf").write_bytes(pdf(LETTER))
    table = folder / "documents.csv"
    for ordinal, note_id in enumerate(("n1", "n2", "n33")):
        table.write_text(f"file,note_id\na.pdf,{note_id}\n")
        os.utime(table, (ordinal, ordinal))
        assert [note.note_id for note in read(folder)[0]] == [note_id]


def test_a_letter_that_is_called_otherwise_has_another_row_and_the_fingerprint_says_so(folder, pdf):
    for name in ("a.pdf", "b.pdf"):
        (folder / name).write_bytes(pdf([name]))
    (folder / "documents.csv").write_text("file,note_id\na.pdf,n1\nb.pdf,n2\nc.pdf,n3\n")
    before = feed(folder).fingerprint(DAY)
    (folder / "b.pdf").rename(folder / "c.pdf")
    assert [note.note_id for note in read(folder)[0]] == ["n1", "n3"]
    assert feed(folder).fingerprint(DAY) != before


def test_without_a_table_a_letters_id_is_its_content_and_not_its_name(folder, pdf):
    content = pdf(LETTER)
    (folder / "Ann Lee.pdf").write_bytes(content)
    (folder / "scan001.pdf").write_bytes(pdf(["Second."]))
    notes, refused = read(folder)
    assert refused == []
    assert notes[0].note_id == f"scan-{hashlib.sha256(content).hexdigest()[:32]}"
    assert len({note.note_id for note in notes}) == 2
    (folder / "Ann Lee.pdf").rename(folder / "other.pdf")
    assert {note.note_id for note in read(folder)[0]} == {note.note_id for note in notes}


def test_a_letter_that_was_scanned_twice_in_one_file_each_is_one_note(folder, pdf):
    for name in ("a.pdf", "b.pdf"):
        (folder / name).write_bytes(pdf(LETTER))
    notes, refused = read(folder)
    assert len(notes) == 1
    assert [(file, place, reason) for file, place, reason, _ in refused] == [("notes[1]", 1, Reason.DUPLICATE_NOTE_ID)]


def test_what_cannot_be_read_is_refused_by_its_page_and_costs_no_other(folder, pdf):
    files = {
        "a.pdf": pdf(LETTER),
        "b.pdf": pdf(LETTER, locked=True),
        "c.pdf": b"%PDF-1.4 Ann Lee",
        "d.pdf": pdf(LETTER, []),
        "e.heic": b"Ann Lee",
        "g.pdf": pdf(["Last."]),
        "h.pdf": pdf(*[LETTER] * 4),
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    Image.new("L", (40, 30), 255).save(folder / "f.png")
    rows = "".join(f"{name},n{name[0]}\n" for name in sorted({*files, "f.png"}))
    (folder / "documents.csv").write_text(f"file,note_id\n{rows}")
    items = list(FilesFeed("letters", folder.parent, file_format=Scans(limits=Limits(pages=3))).notes(DAY))
    assert [item.note_id for item in items if isinstance(item, Note)] == ["na", "ng"]
    assert [(item.note_id, item.row, item.reason) for item in items if isinstance(item, Rejection)] == [
        ("nb", 1, Reason.LOCKED_FILE),
        ("nc", 1, Reason.UNREADABLE_FILE),
        ("nd", 1, Reason.UNSUPPORTED_CONTENT),
        ("ne", 1, Reason.UNSUPPORTED_CONTENT),
        ("nf", 1, Reason.UNSUPPORTED_CONTENT),
        ("nh", 4, Reason.LIMIT_EXCEEDED),
    ]


def test_a_letter_longer_than_wanted_is_refused_as_any_note_is(folder, pdf):
    (folder / "a.pdf").write_bytes(pdf(LETTER))
    assert [reason for _, _, reason, _ in read(folder, max_chars=len(TEXT) - 1)[1]] == [Reason.TEXT_TOO_LONG]
    assert len(read(folder, max_chars=len(TEXT))[0]) == 1


def test_other_files_are_passed_over_and_counted(folder, pdf):
    (folder / "a.pdf").write_bytes(pdf(LETTER))
    (folder / "letter.docx").write_bytes(b"x")
    assert len(read(folder)[0]) == 1
    assert passed_over(folder, FEED) == (1, 0)


def test_boxes_lead_from_a_notes_text_to_the_page(folder, pdf):
    path = folder / "a.pdf"
    path.write_bytes(pdf(LETTER, ["Ann Lee again."]))
    (note,), _ = read(folder)
    pages = word_boxes(path)
    assert [note.text[word.start : word.end] for page in pages for word in page.words] == note.text.split()
    assert {word.confidence for page in pages for word in page.words} == {1.0}


def test_the_feeds_settings_choose_engine_and_language(tmp_path):
    chosen = FeedSettings(format="scan", path=tmp_path, recognition="doctr", defaults={"language": "es"})
    reader = open_feed(Settings(site="demo", feeds={"letters": chosen}), "letters", spool=tmp_path)
    assert reader.file_format == Scans(engine=Engine.DOCTR, language="es")
    plain = FeedSettings(format="scan", path=tmp_path)
    reader = open_feed(Settings(site="demo", feeds={"letters": plain}), "letters", spool=tmp_path)
    assert reader.file_format == file_format("scan") == pickle.loads(pickle.dumps(FEED))


# The contract


@pytest.fixture
def marked_root(tmp_path, pdf, contract):
    """A feed with the marker in every value, file names among them, above all in the bad ones."""
    m = contract.MARKER
    first, second = (tmp_path / "letters" / day for day in ("2026-01-05", "2026-01-12"))
    for path in (first, second, tmp_path / "letters" / f"2026-01-19 {m}"):
        path.mkdir(parents=True)
    (first / f"{m}.pdf").write_bytes(pdf([f"Seen {m}."], [f"Signed {m}."]))
    (first / f"locked {m}.pdf").write_bytes(pdf([m], locked=True))
    (first / f"broken {m}.pdf").write_bytes(f"%PDF {m}".encode())
    (first / f"broken {m}.tiff").write_bytes(m.encode())
    (first / f"unnamed {m}.pdf").write_bytes(pdf([m]))
    (first / f"blank {m}.pdf").write_bytes(pdf([], [m]))
    names = (f"{m}.pdf", f"locked {m}.pdf", f"broken {m}.pdf", f"broken {m}.tiff", f"blank {m}.pdf", f"gone {m}.pdf")
    rows = "".join(f"{name},n{at}-{m},p-{m}\n" for at, name in enumerate(names))
    (first / "documents.csv").write_text(f'file,note_id,patient_id\n{rows},x-{m},\n{m},"{m}"{m}\n')
    (first / f"documents-{m}.jsonl").write_text(f'{{"{m}":')
    (first / "patients.csv").write_text(f"patient_id,last_name,birth_date\np-{m},{m},1950-02-01\n{m},{m},{m}\n,{m},\n")
    (first / "withdrawn.csv").write_text(f"note_id,patient_id\nw-{m},\n,q-{m}\n{m},{m}\n")
    (first / "rejoined.csv").write_text(f"patient_id,{m}\n{m},\n")
    (second / f"{m}.pdf").write_bytes(pdf([f"Corrected {m}."]))
    (second / "rejoined.csv").write_text(f"patient_id\nq-{m}\nq-{m}\n")
    return tmp_path / "letters"


def test_the_format_keeps_the_reader_contract(marked_root, contract):
    def rewrite(delivery):
        path = next((marked_root / delivery.watermark).glob("*.pdf"))
        path.write_bytes(path.read_bytes() + b"\n")

    contract.check_reader(lambda: FilesFeed("letters", marked_root, file_format=FEED), rewrite)
