"""What every process that detects would build for itself: all recognizers, compiled, and the index of their anchors.

Belongs here: that alone, for an installation to run once (`compiled.py`) and for the parent of workers to import, whose
forks then share it. Does not belong here: how it is kept.
"""

from __future__ import annotations

from deid_platform.detection.rules import Rules

Rules()
