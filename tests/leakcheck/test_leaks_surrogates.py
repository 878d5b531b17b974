"""The leak check where surrogates take the place of identifiers: they do not count, what they stand for does."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace
from datetime import date, timedelta

import pytest

from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.leakcheck import Leak, LeakCheck, LeakKind, Released
from deid_platform.leakcheck.births import tells_day_and_month
from deid_platform.notes import Facility, Note, Patient, Provider, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.dates import DateShift, shift_days
from deid_platform.surrogates.keyed import Surrogates

POLICY = load_policy("surrogate")
DAY = date(2020, 5, 18)
VASK = Patient(
    "p-4471902", "Orrin", None, "Quillfeather", date(1950, 3, 4), mrn="MR-339120", phone="(614) 555-0142",
    street="18 Teasel Row", city="Fernbridge", state="Ohio", zip="43004", relatives="Tobin Quillfeather",
)  # fmt: skip
OTHER = Patient("p-9", "Zelda", None, "Brackwater", mrn="MR-778123")
TOPICS = Topics.of(
    patients=[VASK, OTHER],
    providers=[Provider("d1", "Ines", "Marchetti"), Provider("d2", "Bo", "Thornquist")],
    facilities=[
        Facility("f1", "Larkmoor Valley Clinic"),
        Facility("f2", "Primary Care Center"),
        Facility("f3", "Main"),
    ],
)
CHECK = LeakCheck.of(TOPICS, POLICY)
KEYRING = Keyring(hashlib.sha256(b"leaks").digest(), site="test")
STAND_INS = Surrogates(KEYRING, TOPICS)

# {label: original => what stands there}
Places = list[tuple[str, Label | None, str]]


def made(*places: tuple[str, Label | None, str]) -> tuple[Note, str, list[Span], list[int]]:
    """A note from its pieces: (original, label, surrogate); a piece without a label stays."""
    text = redacted = ""
    spans: list[Span] = []
    lengths: list[int] = []
    for original, label, surrogate in places:
        if label is not None:
            spans.append(Span(len(text), len(text) + len(original), label))
            lengths.append(len(surrogate))
        text += original
        redacted += surrogate if label is not None else original
    return Note("n-1", text, patient_id=VASK.patient_id, note_date=DAY), redacted, spans, lengths


def kinds(*places: tuple[str, Label | None, str], measured: bool = True) -> set[str]:
    note, redacted, spans, lengths = made(*places)
    found = CHECK.check(note, [VASK], redacted, spans, lengths=lengths if measured else None)
    return {leak.kind.value for leak in found}


def stays(text: str) -> tuple[str, Label | None, str]:
    return (text, None, "")


CLEAN = [
    stays("Pt "),
    ("Orrin Quillfeather", Label.PATIENT, "Anselm Whitcomb"),
    stays(", MRN "),
    ("MR-339120", Label.MEDICALRECORD, "KD-910442"),
    stays(", seen "),
    ("03/09/2019", Label.DATE, "05/11/2019"),
    stays(" at "),
    ("Larkmoor Valley Clinic", Label.HOSPITAL, "Wrenglen Clinic"),
    stays(". Call "),
    ("(614) 555-0142", Label.PHONE, "(406) 555-0128"),
    stays(" or a@b.org. SSN "),
]


@pytest.mark.parametrize(
    ("original", "label", "surrogate"),
    [
        ("Orrin", Label.PATIENT, "Anselm"),
        ("(614) 555-0142", Label.PHONE, "(406) 555-0128"),
        ("123-45-6789", Label.SSN, "900-12-3456"),
        ("orrin@home.net", Label.EMAIL, "anselm@example.org"),
        ("http://here.net", Label.URL, "http://example.org"),
        ("10.1.2.3", Label.IPADDR, "192.0.2.17"),
        ("MRN 339120", Label.MEDICALRECORD, "MRN 910442"),
        ("3/4/2019", Label.DATE, "5/6/2019"),
        ("4 March 2019", Label.DATE, "6 May 2019"),
        ("Bo Thornquist", Label.DOCTOR, "Zelda Brackwater"),  # another patient's name, by chance
        ("Orrin", Label.PATIENT, "[PATIENT]"),
        # What may come out of a shift as it went in.
        ("March 2019", Label.DATE, "March 2019"),
        ("3/2019", Label.DATE, "3/2019"),
        ("11/93", Label.DATE, "11/93"),
        ("2016", Label.DATE, "2016"),
        ("the 9th", Label.DATE, "the 9th"),
        ("Monday", Label.DATE, "Monday"),
        # Another date that came to lie on the day of birth.
        ("5/6/1950", Label.DATE, "3/4/1950"),
    ],
)
def test_what_redaction_itself_put_there_is_no_leak(original: str, label: Label, surrogate: str) -> None:
    assert kinds(stays("Seen: "), (original, label, surrogate), stays(" today.")) == set()


@pytest.mark.parametrize(
    ("original", "label", "surrogate"),
    [
        ("Orrin", Label.PATIENT, "Orrin"),
        ("Orrin", Label.PATIENT, "ORRIN"),
        ("Orrin Quillfeather", Label.PATIENT, "Anselm Quillfeather"),
        ("Ines Marchetti", Label.DOCTOR, "Ines Marchetti"),
        ("Ines Marchetti", Label.PATIENT, "Orrin Marsh"),  # the patient's name, put there for somebody else
        ("Dr. Orrin Venn", Label.DOCTOR, "Dr. Orrin Marsh"),
        ("Larkmoor Valley Clinic", Label.HOSPITAL, "Larkmoor Valley Clinic of the North"),
        ("MR-339120", Label.MEDICALRECORD, "MR-339120"),
        ("KD-1", Label.IDNUM, "MR-339120"),
        ("(614) 555-0142", Label.PHONE, "614.555.0142"),
        ("18 Teasel Row", Label.STREET, "18 Teasel Row"),
        ("3/9/2019", Label.DATE, "3/9/2019"),
        ("March 9, 2019", Label.DATE, "March 9, 2019"),
        ("3/28", Label.DATE, "3/28"),
        ("2/14-2/17", Label.DATE, "2/14-2/17"),
        # The day of birth stands where it stood, written otherwise.
        ("3/4/1950", Label.DATE, "March 4, 1950"),
    ],
)
def test_what_shows_what_it_stands_for_or_the_patient_is(original: str, label: Label, surrogate: str) -> None:
    assert kinds(stays("Seen: "), (original, label, surrogate), stays(" today.")) == {LeakKind.SURROGATE.value}


@pytest.mark.parametrize(
    ("left", "kind"),
    [
        ("Quillfeather was", "last-name"),
        ("call 614 555 0142 or", "phone"),
        ("MR339120 was", "mrn"),
        ("lives at 18 Teasel Row and", "street"),
        ("born 3/4/1950 and", "birth-date"),
        ("with Zelda Brackwater and", "other-patient-name"),
        ("on 7/8/2018 and", "date-shape"),
        ("x@home.net and", "email-shape"),
        ("Dr. Ines Marchetti was", "provider-name"),
        ("MARCHETTI, INES", "provider-name"),
        ("to Larkmoor Valley Clinic for", "facility-name"),
        ("to LARKMOOR VALLEY CLINIC for", "facility-name"),
    ],
)
def test_what_is_left_between_surrogates_leaks_as_it_does_among_tags(left: str, kind: str) -> None:
    found = kinds(stays("Pt "), ("Orrin", Label.PATIENT, "Anselm"), stays(f", {left} well."))
    assert kind in found


@pytest.mark.parametrize(
    "left", ["Ines", "Thornquist sign", "the Primary Care Center", "in the Main", "Larkmoor Valley"]
)
def test_half_a_name_and_what_many_are_called_are_not_the_institutions(left: str) -> None:
    assert kinds(stays("Pt "), ("Orrin", Label.PATIENT, "Anselm"), stays(f" {left} today.")) == set()


def test_among_tags_and_where_they_stay_providers_are_the_policys_affair() -> None:
    note = Note("n-1", "Dr. Ines Marchetti, Larkmoor Valley Clinic", patient_id=VASK.patient_id)
    for name in ("safe_harbor", "safe_harbor_plus_providers"):
        assert LeakCheck.of(TOPICS, load_policy(name)).check(note, [VASK], note.text, []) == ()


def test_surrogates_are_told_from_the_text_by_their_lengths() -> None:
    # A surrogate that holds what lies between two spans.
    places = [
        ("Orrin", Label.PATIENT, "Anselm von Teck"),
        stays(" "),
        ("Quillfeather", Label.PATIENT, "Whitcomb"),
        stays("."),
    ]
    assert kinds(*places) == set()
    note, redacted, spans, lengths = made(*places)
    for wrong in ([1, 2], [len(redacted)], [*lengths, 0], [lengths[0] + 1, lengths[1] - 1], [-1, 30]):
        found = CHECK.check(note, [VASK], redacted, spans, lengths=wrong)
        assert LeakKind.MISALIGNED in {leak.kind for leak in found}, wrong


def test_a_whole_note_of_surrogates_is_clean_measured_or_not() -> None:
    note, _, spans, _ = made(*CLEAN)
    redaction = redact(note, spans, POLICY, birth_date=VASK.birth_date, surrogates=STAND_INS)
    for given in (redaction.lengths, None):
        found = CHECK.check(note, [VASK], redaction.text, redaction.applied, lengths=given)
        assert {leak.kind.value for leak in found} == {"email-shape"}, "which no span held"


@pytest.mark.parametrize(
    ("released", "kind"),
    [
        (Released(shifted_date=DAY + timedelta(days=shift_days(KEYRING, VASK.patient_id))), None),
        (Released(shifted_date=DAY + timedelta(days=shift_days(KEYRING, VASK.patient_id, DateShift.SEASON))), None),
        (Released(shifted_date=DAY), "column-date"),
        (Released(shifted_date=DAY + timedelta(days=3)), "column-date"),  # no whole weeks: no shift of ours
        (Released(note_year=2020), "column-year"),
        (Released(note_year=2019), "column-year"),
    ],
)
def test_beside_the_text_only_a_shifted_day_may_stand(released: Released, kind: str | None) -> None:
    note = Note("n-1", "Well.", patient_id=VASK.patient_id, note_date=DAY)
    found = {leak.kind.value for leak in CHECK.check(note, [VASK], note.text, [], released)}
    assert found == ({kind} if kind else set())


@pytest.mark.parametrize("day", [DAY, DAY + timedelta(days=7)])
def test_a_limited_data_set_shows_the_true_day_and_no_other(day: date) -> None:
    check = LeakCheck.of(TOPICS, load_policy("limited_dataset"))
    note = Note("n-1", "Seen 3/9/2019 at Fernbridge, Ohio 43004, 94 years old", VASK.patient_id, note_date=DAY)
    found = {leak.kind.value for leak in check.check(note, [VASK], note.text, [], Released(shifted_date=day))}
    assert found == (set() if day == DAY else {"column-date"})


def test_where_dates_of_care_stay_a_date_of_birth_leaks() -> None:
    check = LeakCheck.of(TOPICS, load_policy("patient_only"))
    for text, expected in (("Seen 3/9/2019.", set()), ("Born 3/4/1950.", {"birth-date"})):
        note = replace(Note("n-1", text), patient_id=VASK.patient_id)
        assert {leak.kind.value for leak in check.check(note, [VASK], text, [])} == expected


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        *((text, True) for text in ("3/4/2019", "2019-03-04", "20190304", "030419", "3/28", "March 4", "4. März 2019")),
        *((text, True) for text in ("2/14-2/17", "March 3-5", "3/4/2019-3/9/2019", "Mon 3/4")),
        *((text, False) for text in ("March 2019", "3/2019", "11/93", "Mar '19", "2019", "1990s", "the 9th", "Monday")),
        *((text, False) for text in ("March-April 2019", "3/2019-5/2019", "2018-2019", "late March")),
    ],
)
def test_a_date_tells_its_day_if_it_has_a_day_and_a_month(text: str, whole: bool) -> None:
    assert tells_day_and_month(text) is whole


@pytest.mark.parametrize(
    ("before", "original", "leaks"),
    [
        ("DOB ", "19280309", True),
        ("DOB: ", "03091928", True),
        ("DOB: ", "09031928", True),
        ("DOB ", "280309", True),
        ("geb. ", "090328", True),
        ("born ", "3/9/28", True),
        ("PID|1||812||Doe^Jane||", "19280309", True),
        ('<birthTime value="', "19280309041500", True),
        ('<birthTime value="', "192803", True),
        ("(0010,0030) DA [", "19280309", True),
        ("born ", "1928-03-09T04:15:00Z", True),
        ("scan_", "19280309", True),
        ("ref ", "1928068", True),
        ("", "9MAR1928", True),
        ("since ", "1928", True),
        ("DOB ", "&#49;928&#48;309", True),
        ("DOB ", "19320309", False),
        ("DOB ", "09031932", False),
        ("seen ", "280309", False),
        ("seen ", "3/9/18", False),
        ("seen ", "19102018", False),
        ("seen ", "202003121928", False),
        ("in ", "March 2019", False),
        # The end of a range is a day.
        ("Admitted ", "Dec 26-28", False),
        ("Admitted ", "12/26-28", False),
        ("", "March 26 to 28", False),
        ("dal ", "26 al 28 dicembre", False),
        ("del ", "26 al 28 de diciembre", False),
        ("du ", "26 au 28 décembre", False),
        ("", "26.-28. Dezember", False),
        ("", "March 24th-28th", False),
        ("seen ", "12-27-28", True),
        ("seen ", "12/27/28", True),
        ("seen ", "27-Dec-28", True),
        ("born ", "March 9-28", True),
    ],
)
def test_a_moved_date_must_not_tell_an_age_over_89(before: str, original: str, leaks: bool) -> None:
    note, redacted, spans, lengths = made(stays(before), (original, Label.DATE, "4/12/2018"), stays(" x"))
    found = CHECK.check(note, (), redacted, spans, lengths=lengths)
    assert (Leak(LeakKind.OLD_DATE) in found) is leaks
    tagged = redacted.replace("4/12/2018", "[DATE]")
    assert Leak(LeakKind.OLD_DATE) not in CHECK.check(note, (), tagged, spans, lengths=[len("[DATE]")])


@pytest.mark.parametrize("original", ["19280309", "280309", "030928", "3/9/28", "9 Mar 28"])
def test_a_moved_date_of_birth_must_not_tell_an_age_over_89_whatever_stands_before_it(original: str) -> None:
    note, redacted, spans, lengths = made(stays("F "), (original, Label.DATE, "4/12/2018"))
    old = [Patient("p", birth_date=date(1928, 3, 9))]
    assert Leak(LeakKind.OLD_DATE) in CHECK.check(note, old, redacted, spans, lengths=lengths)


def test_what_redaction_moves_tells_the_leak_check_of_no_age_over_89() -> None:
    draw = random.Random(7)
    shapes = ("%Y%m%d", "%d%m%Y", "%m%d%y", "%y%m%d", "%Y%m", "%m/%d/%y", "%d.%m.%Y", "%d-%b-%y", "%Y%j", "%B %Y", "%Y")
    for number in range(600):
        day = date(1915, 1, 1) + timedelta(days=draw.randrange(38_000))
        born = draw.choice([None, day, date(1950, 3, 4)])
        before = draw.choice(["DOB ", "born ", "seen ", "", '<birthTime value="'])
        text = before + day.strftime(draw.choice(shapes)) + " x"
        note = Note(f"n{number}", text, "p", note_date=DAY)
        redaction = redact(
            note, [Span(len(before), len(text) - 2, Label.DATE)], POLICY, birth_date=born, surrogates=STAND_INS
        )
        known = [] if born is None else [Patient("p", birth_date=born)]
        found = CHECK.check(note, known, redaction.text, redaction.applied, lengths=redaction.lengths)
        assert Leak(LeakKind.OLD_DATE) not in found, number
