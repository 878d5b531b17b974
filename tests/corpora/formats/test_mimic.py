"""MIMIC-III and MIMIC-IV-Note: as feeds, as gold, and filled. All rows are invented."""

from __future__ import annotations

import gzip
import re
import tracemalloc

import pytest

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats import file_format, gold_format
from deid_platform.corpora.injection.carriers import with_placeholders
from deid_platform.corpora.injection.corpus import InjectionSpec, Part, inject
from deid_platform.corpora.placeholders import mimic3_placeholders, mimic4_placeholders
from deid_platform.corpora.single_files import read_folder
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Note

EVENTS = "ROW_ID,SUBJECT_ID,HADM_ID,CHARTDATE,CHARTTIME,STORETIME,CATEGORY,DESCRIPTION,CGID,ISERROR,TEXT\n"
DISCHARGE = "note_id,subject_id,hadm_id,note_type,note_seq,charttime,storetime,text\n"
M3 = (
    "Admission Date: [**2151-7-16**]\nMs. [**Known firstname 201**] [**Known lastname 202**], [**Age over 90 **], in "
    "[**2151**]. Seen by Dr. [**First Name (STitle) 12**] [**Last Name (STitle) 303**] of [**Hospital1 **]. Her "
    "daughter [**Name (NI) 707**] on [**7-18**]. Ms. [**Known lastname 202**] left."
)
M4 = "Name:  ___            Unit No:   ___\nDate of Birth:  ___\nAttending: ___.\nMs. ___ went from ___ to Dr. ___.\n"


def event(row_id, subject="7", text="Stable.", error="", hadm="167853.0"):
    quoted = text.replace('"', '""')
    return f'{row_id},{subject},{hadm},2151-07-16,,,Nursing ,Report,15,{error},"{quoted}"\n'


@pytest.mark.parametrize("name", ["mimic3", "mimic4"])
def test_the_feed_keeps_the_reader_contract(name, tmp_path, contract):
    m = contract.MARKER

    def deliver(watermark, file, content):
        path = tmp_path / "ehr" / watermark / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def notes(watermark, text):
        if name == "mimic3":
            rows = (event(f"n-{m}", m, text), event(f"e-{m}", m, " "), event(f"n-{m}", m, text), f'x{m},"\n')
            latin = event(f"l-{m}", m, f"{m} caf\xe9").encode("latin-1")
            deliver(watermark, "NOTEEVENTS.csv", (EVENTS + "".join(rows[:3])).encode() + latin + rows[3].encode())
        else:
            rows = (f'n-{m},{m},1,DS,1,,,"{text}"\n', f"e-{m},{m},1,DS,1,,, \n", f'n-{m},{m},1,RR,1,,,"{text}"\n')
            latin = f'l-{m},{m},1,DS,1,,,"{m} caf\xe9"\n'.encode("latin-1")
            deliver(watermark, "discharge.csv", (DISCHARGE + "".join(rows)).encode() + latin)

    notes("2026-01-05", f"Seen {m}.\nWell.")
    notes("2026-01-12", f"Other {m}.")
    if name == "mimic3":
        deliver(
            "2026-01-05", "PATIENTS.csv", f"ROW_ID,SUBJECT_ID,GENDER,DOB\n1,p-{m},F,2092-03-02 00:00:00\n2,,M,{m}\n"
        )
    else:
        deliver("2026-01-05", "patients.csv", f"patient_id,last_name,birth_date\np-{m},{m},1950-02-01\n,{m},\n")
    deliver("2026-01-05", "withdrawn.csv", f"note_id,patient_id\nw-{m},\n,q-{m}\n")
    deliver("2026-01-05", "rejoined.csv", f"patient_id,{m}\n{m},\n")
    deliver("2026-01-12", "rejoined.csv", f"patient_id\nq-{m}\n")
    contract.check_reader(
        lambda: FilesFeed("ehr", tmp_path / "ehr", file_format=file_format(name)),
        lambda delivery: notes(delivery.watermark, "Another text."),
    )
    found = FilesFeed("ehr", tmp_path / "ehr", file_format=file_format(name)).notes(Delivery("ehr", "2026-01-05"))
    reasons = [item.reason for item in found if isinstance(item, Rejection)]
    assert reasons[:3] == [Reason.EMPTY_TEXT, Reason.DUPLICATE_NOTE_ID, Reason.INVALID_UTF8]


