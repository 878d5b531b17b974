"""Rows as JSONL, CSV and Parquet write them, and where they begin again after a broken one."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deid_platform.corpora import Reason, parquet
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.tables import table_rows
from deid_platform.errors import Code, DeidError

BAD, LONG, UTF8 = Reason.MALFORMED_ROW, Reason.TEXT_TOO_LONG, Reason.INVALID_UTF8
ODD_NEWLINES = "a\r\nb\rc\nd\u2028e\x0bf\x85g\x0ch\ufeffi"


@pytest.fixture
def read(tmp_path):
    """The rows of a file of that content, and the reason why it broke off, if it did."""

    def _read(content, table_format, compression=None, max_chars=1000):
        path = tmp_path / "f"
        path.write_bytes(content)
        rows, broken = [], None
        try:
            for row in table_rows(path, table_format, compression, max_chars=max_chars):
                rows.append(row)
        except BrokenFileError as error:
            broken = error.reason
        return rows, broken

    return _read


def _parquet(table, **options):
    sink = pa.BufferOutputStream()
    pq.write_table(table if isinstance(table, pa.Table) else pa.table(table), sink, **options)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (b'{"a":"x","b":1}', {"a": "x", "b": 1}),
        (b' {"a": "x"} \r', {"a": "x"}),
        (b'{"a":null}', {"a": None}),
        (b'{"a":"tab\there, CR\rthere"}', {"a": "tab\there, CR\rthere"}),
        ('{"a":"\u2028\x85"}'.encode(), {"a": "\u2028\x85"}),
        (b'{"a":"\\ud83e\\uddb4"}', {"a": "\U0001f9b4"}),
        (b'{"a":"\\ud800"}', {"a": "\ud800"}),  # for the rules on values to refuse
        (b'{"a":[1,{"b":2}]}', {"a": [1, {"b": 2}]}),
        (b"[]", BAD),
        (b'"x"', BAD),
        (b"null", BAD),
        (b'{"a":', BAD),
        (b'{"a":1} {"b":2}', BAD),
        (b'{"a":"x","a":"y"}', BAD),
        (b'{"a":{"b":1,"b":2}}', BAD),
        (b'{"a":NaN}', BAD),
        (b'{"a":-Infinity}', BAD),
        (b"{'a':1}", BAD),
        (b'{"a":' + b"[" * 100_000, BAD),
        (b'{"a":' + b"9" * 5000 + b"}", BAD),
        (b'\xef\xbb\xbf{"a":1}', BAD),  # a BOM belongs at the top of a file only
        (b'{"a":"caf\xe9"}', UTF8),
        (b'{"a":"\xed\xa0\x80"}', UTF8),
    ],
)
def test_jsonl_rows_stand_or_fall_alone(read, line, row):
    rows, broken = read(b'{"first":1}\n' + line + b'\n{"last":1}', "jsonl")
    assert rows == [(1, {"first": 1}), (2, row), (3, {"last": 1})]
    assert broken is None


def test_jsonl_numbers_rows_by_line_and_passes_over_blank_ones(read):
    assert read(b'\xef\xbb\xbf{"a":1}\r\n\r\n  \n{"a":2}\n', "jsonl") == ([(1, {"a": 1}), (4, {"a": 2})], None)


def test_a_line_too_long_to_hold_is_refused_and_the_next_one_read(read):
    huge = b'{"a":"' + b"x" * (3 << 20) + b'"}'
    rows, broken = read(b'{"a":1}\n' + huge + b'\n{"a":2}\n', "jsonl", max_chars=1000)
    assert (rows, broken) == ([(1, {"a": 1}), (2, LONG), (3, {"a": 2})], None)


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        ("n1,x\nn2,y\n", [["n1", "x"], ["n2", "y"]]),
        ("n1,x\rn2,y\r\nn3,z", [["n1", "x"], ["n2", "y"], ["n3", "z"]]),
        ('n1,"x, ""y"""\n', [["n1", 'x, "y"']]),
        (f'n1,"{ODD_NEWLINES}"\n', [["n1", ODD_NEWLINES]]),
        ("n1,\n,\n", [["n1", ""], ["", ""]]),
        ("007,02139\n", [["007", "02139"]]),
        ("n1,5'10\" tall\n", [["n1", "5'10\" tall"]]),
        ("n1,a\0b\n", [["n1", "a\0b"]]),
        ("n1,x\n\n\r\nn2,y\n", [["n1", "x"], ["n2", "y"]]),
        ("n1,x,extra\nn2,y\n", [BAD, ["n2", "y"]]),
        ("n1\nn2,y\n", [BAD, ["n2", "y"]]),
        ('n1,"x"y\nn2,y\n', [BAD, ["n2", "y"]]),
        ('n1,"open\nn2,y\nn3,z\n', [BAD, ["n2", "y"], ["n3", "z"]]),
        ('n1,"open\nn2,"y"\nn3,"z"\n', [BAD, ["n2", "y"], ["n3", "z"]]),
    ],
)
def test_csv_rows_stand_or_fall_alone(read, body, rows):
    got, broken = read(f"note_id,text\n{body}".encode(), "csv")
    assert broken is None
    expected = [row if isinstance(row, Reason) else dict(zip(("note_id", "text"), row, strict=True)) for row in rows]
    assert [row for _, row in got] == expected


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b"n1,x\nn2,y\n", [2, 3]),
        (b'\n\nn1,"two\nlines"\r\n\r\nn2,y\n', [4, 7]),
        (b'n1,"open\nn2,y\nn3,z\n', [2, 3, 4]),
        (b'n1,"' + b"x\n" * (1 << 20) + b'"\nn2,y\n', [2, (1 << 20) + 3]),
    ],
    ids=["one after the other", "blank lines and a text of two", "an open quote", "a row too long to hold"],
)
def test_csv_rows_are_numbered_by_the_line_on_which_they_begin(read, body, lines):
    rows, _ = read(b"note_id,text\n" + body, "csv")
    assert [number for number, _ in rows] == lines


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_header_without_a_comma_shows_what_separates_the_fields(read, separator):
    content = f'"note_id"{separator}text\nn1{separator}"a{separator} b, ""c""."\nn2{separator}d, e\n'
    assert read(f"\n{content}".encode(), "csv") == (
        [(3, {"note_id": "n1", "text": f'a{separator} b, "c".'}), (4, {"note_id": "n2", "text": "d, e"})],
        None,
    )


