"""deid.toml, typed and validated early, and the secrets, which are never in it.

    toml_document, faults     a TOML document before it is settings; what is wrong with a key, in words
    section                   what all sections share
    feeds, structured         sections on what comes in, and on tables beside the notes
    detection                 sections on what is found and what becomes of it
    language_models           sections on language models
    laboratory                sections on measuring and training
    operation                 sections on store, warehouse, releases and schedule
    address                   where a note may be sent
    document                  deid.toml as a whole
    secret_sources, keyrings  where the key secret is read from, and keys for commands

Belongs here: what an institution configures, its defaults, and where the key secret is found. Does not
belong here: what any of it does. Paths are relative to the folder of deid.toml.

Secrets come from the environment or from a file: DEID_SECRET, DEID_SECRET_FILE, or `<home>/secret`,
which the demonstration makes for itself. DEID_PREVIOUS_SECRET and DEID_PREVIOUS_SECRET_FILES keep former
ones through a rotation. DEID_CONFIG names another deid.toml.
"""

from deid_platform.settings.detection import DetectionSettings, RedactionSettings
from deid_platform.settings.document import Settings, config_path, load_settings
from deid_platform.settings.feeds import ExclusionSettings, FeedSettings
from deid_platform.settings.keyrings import ensure_secret, files_in_force, keyring_for
from deid_platform.settings.laboratory import CorpusSettings, ExperimentSettings, TrainingSettings
from deid_platform.settings.language_models import JudgeSettings, LlmSettings, VllmSettings
from deid_platform.settings.operation import PROFILES, ProfileSettings, ScheduleSettings

__all__ = [
    "PROFILES",
    "CorpusSettings",
    "DetectionSettings",
    "ExclusionSettings",
    "ExperimentSettings",
    "FeedSettings",
    "JudgeSettings",
    "LlmSettings",
    "ProfileSettings",
    "RedactionSettings",
    "ScheduleSettings",
    "Settings",
    "TrainingSettings",
    "VllmSettings",
    "config_path",
    "ensure_secret",
    "files_in_force",
    "keyring_for",
    "load_settings",
]
