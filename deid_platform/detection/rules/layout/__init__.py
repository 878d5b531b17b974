"""Identifiers that the layout of a note shows: tables, and numbers broken over a line.

    tables      a header, or the cell before, that names an identifier
    line_wraps  numbers and dates that are broken over a line

Does not belong here: columns of staff's initials (`topics/staff/`).
"""
