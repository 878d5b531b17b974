"""Feeds whose deliveries have a file a note: i2b2 and brat, with tables of the other roles beside them."""

from __future__ import annotations

import pytest

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats import file_format
from deid_platform.notes import Delivery, Note
from deid_platform.settings import FeedSettings

FORMATS = ("i2b2", "brat")
ENDING = {"i2b2": ".xml", "brat": ".txt"}


def written(name: str, text: str) -> str:
    if name == "brat":
        return text
    return f"<deIdi2b2><TEXT><![CDATA[{text}]]></TEXT><TAGS><NAME start='0' end='99' TYPE='?'/></TAGS></deIdi2b2>"


@pytest.fixture(params=FORMATS)
def name(request):
    return request.param


@pytest.fixture
def feed(name, tmp_path, contract):
    """A feed with the marker in every value and in the names of files."""
    m = contract.MARKER

    def deliver(watermark, file, content):
        path = tmp_path / "ehr" / watermark / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def note(watermark, note_id, text):
        deliver(watermark, note_id + ENDING[name], written(name, text))

    note("2026-01-05", f"n-{m}", f"Seen {m}. 👋\nStable.")
    note("2026-01-05", f"empty-{m}", " ")
    note("2026-01-05", f"long-{m}", m * 1000)
    deliver("2026-01-05", f"latin-{m}{ENDING[name]}", written(name, f"{m} caf\xe9").encode("latin-1"))
    deliver("2026-01-05", f"n-{m}.ann", f"T1\tPATIENT 0 99\t{m}\n")
    if name == "i2b2":
        deliver("2026-01-05", f"cut-{m}.xml", f"<deIdi2b2><TEXT>{m}")
    (tmp_path / "ehr" / "2026-01-05" / f"folder-{m}{ENDING[name]}").mkdir()
    deliver("2026-01-05", "patients.csv", f"patient_id,last_name,birth_date\np-{m},{m},1950-02-01\n,{m},\n")
    deliver("2026-01-05", "withdrawn.csv", f"note_id,patient_id\nw-{m},\n,q-{m}\n")
    deliver("2026-01-05", "rejoined.csv", f"patient_id,{m}\n{m},\n")
    deliver("2026-01-12", "rejoined.csv", f"patient_id\nq-{m}\n")
    note("2026-01-12", f"n-{m}", f"Corrected: {m}.")
    return tmp_path / "ehr"


def test_a_file_of_another_name_is_another_note_and_the_fingerprint_says_so(name, tmp_path, feed):
    reader, day = FilesFeed("ehr", feed, file_format=file_format(name)), Delivery("ehr", "2026-01-12")
    before, ids = reader.fingerprint(day), [note.note_id for note in reader.notes(day)]
    (path,) = (feed / day.watermark).glob(f"n-*{ENDING[name]}")
    path.rename(path.with_stem(f"{path.stem}-2"))
    assert [note.note_id for note in reader.notes(day)] != ids
    assert reader.fingerprint(day) != before
    # The name of a table says nothing but its role.
    again = reader.fingerprint(day)
    (feed / day.watermark / "rejoined.csv").rename(feed / day.watermark / "rejoined-2.csv")
    assert reader.fingerprint(day) == again


def test_the_feed_keeps_the_reader_contract(name, feed, contract):
    def rewrite(delivery):
        path = next((feed / delivery.watermark).glob(f"n-*{ENDING[name]}"))
        path.write_text(written(name, "Another text."))

    contract.check_reader(lambda: FilesFeed("ehr", feed, max_chars=500, file_format=file_format(name)), rewrite)


def test_a_note_is_called_by_its_file_and_refused_alone(name, feed, contract):
    m = contract.MARKER
    found = list(
        FilesFeed("ehr", feed, max_chars=500, file_format=file_format(name)).notes(Delivery("ehr", "2026-01-05"))
    )
    (note,) = [item for item in found if isinstance(item, Note)]
    assert (note.note_id, note.text) == (f"n-{m}", f"Seen {m}. 👋\nStable.")
    refused = {item.note_id: item.reason for item in found if isinstance(item, Rejection)}
    expected = {
        f"empty-{m}": Reason.EMPTY_TEXT,
        f"long-{m}": Reason.TEXT_TOO_LONG,
        f"latin-{m}": Reason.INVALID_UTF8,
        **({f"cut-{m}": Reason.TRUNCATED_FILE} if name == "i2b2" else {}),
        None: Reason.UNREADABLE_FILE,
    }
    assert refused == expected


def test_a_feed_may_have_the_format(name):
    assert FeedSettings(path="x", format=name).format == name


def test_patients_of_i2b2_are_known_by_their_files(tmp_path):
    (tmp_path / "1").mkdir()
    for file in ("110-03", "n110-03"):
        (tmp_path / "1" / f"{file}.xml").write_text(written("i2b2", "Stable."))
    found = FilesFeed("ehr", tmp_path, file_format=file_format("i2b2")).notes(Delivery("ehr", "1"))
    assert [(note.note_id, note.patient_id) for note in found] == [("110-03", "110"), ("n110-03", None)]
