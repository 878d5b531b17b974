"""The dbt project: it builds as the modeller, and what analysts get hides small groups."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from dbt_program import DBT, PROJECT, dbt
from sqlalchemy import text

from deid_platform.warehouse.migrate import DEMONSTRATION
from deid_platform.warehouse.readers.dictionary import dictionary, dictionary_json, dictionary_markdown
from deid_platform.warehouse.readers.projects import grant_project, set_member, set_project
from deid_platform.warehouse.server.roles import Role
from resources import dbt_resource

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """One folder for all builds: dbt parses the project once."""
    return tmp_path_factory.mktemp("target")


def of(scene, number, notes, *, patients, words=3, **changes):
    """So many notes, numbered from one on, of so many patients."""
    return [
        scene.note(number + n, " ".join(["word"] * words), patient=number + n % patients, **changes)
        for n in range(notes)
    ]


@pytest.mark.transport
def test_the_mart_counts_notes_and_hides_small_groups(scene, target):
    rows = [
        *of(scene, 0, 29, patients=12, site="north"),
        *of(scene, 100, 11, patients=3, note_type="discharge", site="north"),
        *of(scene, 200, 10, patients=10, note_type="letter", site="north"),
        *of(scene, 300, 15, patients=15, note_type=None, site="north"),
        *of(scene, 400, 25, patients=25, words=7, note_type="unknown", site="north"),
    ]
    scene.publish("1", rows)
    with scene.warehouse.administer() as connection:  # as if the mart had had other columns before
        connection.exec_driver_sql("SET ROLE deid_modeller")
        connection.exec_driver_sql("CREATE TABLE marts.note_profile (former integer)")
    built = dbt(scene.warehouse, target, "build")
    assert built.returncode == 0, built.stdout
    assert mart(scene) == [
        # type, year, notes, patients, mean words, suppressed
        ("discharge", 2020, 10, None, 3, True),
        ("progress", 2020, 20, 10, 3, False),
        ("unknown", 2020, 30, 30, 6, False),  # without a type, and called so: one row
    ]
    with scene.warehouse.administer() as connection:
        connection.execute(text("UPDATE marts.note_profile SET notes = 13 WHERE note_type = 'progress'"))
        # More than 1 in 100 before 1950.
        connection.execute(text("UPDATE research.note_version SET note_year = 1900 WHERE note_type = 'letter'"))
    shown = dbt(scene.warehouse, target, "test")
    assert shown.returncode == 1
    assert "note_profile_hides_small_counts" in shown.stdout
    assert "Warning in test omop_note_passes_data_quality_checks" in shown.stdout


def mart(scene):
    with scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
        rows = connection.execute(text("SELECT * FROM marts.note_profile ORDER BY note_type"))
        return [tuple(row) for row in rows]


def test_less_ones_own_notes_the_mart_tells_nothing_of_small_cells_of_other_projects(scene, target):
    """An analyst knows each note of their own site, and takes them away from the counts of all."""
    own = [
        *of(
            scene, 0, 14, patients=14, site="north", note_type="letter"
        ),  # 15 would be another multiple of 10 if rounded
        *of(scene, 100, 20, patients=11, site="north", note_type="progress"),
        *of(scene, 200, 9, patients=9, site="north", note_type="referral"),
    ]
    # Of another project: few of the same kinds, each a whole cell, with texts of a length that a mean would show.
    others = [
        *of(scene, 300, 3, patients=3, words=90, site="south", note_type="letter"),
        *of(scene, 400, 10, patients=10, words=90, site="south", note_type="progress"),
        *of(scene, 500, 3, patients=3, words=90, site="south", note_type="referral"),
        *of(scene, 600, 10, patients=10, words=90, site="south", note_type="rare"),
    ]
    scene.publish("1", [*own, *others])
    officer = scene.warehouse.engine(Role.OFFICER)
    set_project(officer, "northern", purpose="outcomes in the north")
    grant_project(officer, "northern", site="north")
    set_member(officer, DEMONSTRATION, "demo_analyst", member=False)
    set_member(officer, "northern", "demo_analyst")
    assert len(scene.visible()) == len(own)
    built = dbt(scene.warehouse, target, "build")
    assert built.returncode == 0, built.stdout
    # Exactly what it would be if the others had nothing: the analyst could have written it themselves.
    assert mart(scene) == [("letter", 2020, 10, 10, 3, False), ("progress", 2020, 20, 10, 3, False)]


def test_a_reader_who_never_ends_neither_waits_for_a_new_mart_nor_holds_it_up(scene, target):
    of_mart, of_notes = text("SELECT note_type FROM marts.note_profile"), text("SELECT count(*) FROM research.notes")
    scene.publish("1", [scene.note(n, note_type="letter", patient=n) for n in range(20)])
    assert dbt(scene.warehouse, target, "build", "--exclude-resource-type", "test").returncode == 0
    reader = scene.warehouse.engine(Role.DEMO_ANALYST).execution_options(isolation_level="REPEATABLE READ")
    with reader.connect() as idle:
        before = idle.execute(of_mart).scalars().all(), idle.execute(of_notes).scalar_one()
        assert idle.execute(text("SELECT count(*) FROM marts.published_survey")).scalar_one()
        scene.publish("2", [scene.note(n, note_type="referral", patient=n) for n in range(30, 50)])
        # Whatever did wait would fail.
        built = dbt(scene.warehouse, target, "build", PGOPTIONS="-c lock_timeout=1s")
        assert built.returncode == 0, built.stdout
        with scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
            # Whole and in the order of its own columns, not in the order of arrival.
            assert connection.execute(of_mart).scalars().all() == ["letter", "referral"]
        # Whoever reads on reads what it read before, whole.
        assert (idle.execute(of_mart).scalars().all(), idle.execute(of_notes).scalar_one()) == before


@pytest.mark.transport
def test_what_dbt_keeps_of_a_parse_holds_no_password(scene, tmp_path):
    parsed = dbt(scene.warehouse, tmp_path, "parse", DBT_ENV_SECRET_MODELLER="sesame-open", DEID_DBT_DATABASE="kept")
    assert parsed.returncode == 0, parsed.stdout
    assert (tmp_path / "partial_parse.msgpack").stat().st_size
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"kept" in kept
    assert b"sesame-open" not in kept


@pytest.mark.process
def test_the_version_is_what_the_program_says():
    said = subprocess.run([*DBT, "--version"], capture_output=True, text=True, check=True).stdout
    assert f"installed: {dbt_resource()._cli_version}" in said


def test_the_folder_is_no_package():
    # An __init__.py there would shadow the library of the same name.
    assert not list(PROJECT.rglob("__init__.py"))
    assert "send_anonymous_usage_stats: false" in (PROJECT / "dbt_project.yml").read_text()


@pytest.fixture
def analysts(scene, target):
    """A scene with marts, for whoever looks at it first."""
    scene.publish("1", [scene.note(n, f"On metoprolol, day {n}.", patient=n) for n in range(30)])
    made = dbt(scene.warehouse, target, "build", "--exclude-resource-type", "test")
    assert made.returncode == 0, made.stdout
    return scene


def built(folder):
    return (file for file in folder.iterdir() if file.suffix in (".sql", ".csv"))


def test_the_data_dictionary_describes_every_column_that_readers_see(analysts):
    relations = dictionary(analysts.warehouse.engine(Role.OFFICER))
    assert [r.name for r in relations] == [
        "research.notes",
        "research.structured",
        "omop.note",
        *sorted(f"marts.{file.stem}" for folder in ("models/marts", "seeds") for file in built(PROJECT / folder)),
        "quality.determination",
        "quality.held_out_sets",
        "quality.lab_scores",
        "quality.scores",
        "limited.notes",
    ]
    assert [(r.name, c.name) for r in relations for c in r.columns if not (r.holds and c.meaning and c.policy)] == []
    # `deid db dictionary` makes both.
    assert dictionary_markdown(relations) == (ROOT / "docs/data-dictionary.md").read_text(encoding="utf-8")
    assert dictionary_json(relations) == (ROOT / "docs/data-dictionary.json").read_text(encoding="utf-8")


def test_the_analysts_notebook_runs(analysts, monkeypatch):
    url = analysts.warehouse.url(Role.DEMO_ANALYST)
    monkeypatch.setenv("DEID_ANALYST_URL", url.render_as_string(hide_password=False))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    notebook = json.loads((ROOT / "docs/analysts.ipynb").read_text(encoding="utf-8"))
    said = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), said)
    assert list(said["columns"]["column_name"])[:2] == ["note_key", "patient_key"]
    assert said["columns"]["meaning"].notna().all()
    assert said["profile"]["notes"].sum() == 30
    assert len(said["notes"]) == len(said["derived"]) == 20
    assert list(said["board"].columns)[:4] == ["gold", "inputs", "place", "detector"]
    assert said["beside"]["published"].notna().all() and len(said["beside"]) > 500
