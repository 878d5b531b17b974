"""Surrogate-injected notes: corpora whose identifiers are surrogates of one locale, with exact gold.

    carriers                      published notes that take surrogates
    anchors, readings             where a carrier can take an identifier; what people found by reading it
    ways, words                   ways of naming identifiers, as data; words of the carriers' languages
    institution, patients, chart  staff and clinics of a corpus, a patient, what one note knows
    slots, name_slots             what a slot writes, and how names of people are written anew
    filling, weaving, edits       slots filled; identifiers woven into prose; the exact spans of both
    corpus                        from carriers to notes with gold and topics
    near_copies                   notes whose prose stands in a training part
    feed, on_paper, pages         a corpus as a feed's folder, as letters on paper, as a page of the documentation

Belongs here: filling the slots and human gold spans of a carrier, weaving identifiers into carriers that have none, and
the people, places and numbers of a finished corpus. Does not belong here: reading carriers (`formats/`), the locales
themselves (`surrogates/locales`), or the synthetic hospital, which writes notes of its own (`hospital/`).

A carrier is a published note. Nothing is ever planted where a detector fired: slots are placeholders, spans that people
annotated, or places that people listed by reading (`readings.py`); everything else that is planted is woven in by ways
of writing kept as data (`ways.py`).
"""
