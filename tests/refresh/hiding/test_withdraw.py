"""Who leaves is hidden as soon as a delivery says so, whatever else the installation is busy with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta

import pytest
from command_line import deid
from small_feed import seen
from sqlalchemy.exc import DBAPIError

from deid_platform.corpora import decoding
from deid_platform.corpora.files import FilesFeed
from deid_platform.doctor import examine
from deid_platform.errors import DeidError
from deid_platform.refresh import publish
from deid_platform.refresh.hiding.withdraw import withdraw_arrived
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.opt_outs import misspelt_opt_outs
from deid_platform.refresh.staging import due, stage
from deid_platform.settings import load_settings
from deid_platform.warehouse.server.roles import Role

HOLDER = """
import sys
from pathlib import Path
from deid_platform.refresh.installation.lock import installation_lock
with installation_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def notes(*names: str, patient: str) -> list[dict]:
    return [{"note_id": name, "patient_id": patient, "text": f"Note {name}."} for name in names]


@pytest.fixture(scope="module", autouse=True)
def published(site, deliver, run) -> None:
    rows = [row for patient in "abcdefg" for row in notes(f"{patient}1", f"{patient}2", patient=patient)]
    run(deliver("2026-01-01", notes=rows))


@pytest.fixture
def refreshing(site) -> Iterator[None]:
    """Another process holds the installation's lock, as a refresh does, and an analyst has a transaction open."""
    arguments = [sys.executable, "-c", HOLDER, str(site.settings.home_path)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with site.warehouse.engine(Role.DEMO_ANALYST).connect() as idle:
            idle.exec_driver_sql("SELECT count(*) FROM research.notes")
            yield
        holder.kill()


@pytest.mark.parametrize(("command", "status"), [("withdraw", 0), ("refresh", 1)])
def test_the_command_hides_at_once_while_a_refresh_runs(site, deliver, refreshing, command, status) -> None:
    note, patient = ("a1", "b") if command == "withdraw" else ("a2", "c")
    deliver(f"2026-02-0{status + 1}", withdrawn=[{"note_id": note}, {"patient_id": patient}])
    before = seen(site)
    done = deid(command)
    assert done.returncode == status, done.stderr
    assert "withdrawn: 2 notes and patients" in done.stderr
    assert ("refresh-running" in done.stderr) is (command == "refresh")
    assert before - seen(site) == {f"Note {note}.", f"Note {patient}1.", f"Note {patient}2."}


def test_what_has_not_changed_is_not_read_again(site, deliver, monkeypatch) -> None:
    delivery = deliver("2026-02-05", withdrawn=[{"note_id": "d1"}])
    assert withdraw_arrived(site).keys == 1
    read = []
    original = FilesFeed.withdrawals

    def counted(self, of, **known):
        read.append(of.key)
        return original(self, of, **known)

    monkeypatch.setattr(FilesFeed, "withdrawals", counted)
    assert withdraw_arrived(site).keys == 0
    assert delivery.key not in read
    deliver("2026-02-05", withdrawn=[{"note_id": "d1"}, {"note_id": "d2"}])
    assert withdraw_arrived(site).keys == 1
    assert delivery.key in read
    assert not {"Note d1.", "Note d2."} & seen(site)


def test_what_can_be_read_takes_effect_and_the_rest_is_counted_and_never_shown(site, deliver) -> None:
    delivery = deliver("2026-02-06", withdrawn=[{"note_id": "e1"}])
    folder = site.settings.path(site.feed("hospital").path) / delivery.watermark
    with (folder / "withdrawn.csv").open("a") as stream:
        stream.write('Zebulon Quarmby,"\n')
    done = deid("withdraw")
    assert done.returncode == 1
    assert "unreadable rows of withdrawals: 1" in done.stderr
    assert not any(said in done.stderr + done.stdout for said in ("e1", "Zebulon", "Quarmby"))
    assert "Note e1." not in seen(site)
    (folder / "withdrawn.csv").unlink()
    (folder / "notes.jsonl").unlink()
    folder.rmdir()


def test_a_file_that_a_disk_could_not_read_is_read_again(site, deliver, monkeypatch) -> None:
    """Its size and time are the same once it can be read."""
    delivery = deliver("2026-02-06", withdrawn=[{"note_id": "e1"}])
    folder = site.settings.path(site.feed("hospital").path) / delivery.watermark
    (folder / "withdrawn-2.csv").write_text("note_id\nd2\n")
    original = decoding._plain

    def failing(path):
        if path.name == "withdrawn-2.csv":
            raise OSError
        return original(path)

    with monkeypatch.context() as patched:
        patched.setattr(decoding, "_plain", failing)
        for _ in range(2):
            assert withdraw_arrived(site).lost == 1
    assert withdraw_arrived(site).lost == 0
    assert not {"Note e1.", "Note d2."} & seen(site)
    shutil.rmtree(folder)


def test_one_feed_that_is_away_holds_up_no_other(site, deliver) -> None:
    config = site.settings.root / "with_another.toml"
    config.write_text(site.settings.root.joinpath("deid.toml").read_text() + '\n[feeds.clinic]\npath = "nowhere"\n')
    deliver("2026-02-07", withdrawn=[{"note_id": "e2"}])
    done = withdraw_arrived(Site(load_settings(config)))
    assert [(failure.code.slug, failure.ref) for failure in done.failures] == [("feed-unreadable", "clinic")]
    assert "Note e2." not in seen(site)


def test_the_list_of_opt_outs_counts_too_and_is_told_once(site) -> None:
    config = site.settings.root / "with_optouts.toml"
    (site.settings.root / "optouts.csv").write_text("patient_id\nf\n")
    config.write_text(
        site.settings.root.joinpath("deid.toml").read_text() + '\n[exclusions]\nopt_outs = "optouts.csv"\n'
    )
    out = Site(load_settings(config))
    assert [withdraw_arrived(out).opted_out for _ in range(2)] == [1, 0]
    assert "Note f1." not in seen(site)
    assert withdraw_arrived(site).opted_out == 1
    assert "Note f1." in seen(site)


def test_an_id_that_is_listed_otherwise_than_its_source_writes_it_is_counted(site, deliver, take_in) -> None:
    """Compared exactly, it hides nobody, and nobody would know."""
    take_in(deliver("2026-02-12", notes=notes("o1", patient="00-417X"), patients=[{"patient_id": "0088"}]))
    config = site.settings.root / "with_misspelt.toml"
    listed = site.settings.root / "misspelt.csv"
    config.write_text(
        site.settings.root.joinpath("deid.toml").read_text() + '\n[exclusions]\nopt_outs = "misspelt.csv"\n'
    )
    for ids, misspelt in (("417x\n88\nnobody", 2), ("00-417X\n0088\nnobody", 0), ("417X\n00-417X", 0)):
        listed.write_text(f"patient_id\n{ids}\n")
        assert misspelt_opt_outs(Site(load_settings(config))) == misspelt
    listed.write_text("patient_id\n417x\n")
    (told,) = (found for found in examine(config) if found.subject == "opt-outs")
    assert (told.good, told.detail.split()[0]) == (False, "1")
    assert "417" not in told.detail


def test_a_file_whose_columns_are_mapped_anew_is_read_again(site, deliver) -> None:
    delivery = deliver("2026-02-09", withdrawn=[{"note_id": "f1", "WHO": ""}, {"note_id": "", "WHO": "f"}])

    def read_with(**setting: object) -> set[str]:
        feeds = site.settings.feeds | {"hospital": site.feed("hospital").model_copy(update=setting)}
        withdraw_arrived(Site(site.settings.model_copy(update={"feeds": feeds})))
        return {"Note f1.", "Note f2."} & seen(site)

    assert read_with(ignore=("WHO",)) == {"Note f2."}
    assert read_with(columns={"WHO": "withdrawn.patient_id"}) == set()
    folder = site.settings.path(site.feed("hospital").path) / delivery.watermark
    (folder / "withdrawn.csv").unlink()
    (folder / "notes.jsonl").unlink()
    folder.rmdir()


def test_what_a_delivery_comes_to_withdraw_while_its_run_is_under_way_stays_hidden(site, deliver, take_in, run) -> None:
    """Its promotion says anew what it withdraws, by files that are gone by then."""
    delivery = deliver("2026-02-08", notes=notes("x1", patient="x"))
    run(delivery)
    for before_staging in (True, False):
        note = "g1" if before_staging else "g2"
        deliver("2026-02-08", notes=notes("x1", patient="x"))
        (site.settings.path(site.feed("hospital").path) / delivery.watermark / "withdrawn.csv").unlink(missing_ok=True)
        take_in(delivery)
        if not before_staging:
            stage.stage_delivery(site, delivery, run_id="run-2")
        deliver("2026-02-08", notes=notes("x1", patient="x"), withdrawn=[{"note_id": note}])
        assert withdraw_arrived(site).keys == 1
        if before_staging:
            stage.stage_delivery(site, delivery, run_id="run-2")
        publish.promote_delivery(site, delivery)
        assert f"Note {note}." not in seen(site)
        assert due.pending(site, [delivery]) == [delivery]
    # And the run over today's files ends in what they say: the first of the two is not withdrawn any more.
    run(delivery)
    assert due.pending(site, [delivery]) == []
    assert {"Note g1.", "Note g2."} & seen(site) == {"Note g1."}


def test_a_feed_that_is_away_when_its_delivery_is_promoted_brings_nobody_back(site, deliver, take_in, run) -> None:
    """What `deid withdraw` read after the run had taken the files in would end with the promotion."""
    run(deliver("2026-02-10", notes=notes("y1", patient="y")))
    delivery = deliver("2026-02-11", notes=notes("z1", patient="z"))
    run(delivery)
    feed = site.settings.path(site.feed("hospital").path)
    away = feed.with_name("away")
    feed.rename(away)
    publish.promote_delivery(site, delivery)  # nothing was read of it since
    away.rename(feed)
    deliver("2026-02-11", notes=notes("z1", patient="z"), withdrawn=[{"patient_id": "y"}])
    assert withdraw_arrived(site).keys == 1
    stage.stage_delivery(site, delivery, run_id="run-2")
    feed.rename(away)
    with pytest.raises(DeidError, match="feed-unreadable"):
        publish.promote_delivery(site, delivery)
    assert "Note y1." not in seen(site)
    away.rename(feed)
    run(delivery)
    assert "Note y1." not in seen(site)
    assert due.pending(site, [delivery]) == []


def test_a_reader_who_idles_in_a_transaction_is_sent_away(site, monkeypatch) -> None:
    monkeypatch.setattr("deid_platform.warehouse.gate.promotion.IDLE_READER", timedelta(0))
    with site.warehouse.engine(Role.DEMO_ANALYST).connect() as idle:
        idle.exec_driver_sql("SELECT count(*) FROM research.notes")
        withdraw_arrived(site)
        with pytest.raises(DBAPIError):
            idle.exec_driver_sql("SELECT 1")
        idle.invalidate()
