"""What stands around a word: whether a name stands there, and whether a person does.

Belongs here: surroundings that rules, roster and propagation judge alike. Does not belong here: finding names.
"""