@pytest.mark.parametrize(
    ("top", "separator"),
    [
        ("sep=;", ";"),
        ('"sep=;"', ";"),
        ("SEP=,", ","),
        ("sep=\t", "\t"),
        ("\nsep=|", "|"),
        ("\ufeffsep=;", ";"),
        ("sep=^", "^"),
    ],
)
def test_a_line_that_says_what_separates_the_fields_is_honoured(read, top, separator):
    content = (
        f"{top}\r\nnote_id{separator}a,b\r\nn1{separator}x\r\n" if separator != "," else f"{top}\r\nnote_id,c\nn1,x\n"
    )
    name = "a,b" if separator != "," else "c"
    assert read(content.encode(), "csv") == ([(3 + top.count("\n"), {"note_id": "n1", name: "x"})], None)


@pytest.mark.parametrize("top", ["sep", "sep=ab", "sep=a", 'sep="'])
def test_a_header_that_only_looks_like_such_a_line_is_a_header(read, top):
    rows, _ = read(f"{top}\nx\n".encode(), "csv")
    assert [row for _, row in rows] in ([{top: "x"}], [{top.strip(): "x"}])


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"note_id,text\nn1,a; b; c\n", [{"note_id": "n1", "text": "a; b; c"}]),
        (b'note_id,"a;b;c"\nn1,x\n', [{"note_id": "n1", "a;b;c": "x"}]),
        (b"patient_id\np;1\n", [{"patient_id": "p;1"}]),
        (b"note_id;text\nn1,x\nn2;y\n", [BAD, {"note_id": "n2", "text": "y"}]),
    ],
)
def test_rows_never_change_what_separates_the_fields(read, content, rows):
    assert [row for _, row in read(content, "csv")[0]] == rows


def test_csv_invalid_utf8_costs_its_record_alone(read):
    rows, broken = read(b'note_id,text\nn1,"caf\xe9\nstill n1"\nn2,"caf\xc3\xa9"\n', "csv")
    assert (rows, broken) == ([(2, UTF8), (4, {"note_id": "n2", "text": "café"})], None)


