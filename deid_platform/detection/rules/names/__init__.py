"""Names by word lists and by what stands around them.

Belongs here: names of people, and of places in prose, beyond what one pattern can say. Does not belong here: names of
the topics (`topics/`), titles, labels and kinship (`en/people.yaml`).
"""
