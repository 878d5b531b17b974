"""Detection: documents in, spans out.

Belongs here: rules, topics and models, the stages that resolve their candidates, and the pipeline that runs them. Does
not belong here: what happens to a span once it is found (`redaction/`), or how well a detector does (`evaluation/`).
"""

from deid_platform.detection.pipeline import NoteDetector
from deid_platform.detection.registry import MODELS, detector_names, stage_names
from deid_platform.detection.spec import DetectorSpec

__all__ = ["MODELS", "DetectorSpec", "NoteDetector", "detector_names", "stage_names"]
