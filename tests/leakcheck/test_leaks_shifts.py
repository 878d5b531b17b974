"""What the leak check asks for beyond the roster: true dates beside shifted ones, lone years, the family's names."""

from __future__ import annotations

from datetime import date

import pytest

from deid_platform.labels import Label
from deid_platform.leakcheck import LeakCheck, Released
from deid_platform.notes import Note, Patient, Provider, Span, Topics
from deid_platform.redaction.policy import load_policy

CHILD = Patient("p-4471902", "Jane", None, "Carter", relatives="Mirela Voss (daughter); Brennock, Tobin; Will")
MOTHER = Patient("p-4471903", "Odile", None, "Brightwater")
TOPICS = Topics.of(
    patients=[CHILD, Patient("p-4471904", "Newborn", None, "Carter", mother_id=MOTHER.patient_id), MOTHER],
    providers=[Provider("d1", "Tobin", "Brennock")],
)
CHECKS = {
    name: LeakCheck.of(TOPICS, load_policy(name))
    for name in ("surrogate", "safe_harbor_plus_providers", "patient_only", "limited_dataset", "gdpr_it")
}
WRITTEN = date(2019, 3, 14)


def left(text: str, policy: str = "surrogate", *, patient_id: str | None = None, language: str = "en") -> set[str]:
    note = Note("n-1", text, patient_id=patient_id, note_date=WRITTEN, language=language)
    found = CHECKS[policy].check(note, TOPICS.patients_known_as(patient_id), text, [], lengths=[])
    return {leak.kind.value for leak in found}


@pytest.mark.parametrize(
    "text",
    [
        # In file names, unique ids and order numbers.
        "UID 1.2.840.113619.2.55.3.20190314.1234",
        "order 20170314-0007",
        "scan_20170314.pdf",
        "export03142017.csv",
        "CT_2019_03_14.pdf",
        "IMG 2017-03-14.dcm",
        "file 03_14_2017",
        # Parted otherwise, or as the day, the week or the short year.
        "on 2017 03 14",
        "on 3.14.17",
        "on 14.3.17",
        "sample 2017-073",
        "last seen Mar '17",
        "seen on the 14th.",
        "called by the 2nd and came",
        # A word for a date.
        "wk of 6/11",
        "seen 6/11",
        "due 10/2",
        "Mon 9/3",
        # Near the note's own date.
        "back 3/11",
        "labs 03/22, stable",
        "visit on 22/3",
        "rash 03-14",
        "ref 190314",
        "ref 031419",
        "came 3-1-19",
        # Near it they are no scores, shares or mixed numbers, unless the words around say so.
        "Na 140 3/10",
        "Cr 1.2 (3/4), 1.3 (3/9)",
        "HD 5 3/7, seen by surgery",
        "K 4.2 3/8",
    ],
)
def test_under_a_shift_every_true_date_that_stays_leaks_and_among_tags_the_doubtful_ones_do_not(text: str) -> None:
    assert left(text) == {"date-shape"}
    if not text.startswith(("IMG",)):
        assert left(text, "safe_harbor_plus_providers") == set()


@pytest.mark.parametrize("text", ["am 14.3. gesehen", "il 10.3. visita"])
def test_a_day_with_full_stops_near_the_notes_date_leaks_in_languages_that_write_it(text: str) -> None:
    assert left(text, language="de") == {"date-shape"}
    assert left(text.replace("14.3. gesehen", "K 14.3. Stable")) == set()


@pytest.mark.parametrize(
    "text",
    [
        "pain 3/10, strength 3/5, murmur 3/6, Apgar 3/9, STOP-BANG 3/8",
        "repeat in 3/12, day 3/7 of antibiotics, pupils 3/3, epworth 3/24",
        'needle 3/16 inch, 3/16" bolt, 3/17 tablets, BP 120/80, 20/25',
        "back 9/11",  # far from the note, and behind no word for a date
        "2-3 weeks, 10-12 days, 3-0 vicryl, ca 19-9, 13-15",
        "version 3.1.12, section 4.2.11, pH 7.35, v3.1.19",
        "the 14th percentile, the 7th rib on the 2nd toe, on the 3rd floor",
        "MRI 1234567, 20195511, 190, 555, WBC 19.03, 4019031",
        "week 12 of pregnancy",
        "3/6 systolic murmur, motor 3/4, 3/5 strength, weak grip 3/5, GCS 3/15, pupils 3/4, 38 3/7 weeks",
        "5 3/4 inches, 3/4 tab, 3/4 NS, Bristol 3/7, 3/8 of an inch, day 3/9, C3/4, 3/12 lymph nodes",
        "for 3/7, GA 38 3/7, device settings 3/5, BP averages 121/79 of 3/14 readings, FLACC 3/10, weaned to 3/5",
        "retic 14/3K/mm3, regarding her arm about a 3/10",
        "call 24/7, pain\n3/10",
    ],
)
def test_scores_doses_versions_and_ranges_are_no_dates(text: str) -> None:
    assert left(text) == set()


