"""What recovery keeps of what detection finds."""

from __future__ import annotations

from collections.abc import Callable

import dagster as dg
import pytest

from assets.dictionaries import recovered as asset
from deid_platform.bench.lab.recovered import Recovered, recovered, shares
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from resources import SiteResource, gpu_resource

TEXT = "Mr. Foley has a Foley catheter"
#       0   4     10    16


def test_words_are_counted_by_what_hid_them() -> None:
    found = Recovered()
    without = [Span(4, 9, Label.PATIENT), Span(16, 21, Label.PATIENT), Span(10, 15, Label.DATE)]
    found.add(Note("1", TEXT, patient_id="P1"), without, [Span(4, 9, Label.PATIENT), Span(10, 13, Label.DATE)])
    assert list(shares(found)) == [("DATE", 2, 1, 0.5), ("PATIENT", 2, 1, 0.5), ("all", 4, 2, 0.5)]
    # Only what is kept whole is a term.
    assert found.terms == {("foley", "PATIENT"): {"P1": 1}}


@pytest.mark.warehouse
def test_a_sample_of_the_store_and_the_terms_of_enough_patients(
    site: Site, installation, deliver: Callable[..., Delivery], take_in: Callable[..., object]
) -> None:
    with pytest.raises(DeidError) as raised:
        recovered(site)
    assert raised.value.code is Code.NOT_MATERIALIZED
    texts = ["Pupils equal. Marcus Gunn pupil none."] * 12 + ["Mr. Quarmby came."] * 8
    notes = [{"note_id": str(at), "patient_id": f"P{at}", "text": text} for at, text in enumerate(texts)]
    take_in(deliver("2026-01-05", notes=notes, patients=[{"patient_id": "P77", "last_name": "Ndoye"}]))
    found = recovered(site)
    assert found.notes == 20
    assert (found.found["PATIENT"], found.kept["PATIENT"]) == (32, 24)
    rows = site.store.rows(tables.RECOVERED, tables.ALL)
    assert rows == [{"phrase": "marcus gunn", "label": "PATIENT", "patients": 12, "notes": 12}]
    resources = {"site": SiteResource(config=str(installation)), "gpu": gpu_resource()}
    done = dg.materialize([asset], resources=resources, selection=[asset])
    (event,) = done.get_asset_materialization_events()
    shown = event.step_materialization_data.materialization.metadata
    assert 0 < shown["share_kept"].value < 1
    assert "gunn" not in str(shown).lower()
    take_in(deliver("2026-01-06", withdrawn=[{"patient_id": "P0"}, {"note_id": "1"}]))
    assert recovered(site).notes == 18
