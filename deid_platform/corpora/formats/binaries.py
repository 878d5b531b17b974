"""Binary resources of FHIR: the content that attachments name by `url` instead of holding it.

Belongs here: where that content waits until its attachment is read. Does not belong here: what it says
(`attachments.py`), and any address outside the delivery, which is never asked.

The content of a bulk export is as large as its notes, so it goes to an unnamed temporary file, and memory holds one
place for each id.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Self

from deid_platform.corpora import Reason
from deid_platform.corpora.decoding import BrokenFileError
from deid_platform.errors import Code, DeidError

_URL = re.compile(r"(?:.*/)?Binary/([A-Za-z0-9.\-]{1,64})(?:/_history/.*)?\Z")


class Binaries:
    """The content of Binary resources by their id; read when the first attachment asks.

    Args:
        resources: Iterators over the resources of each source; one that breaks off costs what it no longer yields.
        spool: Folder for the temporary file, made if need be; by default the system's own.
    """

    def __init__(
        self, resources: Iterable[Iterator[tuple[int, Mapping[str, object] | Reason]]], spool: Path | None
    ) -> None:
        self._resources = resources
        self._spool = spool
        self._stack = ExitStack()
        self._content: IO[bytes] | None = None
        # Id -> where its content lies, how long it is and of which type; None where two resources claim one id.
        self._places: dict[str, tuple[int, int, str] | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def filled(self, attachment: Mapping[str, object]) -> Mapping[str, object]:
        """The attachment with the content that its `url` names; as it is if it has its own or there is none.

        Raises:
            DeidError: `store-write` if the temporary file cannot be used.
        """
        url = attachment.get("url")
        if attachment.get("data") or not isinstance(url, str) or not (match := _URL.match(url)):
            return attachment
        try:
            if self._content is None:
                self._content = self._read()
            if (place := self._places.get(match[1])) is None:
                return attachment
            start, length, kind = place
            self._content.seek(start)
            data = self._content.read(length).decode("ascii")
        except OSError:
            raise DeidError(Code.STORE_WRITE, "temporary file") from None
        return {"contentType": kind, **attachment, "data": data}

    def _read(self) -> IO[bytes]:
        if self._spool is not None:
            self._spool.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = self._stack.enter_context(tempfile.TemporaryFile(dir=self._spool))  # noqa: SIM115  the stack closes it
        for source in self._resources:
            try:
                for _, resource in source:
                    if isinstance(resource, Reason) or resource.get("resourceType") != "Binary":
                        continue
                    name, data, kind = (resource.get(key) for key in ("id", "data", "contentType"))
                    if not isinstance(name, str):
                        continue
                    if name in self._places or not isinstance(data, str) or not data.isascii():
                        self._places[name] = None
                        continue
                    start = content.tell()
                    length = content.write(data.encode("ascii"))
                    self._places[name] = (start, length, kind if isinstance(kind, str) else "")
            except BrokenFileError:
                continue
        return content
