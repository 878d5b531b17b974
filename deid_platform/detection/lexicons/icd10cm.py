"""ICD-10-CM: its titles by code, and the names in them.

Belongs here: what recovery and harvesting take from the package `simple_icd_10_cm`. Does not belong here: the
package's own work. It takes two seconds to import, so nothing imports it before it is needed; what
detection needs is compiled into `detection/data/icd10cm.txt`:

    python -m deid_platform.detection.lexicons.icd10cm > deid_platform/detection/data/icd10cm.txt

ICD-10-CM is in the public domain (National Center for Health Statistics, CDC).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import version

import regex

from deid_platform.detection.reading import fold_term

PACKAGE = "simple-icd-10-cm"
_MOST_WORDS = 5
_WORD = regex.compile(r"\p{L}[\p{L}'’\-]*")
# Where a title falls into parts, each of which can stand in a note by itself.
_CUT = regex.compile(
    r"(?i)[,;:()\[\]/]|\b(?:of|in|with|without|due|to|and|or|from|by|as|the|not|elsewhere|classified|unspecified|other)\b"
)
_NAME = regex.compile(r"\p{Lu}\p{Ll}[\p{L}'’]*(?:-\p{Lu}\p{Ll}[\p{L}'’]*)*")
_ENDS_LIKE_A_NAME = regex.compile(r".*(?:['’]s?|-\p{Lu}\p{Ll}.*)")


def titles() -> Iterator[str]:
    """Every title and inclusion term of ICD-10-CM, in the order of the codes."""
    import simple_icd_10_cm as icd

    for code in icd.get_all_codes():
        yield icd.get_description(code)
        yield from icd.get_inclusion_term(code)


def names_in(written: Iterable[str]) -> list[str]:
    """Folded terms of two to five words with a name in them, out of titles in sentence case; sorted.

    A word counts as a name if it is written with a capital inside a title and nowhere in small letters
    ("Crohn's", "Willebrand"), or, at the beginning of a title, like one ("Creutzfeldt-Jakob", "Still's").
    """
    all_titles = list(written)
    words = [_WORD.findall(title) for title in all_titles]
    small = {word for found in words for word in found if word[0].islower()}
    names = {
        word
        for found in words
        for i, word in enumerate(found)
        if _NAME.fullmatch(word) and word.lower() not in small and (i or _ENDS_LIKE_A_NAME.fullmatch(word))
    }
    terms: set[str] = set()
    for title in all_titles:
        for part in _CUT.split(title):
            found = _WORD.findall(part)
            if 2 <= len(found) <= _MOST_WORDS and not names.isdisjoint(found):
                terms.add(fold_term(" ".join(part.split())))
    return sorted(terms)


def main() -> None:
    """Writes the shipped list to standard output."""
    head = (
        "# Terms of ICD-10-CM with a name of a person or a place in them.\n"
        f"# Source: ICD-10-CM, in the public domain, by the package {PACKAGE} {version(PACKAGE)}; made by\n"
        "# `python -m deid_platform.detection.lexicons.icd10cm`.\n"
    )
    sys.stdout.write(head + "".join(f"{term}\n" for term in names_in(titles())))


if __name__ == "__main__":
    main()
