"""A finished corpus: exact gold, the same whatever the workers, nothing of a test in training."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import pytest

from deid_platform.corpora.injection import feed
from deid_platform.corpora.injection.corpus import Injected, InjectionSpec, Part, inject, part_of, staff_of
from deid_platform.corpora.injection.ways import Ways
from deid_platform.corpora.noise import NoiseSpec
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.experiments.corpus_statistics import CorpusStatistics
from deid_platform.labels import PERSONS, Label
from deid_platform.surrogates.locales import LOCALES
from deid_platform.text.fold import fold_term
from deid_platform.text.names import PARTICLES
from tests.corpora.injection.conftest import PROSE, carrier, prose


def corpus(locale: str = "en_US", part: Part = Part.TEST, notes: int = 80, workers: int = 1) -> list[Injected]:
    return list(inject(InjectionSpec("dev", locale, part), prose(notes), workers=workers))


@pytest.mark.usefixtures("ways")
def test_gold_is_exact_and_never_overlaps() -> None:
    for made in corpus():
        text = made.note.text
        assert all(text[s.start : s.end].strip() == text[s.start : s.end] != "" for s in made.gold)
        assert all(one.end <= other.start for one, other in pairwise(made.gold))
        assert len(made.ways) == len(made.gold)


@pytest.mark.usefixtures("ways")
def test_the_carriers_own_words_stay() -> None:
    for made in corpus(notes=10):
        for words in ("SUBJECTIVE:", "57-year-old woman with lupus", "with fever", "knee is stiff"):
            assert words in made.note.text


@pytest.mark.usefixtures("ways")
def test_woven_identifiers_are_those_of_the_topics() -> None:
    made = corpus()
    providers, facilities = staff_of(InjectionSpec("dev", "en_US", Part.TEST))
    assert {one.note.provider_id for one in made} <= {row.provider_id for row in providers}
    named = {row.name for row in facilities}
    for one in made:
        said = {label: [one.note.text[s.start : s.end] for s in one.gold if s.label is label] for label in Label}
        assert set(said[Label.MEDICALRECORD]) <= {one.patient.mrn}
        assert {name.upper() for name in said[Label.HOSPITAL]} <= {(name or "").upper() for name in named}
        assert one.note.patient_id == one.patient.patient_id


@pytest.mark.usefixtures("ways")
def test_some_patients_have_several_notes_with_one_name() -> None:
    made = corpus()
    by_patient: dict[str, set[str]] = {}
    for one in made:
        by_patient.setdefault(one.patient.patient_id, set()).add(f"{one.patient.first_name} {one.patient.last_name}")
    assert len(by_patient) < len(made)
    assert all(len(names) == 1 for names in by_patient.values())


@pytest.mark.usefixtures("ways")
def test_every_kind_of_place_is_woven_into() -> None:
    sections = {way.split("/")[2] for made in corpus() for way in made.ways if way}
    assert sections == {
        *("header", "signature", "section", "opening", "sentence", "lead", "tail", "subject", "subject_again"),
        *("possessive", "date"),
    }


def test_guards_hold(ways: Ways) -> None:
    # The carrier is about a woman.
    assert ways["sentence"][2].guards == {"male"}
    assert not any("dev/en/sentence/3" in made.ways for made in corpus())


_ARTICLES = {"ad", "an", "ar", "as", "ash", "at", "az"}  # "al" before letters like its last: As-Salem


def names_of(made: list[Injected]) -> set[str]:
    """Folded words of all names of people, without particles and articles."""
    return {
        fold_term(word)
        for one in made
        for span in one.gold
        if span.label in PERSONS
        for word in one.note.text[span.start : span.end].replace(",", " ").replace(".", " ").replace("-", " ").split()
        if len(word) > 1 and word.lower() not in PARTICLES | _ARTICLES
    }


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("locale", LOCALES)
def test_training_and_test_share_no_name(locale: str) -> None:
    training, test = (names_of(corpus(locale, part, notes=60)) for part in Part)
    assert len(training) > 40
    assert training & test == set()


_SLOTS = (
    ("John Carter", Label.PATIENT),
    ("Mary Stone", Label.DOCTOR),
    ("Elm Hospital", Label.HOSPITAL),
    ("12 Oak Street", Label.STREET),
    ("Ames", Label.CITY),
    ("Carter", Label.PATIENT),
    ("Acme Corp", Label.ORGANIZATION),
    ("Ann Carter", Label.PATIENT),
    ("Boone", Label.CITY),
)
_FILLED = (
    "Patient: John Carter. Seen by Dr. Mary Stone at Elm Hospital, 12 Oak Street, Ames. Mr. Carter works for "
    "Acme Corp. His wife, Ann Carter, lives in Boone."
)
_PLACES = (Label.CITY, Label.STREET, Label.HOSPITAL, Label.ORGANIZATION)
# Of words and numbers alone: no name of theirs tells them apart.
_UNNAMED = {("concession", "road"), ("house", "sector"), ("farmacia", "comunale")}


def places_of(made: list[Injected]) -> set[tuple[str, ...]]:
    """Names of places, each as its words of more than two letters; acronyms and numbered streets have no such name."""
    found = set()
    for one in made:
        for span in (span for span in one.gold if span.label in _PLACES):
            words = tuple(re.findall(r"[^\W\d_]{3,}", one.note.text[span.start : span.end].casefold()))
            if words and (len(words) > 1 or span.label is Label.CITY):
                found.add(words)
    return found - _UNNAMED


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("locale", LOCALES)
def test_filled_and_woven_training_and_test_share_no_name_and_no_place(locale: str) -> None:
    carriers = [carrier(f"{_FILLED} {PROSE}", *_SLOTS, note_id=f"n{number}") for number in range(80)]
    training, test = (list(inject(InjectionSpec("dev", locale, part), carriers)) for part in Part)
    for told in (names_of, places_of):
        assert len(told(training)) > 40
        assert told(training) & told(test) == set()


@pytest.mark.usefixtures("ways")
def test_a_patient_of_the_source_is_one_person_in_all_notes() -> None:
    carriers = prose(70)  # more than are made at once
    whose = {0: "s1", 1: "s2", 69: "s1"}
    given = [
        replace(one, note=replace(one.note, patient_id=whose[at])) if at in whose else one
        for at, one in enumerate(carriers)
    ]
    made = list(inject(InjectionSpec("dev", "en_US"), given))
    first, other, again = (made[at] for at in whose)
    assert first.patient == again.patient != other.patient
    assert first.note.patient_id == again.note.patient_id == first.patient.patient_id
    assert first.note.patient_id not in {one.note.patient_id for at, one in enumerate(made) if at not in (0, 69)}
    assert "s1" not in first.note.patient_id
    named = {names_of([one]) & {first.patient.last_name.casefold()} != set() for one in (first, again)}
    assert named == {True}
    # Whatever the order and whatever stands beside them.
    alone = list(inject(InjectionSpec("dev", "en_US"), [given[69], given[0]]))
    assert [one.patient for one in alone] == [first.patient] * 2


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("locale", LOCALES)
def test_half_of_the_names_of_a_test_set_are_on_no_list(locale: str) -> None:
    counted = CorpusStatistics()
    for made in corpus(locale, notes=120):
        counted.add(made.note.text, made.gold, made.ways)
    assert counted.unlisted_share is not None
    assert counted.unlisted_share >= 0.5


def test_carriers_are_split_by_their_ids() -> None:
    parts = [part_of(f"note-{number}") for number in range(400)]
    assert 150 < parts.count(Part.TEST) < 250
    assert parts == [part_of(f"note-{number}") for number in range(400)]


@pytest.mark.process
def test_workers_change_nothing() -> None:
    spec = InjectionSpec("dev", "it_IT", Part.TRAINING, weave=False)
    assert list(inject(spec, prose(150), workers=2)) == list(inject(spec, prose(150)))


@pytest.mark.slow
@pytest.mark.usefixtures("ways")
def test_memory_does_not_grow_with_the_corpus() -> None:
    def peak(notes: int) -> int:
        (one,) = prose(1)
        given = (replace(one, note=replace(one.note, note_id=f"n{number}")) for number in range(notes))
        tracemalloc.start()
        assert sum(1 for _ in inject(InjectionSpec("dev", "en_US"), given)) == notes
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(400)  # fills the caches of names and streets
    # A finished note with its spans takes some 4 kB.
    assert (peak(1200) - peak(400)) / 800 < 1000  # bytes


@pytest.mark.usefixtures("ways")
def test_statistics_count_words_and_labels() -> None:
    counted = CorpusStatistics()
    counted.add(PROSE, ())
    made = corpus(notes=1)[0]
    counted.add(made.note.text, made.gold, made.ways)
    rows = dict(counted.rows())
    assert rows["notes"] == 2
    assert rows["share of notes with an identifier"] == 0.5
    assert rows["identifiers"] == len(made.gold) == counted.by_label.total()
    assert rows["words of identifiers a note, least"] == 0


@pytest.mark.usefixtures("ways")
def test_noise_keeps_gold_exact() -> None:
    spec = InjectionSpec("dev", "en_US", Part.TEST)
    plain = list(inject(spec, prose(12)))
    worse = list(inject(replace(spec, noise=NoiseSpec(identifiers=0.5)), prose(12)))
    touched = 0
    for before, after in zip(plain, worse, strict=True):
        assert after.ways == before.ways
        assert [span.label for span in after.gold] == [span.label for span in before.gold]
        for one, other in zip(before.gold, after.gold, strict=True):
            touched += before.note.text[one.start : one.end] != after.note.text[other.start : other.end]
    assert touched > 20


_DIGEST = """
import hashlib
from deid_platform.corpora.injection.pages import surrogate_notes_markdown
from deid_platform.surrogates.locales import LOCALES
from deid_platform.surrogates.locales.name_pools import names_of
names = [names_of(name, None) for name in LOCALES]
pools = [(pool.listed, pool.unlisted) for some in names for pool in (*some.given.values(), some.surnames)]
print(hashlib.sha256(repr(pools).encode()).hexdigest(), hashlib.sha256(surrogate_notes_markdown().encode()).hexdigest())
"""


@pytest.mark.process
def test_every_process_makes_the_same_notes():
    # Sets of strings have another order in each process.
    said = {
        subprocess.run(
            [sys.executable, "-c", _DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_a_corpus_without_a_note_says_of_which_part(tmp_path):
    with pytest.raises(DeidError) as raised:
        feed.write(InjectionSpec("cases", "it_IT", part=Part.TEST), (), tmp_path / "out")
    assert (raised.value.code, raised.value.ref) == (Code.INPUT_EMPTY, "cases: no test note")
    assert not (tmp_path / "out").exists()
