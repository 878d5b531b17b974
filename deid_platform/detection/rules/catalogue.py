"""The shipped tables of recognizers.

Belongs here: which tables there are, and how an entry becomes a recognizer. Does not belong here: running one
(`engine/recognizer.py`), entries (`en/*.yaml`, `it/*.yaml`, `es/*.yaml`, `spelled/*.yaml`, `shared/*.yaml`) and
their validators, which stand beside them.
"""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from pkgutil import iter_modules
from typing import Any

import regex
import yaml

from deid_platform.detection.rules import en, es, it, shared, spelled
from deid_platform.detection.rules.engine.anchors import DEFAULT_REACH, Anchors
from deid_platform.detection.rules.engine.recognizer import Recognizer
from deid_platform.detection.rules.engine.validator import validator_named
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.lists import word_list, written_terms
from deid_platform.text.compiled import keep

TABLES = (
    "en/dates", "en/holidays", "en/ages", "en/contacts", "en/identifiers", "en/addresses", "en/people", "en/messages",
    "en/organizations", "en/employers", "en/professions", "en/landmarks", "en/prose_places", "en/record_context",
    "it/people", "it/addresses", "it/organizations", "it/identifiers", "it/dates", "it/terse_notes", "it/initials",
    "es/addresses", "spelled/numbers", "shared/days", "shared/rooms", "shared/signers", "shared/markup",
    "shared/any_ages",
)  # fmt: skip
"""In the order in which they are read: a table may use the fragments of those before it."""
_LANGUAGES = (en, it, es, spelled, shared)
"""The packages whose modules hold the validators."""


@lru_cache(maxsize=1)
def load_recognizers() -> tuple[Recognizer, ...]:
    """Every recognizer of the shipped tables, in table order."""
    for language in _LANGUAGES:
        for module in iter_modules(language.__path__):
            import_module(f"{language.__name__}.{module.name}")
    fragments: dict[str, str] = {}
    recognizers: list[Recognizer] = []
    for table in ("fragments", *TABLES):
        content = _read(table)
        for name, fragment in content.get("fragments", {}).items():
            fragments[name] = f"(?:{_expand(fragment, fragments)})"
        for entry in content.get("recognizers", ()):
            recognizers.append(_recognizer(entry, fragments))
    keep([recognizer.key for recognizer in recognizers])
    return tuple(recognizers)


def _read(table: str) -> dict[str, Any]:
    text = (files("deid_platform.detection.rules") / f"{table}.yaml").read_text("utf-8")
    content: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    return content


def _expand(expression: str, fragments: dict[str, str]) -> str:
    expanded: str = regex.sub(r"<<([\w.]+)>>", lambda m: _listed(m[1]) if "." in m[1] else fragments[m[1]], expression)
    return expanded


@cache
def _listed(name: str) -> str:
    terms = written_terms(name)
    small = all(map(str.islower, terms))
    return f"(?i:{alternatives(terms, any_writing=True)})" if small else alternatives(terms, any_writing=False)


def _recognizer(entry: dict[str, Any], fragments: dict[str, str]) -> Recognizer:
    anchors, expression = _anchors(entry), entry["pattern"]
    if "<<anchors>>" in expression:
        whole = (word for word in anchors.words if "*" not in word)
        fragments = {**fragments, "anchors": alternatives(whole, any_writing=False)}
    return Recognizer(
        name=entry["name"],
        expression=_expand(expression, fragments),
        confidence=entry["confidence"],
        anchors=anchors,
        near=tuple(map(str, entry.get("near", ()))),
        window=entry.get("window", 40),
        validator=validator_named(entry["validator"]) if "validator" in entry else None,
        ignore_case=entry.get("ignore_case", False),
        lists=tuple(entry.get("lists", ())),
        any_age=entry.get("any_age", False),
    )


def _anchors(entry: dict[str, Any]) -> Anchors:
    given = entry["anchors"]
    kinds = {"digits", "capitals", "lists"}
    named = [str(anchor) for anchor in ([given] if isinstance(given, str) else given)]
    kind = {name.strip("<>") for name in named} & kinds
    words = {name for name in named if name.strip("<>") not in kinds}
    if "lists" in kind:
        words |= {term for name in entry["lists"] for term in word_list(name)}
    for name in [name for name in words if "<" in name]:
        words.remove(name)
        before, listed, after = regex.split("[<>]", name)
        words |= {f"{before}{term}{after}" for term in word_list(listed)}
    reach = entry.get("reach", DEFAULT_REACH)
    return Anchors(
        words=frozenset(words),
        digits="digits" in kind,
        shape=entry.get("when"),
        beside=entry.get("beside"),
        capitals="capitals" in kind,
        reach=(reach[0], reach[1]),
    )
