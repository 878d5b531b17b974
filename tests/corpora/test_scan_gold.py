"""Letters made of texts whose gold is known: paper, wear, and gold carried over to what was read."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageChops

from deid_platform.corpora.gold import Gold
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.noise import NoiseSpec, noisy
from deid_platform.corpora.scans import carry_over as module
from deid_platform.corpora.scans.carry_over import carry_over, word_error_rate
from deid_platform.corpora.scans.degrade import WEAR, Level, degrade
from deid_platform.corpora.scans.opening import Picture, pages_of
from deid_platform.corpora.scans.pages import Limits
from deid_platform.corpora.scans.render import Face, render, write_pdf
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

# Gold


def letter(text: str, *surfaces: str, clinical: tuple[str, ...] = ()) -> Gold:
    spans = tuple(Span(text.index(s), text.index(s) + len(s), Label.PATIENT, source="gold") for s in surfaces)
    terms = tuple((text.index(term), text.index(term) + len(term)) for term in clinical)
    return Gold("n1", spans, terms, Note("n1", text, patient_id="p1"))


def surfaces(gold: Gold | None) -> list[str] | None:
    if gold is None or gold.note is None:
        return None
    return [gold.note.text[span.start : span.end] for span in gold.spans]


SEEN = "Thank you for seeing Ann Lee of Milton, born 5/6/1980, with a persistent rash."


@pytest.mark.parametrize(
    ("read", "found"),
    [
        (SEEN, ["Ann Lee", "5/6/1980"]),
        # Lines, spaces and case
        (SEEN.replace(" ", "\n"), ["Ann\nLee", "5/6/1980"]),
        (SEEN.upper(), ["ANN LEE", "5/6/1980"]),
        (SEEN.replace("Ann Lee", "AnnLee"), ["AnnLee", "5/6/1980"]),
        (SEEN.replace("Ann Lee", "A nn Le-\ne"), ["A nn Le-\ne", "5/6/1980"]),
        # Letters that look alike, and letters that were added to either end
        (SEEN.replace("Ann Lee", "Arm Lce"), ["Arm Lce", "5/6/1980"]),
        (SEEN.replace("Ann Lee", "iAnn Leel"), ["iAnn Leel", "5/6/1980"]),
        (SEEN.replace("5/6/1980", "S/6/l98O"), ["Ann Lee", "S/6/l98O"]),
        # A mark beside it is none of it
        (SEEN.replace("Ann Lee", "'Ann Lee'"), ["Ann Lee", "5/6/1980"]),
        # Around it, all is read otherwise
        ("Tharik yov tor seemg Ann Lee cf Mllton, bom 5/6/1980, wth o pers rosh", ["Ann Lee", "5/6/1980"]),
        # Something was read before, between and after
        (f"RECEIVED {SEEN.replace(' of ', ' ~~ (stamp) of ')} Page 1", ["Ann Lee", "5/6/1980"]),
        # Not there, or read as something else
        (SEEN.replace("Ann Lee", ""), None),
        (SEEN.replace("Ann Lee", "Qxz Wvk"), None),
        (SEEN.replace("5/6/1980", "--"), None),
        ("", None),
        ("A different letter altogether", None),
    ],
)
def test_gold_stands_on_what_was_read_or_the_note_is_no_gold(read, found):
    carried = carry_over(letter(SEEN, "Ann Lee", "5/6/1980"), read)
    assert surfaces(carried.gold) == found
    assert (carried.gold is None) == bool(carried.unplaced)


def test_the_spans_that_found_no_place_are_told():
    carried = carry_over(letter(SEEN, "Ann Lee", "Milton", "5/6/1980"), SEEN.replace("Milton", ""))
    assert (carried.gold, carried.unplaced) == (None, (1,))


def test_a_line_that_was_read_behind_the_paragraph_below_it_is_found():
    heading, body = "Patient: Ann Lee, record 0044178", "Thank you for seeing her with a rash. It began in May at work."
    carried = carry_over(letter(f"{heading}\n{body}", "Ann Lee", "0044178", "May"), f"{body}\n\n{heading}")
    assert surfaces(carried.gold) == ["May", "Ann Lee", "0044178"]


def test_a_name_that_stands_twice_keeps_its_places():
    text = "Ann came. Her mother, also Ann, came. Ann has a rash."
    places = [at for at in range(len(text)) if text.startswith("Ann", at)]
    gold = Gold("n1", tuple(Span(at, at + 3, Label.PATIENT) for at in places), (), Note("n1", text))
    read = text.replace("also Ann", "also Anri")
    assert surfaces(carry_over(gold, read).gold) == ["Ann", "Anri", "Ann"]
    assert carry_over(gold, "Ann came. Her mother, came. Ann has a rash.").unplaced == (1,)


def test_of_two_names_that_were_read_as_one_only_one_has_its_place():
    gold = letter("Ann Lee, 0044178\nReason: persistent rash\nAnn Leo, 0044179", "Ann Lee", "Ann Leo")
    carried = carry_over(gold, "Reason: persistent rash\nAnn Lee, 0044178")
    assert carried.gold is None
    assert len(carried.unplaced) == 1


def test_a_full_stop_alone_does_not_tell_where_the_texts_agree():
    carried = carry_over(letter("Name: Ann Lee. Born", "Ann Lee"), "N ane. Amn Lce Bom")
    assert surfaces(carried.gold) == ["Amn Lce"]


def test_a_clinical_term_that_was_lost_costs_itself_alone():
    carried = carry_over(letter(SEEN, "Ann Lee", clinical=("rash",)), SEEN.replace("rash", ""))
    assert carried.lost_terms == 1
    assert carried.gold is not None
    assert carried.gold.clinical == ()
    kept = carry_over(letter(SEEN, "Ann Lee", clinical=("rash",)), SEEN.replace("rash", "rosh"))
    assert kept.gold is not None
    (start, end), *_ = kept.gold.clinical
    assert kept.gold.note is not None
    assert kept.gold.note.text[start:end] == "rosh"


def test_the_note_keeps_all_but_its_text():
    carried = carry_over(letter(SEEN, "Ann Lee"), f"{SEEN} ")
    assert carried.gold is not None
    assert carried.gold.note == Note("n1", f"{SEEN} ", patient_id="p1")
    assert "Lee" not in repr(carried)


def test_gold_without_a_text_and_texts_that_are_too_long_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_MOST_CELLS", 10)
    for gold in (Gold("n1", ()), letter(SEEN, "Ann Lee")):
        with pytest.raises(DeidError) as caught:
            carry_over(gold, SEEN)
        assert caught.value.code is Code.INPUT_INVALID


WORDS = st.lists(st.sampled_from(["Ann", "Ann Lee", "Bo", "1/5", "rash", "rosh", ",", "\n"]), min_size=1, max_size=9)


@given(WORDS, WORDS, st.data())
def test_spans_are_in_order_never_empty_and_never_overlap(words, others, data):
    text = " ".join(words)
    read = " ".join(data.draw(st.sampled_from([others, words[1:], words[::-1], words + others])))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    spans = tuple(Span(a, b, Label.PATIENT) for a, b in pairwise(cuts) if text[a:b].strip())
    carried = carry_over(Gold("n1", spans, (), Note("n1", text)), read)
    assert set(carried.unplaced) <= set(range(len(spans)))
    if carried.gold is not None:
        assert len(carried.gold.spans) == len(spans)
        assert all(0 <= span.start < span.end <= len(read) for span in carried.gold.spans)
        assert all(before.end <= after.start for before, after in pairwise(carried.gold.spans))
        assert all(surface == surface.strip() for surface in surfaces(carried.gold) or ())


def test_on_noise_whose_gold_is_exact_the_same_places_are_found():
    placed = exact = total = 0
    for delivery in generate(HospitalSpec(seed=23, notes=60)):
        for note in delivery.notes:
            gold = Gold(note.note_id, delivery.gold[note.note_id], delivery.clinical[note.note_id], note)
            made = noisy(gold, NoiseSpec(0.3, outside=0.05)).gold
            assert made.note is not None
            carried = carry_over(gold, made.note.text)
            total += len(gold.spans)
            if carried.gold is not None:
                placed += len(gold.spans)
                exact += sum(
                    (one.start, one.end) == (other.start, other.end)
                    for one, other in zip(carried.gold.spans, made.spans, strict=True)
                )
    assert placed >= 0.98 * total
    assert exact >= 0.99 * placed


@pytest.mark.parametrize(
    ("text", "read", "rate"),
    [
        ("a b c d", "a b c d", 0.0),
        ("a b c d", "a  b\nc d", 0.0),
        ("a b c d", "a b c", 0.25),
        ("a b c d", "a b x c d", 0.25),
        ("a b c d", "a B c d", 0.25),
        ("a b", "", 1.0),
        ("a", "x y z", 3.0),
    ],
)
def test_word_error_rate(text, read, rate):
    assert word_error_rate(text, read) == rate


# Paper


def ink(page: Image.Image) -> tuple[int, int, int, int]:
    found = ImageChops.invert(page).getbbox()
    assert found is not None
    return found


def test_a_letter_has_margins_and_as_many_pages_as_it_needs():
    pages = render("A line of a letter, of ordinary length.\n" * 120, dpi=100)
    assert len(pages) == 3
    for number, page in enumerate(pages):
        assert page.size == (827, 1169)
        left, top, right, bottom = ink(page)
        assert left >= 95
        assert right <= 732
        assert bottom <= 1075
        assert 100 <= top <= (200 if number == 0 else 125)
    assert ink(pages[0])[1] > ink(pages[1])[1]  # room for a letterhead


@pytest.mark.parametrize("text", ["word " * 400, "x" * 3000, "  indented " + "y" * 500, "a\tb\n\n\nc"])
def test_a_line_that_is_too_long_is_broken_within_the_margins(text):
    for face in Face:
        for page in render(text, face=face, dpi=100):
            assert ink(page)[2] <= 735


def test_nothing_to_write_is_no_page():
    assert render("") == []


def test_typefaces_differ():
    first, *others = (render("Ann Lee", face=face, dpi=100)[0].tobytes() for face in Face)
    assert first not in others


@pytest.mark.parametrize("level", Level)
def test_wear_is_the_same_for_the_same_seed_and_another_for_another(level):
    (page,) = render("Dear Dr. Quillfeather,\n" * 5, dpi=100)
    worn = degrade(page, "n1/1", WEAR[level])
    assert worn.size == page.size
    assert worn.mode == "L"
    assert worn.tobytes() == degrade(page, "n1/1", WEAR[level]).tobytes() != page.tobytes()
    assert worn.tobytes() != degrade(page, "n1/2", WEAR[level]).tobytes()


def test_pages_become_a_pdf_without_a_text_layer(tmp_path):
    pages = render("Dear Dr. Quillfeather,\n" * 60, dpi=100)
    for name in ("a.pdf", "b.pdf"):
        write_pdf(pages, tmp_path / name, dpi=100)
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()
    found = list(pages_of(tmp_path / "a.pdf", Limits()))
    assert len(found) == len(pages) == 2
    assert all(isinstance(page, Picture) for page in found)
