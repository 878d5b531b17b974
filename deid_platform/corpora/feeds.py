"""The reader of a feed, as deid.toml describes it.

Belongs here: which reader a format has. Does not belong here: reading (`files.py`, `formats/`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats import FileFormat, file_format
from deid_platform.corpora.formats.scan import Scans
from deid_platform.corpora.scans.recognition import Engine
from deid_platform.settings import FeedSettings, Settings


def open_feed(settings: Settings, name: str, *, spool: Path) -> FilesFeed:
    """The reader of one feed.

    Args:
        settings: All of deid.toml.
        name: The feed.
        spool: Folder of the PHI zone for temporary files.

    Raises:
        DeidError: `feed-unknown`, `feed-mapping`.
    """
    feed = settings.feed(name)
    return FilesFeed(
        name=name,
        root=settings.path(feed.path),
        columns=feed.columns,
        ignore=feed.ignore,
        defaults=feed.defaults,
        max_chars=feed.max_chars,
        site=settings.site,
        spool=spool,
        file_format=_format_of(feed),
    )


def _format_of(feed: FeedSettings) -> FileFormat:
    chosen = file_format(feed.format)
    if isinstance(chosen, Scans):
        return replace(chosen, engine=Engine(feed.recognition), language=feed.defaults.get("language", chosen.language))
    return chosen
