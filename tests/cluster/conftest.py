"""Ray is in the environment of `make test-ml`, since it is large; elsewhere nothing of this folder is collected."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from s3_server import S3Server

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "crash"))  # for `killed_delivery`

collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    """A server of the module's own; credentials for it are in the environment."""
    from s3_server import S3Server

    server = S3Server()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            patch.setenv(name, value)
        for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
            patch.delenv(name, raising=False)
        yield server
    server.stop()
