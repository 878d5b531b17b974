"""Pages: text layers with their boxes, reading order, limits, and what is missing; nothing is recognised here."""

from __future__ import annotations

import random
import sys
from types import ModuleType, SimpleNamespace

import pytest
from PIL import Image

from deid_platform.corpora import Reason
from deid_platform.corpora.scans import recognition
from deid_platform.corpora.scans.documents import read_document
from deid_platform.corpora.scans.opening import Picture, pages_of
from deid_platform.corpora.scans.pages import PAGE_BREAK, Limits, Mark, Page, RefusedPageError, laid_out
from deid_platform.corpora.scans.recognition import Engine, recognised
from deid_platform.errors import Code, DeidError

USUAL = Limits()
LETTER = ["Dear Dr. Quillfeather,", "thank you for seeing Ann Lee (34) today."]


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def image(tmp_path):
    def write(name, size=(40, 30), frames=1, **options):
        path = tmp_path / name
        first, *rest = [Image.new("L", size, 255) for _ in range(frames)]
        if rest:
            options |= {"save_all": True, "append_images": rest}
        first.save(path, **options)
        return path

    return write


def refused(path, limits=USUAL):
    with pytest.raises(RefusedPageError) as caught:
        list(pages_of(path, limits))
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value.reason, caught.value.page


# Text layers


def test_a_text_layer_is_the_text_page_after_page(file, pdf):
    document = read_document(file("letter.pdf", pdf(LETTER, ["Yours, A. Reed"])))
    assert document.text.split(PAGE_BREAK) == ["\n".join(LETTER), "Yours, A. Reed"]
    assert [page.recognised for page in document.pages] == [False, False]


def test_each_word_of_a_text_layer_has_its_place_in_the_text_and_on_its_page(file, pdf):
    document = read_document(file("letter.pdf", pdf(LETTER, ["Yours, A. Reed"])))
    words = [document.text[word.start : word.end] for page in document.pages for word in page.words]
    assert words == document.text.split()
    first, *_, last = document.pages[0].words
    # At 300 dots an inch; the first line's foot is 50 points from the top, 40 from the left.
    assert (first.left, first.top + first.height) == pytest.approx((40 * 300 / 72, 50 * 300 / 72), abs=5)
    assert last.top > first.top + first.height
    page = document.pages[0]
    assert (page.width, page.height) == (1667, 1250)
    for word in page.words:
        assert 0 <= word.left < word.left + word.width <= page.width
        assert 0 <= word.top < word.top + word.height <= page.height
        assert word.confidence == 1


def test_boxes_are_those_of_the_page_as_it_is_looked_at(file, pdf):
    page, *_ = read_document(file("turned.pdf", pdf(LETTER, turned=90))).pages
    assert (page.width, page.height) == (1250, 1667)
    first = page.words[0]
    assert first.height > first.width  # it is read from top to bottom, at the right
    assert first.left > page.width / 2


def test_a_page_without_a_text_layer_is_an_image(file, pdf):
    text, blank = pages_of(file("letter.pdf", pdf(LETTER, [])), Limits())
    assert isinstance(text, Page)
    assert isinstance(blank, Picture)
    assert (blank.image.size, blank.dpi) == ((1667, 1250), 300)


@pytest.mark.parametrize(("words", "kept"), [(25, False), (26, True)])
def test_a_stamp_on_an_image_is_not_the_text_of_the_page_but_a_layer_behind_it_is(file, pdf, words, kept):
    lines = ["RECEIVED " * 8] * (words // 8) + ["RECEIVED " * (words % 8)]
    (page,) = pages_of(file("fax.pdf", pdf(lines, image=1)), Limits())
    assert isinstance(page, Page) is kept


# Reading order


def marks(*blocks):
    """Words of one line each: (block, left, top, width)."""
    return [Mark(text, block, 0, 0, (left, top, width, 10), 0.9) for text, block, left, top, width in blocks]


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        # A line that recognition gives after the paragraph below it
        ([("Dear", 1, 0, 50, 90), ("Patient:", 2, 0, 20, 80)], "Patient: Dear"),
        # Two columns stay columns
        ([("A1", 1, 0, 0, 40), ("A2", 2, 0, 50, 40), ("B1", 3, 60, 0, 40), ("B2", 4, 60, 50, 40)], "A1 A2 B1 B2"),
        # A heading over both goes before both
        ([("A1", 1, 0, 30, 40), ("B1", 2, 60, 30, 40), ("Head", 3, 0, 0, 100)], "Head A1 B1"),
        ([("A", 1, 0, 0, 40), ("B", 2, 0, 5, 40)], "A B"),
    ],
)
def test_blocks_are_read_from_top_to_bottom_column_by_column(blocks, text):
    pairs = [(word, block, left, top, width) for word, block, left, top, width in blocks]
    lines = [mark for pair in pairs for mark in _line(pair)]
    read = laid_out(lines, 200, 200)
    assert " ".join(word for word in read.text.split() if word != "-") == text


