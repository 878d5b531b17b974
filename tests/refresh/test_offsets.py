"""Dates moved by offsets from outside: in text and column, by the sealed file alone, and as a release of its own."""

from __future__ import annotations

import hashlib
from datetime import date

import pytest
from small_feed import taken_in

from deid_platform.errors import Code, DeidError
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.refresh.staging import stage
from deid_platform.settings import RedactionSettings
from deid_platform.settings.detection import OffsetSettings


def at(shifting: Site, rows: str, *, missing: str = "refuse", policy: str = "surrogate") -> Site:
    """The installation with a file of offsets."""
    path = shifting.settings.home_path.parent / "offsets.csv"
    path.write_text(f"patient_id,days\n{rows}")
    path.chmod(0o600)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    offsets = OffsetSettings(file=path, sha256=sha256, missing=missing)
    redaction = RedactionSettings(policy=policy, date_order="mdy", offsets=offsets)
    return Site(shifting.settings.model_copy(update={"redaction": redaction}))


def rows_of(site: Site, delivery) -> list[dict]:
    deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=site.engine)
    return site.store.rows(tables.REDACTED_NOTES, delivery.key)


@pytest.fixture(scope="module")
def delivery(shifting, deliver):
    notes = [
        {"note_id": "1", "patient_id": "p1", "note_date": "2026-01-02", "text": "Seen on 01/02/2026."},
        {"note_id": "2", "patient_id": "p2", "note_date": "2026-01-02", "text": "Seen on 01/02/2026."},
        {"note_id": "3", "note_date": "2026-01-02", "text": "Seen on 01/02/2026."},
    ]
    made = deliver("2026-01-05", notes=notes)
    taken_in(shifting, made)
    return made


def test_the_offset_moves_text_and_column_and_who_has_none_is_quarantined(shifting, delivery) -> None:
    site = at(shifting, "p1,10\n")
    found = rows_of(site, delivery)
    assert [(row["text"], row["shifted_date"], row["reason"]) for row in found] == [
        ("Seen on 1/12/2026.", date(2026, 1, 12), None),
        (None, None, "offset-missing"),
        (None, None, "offset-missing"),
    ]
    assert site.store.required(tables.REDACTED_NOTES, delivery.key).meta["offsets"] == site.given_shifts.digest


def test_whoever_is_not_named_may_have_the_keyed_shift(shifting, delivery) -> None:
    site = at(shifting, "p1,10\n", missing="keyed")
    found = rows_of(site, delivery)
    assert [row["reason"] for row in found] == [None, None, None]
    keyed = rows_of(shifting, delivery)
    assert [row["shifted_date"] for row in found[1:]] == [row["shifted_date"] for row in keyed[1:]]
    assert found[0]["shift_key"] != keyed[0]["shift_key"]
    assert found[1]["shift_key"] == keyed[1]["shift_key"]


def test_another_file_makes_rows_anew_and_no_release_mixes_both(shifting, delivery) -> None:
    one, other = at(shifting, "p1,10\n").recipe(delivery), at(shifting, "p1,11\n").recipe(delivery)
    assert one.digest != other.digest
    assert one.release == other.release != shifting.recipe(delivery).release
    assert one.shift_key("p1") != other.shift_key("p1")


def test_under_one_secret_either_the_keyed_shifts_or_the_offsets_are_staged(shifting, delivery, run) -> None:
    run(delivery, shifting)
    site = at(shifting, "p1,10\n")
    rows_of(site, delivery)
    with pytest.raises(DeidError) as caught:
        stage.stage_delivery(site, delivery, run_id="run-1")
    assert caught.value.code is Code.RELEASE_DATES


def test_a_policy_that_shifts_no_dates_takes_no_offsets(shifting, delivery) -> None:
    with pytest.raises(DeidError) as caught:
        at(shifting, "p1,10\n", policy="safe_harbor").recipe(delivery)
    assert caught.value.code is Code.SETTINGS_INVALID
