"""Detection: documents in, spans out.

    api                          documents, candidates, and what a detector is
    spec, named                  the picklable description of a detector; detectors by name
    registry                     which detectors, stages, models and judges exist
    documents                    from a note to documents, and back to its offsets
    rules/, topics/              identifiers that the text shows; people and places that the topics know
    models/, chat/, peers/       token classifiers, a chat model, de-identifiers of others
    context/                     whether a name stands at a place
    resolve/                     from candidates to spans
    combination                  how the parts of the ensemble are combined
    pipeline                     runs the stages over a batch of notes
    cross_note_search, two_pass  what one note tells of its patient, sought in the patient's other notes

Belongs here: rules, topics and models, the stages that resolve their candidates, and the pipeline that runs them. Does
not belong here: what happens to a span once it is found (`redaction/`), or how well a detector does (`evaluation/`).
"""

from deid_platform.detection.pipeline import NoteDetector
from deid_platform.detection.registry import MODELS, detector_names, stage_names
from deid_platform.detection.spec import DetectorSpec

__all__ = ["MODELS", "DetectorSpec", "NoteDetector", "detector_names", "stage_names"]
