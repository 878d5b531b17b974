"""Extracts: what a project may read and no more, whole or not at all, and known to the ledger before anybody has it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import deid
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.notes import Delivery
from deid_platform.oversight import extract as module
from deid_platform.oversight.extract import check_extract, check_files, write_extract
from deid_platform.warehouse.gate.promotion import set_opt_outs
from deid_platform.warehouse.gate.queries import ledger
from deid_platform.warehouse.gate.staging import Kind
from deid_platform.warehouse.gate.withdrawals import withdraw
from deid_platform.warehouse.migrate import DEMONSTRATION, configure
from deid_platform.warehouse.officer.findings import retract, withdraw_finding
from deid_platform.warehouse.officer.releases import activate_release, expire_releases, switch_release
from deid_platform.warehouse.readers.extracts import end_extract, extracts, holders, name_extracts, reading
from deid_platform.warehouse.readers.projects import accesses, delete_project, grant_project, set_member, set_project
from deid_platform.warehouse.server.roles import Role

TODAY = datetime.now(tz=UTC).date()
LEAK = "Mr. Quillfeather is well."
FILES = {"notes.parquet", "data-dictionary.json", "manifest.json"}


@pytest.fixture
def study(scene):
    """Five notes of two sites: the project `sepsis` reads those of the north, its member reads everything besides."""
    north = [scene.note(n, LEAK if n == 1 else f"north {n}", site="north", patient=n) for n in range(1, 5)]
    scene.publish("1", [*north, scene.note(5, "south 5", site="south", patient=5)])
    set_project(officer(scene), "sepsis", purpose="outcomes of sepsis")
    grant_project(officer(scene), "sepsis", site="north")
    set_member(officer(scene), "sepsis", "demo_analyst")
    return scene


def officer(scene):
    return scene.warehouse.engine(Role.OFFICER)


def reader(scene):
    return scene.warehouse.engine(Role.DEMO_ANALYST)


def make(scene, folder, project="sepsis", **options):
    return write_extract(reader(scene), project, folder, **options)


def texts(folder):
    return sorted(pq.read_table(folder / "notes.parquet")["text"].to_pylist())


def report(scene, number=1):
    keys = [scene.keys.key("note", str(number))]
    return retract(officer(scene), keys, 4, 16, label=Label.PATIENT, who="A. Reader")


def gone(scene, kind, number):
    key = (kind, scene.keys.key("note" if kind is Kind.NOTE else "patient", str(number)), scene.keys.key_id)
    return withdraw(scene.warehouse.engine(Role.PROMOTER), Delivery("clinic", "9"), [key], marker="m")


def add(connection, scene, number):
    connection.execute(text("SELECT extracts.add_notes(:keys)"), {"keys": [scene.keys.key("note", str(number))]})


def code_of(call, *arguments, **options):
    with pytest.raises(DeidError) as caught:
        call(*arguments, **options)
    return caught.value.code


def hidden(scene):
    return [found.hidden for found in extracts(officer(scene))]


def test_an_extract_holds_what_its_project_reads_and_nothing_that_its_member_reads_elsewhere(study, tmp_path):
    made = make(study, tmp_path / "out")
    assert texts(tmp_path / "out") == [LEAK, "north 2", "north 3", "north 4"]
    assert (made.notes, made.state, made.release) == (4, "stands", "r1")
    assert len(study.visible()) == 5  # the login itself reads the other project's too
    # The log names the one project.
    assert accesses(officer(study), newest=2)[1].projects == ("sepsis",)


def test_the_setting_that_names_a_project_never_lets_a_login_read_more(study):
    for project, seen in (("sepsis", 4), ("none", 0), (DEMONSTRATION, 5)):
        with study.warehouse.begin(Role.DEMO_ANALYST) as connection:
            connection.execute(text("SELECT set_config('deid.project', :p, true)"), {"p": project})
            assert connection.execute(text("SELECT count(*) FROM research.notes")).scalar() == seen
    set_member(officer(study), DEMONSTRATION, "demo_analyst", member=False)
    with study.warehouse.begin(Role.DEMO_ANALYST) as connection:
        connection.execute(text(f"SET LOCAL deid.project = '{DEMONSTRATION}'"))
        assert connection.execute(text("SELECT count(*) FROM research.notes")).scalar() == 0


def test_the_manifest_binds_files_release_and_grant_and_tells_nothing_of_a_note(study, tmp_path):
    made = make(study, tmp_path / "out")
    manifest, digest = check_files(tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == FILES
    assert digest == made.manifest_digest
    assert (manifest["project"], manifest["notes"], manifest["relation"]) == ("sepsis", 4, "research.notes")
    assert manifest["grants"] == [{"site": "north", "note_type": None}]
    assert manifest["release"]["id"] == "r1"
    assert manifest["release"]["policy_digest"] == plain_digest("policy")
    said = (tmp_path / "out" / "manifest.json").read_text()
    assert "Quillfeather" not in said and "demo_analyst" not in said and "outcomes" not in said
    (relation,) = json.loads((tmp_path / "out" / "data-dictionary.json").read_text())
    described = [field["name"] for field in relation["schema"]["fields"]]
    assert described == pq.read_schema(tmp_path / "out" / "notes.parquet").names
    entry = next(e for e in ledger(officer(study)) if e.event == "extracted")
    assert (entry.actor, entry.release, entry.requirements) == ("demo_analyst", "r1", ("sepsis", digest))


def test_only_its_owner_can_enter_it(study, tmp_path):
    before = os.umask(0)
    try:
        make(study, tmp_path / "out")
    finally:
        os.umask(before)
    modes = [(tmp_path / "out").stat().st_mode, *(file.stat().st_mode for file in (tmp_path / "out").iterdir())]
    assert [mode & 0o777 for mode in modes] == [0o700, 0o600, 0o600, 0o600]


@pytest.mark.parametrize("taken", ["folder", "file", "link", "link to nowhere"])
def test_what_is_there_already_stays_as_it_is(study, tmp_path, taken):
    (tmp_path / "else").mkdir()
    target = tmp_path / "out"
    match taken:
        case "folder":
            target.mkdir()
        case "file":
            target.touch()
        case _:
            target.symlink_to(tmp_path / ("else" if taken == "link" else "nowhere"))
    assert code_of(make, study, target) is Code.OUTPUT_UNUSABLE
    assert {file.name for file in tmp_path.iterdir()} == {"else", "out"}
    assert not list((tmp_path / "else").iterdir())
    assert extracts(officer(study)) == ()  # nothing was read


def test_a_folder_that_is_moved_meanwhile_leads_no_file_elsewhere(study, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()

    def exchange(_):
        (tmp_path / "mine").rename(tmp_path / "moved")
        (tmp_path / "mine").symlink_to(tmp_path / "theirs")

    make(study, tmp_path / "mine" / "out", progress=exchange)
    assert not list((tmp_path / "theirs").iterdir())
    assert len(texts(tmp_path / "moved" / "out")) == 4


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, Code.OUTPUT_FULL), (errno.EDQUOT, Code.OUTPUT_FULL), (errno.EIO, Code.OUTPUT_UNUSABLE)],
)
def test_a_disk_that_is_full_leaves_no_file_and_no_entry(study, tmp_path, monkeypatch, number, code):
    def full(*_):
        raise OSError(number, "no")

    monkeypatch.setattr(module, "_write", full)
    assert code_of(make, study, tmp_path / "out") is code
    assert list(tmp_path.iterdir()) == []
    assert extracts(officer(study)) == ()


def test_one_that_is_interrupted_leaves_no_file_and_no_entry(study, tmp_path):
    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(study, tmp_path / "out", progress=interrupt)
    assert list(tmp_path.iterdir()) == []
    assert extracts(officer(study)) == ()


def test_rows_come_in_batches(study, tmp_path, monkeypatch):
    monkeypatch.setattr("deid_platform.warehouse.readers.extracts.BATCH", 3)
    sizes = []
    assert make(study, tmp_path / "out", progress=sizes.append).notes == sum(sizes) == 4
    assert sizes == [3, 1]
    assert len(texts(tmp_path / "out")) == 4


def test_who_may_not_read_extracts_nothing(study, tmp_path):
    out = tmp_path / "out"
    assert code_of(make, study, out, "none") is Code.PROJECT_UNKNOWN
    set_project(officer(study), "others", purpose="of other people")  # there, and none of this login's
    assert code_of(make, study, out, "others") is Code.PROJECT_UNKNOWN
    set_member(officer(study), "others", "demo_analyst")
    assert code_of(make, study, out, "others") is Code.GRANT_ENDED  # nothing granted
    set_project(officer(study), "sepsis", purpose="outcomes of sepsis", until=TODAY - timedelta(days=1))
    assert code_of(make, study, out) is Code.GRANT_ENDED
    assert not out.exists()


def test_without_a_release_there_is_nothing_to_extract(scene, tmp_path):
    assert code_of(make, scene, tmp_path / "out", DEMONSTRATION) is Code.NOTHING_RELEASED


def test_a_release_that_waits_for_its_signature_is_not_extracted(study, tmp_path):
    configure(study.warehouse.admin_engine(), "demo", signed_dossier=True)
    try:
        assert code_of(make, study, tmp_path / "out") is Code.DOSSIER_UNSIGNED
        with study.warehouse.administer() as connection:
            connection.execute(text("UPDATE ctl.release SET active = false"))
        assert code_of(make, study, tmp_path / "out") is Code.DOSSIER_UNSIGNED
    finally:
        configure(study.warehouse.admin_engine(), "demo")


HIDDEN = {
    "a retraction": report,
    "a withdrawn note": lambda scene: gone(scene, Kind.NOTE, 1),
    "a withdrawn patient": lambda scene: gone(scene, Kind.PATIENT, 1),
    "an opt-out": lambda scene: set_opt_outs(
        scene.warehouse.engine(Role.LOADER),
        scene.warehouse.engine(Role.PROMOTER),
        {scene.keys.key_id: [scene.keys.key("patient", "1")]},
    ),
    "a correction that passes": lambda scene: scene.publish("2", [scene.note(1, "corrected", site="north")]),
    "a correction that waits": lambda scene: (scene.stage("2", [scene.note(1, "corrected")]), scene.hide("2")),
    "a quarantine": lambda scene: (scene.stage("2", [scene.note(1, status="quarantined")]), scene.hide("2")),
    "a withdrawal by its delivery's run": lambda scene: scene.publish("2", withdrawn=[1]),
}


@pytest.mark.parametrize("how", HIDDEN)
def test_whatever_hides_a_note_makes_its_extract_stale_and_the_ledger_names_it_once(study, tmp_path, how):
    made = make(study, tmp_path / "out")
    assert name_extracts(officer(study)) == ()
    HIDDEN[how](study)
    (found,) = extracts(officer(study))
    assert (found.hidden, found.state) == (1, "stale: notes hidden since: 1 of 4")
    assert name_extracts(study.warehouse.engine(Role.PROMOTER)) == (made.number,)
    assert name_extracts(officer(study)) == ()
    (entry,) = (e for e in ledger(officer(study)) if e.event == "extract-stale")
    assert (entry.counts, entry.requirements) == ({"extract": made.number, "hidden": 1}, ("sepsis",))
    assert code_of(check_extract, reader(study), tmp_path / "out") is Code.EXTRACT_STALE
    make(study, tmp_path / "new")
    assert LEAK not in texts(tmp_path / "new")
    assert hidden(study) == [1, 0]


@pytest.mark.parametrize("how", ["a retraction", "a withdrawn patient", "a correction that passes"])
def test_what_is_hidden_while_an_extract_is_written_leaves_no_extract_and_the_ledger_names_it(study, tmp_path, how):
    def meanwhile(_):
        HIDDEN[how](study)
        # Whoever hides cannot see it yet.
        assert name_extracts(officer(study)) == ()

    assert code_of(make, study, tmp_path / "out", progress=meanwhile) is Code.EXTRACT_OVERTAKEN
    assert list(tmp_path.iterdir()) == []
    (found,) = extracts(officer(study))
    assert found.hidden == 1
    assert holders(officer(study), note_keys=[study.keys.key("note", "1")]) == (found.number,)
    assert name_extracts(officer(study)) == (found.number,)


def test_what_is_hidden_once_an_extract_is_recorded_finds_it_before_it_has_its_name(study, tmp_path, monkeypatch):
    looked, named = module.standing, []

    def hidden_right_after(*asked):
        found = looked(*asked)
        report(study)
        named.extend(name_extracts(officer(study)))
        return found

    monkeypatch.setattr(module, "standing", hidden_right_after)
    made = make(study, tmp_path / "out")
    assert named == [made.number]


@pytest.mark.parametrize("how", ["the project is deleted", "its grant is taken back"])
def test_a_grant_that_ends_while_an_extract_is_written_leaves_no_extract(study, tmp_path, how):
    def meanwhile(_):
        with study.warehouse.begin(Role.OFFICER) as connection:  # as if the database could end no session
            if how == "the project is deleted":
                connection.execute(text("SELECT ctl.delete_project('sepsis', 'An Officer', 'the study is over')"))
            else:
                connection.execute(text("SELECT ctl.grant_project('sepsis', 'north', NULL, false)"))

    assert code_of(make, study, tmp_path / "out", progress=meanwhile) is Code.EXTRACT_OVERTAKEN
    assert list(tmp_path.iterdir()) == []


def test_an_extract_falls_with_its_grant_and_stands_under_a_wider_one(study, tmp_path):
    make(study, tmp_path / "out")
    grant_project(officer(study), "sepsis")
    grant_project(officer(study), "sepsis", site="north", granted=False)
    assert extracts(officer(study))[0].state == "stands"
    grant_project(officer(study), "sepsis", granted=False)
    grant_project(officer(study), "sepsis", site="north", note_type="letter")
    assert extracts(officer(study))[0].state == "stale: the grant ended"
    delete_project(officer(study), "sepsis", who="An Officer", reason="the study is over")
    assert code_of(check_extract, reader(study), tmp_path / "out") is Code.EXTRACT_STALE


def test_an_extract_falls_with_its_release_when_that_is_withheld_or_expires(study, tmp_path):
    make(study, tmp_path / "first")
    was = {1: LEAK, 2: "north 2", 3: "north 3", 4: "north 4"}
    rows = [study.note(n, f"r2 {n}", source=source, site="north", patient=n) for n, source in was.items()]
    study.publish("1", rows, release="r2", detector="better")
    assert activate_release(study.warehouse.engine(Role.PROMOTER), "r2")
    make(study, tmp_path / "second")
    assert [e.release_state for e in extracts(officer(study))] == ["left", "active"]
    assert [e.state for e in extracts(officer(study))] == ["stands", "stands"]
    switch_release(officer(study), "r1", who="An Officer", reason="the second hides doses")
    assert [e.state for e in extracts(officer(study))] == ["stands", "stale: release withheld"]
    expire_releases(study.warehouse.engine(Role.PROMOTER), keep=0, days=0)
    assert extracts(officer(study))[1].state == "stale: notes hidden since: 4 of 4, release expired"


def test_the_same_text_promoted_again_makes_nothing_stale_and_another_text_does(study, tmp_path):
    make(study, tmp_path / "out")
    other = [study.note(n, f"other {n}", site="north", patient=n) for n in (6, 7)]
    same = [study.note(n, LEAK if n == 1 else f"north {n}", site="north", patient=n) for n in range(1, 5)]
    study.publish("1", [*same, *other])
    assert hidden(study) == [0]
    study.publish("1", [study.note(1, "made anew", source=LEAK, site="north", patient=1), *same[1:], *other])
    assert hidden(study) == [1]


def test_a_patient_whose_dates_move_otherwise_makes_an_extract_stale_though_no_text_holds_a_date(scene, tmp_path):
    def publish(day, whose):
        row = scene.note(1, LEAK, note_year=None, shifted_date=day, shift_key=plain_digest(whose))
        scene.publish("1", [row], dates="shift")

    publish(date(2020, 3, 2), "patient")
    make(scene, tmp_path / "out", DEMONSTRATION)
    publish(date(2020, 3, 2), "patient")
    assert hidden(scene) == [0]
    publish(date(2020, 4, 9), "mother")
    assert hidden(scene) == [1]
    make(scene, tmp_path / "new", DEMONSTRATION)
    publish(date(2020, 4, 10), "mother")
    assert hidden(scene) == [1, 1]


def test_a_finding_names_its_extracts_until_they_are_destroyed_or_it_is_withdrawn(study, tmp_path):
    first, second = make(study, tmp_path / "one"), make(study, tmp_path / "two")
    finding = report(study).number
    assert holders(officer(study), finding=finding) == (first.number, second.number)
    end_extract(officer(study), first.number, who="J. Doe", reason="deleted on both machines")
    assert holders(officer(study), finding=finding) == (second.number,)
    assert [e.state for e in extracts(officer(study))] == ["destroyed", "stale: notes hidden since: 1 of 4"]
    assert code_of(check_extract, reader(study), tmp_path / "one") is Code.EXTRACT_STALE
    for who in ("A. Officer", "B. Officer"):
        withdraw_finding(
            officer(study), study.warehouse.engine(Role.PROMOTER), finding, who=who, reason="it is a common word"
        )
    assert check_extract(reader(study), tmp_path / "two").state == "stands"
    ended = (officer(study), first.number)
    assert code_of(end_extract, *ended, who="J. Doe", reason="deleted once more") is Code.EXTRACT_UNKNOWN


def test_what_is_recorded_of_an_extract_is_there_for_good(study, tmp_path):
    make(study, tmp_path / "out")
    with study.warehouse.administer() as connection:
        for table in ("ctl.extract", "ctl.extract_note", "ctl.extract_end"):
            with pytest.raises(Exception, match="append only"):
                connection.execute(text(f"DELETE FROM {table}"))


def spoil(folder, how):
    notes = folder / "notes.parquet"
    match how:
        case "changed":
            notes.write_bytes(notes.read_bytes()[:-1] + b"!")
        case "missing":
            notes.unlink()
        case "a link to the same":
            notes.rename(folder.parent / "elsewhere")
            notes.symlink_to(folder.parent / "elsewhere")
        case "a pipe":
            notes.unlink()
            os.mkfifo(notes)
        case "one more":
            (folder / "more.parquet").touch()
        case "no manifest":
            (folder / "manifest.json").unlink()
        case "a manifest of nothing":
            (folder / "manifest.json").write_text("[]")


@pytest.mark.parametrize(
    "how", ["changed", "missing", "a link to the same", "a pipe", "one more", "no manifest", "a manifest of nothing"]
)
def test_files_that_are_not_the_manifests_are_noticed(study, tmp_path, how):
    make(study, tmp_path / "out")
    spoil(tmp_path / "out", how)
    assert code_of(check_files, tmp_path / "out") is Code.EXTRACT_DAMAGED


def test_a_manifest_that_was_written_anew_is_unknown_to_the_ledger(study, tmp_path):
    make(study, tmp_path / "out")
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"north"', '"south"'))
    assert code_of(check_extract, reader(study), tmp_path / "out") is Code.EXTRACT_UNKNOWN


def test_a_limited_data_set_is_extracted_from_its_own_view_by_nobody_else(scene, tmp_path):
    scene.publish("1", [scene.note(1)], limited=True)
    with pytest.raises(DeidError):
        make(scene, tmp_path / "out", DEMONSTRATION)
    assert list(tmp_path.iterdir()) == []


def record_anew(scene, folder, numbers, notes, **said):
    """Records an extract of these notes under a manifest of its own for the files of another."""
    path = folder / "manifest.json"
    with reader(scene).connect() as connection, connection.begin():
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        extract = connection.execute(text("SELECT number FROM extracts.begin_extract('sepsis')")).scalar_one()
        for number in numbers:
            add(connection, scene, number)
        path.write_text(json.dumps(json.loads(path.read_text()) | {"extract": extract, "notes": notes} | said))
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        connection.execute(text("SELECT extracts.close_extract('sepsis', :n, :d)"), {"n": len(numbers), "d": digest})


@pytest.mark.parametrize(
    ("numbers", "said", "reference"),
    [
        ((2, 3, 4), {"notes": 3}, "notes.parquet: 4 notes, 3 recorded, 1 others"),
        ((2, 3, 4), {"notes": 4}, "manifest.json: notes unlike what is recorded"),
        ((2, 3, 4), {"notes": 3, "extract": 1}, "manifest.json: extract unlike what is recorded"),
    ],
)
def test_an_extract_recorded_with_fewer_notes_than_its_file_holds_does_not_stand(
    study, tmp_path, numbers, said, reference
):
    make(study, tmp_path / "out")
    gone(study, Kind.NOTE, 1)
    assert code_of(check_extract, reader(study), tmp_path / "out") is Code.EXTRACT_STALE
    record_anew(study, tmp_path / "out", numbers, **{"notes": 3, **said})
    with pytest.raises(DeidError) as caught:
        check_extract(reader(study), tmp_path / "out")
    assert (caught.value.code, caught.value.ref) == (Code.EXTRACT_DAMAGED, reference)


def test_an_extract_recorded_with_as_many_other_notes_does_not_stand(study, tmp_path):
    make(study, tmp_path / "out")
    gone(study, Kind.NOTE, 1)
    old = pq.read_table(tmp_path / "out" / "notes.parquet")
    kept = {study.keys.key("note", str(number)) for number in (1, 2)}
    pq.write_table(old.filter([key in kept for key in old["note_key"].to_pylist()]), tmp_path / "out" / "notes.parquet")
    content = (tmp_path / "out" / "notes.parquet").read_bytes()
    files = json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]
    files["notes.parquet"] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    record_anew(study, tmp_path / "out", (3, 4), 2, files=files)
    with pytest.raises(DeidError) as caught:
        check_extract(reader(study), tmp_path / "out")
    assert caught.value.ref == "notes.parquet: 2 notes, 2 recorded, 2 others"


@pytest.mark.parametrize("how", ["stale", "text", "date"])
def test_old_or_altered_files_do_not_stand_when_the_same_notes_are_recorded_for_them_anew(study, tmp_path, how):
    make(study, tmp_path / "out")
    record_anew(study, tmp_path / "out", (1, 2, 3, 4), 4)
    check_extract(reader(study), tmp_path / "out")  # the same notes
    if how == "stale":
        notes = [study.note(n, f"north {n}", site="north", patient=n) for n in range(2, 5)]
        study.publish("1", [study.note(1, "made anew", source=LEAK, site="north", patient=1), *notes])
        assert code_of(check_extract, reader(study), tmp_path / "out") is Code.EXTRACT_STALE
    notes = tmp_path / "out" / "notes.parquet"
    rows = pq.read_table(notes)
    if how != "stale":
        column = {"text": "text", "date": "shifted_date"}[how]
        place = rows.schema.get_field_index(column)
        first = {"text": "another text", "date": date(2020, 3, 2)}[how]
        values = pa.array([first, *rows[column].to_pylist()[1:]], rows.schema.field(place).type)
        pq.write_table(rows.set_column(place, rows.schema.field(place), values), notes)
    files = json.loads((tmp_path / "out" / "manifest.json").read_text())["files"]
    files["notes.parquet"] = {"sha256": hashlib.sha256(notes.read_bytes()).hexdigest(), "bytes": notes.stat().st_size}
    record_anew(study, tmp_path / "out", (1, 2, 3, 4), 4, files=files)
    with pytest.raises(DeidError) as caught:
        check_extract(reader(study), tmp_path / "out")
    assert caught.value.ref == "notes.parquet: 4 notes, 4 recorded, 1 others"


def test_one_login_cannot_add_notes_to_the_extract_of_another(study, tmp_path):
    make(study, tmp_path / "out")
    with study.warehouse.engine(Role.DEMO_ANALYST).connect() as connection:
        key = study.keys.key("note", "5")
        connection.connection.driver_connection.execute("DISCARD SEQUENCES")
        with pytest.raises(Exception, match="not yet defined"):
            connection.execute(text("SELECT extracts.add_notes(:keys)"), {"keys": [key]})
    assert holders(officer(study), note_keys=[key]) == ()


def test_no_answer_tells_whether_a_note_that_is_not_granted_is_shown(study):
    gone(study, Kind.NOTE, 4)
    said = set()
    for number in (4, 5, 99):  # withdrawn, of the other site, never there
        with reading(reader(study), "sepsis") as source, pytest.raises(DBAPIError) as refused:
            add(source._connection, study, number)
        said.add(str(refused.value.orig).replace(study.keys.key("note", str(number)), "KEY"))
    assert len(said) == 1


def test_an_extract_that_is_closed_takes_no_note_more(study, tmp_path):
    with reader(study).connect() as connection, connection.begin():
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        connection.execute(text("SELECT extracts.begin_extract('sepsis')"))
        add(connection, study, 1)
        connection.execute(text("SELECT extracts.close_extract('sepsis', 1, repeat('0', 64))"))
        with pytest.raises(DBAPIError, match="closed"), connection.begin_nested():
            add(connection, study, 2)
    assert holders(officer(study), note_keys=[study.keys.key("note", "1")])
    assert holders(officer(study), note_keys=[study.keys.key("note", "2")]) == ()


BEGIN = "SELECT number FROM extracts.begin_extract('sepsis')"
CLOSE = "SELECT extracts.close_extract('sepsis', {}, lpad('{}', 64, '0'))"


@contextmanager
def one_moment(scene):
    """A transaction of a reader, of one moment, as extracts are made in."""
    with reader(scene).connect() as connection:
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        yield connection


def made_in(connection, scene, number):
    connection.execute(text(BEGIN))
    add(connection, scene, 1)
    connection.execute(text(CLOSE.format(1, number)))


def test_an_extract_of_no_notes_is_refused_and_leaves_no_file_and_no_entry(study, tmp_path):
    set_project(officer(study), "empty", purpose="notes of the west")
    grant_project(officer(study), "empty", site="west")
    set_member(officer(study), "empty", "demo_analyst")
    with pytest.raises(DeidError) as caught:
        make(study, tmp_path / "out", "empty")
    assert (caught.value.code, caught.value.ref) == (Code.EXTRACT_REFUSED, "no notes")
    assert list(tmp_path.iterdir()) == []
    assert extracts(officer(study)) == ()
    many = f"SELECT count(b.number), count(c) FROM generate_series(1, 9) g, LATERAL ({BEGIN}) b, LATERAL ({CLOSE}) c"
    with one_moment(study) as connection, pytest.raises(DBAPIError, match="no notes"):
        connection.execute(text(many.format(0, 1)))


@pytest.mark.parametrize("between", ["", "SAVEPOINT s", "SAVEPOINT s; RELEASE SAVEPOINT s"])
def test_one_transaction_makes_one_extract(study, between):
    with one_moment(study) as connection:
        connection.exec_driver_sql(between or "SELECT 1")
        made_in(connection, study, 1)
        with pytest.raises(DBAPIError, match="a second one in one transaction"), connection.begin_nested():
            connection.execute(text(BEGIN))
        with pytest.raises(DBAPIError, match="a second one in one transaction"):
            connection.execute(text(CLOSE.format(1, 2)))


def test_extracts_one_after_another_are_no_second_one_of_a_transaction(study, tmp_path):
    with one_moment(study) as waiting:
        waiting.execute(text("SELECT 1"))
        assert [make(study, tmp_path / str(n)).notes for n in range(3)] == [4, 4, 4]
        made_in(waiting, study, 1)
        waiting.commit()
    assert len(extracts(officer(study))) == 4


def test_a_login_makes_a_hundred_extracts_an_hour(study, tmp_path):
    with study.warehouse.administer() as connection:
        connection.execute(
            text(
                "INSERT INTO ctl.extract (id, project, login, at, release, relation, grants, notes, manifest_digest)"
                " SELECT -g, 'sepsis', CASE WHEN g < 101 THEN 'demo_analyst' ELSE 'jdoe' END,"
                " clock_timestamp() - (CASE WHEN g = 1 THEN 61 ELSE 59 END) * interval '1 minute',"
                " 'r1', 'research.notes', '[]', 1, lpad(to_hex(g), 64, '0') FROM generate_series(1, 102) g"
            )
        )
    make(study, tmp_path / "the hundredth")
    with pytest.raises(DeidError) as caught:
        make(study, tmp_path / "out")
    assert (caught.value.code, caught.value.ref) == (Code.EXTRACT_REFUSED, "100 in an hour")


def test_the_commands_write_check_list_and_end_an_extract(study, tmp_path, monkeypatch):
    site = SimpleNamespace(warehouse=study.warehouse)
    monkeypatch.setattr("deid_platform.cli.extract.site_of", lambda _: site)
    monkeypatch.setattr("deid_platform.cli.extract.officer_of", lambda _: officer(study))
    made = deid("extract", "sepsis", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "4 notes of release r1 in sepsis" in made.stderr
    assert "deid extract check sepsis --login demo_analyst" in made.stderr
    assert len(texts(tmp_path / "sepsis")) == 4
    assert deid("extract", "check", "sepsis", folder=tmp_path).returncode == 0
    assert deid("extract", "sepsis", folder=tmp_path).stderr.startswith("output-unusable [there already]")
    report(study)
    stale = deid("extract", "check", "sepsis", folder=tmp_path)
    assert (stale.returncode, "1 of 4" in stale.stderr) == (1, True)
    (listed,) = map(json.loads, deid("extract", "list", "--json").stdout.splitlines())
    assert (listed["project"], listed["login"], listed["hidden_since"]) == ("sepsis", "demo_analyst", 1)
    assert deid("extract", "list", "--json", "--note", study.keys.key("note", "5")).stdout == ""
    number = str(listed["extract"])
    assert deid("extract", "destroyed", number, "--who", "J. Doe", "--why", "deleted all copies").returncode == 0
    assert json.loads(deid("extract", "list", "--json").stdout)["state"] == "destroyed"
