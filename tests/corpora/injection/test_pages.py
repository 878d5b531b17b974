"""The page with one note before and after."""

from __future__ import annotations

from pathlib import Path

from deid_platform.corpora.injection.pages import example, surrogate_notes_markdown
from deid_platform.surrogates.locales import LOCALES
from deid_platform.surrogates.locales.catalogue import catalogue_markdown

PAGE = Path(__file__).parents[3] / "docs" / "surrogate-notes.md"


def test_the_page_is_what_the_corpora_write() -> None:
    assert PAGE.read_text(encoding="utf-8") == surrogate_notes_markdown(), (
        "regenerate: python -c 'from deid_platform.corpora.injection.pages import *; "
        'print(surrogate_notes_markdown(), end="")\' > docs/surrogate-notes.md'
    )


def test_the_page_on_corpora_has_the_catalogue_of_locales() -> None:
    assert catalogue_markdown() in (PAGE.parent / "corpora.md").read_text(encoding="utf-8")


def test_the_page_has_every_locale_and_none_of_the_carriers_names() -> None:
    _, after = surrogate_notes_markdown().split("## ", 2)[1:]
    assert [name for name in LOCALES if f"(`{name}`)" not in after] == []
    text = example().note.text
    assert [text[s.start : s.end] for s in example().slots if text[s.start : s.end] in after] == []
