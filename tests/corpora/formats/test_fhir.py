"""FHIR R4 as a feed: bulk exports and Bundles, all invented."""

from __future__ import annotations

import base64
import gzip
import json
import tracemalloc
from datetime import date

import pytest

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats import file_format
from deid_platform.corpora.formats.attachments import decoded_text
from deid_platform.corpora.office.html import shown_text
from deid_platform.notes import Delivery, Facility, Note, Patient, Provider

DELIVERY = Delivery("ehr", "2026-01-05")


def packed(text, charset="utf-8"):
    return base64.b64encode(text.encode(charset)).decode()


def document(note_id, text="Stable.", kind="text/plain", **more):
    attachment = {"contentType": kind, "data": packed(text)}
    return {
        "resourceType": "DocumentReference",
        "id": note_id,
        "status": "current",
        "subject": {"reference": "Patient/p1"},
        "author": [{"reference": "Organization/o1"}, {"reference": "https://ehr.example.org/r4/Practitioner/d1"}],
        "context": {"encounter": [{"reference": "Encounter/e1"}]},
        "type": {"text": "Progress note"},
        "date": "2025-11-30T23:30:00-05:00",
        "content": [{"attachment": attachment}],
        **more,
    }


def lines(*resources):
    return "".join(json.dumps(it) + "\n" if isinstance(it, dict) else it for it in resources)


@pytest.fixture
def feed(tmp_path):
    """A reader, and what writes one file of its delivery."""
    folder = tmp_path / "ehr" / DELIVERY.watermark
    folder.mkdir(parents=True)

    def write(name, content):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return FilesFeed("ehr", tmp_path / "ehr", file_format=file_format("fhir"))

    return write


def test_the_feed_keeps_the_reader_contract(tmp_path, contract):
    m = contract.MARKER

    def deliver(watermark, name, content):
        path = tmp_path / "ehr" / watermark / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def notes(watermark, text):
        broken = document(f"b-{m}", content=[{"attachment": {"contentType": "text/plain", "data": f"{m}!"}}])
        gone = document(f"g-{m}", status="entered-in-error")
        resources = (document(f"n-{m}", text), broken, gone, f'{{"{m}": \n', document(f"n-{m}", text))
        deliver(watermark, "DocumentReference.ndjson", lines(*resources))

    notes("2026-01-05", f"Seen {m}.")
    notes("2026-01-12", f"Other {m}.")
    patients = (
        {"resourceType": "Patient", "id": f"p-{m}", "name": [{"family": m, "given": [m]}], "birthDate": "1950-02-01"},
        {"resourceType": "Patient", "name": [{"family": m}]},
    )
    deliver("2026-01-05", "Patient.ndjson", lines(*patients))
    deliver("2026-01-05", "withdrawn.csv", f"note_id,patient_id\nw-{m},\n,q-{m}\n")
    deliver("2026-01-05", "rejoined.csv", f"patient_id,{m}\n{m},\n")
    deliver("2026-01-12", "rejoined.csv", f"patient_id\nq-{m}\n")
    contract.check_reader(
        lambda: FilesFeed("ehr", tmp_path / "ehr", file_format=file_format("fhir")),
        lambda delivery: notes(delivery.watermark, "Another text."),
    )


def test_a_document_becomes_a_note_with_the_ids_that_it_refers_to(feed):
    (note,) = feed("DocumentReference.ndjson", lines(document("n1", "Grüße,\nstable."))).notes(DELIVERY)
    # The day where it was written, not in UTC.
    assert note == Note("n1", "Grüße,\nstable.", "p1", "e1", "d1", None, "Progress note", date(2025, 11, 30))


