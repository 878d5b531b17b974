"""Keyed identifiers: stable, apart by kind, site and secret, and refused from a weak secret."""

from __future__ import annotations

import hashlib
import re
import secrets
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.keys import PREFIXES, Keyring, guessable, module_digest, package_digest

SECRET = hashlib.sha256(b"keys").digest()


def test_a_key_is_stable_and_tells_its_kind() -> None:
    keyring = Keyring(SECRET, site="north")
    keys = {kind: keyring.key(kind, "42") for kind in PREFIXES}
    assert keys == {kind: Keyring(SECRET, site="north").key(kind, "42") for kind in PREFIXES}
    assert len({key[2:] for key in keys.values()}) == len(PREFIXES)
    for kind, key in keys.items():
        assert re.fullmatch(rf"{PREFIXES[kind]}_[a-z2-7]{{26}}", key)


def test_site_and_secret_change_every_key() -> None:
    rings = [Keyring(SECRET, site="north"), Keyring(SECRET, site="south"), Keyring(SECRET[::-1], site="north")]
    assert len({ring.key("note", "42") for ring in rings}) == 3
    assert len({ring.key_id for ring in rings}) == 3


def test_parts_do_not_run_together() -> None:
    keyring = Keyring(SECRET, site="north")
    assert keyring.digest("ab", "c") != keyring.digest("a", "bc")


def test_digests_of_a_growing_row_are_those_of_each_row_alone() -> None:
    keyring = Keyring(SECRET, site="north")
    alone = [keyring.digest("row", *"ab"), keyring.digest("row", *"ab"), keyring.digest("row", *"abc")]
    assert list(keyring.digests("row", then=["ab", "", "c"])) == alone


@pytest.mark.parametrize(
    "secret",
    [
        *(b"", b"short", SECRET[:31], b"x" * 64, b"ab" * 20),
        *(b"0123456789abcdef" * 4, b"7fA-19zQ_kk3!" * 3, b"correct horse battery staple " * 2),
        *(bytes(range(32)), bytes(range(32, 0, -1)), bytes(range(0, 96, 3)), b"abcdefghijklmnopqrstuvwxyz0123456789"),
        *(b"changeme-1f9c03ab77de5520c4d1e8f6", b"Change_Me_before_going_live_81f0c2"),
        *(b"my-long-hospital-Secret-2026-0715", b"example key, do not use: 4b1f77e09c"),
    ],
    ids=repr,
)
def test_a_secret_that_somebody_could_guess_is_refused_and_not_shown(secret: bytes) -> None:
    with pytest.raises(DeidError) as error:
        Keyring(secret, site="north")
    assert error.value.code is Code.SECRET_WEAK
    assert error.value.ref is None


def test_a_random_secret_is_taken_in_any_form() -> None:
    for _ in range(300):
        for secret in (secrets.token_bytes(32), secrets.token_hex(32).encode(), secrets.token_urlsafe(32).encode()):
            assert repr(Keyring(secret, site="north")) == "<Keyring>"
        for password in (secrets.token_hex(8), secrets.token_urlsafe(12)):
            assert not guessable(password.encode(), least=12)


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (lambda package: (package / "rules.py").write_text("RULE = 2\n"), True),
        (lambda package: (package / "patterns" / "dates.yaml").write_text("year: 2\n"), True),
        (lambda package: (package / "patterns" / "words.txt").write_text("other\n"), True),
        (lambda package: (package / "ages.tsv").write_text("ninety\t90\n"), True),
        (lambda package: (package / "patterns" / "rules.py").rename(package / "moved.py"), True),
        (lambda package: (package / "patterns" / "words.txt").unlink(), True),
        (lambda package: (package / "__pycache__").mkdir(exist_ok=True), False),
        (lambda package: (package / "README.md").write_text("Words.\n"), False),
    ],
    ids=["code", "nested yaml", "nested list", "table", "moved", "removed", "byte code", "other files"],
)
def test_a_package_s_digest_follows_its_code_and_data(
    change: Callable[[Path], object], counts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "ruleful_package"
    (package / "patterns").mkdir(parents=True)
    for name in ("__init__.py", "rules.py", "patterns/rules.py", "patterns/dates.yaml", "patterns/words.txt"):
        (package / name).write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, package.name, raising=False)
    package_digest.cache_clear()
    before = package_digest(package.name)
    change(package)
    assert package_digest(package.name) == before, "one process keeps one answer"
    package_digest.cache_clear()
    assert (package_digest(package.name) != before) is counts


def test_the_digest_of_modules_names_each_of_them_and_their_order() -> None:
    one, other = "deid_platform.labels", "deid_platform.refresh.redact.row"
    digests = {module_digest(*modules) for modules in ((one,), (other,), (one, other), (other, one))}
    assert len(digests) == 4
