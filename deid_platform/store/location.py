"""Where a note store is: a folder of this machine, or a bucket.

Belongs here: how its file system is opened. Does not belong here: what is done in it (`files.py`), or which places
deid.toml may name (`settings/`).

Credentials are those of the environment of this process (on Amazon's, variables, the files of its command line, or the
machine's role), and no part of a location.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pyarrow.fs as pafs

from deid_platform.errors import Code, DeidError

_PATIENCE = timedelta(seconds=60)
_ELSEWHERE = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")


@dataclass(frozen=True, slots=True)
class Location:
    """A place for notes.

    Attributes:
        uri: A local path, `s3://bucket/prefix`, `gs://bucket/prefix`, or any other that pyarrow understands.
        endpoint: Of a server that speaks S3, such as `https://objects.internal:9000`; Amazon's unless told.
        region: Of the bucket; that of the environment unless told.
    """

    uri: str
    endpoint: str | None = None
    region: str | None = None

    def opened(self, *, anonymous: bool = False) -> tuple[pafs.FileSystem, str]:
        """Its file system, and its path in that; nothing is asked of a server yet.

        Args:
            anonymous: Whether as somebody without credentials.

        Raises:
            DeidError: `settings-invalid` if the environment sends S3 elsewhere.
        """
        scheme, there, path = self.uri.partition("://")
        if not there:
            return pafs.LocalFileSystem(), str(Path(self.uri).absolute())
        if scheme == "s3" and "?" not in path:
            return self._s3(anonymous), path
        if scheme == "gs" and "?" not in path:
            return pafs.GcsFileSystem(anonymous=anonymous, retry_time_limit=_PATIENCE), path
        return pafs.FileSystem.from_uri(self.uri)  # type: ignore[no-any-return]

    def _s3(self, anonymous: bool) -> pafs.FileSystem:
        for name in _ELSEWHERE:
            # It would be followed, also to plain HTTP.
            if self.endpoint is None and os.environ.get(name):
                raise DeidError(Code.SETTINGS_INVALID, f"{name} is set: name it in store.endpoint")
        scheme, _, host = (self.endpoint or "https://").partition("://")
        return pafs.S3FileSystem(
            anonymous=anonymous,
            scheme=scheme,
            endpoint_override=host or None,
            # A server of one's own has one region, which is asked for by Amazon's first.
            region=self.region or ("us-east-1" if host else None),
            # One request a file of few megabytes, and not three.
            allow_delayed_open=True,
            background_writes=False,
        )
