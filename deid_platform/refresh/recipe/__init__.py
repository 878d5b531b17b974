"""What decides how a note's redacted row looks.

    recipe      all of it, and the digests that name it
    languages   which languages the detector was measured in
    judged      by which measurements the gate judges
    note_types  which note types research may see by name

Does not belong here: making a row (`refresh/redact`).
"""
