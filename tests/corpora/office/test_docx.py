"""Word documents: nothing that is shown is left out, nothing that is hidden comes out, and hostile ones are refused."""

from __future__ import annotations

import struct
import zipfile
from io import BytesIO

import pytest

from deid_platform.corpora import Reason
from deid_platform.corpora.office import LIMITS, Limits, RefusedDocumentError
from deid_platform.corpora.office.docx import docx_text
from deid_platform.corpora.office.opening import archive_of


def refusal(content: bytes) -> Reason:
    with pytest.raises(RefusedDocumentError) as caught:
        docx_text(content)
    return caught.value.reason


def test_headers_body_notes_comments_and_footers_come_in_reading_order(docx, para):
    body = para("Seen today.").replace("</w:p>", '<w:r><w:footnoteReference w:id="2"/></w:r></w:p>') + para("Well.")
    parts = {
        "header:default": para("Mercy Hospital"),
        "footer:default": para("Page of Ann Lee"),
        "footnotes": f'<w:footnote w:type="separator" w:id="0">{para("-")}</w:footnote>'
        f'<w:footnote w:id="2">{para("By phone.")}</w:footnote>',
        "endnotes": f'<w:endnote w:id="3">{para("At the end.")}</w:endnote>',
        "comments": f'<w:comment w:id="1" w:author="Quillfeather">{para("Is that so?")}</w:comment>',
    }
    assert docx_text(docx(body, parts)).split("\n\n") == [
        "Mercy Hospital", "Seen today.[2]\nWell.", "[2] By phone.", "[3] At the end.", "[comment] Is that so?",
        "Page of Ann Lee",
    ]  # fmt: skip


def test_a_tables_rows_are_lines_and_its_cells_are_apart(docx, para):
    def row(*cells: str, properties: str = "") -> str:
        return f"<w:tr>{properties}{''.join(f'<w:tc>{para(cell)}</w:tc>' for cell in cells)}</w:tr>"

    gone = row("gone", "too", properties="<w:trPr><w:del/></w:trPr>")
    wrapped = f"<w:sdt><w:sdtContent>{row('MRN', '12')}</w:sdtContent></w:sdt>"
    inner = f"<w:tr><w:tc><w:tbl>{row('in', 'ner')}</w:tbl>{para('')}</w:tc><w:tc>{para('out')}</w:tc></w:tr>"
    text = docx_text(docx(f"<w:tbl>{row('Name', 'Lee')}{wrapped}{gone}{inner}</w:tbl>"))
    assert text == "Name\tLee\nMRN\t12\nin\tner\tout\n\n[not read: deleted text]"


def test_text_boxes_are_read_once_and_behind_their_paragraph(docx, para):
    box = f"<w:drawing><x><w:txbxContent>{para('BOX')}</w:txbxContent></x></w:drawing>"
    old = f"<w:pict><v:textbox><w:txbxContent>{para('BOX')}</w:txbxContent></v:textbox></w:pict>"
    both = f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    mark = '<w:p><w:r><w:pict><v:shape><v:textpath string="COPY"/></v:shape></w:pict></w:r></w:p>'
    body = f"<w:p><w:r><w:t>be</w:t></w:r><w:r>{both}</w:r><w:r><w:t>fore</w:t></w:r></w:p>{para('after')}{mark}"
    assert docx_text(docx(body)).split() == ["before", "BOX", "after", "COPY"]
    only_old = f"<mc:AlternateContent><mc:Choice><x/></mc:Choice><mc:Fallback>{old}</mc:Fallback></mc:AlternateContent>"
    assert docx_text(docx(f"<w:p><w:r>{only_old}</w:r></w:p>")) == "BOX"


def test_insertions_are_read_and_deletions_are_named(docx, para):
    body = (
        "<w:p><w:r><w:t>Lee </w:t></w:r><w:del><w:r><w:delText>SECRET</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>SECRET</w:t></w:r></w:moveFrom><w:ins><w:r><w:t>is well</w:t></w:r></w:ins>"
        "<w:moveTo><w:r><w:t>.</w:t></w:r></w:moveTo></w:p>"
    )
    assert docx_text(docx(body)) == "Lee is well.\n\n[not read: deleted text]"


@pytest.mark.parametrize(
    ("properties", "hidden"),
    [
        ("<w:vanish/>", True),
        ('<w:vanish w:val="1"/>', True),
        ('<w:vanish w:val="0"/>', False),
        ('<w:vanish w:val="false"/>', False),
        ('<w:rStyle w:val="Secret"/>', True),
        ('<w:rStyle w:val="Child"/>', True),
        ('<w:rStyle w:val="Child"/><w:vanish w:val="0"/>', False),
        ('<w:rStyle w:val="Shown"/>', False),
        ("<w:b/>", False),
    ],
)
def test_hidden_text_is_named_whether_the_run_or_its_style_hides_it(docx, para, properties, hidden):
    styles = (
        '<w:style w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:styleId="Child"><w:basedOn w:val="Secret"/></w:style>'
        '<w:style w:styleId="Shown"><w:basedOn w:val="Child"/><w:rPr><w:vanish w:val="0"/></w:rPr></w:style>'
        '<w:style w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>'
    )
    text = docx_text(docx(para("Shown.") + para("SECRET", properties), {"styles": styles}))
    assert text == ("Shown.\n\n[not read: hidden text]" if hidden else "Shown.\nSECRET")


