"""Dates under the policies that move them, keep them, or keep of a birth its year."""

import hashlib
import re
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.lone_years import lone_years
from deid_platform.redaction.policy import NoteDateRule, load_policy
from deid_platform.redaction.public_dates import KNOWN_DAYS
from deid_platform.redaction.redact import Redaction, redact
from deid_platform.redaction.structured import released_date
from deid_platform.surrogates.date_order import DateOrder, DateWriting
from deid_platform.surrogates.dates import note_shift_days
from deid_platform.surrogates.keyed import Surrogates
from tests.redaction.test_redact import marked

SURROGATE = load_policy("surrogate")
PATIENT_ONLY = load_policy("patient_only")
KEYRING = Keyring(hashlib.sha256(b"shifted").digest(), site="test")
TOPICS = Topics.of(patients=[Patient("p1", birth_date=date(1950, 3, 4)), Patient("newborn", mother_id="p1")])
STAND_INS = Surrogates(KEYRING, TOPICS, writing=DateWriting(DateOrder.MONTH_FIRST))
WRITTEN = date(2019, 4, 2)


def shifted(text: str, *, birth_date: date | None = None, **of_note: object) -> Redaction:
    plain, spans = marked(text)
    note = replace(Note("n1", plain, patient_id="p1", note_date=WRITTEN), **of_note)  # type: ignore[arg-type]
    return redact(note, spans, SURROGATE, birth_date=birth_date, surrogates=STAND_INS)


def patient_only(text: str, birth_date: date | None = None) -> str:
    plain, spans = marked(text)
    return redact(Note("n1", plain, note_date=WRITTEN), spans, PATIENT_ONLY, birth_date=birth_date).text


DAYS = note_shift_days(KEYRING, TOPICS, Note("n", "", "p1"))


OWN_DAYS = st.dates(date(1935, 1, 1), date(2019, 4, 1)).filter(lambda day: day not in KNOWN_DAYS)


@settings(max_examples=60)
@given(OWN_DAYS, OWN_DAYS)
def test_intervals_between_the_dates_of_a_text_and_to_the_notes_own_stay_exact(one: date, two: date):
    redaction = shifted(f"Seen {{DATE|{one.isoformat()}}} and {{DATE|{two.isoformat()}}}.")
    found = [date.fromisoformat(day) for day in re.findall(r"\d{4}-\d\d-\d\d", redaction.text)]
    note = Note("n1", "", patient_id="p1", note_date=WRITTEN)
    own = released_date(note, SURROGATE, KEYRING, topics=TOPICS).day
    assert own is not None
    assert [own - day for day in found] == [WRITTEN - one, WRITTEN - two]


def test_a_mother_and_her_newborn_move_together_in_the_text_and_beside_it():
    texts = {shifted("born {DATE|2019-03-30}", patient_id=who).text for who in ("p1", "newborn")}
    days = {
        released_date(Note("n", "", who, note_date=WRITTEN), SURROGATE, KEYRING, topics=TOPICS)
        for who in ("p1", "newborn")
    }
    assert len(texts) == len(days) == 1


@pytest.mark.parametrize("text", ["{DATE|Christmas}", "{DATE|323/20}", "{DATE|2/30/2019}", "{DATE|4th of July}"])
def test_what_cannot_move_becomes_a_tag(text: str):
    assert shifted(text).text == "[DATE]"


@pytest.mark.parametrize(
    ("text", "born", "hidden"),
    [
        ("born {DATE|03/09/1926}", None, True),
        ("since {DATE|1928}", None, True),
        ("since {DATE|1929-1935}", None, True),
        ("in the {DATE|1920s}", None, True),
        ("in 1926", None, True),  # which detection leaves
        ("born {DATE|03/09/1931}", None, False),
        # However its numbers are run together.
        ("DOB {DATE|19270309}", None, True),
        ("DOB: {DATE|03091927}", None, True),
        ("DOB: {DATE|09031927}", None, True),
        ("Doe^Jane^^^^^{DATE|19270309}^F", None, True),
        ('<birthTime value="{DATE|19270309041500}"/>', None, True),
        ('<birthTime value="{DATE|192703}"/>', None, True),
        ("(0010,0030) DA [{DATE|19270309}]", None, True),
        ("scan_{DATE|19270309}_chart.pdf", None, True),
        ("born {DATE|19270309T0415}", None, True),
        ("seen {DATE|19270309-19270401}", None, True),
        ("ref {DATE|1927068}", None, True),
        ("DOB {DATE|27-03-09}", date(1927, 3, 9), True),
        ("DOB {DATE|270309}", date(1927, 3, 9), True),
        ("{DATE|270309} F", date(1927, 3, 9), True),
        ("mother born {DATE|3/9/23}", date(1950, 3, 4), True),  # nobody is born after the note
        ("DOB {DATE|19500309}", None, False),
        ("DOB {DATE|03091950}", None, False),
        ("seen {DATE|20190312}, {DATE|19102018}, {DATE|201903121927}", None, False),
        ("seen {DATE|031219}", None, False),
        ("DOB {DATE|3/9/19}", None, True),  # 1919 or 2019?
        ("DOB {DATE|3/9/19}", date(2019, 3, 9), False),
        ("DOB {DATE|3/9/26}", date(1926, 3, 9), True),
        ("seen {DATE|3/9/19}", date(1926, 3, 9), False),
    ],
)
def test_a_date_that_still_tells_an_age_over_89_becomes_a_tag(text: str, born: date | None, hidden: bool):
    assert ("[DATE]" in shifted(text, birth_date=born).text) is hidden