def _line(pair):
    """A word with a dash behind it, so that a line has a direction."""
    text, block, left, top, width = pair
    return marks((text, block, left, top, width - 5), ("-", block, left + width - 5, top, 5))


def test_a_page_on_its_head_keeps_the_order_of_its_blocks():
    lines = [
        Mark("Dear", 1, 0, 0, (100, 90, 20, 10), 0.9),
        Mark("Ann", 1, 0, 0, (70, 90, 20, 10), 0.9),
        Mark("Rash", 2, 0, 0, (100, 10, 20, 10), 0.9),
        Mark("gone", 2, 0, 0, (70, 10, 20, 10), 0.9),
    ]
    assert laid_out(lines, 120, 110).text == "Dear Ann\n\nRash gone"


def test_words_lines_and_paragraphs_are_told_apart():
    given = [("Dear", 1, 1), ("Ann,", 1, 1), ("thank", 1, 2), ("Rash", 2, 1)]
    lines = [
        Mark(text, 1, paragraph, line, (10 * at, 20 * line + 90 * paragraph, 9, 9), at / 10)
        for at, (text, paragraph, line) in enumerate(given)
    ]
    page = laid_out(lines, 100, 300)
    assert page.text == "Dear Ann,\nthank\n\nRash"
    assert [page.text[word.start : word.end] for word in page.words] == [text for text, *_ in given]
    assert page.confidence == pytest.approx((0.0 * 4 + 0.1 * 4 + 0.2 * 5 + 0.3 * 4) / 17)


# What is refused


def test_what_cannot_be_opened_is_refused_by_its_reason(file, pdf, image):
    assert refused(file("locked.pdf", pdf(LETTER, locked=True))) == (Reason.LOCKED_FILE, 1)
    assert refused(file("broken.pdf", b"%PDF-1.4\nAnn Lee")) == (Reason.UNREADABLE_FILE, 1)
    assert refused(file("empty.pdf", b"")) == (Reason.UNREADABLE_FILE, 1)
    assert refused(file("text.png", b"Ann Lee")) == (Reason.UNREADABLE_FILE, 1)
    assert refused(file("cut.png", image("whole.png").read_bytes()[:60])) == (Reason.UNREADABLE_FILE, 1)
    with_broken_end = image("two.tiff", frames=2).read_bytes()
    assert refused(file("end.tiff", with_broken_end[:-120])) == (Reason.UNREADABLE_FILE, 2)
    assert refused(file("photo.heic", b"Ann Lee")) == (Reason.UNSUPPORTED_CONTENT, 1)
    # By what it is, not by what it is called
    assert refused(file("bitmap.png", image("real.bmp").read_bytes())) == (Reason.UNREADABLE_FILE, 1)


def whole_files(pdf, image):
    """One file of each kind that can be read, by its ending."""
    return {
        "pdf": pdf(LETTER, []),
        "png": image("whole.png").read_bytes(),
        "tiff": image("whole.tiff", frames=2).read_bytes(),
        "jpg": image("whole.jpg").read_bytes(),
    }


@pytest.mark.parametrize("ending", ["pdf", "png", "tiff", "jpg"])
def test_a_damaged_file_is_read_or_refused_whatever_the_damage(file, pdf, image, ending, recwarn, capfd):
    whole = whole_files(pdf, image)[ending]
    chance = random.Random(f"damage {ending}")
    refusals = 0
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            at = chance.randrange(len(damaged))
            damaged[at : at + chance.choice((0, 1, 20))] = bytes(chance.choices(range(256), k=chance.choice((1, 9))))
        try:
            list(pages_of(file(f"damaged.{ending}", bytes(damaged)), Limits(pages=5, pixels=3_000_000)))
        except RefusedPageError:
            refusals += 1
    assert refusals
    assert [str(warning.message) for warning in recwarn] == []
    assert capfd.readouterr() == ("", "")


