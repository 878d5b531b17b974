"""deid.toml as a whole: where it lies, reading it, and saying what is wrong with it.

Belongs here: the document and its paths. Does not belong here: any one section.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import Keyring
from deid_platform.settings.detection import DetectionSettings, DictionarySettings, RaySettings, RedactionSettings
from deid_platform.settings.faults import fault_in_words
from deid_platform.settings.feeds import ExclusionSettings, FeedSettings
from deid_platform.settings.laboratory import BenchSettings, CorporaSettings, ExperimentSettings, TrainingSettings
from deid_platform.settings.language_models import JudgeSettings, LlmSettings, VllmSettings
from deid_platform.settings.operation import (
    PROFILES,
    ProfileSettings,
    ReleaseSettings,
    ScheduleSettings,
    StoreSettings,
    WarehouseSettings,
)
from deid_platform.settings.secret_sources import secret_of_environment, secret_of_file
from deid_platform.settings.section import Identifier, PeerName, Section
from deid_platform.settings.toml_document import line_shown, secrets_in

CONFIG_NAME = "deid.toml"


class Settings(Section):
    """All of deid.toml."""

    site: Identifier
    profile: Literal["demo", "production"] = "production"
    home: Path = Path(".deid")
    feeds: dict[Identifier, FeedSettings] = {}
    detection: DetectionSettings = DetectionSettings()
    ray: RaySettings = RaySettings()
    dictionaries: DictionarySettings = DictionarySettings()
    redaction: RedactionSettings = RedactionSettings()
    exclusions: ExclusionSettings = ExclusionSettings()
    vllm: VllmSettings | None = None
    bench: BenchSettings = BenchSettings()
    corpora: CorporaSettings = CorporaSettings()
    peers: dict[PeerName, Path] = {}
    """De-identifiers of others, `presidio:spacy:MODEL` and the like -> the interpreter that has it (docs/peers.md)."""
    llm: LlmSettings | None = None
    """None: nothing asks a language model."""
    judges: JudgeSettings = JudgeSettings()
    training: TrainingSettings = TrainingSettings()
    experiments: ExperimentSettings = ExperimentSettings()
    store: StoreSettings | None = None
    """None: the note store is in the home folder."""
    warehouse: WarehouseSettings = WarehouseSettings()
    releases: ReleaseSettings = ReleaseSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    profiles: dict[Literal["demo", "production"], ProfileSettings] = {}
    """Profile -> thresholds in place of its own; one that is not set keeps its value."""
    root: Path = Field(default=Path(), exclude=True)
    """The folder of deid.toml, against which paths are read."""

    @field_validator("profiles", mode="before")
    @classmethod
    def _inherited(cls, profiles: object) -> object:
        if not isinstance(profiles, dict):
            return profiles
        return {
            name: PROFILES[name].model_dump() | given if name in PROFILES and isinstance(given, dict) else given
            for name, given in profiles.items()
        }

    @property
    def thresholds(self) -> ProfileSettings:
        """The thresholds of the profile in force."""
        return self.profiles.get(self.profile, PROFILES[self.profile])

    def feed(self, name: str) -> FeedSettings:
        """One feed's settings.

        Raises:
            DeidError: `feed-unknown`, with the nearest name, if deid.toml has no such feed.
        """
        if name not in self.feeds:
            raise DeidError(Code.FEED_UNKNOWN, did_you_mean(name, self.feeds))
        return self.feeds[name]

    @property
    def home_path(self) -> Path:
        """Where this instance keeps the note store, the embedded server and the Dagster instance."""
        return self.path(self.home)

    def make_home(self) -> Path:
        """Makes the home folder if need be.

        Raises:
            DeidError: `home-unusable` if it cannot be made, or nothing can be written into it.
        """
        with suppress(OSError):
            self.home_path.mkdir(parents=True, exist_ok=True)
        if not os.access(self.home_path, os.W_OK | os.X_OK):
            raise DeidError(Code.HOME_UNUSABLE)
        return self.home_path

    @property
    def store_path(self) -> Path:
        """This machine's folder for notes: the note store, or its record and temporary files if it is elsewhere."""
        return self.home_path / "store"

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

    def keyrings(self) -> tuple[Keyring, ...]:
        """The site's keys, the current ones first, then those of former secrets by which older releases know a note.

        Former secrets are those of DEID_PREVIOUS_SECRET and of the files in DEID_PREVIOUS_SECRET_FILES (separated
        as in PATH), newest first. One that is still in use counts once.

        Raises:
            DeidError: `secret-missing` or `secret-weak`, naming the variable if it is a former secret's.
        """
        rings = {ring.key_id: ring for ring in (self.keyring(), *self._former_keyrings())}
        return tuple(rings.values())

    def _former_keyrings(self) -> Iterator[Keyring]:
        if text := os.environ.get("DEID_PREVIOUS_SECRET"):
            yield self._former(text.encode(), "DEID_PREVIOUS_SECRET")
        for name in filter(None, os.environ.get("DEID_PREVIOUS_SECRET_FILES", "").split(os.pathsep)):
            yield self._former(secret_of_file(Path(name), "DEID_PREVIOUS_SECRET_FILES"), "DEID_PREVIOUS_SECRET_FILES")

    def _former(self, secret: bytes, variable: str) -> Keyring:
        try:
            return Keyring(secret, site=self.site, former=True)
        except DeidError as error:
            raise DeidError(error.code, variable) from None

    def _secret(self) -> bytes:
        given = secret_of_environment()
        return secret_of_file(self.secret_path) if given is None else given


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
        DeidError: `settings-missing`; `settings-invalid` or `secret-in-settings` with the key's name.
    """
    path = config_path(given)
    try:
        text = path.read_text(encoding="utf-8")
        document: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # The rest of what it says may quote a value.
        line = re.search(r"\(at (line \d+)", str(error))
        raise DeidError(Code.SETTINGS_INVALID, f"{CONFIG_NAME} is not TOML{f', {line[1]}' if line else ''}") from None
    except UnicodeDecodeError:
        raise DeidError(Code.SETTINGS_INVALID, f"{CONFIG_NAME} is not UTF-8") from None
    if misplaced := sorted(secrets_in(document)):
        raise DeidError(Code.SECRET_IN_SETTINGS, ", ".join(misplaced))
    if "root" in document:
        raise DeidError(Code.SETTINGS_INVALID, "root")
    try:
        return Settings(**document, root=path.parent)
    except ValidationError as error:
        # pydantic's own text prints the value; the key's name, its line and the kind of fault are enough.
        faults = (
            f"{'.'.join(map(str, fault['loc']))}{line_shown(text, fault['loc'])} ({fault_in_words(fault)})"
            for fault in error.errors()
        )
        raise DeidError(Code.SETTINGS_INVALID, ", ".join(sorted(faults))) from None
