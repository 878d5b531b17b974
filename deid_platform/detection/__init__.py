"""Detectors: what finds identifiers in notes.

Belongs here: patterns, gazetteers, rosters, recovery of clinical terms and their union. Does not belong
here: what happens to a span once it is found (`redaction/`), or how well a detector does (`evaluation/`).
"""

from deid_platform.detection.pipeline import NoteDetector
from deid_platform.detection.registry import DetectorSpec, detector_names, stage_names

__all__ = ["DetectorSpec", "NoteDetector", "detector_names", "stage_names"]
