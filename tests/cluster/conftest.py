"""Ray is in the environment of `make test-ml`, since it is large; elsewhere nothing of this folder is collected."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "crash"))  # for `killed_delivery`

collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]
