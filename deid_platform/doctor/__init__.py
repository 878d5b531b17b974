"""What `deid doctor` checks: one line per check, with what to do where it fails.

    diagnosis     what a check says
    models        models, peers and language models, and where they run
    installation  the installation that a deid.toml describes

Belongs here: what can be said of every installation, with and without the extra `platform`. Does not belong here: what
needs a deid.toml and that extra (`installation.py`), or mending anything.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from deid_platform.detection import detector_names, stage_names
from deid_platform.doctor.diagnosis import Diagnosis, look, said
from deid_platform.errors import Code, DeidError
from deid_platform.extras import EXTRAS, PLATFORM, USES, is_installed, lacking
from deid_platform.redaction.policy import policy_names
from deid_platform.settings import config_path, load_settings


def examine(config: Path | None = None) -> list[Diagnosis]:
    """Looks at Python, deid.toml, the feeds with the newest delivery of each, the key secret and the warehouse.

    Checks that depend on a failed one are skipped. Without the extra `platform`, a deid.toml may be missing too:
    `deid redact` needs none.
    """
    diagnoses = [
        Diagnosis("python", True, f"{platform.python_version()} at {sys.prefix}"),
        Diagnosis("extras", True, _extras()),
        Diagnosis("detectors", True, ", ".join(detector_names())),
        *(Diagnosis(f"stages of {name}", True, ", ".join(stage_names(name))) for name in detector_names()[:1]),
        Diagnosis("policies", True, ", ".join(policy_names())),
    ]
    whole = is_installed(PLATFORM)
    path = look("deid.toml", lambda: str(config_path(config)))
    if not (whole or path.good or config):
        return [*diagnoses, Diagnosis("deid.toml", True, "none: `deid redact` needs none")]
    diagnoses.append(path)
    if path.good:
        diagnoses.append(look("settings", lambda: f"profile {load_settings(config).profile}"))
    if not diagnoses[-1].good:
        return diagnoses
    if not whole:
        return [*diagnoses, Diagnosis("refresh", False, said(DeidError(Code.EXTRA_MISSING, PLATFORM)))]
    from deid_platform.doctor.installation import of_site
    from deid_platform.refresh.installation.site import Site

    return [*diagnoses, *of_site(Site(load_settings(config)))]


def _extras() -> str:
    """Which parts are there, and of the others what is missing for which use."""
    there = ", ".join(filter(is_installed, EXTRAS)) or "none: `deid redact` needs none"
    missing = [f"{extra} for {USES[extra]} (lacks {', '.join(names)})" for extra in EXTRAS if (names := lacking(extra))]
    return f"{there}; not installed: {'; '.join(missing)}" if missing else there
