"""The OMOP view: the model's columns and types, and rows that its users can join."""

from __future__ import annotations

from datetime import date

import pytest
from sqlalchemy import text

from deid_platform.warehouse.server.roles import Role

# OMOP CDM 5.4, table NOTE: column, PostgreSQL type, whether it must have a value.
MODEL = [
    ("note_id", "integer", True),
    ("person_id", "integer", True),
    ("note_date", "date", True),
    ("note_datetime", "timestamp without time zone", False),
    ("note_type_concept_id", "integer", True),
    ("note_class_concept_id", "integer", True),
    ("note_title", "character varying(250)", False),
    ("note_text", "text", True),
    ("encoding_concept_id", "integer", True),
    ("language_concept_id", "integer", True),
    ("provider_id", "integer", False),
    ("visit_occurrence_id", "integer", False),
    ("visit_detail_id", "integer", False),
    ("note_source_value", "character varying(50)", False),
    ("note_event_id", "integer", False),
    ("note_event_field_concept_id", "integer", False),
]


def rows(scene):
    with scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
        return connection.execute(text("SELECT * FROM omop.note ORDER BY note_text")).all()


def test_columns_and_types_are_the_models(scene):
    with scene.warehouse.administer() as connection:
        found = connection.execute(
            text(
                "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
                " WHERE attrelid = 'omop.note'::regclass AND attnum > 0 ORDER BY attnum"
            )
        ).all()
    assert [tuple(row) for row in found] == [(name, kind) for name, kind, _ in MODEL]


def test_what_the_model_demands_always_has_a_value(scene):
    scene.publish(
        "1",
        [
            scene.note(1, "a whole date", shifted_date=date(2019, 3, 4), provider_key="d_1", encounter_key="e_1"),
            scene.note(2, "a year alone"),
            scene.note(3, "no date", note_year=None),
            scene.note(4, "nobody's", patient=None),
        ],
    )
    first, second = rows(scene)
    for row in (first, second):
        assert all(row._mapping[name] is not None for name, _, demanded in MODEL if demanded)
    assert (first.note_date, second.note_date) == (date(2019, 3, 4), date(2020, 1, 1))
    assert first.person_id == second.person_id
    assert first.note_id != second.note_id
    assert first.provider_id is not None and second.provider_id is None
    assert first.note_source_value == scene.keys.key("note", "1")


def test_a_number_stays_with_its_key_through_versions_and_releases(scene):
    scene.publish("1", [scene.note(1, "first")])
    (before,) = rows(scene)
    scene.publish("2", [scene.note(1, "corrected")])
    (after,) = rows(scene)
    assert (after.note_id, after.person_id) == (before.note_id, before.person_id)


def test_numbers_do_not_tell_the_order_of_arrival(scene):
    for watermark in range(1, 4):
        scene.publish(str(watermark), [scene.note(10 * watermark + n, f"{watermark} {n}") for n in range(10)])
    numbers = [row.note_id for row in rows(scene)]
    assert numbers != sorted(numbers)
    assert max(numbers) - min(numbers) > 1_000_000


def test_keys_whose_hashes_meet_get_numbers_of_their_own(own_scene):
    with own_scene.warehouse.administer() as connection:
        connection.execute(text("SELECT ctl.number_keys('note', ARRAY['n_a'])"))
        # What the next key would hash to is taken.
        taken = "SELECT (hashtextextended('n_b', 0) & 2147483647)::integer"
        connection.execute(text(f"UPDATE research.number SET number = ({taken})"))
        connection.execute(text("SELECT ctl.number_keys('note', ARRAY['n_a', 'n_b'])"))
        numbers = connection.execute(text("SELECT count(DISTINCT number) FROM research.number")).scalar()
    assert numbers == 2


@pytest.mark.parametrize("kind", ["note", "patient", "provider", "encounter"])
def test_the_planner_knows_that_a_key_has_one_number(own_scene, kind):
    # It has no statistics. Taking a key for one of 200, it compares every note with every number: minutes for 60,000.
    keys = "SELECT 'k_' || g AS key FROM generate_series(1, 20000) g"
    joined = f"SELECT FROM research.number n JOIN ({keys}) k ON n.kind = '{kind}' AND n.key = k.key"
    with own_scene.warehouse.administer() as connection:
        connection.execute(text(f"SELECT ctl.number_keys('{kind}', ARRAY({keys}))"))
        connection.execute(text("VACUUM ANALYZE research.number"))
        (plan,) = connection.execute(text(f"EXPLAIN (FORMAT JSON) {joined}")).scalar_one()
    # One in 200 is of this kind, by its reckoning, and one of these is a key's; 10,000 otherwise.
    assert plan["Plan"]["Plan Rows"] <= 1_000


def test_what_analysts_do_not_see_is_not_here_either(scene):
    scene.publish("1", [scene.note(1), scene.note(2)], withdrawn=[])
    scene.publish("2", withdrawn=[1])
    assert [row.note_text for row in rows(scene)] == ["note 2"]
