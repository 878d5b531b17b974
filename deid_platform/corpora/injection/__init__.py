"""Surrogate-injected notes: corpora whose identifiers are surrogates of one locale, with exact gold.

Belongs here: filling the slots and human gold spans of a carrier, weaving identifiers into carriers that have none, and
the people, places and numbers of a finished corpus. Does not belong here: reading carriers (`formats/`), the locales
themselves (`surrogates/locales`), or the synthetic hospital, which writes notes of its own (`hospital/`).

A carrier is a published note. Nothing is ever planted where a detector fired: slots are placeholders, spans that people
annotated, or places that people listed by reading (`readings.py`); everything else that is planted is woven in by ways
of writing kept as data (`ways.py`).
"""
