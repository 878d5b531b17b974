"""The XML of i2b2-2014: a file a note, its text in CDATA and a tag for each identifier.

Belongs here: that XML, as notes of a feed and as notes with gold. Does not belong here: what its labels are
(`labels.py`), or bounds and overlaps (`corpora/annotations.py`).

    <deIdi2b2>
    <TEXT><![CDATA[...]]></TEXT>
    <TAGS>
    <NAME id="P0" start="40" end="60" text="..." TYPE="PATIENT" comment="" />
    </TAGS>
    </deIdi2b2>

A tag's label is its TYPE, or its own name where it has none; OTHER is that of its category. The root may have any name:
MEDDOCAN's XML is read too. A note's id is the name of its file; in names like `110-03.xml`, as the corpus has them, the
first number is the patient's. Offsets count code points of the text as XML gives it, so CR LF in a file counts as one;
a CR of the text is written as a reference. XML cannot hold most control characters: notes with one are not written. The
`text` of a tag is compared by its words, since an attribute holds no line breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from xml.sax.saxutils import quoteattr

from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
from defusedxml.ElementTree import ParseError, XMLParser  # type: ignore[import-untyped]

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.annotations import Annotation, GoldFaultError, check_text, spans_of
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats import FileFormat
from deid_platform.corpora.formats.gold_files import (
    FileNames,
    content,
    gold_files,
    refused,
    unwritable,
    writable,
    written_folder,
)
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.schemes import Scheme, scheme_of
from deid_platform.corpora.tables import Row
from deid_platform.labels import Label
from deid_platform.notes import Note

_ENDING = ".xml"
_PATIENT = re.compile(r"([0-9]{3})-[0-9]{2}")
_NUMBER = re.compile(r"[0-9]{1,9}")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Of expat: no element found, unclosed token, unclosed CDATA section.
_ENDS_EARLY = (3, 5, 20)
_CATEGORY: Mapping[Label, str] = {
    **dict.fromkeys(Label, "ID"),
    **dict.fromkeys((Label.PATIENT, Label.DOCTOR, Label.USERNAME), "NAME"),
    **dict.fromkeys(
        (
            Label.HOSPITAL, Label.ORGANIZATION, Label.STREET, Label.CITY, Label.STATE, Label.COUNTRY, Label.ZIP,
            Label.LOCATION_OTHER,
        ),
        "LOCATION",
    ),
    **dict.fromkeys((Label.PHONE, Label.FAX, Label.EMAIL, Label.URL, Label.IPADDR), "CONTACT"),
    Label.PROFESSION: "PROFESSION",
    Label.AGE: "AGE",
    Label.DATE: "DATE",
}  # fmt: skip


@dataclass(frozen=True)
class I2b2(FileFormat):
    """The format `i2b2`, of feeds and of gold."""

    names_tell: ClassVar[bool] = True
    called: ClassVar[str] = "end in .xml"

    def roles(self, file_name: str) -> tuple[Role, ...]:
        """Notes, in files that end in `.xml`."""
        return (Role.NOTES,) if file_name.endswith(_ENDING) else ()

    def rows(self, path: Path, role: Role, *, max_chars: int, spool: Path | None) -> Iterator[Row]:
        """The one note of a file; its tags are not looked at."""
        del role, spool
        cells: dict[str, object] = {"note_id": path.stem, "patient_id": _patient(path.stem)}
        try:
            cells["text"] = _parsed(content(path, max_chars)).note_text()
        except GoldFaultError as fault:
            cells["text"] = fault.reason
        yield 1, cells

    def read(self, path: Path, *, scheme: str) -> Iterator[Gold | Rejection]:
        """The notes of a file or a folder; the place of a rejection is the line of the tag."""
        chosen = scheme_of(scheme)
        folder, names = gold_files(path, lambda name: name.endswith(_ENDING))
        for ordinal, name in enumerate(names):
            file = folder / name
            try:
                yield _gold(file, chosen)
            except (GoldFaultError, BrokenFileError) as fault:
                place = fault.place if isinstance(fault, GoldFaultError) else None
                yield refused(ordinal, place or 1, fault.reason, file.stem)

    def write(self, notes: Iterable[Gold], path: Path) -> int:
        """Writes a folder of files that are called by the ids of their notes. Clinical terms have no place in them."""
        count = 0
        names = FileNames()
        with written_folder(path) as write:
            for count, gold, note in writable(notes):
                if _NOT_XML.search(note.text):
                    raise unwritable(count)
                write(names.of(gold.note_id, count) + _ENDING, _document(gold, note.text))
        return count


def _patient(stem: str) -> str | None:
    match = _PATIENT.fullmatch(stem)
    return match[1] if match else None


def _gold(file: Path, scheme: Scheme) -> Gold:
    read = _parsed(content(file))
    text = read.note_text()
    check_text(text, MAX_CHARS)
    if read.tags is None:
        raise GoldFaultError(Reason.MISSING_GOLD)
    annotations = (_annotation(line, category, tag) for line, category, tag in read.tags)
    marked = spans_of(annotations, text, scheme, exact=False)
    note = Note(file.stem, text, patient_id=_patient(file.stem), language=scheme.language)
    return Gold(file.stem, marked.spans, (), note, marked.no_identifiers, marked.known_errors)


def _annotation(line: int, category: str, tag: Mapping[str, str]) -> Annotation:
    start, end = tag.get("start", ""), tag.get("end", "")
    if not _NUMBER.fullmatch(start) or not _NUMBER.fullmatch(end):
        raise GoldFaultError(Reason.MALFORMED_ROW, line)
    label = tag.get("TYPE") or category
    return Annotation(
        ((int(start), int(end)),), f"{category}-OTHER" if label == "OTHER" else label, tag.get("text"), line
    )


@dataclass(repr=False)
class _Document:
    """What the parser meets of one note: it calls `start`, `data`, `end` and `close`."""

    tags: list[tuple[int, str, Mapping[str, str]]] | None = None
    expat: Any = None
    _text: list[str] | None = None
    _path: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return "<_Document>"

    def note_text(self) -> str:
        """The note's text.

        Raises:
            GoldFaultError: There is none.
        """
        if self._text is None:
            raise GoldFaultError(Reason.MALFORMED_ROW, 1)
        return "".join(self._text)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        line: int = self.expat.CurrentLineNumber
        self._path.append(name)
        within = self._path[1:]
        if within == ["TEXT"]:
            if self._text is not None:
                raise GoldFaultError(Reason.MALFORMED_ROW, line)
            self._text = []
        elif within == ["TAGS"]:
            self.tags = self.tags or []
        elif within[:1] == ["TEXT"]:
            # What stands inside would be lost, and every offset after it wrong.
            raise GoldFaultError(Reason.MALFORMED_ROW, line)
        elif within[:1] == ["TAGS"] and len(within) == 2 and self.tags is not None:
            self.tags.append((line, name, attributes))

    def data(self, text: str) -> None:
        if self._text is not None and self._path[1:] == ["TEXT"]:
            self._text.append(text)

    def end(self, name: str) -> None:
        del name
        self._path.pop()

    def close(self) -> _Document:
        return self


def _parsed(text: str) -> _Document:
    document = _Document()
    parser = XMLParser(target=document, forbid_dtd=True)
    document.expat = parser.parser
    try:
        # As text, so that no declaration of another encoding counts.
        parser.feed(text)
        parser.close()
    except ParseError as error:
        reason = Reason.TRUNCATED_FILE if error.code in _ENDS_EARLY else Reason.MALFORMED_ROW
        raise GoldFaultError(reason, error.position[0]) from None
    except (DefusedXmlException, ValueError):
        raise GoldFaultError(Reason.MALFORMED_ROW, 1) from None
    return document


def _document(gold: Gold, text: str) -> str:
    # A parser turns every line end into LF, and ]]> ends a section wherever it stands.
    held = text.replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")
    lines = ['<?xml version="1.0" encoding="UTF-8" ?>', "<deIdi2b2>", f"<TEXT><![CDATA[{held}]]></TEXT>", "<TAGS>"]
    for number, span in enumerate(sorted(gold.spans)):
        surface = quoteattr(" ".join(text[span.start : span.end].split()))
        offsets = f'start="{span.start}" end="{span.end}"'
        kind = f'TYPE="{span.label.value}" comment=""'
        lines.append(f'<{_CATEGORY[span.label]} id="P{number}" {offsets} text={surface} {kind} />')
    return "\n".join([*lines, "</TAGS>", "</deIdi2b2>", ""])


FEED = GOLD = I2b2()
