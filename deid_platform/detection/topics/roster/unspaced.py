"""Names in scripts that set no space between words: Han, Kana and Hangul.

Belongs here: what to look for of such a name, letter by letter. Does not belong here: names in scripts whose words
stand apart (`variants.py`), their Latin transcriptions among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from deid_platform.notes import Patient

_RUN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー]+")
_ADDRESSED = "(?=先生|女士|小姐|太太|氏|さん|様|씨|님)"


def unspaced(rows: Sequence[Patient]) -> regex.Pattern[str] | None:
    """What matches the names of a patient's rows and relatives in such scripts; None where there are none.

    A full name counts with or without a space, a part alone from two letters on, and a surname of one letter before
    a form of address: one letter says nothing in a script in which it is a word.
    """
    forms = sorted({form for row in rows for form in _forms(row)}, key=len, reverse=True)
    return regex.compile("|".join(forms)) if forms else None


def _forms(patient: Patient) -> Iterator[str]:
    first, last = patient.first_name or "", patient.last_name or ""
    surname, given = _RUN.fullmatch(last.strip()), _RUN.fullmatch(first.strip())
    if surname and given:
        yield rf"{surname[0]}\s?{given[0]}"
    if surname and len(surname[0]) == 1:
        yield surname[0] + _ADDRESSED
    for name in (first, last, patient.relatives or ""):
        yield from (run for run in _RUN.findall(name) if len(run) > 1)