@pytest.mark.parametrize("top", [b"\xef\xbb\xbf", b""])
def test_csv_header_may_follow_a_bom_and_carry_blanks(read, top):
    assert read(top + b'"note_id", text\r\nn1,x\r\n', "csv") == ([(2, {"note_id": "n1", "text": "x"})], None)


@pytest.mark.parametrize(
    "content",
    [
        b"a,a\n1,2\n",
        b"a, a\n1,2\n",
        b'"a\n1\n',
        b"caf\xe9,b\n1,2\n",
    ],
)
def test_csv_without_a_sound_header_is_unreadable(read, content):
    assert read(content, "csv") == ([], Reason.UNREADABLE_FILE)


def test_an_empty_csv_or_jsonl_has_no_rows(read):
    assert read(b"", "csv") == ([], None)
    assert read(b"", "jsonl") == ([], None)
    assert read(b"note_id,text\n", "csv") == ([], None)


def test_csv_takes_fields_beyond_the_module_s_usual_limit(read):
    text = "x" * 200_000
    assert read(f"note_id,text\nn1,{text}\n".encode(), "csv") == ([(2, {"note_id": "n1", "text": text})], None)


@pytest.mark.parametrize("newline", ["", "\n"])
def test_a_csv_record_too_long_to_hold_is_passed_over_whole(read, newline):
    text = f"{'x' * 40}, n9,not a row{newline}" * 40_000
    content = f'note_id,text\nn1,x\nn2,"{text}"\nn3,z\n'.encode()
    rows, broken = read(content, "csv", max_chars=1000)
    assert broken is None
    assert [row for _, row in rows] == [{"note_id": "n1", "text": "x"}, LONG, {"note_id": "n3", "text": "z"}]


def test_a_csv_quote_that_never_closes_within_the_limit_ends_the_file(read):
    content = b'note_id,text\nn1,x\nn2,"' + b"open\n" * 400_000
    assert read(content, "csv", max_chars=1000) == ([(2, {"note_id": "n1", "text": "x"})], Reason.UNREADABLE_FILE)


@pytest.mark.parametrize("table_format", ["jsonl", "csv"])
def test_truncation_costs_the_row_it_cuts(read, table_format):
    values = [{"note_id": f"n{i}", "text": "x" * 50 + str(i * i)} for i in range(2000)]
    if table_format == "jsonl":
        content = "".join(json.dumps(v) + "\n" for v in values)
    else:
        content = "note_id,text\n" + "".join(f'{v["note_id"]},"{v["text"]}"\n' for v in values)
    packed = gzip.compress(content.encode())
    rows, broken = read(packed[:-30], table_format, "gz")
    assert broken is Reason.TRUNCATED_FILE
    assert 1500 < len(rows) < 2000
    assert [row for _, row in rows] == values[: len(rows)]


@pytest.mark.parametrize("compression", ["none", "gzip", "zstd", "snappy"])
def test_parquet_rows_come_in_order_over_batches_and_groups(read, compression):
    values = [{"note_id": f"n{i}", "text": ODD_NEWLINES + str(i)} for i in range(1000)]
    content = _parquet(pa.Table.from_pylist(values), compression=compression, row_group_size=300)
    assert read(content, "parquet") == (list(enumerate(values, start=1)), None)


@pytest.mark.parametrize(("compression", "pack"), [("gz", gzip.compress), ("zst", pa.Codec("zstd").compress)])
def test_parquet_may_be_compressed_as_a_file(read, compression, pack):
    packed = bytes(pack(_parquet({"a": ["x", None]})))
    assert read(packed, "parquet", compression) == ([(1, {"a": "x"}), (2, {"a": None})], None)
    assert read(packed[:-9], "parquet", compression) == ([], Reason.TRUNCATED_FILE)


