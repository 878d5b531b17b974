"""Where the key secret is read from: the environment, or a file."""

from __future__ import annotations

import os
from pathlib import Path

from deid_platform.errors import Code, DeidError


def secret_of_environment() -> bytes | None:
    """The secret that DEID_SECRET holds, or the file that DEID_SECRET_FILE names; None if neither is set."""
    if text := os.environ.get("DEID_SECRET"):
        return text.encode()
    if path := os.environ.get("DEID_SECRET_FILE"):
        return secret_of_file(Path(path))
    return None


def secret_of_file(path: Path, variable: str | None = None) -> bytes:
    """The secret in a file.

    Raises:
        DeidError: `secret-missing`, naming the variable that names the file.
    """
    try:
        return path.read_bytes().strip()
    except OSError:
        raise DeidError(Code.SECRET_MISSING, variable) from None
