"""What the service answers to notes: the same as `deid redact` and Python, and nothing where they would withhold."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from service_client import InThisProcess, client_of, note, service_of
from starlette.testclient import TestClient

import deid_platform
from deid_platform.notes import Note, Patient, Topics
from deid_platform.service.forms import PatientForm

ANN = {"first_name": "Ann", "last_name": "Quillfeather", "birth_date": "1950-03-03"}
SECRET = "6d1f0c8a94e7b25310fd86a2c7e95b40"


@pytest.fixture(scope="module")
def client() -> TestClient:
    staff = InThisProcess(policies=["safe_harbor_plus_providers", "gdpr_it"])
    return client_of(service_of(staff, "safe_harbor_plus_providers", "gdpr_it"))


def asked(client: TestClient, *notes: object, path: str = "/v1/redact", **beside: object) -> list[dict]:
    answer = client.post(path, json={"notes": list(notes), **beside})
    assert answer.status_code == 200, answer.text
    return answer.json()["notes"]


def test_a_row_of_a_request_has_the_fields_of_the_topic() -> None:
    assert [*PatientForm.model_fields] == [field.name for field in fields(Patient)]


def test_a_note_is_redacted_as_python_redacts_it(client: TestClient) -> None:
    text = "Seen by Dr. Alan Reed on 03/04/2019, call (617) 555-0142."
    (answer,) = asked(client, note(text, note_id="n1"))
    redacted = deid_platform.load("rules").redact(Note("n1", text))
    assert answer == {
        "note_id": "n1",
        "text": redacted.text,
        "spans": [[span.start, span.end, span.label.value] for span in redacted.spans],
    }
    assert "Reed" not in answer["text"]


def test_a_row_of_the_roster_is_known_for_its_request_alone(client: TestClient) -> None:
    text = "the quillfeather chart"
    assert asked(client, note(text, patient=ANN))[0]["text"] == "the [PATIENT] chart"
    assert asked(client, note(text))[0]["text"] == text
    # Also of others in the same request: one patient's note may name another.
    others = asked(
        client, note("Ward round.", patient_id="p1", patient=ANN), note("Bed of Ann Quillfeather", patient_id="p2")
    )
    assert "Quillfeather" not in others[1]["text"]


def test_rows_of_a_request_stand_beside_those_of_the_service() -> None:
    topics = Topics.of([Patient("p1", first_name="Ann", last_name="Quillfeather")])
    client = client_of(service_of(InThisProcess(topics=topics)))
    row = {"last_name": "Vexworth", "first_name": "Ann"}
    (answer,) = asked(client, note("quillfeather, now vexworth", patient_id="p1", patient=row))
    assert answer["text"] == "[PATIENT], now [PATIENT]"


def test_what_one_note_tells_of_its_patient_is_found_in_the_patients_other_notes(client: TestClient) -> None:
    tells, text = note("Seen by Dr. Wamsutter Ostrowe.", patient_id="p"), "Wounds healed, plan as by Ostrowe service."
    assert asked(client, note(text, patient_id="p"))[0]["text"] == text
    assert asked(client, note(text, patient_id="q"), tells)[0]["text"] == text
    told, _ = asked(client, note(text, patient_id="p"), tells)
    assert told["text"] == "Wounds healed, plan as by [DOCTOR] service."


def test_a_note_that_leaks_is_withheld_with_its_code_and_no_text() -> None:
    client = client_of(service_of(InThisProcess(detector="patterns")))
    leaking = note("the quillfeather chart", note_id="n", patient=ANN)
    for path in ("/v1/redact", "/v1/detect"):
        answers = asked(client, leaking, note("BP 120/80."), path=path)
        assert answers[0] == {"note_id": "n", "withheld": {"code": "note-leaks", "ref": "leak-last-name"}}
        assert "withheld" not in answers[1]


@pytest.mark.parametrize(
    ("given", "code", "ref"),
    [
        (note("  "), "note-invalid", "empty_text"),
        (note("x\0y"), "note-invalid", "nul_character"),
        (note("Seen.", note_date="2019-02-31"), "note-invalid", "impossible_date"),
        (note("Seen.", patient={"birth_date": "soon"}), "note-invalid", "impossible_date"),
        (note("Seen.", patient_id="a", patient={"patient_id": "b"}), "note-invalid", "the row is another patient's"),
        (
            note("Die Patientin klagt seit gestern über starke Schmerzen im rechten Knie, kein Fieber."),
            "language-unmeasured",
            "de",
        ),
    ],
)
def test_what_cannot_be_redacted_is_withheld_and_its_neighbours_are_not(
    client: TestClient, given: object, code: str, ref: str
) -> None:
    first, second, third = asked(client, note("BP 120/80."), given, note("Dr. Alan Reed"))
    assert second == {"withheld": {"code": code, "ref": ref}}
    assert (first["text"], third["text"]) == ("BP 120/80.", "Dr. [DOCTOR]")


def test_a_policy_is_chosen_by_name(client: TestClient) -> None:
    text = "Seen on 03/04/2019, a retired plumber, a 72-year-old man."
    plain = asked(client, note(text))[0]["text"]
    assert asked(client, note(text), policy="safe_harbor_plus_providers")[0]["text"] == plain
    # This policy alone hides professions and ages under 90, and so has a detector of its own.
    hidden = asked(client, note(text), policy="gdpr_it")[0]["text"]
    assert all(word in plain and word not in hidden for word in ("plumber", "72"))
    refused = client.post("/v1/redact", json={"notes": [note(text)], "policy": "Ann Quillfeather"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "policy-unknown")
    assert refused.json()["error"]["ref"] == "known: safe_harbor_plus_providers, gdpr_it"


def test_surrogates_are_those_of_the_sites_key(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    options = {"policies": ["surrogate"], "secret_file": secret, "site": "north"}
    client = client_of(service_of(InThisProcess(**options), "surrogate"))
    row = Patient("p1", first_name="Ann", last_name="Quillfeather")
    text = "Ms. Quillfeather was seen on 03/04/2019 by Dr. Alan Reed."
    python = deid_platform.load(
        "rules", topics=Topics.of([row]), policy="surrogate", secret_file=secret, site="north"
    ).redact(Note("n1", text, patient_id="p1"))
    sent = note(text, note_id="n1", patient_id="p1", patient={"first_name": "Ann", "last_name": "Quillfeather"})
    (answer,) = asked(client, sent)
    assert answer["text"] == python.text
    assert "Quillfeather" not in answer["text"]
    assert "[" not in answer["text"]
    (start, _, label) = answer["spans"][0]
    assert (answer["text"][start - 4 : start], label) == ("Ms. ", "PATIENT")
    other = client_of(service_of(InThisProcess(**{**options, "site": "south"}), "surrogate"))
    assert asked(other, sent)[0]["text"] != answer["text"]


def test_spans_of_the_original_come_without_a_text(client: TestClient) -> None:
    text = "Seen by Dr. Alan Reed."
    (answer,) = asked(client, note(text), path="/v1/detect")
    assert answer == {"spans": [[12, 21, "DOCTOR"]]}


@pytest.mark.parametrize(
    ("body", "ref"),
    [
        ("{", "not JSON in UTF-8, or a name stands twice"),
        ('{"notes": [], "notes": []}', "not JSON in UTF-8, or a name stands twice"),
        ("[]", "body: another kind of value is expected"),
        ('{"notes": []}', "notes: is empty"),
        ('{"notes": [{"note_id": "1"}]}', "notes.0.text: is missing"),
        ('{"notes": [{"text": 7}]}', "notes.0.text: another kind of value is expected"),
        ('{"notes": [{"text": "a", "Ann Quillfeather": 1}]}', "notes.0.?: is not known"),
        ('{"notes": [{"text": "a", "patient": {"mrn": 7}}]}', "notes.0.patient.mrn: another kind of value is expected"),
    ],
)
def test_what_is_no_request_is_refused_by_its_place_and_never_by_its_words(
    client: TestClient, body: str, ref: str
) -> None:
    answer = client.post("/v1/redact", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "request-invalid")
    assert answer.json()["error"]["ref"] == ref


def test_answers_are_lines_that_evaluate_reads(client: TestClient, tmp_path: Path) -> None:
    """`deid evaluate --released` takes note_id and text; the spans are written as `deid redact` writes them."""
    (answer,) = asked(client, note("Seen by Dr. Alan Reed.", note_id="n1"))
    from deid_platform.cli.redact import redact

    notes = tmp_path / "notes.jsonl"
    notes.write_text(json.dumps({"note_id": "n1", "text": "Seen by Dr. Alan Reed."}) + "\n")
    redact(notes, tmp_path / "out.jsonl", detector="rules")
    assert json.loads((tmp_path / "out.jsonl").read_text()) == answer
