"""Topics: all people and places (`gazetteer.py`), the note's patient (`roster/`), initials of staff (`staff/`)."""
