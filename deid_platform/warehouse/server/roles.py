"""The warehouse's roles, and where each one's password is found.

Belongs here: names. Does not belong here: making the roles (`bootstrap`), or what each may do, which a
migration grants together with the object.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path

from deid_platform.errors import Code, DeidError
from deid_platform.keys import guessable


class Role(StrEnum):
    """Every role of the warehouse."""

    OWNER = "deid_owner"
    """Owns schemas, tables and the gate's functions; nobody can log in as it."""
    LOADER = "loader"
    """Writes staging and nothing else."""
    GATEKEEPER = "gatekeeper"
    """Reads staging, writes gate rows and scores."""
    PROMOTER = "promoter"
    """May call the gate's functions; can read no table."""
    OFFICER = "officer"
    """The privacy officer: reads the ledger, records waivers."""
    MODELLER = "deid_modeller"
    """dbt: reads research, builds marts."""
    ANALYST = "analyst"
    """The group of those who read research, marts and quality; nobody can log in as it, people's logins are members."""
    LIMITED_ANALYST = "limited_analyst"
    """The group of those who read limited data sets, whose recipients sign an agreement each."""
    DEMO_ANALYST = "demo_analyst"
    """An analyst's login, made where the profile is `demo`."""


READERS = (Role.ANALYST, Role.LIMITED_ANALYST)
"""Groups. A member of a role may become it, and a role may change its own password: as a login, a group could be taken
over by any member."""
SERVICES = (Role.LOADER, Role.GATEKEEPER, Role.PROMOTER, Role.OFFICER, Role.MODELLER)
"""The platform's own logins."""
LOGIN_ROLES = (*SERVICES, Role.DEMO_ANALYST)
READER_CONNECTIONS = 10
"""How many connections a reader's login may have at once, unless its administrator says otherwise."""
READER_TEMPORARY_FILES = "10GB"
"""How much disk the sorts of one connection of a reader may take, unless its administrator says otherwise."""
ADMINISTRATOR = "admin"
"""Stands for whoever bootstraps and migrates: DEID_PASSWORD_ADMIN, unless the URL holds the password."""
MIN_PASSWORD_CHARACTERS = 12


def password(role: str) -> str | None:
    """The role's password from `DEID_PASSWORD_<ROLE>_FILE` or `DEID_PASSWORD_<ROLE>`; None if neither is set.

    Raises:
        DeidError: `settings-invalid` with the variable's name if the file cannot be read.
    """
    name = f"DEID_PASSWORD_{role.upper()}"
    file = os.environ.get(f"{name}_FILE")
    if file:
        try:
            return Path(file).read_text().strip()
        except OSError:
            raise DeidError(Code.SETTINGS_INVALID, f"{name}_FILE") from None
    return os.environ.get(name) or None


def new_password(role: str) -> str | None:
    """The role's password if it is good enough to be set; None if there is none.

    Raises:
        DeidError: `password-weak` with the role's name.
    """
    found = password(role)
    if found and (role in found.lower() or guessable(found.encode(), least=MIN_PASSWORD_CHARACTERS)):
        raise DeidError(Code.PASSWORD_WEAK, role)
    return found
