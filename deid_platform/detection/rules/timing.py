"""What each recognizer costs.

Belongs here: the seconds of each over some texts. Does not belong here: what it finds, or whether that is right
(`evaluation/scores/contributions.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from time import process_time

from deid_platform.detection.api import Document
from deid_platform.detection.rules.detector import Rules
from deid_platform.detection.rules.engine.templates import paragraphs
from deid_platform.notes import Note


def seconds_of_recognizers(notes: Sequence[Note]) -> dict[str, float]:
    """Seconds of processor time that each recognizer takes on notes, by its source (`rules:doctor-title`).

    All notes are searched at once, recognizer by recognizer, as a batch is.
    """
    rules = Rules(professions=True)
    documents = [Document(note) for note in notes]
    places = [(number, *place) for number, one in enumerate(documents) for place in paragraphs(one.text)]
    texts = [documents[number].text[start:end] for number, start, end in places]
    spent: dict[str, float] = defaultdict(float)
    for recognizer, search in rules.searches(documents, places, texts):
        begun = process_time()
        for _ in search:
            pass
        spent[f"rules:{recognizer.name}"] += process_time() - begun
    return dict(spent)
