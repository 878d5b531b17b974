"""Redaction: what is replaced, and that nothing else is."""

import hashlib
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.policy import NoteDateRule, Policy, load_policy
from deid_platform.redaction.redact import redact
from deid_platform.redaction.structured import ReleasedDate, released_date

SAFE_HARBOR = load_policy("safe_harbor")
PLUS = load_policy("safe_harbor_plus_providers")
KEYRING = Keyring(hashlib.sha256(b"redaction").digest(), site="test")


def marked(text: str) -> tuple[str, list[Span]]:
    """ "Seen by {DOCTOR|Ines}" -> the text and its spans."""
    plain, spans = "", []
    for piece in text.split("{"):
        label, bar, rest = piece.partition("|")
        if not bar:
            plain += piece
            continue
        surface, _, after = rest.partition("}")
        spans.append(Span(len(plain), len(plain) + len(surface), Label(label)))
        plain += surface + after
    return plain, spans


@pytest.mark.parametrize(
    ("text", "safe_harbor", "plus_providers"),
    [
        ("No names here.", "No names here.", "No names here."),
        ("{PATIENT|Orrin Vask} is well", "[PATIENT] is well", "[PATIENT] is well"),
        ("Dr. {DOCTOR|Ines Marchetti}", "Dr. Ines Marchetti", "Dr. [DOCTOR]"),
        ("at {HOSPITAL|Larkmoor}, {STATE|Ohio}", "at Larkmoor, Ohio", "at [HOSPITAL], [STATE]"),
        ("a {PROFESSION|glazier}", "a glazier", "a glazier"),
        ("on {DATE|3/4/2019}.", "on [DATE 2019].", "on [DATE 2019]."),
        ("on {DATE|3/4}.", "on [DATE].", "on [DATE]."),
        ("{AGE|94}-year-old", "90+-year-old", "90+-year-old"),
        ("{AGE|45} years", "45 years", "45 years"),
        (
            "ZIP {ZIP|43004} {ZIP|10201} {ZIP|SW1A 1AA}",
            "ZIP [ZIP 430] [ZIP 000] [ZIP]",
            "ZIP [ZIP 430] [ZIP 000] [ZIP]",
        ),
        ("{PATIENT|Orrin}{PATIENT|Vask}{DATE|2019}", "[PATIENT][PATIENT][DATE 2019]", "[PATIENT][PATIENT][DATE 2019]"),
        ("{LOCATION-OTHER|the mill}", "[LOCATION-OTHER]", "[LOCATION-OTHER]"),
        ("😀{PATIENT|Zoë 🙂}\r\n\t", "😀[PATIENT]\r\n\t", "😀[PATIENT]\r\n\t"),
        ("{PATIENT|A}", "[PATIENT]", "[PATIENT]"),
    ],
)
def test_each_label_gets_its_action(text: str, safe_harbor: str, plus_providers: str):
    plain, spans = marked(text)
    note = Note("n", plain, note_date=date(2020, 1, 1))
    assert redact(note, spans, SAFE_HARBOR).text == safe_harbor
    assert redact(note, spans, PLUS).text == plus_providers


@pytest.mark.parametrize("cue", ["DOB ", "DOB: ", "D.O.B. ", "Date of birth: ", "born on ", "Birthdate "])
def test_after_a_word_of_birth_two_digits_do_not_become_this_century(cue: str):
    plain, spans = marked(cue + "{DATE|3/4/19}")
    assert redact(Note("n", plain, note_date=date(2020, 1, 1)), spans, SAFE_HARBOR).text == cue + "[DATE]"


def test_a_birth_date_in_the_topics_hides_the_years_over_89():
    plain, spans = marked("{DATE|3/4/1925} and {DATE|5/6/2019} and {DATE|7/8/1960}")
    note = Note("n", plain, note_date=date(2020, 1, 1))
    assert redact(note, spans, SAFE_HARBOR, birth_date=date(1925, 3, 4)).text == "[DATE] and [DATE] and [DATE 1960]"
    assert (
        redact(note, spans, SAFE_HARBOR, birth_date=date(1960, 7, 8)).text == "[DATE] and [DATE 2019] and [DATE 1960]"
    )


def test_a_note_without_a_date_still_hides_old_years():
    plain, spans = marked("born {DATE|3/4/1925}, seen {DATE|5/6/2019}")
    assert redact(Note("n", plain), spans, SAFE_HARBOR).text == "born [DATE], seen [DATE 2019]"


