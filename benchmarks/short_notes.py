"""Deliveries of the synthetic hospital with short notes, so that a run over many of them ends.

What grows with a delivery is the number of notes; each note keeps its first words and the gold of these.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from deid_platform.corpora.hospital import HospitalSpec
from deid_platform.corpora.hospital import write as write_whole

Spans = Sequence[tuple[int, int, str]]
"""Start, end and label of each identifier."""
Ending = Callable[[str, Mapping[str, str]], tuple[str, Spans]]
"""What comes behind the words that are kept, by the delivery's watermark and the note, and its identifiers."""


def first_words(text: str, most: int) -> str:
    """A text up to the end of its first words."""
    return text[: max((found.end() for found in islice(re.finditer(r"\S+", text), most)), default=0)]


def write_short(
    spec: HospitalSpec, words: int, *, feed_root: Path, gold_root: Path, ending: Ending = lambda *_: ("", ())
) -> list[str]:
    """Writes deliveries as `hospital.write` does, each note cut after some words; returns the watermarks in order."""
    watermarks = write_whole(spec, feed_root=feed_root, gold_root=gold_root)
    for watermark in watermarks:
        notes, gold = feed_root / watermark / "notes.jsonl.gz", gold_root / f"{watermark}.jsonl.gz"
        _cut(notes, gold, words, partial(ending, watermark))
    return watermarks


def _cut(notes: Path, gold: Path, words: int, ending: Callable[[Mapping[str, str]], tuple[str, Spans]]) -> None:
    """Cuts a delivery's notes and gold, line by line; an identifier that is cut through ends the note before it."""
    made = notes.with_suffix(".tmp"), gold.with_suffix(".tmp")
    with (
        gzip.open(notes, "rt", encoding="utf-8") as old_notes,
        gzip.open(gold, "rt", encoding="utf-8") as old_gold,
        gzip.open(made[0], "wt", encoding="utf-8") as new_notes,
        gzip.open(made[1], "wt", encoding="utf-8") as new_gold,
    ):
        for note, truth in zip(map(json.loads, old_notes), map(json.loads, old_gold), strict=True):
            end = len(first_words(note["text"], words))
            end = min((start for start, stop, _ in truth["spans"] if start < end < stop), default=end)
            kept = [index for index, (_, stop, _) in enumerate(truth["spans"]) if stop <= end]
            more, spans = ending(note)
            note["text"] = note["text"][:end] + more
            truth["ways"] = [truth["ways"][index] for index in kept] + [None] * len(spans)
            truth["spans"] = [truth["spans"][index] for index in kept]
            truth["spans"] += [(end + start, end + stop, label) for start, stop, label in spans]
            truth["clinical"] = [term for term in truth["clinical"] if term[1] <= end]
            new_notes.write(json.dumps(note, ensure_ascii=False) + "\n")
            new_gold.write(json.dumps(truth) + "\n")
    made[0].replace(notes)
    made[1].replace(gold)
