"""A note fails closed, and a second run costs only what changed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from deid_platform.detection.resolve.cross_note import mentioned_in
from deid_platform.detection.two_pass import Detection
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Span
from deid_platform.refresh.evidence.patient_mentions import told_until
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.recipe.note_types import released_type
from deid_platform.refresh.redact.delivery import deidentify

FIRST = "2026-01-05"
PATIENTS = [{"patient_id": "p1", "first_name": "Thandiwe", "last_name": "Quillfeather", "birth_date": "1950-03-04"}]
NOTES = [
    {"note_id": "1", "patient_id": "p1", "text": "Ms. Quillfeather is well.", "note_date": "2026-01-02"},
    {"note_id": "2", "patient_id": "p1", "text": "Thandiwe will call.", "note_type": "Letter to Ms. Quillfeather"},
    {"note_id": "3", "patient_id": "p1", "text": "BP 120/80."},
]


class Scripted(LocalEngine):
    """An engine that finds what the test says and remembers what it was asked."""

    def __init__(self, script: dict) -> None:
        super().__init__()
        object.__setattr__(self, "script", script)
        object.__setattr__(self, "asked", [])

    __slots__ = ("asked", "script")

    def detect(self, spec, notes, *, tagging=False, on_batch=None, on_reuse=None):
        for index, note in enumerate(notes):
            self.asked.append(note.note_id)
            found = self.script.get(note.note_id, ())
            if isinstance(found, Code):
                yield Detection(index, None, found)
            else:
                yield Detection(index, found, mentions=mentioned_in(note.text, found))


def test_clean_notes_carry_text_and_the_policys_date(deliver, take_in, redacted) -> None:
    delivery = deliver(FIRST, notes=NOTES, patients=PATIENTS)
    take_in(delivery)
    rows = {row["note_id"]: row for row in redacted(delivery)}
    assert {row["status"] for row in rows.values()} == {"clean"}
    assert rows["1"]["text"] == "Ms. [PATIENT] is well."
    assert (rows["1"]["note_year"], rows["1"]["shifted_date"]) == (2026, None)
    assert rows["3"]["text"] == NOTES[2]["text"]


def test_a_type_that_is_not_allowed_is_told_as_other(deliver, take_in, redacted) -> None:
    delivery = deliver(FIRST, notes=NOTES, patients=PATIENTS)
    take_in(delivery)
    assert {row["note_id"]: row["note_type"] for row in redacted(delivery)} == {
        "1": "progress note",
        "2": "other",
        "3": "progress note",
    }


def test_what_fails_or_leaks_is_quarantined_without_text_and_the_rest_goes_on(deliver, take_in, redacted) -> None:
    # Before any other delivery, whose notes would tell the name.
    delivery = deliver("2025-12-01", notes=NOTES, patients=PATIENTS)
    take_in(delivery)
    beyond = (Span(0, 10_000, Label.PATIENT),)
    rows = redacted(delivery, Scripted({"1": (), "2": Code.DETECTOR_FAILED, "3": beyond}))
    assert [(row["status"], row["text"]) for row in rows] == [("quarantined", None)] * 3
    first, second, third = (row["reason"] for row in rows)
    assert first.startswith("leak-")
    assert second == "detector-failed"
    assert third == "redaction-failed"


PLANTED = {
    "Ms. Quill-\nfeather is well.": "leak-last-name",
    "THANDI\u00adWE is well.": "leak-first-name",
    "Record 00-441-903.": "leak-mrn",
    "Born on the fourth of March, 1950.": "leak-birth-date",
    "Lives at 7 Rook Lane.": "leak-street",
    "Seen with Mr. Pemberthy-Oduya, Lucan.": "leak-other-patient-name",
    "Chart 77031984.": "leak-other-patient-number",
    "Call (419) 555-0107.": "leak-phone-shape",
    "Logged in from 192.0.2.41.": "leak-ip-shape",
    "Back on March 14.": "leak-date-shape",
    "Her mother is a 93-year-old.": "leak-age-shape",
}
CLEAN = [
    "BP 120/80, lost 3/4 of it.",
    "Quill, feather pillow.",
    "Lucan came.",
    "Chart 770319840.",
    "March 14 mg. 89-year-old.",
]


def test_planted_leaks_are_quarantined_each_with_its_reason_and_nothing_else_is(deliver, take_in, redacted) -> None:
    texts = [*PLANTED, *CLEAN]
    notes = [{"note_id": str(n), "patient_id": "p1", "text": text} for n, text in enumerate(texts)]
    known = PATIENTS[0] | {"mrn": "00441903", "street": "7 Rook Lane"}
    other = {"patient_id": "p8", "first_name": "Lucan", "last_name": "Pemberthy-Oduya", "mrn": "77031984"}
    delivery = deliver("2025-12-02", notes=notes, patients=[known, other])
    take_in(delivery)
    rows = redacted(delivery, Scripted({}))
    assert {text: row["reason"] for text, row in zip(texts, rows, strict=True)} == PLANTED | dict.fromkeys(CLEAN)
    assert [row["text"] for row in rows] == [None] * len(PLANTED) + CLEAN


def test_a_type_that_names_the_patient_is_a_leak_even_where_the_site_allows_it(site, deliver, take_in) -> None:
    delivery = deliver("2026-01-14", notes=NOTES[1:], patients=PATIENTS)
    take_in(delivery)
    recipe = replace(site.recipe(delivery), note_types=("progress note", NOTES[1]["note_type"]))
    engine = Scripted({"2": (Span(0, 8, Label.PATIENT),)})
    deidentify(delivery, store=site.store, recipe=recipe, engine=engine)
    rows = site.store.rows("deid/redacted_notes", delivery.key)
    assert [row["reason"] for row in rows] == ["leak-column-note-type", None]


@pytest.mark.parametrize(
    ("written", "shown"),
    [("PROGRESS NOTE", "Progress note"), (" progress   note", "Progress note"), ("letter", "other"), (None, "other")],
)
def test_a_type_is_shown_as_the_site_writes_it_however_its_source_does(written: str | None, shown: str) -> None:
    assert released_type(written, ("Progress note", "PROGRESS note")) == shown


def test_what_was_reported_is_sought_in_every_note_and_makes_every_row_anew(site, deliver, take_in) -> None:
    delivery = deliver("2026-01-15", notes=NOTES[2:], patients=PATIENTS)
    take_in(delivery)
    engine, recipe = Scripted({}), site.recipe(delivery)
    reported = replace(recipe, reported=("bp  120/80",))
    for made_by, reason in ((recipe, None), (reported, "leak-reported"), (recipe, None)):
        deidentify(delivery, store=site.store, recipe=made_by, engine=engine)
        assert [row["reason"] for row in site.store.rows("deid/redacted_notes", delivery.key)] == [reason]
    assert engine.asked == ["3"], "what is found in a note does not depend on what was reported"
    assert recipe.digest != reported.digest == replace(recipe, reported=("bp  120/80",)).digest
    assert "120" not in repr(reported)


class Dying(LocalEngine):
    """An engine whose worker dies as it redacts one note."""

    __slots__ = ()

    def run(self, job, items, *, on_batch=None, on_report=None):
        for item in items:
            if job.fault is Code.REDACTION_FAILED and item.first.note.note_id == "1":
                yield job.failed(item)
            else:
                yield from super().run(job, [item])


def test_a_note_on_which_a_worker_dies_while_it_redacts_is_quarantined_alone(deliver, take_in, redacted) -> None:
    delivery = deliver("2026-01-16", notes=NOTES, patients=PATIENTS)
    take_in(delivery)
    first, *others = redacted(delivery, Dying())
    undisturbed = redacted(delivery)
    withheld = {"status": "quarantined", "reason": "redaction-failed", "text": None, "note_year": None}
    assert {**undisturbed[0], **withheld, "spans": [], "lengths": []} == first
    assert others == undisturbed[1:]


def test_workers_make_the_rows_that_one_process_makes(deliver, take_in, redacted) -> None:
    for watermark in ("2026-01-17", "2026-01-18"):
        take_in(deliver(watermark, notes=NOTES, patients=PATIENTS))
    alone = redacted(Delivery("hospital", "2026-01-17"), LocalEngine())
    assert redacted(Delivery("hospital", "2026-01-18"), LocalEngine(workers=2, batch_size=2)) == alone


def test_a_second_run_detects_only_what_changed(site, deliver, take_in, redacted) -> None:
    delivery = deliver("2026-01-19", notes=NOTES)
    take_in(delivery)
    name = (Span(4, 16, Label.PATIENT),)
    engine = Scripted({"1": name, "2": (Span(0, 8, Label.PATIENT),)})
    before = redacted(delivery, engine)
    assert engine.asked == ["1", "2", "3"]
    assert redacted(delivery, engine) == before
    assert engine.asked == ["1", "2", "3"]
    assert site.store.manifest("deid/redacted_notes", delivery.key).meta["counts"]["cached"] == 3

    deliver("2026-01-19", notes=[*NOTES[:2], NOTES[2] | {"text": "BP 110/70."}])
    take_in(delivery)
    assert redacted(delivery, engine)[2]["text"] == "BP 110/70."
    assert engine.asked == ["1", "2", "3", "3"]


def test_what_was_quarantined_is_tried_again(deliver, take_in, redacted) -> None:
    delivery = deliver("2026-01-23", notes=NOTES[2:])
    take_in(delivery)
    assert redacted(delivery, Scripted({"3": Code.DETECTOR_FAILED}))[0]["status"] == "quarantined"
    assert redacted(delivery, Scripted({}))[0]["status"] == "clean"


SISTER = [
    {"note_id": "letter", "patient_id": "p1", "text": "Dear Mrs. Ostrowe, your sister is well."},
    {"note_id": "shift", "patient_id": "p1", "text": "Ostrowe at bedside. Ostrowe sign negative."},
    {"note_id": "stranger", "patient_id": "p2", "text": "Ostrowe at bedside."},
    {"note_id": "nobody", "text": "Ostrowe at bedside."},
]
LETTER = {"letter": (Span(10, 17, Label.PATIENT, 0.8, "rules:letter"),)}


def test_a_name_found_in_one_note_is_found_in_the_patient_s_others(site, deliver, take_in, redacted) -> None:
    people = [{"patient_id": "p1", "last_name": "Quillfeather"}, {"patient_id": "p2", "last_name": "Aldous"}]
    delivery = deliver("2025-11-01", notes=SISTER, patients=people)
    take_in(delivery)
    shown = {
        "letter": "Dear Mrs. [PATIENT], your sister is well.",
        "shift": "[PATIENT] at bedside. Ostrowe sign negative.",
        "stranger": "Ostrowe at bedside.",
        "nobody": "Ostrowe at bedside.",
    }
    engine = Scripted(LETTER)
    assert {row["note_id"]: row["text"] for row in redacted(delivery, engine)} == shown
    turned = deliver("2025-11-01", notes=SISTER[::-1])
    take_in(turned)
    assert {row["note_id"]: row["text"] for row in redacted(turned, engine)} == shown, "whatever the order of notes"
    assert sorted(engine.asked) == sorted(shown), "no note was read anew"


def test_what_a_delivery_tells_holds_for_later_ones_and_for_itself_made_anew(site, deliver, take_in, redacted) -> None:
    patients = [{"patient_id": "p1", "last_name": "Quillfeather"}]
    earlier = deliver("2025-10-01", notes=[SISTER[1] | {"note_id": "before"}], patients=patients)
    later = deliver("2025-10-08", notes=[SISTER[1] | {"note_id": "after"}])
    for delivery in (earlier, later):
        take_in(delivery)
        assert redacted(delivery, Scripted({}))[0]["text"] == SISTER[1]["text"]
    told = site.store.manifest("deid/redacted_notes", later.key).meta["told"]

    deliver("2025-10-01", notes=[SISTER[1] | {"note_id": "before"}, SISTER[0]])
    take_in(earlier)
    assert redacted(earlier, Scripted(LETTER))[0]["text"].startswith("[PATIENT] at bedside.")
    assert told_until(site.store, later, site.keyring).digest != told, "the later delivery is due again"
    engine = Scripted({})
    assert redacted(later, engine)[0]["text"].startswith("[PATIENT] at bedside.")
    assert engine.asked == []


def test_a_second_pass_that_fails_withholds_the_note(monkeypatch, deliver, take_in, redacted) -> None:
    delivery = deliver("2025-09-01", notes=SISTER, patients=[{"patient_id": "p1", "last_name": "Quillfeather"}])
    take_in(delivery)

    def broken(*_: object) -> None:
        raise ValueError("Ostrowe")

    monkeypatch.setattr("deid_platform.detection.cross_note_search.CrossNoteSearch.__call__", broken)
    reasons = {row["note_id"]: row["reason"] for row in redacted(delivery, Scripted(LETTER))}
    assert reasons == {"letter": None, "shift": "detector-failed", "stranger": None, "nobody": None}


def test_cached_and_new_notes_keep_their_places(deliver, take_in, redacted) -> None:
    notes = [{"note_id": str(n), "text": f"Pulse {60 + n}."} for n in range(200)]
    delivery = deliver("2026-01-24", notes=notes)
    take_in(delivery)
    redacted(delivery)
    changed = [{**note, "text": "New."} if int(note["note_id"]) % 7 == 3 else note for note in notes]
    deliver("2026-01-24", notes=changed)
    take_in(delivery)
    assert [(row["note_id"], row["text"]) for row in redacted(delivery)] == [(n["note_id"], n["text"]) for n in changed]


def test_a_note_whose_roster_may_have_been_lost_is_quarantined(deliver, take_in, redacted) -> None:
    notes = [{**NOTES[0], "patient_id": "lost"}, NOTES[0] | {"note_id": "2"}]
    delivery = deliver("2026-03-01", notes=notes, patients=[*PATIENTS, {"patient_id": "", "last_name": "Quillfeather"}])
    take_in(delivery)
    assert [(row["status"], row["reason"]) for row in redacted(delivery)] == [
        ("quarantined", "roster-lost"),
        ("clean", None),
    ]


def test_so_is_one_whose_patient_s_row_has_no_name_where_others_have_one(deliver, take_in, redacted) -> None:
    rows = [{**PATIENTS[0], "patient_id": "named"}, {"patient_id": "nameless", "last_name": "UNKNOWN", "mrn": "441903"}]
    lost = {"patient_id": "", "last_name": "Quillfeather"}
    notes = [{"note_id": n, "patient_id": n, "text": "Is well."} for n in ("named", "nameless")]
    # Later than all others of this feed, since a lost row is never found.
    delivery = deliver("2026-03-02", notes=notes, patients=[*rows, lost])
    take_in(delivery)
    assert {row["note_id"]: row["reason"] for row in redacted(delivery)} == {"named": None, "nameless": "roster-lost"}


NAMELESS = {
    "no names": ({}, 0),
    "blanks and dots": ({"first_name": " ", "last_name": "."}, 0),
    "a placeholder": ({"first_name": "John", "last_name": "Doe"}, 0),
    "one word for all": ({"last_name": "Memorial"}, 0),
    "first names alone": ({"first_name": "Thandiwe"}, 0),
    "names of their own": ({"last_name": "Memorial{}"}, 24),
}


@pytest.mark.parametrize(("row", "named"), NAMELESS.values(), ids=NAMELESS)
def test_rows_that_name_nobody_are_no_topics(site, deliver, take_in, row: dict, named: int) -> None:
    letters = [chr(97 + n) * 2 for n in range(24)]
    patients = [
        {"patient_id": f"np{it}", "mrn": f"44190{n:02}", **{k: v.format(it) for k, v in row.items()}}
        for n, it in enumerate(letters)
    ]
    notes = [{"note_id": f"nn{it}", "patient_id": f"np{it}", "text": "Is well."} for it in letters]
    delivery = Delivery("nameless", "2026-02-09")
    feed = site.feed("hospital").model_copy(update={"path": Path("nameless") / str(named) / "".join(row)})
    alone = Site(site.settings.model_copy(update={"feeds": {"nameless": feed}, "home": Path("nameless-home")}))
    folder = deliver("2026-02-09", notes=notes, patients=patients)
    source = site.settings.path(site.feed("hospital").path) / folder.watermark
    shutil.copytree(source, site.settings.path(feed.path) / folder.watermark, dirs_exist_ok=True)
    take_in(delivery, at=alone)
    meta = deidentify(delivery, store=alone.store, recipe=alone.recipe(delivery), engine=Scripted({})).meta
    counts = meta["counts"]
    shares = [counts.get(what, 0) for what in ("with_roster", "with_birth_date", "with_number")]
    assert (meta["inputs"], shares) == ("topics" if named else "text", [named, 0, 24])


def test_a_later_row_without_a_name_takes_none_away(site, deliver, take_in, redacted) -> None:
    take_in(deliver("2026-02-20", patients=[{"patient_id": "p7", "last_name": "Ostrowe"}]))
    note = {"note_id": "7", "patient_id": "p7", "text": "Ms. Ostrowe is well."}
    later = deliver("2026-02-21", notes=[note], patients=[{"patient_id": "p7", "last_name": " ", "mrn": "441903"}])
    take_in(later)
    (row,) = redacted(later)
    assert (row["with_roster"], row["with_number"], row["text"]) == (True, True, "Ms. [PATIENT] is well.")


def test_topics_that_know_few_of_the_patients_do_not_count_as_topics(site, deliver, take_in, redacted) -> None:
    strangers = [{"note_id": str(n), "patient_id": f"stranger-{n}", "text": "Well."} for n in range(10)]
    delivery = deliver("2026-02-09", notes=[*strangers, NOTES[0] | {"note_id": "known"}])
    take_in(delivery)
    redacted(delivery)
    meta = site.store.manifest("deid/redacted_notes", delivery.key).meta
    assert (meta["inputs"], meta["counts"]["with_roster"]) == ("text", 1)


@pytest.mark.parametrize(
    ("language", "shown"),
    [("en", "en"), ("EN-us", "en"), ("pt_BR", "pt"), ("en-Smithson", "en"), ("Smithson", "und"), ("xx", "und")],
)
def test_a_language_is_told_by_its_code_alone(deliver, take_in, redacted, language: str, shown: str) -> None:
    delivery = deliver("2026-02-10", notes=[{"note_id": "l", "text": "Bene.", "language": language}])
    take_in(delivery)
    assert redacted(delivery)[0]["language"] == shown


def test_new_topics_make_every_note_new(deliver, take_in, redacted) -> None:
    delivery = deliver("2026-01-26", notes=NOTES)
    take_in(delivery)
    engine = Scripted({})
    redacted(delivery, engine)
    deliver("2026-01-26", notes=NOTES, patients=[{"patient_id": "p9", "last_name": "Pemberton"}])
    take_in(delivery)
    redacted(delivery, engine)
    assert engine.asked == ["1", "2", "3"] * 2


def test_the_manifest_tells_counts_digests_and_nothing_of_a_note(site, deliver, take_in, redacted) -> None:
    delivery = deliver("2026-02-02", notes=NOTES)
    take_in(delivery)
    redacted(delivery)
    meta = site.store.manifest("deid/redacted_notes", delivery.key).meta
    assert meta["counts"]["clean"] == 3
    assert meta["inputs"] == "topics"
    assert meta["template_text"]["paragraphs"] == 3
    assert meta["release"] == site.release
    assert "Quillfeather" not in str(meta)
