"""What libraries say on their own reaches nobody, since it may quote a note."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

SAID = "Zebulonquist"
SILENCED = (
    "from deid_platform.runtime.silence import silence_libraries; silence_libraries(); import logging, warnings; "
)


def told(statement: str, **environment: str) -> str:
    """What a program whose libraries are silenced writes to its standard error."""
    plain = {name: value for name, value in os.environ.items() if name not in ("DEID_DEBUG", "PYTHONWARNINGS")}
    program = [sys.executable, "-c", SILENCED + statement]
    ended = subprocess.run(program, env=plain | environment, capture_output=True, text=True, check=True)
    return ended.stderr


SPEAKING = {
    "a logger of no configuration": f"logging.getLogger('library').critical('{SAID}')",
    "the root logger": f"logging.getLogger().error('{SAID}')",
    "a warning": f"warnings.warn('{SAID}')",
    "a warning that is always shown": f"warnings.simplefilter('always'); warnings.warn('{SAID}', DeprecationWarning)",
}


@pytest.mark.parametrize("statement", SPEAKING.values(), ids=SPEAKING)
def test_a_library_speaks_to_nobody(statement: str) -> None:
    assert told(statement) == ""


@pytest.mark.parametrize("statement", SPEAKING.values(), ids=SPEAKING)
def test_on_the_phi_side_it_may_be_heard(statement: str) -> None:
    assert SAID in told(statement, DEID_DEBUG="1")


def test_a_logger_with_a_handler_of_its_own_keeps_it() -> None:
    assert SAID in told(
        f"log = logging.getLogger('ours'); log.addHandler(logging.StreamHandler()); log.error('{SAID}')"
    )
