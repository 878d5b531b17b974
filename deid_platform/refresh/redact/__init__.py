"""From raw notes to redacted rows, each checked for leaks before it leaves the PHI zone.

    delivery         the rows of one delivery
    first_pass       what the detector finds in each note by itself
    row              one row, as a task of workers
    decisions        what people decided about quarantined notes; `decision` one of them; `whole_words` their spans
    leak_places      where a note leaks
    structured_rows  rows of tables beside the notes

Does not belong here: how an identifier is found or replaced (`detection/`, `redaction/`).
"""
