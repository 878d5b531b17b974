"""Detectors of what the institution's topics name: everybody (`gazetteer.py`), the patient (`roster/`), staff (`staff/`)."""
