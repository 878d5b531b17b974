"""Identifiers that reviewers mark as missed: what is a mark, whose it is, and the figures that follow."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pytest
from command_line import deid
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.refresh.datasets import tables
from deid_platform.review.annotation.rounds import Role
from deid_platform.review.decisions import Category, Decision, Severity, decide, decisions_of, enter, offered
from deid_platform.review.missed import Mark, keep, mark, marks_of, shown
from deid_platform.review.report import missed_figures
from deid_platform.review.rounds import removals_of_round, start
from deid_platform.review.sheets import take_back
from deid_platform.store import NoteStore
from deid_platform.warehouse.server.roles import Role as Database

PROVIDER = Decision(Category.PROVIDER)


@pytest.fixture
def drawn(reviewed):
    """A site with a round of six removals, one a note and two notes a patient, and their keys."""
    site = reviewed()
    start(site, 6)
    return site, list(removals_of_round(site, 1))


def marked(site, key, words, label=Label.PROFESSION, severity=Severity.LOW):
    shown_text = removals_of_round(site, 1)[key].text
    begin = shown_text.index(words)
    return Mark(key, begin, begin + len(words), label, severity)


def words_of(site, role):
    members = removals_of_round(site, 1)
    found = marks_of(site.store, 1, role).values()
    return [members[it.removal].text[it.span.start : it.span.end] for it in found]


def test_a_mark_reaches_over_whole_words_and_takes_the_place_of_what_it_overlaps(drawn):
    site, (key, *_) = drawn
    mark(site, 1, Role.A, [marked(site, key, "abl"), marked(site, key, "Seen")])
    assert words_of(site, Role.A) == ["stable", "Seen"]
    mark(site, 1, Role.A, [marked(site, key, "palsy, st", Label.DATE)])
    assert words_of(site, Role.A) == ["Seen", "palsy, stable"]
    again = marked(site, key, "palsy, stable", Label.DATE)
    mark(site, 1, Role.A, [again])  # sent again, since the answer was lost
    assert len(site.store.rows(tables.REVIEW_MISSED, "1.A")) == 4
    mark(site, 1, Role.A, [Mark(key, again.start, again.end, None, None)])
    assert words_of(site, Role.A) == ["Seen"]
    assert words_of(site, Role.B) == []


@pytest.mark.parametrize("words", ["Thandiwe", " ", "Quillfeather"])
def test_what_is_hidden_was_not_missed(drawn, words):
    site, (key, *_) = drawn
    with pytest.raises(DeidError) as refused:
        mark(site, 1, Role.A, [marked(site, key, "Seen"), marked(site, key, words)])
    assert refused.value.code is Code.MARK_INVALID
    assert words_of(site, Role.A) == []  # all or none
    mark(site, 1, Role.A, [marked(site, key, "with Thandiwe")])  # a part of it was
    assert words_of(site, Role.A) == ["with Thandiwe"]


@pytest.mark.parametrize(
    "said",
    [("k", 3, 3, "DATE", "low"), ("k", -1, 3, "DATE", "low"), ("k", True, 3, "DATE", "low"), ("k", 0, 3, "NAME", "low"),
     ("k", 0, 3, "DATE", None), ("k", 0, 3, ["DATE"], "low")],
)  # fmt: skip
def test_a_mark_that_there_is_not_is_refused(said):
    with pytest.raises(DeidError) as refused:
        Mark.parse(*said)
    assert refused.value.code is Code.MARK_INVALID


def test_a_place_past_the_text_and_a_removal_of_no_round_are_refused(drawn):
    site, (key, *_) = drawn
    for bad in (Mark(key, 5, 10_000, Label.DATE, Severity.LOW), Mark("0" * 32, 0, 4, Label.DATE, Severity.LOW)):
        with pytest.raises(DeidError) as refused:
            mark(site, 1, Role.A, [bad])
        assert refused.value.code is Code.MARK_INVALID


def test_the_adjudicator_sees_what_one_reader_alone_marked_and_it_counts_once_they_mark_it_too(drawn):
    site, keys = drawn
    one, two, three, *_ = keys
    for role in (Role.A, Role.B):
        decide(site, 1, role, dict.fromkeys(keys, PROVIDER))
    mark(site, 1, Role.A, [marked(site, one, "palsy"), marked(site, two, "Seen"), marked(site, three, "stable")])
    mark(site, 1, Role.B, [marked(site, one, "palsy, stable"), marked(site, two, "Seen", Label.DATE)])
    assert offered(site, 1, Role.ADJUDICATOR) == []
    assert shown(site, 1, Role.ADJUDICATOR) == [two, three]
    with pytest.raises(DeidError):
        mark(site, 1, Role.ADJUDICATOR, [marked(site, one, "palsy")])
    before = missed_figures(site, 1)
    assert (before.notes, before.found, before.apart) == (6, 1, 3)
    assert before.agreement.value == pytest.approx(2 / 5)
    mark(site, 1, Role.ADJUDICATOR, [marked(site, two, "Seen", Label.DATE, Severity.HIGH)])
    after = missed_figures(site, 1)
    assert (after.found, after.apart) == (2, 1)
    assert after.per_note.value == pytest.approx(2 / 6)
    assert after.per_note.low <= 2 / 6 <= after.per_note.high
    assert {label: it.value for label, it in after.labels.items()} == {
        Label.PROFESSION: pytest.approx(1 / 6), Label.DATE: pytest.approx(1 / 6)}  # fmt: skip
    assert after.severities[Severity.HIGH].value == pytest.approx(1 / 6)
    assert missed_figures(site, 1, role=Role.A).found == 3


def test_a_note_that_one_reader_alone_read_is_not_among_the_settled(drawn):
    site, (one, two, *_) = drawn
    decide(site, 1, Role.A, {one: PROVIDER, two: PROVIDER})
    decide(site, 1, Role.B, {one: PROVIDER})
    mark(site, 1, Role.A, [marked(site, two, "Seen")])
    found = missed_figures(site, 1)
    assert (found.notes, found.found, found.apart, found.per_note.value) == (1, 0, 0, 0.0)
    assert found.agreement.value is None


def test_whole_notes_are_shown_on_request_and_excerpts_otherwise(reviewed, monkeypatch):
    monkeypatch.setattr("deid_platform.review.rounds.CONTEXT", 6)
    site = reviewed()
    start(site, 3)
    start(site, 3, whole_notes=True)
    assert all(it.text.startswith("Known ") for it in removals_of_round(site, 1).values())
    assert all(it.text.startswith("Seen with ") and it.origin == 0 for it in removals_of_round(site, 2).values())


def test_marks_go_out_with_a_sheet_and_come_back(drawn, tmp_path):
    site, (one, _, three, *_) = drawn
    mark(site, 1, Role.A, [marked(site, one, "palsy, stable", Label.DATE, Severity.HIGH)])
    path = tmp_path / "a.csv"
    deid("review", "export", "--as", "A", "--to", str(path))
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["missed"] for row in rows[:2]] == ["DATE high: palsy, stable", ""]
    rows[1] |= {"missed": "date high: Seen; PROFESSION low: palsy;", "category": "provider_or_clinic"}

    def filled_in():
        with path.open("w", encoding="utf-8", newline="") as stream:
            sheet = csv.DictWriter(stream, rows[0])
            sheet.writeheader()
            sheet.writerows(rows)

    filled_in()
    assert "1 decision kept, 3 marks" in deid("review", "import", str(path), "--as", "A").stderr
    assert words_of(site, Role.A) == ["palsy, stable", "Seen", "palsy"]
    for wrong in ("DATE high: Thandiwe", "DATE high: nowhere", "DATE: Seen", "NAME low: Seen"):
        rows[2]["missed"] = wrong
        filled_in()
        with pytest.raises(DeidError) as refused:
            take_back(site, 1, Role.A, path)
        assert str(refused.value.ref).startswith("row 4")
        assert "Thandiwe" not in str(refused.value)
    assert three not in {it.removal for it in marks_of(site.store, 1, Role.A).values()}


def test_what_a_note_s_writer_meant_to_be_run_goes_out_inert_and_is_marked_all_the_same(reviewed, tmp_path):
    site = reviewed()
    rows = list(site.store.rows(tables.GOLD_NOTES, tables.ALL))
    bench = site.store.manifest(tables.GOLD_NOTES, tables.ALL).meta
    for row in rows:  # of the same length, so that spans stay where they are
        row["text"] = row["text"].replace("y, stable.", ";=A1+B2.")
    table = pa.Table.from_pylist(rows, schema=tables.GOLD_SCHEMA)
    site.store.write(tables.GOLD_NOTES, tables.ALL, [table], meta=lambda: bench)
    start(site, 6)
    path = tmp_path / "a.csv"
    deid("review", "export", "--as", "A", "--to", str(path))
    with path.open(encoding="utf-8", newline="") as stream:
        assert not any(cell.lstrip().startswith("=") for row in csv.reader(stream, delimiter=";") for cell in row)
    with path.open(encoding="utf-8", newline="") as stream:
        written = list(csv.DictReader(stream))
    assert all("pals;'=A1+B2." in row["after"] for row in written)
    written[0] |= {"missed": "DATE high: pals;'=A1+B2", "category": "provider_or_clinic"}
    written[1] |= {"missed": "DATE high: pals;=A1+B2"}  # as the note has it
    with path.open("w", encoding="utf-8", newline="") as stream:
        sheet = csv.DictWriter(stream, written[0])
        sheet.writeheader()
        sheet.writerows(written)
    assert take_back(site, 1, Role.A, path) == (1, 2)
    assert words_of(site, Role.A) == ["pals;=A1+B2"] * 2
    deid("review", "export", "--as", "A", "--to", str(path))
    assert take_back(site, 1, Role.A, path) == (1, 2)
    assert words_of(site, Role.A) == ["pals;=A1+B2"] * 2


@pytest.mark.parametrize("killed_at", [tables.REVIEW_MISSED, tables.REVIEW_DECISIONS])
def test_a_file_is_kept_whole_or_not_at_all_wherever_its_import_is_killed(drawn, reviewed, monkeypatch, killed_at):
    site, (one, two, *_) = drawn
    decide(site, 1, Role.A, {two: PROVIDER})
    mark(site, 1, Role.A, [marked(site, one, "Seen")])
    said, marks = {one: PROVIDER}, [marked(site, one, "stable"), marked(site, one, "Seen", Label.DATE)]
    write = NoteStore.write

    def killed(self, dataset, *given, **options):
        if dataset == killed_at:
            raise KeyboardInterrupt
        return write(self, dataset, *given, **options)

    with monkeypatch.context() as dying:
        dying.setattr(NoteStore, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            keep(site, 1, Role.A, said, marks)
    site = reviewed()
    assert (set(decisions_of(site.store, 1, Role.A)), words_of(site, Role.A)) == ({two}, ["Seen"])
    # What is said at the desk meanwhile brings nothing of it back.
    decide(site, 1, Role.A, {two: None})
    mark(site, 1, Role.A, [marked(site, two, "palsy")])
    assert (set(decisions_of(site.store, 1, Role.A)), words_of(site, Role.A)) == (set(), ["Seen", "palsy"])
    keep(site, 1, Role.A, said, marks)
    decide(site, 1, Role.A, {two: PROVIDER})
    assert set(decisions_of(site.store, 1, Role.A)) == {one, two}
    assert words_of(site, Role.A) == ["palsy", "stable", "Seen"]


def test_the_report_counts_marks_and_shows_no_word(drawn):
    site, keys = drawn
    for role in (Role.A, Role.B):
        mark(site, 1, role, [marked(site, key, "Seen") for key in keys[:3]])
    said = deid("review", "report", "--json")
    rows = [row for row in map(json.loads, said.stdout.splitlines()) if "missed" in row]
    assert [(row["what"], row["notes"], row["per_note"]) for row in rows] == [
        ("all", 3, 1.0), ("PROFESSION", 3, 1.0), ("high", 3, 0.0), ("low", 3, 1.0)]  # fmt: skip
    assert "F1 of the two readers' marks: 1.000" in said.stderr
    assert "Seen" not in said.stdout + said.stderr


def test_marks_enter_the_ledger_without_words_or_places_and_changed_ones_do_not(drawn, warehouse, monkeypatch):
    monkeypatch.setenv("DEID_WAREHOUSE_URL", warehouse.admin_engine().url.render_as_string(hide_password=False))
    site, (one, *_) = drawn
    with warehouse.administer() as connection:
        connection.exec_driver_sql("SET session_replication_role = replica")
        connection.exec_driver_sql("DELETE FROM ctl.missed_identifier")
        connection.exec_driver_sql("DELETE FROM ctl.removal_decision")
    mark(site, 1, Role.A, [marked(site, one, "Seen")])
    mark(site, 1, Role.A, [Mark(one, 0, 4, None, None)])
    assert (enter(site, 1), enter(site, 1)) == (2, 0)
    with warehouse.begin(Database.OFFICER) as connection:
        columns = list(connection.execute(text("SELECT * FROM ctl.missed_identifier")).keys())
        rows = connection.execute(
            text("SELECT role, n, removal, label, severity FROM ctl.missed_identifier ORDER BY n")
        ).all()
    assert not {"start", "end", "text"} & set(columns)
    assert rows == [("A", 1, one, "PROFESSION", "low"), ("A", 2, one, None, None)]
    kept = site.store.rows(tables.REVIEW_MISSED, "1.A")
    site.store.write(tables.REVIEW_MISSED, "1.A", [pa.Table.from_pylist(kept[:1], schema=tables.MISSED_SCHEMA)])
    with pytest.raises(DeidError) as refused:
        enter(site, 1)
    assert refused.value.code is Code.DECISIONS_ALTERED
