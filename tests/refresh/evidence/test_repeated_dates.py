"""Dates that many patients' notes share: which count as a template's, and what becomes of them in all deliveries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from deid_platform.doctor import installation
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.evidence.repeated_dates import repeated_dates, shared_keys
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging import due
from deid_platform.settings import RedactionSettings
from deid_platform.store import NoteStore

START = date(2021, 1, 4)


@pytest.fixture
def store(tmp_path: Path) -> NoteStore:
    return NoteStore(tmp_path / "store", Keyring(hashlib.sha256(b"repeated").digest(), site="north"))


def dates_in(text: str) -> list[Span]:
    """The words that hold a digit."""
    spans, position = [], 0
    for word in text.split(" "):
        if any(map(str.isdigit, word)):
            spans.append(Span(position, position + len(word), Label.DATE))
        position += len(word) + 1
    return spans


def bring(store: NoteStore, number: int, notes: Iterable[tuple[str, date | None, str]]) -> None:
    """Notes as patient, day and text, with what a detector found in them."""
    raw, first = [], []
    for at, (patient, day, text) in enumerate(notes):
        same = {"patient_id": patient, "content_digest": f"{number}-{at}"}
        raw.append({"note_id": f"n{number}-{at}", "note_date": day, "text": text, "language": "en", **same})
        spans = [{"start": s.start, "end": s.end, "label": "DATE", "source": ""} for s in dates_in(text)]
        first.append({"spans": spans, "told": [], **same})
    for dataset, rows, schema in (
        (tables.RAW_NOTES, raw, tables.RAW_SCHEMA),
        (tables.FIRST_PASS, first, tables.FIRST_PASS_SCHEMA),
    ):
        rows = [dict.fromkeys(schema.names) | row for row in rows]
        store.write(dataset, f"hospital@{number}", [pa.Table.from_pylist(rows, schema=schema)])


def constants(store: NoteStore, *texts: str) -> list[str]:
    """Which dates of some texts are constants of the feed."""
    found = repeated_dates(store, "hospital")
    return [
        text[start:end]
        for text in texts
        for start, end in sorted({(s.start, s.end) for s, key, _ in shared_keys(text, dates_in(text)) if key in found})
    ]


def weekly(day: int, text: str, *, patients: int, first: int = 0) -> list[tuple[str, date, str]]:
    return [(f"p{first + at}", START + timedelta(days=day), text) for at in range(patients)]


LEAFLET = "Take the leaflet printed 08/06/2020 home."


def test_a_date_of_a_template_stands_in_notes_that_were_written_far_apart(store: NoteStore):
    bring(store, 1, weekly(0, LEAFLET, patients=3))
    assert constants(store, LEAFLET) == []
    bring(store, 2, weekly(30, LEAFLET, patients=3, first=3))
    assert constants(store, LEAFLET) == [], "six patients within a month may share a day"
    bring(store, 3, weekly(60, LEAFLET, patients=1, first=0))
    assert constants(store, LEAFLET) == ["08/06/2020"]
    assert constants(store, "Seen on 08/06/2020 again.") == [], "behind other words it is a day like others"


def test_a_notes_own_date_is_none_however_many_share_it(store: NoteStore):
    for number in range(20):
        day = START + timedelta(days=7 * number)
        own = f"Date: {day:%m/%d/%Y} seen in the clinic, last on {day - timedelta(days=3):%m/%d/%Y} for labs."
        bring(store, number, weekly(7 * number, own, patients=30))
    day = START + timedelta(days=70)
    assert constants(store, f"Date: {day:%m/%d/%Y} seen", "in the clinic, last on 01/01/2021 for") == []


def test_an_admission_of_many_on_one_day_is_none_though_letters_follow_for_months(store: NoteStore):
    """Of all who were admitted on some day, six were on that one."""
    for number in range(12):
        told = [(START + timedelta(days=3 * number + at % 25)) for at in range(40)]
        notes = [
            (f"p{number}-{at}", START + timedelta(days=90 + 10 * number), f"Letter. Admission date: {day:%m/%d/%Y}.")
            for at, day in enumerate(told)
        ]
        bring(store, number, notes)
    days = [f"Letter. Admission date: {START + timedelta(days=at):%m/%d/%Y}." for at in range(30)]
    assert constants(store, *days) == []


def test_one_patients_date_told_for_years_is_none(store: NoteStore):
    text = "Transplant of the kidney 08/06/2010 without rejection."
    for number in range(10):
        bring(store, number, [("p1", START + timedelta(days=100 * number), text)] * 3)
    assert constants(store, text) == []


def test_what_has_no_year_or_no_date_beside_it_is_none(store: NoteStore):
    for number in range(4):
        bring(
            store,
            number,
            [
                *weekly(100 * number, "Back on 03/04 for labs, in 2019 once.", patients=6),
                *((f"p{at}", None, LEAFLET) for at in range(6)),
            ],
        )
    assert constants(store, "Back on 03/04 for labs, in 2019 once.", LEAFLET) == []


CLOSING = "Next clinic closing day 12/24 this year."


def test_a_date_without_a_year_counts_behind_the_same_words_in_twice_as_many_notes(store: NoteStore):
    bring(store, 1, weekly(0, CLOSING, patients=9))
    bring(store, 2, weekly(200, CLOSING, patients=9))
    assert constants(store, CLOSING) == [], "nine patients"
    bring(store, 3, weekly(170, CLOSING, patients=1, first=9))
    assert constants(store, CLOSING) == ["12/24"]
    assert constants(store, "Seen in clinic on 12/24 again.") == [], "behind other words it is a day like others"


def test_the_days_of_a_year_behind_the_same_words_are_none(store: NoteStore):
    for number in range(10):
        days = [START + timedelta(days=(37 * at + 11 * number) % 300) for at in range(40)]
        told = [(f"p{number}-{at}", day, f"Seen in clinic on {day:%m/%d} again.") for at, day in enumerate(days)]
        bring(store, number, told)
    assert (
        constants(store, *(f"Seen in clinic on {START + timedelta(days=at):%m/%d} again." for at in range(300))) == []
    )


def test_a_date_behind_changing_words_counts_in_twice_as_many_notes(store: NoteStore):
    def changing(number: int, day: int) -> list[tuple[str, date, str]]:
        return [
            (
                f"p{number}-{at}",
                START + timedelta(days=day),
                f"of {chr(97 + at)} {chr(105 + number)} printed 08/06/2020",
            )
            for at in range(6)
        ]

    bring(store, 1, changing(1, 0))
    bring(store, 2, changing(2, 100))
    assert constants(store, "sheet of 08/06/2020") == [], "within half a year"
    bring(store, 3, changing(3, 200))
    assert constants(store, "sheet of 08/06/2020") == ["08/06/2020"]


def test_a_month_and_year_of_a_form_counts_too(store: NoteStore):
    text = "Form 12-B of 03/2019 page"
    for number in range(3):
        bring(store, number, weekly(40 * number, text, patients=2, first=2 * number))
    assert "03/2019" in constants(store, text)


def test_counts_are_kept_and_what_is_read_anew_is_counted_anew(store: NoteStore):
    for number in range(3):
        bring(store, number, weekly(40 * number, LEAFLET, patients=2, first=2 * number))
    assert constants(store, LEAFLET) == ["08/06/2020"]
    assert store.manifest(tables.SHARED_DATES, "hospital@0") is not None
    bring(store, 2, weekly(80, "Another text.", patients=2))
    assert constants(store, LEAFLET) == []


def test_doctor_names_the_feeds_of_which_nobody_said_which_number_is_the_day(site, shifting):
    unsaid = Site(site.settings.model_copy(update={"redaction": RedactionSettings(policy="surrogate")}))
    assert [it.detail.partition(":")[0] for it in installation._date_order(unsaid)] == ["hospital"]
    assert list(installation._date_order(shifting)) == list(installation._date_order(site)) == []


def texts_of(site, delivery: Delivery) -> list[str]:
    return [row["text"] for row in site.store.rows(tables.REDACTED_NOTES, delivery.key)]


def test_a_delivery_is_due_again_when_its_date_turns_out_to_be_a_templates(shifting, deliver, through):
    def arrived(watermark: str, day: int) -> Delivery:
        seen = START + timedelta(days=day)
        notes = [
            {"note_id": f"{watermark}-{at}", "patient_id": f"q{day}-{at}", "note_date": seen.isoformat(),
             "text": f"{LEAFLET} Seen {seen:%Y-%m-%d}, well."}
            for at in range(3)
        ]  # fmt: skip
        return deliver(watermark, notes=notes, patients=[{"patient_id": f"q{day}-{at}"} for at in range(3)])

    first, second = arrived("2023-01-01", 0), arrived("2023-01-02", 100)
    through(first, shifting)
    assert all("leaflet printed [DATE]" not in text for text in texts_of(shifting, first))
    assert due.pending(shifting, [first]) == []
    through(second, shifting)
    assert all("leaflet printed [DATE] home. Seen 20" in text for text in texts_of(shifting, second))
    assert due.pending(shifting, [first, second]) == [first]
    through(first, shifting)
    assert all("leaflet printed [DATE] home. Seen 20" in text for text in texts_of(shifting, first))
    assert due.pending(shifting, [first, second]) == []
