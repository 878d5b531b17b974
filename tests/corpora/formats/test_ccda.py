"""C-CDA: a document is a note with its sections, its head tells of people and places, and hostile files are refused."""

from __future__ import annotations

import base64
from datetime import date

import pytest

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats.ccda import FEED
from deid_platform.notes import Delivery, Facility, Note, Patient, Provider, Withdrawal

DAY = Delivery("ehr", "2026-01-05")
HEAD = """
<id root="1.2" extension="doc-2"/><code code="18842-5" displayName="Discharge summary"/><title>Summary</title>
<effectiveTime value="20260102103000+0100"/><languageCode code="en-US"/>
<recordTarget><patientRole><id root="1.3" extension="p1"/><id root="2.16.840.1.113883.4.1" extension="123-45-6789"/>
 <addr><streetAddressLine>12 Elm St</streetAddressLine><city>Troy</city><state>NY</state>
  <postalCode>12180</postalCode></addr>
 <telecom value="tel:+1-518-555-0100"/><telecom value="mailto:ann@x.org"/>
 <patient><name use="L"><given>Ann</given><given>Mary</given><family>Lee</family></name>
  <name use="BR"><given>Ann</given><family>Quill</family></name>
  <administrativeGenderCode code="F"/><birthTime value="19500301"/>
  <guardian><guardianPerson><name><given>Bob</given><family>Lee</family></name></guardianPerson></guardian>
 </patient></patientRole></recordTarget>
<author><assignedAuthor><id root="2.16.840.1.113883.4.6" extension="99"/><telecom value="tel:555-0101"/>
 <assignedPerson><name><prefix>Dr.</prefix><given>Alan</given><family>Reed</family></name></assignedPerson>
</assignedAuthor></author>
<custodian><assignedCustodian><representedCustodianOrganization><name>Mercy Hospital</name>
</representedCustodianOrganization></assignedCustodian></custodian>
<relatedDocument typeCode="RPLC"><parentDocument><id root="1.2" extension="doc-1"/></parentDocument></relatedDocument>
<componentOf><encompassingEncounter><id root="1.4" extension="e1"/></encompassingEncounter></componentOf>
"""


def cda(body: str = "", head: str = HEAD) -> str:
    whole = f"{head}<component>{body}</component>"
    return f'<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3">{whole}</ClinicalDocument>'


def structured(*sections: str) -> str:
    return f"<structuredBody>{''.join(f'<component>{s}</component>' for s in sections)}</structuredBody>"


def section(title: str, text: str, more: str = "") -> str:
    return f"<section><title>{title}</title><text>{text}</text>{more}</section>"


@pytest.fixture
def read(tmp_path):
    """What is read of files, as (notes, reasons)."""

    def run(*files: str | bytes, role: Role = Role.NOTES):
        folder = tmp_path / "ehr" / DAY.watermark
        folder.mkdir(parents=True)
        for number, content in enumerate(files):
            (folder / f"{number}.xml").write_bytes(content if isinstance(content, bytes) else content.encode())
        reader = FilesFeed("ehr", tmp_path / "ehr", file_format=FEED)
        if role is Role.NOTES:
            items = list(reader.notes(DAY))
        elif role is Role.WITHDRAWN:
            items = list(reader.withdrawals(DAY, known_patients=None, known_notes=None))
        else:
            return reader.topics(DAY)
        return [i for i in items if not isinstance(i, Rejection)], [i.reason for i in items if isinstance(i, Rejection)]

    return run


def text_of(read, body: str) -> str:
    ((note,), _) = read(cda(body))
    return note.text


def test_a_document_is_a_note_with_the_titles_of_its_sections(read) -> None:
    inner = f"<component>{section('PLAN', 'Rest.')}</component>"
    body = structured(section("HISTORY", "<paragraph>Seen by Dr. Reed.</paragraph>", inner), section("", "Stable."))
    assert read(cda(body)) == (
        [
            Note(
                "doc-2",
                "HISTORY\nSeen by Dr. Reed.\n\nPLAN\nRest.\n\nStable.",
                patient_id="p1",
                encounter_id="e1",
                provider_id="99",
                note_type="Discharge summary",
                note_date=date(2026, 1, 2),
                language="en-US",
            )
        ],
        [],
    )


def test_lists_tables_breaks_and_marked_words_are_lines(read) -> None:
    text = (
        'A <content styleCode="Bold">bold</content> word<br/>and\n a line.'
        "<list><item>one</item><item><caption>two</caption> more</item></list>"
        "<table><thead><tr><th>Test</th><th>Value</th></tr></thead><tbody><tr><td>K</td><td>4.1</td></tr></tbody></table>"
    )
    assert text_of(read, structured(section("T", text))).split("\n") == [
        "T", "A bold word", "and a line.", "- one", "- two", " more", "", "Test\tValue", "K\t4.1",
    ]  # fmt: skip