def test_a_report_has_its_text_in_a_presented_form(feed):
    report = {
        "resourceType": "DiagnosticReport",
        "id": "r1",
        "code": {"coding": [{"display": "Chest X-ray"}]},
        "effectiveDateTime": "2025-10",
        "resultsInterpreter": [{"reference": "Practitioner/d2"}],
        "presentedForm": [{"contentType": "text/html", "data": packed("<p>Clear&nbsp;lungs.</p><p>No mass.</p>")}],
    }
    (note,) = feed("DiagnosticReport.000.ndjson.gz", gzip.compress(lines(report).encode())).notes(DELIVERY)
    assert (note.text, note.note_type, note.provider_id) == (
        "Clear\N{NO-BREAK SPACE}lungs.\n\nNo mass.",
        "Chest X-ray",
        "d2",
    )
    assert note.note_date is None  # a month is no day


def report(**more):
    return {"resourceType": "DiagnosticReport", "id": "r1", "subject": {"reference": "Patient/p1"}, **more}


FORM = {"contentType": "text/plain", "data": packed("Clear lungs.")}


@pytest.mark.parametrize(
    ("fields", "notes"),
    [
        ({"conclusion": "No mass."}, {"r1/conclusion": "No mass."}),
        ({"presentedForm": [FORM], "conclusion": "No mass."}, {"r1": "Clear lungs.", "r1/conclusion": "No mass."}),
        ({"presentedForm": [FORM], "conclusion": " "}, {"r1": "Clear lungs."}),
        ({"presentedForm": [FORM, FORM]}, {"r1": "Clear lungs.", "r1/2": "Clear lungs."}),
    ],
)
def test_the_conclusion_of_a_report_is_a_note_of_its_own(feed, fields, notes):
    reader = feed("DiagnosticReport.ndjson", lines(report(**fields), report(id="r2", presentedForm=[FORM])))
    *those, _ = reader.notes(DELIVERY)
    assert {note.note_id: note.text for note in those} == notes
    assert {note.patient_id for note in those} == {"p1"}
    gone = feed("DiagnosticReport.ndjson", lines(report(**fields, status="entered-in-error")))
    assert not list(gone.notes(DELIVERY))
    withdrawn = gone.withdrawals(DELIVERY, known_patients=None, known_notes=None)
    assert [one.note_id for one in withdrawn] == list(notes)


@pytest.mark.parametrize("conclusion", [{"data": packed("No mass.")}, ["No mass."], 7])
def test_a_conclusion_that_is_no_text_is_refused(feed, conclusion):
    found = list(
        feed("DiagnosticReport.ndjson", lines(report(presentedForm=[FORM], conclusion=conclusion))).notes(DELIVERY)
    )
    assert [item.reason for item in found if isinstance(item, Rejection)] == [Reason.MALFORMED_ROW]
    assert [item.note_id for item in found if isinstance(item, Note)] == ["r1"]


def test_a_report_without_any_text_is_refused(feed):
    (refused,) = feed("DiagnosticReport.ndjson", lines(report())).notes(DELIVERY)
    assert refused.reason is Reason.BROKEN_ATTACHMENT


def test_several_attachments_are_several_notes(feed):
    parts = [{"attachment": {"contentType": "text/plain", "data": packed(text)}} for text in ("One.", "Two.")]
    found = feed("DocumentReference.ndjson", lines(document("n1", content=parts))).notes(DELIVERY)
    assert [(note.note_id, note.text) for note in found] == [("n1", "One."), ("n1/2", "Two.")]


@pytest.mark.parametrize(
    ("text", "first", "middle", "last"),
    [
        ("Alan Reed", "Alan", None, "Reed"),
        ("REED, Alan  John", "Alan", "John", "REED"),
        ("Reed", None, None, "Reed"),
        ("", None, None, None),
    ],
)
def test_a_name_in_one_piece_is_known_to_the_topics(feed, text, first, middle, last):
    reader = feed("Patient.ndjson", lines({"resourceType": "Patient", "id": "p1", "name": [{"text": text}]}))
    patient = reader.topics(DELIVERY)[0].patients["p1"]
    assert (patient.first_name, patient.middle_name, patient.last_name) == (first, middle, last)


