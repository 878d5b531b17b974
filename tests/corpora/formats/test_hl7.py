"""HL7 version 2 as a feed: invented messages."""

from __future__ import annotations

import base64
import gzip
import subprocess
import sys
from datetime import date

import pytest

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats import file_format
from deid_platform.notes import Delivery, Note, Patient, Provider

DELIVERY = Delivery("ehr", "2026-01-05")
PID = (
    "PID|1||P1^^^H^MR~900-01-0001^^^S^SS||Orr^Beate^K||19500201|F|||1 Elm St^Apt 2^Ames^IA^50010||"
    "555-0101^PRN^PH^b@example.org"
)
PV1 = "PV1|1|I|W^1^2^Elm Hospital||||D2^Low^Ann^^^Dr^MD||||||||||||E1"


def mdm(note_id, *lines, event="T02", kind="TX", parent="", charset="", end="\r"):
    msh = f"MSH|^~\\&|EHR|Elm|X|Y|20251130||MDM^{event}|C1|P|2.5||||||{charset}"
    txa = f"TXA|1|PN^Progress note|TX|202511301530|||||D1^Ito^Ken|||{note_id}|{parent}"
    obx = [f"OBX|{n}|{kind}|1^Text||{line}" for n, line in enumerate(lines, 1)]
    return end.join((msh, PID, "NK1|1|Orr^Tom|SPO", PV1, txa, *obx)) + end


def oru(order, *obx, end="\r"):
    msh = "MSH|^~\\&|LAB|Elm|X|Y|20251130||ORU^R01|C7|P|2.5"
    return end.join((msh, PID, f"OBR|1||{order}|X^Chest X-ray|||20251001|||||||||D9^Ray^Max", *obx)) + end


@pytest.fixture
def feed(tmp_path):
    """A reader, and what writes one file of its delivery."""
    folder = tmp_path / "ehr" / DELIVERY.watermark
    folder.mkdir(parents=True)

    def write(content, name="in.hl7", max_chars=4000):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return FilesFeed("ehr", tmp_path / "ehr", max_chars=max_chars, file_format=file_format("hl7"))

    return write


def test_the_feed_keeps_the_reader_contract(tmp_path, contract):
    m = contract.MARKER

    def deliver(watermark, name, content):
        path = tmp_path / "ehr" / watermark / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")

    def notes(watermark, text):
        broken = mdm(f"b-{m}", f"^text^TEXT^Base64^{m}!", kind="ED")
        cancelled = mdm(f"g-{m}", event="T11")
        odd = mdm(f"o-{m}", f"{m}\\XFF\\") + mdm("", event="T11") + f"\x0b{mdm(f'c-{m}', m)}"
        deliver(watermark, f"{m}.hl7", mdm(f"n-{m}", text) + broken + cancelled + f"MSH|{m}\r" + odd)

    notes("2026-01-05", f"Seen {m}.")
    notes("2026-01-12", f"Other {m}.")
    deliver("2026-01-05", "patients.csv", f"patient_id,last_name,birth_date\np-{m},{m},1950-02-01\n,{m},\n")
    deliver("2026-01-05", "withdrawn.csv", f"note_id,patient_id\nw-{m},\n,q-{m}\n")
    deliver("2026-01-05", "rejoined.csv", f"patient_id,{m}\n{m},\n")
    deliver("2026-01-12", "rejoined.csv", f"patient_id\nq-{m}\n")
    contract.check_reader(
        lambda: FilesFeed("ehr", tmp_path / "ehr", file_format=file_format("hl7")),
        lambda delivery: notes(delivery.watermark, "Another text."),
    )


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_document_becomes_a_note(feed, end):
    framed = "\x0b" + mdm("n1", "Grüße,", "stable.", end=end) + "\x1c\r"
    (note,) = feed("FHS|x" + end + "BHS|x" + end + framed + "BTS|1" + end).notes(DELIVERY)
    assert note == Note("n1", "Grüße,\nstable.", "P1", "E1", "D1", None, "Progress note", date(2025, 11, 30))


