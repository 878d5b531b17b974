"""Mails: who wrote to whom about what, the body, and what is attached by kind alone."""

from __future__ import annotations

import base64

import pytest

from deid_platform.corpora import Reason
from deid_platform.corpora.office import RefusedDocumentError, outlook
from deid_platform.corpora.office.html import shown_text
from deid_platform.corpora.office.mail import mail_text
from deid_platform.corpora.office.outlook import outlook_text
from deid_platform.errors import Code, DeidError

HEAD = 'From: Ann Lee <ann@x.org>\nTo: "Dr. Quill" <q@y.org>\nSubject: =?utf-8?b?S27DqWU=?=\n pain\nReceived: SECRET\n'
SHOWN = 'From: Ann Lee <ann@x.org>\nTo: "Dr. Quill" <q@y.org>\nSubject: Knée pain'


def mail(rest: str) -> str:
    return mail_text((HEAD + rest).encode())


def parts(kind: str, *some: str) -> str:
    return f'Content-Type: multipart/{kind}; boundary="B"\n\n' + "".join(f"--B\n{part}\n" for part in some) + "--B--\n"


def refusal(content: bytes, read=mail_text) -> Reason:
    with pytest.raises(RefusedDocumentError) as caught:
        read(content)
    return caught.value.reason


def test_the_head_is_lines_and_the_body_follows():
    assert mail("\nIt hurts.\n\nAnn\n") == f"{SHOWN}\n\nIt hurts.\n\nAnn"


def test_all_addresses_and_the_date_are_there_and_no_head_begins_a_line_of_its_own():
    text = mail_text(b"Bcc: b@x.org\nCc: c@x.org\nReply-To: r@x.org\nDate: Mon, 5 Jan 2026 10:00:00 +0100\n\nx")
    assert text.split("\n") == [
        "Reply-To: r@x.org", "Cc: c@x.org", "Bcc: b@x.org", "Date: Mon, 05 Jan 2026 10:00:00 +0100", "", "x",
    ]  # fmt: skip


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252"])
@pytest.mark.parametrize("encoding", ["base64", "8bit"])
def test_a_body_is_decoded_as_it_says(charset, encoding):
    raw = "Knée".encode(charset)
    body = base64.b64encode(raw) if encoding == "base64" else raw
    head = f"{HEAD}Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: {encoding}\n\n".encode()
    assert mail_text(head + body) == f"{SHOWN}\n\nKnée"


def test_of_two_forms_of_a_body_the_fuller_one_is_read():
    plain, html = "\nSee the other form.", "Content-Type: text/html\n\n<p>It hurts since Monday, <b>Ann</b></p>"
    assert mail(parts("alternative", plain, html)) == f"{SHOWN}\n\nIt hurts since Monday, Ann"
    plain = "\nIt hurts since Monday, and more"
    assert mail(parts("alternative", plain, html)) == f"{SHOWN}\n\nIt hurts since Monday, and more"


def test_hidden_text_of_html_is_named():
    html = 'Content-Type: text/html\n\n<div style="color:red; DISPLAY : none">SECRET<div>x</div></div><p>shown</p>'
    assert mail(html) == f"{SHOWN}\n\nshown\n\n[not read: hidden text]"


def test_attachments_are_named_by_kind_and_never_by_name():
    some = (
        "\nIt hurts.",
        'Content-Type: application/pdf\nContent-Disposition: attachment; filename="SECRET.pdf"\n\nSECRET',
        'Content-Type: text/plain\nContent-Disposition: attachment; filename="SECRET.txt"\n\nSECRET',
        "Content-Type: image/png\nContent-ID: <SECRET>\n\nSECRET",
        "Content-Type: message/rfc822\n\nFrom: SECRET\n\nSECRET",
        "Content-Type: application/pkcs7-signature\n\nSECRET",
    )
    assert mail(parts("mixed", *some)) == (
        f"{SHOWN}\n\nIt hurts.\n\n[not read: 1 attached mail, 2 attachments, 1 picture]"
    )


