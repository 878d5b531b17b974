"""A small installation of which notes are drawn and marked, to make a model its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from small_feed import taken_in

from deid_platform.bench.gate import measured_notes
from deid_platform.notes import Delivery
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings

KINDS = ("progress note", "discharge summary")
PATIENTS = 30
SEEN = "Seen by Quillfeather on 3/14/2019."
ODD = "rv w Quillfeather, hx per Vaskhale"
"""Names that nothing introduces: of such a line a model is less sure than of a plain one."""

MARKED = {"DOCTOR": "Quillfeather|Vaskhale", "DATE": "3/14/2019"}


def notes_of_feed() -> list[dict[str, str]]:
    return [
        {
            "note_id": f"n{number}",
            "patient_id": f"p{number}",
            "note_type": KINDS[number % 2],
            "text": f"{ODD if number % 5 == 0 else SEEN} Case {number}.",
        }
        for number in range(PATIENTS)
    ]


@pytest.fixture
def drawing_site(installation_without_warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """An installation whose sample is of a few of its notes."""
    config = tmp_path / "deid.toml"
    text = installation_without_warehouse.read_text().replace('"rules"', '"ensemble"')
    config.write_text(text.replace("[bench]\n", "[bench]\nsize = 4\nminimum_per_group = 2\n"))
    folder = tmp_path / "deliveries" / "2026-01-05"
    folder.mkdir(parents=True)
    (folder / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in notes_of_feed()))
    monkeypatch.setenv("DEID_CONFIG", str(config))
    made = Site(load_settings(config))
    taken_in(made, Delivery("hospital", "2026-01-05"))
    measured_notes.build_test_set(made)
    return made


def answered(path: Path, change: Callable[[dict], object] = lambda _: None) -> Path:
    """The tasks of a file as Label Studio gives them back: in each, names and dates are marked."""
    tasks = json.loads(path.read_text(encoding="utf-8"))
    for number, task in enumerate(tasks, start=1):
        task["id"] = number
        values = [
            {"start": m.start(), "end": m.end(), "text": m.group(), "labels": [label]}
            for label, pattern in MARKED.items()
            for m in re.finditer(pattern, task["data"]["text"])
        ]
        result = [{"type": "labels", "from_name": "label", "to_name": "text", "value": value} for value in values]
        task["annotations"] = [{"completed_by": 1, "was_cancelled": False, "result": result}]
        change(task)
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path
