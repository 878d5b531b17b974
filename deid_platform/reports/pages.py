"""HTML pages as one file: templates that escape whatever they are given, and the style that all pages share.

Belongs here: finding a template and compiling it once. Does not belong here: what any page shows.

No page has a script or asks anybody for anything; each says so to the browser (Content-Security-Policy).
"""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


@cache
def template(name: str) -> Template:
    """A template by its path in `deid_platform/reports`."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=PackageLoader("deid_platform.reports", ""),
    )
    return environment.get_template(name)
