r"""Messages of HL7 version 2: segments, fields, components, escapes.

Belongs here: taking a file apart. Does not belong here: what a message means (`hl7.py`).

Files hold one or many messages, with or without batch segments (FHS, BHS) and the frame of a transport (MLLP);
segments end in CR, LF or both. Delimiters are those of MSH-1 and MSH-2, the character set that of MSH-18. A split that
keeps these rules reads what strict parsers refuse: hospitals send segments and versions that no library knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deid_platform.corpora import Reason
from deid_platform.corpora.decoding import chunks

_FRAME = bytes((0x0B, 0x1C))
_ENDS = re.compile(rb"[\r\n]+")
_BATCH = (b"FHS", b"BHS", b"BTS", b"FTS")
_CHARSETS = {"": "utf-8", "UNICODE UTF-8": "utf-8", "UNICODE": "utf-8", "ASCII": "utf-8", "8859/1": "latin-1"}
_HEX = re.compile(r"X((?:[0-9A-Fa-f]{2})+)")
_SPACES = re.compile(r"\.sp(\d*)")


@dataclass(frozen=True, slots=True, repr=False)
class Delimiters:
    """What parts a message."""

    field: str
    component: str
    repetition: str
    escape: str
    sub: str

    def decoded(self, text: str) -> str:
        """A value with its escape sequences resolved; highlighting is dropped."""
        if self.escape not in text:
            return text
        pattern = re.escape(self.escape)
        return re.sub(f"{pattern}([^{pattern}]*){pattern}", self._one, text)

    def _one(self, match: re.Match[str]) -> str:
        code = match[1]
        marks = {"F": self.field, "S": self.component, "T": self.sub, "R": self.repetition, "E": self.escape}
        if code in marks:
            return marks[code]
        if code in (".br", ".ce"):
            return "\n"
        if spaces := _SPACES.fullmatch(code):
            return "\n" * int((spaces[1] or "1")[:3])
        if found := _HEX.fullmatch(code):
            return bytes.fromhex(found[1]).decode("utf-8", "replace")
        return ""


@dataclass(frozen=True, slots=True, repr=False)
class Segment:
    """One segment; numbers of fields, components and repetitions are those of the standard.

    Attributes:
        fields: As they stand, the name first.
        by: What parts them.
    """

    fields: tuple[str, ...]
    by: Delimiters

    @property
    def there(self) -> bool:
        """Whether the message has it."""
        return bool(self.fields)

    def _raw(self, number: int) -> str:
        # The first field of MSH is what parts the fields.
        at = number - 1 if self.fields[:1] == ("MSH",) else number
        return self.fields[at] if 0 < at < len(self.fields) else ""

    def field(self, number: int) -> str:
        """A field whole, without white space around it."""
        return self.by.decoded(self._raw(number)).strip()

    def count(self, number: int) -> int:
        """How often a field is repeated."""
        return len(self._raw(number).split(self.by.repetition))

    def repeated(self, number: int) -> list[str]:
        """All repetitions of a field, with the white space that they have."""
        return [self.by.decoded(one) for one in self._raw(number).split(self.by.repetition)]

    def part(self, number: int, component: int = 1, repetition: int = 0) -> str | None:
        """A component, of which only the first sub-component counts; None where it is empty."""
        repetitions = self._raw(number).split(self.by.repetition)
        components = repetitions[repetition].split(self.by.component) if repetition < len(repetitions) else []
        if component > len(components):
            return None
        return self.by.decoded(components[component - 1].split(self.by.sub)[0]).strip() or None


@dataclass(frozen=True, slots=True, repr=False)
class Message:
    """One message."""

    segments: tuple[Segment, ...]

    @property
    def kind(self) -> str:
        """MDM, ORU and so on."""
        return self.first("MSH").part(9) or ""

    @property
    def event(self) -> str:
        """T02, R01 and so on."""
        return self.first("MSH").part(9, 2) or ""

    def first(self, name: str) -> Segment:
        """The first segment of a name; an empty one where there is none."""
        return next((s for s in self.segments if s.fields[0] == name), Segment((), self.segments[0].by))

    def all(self, name: str) -> list[Segment]:
        """All segments of a name."""
        return [segment for segment in self.segments if segment.fields[0] == name]

    def groups(self, head: str, member: str) -> list[tuple[Segment, list[Segment]]]:
        """Each segment of one name with those of another that follow it before the next."""
        found: list[tuple[Segment, list[Segment]]] = []
        for segment in self.segments:
            if segment.fields[0] == head:
                found.append((segment, []))
            elif segment.fields[0] == member and found:
                found[-1][1].append(segment)
        return found


def messages(path: Path, compression: str | None, *, limit: int) -> Iterator[tuple[int, Message | Reason]]:
    """The messages of a file, streamed, with their places from 1; a reason for one that cannot be read.

    Args:
        path: The file.
        compression: Around it: `gz`, `zst` or None.
        limit: The most bytes that a message may have; of a larger one the rest is passed over.

    Raises:
        BrokenFileError: The file can be read no further; the messages before have been yielded.
    """
    place, size = 0, 0
    held: list[bytes] = []
    for segment in _segments(path, compression, limit):
        if segment[:3] in _BATCH:
            continue
        if segment.startswith(b"MSH") and held:
            place += 1
            yield place, _message(held, size > limit)
            held, size = [], 0
        size += len(segment)
        if size <= limit or not held:
            held.append(segment)
    if held:
        yield place + 1, _message(held, size > limit)


def _segments(path: Path, compression: str | None, limit: int) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks(path, compression):
        *whole, rest = _ENDS.split(rest + chunk.translate(None, _FRAME))
        yield from filter(bytes.strip, whole)
        # A segment without an end is given out in pieces, which the message's limit then refuses.
        if len(rest) > limit:
            yield rest
            rest = b""
    if rest.strip():
        yield rest


def _message(segments: list[bytes], too_long: bool) -> Message | Reason:
    head = segments[0]
    if too_long:
        return Reason.TEXT_TOO_LONG
    if not head.startswith(b"MSH") or len(head) < 9:
        return Reason.MALFORMED_ROW
    field = chr(head[3])
    marks = head[4:].split(head[3:4])[0].decode("latin-1")
    if field.isalnum() or len(marks) < 3 or len({field, *marks}) != len(marks) + 1:
        return Reason.MALFORMED_ROW
    by = Delimiters(field, marks[0], marks[1], marks[2], marks[3] if len(marks) > 3 else "&")
    charset = _CHARSETS.get(_charset(head, by), "utf-8")
    try:
        parts = tuple(Segment(tuple(segment.decode(charset).split(field)), by) for segment in segments)
    except UnicodeDecodeError:
        return Reason.INVALID_UTF8
    return Message(parts)


def _charset(head: bytes, by: Delimiters) -> str:
    fields = head.decode("latin-1").split(by.field)
    return fields[17].split(by.repetition)[0].strip().upper() if len(fields) > 17 else ""