def test_a_report_is_a_note_for_each_order_with_text(feed):
    second = "OBR|2||B2|Y^Hand X-ray|||20251002\rOBX|1|ST|1||No break.\r"
    found = list(feed(oru("B1", "OBX|1|FT|1||Clear.\\.br\\No mass.~Heart normal.") + second).notes(DELIVERY))
    assert [(n.note_id, n.text, n.note_type, n.provider_id) for n in found] == [
        ("B1", "Clear.\nNo mass.\nHeart normal.", "Chest X-ray", "D9"),
        ("B2", "No break.", "Hand X-ray", None),
    ]


def test_topics_come_from_every_message(feed):
    topics, refused = feed(mdm("n1", "One.") + mdm("n2", "Two.")).topics(DELIVERY)
    assert refused == []
    assert topics.patients["P1"] == Patient(
        "P1", "Beate", "K", "Orr", date(1950, 2, 1), "F", "P1", "900-01-0001", "555-0101", "b@example.org",
        "1 Elm St, Apt 2", "Ames", "IA", "50010", "Tom Orr",
    )  # fmt: skip
    assert topics.providers["D1"] == Provider("D1", "Ken", "Ito")
    assert topics.providers["D2"] == Provider("D2", "Ann", "Low", "MD")
    assert {row.name for row in topics.facilities.values()} == {"Elm", "Elm Hospital"}


def test_the_last_name_of_a_patient_stands_and_the_earlier_one_is_known(feed):
    married = mdm("n2", "Two.").replace("Orr^Beate", "Hale^Beate")
    topics, _ = feed(mdm("n1", "One.") + married).topics(DELIVERY)
    assert topics.patients["P1"].last_name == "Hale"
    assert [row.last_name for row in topics.former["P1"]] == ["Orr"]


def test_of_two_messages_about_one_document_the_last_stands(feed):
    edited = mdm("n1", "Corrected.", event="T08")
    found = list(feed(mdm("n1", "Wrong.") + mdm("n2", "Other.") + edited).notes(DELIVERY))
    assert [(note.note_id, note.text) for note in found] == [("n2", "Other."), ("n1", "Corrected.")]


def test_of_two_files_the_message_in_the_last_by_name_stands(feed):
    feed(mdm("n1", "first") + mdm("n2", "kept"), name="1.hl7")
    reader = feed(mdm("n1", "second"), name="2.hl7")
    found = list(reader.notes(DELIVERY))
    assert {note.note_id: note.text for note in found if isinstance(note, Note)} == {"n1": "second", "n2": "kept"}
    assert [(r.reason, r.file) for r in found if isinstance(r, Rejection)] == [(Reason.DUPLICATE_NOTE_ID, "notes[0]")]


def test_no_note_of_an_earlier_file_stands_for_a_newest_that_cannot_be_read(feed):
    feed(mdm("n1", "first"), name="1.hl7")
    reader = feed(mdm("n1", "^text^TEXT^Base64^!", kind="ED"), name="2.hl7")
    assert [item.reason for item in reader.notes(DELIVERY)] == [Reason.BROKEN_ATTACHMENT, Reason.DUPLICATE_NOTE_ID]


@pytest.mark.parametrize(
    ("message", "left"),
    [
        (mdm("n1", event="T11"), ["n2"]),
        (mdm("n3", "New.", event="T10", parent="n1"), ["n2", "n3"]),
        (mdm("n3", "More.", event="T06", parent="n1"), ["n1", "n2", "n3"]),
    ],
)
def test_cancelled_and_replaced_documents_are_withdrawn(feed, message, left):
    reader = feed(mdm("n1", "One.") + mdm("n2", "Two.") + message)
    assert [note.note_id for note in reader.notes(DELIVERY)] == left
    gone = list(reader.withdrawals(DELIVERY, known_patients=None, known_notes=None))
    assert [it.note_id for it in gone] == ([] if "n1" in left else ["n1"])


