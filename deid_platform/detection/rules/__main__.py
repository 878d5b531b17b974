"""Compiles all recognizers and the index of their anchors, once for all processes.

Belongs here: that alone, for an installation to run once (`engine/compiled.py`) and for the parent of worker processes
to import, whose forks then share it. Does not belong here: how it is stored.
"""

from __future__ import annotations

from deid_platform.detection.rules import Rules

Rules()
