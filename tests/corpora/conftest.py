"""Lends the reader contract to every test of a corpus format: tests are not an importable package."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def contract() -> ModuleType:
    """The module reader_contract.py: `contract.check_reader(make_reader, rewrite)` and `contract.MARKER`."""
    spec = spec_from_file_location("reader_contract", Path(__file__).with_name("reader_contract.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
