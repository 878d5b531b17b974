"""Sections about what comes in: `[feeds.NAME]` and `[exclusions]`.

Belongs here: keys, defaults, and which keys go together. Does not belong here: reading a feed (`corpora/`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from deid_platform.settings.section import NoteTypeTerm, RoleName, Section, StructuredName, TableName, VariableName
from deid_platform.settings.structured import StructuredSettings

_DATABASES = ("sql", "omop")
_OF_FILES = ("encoding", "follow_links", "workbook_numbers")


_OF_DATABASES = {"url_env", "schema_name", "vocabulary_schema", "tables", "queries", "watermark", "watermarks"} | {
    "period",
    "timezone",
    "since",
    "initial",
    "timeout_seconds",
}


Encoding = Literal[
    "utf-8", "utf-16", "utf-16-le", "utf-16-be",
    "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256",
    "windows-1257", "windows-1258", "iso-8859-1", "iso-8859-2", "iso-8859-15", "cp437", "cp850", "mac-roman",
    "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5",
]  # fmt: skip
_ENCODINGS = {"utf8": "utf-8", "cp1252": "windows-1252", "latin-1": "windows-1252", "latin1": "windows-1252"}
"""Other names of encodings. Latin 1 has nothing but control characters where Windows-1252 has more letters."""


class FeedSettings(Section):
    """One source of deliveries: a folder with one sub-folder a delivery, or a database."""

    format: Literal[
        "files", "fhir", "hl7", "ccda", "i2b2", "brat", "mimic3", "mimic4", "scan", "documents", "sql", "omop"
    ] = "files"  # fmt: skip
    recognition: Literal["tesseract", "doctr"] = "tesseract"
    """What recognises characters on pages without a text layer; of the format `scan` alone."""
    path: Path = Field(default=Path(), validate_default=True)
    gold: Path | None = None
    """Folder of `<watermark>.jsonl.gz` gold files, read by the bench alone."""
    follow_links: bool = False
    """Whether folders and files of deliveries may be symbolic links."""
    gold_by: Literal["annotators", "slots", "writer"] | None = None
    """Who marked the gold in that folder, where no round of annotation did; shown beside every figure."""
    demonstration: bool = False
    """Whether the notes are synthetic or published, so that the embedded server may hold them."""
    columns: dict[str, str] = {}
    """Source column -> field of the note or topic."""
    ignore: tuple[str, ...] = ()
    """Source columns that are left out on purpose."""
    defaults: dict[str, str] = {}
    """Field -> value where the source has none, such as `note_type`."""
    note_types: tuple[str, ...] = ()
    """Note types that research may see by name; any other becomes `other`, since a type is free text."""
    date_order: Literal["dmy", "mdy"] | None = None
    """Which of two numbers is the day in this feed's dates; by default what `[redaction]` says."""
    max_chars: int = Field(default=1_000_000, gt=0)
    encoding: Encoding = "utf-8"
    """Of tables that are text, unless a file says another by a byte order mark."""
    workbook_numbers: bool = False
    """Whether whole numbers in cells of workbooks stand for their digits, where an id or a text belongs."""
    structured: dict[StructuredName, StructuredSettings] = {}
    """Table -> how its columns are released: of files `structured-TABLE.csv` beside the notes, or of the database."""
    # Of databases alone: docs/feeds-sql.md.
    url_env: VariableName | None = None
    """The variable that holds the database's URL, whose password has no place in a file of settings."""
    schema_name: str | None = Field(default=None, alias="schema", min_length=1)
    """The schema of tables that are named without one."""
    vocabulary_schema: str | None = Field(default=None, min_length=1)
    """The schema of CONCEPT, if it is not that of the other tables of an OMOP database."""
    tables: dict[RoleName, TableName] = {}
    """Role -> table or view, `schema.table` if it is in another schema."""
    queries: dict[RoleName, Path] = {}
    """Role -> file with the one SELECT that gives its rows."""
    watermark: str = Field(default="", validate_default=True)
    """The column that says when a row was written or changed."""
    watermarks: dict[RoleName, str] = {}
    """Role -> that column where it has another name; empty where a topic has none."""
    period: Literal["hour", "day", "month"] = "day"
    """The span of time whose rows are one delivery."""
    timezone: str = "UTC"
    """Where the watermarks were written: a day begins and ends there."""
    since: date | None = None
    """Rows before this day are left out."""
    initial: date | None = None
    """All up to and with this day's period is one delivery, for a first load of years."""
    timeout_seconds: int = Field(default=3600, gt=0)
    """How long one statement may take, where the database can be told."""

    @property
    def reading(self) -> str:
        """All of it that decides what is read from a delivery, as text: not where it lies, or what becomes of it.

        What is set to its default is left out, so that a key that is new to the platform changes nothing.
        """
        others = {
            "path",
            "gold",
            "gold_by",
            "demonstration",
            "note_types",
            "date_order",
            "url_env",
            "timeout_seconds",
        }
        return json.dumps(self.model_dump(mode="json", exclude=others, exclude_defaults=True), sort_keys=True)

    @property
    def from_database(self) -> bool:
        """Whether its deliveries are no folders."""
        return self.format in _DATABASES

    @field_validator("encoding", mode="before")
    @classmethod
    def _encoding(cls, encoding: object) -> object:
        return _ENCODINGS.get(encoding.lower(), encoding.lower()) if isinstance(encoding, str) else encoding

    @field_validator("path")
    @classmethod
    def _folder(cls, path: Path, info: ValidationInfo) -> Path:
        if (info.data.get("format") not in _DATABASES) == (path == Path()):
            raise PydanticCustomError("extra_forbidden" if path != Path() else "missing", "see docs/configuration.md")
        return path

    @field_validator("watermark")
    @classmethod
    def _named(cls, watermark: str, info: ValidationInfo) -> str:
        if not watermark and info.data.get("format") == "sql":
            raise PydanticCustomError("missing", "see docs/feeds-sql.md")
        return watermark or "note_date"  # of OMOP's NOTE

    @field_validator("timezone")
    @classmethod
    def _known(cls, timezone: str) -> str:
        try:
            ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise PydanticCustomError("there is no such time zone", "see docs/feeds-sql.md") from None
        return timezone

    @model_validator(mode="after")
    def _whole(self) -> FeedSettings:
        for fault in self._faults():
            raise PydanticCustomError(fault, "see docs/feeds-sql.md")
        return self

    def _faults(self) -> Iterator[str]:
        """What is wrong with keys that are well by themselves; only names of keys are told."""
        if self.from_database:
            yield from (f"{key} is for files" for key in _OF_FILES if key in self.model_fields_set)
        if not self.from_database:
            yield from (
                f"{key.removesuffix('_name')} is for databases" for key in _OF_DATABASES & self.model_fields_set
            )
            yield from (
                f"structured.{name}: table, query and watermark are for databases"
                for name, beside in self.structured.items()
                if beside.table or beside.query or beside.watermark
            )
            return
        yield from (f"{role} is in tables and in queries" for role in self.tables if role in self.queries)
        roles = {*self.tables, *self.queries}
        if self.format == "sql":
            if not roles:
                yield "neither tables nor queries names anything"
            yield from (f"watermarks.{role}: there is no such role" for role in self.watermarks if role not in roles)
            if self.vocabulary_schema:
                yield "vocabulary_schema is for format omop"
        for name, beside in self.structured.items():
            if (beside.table is None) == (beside.query is None):
                yield f"structured.{name} has to have either a table or a query"
            if self.format == "omop" and beside.watermark is None:
                yield f"structured.{name}.watermark has to be set"
        for role in ("notes", "withdrawn", "rejoined"):
            if self.watermarks.get(role) == "":
                yield f"watermarks.{role} must not be empty"
            if self.format == "omop" and role != "notes" and role in roles and role not in self.watermarks:
                yield f"watermarks.{role} has to be set"
        if self.since and self.initial and self.initial < self.since:
            yield "initial is before since"


class ExclusionSettings(Section):
    """Notes that never enter: kinds that the law sets apart, and those of patients who opted out of research."""

    note_types: tuple[NoteTypeTerm, ...] = (
        # Psychotherapy notes: 45 CFR 164.501, 164.508(a)(2)
        "psychotherapy",
        "psychotherapy note",  # also where it is written as one word
        "telepsychotherapy",
        "psychotherapist",
        # Records of substance use disorder programmes: 42 CFR Part 2
        "42 CFR Part 2",
        "substance use",
        "substance abuse",
        "substance misuse",
        "SUD",
        "addiction",
        "chemical dependency",
        "chemical dependence",
        "drug and alcohol",
        "alcohol and drug",
        "alcohol and other drug",
        "opioid treatment",
        "methadone",
    )
    """Terms that are found in a note's type as whole words; docs/configuration.md says how."""
    untyped: bool = False
    """Whether a note without a type never enters either."""
    opt_outs: Path | None = None
    """The whole current list of patients who opted out, column `patient_id`, as JSONL, CSV or Parquet."""
