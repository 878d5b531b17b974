"""Names by word lists and context.

Belongs here: names of people, and of places in prose, that one pattern cannot find. Does not belong here: names of the
topics (`topics/`), titles, labels and kinship (`en/people.yaml`).
"""
