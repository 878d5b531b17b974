"""Vocabulary that notes share: what counts as it, and what a model alone says of it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deid_platform.corpora.library.authors import Use, authors, notes_by
from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.resolve.local_words import LocalWords, shared_words, words_at_stake
from deid_platform.detection.resolve.word_counts import WordCounts, may_be_a_name, standings, vocabulary
from deid_platform.labels import Label
from deid_platform.notes import Facility, Note, Patient, Provider, Topics
from deid_platform.text.fold import fold_term

MODEL = Source(SourceKind.MODEL, "minilm")
OWN = frozenset({"zirconal", "bay", "grace", "ZQT", "KRI", "okwuosan", "nesbitt", "wickford"})
SHARED = frozenset({"abd", "OOH", "Befund"})


def candidate(
    text: str,
    surface: str,
    label: Label = Label.PATIENT,
    source: Source = MODEL,
    evidence: Evidence = Evidence.PREDICTED,
    confidence: float = 0.9,
) -> Candidate:
    start = text.index(surface)
    return Candidate(start, start + len(surface), label, source, evidence, confidence)


def left(text: str, candidates: Iterable[Candidate], topics: Topics | None = None) -> list[str]:
    kept = LocalWords(SHARED, OWN, topics)(Document(Note("n", text)), list(candidates))
    return [text[c.start : c.end] for c in kept]


@pytest.mark.parametrize(
    ("text", "surface", "label"),
    [
        ("wears a zirconal today", "zirconal", Label.PATIENT),
        ("Zirconal worn today", "Zirconal", Label.DOCTOR),
        ("the ZQT was high today", "ZQT", Label.DOCTOR),
        ("Abd soft", "Abd", Label.PATIENT),
        ("THE ZIRCONAL WORN", "ZIRCONAL", Label.PATIENT),
        ("in the bay today", "bay", Label.HOSPITAL),
        ("the zirconal bay today", "zirconal bay", Label.HOSPITAL),
        ("seen by OOH then", "OOH", Label.HOSPITAL),
        ("Befund unklar", "Befund", Label.DOCTOR),
        ("asked with grace today", "grace", Label.PATIENT),
    ],
)
def test_what_a_model_alone_says_of_vocabulary_does_not_hide_it(text: str, surface: str, label: Label) -> None:
    assert left(text, [candidate(text, surface, label)]) == []


@pytest.mark.parametrize(
    ("text", "surface", "label"),
    [
        ("asked Grace today", "Grace", Label.PATIENT),  # on a list of names: in small letters alone
        ("ABD SOFT", "ABD", Label.PATIENT),  # as few letters as initials: in capitals alone
        ("GRACE IS WELL", "GRACE", Label.PATIENT),
        ("in Zirconal today", "Zirconal", Label.CITY),  # the institution's own notes share the town's name
        ("moved to KRI today", "KRI", Label.HOSPITAL),
        ("moved to Zirconal Bay today", "Zirconal Bay", Label.HOSPITAL),
        ("zirconal 4 today", "zirconal 4", Label.PATIENT),  # a digit
        ("zirconal Ostrowe today", "zirconal Ostrowe", Label.PATIENT),  # a word that is none
        ("Stable overnight. ZQT", "ZQT", Label.DOCTOR),  # signed
        ("reviewed (ZQT)", "ZQT", Label.DOCTOR),
        ("on bay today", "bay", Label.DATE),
        ("login zirconal today", "zirconal", Label.USERNAME),
    ],
)
def test_what_may_be_a_name_stays_hidden(text: str, surface: str, label: Label) -> None:
    assert left(text, [candidate(text, surface, label)]) == [surface]


@pytest.mark.parametrize(
    ("source", "evidence"),
    [
        (Source(SourceKind.RULES, "title"), Evidence.INTRODUCED),
        (Source(SourceKind.RULES, "name-in-context"), Evidence.LISTED),
        (Source(SourceKind.RULES, "site-fob", of_site=True), Evidence.PROVEN),
        (Source(SourceKind.GAZETTEER), Evidence.LISTED),
        (Source(SourceKind.ROSTER), Evidence.PROVEN),
        (Source(SourceKind.CROSS_NOTE, "name"), Evidence.INTRODUCED),
        (Source(SourceKind.MODEL, "chat/identifiers"), Evidence.PREDICTED),
    ],
    ids=str,
)
def test_what_anything_else_finds_is_never_taken_back(source: Source, evidence: Evidence) -> None:
    text = "wears a zirconal today"
    other = candidate(text, "zirconal", source=source, evidence=evidence)
    assert left(text, [other]) == ["zirconal"]
    assert left(text, [candidate(text, "zirconal"), other]) == ["zirconal", "zirconal"]
    wider = candidate(text, "a zirconal today", source=source, evidence=evidence)
    assert left(text, [candidate(text, "zirconal"), wider]) == ["zirconal", "a zirconal today"]


def test_a_word_of_somebody_whom_the_note_names_with_more_evidence_stays_hidden() -> None:
    text = "Dr. Zirconal came. Later zirconal left."
    named = candidate(text, "Zirconal", Label.DOCTOR, Source(SourceKind.RULES, "title"), Evidence.INTRODUCED)
    assert left(text, [named, candidate(text, "zirconal", Label.DOCTOR)]) == ["Zirconal", "zirconal"]


def test_a_part_of_a_longer_name_stays_hidden() -> None:
    text = "to Golden zirconal National today"
    rest = [candidate(text, word, Label.ORGANIZATION) for word in ("Golden", "National")]
    assert len(left(text, [rest[0], candidate(text, "zirconal", Label.ORGANIZATION), rest[1]])) == 3


@pytest.mark.parametrize(
    ("topics", "surface", "hidden"),
    [
        (Topics.of(providers=[Provider("d", first_name="Ann", last_name="Zirconal")]), "zirconal", True),
        (Topics.of(providers=[Provider("d", first_name="Zoe Quinn", last_name="Tamm")]), "ZQT", True),
        (Topics.of(providers=[Provider("d", user_id="zirconal")]), "zirconal", True),
        (Topics.of(facilities=[Facility("f", name="Zirconal House")]), "zirconal", True),
        (Topics.of([Patient("p", last_name="Zirconal")]), "Zirconal", True),
        (Topics.of([Patient("p", relatives="Joe Zirconal; Ann Zirconal")]), "Zirconal", True),
        (Topics.of([Patient("p", last_name="Zirconal")]), "zirconal", False),
        (Topics.of([Patient("p", last_name="Ostrowe")]), "Zirconal", False),
    ],
)
def test_the_topics_names_are_no_vocabulary(topics: Topics, surface: str, hidden: bool) -> None:
    text = f"there was {surface} again"
    assert bool(left(text, [candidate(text, surface)], topics)) is hidden


def words_of(*notes: tuple[str, str], patients: int = 5) -> set[str]:
    counts = WordCounts()
    for patient, text in notes:
        counts.add(patient, text)
    return set(vocabulary(counts.counts(), patients=patients, introduced=0.02))


def each(text: str, patients: int = 6) -> list[tuple[str, str]]:
    return [(f"p{at}", text) for at in range(patients)]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Wears a zirconal.", "zirconal"),
        ("The ZQT was raised, see chart.", "ZQT"),
        ("Asked with grace.", "grace"),  # on a list of names, and a common word
        ("Douleur à la mâchoire.", "machoire"),
    ],
)
def test_a_word_that_many_patients_notes_share_is_vocabulary(text: str, word: str) -> None:
    assert word in words_of(*each(text))
    assert word not in words_of(*each(text, patients=4))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Signed by Okwuosan today.", "a doctor's surname, with its capital"),
        ("Seen with Okwuosan and the team.", "the same where nothing introduces it"),
        ("Signed by okwuosan for Ann.", "in small letters behind a signature's words"),
        ("Dr okwuosan came, okwuosan left. Then Okwuosan again.", "in small letters as well"),
        ("Mother: Okwuosan, Father okwuosan.", "a family"),
        ("Okwuosan, MD, and okwuosan.", "before a degree"),
        ("Declan Okwuosan asked, okwuosan again.", "beside a given name"),
        ("Stable. OKW", "initials that sign"),
        ("Asked with nesbitt then. All well.", "a listed surname that is no common word"),
        ("The KR2T was raised. See b12x.", "with a digit"),
        ("okwuosan came to the ward", "a line in small letters does not tell"),
        ("OKWU CAME TO THE WARD", "nor does one in capitals"),
        ("The OKW raised, Okw came. All of okwuosa.", "an abbreviation that is written as a name too"),
    ],
)
def test_a_name_that_many_notes_share_is_no_vocabulary(text: str, why: str) -> None:
    names = {"okwuosan", "OKWUOSAN", "OKW", "OKWU", "okw", "nesbitt", "kr", "krt"}
    assert not words_of(*each(text)) & names, why


def test_a_patient_with_many_notes_is_one_patient() -> None:
    assert words_of(*[("p1", "The zirconal again.")] * 100) == set()
    assert words_of(*[("p1", "The zirconal again.")] * 100, *each("The zirconal again.")) >= {"zirconal"}


def test_notes_of_nobody_stand_for_no_patient() -> None:
    counts = WordCounts()
    for _ in range(100):
        counts.add(None, "The zirconal again.")
    assert not set(vocabulary(counts.counts(), patients=5, introduced=0.02))


def test_a_word_that_is_introduced_now_and_then_is_none() -> None:
    notes = each("The zirconal again.", patients=40)
    assert "zirconal" in words_of(*notes)
    assert "zirconal" not in words_of(*notes, ("q", "Mr. Zirconal came."))


def test_forgetting_misses_words_and_makes_up_none() -> None:
    counts = WordCounts()
    for patient, text in (*each("The zirconal again."), ("q", "Once quillon. Dr. Ostrowe came.")):
        counts.add(patient, text)
    counts.forget(2)
    assert "quillon" not in counts.counts()
    assert counts.counts()["zirconal"].small_by == 6
    assert counts.counts()["ostrowe"].introduced == 1


def test_a_note_says_how_it_writes_its_words() -> None:
    found = standings("Saw Ostrowe. Stable, afebrile. BP ok.\nDr. Marlune")
    assert found["ostrowe"].titled
    assert "stable" not in found, "it opens a sentence, so that its capital says nothing"
    assert found["afebrile"].small
    assert found["bp"].capitals
    assert found["marlune"].introduced


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Dernier repas hier.", {"Dernier"}),
        ("Attesa referto, ieri sera stabile. Inviata a casa.", {"Attesa", "ieri sera", "Inviata"}),
        ("Gait steady. Sees Sats in clinic.", {"Sats"}),
        ("Rota to be agreed by MHC. Case closed.", {"MHC"}),
    ],
)
def test_the_ensemble_keeps_shipped_vocabulary(text: str, words: set[str]) -> None:
    without, shipped = DetectorSpec("ensemble", without=("local_words",)), DetectorSpec("ensemble")
    before, after = (
        {text[s.start : s.end] for s in spec.build().detect([Note("n", text)])[0]} for spec in (without, shipped)
    )
    assert words & before, "the model alone hides it"
    assert not words & after


def test_the_ensemble_keeps_an_institutions_own_vocabulary_and_hides_its_staff() -> None:
    text = "Rehab: OT eval vandro today, vandro on board. vandro precautions. Seen by Dr. Okwuosan."
    spec = DetectorSpec("ensemble")
    shipped, local = (
        [text[s.start : s.end] for s in each.build().detect([Note("n", text)])[0]]
        for each in (spec, DetectorSpec("ensemble", local_words=frozenset({"vandro", "okwuosan"})))
    )
    assert "vandro" in shipped
    assert "vandro" not in local
    assert "Okwuosan" in local


def test_the_shipped_words_identify_nobody_in_the_notes_that_they_are_from() -> None:
    identifying = {
        fold_term(word)
        for one in authors(Use.TRAINING)
        for item in notes_by(one)
        if item.gold.note is not None
        for span in item.gold.spans
        for word in item.gold.note.text[span.start : span.end].split()
    }
    listed = {word.lower() for word in shared_words()}
    assert len(listed) == len(shared_words())
    assert not listed & identifying
    assert not [word for word in shared_words() if not word.islower() and may_be_a_name(word.lower())]


WRITTEN = st.text("abXY ßſéÉıİµﬁσςΣаА1-.\u0301", min_size=1, max_size=12)


@given(text=WRITTEN, own=st.sets(WRITTEN, max_size=4), places=st.tuples(st.integers(0, 11), st.integers(1, 12)))
def test_what_is_done_with_a_text_hangs_on_no_words_but_those_at_stake(
    text: str, own: set[str], places: tuple[int, int]
) -> None:
    start, end = places[0], min(places[0] + places[1], len(text))
    if start >= end:
        return
    # Words as they are kept: parts of the text in each case, and others.
    parts = {text[start:end].strip(), text.strip()}
    every = own | {form for part in map(fold_term, parts) for form in (part, part.upper(), part.capitalize())} - {""}
    found = [Candidate(start, end, Label.PATIENT, Source(SourceKind.MODEL), Evidence.PREDICTED, 0.5)]
    document = Document(Note("1", text), text)
    all_words, some = LocalWords((), every), LocalWords((), words_at_stake(text, every))
    assert all_words(document, found) == some(document, found)


def test_words_that_a_text_does_not_have_are_not_at_stake() -> None:
    assert set(words_at_stake("Zirconal was given, BOTOX not", {"zirconal", "BOT", "Ostrowe", "KRI"})) == {
        "zirconal",
        "BOT",  # a part of a word too: a candidate may be one
    }
