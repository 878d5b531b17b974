"""Finding indirect identifiers: by a chat model that is asked for them, or by a few keywords.

Belongs here: the interface, the tagger that asks (`tagger.py`, prompts as data in `prompts/`), and the baseline
(`keywords.py`). Does not belong here: the categories (`labels.py`), or what becomes of what is found. No detector finds
them, no shipped policy hides them, and the leak check does not look for them.
"""