def test_a_date_that_comes_out_as_it_went_in_counts_as_replaced():
    small = next(
        f"p{i}" for i in range(500) if abs(note_shift_days(KEYRING, TOPICS, Note("n", "", f"p{i}"))) == 7
    )  # fmt: skip
    redaction = shifted("in {DATE|March 2019} and in 2016", patient_id=small)
    assert redaction.text == "in March 2019 and in 2016"
    assert [span.label for span in redaction.applied] == [Label.DATE, Label.DATE]


def test_years_alone_move_with_the_dates_around_them():
    far = next(f"p{i}" for i in range(500) if note_shift_days(KEYRING, TOPICS, Note("n", "", f"p{i}")) > 300)
    text = "MI in 2015, CABG (2016); 2000 mg; at 2015 hours; BP 120/80; {DATE|5/1/2014}"
    assert shifted(text, patient_id=far).text.startswith("MI in 2016, CABG (2017); 2000 mg; at 2015 hours; BP 120/80;")
    plain, spans = marked(text)
    other = redact(Note("n1", plain, note_date=WRITTEN), spans, load_policy("safe_harbor")).text
    assert other.startswith("MI in 2015, CABG (2016)")


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("MI in 2015, CABG (2016), since 2001.", ["2015", "2016", "2001"]),
        ("1998 - appendectomy\n2003: fall", ["1998", "2003"]),
        ("between 2010 and 2012, from 1999-2004", ["2010", "2012", "1999", "2004"]),
        ("in 2015, 2016, and 2017", ["2015", "2016", "2017"]),
        ("class of 1947, nel 2011, seit 2012", ["1947", "2011", "2012"]),
        ("in 2015", ["2015"]),
        ("CABG 2015. Stent 2016, AICD-2017; DM2 2014", ["2015", "2016", "2017", "2014"]),
        ("smoked 1970-2005, dx'd 2011, quit 2005", ["1970", "2005", "2011", "2005"]),
        ("FY2019, FY19, '18 admission, 2018/19 season", ["2019", "19", "18", "2018/19"]),
        # What tells when in the year goes with it; a fall is none.
        ("Q3 2018, 2018 Q3, summer of 2018, s/p fall 2015", ["Q3 2018", "2018 Q3", "summer of 2018", "2015"]),
        ("PSA 2012: 4.5, echo 2015, CA 19-9", ["2012", "2015"]),
        ("PSA 2012 4.5", ["2012"]),
        (
            "MI in nineteen ninety-eight, since two thousand and four",
            ["nineteen ninety-eight", "two thousand and four"],
        ),
        (
            "en mil novecientos noventa y ocho; seit zweitausendvier",
            ["mil novecientos noventa y ocho", "zweitausendvier"],
        ),
        ("dal millenovecentonovantotto, depuis deux mille quatre", ["millenovecentonovantotto", "deux mille quatre"]),
        ("nineteen ninety-five mg, of two thousand days, in twenty twenty-five minutes, twenty twenty vision", []),
        ("Calories of two thousand ten daily, WBC of nineteen thirteen, leucocitos de mil novecientos", []),
        # A dose, a time of day, a result, a number, a decade, a date.
        ("1500-2000 mL, 2000-calorie diet, up to 2000 cc, > 2000, $2000", []),
        ("ANC of 2015, hCG level was 1950, urine output: 2000, room 2015, ext. 1998", []),
        ("up from 1200 to 2000; 34 2015 12; given at 2015; delivered at 1900", []),
        ("555-2015, c.2015G>A, X2015, 12.2015, 2015A, 5'10, the '80s, '12 hours", []),
        ("2019 03 14, CT_2019_03_14.pdf, 03_14_2019", []),  # whole dates, of which the leak check tells
        ("in 2000 mL, 2000 mg of 2000 cells", []),
        ("at 2015 hours, BP 2015/80, in 20156", []),
        ("WBC 1950, in 2089, in the 1990s", []),
        ("of 2019-03-04 and 3/4/2019", []),
    ],
)
def test_a_year_is_one_where_the_words_around_make_it_one(text: str, years: list[str]):
    assert [text[span.start : span.end] for span in lone_years(text, [])] == years


