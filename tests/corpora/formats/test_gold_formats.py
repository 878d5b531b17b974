"""JSON lines, i2b2, brat and CoNLL: the contract of formats with gold, and what is wrong in each."""

from __future__ import annotations

import gzip
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.formats import FORMATS, file_format, gold_format
from deid_platform.corpora.gold import Gold, read_gold
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

M = "Zqxmark7"  # MARKER of reader_contract.py, in all that is broken
PATHS = {"jsonl": "set.jsonl", "i2b2": "set", "brat": "set", "conll": "set.conll", "labelstudio": "set.json",
         "marked": "set"}  # fmt: skip
BY_NOTE = ("i2b2", "brat", "marked")


def gold(note_id: str, text: str, *spans: tuple[int, int, Label]) -> Gold:
    return Gold(note_id, tuple(Span(*span, source="gold") for span in spans), (), Note(note_id, text))


ANN = gold("n1", "Ann came.", (0, 3, Label.PATIENT))


@pytest.mark.parametrize("name", PATHS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=st.data())
def test_writing_and_reading_gives_the_notes_back(name, data, gold_contract):
    notes = data.draw(gold_contract.golds())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / PATHS[name]
        gold_contract.check_round_trip(gold_format(name), notes, path, lossless=name != "conll")


@pytest.mark.parametrize("name", PATHS)
def test_what_is_written_is_its_owners_alone(name, tmp_path):
    gold_format(name).write([ANN], tmp_path / PATHS[name])
    for path in tmp_path.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(replace(ANN, note=None), id="no text"),
        pytest.param(gold("n2", " \n"), id="blank text"),
        pytest.param(gold("n2", f"{M}\0"), id="NUL"),
        pytest.param(gold("n2", M, (0, 99, Label.PATIENT)), id="past the text"),
        pytest.param(gold("n2", M, (0, 3, Label.PATIENT), (2, 5, Label.CITY)), id="overlapping"),
        pytest.param(ANN, id="a second note of one id"),
        pytest.param(gold("", M), id="no id"),
    ],
)
def test_a_note_that_no_reader_would_take_is_not_written_and_leaves_nothing(name, broken, tmp_path, contract):
    with pytest.raises(DeidError) as error:
        gold_format(name).write([ANN, broken], tmp_path / PATHS[name])
    assert (error.value.code, error.value.ref) == (Code.INPUT_INVALID, "note 2")
    assert list(tmp_path.iterdir()) == []
    contract.assert_quiet(error.value)


@pytest.mark.parametrize("name", BY_NOTE)
@pytest.mark.parametrize("note_id", [f"../{M}", f".{M}", f"_{M}", f"{M}.tmp", f"{M}\n1", M * 40, "N1", f"a\\{M}"])
def test_an_id_that_is_no_file_name_is_not_written(name, note_id, tmp_path, contract):
    with pytest.raises(DeidError) as error:
        gold_format(name).write([ANN, gold(note_id, "x")], tmp_path / PATHS[name])
    assert (error.value.code, error.value.ref) == (Code.INPUT_INVALID, "note 2")
    assert list(tmp_path.iterdir()) == []
    contract.assert_quiet(error.value)


@pytest.mark.parametrize("name", BY_NOTE)
def test_a_folder_that_holds_something_is_not_added_to(name, tmp_path):
    gold_format(name).write([ANN], tmp_path / "set")
    with pytest.raises(DeidError) as error:
        gold_format(name).write([gold("n2", "x")], tmp_path / "set")
    assert error.value.code is Code.OUTPUT_UNUSABLE
    assert [found.note_id for found in gold_format(name).read(tmp_path / "set", scheme="i2b2-2014")] == ["n1"]


def test_only_what_xml_and_tokens_cannot_hold_is_not_written(tmp_path):
    control = gold("n1", "Ann\x02 came.", (0, 3, Label.PATIENT))
    blank = gold("n1", "Ann  came.", (3, 5, Label.PATIENT))
    refusals = {("i2b2", 0), ("conll", 1)}
    for name in PATHS:
        for number, note in enumerate((control, blank)):
            folder = tmp_path / f"{name}{number}"
            folder.mkdir()
            if (name, number) in refusals:
                with pytest.raises(DeidError) as error:
                    gold_format(name).write([note], folder / PATHS[name])
                assert (error.value.code, error.value.ref) == (Code.INPUT_INVALID, "note 1")
            else:
                assert gold_format(name).write([note], folder / PATHS[name]) == 1


