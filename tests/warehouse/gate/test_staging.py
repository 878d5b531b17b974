"""Staging: what arrives is what was sent, whole or not at all."""

from __future__ import annotations

import dataclasses
import tracemalloc
from datetime import date

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from deid_platform.errors import DeidError
from deid_platform.warehouse.gate.staging import Counts, StagedWithdrawal, count_differences, stage
from deid_platform.warehouse.server.roles import Role

# What Postgres can hold: any code point but NUL and surrogates.
writable = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=60)


def staged_texts(scene, watermark):
    with scene.warehouse.begin(Role.GATEKEEPER) as connection:
        return connection.execute(
            text("SELECT text FROM staging.note WHERE delivery = :d ORDER BY note_key"), {"d": f"clinic@{watermark}"}
        ).scalars()


def test_the_server_counts_what_arrived(scene):
    rows = [scene.note(1), scene.note(2), scene.note(3, status="quarantined")]
    staged = scene.stage("1", rows, withdrawn=[4], patients=[7], rejoined=[8])
    assert staged.counts == Counts(clean=2, quarantined=1, withdrawn=2, rejoined=1)
    assert staged.counts.notes == 3
    assert len(staged.staged_digest) == 64


def test_every_column_arrives(scene):
    full = dataclasses.replace(
        scene.note(1),
        provider_key=scene.keys.key("provider", "1"),
        encounter_key=scene.keys.key("encounter", "1"),
        site="north",
        shifted_date=date(2020, 2, 29),
        former_keys=("n_former", "n_older"),
    )
    scene.stage("2026-01-05", [full])
    with scene.warehouse.begin(Role.GATEKEEPER) as connection:
        row = connection.execute(text("SELECT * FROM staging.note")).mappings().one()
    for field in dataclasses.fields(full):
        held = row[field.name]
        assert (tuple(held) if isinstance(held, list) else held) == getattr(full, field.name)
    assert (row["delivery"], row["feed"], row["delivery_seq"]) == ("clinic@2026-01-05", "clinic", 20260105000000)
    assert (row["release"], row["run_id"], row["key_id"]) == ("r1", "run-1", scene.keys.key_id)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(written=writable)
def test_text_arrives_code_point_by_code_point(shared_scene, written):
    shared_scene.stage("30", [shared_scene.note(1, written)])
    assert list(staged_texts(shared_scene, "30")) == [written]


def test_staging_again_replaces_what_was_staged(scene):
    first = scene.stage("1", [scene.note(1), scene.note(2)], patients=[5])
    second = scene.stage("1", [scene.note(2, "anew")])
    assert list(staged_texts(scene, "1")) == ["anew"]
    assert second.counts == Counts(clean=1)
    assert second.staged_digest != first.staged_digest


def test_other_deliveries_are_left_alone(scene):
    before = scene.stage("1", [scene.note(1)])
    scene.stage("2", [scene.note(1, "other")])
    assert list(staged_texts(scene, "1")) == ["note 1"]
    assert scene.stage("1", [scene.note(1)]).staged_digest == before.staged_digest


def test_rows_that_stop_in_the_middle_leave_what_was_there(scene):
    before = scene.stage("1", [scene.note(1)])

    def broken():
        yield scene.note(2)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        stage(scene.warehouse.engine(Role.LOADER), scene.delivery("1"), broken(), scene.header([]))
    with scene.warehouse.begin(Role.GATEKEEPER) as connection:
        assert connection.execute(text("SELECT ctl.staged_digest('clinic@1')")).scalar() == before.staged_digest


@pytest.mark.parametrize(("status", "with_text"), [("clean", False), ("quarantined", True)])
def test_only_a_clean_note_has_text(scene, status, with_text):
    row = dataclasses.replace(scene.note(1, status=status), text="a text" if with_text else None)
    with pytest.raises(DeidError, match="23514"):
        scene.stage("1", [row])


def test_two_names_for_one_place_in_the_order_are_refused(scene):
    scene.stage("2026-01-05", [scene.note(1)])
    with pytest.raises(DeidError, match="23505"):
        scene.stage("20260105", [scene.note(1)])


@pytest.mark.parametrize(
    "change",
    [
        {"text": "note 1 "},
        {"site": ""},
        {"provider_key": "x"},
        {"note_year": 2021},
        {"shifted_date": date(2020, 1, 1)},
        {"content_digest": "0" * 32},
        {"dictionary_digest": "0" * 32},
        {"language": None},
    ],
    ids=lambda change: next(iter(change)),
)
def test_each_column_is_in_the_digest(shared_scene, change):
    note = shared_scene.note(1)
    before = shared_scene.stage("40", [note])
    after = shared_scene.stage("40", [dataclasses.replace(note, **change)])
    assert before.staged_digest != after.staged_digest


def test_every_row_that_is_held_otherwise_is_counted_once(scene):
    rows = [scene.note(n) for n in range(5)] + [scene.note(5, status="quarantined")]
    staged = scene.stage("1", rows)
    gatekeeper = scene.warehouse.engine(Role.GATEKEEPER)

    def differences(expected, gone=()):
        return count_differences(gatekeeper, staged, iter(expected), gone)

    assert differences(rows) == differences(reversed(rows)) == 0
    assert differences(rows[1:]) == differences([*rows, scene.note(6)]) == differences([*rows, rows[0]]) == 1
    assert differences([]) == 6
    changes = {"text": "other", "patient_key": None, "former_keys": ("n_x",), "shifted_date": date(2020, 1, 1)}
    for column, value in changes.items():
        assert differences([dataclasses.replace(rows[0], **{column: value}), *rows[1:]]) == 1, column
    assert differences([scene.note(6), *rows[1:]]) == 2
    assert differences(rows, [StagedWithdrawal("note", "n_x")]) == 1
    scene.stage("1", rows[:2])
    assert differences(rows) == 2, "of another staging every row differs"


def test_comparing_rows_holds_none_of_their_texts(scene):
    """What would be held of all of them is 4 MB."""
    few, many = ([scene.note(n, f"{n} " + "word " * 400) for n in range(count)] for count in (500, 2_000))
    gatekeeper = scene.warehouse.engine(Role.GATEKEEPER)
    peaks = []
    for rows in (few, many):
        staged = scene.stage("1", rows)
        tracemalloc.start()
        try:
            assert count_differences(gatekeeper, staged, rows, ()) == 0
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] - peaks[0] < 1_000_000