def test_topics_come_from_patients_practitioners_and_organizations(feed):
    patient = {
        "resourceType": "Patient",
        "id": "p1",
        "identifier": [
            {"type": {"coding": [{"code": "MR"}]}, "value": "4471"},
            {"system": "http://hl7.org/fhir/sid/us-ssn", "value": "900-01-0001"},
        ],
        "name": [{"use": "nickname", "given": ["Bea"]}, {"use": "official", "family": "Orr", "given": ["Beate", "K"]}],
        "telecom": [{"system": "phone", "value": "555-0101"}, {"system": "email", "value": "b@example.org"}],
        "gender": "female",
        "birthDate": "1950-02-01",
        "address": [{"line": ["1 Elm St", "Apt 2"], "city": "Ames", "state": "IA", "postalCode": "50010"}],
        "contact": [{"name": {"family": "Orr", "given": ["Tom"]}}],
    }
    npi = {"system": "http://hl7.org/fhir/sid/us-npi", "value": "2000000002"}
    doctor = {
        "resourceType": "Practitioner",
        "id": "d1",
        "name": [{"family": "Ito", "given": ["Ken"], "suffix": ["MD"]}],
    }
    clinic = {"resourceType": "Organization", "id": "o1", "name": "Elm Clinic", "alias": ["EC"]}
    feed("Patient.ndjson", lines(patient))
    feed("Organization.ndjson", lines(clinic))
    topics, refused = feed("Practitioner.ndjson", lines({**doctor, "identifier": [npi]})).topics(DELIVERY)
    assert refused == []
    assert topics.patients["p1"] == Patient(
        "p1", "Beate", "K", "Orr", date(1950, 2, 1), "F", "4471", "900-01-0001", "555-0101", "b@example.org",
        "1 Elm St, Apt 2", "Ames", "IA", "50010", "Tom Orr",
    )  # fmt: skip
    assert topics.providers["d1"] == Provider("d1", "Ken", "Ito", "MD", "2000000002")
    assert topics.facilities["o1"] == Facility("o1", "Elm Clinic", "EC")


@pytest.mark.parametrize("status", ["status", "docStatus"])
def test_an_error_is_withdrawn_and_is_no_note(feed, status):
    reader = feed("DocumentReference.ndjson", lines(document("n1"), document("n2", **{status: "entered-in-error"})))
    assert [note.note_id for note in reader.notes(DELIVERY)] == ["n1"]
    (gone,) = reader.withdrawals(DELIVERY, known_patients=None, known_notes=None)
    assert gone.note_id == "n2"


def attachment(**fields):
    return [{"attachment": fields}]


@pytest.mark.parametrize(
    ("resource", "reason"),
    [
        (document("x", content=attachment(contentType="text/plain", data="!!")), Reason.BROKEN_ATTACHMENT),
        (document("x", content=attachment(contentType="text/plain", url="Binary/b1")), Reason.BROKEN_ATTACHMENT),
        (document("x", content=[]), Reason.BROKEN_ATTACHMENT),
        (document("x", content="none"), Reason.BROKEN_ATTACHMENT),
        (document("x", kind="application/pdf"), Reason.UNSUPPORTED_CONTENT),
        (document("x", content=attachment(data=packed("é", "latin-1"))), Reason.INVALID_UTF8),
        (document("x", kind="text/plain; charset=no-such"), Reason.BROKEN_ATTACHMENT),
        (document(None), Reason.MISSING_NOTE_ID),
        (document(["x"]), Reason.MALFORMED_ROW),
        (document("n1"), Reason.DUPLICATE_NOTE_ID),
        (document("x", "a" * 5000), Reason.TEXT_TOO_LONG),
        (document("x", " "), Reason.EMPTY_TEXT),
        ("not json\n", Reason.MALFORMED_ROW),
        ("[]\n", Reason.MALFORMED_ROW),
        ({"resourceType": "Patient", "id": "p1"}, Reason.MALFORMED_ROW),
        ({"resourceType": "Observation", "id": "x"}, Reason.MALFORMED_ROW),
        ({"id": "x"}, Reason.MALFORMED_ROW),
        (
            document("x", content=attachment(contentType="text/plain; charset=utf-16", data="AA==")),
            Reason.BROKEN_ATTACHMENT,
        ),
        (document("x", kind="application/rtf"), Reason.UNSUPPORTED_CONTENT),
    ],
)
def test_a_resource_that_cannot_be_used_costs_itself_alone(feed, tmp_path, resource, reason):
    feed("DocumentReference.ndjson", lines(document("n1"), resource, document("n2")))
    reader = FilesFeed("ehr", tmp_path / "ehr", max_chars=4000, file_format=file_format("fhir"))
    found = list(reader.notes(DELIVERY))
    assert [note.note_id for note in found if isinstance(note, Note)] == ["n1", "n2"]
    (refused,) = (item for item in found if isinstance(item, Rejection))
    assert (refused.reason, refused.file, refused.row) == (reason, "notes[0]", 2)


