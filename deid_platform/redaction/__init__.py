"""Redaction: policies (YAML) and how spans become redacted text.

Belongs here: what a label's text is replaced with, and the page that says so. Does not belong here:
finding spans (`detection/`), merging overlaps (`detection/resolve/merge.py`) or judging the outcome (`leakcheck/`).
"""
