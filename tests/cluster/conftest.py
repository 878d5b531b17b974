"""Ray is in the environment of `make test-ml`, since it is large; elsewhere nothing of this folder is collected."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]