def test_a_bundle_with_a_broken_attachment_loses_no_other_note(feed):
    broken = document("n2", content=attachment(contentType="text/plain", data="%%%"))
    patient = {"resourceType": "Patient", "id": "p1", "name": [{"family": "Orr"}]}
    resources = (document("n1"), broken, patient, document("n3"))
    bundle = {"resourceType": "Bundle", "entry": [*({"resource": it} for it in resources), {"fullUrl": "urn:uuid:1"}]}
    reader = feed("Bundle-1.json", json.dumps(bundle))
    found = list(reader.notes(DELIVERY))
    assert [note.note_id for note in found if isinstance(note, Note)] == ["n1", "n3"]
    refused = [(item.reason, item.row) for item in found if isinstance(item, Rejection)]
    assert refused == [(Reason.BROKEN_ATTACHMENT, 2), (Reason.MALFORMED_ROW, 5)]
    assert [row.last_name for row in reader.topics(DELIVERY)[0].patients.values()] == ["Orr"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("Bundle.json", b'{"entry": [', Reason.UNREADABLE_FILE),
        ("Bundle.json", b'{"entry": "\xff"}', Reason.INVALID_UTF8),
        (
            "DocumentReference.ndjson.gz",
            gzip.compress(lines(document("n1")).encode(), mtime=0)[:90],
            Reason.TRUNCATED_FILE,
        ),
    ],
)  # fmt: skip
def test_a_damaged_file_says_so(feed, name, content, reason):
    found = list(feed(name, content).notes(DELIVERY))
    assert found[-1].reason is reason


def test_files_of_other_resources_are_passed_over():
    roles = file_format("fhir").roles
    assert roles("Observation.ndjson") == roles("Patient.json") == roles("Bundle.ndjson") == roles("notes.csv") == ()


@pytest.mark.parametrize(
    ("kind", "charset", "text"),
    [
        ("text/plain; charset=ISO-8859-1", "latin-1", "café"),
        ("text/plain; charset=UTF-16", "utf-16", "café 👋"),
        ("text/plain;charset=windows-1252", "cp1252", "“café”"),
        ("", "utf-8-sig", "café"),
    ],
)
def test_character_sets(kind, charset, text):
    assert decoded_text(packed(text, charset), kind, max_chars=100) == text


def test_html_keeps_its_lines_and_loses_scripts():
    html = "<html><head><title>x</title><style>p{}</style></head><body><h1>Plan</h1><p>Rest,<br>fluids &amp; sleep.</p>"
    table = "<table><tr><td>BP</td><td>120/80</td></tr></table><script>alert(1)</script></body></html>"
    assert shown_text(html + table)[0].split() == ["Plan", "Rest,", "fluids", "&", "sleep.", "BP", "120/80"]


def elsewhere(note_id, url):
    return document(note_id, content=attachment(contentType="text/plain", url=url))