def test_what_is_struck_out_pictures_and_entries_without_text_are_named(read) -> None:
    struck = 'Now <content revised="delete">SECRET</content>well.<renderMultiMedia referencedObject="x"/>'
    coded = "<section><title>LABS</title><entry><observation/></entry><entry><observation/></entry></section>"
    told = text_of(read, structured(section("T", struck), coded))
    assert told == "T\nNow well.\n\nLABS\n\n[not read: 1 coded section, deleted text, 1 picture]"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('<nonXMLBody><text mediaType="text/plain">Seen today.</text></nonXMLBody>', "Seen today."),
        (
            f'<nonXMLBody><text mediaType="text/html" representation="B64">{base64.b64encode(b"<p>Seen</p>").decode()}'
            "</text></nonXMLBody>",
            "Seen",
        ),
    ],
)
def test_an_attached_text_is_the_note(read, body, text) -> None:
    assert text_of(read, body) == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (cda('<nonXMLBody><text mediaType="application/pdf" representation="B64">AAAA</text></nonXMLBody>'),
         Reason.UNSUPPORTED_CONTENT),
        (cda(), Reason.MISSING_TEXT),
        (cda(structured(section("", "")), head=HEAD), Reason.EMPTY_TEXT),
        (cda(structured(section("T", "x")), head=""), Reason.MISSING_NOTE_ID),
        ("<other/>", Reason.MALFORMED_ROW),
        ("no document", Reason.MALFORMED_ROW),
        (cda(structured(section("T", "x")))[:-30], Reason.TRUNCATED_FILE),
        ('<!DOCTYPE d [<!ENTITY a "SECRET">]>' + cda(structured(section("T", "&a;")))[21:], Reason.MALFORMED_ROW),
        (cda(structured(section("T", "<list><item>" * 20_000 + "</item></list>" * 20_000))), Reason.MALFORMED_ROW),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_and_costs_no_other(read, content, reason) -> None:
    other = cda(structured(section("T", "x")), head=HEAD.replace("doc-2", "doc-9"))
    notes, refused = read(content, other)
    assert ([note.note_id for note in notes], refused) == (["doc-9"], [reason])


def test_a_document_that_replaces_another_withdraws_it(read) -> None:
    assert read(cda(), role=Role.WITHDRAWN) == ([Withdrawal(note_id="doc-1")], [])


def test_the_head_tells_of_people_and_places_and_former_names_are_kept(read) -> None:
    topics, _ = read(cda(), role=Role.PATIENTS)
    assert topics.patients["p1"] == Patient(
        "p1", "Ann", "Mary", "Lee", date(1950, 3, 1), "F", mrn="p1", ssn="123-45-6789", phone="+1-518-555-0100",
        email="ann@x.org", street="12 Elm St", city="Troy", state="NY", zip="12180", relatives="Bob Lee",
    )  # fmt: skip
    assert {row.last_name for row in topics.patients_known_as("p1")} == {"Lee", "Quill"}
    assert topics.providers["99"] == Provider("99", "Alan", "Reed", "Dr.", "99", phone="555-0101")
    assert topics.facilities["Mercy Hospital"] == Facility("Mercy Hospital", "Mercy Hospital")


def test_the_feed_keeps_the_reader_contract(tmp_path, contract) -> None:
    m = contract.MARKER
    root = tmp_path / "ehr"

    def deliver(watermark, file, content):
        path = root / watermark / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    marked = HEAD.replace("doc-2", f"n-{m}").replace("Lee", m)
    deliver("2026-01-05", f"a-{m}.xml", cda(structured(section(m, f"Seen {m}.")), head=marked))
    deliver("2026-01-05", f"bad-{m}.xml", f"<{m}")
    deliver("2026-01-05", "patients.csv", f"patient_id,last_name,birth_date\np-{m},{m},1950-02-01\n,{m},\n")
    deliver("2026-01-05", "withdrawn.csv", f"note_id,patient_id\nw-{m},\n,q-{m}\n")
    deliver("2026-01-05", "rejoined.csv", f"patient_id,{m}\n{m},\n")
    deliver("2026-01-12", "rejoined.csv", f"patient_id\nq-{m}\n")
    deliver("2026-01-12", f"a-{m}.xml", cda(structured(section(m, f"Corrected {m}.")), head=marked))

    def rewrite(delivery):
        (root / delivery.watermark / f"a-{m}.xml").write_text(cda(structured(section("T", "Another.")), head=marked))

    contract.check_reader(lambda: FilesFeed("ehr", root, file_format=FEED), rewrite)