MANY = Gold("n2", ANN.spans, (), Note("n2", f'Ann {M}, 555-0142.\r\n😀 came on <b> & "c".'))


@pytest.mark.parametrize("name", PATHS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_befalls_a_note_the_others_stand_and_nothing_is_told(name, data, contract):
    last = gold("n3", "Lee came.", (0, 3, Label.PATIENT))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / PATHS[name]
        gold_format(name).write([ANN, MANY, last], path)
        part = data.draw(st.sampled_from(sorted(path.glob("n2.*")))) if path.is_dir() else path
        whole = part.read_bytes()
        begins, ends = 0, len(whole)
        if name == "jsonl":
            begins, ends = whole.index(b"\n") + 1, whole.rindex(b"\n", 0, -1)
        elif name == "conll":
            second = whole.index(b"-DOCSTART-", 1)
            begins, ends = whole.index(b"\n\n", second) + 2, whole.index(b"\n-DOCSTART-", second + 1)
        held = bytearray(whole[begins:ends])
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, len(held)))
            held[at : at + data.draw(st.integers(0, 3))] = data.draw(
                st.one_of(
                    st.binary(max_size=3), st.sampled_from([b"\n", b"9", b"]]>", b"\xff", b'"', b"\t", b"\0", b"I-"])
                )
            )
        part.write_bytes(whole[:begins] + bytes(held) + whole[ends:])
        found = list(gold_format(name).read(path, scheme="i2b2-2014"))
    assert (
        (found[0].note.text, found[-1].note.text) == ("Ann came .", "Lee came .")
        if name == "conll"
        else (
            "Ann came.",
            "Lee came.",
        )
    )
    for item in found[1:-1]:
        contract.assert_quiet(item)
        assert isinstance(item, Rejection) or item.note.text.strip()


@pytest.mark.parametrize("name", PATHS)
def test_a_note_that_is_too_long_costs_itself_alone(name, tmp_path, monkeypatch, contract):
    path = tmp_path / PATHS[name]
    gold_format(name).write([ANN, gold("n2", f"{M} " * 20), gold("n3", "Lee came.")], path)
    monkeypatch.setattr(f"deid_platform.corpora.formats.{name}.MAX_CHARS", 100)
    ann, long, lee = gold_format(name).read(path, scheme="i2b2-2014")
    assert long.reason is Reason.TEXT_TOO_LONG
    assert ann.note.text.startswith("Ann")
    assert lee.note.text.startswith("Lee")
    contract.assert_quiet(long)


@pytest.mark.parametrize("name", PATHS)
def test_nothing_at_a_path_and_a_scheme_that_is_none_are_told(name, tmp_path, contract):
    for scheme, code in (("i2b2-2014", Code.GOLD_MISSING), (M, Code.SCHEME_UNKNOWN)):
        with pytest.raises(DeidError) as error:
            list(gold_format(name).read(tmp_path / M, scheme=scheme))
        assert error.value.code is code
        contract.assert_quiet(error.value)


def test_feeds_have_the_formats_of_whole_notes_alone():
    with_feed = {"files", "i2b2", "brat"}
    for name in ("files", *PATHS):
        assert name in FORMATS
        if name in with_feed:
            assert file_format(name)
        else:
            with pytest.raises(DeidError) as error:
                file_format(name)
            assert error.value.code is Code.FORMAT_UNKNOWN


# JSON lines


def line(_id: str, **more: object) -> bytes:
    row = {"note_id": _id, "lang": "en", "text": f"{M} came.", "spans": [[0, 8, "PATIENT", M]], **more}
    return json.dumps({key: value for key, value in row.items() if value is not None}).encode() + b"\n"