@pytest.mark.parametrize("name", ["Binary.ndjson", "Binary.001.ndjson.gz"])
def test_content_elsewhere_is_that_of_the_binary_files_of_its_delivery(feed, name):
    resources = [
        {"resourceType": "Binary", "id": "b1", "contentType": "text/plain", "data": packed("Well.")},
        {"resourceType": "Binary", "id": "b2", "contentType": "text/plain", "data": packed("One.")},
        {"resourceType": "Binary", "id": "b2", "contentType": "text/plain", "data": packed("Two.")},
    ]
    content = lines(*resources).encode()
    reader = feed(name, gzip.compress(content) if name.endswith("gz") else content)
    before = reader.fingerprint(DELIVERY)
    urls = ["Binary/b1", "https://ehr.example.org/r4/Binary/b1", "Binary/b2", "Binary/b3", "https://ehr.example.org/b1"]
    documents = [elsewhere(f"n{number}", url) for number, url in enumerate(urls)]
    found = list(feed("DocumentReference.ndjson", lines(*documents)).notes(DELIVERY))
    assert [(it.note_id, it.text) for it in found if isinstance(it, Note)] == [("n0", "Well."), ("n1", "Well.")]
    # Two resources claim b2, b3 is not there, and no address is asked.
    refused = [(it.reason, it.row) for it in found if isinstance(it, Rejection)]
    assert refused == [(Reason.BROKEN_ATTACHMENT, row) for row in (3, 4, 5)]
    assert reader.fingerprint(DELIVERY) != before


def test_a_bundle_resolves_what_its_entries_call_each_other(feed):
    called = {"subject": {"reference": "urn:uuid:1"}, "author": [{"reference": "urn:uuid:2"}]}
    entries = [
        {"fullUrl": "urn:uuid:1", "resource": {"resourceType": "Patient", "id": "p7", "name": [{"family": "Orr"}]}},
        {"fullUrl": "urn:uuid:2", "resource": {"resourceType": "Practitioner", "id": "d7"}},
        {"resource": {"resourceType": "Binary", "id": "b1", "data": packed("Well.")}},
        {"resource": {**elsewhere("n1", "Binary/b1"), **called}},
    ]
    found = list(feed("Bundle.json", json.dumps({"resourceType": "Bundle", "entry": entries})).notes(DELIVERY))
    assert [(note.text, note.patient_id, note.provider_id) for note in found] == [("Well.", "p7", "d7")]


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"type": {"coding": [{"display": "Letter"}]}}, "Letter"),
        ({"type": {}, "category": [{"text": "Clinical note"}]}, "Clinical note"),
        ({"type": {}}, None),
    ],
)
def test_the_type_of_a_note(feed, fields, kind):
    (note,) = feed("DocumentReference.ndjson", lines(document("n1", **fields))).notes(DELIVERY)
    assert note.note_type == kind


def test_an_error_withdraws_every_note_of_its_document(feed):
    parts = attachment(data=packed("One.")) + attachment(data=packed("Two."))
    reader = feed("DocumentReference.ndjson", lines(document("n1", content=parts, status="entered-in-error")))
    gone = reader.withdrawals(DELIVERY, known_patients=None, known_notes=None)
    assert [it.note_id for it in gone] == ["n1", "n1/2"]


@pytest.mark.parametrize("born", ["1950", "1950-02", "1950-02-30"])
def test_a_birth_date_that_is_no_day_is_told_and_left_out(feed, born):
    patient = {"resourceType": "Patient", "id": "p1", "name": [{"family": "Orr"}], "birthDate": born}
    topics, refused = feed("Patient.000.ndjson", lines(patient)).topics(DELIVERY)
    assert topics.patients["p1"].birth_date is None
    assert [it.reason for it in refused] == [Reason.IMPOSSIBLE_DATE]


def test_memory_does_not_grow_with_the_file(feed):
    def peak(count):
        reader = feed("DocumentReference.ndjson", "".join(lines(document(f"n{n}", "a" * 8000)) for n in range(count)))
        tracemalloc.start()
        assert sum(1 for _ in reader.notes(DELIVERY)) == count
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(5)
    assert peak(1000) < peak(100) + 500_000  # the larger file is 10 MB longer
