"""The pages on laws: sources with dates, no advice, and only articles that the dossier answers too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.glob("law-*.md"))


def test_there_is_a_page_for_each() -> None:
    assert [page.stem for page in PAGES] == ["law-ehds", "law-ihe", "law-italy", "law-motivated-intruder"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_its_sources_with_their_dates_and_is_no_advice(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("not legal advice") == 1
    sources = text[text.index("Sources, as of ") : text.index("| ")]
    assert re.search(r"as of \d{1,2} \w+ 20\d\d", sources)
    assert re.search(r"\]\(https?://[^)]+\)", sources) and re.search(r"20(?:14|25)", sources)
    assert len(text.split()) < 1100  # one page, with the addresses
    assert "](dossier.md" in text
    assert f"]({page.name})" in (DOCS / "dossier.md").read_text(encoding="utf-8")
