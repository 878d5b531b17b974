"""Reports: figures and the release dossier.

Belongs here: showing what was measured. Does not belong here: measuring it (`evaluation/`) or anything
that names a person; counts under 11 are suppressed.
"""
