"""The towns of a locale, each with what belongs to it.

Belongs here: reading `data/places_<locale>.tsv`. Does not belong here: streets (`words.py`).
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

from deid_platform.surrogates.places import us_places
from deid_platform.surrogates.pools import Share, share_of

_DATA = files("deid_platform.surrogates.locales") / "data"


class Town(NamedTuple):
    """A row of a list of towns.

    Attributes:
        city: Its name.
        state: State, province, county or region; empty where people write none.
        postcodes: Patterns of its postcodes.
        area: Area code of its telephones, as dialled within the country.
        code: What official numbers call its state or province by; empty where there is none.
    """

    city: str
    state: str
    postcodes: tuple[str, ...]
    area: str
    code: str


@lru_cache(maxsize=64)
def towns(locale: str, share: Share | None = None) -> tuple[Town, ...]:
    """The towns of a locale, or those whose name is of a share."""
    every = _towns(locale)
    return tuple(town for town in every if share is None or share_of(town.city) is share) or every


@cache
def _towns(locale: str) -> tuple[Town, ...]:
    if locale == "en_US":
        return tuple(Town(p.city, p.state, (f"{p.zip3}##",), p.area, p.state) for p in us_places())
    found = []
    for line in (_DATA / f"places_{locale}.tsv").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            city, state, postcodes, area, *code = line.split("\t")
            found.append(Town(city, state, tuple(postcodes.split()), area, "".join(code)))
    return tuple(found)
