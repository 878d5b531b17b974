"""Context of a word: whether a name stands there, and whether a person does.

    names    titles and labels before a word, verbs of a person after it
    persons  what is only ever said of a person

Belongs here: context that rules, roster and propagation judge alike. Does not belong here: finding names.
"""