PACKED = base64.b64encode(b"Attached.").decode()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a\\T\\b\\S\\c\\F\\d\\R\\e\\E\\f", "a&b^c|d~e\\f"),
        ("one\\.br\\two", "one\ntwo"),
        ("\\H\\bold\\N\\ \\XC3A9\\", "bold é"),
        ("  - indented", "  - indented"),
        ("Ann\\.sk1\\Low\\.sp2\\well", "Ann Low\n\nwell"),
        ("pain 5\\10, then 3\\10 in C\\T\\D", "pain 5\\10, then 3\\10 in C&D"),
        ("caf\\XC3\\\\XA9\\ at 2", "café at 2"),
        ("\\.in+4\\\\.ti-2\\indented\\C2842\\\\Z1\\", "indented"),
    ],
)
def test_escapes(feed, written, read):
    (note,) = feed(mdm("n1", written)).notes(DELIVERY)
    assert note.text == read


def test_attached_text_is_decoded(feed):
    (note,) = feed(mdm("n1", f"^AP^TEXT^Base64^{PACKED}", kind="ED")).notes(DELIVERY)
    assert note.text == "Attached."


def test_other_delimiters_and_character_sets(feed):
    message = mdm("n1", "Café", charset="8859/1").replace("|", "#").replace("^", "%")
    (note,) = feed(message.encode("latin-1")).notes(DELIVERY)
    assert (note.text, note.provider_id) == ("Café", "D1")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("MSH|\r", Reason.MALFORMED_ROW),
        ("MSH|^^^&|EHR|Elm\r", Reason.MALFORMED_ROW),
        (mdm("n9", "x").replace("TXA|", "ZZZ|"), Reason.MALFORMED_ROW),
        (mdm("n9"), Reason.EMPTY_TEXT),
        (mdm("", "x"), Reason.MISSING_NOTE_ID),
        (mdm("n9", "a" * 5000), Reason.TEXT_TOO_LONG),
        (mdm("n9", "^x^TEXT^Base64^%%%", kind="ED"), Reason.BROKEN_ATTACHMENT),
        (mdm("n9", f"^x^PDF^Base64^{PACKED}", kind="ED"), Reason.UNSUPPORTED_CONTENT),
        (mdm("n9", "7.2", kind="NM"), Reason.UNSUPPORTED_CONTENT),
        (mdm("n9", "x").encode() + b"OBX|2|TX|1||\xff\r", Reason.INVALID_UTF8),
        (mdm("n9", *(["word " * 900] * 400)), Reason.TEXT_TOO_LONG),
        (mdm("n9", "x" * 2_000_000), Reason.TEXT_TOO_LONG),
        (mdm("n9", "\\XFF\\"), Reason.INVALID_UTF8),
        ("MSH|^~\\&|EHR|El\r", Reason.MALFORMED_ROW),
        (mdm("n9", "x").partition("OBX")[0], Reason.EMPTY_TEXT),
        (mdm("n9", "x").replace("MDM^T02", ""), Reason.MALFORMED_ROW),
        (mdm("n9", "x").replace("MDM^T02", "MDM"), Reason.MALFORMED_ROW),
        (mdm("n9", "x").replace("^~", "ab"), Reason.MALFORMED_ROW),
        (oru("n9").replace("OBR|", "ZBR|"), Reason.MALFORMED_ROW),
        (mdm("n9", "^x^TEXT^Base64^", kind="ED"), Reason.BROKEN_ATTACHMENT),
        (mdm("n9", "^x^TEXT^A^Stab", kind="ED"), Reason.UNSUPPORTED_CONTENT),
        ("\x0b" + mdm("n9", "Seen by Dr. La"), Reason.TRUNCATED_FILE),
        (oru("n9", "OBX|1|ED|1||^x^TEXT^Base64^%%%"), Reason.BROKEN_ATTACHMENT),
    ],
)
def test_a_broken_message_costs_itself_alone(feed, message, reason):
    raw = message if isinstance(message, bytes) else message.encode()
    found = list(feed(mdm("n1", "One.").encode() + raw + mdm("n2", "Two.").encode()).notes(DELIVERY))
    assert [note.note_id for note in found if isinstance(note, Note)] == ["n1", "n2"]
    (refused,) = (item for item in found if isinstance(item, Rejection))
    assert (refused.reason, refused.file, refused.row) == (reason, "notes[0]", 2)


