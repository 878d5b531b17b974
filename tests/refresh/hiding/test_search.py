"""What a report makes due: only deliveries that may show what was reported, and none of those that may."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_feed import seen

from deid_platform.labels import Label
from deid_platform.notes import Note
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding import search
from deid_platform.refresh.hiding.search import search_held
from deid_platform.refresh.hiding.search_job import SearchJob, Shown
from deid_platform.refresh.staging import due
from deid_platform.refresh.staging.findings import report
from deid_platform.warehouse.officer.findings import withdraw_finding
from deid_platform.warehouse.server.roles import Role

TEXT = "Keeps {} with care."


@pytest.fixture
def held(site, deliver, run):
    """Writes deliveries that research holds, one a note."""

    def through(day: str, *texts: str):
        deliveries = []
        for number, text in enumerate(texts):
            name = f"{day}-{number}"
            delivery = deliver(f"{day}T000{number}", notes=[{"note_id": name, "text": text}])
            run(delivery, site)
            deliveries.append(delivery)
        return deliveries

    return through


def reported(site, note: str, word: str, text: str = TEXT):
    start = text.format(word).index(word)
    found = report(
        site, site.note_key("hospital", note), start, start + len(word), label=Label.PATIENT, who="A. Reader"
    )
    return found.number


def test_only_what_may_show_a_reported_string_is_made_anew(site, held, run) -> None:
    # The server hides what holds the string letter by letter; the leak check reads more spellings as it.
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in "velmora")
    deliveries = told, plain, spelt = held("2026-05-01", TEXT.format("velmora"), "Sleeps well.", TEXT.format(wide))
    assert due.pending(site, deliveries) == []
    reported(site, "2026-05-01-0", "velmora")
    assert due.pending(site, deliveries) == [told, plain, spelt]
    assert search_held(site, deliveries) == [plain]
    assert due.pending(site, deliveries) == [told, spelt]
    assert "Sleeps well." in seen(site)
    for delivery in (told, spelt):
        run(delivery, site)
        assert [row["reason"] for row in site.store.rows(tables.REDACTED_NOTES, delivery.key)] == ["leak-reported"]
    assert not {TEXT.format("velmora"), TEXT.format(wide)} & seen(site)
    assert due.pending(site, deliveries) == []
    # The next report is looked for beside this one.
    (later,) = held("2026-05-02", TEXT.format("brindle"))
    reported(site, "2026-05-02-0", "brindle")
    assert search_held(site, [*deliveries, later]) == deliveries
    assert due.pending(site, [*deliveries, later]) == [later]


def test_what_is_reported_while_a_search_runs_is_not_taken_for_searched(site, held, monkeypatch) -> None:
    told, plain, last = held("2026-05-10", TEXT.format("quennel"), "Walks far.", TEXT.format("oswick"))
    reported(site, "2026-05-10-0", "quennel")
    at_first = search.count_again

    def report_meanwhile(*args, **kwargs) -> None:
        monkeypatch.setattr(search, "count_again", at_first)
        reported(site, "2026-05-10-2", "oswick")
        at_first(*args, **kwargs)

    monkeypatch.setattr(search, "count_again", report_meanwhile)
    search_held(site, [plain])
    assert due.pending(site, [plain]) == [plain]
    assert search_held(site, [plain]) == [plain]
    assert due.pending(site, [plain]) == []
    assert due.pending(site, [told, last]) == [told, last]


def test_a_search_says_nothing_of_other_rows_and_nothing_once_a_finding_is_withdrawn(site, held, run) -> None:
    told, plain = held("2026-05-20", TEXT.format("hartwin"), "Eats little.")
    number = reported(site, "2026-05-20-0", "hartwin")
    assert search_held(site, [plain]) == [plain]
    meta = site.store.required(tables.SEARCHED, plain.key).meta
    site.store.write(tables.SEARCHED, plain.key, [], meta=lambda: {**meta, "rows": "others"})
    assert due.pending(site, [plain]) == [plain]
    assert search_held(site, [plain]) == [plain]
    run(told, site)
    officer, promoter = (site.warehouse.engine(role) for role in (Role.OFFICER, Role.PROMOTER))
    for who in ("A. Officer", "B. Officer"):
        withdraw_finding(officer, promoter, number, who=who, reason="it is a plant's name")
    # Its rows have to be made without it; those of a delivery that never knew it stand.
    assert search_held(site, [told, plain]) == []
    assert due.pending(site, [told, plain]) == [told]


def test_what_else_makes_a_delivery_due_no_search_settles(site, held, deliver) -> None:
    told, plain = held("2026-06-01", TEXT.format("ravelin"), "Rests.")
    reported(site, "2026-06-01-0", "ravelin")
    deliver(plain.watermark, notes=[{"note_id": "2026-06-01-1", "text": "Rests, and more."}])
    stricter = replace(site, settings=site.settings.model_copy(update={"profile": "production"}))
    assert search_held(site, [plain]) == []
    assert due.pending(site, [told, plain]) == [told, plain]
    assert search_held(stricter, [told]) == []


def test_rows_that_cannot_be_read_are_made_anew_and_hold_up_no_other_delivery(site, held, run) -> None:
    told, torn, plain = held("2026-06-10", TEXT.format("tamsin"), "Coughs.", "Sneezes.")
    reported(site, "2026-06-10-0", "tamsin")
    for part in (site.settings.home_path / "store" / tables.RAW_NOTES / torn.key).glob("part-*"):
        part.write_bytes(part.read_bytes()[:-4])
    assert search_held(site, [told, torn, plain]) == [plain]
    assert due.pending(site, [told, torn, plain]) == [told, torn]
    run(torn, site)
    assert due.pending(site, [told, torn, plain]) == [told]


def test_where_an_older_search_found_nothing_is_searched_again(site, held, monkeypatch) -> None:
    _, plain = held("2026-06-20", TEXT.format("isolde"), "Yawns.")
    reported(site, "2026-06-20-0", "isolde")
    assert search_held(site, [plain]) == [plain]
    with monkeypatch.context() as patched:
        patched.setattr(due, "module_digest", lambda *_: "of other code")
        assert due.pending(site, [plain]) == [plain]
    # So is where nobody can tell what it found: torn, or put back.
    kept = site.settings.home_path / "store" / tables.SEARCHED / plain.key / "manifest.json"
    before = kept.read_text()
    site.store.write(tables.SEARCHED, plain.key, [], meta=lambda: {"rows": "others"})
    for harmed in (before[:-20], before):
        kept.write_text(harmed)
        assert due.pending(site, [plain]) == [plain]
        assert search_held(site, [plain]) == [plain]
        assert due.pending(site, [plain]) == []


def test_a_note_that_cannot_be_searched_may_show_anything(site) -> None:
    job = SearchJob(site.policy, ("ravelin",))
    unknown = Shown(Note("n", "text"), None)
    assert job.failed(unknown) is True
    assert job.build()([unknown]) == [True]
    assert "ravelin" not in repr(job)
