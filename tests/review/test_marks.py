"""What a reviewer marks as missed in a released note waits for an officer, who hides the note or says why it stays."""

from __future__ import annotations

import json
import os

import pytest
from command_line import deid
from small_feed import run, through
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.oversight.dossier_entries import gathered
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging.findings import report, withdraw
from deid_platform.refresh.staging.marks import name_marked_notes
from deid_platform.refresh.staging.stage import stage_delivery, stage_withdrawals
from deid_platform.reports.dossier import verdict
from deid_platform.review.annotation.rounds import Role
from deid_platform.review.decisions import Severity, enter
from deid_platform.review.missed import Mark, mark
from deid_platform.review.rounds import removals_of_round, rounds, start
from deid_platform.review.sources import Source
from deid_platform.settings import load_settings
from deid_platform.warehouse.gate.queries import ledger
from deid_platform.warehouse.officer.marks import dismiss_mark, open_marks
from deid_platform.warehouse.officer.releases import release
from deid_platform.warehouse.server.roles import Role as Database

__all__ = ["run", "through"]
TEXT = "Keeps bees with quorvex. Call 212-555-0147 in doubt."
WHY = "the name of a plant, not of a person"


@pytest.fixture(scope="module")
def reviewed_delivery(site, deliver, run):
    """Two notes in research, of which a round shows the first words whole."""
    delivery = deliver("2026-05-04", notes=[{"note_id": name, "text": f"{TEXT} {name}."} for name in ("m1", "m2")])
    run(delivery, site)
    return delivery


@pytest.fixture
def drawn(site, reviewed_delivery):
    """The number of a round of both notes, and its removals by note; what was marked before is dismissed."""
    for it in open_marks(site.warehouse.engine(Database.OFFICER)):
        dismiss_mark(site.warehouse.engine(Database.OFFICER), it.missed, it.note_key, who="A. Officer", reason=WHY)
    if not rounds(site.store):
        start(site, 9, whole_notes=True, source=Source(reviewed_delivery.key))
    return {it.note_id: it for it in removals_of_round(site, 1).values()}


def marked(site, removal, words="quorvex", *, role=Role.A, label=Label.PATIENT):
    begin = removal.text.index(words)
    mark(site, 1, role, [Mark(removal.removal, begin, begin + len(words), label, label and Severity.HIGH)])
    enter(site, 1)


def waiting(site):
    return [(it.note_key, it.label) for it in open_marks(site.warehouse.engine(Database.OFFICER))]


def stands(site):
    return verdict(gathered(site, release(site.warehouse.engine(Database.OFFICER), site.release))).against


def test_a_mark_in_a_released_note_is_listed_without_its_text_until_it_is_dismissed(site, drawn):
    assert not any("marked" in it for it in stands(site))
    marked(site, drawn["m1"])
    said = deid("finding", "marks", "--json")
    (row,) = map(json.loads, said.stdout.splitlines())
    key = site.note_key("hospital", "m1")
    assert (row["note_key"], row["label"], row["severity"], row["role"]) == (key, "PATIENT", "high", "A")
    assert (row["analysts_see_it"], row["releases"]) == (True, [site.release])
    assert "quorvex" not in said.stdout + said.stderr and "m1" not in said.stdout
    assert any("marked identifiers" in it for it in stands(site))
    assert "1 in released notes" in deid("summary").stdout
    done = deid("finding", "dismiss", row["mark"], key, "--who", "A. Officer", "--why", WHY)
    assert done.returncode == 0, done.stderr
    assert (waiting(site), deid("finding", "marks").stdout.count(key)) == ([], 0)
    assert not any("marked" in it for it in stands(site))
    entry = [it for it in ledger(site.warehouse.engine(Database.OFFICER)) if it.event == "mark-dismissed"][-1]
    assert (entry.release, entry.who, entry.reason) == (site.release, "A. Officer", WHY)
    again = deid("finding", "dismiss", row["mark"], key, "--who", "A. Officer", "--why", WHY)
    assert "mark-unknown" in again.stderr


def test_a_dismissal_is_of_what_was_marked_before_it(site, drawn):
    marked(site, drawn["m1"], "bees")
    (mine,) = open_marks(site.warehouse.engine(Database.OFFICER))
    dismiss_mark(site.warehouse.engine(Database.OFFICER), mine.missed, mine.note_key, who="A. Officer", reason=WHY)
    marked(site, drawn["m1"], "bees", role=Role.B)
    assert waiting(site) == [(site.note_key("hospital", "m1"), "PATIENT")]
    marked(site, drawn["m1"], "bees", role=Role.B, label=None)
    assert waiting(site) == []


