"""Lends the contract of formats with gold, and the folder of published corpora, to the tests of formats."""

from __future__ import annotations

import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

PUBLISHED = "DEID_CORPORA"


@pytest.fixture(scope="session")
def gold_contract() -> ModuleType:
    """The module gold_contract.py."""
    spec = spec_from_file_location("gold_contract", Path(__file__).with_name("gold_contract.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def published() -> Path:
    """The folder of published corpora, which are no part of the repository."""
    named = os.environ.get(PUBLISHED)
    folder = Path(named or "absent")
    # The folder of the corpora, or the one above it.
    folder = folder / "data" if (folder / "data").is_dir() else folder
    if named is None or not folder.is_dir():
        pytest.skip(f"NOT RUN on published notes: {PUBLISHED} names no folder of them")
    return folder
