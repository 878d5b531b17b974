"""The notation of the hospital's prose, the page it is set on, and that all of the shipped prose is sound."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.corpora.hospital import (
    Part,
    Style,
    dates,
    forms,
    identifiers,
    library,
    place_forms,
    selection,
    slots,
)
from deid_platform.corpora.hospital.grammar import Choice, Copy, Draw, Form, Mark, Number, Slot, Template, Text, parse
from deid_platform.corpora.hospital.page import Page
from deid_platform.corpora.hospital.rule import SlotRule
from deid_platform.corpora.hospital.slots import misspelt
from deid_platform.corpora.hospital.spec import NOTE_TYPES, Shape
from deid_platform.errors import DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.pools import Share, given_names

if TYPE_CHECKING:
    from deid_platform.corpora.hospital.chart import Chart

PINNED = [77, 38, 69, 77, 13, 93]


LABELS = {
    "names": {Label.PATIENT, Label.DOCTOR},
    "dates": {Label.DATE},
    "places": {
        *(Label.STREET, Label.CITY, Label.STATE, Label.ZIP, Label.COUNTRY, Label.LOCATION_OTHER, Label.HOSPITAL),
        Label.ORGANIZATION,
    },
}
LABELS["identifiers"] = set(Label).difference(*LABELS.values())
CONFUSING = (
    *("meds", "labs", "exam", "plan", "numbers", "dates", "phones", "variants", "scores", "anatomy", "drugs"),
    *("eponyms", "words"),
)


def ways_of(family: str) -> list[Template]:
    return [t for pool in library.pools().values() for t in pool if (t.way or "").startswith(f"{family}: ")]


def planted(template: Template) -> list[tuple[Label, tuple[str, str | None]]]:
    """What a template plants, and in which form; whose city or telephone it is makes no other form."""
    found = []
    for op in template.ops:
        if isinstance(op, Form) and (label := forms.rule(op.name, op.pattern).label):
            found.append((label, (op.pattern, op.case)))
        elif isinstance(op, Slot) and (label := slots.rules()[op.name].label):
            found.append((label, (op.name.partition(".")[2], op.case)))
    return found


def templates() -> Iterator[tuple[str, Template]]:
    for name, pool in library.pools().items():
        yield from ((name, template) for template in pool)
    for name, styles in library.layouts().items():
        yield from ((name, line) for layout in styles for line in layout.lines)


class TestNotation:
    @pytest.mark.parametrize(
        ("line", "op"),
        [
            ("plain", Text("plain")),
            ("{patient.last}", Slot("patient.last", None)),
            ("{patient.last|caps}", Slot("patient.last", "caps")),
            ("{n:60-100}", Number(60, 100, 0)),
            ("{f:6.1-9.8}", Number(61, 98, 1)),
            ("{=a b|c}", Choice(("a b", "c"))),
            ("{@hpi/more}", Draw("hpi/more", False, 1, 1, "spaces", 100)),
            ("{@~x}", Draw("x", True, 1, 1, "spaces", 100)),
            ("{@x*2-4;bullets?30}", Draw("x", False, 2, 4, "bullets", 30)),
            ("{patient~L, F M}", Form("patient", "L, F M", None)),
            ("{past~Mon D 'YY|caps}", Form("past", "Mon D 'YY", "caps")),
            ("{site.phone~(###) ###-#### x$$}", Form("site.phone", "(###) ###-#### x$$", None)),
            ("{<}", Copy("<")),
            ("{<>}", Copy("<>")),
        ],
    )
    def test_each_form_reads(self, line: str, op: object) -> None:
        assert parse(line).ops == (op,)

    def test_terms_and_guards(self) -> None:
        template = parse(r"<adult male> The [[Foley]]\nis out")
        assert template.guard == {"adult", "male"}
        assert template.ops == (Text("The "), Mark(True), Text("Foley"), Mark(False), Text("\nis out"))

    def test_a_guard_may_name_the_shape_of_what_follows(self) -> None:
        template = parse("<adult !holiday> Since {day.holiday}")
        assert (template.guard, template.shape) == ({"adult"}, Shape.HOLIDAY)

    @pytest.mark.parametrize(
        "line", ["<!no-such-shape> x", "{}", "{a b}", "{@}", "{@x*}", "[[open", "closed]]", "[[a [[b]] c]]", "{x|bold}"]
    )
    def test_what_does_not_parse_is_refused(self, line: str) -> None:
        with pytest.raises(DeidError, match="template-invalid"):
            parse(line)


class TestShippedProse:
    def test_every_slot_and_pool_exists(self) -> None:
        rules, pools = slots.rules(), library.pools()
        for where, template in templates():
            for op in template.ops:
                if isinstance(op, Slot):
                    assert op.name in rules, where
                if isinstance(op, Form):
                    assert forms.rule(op.name, op.pattern).label, where
                if isinstance(op, Draw) and "." not in op.pool:
                    assert op.pool in pools, where
                if isinstance(op, Draw) and "." in op.pool:
                    assert op.pool.partition(".")[0] in ("primary", "other", "surname"), where

    def test_no_identifier_is_planted_inside_a_clinical_term(self) -> None:
        rules = slots.rules()
        for where, template in templates():
            inside = False
            for op in template.ops:
                if isinstance(op, Mark):
                    inside = op.begins
                elif isinstance(op, Slot) and inside:
                    assert rules[op.name].label is None, where
                assert not (isinstance(op, Form) and inside), where

    def test_there_is_enough_of_it(self) -> None:
        pools = library.pools()
        assert sum(len(pool) for name, pool in pools.items() if name.startswith("eponym/")) >= 150
        for family in ("call/", "letter/", "course/"):
            shared = ("hpi/", "eponym/", "rare/", "plan", "labs", "exam", "meds")
            assert sum(len(pool) for name, pool in pools.items() if name.startswith((family, *shared))) >= 60
        assert sum(len(pool) for name, pool in pools.items() if name.startswith("confuse/")) >= 130
        assert len(library.cities()) >= 80

    def test_there_are_twelve_note_types_and_more_in_five_houses_of_style(self) -> None:
        assert len(set(NOTE_TYPES)) >= 12
        assert set(Style) == {layout.style for of in library.layouts().values() for layout in of}
        assert len(Style) == 5
        for of in library.layouts().values():
            assert {layout.style for layout in of} == set(Style)

    @pytest.mark.parametrize("family", library.WAY_FAMILIES)
    def test_each_kind_of_identifier_is_written_in_150_ways(self, family: str) -> None:
        ways = library.ways()[family]
        assert len(set(ways)) == len(ways) >= 150

    @pytest.mark.parametrize("family", library.WAY_FAMILIES)
    def test_every_way_holds_an_identifier_of_its_kind(self, family: str) -> None:
        for template in ways_of(family):
            assert {label for label, _ in planted(template)} & LABELS[family], template.way

    @pytest.mark.parametrize("family", library.WAY_FAMILIES)
    def test_they_differ_in_the_identifier_itself_not_in_its_context_alone(self, family: str) -> None:
        forms_of = {(label, form) for way in ways_of(family) for label, form in planted(way) if label in LABELS[family]}
        assert len(forms_of) >= 150

    @pytest.mark.parametrize("pool", CONFUSING)
    def test_each_kind_of_what_only_looks_like_an_identifier_has_twenty_examples(self, pool: str) -> None:
        own = [t for t in library.pools()[f"confuse/{pool}"] if any(isinstance(op, Mark) for op in t.ops)]
        assert len({t.ops for t in own}) == len(own) >= 20
        assert not any(planted(template) for template in own)

    def test_what_is_only_shown_is_never_held_out(self) -> None:
        shown = {name for name, pool in library.pools().items() if any(template.shown for template in pool)}
        assert {"confuse/numbers", "site/rooms"} <= shown
        for pool in selection.pools(Part.HELD_OUT).values():
            assert not any(template.shown for template in pool)

    def test_every_eponymous_surname_has_its_eponym(self) -> None:
        for surname in library.words("surnames_eponyms"):
            (template,) = library.pools()[f"{surname.lower()}/namesake"]
            assert any(isinstance(op, Mark) for op in template.ops)

    def test_every_condition_can_be_named_and_described(self) -> None:
        for condition in library.conditions():
            sections = ["name", "icd", "hpi", "exam", "labs", "meds", "plan", "phone"]
            if condition.kinds & {"inpatient", "situation"}:
                sections.append("course")
            if condition.key == "hip":
                sections.remove("phone")  # it is only ever the reason of an admission
            for section in sections:
                assert library.pools()[f"{condition.key}/{section}"]


class TestPage:
    @given(st.lists(st.tuples(st.text(max_size=8), st.sampled_from(["plain", "gold", "term", "gap"])), max_size=20))
    def test_spans_cover_exactly_what_was_planted(self, pieces: list[tuple[str, str]]) -> None:
        page = Page()
        planted, terms = [], []
        for text, kind in pieces:
            if kind == "gold":
                page.put(text, Label.PATIENT)
                planted += [text] if text else []
            elif kind == "term":
                page.term(begins=True)
                page.put(text.strip())
                page.term(begins=False)
                terms += [text.strip()] if text.strip() else []
            elif kind == "gap":
                page.gap = "\n"
            else:
                page.put(text)
        made = page.document(Note("N1", ""))
        assert [made.note.text[s.start : s.end] for s in made.gold] == planted
        assert [made.note.text[a:b] for a, b in made.clinical] == terms

    def test_a_gap_is_written_only_between_two_things(self) -> None:
        page = Page()
        page.gap = "\n"
        page.put("a ")
        page.gap = "\n\n"
        page.put("b")
        page.gap = "\n"
        assert page.document(Note("N1", "")).note.text == "a\n\nb"

    def test_line_breaks_are_those_of_the_page(self) -> None:
        page = Page("\r\n")
        page.put("a\nb\n")
        page.put("Ann", Label.PATIENT)
        made = page.document(Note("N1", ""))
        assert made.note.text == "a\r\nb\r\nAnn"
        assert (made.gold[0].start, made.gold[0].end) == (6, 9)

    def test_what_is_copied_forward_is_planted_again(self) -> None:
        page = Page()
        page.put("Old: ")
        page.copy("<")
        page.put("Ann", Label.PATIENT, Shape.PATIENT_COMMON_WORD, "a way")
        page.put(" has ")
        page.term(begins=True)
        page.put("gout")
        page.term(begins=False)
        page.copy(">")
        page.put(". New: ")
        page.copy("<>")
        made = page.document(Note("N1", ""))
        assert made.note.text == "Old: Ann has gout. New: Ann has gout"
        assert [(s.start, s.end) for s in made.gold] == [(5, 8), (24, 27)]
        assert [made.note.text[a:b] for a, b in made.clinical] == ["gout", "gout"]
        assert made.ways == ("a way", "a way")
        assert made.shapes == (Shape.PATIENT_COMMON_WORD,) * 2

    @given(st.lists(st.text("ab ", min_size=1, max_size=30), max_size=6), st.integers(8, 20))
    def test_breaking_lines_moves_no_place(self, lines: list[str], width: int) -> None:
        page, plain = Page(width=width), Page()
        for each in (page, plain):
            each.put("\n".join(lines))
        broken, whole = (each.document(Note("N1", "")).note.text for each in (page, plain))
        assert broken.replace("\n", " ") == whole.replace("\n", " ")

    def test_a_long_line_is_broken_before_the_width(self) -> None:
        page = Page(width=12)
        page.put("seen by Dr. ")
        page.put("Ann Lee", Label.DOCTOR)
        made = page.document(Note("N1", ""))
        assert made.note.text == "seen by Dr.\nAnn Lee"
        assert made.note.text[made.gold[0].start : made.gold[0].end] == "Ann Lee"


class TestDice:
    def test_the_sequence_is_fixed(self) -> None:
        # Drawn once and written down: another machine or version must draw the same.
        dice = Dice(7, "note", 1)
        assert [dice.between(0, 99) for _ in range(6)] == PINNED

    @given(st.integers(), st.lists(st.integers(), max_size=12), st.integers(0, 15))
    def test_some_are_different_items(self, seed: int, items: list[int], count: int) -> None:
        places = Dice(seed).some(range(len(items)), count)
        assert len(places) == len(set(places)) == min(count, len(items))

    def test_a_weight_of_nothing_is_never_drawn(self) -> None:
        assert {Dice(n).weighted((("a", 1.0), ("b", 0.0))) for n in range(200)} == {"a"}


class TestMisspelling:
    @given(
        st.sampled_from(["Ho", "Le", "Allen", "de la Cruz", "O'Brien", "Müller", "Subramanian"]), st.integers(0, 299)
    )
    def test_it_is_one_slip_away_and_keeps_the_first_letter(self, name: str, slip: int) -> None:
        wrong = misspelt(name, slip)
        assert wrong != name
        assert wrong[0] == name[0]
        assert abs(len(wrong) - len(name)) <= 1
        assert wrong.split()[:-1] == name.split()[:-1]


class TestDates:
    @pytest.mark.parametrize(
        ("way", "written"),
        [
            ("us", "3/4/2025"), ("us0", "03/04/2025"), ("us2", "3/4/25"), ("iso", "2025-03-04"),
            ("long", "March 4, 2025"), ("medium", "Mar 4, 2025"), ("hyphen", "04-Mar-2025"), ("short", "3/4"),
            ("named", "March 4th"), ("slashed_month", "3/25"), ("day", "4th"),
        ],
    )  # fmt: skip
    def test_each_way_of_writing(self, way: str, written: str) -> None:
        assert dates.WAYS[way](date(2025, 3, 4), Dice(1)) == written

    @pytest.mark.parametrize(("day", "ordinal"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (22, "22nd")])
    def test_ordinals(self, day: int, ordinal: str) -> None:
        assert dates.WAYS["day"](date(2025, 1, day), Dice(1)) == ordinal


class TestForms:
    @pytest.mark.parametrize(
        ("pattern", "written"),
        [
            ("M/D/YY", "3/4/25"), ("MMDDYYYY", "03042025"), ("DDMonYY", "04Mar25"),
            ("Month Do, YYYY", "March 4th, 2025"), ("D.Rom.YYYY", "4.III.2025"),
            ("Word of Month", "fourth of March"), ("Mon 'YY", "Mar '25"),
        ],
    )  # fmt: skip
    def test_dates(self, pattern: str, written: str) -> None:
        parts = dates.parts(date(2025, 3, 4))
        assert forms.DATE_TOKEN.sub(lambda match: parts[match[0]], pattern) == written

    @pytest.mark.parametrize(
        ("token", "name", "written"),
        [
            ("J", "O'Brien", "OBrien"), ("J", "de la Cruz", "delaCruz"), ("J", "Smith-Jones", "SmithJones"),
            ("S", "Smith-Jones", "Smith Jones"), ("P", "Smith-Jones", "Smith"), ("A", "Muñoz", "Munoz"),
            ("A", "Wałęsa", "Walesa"), ("H", "Lindqvist", "Lind-\nqvist"), ("B", "Lindqvist", "Lind qvist"),
            ("h", "Lindqvist", "Lind\N{SOFT HYPHEN}qvist"), ("C", "O'Lee", "O-L-E-E"), ("O", "Palmer", "Pa1mer"),
            ("O", "Homer", "H0mer"), ("l", "de la Cruz", "C"), ("l", "Smith", "S"),
        ],
    )  # fmt: skip
    def test_parts_of_a_name(self, token: str, name: str, written: str) -> None:
        assert forms.part(token, forms.Person("Ann", name), Dice(1)) == written

    def test_a_middle_name_begins_as_its_initial_and_a_generation_is_one(self) -> None:
        person = forms.Person("Ann", "Smith", "B")
        assert forms.part("K", person, Dice(1))[0] == "B"
        assert forms.part("K", person, Dice(1)) in given_names("en_US", "F", Share.HOSPITAL)
        assert forms.part("K", forms.Person("Ann", "Smith"), Dice(1)) == ""
        assert {forms.part("G", person, Dice(n)) for n in range(40)} == {"Jr", "Sr", "II", "III", "IV"}

    @pytest.mark.parametrize(
        ("kind", "plain", "pattern", "written"),
        [
            ("street", "18 Fern Hollow Rd, Apt 4", "%h %n %t", r"18 Fern Hollow Rd"),
            ("street", "18 Fern Hollow Rd", "%n %T|%h", r"Fern Hollow Road\|18"),
            ("street", "7 Elm Boulevard", "%h %d. %n %t #%u", r"7 (N|S|E|W|NE|SW)\. Elm Boulevard #\d+"),
            ("street", "7 Elm Drive", "%h %D %n %t", r"7 (North|South|East|West)(east|west)? Elm Dr"),
            ("street", "Old Mill", "%n", r"Old Mill"),
            ("city", "Akron", "N. %c", r"N\. Akron"),
            ("city", "Cuyahoga Falls", "%a", r"Cuyahog"),
            ("city", "Mt. Vernon", "%3", r"MTV"),
            ("state_name", "Ohio", "%x", r"O\w{3,4}"),
            ("name", "Harlow Regional Medical Center", "%s", r"Harlow Reg Med Ctr"),
            ("name", "Harlow Regional Medical Center", "%S", r"Harlow Reg\. Med\. Ctr"),
            ("name", "Harlow Family Medicine-Akron", "%i/%I", r"HFMA/H\.F\.M\.A"),
            ("name", "Old Quarry Center", "%1 %2 %j", r"Old Old Quarry OldQuarryCenter"),
        ],
    )
    def test_places(self, kind: str, plain: str, pattern: str, written: str) -> None:
        rule = place_forms.rule(SlotRule(lambda _: plain, Label.CITY), kind, pattern)
        chart = cast("Chart", SimpleNamespace(dice=Dice(3)))
        assert rule.label is Label.CITY
        assert re.fullmatch(written, rule.value(chart))

    def test_nothing_is_written_of_a_place_that_the_chart_has_not(self) -> None:
        rule = place_forms.rule(SlotRule(lambda _: "", Label.CITY), "city", "North %c")
        assert rule.value(cast("Chart", SimpleNamespace(dice=Dice(3)))) == ""

    @pytest.mark.parametrize(
        ("name", "pattern"),
        [
            *(("nobody", "L"), ("patient", "..."), ("patient", "Q"), ("past", "-"), ("site.phone", "-")),
            *(("patient.street", "%h %q"), ("patient.city", "%h"), ("site.phone", "%c")),
        ],
    )
    def test_what_means_nothing_is_refused(self, name: str, pattern: str) -> None:
        with pytest.raises(DeidError, match="template-invalid"):
            forms.rule(name, pattern)


def test_drug_licence_numbers_pass_their_checksum() -> None:
    number = identifiers.dea(Dice(5), "Østergaard")
    digits = [int(c) for c in number[2:]]
    assert (sum(digits[0:6:2]) + 2 * sum(digits[1:6:2])) % 10 == digits[6]
    assert number[1] == "S"
