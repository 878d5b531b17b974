"""The page of a comparison: its numbers are those of the computation, and whatever a note holds is only text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from deid_platform.evaluation.comparison.comparison import Compared, ComparedNote, Comparison, Hidden, compare
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.reports.comparison import comparison_html, comparison_records, comparison_tables
from deid_platform.reports.comparison.page import CONTEXT, shown

DETECTORS = [Compared("rules", "topics"), Compared("presidio:spacy:en_core", labels=frozenset((Label.DATE,)))]
TEXT = "Ann Roe was seen on 3/4/2019 by Lee."


def hides(text: str, **surfaces: Label) -> list[Hidden]:
    found = ((text.index(surface), surface, label) for surface, label in surfaces.items())
    return [Hidden(start, start + len(surface), label, frozenset((label,))) for start, surface, label in found]


def compared(texts: list[str], *, gold: bool = False) -> tuple[Comparison, list[Note]]:
    """The first hides the first word and "Lee", the second "Lee" and "seen"; gold has what the first hides."""
    notes = [Note(f"n{number}", text, f"p{number}") for number, text in enumerate(texts)]
    rows = []
    for note in notes:
        start = re.search(r"\w", note.text).start()  # type: ignore[union-attr]
        first = Hidden(start, start + 3, Label.PATIENT, frozenset((Label.PATIENT,)))
        a = [first, *hides(note.text, Lee=Label.DOCTOR)]
        b = hides(note.text, Lee=Label.PATIENT, seen=Label.DATE)
        spans = [Span(it.start, it.end, it.label) for it in a] if gold else None
        rows.append(ComparedNote(note.text, [a, b], gold=spans, cluster=note.patient_id))
    return compare(DETECTORS, rows, resamples=20), notes


class Page(HTMLParser):
    """Tables by heading, marked places and everything that a browser would fetch or run."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.marks: list[str] = []
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.text = ""
        self._into: list[str] | None = None
        self._heading = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "data", "srcset")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag in ("h2", "h3"):
            self._heading, self._into = "", ["heading"]
        elif tag == "tr":
            self.tables.setdefault(self._heading, []).append([])
        elif tag in ("th", "td"):
            self.tables[self._heading][-1].append("")
            self._into = self.tables[self._heading][-1]
        elif tag == "mark":
            self.marks.append("")
            self._into = self.marks

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td", "mark", "h2", "h3"):
            self._into = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._into == ["heading"]:
            self._heading += data
        elif self._into is not None:
            self._into[-1] += data


@pytest.mark.parametrize("gold", [False, True])
def test_its_tables_hold_the_numbers_of_the_computation(gold: bool) -> None:
    found, notes = compared([TEXT] * 4, gold=gold)
    page = Page(comparison_html(found, notes, examples=9))
    tables = comparison_tables(found)
    assert [table.caption for table in tables] == list(page.tables)[: len(tables)]
    for table in tables:
        assert page.tables[table.caption] == [list(table.titles), *map(list, table.rows)]
    first, second = page.tables["What each hides"][1:]
    assert (first[0], first[1], first[2], first[4]) == ("rules", "topics and text", "8", "4")
    assert (second[0], second[2]) == ("presidio:spacy:en_core", "8")
    assert first[3].startswith("0.500 (")
    assert page.tables["How far two of them agree"][1][2:5] == ["4", "4", "4"]
    groups = page.tables["Where they differ"][1:]
    by = [row[-2:] for row in groups]
    assert by == [["4", "4"], ["4", "4"]]
    assert sum(int(row[-2]) for row in groups) == sum(group.words for group in found.groups) == 8
    if gold:
        assert "0.500" in page.tables["Against gold, all labels"][2][2]
        assert [row[1] for row in groups] == ["identifier", "none"]
        assert page.tables["The same, on the labels that both it and rules look for"][1][1] == "1"


def test_places_are_marked_under_who_hides_them_and_what_is_left_out_is_counted() -> None:
    found, notes = compared([TEXT] * 10, gold=True)
    page = Page(comparison_html(found, notes, examples=4))
    assert page.marks == ["Ann"] * 4 + ["seen"] * 4
    assert "1. Identifiers hidden by rules, missed by presidio:spacy:en_core" in page.text
    assert "2. No identifiers, yet hidden by presidio:spacy:en_core, not by rules" in page.text
    assert page.text.count("10 words in 10 places; 4 of them below, evenly from all, and 6 left out.") == 2
    assert re.findall(r"note (n\d) · rules", page.text) == ["n0", "n2", "n5", "n7"]
    assert "rules: PATIENT; gold: PATIENT" in page.text  # without any colour
    whole = Page(comparison_html(found, notes, examples=10))
    assert len(whole.marks) == 20 and "left out" not in whole.text


