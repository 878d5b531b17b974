"""The published formats of clinical vocabularies, read line by line.

Belongs here: one function a format, from a text stream to terms, and which rows of it count. Does not belong
here: opening files and choosing among terms (`reading.py`).

Places, people, populations, occupations and organisations are in most of these vocabularies too, and a term of
those would uncover an identifier. So each format takes what its own classification says is clinical, by
`data/semantic_types.tsv` or by the lists below, and nothing that has no class.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TextIO

import regex

RXNORM_TYPES = frozenset({"IN", "PIN", "MIN", "BN"})
"""Term types of RxNorm that name an ingredient or a brand (RxNorm technical documentation, appendix 5)."""
SNOMED_TAGS = frozenset(
    {
        *("disorder", "finding", "procedure", "regime/therapy", "situation", "observable entity"),
        *("body structure", "morphologic abnormality", "cell", "cell structure", "organism", "specimen"),
        *("substance", "product", "medicinal product", "medicinal product form", "clinical drug", "physical object"),
        *("assessment scale", "staging scale", "tumor staging"),
    }
)
"""Semantic tags of SNOMED CT whose concepts count; not person, occupation, religion, location and the like."""
_FULLY_SPECIFIED, _SYNONYM = "900000000000003001", "900000000000013009"
_TAG = regex.compile(r"^(?P<term>.*) \((?P<tag>[^()]+)\)$")
_RETIRED = frozenset({"Retired_Concept", "Obsolete_Concept", "Header_Concept"})
_CHUNK = 1 << 16
_LONGEST_RECORD = 1 << 22
_RESULTS = regex.compile(r'"results"\s*:\s*\[')


class FormatError(Exception):
    """A file is not of the format that it was said to be. Carries nothing of it."""


@dataclass(frozen=True)
class Format:
    """How one vocabulary is published.

    Attributes:
        terms: Reads the stream, and that of the companion if there is one.
        member: Pattern of the file's name inside a .zip.
        companion: Name of a second file that is needed, in the same folder or archive.
    """

    terms: Callable[..., Iterator[str]]
    member: str
    companion: str | None = None


def _rxnorm(stream: TextIO) -> Iterator[str]:
    """RXNCONSO.RRF: English names of ingredients and brands that RxNorm itself asserts and does not suppress."""
    for row in _rrf(stream, 18):
        if (row[1], row[11], row[16]) == ("ENG", "RXNORM", "N") and row[12] in RXNORM_TYPES:
            yield row[14]


def _umls(stream: TextIO, types: TextIO) -> Iterator[str]:
    """MRCONSO.RRF with MRSTY.RRF, both in the order of their concepts as they are published.

    The two are read side by side, so that neither is ever in memory.
    """
    clinical = _clinical_concepts(types)
    concept = next(clinical, None)
    last = ""
    for row in _rrf(stream, 18):
        if row[0] < last:
            raise FormatError
        last = row[0]
        while concept is not None and concept < row[0]:
            concept = next(clinical, None)
        if concept == row[0] and (row[1], row[16]) == ("ENG", "N"):
            yield row[14]


def _clinical_concepts(types: TextIO) -> Iterator[str]:
    last = ""
    for row in _rrf(types, 6):
        if row[0] < last:
            raise FormatError
        last = row[0]
        if row[1] in semantic_types():
            yield row[0]


def _rrf(stream: TextIO, columns: int) -> Iterator[list[str]]:
    """Rows of the Rich Release Format: columns that each end with a bar."""
    for line in stream:
        row = line.rstrip("\r\n").split("|")
        if len(row) != columns + 1 or row[-1]:
            raise FormatError
        yield row


def _snomed(stream: TextIO) -> Iterator[str]:
    """A description snapshot of RF2: active English terms of concepts with a clinical semantic tag.

    Tags stand in fully specified names alone, and synonyms may come first, so that the file is read twice; only
    the numbers of clinical concepts are kept.
    """
    clinical = {int(row[4]) for row in _rf2(stream) if row[6] == _FULLY_SPECIFIED and _tag(row[7]) in SNOMED_TAGS}
    stream.seek(0)
    for row in _rf2(stream):
        if int(row[4]) in clinical:
            match = _TAG.match(row[7]) if row[6] == _FULLY_SPECIFIED else None
            yield match["term"] if match else row[7]


def _rf2(stream: TextIO) -> Iterator[list[str]]:
    header = next(stream, "").rstrip("\r\n").split("\t")
    if header[:2] != ["id", "effectiveTime"] or header[4:8] != ["conceptId", "languageCode", "typeId", "term"]:
        raise FormatError
    for line in stream:
        row = line.rstrip("\r\n").split("\t")
        if len(row) != len(header) or not row[4].isdecimal():
            raise FormatError
        if row[2] == "1" and row[5] == "en" and row[6] in (_FULLY_SPECIFIED, _SYNONYM):
            yield row


def _tag(term: str) -> str | None:
    match = _TAG.match(term)
    return match["tag"] if match else None


def _nci(stream: TextIO) -> Iterator[str]:
    """Thesaurus.txt, the flat file of the NCI Thesaurus: display name and synonyms of clinical concepts."""
    names = frozenset(semantic_types().values())
    for line in stream:
        row = line.rstrip("\r\n").split("\t")
        if len(row) not in (8, 9) or not regex.fullmatch(r"C\d+", row[0]):
            raise FormatError
        if _RETIRED.isdisjoint(row[6].split("|")) and not names.isdisjoint(row[7].split("|")):
            yield from filter(None, [row[5], *row[3].split("|")])


def _openfda(stream: TextIO) -> Iterator[str]:
    """The NDC directory as openFDA publishes it in JSON: brand names, generic names and active ingredients."""
    for product in _results(stream):
        named = [product.get(key) for key in ("brand_name", "brand_name_base", "generic_name")]
        ingredients = product.get("active_ingredients") or []
        if not isinstance(ingredients, list):
            raise FormatError
        named += [each.get("name") if isinstance(each, dict) else None for each in ingredients]
        yield from (name for name in named if isinstance(name, str))


def _results(stream: TextIO) -> Iterator[dict[str, Any]]:
    """The objects of the array `results`, one at a time: the whole file is hundreds of megabytes."""
    decoder = json.JSONDecoder()
    buffer = ""
    while (opened := _RESULTS.search(buffer)) is None:
        buffer = _longer(buffer, stream)
    at = opened.end()
    while True:
        while at < len(buffer) and (buffer[at].isspace() or buffer[at] == ","):
            at += 1
        if at < len(buffer) and buffer[at] == "]":
            return
        try:
            product, at = decoder.raw_decode(buffer, at)
        except json.JSONDecodeError:
            buffer, at = _longer(buffer[at:], stream), 0
            continue
        if not isinstance(product, dict):
            raise FormatError
        yield product


def _longer(buffer: str, stream: TextIO) -> str:
    more = stream.read(_CHUNK)
    if not more or len(buffer) > _LONGEST_RECORD:
        raise FormatError
    return buffer + more


@cache
def semantic_types() -> dict[str, str]:
    """The clinical semantic types of the UMLS, identifier -> name."""
    text = (files("deid_platform.lexicon.vocabularies") / "data" / "semantic_types.tsv").read_text("utf-8")
    rows = (line.partition("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return {identifier: name for identifier, _, name in rows}


FORMATS = {
    "rxnorm": Format(_rxnorm, r"(?i)RXNCONSO\.RRF"),
    "openfda": Format(_openfda, r"(?i).*drug-ndc.*\.json"),
    "snomed": Format(_snomed, r"(?i)x?sct2_Description_.*Snapshot.*\.txt"),
    "umls": Format(_umls, r"(?i)MRCONSO\.RRF", "MRSTY.RRF"),
    "nci": Format(_nci, r"(?i)Thesaurus\.txt"),
}
"""The vocabularies that can be read, by the name that deid.toml gives them."""
