"""Slots: what a pattern writes."""

from __future__ import annotations

from datetime import date

import pytest

from deid_platform.corpora.injection.slots import in_pattern, written_date

DAY = date(2019, 3, 4)


@pytest.mark.parametrize(
    ("pattern", "language", "written"),
    [
        ("MM/DD/YYYY", "en", "03/04/2019"),
        ("M/D/YY", "en", "3/4/19"),
        ("Month Do, YYYY", "en", "March 4th, 2019"),
        ("DD-Mon-YYYY", "en", "04-Mar-2019"),
        ("D de Month de YYYY", "es", "4 de marzo de 2019"),
        ("D Month YYYY", "it", "4 marzo 2019"),
        ("D Mon YYYY", "fr", "4 mars 2019"),
    ],
)
def test_dates(pattern: str, language: str, written: str) -> None:
    assert written_date(DAY, pattern, language) == written


@pytest.mark.parametrize(
    ("number", "pattern", "written"),
    [
        ("12345678", "###-##-###", "123-45-678"),
        ("12345678", "##-##", "12-345678"),
        ("123", "###-###-####", "123"),
        ("(212) 555-0123", "###.###.####", "212.555.0123"),
        ("AB12", "##-##", "AB12"),
        ("", "###", ""),
    ],
)
def test_numbers(number: str, pattern: str, written: str) -> None:
    assert in_pattern(number, pattern) == written
