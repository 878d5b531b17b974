"""A surrogate corpus as the folder of a feed, and its gold beside it.

Belongs here: file names. Does not belong here: making notes (`corpus.py`).

    <root>/feed/1/notes.jsonl.gz patients.csv providers.csv facilities.csv
    <root>/gold/1.jsonl.gz       one line a note with its text, as `deid evaluate` reads it
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from deid_platform.corpora.injection.corpus import Injected, InjectionSpec, staff_of
from deid_platform.corpora.written import gzip_text, note_line, write_table
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Facility, Patient, Provider

_DELIVERY = "1"


def write(
    spec: InjectionSpec, notes: Iterable[Injected], root: Path, *, progress: Callable[[int], None] | None = None
) -> int:
    """Writes notes, topics and gold; they appear whole or not at all.

    Returns:
        How many notes.

    Raises:
        DeidError: `output-unusable` if there is something at that path; `store-write` if it cannot be written;
            `input-empty` if there was no note; what making the notes raises.
    """
    if root.exists():
        raise DeidError(Code.OUTPUT_UNUSABLE, "there already")
    made = root.with_name(f".{root.name}.tmp")
    try:
        shutil.rmtree(made, ignore_errors=True)
        count = _write(spec, notes, made, progress)
        if not count:
            raise DeidError(Code.INPUT_EMPTY, f"{spec.corpus}: no {spec.part.value} note")
        made.rename(root)
    except OSError:
        raise DeidError(Code.STORE_WRITE, "surrogate corpus") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return count


def _write(spec: InjectionSpec, notes: Iterable[Injected], root: Path, progress: Callable[[int], None] | None) -> int:
    delivery = root / "feed" / _DELIVERY
    delivery.mkdir(parents=True)
    (root / "gold").mkdir()
    patients: dict[str, Patient] = {}
    count = 0
    with (
        gzip_text(delivery / "notes.jsonl.gz") as texts,
        gzip_text(root / "gold" / f"{_DELIVERY}.jsonl.gz") as gold,
    ):
        for made in notes:
            texts.write(note_line(made.note))
            gold.write(_gold_line(made))
            patients.setdefault(made.patient.patient_id, made.patient)
            count += 1
            if progress is not None:
                progress(1)
    providers, facilities = staff_of(spec)
    write_table(delivery / "patients.csv", Patient, patients.values())
    write_table(delivery / "providers.csv", Provider, providers)
    write_table(delivery / "facilities.csv", Facility, facilities)
    return count


def _gold_line(made: Injected) -> str:
    row = {
        **json.loads(note_line(made.note)),
        "spans": [[span.start, span.end, span.label.value] for span in made.gold],
        "ways": made.ways,
    }
    return json.dumps(row, ensure_ascii=False) + "\n"
