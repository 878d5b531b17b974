"""Topics: people and places that the institution's own tables name, found in notes.

    terms      which terms of the topics are searched for
    gazetteer  all people and places of the institution
    list_rows  a surname alone, at the beginning of a row of a list of patients
    roster/    the note's own patient
    staff/     initials of staff

Does not belong here: identifiers that the text itself shows (`detection/rules`).
"""
