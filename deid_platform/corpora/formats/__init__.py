"""Formats of files: how each writes the rows of a delivery, and how it writes notes with gold spans.

    delimited, named_files, documents, scan  feeds: tables by role, a file a note, office documents, letters on paper
    fhir, fhir_fields                        FHIR R4, and the fields of its resources
    attachments, binaries                    attached documents, and those that stand in another resource
    hl7, hl7_messages, hl7_topics            HL7 version 2: documents and reports, their segments, their patients
    ccda, ccda_narrative                     C-CDA, and its sections as text
    mimic, mimic3, mimic4                    what the tables of MIMIC share, and each of its two editions
    gold_files                               files of gold: which are read, how refusals are placed
    jsonl, entities                          gold as JSON lines: with offsets, and without
    marked                                   gold marked where it stands
    i2b2, brat, conll                        gold of i2b2-2014, brat and CoNLL-2003
    labelstudio, labelstudio_export          tasks for Label Studio, and what comes back

Belongs here: the two contracts and the list of formats. Does not belong here: any one format (a module each beside
this file), columns and values (`corpora/rows.py`) or feeds that are no files (`sql/`).

A format may offer both: `i2b2` has notes for a feed and spans for a gold set. A feed's folder may hold tables beside a
format's own files: `withdrawn.csv` works whatever the format of the notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Protocol, cast

from deid_platform.corpora import Rejection, Role
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.tables import Row
from deid_platform.errors import Code, DeidError, did_you_mean


class FileFormat(Protocol):
    """How the files of a delivery's folder hold rows. Two of one format are equal, and pickle."""

    last_stands: ClassVar[bool] = False
    """Whether of rows with one id in several files the one of the last file by name stands; else the first does."""
    called: ClassVar[str] = ""
    """What its files are called, for people; empty where tables by role are all there is."""
    place: ClassVar[str] = "line"
    """What the place of a row counts, for people."""
    names_tell: ClassVar[bool] = False
    """Whether rows follow from what a file is called, beyond roles and ending: then another name is a change."""

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """The roles that a file of that name has rows of; none if it is not of this format."""
        ...

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The rows of one role in one file, streamed: their place and their cells by the platform's field names.

        The place is the line, from 1, or the ordinal of the message, page or document where lines say nothing. A value
        that cannot be used is a `Reason` in its place, so that the row's id is still known; a `Reason` in the row's
        place means that not even its id could be read.

        Args:
            path: The file.
            role: One of `roles(path.name)`.
            max_chars: The longest text that is wanted, in code points.
            spool: Folder for temporary files, made if need be; by default the system's own.

        Raises:
            BrokenFileError: The file can be read no further; the rows before have been yielded.
        """
        ...


class GoldFormat(Protocol):
    """How notes with gold spans are written."""

    def read(self, path: Path, *, scheme: str) -> Iterator[Gold | Rejection]:
        """The notes of a file or a folder, each with its spans; what cannot be used comes as a rejection in its place.

        Args:
            path: Of the format.
            scheme: Which label names it uses: a key of `labels.CROSSWALKS`.

        Raises:
            DeidError: `scheme-unknown`; `gold-missing` if there is nothing at that path.
        """
        ...

    def write(self, notes: Iterable[Gold], path: Path) -> int:
        """Writes notes with our labels, so that `read` with the scheme `i2b2-2014` gives them back; returns how many.

        Raises:
            DeidError: `input-invalid` with the note's place, from 1, if it cannot be written in this format;
                `output-unusable`. Nothing is left of what was written before.
        """
        ...


# Name -> module beside this file and what a person reads of it. Modules are imported when they are asked for.
FORMATS: Mapping[str, tuple[str, str]] = {
    "files": ("delimited", "JSON lines, CSV or Parquet by role"),
    "jsonl": ("jsonl", "JSON lines with gold spans, a line a note"),
    "documents": ("documents", "Word, RTF, .eml and .msg files, each a note"),
    "entities": ("entities", "JSON lines with identifiers and their types, without offsets"),
    "i2b2": ("i2b2", "XML of i2b2-2014, a file a note"),
    "brat": ("brat", "brat standoff, a .txt and an .ann a note"),
    "ccda": ("ccda", "C-CDA documents: narrative sections, people and places of the head"),
    "conll": ("conll", "CoNLL-2003 columns, a token a line"),
    "fhir": ("fhir", "FHIR R4: bulk NDJSON and Bundles"),
    "hl7": ("hl7", "HL7 version 2: MDM and ORU messages"),
    "labelstudio": ("labelstudio", "JSON export of Label Studio, a task a note"),
    "marked": ("marked", "text with marked identifiers, a file a note"),
    "mimic3": ("mimic3", "MIMIC-III NOTEEVENTS with bracketed placeholders"),
    "mimic4": ("mimic4", "MIMIC-IV-Note discharge and radiology with blanks"),
    "scan": ("scan", "PDF, PNG, TIFF and JPEG files, each a letter: text layers and recognised characters"),
}


def is_feed(name: str) -> bool:
    """Whether a format is one of feeds.

    Raises:
        DeidError: `format-unknown` with the nearest name.
    """
    return hasattr(_module(name), "FEED")


def is_gold(name: str) -> bool:
    """Whether a format has gold; raises as `is_feed`."""
    return hasattr(_module(name), "GOLD")


def format_for_people(name: str) -> tuple[str, str]:
    """What the files of a feed's format are called, and what the place of a row counts; of a database, the row's."""
    if name not in FORMATS:
        return "", "row"
    chosen = file_format(name)
    return chosen.called, chosen.place


@cache
def file_format(name: str) -> FileFormat:
    """The format by its name, for a feed.

    Raises:
        DeidError: `format-unknown` with the nearest name, also for a format that no feed has.
    """
    return cast(FileFormat, _part(name, "FEED"))


@cache
def gold_format(name: str) -> GoldFormat:
    """The format by its name, for notes with gold.

    Raises:
        DeidError: `format-unknown` with the nearest name, also for a format that has no gold.
    """
    return cast(GoldFormat, _part(name, "GOLD"))


def _part(name: str, part: str) -> object:
    if (found := getattr(_module(name), part, None)) is None:
        raise DeidError(Code.FORMAT_UNKNOWN, name)
    return found


def _module(name: str) -> object:
    if name not in FORMATS:
        raise DeidError(Code.FORMAT_UNKNOWN, did_you_mean(name, FORMATS))
    return import_module(f"deid_platform.corpora.formats.{FORMATS[name][0]}")