def test_every_part_that_is_shown_is_read_in_its_order():
    assert mail(parts("mixed", "\nfirst", "Content-Type: text/html\n\nsecond", "\nthird")).split()[-3:] == [
        "first", "second", "third",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "rest",
    ["Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nx", parts("encrypted", "\nx"),
     parts("mixed", "\nshown", "Content-Type: multipart/encrypted\n\nx")],
)  # fmt: skip
def test_an_encrypted_mail_is_refused(rest):
    assert refusal((HEAD + rest).encode()) is Reason.LOCKED_FILE


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", Reason.UNREADABLE_FILE),
        (b"Dear Dr. Lee,\n\nthank you", Reason.UNREADABLE_FILE),
        (b"From: x\nContent-Type: text/plain; charset=utf-8\n\n\xff", Reason.BROKEN_ATTACHMENT),
        (b"From: x\nContent-Type: text/plain; charset=nonsense\n\nx", Reason.BROKEN_ATTACHMENT),
    ],
)
def test_what_is_no_mail_or_cannot_be_decoded_is_refused(content, reason):
    assert refusal(content) is reason


def test_parts_without_end_are_refused():
    many = parts("mixed", *["\nx"] * 1_100)
    assert refusal((HEAD + many).encode()) is Reason.LIMIT_EXCEEDED


@pytest.mark.parametrize(
    ("html", "text", "hidden"),
    [
        ("<p hidden>SECRET</p>a", "a", True),
        ('<span style="display:none">SECRET<br></span>a', "a", True),
        ('<span style="visibility: hidden">SECRET</span>a', "a", True),
        ('<img style="display:none">a', "a", False),
        ("<script>SECRET</script><style>x</style>a", "a", False),
        ('<p style="display:block">a</p>', "a", False),
    ],
)
def test_what_html_hides_is_told(html, text, hidden):
    assert shown_text(html) == (text, hidden)


SUBJECT, BODY, CLASS, SENDER, ADDRESS, NAME, SMTP, MIME, LONG_NAME = (
    0x0037, 0x1000, 0x001A, 0x0C1A, 0x0C1F, 0x3001, 0x39FE, 0x370E, 0x3707,
)  # fmt: skip
MESSAGE = {CLASS: "IPM.Note", SUBJECT: "Knée pain", BODY: "It hurts.\r\nAnn", SENDER: "Ann Lee", ADDRESS: "ann@x.org"}


def test_a_mail_of_outlook_has_head_body_and_attachments_by_kind(msg):
    people = ({NAME: "Dr. Quill", SMTP: "q@y.org"},)
    attachments = ({MIME: "application/pdf", LONG_NAME: "SECRET.pdf"}, {MIME: "image/png", LONG_NAME: "SECRET.png"})
    assert outlook_text(msg(MESSAGE, attachments, people)) == (
        'From: "Ann Lee" <ann@x.org>\nTo: "Dr. Quill" <q@y.org>\nSubject: Knée pain\n\nIt hurts.\r\nAnn\n\n'
        "[not read: 1 attachment, 1 picture]"
    )


def test_headers_as_they_were_sent_come_before_what_outlook_says(msg):
    sent = {0x007D: "To: all@x.org\r\nCc: c@x.org\r\nReceived: SECRET\r\n\r\n"}
    text = outlook_text(msg(MESSAGE | sent, (), ({NAME: "Dr. Quill", SMTP: "q@y.org"},)))
    assert text.split("\n")[1:3] == ["To: all@x.org", "Cc: c@x.org"]


def test_the_fuller_of_two_bodies_is_read(msg):
    text = outlook_text(msg(MESSAGE | {BODY: "See", 0x1013: "<p>It hurts a lot</p><p hidden>SECRET</p>"}))
    assert text.split("\n\n")[1:] == ["It hurts a lot", "[not read: hidden text]"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [({CLASS: "IPM.Note.SMIME"}, Reason.LOCKED_FILE)],
)
def test_an_encrypted_mail_of_outlook_is_refused(msg, change, reason):
    assert refusal(msg(MESSAGE | change), outlook_text) is reason


def test_a_broken_mail_of_outlook_is_refused(msg):
    whole = msg(MESSAGE)
    for content in (b"", b"From: x\n\nx", whole[:700], whole[:8] + bytes(len(whole) - 8)):
        assert refusal(content, outlook_text) is Reason.UNREADABLE_FILE


def test_without_the_library_its_package_is_named(msg, monkeypatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(outlook, "import_module", missing)
    with pytest.raises(DeidError) as caught:
        outlook_text(msg(MESSAGE))
    assert (caught.value.code, caught.value.ref) == (Code.DOCUMENT_READER_MISSING, "python-oxmsg")