JSON_LINES = [
    pytest.param(line("b", spans=[[0, 99, "PATIENT"]]), Reason.SPAN_OUT_OF_RANGE, id="past the text"),
    pytest.param(line("b", spans=[[-1, 3, "PATIENT"]]), Reason.SPAN_OUT_OF_RANGE, id="before the text"),
    pytest.param(line("b", spans=[[3, 3, "PATIENT"]]), Reason.SPAN_OUT_OF_RANGE, id="empty span"),
    pytest.param(line("b", spans=[[0, 8, "PATIENT"], [3, 9, "CITY"]]), Reason.SPAN_OVERLAP, id="overlapping"),
    pytest.param(line("b", spans=[[0, 8, "PATIENT"], [2, 4, "CITY"]]), Reason.SPAN_OVERLAP, id="nested"),
    pytest.param(line("b", spans=[[0, 8, "PATIENT"], [0, 8, "PATIENT"]]), Reason.SPAN_OVERLAP, id="twice"),
    pytest.param(line("b", spans=[[0, 8, "PATIENT", f"{M}x"]]), Reason.SPAN_MISMATCH, id="other surface"),
    pytest.param(line("b", spans=[[0, 8, M]]), Reason.UNKNOWN_LABEL, id="unknown label"),
    pytest.param(line("b", spans=[[0, 8, [M]]]), Reason.MALFORMED_ROW, id="label is a list"),
    pytest.param(line("b", spans=[["0", "8", "PATIENT"]]), Reason.MALFORMED_ROW, id="offsets are strings"),
    pytest.param(line("b", spans=[[0, 8]]), Reason.MALFORMED_ROW, id="no label"),
    pytest.param(line("b", spans=None), Reason.MISSING_GOLD, id="no spans"),
    pytest.param(line("b", text=None), Reason.EMPTY_TEXT, id="no text"),
    pytest.param(line("b", text=" ", spans=[]), Reason.EMPTY_TEXT, id="blank text"),
    pytest.param(line("b", text=[M]), Reason.MALFORMED_ROW, id="text is a list"),
    pytest.param(line("b", text="\ud800", spans=[]), Reason.LONE_SURROGATE, id="lone surrogate"),
    pytest.param(line("b", text=f"{M}\0"), Reason.NUL_CHARACTER, id="NUL"),
    pytest.param(line("b", note_id=None), Reason.MISSING_NOTE_ID, id="no id"),
    pytest.param(line("b", note_id=[M]), Reason.MALFORMED_ROW, id="id is a list"),
    pytest.param(line("a"), Reason.DUPLICATE_NOTE_ID, id="second line of an id"),
    pytest.param(line("b", note_date=M), Reason.MALFORMED_ROW, id="no date"),
    pytest.param(line("b", clinical=[[0, 99]]), Reason.SPAN_OUT_OF_RANGE, id="clinical term past the text"),
    pytest.param(line("b")[:-9] + b"\n", Reason.MALFORMED_ROW, id="cut off"),
    pytest.param(f'{{"note_id": "{M}'.encode() + b'\xff"}\n', Reason.INVALID_UTF8, id="Latin-1"),
    pytest.param(b"[1]\n", Reason.MALFORMED_ROW, id="no object"),
    pytest.param(line("b", patient_id=[M]), Reason.MALFORMED_ROW, id="patient is a list"),
]


@pytest.mark.parametrize(("broken", "reason"), JSON_LINES)
def test_a_line_that_is_no_gold_costs_itself_alone(broken, reason, tmp_path, gold_contract, contract):
    path = tmp_path / "set.jsonl"
    path.write_bytes(line("a") + b"\n" + broken + line("z"))
    gold_contract.check_refusals(gold_format("jsonl"), path, [(0, 3, reason)], ["a", "z"], contract)


@pytest.mark.parametrize(
    ("broken", "reason"), [case for case in JSON_LINES if case.id not in {"second line of an id", "no text", "NUL"}]
)
def test_the_bench_stops_at_the_same_lines(broken, reason, tmp_path, contract):
    accepts = {Reason.SPAN_OVERLAP, Reason.EMPTY_TEXT, Reason.LONE_SURROGATE}  # planted gold may overlap
    path = tmp_path / "gold.jsonl"
    path.write_bytes(line("a") + b"\n" + broken + line("z"))
    if reason in accepts:
        assert len(list(read_gold(path))) == 3
        return
    with pytest.raises(DeidError) as error:
        list(read_gold(path))
    assert error.value.ref == "gold" or error.value.ref.startswith("line 3")
    contract.assert_quiet(error.value)


