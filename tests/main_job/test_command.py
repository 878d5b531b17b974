"""The main job as an operator runs it: `deid refresh`, on a synthetic hospital, in a process of its own.

Slow: it loads Dagster, Great Expectations and dbt, three times.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from looks import looked
from tutorials import page, walk

from deid_platform.corpora.hospital import HospitalSpec, write
from deid_platform.keys import plain_digest
from deid_platform.settings import load_settings
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

pytestmark = pytest.mark.slow

DEID = Path(sys.executable).with_name("deid")
WAIVABLE = ("parity", "leaks", "bench", "topics", "languages", "site_gold", "expectations")
"""Requirements of the gate, which fail as steps of the job do."""


def deid(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200", "TERM": "dumb"}
    return subprocess.run([str(DEID), *arguments], capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module")
def first(installation: Path) -> subprocess.CompletedProcess[str]:
    """The first refresh: two deliveries of a small hospital, with a patient and a bad row of our own among them."""
    root = installation.parent
    write(HospitalSpec(notes=60), feed_root=root / "deliveries", gold_root=root / "gold")
    folder = root / "deliveries" / "2026-01-05"
    (folder / "patients-2.csv").write_text("patient_id,first_name,last_name\nOURS,Xylophrast,Zebulonquist\n")
    notes = [
        {"note_id": "ours-1", "patient_id": "OURS", "text": "Xylophrast Zebulonquist is well."},
        {"note_id": "ours-2", "patient_id": "OURS", "text": ""},
    ]
    (folder / "notes-2.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))
    return deid("refresh")


def test_both_deliveries_are_promoted(first: subprocess.CompletedProcess[str]) -> None:
    assert first.returncode == 0, first.stdout + first.stderr
    assert re.findall(r"^hospital@(\S+): (\w+)", first.stderr, re.M) == [
        ("2026-01-05", "promoted"),
        ("2026-01-12", "promoted"),
    ]


@pytest.mark.parametrize(
    "said",
    [
        r"gate profile\s+demo",
        r"notes in research\s+\d+",
        r"notes in\s+\d+",
        r"rows refused\s+1",
        r"redacted\s+\d+",
        r"quarantined\s+",
        r"words/s\s+[\d,]+",
        r"precision\s+0\.\d{3} \(0\.\d{3} to [01]\.\d{3}\)",
        r"recall\s+0\.\d{3} \(0\.\d{3} to [01]\.\d{3}\)",
        r"F1\s+0\.\d{3}",
        r"(?i)measured on\s+\d+ notes of demonstration data",
        r"0 found in what was staged",
        r"deid db psql \(as the analyst",  # no Makefile lies beside its deid.toml
        r"browse lineage\s+deid ui",
    ],
)
def test_the_summary_tells_a_newcomer_what_happened(first: subprocess.CompletedProcess[str], said: str) -> None:
    assert re.search(said, first.stdout), first.stdout


def test_the_analyst_reads_redacted_notes_and_the_mart(
    first: subprocess.CompletedProcess[str], warehouse: Warehouse
) -> None:
    with warehouse.begin(Role.DEMO_ANALYST) as connection:
        texts = connection.exec_driver_sql("SELECT text FROM research.notes").scalars().all()
        shown = connection.exec_driver_sql("SELECT count(*) FROM marts.note_profile").scalar_one()
    assert "[PATIENT] is well." in texts
    assert shown > 1


def test_the_checks_hold_figures_and_thresholds_as_numbers_that_dagster_plots(
    first: subprocess.CompletedProcess[str], installation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = load_settings(installation).home_path / "dagster"
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with dg.DagsterInstance.from_config(str(home)) as instance:
        checks = {
            name: instance.event_log_storage.get_latest_asset_check_execution_by_key(
                [dg.AssetCheckKey(dg.AssetKey(["gate", "delivery"]), name)]
            )
            for name in ("gate_bench", "gate_leaks")
        }
    shown = {name: next(iter(found.values())).event.asset_check_evaluation.metadata for name, found in checks.items()}
    assert shown["gate_leaks"]["value"] == shown["gate_leaks"]["threshold"] == dg.MetadataValue.float(0.0)
    assert isinstance(shown["gate_bench"]["conservative recall (lower end)"], dg.FloatMetadataValue)
    assert shown["gate_bench"]["may be waived by"] == dg.MetadataValue.text("nobody")
    assert shown["gate_bench"]["precision: threshold"] == dg.MetadataValue.float(0.65)


# The UI shows longer Markdown behind a link only.
SHOWN_IN_PLACE = 1000


def test_the_tables_that_an_operator_wants_first_are_shown_in_place(
    first: subprocess.CompletedProcess[str], installation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = load_settings(installation).home_path / "dagster"
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with dg.DagsterInstance.from_config(str(home)) as instance:
        release, metrics, test_set, notes = (
            instance.get_latest_materialization_event(dg.AssetKey(key.split("/"))).asset_materialization.metadata
            for key in ("research/release", "bench/metrics", "bench/test_set", "source/raw_notes")
        )
    tables = [release["deliveries"], release["scores"], metrics["scores"], test_set["sampled_of_population"]]
    assert [table.value for table in tables if len(table.value) >= SHOWN_IN_PLACE] == []
    assert "| hospital@2026-01-12 |" in release["deliveries"].value
    assert re.fullmatch(r"\d+ notes of demonstration data, with its own topics .*", metrics["gold"].value)
    assert 0 < metrics["recall_with_topics"].value <= 1
    assert "| text alone | recall |" in metrics["scores"].value
    assert notes["rows_refused"].value >= 0


def test_a_second_refresh_does_nothing_that_is_done_even_if_it_reads_all_files(
    first: subprocess.CompletedProcess[str],
) -> None:
    again = deid("refresh", "--reread")
    assert again.returncode == 0
    assert re.findall(r"^hospital@(\S+): (\w+)", again.stderr, re.M) == [
        ("2026-01-05", "unchanged"),
        ("2026-01-12", "unchanged"),
    ]


def test_a_delivery_that_changed_runs_alone_and_costs_only_its_changes(
    first: subprocess.CompletedProcess[str], installation: Path
) -> None:
    folder = installation.parent / "deliveries" / "2026-01-12"
    (folder / "notes-2.jsonl").write_text('{"note_id": "late", "text": "BP 120/80."}\n')
    again = deid("refresh")
    assert again.returncode == 0, again.stderr
    assert re.findall(r"^hospital@(\S+): (\w+)", again.stderr, re.M) == [
        ("2026-01-12", "promoted"),
        ("2026-01-05", "unchanged"),
    ]
    assert "from cache" in again.stdout


def test_a_refused_delivery_is_told_by_its_requirements_and_the_exit_status(
    first: subprocess.CompletedProcess[str], installation: Path
) -> None:
    text = installation.read_text()
    thresholds = "\n[profiles.demo]\nmin_recall = 1.0\nmin_precision = 1.0\nmin_clinical_retention = 1.0\n"
    installation.write_text(text + thresholds)
    try:
        refused = deid("refresh", "--delivery", "hospital@2026-01-12", "--force")
    finally:
        installation.write_text(text)
    assert refused.returncode == 1
    assert "gate-refused [hospital@2026-01-12: bench failed (conservative recall (lower end) 0." in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "failed: bench" in refused.stdout
    assert "`deid gate hospital@2026-01-12`" in refused.stdout


def test_a_waiver_promotes_what_is_staged_and_nothing_is_measured_again(
    first: subprocess.CompletedProcess[str], installation: Path, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = installation.read_text()
    least = "\n[profiles.production]\nmin_recall = 0.1\nmin_precision = 0.1\nmin_clinical_retention = 0.1\n"
    delivery = "hospital@2026-01-12"
    later = str(datetime.now(tz=UTC).date() + timedelta(days=90))
    configure(warehouse.admin_engine(), "production")
    production = text.replace('"demo"', '"production"').replace("minimum_gold = 1\n", "minimum_gold = 5000\n")
    installation.write_text(production + least)
    try:
        refused = deid("refresh", "--delivery", delivery, "--force")
        named = [name for name in re.findall(r"(\w+) failed \(", refused.stderr) if name in WAIVABLE]
        waived = deid("waive", delivery, *named, "--who", "A. Officer", "--why", "gold follows", "--until", later)
        promoted = deid("refresh", "--delivery", delivery)
    finally:
        installation.write_text(text)
        configure(warehouse.admin_engine(), "demo")
    assert refused.returncode == 1 and "site_gold" in named, refused.stderr
    assert f"next: deid refresh --delivery {delivery}" in waived.stderr
    assert promoted.returncode == 0, promoted.stderr
    assert f"{delivery}: what is missing was waived; what is staged and measured is promoted" in promoted.stderr
    home = load_settings(installation).home_path / "dagster"
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    with dg.DagsterInstance.from_config(str(home)) as instance:
        run, *_ = instance.get_runs(dg.RunsFilter(tags={"dagster/partition": delivery}), limit=1)
        steps = {stats.step_key for stats in instance.get_run_step_stats(run.run_id)}
    assert run.is_success
    assert "research__note_version" in steps and "research__dossier" in steps
    assert not [step for step in steps if step.split("__")[0] in ("source", "deid", "bench", "gate")]


def test_the_doctor_finds_all_well(first: subprocess.CompletedProcess[str]) -> None:
    examined = deid("doctor")
    assert examined.returncode == 0, examined.stdout
    assert re.search(r"yes\s+warehouse", examined.stdout)


# After what counts the deliveries, since the tutorials make two more.


@pytest.fixture(scope="module")
def reader(first: subprocess.CompletedProcess[str], installation: Path) -> Path:
    """The folder of somebody who walks the tutorials: that of a demonstration."""
    folder = installation.parent / "reader"
    (folder / ".deid").mkdir(parents=True)
    (folder / ".deid" / "deliveries").symlink_to(installation.parent / "deliveries")
    return folder


def test_the_tutorial_shows_the_lines_that_a_summary_has(first: subprocess.CompletedProcess[str]) -> None:
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page("first-delivery.md"), re.MULTILINE | re.DOTALL)
    lines = [line for line in shown.splitlines() if re.search(r"\S  +\S", line)]
    assert len(lines) > 30
    assert [name for line in lines if (name := re.split(r"  +", line.strip())[0]) not in first.stdout] == []


def test_the_tutorial_of_the_first_delivery(reader: Path) -> None:
    before, _, checked, refreshed, read, withdrawn, examined = walk("first-delivery.md", reader)
    assert "gate profile demo" in before
    assert re.search(r"yes\s+warehouse", examined)
    assert "exit status 3" in checked
    assert "empty_text" in checked
    assert "hospital@2026-01-19: promoted" in refreshed
    assert "[PATIENT]" in read
    assert "Sinemet 25/100 three times a day" in read
    assert not re.search("Brennick|Edgar|4471902|03/28", read)
    assert re.search(r"withdrawn: [1-9]", withdrawn)
    assert re.search(r"^ +0$", withdrawn, re.MULTILINE)


def test_the_tutorial_of_the_first_cohort(reader: Path) -> None:
    _, with_the_word, around, without_relatives, scores, extracted, read = walk("first-cohort.md", reader)
    (patients,) = re.findall(r"\| +(\d+)$", with_the_word, re.MULTILINE)
    (cohort,) = re.findall(r"^ +(\d+)$", without_relatives, re.MULTILINE)
    assert 0 < int(cohort) < int(patients)
    assert "mother had diabetes" in around.lower()
    assert "recall" in scores
    assert "stands" in extracted
    assert re.search(r"^\d+ notes, [1-9]\d* patients$", read, re.MULTILINE)


def test_the_tutorial_of_the_decision(reader: Path) -> None:
    written, gate, key, signed, determined = walk("decide.md", reader)
    assert written.rstrip().endswith(".html")
    assert "gate profile demo" in gate
    assert "public key" in key
    assert re.search(r"unfit, by A\. Officer", signed)
    assert "unfit" in determined


@pytest.mark.thorough
def test_figures_that_came_without_a_delivery_reach_the_marts(
    first: subprocess.CompletedProcess[str], warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DEID_CORPORA", str(tmp_path))
    gatekeeper, digest = warehouse.engine(Role.GATEKEEPER), plain_digest("pydeid")
    look = looked(gatekeeper, digest, gold="asq_phi", locale="hi", purpose=Purpose.COMPARE)
    on = MeasuredOn("pydeid", digest, "asq_phi", "text", locale="hi", look=look)
    record_lab_scores(gatekeeper, on, [LabScore("words", "recall", 0.5, n=1000)])
    done = deid("bench")
    assert done.returncode == 0, done.stderr
    assert "asq_phi" in done.stderr  # left out: it is not there
    assert "marts.leaderboard" in done.stderr
    with warehouse.begin(Role.DEMO_ANALYST) as connection:
        found = (
            connection.exec_driver_sql("SELECT recall FROM marts.leaderboard WHERE gold = 'asq_phi'").scalars().all()
        )
    assert found == [0.5]
