"""Finding indirect identifiers: by a chat model that is asked for them, or by a few keywords.

    tagger    asks a chat model; prompts as data in `prompts/`
    keywords  the baseline, without a model

Belongs here: the interface, and what finds them. Does not belong here: the categories (`labels.py`), or what becomes of
what is found. No detector finds them, no shipped policy hides them, and the leak check does not look for them.
"""
