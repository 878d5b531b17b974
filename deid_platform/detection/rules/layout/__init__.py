"""Identifiers that the layout of a note shows: tables, signatures, address blocks, numbers broken over a line."""
