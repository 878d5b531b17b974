"""Keys for commands, and the secret that a demonstration makes for itself.

Belongs here: whose secret counts where there may be no installation. Does not belong here: keys (`keys.py`).
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.settings.document import Settings, config_path, load_settings
from deid_platform.settings.secret_sources import secret_of_environment, secret_of_file


def keyring_for(secret_file: Path | None, site: str | None) -> Keyring:
    """Keys for a command on files, which may run without an installation.

    Args:
        secret_file: Holds the key secret; by default the environment's, or that of the deid.toml in force.
        site: The institution; by default the one of the deid.toml in force, else `local`.

    Raises:
        DeidError: `secret-missing` or `secret-weak`; `settings-invalid` if there is a deid.toml that cannot be read.
    """
    try:
        settings = load_settings()
    except DeidError as error:
        if error.code is not Code.SETTINGS_MISSING:
            raise
        settings = None
    secret = secret_of_environment() if secret_file is None else secret_of_file(secret_file)
    if secret is None and settings is None:
        raise DeidError(Code.SECRET_MISSING) from None
    if secret is None and settings is not None:
        secret = secret_of_file(settings.secret_path)
    return Keyring(secret or b"", site=site or (settings.site if settings else "local"))


def files_in_force() -> tuple[Path, ...]:
    """The deid.toml and the files of the key secret that commands on files read unasked; no output may replace them."""
    named = os.environ.get("DEID_SECRET_FILE")
    files = [Path(named)] if named else []
    with suppress(DeidError):
        files.append(config_path())
        files.append(load_settings().secret_path)
    return tuple(files)


def ensure_secret(settings: Settings) -> None:
    """Makes a random key secret for a new instance, readable by its owner alone; keeps an existing one.

    Raises:
        DeidError: `home-unusable`.
    """
    if os.environ.get("DEID_SECRET") or os.environ.get("DEID_SECRET_FILE") or settings.secret_path.exists():
        return
    settings.make_home()
    beside = settings.secret_path.with_name(f".secret-{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(secrets.token_hex(32))
        stream.flush()
        os.fsync(stream.fileno())
    try:
        # Whole or not at all, and never over one that another process has made meanwhile.
        os.link(beside, settings.secret_path)
    except FileExistsError:
        return
    finally:
        beside.unlink()
