"""The deliveries as folders of the `files` feed, and their gold in another folder.

Belongs here: file names, and the order in which they appear. Does not belong here: reading them back
(`corpora/files.py` for the feed, `evaluation/` for gold).

    <feed_root>/<watermark>/notes.jsonl.gz patients.csv providers.csv facilities.csv withdrawn.csv
    <gold_root>/<watermark>.jsonl.gz       one line a note, as `corpora/gold.py` reads it

A folder appears under its name only when it is whole, and its gold is there before it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from deid_platform.corpora.hospital.deliveries import DeliveryPlan, documents, plans
from deid_platform.corpora.hospital.spec import Document, HospitalSpec
from deid_platform.corpora.written import gzip_text, note_line, write_table
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
    with gzip_text(folder / "notes.jsonl.gz") as notes, gzip_text(gold_part) as gold:
        for count, made in enumerate(documents(plan), 1):
            notes.write(note_line(made.note))
            gold.write(_gold_line(made))
            if progress is not None and (count % _EVERY == 0 or count == len(plan.notes)):
                progress(count, len(plan.notes))
    write_table(folder / "patients.csv", Patient, plan.topics.patients.values())
    write_table(folder / "providers.csv", Provider, plan.topics.providers.values())
    write_table(folder / "facilities.csv", Facility, plan.topics.facilities.values())
    write_table(folder / "withdrawn.csv", Withdrawal, plan.withdrawals)
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


def _gold_line(made: Document) -> str:
    row = {
        "note_id": made.note.note_id,
        "spans": [[span.start, span.end, span.label.value] for span in made.gold],
        "clinical": [list(term) for term in made.clinical],
        "style": made.style.value,
        "ways": made.ways,
        "condition": made.condition,
    }
    return json.dumps(row) + "\n"