def test_a_year_within_a_date_that_was_found_is_no_year_alone():
    text = "in March 2019 and in 2016"
    assert [text[s.start : s.end] for s in lone_years(text, [Span(3, 13, Label.DATE)])] == ["2016"]


def test_a_year_behind_a_date_that_became_a_tag_moves_too():
    far = next(f"p{i}" for i in range(500) if note_shift_days(KEYRING, TOPICS, Note("n", "", f"p{i}")) > 300)
    assert shifted("{DATE|Thanksgiving} 2018, room {DATE|Diwali} (2018)", patient_id=far).text == (
        "[DATE] 2019, room [DATE] (2019)"
    )


def test_a_date_in_words_becomes_a_tag_where_dates_move():
    text = (
        "born {DATE|March third, nineteen fifty}, seen {DATE|nueve de marzo de dos mil dieciocho}, in nineteen ninety"
    )
    assert shifted(text).text == "born [DATE], seen [DATE], in [DATE]"


def test_where_a_birth_keeps_its_year_one_in_words_does():
    assert patient_only("born {DATE|March third, nineteen fifty}") == "born [DATE 1950]"
    assert patient_only("seen {DATE|March third, nineteen fifty}", date(1950, 3, 3)) == "seen [DATE 1950]"
    assert patient_only("seen {DATE|March third, twenty nineteen}", date(1950, 3, 3)).startswith("seen March third")


def test_where_dates_become_tags_years_alone_do_too_and_where_the_year_stays_they_stay():
    text = "CABG 2015, in 2016; 2000 mg; {DATE|3/4/2019}"
    plain, spans = marked(text)
    note = Note("n1", plain, note_date=WRITTEN)
    assert redact(note, spans, load_policy("gdpr_it")).text == "CABG [DATE], in [DATE]; 2000 mg; [DATE]"
    assert redact(note, spans, load_policy("safe_harbor")).text == "CABG 2015, in 2016; 2000 mg; [DATE 2019]"
    shifting = replace(load_policy("gdpr_it"), note_date=NoteDateRule.SHIFT)
    assert "2015" not in redact(note, spans, shifting).text


def test_surrogates_without_a_key_are_refused():
    with pytest.raises(DeidError) as caught:
        redact(Note("n", "x"), [], SURROGATE)
    assert caught.value.code is Code.POLICY_INVALID


@pytest.mark.parametrize(
    ("text", "born", "left"),
    [
        ("DOB {DATE|12/12/1999}", None, "DOB [DATE 1999]"),
        ("born on {DATE|12 Aug 2012}, tested {DATE|19 April 2014}", None, "born on [DATE 2012], tested 19 April 2014"),
        ("Data di nascita: {DATE|12/8/1962}", None, "Data di nascita: [DATE 1962]"),
        ("birthday {DATE|3/4}", None, "birthday [DATE]"),
        ("seen {DATE|3/4/1950} and {DATE|3/5/2019}", date(1950, 3, 4), "seen [DATE 1950] and 3/5/2019"),
        ("DOB {DATE|3/4/50}", date(1950, 3, 4), "DOB [DATE 1950]"),
        ("DOB {DATE|3/4/19}", None, "DOB [DATE]"),
        # Nobody knows the date of birth: one behind a name may be it.
        ("{PATIENT|Orrin Vask} ({DATE|3/4/1950}) was seen {DATE|3/5/2019}", None,
         "[PATIENT] ([DATE 1950]) was seen 3/5/2019"),
        ("{PATIENT|Orrin Vask} ({DATE|3/4/1950})", date(1948, 1, 1), "[PATIENT] (3/4/1950)"),
        ("aged {AGE|94}, born {DATE|1926}", None, "aged 94, born [DATE 1926]"),
        ("Dr. {DOCTOR|Ines Marchetti}, {HOSPITAL|Larkmoor Clinic}", None, "Dr. Ines Marchetti, Larkmoor Clinic"),
    ],
)  # fmt: skip
def test_of_a_date_of_birth_its_year_stays_and_dates_of_care_stay_whole(text: str, born: date | None, left: str):
    assert patient_only(text, born) == left


def test_a_limited_data_set_keeps_the_notes_own_date():
    note = Note("n", "", note_date=WRITTEN)
    assert released_date(note, load_policy("limited_dataset"), KEYRING).day == WRITTEN
    assert released_date(note, load_policy("gdpr_it"), KEYRING) == (None, None)


def test_nothing_beside_the_text_tells_a_true_date_or_a_true_year():
    for weeks in range(1, 40):
        note = Note(f"n{weeks}", "", patient_id=f"p{weeks}", note_date=WRITTEN + timedelta(weeks=weeks))
        released = released_date(note, SURROGATE, KEYRING, topics=TOPICS)
        assert released.year is None
        assert released.day not in (None, note.note_date)
