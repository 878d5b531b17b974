"""Which deliveries need a run: every link from a delivery's files to research, each broken by itself."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pyarrow as pa
import pytest
from opened import opened_under

from deid_platform.corpora import file_states
from deid_platform.corpora.feeds import topics_reading
from deid_platform.doctor.installation import _feed
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake import file_digests, sealing
from deid_platform.refresh.intake.file_digests import SETTLED_NS
from deid_platform.refresh.staging import due, provenance
from deid_platform.settings import FeedSettings
from deid_platform.store import NoteStore

FIRST, LATE, SECOND, THIRD = (Delivery("hospital", f"2026-01-0{day}") for day in (1, 2, 3, 4))
ALL = [FIRST, SECOND, THIRD]
PATIENT = {"patient_id": "p1", "first_name": "Thandiwe", "last_name": "Quillfeather"}
SISTER = {"note_id": "letter", "patient_id": "p1", "text": "Dear Mrs. Ostrowe, your sister is well."}


@pytest.fixture(scope="module")
def held(site: Site, deliver: Callable[..., Delivery], run: Callable[..., None]) -> Site:
    """Three deliveries of one patient that research holds; the second brings no topics."""
    for delivery in ALL:
        note = {"note_id": delivery.watermark, "patient_id": "p1", "text": "Ms. Quillfeather is well."}
        patients = [] if delivery == SECOND else [PATIENT]
        run(deliver(delivery.watermark, notes=[note], patients=patients), site)
    return site


@pytest.fixture(autouse=True)
def put_back(held: Site, tmp_path) -> Iterator[None]:
    """Note store and files as they were, after each test."""
    folders = {held.settings.home_path / "store", held.settings.path(held.feed("hospital").path)}
    for folder in folders:
        shutil.copytree(folder, tmp_path / folder.name)
    yield
    for folder in folders:
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / folder.name, folder)


@pytest.fixture
def folded(monkeypatch: pytest.MonkeyPatch) -> list[Delivery]:
    """Deliveries whose topics were folded to see whether they are due."""
    seen: list[Delivery] = []
    before = provenance.topics_as_of
    monkeypatch.setattr(
        provenance, "topics_as_of", lambda store, delivery: seen.append(delivery) or before(store, delivery)
    )
    return seen


def test_what_is_held_is_seen_without_folding_topics_and_with_each_manifest_read_a_few_times(
    held, folded, monkeypatch
) -> None:
    read: Counter[tuple[str, str]] = Counter()
    before = NoteStore.manifest
    monkeypatch.setattr(NoteStore, "manifest", lambda self, *name: read.update([name]) or before(self, *name))
    assert due.pending(held, ALL) == []
    assert folded == []
    of_earliest = {name: times for name, times in read.items() if name[1] == FIRST.key}
    of_latest = {name: times for name, times in read.items() if name[1] == THIRD.key}
    assert of_earliest.keys() == {(dataset, FIRST.key) for dataset, _ in of_latest}
    assert sorted(of_earliest.values()) == sorted(of_latest.values()), "no more often, the more deliveries came after"


def test_files_that_nobody_touched_are_not_opened_and_one_of_the_same_size_and_time_is(held, monkeypatch) -> None:
    root = held.settings.path(held.feed("hospital").path)
    monkeypatch.setattr(file_states, "_file_systems", lambda: {root.stat().st_dev: "ext4 /dev/vda"})
    monkeypatch.setattr(file_digests, "time_ns", lambda: time.time_ns() + 2 * SETTLED_NS)
    for read in (len(ALL), 0):
        with opened_under(root) as opened:
            assert due.pending(held, ALL) == []
        assert opened.count("notes.jsonl") == read
    notes = root / SECOND.watermark / "notes.jsonl"
    before = notes.stat()
    notes.write_text(notes.read_text().replace("well", "weak"))
    os.utime(notes, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (notes.stat().st_size, notes.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    for _ in range(2):
        assert due.pending(held, ALL) == [SECOND]


@pytest.mark.parametrize(
    "setting", [{"columns": {"WHO": "patients.last_name"}}, {"ignore": ("last_name",)}, {"max_chars": 99}]
)
def test_deliveries_that_are_read_by_other_settings_are_due(held, setting) -> None:
    feed = held.feed("hospital")

    def changed(**to: object) -> Site:
        feeds = held.settings.feeds | {"hospital": feed.model_copy(update=to)}
        return Site(held.settings.model_copy(update={"feeds": feeds}))

    assert due.pending(changed(**setting), ALL) == ALL
    assert due.pending(changed(gold=held.settings.home_path), ALL) == []
    # What is set to its default is not set.
    assert due.pending(changed(defaults={}), ALL) == []


def read_by(held: Site, **to: object) -> Site:
    """The installation with other settings of its feed."""
    feeds = held.settings.feeds | {"hospital": held.feed("hospital").model_copy(update=to)}
    return Site(held.settings.model_copy(update={"feeds": feeds}))


@pytest.mark.parametrize(
    "setting",
    [
        {"ignore": ("first_name", "last_name")},
        {"ignore": ("birth_date",)},
        {"columns": {"WHO": "patients.last_name"}},
        {"columns": {"PLACE": "facilities.name"}},
        {"columns": {"last_name": "patients.city"}},
    ],
)
def test_topics_that_are_read_by_other_columns_than_the_published_ones_are_another_release(held, setting) -> None:
    changed = read_by(held, **setting)
    assert changed.release not in (held.release, read_by(held, ignore=("mrn",)).release)
    assert changed.recipe_without_topics("hospital").release == changed.release
    assert due.pending(changed, ALL) == ALL
    assert "read by other columns" in _feed(changed, "hospital").detail
    assert "read by other columns" not in _feed(held, "hospital").detail
    assert read_by(changed, columns={}, ignore=()).release == held.release, "and the former one, once they are back"


def test_columns_of_notes_and_feeds_that_published_nothing_make_no_other_release(held) -> None:
    assert read_by(held, columns={"NOTE_TXT": "text"}, ignore=("LOAD_TS",), max_chars=99).release == held.release
    new = held.feed("hospital").model_copy(update={"columns": {"FAMILY": "patients.last_name"}})
    for feeds in ({**held.settings.feeds, "new": new}, {}):
        assert Site(held.settings.model_copy(update={"feeds": feeds})).release == held.release


def test_the_query_that_gives_a_topic_counts_as_its_columns_do(held, tmp_path) -> None:
    query = tmp_path / "patients.sql"
    query.write_text("SELECT patient_id, last_name FROM patients")
    feed = FeedSettings.model_validate({"format": "sql", "queries": {"patients": query}, "watermark": "changed"})
    settings = held.settings.model_copy(update={"feeds": {"sql": feed}})
    before = topics_reading(settings, "sql")
    assert topics_reading(settings, "sql") == before
    query.write_text("SELECT patient_id FROM patients")
    assert topics_reading(settings, "sql") != before
    query.unlink()
    with pytest.raises(DeidError) as missing:
        topics_reading(settings, "sql")
    assert (missing.value.code, missing.value.ref) == (Code.FEED_UNREADABLE, "sql: query")


def test_what_an_earlier_version_took_in_is_not_due_for_settings_that_it_did_not_keep(held) -> None:
    (raw,) = held.store.read(tables.RAW_NOTES, FIRST.key)
    meta = {name: it for name, it in held.store.required(tables.RAW_NOTES, FIRST.key).meta.items() if name != "reading"}
    held.store.write(tables.RAW_NOTES, FIRST.key, [raw], meta=lambda: meta)
    assert due.pending(held, ALL) == []


def late_topics(site, deliver, take_in, redacted) -> None:
    take_in(deliver(LATE.watermark, patients=[{**PATIENT, "last_name": "Thackerby"}]))


def late_topics_of_somebody_else(site, deliver, take_in, redacted) -> None:
    take_in(deliver(LATE.watermark, patients=[{**PATIENT, "patient_id": "p2"}]))


def late_topics_that_say_the_same(site, deliver, take_in, redacted) -> None:
    take_in(deliver(LATE.watermark, patients=[PATIENT]))


def late_notes_that_tell_a_name(site, deliver, take_in, redacted) -> None:
    late = deliver(LATE.watermark, notes=[SISTER])
    take_in(late)
    redacted(late)


def late_notes_that_tell_a_name_of_somebody_else(site, deliver, take_in, redacted) -> None:
    late = deliver(LATE.watermark, notes=[{**SISTER, "patient_id": "p2"}])
    take_in(late)
    redacted(late)


def late_notes_without_topics_that_nobody_read_yet(site, deliver, take_in, redacted) -> None:
    take_in(deliver(LATE.watermark, notes=[SISTER]))


def late_topics_of_which_a_row_is_lost(site, deliver, take_in, redacted) -> None:
    take_in(deliver(LATE.watermark, patients=[{"patient_id": "", "last_name": "Nobody"}], notes=[SISTER]))


def topics_taken_in_again_otherwise(site, deliver, take_in, redacted) -> None:
    deliver(FIRST.watermark, patients=[{**PATIENT, "first_name": "Nomvula"}])
    sealing.take_in_topic(site.reader("hospital"), FIRST, "patients", store=site.store)
    deliver(FIRST.watermark, patients=[PATIENT])


def topics_taken_in_again_the_same(site, deliver, take_in, redacted) -> None:
    sealing.take_in_topic(site.reader("hospital"), FIRST, "patients", store=site.store)


def notes_read_again_that_tell_otherwise(site, deliver, take_in, redacted) -> None:
    (row,) = site.store.rows(tables.FIRST_PASS, FIRST.key)
    row["told"] = [{"form": "ostrowe", "label": "PATIENT", "whole": False}]
    write(site.store, tables.FIRST_PASS, FIRST, [row])


def rows_that_were_not_staged(site, deliver, take_in, redacted) -> None:
    (row,) = site.store.rows(tables.REDACTED_NOTES, SECOND.key)
    write(site.store, tables.REDACTED_NOTES, SECOND, [row | {"text": "Well."}])


def a_withdrawal_that_was_not_staged(site, deliver, take_in, redacted) -> None:
    row = {"note_id": "elsewhere", "patient_id": None, "rejoined": False}
    write(site.store, tables.WITHDRAWALS, SECOND, [row])


def a_staging_that_is_not_what_was_promoted(site, deliver, take_in, redacted) -> None:
    meta = dict(site.store.required(tables.STAGED, SECOND.key).meta)
    site.store.write(tables.STAGED, SECOND.key, [], meta=lambda: {**meta, "staged_digest": "another"})


def notes_of_other_files(site, deliver, take_in, redacted) -> None:
    write(site.store, tables.RAW_NOTES, SECOND, site.store.rows(tables.RAW_NOTES, SECOND.key), files="others")


def files_that_changed(site, deliver, take_in, redacted) -> None:
    deliver(SECOND.watermark, notes=[SISTER])


def write(store: NoteStore, dataset: str, delivery: Delivery, rows: list[dict], **meta: str) -> None:
    """Writes other rows in a partition's place; its manifest says what it said."""
    schema = next(iter(store.read(dataset, delivery.key))).schema
    said = dict(store.required(dataset, delivery.key).meta) | meta
    store.write(dataset, delivery.key, [pa.Table.from_pylist(rows, schema=schema)], meta=lambda: said)


