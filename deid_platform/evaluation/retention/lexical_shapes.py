"""What is a date, a telephone's number, an address or a number of a record by its shape; and the judge's word classes.

Belongs here: patterns, and reading `data/judge_*.tsv`. Does not belong here: words (`lexical_text.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import regex

from deid_platform.text.fold import fold_term

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre"
    r"|dicembre|enero|febrero|abril|mayo|junio|julio|septiembre|octubre|noviembre|diciembre|gen|mag|giu|lug|ago|set|ott"
    r"|dic|ene|abr)"
)
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)(?:day)?"
_SHAPES = {
    "date": regex.compile(
        rf"\b\d{{4}}-\d{{1,2}}-\d{{1,2}}\b|\b\d{{1,2}}([/.\-])\d{{1,2}}\1\d{{2,4}}\b|(?<![\d/])\d{{1,2}}/\d{{1,2}}(?![\d/])"
        rf"|\b\d{{1,2}}\.\d{{1,2}}\.(?=\s|$)|\b\d{{1,2}}([\\ ])\d{{1,2}}\2\d{{2,4}}\b|\b\d{{1,2}}{_MONTH}\d{{2,4}}\b"
        rf"|\b{_MONTH}-\d{{1,2}}\b|(?<=\d,? )'\d\d\b"
        rf"|\b\d{{1,2}}/(?:19|20)\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)?[ -](?:de )?{_MONTH}\b(?:[ ,-]+(?:de )?\d{{4}}\b)?"
        rf"|\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?|\b{_MONTH},? (?:of )?(?:19|20)\d\d\b"
        rf"|\b(?:19|20)\d\d\b|\b(?:spring|summer|autumn|fall|winter) of \d{{4}}\b|(?<!/)\b{_DAY}\b(?!/)"
        r"|\b\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?\b",
        regex.IGNORECASE,
    ),
    "contact": regex.compile(
        r"\S+@\S+|\(?\b\d{3}\)?[ .-]?\d{3}[ .-]\d{3,4}\b|\b\d{3}-\d{4}\b|\b0\d{1,3}[ -]\d{5,8}\b|\bhttps?:\S+"
        r"|\b\p{Ll}{4,}\d{1,4}\b|\b\p{L}+_\w+|\bwww\.\S+|\b\d{1,3}(?:\.\d{1,3}){3}\b"
        r"|\b[\da-f]{1,4}(?::{1,2}[\da-f]{1,4}){2,}"
    ),
    "address": regex.compile(
        r"\b\d{1,5}(?:/\d+)?(?: \p{L}+){1,3} (?i:street|st|lane|ln|road|rd|court|ct|way|terrace|avenue|ave|drive|dr"
        r"|blvd|boulevard|place|pl|parkway|pkwy|hwy|circle|cir)\b\.?(?:,? ?(?:\#|(?i:apt|unit|ste|suite))\.? ?\w+)?"
        r"|\b(?i:via|viale|piazza|calle|avenida)(?: \p{L}+){1,4},? \d+|\b(?i:apt|apartment|suite)\.? ?\w+\b"
        r"|\b\p{Lu}{2} \d{5}\b"
    ),
    "code": regex.compile(
        r"\b\d{5,}\b|\b\p{Lu}{1,3}-?\d{2,}(?:-\d+)+\b|\b\d{2,4}-\d{2,}-\d{2,}\b|\b\p{Lu}{2,}-?\d{3,}[-\w]*\b"
        r"|\b\p{L}{2,}\d{4,}\b|\b\d{4}/\d{4,}\b|\b(?=(?:[\p{L}-]*\d){5})[\p{L}\d]+(?:-[\p{L}\d]+)+\b"
        r"|(?<![\d.,/\-])(?=(?:\d ?){6})\d{2,4}(?: \d{2,4}){1,4}(?![\d,/%\-]|\.\d| ?m)"
    ),
}
_VITAL_BEFORE = 14


def shapes_in(text: str) -> list[tuple[int, int, str]]:
    """Start, end and kind of what has a shape: `date`, `contact`, `address`, `code`."""
    found = [(m.start(), m.end(), name) for name, shape in _SHAPES.items() for m in shape.finditer(text)]
    return [it for it in found if it[2] != "date" or not _is_measured(text, it[0], it[1])]


@cache
def words_of_class(name: str) -> frozenset[str]:
    """The words of a class of `data/judge_words.tsv`."""
    return _classes()[name]


@cache
def _classes() -> Mapping[str, frozenset[str]]:
    return {line[0]: frozenset(line[1].split()) for line in lines_of("judge_words.tsv")}


def lines_of(name: str) -> list[list[str]]:
    """The rows of a file of words."""
    text = (files("deid_platform.evaluation.retention") / "data" / name).read_text("utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


def _is_measured(text: str, start: int, end: int) -> bool:
    """Whether what has the shape of a short date is a measurement: "BP 142/88", "strength 4/5", "8/10 pain"."""
    parts = regex.split(r"\D+", text[start:end].strip("."))
    if len(parts) != 2 or not all(parts) or len(parts[1]) == 4:
        return len(parts) == 1 and not 1900 <= int("0" + parts[0]) <= 2100 and parts[0] != ""
    one, other = map(int, parts)
    if one > 31 or other > 31 or not one or not other or (one > 12 and other > 12):
        return True
    near = fold_term(text[max(0, start - _VITAL_BEFORE) : start]).replace(":", " ").split()
    after = fold_term(text[end : end + 10]).split()[:1]
    return not words_of_class("vital").isdisjoint(near) or after in (["pain"], ["strength"], ["murmur"])