def test_a_score_near_another_date_of_the_note_is_asked_for_what_it_is() -> None:
    for behind, leaks in ((" at noon", True), (" strength", False), ("", True)):
        text = f"Admitted 7/2/2018. Na 140 7/5{behind}."
        spans = [Span(9, 17, Label.DATE)]
        shown = text.replace("7/2/2018", "9/4/2017")
        found = CHECKS["surrogate"].check(Note("n-1", text, note_date=WRITTEN), (), shown, spans, lengths=[8])
        assert [leak.kind.value for leak in found] == ["date-shape"] * leaks, text


def test_a_day_of_a_stay_beside_its_moved_date_is_no_day_of_a_year() -> None:
    text = "Day 6 3/8 better."
    found = CHECKS["surrogate"].check(
        Note("n-1", text, note_date=WRITTEN), (), "Day 6 5/1 better.", [Span(6, 9, Label.DATE)], lengths=[3]
    )
    assert found == ()


def test_a_true_date_in_a_notes_type_leaks_and_a_plain_type_does_not() -> None:
    note = Note("n-1", "Well.", note_date=WRITTEN)
    for kind, leaks in (("progress note", False), ("labs 3/10", True)):
        released = Released(note_type=kind)
        found = CHECKS["surrogate"].check(note, (), "Well.", [], released, lengths=[])
        assert [leak.kind.value for leak in found] == ["column-note-type"] * leaks


def test_the_week_or_the_day_of_a_year_that_was_moved_leaks() -> None:
    for text in ("Week 12 of 2019.", "2019-W12.", "day 73 of 2019."):
        start = text.index("2019")
        note = Note("n-1", text, note_date=WRITTEN)
        moved = text.replace("2019", "2018")
        found = CHECKS["surrogate"].check(note, (), moved, [Span(start, start + 4, Label.DATE)], lengths=[4])
        assert [leak.kind.value for leak in found] == ["date-shape"], text


@pytest.mark.parametrize(
    "text",
    [
        *("MI in 2015.", "(2015)", "since 2012, well", "FY2019", "Q3 2018", "dx'd 2011", "1970-2005"),
        *("MI in nineteen ninety-eight.", "since two thousand and four, well", "en mil novecientos noventa y ocho."),
        *("nel millenovecentonovantotto.", "depuis mille neuf cent quatre-vingt-dix-huit.", "seit zweitausendvier."),
    ],
)
def test_a_true_year_leaks_where_dates_are_shifted_or_tagged_and_stays_where_the_year_does(text: str) -> None:
    assert left(text) == left(text, "gdpr_it") == {"lone-year"}
    assert left(text, "safe_harbor_plus_providers") == left(text, "limited_dataset") == set()


@pytest.mark.parametrize(
    "text",
    [
        *("in 2000 mL", "WBC 2015.", "2000 mg", "in 20156.", "in 2015/80", "since 2000 hours", "in 2015.5"),
        *("in nineteen patients.", "in twenty twenty patients", "in a twenty minute walk.", "in nineteen days."),
    ],
)
def test_an_amount_or_a_time_of_day_is_no_year(text: str) -> None:
    assert left(text) == set()


@pytest.mark.parametrize("policy", ["surrogate", "safe_harbor_plus_providers", "patient_only", "limited_dataset"])
@pytest.mark.parametrize(
    "text",
    [
        "Her daughter Mirela Voss called.",
        "MIRELA VOSS called.",
        "Voss, Mirela",
        "Mirela J. Voss",
        "Mrs. Voss visited.",
        "daughter Mirela",
        "daughter, Mirela, agrees",
        "Mirela, her daughter, agrees",
        "son is named Tobin",
        "Her son Will agrees.",
    ],
)
def test_relatives_whom_the_patients_row_names_are_sought(text: str, policy: str) -> None:
    assert left(text, policy, patient_id=CHILD.patient_id) == {"relative-name"}


@pytest.mark.parametrize("text", ["Mother Odile is well.", "Mrs. Brightwater visited.", "Odile Brightwater"])
def test_the_mother_is_sought_in_the_newborns_notes(text: str) -> None:
    assert "relative-name" in left(text, patient_id="p-4471904")


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Voss will see her.",
        "Voss Hospital",
        "Mirela is a brand of lamp",
        "Will call her son. Will return.",
        "her son will agree",
        "Sent to Tobin for review",
    ],
)
def test_a_single_name_beside_nothing_that_makes_it_the_familys_is_nobodys(text: str) -> None:
    assert left(text, patient_id=CHILD.patient_id) == set()


def test_a_relative_of_somebody_else_and_a_name_that_a_provider_bears_are_none() -> None:
    assert "relative-name" not in left("Mirela Voss called.", patient_id=MOTHER.patient_id)
    assert left("Tobin Brennock, MD", "patient_only", patient_id=CHILD.patient_id) == set()
    assert left("Tobin Brennock, MD", patient_id=CHILD.patient_id) >= {"relative-name"}
