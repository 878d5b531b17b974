"""What the service tells of itself: its log, its metrics, its OpenAPI page. Nothing of a note is in any of them."""

from __future__ import annotations

import json
import logging
import re

import pytest
from service_client import InThisProcess, client_of, note, service_of

from deid_platform.service.access import Tokens
from deid_platform.service.openapi import OPERATIONS, document, page

MARK = "Zzyzxmark"
TOKEN = "Kx7-Kx7-abcdefghijklmnopqrstuvwx"


@pytest.fixture(scope="module")
def staff() -> InThisProcess:
    return InThisProcess()


def test_neither_log_nor_metrics_hold_anything_of_a_note(
    staff: InThisProcess, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client = client_of(service_of(staff), Tokens({"ehr": TOKEN}), at="http://deid.example.org")
    ours = {"Authorization": f"Bearer {TOKEN}"}
    sent = {
        "notes": [note(f"the {MARK} chart", note_id=MARK, patient={"last_name": MARK, "mrn": MARK})],
        "policy": None,
    }
    assert client.post("/v1/redact", json=sent, headers=ours).status_code == 200
    for body in ({MARK: MARK}, {"notes": [note(MARK)], "policy": MARK}):
        refused = client.post("/v1/redact", json=body, headers=ours)
        assert (refused.status_code, MARK in refused.text) == (400, False)
    client.get(f"/{MARK}?q={MARK}", headers={**ours, "X-Mark": MARK, "User-Agent": MARK})
    client.post("/v1/redact", json=sent, headers={"Authorization": f"Bearer {MARK}"})
    counted = client.get("/metrics", headers=ours).text
    lines = [json.loads(record.message) for record in caplog.records if record.name == "deid.service"]
    assert [(line["route"], line["status"]) for line in lines] == [
        ("/v1/redact", 200),
        ("/v1/redact", 400),
        ("/v1/redact", 400),
        ("other", 404),
        ("/v1/redact", 401),
        ("/metrics", 200),
    ]
    assert lines[0]["client"] == "ehr"
    assert (lines[0]["notes"], lines[3]["code"]) == (1, "request-invalid")
    said = "".join(record.getMessage() for record in caplog.records if not record.name.startswith("httpx"))
    assert MARK.lower() not in (counted + said).lower()
    assert TOKEN not in counted + said


def test_metrics_are_what_prometheus_reads(staff: InThisProcess) -> None:
    client = client_of(service_of(staff))
    client.post("/v1/redact", json={"notes": [note("Seen."), note("")]})
    client.post("/v1/redact", json={})
    answer = client.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    sample = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.]+')
    for line in answer.text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(line), line
    for line in (
        'deid_requests_total{route="/v1/redact",status="200"} 1',
        'deid_requests_total{route="/v1/redact",status="400"} 1',
        'deid_notes_total{outcome="redacted"} 1',
        'deid_notes_total{outcome="note-invalid"} 1',
        'deid_request_seconds_count{route="/v1/redact"} 2',
        'deid_request_seconds_bucket{route="/v1/redact",le="+Inf"} 2',
        "deid_ready 1",
    ):
        assert line in answer.text.splitlines()


def test_the_document_describes_what_is_answered(staff: InThisProcess) -> None:
    client = client_of(service_of(staff))
    described = client.get("/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    for operation in OPERATIONS:
        answer = client.request(operation.method, operation.path, content=b"")
        assert answer.status_code not in (404, 405), operation.path
        assert operation.method in described["paths"][operation.path]
    referred = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(described)))
    assert referred <= set(described["components"]["schemas"])
    assert {"NotesForm", "NotesAnswer", "LineForm", "ErrorForm"} <= referred


def test_the_page_asks_no_other_machine(staff: InThisProcess) -> None:
    answer = client_of(service_of(staff)).get("/docs")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert not re.search(r"https?:|src=|<script|@import|url\(", answer.text)
    for operation in OPERATIONS:
        assert operation.path in answer.text
    shown = page(document(["<policy>"]))
    assert ("&lt;policy&gt;" in shown, "<policy>" in shown) == (True, False)


def test_answers_are_not_kept_by_anybody(staff: InThisProcess) -> None:
    answer = client_of(service_of(staff)).post("/v1/redact", json={"notes": [note("Seen.")]})
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
