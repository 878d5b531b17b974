"""A server that speaks S3, on loopback: what is asked of it is counted, and who has no credentials is refused."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow.fs as pafs
from moto.server import ThreadedMotoServer

Request = tuple[str, str]


class S3Server:
    """Started and stopped by whoever makes it."""

    def __init__(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        inner = self._server._server
        assert inner is not None
        self._app, inner.app = inner.app, self._answer
        self.host = f"127.0.0.1:{self._server.get_host_and_port()[1]}"
        self.requests: list[Request] = []
        """Method and path of each request."""
        self.open = False
        """Whether anybody may read."""
        self.on_request: Callable[[Request], object] = lambda _: None

    def bucket(self, name: str) -> None:
        """Makes a bucket."""
        there = {"endpoint_override": self.host, "scheme": "http", "region": "us-east-1"}
        pafs.S3FileSystem(access_key="key", secret_key="secret", allow_bucket_creation=True, **there).create_dir(name)

    def stop(self) -> None:
        self._server.stop()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        request = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.requests.append(request)
        self.on_request(request)
        if "HTTP_AUTHORIZATION" not in environ and not self.open:
            start("403 Forbidden", [("Content-Length", "0")])
            return [b""]
        return self._app(environ, start)  # type: ignore[no-any-return]
