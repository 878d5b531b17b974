"""Locales and sexes beside each other, over counts that were sealed by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import dagster as dg
import pyarrow as pa
import pytest

from assets.corpora import fairness as asset
from deid_platform.bench.leaderboard.fairness import fairness
from deid_platform.errors import Code, DeidError
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from resources import SiteResource


@pytest.fixture
def site(tmp_path, monkeypatch) -> Site:
    monkeypatch.setenv("DEID_SECRET", hashlib.sha256(b"fairness").hexdigest())
    path = tmp_path / "deid.toml"
    path.write_text('site = "north"\nprofile = "demo"\n[detection]\ndetector = "rules"\n')
    return Site(load_settings(path))


@pytest.fixture
def seal(site: Site) -> Callable[..., None]:
    def write(corpus: str, locale: str, found: dict[str, tuple[int, int]], digest: str | None = None) -> None:
        """Sex -> words found and missed, of one note with topics that finds all, and of one on the text alone."""
        rows = []
        for sex, (right, missed) in found.items():
            one = {"sex": sex, "patient_id": f"P{sex}", "words": 100, "false_positives": 1, "entities": 2}
            one |= {"name_words": 4, "name_words_found": 4 - (missed > 0)}
            rows.append(one | {"inputs": "topics", "true_positives": right + missed, "covered_entities": 2}
                        | {"false_negatives": 0})  # fmt: skip
            rows.append(one | {"inputs": "text", "true_positives": right, "covered_entities": 2 - (missed > 0)}
                        | {"false_negatives": missed})  # fmt: skip
        table = pa.Table.from_pylist(rows, schema=tables.CORPUS_COUNTS_SCHEMA)
        told = digest or site.spec(None).detector_digest
        meta = {"detector_digest": told, "names": True}
        site.store.write(tables.CORPUS_COUNTS, f"{corpus}.{locale}", [table], meta=lambda: meta)

    return write


def test_gaps_are_of_the_text_alone(site, seal):
    seal("one", "en_US", {"F": (10, 0), "M": (9, 1)})
    seal("one", "hi", {"F": (8, 2), "M": (9, 1)})
    found = fairness(site)
    assert found.corpora == ("one",)
    assert {name: it.recall.value for name, it in found.by_locale.items()} == {"en_US": 0.95, "hi": 0.85}
    # Of names alone: one word of four is missed wherever anything is.
    assert {name: it.value for name, it in found.by_sex.items()} == {"F": 0.875, "M": 0.75}
    assert (found.by_both["hi", "F"].value, found.by_both["en_US", "F"].value) == (0.75, 1.0)
    assert (found.locale_gap, found.sex_gap) == (pytest.approx(0.1), 0.125)


def test_only_corpora_that_every_locale_has_are_compared(site, seal):
    for locale in ("en_US", "hi"):
        seal("one", locale, {"F": (10, 0)})
    seal("hard", "hi", {"F": (0, 10)})
    found = fairness(site)
    assert found.corpora == ("one",)
    assert found.locale_gap == 0
    assert found.sex_gap is None


def test_scores_of_another_detector_do_not_count(site, seal):
    seal("one", "hi", {"F": (10, 0)}, digest="another")
    with pytest.raises(DeidError) as raised:
        fairness(site)
    assert raised.value.code is Code.INPUT_EMPTY
    seal("one", "zh", {"F": (10, 0)})
    assert set(fairness(site).by_locale) == {"zh"}
    assert fairness(site).locale_gap is None


def test_the_asset_shows_gaps_a_table_and_a_picture(site, seal):
    seal("one", "en_US", {"F": (10, 0), "M": (9, 1)})
    seal("one", "hi", {"F": (8, 2), "M": (9, 1)})
    config = str(site.settings.root / "deid.toml")
    done = dg.materialize([asset], resources={"site": SiteResource(config=config)}, selection=[asset])
    (event,) = done.get_asset_materialization_events()
    shown = event.step_materialization_data.materialization.metadata
    assert shown["worst_locale_below_en_us"].value == pytest.approx(0.1)
    assert "| hi F | 4 | 0.750 |" in shown["names_by_sex"].value
    assert "| hi | 2 | 0.850 |" in shown["scores"].value
    assert "image/png" in shown["picture"].value
