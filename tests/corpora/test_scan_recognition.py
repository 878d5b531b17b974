"""Recognition by Tesseract itself, on small pages: words, places, turned pages, and what is given up."""

from __future__ import annotations

import pytest
from PIL import Image, ImageOps

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.formats.scan import FEED, word_boxes
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.scans.carry_over import carry_over
from deid_platform.corpora.scans.degrade import WEAR, Level, degrade
from deid_platform.corpora.scans.documents import read_document
from deid_platform.corpora.scans.pages import PAGE_BREAK, Limits, RefusedPageError
from deid_platform.corpora.scans.recognition import Engine, languages_read, recognised
from deid_platform.corpora.scans.render import Face, render, write_pdf
from deid_platform.labels import Label
from deid_platform.notes import Delivery, Note, Span

TEXT = "Dear Dr. Quillfeather,\nthank you for seeing Ann Lee today.\nHer rash is persistent."

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def tesseract():
    if not languages_read():
        pytest.skip("NOT RUN: Tesseract is not installed (Debian: tesseract-ocr)")


def page(text=TEXT, **options):
    """The written part of a rendered page with some paper around it."""
    (whole,) = render(text, **options)
    left, top, right, bottom = ImageOps.invert(whole).getbbox()
    return whole.crop((left - 60, top - 60, right + 60, bottom + 60))


def read(image, language="en", seconds=60.0):
    return recognised(image, language, engine=Engine.TESSERACT, seconds=seconds, dpi=300)


@pytest.mark.parametrize("face", Face)
def test_a_clean_page_is_read_as_it_was_written(face):
    assert read(page(face=face)).text.split() == TEXT.split()


@pytest.mark.parametrize(
    ("turned", "first"),
    [(0, "left above"), (90, "left below"), (180, "right below"), (270, "right above")],
)
def test_each_word_has_its_place_and_its_confidence_however_the_page_lies(turned, first):
    image = page().rotate(turned, expand=True)
    found = read(image)
    assert found.text.split() == TEXT.split()
    assert [found.text[word.start : word.end] for word in found.words] == TEXT.split()
    for word in found.words:
        assert 0 <= word.left < word.left + word.width <= image.width
        assert 0 <= word.top < word.top + word.height <= image.height
        assert 0.5 < word.confidence <= 1
    dear = found.words[0]
    across = "left" if dear.left < image.width / 2 else "right"
    assert f"{across} {'above' if dear.top < image.height / 2 else 'below'}" == first


def test_the_box_of_a_word_holds_its_ink_and_no_other():
    image = page()
    for word in read(image).words:
        image.paste(255, (word.left, word.top, word.left + word.width, word.top + word.height))
    # Blacked out by its boxes, nothing is left to read.
    assert read(image).text == ""


def test_a_coarse_image_is_enlarged_and_its_boxes_are_those_of_the_image_itself():
    fine = page()
    coarse = fine.resize((fine.width // 3, fine.height // 3))
    found = recognised(coarse, "en", engine=Engine.TESSERACT, seconds=60, dpi=100)
    assert found.text.split() == TEXT.split()
    assert (found.width, found.height) == coarse.size
    assert max(word.left + word.width for word in found.words) <= coarse.width


@pytest.mark.parametrize(
    ("language", "text"),
    [("es", "La señora Núñez acudió con su madre."), ("it", "È più stanca perché non dorme."), ("fr", "Née à Nîmes.")],
)
def test_a_letter_is_read_in_its_language(language, text):
    data = {"es": "spa", "it": "ita", "fr": "fra"}[language]
    if data not in languages_read():
        pytest.skip(f"NOT RUN: Tesseract has no data of this language (Debian: tesseract-ocr-{data})")
    assert read(page(text), language).text.split() == text.split()


def test_a_page_that_takes_too_long_is_given_up():
    with pytest.raises(RefusedPageError) as caught:
        read(page(), seconds=0.001)
    assert caught.value.reason is Reason.LIMIT_EXCEEDED


def test_a_blank_page_is_no_text_and_one_word_is():
    assert read(Image.new("L", (600, 400), 255)).text == ""
    assert read(page("Persistent")).text == "Persistent"


@pytest.mark.parametrize("kind", ["pdf", "tiff", "png"])
def test_a_letter_on_paper_is_a_note(tmp_path, kind):
    folder = tmp_path / "1"
    folder.mkdir()
    path = folder / f"letter.{kind}"
    pages = [page(), page("Yours, A. Reed")]
    if kind == "pdf":
        write_pdf(pages, path)
    elif kind == "tiff":
        pages[0].save(path, save_all=True, append_images=pages[1:], dpi=(300, 300))
    else:
        pages = pages[:1]
        pages[0].save(path, dpi=(300, 300))
    (note,) = FilesFeed("letters", tmp_path, file_format=FEED).notes(Delivery("letters", "1"))
    assert isinstance(note, Note)
    assert note.text.split(PAGE_BREAK)[0].split() == TEXT.split()
    boxes = word_boxes(path)
    assert len(boxes) == len(pages)
    assert [note.text[word.start : word.end] for each in boxes for word in each.words] == note.text.split()


def test_an_illegible_page_is_refused_with_its_number_and_costs_no_other_letter(tmp_path):
    folder = tmp_path / "1"
    folder.mkdir()
    worn = degrade(page(points=6), "x", WEAR[Level.FAX])
    write_pdf([page(), worn], folder / "a.pdf")
    write_pdf([page()], folder / "b.pdf")
    refused, note = FilesFeed("letters", tmp_path, file_format=FEED).notes(Delivery("letters", "1"))
    assert isinstance(refused, Rejection)
    assert (refused.file, refused.row, refused.reason) == ("notes[0]", 2, Reason.ILLEGIBLE)
    assert isinstance(note, Note)
    assert "persistent" in read_document(folder / "b.pdf", limits=Limits(confidence=0.9)).text


def test_reading_leaves_no_file_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert read(page()).text
    assert list(tmp_path.iterdir()) == []


def test_gold_goes_over_paper_onto_what_was_read():
    spans = tuple(
        Span(TEXT.index(name), TEXT.index(name) + len(name), label, source="gold")
        for name, label in (("Quillfeather", Label.DOCTOR), ("Ann Lee", Label.PATIENT))
    )
    carried = carry_over(Gold("n1", spans, (), Note("n1", TEXT)), read(degrade(page(), 3, WEAR[Level.SCAN])).text)
    assert carried.gold is not None
    assert carried.gold.note is not None
    surfaces = [carried.gold.note.text[span.start : span.end] for span in carried.gold.spans]
    assert surfaces == ["Quillfeather", "Ann Lee"]
