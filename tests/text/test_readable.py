r"""What a reader sees of an escaped text, which clinical shorthand is no escape, and the way back to the offsets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.text import Decoded, readable, views

READ = [
    # HTML
    ("M&uuml;ller", "Müller"),
    ("M&uumlller", "Müller"),  # browsers need no semicolon
    ("Mr.&nbsp;M&#252;ller, M&#xFC;ller", "Mr. Müller, Müller"),
    ("MRN&nbsp;88&#49;23456", "MRN 88123456"),
    ("88&amp;#49;23 and 88&amp;amp;#49;23", "88123 and 88123"),
    ("O&rsquo;Brien &lt;b&gt;John&lt;/b&gt;", "O’Brien John"),
    ('Jo<b>hn</b> S<span style="x">mith</span>, Qu<!-- -->armby', "John Smith, Quarmby"),
    # RTF
    (r"M\'fcller, M\u252?ller, M\u252\'fcller, O\u8217?Brien", "Müller, Müller, Müller, O’Brien"),
    (r"{\rtf1\ansi\pard{\b Smith\b0}, \i John\i0\par MRN\tab 12\~3}", "Smith, John\nMRN\t12 3"),
    (r"\pard Sm\b ith\par", "Smith\n"),
    # Mail
    ("M=FCller, M=C3=BCller, Ren=E9 D., O=92Brien", "Müller, Müller, René D., O’Brien"),
    ("Quarm=\nby and 617=\r\n555", "Quarmby and 617555"),
    ("J=6Fhn John=20Smith 03=2F04=2F2024", "John John Smith 03/04/2024"),
    ("Dear =4Ds=2E Smith=\n, K=3D4 =20\n", "Dear Ms. Smith, K=4  \n"),  # nothing else has the sign
    ("=?utf-8?Q?M=C3=BCller?= =?utf-8?B?TcO8bGxlcg==?=", "Müller Müller"),
    ("M+APw-ller", "Müller"),
    ("j@xn--mller-kva.example", "j@müller.example"),
    # URLs
    ("M%C3%BCller, M%FCller, M%u00fcller, Andr%E9.", "Müller, Müller, Müller, André."),
    ("John%20Smith 12%20Main%20St J%6Fhn Jo%68n", "John Smith 12 Main St John John"),
    ("https://p.example/x?u=jane%20doe#f M%C3%BCller", "https://p.example/x?u=jane+doe#f Müller"),
    ("617%20555%200142 03%2F04%2F2024 M%25C3%25BCller", "617 555 0142 03/04/2024 Müller"),
    # Programs
    (r"M\u00fcller M\xfcller M\xc3\xbcller M\303\274ller M\u{fc}ller M\U000000fcller", " ".join(["Müller"] * 6)),
    (r"Smith\nJohn\r\nMRN\t12, 03\/04\/2024", "Smith\nJohn\nMRN\t12, 03/04/2024"),
    # Accents apart from their letters
    ("Mu\u0308ller, J\u0337o\u0337h\u0337n, 1\u20e32", "Müller, John, 12"),
]
AS_WRITTEN = [
    "SpO2 98%20 min, 98%20min, 50%ile, 50%20%30%, EF 55%2D echo, FiO2 40%30, Neut%65 Lymph%25, LV%EF 55, O2%92 RA",
    "Hgb=12, K=40 Na=35, age=65yo, wt=70kg, a=FC, INR=20, BMI=27, sugar=AB positive, x=3D",
    "=====\n=====\nBP =\n120/80\nMRN=\n12345",
    "P&L, R&D, AT&T, H&P, x < 5 &gt 3, tobacco&ethanol, pain&regular, &unknown;",
    r"C:\temp C:\new\test \u \x, and/or D:\pardon",
    "<3 cm, x<b, 5 <p> 6, a -> b",
    "Ca+Mg-, HLA+DRB-, 1+1",
    "10² mm³ José ½ β-blocker Иван",
]


@pytest.mark.parametrize(("written", "shown"), READ, ids=[f"{written!a}" for written, _ in READ])
def test_an_escaped_text_is_read_as_its_reader_sees_it(written: str, shown: str) -> None:
    assert readable(written).text == shown


@pytest.mark.parametrize("text", AS_WRITTEN)
def test_clinical_shorthand_is_no_escape(text: str) -> None:
    assert readable(text).text is text
    assert views(text) == (Decoded(text),)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Mr. \u202eybmrauQ\u202c left", "Mr. Quarmby left"),
        ("Mr. \u202eybmrauQ left\nnext", "Mr. tfel Quarmby\nnext"),  # the end of the line ends it
        ("\u202e21\u202dab\u202c43\u202c", "34ab12"),  # a run within the run keeps its direction
        ("\u202eab\u202ecd\u202c", "dcba"),
    ],
)
def test_overridden_direction_gives_a_second_view(written: str, shown: str) -> None:
    stored, turned = views(written)
    assert (stored.text, turned.text) == (written, shown)


def test_other_directional_characters_turn_no_latin_text_around() -> None:
    assert len(views("\u202aab\u202c \u2067cd\u2069 \u200fef \u202dgh\u202c")) == 1


def test_the_place_of_an_escape_is_all_of_it() -> None:
    text = "by Dr. M&amp;uuml;ller, 88%31"
    seen = readable(text)
    start = seen.text.index("Müller")
    assert [text[slice(*seen.origin(start + i, start + j))] for i, j in ((0, 6), (1, 2), (0, 1), (2, 4))] == [
        "M&amp;uuml;ller",
        "&amp;uuml;",
        "M",
        "ll",
    ]
    # The half of an escape shows the whole character.
    place = seen.shown(text.index("uuml"), text.index(";ller"))
    assert place is not None
    assert seen.text[slice(*place)] == "ü"


def test_what_shows_nothing_has_no_place_in_what_is_read() -> None:
    seen = readable("Quarm=\nby")
    assert seen.shown(5, 7) is None
    assert seen.shown(4, 8) == (4, 6)


PIECES = st.sampled_from([
    "&uuml;", "&amp;", "#49;", "&lt;b&gt;", r"\'fc", r"\u252?", "=C3=BC", "=\n", "%C3%BC", "%20", "%25", r"\u00fc",
    "M", "ller ", "u\u0308", "<b>", "\u202e", "\u202c", "12/3", " ", "\n", "+APw-", "xn--mller-kva",
])  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
def test_every_interval_finds_its_way_there_and_back(text: str) -> None:
    for view in views(text):
        for start in range(len(view.text)):
            for end in range(start + 1, len(view.text) + 1):
                first, last = view.origin(start, end)
                assert 0 <= first < last <= len(text)
                back = view.shown(first, last)
                assert back[0] <= start < end <= back[1]
        for start in range(len(text)):
            place = view.shown(start, start + 1)
            if place is not None:
                assert 0 <= place[0] < place[1] <= len(view.text)
                low, high = view.origin(*place)
                assert low <= start < high


@given(st.lists(PIECES, max_size=14).map("".join))
def test_what_is_read_is_what_its_places_say(text: str) -> None:
    """A text of which nothing was replaced around an interval reads, there, as it is written."""
    seen = readable(text)
    for place, character in enumerate(seen.text):
        start, end = seen.origin(place, place + 1)
        assert end - start > 1 or text[start] == character


@pytest.mark.parametrize(
    "filler",
    ["&", "&#", "&amp;", "%", "%2", "%25", "=", "=\n", "=3", "\\", "\\u", r"\'fc", "<", "<b", "<!--", "+A", "+AAA",
     "xn--", "=?a?q?", "\u202e", "\u202e\u202c", "a\u0301", r"{\rtf", "a", "a ", "A1"],
)  # fmt: skip
def test_hostile_texts_end_in_the_time_that_their_length_takes(filler: str) -> None:
    text = filler * (60_000 // len(filler))
    for hostile in (text, f"%41 &#65; =41=\n {text}", f"{text} %41 &#65; \\n A=\n"):
        assert len(views(hostile)[0].text) <= len(hostile)
