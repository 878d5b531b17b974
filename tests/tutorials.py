"""The tutorials' commands as a reader types them.

Belongs here: which blocks of a page are commands, and running them in one shell. Does not belong here: what they have
to show (`test_main_job.py`, whose installation they share).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

TUTORIALS = Path(__file__).parents[1] / "docs" / "tutorials"
_NEXT = "==== the next block ===="


def page(name: str) -> str:
    """The text of a tutorial."""
    return (TUTORIALS / name).read_text(encoding="utf-8")


def blocks(name: str) -> list[str]:
    """The commands of a page behind its section "Start", which the installation of the tests stands for."""
    _, start, *sections = re.split(r"^## ", page(name), flags=re.MULTILINE)
    assert start.startswith("Start\n")
    return re.findall(r"^```bash\n(.*?)^```$", "".join(sections), re.MULTILINE | re.DOTALL)


def walk(name: str, folder: Path) -> list[str]:
    """What each block of a page prints, on either stream, in a folder that has the demonstration's `.deid`.

    Days until which something holds are yet to come, whatever the page says.
    """
    later = str(datetime.now(tz=UTC).date() + timedelta(days=90))
    commands = f"\necho '{_NEXT}'\n".join(re.sub(r"(?<=--until )\S+", later, block) for block in blocks(name))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"exec 2>&1\n{commands}"],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "200", "TERM": "dumb", "PAGER": "cat"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout.split(f"{_NEXT}\n")