def test_a_page_beyond_the_limits_is_refused_by_its_number(file, pdf, image):
    assert refused(file("long.pdf", pdf(*[LETTER] * 3)), Limits(pages=2)) == (Reason.LIMIT_EXCEEDED, 3)
    assert refused(image("long.tiff", frames=3), Limits(pages=2)) == (Reason.LIMIT_EXCEEDED, 3)
    assert refused(image("large.png", (100, 101)), Limits(pixels=10_000)) == (Reason.LIMIT_EXCEEDED, 1)
    assert refused(file("poster.pdf", pdf(LETTER, [])), Limits(pixels=10_000)) == (Reason.LIMIT_EXCEEDED, 2)
    # A page of 3 million pixels that an image of 9 million lies on
    tight = Limits(pixels=4_000_000)
    assert refused(file("dense.pdf", pdf([], image=3000)), tight) == (Reason.LIMIT_EXCEEDED, 1)
    assert len(list(pages_of(file("light.pdf", pdf([], image=1)), tight))) == 1
    assert len(list(pages_of(image("fits.tiff", (100, 100), frames=2), Limits(pages=2, pixels=10_000)))) == 2


def test_a_file_that_unpacks_to_far_more_than_it_holds_is_refused_before_it_is_unpacked(image, monkeypatch):
    path = image("bomb.png", (3000, 3000))
    assert path.stat().st_size < 100_000
    for allowed in (5_000_000, 1_000_000):  # Pillow warns of the one and refuses the other
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", allowed)
        assert refused(path) == (Reason.LIMIT_EXCEEDED, 1)


def test_a_fax_with_more_dots_across_than_down_gets_square_ones(image):
    (page,) = pages_of(image("fax.tiff", (204, 98), dpi=(204, 98)), Limits())
    assert page.image.size == (204, 204)
    assert page.dpi == 204


@pytest.mark.parametrize(
    ("size", "dpi", "scale"),
    [
        ((2480, 3508), 300, 1.0),
        ((2480, 3508), 72, 1.0),  # as many files say, whatever their dots are
        ((2480, 3508), None, 1.0),
        ((827, 1169), 100, 3.0),
        ((827, 1169), None, 3.0),
        ((600, 300), 300, 1.0),  # a part of a page
        ((1000, 40_000), 100, 1.0),
    ],
)
def test_an_image_is_enlarged_where_its_dots_are_too_few(size, dpi, scale):
    assert recognition._scale(Image.new("1", size), dpi) == pytest.approx(scale, abs=0.01)


def greys(path):
    (page,) = pages_of(path, Limits())
    return [page.image.getpixel((at, 0)) for at in range(page.image.width)]


def test_paper_is_white_and_ink_black_however_a_file_writes_them(tmp_path):
    for name, mode, colours in (
        ("grey.png", "L", (255, 0)),
        ("bits.png", "1", (255, 0)),
        ("colours.png", "RGB", ((255, 255, 255), (0, 0, 0))),
        ("clear.png", "RGBA", ((0, 0, 0, 0), (0, 0, 0, 255))),
        ("clear grey.png", "LA", ((0, 0), (0, 255))),
        ("deep.png", "I;16", (65535, 0)),
        ("deep.tiff", "I;16", (65535, 0)),
        ("print.tiff", "CMYK", ((0, 0, 0, 0), (0, 0, 0, 255))),
    ):
        image = Image.new(mode, (2, 1))
        for at, colour in enumerate(colours):
            image.putpixel((at, 0), colour)
        image.save(tmp_path / name)
        assert greys(tmp_path / name) == [255, 0], name


@pytest.mark.parametrize("name", ["held.jpg", "held.png", "held.tiff"])
def test_a_page_is_turned_as_the_camera_was_held(tmp_path, name):
    image = Image.new("L", (60, 40), 255)
    image.paste(0, (0, 0, 20, 40))  # at the left
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned to the right
    image.save(tmp_path / name, exif=exif)
    (page,) = pages_of(tmp_path / name, Limits())
    assert page.image.size == (40, 60)
    assert page.image.getpixel((20, 5)) < 50 < 200 < page.image.getpixel((20, 55))


