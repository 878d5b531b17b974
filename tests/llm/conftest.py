from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from chat_endpoint import Endpoint, Script, serving


@pytest.fixture
def serve() -> Iterator[Callable[[Script], Endpoint]]:
    """Starts endpoints that end with the test."""
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(serving(script))
