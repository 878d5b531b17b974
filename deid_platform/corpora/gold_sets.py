"""Gold at a path, whatever its format: what commands that score take as their argument.

Belongs here: which format a file or a folder is of, and what to do with what cannot be used. Does not belong here:
reading a format (`formats/`), or corpora that are known by name (`catalogue.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deid_platform.corpora import Rejection
from deid_platform.corpora.formats import FORMATS, gold_format, is_gold
from deid_platform.corpora.formats.entities import has_entities
from deid_platform.corpora.gold import SCHEME, Gold, read_gold
from deid_platform.corpora.placeholders import is_placeholder
from deid_platform.errors import Code, DeidError

JSON_LINES, ENTITIES = "jsonl", "entities"
_SCHEMES = {"conll": "conll-2003", "mimic3": "mimic-iii", ENTITIES: "miranda-2025"}
# What a file's name says, the surest first: a folder is of the first that one of its files fits.
_NAMES = (
    ("mimic3", re.compile(r"NOTEEVENTS\.csv(?:\.(?:gz|zst))?", re.IGNORECASE)),
    ("mimic4", re.compile(r"(?:discharge|radiology)\.csv(?:\.(?:gz|zst))?", re.IGNORECASE)),
    ("brat", re.compile(r".+\.ann")),
    ("i2b2", re.compile(r".+\.xml")),
    (JSON_LINES, re.compile(r".+\.(?:jsonl|ndjson)(?:\.(?:gz|zst))?")),
    ("labelstudio", re.compile(r".+\.json")),
    ("conll", re.compile(r".+\.(?:conll|iob2?|bio|testa|testb|train)(?:\.(?:gz|zst))?")),
)
_MARK = "⟦"
_HEAD = 20_000  # characters of a text in which a note has its first mark


@dataclass(frozen=True)
class GoldSet:
    """Notes with gold at a path.

    Attributes:
        path: A file or a folder.
        form: One of `gold_forms`; by default what names and beginnings of its files say.
        scheme: Which label names it uses; by default those of the format.
        columns: Key of JSON lines to field of the note; by default each key is its field's name.
        refused: Told of each note that cannot be used. A line of JSON that cannot be used is an error.
    """

    path: Path
    form: str | None = None
    scheme: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    refused: Callable[[Rejection], object] = lambda _: None

    def __iter__(self) -> Iterator[Gold]:
        """The notes with their texts, streamed.

        Raises:
            DeidError: `gold-missing` if there is nothing; `format-unknown` if nobody said the format of a folder and
                its files do not tell; `placeholders-unfilled` at the first span that is a placeholder of MIMIC; what
                `read_gold` and `GoldFormat.read` raise.
        """
        for one in self._read():
            if one.note is not None:
                text = one.note.text
                if any(is_placeholder(text[span.start : span.end]) for span in one.spans):
                    raise DeidError(Code.PLACEHOLDERS_UNFILLED)
            yield one

    def _read(self) -> Iterator[Gold]:
        form = self.form or form_of(self.path)
        scheme = self.scheme or scheme_for(form)
        if form == JSON_LINES and not self.path.is_dir():
            yield from read_gold(self.path, scheme=scheme, columns=self.columns, with_text=True)
            return
        for item in gold_format(form).read(self.path, scheme=scheme):
            if isinstance(item, Rejection):
                self.refused(item)
            else:
                yield item


def gold_forms() -> tuple[str, ...]:
    """The formats that have gold; to know them, all are imported."""
    return tuple(name for name in FORMATS if is_gold(name))


def scheme_for(form: str) -> str:
    """The label scheme of a format where nobody says one."""
    return _SCHEMES.get(form, SCHEME)


def form_of(path: Path) -> str:
    """The format of a file or of the files of a folder.

    Raises:
        DeidError: `gold-missing` if there is nothing; `format-unknown` if nothing tells.
    """
    if not path.exists():
        raise DeidError(Code.GOLD_MISSING)
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    for form, names in _NAMES:
        if first := next((file for file in files if names.fullmatch(file.name)), None):
            return ENTITIES if form == JSON_LINES and has_entities(first) else form
    texts = [file for file in files if file.suffix == ".txt"]
    if path.suffix == ".txt" and path.with_suffix(".ann").exists():
        return "brat"
    if any(_is_marked(file) for file in texts[:5]):
        return "marked"
    if path.is_dir():
        raise DeidError(Code.FORMAT_UNKNOWN, f"gold: one of {', '.join(gold_forms())}")
    return JSON_LINES


def _is_marked(file: Path) -> bool:
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return _MARK in stream.read(_HEAD)
    except OSError:
        return False