def test_a_truncated_file_costs_the_line_that_it_cuts(tmp_path, gold_contract, contract):
    path = tmp_path / "set"
    path.mkdir()
    whole = gzip.compress(b"".join(line(f"n{i}", more=[i] * 400) for i in range(200)))
    (path / f"a-{M}.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (path / "b.jsonl").write_bytes(line("z"))
    found = list(gold_format("jsonl").read(path, scheme="i2b2-2014"))
    (refused,) = [item for item in found if isinstance(item, Rejection)]
    assert (refused.file, refused.reason) == ("notes[0]", Reason.TRUNCATED_FILE)
    assert refused.row == len(found) - 1
    assert found[-1].note_id == "z"
    contract.assert_quiet(refused)


def test_json_lines_keep_all_of_a_note(tmp_path):
    note = Note("n1", "Ann came 👋.", patient_id="p1", encounter_id="e1", provider_id="d1", site="s", language="it")
    whole = Gold("n1", (Span(0, 3, Label.PATIENT, source="gold"),), ((4, 8),), note)
    for name in ("set.jsonl", "set.jsonl.gz"):
        assert gold_format("jsonl").write([whole], tmp_path / name) == 1
        assert list(gold_format("jsonl").read(tmp_path / name, scheme="i2b2-2014")) == [whole]
        assert list(read_gold(tmp_path / name)) == [whole]


@pytest.mark.parametrize("name", ["jsonl", "conll"])
def test_files_of_lines_may_be_compressed(name, tmp_path):
    gold_format(name).write([ANN], tmp_path / "set.jsonl")
    (tmp_path / "set").mkdir()
    whole = (tmp_path / "set.jsonl").read_bytes()
    (tmp_path / "set" / "a.jsonl.gz").write_bytes(gzip.compress(whole))
    with pa.CompressedOutputStream(str(tmp_path / "set" / "b.jsonl.zst"), "zstd") as packed:
        packed.write(whole.replace(b"n1", b"n2"))
    found = list(gold_format(name).read(tmp_path / "set", scheme="i2b2-2014"))
    assert [len(item.spans) for item in found] == [1, 1]


# i2b2


def xml(text: str = f"{M} came.", *tags: str) -> bytes:
    held = "\n".join(tags or (tag(),))
    return (
        f'<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n<TEXT><![CDATA[{text}]]></TEXT>\n'
        f"<TAGS>\n{held}\n</TAGS>\n</deIdi2b2>\n"
    ).encode()


def tag(start: object = 0, end: object = 8, kind: str = "PATIENT", text: str = M, name: str = "NAME") -> str:
    return f'<{name} id="P0" start="{start}" end="{end}" text="{text}" TYPE="{kind}" comment="" />'


ENTITY = f'<!DOCTYPE x [<!ENTITY e "{M}">]>'.encode()
XML = [
    pytest.param(xml("Ann.", tag(0, 99)), 5, Reason.SPAN_OUT_OF_RANGE, id="past the text"),
    pytest.param(xml(f"{M} came.", tag(), tag(3, 9, text=f"{M[3:]} ")), 6, Reason.SPAN_OVERLAP, id="overlapping"),
    pytest.param(xml(f"{M} came.", tag(text=f"{M}x")), 5, Reason.SPAN_MISMATCH, id="other surface"),
    pytest.param(xml(f"{M} came.", tag(kind=M)), 5, Reason.UNKNOWN_LABEL, id="unknown label"),
    pytest.param(xml(f"{M} came.", tag(start=f"0{M}")), 5, Reason.MALFORMED_ROW, id="no number"),
    pytest.param(xml(f"{M} came.", tag(start=-1)), 5, Reason.MALFORMED_ROW, id="negative"),
    pytest.param(xml()[:75], 3, Reason.TRUNCATED_FILE, id="cut off in the text"),
    pytest.param(xml()[:-12], 7, Reason.TRUNCATED_FILE, id="cut off at the end"),
    pytest.param(b"", 1, Reason.TRUNCATED_FILE, id="empty file"),
    pytest.param(xml().replace(b"</TAGS>", b"</tags>"), 6, Reason.MALFORMED_ROW, id="another end"),
    pytest.param(xml(f"{M} Jos\xe9").decode().encode("latin-1"), 1, Reason.INVALID_UTF8, id="Latin-1"),
    pytest.param(xml().decode().encode("utf-16"), 1, Reason.INVALID_UTF8, id="UTF-16"),
    pytest.param(xml(f"{M}\x02"), 3, Reason.MALFORMED_ROW, id="control character"),
    pytest.param(xml(" "), 1, Reason.EMPTY_TEXT, id="blank text"),
    pytest.param(b"<a><TAGS></TAGS></a>", 1, Reason.MALFORMED_ROW, id="no text"),
    pytest.param(f"<a><TEXT>{M}</TEXT></a>".encode(), 1, Reason.MISSING_GOLD, id="no tags"),
    pytest.param(f"<a><TEXT>{M}<b>{M}</b></TEXT><TAGS/></a>".encode(), 1, Reason.MALFORMED_ROW, id="mark-up in it"),
    pytest.param(f"<a><TEXT>{M}</TEXT><TEXT>x</TEXT><TAGS/></a>".encode(), 1, Reason.MALFORMED_ROW, id="two texts"),
    pytest.param(ENTITY + b"<a><TEXT>&e;</TEXT><TAGS/></a>", 1, Reason.MALFORMED_ROW, id="entity"),
    pytest.param(b'<!DOCTYPE a SYSTEM "http://example.org/">' + xml(), 1, Reason.MALFORMED_ROW, id="document type"),
]


@pytest.mark.parametrize(("broken", "row", "reason"), XML)
def test_an_xml_file_that_is_no_gold_costs_itself_alone(broken, row, reason, tmp_path, gold_contract, contract):
    (tmp_path / "a.xml").write_bytes(xml())
    (tmp_path / f"b-{M}.xml").write_bytes(broken)
    (tmp_path / "c.xml").write_bytes(xml())
    (tmp_path / "readme.txt").write_text(M)
    gold_contract.check_refusals(gold_format("i2b2"), tmp_path, [(1, row, reason)], ["a", "c"], contract)


def test_a_tag_may_say_its_category_alone_and_its_text_without_line_breaks(tmp_path):
    text = "Ann\nExample of Room 4, Springfield, 12 Main St."
    tags = (
        '<NAME id="P0" start="0" end="11" text="Ann Example" />',
        tag(15, 21, "OTHER", "Room 4", "LOCATION"),
        tag(23, 34, "CITY", "Springfield", "LOCATION"),
    )
    (tmp_path / "110-03.xml").write_bytes(xml(text, *tags))
    (found,) = gold_format("i2b2").read(tmp_path, scheme="i2b2-2014")
    assert [span.label for span in found.spans] == [Label.PATIENT, Label.LOCATION_OTHER, Label.CITY]
    assert (found.note_id, found.note.patient_id, found.note.text) == ("110-03", "110", text)


def test_written_xml_has_the_categories_of_the_corpus(tmp_path):
    text = "Ann, 555-0142, 4471190, Ward"
    spans = ((0, 3, Label.PATIENT), (5, 13, Label.PHONE), (15, 22, Label.MEDICALRECORD), (24, 28, Label.LOCATION_OTHER))
    gold_format("i2b2").write([gold("n1", text, *spans)], tmp_path / "set")
    written = (tmp_path / "set" / "n1.xml").read_text()
    assert '<NAME id="P0" start="0" end="3" text="Ann" TYPE="PATIENT" comment="" />' in written
    assert '<CONTACT id="P1" start="5" end="13" text="555-0142" TYPE="PHONE" comment="" />' in written
    assert '<ID id="P2" ' in written
    assert 'TYPE="LOCATION-OTHER"' in written
    assert f"<TEXT><![CDATA[{text}]]></TEXT>" in written


# brat

BRAT = [
    pytest.param("T1\tPATIENT 0 99\tx", 1, Reason.SPAN_OUT_OF_RANGE, id="past the text"),
    pytest.param("T1\tPATIENT 3 3\t", 1, Reason.SPAN_OUT_OF_RANGE, id="empty span"),
    pytest.param(f"T1\tPATIENT 0 8\t{M}\nT2\tCITY 2 4\txm", 2, Reason.SPAN_OVERLAP, id="nested"),
    pytest.param(f"T1\tPATIENT 0 8\t{M}x", 1, Reason.SPAN_MISMATCH, id="other surface"),
    pytest.param(f"#1\tx\nT1\t{M} 0 8\t{M}", 2, Reason.UNKNOWN_LABEL, id="unknown label"),
    pytest.param("T1\tPATIENT 0 8", 1, Reason.MALFORMED_ROW, id="cut off"),
    pytest.param(f"T1\tPATIENT zero 8\t{M}", 1, Reason.MALFORMED_ROW, id="no number"),
    pytest.param(f"{M}", 1, Reason.MALFORMED_ROW, id="no line of brat"),
    pytest.param("T1\tPATIENT 0 4;2 8\tx", 1, Reason.SPAN_MISMATCH, id="pieces that overlap"),
    pytest.param(f"T1\tPATIENT 0 8\t{M}\xe9".encode("latin-1"), 1, Reason.INVALID_UTF8, id="Latin-1"),
    pytest.param(None, 1, Reason.MISSING_GOLD, id="no .ann"),
]


def pair(folder: Path, name: str, text: bytes | str | None, annotations: bytes | str | None) -> None:
    for ending, held in ((".txt", text), (".ann", annotations)):
        if held is not None:
            (folder / (name + ending)).write_bytes(held if isinstance(held, bytes) else held.encode())


@pytest.mark.parametrize(("broken", "row", "reason"), BRAT)
def test_an_ann_file_that_is_no_gold_costs_its_note_alone(broken, row, reason, tmp_path, gold_contract, contract):
    pair(tmp_path, "a", f"{M} came.", f"T1\tPATIENT 0 8\t{M}\n")
    pair(tmp_path, f"b-{M}", f"{M} came.", broken)
    pair(tmp_path, "c.1", f"{M} came.", "")
    gold_contract.check_refusals(gold_format("brat"), tmp_path, [(1, row, reason)], ["a", "c.1"], contract)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, Reason.MISSING_TEXT),
        (b"Jos\xe9", Reason.INVALID_UTF8),
        ("", Reason.EMPTY_TEXT),
        ("\0", Reason.NUL_CHARACTER),
    ],
)
def test_a_text_that_cannot_be_read_costs_its_note_alone(text, reason, tmp_path, gold_contract, contract):
    pair(tmp_path, "a", text, f"T1\tPATIENT 0 8\t{M}\n")
    pair(tmp_path, "b", f"{M} came.", f"T1\tPATIENT 0 8\t{M}\n")
    gold_contract.check_refusals(gold_format("brat"), tmp_path, [(0, 1, reason)], ["b"], contract)


