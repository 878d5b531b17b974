"""deid.toml is typed and refused early, with the key's name and never its value."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.settings import ensure_secret, load_settings

ROOT = Path(__file__).parents[1]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("DEID_CONFIG", "DEID_SECRET", "DEID_SECRET_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def _write(text: str) -> Path:
        path = tmp_path / "deid.toml"
        path.write_text(text)
        return path

    return _write


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "site"),
        ('site = "North Hospital"', "site"),
        ('site = "north"\nprofil = "demo"', "profil"),
        ('site = "north"\nprofile = "lenient"', "profile"),
        ('site = "north"\n[feeds.ehr]\n', "feeds.ehr.path"),
        ('site = "north"\n[feeds.ehr]\npath = "x"\nformt = "files"', "feeds.ehr.formt"),
        ('site = "north"\n[detection]\nworkers = 0', "detection.workers"),
        ('site = "north"\n[profiles.demo]\nmin_recall = 98', "profiles.demo.min_recall"),
        ('site = "north"\nroot = "/"', "root"),
        ("site = ", "deid.toml"),
    ],
)
def test_a_faulty_key_is_named(write, text: str, key: str) -> None:
    with pytest.raises(DeidError) as error:
        load_settings(write(text))
    assert error.value.code is Code.SETTINGS_INVALID
    assert key in str(error.value.ref)
    assert "lenient" not in str(error.value)
    assert "North" not in str(error.value)


def test_a_secret_has_no_place_in_it(write) -> None:
    with pytest.raises(DeidError) as error:
        load_settings(write('site = "north"\nsecret = "tops3cret"'))
    assert "tops3cret" not in str(error.value)


def test_the_file_is_found_here_above_or_by_name(write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write('site = "north"')
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert load_settings().site == "north"
    assert load_settings().home_path == tmp_path / ".deid"
    monkeypatch.setenv("DEID_CONFIG", str(tmp_path / "missing.toml"))
    with pytest.raises(DeidError) as error:
        load_settings()
    assert error.value.code is Code.SETTINGS_MISSING


def test_the_profile_brings_its_thresholds_and_the_file_may_change_them(write) -> None:
    assert load_settings(write('site = "north"')).profile == "production"
    strict = load_settings(write('site = "north"'))
    lax = load_settings(write('site = "north"\nprofile = "demo"'))
    assert strict.thresholds.min_recall > lax.thresholds.min_recall
    thresholds = "min_recall = 0.5\nmin_precision = 0.5\nmin_clinical_retention = 0.5"
    text = f'site = "n"\nprofile = "demo"\n[profiles.demo]\n{thresholds}'
    assert load_settings(write(text)).thresholds.min_recall == 0.5


def test_the_secret_is_made_once_private_and_kept(write) -> None:
    settings = load_settings(write('site = "north"'))
    with pytest.raises(DeidError) as error:
        settings.keyring()
    assert error.value.code is Code.SECRET_MISSING
    ensure_secret(settings)
    first = settings.keyring().key_id
    ensure_secret(settings)
    assert settings.keyring().key_id == first
    assert stat.S_IMODE(settings.secret_path.stat().st_mode) == 0o600


def test_the_environment_names_the_secret(write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(write('site = "north"'))
    (tmp_path / "key").write_text("0123456789abcdef" * 4)
    monkeypatch.setenv("DEID_SECRET_FILE", str(tmp_path / "key"))
    from_file = settings.keyring().key_id
    monkeypatch.setenv("DEID_SECRET", "fedcba9876543210" * 4)
    assert settings.keyring().key_id != from_file
    monkeypatch.setenv("DEID_SECRET", "hunter2")
    with pytest.raises(DeidError) as error:
        settings.keyring()
    assert error.value.code is Code.SECRET_WEAK
    assert "hunter2" not in str(error.value)


def test_the_settings_in_the_repository_are_valid() -> None:
    settings = load_settings(ROOT / "deid.toml")
    assert settings.feeds["hospital"].demonstration
