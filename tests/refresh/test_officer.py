"""The privacy officer's commands, as a person types them, on an installation with two notes in research."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import deid

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.refresh.installation.reported import newest_known, reported_strings
from deid_platform.refresh.staging import findings as reporting
from deid_platform.warehouse.gate.queries import ledger
from deid_platform.warehouse.officer.findings import findings
from deid_platform.warehouse.readers.projects import projects
from deid_platform.warehouse.server.roles import Role

DEID = Path(sys.executable).with_name("deid")
LEAK = "Keeps bees with quorvex on Sundays."


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
    assert re.search(r"^On notes of the synthetic hospital, with its own topics, marked by .*:$", told.stdout, re.M)
    assert re.search(r"^\| recall \| 0\.\d{3} \(", told.stdout, re.M)
    assert "Recall on this site's notes was not measured." in told.stdout
    assert "progress note" not in told.stdout  # two are too few to show
    assert "quorvex" not in told.stdout.lower()
    assert "release-unknown" in deid("release", "notes", "r_none").stderr


@pytest.fixture(scope="module")
def sepsis(site) -> Iterator[None]:
    """A project with a grant and a member, as docs/own-notes.md makes one."""
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
    assert said in deid("project", *command.split()).stderr
    assert projects(site.warehouse.engine(Role.OFFICER)) == before


def test_a_note_type_that_notes_have_can_be_granted_though_no_feed_names_it_any_more(site, sepsis) -> None:
    renamed = site.settings.root / "renamed.toml"
    renamed.write_text((site.settings.root / "deid.toml").read_text().replace('"progress note", ', ""))
    grant = ["project", "grant", "sepsis", "--note-type", "progress note", "--config", str(renamed)]
    for more in ([], ["--remove"]):
        done = deid(*grant, *more)
        assert done.returncode == 0, done.stderr


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
        ({"--span": None}, "finding-invalid [--span or --whole]"),
        ({"--label": "NOBODY"}, "label-unknown [--label]"),
        ({"key": "n_none"}, "finding-invalid [no such note]"),
    ],
    ids=["no place", "beyond the text", "no span", "no label", "no note"],
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
    refused = deid("retract", key, *(part for option in given.items() if option[1] for part in option))
    assert refused.returncode == 1
    assert code in refused.stderr
    assert len(seen(site)) == 2


def test_a_reported_leak_is_hidden_counted_and_never_printed(site, tmp_path) -> None:
    key = site.note_key("hospital", "1")
    assert deid("extract", "demonstration", "--to", str(tmp_path / "out")).returncode == 0
    done = deid("retract", key, "--span", "16:23", "--label", "PATIENT", "--who", "A. Reader")
    assert done.returncode == 0, done.stderr
    assert "2 notes hidden; the string is in 2 of 2 notes (100.0%), in 1 release" in done.stderr
    assert "extracts that hold what is hidden now: 1 (`deid extract list`)" in done.stderr
    assert "quorvex" not in (done.stdout + done.stderr).lower()
    assert "extract-stale" in {entry.event for entry in ledger(site.warehouse.engine(Role.OFFICER))}
    assert seen(site) == []
    assert "retracted" in deid("release", "show", site.release).stdout


# A word that stands in many notes

WOUND = [f"Wound {n} is clean." for n in range(12)]
REST = [f"Sleeps well, {n} pillows." for n in range(12)]


@pytest.fixture(scope="module")
def many(site, deliver):
    """A delivery of 24 notes, half of which hold the word wound."""
    return deliver("2026-01-06", notes=[{"note_id": f"w{n}", "text": said} for n, said in enumerate(WOUND + REST)])


@pytest.fixture(scope="module")
def wound(site, through, many) -> tuple[str, ...]:
    """The report of the word wound as a name, after the delivery was published."""
    through(many, site)
    key = site.note_key("hospital", "w0")
    return ("retract", key, "--span", "0:5", "--label", "PATIENT", "--who", "A. Reader")


def numbers(site) -> list[int]:
    return [found.number for found in findings(site.warehouse.engine(Role.OFFICER))]


def test_a_dry_run_tells_how_many_notes_would_be_hidden_and_hides_none(site, wound) -> None:
    before, known = numbers(site), newest_known(site.store)
    done = deid(*wound, "--dry-run")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "would hide 12 of 26 notes (46.2%), in 1 release; a string of 5 characters"
    assert "more than 10 notes" in second
    assert deid(*wound, "--dry-run", "--hide", "12").stdout.splitlines() == [first]
    assert len(seen(site)) == 24
    assert (numbers(site), newest_known(site.store)) == (before, known)
    assert "wound" not in (done.stdout + done.stderr).lower()


def test_without_a_terminal_a_common_word_is_refused_and_the_reported_note_is_hidden_all_the_same(site, wound) -> None:
    refused = deid(*wound)
    (number,) = numbers(site)[1:]
    assert f"finding-common [finding {number}: 12 of 26 notes]" in refused.stderr
    assert "1 note hidden; the string is in 12 of 26 notes (46.2%), in 1 release" in refused.stderr
    assert len(seen(site)) == 23
    assert "finding-common" in deid(*wound, "--hide", "11").stderr
    assert len(seen(site)) == 23
    assert reported_strings(site.store) == ("quorvex",)


def at_a_terminal(answer: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command with somebody at its standard input who answers so."""
    asked, terminal = pty.openpty()
    try:
        os.write(asked, f"{answer}\n".encode())
        return subprocess.run(
            [str(DEID), *arguments], stdin=terminal, capture_output=True, text=True, check=False, timeout=300
        )
    finally:
        os.close(asked)
        os.close(terminal)