# What is missing


def test_without_tesseract_the_package_is_named(monkeypatch):
    monkeypatch.setattr(recognition.shutil, "which", lambda program: None)
    with pytest.raises(DeidError) as caught:
        recognised(Image.new("L", (40, 30), 255), "en", engine=Engine.TESSERACT, seconds=9)
    assert (caught.value.code, caught.value.ref) == (Code.SCAN_READER_MISSING, "tesseract-ocr")


def test_without_a_languages_data_its_package_is_named(monkeypatch):
    monkeypatch.setattr(recognition.shutil, "which", lambda program: "/usr/bin/tesseract")
    monkeypatch.setattr(recognition, "_installed", lambda program: frozenset({"eng"}))
    with pytest.raises(DeidError) as caught:
        recognised(Image.new("L", (40, 30), 255), "it-IT", engine=Engine.TESSERACT, seconds=9)
    assert (caught.value.code, caught.value.ref) == (Code.SCAN_READER_MISSING, "tesseract-ocr-ita")


def test_a_language_that_is_not_read_is_refused():
    with pytest.raises(RefusedPageError) as caught:
        recognised(Image.new("L", (40, 30), 255), "tlh", engine=Engine.TESSERACT, seconds=9)
    assert caught.value.reason is Reason.UNSUPPORTED_CONTENT


def test_without_the_libraries_the_extra_is_named(file, pdf, image, monkeypatch):
    for module in ("pypdfium2", "PIL.Image"):
        monkeypatch.setitem(sys.modules, module, None)
    for path in (file("letter.pdf", pdf(LETTER)), file("page.png", b"")):
        with pytest.raises(DeidError) as caught:
            read_document(path)
        assert (caught.value.code, caught.value.ref) == (Code.SCAN_READER_MISSING, "extra scan")


# docTR


@pytest.fixture
def doctr(monkeypatch):
    """What docTR answers, without its networks."""

    def word(value, left, top, confidence):
        return SimpleNamespace(value=value, geometry=((left, top), (left + 0.1, top + 0.05)), confidence=confidence)

    lines = [[word("Dear", 0.1, 0.1, 0.9), word("Ann,", 0.3, 0.1, 0.6)], [word("Rash", 0.1, 0.2, 0.7)]]
    block = SimpleNamespace(lines=[SimpleNamespace(words=words) for words in lines])
    models = ModuleType("doctr.models")
    models.ocr_predictor = lambda pretrained: lambda images: SimpleNamespace(pages=[SimpleNamespace(blocks=[block])])
    monkeypatch.setitem(sys.modules, "doctr", ModuleType("doctr"))
    monkeypatch.setitem(sys.modules, "doctr.models", models)
    recognition._doctr_model.cache_clear()
    yield
    recognition._doctr_model.cache_clear()


def test_doctr_gives_words_with_boxes_and_confidences(doctr, image):
    document = read_document(image("page.png", (200, 100)), engine=Engine.DOCTR)
    assert document.text == "Dear Ann,\nRash"
    first = document.pages[0].words[0]
    assert (first.left, first.top, first.width, first.height, first.confidence) == (20, 10, 20, 5, 0.9)


def test_a_page_of_which_recognition_is_not_sure_is_refused(doctr, image):
    path = image("page.png", (200, 100))
    with pytest.raises(RefusedPageError) as caught:
        read_document(path, engine=Engine.DOCTR, limits=Limits(confidence=0.74))
    assert caught.value.reason is Reason.ILLEGIBLE


def test_without_doctr_the_package_is_named(image, monkeypatch):
    monkeypatch.setitem(sys.modules, "doctr.models", None)
    recognition._doctr_model.cache_clear()
    with pytest.raises(DeidError) as caught:
        read_document(image("page.png"), engine=Engine.DOCTR)
    assert (caught.value.code, caught.value.ref) == (Code.SCAN_READER_MISSING, "python-doctr")


def test_nothing_that_is_shown_shows_the_text(file, pdf):
    document = read_document(file("letter.pdf", pdf(LETTER)))
    assert "Lee" not in repr((document, document.pages, document.pages[0].words, marks(("Lee", 1, 0, 0, 9))))