_EAST = timezone(-timedelta(hours=5))


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (pa.array(["x", "", None]), ["x", "", None]),
        (pa.array(["x", None], pa.large_string()), ["x", None]),
        (pa.array(["x", None], pa.string_view()), ["x", None]),
        (pa.array(["x", None, "x"]).dictionary_encode(), ["x", None, "x"]),
        (pa.array([b"caf\xc3\xa9", b"caf\xe9"]), ["café", UTF8]),
        (pa.array([7, None]), [7, None]),
        (pa.array([None, None]), [None, None]),
        (pa.array([Decimal("7"), None], pa.decimal128(10, 0)), [7, None]),
        (pa.array([Decimal("7.50"), None], pa.decimal128(10, 2)), [BAD, None]),
        (pa.array([7.0, None]), [BAD, None]),
        (pa.array([True, None]), [BAD, None]),
        (pa.array([["x"], None]), [BAD, None]),
        (pa.array([date(2026, 1, 5), None]), [date(2026, 1, 5), None]),
        (pa.array([date(1899, 12, 31)], pa.date64()), [date(1899, 12, 31)]),
        (pa.array([datetime(2026, 1, 5, 23, 59, tzinfo=UTC), None], pa.timestamp("us")), [date(2026, 1, 5), None]),
        (pa.array([datetime(1949, 12, 31, 23, tzinfo=UTC)], pa.timestamp("ns")), [date(1949, 12, 31)]),
        (
            pa.array([datetime(2026, 1, 5, 22, tzinfo=_EAST)], pa.timestamp("us", "-05:00")),
            [date(2026, 1, 5)],
        ),
        (pa.array([2**62, 0]).cast(pa.timestamp("ms")), [Reason.IMPOSSIBLE_DATE, date(1970, 1, 1)]),
    ],
)
def test_parquet_columns_become_cells(read, column, cells):
    rows, broken = read(_parquet({"a": column}), "parquet")
    assert broken is None
    assert [row["a"] for _, row in rows] == cells


def test_parquet_strings_need_not_be_utf8(read):
    buffer = pa.array([b"good", b"caf\xe9", b"fine"]).buffers()
    column = pa.Array.from_buffers(pa.string(), 3, buffer)
    rows, broken = read(_parquet({"a": column}), "parquet")
    assert ([row["a"] for _, row in rows], broken) == (["good", UTF8, "fine"], None)


def test_parquet_that_is_none_or_is_damaged_is_unreadable(read):
    whole = _parquet({"a": [f"{i:09d}" for i in range(100_000)]}, row_group_size=10_000, compression="none")
    assert read(b"", "parquet") == ([], Reason.UNREADABLE_FILE)
    assert read(b"not parquet at all", "parquet") == ([], Reason.UNREADABLE_FILE)
    assert read(whole[:-100], "parquet") == ([], Reason.UNREADABLE_FILE)
    middle = len(whole) // 2
    rows, broken = read(whole[:middle] + b"\xff" * 150_000 + whole[middle + 150_000 :], "parquet")
    assert broken is Reason.UNREADABLE_FILE
    assert rows[:30_000] == [(i + 1, {"a": f"{i:09d}"}) for i in range(30_000)]


def test_parquet_with_a_repeated_column_is_unreadable(read):
    table = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"])], names=["a", "a"])
    assert read(_parquet(table), "parquet") == ([], Reason.UNREADABLE_FILE)


def test_another_format_is_unreadable(read):
    assert read(b"x", "") == ([], Reason.UNREADABLE_FILE)


def test_a_compressed_parquet_file_is_laid_out_in_the_folder_for_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_IN_MEMORY", 1)
    source, spool = tmp_path / "f", tmp_path / "store" / "spool"
    source.write_bytes(gzip.compress(_parquet(pa.table({"text": ["a", "b"]}))))
    rows = table_rows(source, "parquet", "gz", max_chars=1000, spool=spool)
    assert next(rows) == (1, {"text": "a"})
    assert spool.stat().st_mode & 0o777 == 0o700
    assert [row for _, row in rows] == [{"text": "b"}]
    assert list(spool.iterdir()) == []


def test_a_temporary_file_that_cannot_be_written_is_told_by_a_code(tmp_path):
    source, spool = tmp_path / "f", tmp_path / "spool"
    source.write_bytes(gzip.compress(_parquet(pa.table({"text": ["a"]}))))
    spool.touch()
    with pytest.raises(DeidError) as caught:
        list(table_rows(source, "parquet", "gz", max_chars=1000, spool=spool))
    assert caught.value.code is Code.STORE_WRITE