def test_at_a_terminal_it_asks_and_after_a_no_the_others_stay(site, wound) -> None:
    done = at_a_terminal("n", *wound)
    assert done.returncode == 0, done.stderr
    assert "the reported note is hidden; the string is in 12 of 26 notes" in " ".join(done.stderr.split())
    assert "hide all 12 notes? [y/N]" in done.stderr
    assert len(seen(site)) == 23


def test_after_a_yes_all_are_hidden_and_the_string_is_sought(site, wound) -> None:
    done = at_a_terminal("y", *wound)
    assert done.returncode == 0, done.stderr
    assert "12 notes hidden" in done.stderr
    assert len(seen(site)) == 12
    assert reported_strings(site.store) == ("Wound", "quorvex")
    assert "wound" not in (done.stdout + done.stderr).lower()


def test_findings_are_listed_without_their_strings(site, wound) -> None:
    *_, last = (json.loads(line) for line in deid("finding", "list", "--json").stdout.splitlines())
    assert last["finding"] == numbers(site)[-1]
    assert {**last, "finding": 0, "when": ""} == {
        "finding": 0,
        "note_key": wound[1],
        "label": "PATIENT",
        "who": "A. Reader",
        "when": "",
        "notes_hidden": 12,
        "state": "in force",
        "withdrawn_by": [],
        "reasons": [],
    }
    plain = deid("finding", "list").stdout
    assert len(plain.splitlines()) == 1 + len(numbers(site))
    assert "wound" not in plain.lower()
    assert "quorvex" not in plain.lower()


def test_a_common_word_that_was_reported_holds_its_delivery_up_until_two_people_withdraw_the_finding(
    site, wound, many, through
) -> None:
    with pytest.raises(DeidError, match=r"gate-refused.*expectations"):
        through(many, site)
    number = numbers(site)[-1]
    withdraw = ("finding", "withdraw", str(number), "--why", "it is a common word", "--who")
    proposed = deid(*withdraw, "A. Officer")
    assert proposed.returncode == 0, proposed.stderr
    assert f'by somebody else: deid finding withdraw {number} --who "NAME" --why "REASON"' in proposed.stderr
    assert f"second-person [finding {number}]" in deid(*withdraw, "a. officer").stderr
    assert "Wound" in reported_strings(site.store)
    done = deid(*withdraw, "B. Officer")
    assert done.returncode == 0, done.stderr
    assert f"finding {number} withdrawn: " in done.stderr
    assert reported_strings(site.store) == ("quorvex",)
    assert newest_known(site.store) == number
    assert "finding-unknown" in deid(*withdraw, "C. Officer").stderr
    *_, last = (json.loads(line) for line in deid("finding", "list", "--json").stdout.splitlines())
    assert (last["state"], last["withdrawn_by"]) == ("withdrawn", ["A. Officer", "B. Officer"])
    assert through(many, site).outcome == "promoted"
    assert seen(site) == sorted(WOUND + REST)


def test_what_is_withdrawn_while_nothing_was_made_anew_is_shown_at_once(site, wound) -> None:
    assert deid(*wound, "--hide", "12").returncode == 0
    assert len(seen(site)) == 12
    number = str(numbers(site)[-1])
    for who in ("A. Officer", "B. Officer"):
        done = deid("finding", "withdraw", number, "--who", who, "--why", "it is a common word")
    assert "12 notes shown again" in done.stderr
    assert seen(site) == sorted(WOUND + REST)


# Reports without a string


def test_a_whole_note_is_reported_without_its_words(site) -> None:
    key = site.note_key("hospital", "1")
    said = ("--whole", "--label", "PATIENT", "--who", "A. Reader")
    assert "finding-invalid [--span or --whole]" in deid("retract", key, *said, "--span", "16:23").stderr
    assert "finding-invalid [--span or --whole]" in deid("retract", key, *said, "--dry-run").stderr
    done = deid("retract", key, *said)
    assert done.returncode == 0, done.stderr
    assert "the note is hidden until two people withdraw the finding" in done.stderr
    assert newest_known(site.store) == numbers(site)[-1]


def test_who_has_no_login_that_reads_strings_reports_all_the_same(site, monkeypatch) -> None:
    def refused(*_: object) -> None:
        raise DeidError(Code.WAREHOUSE_LOGIN, "gatekeeper")

    monkeypatch.setattr(reporting, "reported_since", refused)
    key = site.note_key("hospital", "1")
    done = reporting.report(site, key, 16, 23, label=Label.PATIENT, who="A. Reader")
    assert done.number == numbers(site)[-1] > newest_known(site.store)
    monkeypatch.undo()
    assert reporting.learn(site) == 1  # as the next run does
