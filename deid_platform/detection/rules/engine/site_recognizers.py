"""A site's own recognizers: patterns in a YAML file, each with examples of hits and misses.

Belongs here: reading the file, and refusing a recognizer that is wrong, unbounded or slow before any note is searched.
Does not belong here: running one (`recognizer.py`), or the shipped tables (`en/*.yaml`).

docs/detection.md says what each key means. Unlike those of the shipped tables, a pattern is not verbose, has one label
and no anchors: it is run on every paragraph, always under a time limit.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import regex

from deid_platform.detection.api import OF_SITE
from deid_platform.detection.rules.engine.recognizer import Recognizer
from deid_platform.detection.rules.engine.templates import paragraphs
from deid_platform.detection.rules.engine.validator import has_check_digit
from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.text.check_digits import CHECK_DIGITS, CheckDigit, by_stdnum
from deid_platform.text.strict_yaml import read_yaml

LONGEST_PATTERN = 500
"""Code points of a pattern."""
CHECKS: Mapping[str, CheckDigit] = {
    **{name: check for name, check in CHECK_DIGITS.items() if name not in ("dea", "vin", "au_medicare")},
    "luhn": by_stdnum("luhn"),
}
"""The check digits that a recognizer may ask for; each takes whatever text a pattern gives it."""
CONFIDENCE = 0.95
"""As sure as a checksum: what a site's own pattern finds is never given back."""


_REQUIRED = ("name", "label", "pattern", "hits", "misses")
_OPTIONAL = ("near", "window", "check", "ignore_case")
_EXAMPLES = ("hits", "misses")
_MOST_EXAMPLES, _LONGEST_EXAMPLE = 20, 300
_MOST_NEAR, _WIDEST = 50, 200
_NAME = regex.compile(r"[a-z][a-z0-9-]{0,39}")
_SAFE_KEY = regex.compile(r"[a-z][a-z_]{0,19}")
_MARK = regex.compile(r"\[\[(.+?)\]\]", regex.DOTALL)
_VALUE = "(?P<value>"
# A pattern in pieces, so that a sign counts as a repeat only where it is one.
_PIECE = regex.compile(
    r"""\\. | \[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]
    | (?P<endless>\(\?(?:R|\d+|&\w+|P>\w+)\))           # a pattern inside itself
    | \(\?(?:P?<\w+>|.) | \(\*\w+
    | (?:\{\d*,?\d+\}|\?)[+?]? | (?P<endless>[*+]|\{\d*,\}) | .""",
    regex.VERBOSE | regex.DOTALL,
)
_RUN = regex.compile(r"\p{L}+|\p{N}+|\s+|.", regex.DOTALL)
_PROBE = 2_000  # code points
_PROBE_S = 0.1  # of processor time: a pattern with bounds needs a twentieth of it
_COMMON = ("a", "A", "1", " ", "\n", "-", "a ", "Aa ", "1-", "A1")


@dataclass(frozen=True)
class SiteRecognizers:
    """A site's own recognizers.

    Attributes:
        recognizers: In the order of the file.
        digest: Names what they find: everything but the examples and the order; empty without recognizers.
    """

    recognizers: tuple[Recognizer, ...] = ()
    digest: str = ""


def read_site_recognizers(path: Path | str) -> SiteRecognizers:
    """The recognizers of a file, each compiled and tried on its own examples and on texts made to make it linger.

    Raises:
        DeidError: `recognizers-invalid`, naming the file, the recognizer and the reason.
    """
    path = Path(path)
    try:
        stat = path.stat()
        return _read(path, stat.st_mtime_ns, stat.st_size)
    except OSError:
        raise DeidError(Code.RECOGNIZERS_INVALID, f"{path.name}: it cannot be read") from None


class _WrongError(Exception):
    """What is wrong with a recognizer, in words that quote nothing of it."""


@lru_cache(maxsize=4)
def _read(path: Path, mtime_ns: int, size: int) -> SiteRecognizers:  # noqa: ARG001 - a changed file is read anew
    try:
        content = read_yaml(path.read_bytes())
    except ValueError:
        raise DeidError(Code.RECOGNIZERS_INVALID, f"{path.name}: it is not YAML without doubled keys") from None
    entries = content.get("recognizers") if isinstance(content, dict) and len(content) == 1 else None
    if not isinstance(entries, list) or not entries:
        raise DeidError(Code.RECOGNIZERS_INVALID, f"{path.name}: it is not a list under the key `recognizers`")
    found: dict[str, tuple[Recognizer, str]] = {}
    for number, entry in enumerate(entries, 1):
        shown = str(number)
        try:
            shown = _name(entry)
            found[shown] = _recognizer(entry, taken=found), _definition(entry)
        except _WrongError as wrong:
            raise DeidError(Code.RECOGNIZERS_INVALID, f"{path.name}, recognizer {shown}: {wrong}") from None
    recognizers = tuple(recognizer for recognizer, _ in found.values())
    return SiteRecognizers(recognizers, plain_digest(*sorted(written for _, written in found.values())))


def _name(entry: object) -> str:
    name = _text(entry, "name")
    if not _NAME.fullmatch(name):
        raise _WrongError("its name is not of small letters, digits and hyphens")
    return name


def _definition(entry: Mapping[str, Any]) -> str:
    """What a recognizer is, without what shows that it is right."""
    return json.dumps({key: value for key, value in entry.items() if key not in _EXAMPLES}, sort_keys=True)