@pytest.mark.parametrize(("who", "why", "ref"), [(" ", WHY, "who"), ("A. Officer", "no", "reason")])
def test_nobody_dismisses_a_mark_without_a_name_and_a_reason(site, drawn, who, why, ref):
    marked(site, drawn["m1"], "Keeps")
    (mine,) = open_marks(site.warehouse.engine(Database.OFFICER))
    with pytest.raises(DeidError) as refused:
        dismiss_mark(site.warehouse.engine(Database.OFFICER), mine.missed, mine.note_key, who=who, reason=why)
    assert (refused.value.code, refused.value.ref) == (Code.WAIVER_INVALID, ref)
    assert waiting(site)
    marked(site, drawn["m1"], "Keeps", label=None)


def test_a_mark_is_dismissed_in_the_note_that_is_named(site, drawn):
    marked(site, drawn["m1"], "Keeps")
    (mine,) = open_marks(site.warehouse.engine(Database.OFFICER))
    for missed, key in ((mine.missed, site.note_key("hospital", "m2")), ("0" * 32, mine.note_key)):
        with pytest.raises(DeidError, match="mark-unknown"):
            dismiss_mark(site.warehouse.engine(Database.OFFICER), missed, key, who="A. Officer", reason=WHY)
    assert waiting(site) == [(mine.note_key, "PATIENT")]
    marked(site, drawn["m1"], "Keeps", label=None)


def test_under_a_new_secret_a_mark_is_of_the_note_under_its_new_key(site, drawn, tmp_path, monkeypatch):
    marked(site, drawn["m2"], "doubt")
    (mine,) = open_marks(site.warehouse.engine(Database.OFFICER))
    former = tmp_path / "former"
    former.write_text(os.environ["DEID_SECRET"])
    monkeypatch.setenv("DEID_SECRET", "7c1e5a90b2d84f6688a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f60718293a4b")
    monkeypatch.setenv("DEID_PREVIOUS_SECRET_FILES", str(former))
    rotated = Site(load_settings(site.settings.root / "deid.toml"))
    name_marked_notes(rotated)  # as a refresh does
    with site.warehouse.begin(Database.OFFICER) as connection:
        keys = connection.execute(text("SELECT note_key FROM ctl.marked_note WHERE missed = :m"), {"m": mine.missed})
        assert set(keys.scalars()) == set(rotated.note_keys("hospital", "m2"))


def test_a_note_that_is_hidden_waits_no_more_and_waits_again_once_it_is_shown(site, drawn):
    marked(site, drawn["m2"])
    key, place = site.note_key("hospital", "m2"), TEXT.index("bees")
    found = report(site, key, place, place + 4, label=Label.PROFESSION, who="A. Reader", hide=1)
    assert waiting(site) == []
    # What was reported is not what was marked.
    for who in ("A. Officer", "B. Officer"):
        withdraw(site, found.number, who=who, reason="bees are no profession")
    assert waiting(site) == [(key, "PATIENT")]


@pytest.mark.parametrize("torn", [f"{tables.REVIEW_MISSED}/1.A", f"{tables.REVIEW_ROUNDS}/1"])
def test_marks_that_cannot_be_read_stop_a_delivery_but_no_withdrawal_and_no_report(
    site, drawn, reviewed_delivery, tmp_path, torn
):
    marked(site, drawn["m1"], "Keeps")
    folder = site.settings.home_path / "store" / torn
    manifest = folder / "manifest.json"
    whole = manifest.read_bytes()
    manifest.write_bytes(whole[:-20])
    with pytest.raises(DeidError) as refused:
        stage_delivery(site, reviewed_delivery, run_id="run")
    assert (refused.value.code, refused.value.ref) == (Code.STORE_TORN, torn)
    assert stage_withdrawals(site, reviewed_delivery, run_id="run") == 0
    key, place = site.note_key("hospital", "m2"), TEXT.index("Keeps")
    found = report(site, key, place, place + 5, label=Label.PROFESSION, who="A. Reader", hide=1)
    for who in ("A. Officer", "B. Officer"):
        withdraw(site, found.number, who=who, reason="Keeps is no profession")
    # Without a backup people delete it, of a round its marks too.
    gone = [folder, *(folder.parents[1] / "missed").glob("1.*")] if "rounds" in torn else [folder]
    for number, each in enumerate(gone):
        each.rename(tmp_path / str(number))
    stage_delivery(site, reviewed_delivery, run_id="run")
    for number, each in enumerate(gone):
        (tmp_path / str(number)).rename(each)
    manifest.write_bytes(whole)
    marked(site, drawn["m1"], "Keeps", label=None)
