"""The dossier of an installation with two notes in research: what it states, signing it, and what waits for that."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from command_line import deid
from looks import looked
from sqlalchemy import text

from deid_platform.bench.gate import held_out
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention.lexical_judge import judge_digest
from deid_platform.oversight.dossier import sign_dossier, write_dossier
from deid_platform.oversight.dossier_entries import gathered
from deid_platform.oversight.signing import PASSWORD_VARIABLE, load_key, make_key, public_key, verified
from deid_platform.oversight.summary import release_summary
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.dossier import NOT_AT_HAND
from deid_platform.reports.dossier.verdict import verdict
from deid_platform.reports.dossier.words import measure_in_words
from deid_platform.warehouse.gate.queries import ledger
from deid_platform.warehouse.migrate import configure, register_signer
from deid_platform.warehouse.officer.dossiers import newest_dossier, record_dossier, signed
from deid_platform.warehouse.officer.releases import activate_release, release
from deid_platform.warehouse.quality.held_out import Purpose, record_look
from deid_platform.warehouse.quality.judges import JudgeRow, record_judge
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, lab_scores, record_lab_scores
from deid_platform.warehouse.server.roles import Role

DEID = Path(sys.executable).with_name("deid")
UNTIL = date(2099, 3, 1)
WHY = "misses are of staff alone"


@pytest.fixture(scope="module", autouse=True)
def published(site, deliver, through) -> None:
    notes = [{"note_id": "1", "text": "Coughs since Monday."}, {"note_id": "2", "text": "Better."}]
    through(deliver("2026-01-05", notes=notes), site)


def facts(site):
    officer = site.warehouse.engine(Role.OFFICER)
    return gathered(site, release(officer, site.release))


def test_the_file_shows_the_figures_and_its_digest_is_on_the_ledger(site) -> None:
    written = write_dossier(site)
    html = written.path.read_text(encoding="utf-8")
    recall = facts(site).figure("recall")
    assert f"{100 * recall.value:.2f}%" in html and site.release in html
    assert newest_dossier(site.warehouse.engine(Role.OFFICER), site.release) == written.digest
    assert any(it.event == "dossier" for it in ledger(site.warehouse.engine(Role.OFFICER), release=site.release))
    assert written.path.stat().st_mode & 0o077 == 0
    # The installation has no gold of its own.
    first = html[html.index('<section class="verdict') : html.index("</section>")]
    assert (
        first.index("Recall on this site")
        < first.index("of the synthetic hospital")
        < first.index("does not contradict")
    )
    assert "support" not in html.lower()
    assert "Coughs" not in html and not re.search(r"https?://(?!www\.w3\.org|purl\.org|w3id\.org)", html)


def test_every_number_comes_from_the_ledger_or_from_quality(site) -> None:
    found = facts(site)
    with site.warehouse.begin(Role.OFFICER) as connection:
        scores = {
            (row.gold, row.inputs, row.label, row.measure): (row.value, row.low, row.high, row.n)
            for row in connection.execute(text("SELECT * FROM quality.scores"))
            if row.detector_digest == release(site.warehouse.engine(Role.OFFICER), site.release).detector_digest
        }
        promoted = connection.execute(text("SELECT sum(approved) FROM ctl.publication")).scalar_one()
    stated = {
        (it.gold, it.inputs, it.subject, it.measure): (it.figure.value, it.figure.low, it.figure.high, it.figure.n)
        for it in found.readings
        if it.family == "words"
    }
    assert stated == scores and len(stated) > 50
    assert found.promoted == promoted == 2
    assert {it.name for it in found.requirements} >= {"parity", "leaks", "bench", "expectations"}
    assert "activated" in {it.event for it in found.decisions}


def test_where_no_delivery_is_published_no_indirect_identifier_is_counted(site) -> None:
    officer = site.warehouse.engine(Role.OFFICER)
    built = replace(release(officer, site.release), release="r_building")
    assert {it.found for it in gathered(site, built).indirect} == {NOT_AT_HAND}


def test_the_looks_that_it_states_are_those_of_the_ledger(site) -> None:
    def counted() -> tuple[str, int, int]:
        with site.warehouse.begin(Role.OFFICER) as connection:
            found = text("SELECT name, looks, detectors FROM ctl.held_out WHERE digest = :d")
            return tuple(connection.execute(found, {"d": digest}).one())

    digest = held_out.of_bench(site).digest
    before = facts(site).held_out
    assert (before.name, before.looks, before.detectors) == counted()
    detector = release(site.warehouse.engine(Role.OFFICER), site.release).detector_digest
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    record_look(gatekeeper, digest, "f" * 32, Purpose.COMPARE)
    assert facts(site).held_out == before  # another detector looked afterwards
    record_look(gatekeeper, digest, detector, Purpose.GATE)
    after = facts(site).held_out
    assert (after.looks, after.detectors) == (before.looks + 2, before.detectors + 1) == counted()[1:]
    html = write_dossier(site).path.read_text(encoding="utf-8")
    assert (
        f"held-out set {after.name} of" in html
        and f"gold {after.looks} times, with {after.detectors} detectors" in html
    )


def test_figures_of_the_laboratory_are_those_of_quality(site) -> None:
    made = release(site.warehouse.engine(Role.OFFICER), site.release)
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    ours = [LabScore("stability", "recall_difference", -0.085, -0.09, -0.08, 100, "lower case")]
    ours += [
        LabScore("utility", "difference", -0.02, -0.03, 0.01, 300, f"task {it}") for it in ("note type", "condition")
    ]
    ours += [LabScore("length", "recall", 0.97, 0.96, 0.98, 900, "100 to 299 words")]
    look = looked(gatekeeper, made.detector_digest, purpose=Purpose.LABORATORY)
    on = MeasuredOn("rules", made.detector_digest, "synthetic_hospital", "topics", look=look)
    under = replace(on, policy_digest=made.policy_digest)
    record_lab_scores(gatekeeper, on, ours)
    record_lab_scores(gatekeeper, under, [LabScore("plain sight", "told_apart", 0.25, 0.1, 0.4, 40)])
    # Of the same detector under another policy: this release has no part in it.
    other = [LabScore("plain sight", "told_apart", 0.75, n=40), LabScore("retention", "jsc", 0.5, n=40)]
    record_lab_scores(gatekeeper, replace(on, policy_digest="f" * 32), other)
    judge = MeasuredOn("lexical-judge", judge_digest(), "judged_pairs", "text")
    record_lab_scores(gatekeeper, judge, [LabScore("judges", "precision", 0.94, 0.88, 0.97, 116)])
    found = facts(site)
    with site.warehouse.begin(Role.OFFICER) as connection:
        rows = connection.execute(
            text("SELECT * FROM quality.lab_scores WHERE detector_digest IN (:d, :j) AND policy_digest IN ('', :p)"),
            {"d": made.detector_digest, "j": judge.detector_digest, "p": made.policy_digest},
        ).all()
    kept = {
        (row.gold, row.inputs, row.family, row.subject, row.measure): (row.value, row.low, row.high, row.n)
        for row in rows
    }
    stated = {
        (it.gold, it.inputs, it.family, it.subject, it.measure): (
            it.figure.value,
            it.figure.low,
            it.figure.high,
            it.figure.n,
        )
        for it in found.readings
        if it.family != "words"
    }
    assert stated == kept and len(kept) >= 6
    assert found.figure("told_apart", family="plain sight").value == 0.25
    page = write_dossier(site).path.read_text(encoding="utf-8")
    assert "-8.50 points (-9.00 to -8.00)" in page and "94.00% (88.00% to 97.00%)" in page
    assert "50.00%" not in page


def test_a_figure_by_a_language_model_stands_beside_how_good_that_is(site) -> None:
    made = release(site.warehouse.engine(Role.OFFICER), site.release)
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    known = JudgeRow("a" * 64, "toy <b>", "retention-few", "c" * 32)
    record_judge(gatekeeper, known)
    record_judge(gatekeeper, replace(known, model="another"))  # a digest has one meaning
    for judge, cire in (("b" * 64, 0.1234), (known.digest, 0.4321)):
        look = looked(gatekeeper, made.detector_digest, purpose=Purpose.LABORATORY)
        on = MeasuredOn(
            "rules", made.detector_digest, "synthetic_hospital", "topics", made.policy_digest, "", look, judge
        )
        record_lab_scores(gatekeeper, on, [LabScore("retention", "cire", cire, n=40)])
        of_judge = MeasuredOn("judge-retention-few", judge, "judged_pairs", "text", judge=judge)
        record_lab_scores(gatekeeper, of_judge, [LabScore("judges", "accuracy", 0.5678, n=210)])
    page = write_dossier(site).path.read_text(encoding="utf-8")
    by, retained = "by toy &lt;b&gt;, retention-few, digest aaaaaaaaaaaa", measure_in_words("cire")
    assert f"<td>all, with topics, {by}</td><td>{retained}</td><td>43.21%" in page
    assert f"<td>all, {by}</td><td>pairs judged rightly</td><td>56.78%" in page
    assert page.count("56.78%") == 1
    # The newest figure counts, and one of which nobody wrote down whose it is is not shown.
    look = looked(gatekeeper, made.detector_digest, purpose=Purpose.LABORATORY)
    record_lab_scores(gatekeeper, replace(on, judge="b" * 64, look=look), [LabScore("retention", "cire", 0.1234, n=40)])
    later = write_dossier(site).path.read_text(encoding="utf-8")
    assert "43.21%" not in later and "12.34%" not in later


def test_figures_of_the_laboratory_are_stated(site) -> None:
    digest = release(site.warehouse.engine(Role.OFFICER), site.release).detector_digest
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    look = looked(gatekeeper, digest, purpose=Purpose.LABORATORY)
    on = MeasuredOn("rules", digest, "synthetic_hospital", "topics", look=look)
    shown = LabScore("linkage", "first", 0.0425, 0.03, 0.05, 400)
    few = LabScore("linkage", "chance", 0.1, n=10)
    unknown = LabScore("linkage", "Mrs. Jane Okonkwo", 0.1, n=400)
    assert record_lab_scores(gatekeeper, on, [shown, few, unknown]) == 3
    read = {it.measure: it for _, it in lab_scores(site.warehouse.engine(Role.OFFICER), digest)}
    assert read["first"] == shown
    assert read["chance"].value is None  # over fewer than 11
    assert unknown.measure not in read  # no word of the lists
    assert facts(site).figure("first", family="linkage").value == 0.0425
    assert "4.25% (3.00% to 5.00%)" in write_dossier(site).path.read_text(encoding="utf-8")


def sign(site, path, tmp_path, *, conclusion="fit", until=UNTIL, who="P. Officer", why=WHY):
    key = tmp_path / "officer.pem"
    if not key.exists():
        make_key(key)
    return sign_dossier(site, path, key, who=who, conclusion=conclusion, reason=why, reassess_by=until)


def test_a_signature_is_on_the_ledger_and_verifies_offline(site, tmp_path) -> None:
    written = write_dossier(site)
    done = sign(site, written.path, tmp_path)
    statement = verified(written.path.read_bytes(), done.path.read_text(encoding="utf-8"), public=done.public_key)
    assert (statement.release, statement.conclusion, statement.reassess_by) == (site.release, "fit", UNTIL)
    found = signed(site.warehouse.engine(Role.OFFICER), site.release)
    assert found is not None and (found.who, found.dossier, found.lapsed) == ("P. Officer", written.digest, False)
    assert "signed" in {it.event for it in facts(site).decisions}
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        row = connection.execute(text("SELECT * FROM quality.determination")).one()
    assert (row.release, row.conclusion, row.standing, row.reassess_by) == (site.release, "fit", "in force", UNTIL)
    assert "who" not in row._mapping


def at_a_terminal(answers: Mapping[str, str], *arguments: str) -> tuple[int, str, str]:
    """Exit status of a command, what it says, and what the terminal shows, with somebody who answers its prompts."""
    ours, terminal = pty.openpty()
    # In a session without a terminal of its own: a prompt would go to the one of whoever runs the tests.
    with subprocess.Popen(
        [str(DEID), *arguments], stdin=terminal, stdout=terminal, stderr=subprocess.PIPE, start_new_session=True
    ) as running:
        assert running.stderr
        said = b""
        for prompt, answer in answers.items():
            while not said.endswith(f"{prompt}: ".encode()):
                read = running.stderr.read(1)
                assert read, said
                said += read
            os.write(ours, f"{answer}\n".encode())
        said += running.stderr.read()
        status = running.wait(timeout=300)
    os.close(terminal)
    shown = b""
    with suppress(OSError):  # how a terminal ends that nobody holds
        while read := os.read(ours, 1000):
            shown += read
    os.close(ours)
    return status, said.decode(), shown.decode()


@pytest.mark.process
def test_the_key_s_password_is_asked_for_at_a_terminal_and_shown_nowhere(site, tmp_path, monkeypatch) -> None:
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    key, made = str(tmp_path / "officer.pem"), str(write_dossier(site).path)
    new, again = "password of the new key (Enter for none)", "Repeat for confirmation"
    status, said, shown = at_a_terminal({new: "correct horse", again: "correct horse"}, "dossier", "key", key)
    assert status == 0, said
    assert "correct" not in said + shown
    words = ("--who", "P. Officer", "--why", WHY, "--decision", "fit", "--until", str(UNTIL), "--key", key)
    assert "dossier-key" in deid("dossier", "sign", made, *words).stderr  # nobody sits there
    status, said, _ = at_a_terminal({"password of the key": "wrong"}, "dossier", "sign", made, *words)
    assert status == 1 and "dossier-key [officer.pem]" in said
    status, said, shown = at_a_terminal({"password of the key": "correct horse"}, "dossier", "sign", made, *words)
    assert status == 0, said
    assert "correct" not in said + shown
    assert (found := signed(site.warehouse.engine(Role.OFFICER), site.release)) is not None
    assert found.public_key == public_key(load_key(Path(key), ask=lambda: "correct horse"))


@pytest.mark.process
def test_enter_leaves_a_new_key_without_a_password_and_nobody_is_asked_for_one(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv(PASSWORD_VARIABLE, raising=False)
    new, again = "password of the new key (Enter for none)", "Repeat for confirmation"
    status, said, _ = at_a_terminal({new: "", again: ""}, "dossier", "key", str(tmp_path / "officer.pem"))
    assert status == 0, said
    assert load_key(tmp_path / "officer.pem", ask=lambda: pytest.fail("asked"))


@pytest.mark.parametrize(
    ("change", "ref"),
    [({"who": " "}, "who"), ({"why": "fine"}, "reason"), ({"until": date(2020, 1, 1)}, "until")],
)
def test_a_signature_that_says_too_little_is_refused(site, tmp_path, change, ref: str) -> None:
    with pytest.raises(DeidError) as raised:
        sign(site, write_dossier(site).path, tmp_path, **change)
    assert (raised.value.code, raised.value.ref) == (Code.WAIVER_INVALID, ref)


def test_only_the_newest_dossier_as_it_was_written_can_be_signed(site, tmp_path) -> None:
    written = write_dossier(site)
    old = tmp_path / "old.html"
    old.write_bytes(written.path.read_bytes())
    changed = tmp_path / "changed.html"
    changed.write_bytes(written.path.read_bytes().replace(b"over 99", b"over 98") + b"\n")
    assert write_dossier(site).path == written.path  # of the same facts
    digest = release(site.warehouse.engine(Role.OFFICER), site.release).detector_digest
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    look = looked(gatekeeper, digest, purpose=Purpose.LABORATORY)
    on = MeasuredOn("rules", digest, "synthetic_hospital", "text", look=look)
    record_lab_scores(gatekeeper, on, [LabScore("linkage", "first", 0.5, n=400)])
    assert write_dossier(site).path != written.path
    assert written.path.exists()
    for path in (old, written.path, changed, tmp_path / "missing.html"):
        with pytest.raises(DeidError) as raised:
            sign(site, path, tmp_path)
        assert raised.value.code is Code.DOSSIER_UNKNOWN


def test_a_dossier_that_is_true_again_can_be_signed_and_the_one_in_between_cannot(site, tmp_path) -> None:
    officer = site.warehouse.engine(Role.OFFICER)

    def turned():
        """Another fact, or the former one again, of which the ledger says nothing."""
        with site.warehouse.administer() as connection:
            connection.execute(text("UPDATE ctl.delivery SET demonstration = NOT demonstration"))
        return write_dossier(site)

    before = write_dossier(site)
    between = turned()
    again = turned()
    assert before.digest == again.digest != between.digest
    assert newest_dossier(officer, site.release) == again.digest
    columns = "release, detector_digest, policy_digest, key_id"
    with site.warehouse.administer() as connection:
        connection.execute(text(f"INSERT INTO ctl.release ({columns}) VALUES ('r_x', 'd', 'p', 'k')"))
    with pytest.raises(DeidError):  # nobody makes an older file the newest by the name of another release
        record_dossier(officer, "r_x", between.digest)
    with site.warehouse.administer() as connection:
        connection.execute(text("DELETE FROM ctl.release WHERE release = 'r_x'"))
    with pytest.raises(DeidError) as raised:
        sign(site, between.path, tmp_path)
    assert raised.value.code is Code.DOSSIER_UNKNOWN
    sign(site, again.path, tmp_path, conclusion="unfit")
    # A signature is a fact of its own: what was signed is never true again, so no former signature comes back.
    assert turned().digest not in (before.digest, between.digest)
    assert sign(site, turned().path, tmp_path).release == site.release
    found = signed(officer, site.release)
    assert found is not None and found.conclusion == "fit" and found.dossier != again.digest
    with pytest.raises(DeidError):
        sign(site, again.path, tmp_path, conclusion="unfit")


def test_nobody_signs_but_the_officer_and_nobody_changes_a_signature(site) -> None:
    for role in (Role.LOADER, Role.GATEKEEPER, Role.PROMOTER, Role.DEMO_ANALYST):
        with pytest.raises(DeidError), site.warehouse.begin(role) as connection:
            connection.execute(
                text(
                    "SELECT ctl.sign_dossier('x', 'P. Officer', 'fit', 'because', current_date, '2099-01-01', 'k', 's')"
                )
            )
    for statement in ("UPDATE ctl.signature SET conclusion = 'fit'", "DELETE FROM ctl.dossier"):
        with pytest.raises(DeidError), site.warehouse.begin(Role.OFFICER) as connection:
            connection.execute(text(statement))


def test_where_the_profile_asks_for_it_a_release_waits_for_its_signature(site, tmp_path) -> None:
    admin, promoter = site.warehouse.admin_engine(), site.warehouse.engine(Role.PROMOTER)
    written = write_dossier(site)
    configure(admin, site.settings.profile, signed_dossier=True)
    with site.warehouse.administer() as connection:
        connection.execute(text("UPDATE ctl.release SET active = false"))
    try:
        sign(site, written.path, tmp_path, conclusion="unfit")
        with pytest.raises(DeidError) as raised:
            activate_release(promoter, site.release)
        assert raised.value.code is Code.DOSSIER_UNSIGNED
        assert sign(site, written.path, tmp_path, conclusion="fit-with-conditions").active
        with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
            assert connection.execute(text("SELECT count(*) FROM research.notes")).scalar_one() == 2
    finally:
        configure(admin, site.settings.profile, signed_dossier=False)
        activate_release(promoter, site.release)
    events = [it.event for it in ledger(site.warehouse.engine(Role.OFFICER))]
    assert events.count("dossier-demanded") == events.count("dossier-not-demanded") == 1


def test_a_lapsed_conclusion_says_so(site, tmp_path) -> None:
    sign(site, write_dossier(site).path, tmp_path)
    with site.warehouse.administer() as connection:
        # Nobody can do this without the superuser's rights, which is how a test makes a day pass.
        connection.execute(text("ALTER TABLE ctl.signature DISABLE TRIGGER append_only"))
        connection.execute(text("UPDATE ctl.signature SET reassess_by = '2026-01-01'"))
        connection.execute(text("ALTER TABLE ctl.signature ENABLE TRIGGER append_only"))
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        assert connection.execute(text("SELECT standing FROM quality.determination")).scalar_one() == "lapsed"


def test_the_commands_write_sign_and_verify(site, tmp_path) -> None:
    written = deid("dossier", "write")
    assert written.returncode == 0, written.stderr
    path, key = written.stdout.strip(), str(tmp_path / "officer.pem")
    public = deid("dossier", "key", key).stdout.strip()
    asked = ("--who", "P. Officer", "--why", WHY, "--until", "2099-03-01", "--key", key)
    done = deid("dossier", "sign", path, "--decision", "fit", *asked)
    assert done.returncode == 0, done.stderr
    checked = deid("dossier", "verify", path, "--public-key", public)
    assert checked.returncode == 0 and f"{site.release}: fit, by P. Officer" in checked.stdout
    assert deid("dossier", "verify", path, "--public-key", public[::-1]).returncode == 1
    other = deid("dossier", "key", str(tmp_path / "other.pem")).stdout.strip()
    assert deid("dossier", "signer", other, "--who", "Q. Officer").returncode == 0
    assert "fit, by P. Officer, signature invalid" in deid("summary").stdout
    path = deid("dossier", "write").stdout.strip()
    assert "signature-invalid [key]" in deid("dossier", "sign", path, "--decision", "fit", *asked).stderr
    assert deid("dossier", "signer", public, "--who", "P. Officer").returncode == 0
    assert "fit, by P. Officer, until 2099-03-01" in deid("summary").stdout
    assert deid("dossier", "signer", public, "--who", "P. Officer", "--end").returncode == 0
    assert "signature-invalid [key]" in deid("dossier", "sign", path, "--decision", "fit", *asked).stderr
    assert "signature-invalid [key]" in deid("dossier", "signer", "no key", "--who", "P. Officer").stderr


def test_what_was_signed_holds_for_no_notes_whose_topics_are_read_by_other_columns(
    site, deliver, through, tmp_path
) -> None:
    officer, before = site.warehouse.engine(Role.OFFICER), site.release
    register_signer(site.warehouse.admin_engine(), make_key(tmp_path / "officer.pem"), "P. Officer")
    sign(site, write_dossier(site).path, tmp_path)
    assert release_summary(site).places["determination"].startswith("fit")
    ignoring = site.feed("hospital").model_copy(update={"ignore": ("first_name", "last_name")})
    feeds = site.settings.feeds | {"hospital": ignoring}
    nameless = Site(site.settings.model_copy(update={"feeds": feeds}))
    notes = [{"note_id": str(n), "patient_id": "p1", "text": "Better."} for n in range(1, 13)]
    row = {"patient_id": "p1", "last_name": "Quillfeather", "birth_date": "1950-03-04", "mrn": "00441903"}
    through(deliver("2026-01-05", notes=notes, patients=[row]), nameless)
    made = release(officer, nameless.release)
    assert (made.state, release(officer, before).state) == ("active", "left")
    assert signed(officer, made.release) is None and signed(officer, before) is not None
    html = write_dossier(nameless).path.read_text(encoding="utf-8")
    assert release_summary(nameless).places["determination"] == "not signed"
    found = gathered(nameless, made)
    assert [(it.named, it.dated, it.numbered) for it in found.feeds] == [(0, 1, 1)]
    assert any("last name for 0% of the notes of hospital" in doubt for doubt in verdict(found).doubts)
    shares = '<td class="n">0%</td><td class="n">100%</td><td class="n">100%</td>'
    assert f"<tr><td>hospital</td>{shares}</tr>" in html
