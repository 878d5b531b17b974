"""Label Studio's JSON: tasks for people to annotate, what comes back, and the same as a format of gold.

Belongs here: that JSON and the configuration of its labels. Does not belong here: reading it
(`labelstudio_export.py`), who annotates what and when (`review/annotation/`), or what its labels are (`labels.py`).

    [{"id": 1, "data": {"text": ..., "note": ...}, "meta": {...},
      "annotations": [{"completed_by": 3, "was_cancelled": false, "ground_truth": false, "result": [
        {"type": "labels", "from_name": "label", "to_name": "text",
         "value": {"start": 0, "end": 3, "text": "Ann", "labels": ["PATIENT"]}}]}],
      "predictions": [{"model_version": ..., "score": ..., "result": [...]}]}]

Offsets are code points, as Label Studio counts them; `labelstudio_export.py` reads older ones too. A task is one note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from colorsys import hls_to_rgb
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from xml.sax.saxutils import quoteattr

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.files import MAX_CHARS
from deid_platform.corpora.formats.gold_files import gold_files, refused, writable, written_file
from deid_platform.corpora.formats.labelstudio_export import CLINICAL, Place, Returned, read_tasks
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.schemes import Scheme, scheme_of
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

_ENDING = re.compile(r"\.json$")
_NAMES = {"from_name": "label", "to_name": "text"}
_Row = dict[str, object]
_GOLDEN_ANGLE = 137.508  # degrees: neighbours on the list get hues far apart


@dataclass(frozen=True, slots=True, repr=False)
class Prediction:
    """What a task shows before anybody has annotated it.

    Attributes:
        model: Where it comes from, such as a detector's digest.
        spans: Identifiers.
        clinical: Start and end of clinical terms that must stay visible.
    """

    model: str
    spans: tuple[Span, ...]
    clinical: tuple[Place, ...] = ()

    def __repr__(self) -> str:
        return "<Prediction>"


@dataclass(frozen=True, slots=True, repr=False)
class Task:
    """One note for a person to annotate.

    Attributes:
        key: Names the note; a source's own id is an identifier.
        text: The note's.
        meta: Comes back with the task.
        predictions: What it shows; none where the task is blind.
    """

    key: str
    text: str
    meta: Mapping[str, str | int] = field(default_factory=dict)
    predictions: tuple[Prediction, ...] = ()

    def __repr__(self) -> str:
        return "<Task>"


def labelling_config(labels: Iterable[Label] = tuple(Label)) -> str:
    """The labelling interface: a button for each label and for clinical terms, and the text as it stands."""
    buttons = "\n".join(
        f"    <Label value={quoteattr(value)} background={quoteattr(_colour(number))}/>"
        for number, value in enumerate([*(label.value for label in labels), CLINICAL])
    )
    return (
        "<View>\n"
        "  <Style>.htx-text { white-space: pre-wrap; }</Style>\n"
        f'  <Labels name="{_NAMES["from_name"]}" toName="{_NAMES["to_name"]}">\n{buttons}\n  </Labels>\n'
        f'  <Text name="{_NAMES["to_name"]}" value="$text" saveTextResult="yes"/>\n'
        "</View>\n"
    )


def _colour(number: int) -> str:
    parts = hls_to_rgb(number * _GOLDEN_ANGLE / 360 % 1, 0.45 + 0.15 * (number % 2), 0.65)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def write_tasks(tasks: Iterable[Task], path: Path) -> int:
    """Writes tasks into one file that its owner alone can read, whole or not at all; returns how many.

    Raises:
        DeidError: `output-unusable`.
    """
    return write_rows(map(_task_row, tasks), path)


def _task_row(task: Task) -> dict[str, object]:
    row: dict[str, object] = {"data": {"text": task.text, "note": task.key}, "meta": dict(task.meta)}
    if task.predictions:
        row["predictions"] = [_prediction_row(task.text, prediction) for prediction in task.predictions]
    return row


def _prediction_row(text: str, prediction: Prediction) -> dict[str, object]:
    items = _items(text, prediction.spans, prediction.clinical)
    result = [{**item, "score": s.score} if s and not isnan(s.score) else item for item, s in items]
    scores = [span.score for span in prediction.spans if not isnan(span.score)]
    return {"model_version": prediction.model, "score": min(scores, default=None), "result": result}


def _items(text: str, spans: Iterable[Span], clinical: Iterable[Place]) -> Iterator[tuple[_Row, Span | None]]:
    marked: list[tuple[int, int, str, Span | None]] = [(s.start, s.end, s.label.value, s) for s in sorted(spans)]
    marked += [(start, end, CLINICAL, None) for start, end in clinical]
    for number, (start, end, label, span) in enumerate(marked):
        value = {"start": start, "end": end, "text": text[start:end], "labels": [label]}
        yield {"id": f"s{number}", **_NAMES, "type": "labels", "value": value}, span


def write_rows(rows: Iterable[Mapping[str, object]], path: Path) -> int:
    """Writes tasks that are rows already, as `write_tasks` does."""
    count = 0
    with written_file(path) as stream:
        stream.write("[")
        for count, row in enumerate(rows, start=1):
            stream.write(",\n" if count > 1 else "\n")
            stream.write(json.dumps(row, ensure_ascii=False))
        stream.write("\n]\n")
    return count


@dataclass(frozen=True)
class LabelStudio:
    """The format `labelstudio`, of gold: an export in which each task has one annotation, or one that is final."""

    def read(self, path: Path, *, scheme: str) -> Iterator[Gold | Rejection]:
        """The notes of a file, or of the `.json` files of a folder; the place of a rejection is the task's ordinal."""
        chosen = scheme_of(scheme)
        seen: set[str] = set()
        folder, names = gold_files(path, lambda name: _ENDING.search(name) is not None)
        for ordinal, name in enumerate(names):
            for found in read_tasks(folder / name, chosen, ordinal=ordinal, max_chars=MAX_CHARS):
                if isinstance(found, Rejection):
                    yield found
                    continue
                gold = _gold(found, chosen)
                if isinstance(gold, Gold) and found.key in seen:
                    gold = Reason.DUPLICATE_NOTE_ID
                seen.add(found.key)
                yield gold if isinstance(gold, Gold) else refused(ordinal, found.place, gold, found.key)

    def write(self, notes: Iterable[Gold], path: Path) -> int:
        """Writes one file of tasks, each with one final annotation. Ids, texts, spans and clinical terms are kept."""
        return write_rows((_gold_row(count, gold, note) for count, gold, note in writable(notes)), path)


def _gold(found: Returned, scheme: Scheme) -> Gold | Reason:
    final = [it for it in found.annotations if it.ground_truth]
    chosen = final if len(found.annotations) > 1 else found.annotations
    if not found.annotations:
        return Reason.MISSING_GOLD
    if len(chosen) != 1:
        return Reason.SEVERAL_ANNOTATIONS
    marked = chosen[0].marked
    if isinstance(marked, Reason):
        return marked
    note = Note(found.key, found.text, language=scheme.language)
    return Gold(found.key, marked.spans, chosen[0].clinical, note, marked.no_identifiers, marked.known_errors)


def _gold_row(number: int, gold: Gold, note: Note) -> dict[str, object]:
    result = [item for item, _ in _items(note.text, gold.spans, gold.clinical)]
    annotation = {"completed_by": 1, "was_cancelled": False, "ground_truth": True, "result": result}
    return {"id": number, "data": {"text": note.text, "note": gold.note_id}, "annotations": [annotation]}


GOLD = LabelStudio()
