"""Whether a grant's site and note type exist, in deid.toml or in promoted notes.

Belongs here: refusing a mistyped grant before it is recorded. Does not belong here: recording it
(`warehouse/readers/projects.py`).
"""

from __future__ import annotations

from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.gate.measures import OTHER_TYPE
from deid_platform.warehouse.readers.projects import holds_notes
from deid_platform.warehouse.server.roles import Role


def refuse_unknown_grant(site: Site, *, of_site: str | None, note_type: str | None) -> None:
    """Refuses a site or a note type that deid.toml does not name and no promoted note has; None means every one.

    Raises:
        DeidError: `grant-unknown`, with the nearest name and those that deid.toml knows.
    """
    officer = site.warehouse.engine(Role.OFFICER)
    sites = {site.settings.site}
    if of_site is not None and of_site not in sites and not holds_notes(officer, site=of_site):
        raise DeidError(Code.GRANT_UNKNOWN, f"--site: {did_you_mean(of_site, sites)}")
    types = {OTHER_TYPE, *(name for feed in site.settings.feeds.values() for name in feed.note_types)}
    if note_type is not None and note_type not in types and not holds_notes(officer, note_type=note_type):
        raise DeidError(Code.GRANT_UNKNOWN, f"--note-type: {did_you_mean(note_type, types)}")
