r"""Messages of HL7 version 2: segments, fields, components, escapes.

Belongs here: taking a file apart. Does not belong here: what a message means (`hl7.py`).

Files hold one or many messages, with or without batch segments (FHS, BHS) and the frame of a transport (MLLP);
segments end in CR, LF or both. A line that does not begin as a segment belongs to the one before: some senders leave
line breaks inside a text. Delimiters are those of MSH-1 and MSH-2, the character set that of MSH-18. A split that
keeps these rules reads what strict parsers refuse: hospitals send segments and versions that no library knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from deid_platform.corpora import Reason
from deid_platform.corpora.decoding import chunks

_OPENS, _CLOSES = b"\x0b", b"\x1c"
_MARK = b"\xef\xbb\xbf"
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)")
_ENDS = re.compile(rb"[\r\n]+")
_WRITTEN = re.compile(rb"[^ \t]")
_MARKS = re.compile(r"[!-/:-@\[-`{-~]+")
_BATCH = (b"FHS", b"BHS", b"BTS", b"FTS")
_CHARSETS = {"": "utf-8", "UNICODE UTF-8": "utf-8", "UNICODE": "utf-8", "ASCII": "utf-8", "8859/1": "latin-1"}
_SEGMENT = re.compile(r"[A-Z][A-Z0-9]{2}")
# What stands between two escape characters. Anything else there is text: "5\10 and 3\10" is none.
_CODE = r"[FSTREHN]|\.(?:br|ce|fi|nf|(?:sp|sk|in|ti)[+-]?\d*)|[CM](?:[0-9A-F]{2}){2,3}|Z[0-9A-Z]*"
_BYTES = r"X(?:[0-9A-Fa-f]{2})+"
_REPEATED = re.compile(r"\.(sp|sk)\+?(\d{0,9})")

_MOST = 99  # of blanks or lines that one escape stands for


@dataclass(frozen=True, slots=True, repr=False)
class Delimiters:
    """What parts a message."""

    field: str
    component: str
    repetition: str
    escape: str
    sub: str
    charset: str = "utf-8"

    def decoded(self, text: str) -> str:
        """A value with its escape sequences resolved; highlighting is dropped, and what is no sequence stays."""
        if self.escape not in text:
            return text
        return _sequences(self.escape).sub(self._one, text)

    def readable(self, text: str) -> bool:
        """Whether bytes that are written as escapes are characters of the message's set."""
        if f"{self.escape}X" not in text:
            return True
        try:
            for match in _sequences(self.escape).finditer(text):
                if match[1]:
                    self._characters(match[1])
        except UnicodeDecodeError:
            return False
        return True

    def _one(self, match: re.Match[str]) -> str:
        if match[1]:
            return self._characters(match[1], "replace")  # `readable` has told before
        code = match[2]
        marks = {"F": self.field, "S": self.component, "T": self.sub, "R": self.repetition, "E": self.escape}
        if code in marks:
            return marks[code]
        if code in (".br", ".ce"):
            return "\n"
        if found := _REPEATED.fullmatch(code):
            return ("\n" if found[1] == "sp" else " ") * min(int(found[2] or "1"), _MOST)
        return ""

    def _characters(self, escaped: str, errors: str = "strict") -> str:
        return bytes.fromhex(escaped.replace(self.escape, "").replace("X", "")).decode(self.charset, errors)


@cache
def _sequences(escape: str) -> re.Pattern[str]:
    mark = re.escape(escape)
    # Of one character, each byte may have a sequence of its own.
    return re.compile(f"((?:{mark}{_BYTES}{mark})+)|{mark}({_CODE}){mark}")


@dataclass(frozen=True, slots=True, repr=False)
class Segment:
    """One segment; numbers of fields, components and repetitions are those of the standard.

    Attributes:
        fields: As they stand, the name first.
        by: What parts them.
        sound: Whether all of its bytes are characters of the message's set; what is none is a replacement character.
    """

    fields: tuple[str, ...]
    by: Delimiters
    sound: bool = True

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

    def part(self, number: int, component: int = 1, repetition: int = 0, *, sub: int = 1) -> str | None:
        """A component's sub-component, the first unless told; None where it is empty."""
        repetitions = self._raw(number).split(self.by.repetition)
        components = repetitions[repetition].split(self.by.component) if repetition < len(repetitions) else []
        subs = components[component - 1].split(self.by.sub) if component <= len(components) else []
        return self.by.decoded(subs[sub - 1]).strip() or None if sub <= len(subs) else None

    def nested(self, number: int, repetition: int = 0) -> bool:
        """Whether the first component of a field has sub-components."""
        first = self._raw(number).split(self.by.repetition)[repetition].split(self.by.component)[0]
        return self.by.sub in first


