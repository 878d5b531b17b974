"""The index of the word lists: what it says is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deid_platform import lexicon
from deid_platform.lexicon import notice
from deid_platform.lexicon.lists import CLASSES, ListEntry, index, rows, word_list, written_terms

PACKAGE = Path(lexicon.__file__).parents[1]
DATA = PACKAGE / "lexicon" / "data"
FILES = {path.stem: path for path in DATA.iterdir() if path.suffix in {".txt", ".tsv"}}


def test_index_and_files_match_one_to_one() -> None:
    assert list(index()) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
def test_every_list_is_used_somewhere(name: str) -> None:
    named = re.compile(rf"[\"'<]{name}[\"'>.]")
    code = (path for ending in ("py", "yaml") for path in PACKAGE.rglob(f"*.{ending}") if path.parent != DATA)
    assert any(named.search(path.read_text(encoding="utf-8")) for path in code if "leakcheck" not in path.parts)


@pytest.mark.parametrize("name", FILES)
def test_an_entry_says_what_a_list_is_and_where_it_comes_from(name: str) -> None:
    entry = index()[name]
    assert entry.kind in CLASSES
    assert all(re.fullmatch("[a-z]{2}|mul", language) for language in entry.languages)
    assert entry.what
    assert "\n" not in entry.what
    assert entry.source
    assert entry.licences


@pytest.mark.parametrize("name", FILES)
def test_the_source_of_a_list_stands_in_the_index_alone(name: str) -> None:
    assert "Source:" not in FILES[name].read_text(encoding="utf-8")


def test_an_unknown_list_is_an_error() -> None:
    for read in (word_list, written_terms, rows):
        with pytest.raises(LookupError, match="no_such_list"):
            read("no_such_list")


@pytest.mark.parametrize("name", ["kin.no_such_mark", "kin.it.physician", "cities.en"])
def test_marks_that_no_term_has_are_an_error(name: str) -> None:
    with pytest.raises(LookupError):
        word_list(name)


def test_marks_narrow_a_list() -> None:
    assert word_list("kin.it.family") < word_list("kin.it") < {row[0] for row in rows("kin")} | word_list("kin.it")
    assert "madre" in word_list("kin.it.family")
    assert not word_list("kin.it.family") & word_list("kin.en")


# The columns of a list, and what may stand in each.
COLUMNS = {
    "kin": [
        {"en", "it", "es", "fr", "de"},
        {"family", "family close", "friend", "carer", "other"},
        {"one", "several"},
        {"sure", "weak", "sure weak", "loose"},
    ],
    "credentials": [
        {"physician", "nurse", "assistant", "allied", "degree", "fellow"},
        {"sure", "comma", "rare", "role"},
        {"letters", "word"},
    ],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_list_with_columns_holds_each_term_once_with_known_marks(name: str) -> None:
    listed = rows(name)
    assert len({term for term, *_ in listed}) == len(listed)
    for _, *columns in listed:
        assert len(columns) == len(COLUMNS[name])
        assert all(said in known for said, known in zip(columns, COLUMNS[name], strict=True))


@pytest.mark.parametrize(
    ("source", "licences"),
    [("words of somebody (MIT licence)", ("own", "GPL")), ("words of somebody", ("MIT",))],
    ids=["a licence that NOTICE does not cover", "a source that does not name its licence"],
)
def test_notice_is_refused(source: str, licences: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {**index(), "cities": ListEntry("Cities", "place", ("en",), source, licences)}
    monkeypatch.setattr(notice, "index", lambda: wrong)
    with pytest.raises(ValueError, match=r"lexicon/data/cities\.txt"):
        notice.notice()
