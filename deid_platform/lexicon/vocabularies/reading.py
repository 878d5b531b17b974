"""Reading a file of clinical terms: plain lists and licensed vocabularies, once a process.

Belongs here: opening a file, what a term must be like to be worth looking for, the cache. Does not belong here:
the formats themselves (`formats.py`).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO
from zipfile import BadZipFile, ZipFile

import regex

from deid_platform.errors import Code, DeidError
from deid_platform.lexicon.classes import is_common
from deid_platform.lexicon.vocabularies.formats import FORMATS, FormatError
from deid_platform.text.fold import fold_term

KEY = "dictionaries.medical_terms"
_MOST_CHARS = 80
_MOST_WORDS = 6
_SHORTEST_WORD = 5  # of a term of one word: shorter ones are too often somebody's name or initials
_WORD = regex.compile(r"[\p{L}\p{N}]+")
_LETTER = regex.compile(r"\p{L}")
_DIGIT = regex.compile(r"\p{N}")


@dataclass(frozen=True, slots=True)
class TermsFile:
    """A file of clinical terms.

    Attributes:
        path: A text file, or one inside .gz or .zip.
        format: `list`, one term a line, or one of `FORMATS`.
    """

    path: str
    format: str = "list"


def terms_of(file: TermsFile | Path | str) -> tuple[str, ...]:
    """The terms of a file: of a plain list as they are written, of a vocabulary folded, each once.

    Of a vocabulary those are left out that recovery cannot need or should not have: of more than six words or 80
    characters, made of ordinary words alone, or a single word of fewer than five letters.

    Raises:
        DeidError: `settings-invalid` if the file cannot be read; `dictionary-invalid` if it is not of its format.
    """
    known = file if isinstance(file, TermsFile) else TermsFile(str(file))
    try:
        stat = Path(known.path).stat()
    except OSError:
        raise DeidError(Code.SETTINGS_INVALID, f"{KEY}: {Path(known.path).name}") from None
    return _read(known, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=16)
def _read(file: TermsFile, mtime_ns: int, size: int) -> tuple[str, ...]:  # noqa: ARG001 - a changed file is read anew
    path = Path(file.path)
    try:
        if file.format == "list":
            with _opened(path, r".*") as stream:
                return tuple(_listed(stream))
        kind = FORMATS[file.format]
        with _opened(path, kind.member) as stream:
            if kind.companion is None:
                terms = tuple(_worth_looking_for(kind.terms(stream)))
            else:
                with _opened(_beside(path, kind.companion), kind.companion) as beside:
                    terms = tuple(_worth_looking_for(kind.terms(stream, beside)))
    except (FormatError, BadZipFile, gzip.BadGzipFile, EOFError, zlib.error, KeyError, UnicodeDecodeError):
        raise DeidError(Code.DICTIONARY_INVALID, f"{KEY}: {path.name} as {file.format}") from None
    except OSError:
        raise DeidError(Code.SETTINGS_INVALID, f"{KEY}: {path.name}") from None
    if not terms:
        raise DeidError(Code.DICTIONARY_INVALID, f"{KEY}: {path.name} as {file.format}")
    return terms


def _listed(stream: Iterable[str]) -> Iterator[str]:
    for line in stream:
        if term := line.split("#", 1)[0].strip():
            yield term


def _worth_looking_for(terms: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for written in terms:
        if len(written) > _MOST_CHARS or not _LETTER.search(written):
            continue
        # Not `fold_term`, whose cache half a million terms would flush.
        term = fold_term.__wrapped__(" ".join(written.split()))
        words = _WORD.findall(term)
        if term in seen or not 1 <= len(words) <= _MOST_WORDS or all(map(is_common, words)):
            continue
        if len(words) == 1 and len(term) < _SHORTEST_WORD and not _DIGIT.search(term):
            continue
        seen.add(term)
        yield term


def _beside(path: Path, name: str) -> Path:
    """Where a vocabulary's second file lies: in the same archive, or in the same folder, packed as the first is."""
    if path.suffix == ".zip":
        return path
    return path.with_name(name + (".gz" if path.suffix == ".gz" else ""))


@contextmanager
def _opened(path: Path, member: str) -> Iterator[TextIO]:
    """A file as text, unpacked on the way; of a .zip the one member whose name matches."""
    if path.suffix == ".zip":
        with ZipFile(path) as archive:
            names = [n for n in archive.namelist() if regex.fullmatch(member, n.rpartition("/")[2])]
            if len(names) != 1:
                raise FormatError
            with TextIOWrapper(archive.open(names[0]), encoding="utf-8-sig") as stream:
                yield stream
    elif path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8-sig") as stream:
            yield stream
    else:
        with path.open(encoding="utf-8-sig") as stream:
            yield stream
