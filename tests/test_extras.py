"""Which libraries the base install has, and which extra is named for the others."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest

from deid_platform.doctor import examine
from deid_platform.errors import Code, internal
from deid_platform.extras import EXTRAS, PLATFORM, USES, extra_of, is_installed

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OURS = {"deid_platform", "assets", "resources"}
# Installed beside the platform, in interpreters of their own (docs/peers.md), or by hand (docs/scans.md).
OF_PEERS = {"deidentify", "gliner", "gliner2", "nltk", "philter_ucsf", "presidio_analyzer", "pyDeid", "spacy"}


def named(requirement: str) -> str:
    return re.split(r"[\[<>=~!; ]", requirement)[0].lower().replace("_", "-")


@cache
def closure(*requirements: str) -> frozenset[str]:
    """Distributions that requirements bring, without extras of theirs."""
    reached, ahead = set[str](), [named(it) for it in requirements]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            try:
                ahead += [named(it) for it in requires(name) or [] if "extra ==" not in it]
            except PackageNotFoundError:
                continue
    return frozenset(reached)


def imported() -> set[str]:
    """The first part of the name of each module of others that the platform imports anywhere."""
    names = set[str]()
    for folder in OURS:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    names.update(alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    names.add(str(node.module).partition(".")[0])
    return names - OURS - OF_PEERS - set(sys.stdlib_module_names)


def test_each_library_that_is_imported_is_in_the_base_install_or_named_with_its_extra() -> None:
    base = closure(*PROJECT["dependencies"])
    whose = packages_distributions()
    for module in imported():
        brought = {name.lower().replace("_", "-") for name in whose.get(module, ())}
        # Of two distributions that hold the same modules, a development environment may have the larger.
        brought = {name.replace("phonenumbers", "phonenumberslite").replace("litelite", "lite") for name in brought}
        extra = extra_of(module)
        if brought & base:
            assert extra is None, module
        else:
            assert extra is not None, module
            assert not brought or extra != PLATFORM or brought & closure(*PROJECT["optional-dependencies"][PLATFORM])


def test_every_extra_that_a_user_installs_is_one_of_the_package() -> None:
    assert set(EXTRAS) == set(USES) == set(PROJECT["optional-dependencies"]) - {"dev", "test-s3"}
    assert is_installed(PLATFORM)


def test_the_doctor_names_each_extra_that_is_missing_with_its_use_and_its_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = {"starlette", "torch", "ray"}
    monkeypatch.setattr("deid_platform.extras.find_spec", lambda name: None if name in absent else object())
    monkeypatch.chdir(tmp_path)
    (said,) = (diagnosis.detail for diagnosis in examine() if diagnosis.subject == "extras")
    assert said.partition(";")[0] == "llm, office, scan"
    for line in (
        "platform for `deid demo`, `deid refresh`, the warehouse (lacks starlette)",
        "serve for `deid serve` (lacks starlette)",
        "ml for `deid train`, models of `transformers` (lacks torch)",
        'ray for engine = "ray" (lacks ray)',
    ):
        assert line in said


def test_tests_do_not_bring_what_makes_every_process_begin_later() -> None:
    # It brings jsonschema's checkers of addresses: 1.4 s more for each process that loads dbt or Great Expectations.
    assert "cyclonedx-bom" not in closure(*PROJECT["optional-dependencies"]["dev"])


def test_what_deid_redact_loads_is_in_the_base_install() -> None:
    base = closure(*PROJECT["dependencies"])
    assert {"dagster", "dbt-core", "great-expectations", "psycopg", "sqlalchemy", "pyarrow", "pandas"}.isdisjoint(base)


@pytest.mark.parametrize(
    ("module", "ref"),
    [("pyarrow.parquet", "platform"), ("dagster", "platform"), ("torch", "ml"), ("ray", "ray"), ("pypdfium2", "scan")],
)
def test_a_missing_library_is_told_by_its_extra(module: str, ref: str) -> None:
    told = internal(ModuleNotFoundError("No module named ...", name=module))
    assert (told.code, told.ref) == (Code.EXTRA_MISSING, ref)


@pytest.mark.parametrize("error", [ModuleNotFoundError(name="deid_platform.nothing"), ImportError(name="torch")])
def test_any_other_failure_to_import_is_an_internal_error(error: ImportError) -> None:
    assert internal(error).code is Code.INTERNAL
