"""deid.toml, typed and refused early, and the secrets that never stand in it.

Belongs here: what an institution configures, its defaults, and where the key secret is found. Does not
belong here: what any of it does. Paths are relative to the folder of deid.toml.

Secrets come from the environment or from a file: DEID_SECRET, DEID_SECRET_FILE, or `<home>/secret`,
which the demonstration makes for itself. DEID_CONFIG names another deid.toml.
"""

from __future__ import annotations

import os
import secrets
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring

CONFIG_NAME = "deid.toml"
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FeedSettings(_Section):
    """One source of deliveries: a folder with one sub-folder a delivery."""

    format: Literal["files"] = "files"
    path: Path
    gold: Path | None = None
    """Folder of `<watermark>.jsonl.gz` gold files, read by the bench alone."""
    demonstration: bool = False
    """Whether the notes are synthetic or published, so that the embedded server may hold them."""
    columns: dict[str, str] = {}
    """Source column -> field of the note or topic."""
    ignore: tuple[str, ...] = ()
    """Source columns that are left out on purpose."""
    defaults: dict[str, str] = {}
    """Field -> value where the source has none, such as `note_type`."""
    note_types: tuple[str, ...] = ()
    """Note types that research may see by name; any other becomes `other`, since a type is free text."""
    max_chars: int = Field(default=1_000_000, gt=0)


class DetectionSettings(_Section):
    """Which detector runs, and over how many worker processes."""

    detector: str = "rules"
    workers: int = Field(default=1, ge=1)
    medical_terms: tuple[Path, ...] = ()
    """The site's own lists of clinical terms to recover, one term a line."""


class RedactionSettings(_Section):
    """Which policy turns spans into text: a shipped name or a path to YAML."""

    policy: str = "safe_harbor_plus_providers"


class BenchSettings(_Section):
    """The test set (paper 001, Methods) and how it is scored."""

    size: int = Field(default=10_000, gt=0)
    minimum_per_group: int = Field(default=10, ge=0)
    seed: int = 0
    periods: tuple[tuple[int, int], ...] = ()
    """First and last year of each period; by default each calendar year is one."""
    synthetic_notes: int = Field(default=400, gt=0)
    """Notes of the synthetic hospital that stand in where a site has no gold."""
    resamples: int = Field(default=100, ge=2)
    minimum_gold: int = Field(default=30, ge=1)
    """Notes with gold that a feed needs for its recall to count as measured."""


class WarehouseSettings(_Section):
    """The embedded server's database; DEID_WAREHOUSE_URL replaces the whole server."""

    database: Identifier = "deid"
    allow_real_notes_on_embedded: bool = False


class ScheduleSettings(_Section):
    """The backstop behind the sensor."""

    cron: str = "0 6 * * 1"
    timezone: str = "UTC"
    sensor_seconds: int = Field(default=60, ge=5)


class ProfileSettings(_Section):
    """Thresholds of one gate profile. What each profile demands at all is fixed in the warehouse."""

    min_recall: Share
    min_precision: Share
    min_clinical_retention: Share
    min_roster_share: Share = 0.95
    """Least share of a delivery's notes whose patient the topics must know for it to count as with topics."""


PROFILES: dict[str, ProfileSettings] = {
    # The demonstration shows rules alone, without a model; production asks for what paper 001's baseline reached.
    "demo": ProfileSettings(min_recall=0.90, min_precision=0.90, min_clinical_retention=0.95),
    "production": ProfileSettings(min_recall=0.98, min_precision=0.95, min_clinical_retention=0.97),
}


class Settings(_Section):
    """All of deid.toml."""

    site: Identifier
    profile: Literal["demo", "production"] = "production"
    home: Path = Path(".deid")
    feeds: dict[Identifier, FeedSettings] = {}
    detection: DetectionSettings = DetectionSettings()
    redaction: RedactionSettings = RedactionSettings()
    bench: BenchSettings = BenchSettings()
    warehouse: WarehouseSettings = WarehouseSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    profiles: dict[Literal["demo", "production"], ProfileSettings] = {}
    root: Path = Field(default=Path(), exclude=True)
    """The folder of deid.toml, against which paths are read."""

    @property
    def thresholds(self) -> ProfileSettings:
        """The thresholds of the profile in force."""
        return self.profiles.get(self.profile, PROFILES[self.profile])

    @property
    def home_path(self) -> Path:
        """Where this instance keeps the note store, the embedded server and the Dagster instance."""
        return self.path(self.home)

    def path(self, relative: Path) -> Path:
        """A path of deid.toml made absolute."""
        return (self.root / relative).absolute()

    @property
    def secret_path(self) -> Path:
        """Where the key secret lies if no environment variable names it."""
        return self.home_path / "secret"

    def keyring(self) -> Keyring:
        """The site's keys.

        Raises:
            DeidError: `secret-missing` or `secret-weak`.
        """
        return Keyring(self._secret(), site=self.site)

    def _secret(self) -> bytes:
        if text := os.environ.get("DEID_SECRET"):
            return text.encode()
        path = Path(os.environ.get("DEID_SECRET_FILE") or self.secret_path)
        try:
            return path.read_bytes().strip()
        except OSError:
            raise DeidError(Code.SECRET_MISSING) from None


def config_path(given: str | Path | None = None) -> Path:
    """Which deid.toml counts: the one given, DEID_CONFIG, or the one in this folder or above it.

    Raises:
        DeidError: `settings-missing` if there is none.
    """
    if chosen := given or os.environ.get("DEID_CONFIG"):
        path = Path(chosen).absolute()
        if path.is_file():
            return path
        raise DeidError(Code.SETTINGS_MISSING)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
    raise DeidError(Code.SETTINGS_MISSING)


def load_settings(given: str | Path | None = None) -> Settings:
    """Reads and checks deid.toml.

    Raises:
        DeidError: `settings-missing`, or `settings-invalid` with the key's name.
    """
    path = config_path(given)
    try:
        document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise DeidError(Code.SETTINGS_INVALID, f"{CONFIG_NAME} is not TOML") from None
    if "root" in document:
        raise DeidError(Code.SETTINGS_INVALID, "root")
    try:
        return Settings(**document, root=path.parent)
    except ValidationError as error:
        # pydantic's own text prints the value; the key's name and the kind of fault are enough.
        faults = (f"{'.'.join(map(str, fault['loc']))} ({fault['type']})" for fault in error.errors())
        raise DeidError(Code.SETTINGS_INVALID, ", ".join(sorted(faults))) from None


def ensure_secret(settings: Settings) -> None:
    """Makes a random key secret for a new instance, readable by its owner alone; keeps an existing one."""
    if os.environ.get("DEID_SECRET") or os.environ.get("DEID_SECRET_FILE") or settings.secret_path.exists():
        return
    settings.home_path.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(settings.secret_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(secrets.token_hex(32))