@pytest.mark.parametrize(
    ("text", "annotations", "expected"),
    [
        pytest.param("Ana vive.", "T1\tPATIENT 0 3\tAna\r\n", ["Ana"], id="CR LF in the .ann"),
        pytest.param("👋\r\nAna", "T1\tPATIENT 3 6\tAna\n", ["Ana"], id="code points, and CR LF is two"),
        pytest.param("\ufeffAna", "T1\tPATIENT 1 4\tAna\n", ["Ana"], id="a byte order mark is one"),
        pytest.param("Ana\r\nSanz", "T1\tPATIENT 0 3;5 9\tAna Sanz\n", ["Ana\r\nSanz"], id="over a line's end"),
        pytest.param("Ana\nSanz", "T1\tPATIENT 0 8\tAna Sanz\n", ["Ana\nSanz"], id="a line break is a space"),
        pytest.param("Ana y Eva Sanz", "T1\tPATIENT 0 3;10 14\tAna Sanz\n", ["Ana", "Sanz"], id="discontinuous"),
        pytest.param("Ana", "R1\tx A:T1\nE1\tx\n*\tx\nA1\tx\nM1\tx\nN1\tx\n#1\tx\n\n", [], id="other lines"),
    ],
)
def test_brat_annotations_as_they_are_found_in_the_wild(text, annotations, expected, tmp_path):
    pair(tmp_path, "a", text, annotations)
    for path in (tmp_path, tmp_path / "a.txt", tmp_path / "a.ann"):
        (found,) = gold_format("brat").read(path, scheme="i2b2-2014")
        assert found.note.text == text
        assert [text[span.start : span.end] for span in found.spans] == expected


