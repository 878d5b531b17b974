"""What `deid doctor` looks at: one finding a thing, with what to do where it is not well.

Belongs here: checks that touch nothing. Does not belong here: mending anything.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from deid_platform.detection import detector_names
from deid_platform.errors import DeidError
from deid_platform.redaction.policy import policy_names
from deid_platform.refresh.site import Site
from deid_platform.settings import config_path, load_settings
from deid_platform.warehouse.logins import unbounded
from deid_platform.warehouse.queries import summary
from deid_platform.warehouse.roles import Role


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    good: bool
    detail: str


def examine(config: Path | None = None) -> list[Finding]:
    """Looks at Python, deid.toml, the key secret, the feeds, the store and the warehouse, in this order.

    What hangs on a thing that is not well is not looked at.
    """
    findings = [
        Finding("python", True, f"{platform.python_version()} at {sys.prefix}"),
        Finding("detectors", True, ", ".join(detector_names())),
        Finding("policies", True, ", ".join(policy_names())),
    ]
    for subject, at in (
        ("deid.toml", lambda: str(config_path(config))),
        ("settings", lambda: f"profile {load_settings(config).profile}"),
    ):
        found = _look(subject, at)
        findings.append(found)
        if not found.good:
            return findings
    return [*findings, *_site(Site(load_settings(config)))]


def _site(site: Site) -> Iterator[Finding]:
    yield _look("detector", lambda: f"{site.settings.detection.detector} {site.spec(None).detector_digest[:12]}")
    for name in site.settings.feeds:
        yield _feed(site, name)
    secret = _look("key secret", lambda: f"key {site.keyring.key_id}")
    yield secret
    if secret.good:
        warehouse = _look("warehouse", lambda: _warehouse(site))
        yield warehouse
        if warehouse.good:
            found = unbounded(site.warehouse.engine(Role.OFFICER))
            yield Finding("logins", not found, "; ".join(found) or "each bounded")


def _feed(site: Site, name: str) -> Finding:
    found = _look(f"feed {name}", lambda: f"{len(site.reader(name).deliveries())} deliveries")
    if found.good and (refused := site.reader(name).refused()):
        return Finding(found.subject, False, f"{found.detail}; {len(refused)} folders are not named as a delivery")
    return found


def _warehouse(site: Site) -> str:
    found = summary(site.warehouse.engine(Role.OFFICER))
    return f"{site.warehouse.describe()}, profile {found.profile}, release {found.release or 'none active'}"


def _look(subject: str, at: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, True, at())
    except DeidError as error:
        return Finding(subject, False, f"{error.code.slug}: {error.code.remedy}")
