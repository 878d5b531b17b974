"""Word lists, one list a fact, and what they say of a word.

Belongs here: the lists (`data/`), how they are read (`lists.py`) and written as one expression (`alternatives.py`), the
classes of a word (`classes.py`), abbreviations of clinics (`abbreviations.py`) and clinical vocabularies from outside
(`vocabularies/`). Does not belong here: where a word stands in a note, or whether it is an identifier there
(`detection/`).
"""