# CoNLL


def conll(*notes: str) -> str:
    return "".join(f"-DOCSTART- -X- -X- O\n\n{note}\n" for note in notes)


GOOD = f"{M} NNP I-NP I-PATIENT\ncame VBD I-VP O\n"
CONLL = [
    pytest.param(f"{M} I-{M}\n", 8, Reason.UNKNOWN_LABEL, id="unknown label"),
    pytest.param(f"came O\n{M} X-PATIENT\n", 9, Reason.MALFORMED_ROW, id="another prefix"),
    pytest.param(f"came O\n{M}\n", 9, Reason.MALFORMED_ROW, id="no tag"),
    pytest.param("", 6, Reason.EMPTY_TEXT, id="no token"),
    pytest.param(f"{M}\0 O\n", 6, Reason.NUL_CHARACTER, id="NUL"),
]


@pytest.mark.parametrize(("broken", "row", "reason"), CONLL)
def test_a_note_of_broken_columns_costs_itself_alone(broken, row, reason, tmp_path, gold_contract, contract):
    path = tmp_path / "set.conll"
    path.write_text(conll(GOOD, broken, GOOD))
    expected = ["set.conll-1", "set.conll-3"]
    gold_contract.check_refusals(gold_format("conll"), path, [(0, row, reason)], expected, contract)


