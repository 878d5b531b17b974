"""Annotation by people: notes handed out in rounds, what comes back, agreement, adjudication, gold of the site's own.

    rounds        which notes people are given
    returned      what they made of them
    adjudication  from two annotators' spans to gold
    adaptation/   notes marked for a model of the site's own

Belongs here: the steps of a round as plain functions. Does not belong here: the file format (`corpora/formats/`), the
measures of agreement (`evaluation/scores/agreement.py`), or measuring a detector on the gold (`bench/gate/scoring.py`).

As in Murugadoss 2024: two people annotate each note without seeing the other's work, and a third decides where they
differ. People are known by role alone; who they are is not written down. Spans stay in the note store.
"""
