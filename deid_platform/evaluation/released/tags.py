"""Tags in released texts, and which of our labels each names.

Belongs here: the forms in which systems write a tag, and the names in it. Does not belong here: what a policy of the
platform writes (`redaction/policy.py`), or what a model is asked for (`llm/`).

Read are `[DATE]`, `[DATE 2024]`, `[**Name**]`, `<PERSON>`, `{{NAME}}` and `***patient_Name***`. A name is ours, one of
a scheme of `labels.CROSSWALKS`, one of the four of Miranda 2025 (4.3), or what `llm/answered.py` reads. A name that is
none of these is a tag of an unknown label.
"""

from __future__ import annotations

from functools import cache

import regex

from deid_platform.labels import CROSSWALKS, Label
from deid_platform.llm.answered import label_of

TAG = regex.compile(
    r"\[\*\*[^\[\]\n]{1,80}\*\*\]|\[\p{Lu}[^\[\]\n]{0,40}\]|<\p{Lu}[\p{Lu}\d_ \-/]*>|\{\{\w[\w \-]*\}\}"
    r"|\*{3}\w[\w ./()\-]{0,60}\*{3}"
)
_AROUND = "[]<>{}*"


def label_of_tag(tag: str) -> Label | None:
    """The label that a tag names, with or without what is around it; None where it is none that is known."""
    inner = _plain(tag.strip(_AROUND))
    # "DATE 2024" names a label and what remains of the value, "patient_Phone_Number" whose number it is.
    return _named(inner) or _named(inner.removeprefix("PATIENT ")) or _named(inner.partition(" ")[0])


@cache
def _names() -> dict[str, Label]:
    names: dict[str, Label] = {}
    for crosswalk in CROSSWALKS.values():
        for name, label in crosswalk.items():
            if label is not None:
                names.setdefault(_plain(name), label)
    return names


def _named(written: str) -> Label | None:
    return label_of(written) or _names().get(written)


def _plain(name: str) -> str:
    return " ".join(name.upper().replace("_", " ").replace("-", " ").split())