def test_columns_that_are_not_utf_8_or_cut_cost_their_note_alone(tmp_path, gold_contract, contract):
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "a").write_bytes(conll(GOOD, "Jos\xe9 O\n", GOOD).encode("latin-1"))
    whole = gzip.compress(conll(*(f"{i * 7919 % 104729:x} O\n" for i in range(5000))).encode())
    (folder / "b.gz").write_bytes(whole[: len(whole) // 2])
    found = list(gold_format("conll").read(folder, scheme="i2b2-2014"))
    refused = [item for item in found if isinstance(item, Rejection)]
    assert [(item.file, item.reason) for item in refused] == [
        ("notes[0]", Reason.INVALID_UTF8),
        ("notes[1]", Reason.TRUNCATED_FILE),
    ]
    assert found[-1] is refused[-1]
    assert len(found) > 1000
    for item in refused:
        contract.assert_quiet(item)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        pytest.param("U.N. I-ORG\nofficial O\nEkeus I-PER\n", ["U.N.", "Ekeus"], id="IOB1"),
        pytest.param("Ann B-PER\nLee I-PER\nOslo B-LOC\n", ["Ann Lee", "Oslo"], id="IOB2"),
        pytest.param("Ann I-PER\nLee B-PER\n", ["Ann", "Lee"], id="IOB1, neighbours of one kind"),
        pytest.param("Ann I-PER\nOslo I-LOC\n", ["Ann", "Oslo"], id="IOB1, neighbours of two kinds"),
        pytest.param("Ann I-PER\n\nLee I-PER\n", ["Ann", "Lee"], id="a sentence ends between them"),
        pytest.param("German I-MISC\nAnn I-PER\n", ["Ann"], id="MISC is no identifier"),
    ],
)
def test_tags_of_both_forms(tokens, expected, tmp_path):
    path = tmp_path / "eng.testa"
    path.write_text(conll(tokens))
    (found,) = gold_format("conll").read(path, scheme="conll-2003")
    assert [found.note.text[span.start : span.end] for span in found.spans] == expected
    assert found.no_identifiers == tokens.count("MISC")


def test_columns_without_a_docstart_are_one_note(tmp_path):
    path = tmp_path / "eng.testa"
    path.write_text("\nAnn I-PER\ncame O\n\nBye\tO\r\n")
    (found,) = gold_format("conll").read(path, scheme="conll-2003")
    assert (found.note_id, found.note.text) == ("eng.testa-1", "Ann came\nBye")


def test_written_columns_are_iob1_with_tokens_cut_at_the_borders_of_spans(tmp_path):
    text = "Mr.Ann Lee, b.1950\nOslo/Bergen."
    spans = ((3, 10, Label.PATIENT), (14, 18, Label.DATE), (19, 23, Label.CITY), (24, 30, Label.CITY))
    touching = gold("n2", "AnnLee", (0, 3, Label.PATIENT), (3, 6, Label.PATIENT))
    gold_format("conll").write([gold("n1", text, *spans), touching], tmp_path / "set.conll")
    written = (tmp_path / "set.conll").read_text().replace(" -X- -X-", "")
    assert written == (
        "-DOCSTART- O\n\nMr O\n. O\nAnn I-PATIENT\nLee I-PATIENT\n, O\nb O\n. O\n1950 I-DATE\n\n"
        "Oslo I-CITY\n/ O\nBergen I-CITY\n. O\n\n-DOCSTART- O\n\nAnn I-PATIENT\nLee B-PATIENT\n\n"
    )
