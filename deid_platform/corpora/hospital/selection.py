"""What a specification lets through: note types, styles and ways of writing.

Belongs here: the split of layouts and ways into what is shown and what is held out. Does not belong here: that of
names (`surrogates/pools.py`) or the lists themselves (`library`).

The split of ways goes by a hash of the way as it is written down, so that a new way moves no other one across.
Identifiers that prose and layouts name in their plain form are common to both parts, as are the few surnames and
first names that are also words or eponyms.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from deid_platform.corpora.hospital import library
from deid_platform.corpora.hospital.grammar import Template
from deid_platform.corpora.hospital.library import Layout
from deid_platform.corpora.hospital.spec import HELD_OUT_STYLES, HELD_OUT_TYPES, TYPE_NAMES, HospitalSpec, Part, Style
from deid_platform.errors import Code, DeidError

# Of all notes; what a hospital writes most is what a clinic writes most.
_TYPE_WEIGHTS = {
    "progress": 0.24,
    "telephone": 0.12,
    "discharge": 0.11,
    "referral": 0.06,
    "consult": 0.07,
    "report": 0.05,
    "h_and_p": 0.06,
    "operative": 0.05,
    "pathology": 0.04,
    "radiology": 0.06,
    "nursing": 0.06,
    "questionnaire": 0.04,
    "email": 0.04,
}


@lru_cache(maxsize=4096)
def is_held_out_way(way: str) -> bool:
    """Whether a way of writing belongs to the held-out half."""
    return hashlib.sha256(way.encode()).digest()[0] % 2 == 1


def is_held_out(note_type: str, style: Style) -> bool:
    """Whether a layout of that type (as the `note_type` column has it) and style is held out."""
    return note_type in HELD_OUT_TYPES or style in HELD_OUT_STYLES


@lru_cache(maxsize=3)
def pools(part: Part) -> Mapping[str, tuple[Template, ...]]:
    """Every pool by name, without the ways of the other part and, held out, without what is only shown."""
    if part is Part.WHOLE:
        return library.pools()
    wanted = part is Part.HELD_OUT
    return {
        name: tuple(t for t in pool if not (wanted and t.shown) and (t.way is None or is_held_out_way(t.way) is wanted))
        for name, pool in library.pools().items()
    }


@lru_cache(maxsize=8)
def layouts(spec: HospitalSpec) -> Mapping[str, tuple[Layout, ...]]:
    """Note type to those of its layouts that the spec asks for; types without any are left out.

    Raises:
        DeidError: `input-invalid` if none is left.
    """
    found = {
        kind: tuple(layout for layout in of if _wanted(spec, TYPE_NAMES[kind], layout.style))
        for kind, of in library.layouts().items()
    }
    found = {kind: of for kind, of in found.items() if of}
    if not found:
        raise DeidError(Code.INPUT_INVALID, "styles")
    return found


@lru_cache(maxsize=8)
def type_weights(spec: HospitalSpec) -> tuple[tuple[str, float], ...]:
    """The note types that the spec asks for, each with its share of all notes."""
    return tuple((kind, _TYPE_WEIGHTS[kind]) for kind in layouts(spec))


def _wanted(spec: HospitalSpec, note_type: str, style: Style) -> bool:
    if spec.note_types and note_type not in spec.note_types:
        return False
    if spec.styles and style not in spec.styles:
        return False
    return spec.part is Part.WHOLE or is_held_out(note_type, style) is (spec.part is Part.HELD_OUT)