def test_a_paragraphs_style_hides_it_too(docx, para):
    styles = '<w:style w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>'
    hidden = para("SECRET").replace("<w:p>", '<w:p><w:pPr><w:pStyle w:val="Secret"/></w:pPr>')
    assert docx_text(docx(para("Shown.") + hidden, {"styles": styles})) == "Shown.\n\n[not read: hidden text]"


@pytest.mark.parametrize(
    ("of_pages", "root", "settings", "shown"),
    [
        ("default", "", "", True),
        ("first", "", "", False),
        ("first", "<w:titlePg/>", "", True),
        ("even", "<w:titlePg/>", "", False),
        ("even", "", "<w:evenAndOddHeaders/>", True),
    ],
)
def test_a_header_that_no_page_shows_is_named(docx, para, of_pages, root, settings, shown):
    parts = {f"header:{of_pages}": para("HEAD"), "settings": settings}
    text = docx_text(docx(para("Body."), parts, root=root))
    assert text == ("HEAD\n\nBody." if shown else "Body.\n\n[not read: hidden text]")


def test_of_fields_the_result_is_read_and_pictures_and_what_is_embedded_are_named(docx, para):
    field = (
        '<w:p><w:hyperlink r:id="x"><w:r><w:instrText>HYPERLINK "mailto:SECRET"</w:instrText></w:r>'
        "<w:r><w:t>write to us</w:t></w:r></w:hyperlink></w:p>"
    )
    parts = {"image": "", "chart": "", "aFChunk": ""}
    text = docx_text(docx(field, parts))
    assert text == "write to us\n\n[not read: 1 chart, 1 embedded document, 1 picture]"


def test_marks_on_forms_tabs_and_breaks_are_characters(docx):
    body = (
        '<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FE"/><w:tab/><w:t>yes</w:t><w:br/><w:t>x</w:t>'
        '<w:noBreakHyphen/><w:t>ray</w:t><w:sym w:font="Webdings" w:char="F041"/></w:r></w:p>'
    )
    assert docx_text(docx(body)) == "\u2612\tyes\nx-ray\n\n[not read: 1 symbol]"


def test_text_outside_any_paragraph_is_read(docx):
    assert docx_text(docx("<w:r><w:t>loose</w:t></w:r>")) == "loose"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", Reason.UNREADABLE_FILE),
        (b"Dear Dr. Lee", Reason.UNREADABLE_FILE),
        (b"PK\x03\x04 and so on", Reason.TRUNCATED_FILE),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), Reason.UNSUPPORTED_CONTENT),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), Reason.LOCKED_FILE),
    ],
    ids=["empty", "a text", "cut", "of old", "encrypted"],
)
def test_what_is_no_document_or_a_locked_one_is_refused(content, reason):
    assert refusal(content) is reason


def test_a_document_that_ends_early_is_refused(docx, para):
    whole = docx(para("Shown."))
    assert refusal(whole[: len(whole) // 2]) is Reason.TRUNCATED_FILE


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE d [<!ENTITY a "SECRET">]>',
        '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE d SYSTEM "http://localhost/x.dtd">',
    ],
)
def test_entities_are_refused(docx, archive, head):
    files = {
        "_rels/.rels": '<R><Relationship Id="r" Type="x/officeDocument" Target="d.xml"/></R>',
        "d.xml": f"{head}<d><body><p><r><t>x</t></r></p></body></d>",
    }
    assert refusal(archive(files)) is Reason.UNREADABLE_FILE
    files["d.xml"] = files["d.xml"].replace(head, "")
    assert docx_text(archive(files)) == "x"


def test_a_part_that_unpacks_to_more_than_its_limit_is_refused_before_it_is_unpacked(docx, para):
    with archive_of(docx(para("x" * 5_000)), Limits(part_bytes=1_000)) as opened:
        with pytest.raises(RefusedDocumentError) as caught:
            opened.xml("word/document.xml")
        assert caught.value.reason is Reason.LIMIT_EXCEEDED


def test_a_part_that_lies_about_its_size_is_refused(docx, para):
    content = bytearray(docx(para("x" * 5_000)))
    with zipfile.ZipFile(BytesIO(content)) as archive:
        size = struct.pack("<I", archive.getinfo("word/document.xml").file_size)
    lied = bytes(content).replace(size, struct.pack("<I", 100))
    assert lied != bytes(content)
    assert refusal(lied) is Reason.UNREADABLE_FILE


def test_too_many_parts_and_two_of_one_name_are_refused(archive):
    with (
        pytest.raises(RefusedDocumentError) as caught,
        archive_of(archive({str(i): "" for i in range(9)}), Limits(parts=8)),
    ):
        pass
    assert caught.value.reason is Reason.LIMIT_EXCEEDED
    twice = BytesIO()
    with zipfile.ZipFile(twice, "w") as written, pytest.warns(UserWarning, match="Duplicate"):
        written.writestr("a", "1")
        written.writestr("a", "2")
    assert refusal(twice.getvalue()) is Reason.UNREADABLE_FILE


def test_elements_nested_without_end_are_refused(docx):
    assert refusal(docx("<w:smartTag>" * 20_000 + "</w:smartTag>" * 20_000)) is Reason.UNREADABLE_FILE


def test_limits_are_generous_enough_for_any_letter():
    assert LIMITS.part_bytes >= 50_000_000