def delivered(tmp_path, name, file, content):
    folder = tmp_path / "ehr" / "2026-01-05"
    folder.mkdir(parents=True)
    if file.endswith(".gz"):
        (folder / file).write_bytes(content)
    else:
        (folder / file).write_text(content)
    reader = FilesFeed("ehr", tmp_path / "ehr", file_format=file_format(name))
    return reader, Delivery("ehr", "2026-01-05")


def test_notes_have_the_ids_of_their_columns_and_no_moved_date(tmp_path):
    reader, delivery = delivered(tmp_path, "mimic3", "NOTEEVENTS.csv", EVENTS + event("9", text="Two\nlines."))
    (note,) = reader.notes(delivery)
    assert note == Note(
        "9", "Two\nlines.", patient_id="7", encounter_id="167853", provider_id="15", note_type="Nursing"
    )


def test_a_note_marked_as_an_error_is_withdrawn(tmp_path):
    content = EVENTS + event("9") + event("10", error="1")
    reader, delivery = delivered(tmp_path, "mimic3", "NOTEEVENTS.csv", content)
    assert [note.note_id for note in reader.notes(delivery)] == ["9"]
    (gone,) = reader.withdrawals(delivery, known_patients=None, known_notes=None)
    assert gone.note_id == "10"


def test_a_truncated_file_keeps_the_notes_before(tmp_path):
    packed = gzip.compress((EVENTS + "".join(event(str(n), text="Stable. " * 400) for n in range(500))).encode())
    reader, delivery = delivered(tmp_path, "mimic3", "NOTEEVENTS.csv.gz", packed[: len(packed) // 2])
    found = list(reader.notes(delivery))
    assert isinstance(found[-1], Rejection)
    assert found[-1].reason in (Reason.TRUNCATED_FILE, Reason.MALFORMED_ROW)
    assert len(found) > 10


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (event("", text="x"), Reason.MISSING_NOTE_ID),
        (event("9", text=" "), Reason.EMPTY_TEXT),
        (event("1"), Reason.DUPLICATE_NOTE_ID),
        ("1,2,3\n", Reason.MALFORMED_ROW),
        (event("9", text="caf\xe9").encode("latin-1"), Reason.INVALID_UTF8),
    ],
)
def test_a_note_that_is_no_gold_costs_itself_alone(tmp_path, row, reason):
    path = tmp_path / "NOTEEVENTS.csv"
    row = row if isinstance(row, bytes) else row.encode()
    path.write_bytes((EVENTS + event("1")).encode() + row + event("2").encode())
    found = list(gold_format("mimic3").read(path, scheme="mimic-iii"))
    assert [gold.note_id for gold in found if not isinstance(gold, Rejection)] == ["1", "2"]
    (refused,) = (item for item in found if isinstance(item, Rejection))
    assert (refused.reason, refused.file, refused.row) == (reason, "notes[0]", 3)


def filled(tmp_path, name, file, content, find):
    path = tmp_path / file
    path.write_text(content)
    notes = gold_format(name).read(path, scheme=name)
    spec = InjectionSpec(name, "en_US", Part.TRAINING, weave=False)
    return next(iter(inject(spec, with_placeholders(notes, find))))


def surfaces(made, label):
    return [made.note.text[span.start : span.end] for span in made.gold if span.label is label]


def test_brackets_are_filled_with_one_person_each(tmp_path):
    made = filled(tmp_path, "mimic3", "NOTEEVENTS.csv", EVENTS + event("9", text=M3), mimic3_placeholders)
    assert "[**" not in made.note.text
    first, last, daughter, again = surfaces(made, Label.PATIENT)
    assert (first, last) == (made.patient.first_name, made.patient.last_name)
    assert again == last
    assert daughter.split()[0] != first
    assert len(surfaces(made, Label.DOCTOR)) == 2
    assert len(surfaces(made, Label.DATE)) == 2
    assert 89 < int(surfaces(made, Label.AGE)[0]) < 100
    # Years come back from the future, alone as in dates.
    assert "2151" not in made.note.text
    assert "201" in surfaces(made, Label.DATE)[0] or "202" in surfaces(made, Label.DATE)[0]


