"""How far what somebody hides reaches."""

from __future__ import annotations

from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.refresh.redact.whole_words import widened

HALVES = [
    ("née Quill-\nfeather, is", "uill", "Quill-\nfeather"),
    ("to a.quill@mail.example.org, now", "mail", "a.quill@mail.example.org"),
    ("call (555) 012 3456 or", "12", "555) 012 3456"),
    ("MRN 00-12/34 seen", "2", "00-12/34"),
    ("née Quill&#102;eather, is", "Q", "Quill&#102;eather"),
    ("née Q u i l l, is", "u", "Q u i l l"),
    ("née Quill\u200bfeather, is", "Q", "Quill\u200bfeather"),
    ("two words", "two", "two"),
]


def test_a_span_reaches_over_the_whole_words_and_numbers_that_it_touches():
    for note, touched, whole in HALVES:
        start = note.index(touched)
        (span,) = widened(note, [Span(start, start + len(touched), Label.PATIENT)])
        assert note[span.start : span.end] == whole
