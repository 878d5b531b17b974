"""The `files` feed: folders, roles, parts, duplicates, withdrawals, and the contract of all readers."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats.delimited import FEED as TABLES
from deid_platform.corpora.single_files import read_notes, read_topic
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Facility, Note, Patient, Provider, Rejoining, Topics, Withdrawal

DAY = Delivery("ehr", "2026-01-05")


@pytest.fixture
def root(tmp_path):
    (tmp_path / "ehr").mkdir()
    return tmp_path / "ehr"


@pytest.fixture
def deliver(root):
    """Writes one file of the delivery of 2026-01-05."""

    def _deliver(name, content, watermark="2026-01-05"):
        path = root / watermark / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _deliver


def _jsonl(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def _note(number, text="Seen today."):
    return {"note_id": f"n{number}", "text": text}


def _parquet(rows):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue().to_pybytes()


def _split(items):
    """What was read and why the rest was refused, as (file, row, reason)."""
    items = list(items)
    refused = [(i.file, i.row, i.reason) for i in items if isinstance(i, Rejection)]
    return [i for i in items if not isinstance(i, Rejection)], refused


# Deliveries


def test_deliveries_come_by_watermark_and_unfinished_folders_wait(root):
    for folder in ("20260201T0600", "2026-01-05", "2026-01-20", "7", ".hidden", "_SUCCESS", "2026-03-01.tmp"):
        (root / folder).mkdir()
    (root / "2026-02-02").write_text("a file is no delivery")
    feed = FilesFeed("ehr", root)
    assert [d.watermark for d in feed.deliveries()] == ["7", "2026-01-05", "2026-01-20", "20260201T0600"]
    assert feed.refused() == []


def test_a_folder_that_is_no_watermark_is_refused_and_hides_no_other(root):
    for folder in ("2026-01-05", "20260105", "John Smith", "2026-01-06"):
        (root / folder).mkdir()
    feed = FilesFeed("ehr", root)
    assert [d.watermark for d in feed.deliveries()] == ["2026-01-05", "2026-01-06"]
    # 20260105 is the same moment as 2026-01-05: the two would have no order.
    assert [(e.code, e.ref) for e in feed.refused()] == [
        (Code.DELIVERY_NAME, "ehr[2]"),
        (Code.DELIVERY_NAME, "ehr[3]"),
    ]


def test_a_feed_whose_folder_is_absent_says_so(tmp_path):
    with pytest.raises(DeidError) as caught:
        FilesFeed("ehr", tmp_path / "absent").deliveries()
    assert (caught.value.code, caught.value.ref) == (Code.FEED_UNREADABLE, "ehr")


def test_a_delivery_of_another_feed_is_not_read(root):
    (root / "1").mkdir()
    with pytest.raises(DeidError) as caught:
        FilesFeed("ehr", root).notes(Delivery("lab", "1"))
    assert (caught.value.code, caught.value.ref) == (Code.FEED_UNREADABLE, "lab@1")


def test_a_feed_is_refused_when_it_is_made(root):
    with pytest.raises(DeidError) as caught:
        FilesFeed("ehr", root, columns={"BODY": "body"})
    assert (caught.value.code, caught.value.ref) == (Code.FEED_MAPPING, "columns.BODY")
    with pytest.raises(DeidError) as caught:
        FilesFeed("not a feed", root)
    assert caught.value.code is Code.DELIVERY_NAME


# Files of a delivery


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.jsonl", _jsonl(_note(1), _note(2)).encode()),
        ("notes.jsonl.gz", gzip.compress(_jsonl(_note(1), _note(2)).encode(), mtime=0)),
        ("notes.jsonl.zst", bytes(pa.Codec("zstd").compress(_jsonl(_note(1), _note(2)).encode()))),
        ("notes.csv", b"note_id,text\nn1,Seen today.\nn2,Seen today.\n"),
        ("notes.csv.gz", gzip.compress(b"note_id,text\nn1,Seen today.\nn2,Seen today.\n", mtime=0)),
        ("notes.parquet", _parquet([_note(1), _note(2)])),
        ("notes.parquet.gz", gzip.compress(_parquet([_note(1), _note(2)]), mtime=0)),
        ("notes-0001 of 2.jsonl", _jsonl(_note(1), _note(2)).encode()),
    ],
    # Not the bytes: a gzip header holds the time, and every worker must collect the same names.
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_format_gives_the_same_notes(root, deliver, name, content):
    deliver(name, content)
    assert _split(FilesFeed("ehr", root).notes(DAY)) == ([Note("n1", "Seen today."), Note("n2", "Seen today.")], [])


def test_parts_are_read_by_name_and_share_their_ids(root, deliver):
    deliver("notes-2.csv", "note_id,text\nn3,z\nn1,again\n")
    deliver("notes-1.jsonl", _jsonl(_note(1), _note(2)))
    notes, refused = _split(FilesFeed("ehr", root).notes(DAY))
    assert [n.note_id for n in notes] == ["n1", "n2", "n3"]
    assert refused == [("notes[1]", 3, Reason.DUPLICATE_NOTE_ID)]


def test_of_two_rows_with_one_id_the_first_good_one_stands(root, deliver):
    deliver("notes.jsonl", _jsonl(_note(1, ""), _note(1, "good"), _note(1, "later"), _note(2)))
    notes, refused = _split(FilesFeed("ehr", root).notes(DAY))
    assert [n.text for n in notes] == ["good", "Seen today."]
    assert refused == [("notes[0]", 1, Reason.EMPTY_TEXT), ("notes[0]", 3, Reason.DUPLICATE_NOTE_ID)]


def test_other_files_and_unfinished_ones_are_passed_over(root, deliver):
    deliver("notes.jsonl", _jsonl(_note(1)))
    for name in ("README.md", "notebook.jsonl", "checksums.txt", ".notes.jsonl", "_notes.csv", "notes-2.jsonl.tmp"):
        deliver(name, "not to be read")
    assert _split(FilesFeed("ehr", root).notes(DAY)) == ([Note("n1", "Seen today.")], [])


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("withdrawn_2.csv", "withdrawn"),
        ("Withdrawn (1).csv", "withdrawn"),
        ("withdrawals.csv", "withdrawn"),
        ("withdrawn2.csv.gz", "withdrawn"),
        ("WITHDRAWAL LIST.xlsx", "withdrawn"),
        ("rejoining.jsonl", "rejoined"),
        ("patients_2026.parquet", "patients"),
        ("notes copy.jsonl", "notes"),
        ("withdrawal_12.ann", None),
        ("notes_12.txt", None),
        ("notebook.jsonl", None),
        ("patientsafety.csv", None),
        ("our withdrawn.csv", None),
    ],
)
def test_a_table_whose_name_nearly_says_a_role_is_not_passed_over(name, role):
    """A withdrawal that is passed over shows somebody who left."""
    assert TABLES.roles(name) == (() if role is None else (Role(role),))


@pytest.mark.parametrize("name", ["notes.xls", "notes.json", "Notes.txt", "notes.jsonl.bz2", "notes-2", "notes"])
def test_a_file_that_claims_a_role_in_no_known_format_is_refused(root, deliver, name):
    deliver("notes-0.jsonl", _jsonl(_note(1)))
    deliver(name, _jsonl(_note(2)))
    notes, refused = _split(FilesFeed("ehr", root).notes(DAY))
    assert [n.note_id for n in notes] == ["n1"]
    reason = Reason.SPREADSHEET if name.endswith("xls") else Reason.UNREADABLE_FILE
    assert [(row, reason) for _, row, reason in refused] == [(1, reason)]


def test_what_is_no_plain_file_is_refused_without_waiting_for_it(root, deliver):
    deliver("notes.jsonl", _jsonl(_note(1)))
    (root / DAY.watermark / "notes-dir.parquet").mkdir()
    os.mkfifo(root / DAY.watermark / "notes-fifo.jsonl")
    feed = FilesFeed("ehr", root)
    notes, refused = _split(feed.notes(DAY))
    assert [n.note_id for n in notes] == ["n1"]
    assert [reason for *_, reason in refused] == [Reason.UNREADABLE_FILE] * 2
    assert feed.fingerprint(DAY) == feed.fingerprint(DAY)


def test_a_broken_file_costs_its_lost_rows_and_no_other_file(root, deliver):
    good = [_note(i) for i in range(500)]
    deliver("notes-1.jsonl.gz", gzip.compress(_jsonl(*good).encode())[:-12])
    deliver("notes-2.parquet", "not parquet at all")
    deliver("notes-3.csv", "note_id,text\nlast,Seen today.\n")
    notes, refused = _split(FilesFeed("ehr", root).notes(DAY))
    assert [n.note_id for n in notes[:-1]] == [f"n{i}" for i in range(len(notes) - 1)]
    assert notes[-1].note_id == "last"
    assert refused == [
        ("notes[0]", len(notes), Reason.TRUNCATED_FILE),
        ("notes[1]", 1, Reason.UNREADABLE_FILE),
    ]


def test_every_bad_note_has_its_reason_and_the_good_ones_go_on(root, deliver):
    rows = [
        b'{"note_id":"n1","text":"good"}',
        b'{"text":"x"}',
        b'{"note_id":"n1","text":"again"}',
        b'{"note_id":"n2","text":" "}',
        b'{"note_id":"n3","text":"' + b"x" * 51 + b'"}',
        b'{"note_id":"n4","text":"caf\xe9"}',
        b'{"note_id":"n5","text":"a\\u0000b"}',
        b'{"note_id":"n6","text":"a\\ud800b"}',
        b'{"note_id":"n7","text":"x","note_date":"2026-02-30"}',
        b'{"note_id":"n8","text":"x","colour":"blue"}',
        b"[1]",
        b'{"note_id":8,"text":"good too"}',
    ]
    deliver("notes.jsonl", b"\xef\xbb\xbf" + b"\r\n".join(rows))
    notes, refused = _split(FilesFeed("ehr", root, max_chars=50).notes(DAY))
    assert notes == [Note("n1", "good"), Note("8", "good too")]
    assert [(row, reason.value) for _, row, reason in refused] == [
        (2, "missing_note_id"),
        (3, "duplicate_note_id"),
        (4, "empty_text"),
        (5, "text_too_long"),
        (6, "invalid_utf8"),
        (7, "nul_character"),
        (8, "lone_surrogate"),
        (9, "impossible_date"),
        (10, "unknown_column"),
        (11, "malformed_row"),
    ]


def test_a_rejection_knows_its_note_where_the_row_says_it_and_never_shows_it(root, deliver):
    rows = [
        {"note_id": "zq-1", "text": " "},
        {"note_id": "zq-2", "text": "x", "note_date": "2026-02-30"},
        {"note_id": "zq-3", "text": "x" * 51},
        {"note_id": "zq-4", "text": "a\0b"},
        {"note_id": "zq-5", "text": "a\ud800b"},
        {"note_id": "zq-6", "text": "x", "colour": "blue"},
        {"note_id": "zq-7\0", "text": "x"},
        {"text": "x"},
    ]
    deliver("notes-1.jsonl", _jsonl(*rows) + '{"note_id":"zq-8","text":')
    deliver("notes-2.parquet", _parquet([{"note_id": "zq-9", "text": b"caf\xe9"}]))
    deliver("notes-3.csv", "note_id,text\nzq-10,\nzq-11,x,y\n")
    refused = list(FilesFeed("ehr", root, max_chars=50).notes(DAY))
    readable = [*(f"zq-{n}" for n in range(1, 7)), None, None, None, "zq-9", "zq-10", None]
    assert [item.note_id for item in refused] == readable
    assert "zq" not in f"{refused} {[str(item) for item in refused]}"


def test_a_note_may_be_dated_tomorrow_but_no_later(root, deliver):
    # Three days, not two: a midnight between these lines must not matter.
    days = [datetime.now(UTC).date() + timedelta(days=ahead) for ahead in (0, 1, 3)]
    deliver("notes.jsonl", _jsonl(*({**_note(i), "note_date": day.isoformat()} for i, day in enumerate(days))))
    notes, refused = _split(FilesFeed("ehr", root).notes(DAY))
    assert [n.note_date for n in notes] == days[:2]
    assert refused == [("notes[0]", 3, Reason.IMPOSSIBLE_DATE)]


def test_mapping_defaults_and_site_apply(root, deliver):
    deliver("notes.csv", "DOC,BODY,LOADED\nn1,x,yesterday\n")
    feed = FilesFeed(
        "ehr",
        root,
        columns={"DOC": "note_id", "BODY": "text"},
        ignore=["LOADED"],
        defaults={"note_type": "transcription"},
        site="north",
    )
    assert list(feed.notes(DAY)) == [Note("n1", "x", site="north", note_type="transcription")]
    assert pickle.loads(pickle.dumps(feed)) == feed


# Topics and withdrawals


def test_topics_are_this_delivery_s_upserts(root, deliver):
    deliver("patients-1.csv", "patient_id,last_name,birth_date,zip\np1,Doe,1950-02-01,02139\np1,Roe,,\n,Poe,,\n")
    deliver("patients-2.jsonl", _jsonl({"patient_id": "p2", "birth_date": "1950-02-31"}, {"patient_id": 3}))
    deliver("providers.parquet", _parquet([{"provider_id": "d1", "npi": 1000000000}]))
    beds = {"facility_id": "f1", "name": "Northside", "beds": 12}
    twice = [{"facility_id": "f2", "name": name} for name in ("Eastside", "Westside")]
    deliver("facilities.jsonl", _jsonl(beds, *twice))
    deliver("patients.csv", "patient_id\nolder\n", watermark="2026-01-04")
    topics, refused = FilesFeed("ehr", root).topics(DAY)
    assert topics == Topics.of(
        [
            Patient("p1", last_name="Roe"),
            Patient("p1", last_name="Doe", birth_date=date(1950, 2, 1), zip="02139"),
            Patient("p2"),
            Patient("3"),
        ],
        [Provider("d1", npi="1000000000")],
        [Facility("f2", name="Westside"), Facility("f2", name="Eastside")],
        undated=["p2"],
    )
    # The first row stands, and the patient, or the clinic, is still known by the name in the second.
    assert [row.name for row in topics.every_facility()] == ["Eastside", "Westside"]
    assert [row.last_name for row in topics.patients_known_as("p1")] == ["Doe", "Roe"]
    assert [(r.file, r.row, r.reason) for r in refused] == [
        ("patients[0]", 3, Reason.DUPLICATE_ID),
        ("patients[0]", 4, Reason.MISSING_ID),
        ("patients[1]", 1, Reason.IMPOSSIBLE_DATE),
        ("facilities[0]", 1, Reason.UNKNOWN_COLUMN),
        ("facilities[0]", 3, Reason.DUPLICATE_ID),
    ]


def test_a_roster_s_lost_file_is_told_from_its_refused_rows(root, deliver):
    rows = [{"patient_id": f"p{i}", "last_name": f"Quillfeather{i * i}"} for i in range(500)]
    rows[1]["birth_date"] = "1950-02-30"
    rows[2]["patient_id"] = ""
    deliver("patients-1.jsonl.gz", gzip.compress(_jsonl(*rows).encode())[:-12])
    deliver("patients-2.csv", "patient_id,last_name\nlast,Doe\n")
    deliver("providers.parquet", "not parquet at all")
    deliver("facilities.ods", "no known format")
    topics, refused = FilesFeed("ehr", root).topics(DAY)
    whole = len(topics.patients)  # rows read of the first file: one more of the second, one less for the refused
    assert 300 < whole < 500
    assert topics.patients["p1"] == Patient("p1", last_name="Quillfeather1")
    assert topics.patients["last"] == Patient("last", last_name="Doe")
    assert [(r.file, r.row, r.reason) for r in refused] == [
        ("patients[0]", 2, Reason.IMPOSSIBLE_DATE),
        ("patients[0]", 3, Reason.MISSING_ID),
        ("patients[0]", whole + 1, Reason.TRUNCATED_FILE),
        ("providers[0]", 1, Reason.UNREADABLE_FILE),
        ("facilities[0]", 1, Reason.SPREADSHEET),
    ]


def test_withdrawals_name_one_known_note_or_patient(root, deliver):
    deliver("withdrawn.csv", "note_id,patient_id\nn1,\n,p1\nn9,\n,p9\nn1,p1\n,\nn1,\n")
    found = FilesFeed("ehr", root).withdrawals(DAY, known_patients={"p1"}, known_notes={"n1"})
    withdrawn, refused = _split(found)
    assert withdrawn == [Withdrawal(note_id="n1"), Withdrawal(patient_id="p1")]
    assert [(row, reason) for _, row, reason in refused] == [
        (4, Reason.UNKNOWN_NOTE),
        (5, Reason.UNKNOWN_PATIENT),
        (6, Reason.MALFORMED_ROW),
        (7, Reason.MISSING_ID),
        (8, Reason.DUPLICATE_ID),
    ]


def test_rejoinings_name_a_patient_each_once(root, deliver):
    deliver("rejoined.csv", "patient_id\np1\n\n  p2 \np1\n")
    deliver(
        "rejoined-2.jsonl", _jsonl({"patient_id": 3}, {"patient_id": ""}, {"note_id": "n1"}, {"patient_id": ["p4"]})
    )
    back, refused = _split(FilesFeed("ehr", root).rejoinings(DAY))
    assert back == [Rejoining("3"), Rejoining("p1"), Rejoining("p2")]
    assert refused == [
        ("rejoined[0]", 2, Reason.MISSING_ID),
        ("rejoined[0]", 3, Reason.UNKNOWN_COLUMN),
        ("rejoined[0]", 4, Reason.MALFORMED_ROW),
        ("rejoined[1]", 5, Reason.DUPLICATE_ID),
    ]


def test_a_delivery_may_lack_any_file(root):
    (root / DAY.watermark).mkdir()
    feed = FilesFeed("ehr", root)
    assert list(feed.notes(DAY)) == []
    assert feed.topics(DAY) == (Topics(), [])
    assert list(feed.withdrawals(DAY, known_patients=None, known_notes=None)) == []
    assert list(feed.rejoinings(DAY)) == []


# Fingerprints


def test_the_fingerprint_follows_content_alone(root, deliver):
    path = deliver("notes.jsonl", _jsonl(_note(1)))
    deliver("patients.csv", "patient_id\np1\n")
    feed = FilesFeed("ehr", root)
    before = feed.fingerprint(DAY)
    os.utime(path, (0, 0))
    deliver("README.md", "no part of it")
    assert feed.fingerprint(DAY) == before
    prints = {before}
    for name, content in (
        ("notes.jsonl", _jsonl(_note(2))),  # of the same length
        ("notes.jsonl", _jsonl(_note(2)) + "\n"),
        ("patients.csv", "patient_id\np2\n"),
        ("withdrawn.csv", "note_id\n"),
        ("rejoined.csv", "patient_id\n"),
    ):
        deliver(name, content)
        prints.add(feed.fingerprint(DAY))
    assert len(prints) == 6


# Markers


@pytest.fixture
def marked(root, deliver):
    """A delivery whose files are all of one time."""
    for name in ("notes-1.jsonl", "notes-2.jsonl", "patients.csv"):
        os.utime(deliver(name, "x"), ns=(10**18, 10**18))
    return root / DAY.watermark


def _add(folder):
    (folder / "withdrawn.csv").touch()


def _remove(folder):
    (folder / "notes-2.jsonl").unlink()


def _resize(folder):
    (folder / "patients.csv").write_text("xy")
    os.utime(folder / "patients.csv", ns=(10**18, 10**18))


def _touch(folder):
    os.utime(folder / "notes-1.jsonl", ns=(10**18, 10**18 + 1))


def _change_role(folder):
    (folder / "notes-2.jsonl").rename(folder / "providers.jsonl")


def _change_format(folder):
    (folder / "patients.csv").rename(folder / "patients.jsonl")


@pytest.mark.parametrize("change", [_add, _remove, _resize, _touch, _change_role, _change_format])
def test_the_marker_changes_with_any_file(root, marked, change):
    feed = FilesFeed("ehr", root)
    before = feed.marker(DAY)
    assert feed.marker(DAY) == before
    change(marked)
    assert feed.marker(DAY) != before


def test_the_marker_passes_over_what_is_no_part_of_the_delivery_yet(root, marked, deliver):
    feed = FilesFeed("ehr", root)
    before = feed.marker(DAY)
    for name in ("README.md", ".notes-3.jsonl", "notes-3.jsonl.tmp"):
        deliver(name, "x")
    assert feed.marker(DAY) == before


def test_the_marker_reads_no_content(root, marked):
    feed = FilesFeed("ehr", root)
    marker, fingerprint = feed.marker(DAY), feed.fingerprint(DAY)
    (marked / "patients.csv").write_text("y")
    os.utime(marked / "patients.csv", ns=(10**18, 10**18))
    assert feed.marker(DAY) == marker
    assert feed.fingerprint(DAY) != fingerprint


def test_the_marker_stands_a_link_that_leads_nowhere(root, marked):
    feed = FilesFeed("ehr", root, follow_links=True)
    (marked / "notes-3.jsonl").symlink_to(root / "later")
    before = feed.marker(DAY)
    (root / "later").touch()
    assert feed.marker(DAY) != before


# Single files, as the command line reads them


def test_a_single_file_needs_no_feed(tmp_path):
    path = tmp_path / "my export.jsonl"
    path.write_text(_jsonl(_note(1), {"note_id": "n2"}))
    assert _split(read_notes(path)) == ([Note("n1", "Seen today.")], [("notes[0]", 2, Reason.EMPTY_TEXT)])
    path = tmp_path / "people.csv"
    path.write_text("patient_id,last_name\np1,Doe\np1,Doe\n")
    topics, refused = read_topic(path, Role.PATIENTS)
    assert topics == Topics.of([Patient("p1", last_name="Doe")])
    assert Counter(r.reason for r in refused) == {Reason.DUPLICATE_ID: 1}
    path.write_text("patient_id,last_name,birth_date\np1,Doe,1950-02-30\n")
    topics, refused = read_topic(path, Role.PATIENTS)
    assert topics == Topics.of([Patient("p1", last_name="Doe")], undated=["p1"])
    assert refused == [Rejection(Role.PATIENTS, "patients[0]", 2, Reason.IMPOSSIBLE_DATE)]


@pytest.mark.parametrize("name", ["absent.jsonl", "notes.docx"])
def test_a_single_file_that_cannot_be_read_is_one_rejection(tmp_path, name):
    (tmp_path / "notes.docx").write_text("x")
    assert list(read_notes(tmp_path / name)) == [Rejection(Role.NOTES, "notes[0]", 1, Reason.UNREADABLE_FILE)]


@pytest.mark.process
def test_plain_files_are_read_without_heavy_imports(tmp_path):
    path = tmp_path / "n.jsonl"
    path.write_text(_jsonl(_note(1)))
    code = (
        "import sys, pathlib; from deid_platform.corpora.single_files import read_notes;"
        f"assert len(list(read_notes(pathlib.Path({str(path)!r})))) == 1;"
        "print(sorted({'pyarrow', 'pandas', 'numpy', 'sqlalchemy', 'dagster'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# The contract


@pytest.fixture
def marked_root(root, deliver, contract):
    """A feed with the marker in every value, above all in the bad ones."""
    m = contract.MARKER
    good = {"note_id": f"n-{m}", "text": f"Seen {m}.\r\nStable.", "patient_id": f"p-{m}", "note_date": "2026-01-05"}
    bad = [
        json.dumps({**good, "text": "again"}),
        json.dumps({"text": m}),
        json.dumps({"note_id": m, "text": ""}),
        json.dumps({**good, "note_id": f"{m}1", "note_date": f"2026-02-30 {m}"}),
        json.dumps({**good, "note_id": f"{m}2", m: m}),
        json.dumps({**good, "note_id": f"{m}3", "text": f"{m}\0"}),
        json.dumps({**good, "note_id": f"{m}4", "text": f"{m}\ud800"}),
        json.dumps({**good, "note_id": f"{m}5", "text": m * 1000}),
        json.dumps({**good, "note_id": [m]}),
        f'{{"note_id":"{m}","note_id":"{m}"}}',
        f'{{"note_id":NaN,"text":"{m}"}}',
        f'{{"note_id":"{m}","text":',
        m,
    ]
    deliver(f"notes-{m}.jsonl", json.dumps(good) + "\n" + "\n".join(bad) + "\n")
    deliver(f"notes-{m}-latin.csv", f"note_id,text\n{m}6,".encode() + b"caf\xe9" + f'\n{m}7,"{m}"{m}\n'.encode())
    deliver(f"notes-{m}-cut.jsonl.gz", gzip.compress(f'{{"note_id":"{m}8","text":"{m}"}}\n'.encode() * 9)[:-12])
    deliver(f"notes-{m}.parquet", m)
    deliver(f"notes.{m}", m)
    deliver("patients.csv", f"patient_id,last_name,birth_date\np-{m},{m},1950-02-01\n{m},{m},{m}\n,{m},\n")
    deliver("providers.jsonl", json.dumps({"provider_id": m, "last_name": m}) + f'\n{{"{m}":')
    deliver("facilities.csv", f"facility_id,name\n{m},{m}\n{m},{m}\n")
    deliver("withdrawn.csv", f"note_id,patient_id\nw-{m},\n,q-{m}\n{m},{m}\n")
    deliver("rejoined.csv", f"patient_id,{m}\n{m},\n")
    deliver("notes.jsonl", json.dumps({**good, "text": f"Corrected: {m}."}), watermark="2026-01-12")
    deliver("rejoined.csv", f"patient_id\nq-{m}\nq-{m}\n", watermark="2026-01-12")
    (root / f"2026-01-19 {m}").mkdir()
    return root


def test_the_files_feed_keeps_the_reader_contract(marked_root, contract):
    def rewrite(delivery):
        path = marked_root / delivery.watermark / "patients.csv"
        path.write_bytes(path.read_bytes() + b"later,Doe,\n")

    contract.check_reader(lambda: FilesFeed("ehr", marked_root, max_chars=500), rewrite)


def test_a_refused_folder_is_not_named(marked_root, contract):
    (error,) = FilesFeed("ehr", marked_root).refused()
    contract.assert_quiet(error)


def test_nothing_that_a_row_holds_reaches_standard_error(marked_root, contract, capfd):
    feed = FilesFeed("ehr", marked_root, max_chars=500)
    contract.everything(feed, DAY)
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""
