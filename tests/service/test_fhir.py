"""`$de-identify`: texts redacted, structure kept, and of everything else only what is on the list."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest
from service_client import InThisProcess, client_of, service_of
from starlette.testclient import TestClient

from deid_platform.service.fhir_elements import left_out, safe_elements

KIND = {"Content-Type": "application/fhir+json"}
MARK = "Quillfeather"
TEXT = "Ms. Quillfeather was seen by Dr. Alan Reed."
REDACTED = "Ms. [PATIENT] was seen by Dr. [DOCTOR]."


def attachment(text: str = TEXT, kind: str = "text/plain", **more: object) -> dict:
    return {"contentType": kind, "data": base64.b64encode(text.encode()).decode(), **more}


def document(*attachments: dict, **more: object) -> dict:
    held = [{"attachment": each} for each in attachments or (attachment(),)]
    return {"resourceType": "DocumentReference", "status": "current", "content": held, **more}


def report(**more: object) -> dict:
    return {"resourceType": "DiagnosticReport", "status": "final", **more}


def bundle(*resources: dict) -> dict:
    return {"resourceType": "Bundle", "type": "collection", "entry": [{"resource": each} for each in resources]}


@pytest.fixture(scope="module")
def client() -> TestClient:
    policies = ["safe_harbor_plus_providers", "safe_harbor"]
    return client_of(service_of(InThisProcess(policies=policies), *policies))


def ask(client: TestClient, resource: object, status: int = 200, query: str = "") -> dict:
    answer = client.post(f"/fhir/$de-identify{query}", json=resource, headers=KIND)
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/fhir+json"
    return answer.json()


def part(answer: dict, name: str = "return") -> dict:
    assert answer["resourceType"] == "Parameters"
    return next(each["resource"] for each in answer["parameter"] if each["name"] == name)


def said(answer: dict) -> list[str]:
    return [issue.get("diagnostics", "") for issue in part(answer, "outcome")["issue"]]


def text_of(given: dict) -> str:
    return base64.b64decode(given["data"]).decode()


def strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    elif isinstance(value, str):
        yield value


def test_a_document_keeps_its_structure_and_its_codes(client: TestClient) -> None:
    loinc = {"system": "http://loinc.org", "code": "11506-3"}
    given = document(
        attachment(language="en-US"),
        attachment("<p>Ms. Quillfeather</p><p>sleeps well.</p>", "text/html"),
        id="doc-1",
        docStatus="final",
        type={"coding": [{**loinc, "display": f"note of {MARK}"}], "text": MARK},
        language="en",
    )
    answer = ask(client, given)
    made = part(answer)
    assert list(made) == ["resourceType", "status", "content", "docStatus", "type", "language"]
    assert (made["type"], made["docStatus"], made["language"]) == ({"coding": [loinc]}, "final", "en")
    first, second = (each["attachment"] for each in made["content"])
    assert (text_of(first), first["language"], first["size"]) == (REDACTED, "en-US", len(REDACTED))
    assert first["contentType"] == second["contentType"] == "text/plain;charset=utf-8"
    assert text_of(second) == "Ms. [PATIENT]\n\nsleeps well."
    assert set(said(answer)) == {
        "DocumentReference.id",
        "DocumentReference.type.text",
        "DocumentReference.type.coding[0].display",
    }


def test_a_report_has_its_conclusion_and_its_form_redacted(client: TestClient) -> None:
    snomed = {"system": "http://snomed.info/sct", "code": "22298006"}
    given = report(
        code={"text": MARK},
        conclusion=TEXT,
        conclusionCode=[{"coding": [snomed]}],
        presentedForm=[attachment("%PDF", "application/pdf"), attachment()],
    )
    answer = ask(client, given)
    made = part(answer)
    assert made["conclusion"] == REDACTED
    assert made["conclusionCode"] == [{"coding": [snomed]}]
    assert [text_of(form) for form in made["presentedForm"]] == [REDACTED]
    # Required by FHIR, and nothing of it passes.
    assert made["code"]["extension"][0]["valueCode"] == "masked"
    assert "DiagnosticReport.presentedForm: 1 of 2" in said(answer)


def test_a_policy_is_named_in_the_address(client: TestClient) -> None:
    made = part(ask(client, document(), query="?policy=safe_harbor"))
    assert "Alan Reed" in text_of(made["content"][0]["attachment"])
    assert ask(client, document(), 400, "?policy=x")["issue"][0]["details"]["text"] == "policy-unknown"


# Every element that FHIR R4 gives the two resources, with something in it that identifies.
WHO = {"reference": f"Patient/{MARK}", "display": f"{MARK}, Ann", "identifier": {"value": MARK}}
EVERYTHING = {
    **dict.fromkeys(("id", "date", "description", "effectiveDateTime", "issued", "language", MARK), MARK),
    "meta": {"source": MARK, "tag": [{"display": MARK}]},
    "text": {"status": "generated", "div": f"<div>{MARK}</div>"},
    "contained": [{"resourceType": "Practitioner", "id": MARK}],
    "extension": [{"url": MARK, "valueString": MARK}],
    "_status": {"extension": [{"url": "x", "valueString": MARK}]},
    "masterIdentifier": {"value": MARK},
    "identifier": [{"value": MARK}],
    "docStatus": MARK,
    "type": {
        "coding": [{"system": MARK, "code": MARK}, {"system": "http://loinc.org", "code": "12345-6"}],
        "text": MARK,
    },
    "category": [{"coding": [{"system": "http://snomed.info/sct", "code": "123456789"}], "text": MARK}],
    "code": {"coding": [{"system": "http://loinc.org", "code": MARK}]},
    "subject": WHO,
    **{name: [WHO] for name in ("author", "performer", "resultsInterpreter", "basedOn", "result", "specimen", "media")},
    **dict.fromkeys(("authenticator", "custodian", "encounter"), WHO),
    "relatesTo": [{"code": "appends", "target": WHO}],
    "securityLabel": [{"text": MARK}],
    "context": {"sourcePatientInfo": WHO, "period": {"start": MARK}},
    "conclusionCode": [{"text": MARK, "coding": [{"system": "http://snomed.info/sct", "code": [MARK]}]}],
}
FORM = attachment(title=MARK, url=f"https://x/{MARK}", hash=MARK, creation=MARK, language=MARK, **{MARK: MARK})


@pytest.mark.parametrize(
    "given",
    [
        {**document(FORM), **EVERYTHING},
        {
            **document({**FORM, "format": MARK}),
            **EVERYTHING,
            "content": [{"attachment": FORM, "format": {"code": MARK}, MARK: 1}],
        },
        {**report(conclusion=TEXT, presentedForm=[FORM]), **EVERYTHING},
    ],
)
def test_nothing_passes_but_what_is_on_the_list(client: TestClient, given: dict) -> None:
    answer = ask(client, given)
    readable = [*strings(answer), *(text_of(form) for form in forms(part(answer)))]
    assert not [text for text in readable if MARK in text]
    # Codes that are of no terminology, or whose check digit is wrong, may be anything.
    assert not {"12345-6", "123456789"}.intersection(readable)
    kind = given["resourceType"]
    left = said(answer)
    assert f"{kind}.subject" in left
    assert any(path.endswith("of no name of FHIR's") for path in left)


def forms(resource: dict) -> list[dict]:
    return [each["attachment"] for each in resource.get("content", ())] + resource.get("presentedForm", [])


def test_a_patient_of_the_bundle_is_the_roster_and_is_not_answered(client: TestClient) -> None:
    chart = document(attachment("the quillfeather chart"), subject={"reference": "Patient/p1"})
    alone = part(ask(client, chart))
    assert text_of(forms(alone)[0]) == "the quillfeather chart"
    patient = {"resourceType": "Patient", "id": "p1", "birthDate": "1950", "name": [{"family": "Quillfeather"}]}
    answer = ask(client, bundle(patient, chart))
    first, second = (entry["resource"] for entry in part(answer)["entry"])
    assert first["resourceType"] == "OperationOutcome"
    assert text_of(forms(second)[0]) == "the [PATIENT] chart"
    assert "quillfeather" not in json.dumps(answer).lower()
    # Contained in the resource, and by the name beside the reference.
    contained = {**chart, "contained": [{**patient, "id": "in"}], "subject": {"reference": "#in"}}
    named = {**chart, "subject": {"reference": "Patient/p1", "display": "Ann Quillfeather"}}
    for given in (contained, named):
        assert text_of(forms(part(ask(client, given)))[0]) == "the [PATIENT] chart"


def test_superseded_drafts_are_apart_and_errors_are_withheld(client: TestClient) -> None:
    draft = document(attachment("Draft by Dr. Alan Reed."), id="d1")
    final = document(
        attachment("Final by Dr. Alan Reed."),
        relatesTo=[{"code": "replaces", "target": {"reference": "DocumentReference/d1"}}],
    )
    old = {**document(attachment("Old by Dr. Alan Reed.")), "status": "superseded"}
    wrong = {**report(conclusion=TEXT), "status": "entered-in-error"}
    erring = document(docStatus="entered-in-error")
    answer = ask(client, bundle(draft, final, old, wrong, erring))
    entries = [entry["resource"] for entry in part(answer)["entry"]]
    assert [entry["resourceType"] for entry in entries] == [
        "OperationOutcome",
        "DocumentReference",
        "OperationOutcome",
        "OperationOutcome",
        "OperationOutcome",
    ]
    assert text_of(forms(entries[1])[0]) == "Final by Dr. [DOCTOR]."
    assert [entries[place]["issue"][0].get("diagnostics") for place in (0, 2, 3, 4)] == [
        "superseded[0]",
        "superseded[1]",
        "entered-in-error",
        "entered-in-error",
    ]
    apart = [entry["resource"] for entry in part(answer, "superseded")["entry"]]
    assert [text_of(forms(one)[0]) for one in apart] == ["Draft by Dr. [DOCTOR].", "Old by Dr. [DOCTOR]."]


@pytest.mark.parametrize(
    ("resource", "why"),
    [
        ({"resourceType": "Patient", "id": MARK}, "no resource that holds notes"),
        ({"resourceType": "Observation", "valueString": MARK}, "no resource that holds notes"),
        (document(status=MARK), "no status of FHIR's"),
        (document(status=["current"]), "no status of FHIR's"),
        (document(status="entered-in-error"), "entered-in-error"),
        (document(attachment("%PDF", "application/pdf")), "unsupported_content"),
        (document({"url": f"https://x/{MARK}"}), "broken_attachment"),
        (report(), "broken_attachment"),
        (document(implicitRules="https://x"), "an element that changes the meaning of others"),
        (document(attachment(modifierExtension=[])), "an element that changes the meaning of others"),
    ],
)
def test_a_resource_is_withheld_with_its_reason(client: TestClient, resource: dict, why: str) -> None:
    answer = ask(client, resource, 422)
    (issue,) = answer["issue"]
    assert (answer["resourceType"], issue["details"]["text"], issue["diagnostics"]) == (
        "OperationOutcome",
        "resource-withheld",
        why,
    )
    assert MARK not in json.dumps(answer)


def test_a_resource_of_which_one_text_leaks_is_withheld_whole() -> None:
    client = client_of(service_of(InThisProcess(detector="patterns")))
    subject = {"reference": "Patient/p1", "display": "Ann Quillfeather"}
    leaking = report(conclusion="BP 120/80.", presentedForm=[attachment("the quillfeather chart")], subject=subject)
    answer = ask(client, leaking, 422)
    assert answer["issue"][0]["details"]["text"] == "note-leaks"
    answer = ask(client, bundle(leaking, report(conclusion="BP 110/70.")))
    first, second = (entry["resource"] for entry in part(answer)["entry"])
    assert (first["resourceType"], second["conclusion"]) == ("OperationOutcome", "BP 110/70.")
    assert "quillfeather" not in json.dumps(answer).lower()
    assert "Bundle.entry[0].resource: leak-last-name" in said(answer)


@pytest.mark.parametrize(
    "body", ["[]", "{", '{"resourceType": "Bundle", "entry": [{"resource": {"resourceType": "Patient"}}]}']
)
def test_what_is_no_request_is_an_outcome_too(client: TestClient, body: str) -> None:
    answer = client.post("/fhir/$de-identify", content=body, headers=KIND)
    assert (answer.status_code, answer.json()["resourceType"]) == (400, "OperationOutcome")


def test_what_is_left_out_is_named_by_names_of_fhir_alone() -> None:
    given = {"resourceType": "DocumentReference", "status": "current", "subject": 1, MARK: 1, "author": [1]}
    kept = safe_elements(given, "DocumentReference")
    assert kept == {"resourceType": "DocumentReference", "status": "current"}
    assert list(left_out(given, kept, "R")) == ["R.subject", "R.author", "R: 1 of no name of FHIR's"]
