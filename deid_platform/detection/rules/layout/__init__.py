"""Identifiers that the layout of a note shows: tables, and numbers broken over a line."""
