"""Names by word lists and context.

    vocabulary, context_names  capitalised words: on the lists of names, on no list but where a name stands
    pairs, coordinated_names   given name and surname; names joined to a name by a comma or "and"
    person_subject             whether a person stands there
    clinical_words, eponyms    what looks like a name and is a disease, a substance, an eponym

Belongs here: names of people, and of places in prose, that one pattern cannot find. Does not belong here: names of the
topics (`topics/`), titles, labels and kinship (`en/people.yaml`).
"""
