"""Notes in languages in which nobody measured the detector, from their delivery to the gate and back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from small_feed import seen

from deid_platform.errors import Code
from deid_platform.refresh import publish
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging import due

NOTES = Path(__file__).parents[2] / "languages" / "notes.txt"
BLOCKS = re.split(r"^== ", NOTES.read_text("utf-8"), flags=re.MULTILINE)[1:]
BY_LANGUAGE = {block[:2]: block[3:].strip() for block in reversed(BLOCKS)}
GERMAN = BY_LANGUAGE["de"]
ENGLISH = "The patient was seen in clinic today. She reports no chest pain and no fever since the last visit. " * 3
REASON = Code.LANGUAGE_UNMEASURED.slug


@pytest.fixture(scope="module")
def first(site, deliver, through):
    """A delivery of notes in many languages, most of which the source calls English, at the gate of `demo`."""
    rows = [{"note_id": code, "text": text, "language": "en"} for code, text in BY_LANGUAGE.items()]
    rows += [
        {"note_id": "english", "text": ENGLISH, "language": "de"},
        {"note_id": "short", "text": "Seen by Dr. Alan Reed."},
        {
            "note_id": "drugs",
            "text": "MEDICATIONS: 1. Zocor 40 mg. 2. Klonopin 0.5 mg p.o. q.h.s. 3. Toprol. 4. Plavix.",
        },
        {"note_id": "half", "text": ENGLISH + GERMAN},
        {"note_id": "name", "text": ENGLISH + "Her son 王小明 was present."},
    ]
    delivery = deliver("2026-01-05", notes=rows)
    return delivery, through(delivery, site)


def reasons(site: Site, delivery) -> dict[str, str | None]:
    return {row["note_id"]: row["reason"] for row in site.store.rows(tables.REDACTED_NOTES, delivery.key)}


def test_a_note_in_a_language_that_nobody_measured_is_quarantined_whatever_its_column_says(site, first) -> None:
    delivery, promotion = first
    found = reasons(site, delivery)
    passed = {"english", "short", "drugs"}
    assert {note for note, reason in found.items() if reason is None} == passed
    assert {found[note] for note in found.keys() - passed} == {REASON}
    assert promotion.approved == len(passed)
    assert len(seen(site)) == len(passed)


def test_the_language_that_analysts_see_is_that_of_the_text(site, first) -> None:
    with site.warehouse.begin("demo_analyst") as connection:
        shown = connection.exec_driver_sql("SELECT DISTINCT language FROM research.notes").scalars()
        assert set(shown) == {"en"}
    rows = {row["note_id"]: row for row in site.store.rows(tables.REDACTED_NOTES, first[0].key)}
    assert (rows["half"]["languages"], rows["half"]["language"]) == (["de", "en"], "de")
    assert (rows["name"]["languages"], rows["name"]["language"]) == (["en", "zh"], "en")


def test_the_gate_says_how_many_notes_of_each_language_there_are_and_what_was_measured(site, first) -> None:
    (row,) = (found for found in publish.gate_requirements(site, first[0]) if found.name == "languages")
    assert (row.state, row.waivable) == ("passed", False)
    figures = {figure.name: figure for figure in row.figures}
    assert figures["en: notes"].value == 3
    assert figures["de: notes withheld, not measured"].value == 2
    assert figures["en: recall (lower end), the synthetic hospital"].threshold == 0.85
    assert not any(name.startswith("de: recall") for name in figures)


def test_one_that_is_corrected_by_such_a_note_is_hidden(site, deliver, through, first) -> None:
    before = seen(site)
    correction = deliver(
        "2026-01-12", notes=[{"note_id": "english", "text": GERMAN}, {"note_id": "new", "text": ENGLISH}]
    )
    through(correction, site)
    assert reasons(site, correction) == {"english": REASON, "new": None}
    assert len(seen(site)) == len(before)


def test_what_has_become_measured_is_due_and_passes(site, deliver, through, monkeypatch, first) -> None:
    assert due.pending(site, [first[0]]) == []
    gold = site.settings.path(site.feed("hospital").gold) / "2026-01-19.jsonl.gz"
    gold.parent.mkdir(exist_ok=True)
    gold.touch()
    assert due.pending(site, [first[0]]) == [first[0]]  # its notes wait for a figure, and new gold may give it
    delivery = deliver("2026-01-19", notes=[{"note_id": "de2", "text": GERMAN}, {"note_id": "en2", "text": ENGLISH}])
    through(delivery, site)
    assert due.pending(site, [delivery]) == []
    metrics = site.store.manifest(tables.METRICS, tables.ALL)
    german = {"notes": 5_000, "recall_low": 0.99, "precision": 0.99}
    meta = {
        **metrics.meta,
        "gold": "site",
        "languages": {given: {"en": german, "de": german} for given in ("topics", "text")},
    }
    site.store.write(tables.METRICS, tables.ALL, site.store.read(tables.METRICS, tables.ALL), meta=lambda: meta)
    assert "de" in site.accepted_languages("text")
    assert due.pending(site, [delivery]) == [delivery]
    through(delivery, site)
    assert reasons(site, delivery) == {"de2": None, "en2": None}
    assert due.pending(site, [delivery]) == []

    worse = {**german, "recall_low": 0.5}
    meta = {**meta, "languages": {given: {"en": german, "de": worse} for given in ("topics", "text")}}
    site.store.write(tables.METRICS, tables.ALL, site.store.read(tables.METRICS, tables.ALL), meta=lambda: meta)
    assert due.pending(site, [delivery]) == [delivery]
    through(delivery, site)
    assert reasons(site, delivery) == {"de2": REASON, "en2": None}
