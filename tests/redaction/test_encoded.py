"""A policy decides by what a span says, whatever it is written in, and replaces it with all of its escapes."""

from __future__ import annotations

import hashlib
from datetime import date

import pytest

from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.keyed import Surrogates

WRITTEN = date(2019, 6, 1)


def redacted(text: str, surface: str, label: Label, policy: str, **known: date) -> str:
    start = text.index(surface)
    spans = [Span(start, start + len(surface), label)]
    return redact(Note("n", text, note_date=WRITTEN), spans, load_policy(policy), **known).text


@pytest.mark.parametrize(
    ("text", "surface", "label", "policy", "left"),
    [
        ("seen 03&#47;04&#47;2018.", "03&#47;04&#47;2018", Label.DATE, "safe_harbor", "seen [DATE 2018]."),
        ("aged 9&#52;", "9&#52;", Label.AGE, "safe_harbor", "aged 90+"),
        ("aged 4&#53;", "4&#53;", Label.AGE, "safe_harbor", "aged 4&#53;"),
        ("zip 0213%39 &amp; on", "0213%39", Label.ZIP, "safe_harbor", "zip [ZIP] &amp; on"),
        # A date of birth is one behind its word, whatever stands in between.
        ("born&nbsp;03%2F04%2F1950", "03%2F04%2F1950", Label.DATE, "patient_only", "born&nbsp;[DATE 1950]"),
        ("seen&nbsp;03%2F04%2F2018", "03%2F04%2F2018", Label.DATE, "patient_only", "seen&nbsp;03%2F04%2F2018"),
        # What shows nothing is replaced if it was asked for.
        ("Quarm=\nby", "=\n", Label.PATIENT, "safe_harbor", "Quarm[PATIENT]by"),
    ],
)
def test_what_is_escaped_is_replaced_by_what_it_says(
    text: str, surface: str, label: Label, policy: str, left: str
) -> None:
    assert redacted(text, surface, label, policy) == left


def test_a_stand_in_is_that_of_the_name_that_is_read_and_has_nothing_of_its_escapes() -> None:
    surrogates = Surrogates(
        Keyring(hashlib.sha256(b"s").digest(), site="t"), Topics.of([Patient("p", "Zoë", None, "Müller")])
    )
    policy = load_policy("surrogate")

    def surrogate(name: str) -> str:
        note = Note("n", f"{name} came", "p", note_date=WRITTEN)
        return redact(note, [Span(0, len(name), Label.PATIENT)], policy, surrogates=surrogates).text

    assert surrogate("Zo&euml;&nbsp;M&uuml;ller") == surrogate("Zoë Müller") == surrogate("Zo=C3=AB M=FCller")


def test_an_escaped_year_that_stands_alone_goes_where_years_go() -> None:
    note = Note("n", "Stroke in 20&#49;7, &nbsp;well since.", note_date=WRITTEN)
    done = redact(note, [], load_policy("gdpr_it"))
    assert done.text == "Stroke in [DATE], &nbsp;well since."
    assert [(s.start, s.end) for s in done.applied] == [(10, 18)]
