"""What Label Studio exports, task by task: the annotations of each, with offsets that hold the text that they say.

Belongs here: reading that JSON. Does not belong here: writing it (`labelstudio.py`), or who annotated what
(`review/annotation/`).

Label Studio counts offsets in code points, and CR LF as two; old versions counted UTF-16 units, in which a character
outside the basic plane is two. So the text at each offset is compared with the one that the item says by its words,
since what a browser selects may have other white space, and a line break may be written as `\\n` in two characters. All
items of an annotation are read in one way of counting: code points if all agree, else UTF-16 units if all agree then,
else the annotation is refused.

Cancelled annotations, drafts, relations and what is no region are left aside. The place of a task is its ordinal in the
file, from 1. A file is held in memory while it is read, its tasks are not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.annotations import Annotation, GoldFaultError, Marked, check_text, spans_of
from deid_platform.corpora.decoding import BrokenFileError, chunks
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats.gold_files import refused
from deid_platform.corpora.schemes import Scheme

CLINICAL = "CLINICAL"
"""The label of clinical terms that must stay visible although they look like identifiers."""
_BETWEEN = re.compile(r"[ \t\r\n]*")
_LINE_BREAK = re.compile(r"\\[rn]")
# Items that mark no text, or say more about a region that an item of its own marks.
_ASIDE = frozenset({"relation", "choices", "textarea", "rating", "number", "taxonomy", "datetime", "pairwise"})

Place = tuple[int, int]


@dataclass(frozen=True, slots=True, repr=False)
class Annotated:
    """What one person made of a task.

    Attributes:
        by: Number or name of the account; an identifier.
        ground_truth: Whether it is marked as the final one.
        marked: The spans, or why the annotation cannot be used.
        clinical: Start and end of the clinical terms that must stay visible.
        choices: What was chosen of each question about the whole task, by its name; empty where it is not one word.
    """

    by: str
    ground_truth: bool
    marked: Marked | Reason
    clinical: tuple[Place, ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "<Annotated>"


@dataclass(frozen=True, slots=True, repr=False)
class Returned:
    """A task as it came back.

    Attributes:
        place: Its ordinal in the file, from 1.
        key: `data.note`, or Label Studio's own number of the task.
        text: The note's.
        meta: As it was exported; values of other types than text and whole numbers are left out.
        annotations: Those that were not cancelled.
        skipped_by: The accounts of those who cancelled theirs.
    """

    place: int
    key: str
    text: str
    meta: Mapping[str, str | int]
    annotations: tuple[Annotated, ...]
    skipped_by: tuple[str, ...]

    def __repr__(self) -> str:
        return "<Returned>"


def read_tasks(
    path: Path, scheme: Scheme, *, ordinal: int = 0, max_chars: int = MAX_CHARS
) -> Iterator[Returned | Rejection]:
    """The tasks of an export; what cannot be read comes as a rejection in its place.

    Args:
        path: The file.
        scheme: Of its labels.
        ordinal: The file's place among those of the set, from 0.
        max_chars: The longest text, in code points.
    """
    place = 0
    try:
        for place, row in enumerate(_elements(_whole(path)), start=1):
            key = _key(row)
            try:
                yield _returned(place, key, row, scheme, max_chars)
            except GoldFaultError as fault:
                yield refused(ordinal, place, fault.reason, key)
    except BrokenFileError as broken:
        yield refused(ordinal, place + 1, broken.reason, None)


def _whole(path: Path) -> str:
    if not path.is_file():
        raise BrokenFileError(Reason.UNREADABLE_FILE)
    try:
        return b"".join(chunks(path, None)).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BrokenFileError(Reason.INVALID_UTF8) from None


def _elements(text: str) -> Iterator[Any]:
    """The elements of a JSON array one by one; None for one that repeats a key or has a number that is none."""
    odd: list[object] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            odd.append(pairs)
        return found

    decoder = json.JSONDecoder(object_pairs_hook=once, parse_constant=odd.append)
    at = _past(text, 0)
    if text[at : at + 1] != "[":
        raise BrokenFileError(Reason.MALFORMED_ROW)
    at = _past(text, at + 1)
    first = True
    while text[at : at + 1] != "]":
        if not first:
            if text[at : at + 1] != ",":
                raise BrokenFileError(Reason.TRUNCATED_FILE if at >= len(text) else Reason.MALFORMED_ROW)
            at = _past(text, at + 1)
        first = False
        odd.clear()
        try:
            found, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            raise BrokenFileError(Reason.MALFORMED_ROW) from None
        yield None if odd else found
        at = _past(text, at)
    if _past(text, at + 1) != len(text):
        raise BrokenFileError(Reason.MALFORMED_ROW)


def _past(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return match.end() if match else at


def _key(row: Any) -> str | None:
    data = row.get("data") if isinstance(row, dict) else None
    value = data.get("note") if isinstance(data, dict) else None
    value = row.get("id") if value is None and isinstance(row, dict) else value
    value = str(value) if type(value) is int else value
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value.strip() or None


def _returned(place: int, key: str | None, row: Any, scheme: Scheme, max_chars: int) -> Returned:
    if not isinstance(row, dict) or not isinstance(row.get("data"), dict):
        raise GoldFaultError(Reason.MALFORMED_ROW)
    if key is None:
        raise GoldFaultError(Reason.MISSING_NOTE_ID)
    text = row["data"].get("text")
    if text is None:
        raise GoldFaultError(Reason.EMPTY_TEXT)
    if not isinstance(text, str):
        raise GoldFaultError(Reason.MALFORMED_ROW)
    check_text(text, max_chars)
    annotations = row.get("annotations")
    if annotations is None:
        raise GoldFaultError(Reason.MISSING_GOLD)
    meta = row.get("meta")
    if not isinstance(annotations, list) or not all(isinstance(it, dict) for it in annotations):
        raise GoldFaultError(Reason.MALFORMED_ROW)
    kept = [it for it in annotations if not it.get("was_cancelled")]
    return Returned(
        place,
        key,
        text,
        {k: v for k, v in meta.items() if type(v) in (str, int)} if isinstance(meta, dict) else {},
        tuple(
            Annotated(_by(it), bool(it.get("ground_truth")), *_marked(it, text, scheme), _choices(it.get("result")))
            for it in kept
        ),
        tuple(_by(it) for it in annotations if it.get("was_cancelled")),
    )


def _by(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by")
    return str(by.get("id", "")) if isinstance(by, dict) else str(by)


def _marked(annotation: Mapping[str, Any], text: str, scheme: Scheme) -> tuple[Marked | Reason, tuple[Place, ...]]:
    try:
        placed = _placed([_item(item) for item in _regions(annotation.get("result"))], text)
        clinical = tuple(sorted({it.pieces[0] for it in placed if it.label == CLINICAL}))
        return spans_of((it for it in placed if it.label != CLINICAL), text, scheme, exact=True), clinical
    except GoldFaultError as fault:
        return fault.reason, ()
    except (TypeError, KeyError, AttributeError):
        return Reason.MALFORMED_ROW, ()


def _regions(result: Any) -> Iterator[Mapping[str, Any]]:
    if not isinstance(result, list):
        raise GoldFaultError(Reason.MALFORMED_ROW)
    for item in result:
        if item["type"] not in _ASIDE:
            # Of HTML, for one: left aside, an identifier would be missing from the gold.
            if item["type"] != "labels":
                raise GoldFaultError(Reason.MALFORMED_ROW)
            yield item["value"]


def _choices(result: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in result if isinstance(result, list) else ():
        if not isinstance(item, dict) or item.get("type") != "choices" or not isinstance(item.get("from_name"), str):
            continue
        value = item.get("value")
        chosen = value.get("choices") if isinstance(value, dict) else None
        one = isinstance(chosen, list) and len(chosen) == 1 and isinstance(chosen[0], str)
        found[item["from_name"]] = chosen[0] if one and item["from_name"] not in found else ""  # type: ignore[index]
    return found


def _item(value: Mapping[str, Any]) -> tuple[int, int, str, str]:
    start, end, said, labels = value["start"], value["end"], value.get("text"), value["labels"]
    if type(start) is not int or type(end) is not int or not isinstance(labels, list):
        raise GoldFaultError(Reason.MALFORMED_ROW)
    if len(labels) > 1:
        raise GoldFaultError(Reason.SEVERAL_LABELS)
    if not labels or not isinstance(labels[0], str):
        raise GoldFaultError(Reason.MALFORMED_ROW)
    if not isinstance(said, str):
        raise GoldFaultError(Reason.SPAN_MISMATCH)
    return start, end, labels[0], said


def _placed(items: Sequence[tuple[int, int, str, str]], text: str) -> list[Annotation]:
    """Items at their code points, in the one way of counting in which each holds what it says.

    Raises:
        GoldFaultError: There is none.
    """
    if any(start < 0 or start >= end for start, end, _, _ in items):
        raise GoldFaultError(Reason.SPAN_OUT_OF_RANGE)
    if all(end <= len(text) and _says(text[start:end], said) for start, end, _, said in items):
        return [Annotation(((start, end),), label, None, 1) for start, end, label, _ in items]
    points = _code_points(text)
    found: list[Annotation] = []
    for start, end, label, said in items:
        if end >= len(points):
            raise GoldFaultError(Reason.SPAN_OUT_OF_RANGE)
        first, last = points[start], points[end]
        if first is None or last is None or not _says(text[first:last], said):
            raise GoldFaultError(Reason.SPAN_MISMATCH)
        found.append(Annotation(((first, last),), label, None, 1))
    return found


def _code_points(text: str) -> list[int | None]:
    """The code point that begins at each UTF-16 unit, the end included; None in the middle of one."""
    points: list[int | None] = []
    for at, character in enumerate(text):
        points += [at] if character <= "\uffff" else [at, None]
    return [*points, len(text)]


def _says(held: str, said: str) -> bool:
    return held.split() == said.split() or held.split() == _LINE_BREAK.sub(" ", said).split()
