"""Notes with indirect identifiers planted in them: what a tagger of them is measured on.

Belongs here: sentences with a known indirect identifier each, and writing them into notes whose direct identifiers stay
known (`planting.py`). Does not belong here: finding them (`llm/indirect/`), or scores.
"""
