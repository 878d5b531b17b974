"""Evaluation: how well identifiers were found, and whether any is left.

Belongs here: measurements of detectors and of redacted notes. Does not belong here: anything that a
detector could share, so that a measurement never repeats the error it is to find.
"""
