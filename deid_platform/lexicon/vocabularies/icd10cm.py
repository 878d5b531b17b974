"""ICD-10-CM: its titles by code, the names in them, and the codes.

Belongs here: what recovery and harvesting take from the package `simple_icd_10_cm`. Does not belong here: the
package's own work. It takes two seconds to import, so nothing imports it before it is needed; what
detection needs is compiled into `lexicon/data/icd10cm.txt` and `icd10cm_codes.tsv`:

    python -m deid_platform.lexicon.vocabularies.icd10cm

ICD-10-CM is in the public domain (National Center for Health Statistics, CDC).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import regex

from deid_platform.text.fold import fold_term

_MOST_WORDS = 5
_TITLE_WORD = regex.compile(r"[\p{L}\d][\p{L}\d'\-]*")
_WORD = regex.compile(r"\p{L}[\p{L}'’\-]*")
# Where a title falls into parts, each of which can stand in a note by itself.
_CUT = regex.compile(
    r"(?i)[,;:()\[\]/]|\b(?:of|in|with|without|due|to|and|or|from|by|as|the|not|elsewhere|classified|unspecified|other)\b"
)
_NAME = regex.compile(r"\p{Lu}\p{Ll}[\p{L}'’]*(?:-\p{Lu}\p{Ll}[\p{L}'’]*)*")
_ENDS_LIKE_A_NAME = regex.compile(r".*(?:['’]s?|-\p{Lu}\p{Ll}.*)")
_NUMERIC = regex.compile(r"[A-Z]\d{4,6}")
_CATEGORY = 3  # code points of a code before its dot
_BEGINNING = 2  # words
_DATA = Path(__file__).parents[1] / "data"


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


def code_rows() -> Iterator[str]:
    """Rows of `icd10cm_codes.tsv`: all codes but bare categories.

    Yields:
        A category, what follows it in its codes, and how the titles begin of those that are, without their dot, a
        letter and four to six digits: `R40<TAB>2 20 2112 2113<TAB>coma scale`.
    """
    import simple_icd_10_cm as icd

    codes: dict[str, set[str]] = {}
    beginnings: dict[str, set[str]] = {}
    for dotted in icd.get_all_codes():
        category, dot, ending = dotted.partition(".")
        if dot and len(category) == _CATEGORY:
            codes.setdefault(category, set()).add(ending)
            told = beginnings.setdefault(category, set())
            if _NUMERIC.fullmatch(category + ending):
                told.add(beginning(icd.get_description(dotted)))
    for category in sorted(codes):
        yield "\t".join((category, " ".join(sorted(codes[category])), "|".join(sorted(beginnings[category]))))


def beginning(title: str) -> str:
    """The folded words with which a title begins."""
    return " ".join(_TITLE_WORD.findall(fold_term(title))[:_BEGINNING])


def main() -> None:
    """Writes the shipped lists; `data/index.yaml` names the release of the package that they are made from."""
    for name, head, rows in (
        ("icd10cm.txt", "# Terms of ICD-10-CM with a name of a person or a place in them.\n", names_in(titles())),
        (
            "icd10cm_codes.tsv",
            "# Codes of ICD-10-CM: the category, what follows the dot in each of its codes, and the words with which\n"
            "# the titles of those begin that are a letter and digits without their dot.\n",
            code_rows(),
        ),
    ):
        (_DATA / name).write_text(head + "".join(f"{row}\n" for row in rows), "utf-8")


if __name__ == "__main__":
    main()
