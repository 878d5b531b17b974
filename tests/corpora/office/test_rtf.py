r"""Rich text: nothing that is shown is left out, nothing that is hidden comes out, and broken files are refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.corpora import Reason
from deid_platform.corpora.office import RefusedDocumentError
from deid_platform.corpora.office.rtf import rtf_text

HEAD = r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fnil\fcharset0 Times;}{\f1\fcharset204 Cyr;}{\f2\fcharset128 Jp;}}"


def read(body: str) -> str:
    return rtf_text(f"{HEAD}{body}}}".encode("latin-1"))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"Dear Dr. Lee,\par thank you.", "Dear Dr. Lee,\nthank you."),
        (r"Jos\'e9 \u8217 ?s knee", "José \u2019s knee"),
        (r"\uc2\u233\'c3\'a9t\u233 ??\uc0\u233 x", "étééx"),
        (r"{\f1\'cb\'e8} {\f2\'93\'fa\'96\'7b}", "Ли 日本"),
        ("{\\f2\\'93\r\n\\'fa}", "日"),
        (r"\u-10179?\u-8704?", "\U0001f600"),
        (r"a\~b\_c\-d\emdash e \{f\} \\", "a\u00a0b-cd\u2014e {f} \\"),
        ("lines\r\nof the file are none, \\\nbut this", "linesof the file are none, \nbut this"),
        (r"\trowd Name\cell Lee\cell\row\trowd MRN\cell 12\cell\row", "Name\tLee\nMRN\t12"),
        (r"{\b bold} {\field{\*\fldinst HYPERLINK SECRET}{\fldrslt write to us}}", "bold write to us"),
        (r"{\*\unknown SECRET}{\info{\title SECRET}{\author SECRET}}{\stylesheet{\s1 SECRET;}}shown", "shown"),
        (r"{\upr{ansi}{\*\ud{uni\u8217 ?}}}", "uni\u2019"),
        (r"{\xe SECRET}{\*\bkmkstart SECRET}x{\*\bkmkend SECRET}", "x"),
        (r"{\pntext\'b7\tab}item", "·\titem"),
        (r"before{\bin5 }}}}}}after", "beforeafter"),
        (r"\bin4 {{{{shown", "shown"),
    ],
)
def test_what_a_reader_sees_is_read(body, text):
    assert read(body) == text


def test_headers_body_notes_comments_and_footers_come_in_reading_order():
    text = read(
        r"{\header Mercy Hospital}{\footer Page of Ann Lee}{\headerf Mercy Hospital}"
        r"Seen today.{\footnote\chftn By phone.}{\*\annotation{\*\atnid Q}{\*\atndate 1}Is that so?}\par Well."
    )
    assert text.split("\n\n") == [
        "Mercy Hospital", "Seen today.[1]\nWell.", "[1] By phone.", "[comment] Is that so?", "Page of Ann Lee",
    ]  # fmt: skip


def test_text_boxes_are_read_once():
    box = (
        r"{\shp{\*\shpinst{\sp{\sn name}{\sv SECRET}}{\shptxt BOX\par}}{\shprslt{\*\do{\dptxbxtext BOX}}}}"
        r"{\do{\dptxbxtext OLD}}"
    )
    assert read(f"before{box}after").split() == ["before", "BOX", "OLD", "after"]


@pytest.mark.parametrize(
    ("body", "text", "line"),
    [
        (r"a {\v SECRET}b", "a b", "hidden text"),
        (r"a \v SECRET\v0 b", "a b", "hidden text"),
        (r"a \v SECRET\plain b", "a b", "hidden text"),
        (r"a {\deleted SECRET}b", "a b", "deleted text"),
        (r"a {\v \par}b", "a b", ""),
        (r"{\header{\v SECRET}}b", "b", "hidden text"),
        (r"a{\pict\wmetafile8 0102}b", "ab", "1 picture"),
        (r"a{\*\shppict{\pict 01}}{\nonshppict{\pict 01}}b", "ab", "1 picture"),
        (r"{\object{\*\objclass SECRET}{\*\objdata 01}{\result shown}}", "shown", "1 embedded document"),
    ],
)
def test_what_is_hidden_deleted_or_no_text_is_named(body, text, line):
    assert read(body) == "\n\n".join(part for part in (text, line and f"[not read: {line}]") if part)


def test_what_stands_behind_the_end_is_named():
    assert rtf_text(b"{\\rtf1 shown} SECRET") == "shown\n\n[not read: trailing text]"
    assert rtf_text(b"{\\rtf1 shown}\r\n\0") == "shown"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", Reason.UNREADABLE_FILE),
        (b"Dear Dr. Lee", Reason.UNREADABLE_FILE),
        (b"{\\rtf1 shown", Reason.TRUNCATED_FILE),
        (b"{\\rtf1 {\\b shown}", Reason.TRUNCATED_FILE),
        (b"{\\rtf1 \\bin99999999 x}", Reason.TRUNCATED_FILE),
    ],
)
def test_what_is_no_rich_text_or_ends_early_is_refused(content, reason):
    with pytest.raises(RefusedDocumentError) as caught:
        rtf_text(content)
    assert caught.value.reason is reason


def test_braces_nested_without_end_and_long_lines_are_read():
    deep = 100_000
    assert read("{" * deep + "x" + "}" * deep) == "x"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=40))
def test_any_text_that_a_program_writes_comes_back(text):
    units = text.encode("utf-16-le")
    words = (int.from_bytes(units[i : i + 2], "little") for i in range(0, len(units), 2))
    written = "".join(f"\\u{word - 0x10000 if word > 0x7FFF else word}?" for word in words)
    assert read(written + "|") == text + "|"


@given(
    st.lists(st.sampled_from(["{", "}", "\\v ", "\\footnote ", "\\*", "\\ud ", "\\shp ", "\\fonttbl ", "\\'e9", "x"]))
)
def test_no_mixture_of_groups_fails_otherwise_than_by_a_refusal(tokens):
    with suppress(RefusedDocumentError):
        assert "SECRET" not in rtf_text(("{\\rtf1 " + "".join(tokens) + "{\\v SECRET}}").encode())
