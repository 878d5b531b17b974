"""What leaves research, and what comes back: patients, excluded types, reported leaks, and all of it under new keys.

`through` measures what leaves or comes back as the job does; what is only there before comes by `run`.
"""

from __future__ import annotations

import os

import pytest
from small_feed import seen

from deid_platform.doctor import installation
from deid_platform.errors import DeidError
from deid_platform.labels import Label
from deid_platform.oversight.summary import release_summary
from deid_platform.refresh import publish
from deid_platform.refresh.installation.reported import newest_known, reported_strings
from deid_platform.refresh.installation.rotation import told_by_former
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging import due, stage
from deid_platform.refresh.staging.findings import report
from deid_platform.settings import RedactionSettings, load_settings
from deid_platform.warehouse.officer.findings import retract, withdraw_finding
from deid_platform.warehouse.server.roles import Role


def notes(*names: str, patient: str, **more: str) -> list[dict]:
    return [{"note_id": name, "patient_id": patient, "text": f"Note {name}.", **more} for name in names]


def test_a_patient_who_left_and_rejoined_is_shown_again_with_all_their_notes(site, deliver, through, run) -> None:
    run(deliver("2026-01-01", notes=notes("a1", "a2", patient="a")), site)
    through(deliver("2026-01-02", withdrawn=[{"patient_id": "a"}]), site)
    run(deliver("2026-01-03", notes=notes("a3", patient="a")), site)
    assert not {"Note a1.", "Note a3."} & seen(site)
    back = deliver("2026-01-04", rejoined=[{"patient_id": "a"}])
    through(back, site)
    assert {"Note a1.", "Note a2.", "Note a3."} <= seen(site)
    # An older statement that is read again later takes nothing away.
    through(deliver("2026-01-02", withdrawn=[{"patient_id": "a"}]), site)
    assert "Note a1." in seen(site)
    through(deliver("2026-01-05", withdrawn=[{"patient_id": "a"}], rejoined=[{"patient_id": "a"}]), site)
    assert "Note a1." not in seen(site)


def test_a_note_whose_type_becomes_excluded_leaves_and_one_of_such_a_type_never_enters(
    site, deliver, through, run
) -> None:
    run(deliver("2026-02-01", notes=notes("b1", "b2", patient="b")), site)
    second = deliver("2026-02-02", notes=notes("b1", "b3", patient="b", note_type="Psychotherapy Note"))
    through(second, site)
    assert "Note b2." in seen(site)
    assert not {"Note b1.", "Note b3."} & seen(site)
    assert site.store.rows("source/raw_notes", second.key) == []


def test_who_opts_out_is_gone_at_once_and_who_returns_is_shown_after_a_run(site, deliver, through, run) -> None:
    first = deliver("2026-03-01", notes=notes("c1", patient="c"))
    run(first, site)
    path = site.settings.root / "optouts.csv"
    config = site.settings.root / "with_optouts.toml"
    config.write_text(
        site.settings.root.joinpath("deid.toml").read_text() + '\n[exclusions]\nopt_outs = "optouts.csv"\n'
    )
    path.write_text("patient_id\nc\n")
    out = Site(load_settings(config))
    assert stage.hide_opted_out(out) == 1
    assert "Note c1." not in seen(site)
    # The delivery is due again, and then holds nothing of that patient.
    assert due.pending(out, [first]) == [first]
    through(first, out)
    assert out.store.rows("source/raw_notes", first.key) == []
    with out.warehouse.administer() as connection:
        held = connection.exec_driver_sql("SELECT count(*) FROM research.note_version WHERE text = 'Note c1.'")
        assert held.scalar_one() == 0
    path.write_text("patient_id\nsomebody else\n")
    again = Site(load_settings(config))
    assert due.pending(again, [first]) == [first]
    through(first, again)
    assert "Note c1." in seen(site)
    stage.hide_opted_out(site)


def test_a_reported_leak_comes_back_only_without_its_string(site, deliver, through, run) -> None:
    said = {"note_id": "d1", "patient_id": "d", "text": "Keeps bees with quorvex on Sundays."}
    other = {"note_id": "d2", "patient_id": "e", "text": "Asks for QUORVEX by name."}
    delivery = deliver("2026-04-01", notes=[said, other])
    untouched = deliver("2026-04-02", notes=notes("d3", patient="d"))
    run(delivery, site)
    through(untouched, site)
    assert {said["text"], other["text"]} <= seen(site)
    found = report(site, site.note_key("hospital", "d1"), 16, 23, label=Label.PATIENT, who="A. Reader")
    assert (found.matches, found.hidden) == (1, 2)
    assert not {said["text"], other["text"]} & seen(site)
    assert reported_strings(site.store) == ("quorvex",)
    # Every delivery is due again; what was measured before opens nothing.
    assert due.pending(site, [delivery, untouched]) == [delivery, untouched]
    with pytest.raises(DeidError, match="gate-refused"):
        publish.promote_delivery(site, untouched)
    through(delivery, site)
    reasons = {row["note_id"]: row["reason"] for row in site.store.rows("deid/redacted_notes", delivery.key)}
    assert reasons == {"d1": "leak-reported", "d2": "leak-reported"}
    through(untouched, site)
    assert not {said["text"], other["text"]} & seen(site)
    assert "Note d3." in seen(site)


