"""Encodings of tables: what is converted, what refuses a row or a file, and what is proposed to a person."""

from __future__ import annotations

import codecs

import pytest

from deid_platform.corpora import Reason, Role
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.encodings import in_utf8, proposed
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats import file_format
from deid_platform.corpora.formats.delimited import Tables
from deid_platform.notes import Delivery

TABLE = "note_id;text\nn1;Müller, Größe 1,80 €\nn2;plain\n"


def _converted(content: bytes, encoding: str = "utf-8", size: int = 7) -> bytes:
    return b"".join(in_utf8((content[at : at + size] for at in range(0, len(content), size)), encoding))


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (TABLE.encode(), "utf-8"),
        (TABLE.encode("cp1252"), "windows-1252"),
        (TABLE.encode("iso-8859-15"), "iso-8859-15"),
        (codecs.BOM_UTF16_LE + TABLE.encode("utf-16-le"), "utf-8"),
        (codecs.BOM_UTF16_BE + TABLE.encode("utf-16-be"), "windows-1252"),
        (codecs.BOM_UTF16_LE + TABLE.encode("utf-16-le"), "utf-16"),
        (TABLE.encode("utf-16-le"), "utf-16-le"),
        (codecs.BOM_UTF32_LE + TABLE.encode("utf-32-le"), "utf-8"),
        (codecs.BOM_UTF8 + TABLE.encode(), "windows-1252"),
        (codecs.BOM_UTF8 + TABLE.encode(), "utf-16-le"),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_table_is_the_same_in_every_encoding_that_its_feed_or_its_mark_says(content, encoding, size):
    assert _converted(content, encoding, size).decode().removeprefix("\ufeff") == TABLE


@pytest.mark.parametrize(
    ("line", "encoding"),
    [
        (b"M\xfcller", "utf-8"),
        (b"M\x81ller", "windows-1252"),  # no letter there
        (b"M\x9cller", "iso-8859-1"),  # a control character there, a letter in windows-1252
        ("Müller".encode(), "windows-1252"),  # not "MÃ¼ller"
        ("Šťastný".encode(), "windows-1250"),
        (b"\x80", "gb18030"),
    ],
)
def test_bytes_of_another_encoding_refuse_their_line_alone(line, encoding):
    before, wrong, after = _converted(b"a\n" + line + b"\nb\n", encoding).split(b"\n")[:3]
    assert (before, after) == (b"a", b"b")
    with pytest.raises(UnicodeDecodeError):
        wrong.decode()


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("température 38 °C, ±2 µg, « oui »", "windows-1252"),
        ("5 µg – “quoted” … it’s", "windows-1252"),
        ("SEÑOR MUÑOZ, NIÑO", "windows-1252"),
        ("Größe, ÄÖÜ, STRAẞE".replace("ẞ", "ß"), "windows-1252"),
        ("Wałęsa, Dvořák, Şahin".replace("Ş", "S"), "windows-1250"),
        ("Иванов, привет", "windows-1251"),
        ("山田太郎", "shift_jis"),
        ("张伟", "gb18030"),
    ],
)
def test_what_people_write_in_an_encoding_is_not_taken_for_utf_8(text, encoding):
    assert _converted(text.encode(encoding) + b"\n", encoding).decode() == text + "\n"


def test_a_character_of_utf_16_that_is_cut_refuses_its_row_and_no_letter_changes():
    content = codecs.BOM_UTF16_LE + "a;b\n".encode("utf-16-le") + b"\x00\xd8x\x00\n\x00c\x00;\x00d\x00"
    assert _converted(content).split(b"\n")[2] == b"c;d"
    with pytest.raises(UnicodeDecodeError):
        _converted(content).decode()


@pytest.mark.parametrize(
    ("content", "encoding", "reason"),
    [
        (TABLE.encode("utf-16-le"), "utf-8", Reason.WRONG_ENCODING),
        (TABLE.encode("utf-16-be"), "windows-1252", Reason.WRONG_ENCODING),
        (TABLE.encode("utf-16-le"), "utf-16", Reason.WRONG_ENCODING),
        (TABLE.encode(), "utf-16", Reason.WRONG_ENCODING),
        (b"PK\x03\x04 and so on", "utf-8", Reason.SPREADSHEET),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and so on", "windows-1252", Reason.SPREADSHEET),
    ],
)
def test_a_file_that_nothing_says_how_to_read_is_refused_whole(content, encoding, reason):
    with pytest.raises(BrokenFileError) as broken:
        _converted(content, encoding)
    assert broken.value.reason is reason


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252", "utf-16", "utf-16-le"])
def test_an_empty_file_is_empty_in_every_encoding(encoding):
    assert _converted(b"", encoding) == b""


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        (TABLE.encode("cp1252"), "windows-1252"),
        (TABLE.encode("utf-16-le"), "utf-16-le"),
        (TABLE.encode("utf-16-be"), "utf-16-be"),
        (b"a;b\nM\x81ller;\xfc\n", None),
        (TABLE.encode(), "utf-8"),
        (TABLE.encode() + "ü".encode()[:1], "utf-8"),
        (b"a;b\n1;2\n", "windows-1252"),
    ],
)
def test_what_may_be_tried_is_proposed(content, encoding):
    assert proposed(iter([content])) == encoding


@pytest.mark.parametrize("name", ["patients.csv", "patients.jsonl"])
def test_a_feed_s_encoding_holds_for_its_tables_and_for_those_beside_other_files(tmp_path, name):
    folder = tmp_path / "ehr" / "2026-01-05"
    folder.mkdir(parents=True)
    rows = {
        "patients.csv": "patient_id,last_name\np1,Müller\n",
        "patients.jsonl": '{"patient_id":"p1","last_name":"Müller"}',
    }
    (folder / name).write_bytes(rows[name].encode("cp1252"))
    tables = Tables(encoding="windows-1252")
    for feed in (
        FilesFeed("ehr", tmp_path / "ehr", file_format=tables, tables=tables),
        FilesFeed("ehr", tmp_path / "ehr", file_format=file_format("fhir"), tables=tables),
    ):
        topics, refused = feed.topics(Delivery("ehr", "2026-01-05"))
        assert (topics.patients["p1"].last_name, refused) == ("Müller", [])
    topics, refused = FilesFeed("ehr", tmp_path / "ehr").topics(Delivery("ehr", "2026-01-05"))
    assert ([r.reason for r in refused], topics.patients) == ([Reason.INVALID_UTF8], {})
    assert refused[0].role is Role.PATIENTS