@pytest.mark.parametrize(
    ("kind", "label", "shape"),
    [
        ("Month (only) 404", Label.DATE, r"[A-Z][a-z]+"),
        ("Month/Year 1 404", Label.DATE, r"\d{1,2}/20\d\d"),
        ("Month/Day (2) 5", Label.DATE, r"\d{1,2}/\d{1,2}"),
        ("Day Month Year 5", Label.DATE, r"\d{1,2} [A-Z][a-z]+ 20\d\d"),
        ("Date range (1) 5", Label.DATE, r"\d{1,2}/\d{1,2}-\d{1,2}/\d{1,2}"),
        ("Holiday 5", Label.DATE, r"[A-Z][a-z]+(?: Day)?"),
        ("Wardname 5", Label.HOSPITAL, r"[A-Z][a-z]+ \d+"),
        ("Pager number 5", Label.PHONE, r"\d{5}"),
        ("PO Box 5", Label.STREET, r"\d{2,3}"),
        ("Job Number 5", Label.IDNUM, r"[A-Z\d-]*\d[\d-]*"),
        ("Shoe Size 7", Label.IDNUM, r"[A-Z\d-]*\d[\d-]*"),
    ],
)
def test_a_placeholder_becomes_what_its_type_says(tmp_path, kind, label, shape):
    text = f"Since [**{kind}**] well."
    made = filled(tmp_path, "mimic3", "NOTEEVENTS.csv", EVENTS + event("9", text=text), mimic3_placeholders)
    (surface,) = surfaces(made, label)
    assert re.fullmatch(shape, surface)
    assert made.note.text == f"Since {surface} well."


def test_a_state_with_its_post_code_is_two_identifiers(tmp_path):
    text = "Lives in [**State/Zipcode 5**]."
    made = filled(tmp_path, "mimic3", "NOTEEVENTS.csv", EVENTS + event("9", text=text), mimic3_placeholders)
    assert re.fullmatch(r"Lives in [A-Z]{2} \d{5}\.", made.note.text)
    assert [span.label for span in made.gold] == [Label.STATE, Label.ZIP]


def test_a_type_that_nobody_knows_is_counted_and_costs_nothing(tmp_path):
    path = tmp_path / "NOTEEVENTS.csv"
    path.write_text(EVENTS + event("9", text="[**Shoe Size 7**] and [**Hospital 3**]"))
    (gold,) = gold_format("mimic3").read(path, scheme="mimic-iii")
    assert gold.unknown_types == 1
    assert [span.label for span in gold.spans] == [Label.IDNUM, Label.HOSPITAL]


def test_a_year_alone_and_an_origin_are_no_identifiers(tmp_path):
    text = "A [**Ethnicity 5**] man, since [**Year (4 digits) 5**]."
    made = filled(tmp_path, "mimic3", "NOTEEVENTS.csv", EVENTS + event("9", text=text), mimic3_placeholders)
    assert re.fullmatch(r"A ___ man, since 20\d\d\.", made.note.text)
    assert made.gold == ()


def test_blanks_that_nothing_tells_stay(tmp_path):
    made = filled(tmp_path, "mimic4", "discharge.csv", DISCHARGE + f'9,7,1,DS,1,,,"{M4}"\n', mimic4_placeholders)
    assert made.note.text.count("___") == 1
    whole, last = surfaces(made, Label.PATIENT)
    assert whole.endswith(last)
    assert len(surfaces(made, Label.DOCTOR)) == 2
    assert made.note.note_type == "discharge summary"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["feed", "gold"])
def test_memory_grows_by_the_ids_and_not_by_the_notes(tmp_path, kind):
    def peak(notes):
        folder = tmp_path / f"{kind}{notes}"
        folder.mkdir()
        with (folder / "NOTEEVENTS.csv").open("w") as table:
            table.write(EVENTS)
            table.writelines(
                event(str(n), text="Seen by Dr. [**Last Name 303**]. " + "Stable. " * 500) for n in range(notes)
            )
        tracemalloc.start()
        if kind == "feed":
            read = read_folder(folder, file_format("mimic3"))
        else:
            read = gold_format("mimic3").read(folder, scheme="mimic-iii")
        assert sum(not isinstance(item, Rejection) for item in read) == notes
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10)  # what is imported and compiled once
    # A note has 4 kB of text, an id about 0.1.
    assert (peak(1200) - peak(200)) / 1000 < 500  # bytes
