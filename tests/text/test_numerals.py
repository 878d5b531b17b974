"""Numbers in words are read as digits, in every language whose notes are read."""

from __future__ import annotations

import pytest

from deid_platform.text.numerals import LANGUAGES, NUMBER_WORDS, in_digits, numerals, spoken


@pytest.mark.parametrize(
    ("language", "text", "read"),
    [
        ("en", "three nine thirty one", "3 9 31"),
        ("en", "March third, nineteen ninety-eight", "March 3, 1998"),
        ("en", "three nineteen nineteen thirty-one", "3 19 1931"),
        ("en", "nineteen oh four, two thousand and four, twenty nineteen", "1904, 2004, 2019"),
        ("en", "six one four double five five oh one four two", "6 1 4 55 5 01 4 2"),
        ("en", "her ninety-fourth year", "her 94 year"),
        ("en", "four thousand seven hundred and fifty weeks", "4750 weeks"),
        ("en", "one hundred and ten over seventy", "110 over 70"),
        ("es", "nueve de marzo de mil novecientos treinta y uno", "9 de marzo de 1931"),
        ("es", "veintidos, veintidós, ciento un años", "22, 22, 101 años"),
        ("it", "nove marzo millenovecentotrentuno", "9 marzo 1931"),
        ("it", "novantaquattresimo anno, ventitré, trentotto", "94 anno, 23, 38"),
        ("fr", "neuf mars mille neuf cent trente et un", "9 mars 1931"),
        ("fr", "dix-neuf cent quatre-vingt-dix-huit, soixante et onze", "1998, 71"),
        ("de", "neunten März neunzehnhunderteinunddreißig", "9 März 1931"),
        ("de", "funfundzwanzig, fuenf, zwoelf, vierundneunzigsten", "25, 5, 12, 94"),
        ("en", "room air, 94 percent, oh no", "room air, 94 percent, oh no"),
    ],
)
def test_a_number_in_words_is_read(language: str, text: str, read: str) -> None:
    assert in_digits(text, language) == read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("noventa y cuatro", "94"),
        ("quatre-vingt-quatorze", "94"),
        ("vierundneunzig", "94"),
        ("centouno", "101"),
        ("Monday", "Monday"),
        ("", ""),
    ],
)
def test_a_short_text_is_read_in_the_language_that_it_is_in(text: str, read: str) -> None:
    assert spoken(text) == read


def test_places_are_those_of_the_words() -> None:
    text = "born March third, nineteen ninety-eight."
    assert [text[n.start : n.end] for n in numerals(text, "en")] == ["third", "nineteen ninety-eight"]


def test_a_comma_parts_two_numbers() -> None:
    assert [n.digits for n in numerals("twenty, three", "en")] == ["20", "3"]


def test_the_listed_words_are_read_as_numbers_but_for_a_few() -> None:
    """What is no number by itself, and spellings that a list of stems and endings makes up."""
    unread = {w for w in NUMBER_WORDS if not any(numerals(w, language) for language in LANGUAGES)}
    made_up = {"achtten", "dreiten", "einsten", "siebenten", "settantunesimo", "settantunesima"}
    assert unread <= {"oh", "double", "triple", "doble", "doppio", "doppel", "sixtieth"} | made_up
