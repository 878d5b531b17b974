"""What reading any note takes, loaded once by the server from which all workers of a command are forked.

`python -m deid_platform.engine.preloaded` writes what is kept beside the bytecode for all processes
(`text/compiled.py`, `languages/model.py`).

Belongs here: that alone, on import. Does not belong here: what differs between detectors, such as topics; a model of
onnxruntime, whose threads no fork would have.
"""

from __future__ import annotations

from deid_platform.detection import DetectorSpec
from deid_platform.engine.detection_job import DetectionJob
from deid_platform.engine.warm_up import made_up_note
from deid_platform.languages.telling import languages_of
from deid_platform.text.compiled import keep

DetectionJob(DetectorSpec("ensemble", models=())).build().warm_up()
languages_of(made_up_note().note.text)
keep()