@dataclass(frozen=True, slots=True, repr=False)
class Message:
    """One message.

    Attributes:
        segments: Its segments; not all, where it is too long.
        by: What parts them.
        fault: Why no note of it can be used, though its ids may be known.
    """

    segments: tuple[Segment, ...]
    by: Delimiters
    fault: Reason | None = None

    @property
    def kind(self) -> str:
        """MDM, ORU and so on."""
        return self.first("MSH").part(9) or ""

    @property
    def event(self) -> str:
        """T02, R01 and so on."""
        return self.first("MSH").part(9, 2) or self.first("EVN").part(1) or ""

    def first(self, name: str) -> Segment:
        """The first segment of a name; an empty one where there is none."""
        return next((s for s in self.segments if s.fields[0] == name), Segment((), self.by))

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
    opens = framed = closed = False

    def message() -> Message | Reason:
        cut = Reason.TRUNCATED_FILE if framed and not closed else None
        return _message(held, Reason.TEXT_TOO_LONG if size > limit else cut)

    for segment in _segments(path, compression, limit):
        if segment == _OPENS:
            opens = True
        elif segment == _CLOSES:
            closed = True
        elif segment[:3] not in _BATCH:
            if _begins(segment) and held:
                place += 1
                yield place, message()
                held, size = [], 0
            if not held:
                framed, closed = opens, False
            opens = False
            size += len(segment)
            if size <= limit or not held:
                held.append(segment)
    if held:
        yield place + 1, message()


def _begins(segment: bytes) -> bool:
    """Whether a message begins; a line of text may start with the same letters."""
    return segment.startswith(b"MSH") and not (segment[3:4].isalnum() or segment[3:4].isspace())


def _segments(path: Path, compression: str | None, limit: int) -> Iterator[bytes]:
    """Lines without their ends and without empty ones; the marks of a frame are lines of their own."""
    rest: list[bytes] = []
    size, mark = 0, _MARK
    for chunk in chunks(path, compression):
        chunk = chunk.removeprefix(mark)
        mark = b""
        for frame in (_OPENS, _CLOSES):
            chunk = chunk.replace(frame, b"\r" + frame + b"\r")
        first, *others = _ENDS.split(chunk)
        rest.append(first)
        size += len(first)
        # A segment without an end is given out in pieces, which the message's limit then refuses.
        if others or size > limit:
            yield from filter(_WRITTEN.search, (b"".join(rest), *others[:-1]))
            rest = others[-1:]
            size = sum(map(len, rest))
    if _WRITTEN.search(last := b"".join(rest)):
        yield last


def _message(lines: list[bytes], fault: Reason | None) -> Message | Reason:
    by = _delimiters(lines[0])
    if by is None:
        return fault or Reason.MALFORMED_ROW
    parts: list[Segment] = []
    text, sound = "", True
    for line in lines:
        try:
            more, well = line.decode(by.charset), True
        except UnicodeDecodeError:
            more, well = line.decode(by.charset, "replace"), False
        if text and not (_SEGMENT.match(more) and more[3:4] in ("", by.field)):
            text, sound = f"{text}\n{more}", sound and well
            continue
        if text:
            parts.append(_segment(text, by, sound))
        text, sound = more, well
    parts.append(_segment(text, by, sound))
    unsound = None if all(part.sound for part in parts) else Reason.INVALID_UTF8
    return Message(tuple(parts), by, fault or unsound)


def _segment(text: str, by: Delimiters, sound: bool) -> Segment:
    well = by.readable(text)
    if not well:
        text = text.replace(f"{by.escape}X", "\ufffd")  # nothing of it is decoded any more
    return Segment(tuple(text.split(by.field)), by, sound and well)


def _delimiters(head: bytes) -> Delimiters | None:
    """What the header of a message says about the rest; None if it is no header."""
    if not head.startswith(b"MSH") or len(head) < 8:
        return None
    fields = head[4:].decode("latin-1").split(chr(head[3]))
    field, marks = chr(head[3]), fields[0]
    every = field + marks
    if not 3 <= len(marks) <= 5 or len(set(every)) != len(every) or not _MARKS.fullmatch(every):
        return None
    charset = fields[16].split(marks[1])[0].strip().upper() if len(fields) > 16 else ""
    return Delimiters(field, marks[0], marks[1], marks[2], (marks[3:4] or "&"), _CHARSETS.get(charset, "utf-8"))


def day(moment: str) -> str | None:
    """The day of a moment where it was written; nothing where only a month or a year is known."""
    match = _DAY.match(moment)
    return "-".join(match.groups()) if match else None
