"""Suites as data: what a file may say, and that whatever else is refused by its key."""

from __future__ import annotations

from datetime import date

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.settings import PROFILES
from deid_platform.warehouse.gate.expectations import EXPECTATIONS, FIGURES, SUITES
from deid_platform.warehouse.gate.suite import build_suite, parse_suite

MARKER = "Zyxwarren Quillfeather"
WHOLE = """
name: note
says: every row
expectations:
  - name: length
    says: no longer than it may be
    type: expect_column_values_to_be_between
    column: text
    kwargs: {min_value: 1, max_value: "{most}"}
    where: [{column: status, equals: clean}, {column: rows, at_least: 20}]
"""


def refused(source: str) -> str:
    """The reference with which a file is refused."""
    with pytest.raises(DeidError) as caught:
        parse_suite(source.encode(), figures={"most"})
    assert caught.value.code is Code.SUITE_INVALID
    assert MARKER not in str(caught.value)
    assert caught.value.__cause__ is None
    return caught.value.ref or ""


def built_from(source: str) -> str:
    """The reference with which a suite is refused when it is built."""
    suite = parse_suite(source.encode(), figures={"most"})
    with pytest.raises(DeidError) as caught:
        build_suite(suite, {"most": 3})
    assert caught.value.code is Code.SUITE_INVALID
    return caught.value.ref or ""


def test_a_whole_suite_is_built_with_its_figures_conditions_and_names() -> None:
    suite = parse_suite(WHOLE.encode(), figures={"most"})
    (one,) = build_suite(suite, {"most": 7}).expectations
    assert one.meta == {"name": "length"}
    assert (one.column, one.min_value, one.max_value, one.severity.value) == ("text", 1, 7, "critical")
    assert one.row_condition is not None


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("says: every row", "say: every row", "say (extra_forbidden), says (missing)"),
        ("says: every row", f"says: every row\n{MARKER}: 1", "a key (extra_forbidden)"),
        ("name: note", "name: Staged Notes", "name (string_pattern_mismatch)"),
        ("name: length", "name: [length]", "expectations.0.name"),
        ("    type: expect_column_values_to_be_between\n", "", "expectations.0.type (missing)"),
        ("expect_column_values_to_be_between", "drop table", "expectations.0.type (string_pattern_mismatch)"),
        ("column: text", "columns: text", "expectations.0.columns (extra_forbidden)"),
        ('"{most}"', "{most}", "expectations.0.kwargs.max_value"),
        ('"{most}"', '"{least}"', "note.length.kwargs.max_value"),
        ("min_value: 1", "result_format: COMPLETE", "note.length.kwargs.result_format"),
        ("min_value: 1", "row_condition: x", "note.length.kwargs.row_condition"),
        ("min_value: 1", "max_value: 1", "doubled"),
        ("min_value: 1", f"{MARKER}: 1", "expectations.0.kwargs.a key"),
        ("equals: clean", "equal: clean", "expectations.0.where.0.equal (extra_forbidden)"),
        ("equals: clean", "equals: clean, at_least: 1", "note.length.where.status"),
        (", equals: clean", "", "note.length.where.status"),
        ("where:", "severity: grave\n    where:", "expectations.0.severity (enum)"),
        ("expectations:\n", "expectations: []\nothers:\n", "expectations (too_short)"),
    ],
)
def test_a_broken_file_is_refused_by_its_key(old: str, new: str, key: str) -> None:
    assert old in WHOLE
    assert key in refused(WHOLE.replace(old, new, 1))


def test_a_doubled_name_is_refused() -> None:
    doubled = WHOLE + WHOLE[WHOLE.index("  - name") :]
    assert refused(doubled) == "note.length is doubled"


def test_what_needs_all_rows_is_refused_where_they_are_judged_in_parts() -> None:
    parts = WHOLE.replace("name: note", "name: note\nin_parts: true", 1)
    assert parse_suite(parts.encode(), figures={"most"}).in_parts
    assert refused(parts.replace("values_to_be_between", "values_to_be_unique")) == "note.length.type"
    assert refused(parts.replace("min_value: 1", "mostly: 0.9")) == "note.length.type"


@pytest.mark.parametrize("source", ["", "[", "- 1", f"!!python/object:os.system {MARKER}", MARKER])
def test_what_is_no_suite_at_all_is_refused_without_quoting_it(source: str) -> None:
    assert refused(source)


def test_a_type_that_the_library_does_not_have_is_refused() -> None:
    assert built_from(WHOLE.replace("values_to_be_between", "values_to_be_lovely")) == "note.length.type"


@pytest.mark.parametrize(("old", "new"), [("min_value", "least_value"), ("    column: text\n", "")])
def test_arguments_that_the_type_does_not_take_are_refused(old: str, new: str) -> None:
    assert built_from(WHOLE.replace(old, new, 1)) == "note.length.kwargs"


def test_the_shipped_suites_are_built_and_no_name_occurs_twice() -> None:
    figures = {name: getattr(PROFILES["demo"], name, 1) for name in FIGURES}
    figures |= {"note_types": ["other"], "languages": ["en"], "latest_date": date(2030, 1, 1)}
    figures |= {"earliest_date": date(1900, 1, 1)}
    built = [build_suite(suite, figures) for suite in SUITES]
    names = [one.meta["name"] for suite in built for one in suite.expectations]
    assert names == [*EXPECTATIONS][1:]
    assert len(set(names)) == len(names)
