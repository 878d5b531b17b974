"""Topics as of a delivery lie in a file, and say what topics in memory would."""

from __future__ import annotations

import hashlib
import pickle
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import DeidError
from deid_platform.keys import Keyring
from deid_platform.large_tables.topics_file import in_order
from deid_platform.notes import Note, Patient, Provider, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.topics.folding import with_patients

KEYS = Keyring(hashlib.sha256(b"folding").digest(), site="north")
OPEN = Path("/proc/self/fd")
BORN = date(1950, 5, 1)
# Of more than one byte, and in another order than the numbers of their deliveries.
IDS = ("p", "P", "10", "9", "ä", "\N{GRINNING FACE}", "ｚ")

patients = st.builds(
    Patient,
    patient_id=st.sampled_from(IDS),
    last_name=st.sampled_from(("Ash", "Alder", None)),
    birth_date=st.sampled_from((BORN, None)),
)
deliveries = st.lists(st.tuples(st.lists(patients, max_size=6), st.sets(st.sampled_from(IDS), max_size=1)), max_size=5)


@pytest.fixture(scope="module")
def spool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("spool")


def upserts(rows: Sequence[Patient], undated: set[str]) -> Topics:
    """A delivery's rows; a birth date is lost in the last row of a patient."""
    last = {row.patient_id: number for number, row in enumerate(rows)}
    lost = [n in last.values() and row.patient_id in undated for n, row in enumerate(rows)]
    kept = [
        Patient(row.patient_id, last_name=row.last_name) if gone else row for row, gone in zip(rows, lost, strict=True)
    ]
    return Topics.of(kept, undated=undated & last.keys())


def stored(brought: Sequence[Topics], spool: Path, others: Topics | None = None) -> Topics:
    def parts() -> Iterator[list[pa.Table]]:
        for topics in brought:
            rows = list(tables.topic_rows(topics, "patients"))
            yield [pa.Table.from_pylist(rows[:2], tables.TOPIC_SCHEMAS["patients"])] + [
                pa.Table.from_pylist(rows[2:], tables.TOPIC_SCHEMAS["patients"])
            ] * (len(rows) > 2)

    return with_patients(others or Topics(), parts(), spool=spool)


def folded(brought: Sequence[Topics]) -> Topics:
    topics = Topics()
    for each in brought:
        topics = topics.folded(each)
    return topics


@given(deliveries)
@settings(deadline=None)
def test_patients_in_a_file_are_those_of_topics_in_memory(
    spool: Path, said: list[tuple[list[Patient], set[str]]]
) -> None:
    brought = [upserts(*each) for each in said]
    here, there = folded(brought), stored(brought, spool)
    assert there == here
    # The gazetteer takes the first label of a number that two patients have: the order counts.
    assert list(there.every_patient()) == list(here.every_patient())
    assert [*there.patients] == [*here.patients]
    assert list(there.each_patient()) == list(here.each_patient())
    assert list(in_order(there.patients)) == list(in_order(here.patients))
    for patient_id in (*IDS, "none", "\ud800"):
        assert there.patients_known_as(patient_id) == here.patients_known_as(patient_id)
        assert (patient_id in there.patients) == (patient_id in here.patients)
    spec = DetectorSpec("rules", topics=there)
    assert spec.dictionary_digest(KEYS) == DetectorSpec("rules", topics=here).dictionary_digest(KEYS)


def test_the_same_rows_again_and_again_fold_into_one(spool: Path) -> None:
    snapshot = Topics.of([Patient("1", last_name="Ash"), Patient("2", last_name="Alder")])
    married = Topics.of([Patient("1", last_name="Birch")])
    topics = stored([snapshot, snapshot, married, married, snapshot], spool)
    assert [row.last_name for row in topics.patients_known_as("1")] == ["Ash", "Birch"]
    assert len(topics.patients_known_as("2")) == 1


def test_another_machine_gets_the_rows_and_a_process_of_this_one_the_file(spool: Path) -> None:
    topics = stored([Topics.of([Patient(str(n), last_name="Ash") for n in range(300)])], spool)
    moved = pickle.loads(pickle.dumps(topics))
    assert moved == topics
    # What a job takes with it to its workers does not grow with the patients.
    sent = bytes(ForkingPickler.dumps(topics))
    assert len(sent) < 2_000 < len(pickle.dumps(topics))
    assert b"Ash" not in sent
    received = pickle.loads(sent)
    assert received == topics
    del topics, moved
    assert received.patients["299"].last_name == "Ash"


@pytest.mark.process
def test_workers_find_by_the_file_what_a_process_finds_by_topics_in_memory(spool: Path) -> None:
    people = Topics.of([Patient("1", first_name="Maria", last_name="Ashworth"), Patient("2", mrn="4711-0815-x")])
    married = Topics.of([Patient("1", first_name="Maria", last_name="Birchwood")])
    notes = [Note(str(n), "Ms. Ashworth, now Maria Birchwood; MRN 4711-0815-x.", patient_id="1") for n in range(6)]
    engine = LocalEngine(workers=2, batch_size=2)
    there = list(engine.detect(DetectorSpec("rules", topics=stored([people, married], spool)), notes))
    here = list(LocalEngine().detect(DetectorSpec("rules", topics=folded([people, married])), notes))
    assert [each.spans for each in there] == [each.spans for each in here]
    assert {"roster", "gazetteer"} <= {span.source for span in there[0].spans or ()}


def test_the_file_has_no_name_and_is_closed_to_others(spool: Path) -> None:
    topics = stored([Topics.of([Patient("1", last_name="Ash")])], spool)
    assert not list(spool.iterdir())
    mine = []
    for each in OPEN.iterdir():
        with suppress(OSError):
            if str(spool) in str(each.readlink()):
                mine.append(each.stat())
    assert mine
    assert {(stat.S_IMODE(file.st_mode), file.st_nlink) for file in mine} == {(0o600, 0)}
    assert topics.patients


def test_the_file_goes_with_the_topics(spool: Path) -> None:
    before = len(list(OPEN.iterdir()))
    topics = stored([Topics.of([Patient("1")])], spool)
    assert topics.patients["1"]
    del topics
    assert len(list(OPEN.iterdir())) == before


def test_nothing_of_a_patient_is_shown(spool: Path) -> None:
    topics = stored([Topics.of([Patient("4711", last_name="Ash"), Patient("4711", last_name="Birch")])], spool)
    assert "Ash" not in repr(topics) + repr(topics.patients) + repr(topics.former)
    with pytest.raises(KeyError) as caught:
        topics.patients["0815"]
    assert "0815" not in str(caught.value)


def test_other_topics_stay_as_they_are_and_no_patients_need_no_file(spool: Path) -> None:
    others = Topics.of(providers=[Provider("d", last_name="Bell")])
    assert stored([], spool / "not-made-yet", others) is others
    assert stored([Topics.of([Patient("1")])], spool, others).providers == others.providers


def test_a_disk_without_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeidError) as caught:
        stored([Topics.of([Patient("1")])], tmp_path / "gone")
    assert caught.value.code.slug == "store-write"
