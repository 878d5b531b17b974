"""Template verdicts: recurring text is recognised once, and found exactly as if it had not been."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Candidate, Document, Source, SourceKind
from deid_platform.detection.rules import Rules
from deid_platform.detection.rules.engine.templates import LONGEST, TemplateCounts, Verdicts, paragraphs
from deid_platform.engine.engines import LocalEngine
from deid_platform.labels import Label
from deid_platform.notes import Note

PARAGRAPHS = (
    "Patient: Zebulon Quarmby\nMRN: 00987654\nDOB: 3/4/1950",
    "Seen by Dr. Ndoye on 3/14/2019; call 617-555-0123.",
    "No fever, no chills.",
    "Take metoprolol 25 mg twice daily.\nReturn in two weeks.",
    "Sincerely,",
    "Aurelia Brightwater, MD",
    "Ndoye called. Her daughter Marisol was told.",
    "He is 92 years old and lives at 40 Crossbeak Road, Apt 3.",
)
NOTES = st.lists(st.sampled_from(PARAGRAPHS), max_size=6).map("\n\n".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one", ["one"]),
        ("one\ntwo", ["one\ntwo"]),
        ("one\n\ntwo", ["one", "two"]),
        ("one\r\ntwo", ["one\r\ntwo"]),
        ("one\r\n\r\ntwo", ["one", "two"]),
        ("one\r\rtwo", ["one", "two"]),
        ("one\n \t\n\n  two\n", ["one", "  two\n"]),
        ("\n\n\none", ["one"]),
        ("Sincerely,\n\nMaria Lopez", ["Sincerely,\n\nMaria Lopez"]),
        ("Sincerely,\n\n \n\nMaria Lopez", ["Sincerely,\n\n \n\nMaria Lopez"]),
        ("Patient:  \n\nMaria Lopez\n\nseen", ["Patient:  \n\nMaria Lopez", "seen"]),
        ("", []),
        ("\n\n", []),
    ],
)
def test_a_paragraph_ends_at_a_blank_line_but_not_after_a_colon_or_a_comma(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in paragraphs(text)] == expected


@settings(max_examples=40, deadline=None)
@given(st.lists(NOTES, min_size=1, max_size=4))
def test_spans_are_the_same_with_and_without_remembered_verdicts(texts: list[str]) -> None:
    documents = [Document(Note(str(i), text)) for i, text in enumerate(texts)]
    anew, forgetful, remembering = Rules(remembered=0), Rules(remembered=900), Rules()
    for document in (*documents, *documents):
        expected = anew.detect([document])
        assert forgetful.detect([document]) == expected
        assert remembering.detect([document]) == expected
    assert remembering.counts.reused >= remembering.counts.paragraphs / 2


def test_a_verdict_does_not_depend_on_the_paragraphs_around_it() -> None:
    def alone(text: str) -> set[tuple[str, Label]]:
        return {(text[s.start : s.end], s.label) for s in Rules(remembered=0).detect([Document(Note("n", text))])[0]}

    note = "\n\n".join(p for p in PARAGRAPHS if "Sincerely" not in p)
    assert set().union(*map(alone, PARAGRAPHS)) <= alone(note)


def test_what_was_reused_is_counted_in_characters_and_as_about_so_many_seconds() -> None:
    detector = DetectorSpec("rules").build()
    assert (detector.reused.share, detector.reused.seconds_saved) == (0.0, 0.0)
    detector.detect([Note("1", "a new text\n\na known text"), Note("2", "a known text\n\n\na known text")])
    counts = detector.reused
    assert (counts.paragraphs, counts.reused, counts.characters, counts.characters_reused) == (4, 2, 46, 24)
    assert counts.share == pytest.approx(24 / 46)
    assert counts.seconds_saved == pytest.approx(counts.seconds * 24 / 22)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
def test_the_engine_tells_what_was_reused_in_every_worker(workers: int) -> None:
    told: list[TemplateCounts] = []
    notes = [Note(str(i), "a known text") for i in range(12)]
    list(LocalEngine(workers, batch_size=4).detect(DetectorSpec("rules"), notes, on_reuse=told.append))
    assert len(told) == 3
    assert sum(told, TemplateCounts()).paragraphs == 12
    assert sum(told, TemplateCounts()).reused == 12 - min(workers, 1 + (workers > 1))


def test_verdicts_are_bounded_and_the_longest_unused_is_forgotten_first() -> None:
    verdicts = Verdicts(capacity=2_000)
    digests = [verdicts.digest(str(i), "en") for i in range(4)]
    for digest in digests[:3]:
        verdicts.put(digest, 600, (Candidate.by_rule(0, 1, Label.DATE, 0.9, Source(SourceKind.RULES, "date")),))
    assert verdicts.get(digests[0]) is not None
    verdicts.put(digests[3], 600, ())
    assert [verdicts.get(digest) is not None for digest in digests] == [True, False, True, True]
    verdicts.put(digests[1], LONGEST + 1, ())
    assert verdicts.get(digests[1]) is None, "a text that long is no template"


def test_a_verdict_holds_for_its_language_and_its_process_alone() -> None:
    verdicts = Verdicts()
    assert verdicts.digest("text", "en") != verdicts.digest("text", "it")
    assert verdicts.digest("text", "en") != Verdicts().digest("text", "en"), (
        "nobody can guess a paragraph by its digest"
    )
    assert repr(verdicts) == "<Verdicts>"
