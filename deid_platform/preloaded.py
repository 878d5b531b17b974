"""What reading any note takes, loaded once by the server from which all workers of a command are forked.

Belongs here: that alone, on import. Does not belong here: what differs between detectors, such as topics; a model of
onnxruntime, whose threads no fork would have.
"""

from __future__ import annotations

from deid_platform.detection import DetectorSpec
from deid_platform.detection_job import DetectionJob

DetectionJob(DetectorSpec("ensemble", models=())).build().warm_up()
