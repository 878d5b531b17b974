"""What the layout of a note shows: tables, signatures, address blocks, numbers broken by a line's end."""
