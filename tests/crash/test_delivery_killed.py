"""`kill -9` in the middle of a delivery: the next run takes over the parts that were whole."""

from __future__ import annotations

import killed_delivery
import pytest
from killed_delivery import A_PART, BLOCK

from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings

pytestmark = pytest.mark.slow

NOTES = 45
A_MANIFEST = 6
"""Its places, with those of its record."""
FIRST_PASS_DONE = -(-NOTES // BLOCK) * A_PART + A_MANIFEST + 2 * (2 + A_MANIFEST)
"""The place at which redaction begins: behind the first pass, and what is kept of its patients and their notes."""


def test_no_note_is_detected_or_redacted_again_but_those_of_the_block_in_flight(one_delivery) -> None:
    site = Site(load_settings(one_delivery.config))
    (delivery,) = site.deliveries()

    def kill(place: int) -> None:
        assert one_delivery.refresh(delivery=True, at=place)["outcome"] == "killed"

    def rows() -> dict[str, list[dict]]:
        return {name: site.store.rows(name, delivery.key) for name in (tables.FIRST_PASS, tables.REDACTED_NOTES)}

    # In the middle of the fourth part of the first pass, and then, earlier than that, before its second one.
    for place in (3 * A_PART + 1, A_PART):
        kill(place)
        assert site.store.manifest(tables.FIRST_PASS, delivery.key) is None
        # The second kill has lost nothing of what the first one left.
        assert sum(each.num_rows for each in site.store.unfinished(tables.FIRST_PASS, delivery.key)) == 3 * BLOCK
    # In the middle of the list of the third part of redaction.
    kill(FIRST_PASS_DONE + 2 * A_PART + 3)
    found = site.store.required(tables.FIRST_PASS, delivery.key)
    assert (found.rows, found.meta["counts"]) == (NOTES, {"cached": 3 * BLOCK})
    assert site.store.manifest(tables.REDACTED_NOTES, delivery.key) is None

    resumed = killed_delivery.run(one_delivery.config)
    assert (resumed["detected"], resumed["detected_before"]) == (0, NOTES)
    taken_over = rows()
    clean = [row["status"] == "clean" for row in taken_over[tables.REDACTED_NOTES]]
    assert resumed["cached"] == sum(clean[: 2 * BLOCK]) > BLOCK

    # As if nothing had been: all of it anew.
    for name in taken_over:
        for path in (site.settings.home_path / "store" / name / delivery.key).iterdir():
            path.unlink()
    undisturbed = killed_delivery.run(one_delivery.config)
    assert (undisturbed["detected"], undisturbed.get("cached", 0)) == (NOTES, 0)
    assert rows() == taken_over
