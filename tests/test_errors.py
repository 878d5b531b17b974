"""The catalogue of errors and its page."""

from __future__ import annotations

from pathlib import Path

from deid_platform.errors import Code, DeidError, catalogue_markdown, internal

DOCS = Path(__file__).parents[1] / "docs"


def test_every_code_has_one_name_a_meaning_and_a_remedy() -> None:
    slugs = [code.slug for code in Code]
    assert len(slugs) == len(set(slugs))
    assert all(code.meaning.endswith(".") and code.remedy for code in Code)


def test_the_page_is_the_catalogue() -> None:
    assert (DOCS / "errors.md").read_text(encoding="utf-8") == catalogue_markdown()


def test_an_error_says_its_code_its_reference_and_what_to_do() -> None:
    said = str(DeidError(Code.GATE_REFUSED, "site_gold"))
    assert "gate-refused" in said
    assert "[site_gold]" in said
    assert "waiver" in said


def test_an_unexpected_error_is_told_without_what_it_says() -> None:
    def fails() -> None:
        int("Zebulon")

    try:
        fails()
    except ValueError as error:
        said = internal(error)
    assert said.code is Code.INTERNAL
    assert "ValueError in " in str(said)
    assert "fails" in str(said)
    assert "Zebulon" not in str(said)
