"""The suite over staged rows: what it notices, and that it says nothing but names."""

from __future__ import annotations

import dataclasses
import logging

import pytest
from sqlalchemy import text

from deid_platform.warehouse.expectations import EXPECTATIONS, validate_staged
from deid_platform.warehouse.roles import Role
from deid_platform.warehouse.staging import Counts

pytestmark = pytest.mark.warehouse

MARKER = "Zyxwarren Quillfeather"


def failed(scene, staged, **options) -> set[str]:
    """The names of the expectations that did not hold."""
    options = {"note_types": ["progress", "discharge"], **options}
    outcomes = validate_staged(scene.warehouse.engine(Role.GATEKEEPER), staged, **options)
    assert len(outcomes) > 20
    assert len({outcome.name for outcome in outcomes}) == len(outcomes)
    return {outcome.name for outcome in outcomes if not outcome.passed}


def test_what_the_platform_stages_holds(scene):
    rows = [
        *(scene.note(number) for number in range(5)),
        scene.note(6, status="quarantined"),
        scene.note(7, status="withdrawn"),
        dataclasses.replace(scene.note(8), patient_key=None, note_year=None, note_type=None, language="pt-BR"),
    ]
    assert failed(scene, scene.stage("1", rows)) == set()


def test_an_empty_delivery_holds(scene):
    assert failed(scene, scene.stage("1", [], patients=[1])) == set()


FAULTS = {
    "note_key_format": {"note_key": MARKER},
    "patient_key_format": {"patient_key": "MRN 00012345"},
    "provider_key_format": {"provider_key": "p_short"},
    "encounter_key_format": {"encounter_key": "2026-01-05"},
    "note_type_known": {"note_type": MARKER},
    "note_year_plausible": {"note_year": 1492},
    "language_format": {"language": "English, mostly"},
    "content_digest_format": {"content_digest": MARKER},
    "dictionary_digest_format": {"dictionary_digest": "?"},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_its_value_is_not(scene, name, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    rows = [scene.note(1), dataclasses.replace(scene.note(2), **FAULTS[name])]
    staged = scene.stage("1", rows)
    assert failed(scene, staged) == {name}
    printed = "".join(capfd.readouterr()) + caplog.text
    assert MARKER not in printed


def test_a_year_ahead_is_not_plausible_and_next_year_is(scene):
    with scene.warehouse.begin(Role.GATEKEEPER) as connection:
        this_year = int(connection.execute(text("SELECT extract(year FROM current_date)")).scalar())
    for ahead, expected in ((1, set()), (2, {"note_year_plausible"})):
        row = dataclasses.replace(scene.note(1), note_year=this_year + ahead)
        assert failed(scene, scene.stage("1", [row])) == expected


def test_lengths_are_bounded(scene):
    staged = scene.stage("1", [scene.note(1, "four")])
    assert failed(scene, staged, max_chars=4) == set()
    assert failed(scene, staged, max_chars=3) == {"text_length"}


def test_every_outcome_is_described_in_the_same_order(scene):
    staged = scene.stage("1", [scene.note(1)])
    outcomes = validate_staged(scene.warehouse.engine(Role.GATEKEEPER), staged, note_types=["progress"])
    assert [outcome.name for outcome in outcomes] == list(EXPECTATIONS)


def test_rows_that_were_not_announced_are_noticed(scene):
    staged = scene.stage("1", [scene.note(1)], announced=Counts(clean=2))
    assert failed(scene, staged) == {"rows_as_announced", "clean_as_announced"}
    staged = scene.stage("1", [scene.note(1)], announced=Counts(quarantined=1))
    assert failed(scene, staged) == {"clean_as_announced"}


def test_a_mixture_of_detectors_is_noticed(scene):
    staged = scene.stage("1", [scene.note(1), scene.note(2)])
    with scene.warehouse.administer() as connection:
        connection.execute(
            text("UPDATE staging.note SET detector_digest = repeat('0', 32) WHERE note_key = :key"),
            {"key": scene.note(1).note_key},
        )
    assert failed(scene, staged) == {"staged_unchanged", "detector_digest_single"}


def test_a_column_that_is_gone_fails_what_needs_it_and_raises_nothing(own_scene):
    scene = own_scene
    staged = scene.stage("1", [scene.note(1)])
    with scene.warehouse.administer() as connection:
        connection.execute(text("ALTER TABLE staging.note RENAME COLUMN language TO tongue"))
        connection.execute(text("ALTER FUNCTION ctl.staged_digest RENAME TO digest_of_old"))
        connection.execute(
            text(
                "CREATE FUNCTION ctl.staged_digest(text) RETURNS text LANGUAGE sql AS 'SELECT NULL'; "
                "GRANT EXECUTE ON FUNCTION ctl.staged_digest TO gatekeeper"
            )
        )
    assert failed(scene, staged) == {"staged_unchanged", "columns_in_order", "language_format"}


def test_the_library_calls_nobody(scene, monkeypatch):
    contacted = []
    monkeypatch.setattr("socket.getaddrinfo", lambda *arguments, **_: contacted.append(arguments[0]) or [])
    failed(scene, scene.stage("1", [scene.note(1)]))
    assert contacted == []