@pytest.mark.parametrize("content", ["PID|1||P1\r", mdm("n1", "x").encode("utf-16"), b"\x89PNG\r\n\x1a\n\0"])
def test_what_is_no_message_says_so(feed, content):
    (refused,) = feed(content).notes(DELIVERY)
    assert (refused.reason, refused.file, refused.row) == (Reason.MALFORMED_ROW, "notes[0]", 1)


def test_one_id_twice_in_a_message_is_a_duplicate(feed):
    again = "OBR|2||B1|X\rOBX|1|TX|1||Other.\r"
    first, second = feed(oru("B1", "OBX|1|TX|1||Clear.") + again).notes(DELIVERY)
    assert (first.text, second.reason, second.row) == ("Clear.", Reason.DUPLICATE_NOTE_ID, 1)


@pytest.mark.parametrize(
    ("newest", "reason"),
    [
        (mdm("n1", "New \xff", event="T08").encode("latin-1"), Reason.INVALID_UTF8),
        (mdm("n1", *(["word " * 900] * 400), event="T08").encode(), Reason.TEXT_TOO_LONG),
        (mdm("n1", "^x^TEXT^Base64^%%%", event="T08", kind="ED").encode(), Reason.BROKEN_ATTACHMENT),
        (b"\x0b" + mdm("n1", "New", event="T08").encode(), Reason.TRUNCATED_FILE),
    ],
)
def test_no_older_version_stands_for_a_newest_that_cannot_be_read(feed, newest, reason):
    (refused,) = feed(mdm("n1", "Old.").encode() + newest).notes(DELIVERY)
    assert (refused.reason, refused.note_id, refused.row) == (reason, "n1", 2)


def test_frames_part_messages_and_a_closed_one_is_whole(feed):
    found = feed("\x0b" + mdm("n1", "One.") + "\x1c\x0b" + mdm("n2", "Two\x0blines.") + "\x1c\r").notes(DELIVERY)
    assert [(note.note_id, note.text) for note in found] == [("n1", "One."), ("n2", "Two\nlines.")]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (mdm("n1", "One\nMSH normal\ntwo|||F"), "One\nMSH normal\ntwo"),
        (mdm("n1", "One", "two\r\nthree", end="\r\n"), "One\ntwo\nthree"),
        ("\ufeff" + mdm("n1", "One"), "One"),
        (mdm("n1", "One").replace("MDM^T02", "MDM").replace("PID|", "EVN|T02\rPID|"), "One"),
        (mdm("n1", "caf\\XE9\\", charset="8859/1"), "café"),
        (mdm("n1", "Low", "7.2").replace("OBX|2|TX", "OBX|2|NM"), "Low"),
    ],
)
def test_what_senders_write_otherwise_is_read_all_the_same(feed, content, text):
    (note,) = feed(content).notes(DELIVERY)
    assert note.text == text


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (mdm("", event="T11"), Reason.MISSING_ID),
        (mdm("n1", event="T11").replace("TXA|", "ZZZ|"), Reason.MALFORMED_ROW),
        (mdm("n\xff", event="T11").encode("latin-1"), Reason.INVALID_UTF8),
    ],
)
def test_a_cancellation_that_does_not_say_of_what_is_refused(feed, message, reason):
    raw = message if isinstance(message, bytes) else message.encode()
    found = list(
        feed(mdm("n2", event="T11").encode() * 2 + raw).withdrawals(DELIVERY, known_patients=None, known_notes=None)
    )
    assert [it.note_id for it in found] == ["n2", None]
    assert (found[1].reason, found[1].row) == (reason, 3)


def patient(feed, old, new):
    return feed(mdm("n1", "One.").replace(old, new)).topics(DELIVERY)[0].patients["P1"]


