"""Context of a word: whether a name stands there, and whether a person does.

Belongs here: context that rules, roster and propagation judge alike. Does not belong here: finding names.
"""
