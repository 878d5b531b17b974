"""Hostile input: disguised identifiers are found, and no text makes detection hang, die or grow without bound."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import pairwise

import pytest

from deid_platform.detection import DetectorSpec, NoteDetector
from deid_platform.detection.documents import segments
from deid_platform.detection.models.folder import VOCABULARY, ModelFolder
from deid_platform.detection.models.tokens import Reader
from deid_platform.detection.models.windows import LENGTH, OVERLAP, windows
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note, Topics
from deid_platform.text.deobfuscate import deobfuscate, latinised
from deid_platform.text.fold import fold

RULES, ENSEMBLE = DetectorSpec("rules").build(), DetectorSpec("ensemble").build()

Find = Callable[..., list[tuple[str, str]]]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Mr. Qu\u200barmby", "Mr. Quarmby"),
        ("Mr. \u202eQuarmby\u202c left", "Mr. Quarmby left"),
        ("Mr. Qu\u00adarmby", "Mr. Quarmby"),
        ("Mr. Quar\u00ad\nmby", "Mr. Quar\u00ad\nmby"),  # a hyphen that is seen: the line ends there
        ("Mr. Qu\x00arm\x07by", "Mr. Quarmby"),
        ("\ufeffNAME\ufe0f", "NAME"),
        ("Mr. Qu\u0430rmb\u0443", "Mr. Quarmby"),  # Cyrillic а, у
        ("Mr. \u039aate \u041c\u0430\u0443 came in", "Mr. Kate May came in"),  # Greek Κ; a word of look-alikes alone
        ("\uff27\uff32\uff25\uff25\uff2e \uff11\uff12\uff0f\uff13", "GREEN 12/3"),
        ("\U0001d510ary \U0001d7d7\U0001d7d0", "Mary 92"),
        ("\u0663/\u0661\u0664/\u0662\u0660\u0661\u0669", "3/14/2019"),
        ("Mr.\u00a0Kate\u202fMay\u2009of\u3000York", "Mr. Kate May of York"),
        ("Иван Петров", "Иван Петров"),  # an alphabet of its own
        ("Оса", "Оса"),  # look-alikes, but no Latin text
        ("β-blocker, 5 μg, α-1 antitrypsin, ΔF508", "β-blocker, 5 μg, α-1 antitrypsin, ΔF508"),
        ("10² mm³ ½ ① José Ñandú Straße", "10² mm³ ½ ① José Ñandú Straße"),
        ("a\tb\r\nc\fd", "a\tb\r\nc\fd"),
        ("said:\n> Dr. Quarmby\n>> saw\r\n> > her\n>\nend", "said:\nDr. Quarmby\nsaw\r\nher\n\nend"),  # quoted lines
        ("> Dr. Qu\u200barmby\n> 12 days", "Dr. Quarmby\n12 days"),
        ("GFR\n> 60 mL/min\n> 90 a day", "GFR\n> 60 mL/min\n> 90 a day"),  # nothing that one says
        ("a > b -> c", "a > b -> c"),
    ],
)
def test_a_text_is_read_as_it_looks(written: str, shown: str) -> None:
    assert deobfuscate(written).text == shown


@pytest.mark.parametrize(
    "text",
    ["a\u200bb\x00c", "\u200b\u200babc\u200b", "\x01", "İ\u200b ẞ\u202e x", "no change", "", "> a\n>> b\n> 3\u200b"],
)
def test_every_character_that_is_shown_finds_its_way_back(text: str) -> None:
    shown = deobfuscate(text)
    assert [text[shown.origin(i)] for i in range(len(shown.text))] == list(shown.text)
    folded = fold(text)
    assert all(folded.origin(i) < len(text) for i in range(len(folded.text)))


@pytest.mark.parametrize("text", ["İİ", "ẞß", "ŉ ΐ", "ǅ ﬁ", "\ud800x", "ΑΒΓ abc", "\uff21"])
def test_folding_case_and_scripts_keeps_every_offset(text: str) -> None:
    assert len(fold(text).text) == len(text) == len(latinised(text))


DISGUISED = [
    "saw Zebulon Qu\u200barmby today",
    "saw \u202eZebulon Quarmby\u202c today",
    "saw Zebul\u043en Qu\u0430rmby today",
    "saw Zebulon Qu\x00armby today",
    "saw \uff3aebulon \uff31uarmby today",
    "saw Z\u00adebulon Q\u00aduarmby today",
    "\ud83d saw Zebulon Quarmby\udc00 today",
    "İİİİ saw Zebulon Quarmby today",
]


@pytest.mark.parametrize("text", DISGUISED)
def test_a_disguised_patient_is_found_whole(text: str, find: Find) -> None:
    for patient in ("P1", None):  # by the roster, and by the gazetteer
        (surface, label), *others = find(text, patient=patient, known=True)
        assert label == "PATIENT"
        assert deobfuscate(surface).text == "Zebulon Quarmby"
        assert others == []


@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("Seen by Dr. Nd\u200boye on Monday", "Nd\u200boye"),
        ("Seen by D\u200br. Ndoye on Monday", "Ndoye"),
        ("Seen by Dr. Nd\u043eye on Monday", "Nd\u043eye"),
        ("MRN: 0098\u200b7654 filed", "0098\u200b7654"),
        ("Seen\u00a0by\u00a0Dr.\u00a0Ndoye\u00a0Sarr\u00a0on\u00a0Monday", "Ndoye\u00a0Sarr"),
        ("Seen on May\u202f3,\u202f2019 again", "May\u202f3,\u202f2019"),
        (
            "MRN: \uff10\uff10\uff19\uff18\uff17\uff16\uff15\uff14 filed",
            "\uff10\uff10\uff19\uff18\uff17\uff16\uff15\uff14",
        ),
        ("call 617\u2060-555\u200b-0123 today", "617\u2060-555\u200b-0123"),
        ("seen \u0663/\u0661\u0664/\u0662\u0660\u0661\u0669 again", "\u0663/\u0661\u0664/\u0662\u0660\u0661\u0669"),
    ],
)
def test_patterns_see_through_disguises_and_mark_them_whole(text: str, surface: str, find: Find) -> None:
    assert surface in [found for found, _ in find(text)]


FILLERS = {
    "a.a.a": "a.a.a",
    "digits": "1",
    "dashed digits": "1-1-",
    "dates": "1/1/",
    "spaced digits": "1 ",
    "capitals": "Ab ",
    "capitals in a word": "AB",
    "titles": "Dr. ",
    "titles and commas": "Dr. A, ",
    "words": "word ",
    "at signs": "a@",
    "dotted mail": "a@b.",
    "hyphens": "a-",
    "brackets": "(1) ",
    "quotes": "'",
    "spaces": " ",
    "blank lines": "\n \n",
    "labels": "Name: ",
    "pipes": "a | ",
    "streets": "1 A ",
    "zero width": "a\u200b",
    "bidirectional": "A\u202e",
    "surrogates": "\ud800",
    "growing case": "İ",
    "look-alikes": "а",
    "mixed scripts": "aа",
    "nul": "\x00",
    "full width": "１",
    "combining": "e\u0301",
}


# The model reads some thousand pieces a second, whatever they are: a long note of one kind is for the longer loops.
@pytest.mark.parametrize(
    ("detector", "characters"),
    [
        pytest.param(RULES, 60_000, id="rules"),
        pytest.param(ENSEMBLE, 2_000, id="ensemble"),
        pytest.param(ENSEMBLE, 10_000, id="ensemble on a long note", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("kind", FILLERS)
def test_hostile_text_is_read_to_its_end_or_refused(kind: str, detector: NoteDetector, characters: int) -> None:
    # An identifier at each end: either both are found, or the note is refused as a whole.
    text = "Seen by Dr. Ndoye on 3/14/2019.\n\n" + FILLERS[kind] * (characters // len(FILLERS[kind]))
    text += "\n\nSeen by Dr. Okonkwo on 3/15/2019."
    try:
        spans = detector.detect([Note("n", text)])[0]
    except DeidError as refused:
        assert refused.code is Code.DETECTOR_FAILED
    else:
        hidden = " ".join(text[s.start : s.end] for s in spans)
        assert [word for word in ("Ndoye", "3/14/2019", "Okonkwo", "3/15/2019") if word not in hidden] == []


@pytest.mark.parametrize("kind", FILLERS)
def test_what_a_model_reads_grows_with_the_text_and_no_faster(kind: str) -> None:
    # Time is that of the windows: all of at most one length, and each ends a good way after the one before.
    reader = Reader(ModelFolder.shipped("minilm").path / VOCABULARY)
    text = deobfuscate(FILLERS[kind] * (200_000 // len(FILLERS[kind]))).text.encode("utf-8", "replace").decode()
    pieces = reader.read(text)
    assert len(pieces.ids) <= len(text)
    cut = list(windows(pieces)) if len(pieces.ids) else []
    assert len(cut) <= len(text) / (2 * LENGTH // 3 - OVERLAP) + 1
    assert all(window.end - window.start <= LENGTH for window in cut)


def test_a_long_text_is_read_in_overlapping_pieces_that_cover_it() -> None:
    for text in ("x" * 1_000_000, "line of text\n" * 90_000, "short", ""):
        pieces = list(segments(text))
        assert pieces[0][0] == 0
        assert pieces[-1][1] == len(text)
        assert all(end - start <= 400_000 for start, end in pieces)
        assert all(after[0] <= before[1] - 1_000 for before, after in pairwise(pieces))


@pytest.mark.slow
def test_nothing_is_lost_where_two_pieces_of_a_long_text_meet() -> None:
    line = "Seen by Dr. Ndoye on 3/14/2019 in clinic.\n"
    text = line * (900_000 // len(line))
    spans = DetectorSpec("patterns").build().detect([Note("n", text)])[0]
    assert len(spans) == 2 * text.count(line)
    assert {text[s.start : s.end] for s in spans} == {"Ndoye", "3/14/2019"}


CALM = "The abdomen is soft and the lungs are clear to the bases today.\n" * 8_000  # longer than one piece


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Mrs. Ostrowe came.\n{CALM}Ostrowe at bedside.\n{CALM}Ostrowe left.\n", "Ostrowe"),
        (f"{CALM}Ostrowe at bedside.\n{CALM}Mrs. Ostrowe came.\n", "Ostrowe"),
        (f"Employer: Tarn & Sedge Ropeworks\n{CALM}back at Tarn & Sedge Ropeworks\n", "Tarn & Sedge Ropeworks"),
        (f"Mr. Foley came.\n{CALM}Foley reports pain. A Foley catheter.\n", "Foley"),
    ],
)
def test_what_one_piece_of_a_long_text_names_is_found_in_the_others(text: str, found: str) -> None:
    spans = RULES.detect([Note("n", text)])[0]
    expected = text.count(found) - text.count(f"{found} catheter")
    assert [text[s.start : s.end] for s in spans] == [found] * expected


@pytest.mark.parametrize("separator", [" | ", "\t"])
def test_a_table_that_pieces_cut_keeps_its_header(separator: str) -> None:
    row = separator.join(("Zorbel", "4471", "seen in the clinic for a repeat visit " * 12 + "\n"))
    table = separator.join(("Name", "MRN", "Visit\n")) + row * (900_000 // len(row))
    spans = DetectorSpec("patterns").build().detect([Note("n", table)])[0]
    assert len(spans) == 2 * table.count("Zorbel")
    assert {table[s.start : s.end] for s in spans} == {"Zorbel", "4471"}
    ended = DetectorSpec("patterns").build().detect([Note("n", table + "\n" + row.replace("Zorbel", "Quill"))])[0]
    assert len(ended) == len(spans)  # a blank line ends it


def _peak(length: int, topics: Topics) -> int:
    """Bytes that detection in a text of so many code points needs at most, beside the text."""
    sentence = "word " * 400 + "\nMr. Zebulon Quarmby was seen on 3/14/2019 and takes metoprolol 25 mg.\n"
    text = sentence * (length // len(sentence))
    detector = DetectorSpec("rules", topics=topics).build()
    detector.detect([Note("n", sentence, patient_id="P1")])
    tracemalloc.start()
    try:
        detector.detect([Note("n", text, patient_id="P1")])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_grows_no_faster_than_the_text(topics: Topics) -> None:
    small, large = _peak(500_000, topics), _peak(2_000_000, topics)
    assert large < 5 * small


@pytest.mark.slow
def test_twenty_million_characters_are_read_to_their_end(topics: Topics) -> None:
    parts = ("words", 17_000_000), ("a.a.a", 2_000_000), ("digits", 1_000_000)
    text = "\n".join(FILLERS[kind] * (length // len(FILLERS[kind])) for kind, length in parts) + " Zebulon Quarmby"
    spans = DetectorSpec("rules", topics=topics).build().detect([Note("n", text, patient_id="P1")])[0]
    assert text[spans[-1].start : spans[-1].end] == "Zebulon Quarmby"
