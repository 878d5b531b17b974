"""The OpenAPI document, and a page of it that asks no other machine for anything.

Belongs here: what each address is for. Does not belong here: the forms themselves, whose schemas pydantic writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from deid_platform import __version__
from deid_platform.service.forms import ErrorForm, LineAnswer, LineForm, NotesAnswer, NotesForm

_TEMPLATE = Path(__file__).with_name("page.html.j2")
_REF = "#/components/schemas/{model}"
_ERRORS = {
    400: "Not what this address takes",
    401: "No valid token",
    408: "The body came too slowly",
    413: "Too large",
    415: "Another content type",
    503: "Loading, full (`Retry-After`), or past the limit of time",
}


@dataclass(frozen=True)
class Operation:
    """One address that takes notes, or one that tells of the service.

    Attributes:
        method, path: The address.
        summary: What it is for.
        kind: The content type of what is sent and answered.
        sent: The form of what is sent; None for nothing, a dictionary for a schema of its own.
        answered: Likewise of the answer.
        by_query: Whether the policy is named in the address.
    """

    method: str
    path: str
    summary: str
    kind: str = "application/json"
    sent: type[BaseModel] | dict[str, Any] | None = None
    answered: type[BaseModel] | dict[str, Any] | None = None
    by_query: bool = False


OPERATIONS = (
    Operation("post", "/v1/redact", "Notes in, redacted texts out", sent=NotesForm, answered=NotesAnswer),
    Operation(
        "post",
        "/v1/detect",
        "The same, answered with spans of the originals",
        "application/json",
        NotesForm,
        NotesAnswer,
    ),
    Operation(
        "post",
        "/v1/redact/stream",
        "A note a line in, an answer a line out, in order",
        "application/x-ndjson",
        LineForm,
        LineAnswer,
        by_query=True,
    ),
    Operation(
        "post",
        "/fhir/$de-identify",
        "A DocumentReference, a DiagnosticReport or a Bundle in, Parameters out",
        "application/fhir+json",
        {"type": "object", "description": "FHIR R4"},
        {"type": "object", "description": "FHIR R4: Parameters, or an OperationOutcome with status 422"},
        by_query=True,
    ),
    Operation("get", "/healthz", "Whether the process runs"),
    Operation("get", "/readyz", "Whether the model is loaded: 503 until then"),
    Operation("get", "/metrics", "Counts and seconds for Prometheus", "text/plain"),
)


def document(policies: Sequence[str]) -> dict[str, Any]:
    """OpenAPI 3.1 of the service.

    Args:
        policies: Those that a request may name, the default first.
    """
    forms = {form for op in OPERATIONS for form in (op.sent, op.answered) if isinstance(form, type)} | {ErrorForm}
    ordered = sorted(forms, key=lambda form: form.__name__)
    _, schemas = models_json_schema([(form, "validation") for form in ordered], ref_template=_REF)
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation, policies)
    return {
        "openapi": "3.1.0",
        "info": {"title": "deid serve", "version": __version__, "description": "Notes in, redacted notes out."},
        "paths": paths,
        "components": {
            "schemas": schemas.get("$defs", {}),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def page(described: dict[str, Any]) -> str:
    """The document as a page."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(described=described)


def _described(operation: Operation, policies: Sequence[str]) -> dict[str, Any]:
    said: dict[str, Any] = {"summary": operation.summary, "responses": {"200": {"description": "The answer"}}}
    if operation.answered is not None:
        said["responses"]["200"]["content"] = _content(operation.kind, operation.answered)
    if operation.sent is not None:
        said["requestBody"] = {"required": True, "content": _content(operation.kind, operation.sent)}
        for status, meaning in _ERRORS.items():
            said["responses"][str(status)] = {
                "description": meaning,
                "content": _content("application/json", ErrorForm),
            }
    if operation.by_query:
        schema = {"type": "string", "enum": list(policies), "default": policies[0]}
        said["parameters"] = [{"name": "policy", "in": "query", "schema": schema}]
    return said


def _content(kind: str, form: type[BaseModel] | dict[str, Any]) -> dict[str, Any]:
    schema = form if isinstance(form, dict) else {"$ref": _REF.format(model=form.__name__)}
    if form is ErrorForm:
        schema = {"type": "object", "properties": {"error": schema}}
    return {kind: {"schema": schema}}
