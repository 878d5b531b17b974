"""What is read of a refresh while it runs: a line a step where there is no terminal, and how long the rest takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from io import StringIO
from types import SimpleNamespace

import dagster as dg
import pytest
from rich.console import Console

from deid_platform.corpora import Role
from deid_platform.corpora.files import FilesFeed
from deid_platform.errors import Code, DeidError
from deid_platform.main_job.progress import TimeLeft, watched, weights
from deid_platform.notes import Delivery

FIRST, SECOND = Delivery("hospital", "2026-01-05"), Delivery("hospital", "2026-01-12")


@dg.op
def source__raw_notes() -> None:
    """A step."""


@dg.op
def deid__redacted_notes() -> None:
    """Another."""


@dg.job(executor_def=dg.in_process_executor)
def two_steps() -> None:
    source__raw_notes()
    deid__redacted_notes()


def said(console: Console) -> str:
    """What a run of both steps shows."""
    with dg.DagsterInstance.ephemeral() as instance:
        run_id = "00000000-0000-4000-8000-000000000001"
        with watched(two_steps, instance, run_id, FIRST.key, console):
            assert two_steps.execute_in_process(instance=instance, run_id=run_id).success
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_without_a_terminal_each_step_is_a_line_as_it_begins() -> None:
    lines = said(Console(file=StringIO(), width=200)).splitlines()
    assert [line.rsplit("  ", 1)[0] for line in lines] == [
        "hospital@2026-01-05  1 of 2  deid/redacted_notes",
        "hospital@2026-01-05  2 of 2  source/raw_notes",
    ]
    assert all(re.search(r"  \d+ s$", line) for line in lines)


def test_at_a_terminal_there_is_a_bar_and_nothing_is_left_of_it() -> None:
    shown = said(Console(file=StringIO(), width=200, force_terminal=True))
    assert "\x1b[2K" in shown
    assert " of 2  " not in shown


def test_the_time_left_goes_by_how_much_there_is_to_read() -> None:
    now = [0.0]
    left = TimeLeft({FIRST: 1_320, SECOND: 220}, clock=lambda: now[0])
    now[0] = 34 * 60.0
    left.through(FIRST)
    assert str(left) == "1 of 2 deliveries; about 6 min left"


def site(held: Mapping[Delivery, int], reader: object) -> SimpleNamespace:
    """An installation whose store holds so many rows of some deliveries."""
    rows = {delivery.key: SimpleNamespace(rows=count) for delivery, count in held.items()}
    return SimpleNamespace(store=SimpleNamespace(manifest=lambda _, key: rows.get(key)), reader=lambda name: reader)


@pytest.fixture
def feed(tmp_path) -> FilesFeed:
    for delivery, size in ((FIRST, 600), (SECOND, 100)):
        folder = tmp_path / delivery.watermark
        folder.mkdir()
        (folder / "notes.jsonl").write_bytes(b"x" * size)
        (folder / "patients.csv").write_bytes(b"x" * 10_000)
    return FilesFeed("hospital", tmp_path)


def test_deliveries_that_were_taken_in_before_weigh_by_their_rows(feed) -> None:
    assert weights(site({FIRST: 9, SECOND: 2}, feed), [FIRST, SECOND]) == {FIRST: 9, SECOND: 2}


def test_new_ones_weigh_by_their_files_of_notes(feed) -> None:
    assert len(feed.files(FIRST, Role.NOTES)) == 1
    assert weights(site({FIRST: 9}, feed), [FIRST, SECOND]) == {FIRST: 600, SECOND: 100}


def test_where_nobody_knows_each_weighs_the_same(feed) -> None:
    gone = Delivery("hospital", "2026-02-02")
    with pytest.raises(DeidError) as refused:
        feed.files(gone, Role.NOTES)
    assert refused.value.code is Code.FEED_UNREADABLE
    assert weights(site({}, feed), [FIRST, gone]) == {FIRST: 1, gone: 1}
    assert weights(site({}, object()), [FIRST, SECOND]) == {FIRST: 1, SECOND: 1}
