"""Signatures under a dossier's conclusion."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.oversight.signing import (
    Statement,
    digest_of,
    load_key,
    make_key,
    public_key,
    sign,
    signature_file,
    verified,
)

DOSSIER = b"<html>Dossier of release r1</html>"
STATEMENT = Statement(
    "r1", digest_of(DOSSIER), "fit", "P. Officer", "the misses are of no patient", date(2026, 3, 1), date(2027, 3, 1)
)


@pytest.fixture
def signed(tmp_path: Path) -> tuple[str, str]:
    """A signature's file and the public key."""
    public = make_key(tmp_path / "officer.pem")
    return signature_file(STATEMENT, sign(STATEMENT, load_key(tmp_path / "officer.pem")), public), public


def test_a_signature_verifies_offline(signed) -> None:
    file, public = signed
    assert verified(DOSSIER, file, public=public) == STATEMENT
    assert verified(DOSSIER, file) == STATEMENT


def refused(file: str, *, dossier: bytes = DOSSIER, public: str | None = None) -> str | None:
    with pytest.raises(DeidError) as raised:
        verified(dossier, file, public=public)
    assert raised.value.code is Code.SIGNATURE_INVALID
    return raised.value.ref


def test_another_dossier_has_no_signature(signed) -> None:
    assert refused(signed[0], dossier=DOSSIER + b" ") == "dossier"


@pytest.mark.parametrize(
    ("field", "value"), [("conclusion", "fit-with-conditions"), ("who", "Q. Officer"), ("reassess_by", "2099-01-01")]
)
def test_a_changed_statement_is_refused(signed, field: str, value: str) -> None:
    file = json.loads(signed[0])
    file["statement"][field] = value
    assert refused(json.dumps(file)) == "signature"


def test_the_signature_of_somebody_else_is_refused(signed, tmp_path: Path) -> None:
    make_key(tmp_path / "other.pem")
    other = load_key(tmp_path / "other.pem")
    forged = signature_file(STATEMENT, sign(STATEMENT, other), public_key(other))
    assert verified(DOSSIER, forged) == STATEMENT  # which says no more than that nothing was changed since
    assert refused(forged, public=signed[1]) == "key"


@pytest.mark.parametrize("file", ["", "{}", "[]", '{"statement": {}, "signature": "", "public_key": ""}'])
def test_what_is_no_signature_is_refused(file: str) -> None:
    assert refused(file) == "file"


def test_a_key_is_its_owners_and_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "officer.pem"
    make_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    with pytest.raises(DeidError) as raised:
        make_key(path)
    assert raised.value.code is Code.DOSSIER_KEY
    assert path.read_bytes() == before


def test_a_key_under_a_password_needs_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEID_OFFICER_KEY_PASSWORD", "correct horse")
    public = make_key(tmp_path / "officer.pem")
    assert public_key(load_key(tmp_path / "officer.pem")) == public
    for password in (None, "wrong"):
        monkeypatch.delenv("DEID_OFFICER_KEY_PASSWORD", raising=False)
        if password:
            monkeypatch.setenv("DEID_OFFICER_KEY_PASSWORD", password)
        with pytest.raises(DeidError) as raised:
            load_key(tmp_path / "officer.pem")
        assert raised.value.code is Code.DOSSIER_KEY


def test_a_statement_says_all_that_is_signed() -> None:
    for field in ("release", "dossier", "conclusion", "who", "reason"):
        assert replace(STATEMENT, **{field: "other"}).message != STATEMENT.message
