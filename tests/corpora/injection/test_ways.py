"""Ways: the notation, and the sets that are shipped."""

from __future__ import annotations

import itertools
import re
from datetime import date
from pathlib import Path

import pytest

from deid_platform.corpora import hospital
from deid_platform.corpora.injection.chart import Chart
from deid_platform.corpora.injection.corpus import InjectionSpec
from deid_platform.corpora.injection.patients import PatientFile
from deid_platform.corpora.injection.ways import (
    LINES,
    OPEN,
    SEALED,
    SECTIONS,
    TUNING,
    digest,
    languages,
    parse,
    ways_of,
)
from deid_platform.corpora.injection.weaving import write
from deid_platform.corpora.injection.words import LANGUAGES
from deid_platform.errors import Code, DeidError
from deid_platform.surrogates.dice import Dice

SETS = (*OPEN, TUNING, SEALED)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Patient: {patient~F}", 1),  # before any section
        ("[prose]\nx", 1),  # no such section
        ("[sentence]\nSeen by {nobody~F}.", 2),
        ("[sentence]\nSeen by {patient~Q}.", 2),  # no such token
        ("[sentence]\nSeen by {patient}.", 2),  # a person without a pattern
        ("[sentence]\nSince {old~YYYY}.", 2),  # a year alone is no identifier
        ("[sentence]\n<giant> {mrn}", 2),
        ("[sentence]\nOpen {mrn", 2),
        ("[header]\nA {mrn}\nB {town~##}", 3),  # no number
    ],
)
def test_a_way_that_cannot_be_read_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(DeidError) as raised:
        parse(text, "dev/en", "en")
    assert raised.value.code is Code.TEMPLATE_INVALID
    assert raised.value.ref == f"dev/en, line {line}"


def test_blocks_are_parted_by_blank_lines_and_other_ways_by_lines() -> None:
    found = parse("[header]\nA {mrn}\nB {plan}\n\nC {mrn}\n[tail]\n, {mrn}\n, {plan}\n", "dev/en", "en")
    assert [len(found[section]) for section in ("header", "tail")] == [2, 2]
    assert found["tail"][1].key == "dev/en/tail/2"


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_set_speaks_every_language(name: str, language: str) -> None:
    found = ways_of(name, language)
    wanted = [section for section in SECTIONS if section != "possessive" or language == "en"]
    assert [section for section in wanted if not found[section]] == []


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_note_has_what_the_slots_of_every_way_ask_for(name: str, language: str) -> None:
    institution = InjectionSpec("dev", "en_US").institution()
    day = date(2020, 2, 20)
    patient = PatientFile(institution, "P1", sex="F", age=93, day=day, language=language)
    chart = Chart(institution, patient, day=day, dice=Dice(1), language=language)
    for way in itertools.chain.from_iterable(ways_of(name, language).values()):
        write(way, chart)  # raises where nobody has such a field


def test_there_are_at_least_as_many_ways_as_the_hospital_has() -> None:
    folder = Path(hospital.__file__).parent / "data" / "ways"
    lines = (line for file in folder.iterdir() for line in file.read_text(encoding="utf-8").splitlines())
    hospitals = sum(bool(line.strip()) and not line.startswith(("#", "[")) for line in lines)
    woven = sum(len(ways) for name in SETS for language in LANGUAGES for ways in ways_of(name, language).values())
    assert woven >= hospitals > 1000


def test_no_two_sets_share_a_way() -> None:
    def plain(name: str) -> set[str]:
        texts = (ways_of(name, lang) for lang in languages(name))
        return {
            re.sub(r"\W+", "", "".join(op for op in way.ops if isinstance(op, str))).casefold()
            for ways in texts
            for section in LINES
            for way in ways[section]
        }

    for one, other in itertools.combinations(SETS, 2):
        # A few words between slots ("Mr.", "on") are everybody's.
        assert [text for text in plain(one) & plain(other) if len(text) > 24] == []


def test_the_sealed_set_is_what_it_was_when_it_was_sealed() -> None:
    # Whoever changes this set has no held-out figures any more: make a new set instead.
    assert digest(SEALED) == "76c951601094779d26ec9ab80a39cb7f89b9f27f1c95ea90aa2cb16c72c2b128"