@pytest.mark.parametrize(
    ("written", "phone", "email"),
    [
        ("^NET^Internet^b@example.org~555-0101^PRN^PH", "555-0101", "b@example.org"),
        ("b@example.org^NET~^PRN^PH^^1^555^0101", "555-0101", "b@example.org"),
        ("^PRN^PH^^^^^^^^^(555) 555-0101", "(555) 555-0101", None),
        ("", None, None),
    ],
)
def test_telephone_and_mail_in_any_repetition(feed, written, phone, email):
    found = patient(feed, "555-0101^PRN^PH^b@example.org", written)
    assert (found.phone, found.email) == (phone, email)


@pytest.mark.parametrize(
    ("written", "relatives"),
    [("Orr^Tom~Low^Tom", "Tom Orr; Tom Low"), ("Tom Orr", "Tom Orr"), ("^Tom", "Tom"), ("", None)],
)
def test_names_of_relatives_in_parts_or_whole(feed, written, relatives):
    assert patient(feed, "Orr^Tom", written).relatives == relatives


def test_a_reader_of_images_is_a_person_in_sub_components(feed):
    content = oru("B1", "OBX|1|TX|1||x").replace("D9^Ray^Max", "D9^Ray^Max" + "|" * 16 + "D8&Lee&Eva^20251001")
    topics, refused = feed(content).topics(DELIVERY)
    assert (topics.providers["D8"], refused) == (Provider("D8", "Eva", "Lee"), [])
    (note,) = feed(content).notes(DELIVERY)
    assert note.provider_id == "D8"


def test_people_that_cannot_be_known_are_told_once(feed):
    unread = mdm("n1", "x").replace("Orr^Beate", "M\xfcll^Beate").encode("latin-1")
    nameless = mdm("n2", "x").replace("D1^Ito", "^Ito").replace("NK1|", "ZZ1|").encode()
    topics, refused = feed(unread + nameless * 2).topics(DELIVERY)
    assert [(it.role.value, it.row, it.reason) for it in refused] == [
        ("patients", 1, Reason.INVALID_UTF8),
        ("providers", 2, Reason.MISSING_ID),
    ]
    assert topics.patients["P1"].last_name == "Orr"


def test_a_truncated_file_keeps_the_messages_before(feed):
    content = gzip.compress("".join(mdm(f"n{n}", f"Text {n} " * 30) for n in range(600)).encode())
    found = list(feed(content[: len(content) // 2], name="in.hl7.gz").notes(DELIVERY))
    assert found[-1].reason is Reason.TRUNCATED_FILE
    assert sum(isinstance(item, Note) for item in found) > 20


def test_a_message_about_no_document_is_no_note(feed):
    adt = mdm("n9", "x").replace("MDM^T02", "ADT^A01")
    assert [note.note_id for note in feed(adt + mdm("n1", "One.")).notes(DELIVERY)] == ["n1"]


RUN = """
import re, sys
from pathlib import Path
from deid_platform.corpora import Role
from deid_platform.corpora.formats import file_format

rows = file_format("hl7").rows(Path(sys.argv[1]), Role(sys.argv[2]), max_chars=10_000, spool=None)
print(sum(1 for _ in rows), re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc/self/status elsewhere")
@pytest.mark.parametrize("role", ["notes", "patients"])
def test_memory_does_not_grow_with_the_messages(role, tmp_path):
    peaks = []
    for count in (500, 4_000):
        path = tmp_path / f"{count}.hl7"
        path.write_text("".join(mdm(f"n{n}", f"Text {n}. " * 400) for n in range(count)))
        done = subprocess.run([sys.executable, "-c", RUN, path, role], capture_output=True, check=True)
        rows, peak = map(int, done.stdout.split())
        assert rows == (count if role == "notes" else 1)
        peaks.append(peak)
    # 3500 texts of 4 kB would take 14 MB; ids take 0.1 kB each.
    assert peaks[1] - peaks[0] < 2_000