def test_a_common_word_stays_hidden_in_the_note_in_which_it_was_reported_whatever_else_changes_there(
    site, deliver, through, run
) -> None:
    said = {"note_id": "f1", "patient_id": "f", "text": "Keeps bees with blenthar and mirelsen honey."}
    other = {"note_id": "f2", "patient_id": "e", "text": "Asks for blenthar by name."}
    delivery = deliver("2026-04-05", notes=[said, other])
    run(delivery, site)
    key = site.note_key("hospital", "f1")
    assert report(site, key, 16, 24, label=Label.PATIENT, who="A. Reader", hide=1).hidden == 1
    assert "blenthar" not in reported_strings(site.store)
    # Another name is known by now, so that the note comes out with another text than the retracted one.
    deliver("2026-04-05", notes=[said, other], patients=[{"patient_id": "f", "last_name": "Mirelsen"}])
    through(delivery, site)
    reasons = {row["note_id"]: row["reason"] for row in site.store.rows("deid/redacted_notes", delivery.key)}
    assert reasons == {"f1": "leak-reported", "f2": None}
    # Nor does a later delivery bring it back, under another spelling.
    later = deliver("2026-04-06", notes=[{**said, "text": "Keeps no bees with BLENTHAR now."}])
    through(later, site)
    assert "Asks for blenthar by name." in seen(site)
    assert not any("bees with blenthar" in text.lower() for text in seen(site))


def test_a_report_that_was_cut_off_is_learned_by_the_next_run(site, deliver, through, run) -> None:
    delivery = deliver("2026-04-10", notes=[{"note_id": "g1", "text": "Walks with zanthorpe daily."}])
    run(delivery, site)
    officer = site.warehouse.engine(Role.OFFICER)
    found = retract(officer, [site.note_key("hospital", "g1")], 11, 20, label=Label.PATIENT, who="A. Reader")
    assert "zanthorpe" not in reported_strings(site.store)
    assert newest_known(site.store) < found.number
    through(delivery, site)
    assert "zanthorpe" in reported_strings(site.store)
    assert newest_known(site.store) == found.number
    assert [row["reason"] for row in site.store.rows("deid/redacted_notes", delivery.key)] == ["leak-reported"]


def test_a_withdrawal_of_a_finding_that_was_cut_off_is_learned_by_the_next_run(site, deliver, through, run) -> None:
    delivery = deliver("2026-04-20", notes=[{"note_id": "h1", "text": "Rests with brannoch daily."}])
    run(delivery, site)
    found = report(site, site.note_key("hospital", "h1"), 11, 19, label=Label.PATIENT, who="A. Reader")
    through(delivery, site)
    assert [row["reason"] for row in site.store.rows("deid/redacted_notes", delivery.key)] == ["leak-reported"]
    for who in ("A. Officer", "B. Officer"):
        withdraw_finding(
            site.warehouse.engine(Role.OFFICER),
            site.warehouse.engine(Role.PROMOTER),
            found.number,
            who=who,
            reason="it is a plant's name",
        )
    assert "brannoch" in reported_strings(site.store)
    assert "Rests with brannoch daily." not in seen(site)
    assert due.pending(site, [delivery]) == [delivery]
    through(delivery, site)
    assert "brannoch" not in reported_strings(site.store)
    assert newest_known(site.store) == found.number
    assert "Rests with brannoch daily." in seen(site)


def test_a_new_secret_makes_a_new_release_beside_the_old_and_withdrawals_reach_both(
    site, deliver, through, run, monkeypatch
) -> None:
    first = deliver("2026-05-01", notes=notes("f1", "f2", patient="f"))
    run(first, site)
    before, former = seen(site), site.release
    monkeypatch.setenv("DEID_PREVIOUS_SECRET", os.environ["DEID_SECRET"])
    monkeypatch.setenv("DEID_SECRET", "b2f6c4d19a07e385f46b21c0d97ae583")
    rotated = Site(load_settings())
    assert rotated.release != site.release
    assert rotated.note_keys("hospital", "f1")[1] == site.note_key("hospital", "f1")
    second = deliver("2026-05-02", withdrawn=[{"note_id": "f1"}])
    through(second, rotated)
    # Still the release of the former secret, without what was withdrawn under the new one.
    assert seen(site) == before - {"Note f1."}
    for delivery in rotated.deliveries():
        if delivery != second:
            (through if delivery == first else run)(delivery, rotated)
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        keys = set(connection.exec_driver_sql("SELECT note_key FROM research.notes").scalars())
    assert rotated.note_key("hospital", "f2") in keys
    assert site.note_key("hospital", "f2") not in keys
    assert "Note f1." not in seen(site)
    # What the rotation does not do is said where it is asked: years of the former release tell of shifts of today.
    assert told_by_former(rotated) == ()
    shifting = Site(rotated.settings.model_copy(update={"redaction": RedactionSettings(policy="surrogate")}))
    (told,) = told_by_former(shifting)
    assert (told.release, told.other_class) == (former, True)
    assert "unchanged text links the notes of both" in told.said
    assert release_summary(shifting).places["former secrets"] == told.said
    assert [(it.good, it.detail) for it in installation._rotation(shifting)] == [(False, told.said)]
