"""By which columns the topics of each feed are read, and whether notes were published by others.

Belongs here: keeping the columns by which a feed's first delivery was promoted, and comparing today's with them. Does
not belong here: what columns mean (`corpora/`), or the release's name (`refresh/recipe/recipe.py`).

A column that is mapped no more takes a name, a date of birth or a number out of every roster, and out of what the leak
check looks for. So notes that are read by other columns belong to another release, which nobody has signed. Columns
that were never promoted bind nobody: a feed that is new, or gone, changes no release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from deid_platform.keys import plain_digest
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.store import NoteStore


def keep_columns(store: NoteStore, delivery: Delivery, reading: str, *, key_id: str) -> None:
    """Keeps by which columns a promoted delivery's feed is read, unless some are kept already.

    Args:
        store: Read and written.
        delivery: What was promoted.
        reading: `corpora.feeds.topics_reading`.
        key_id: The secret that seals it.
    """
    kept = store.manifest(tables.TOPIC_COLUMNS, delivery.feed)
    # Under a new secret it is sealed anew: the former one is given for a while only.
    if kept is None or kept.key_id != key_id:
        meta = {"digest": plain_digest(reading)} if kept is None else dict(kept.meta)
        store.write(tables.TOPIC_COLUMNS, delivery.feed, [], meta=lambda: meta)


def changed_columns(store: NoteStore, readings: Mapping[str, str]) -> str:
    """Names the columns of feeds that are read by others than those that are kept; empty if none is.

    Args:
        store: Read.
        readings: Feed -> `corpora.feeds.topics_reading` of today.
    """
    today = {feed: plain_digest(reading) for feed, reading in readings.items()}
    kept = {feed: store.manifest(tables.TOPIC_COLUMNS, feed) for feed in today}
    changed = [
        (feed, today[feed])
        for feed, of_feed in sorted(kept.items())
        if of_feed and of_feed.meta["digest"] != today[feed]
    ]
    return plain_digest(json.dumps(changed)) if changed else ""
