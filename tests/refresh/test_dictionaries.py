"""The dictionaries as datasets: what they count, and what changed from delivery to delivery."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deid_platform.notes import Delivery
from deid_platform.refresh import dictionaries, tables
from deid_platform.refresh.site import Site
from deid_platform.store import Manifest

ANA = {"patient_id": "P1", "first_name": "Zebulon", "last_name": "Quarmby", "mrn": "00987654"}
BO = {"patient_id": "P2", "first_name": "Wilhelmina", "last_name": "Trost"}
NOTE = [{"note_id": "1", "patient_id": "P1", "text": "Well."}]


@pytest.fixture(scope="module")
def versions(site: Site, deliver: Callable[..., Delivery], take_in: Callable[..., object]) -> dict[str, Manifest]:
    """The institution dictionary of three deliveries: one patient, another one, and a new surname of the first."""
    written = {}
    for watermark, patients in {
        "2026-01-05": [ANA],
        "2026-01-12": [BO],
        "2026-01-19": [{**ANA, "last_name": "Ostrander"}],
        "2026-01-26": [],
    }.items():
        delivery = deliver(watermark, notes=NOTE, patients=patients)
        take_in(delivery)
        written[watermark] = dictionaries.write_institution(site, delivery)
    return written


def test_a_first_version_has_nothing_to_be_compared_with(versions: dict[str, Manifest]) -> None:
    first = versions["2026-01-05"]
    assert first.meta["kinds"]["MEDICALRECORD"] >= 1
    assert sum(first.meta["kinds"].values()) == first.rows
    assert not {"previous", "changes"} & set(first.meta)


def test_a_version_says_what_came_went_and_stayed(versions: dict[str, Manifest]) -> None:
    first, second = versions["2026-01-05"], versions["2026-01-12"]
    assert second.meta["previous"] == first.meta["digest"] != second.meta["digest"]
    assert second.meta["changes"] == {"added": second.rows - first.rows, "removed": 0, "kept": first.rows}
    assert second.rows > first.rows


def test_a_former_name_stays_in_the_dictionary(versions: dict[str, Manifest]) -> None:
    third = versions["2026-01-19"]
    assert third.meta["changes"]["removed"] == 0
    assert third.meta["changes"]["added"] > 0


def test_a_delivery_without_topics_changes_nothing(versions: dict[str, Manifest]) -> None:
    third, fourth = versions["2026-01-19"], versions["2026-01-26"]
    assert fourth.meta["changes"] == {"added": 0, "removed": 0, "kept": third.rows}
    assert fourth.meta["digest"] == fourth.meta["previous"] == third.meta["digest"]


def test_a_late_delivery_is_compared_with_the_one_before_it_by_watermark(
    versions: dict[str, Manifest], site: Site, deliver: Callable[..., Delivery], take_in: Callable[..., object]
) -> None:
    late = deliver("2026-01-08", notes=NOTE, patients=[{**BO, "patient_id": "P3", "last_name": "Farrand"}])
    take_in(late)
    assert dictionaries.write_institution(site, late).meta["previous"] == versions["2026-01-05"].meta["digest"]


def test_a_former_version_that_cannot_be_read_holds_up_nothing(
    versions: dict[str, Manifest], site: Site, deliver: Callable[..., Delivery], take_in: Callable[..., object]
) -> None:
    before = site.settings.home_path / "store" / tables.INSTITUTION / "hospital@2026-01-26"
    next(before.glob("part-*.parquet")).write_bytes(b"torn")
    last = deliver("2026-02-02", notes=NOTE)
    take_in(last)
    assert "changes" not in dictionaries.write_institution(site, last).meta


def test_meta_holds_counts_and_digests_alone(versions: dict[str, Manifest]) -> None:
    for manifest in versions.values():
        shown = str(dict(manifest.meta)).lower()
        assert not [w for w in ("quarmby", "zebulon", "trost", "00987654", "ostrander") if w in shown]


def test_the_medical_dictionary_counts_its_lists_and_the_sites_own(site: Site, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Quarmby manoeuvre\n", "utf-8")
    section = site.settings.dictionaries.model_copy(update={"medical_terms": (tmp_path / "own.txt",)})
    own = Site(site.settings.model_copy(update={"dictionaries": section}))
    kinds = dictionaries.write_medical(own).meta["kinds"]
    assert kinds["site"] == 1
    assert {"eponyms", "drugs", "devices", "procedures", "tests_and_scores", "abbreviations", "icd10cm"} <= set(kinds)


def test_the_allow_list_is_counted_and_makes_another_release(site: Site, tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("Cooper Ward\nLakeview Commons\n", "utf-8")
    section = site.settings.detection.model_copy(update={"keep": tmp_path / "keep.txt"})
    own = Site(site.settings.model_copy(update={"detection": section}))
    assert dictionaries.write_medical(own).meta["kinds"]["allowed"] == 2
    assert own.release != site.release
