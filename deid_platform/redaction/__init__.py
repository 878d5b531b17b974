"""Redaction: policies (YAML) and how spans become redacted text.

    policy                             what happens to each label, and on what legal ground
    redact                             how spans become redacted text
    years, lone_years, parts_of_years  what may remain of a date: years in dates, years alone, seasons
    births, public_dates               dates that tell too much: of birth, or known to everybody
    ages, zips                         what may remain of an age and of a ZIP code
    structured                         the date beside the text
    indirect                           indirect identifiers taken out

Belongs here: what a label's text is replaced with, and the page that says so. Does not belong here:
finding spans (`detection/`), merging overlaps (`detection/resolve/merge.py`) or judging the outcome (`leakcheck/`).
"""
