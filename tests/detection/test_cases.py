"""Every line of the files in `cases/`: exactly what is marked in it is found. `cases/README.md` explains the format."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from case_files import BREAK, LINE_ENDS, Case, cases_of
from marked_text import marked, of_any_label

from deid_platform.detection import NoteDetector
from deid_platform.notes import Note, Topics


@pytest.mark.parametrize("case", cases_of(), ids=lambda case: case.id)
def test_exactly_what_is_marked_is_found(case: Case, topics: Topics, built: Callable[..., NoteDetector]) -> None:
    patient = None if case.topics in ("none", "known") else topics.patients[case.topics].patient_id
    detector = built(case.detector, case.topics != "none", case.professions, case.ages)
    spans = detector.detect([Note("n", case.text, patient_id=patient)])[0]
    found = marked(case.text, [s for s in spans if s.label not in case.ignored], of_any_label(case.marked))
    assert found.replace(LINE_ENDS[case.line_end], BREAK) == case.line, f"cases/{case.file}.txt, line {case.number}"
