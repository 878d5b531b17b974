"""The dictionaries as datasets: what they count, and what changed from delivery to delivery."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pytest

from assets.deid import redacted_notes
from deid_platform.detection.topics.terms import institution_terms
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.dictionaries import record
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.topics.as_of import topics_as_of
from deid_platform.store import Manifest
from resources import Gpu, SiteResource

ANA = {"patient_id": "P1", "first_name": "Zebulon", "last_name": "Quarmby", "mrn": "00987654"}
BO = {"patient_id": "P2", "first_name": "Wilhelmina", "last_name": "Trost"}
LAST = Delivery("hospital", "2026-01-26")
NOTE = [{"note_id": "1", "patient_id": "P1", "text": "Well."}]


@pytest.fixture(scope="module")
def versions(site: Site, deliver: Callable[..., Delivery], take_in: Callable[..., object]) -> dict[str, Manifest]:
    """The institution dictionary of four deliveries: one patient, another one, a new surname of the first, nobody."""
    written = {}
    for watermark, patients in {
        "2026-01-05": [ANA],
        "2026-01-12": [BO],
        "2026-01-19": [{**ANA, "last_name": "Ostrander"}],
        "2026-01-26": [],
    }.items():
        delivery = deliver(watermark, notes=NOTE, patients=patients)
        take_in(delivery)
        written[watermark] = record.write_institution(site, delivery)
    return written


@pytest.fixture(scope="module")
def again(deliver: Callable[..., Delivery], take_in: Callable[..., object]) -> Callable[..., Delivery]:
    """Takes in a delivery beside those of `versions`, or one of them again, and writes no dictionary."""

    def run(watermark: str, patients: list[dict[str, str]]) -> Delivery:
        delivery = deliver(watermark, notes=NOTE, patients=patients)
        take_in(delivery)
        return delivery

    return run


def read(site: Site, delivery: Delivery) -> set[record.Term]:
    """The dictionary as of a delivery, as its readers find it."""
    return {tuple(row.values()) for part in record.institution(site, delivery) for row in part.to_pylist()}


def partition(site: Site, watermark: str) -> list[record.Term]:
    """What one partition holds."""
    return [(row["term"], row["kind"]) for row in site.store.rows(tables.INSTITUTION, f"hospital@{watermark}")]


def tear(site: Site, watermark: str, name: str) -> None:
    """Breaks one file of a partition."""
    file = site.settings.home_path / "store" / tables.INSTITUTION / f"hospital@{watermark}" / name
    assert file.is_file()
    file.write_bytes(b"torn")


def test_a_first_version_has_nothing_to_be_compared_with(versions: dict[str, Manifest]) -> None:
    first = versions["2026-01-05"]
    assert first.meta["kinds"]["MEDICALRECORD"] >= 1
    assert sum(first.meta["kinds"].values()) == first.rows
    assert not {"previous", "changes"} & set(first.meta)


def test_a_version_says_what_came_and_stayed(versions: dict[str, Manifest]) -> None:
    first, second = versions["2026-01-05"], versions["2026-01-12"]
    assert second.meta["previous"] == first.meta["digest"] != second.meta["digest"]
    assert second.meta["changes"] == {"added": second.rows, "kept": first.rows}
    assert sum(second.meta["kinds"].values()) == first.rows + second.rows


def test_a_partition_holds_the_terms_of_its_own_delivery_in_order_each_once(
    versions: dict[str, Manifest], site: Site
) -> None:
    assert partition(site, "2026-01-12") == [("wilhelmina trost", "PATIENT")]
    assert partition(site, "2026-01-19") == [("00987654", "MEDICALRECORD"), ("zebulon ostrander", "PATIENT")]
    assert partition(site, "2026-01-26") == []


def test_a_term_that_comes_again_is_kept_and_a_former_name_stays(versions: dict[str, Manifest], site: Site) -> None:
    second, third = versions["2026-01-12"], versions["2026-01-19"]
    assert third.meta["changes"] == {"added": 1, "kept": sum(second.meta["kinds"].values())}
    assert {("zebulon quarmby", "PATIENT"), ("zebulon ostrander", "PATIENT")} <= read(site, LAST)


def test_a_delivery_without_topics_changes_nothing(versions: dict[str, Manifest]) -> None:
    third, fourth = versions["2026-01-19"], versions["2026-01-26"]
    assert fourth.meta["changes"] == {"added": 0, "kept": sum(third.meta["kinds"].values())}
    assert fourth.meta["kinds"] == third.meta["kinds"]
    assert fourth.meta["digest"] == fourth.meta["previous"] == third.meta["digest"]


@pytest.mark.parametrize("watermark", ["2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26"])
def test_its_terms_are_those_of_the_gazetteer_as_of_the_delivery(
    versions: dict[str, Manifest], site: Site, watermark: str
) -> None:
    delivery = Delivery("hospital", watermark)
    expected = {(term, label.value) for term, label in institution_terms(topics_as_of(site.store, delivery))}
    assert read(site, delivery) == expected
    assert Counter(kind for _, kind in expected) == versions[watermark].meta["kinds"]


def test_the_same_terms_are_not_written_again(versions: dict[str, Manifest], site: Site) -> None:
    second = versions["2026-01-12"]
    assert record.write_institution(site, Delivery("hospital", "2026-01-12")) == second


def test_torn_terms_are_written_again_and_many_of_them_in_several_parts(
    versions: dict[str, Manifest], site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, before = versions["2026-01-05"], partition(site, "2026-01-05")
    tear(site, "2026-01-05", first.parts[0].name)
    monkeypatch.setattr(record, "_TERMS_A_PART", 1)
    again = record.write_institution(site, Delivery("hospital", "2026-01-05"))
    assert [part.rows for part in again.parts] == [1] * len(before)
    assert partition(site, "2026-01-05") == before
    assert again.meta == first.meta


def test_a_late_delivery_is_compared_with_the_one_before_it_by_watermark_and_counts_in_those_after_it(
    versions: dict[str, Manifest], site: Site, again: Callable[..., Delivery]
) -> None:
    late = again("2026-01-08", [{**BO, "patient_id": "P3", "last_name": "Farrand"}])
    # Readers find it in the dictionary of a later delivery before anybody wrote it.
    assert ("wilhelmina farrand", "PATIENT") in read(site, LAST)
    assert record.write_institution(site, late).meta["previous"] == versions["2026-01-05"].meta["digest"]
    newest = site.store.required(tables.INSTITUTION, LAST.key).meta
    assert Counter(newest["kinds"]) == Counter(kind for _, kind in read(site, LAST))


def test_what_cannot_be_read_of_earlier_deliveries_is_made_again(
    versions: dict[str, Manifest], site: Site, again: Callable[..., Delivery]
) -> None:
    before = read(site, LAST)
    tear(site, "2026-01-12", versions["2026-01-12"].parts[0].name)
    tear(site, "2026-01-19", "manifest.json")
    after = record.write_institution(site, again("2026-02-02", [{**BO, "last_name": "Quist"}])).meta
    assert after["changes"] == {"added": 1, "kept": len(before)}
    assert partition(site, "2026-01-12") == [("wilhelmina trost", "PATIENT")]
    assert read(site, Delivery("hospital", "2026-02-02")) == before | {("wilhelmina quist", "PATIENT")}


def test_partitions_that_hold_the_terms_of_all_deliveries_are_made_again(
    versions: dict[str, Manifest], site: Site
) -> None:
    before, counted = read(site, LAST), site.store.required(tables.INSTITUTION, LAST.key).meta
    rows = [{"term": term, "kind": kind} for term, kind in (*before, ("zebulon elsewhere", "PATIENT"))]
    for watermark in versions:  # as version 0.1.0 wrote them
        meta = {"digest": f"of {watermark}", "kinds": {"PATIENT": len(rows)}}
        table = pa.Table.from_pylist(rows, schema=tables.TERM_SCHEMA)
        site.store.write(tables.INSTITUTION, f"hospital@{watermark}", [table], meta=lambda meta=meta: meta)
    assert read(site, LAST) == before
    assert record.write_institution(site, LAST).meta == counted
    assert partition(site, "2026-01-12") == [("wilhelmina trost", "PATIENT")]


def test_no_partition_keeps_terms_of_a_row_that_its_delivery_no_longer_has(
    versions: dict[str, Manifest], site: Site, again: Callable[..., Delivery]
) -> None:
    assert ("wilhelmina trost", "PATIENT") in read(site, LAST)
    corrected = again("2026-01-12", [{**BO, "last_name": "Trask"}])
    assert {"wilhelmina trost", "wilhelmina trask"} & {term for term, _ in read(site, LAST)} == {"wilhelmina trask"}
    record.write_institution(site, corrected)
    held = {term for key in site.store.partitions(tables.INSTITUTION) for term, _ in partition(site, key[9:])}
    assert "wilhelmina trost" not in held


def test_a_delivery_whose_topics_were_not_taken_in_has_no_dictionary(versions: dict[str, Manifest], site: Site) -> None:
    with pytest.raises(DeidError) as refused:
        record.write_institution(site, Delivery("hospital", "2026-03-02"))
    assert refused.value.code is Code.NOT_MATERIALIZED


def test_a_term_counts_once_for_each_label_that_a_row_gives_it(
    versions: dict[str, Manifest], site: Site, again: Callable[..., Delivery]
) -> None:
    delivery = Delivery("hospital", "2026-02-09")
    folder = site.settings.path(site.feed("hospital").path) / delivery.watermark
    folder.mkdir()
    (folder / "providers.csv").write_text("provider_id,first_name,last_name\nD1,Zebulon,Quarmby\n")
    counted = record.write_institution(site, again(delivery.watermark, [])).meta
    terms = read(site, delivery)
    assert {("zebulon quarmby", "PATIENT"), ("zebulon quarmby", "DOCTOR")} <= terms
    assert Counter(counted["kinds"]) == Counter(kind for _, kind in terms)


def test_meta_holds_counts_and_digests_alone(versions: dict[str, Manifest]) -> None:
    for manifest in versions.values():
        shown = str(dict(manifest.meta)).lower()
        assert not [w for w in ("quarmby", "zebulon", "trost", "00987654", "ostrander") if w in shown]


def test_the_medical_dictionary_counts_its_lists_and_the_sites_own(site: Site, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Quarmby manoeuvre\n", "utf-8")
    section = site.settings.dictionaries.model_copy(update={"medical_terms": (tmp_path / "own.txt",)})
    own = Site(site.settings.model_copy(update={"dictionaries": section}))
    kinds = record.write_medical(own).meta["kinds"]
    assert kinds["site"] == 1
    assert {"eponyms", "drugs", "devices", "procedures", "tests_and_scores", "abbreviations", "icd10cm"} <= set(kinds)


def test_the_allow_list_is_counted_and_makes_another_release(site: Site, tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("Cooper Ward\nLakeview Commons\n", "utf-8")
    section = site.settings.detection.model_copy(update={"keep": tmp_path / "keep.txt"})
    own = Site(site.settings.model_copy(update={"detection": section}))
    assert record.write_medical(own).meta["kinds"]["allowed"] == 2
    assert own.release != site.release


def refused(site: Site, delivery: Delivery) -> str | None:
    """Which dictionary keeps a delivery from being redacted; None if nothing does."""
    try:
        record.in_force(site, delivery)
    except DeidError as error:
        assert error.code is Code.NOT_MATERIALIZED
        return error.ref
    return None


def test_a_delivery_is_redacted_only_with_the_dictionaries_that_are_recorded(
    site: Site, again: Callable[..., Delivery], tmp_path: Path
) -> None:
    delivery = again("2026-03-09", [ANA])
    assert refused(site, delivery) == f"dictionaries/institution/{delivery.key}"
    institution = record.write_institution(site, delivery)
    medical = record.write_medical(site)
    assert record.in_force(site, delivery) == (institution.meta["digest"], medical.meta["digest"])
    # The record tells of no other rows, and of no other lists, than those that are looked up.
    again("2026-03-09", [{**ANA, "last_name": "Quist"}])
    assert refused(site, delivery) == f"dictionaries/institution/{delivery.key}"
    record.write_institution(site, delivery)
    assert refused(site, delivery) is None
    (tmp_path / "own.txt").write_text("Quarmby manoeuvre\n", "utf-8")
    section = site.settings.dictionaries.model_copy(update={"medical_terms": (tmp_path / "own.txt",)})
    own = Site(site.settings.model_copy(update={"dictionaries": section}))
    assert refused(own, delivery) == "dictionaries/medical/all"
    record.write_medical(own)
    assert refused(own, delivery) is None


@pytest.mark.warehouse
def test_redacted_notes_say_which_dictionaries_they_were_made_with(
    site: Site, installation: Path, again: Callable[..., Delivery]
) -> None:
    delivery = again("2026-03-16", [BO])

    def redacted() -> dict[str, object]:
        context = dg.build_asset_context(partition_key=delivery.key)
        with Gpu() as gpu:
            done = redacted_notes(context, site=SiteResource(config=str(installation)), gpu=gpu)
        assert isinstance(done, dg.MaterializeResult)
        return dict(done.metadata or {})

    with pytest.raises(dg.Failure, match=r"not-materialized \[dictionaries/institution/hospital@2026-03-16\]"):
        redacted()
    institution, medical = record.write_institution(site, delivery), record.write_medical(site)
    shown = redacted()
    assert shown["institution_dictionary"] == institution.meta["digest"]
    assert shown["medical_dictionary"] == medical.meta["digest"]
    assert shown["gpu_seconds"] == 0.0
