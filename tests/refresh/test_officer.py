"""The privacy officer's commands, as a person types them, on an installation with two notes in research."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deid_platform.cli import app
from deid_platform.warehouse.projects import projects
from deid_platform.warehouse.queries import ledger
from deid_platform.warehouse.roles import Role

DEID = Path(sys.executable).with_name("deid")
LEAK = "Keeps bees with quorvex on Sundays."


def deid(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200", "TERM": "dumb"}
    return subprocess.run([str(DEID), *arguments], capture_output=True, text=True, check=False, env=environment)


@pytest.fixture(scope="module", autouse=True)
def published(site, deliver, through) -> None:
    notes = [{"note_id": "1", "text": LEAK}, {"note_id": "2", "text": "Bees again, with QUORVEX."}]
    through(deliver("2026-01-05", notes=notes), site)


def seen(site) -> list[str]:
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        return list(connection.exec_driver_sql("SELECT text FROM research.notes ORDER BY 1").scalars())


def test_the_list_of_releases_names_detector_policy_and_state(site) -> None:
    listed = deid("release", "list")
    assert listed.returncode == 0, listed.stderr
    (line,) = [line for line in listed.stdout.splitlines() if site.release in line]
    assert {"active", "rules", "safe_harbor_plus_providers", "2"} <= set(line.split())


def test_one_release_shows_what_happened_to_it(site) -> None:
    shown = deid("release", "show", site.release).stdout
    for said in (site.policy.digest, "staged hospital@2026-01-05", "approved 2", "activated"):
        assert said in shown
    record = json.loads(deid("release", "show", site.release, "--json").stdout)
    assert (record["release"], record["policy_digest"], record["notes"]) == (site.release, site.policy.digest, 2)
    assert "activated" in {entry["event"] for entry in record["ledger"]}


def test_without_an_earlier_release_there_is_no_way_back() -> None:
    refused = deid("release", "rollback", "--who", "A. Officer", "--why", "the doses are gone")
    assert refused.returncode == 1
    assert "release-unknown [previous]" in refused.stderr


def test_a_release_does_not_differ_from_itself_and_one_that_is_none_is_refused(site) -> None:
    same = deid("release", "diff", site.release, site.release)
    assert same.returncode == 0
    assert "hospital@2026-01-05" in same.stdout
    assert deid("release", "diff", site.release, "r_none").returncode == 1


def test_the_notes_of_a_release_are_for_analysts_and_quote_no_note(site) -> None:
    told = deid("release", "notes")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(f"# Release {site.release}\n\nThe first release.")
    assert "| hospital | 1 | hospital@2026-01-05 |" in told.stdout
    assert "| policy | safe_harbor_plus_providers |" in told.stdout
    assert re.search(r"^\| the synthetic hospital.*, with topics \| recall \| 0\.\d{3} \(", told.stdout, re.M)
    assert "progress note" not in told.stdout  # two are too few to show
    assert "quorvex" not in told.stdout.lower()
    assert "release-unknown" in deid("release", "notes", "r_none").stderr


@pytest.fixture(scope="module")
def sepsis(site) -> Iterator[None]:
    """A project with a grant and a member, as README makes one."""
    made = [
        deid("project", "set", "sepsis", "--purpose", "outcomes of sepsis", "--until", "2099-06-30"),
        deid("project", "grant", "sepsis", "--site", "north", "--note-type", "progress note"),
        deid("db", "login", "jdoe"),
        deid("project", "member", "sepsis", "jdoe"),
    ]
    assert [done.returncode for done in made] == [0, 0, 0, 0], [done.stderr for done in made]
    yield
    with site.warehouse.administer() as connection:
        connection.exec_driver_sql("DROP ROLE jdoe")


def test_projects_are_made_granted_and_listed(sepsis) -> None:
    (line,) = [line for line in deid("project", "list").stdout.splitlines() if "sepsis" in line]
    assert all(part in line for part in ("outcomes of sepsis", "2099-06-30", "north, progress note", "jdoe"))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "grant sepsis --note-type progres_note",
            "grant-unknown [--note-type: did you mean progress note? known: disch",
        ),
        ("grant sepsis --site nroth", "grant-unknown [--site: did you mean north? known: north]"),
        (
            "grant sepsis --site north --remove",
            "grant-unknown [sepsis may read (site, note type): north progress note]",
        ),
        ("grant sepsys", "project-unknown [did you mean sepsis? known: demonstration, sepsis]"),
        ("member sepsis jode", "member-unknown [did you mean jdoe?]"),
        ("member sepsis loader", "member-unknown [no name like it]"),
        ("member sepsis jode --remove", "member-unknown [did you mean jdoe? known: jdoe]"),
        ("delete sepsys --who Officer --why over-and-done-with", "project-unknown [did you mean sepsis?"),
        ("delete sepsis --who Officer --why over", "waiver-invalid [reason]"),
    ],
)
def test_a_project_that_is_mistyped_is_refused_with_what_was_meant(site, sepsis, command, said) -> None:
    before = projects(site.warehouse.engine(Role.OFFICER))
    assert said in str(CliRunner().invoke(app, ["project", *command.split()]).exception)
    assert projects(site.warehouse.engine(Role.OFFICER)) == before


def test_a_note_type_that_notes_have_can_be_granted_though_no_feed_names_it_any_more(site, sepsis) -> None:
    renamed = site.settings.root / "renamed.toml"
    renamed.write_text((site.settings.root / "deid.toml").read_text().replace('"progress note", ', ""))
    grant = ["project", "grant", "sepsis", "--note-type", "progress note", "--config", str(renamed)]
    for more in ([], ["--remove"]):
        done = CliRunner().invoke(app, [*grant, *more])
        assert done.exit_code == 0, done.exception


def test_a_project_is_deleted_and_the_ledger_keeps_what_it_was(site, sepsis) -> None:
    done = deid("project", "delete", "sepsis", "--who", "A. Officer", "--why", "the study is over")
    assert done.returncode == 0, done.stderr
    assert "sepsis deleted" in done.stderr
    assert "sepsis" not in deid("project", "list").stdout
    *_, revoked, left, deleted = ledger(site.warehouse.engine(Role.OFFICER))
    assert (revoked.event, revoked.requirements) == ("project-revoked", ("sepsis", "north", "progress note"))
    assert (left.event, left.who) == ("project-left", "jdoe")
    assert (deleted.event, deleted.requirements) == ("project-deleted", ("sepsis", "outcomes of sepsis", "2099-06-30"))
    assert (deleted.who, deleted.reason) == ("A. Officer", "the study is over")


def test_reads_are_listed_newest_first(site) -> None:
    seen(site)
    first = deid("project", "accesses", "--login", "demo_analyst").stdout.splitlines()[1]
    assert all(part in first for part in ("demo_analyst", "research.notes", site.release, "demonstration"))


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"--span": "sixteen"}, "finding-invalid [span]"),
        ({"--span": "90:99"}, "finding-invalid [span]"),
        ({"--label": "NOBODY"}, "label-unknown [--label]"),
        ({"key": "n_none"}, "finding-invalid [no such note]"),
    ],
    ids=["no span", "beyond the text", "no label", "no note"],
)
def test_a_report_of_nothing_is_refused_by_its_code(site, wrong, code) -> None:
    given = {
        "key": site.note_key("hospital", "1"),
        "--span": "16:23",
        "--label": "PATIENT",
        "--who": "A. Reader",
        **wrong,
    }
    key = given.pop("key")
    refused = deid("retract", key, *(part for option in given.items() for part in option))
    assert refused.returncode == 1
    assert code in refused.stderr
    assert len(seen(site)) == 2


def test_a_reported_leak_is_hidden_counted_and_never_printed(site) -> None:
    key = site.note_key("hospital", "1")
    done = deid("retract", key, "--span", "16:23", "--label", "PATIENT", "--who", "A. Reader")
    assert done.returncode == 0, done.stderr
    assert "2 notes hidden; it stands in 1 other notes" in done.stderr
    assert "quorvex" not in (done.stdout + done.stderr).lower()
    assert seen(site) == []
    assert "retracted" in deid("release", "show", site.release).stdout
