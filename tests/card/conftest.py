"""A card, and Ray: what `make test-card` runs, and nothing else collects."""

from __future__ import annotations

from importlib.util import find_spec

from deid_platform.detection.models.device import card_name

collect_ignore_glob = [] if find_spec("ray") and card_name() else ["test_*.py"]
