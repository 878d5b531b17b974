"""Compiles every recognizer for the processes to come, as an installation does once.

Belongs here: that alone. Does not belong here: how they are kept (`compiled.py`).
"""

from __future__ import annotations

from deid_platform.detection.patterns.recognizer import load_recognizers

load_recognizers()
