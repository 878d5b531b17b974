"""Surrogate notes over paper: gold and ways follow what was read; what is no gold any more is counted and left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from PIL import Image

from deid_platform.corpora.injection import on_paper as module
from deid_platform.corpora.injection.corpus import Injected, InjectionSpec, Part, inject
from deid_platform.corpora.injection.on_paper import WITHOUT_GOLD, on_paper
from deid_platform.corpora.injection.ways import Ways
from deid_platform.corpora.scans.degrade import Level
from deid_platform.corpora.scans.pages import Page, Word
from deid_platform.corpora.scans.recognition import languages_read
from deid_platform.errors import Code, DeidError
from tests.corpora.injection.conftest import prose

Read = Callable[[str], tuple[str, float]]
"""What a page said -> what is read of it, and with what confidence."""


@pytest.fixture
def notes(ways: Ways) -> list[Injected]:
    """With an identifier in every kind of place."""
    assert ways
    return list(inject(InjectionSpec("dev", "en_US", Part.TRAINING), prose(9)))


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[Read], None]:
    """Stands in for print, wear and Tesseract."""

    def by(read: Read) -> None:
        pages: dict[int, str] = {}

        def printed(text: str, **_: object) -> list[Image.Image]:
            image = Image.new("L", (1, 1))
            pages[id(image)] = text
            kept.append(image)
            return [image]

        def recognised(image: Image.Image, *_: object, **__: object) -> Page:
            text, confidence = read(pages[id(image)])
            return Page(1, 1, text, (Word(0, len(text), 0, 0, 1, 1, confidence),), recognised=True)

        kept: list[Image.Image] = []
        monkeypatch.setattr(module, "languages_read", lambda: frozenset({"eng"}))
        monkeypatch.setattr(module, "render", printed)
        monkeypatch.setattr(module, "degrade", lambda page, *_: page)
        monkeypatch.setattr(module, "recognised", recognised)

    return by


def surfaces(made: Injected) -> list[str]:
    return [made.note.text[span.start : span.end] for span in made.gold]


def test_gold_stands_where_it_was_read(notes: list[Injected], reading: Callable[[Read], None]) -> None:
    reading(lambda text: ("~ " + text.replace("\n", "\n\n").replace("stiff", "stlff"), 0.9))
    lost: Counter[str] = Counter()
    found = list(on_paper(notes, Level.COPY, lost=lost, workers=2))
    assert lost == {}
    for before, after in zip(notes, found, strict=True):
        assert after.note.text.startswith("~ ")
        assert [" ".join(surface.split()) for surface in surfaces(after)] == [
            " ".join(surface.split()) for surface in surfaces(before)
        ]
        assert [span.label for span in after.gold] == [span.label for span in before.gold]
        assert {span.source for span in after.gold} == {span.source for span in before.gold}
        assert (after.ways, after.patient) == (before.ways, before.patient)
        assert after.note.patient_id == before.note.patient_id


def test_ways_follow_their_identifiers_where_lines_are_read_in_another_order(
    notes: list[Injected], reading: Callable[[Read], None]
) -> None:
    def last_line_first(text: str) -> tuple[str, float]:
        lines = text.strip().split("\n")
        return "\n".join((lines[-1], *lines[:-1])), 0.9

    reading(last_line_first)
    moved = 0
    for before in notes:
        for after in on_paper([before], Level.SCAN, lost=Counter()):
            was = sorted(zip(surfaces(before), before.ways, strict=True))
            assert sorted(zip(surfaces(after), after.ways, strict=True)) == was
            moved += after.ways != before.ways
    assert moved > 0


def test_what_does_not_come_back_as_gold_is_counted_by_its_reason(
    notes: list[Injected], reading: Callable[[Read], None]
) -> None:
    named = {made.note.text: surfaces(made)[0] for made in notes}
    bad = {notes[1].note.text: "illegible", notes[4].note.text: "lost", notes[6].note.text: "blank"}

    def read(text: str) -> tuple[str, float]:
        match bad.get(text):
            case "illegible":
                return text, 0.3
            case "lost":
                return text.replace(named[text], "-"), 0.9
            case "blank":
                return "", 0.9
            case _:
                return text, 0.9

    reading(read)
    lost: Counter[str] = Counter()
    found = list(on_paper(notes, Level.FAX, lost=lost))
    assert lost == {"illegible": 1, WITHOUT_GOLD: 1, "empty_text": 1}
    assert [one.note.note_id for one in found] == [f"n{at}" for at in (0, 2, 3, 5, 7, 8)]


def test_without_tesseract_nothing_is_made(notes: list[Injected], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "languages_read", frozenset)
    with pytest.raises(DeidError) as raised:
        list(on_paper(notes, Level.SCAN, lost=Counter()))
    assert (raised.value.code, raised.value.ref) == (Code.SCAN_READER_MISSING, "tesseract-ocr")


@pytest.mark.process
@pytest.mark.slow
def test_over_real_paper(notes: list[Injected]) -> None:
    if not languages_read():
        pytest.skip("NOT RUN: Tesseract is not installed (Debian: tesseract-ocr)")
    lost: Counter[str] = Counter()
    (made,) = on_paper(notes[:1], Level.SCAN, lost=lost)
    assert lost == {}
    assert len(made.gold) == len(notes[0].gold)
    assert made.note.text != notes[0].note.text
    alike = sum(one.split() == other.split() for one, other in zip(surfaces(made), surfaces(notes[0]), strict=True))
    assert alike > 0.8 * len(made.gold)