LATER = [SECOND, THIRD]
CHANGES: dict[Callable[..., None], tuple[list[Delivery], set[str]]] = {
    late_topics: (LATER, {"topics or local words"}),
    late_topics_of_somebody_else: (LATER, {"topics or local words"}),
    late_topics_that_say_the_same: ([], set()),
    late_notes_that_tell_a_name: (LATER, {"what other notes tell of patients"}),
    late_notes_that_tell_a_name_of_somebody_else: ([], set()),
    late_notes_without_topics_that_nobody_read_yet: ([], set()),
    late_topics_of_which_a_row_is_lost: (LATER, {"code or settings of redaction"}),
    topics_taken_in_again_otherwise: (ALL, {"topics or local words", "the delivery's files"}),
    topics_taken_in_again_the_same: ([], set()),
    notes_read_again_that_tell_otherwise: (ALL, {"what other notes tell of patients"}),
    rows_that_were_not_staged: ([SECOND], {"redacted rows"}),
    a_withdrawal_that_was_not_staged: ([SECOND], {"redacted rows"}),
    a_staging_that_is_not_what_was_promoted: ([SECOND], {"not promoted"}),
    notes_of_other_files: ([SECOND], {"the delivery's files"}),
    files_that_changed: ([SECOND], {"the delivery's files"}),
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_breaks_a_link_makes_those_deliveries_due_that_hang_on_it(
    held, deliver, take_in, redacted, change
) -> None:
    change(held, deliver, take_in, redacted)
    deliveries, reasons = CHANGES[change]
    assert due.pending(held, ALL) == deliveries
    # Whoever asks about one delivery alone hears the same.
    assert [each for each in ALL if due.pending(held, [each])] == deliveries
    told = due.why_due(held, ALL)
    assert list(told) == deliveries
    assert {reason for some in told.values() for reason in some} == reasons


def test_what_differs_is_named_and_keeps_rows_from_being_staged_under_the_settings_of_today(held) -> None:
    """As `deid refresh --dry-run` and `deid gate` print it."""
    redaction = held.settings.redaction
    changes = {
        "policy": {"redaction": redaction.model_copy(update={"policy": "limited_dataset"})},
        "detector": {"detection": held.settings.detection.model_copy(update={"detector": "ensemble"})},
    }
    for name, change in changes.items():
        changed = Site(held.settings.model_copy(update=change))
        assert due.why_due(changed, [SECOND]) == {SECOND: (name,)}
        with pytest.raises(DeidError, match=f"{SECOND.key}: other {name}]") as refused:
            provenance.require_release(changed, SECOND)
        assert refused.value.code is Code.NOT_MATERIALIZED
    provenance.require_release(held, SECOND)
    assert due.why_due(held, [LATE]) == {LATE: ("new",)}


def test_topics_that_came_again_the_same_way_are_folded_once(held, deliver, take_in, folded) -> None:
    late_topics_that_say_the_same(held, deliver, take_in, None)
    assert due.pending(held, ALL) == []
    assert folded == [SECOND, THIRD]
    assert due.pending(held, ALL) == []
    assert folded == [SECOND, THIRD]


@pytest.mark.parametrize("lost", ["all of them", "a part is torn"])
def test_digests_of_topics_that_are_lost_are_made_anew_once(held, folded, lost) -> None:
    kept = held.settings.home_path / "store" / tables.TOPICS_DIGEST
    if lost == "all of them":
        shutil.rmtree(kept)
    for part in kept.glob("*/part-*"):
        part.write_bytes(part.read_bytes()[:-4])
    assert due.pending(held, ALL) == []
    assert folded == ALL
    assert due.pending(held, ALL) == []
    assert folded == ALL


def test_a_digest_of_other_topics_that_was_put_in_its_place_is_not_believed(held, deliver, take_in) -> None:
    place = held.settings.home_path / "store" / tables.TOPICS_DIGEST / THIRD.key
    before = [(path, path.read_bytes()) for path in place.iterdir()]
    late_topics(held, deliver, take_in, None)
    assert due.pending(held, [THIRD]) == [THIRD]
    for path, raw in before:
        path.write_bytes(raw)
    assert due.pending(held, [THIRD]) == [THIRD]


@pytest.mark.parametrize("dataset", ["source/patients", tables.FIRST_PASS, tables.RAW_NOTES, tables.WITHDRAWALS])
@pytest.mark.parametrize("harm", ["torn", "edited", "put back"])
def test_a_manifest_that_was_harmed_holds_nothing(held, dataset, harm) -> None:
    path = held.settings.home_path / "store" / dataset / FIRST.key / "manifest.json"
    before = path.read_text()
    match harm:
        case "torn":
            path.write_text(before[:-20])
        case "edited":
            path.write_text(json.dumps(json.loads(before) | {"meta": {"rejected": {}, "read": 1}}))
        case _:
            write(held.store, dataset, FIRST, [])
            path.write_text(before)
    with pytest.raises(DeidError, match="store-rolled-back" if harm == "put back" else "store-torn"):
        due.pending(held, ALL)
