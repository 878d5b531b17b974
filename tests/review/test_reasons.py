"""What the reason of a decision may not say."""

from __future__ import annotations

from deid_platform.review.reasons import quotes


def test_a_reason_says_nothing_that_a_note_hides_no_number_of_it_and_no_name_of_its_patient():
    note = "Seen by Li at Saint Ána, MRN 00-1234, call 555 0123."
    hidden = [(note.index(it), note.index(it) + len(it)) for it in ("Li", "Saint Ána")]
    for said in ("it is mr li", "a saint ana note", "number 1234", "number 001234", "5550123", "call 0123", "THANDIWE"):
        assert quotes(note, hidden, ["Thandiwe Quillfeather"], said), said
    assert not quotes(note, hidden, ["Thandiwe Quillfeather"], "read twice and mended")
