"""deid.toml is typed and refused early, with the key's name and never its value."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.orchestration.instance import prepare_instance
from deid_platform.settings import document, ensure_secret, load_settings
from deid_platform.settings.section import FORMS

ROOT = Path(__file__).parents[1]
CURRENT, OLD, OLDER = (hashlib.sha256(name).hexdigest() for name in (b"current", b"old", b"older"))


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("CONFIG", "SECRET", "SECRET_FILE", "PREVIOUS_SECRET", "PREVIOUS_SECRET_FILES"):
        monkeypatch.delenv(f"DEID_{name}", raising=False)
    monkeypatch.chdir(tmp_path)

    def _write(text: str) -> Path:
        path = tmp_path / "deid.toml"
        path.write_text(text)
        return path

    return _write


@pytest.mark.parametrize("name", ["windows-1252", "cp1252", "CP1252", "latin-1", "Latin1"])
def test_other_names_of_an_encoding_are_read(write, name: str) -> None:
    settings = load_settings(write(f'site = "north"\n[feeds.ehr]\npath = "x"\nencoding = "{name}"'))
    assert settings.feed("ehr").encoding == "windows-1252"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "site"),
        ('site = "North Hospital"', "site"),
        ('site = "north"\nprofil = "demo"', "profil"),
        ('site = "north"\nprofile = "lenient"', "profile, line 2 (no such choice; there are 'demo' or 'production')"),
        ('site = "north"\n[feeds.ehr]\npath = "x"\nencoding = "lenient"', "'windows-1252', "),
        ('site = "north"\n[feeds.ehr]\n', "feeds.ehr.path"),
        ('site = "north"\n[feeds.ehr]\npath = "x"\nformt = "files"', "feeds.ehr.formt"),
        ('site = "north"\n[detection]\nworkers = 0', "detection.workers"),
        ('site = "north"\n[profiles.demo]\nmin_recall = 98', "profiles.demo.min_recall"),
        ('site = "north"\n[schedule]\nwarn_after_days = 8', "warn_after_days is not before stale_after_days"),
        ('site = "north"\n[peers]\n"Philter UCSF" = "/opt/python"', "peers.Philter UCSF"),
        ('site = "north"\nroot = "/"', "root"),
        ('site = "north"\n[store]\n', "store.uri"),
        ('site = "north"\n[store]\nuri = "/mnt/lenient"', "store.uri"),
        ('site = "north"\n[store]\nuri = "s3://lenient"', "store.uri"),
        ('site = "north"\n[store]\nuri = "s3://bucket/lenient?endpoint_override=x"', "store.uri"),
        ('site = "north"\n[store]\nuri = "s3://bucket/../lenient"', "store.uri"),
        ('site = "north"\n[store]\nuri = "s3://bucket/store"\nendpoint = "http://lenient.example:9000"', "https alone"),
        ('site = "north"\n[store]\nuri = "s3://bucket/store"\nendpoint = "lenient.example:9000"', "store.endpoint"),
        ('site = "north"\n[store]\nuri = "s3://bucket/store"\nendpoint = "https://lenient.example/s3"', "has a path"),
        ('site = "north"\n[store]\nuri = "gs://bucket/store"\nendpoint = "https://lenient.example"', "is for S3"),
        ('site = "north"\n[store]\nuri = "s3://bucket/store"\naccess_key = "lenient"', "store.access_key"),
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'site = "North Hospital"',
            "site, line 1 (it has to be small letters, digits and _, a letter first, at most 40)",
        ),
        (
            'site = "north"\n[feeds.ehr]\nformat = "sql"\nwatermark = "t"\nurl_env = "x"',
            "the name of a variable: capitals",
        ),
        ('site = "north"\n[store]\nuri = "/mnt/x"', "store.uri, line 3 (it has to be s3://BUCKET/FOLDER or gs://"),
        (
            'site = "north"\n[exclusions]\nnote_types = ["-"]',
            "exclusions.note_types.0, line 3 (it has to be a word or more)",
        ),
        ('site = "north"\n[detection]\nworkers = 0', "detection.workers, line 3 (it has to be at least 1)"),
        ('site = "north"\n[detection]\nworkers = "x"', "detection.workers, line 3 (it has to be a whole number)"),
        (
            'site = "north"\n[profiles.demo]\nmin_recall = 98',
            "profiles.demo.min_recall, line 3 (it has to be at most 1.0)",
        ),
        ('site = "north"\n[feeds.ehr]\npath = "x"\ndemonstration = "x"', "(it has to be true or false)"),
        ('site = "north"\n[feeds.ehr]\npath = 3', "(it has to be a path in quotes)"),
        ('site = "north"\n[feeds.ehr]\npath = "x"\nnote_types = "x"', "(it has to be a list in brackets)"),
        ('site = "north"\nfeeds = 3', "feeds, line 2 (it has to be a section of keys)"),
        ("site = 3", "site, line 1 (it has to be text in quotes)"),
    ],
)
def test_what_a_key_asks_for_is_said_in_words(write, text: str, said: str) -> None:
    with pytest.raises(DeidError) as error:
        load_settings(write(text))
    assert said in str(error.value.ref)
    kinds = re.findall(r"\w+_\w+(?=\))", str(error.value.ref))
    assert not kinds


def test_every_form_that_a_key_may_ask_for_has_words() -> None:
    folder = Path(document.__file__).parent
    asked = [name for path in folder.glob("*.py") for name in re.findall(r"pattern=(\w*)", path.read_text())]
    assert len(asked) == len(FORMS) and all(name.startswith("_") for name in asked)


def test_a_home_that_cannot_be_made_is_named_by_its_key(write, monkeypatch) -> None:
    settings = load_settings(write('site = "north"\nhome = "/proc/nowhere/x"'))
    for name in ("DEID_SECRET", "DEID_SECRET_FILE"):
        monkeypatch.delenv(name, raising=False)
    for made in (lambda: ensure_secret(settings), lambda: prepare_instance(settings, settings.root / "deid.toml")):
        with pytest.raises(DeidError) as error:
            made()
        assert error.value.code is Code.HOME_UNUSABLE and "`home`" in str(error.value)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('secret = "tops3cret"', "secret"),
        ('[warehouse]\npassword = "tops3cret"', "warehouse.password"),
        ('[warehouse]\nloader_password = "tops3cret"', "warehouse.loader_password"),
        ('[llm]\napi_key = "tops3cret"', "llm.api_key"),
        ('[store]\nuri = "s3://key:tops3cret@bucket/store"', "store.uri"),
        ('[store]\nuri = "s3://bucket/store"\nsecret = "tops3cret"', "store.secret"),
        ('home = "postgresql://admin:tops3cret@server/deid"', "home"),
        ('[feeds.ehr]\npath = "x"\nignore = ["a", "ftp://me:tops3cret@server"]', "feeds.ehr.ignore"),
        ('[redaction]\npolicy = "host=server password=tops3cret"', "redaction.policy"),
    ],
)
def test_a_secret_has_no_place_in_it(write, text: str, key: str) -> None:
    with pytest.raises(DeidError) as error:
        load_settings(write(f'site = "north"\n{text}'))
    assert (error.value.code, error.value.ref) == (Code.SECRET_IN_SETTINGS, key)
    assert "tops3cret" not in str(error.value)


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ('watermark = "w"\n[feeds.ehr.tables]\nnotes = "n"', None),
        ('format = "omop"', None),
        ('format = "omop"\n[feeds.ehr.tables]\npatients = "phi.names"', None),
        ('[feeds.ehr.tables]\nnotes = "n"', "feeds.ehr.watermark"),
        ('watermark = "w"', "neither tables nor queries"),
        ('watermark = "w"\npath = "x"\n[feeds.ehr.tables]\nnotes = "n"', "feeds.ehr.path"),
        ('format = "files"\npath = "x"\nschema = "y"', "schema is for databases"),
        ('format = "files"\npath = "x"\nwatermark = "y"', "watermark is for databases"),
        ('watermark = "w"\n[feeds.ehr.tables]\nnote = "n"', "feeds.ehr.tables.note"),
        ('watermark = "w"\n[feeds.ehr.tables]\nnotes = "a.b.c"', "feeds.ehr.tables.notes"),
        (
            'watermark = "w"\nqueries = {notes = "q"}\n[feeds.ehr.tables]\nnotes = "n"',
            "notes is in tables and in queries",
        ),
        ('watermark = "w"\nperiod = "week"\n[feeds.ehr.tables]\nnotes = "n"', "feeds.ehr.period"),
        ('watermark = "w"\ntimezone = "Rome"\n[feeds.ehr.tables]\nnotes = "n"', "feeds.ehr.timezone"),
        ('watermark = "w"\ntimezone = "../x"\n[feeds.ehr.tables]\nnotes = "n"', "feeds.ehr.timezone"),
        ('watermark = "w"\nurl_env = "a name"\n[feeds.ehr.tables]\nnotes = "n"', "feeds.ehr.url_env"),
        ('watermark = "w"\nwatermarks = {withdrawn = ""}\ntables = {withdrawn = "x"}', "watermarks.withdrawn must not"),
        ('watermark = "w"\nwatermarks = {patients = ""}\ntables = {notes = "x"}', "watermarks.patients: there is no"),
        ('watermark = "w"\nvocabulary_schema = "v"\ntables = {notes = "x"}', "vocabulary_schema is for format omop"),
        ('format = "omop"\ntables = {withdrawn = "x"}', "watermarks.withdrawn has to be set"),
        ('format = "omop"\nsince = 2026-01-02\ninitial = 2026-01-01', "initial is before since"),
    ],
)
def test_a_feed_from_a_database_is_refused_by_its_key(write, keys: str, named: str | None) -> None:
    stated = keys if keys.startswith("format") else f'format = "sql"\n{keys}'
    path = write(f'site = "north"\n[feeds.ehr]\n{stated}')
    if named is None:
        assert load_settings(path).feeds["ehr"].from_database
        return
    with pytest.raises(DeidError) as error:
        load_settings(path)
    assert error.value.code is Code.SETTINGS_INVALID
    assert named in str(error.value.ref)


def test_the_url_of_a_database_has_no_place_in_it(write) -> None:
    for key in ("url_env", "schema", "watermark"):
        text = f'site = "north"\n[feeds.ehr]\nformat = "omop"\n{key} = "postgresql://me:tops3cret@server/ehr"'
        with pytest.raises(DeidError) as error:
            load_settings(write(text))
        assert (error.value.code, error.value.ref) == (Code.SECRET_IN_SETTINGS, f"feeds.ehr.{key}")


def test_a_source_may_call_its_columns_what_it_likes(write) -> None:
    columns = 'columns = {TOKEN = "patient_id", "notes.password" = "text"}'
    assert load_settings(write(f'site = "north"\n[feeds.ehr]\npath = "x"\n{columns}')).feeds["ehr"].columns


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


@pytest.mark.parametrize(
    ("given", "reached"),
    [
        ("https://objects.north.example", "https://objects.north.example"),
        ("https://objects.north.example:443/", "https://objects.north.example"),
        ("https://objects.north.example:9000", "https://objects.north.example:9000"),
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
        ("http://localhost:9000", "http://127.0.0.1:9000"),
    ],
)
def test_notes_may_be_kept_behind_tls_or_on_this_machine(write, given: str, reached: str) -> None:
    store = load_settings(write(f'site = "north"\n[store]\nuri = "s3://bucket/a/store"\nendpoint = "{given}"')).store
    assert store is not None
    assert store.endpoint == reached


def test_the_profile_brings_its_thresholds_and_the_file_may_change_them(write) -> None:
    assert load_settings(write('site = "north"')).profile == "production"
    strict = load_settings(write('site = "north"'))
    lax = load_settings(write('site = "north"\nprofile = "demo"'))
    assert strict.thresholds.min_recall > lax.thresholds.min_recall
    thresholds = "min_recall = 0.5\nmin_precision = 0.5\nmin_clinical_retention = 0.5"
    text = f'site = "n"\nprofile = "demo"\n[profiles.demo]\n{thresholds}'
    assert load_settings(write(text)).thresholds.min_recall == 0.5


@pytest.mark.parametrize("profile", ["demo", "production"])
@pytest.mark.parametrize("key", ["min_recall", "max_quarantined_share", "signed_dossier"])
def test_a_threshold_that_is_not_set_keeps_the_value_of_its_profile(write, profile: str, key: str) -> None:
    own = load_settings(write(f'site = "n"\nprofile = "{profile}"')).thresholds
    value = True if key == "signed_dossier" else 0.5
    text = f'site = "n"\nprofile = "{profile}"\n[profiles.{profile}]\n{key} = {str(value).lower()}'
    assert load_settings(write(text)).thresholds == own.model_copy(update={key: value})


@pytest.mark.parametrize("section", ["profiles = 3", "profiles.demo = 3", "profiles.lax.min_recall = 0.1"])
def test_what_is_no_profile_is_refused(write, section: str) -> None:
    with pytest.raises(DeidError) as error:
        load_settings(write(f'site = "north"\n{section}'))
    assert error.value.code is Code.SETTINGS_INVALID
    assert str(error.value.ref).startswith(section.partition(" ")[0].removesuffix(".min_recall"))


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
    (tmp_path / "key").write_text(CURRENT)
    monkeypatch.setenv("DEID_SECRET_FILE", str(tmp_path / "key"))
    from_file = settings.keyring().key_id
    monkeypatch.setenv("DEID_SECRET", OLD)
    assert settings.keyring().key_id != from_file
    monkeypatch.setenv("DEID_SECRET", "hunter2")
    with pytest.raises(DeidError) as error:
        settings.keyring()
    assert error.value.code is Code.SECRET_WEAK
    assert "hunter2" not in str(error.value)


def test_former_secrets_follow_the_current_one_newest_first(write, tmp_path: Path, monkeypatch) -> None:
    settings = load_settings(write('site = "north"'))
    monkeypatch.setenv("DEID_SECRET", CURRENT)
    assert [ring.key_id for ring in settings.keyrings()] == [settings.keyring().key_id]
    for name, text in (("old", OLD), ("older", OLDER), ("current", CURRENT), ("weak", "hunter2"), ("empty", "")):
        (tmp_path / name).write_text(f"{text}\n")

    expected = [Keyring(text.encode(), site="north").key_id for text in (CURRENT, OLD, OLDER)]
    files = [str(tmp_path / name) for name in ("old", "current", "older")]
    monkeypatch.setenv("DEID_PREVIOUS_SECRET_FILES", os.pathsep.join(files))
    assert [ring.key_id for ring in settings.keyrings()] == expected, "one that is still in use counts once"
    monkeypatch.setenv("DEID_PREVIOUS_SECRET", OLD)
    monkeypatch.setenv("DEID_PREVIOUS_SECRET_FILES", str(tmp_path / "older"))
    assert [ring.key_id for ring in settings.keyrings()] == expected

    # A weak one is a reason to leave it behind.
    monkeypatch.setenv("DEID_PREVIOUS_SECRET_FILES", str(tmp_path / "weak"))
    assert len(settings.keyrings()) == 3

    for name, code in (("empty", Code.SECRET_WEAK), ("missing", Code.SECRET_MISSING)):
        monkeypatch.setenv("DEID_PREVIOUS_SECRET_FILES", str(tmp_path / name))
        with pytest.raises(DeidError) as error:
            settings.keyrings()
        assert (error.value.code, error.value.ref) == (code, "DEID_PREVIOUS_SECRET_FILES")


def test_the_settings_in_the_repository_are_valid() -> None:
    settings = load_settings(ROOT / "deid.toml")
    assert settings.feeds["hospital"].demonstration
