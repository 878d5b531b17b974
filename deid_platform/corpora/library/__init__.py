"""The library: whole clinical notes, written and marked for this project by many authors.

    data/AUTHOR/*.txt    a note a file, as `formats/marked.py` has it
    data/authors.tsv     who writes what, and which part of the work an author's notes serve
    authors              the authors, and their notes
    check                notes as an author handed them in: counts, refusals, doubts
    refill               one note with other people, places, dates and numbers, as often as is wanted

Belongs here: those notes and their surrogates. Does not belong here: notes of a program (`hospital/`), published notes
(`injection/`), or what is trained and measured on them.
"""
