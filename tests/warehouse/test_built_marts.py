"""Marts are left as they are only where a build would make them so: of the same rows, by the same project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import text

from deid_platform.keys import Keyring, plain_digest
from deid_platform.notes import Delivery
from deid_platform.warehouse.gate.ledger import Score, record_scores
from deid_platform.warehouse.gate.staging import Inputs, Kind
from deid_platform.warehouse.gate.withdrawals import withdraw
from deid_platform.warehouse.readers.marts import BuiltMarts, MartRelations
from deid_platform.warehouse.server.roles import Role

PROJECT = MartRelations(
    "state",
    [("research", "notes"), ("quality", "scores"), ("quality", "score_history")],
    [("marts", "counted"), ("marts", "scored")],
    [("marts", "of_papers")],
)


OTHER = Keyring(b"b2f6c4d19a07e385f46b21c0d97ae583", site="clinic")


@pytest.fixture
def scene(scene) -> Iterator[Any]:
    """Two notes that are shown, and no mart."""
    scene.publish("1", [scene.note(1), scene.note(2)])
    yield scene
    by_modeller(scene, *(f"DROP TABLE IF EXISTS marts.{name}" for _, name in (*PROJECT.models, *PROJECT.seeds)))


def by_modeller(scene, *statements: str) -> None:
    with scene.warehouse.begin(Role.MODELLER) as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def fill(scene) -> None:
    """What dbt would do."""
    by_modeller(
        scene,
        "CREATE TABLE IF NOT EXISTS marts.counted (notes bigint)",
        "DELETE FROM marts.counted",
        "INSERT INTO marts.counted SELECT count(*) FROM research.notes",
        "CREATE TABLE IF NOT EXISTS marts.scored (score double precision)",
        "CREATE TABLE IF NOT EXISTS marts.of_papers AS SELECT 7 AS figure",
    )


def marts(scene, keys: Keyring | None = None, project: MartRelations = PROJECT) -> BuiltMarts:
    return BuiltMarts(scene.warehouse.engine(Role.MODELLER), keys or scene.keys, project)


def build(scene, meanwhile: Callable[[], object] = lambda: None, *, whole: bool = True) -> None:
    with marts(scene).built(whole=whole):
        fill(scene)
        meanwhile()


def score(scene, value: float = 0.9) -> None:
    digest = plain_digest("detector")
    scores = [Score("ALL", "recall", value, value, value, 100)]
    gatekeeper = scene.warehouse.engine(Role.GATEKEEPER)
    record_scores(
        gatekeeper, scores, detector_digest=digest, gold="site", inputs=Inputs.TOPICS, look=scene.look(gold="site")
    )


def arrived(scene, kind: Kind, key: str) -> None:
    """A delivery's file withdraws somebody, long before its run."""
    gone = [(kind, key, scene.keys.key_id)]
    withdraw(scene.warehouse.engine(Role.PROMOTER), Delivery("clinic", "9"), gone, marker="file")


def administer(statement: str) -> Callable[[Any], None]:
    def change(scene) -> None:
        with scene.warehouse.administer() as connection:
            connection.execute(text(statement))

    return change


CHANGES: dict[str, Callable[[Any], object]] = {
    "a note came": lambda scene: scene.publish("2", [scene.note(3)]),
    "a note was corrected, and says as much": lambda scene: scene.publish("2", [scene.note(2, "note 3")]),
    "a note is withdrawn": lambda scene: arrived(scene, Kind.NOTE, scene.keys.key("note", "1")),
    "a patient is withdrawn": lambda scene: arrived(scene, Kind.PATIENT, scene.keys.key("patient", "1")),
    "a correction is held back": lambda scene: (
        scene.stage("2", [scene.note(1, status="quarantined")]),
        scene.hide("2"),
    ),
    "a release is no longer shown": administer("UPDATE ctl.release SET active = false"),
    "the bench scored": score,
    "a mart lost a row": administer("DELETE FROM marts.counted"),
    "a figure of a mart is another one": administer("UPDATE marts.counted SET notes = notes + 1"),
    "a mart is gone": administer("DROP TABLE marts.counted"),
    "a mart that has no mark is gone": administer("DROP TABLE marts.scored"),
    "a table of the papers is gone": administer("DROP TABLE marts.of_papers"),
    "a table of the papers has another figure": administer("UPDATE marts.of_papers SET figure = 8"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_marts_stand_until_anything_changes_that_they_say_or_are_built_from(scene, change: str) -> None:
    assert not marts(scene).stand  # never built
    build(scene)
    assert marts(scene).stand
    CHANGES[change](scene)
    assert not marts(scene).stand
    build(scene)
    assert marts(scene).stand


def test_a_release_that_nobody_sees_yet_changes_no_mart(scene) -> None:
    score(scene)
    scene.publish("1", [scene.note(1), scene.note(2)], release="r2", detector="another")
    build(scene)
    scene.publish("2", [scene.note(3)], release="r2", detector="another")
    assert marts(scene).stand


@pytest.mark.parametrize(
    "other",
    [
        {"keys": OTHER},
        {"project": PROJECT._replace(state="another")},
        {"project": PROJECT._replace(models=[*PROJECT.models, ("marts", "to_come")])},
        {"project": PROJECT._replace(sources=[*PROJECT.sources, ("quality", "lab_scores")])},
    ],
    ids=["secret", "project", "model", "source"],
)
def test_marts_of_another_secret_or_project_do_not_stand(scene, other: dict) -> None:
    build(scene)
    assert marts(scene).stand
    assert not marts(scene, **other).stand


def test_a_build_that_fails_or_is_killed_leaves_marts_that_are_built_again(scene) -> None:
    build(scene)
    with suppress(ZeroDivisionError):
        build(scene, lambda: 1 / 0)
    assert not marts(scene).stand
    build(scene)
    marts(scene).built(whole=True).__enter__()  # and nothing after it
    assert not marts(scene).stand


def test_a_build_during_which_somebody_is_withdrawn_is_not_the_last_one(scene) -> None:
    build(scene, lambda: arrived(scene, Kind.NOTE, scene.keys.key("note", "1")))
    assert not marts(scene).stand


def test_a_build_of_what_was_shown_only_meanwhile_is_not_the_last_one(scene) -> None:
    with marts(scene).built(whole=True):
        administer("UPDATE ctl.release SET active = false")(scene)
        fill(scene)
    administer("UPDATE ctl.release SET active = true")(scene)
    assert not marts(scene).stand


def test_a_build_of_some_marts_marks_none(scene) -> None:
    build(scene)
    build(scene, whole=False)
    assert not marts(scene).stand


def test_the_mark_tells_a_reader_nothing_without_the_secret(scene) -> None:
    build(scene)
    said = text("SELECT obj_description(CAST('marts.counted' AS regtype), 'pg_type')")
    with scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
        mark = connection.execute(said).scalar_one()
    build(scene)
    with scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
        assert connection.execute(said).scalar_one() == mark
    with marts(scene, OTHER).built(whole=True):
        fill(scene)
    with scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
        assert connection.execute(said).scalar_one() != mark
