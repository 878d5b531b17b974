"""The deliveries as folders of the `files` feed, and their gold in another folder.

Belongs here: file names, columns, byte-exact writing. Does not belong here: reading them back
(`corpora/files.py` for the feed, `evaluation/` for gold).

    <feed_root>/<watermark>/notes.jsonl.gz patients.csv providers.csv facilities.csv withdrawn.csv
    <gold_root>/<watermark>.jsonl.gz       one line a note, as `corpora/gold.py` reads it

A folder appears under its name only when it is whole, and its gold is there before it.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import astuple, fields
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from deid_platform.corpora.hospital.deliveries import DeliveryPlan, documents, plans
from deid_platform.corpora.hospital.spec import Document, HospitalSpec
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Facility, Patient, Provider, Withdrawal

_EVERY = 64  # notes between two calls of the progress callback


def write(
    spec: HospitalSpec,
    *,
    feed_root: Path,
    gold_root: Path,
    progress: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Write all deliveries; the same spec gives the same bytes. A delivery already there is replaced.

    Args:
        spec: What to generate.
        feed_root: Where delivery folders go; the only thing a feed should be pointed at.
        gold_root: Where gold goes; must not lie inside `feed_root`.
        progress: Called with (notes written, notes in all) of the delivery under way.

    Returns:
        The watermarks in order.

    Raises:
        DeidError: `input-invalid` if gold would lie inside the feed.
    """
    if gold_root.resolve().is_relative_to(feed_root.resolve()):
        raise DeidError(Code.INPUT_INVALID, "gold_root")
    watermarks = []
    for plan in plans(spec):
        _write_delivery(plan, feed_root, gold_root, progress)
        watermarks.append(plan.watermark)
    return watermarks


def _write_delivery(
    plan: DeliveryPlan,
    feed_root: Path,
    gold_root: Path,
    progress: Callable[[int, int], None] | None,
) -> None:
    folder = feed_root / f"{plan.watermark}.tmp"
    gold_part = gold_root / f"{plan.watermark}.jsonl.gz.tmp"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    gold_root.mkdir(parents=True, exist_ok=True)
    with _gzip_text(folder / "notes.jsonl.gz") as notes, _gzip_text(gold_part) as gold:
        for count, made in enumerate(documents(plan), 1):
            notes.write(_note_line(made))
            gold.write(_gold_line(made))
            if progress is not None and (count % _EVERY == 0 or count == len(plan.notes)):
                progress(count, len(plan.notes))
    _write_table(folder / "patients.csv", Patient, plan.topics.patients.values())
    _write_table(folder / "providers.csv", Provider, plan.topics.providers.values())
    _write_table(folder / "facilities.csv", Facility, plan.topics.facilities.values())
    _write_table(folder / "withdrawn.csv", Withdrawal, plan.withdrawals)
    gold_part.replace(gold_root / f"{plan.watermark}.jsonl.gz")
    target = feed_root / plan.watermark
    if target.exists():
        retired = feed_root / f"{plan.watermark}.old.tmp"
        shutil.rmtree(retired, ignore_errors=True)
        target.rename(retired)
        folder.rename(target)
        shutil.rmtree(retired)
    else:
        folder.rename(target)


def _note_line(made: Document) -> str:
    note = made.note
    row = {
        "note_id": note.note_id,
        "patient_id": note.patient_id,
        "encounter_id": note.encounter_id,
        "provider_id": note.provider_id,
        "site": note.site,
        "note_type": note.note_type,
        "note_date": note.note_date.isoformat() if note.note_date else None,
        "language": note.language,
        "text": note.text,
    }
    return json.dumps(row, ensure_ascii=False) + "\n"


def _gold_line(made: Document) -> str:
    row = {
        "note_id": made.note.note_id,
        "spans": [[span.start, span.end, span.label.value] for span in made.gold],
        "clinical": [list(term) for term in made.clinical],
        "style": made.style.value,
        "ways": made.ways,
    }
    return json.dumps(row) + "\n"


@contextmanager
def _gzip_text(path: Path) -> Iterator[TextIO]:
    # No file name and no time in the header, so that the bytes depend on the spec alone.
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
        TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        yield text


def _write_table(
    path: Path,
    kind: type[Patient] | type[Provider] | type[Facility] | type[Withdrawal],
    rows: Iterable[Patient | Provider | Facility | Withdrawal],
) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow([field.name for field in fields(kind)])
        table.writerows(["" if value is None else value for value in astuple(row)] for row in rows)