def test_identifiers_that_all_miss_have_a_group() -> None:
    notes = [ComparedNote(TEXT, [[], []], gold=[Span(0, 7, Label.PATIENT)])]
    page = Page(comparison_html(compare(DETECTORS, notes, resamples=2), [Note("n", TEXT)], examples=1))
    assert "1. Identifiers missed by all" in page.text
    assert page.marks == ["Ann Roe"]


def test_it_says_first_that_it_holds_text_of_notes() -> None:
    page = Page(comparison_html(*compared([TEXT]), examples=1))
    body = page.text[page.text.index("This page holds") :]
    assert body.startswith("This page holds text of notes and ids of notes, identifiers included.")
    assert page.text.index("This page holds text of notes") < page.text.index("What each hides")


HOSTILE = (
    '<script>alert(1)</script> <img src=x onerror=alert(2)> Lee was seen </mark></li> {{ names }} "><a href="http://a.org">'
    " \N{RIGHT-TO-LEFT OVERRIDE}edoc\x00\x1b[31m \ud800 &lt;b&gt;"
)


def test_whatever_a_note_holds_is_text() -> None:
    found, notes = compared([HOSTILE])
    notes = [Note('<i id="x">', HOSTILE)]
    html = comparison_html(found, notes, examples=5)
    html.encode("utf-8")
    page = Page(html)
    assert page.tags.isdisjoint({"script", "img", "i", "b", "link", "iframe", "object"})
    assert all(address.startswith("#") for address in page.addresses)
    assert page.marks == ["script", "seen"]
    assert "<script>alert(1)</script> <img src=x onerror=alert(2)> Lee was" in page.text
    assert '<i id="x">' in page.text and "{{ names }}" in page.text and "&lt;b&gt;" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\ud800-\udfff]", html)


def test_it_needs_no_script_and_asks_nobody() -> None:
    html = comparison_html(*compared([TEXT], gold=True), examples=1)
    page = Page(html)
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "base", "form"})
    assert page.addresses and all(re.fullmatch(r"#g\d+", address) for address in page.addresses)
    assert "default-src 'none'" in html and "url(" not in html and "@import" not in html


def test_a_place_is_shown_on_one_line_with_its_surroundings() -> None:
    assert shown("one\r\n\ttwo  three\u2028four") == "one ⏎ two three ⏎ four"
    assert shown("a\u200db\u202ec\x07") == "a\u200db\ufffdc\ufffd"
    text = f"{'word ' * 50}Ann seen Lee {'after ' * 50}"
    found = compare(DETECTORS, [ComparedNote(text, [hides(text, Ann=Label.PATIENT), []])], resamples=2)
    page = Page(comparison_html(found, [Note("n", text)], examples=1))
    before, after = re.search(r"…([^…]*)Ann([^…]*)…", page.text).groups()  # type: ignore[union-attr]
    assert before.split() == ["word"] * 15 and len(before) <= CONTEXT + 1
    assert after.split()[:3] == ["seen", "Lee", "after"] and len(after) <= CONTEXT
    assert set(after.split()[2:]) == {"after"}


def test_a_place_of_many_words_is_shortened() -> None:
    text = "Ann " + "x" * 9000 + " end"
    found = compare(DETECTORS, [ComparedNote(text, [[Hidden(0, len(text), Label.PATIENT, frozenset())], []])])
    (mark,) = Page(comparison_html(found, [Note("n", text)], examples=1)).marks
    assert mark.startswith("Ann xxx") and mark.endswith("xx end") and " […] " in mark and len(mark) < 320


def test_records_have_the_same_numbers() -> None:
    found, _ = compared([TEXT] * 4, gold=True)
    first, second = comparison_records(found)
    assert (first["detector"], first["hidden_words"], first["hidden_by_it_alone_by_label"]) == (
        "rules",
        8,
        {"PATIENT": 4},
    )
    assert first["kappa"]["presidio:spacy:en_core"]["value"] == found.pairs[0].kappa.value  # type: ignore[index]
    assert second["recall"]["value"] == 0.5 and second["recall_less_first"]["value"] == -0.5  # type: ignore[index]
    assert first["recall_less_first"] is None and second["on_shared_labels"]["labels"] == 1  # type: ignore[index]
