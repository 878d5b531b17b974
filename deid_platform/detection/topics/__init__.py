"""What the topics name: everybody (`gazetteer.py`), the note's patient (`roster/`), the staff (`staff/`)."""
