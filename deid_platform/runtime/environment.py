"""What another program inherits of this process's environment: no secret.

Belongs here: choosing variables. Does not belong here: starting programs, or what each of them needs beside these.
"""

from __future__ import annotations

import os
import re

_ORDINARY = re.compile(r"PATH|HOME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|LD_LIBRARY_PATH")
_SECRET = re.compile(
    r"DEID_.*|.*(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|PRIVATE).*|(?:.*_)?(?:KEY|APIKEY|AUTH)(?:_.*)?"
)
# A URL with a password, under whatever name a feed's settings give it.
_WITH_PASSWORD = re.compile(r"\w://[^/@\s]*:[^/@\s]+@")


def ordinary_environment() -> dict[str, str]:
    """The few variables that any program needs: for one whose users may read its environment."""
    return {name: value for name, value in os.environ.items() if _ORDINARY.fullmatch(name)}


def harmless_environment() -> dict[str, str]:
    """All variables but this platform's own and those that look like a secret: for a program of somebody else."""
    return {name: value for name, value in os.environ.items() if not looks_secret(name, value)}


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable is this platform's own or looks like a secret."""
    return bool(_SECRET.fullmatch(name.upper()) or _WITH_PASSWORD.search(value))