def _recognizer(entry: Mapping[str, Any], *, taken: Container[str]) -> Recognizer:
    if entry["name"] in taken:
        raise _WrongError("there are two of that name")
    for key in entry:
        if key not in (*_REQUIRED, *_OPTIONAL):
            safe = isinstance(key, str) and _SAFE_KEY.fullmatch(key)
            raise _WrongError(f"there is no key {key}" if safe else "it has a key that there is not")
    label, pattern = _text(entry, "label"), _text(entry, "pattern")
    check = _text(entry, "check") if "check" in entry else None
    if label not in list(Label):
        raise _WrongError("its label is none of docs/policies.md")
    if check is not None and check not in CHECKS:
        raise _WrongError(f"its check is none of {', '.join(sorted(CHECKS))}")
    window, ignore_case = entry.get("window", 40), entry.get("ignore_case", False)
    if type(window) is not int or not 1 <= window <= _WIDEST:
        raise _WrongError(f"window is not a number from 1 to {_WIDEST}")
    if type(ignore_case) is not bool:
        raise _WrongError("ignore_case is neither true nor false")
    _check_pattern(pattern)
    group = f"(?P<{Label(label).name}>"
    recognizer = Recognizer(
        name=f"{OF_SITE}{entry['name']}",
        expression=pattern.replace(_VALUE, group) if _VALUE in pattern else f"{group}{pattern})",
        confidence=CONFIDENCE,
        near=_texts(entry, "near", _MOST_NEAR) if "near" in entry else (),
        window=window,
        validator=has_check_digit(CHECKS[check]) if check is not None else None,
        ignore_case=ignore_case,
        of_site=True,
    )
    _try_out(recognizer, _texts(entry, "hits", _MOST_EXAMPLES), _texts(entry, "misses", _MOST_EXAMPLES))
    return recognizer


def _text(entry: object, key: str) -> str:
    if not isinstance(entry, dict):
        raise _WrongError("it is not a mapping")
    if key not in entry:
        raise _WrongError(f"{key} is missing")
    value = entry[key]
    if not isinstance(value, str) or not value.strip():
        raise _WrongError(f"{key} is not a text")
    return value


def _texts(entry: Mapping[str, Any], key: str, most: int) -> tuple[str, ...]:
    value = entry.get(key)
    if not isinstance(value, list) or not 1 <= len(value) <= most:
        raise _WrongError(f"{key} is not a list of 1 to {most} texts")
    if not all(isinstance(text, str) and text.strip() and len(text) <= _LONGEST_EXAMPLE for text in value):
        raise _WrongError(f"{key} holds something else than texts of at most {_LONGEST_EXAMPLE} characters")
    return tuple(value)


def _check_pattern(pattern: str) -> None:
    """Refuses what is wrong in the text of a pattern alone."""
    if len(pattern) > LONGEST_PATTERN:
        raise _WrongError(f"its pattern is longer than {LONGEST_PATTERN} characters")
    if any(piece["endless"] for piece in _PIECE.finditer(pattern)):
        raise _WrongError("its pattern repeats something without an end: write {1,20} in place of +, {0,20} of *")
    try:
        groups = regex.compile(pattern).groupindex
    except regex.error as error:
        at = f" at character {error.pos + 1}" if error.pos is not None else ""
        raise _WrongError(f"its pattern cannot be compiled{at}") from None
    if not set(groups) <= {"value"}:
        raise _WrongError("its pattern names a group: `(?P<value>...)` is the only name, for the part to hide")


def _try_out(recognizer: Recognizer, hits: Sequence[str], misses: Sequence[str]) -> None:
    """Refuses a recognizer that matches nothing at all, lingers, or does not do what its examples say."""
    plain = [_MARK.sub(r"\1", hit) for hit in hits]
    pattern = regex.compile(*recognizer.key)
    try:
        for text in ("", *plain, *misses):
            if any(match.start() == match.end() for match in pattern.finditer(text, timeout=_PROBE_S)):
                raise _WrongError("its pattern matches an empty text")
        for text in _probes(plain):
            for _ in pattern.finditer(text, timeout=_PROBE_S):
                pass
        for number, hit in enumerate(hits, 1):
            marked = _marked(hit)
            if not marked:
                raise _WrongError(f"hit {number} does not mark by [[ ]] what is hidden")
            if _found(recognizer, plain[number - 1]) != marked:
                raise _WrongError(f"hit {number} is not found as it is marked")
        for number, miss in enumerate(misses, 1):
            if _found(recognizer, miss):
                raise _WrongError(f"something is found in miss {number}")
    except TimeoutError:
        raise _WrongError("its pattern lingers on some texts: it repeats what holds a repeat itself") from None


def _probes(hits: Sequence[str]) -> Iterator[str]:
    """Texts on which a pattern lingers if any of its repeats can be split in many ways.

    Each begins as an example does, and goes on with what stands there over and over; the end of it fits nowhere.
    """
    ahead = dict.fromkeys((hit[: run.start()], run[0]) for hit in hits for run in _RUN.finditer(hit))
    for before, run in (*(("", run) for run in _COMMON), *ahead):
        for again in {run, run[-1]}:
            yield before + (again * _PROBE)[:_PROBE] + "\n!"


def _marked(hit: str) -> list[tuple[int, int]]:
    places = []
    for count, mark in enumerate(_MARK.finditer(hit)):
        start = mark.start() - 4 * count  # the brackets of the marks before
        places.append((start, start + len(mark[1])))
    return places


def _found(recognizer: Recognizer, text: str) -> list[tuple[int, int]]:
    places = list(paragraphs(text))
    windows = [(number, 0, end - start) for number, (start, end) in enumerate(places)]
    spans = recognizer.search([text[start:end] for start, end in places], windows, timeout_s=_PROBE_S)
    return sorted({(places[number][0] + span.start, places[number][0] + span.end) for number, span in spans})