def test_kept_spans_are_not_among_the_applied():
    plain, spans = marked("{DOCTOR|Ines} saw {PATIENT|Orrin}, {AGE|45}, twice: {PATIENT|Vask}")
    redaction = redact(Note("n", plain), spans, SAFE_HARBOR)
    assert [plain[s.start : s.end] for s in redaction.applied] == ["Orrin", "Vask"]
    assert redaction.replacements == ("[PATIENT]", "[PATIENT]")
    assert redaction.counts == {Label.PATIENT: 2}


@pytest.mark.parametrize(
    "spans",
    [
        [Span(0, 5, Label.PATIENT), Span(4, 6, Label.DATE)],
        [Span(0, 5, Label.PATIENT), Span(0, 5, Label.PATIENT)],
        [Span(1, 2, Label.PATIENT), Span(0, 5, Label.PATIENT)],
        [Span(0, 11, Label.PATIENT, source="peer")],
        [Span(10, 11, Label.DOCTOR)],
    ],
)
def test_overlapping_or_outlying_spans_are_refused_without_text(spans: list[Span]):
    with pytest.raises(DeidError) as caught:
        redact(Note("n", "Orrin Vask"), spans, SAFE_HARBOR)
    assert caught.value.code is Code.SPAN_BOUNDS
    assert "Vask" not in str(caught.value)


def test_no_repr_shows_text():
    plain, spans = marked("{DOCTOR|Ines} saw {PATIENT|Orrin}")
    assert repr(redact(Note("n", plain), spans, SAFE_HARBOR)) == "<Redaction of 1 spans>"


@st.composite
def notes_and_spans(draw: st.DrawFn) -> tuple[Note, list[Span]]:
    text = draw(st.text(alphabet=st.characters(codec=None), max_size=60))
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    pairs = [pair for pair in pairwise(cuts) if draw(st.booleans())]
    spans = [Span(a, b, draw(st.sampled_from(list(Label)))) for a, b in pairs]
    return Note("n", text, note_date=date(2020, 1, 1)), draw(st.permutations(spans))


@given(notes_and_spans(), st.sampled_from([SAFE_HARBOR, PLUS]))
def test_what_lies_between_spans_is_left_code_point_by_code_point(case: tuple[Note, list[Span]], policy: Policy):
    note, spans = case
    redaction = redact(note, spans, policy)
    rebuilt, position = "", 0
    for span, replacement in zip(redaction.applied, redaction.replacements, strict=True):
        rebuilt += note.text[position : span.start] + replacement
        position = span.end
    assert redaction.text == rebuilt + note.text[position:]
    assert list(redaction.applied) == sorted(redaction.applied)
    assert set(redaction.applied) <= set(spans)


@given(notes_and_spans())
def test_the_order_of_the_spans_does_not_matter(case: tuple[Note, list[Span]]):
    note, spans = case
    assert redact(note, spans, PLUS).text == redact(note, sorted(spans), PLUS).text


def test_the_structured_date_follows_the_policy():
    note = Note("n", "x", patient_id="p", note_date=date(2020, 1, 15))
    with_rule = {
        rule: released_date(note, Policy(**{**fields(SAFE_HARBOR), "note_date": rule}), KEYRING)
        for rule in NoteDateRule
    }
    assert with_rule[NoteDateRule.YEAR] == ReleasedDate(year=2020)
    assert with_rule[NoteDateRule.DROP] == ReleasedDate()
    shifted = with_rule[NoteDateRule.SHIFT]
    assert shifted.year is None
    assert shifted.day not in (None, note.note_date)


def test_the_structured_year_hides_an_age_over_89_and_a_missing_date_stays_missing():
    note = Note("n", "x", patient_id="p", note_date=date(2020, 1, 15))
    assert released_date(note, SAFE_HARBOR, KEYRING, birth_date=date(1925, 3, 4)) == ReleasedDate()
    assert released_date(note, SAFE_HARBOR, KEYRING, birth_date=date(1935, 3, 4)) == ReleasedDate(year=2020)
    assert released_date(Note("n", "x"), SAFE_HARBOR, KEYRING) == ReleasedDate()


def fields(policy: Policy) -> dict[str, object]:
    return {name: getattr(policy, name) for name in Policy.__dataclass_fields__}
