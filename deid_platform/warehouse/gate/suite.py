"""Expectation suites as data: which keys and values a suite's YAML may have, checked before anything runs.

Belongs here: the form of a suite and how it becomes one of Great Expectations'. Does not belong here: what is
expected (`suites/*.yaml`) or of what (`expectations`).

The library takes three to four seconds to import, so it is imported where a suite is built. Reading one needs
none of it: whoever only shows what is expected does not wait.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from enum import StrEnum
from importlib import resources
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deid_platform.errors import Code, DeidError
from deid_platform.text.strict_yaml import read_yaml

if TYPE_CHECKING:
    from great_expectations import ExpectationSuite

_SHIPPED = resources.files(__package__) / "suites"
# `{name}` and nothing else, so that a regular expression's {26} is none.
_FIGURE = re.compile(r"\{([a-z_]+)\}")
_SAFE_KEY = re.compile(r"[A-Za-z][A-Za-z_]{0,39}")
# What a suite may not set: formats that quote values, and what has a key of its own here.
_RESERVED = frozenset(
    {"result_format", "catch_exceptions", "row_condition", "condition_parser", "column", "meta", "severity", "batch_id"}
)

_ROW_BY_ROW = frozenset(
    f"expect_column_values_to_{each}" for each in ("be_null", "not_be_null", "match_regex", "be_in_set", "be_between")
)

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Keyword = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z_]{0,39}$")]
Sentence = Annotated[str, Field(min_length=1)]
Scalar = int | float | date | str
Argument = Scalar | list[Scalar]


class Severity(StrEnum):
    """What follows where an expectation does not hold: the gate refuses, or an operator is told."""

    CRITICAL = "critical"
    WARNING = "warning"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Condition(_Part):
    """Which rows an expectation is about: those whose column equals a text, or is a number no smaller."""

    column: Name
    equals: str | None = None
    at_least: int | None = None


class Expectation(_Part):
    """One expectation.

    Attributes:
        name: What the gate, Dagster and the tests call it.
        says: What it says, for people.
        type: Its type in Great Expectations.
        column: The column that it is about, if it is about one.
        kwargs: The type's other arguments. "{name}" stands for a figure that is known when the suite runs.
        where: Conditions that all must hold for a row to count; without such a row, the expectation holds.
        severity: What follows where it does not hold.
    """

    name: Name
    says: Sentence
    type: Annotated[str, Field(pattern=r"^expect_[a-z_]+$")]
    column: Name | None = None
    kwargs: dict[Keyword, Argument] = {}
    where: tuple[Condition, ...] = ()
    severity: Severity = Severity.CRITICAL

    @property
    def row_by_row(self) -> bool:
        """Whether it holds for a table if it holds for each part of its rows."""
        return self.type in _ROW_BY_ROW and "mostly" not in self.kwargs

    @property
    def columns(self) -> set[str]:
        """The columns that it and its conditions are about."""
        return {*([self.column] if self.column else []), *(each.column for each in self.where)}


class Suite(_Part):
    """The expectations of one table.

    Attributes:
        name: Its name and that of its file.
        says: What its rows are.
        in_parts: Whether the rows are judged so many at a time. Each expectation must then go row by row.
        expectations: In the order of their outcomes.
    """

    name: Name
    says: Sentence
    in_parts: bool = False
    expectations: Annotated[tuple[Expectation, ...], Field(min_length=1)]


def load_suite(name: str, *, figures: Collection[str]) -> Suite:
    """A suite that ships with the platform."""
    return parse_suite((_SHIPPED / f"{name}.yaml").read_bytes(), figures=figures)


def parse_suite(source: bytes, *, figures: Collection[str]) -> Suite:
    """A suite from YAML.

    Args:
        source: The file.
        figures: Names of the figures that its arguments may refer to.

    Raises:
        DeidError: `suite-invalid`, naming the key that is missing, unknown, doubled or of the wrong kind.
    """
    try:
        suite = Suite.model_validate(read_yaml(source))
    except ValidationError as error:
        faults = {f"{'.'.join(map(_shown, fault['loc'])) or 'suite'} ({fault['type']})" for fault in error.errors()}
        raise DeidError(Code.SUITE_INVALID, ", ".join(sorted(faults))) from None
    except ValueError:
        raise DeidError(Code.SUITE_INVALID, "not YAML without doubled keys") from None
    names: set[str] = set()
    for expectation in suite.expectations:
        where = f"{suite.name}.{expectation.name}"
        if expectation.name in names:
            raise DeidError(Code.SUITE_INVALID, f"{where} is doubled")
        names.add(expectation.name)
        if suite.in_parts and not expectation.row_by_row:
            raise DeidError(Code.SUITE_INVALID, f"{where}.type")
        for condition in expectation.where:
            if (condition.equals is None) == (condition.at_least is None):
                raise DeidError(Code.SUITE_INVALID, f"{where}.where.{condition.column}")
        for key, value in expectation.kwargs.items():
            figure = _FIGURE.fullmatch(value) if isinstance(value, str) else None
            if key in _RESERVED or (figure and figure[1] not in figures):
                raise DeidError(Code.SUITE_INVALID, f"{where}.kwargs.{key}")
    return suite


def build_suite(suite: Suite, figures: Mapping[str, object]) -> ExpectationSuite:
    """The suite as one of Great Expectations', each expectation with its name in `meta`.

    Args:
        suite: What is expected.
        figures: The value of every figure that it refers to.

    Raises:
        DeidError: `suite-invalid` if the library knows no such type, or not with these arguments.
    """
    import great_expectations as gx
    from great_expectations.exceptions.exceptions import GreatExpectationsError
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
    from great_expectations.expectations.metadata_types import FailureSeverity

    built = []
    for expectation in suite.expectations:
        arguments: dict[str, Any] = {key: _resolved(value, figures) for key, value in expectation.kwargs.items()}
        if expectation.column is not None:
            arguments["column"] = expectation.column
        if expectation.where:
            arguments["row_condition"] = _row_condition(expectation.where)
        try:
            one = ExpectationConfiguration(
                type=expectation.type,
                kwargs=arguments,
                meta={"name": expectation.name},
                severity=FailureSeverity(expectation.severity.value),
            ).to_domain_obj()
        except GreatExpectationsError:
            raise DeidError(Code.SUITE_INVALID, f"{suite.name}.{expectation.name}.type") from None
        except ValueError:  # a ValidationError of the library's own pydantic
            raise DeidError(Code.SUITE_INVALID, f"{suite.name}.{expectation.name}.kwargs") from None
        built.append(one)
    return gx.ExpectationSuite(name=suite.name, expectations=built)


def _shown(key: str | int) -> str:
    # A file that is no suite at all (notes, say) must not be quoted as a key.
    return str(key) if isinstance(key, int) or _SAFE_KEY.fullmatch(key) else "a key"


def _resolved(value: Argument, figures: Mapping[str, object]) -> object:
    figure = _FIGURE.fullmatch(value) if isinstance(value, str) else None
    return figures[figure[1]] if figure else value


def _row_condition(conditions: Collection[Condition]) -> object:
    from functools import reduce
    from operator import and_

    from great_expectations.expectations.row_conditions import Column

    return reduce(
        and_,
        (
            Column(one.column) == one.equals if one.equals is not None else Column(one.column) >= one.at_least
            for one in conditions
        ),
    )
