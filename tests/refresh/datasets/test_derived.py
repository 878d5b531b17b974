"""What is made of large datasets and kept beside them: always what reading those would give."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pyarrow as pa
import pytest

from deid_platform.detection.resolve.cross_note import Mentioned
from deid_platform.detection.two_pass import PatientMentionIndex
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.large_tables.topics_file import in_order
from deid_platform.notes import Delivery, Topics
from deid_platform.refresh.datasets import derived, tables
from deid_platform.refresh.datasets.derived import NOTE_IDS, PATIENTS, TOLD
from deid_platform.refresh.evidence.patient_mentions import first_pass_digests, told_digests, told_until
from deid_platform.refresh.intake import sealing
from deid_platform.refresh.topics import as_of
from deid_platform.store import NoteStore

FIRST, SECOND, THIRD = (Delivery("hospital", str(number)) for number in (1, 2, 3))
WORDS = ("ostrowe", "quillfeather", "aldous", "St. Brannoch", "5550142")


@pytest.fixture
def keyring() -> Keyring:
    return Keyring(hashlib.sha256(b"derived").digest(), site="north")


@pytest.fixture
def store(tmp_path: Path, keyring: Keyring) -> NoteStore:
    return NoteStore(tmp_path / "store", keyring)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Datasets and partitions of which rows were read, in order."""
    seen: list[tuple[str, str]] = []
    before = NoteStore.read
    monkeypatch.setattr(NoteStore, "read", lambda self, *name: seen.append(name) or before(self, *name))
    return seen


def bring(store: NoteStore, delivery: Delivery, *ids: str) -> None:
    """Takes in notes that are no more than their ids, each of a patient of the same name."""
    rows = [dict.fromkeys(tables.RAW_SCHEMA.names) | {"note_id": each, "patient_id": f"of {each}"} for each in ids]
    store.write(tables.RAW_NOTES, delivery.key, [pa.Table.from_pylist(rows, schema=tables.RAW_SCHEMA)])


def tell(store: NoteStore, delivery: Delivery, *told: tuple[str | None, Mentioned]) -> None:
    """Writes what the first pass found, a note a part, as a patient and what the note tells."""
    rows = [
        dict.fromkeys(tables.FIRST_PASS_SCHEMA.names) | {"patient_id": patient, "told": tables.mention_rows(said)}
        for patient, said in told
    ]
    parts = [pa.Table.from_pylist([row], schema=tables.FIRST_PASS_SCHEMA) for row in rows]
    store.write(tables.FIRST_PASS, delivery.key, parts)


def ids(store: NoteStore, delivery: Delivery) -> list[str]:
    return NOTE_IDS.of(store, delivery.key)["note_id"].to_pylist()


def test_it_is_made_once_and_again_when_what_it_is_made_of_changes(store, read) -> None:
    bring(store, FIRST, "a", "b")
    assert ids(store, FIRST) == ["a", "b"]
    read.clear()
    assert ids(store, FIRST) == ["a", "b"]
    assert read == [(NOTE_IDS.dataset, FIRST.key)]
    bring(store, FIRST, "a", "c")
    assert ids(store, FIRST) == ["a", "c"]


@pytest.mark.parametrize("harm", ["part", "manifest", "gone", "of another delivery"])
def test_what_cannot_be_trusted_is_made_anew_and_kept(store, tmp_path, read, harm) -> None:
    bring(store, FIRST, "a", "b")
    bring(store, SECOND, "x", "y")
    for delivery in (FIRST, SECOND):
        ids(store, delivery)
    folder = tmp_path / "store" / NOTE_IDS.dataset / FIRST.key
    (part,) = folder.glob("*.parquet")
    match harm:
        case "part":
            part.write_bytes(part.read_bytes()[:-9])
        case "manifest":
            (folder / "manifest.json").write_text("{}")
        case "gone":
            part.unlink()
        case _:
            (of_second,) = (folder.parent / SECOND.key).glob("*.parquet")
            part.write_bytes(of_second.read_bytes())
    assert ids(store, FIRST) == ["a", "b"]
    read.clear()
    assert ids(store, FIRST) == ["a", "b"]
    assert (tables.RAW_NOTES, FIRST.key) not in read


def test_what_other_code_made_is_made_anew(store, read, monkeypatch) -> None:
    bring(store, FIRST, "a")
    ids(store, FIRST)
    monkeypatch.setattr(derived, "_DECIDING", ("deid_platform.labels",))
    read.clear()
    assert ids(store, FIRST) == ["a"]
    assert (tables.RAW_NOTES, FIRST.key) in read


def test_a_store_that_cannot_be_written_is_read_all_the_same(store, monkeypatch) -> None:
    bring(store, FIRST, "a")

    def full(*_: object, **__: object) -> None:
        raise DeidError(Code.STORE_WRITE, NOTE_IDS.dataset)

    monkeypatch.setattr(NoteStore, "write", full)
    assert ids(store, FIRST) == ["a"]


def test_without_its_source_there_is_none(store) -> None:
    bring(store, FIRST, "a")
    ids(store, FIRST)
    with pytest.raises(DeidError, match="not-materialized"):
        ids(store, SECOND)


def test_only_what_is_sought_is_found_in_the_notes_of_before_of_which_no_text_is_read(store, read) -> None:
    for delivery, brought in ((FIRST, "a"), (SECOND, "b")):
        bring(store, delivery, brought)
        ids(store, delivery)
    read.clear()
    assert sealing._brought(store, [FIRST, SECOND], "note_id", {"b", "nobody's", None}) == {"b"}
    assert sealing._brought(store, [FIRST, SECOND], "patient_id", {"of a", "b"}) == {"of a"}
    assert {dataset for dataset, _ in read} == {NOTE_IDS.dataset}


# What notes tell


def said(draw: random.Random) -> Mentioned:
    """What a note tells; two may disagree about whom a word names."""

    def some() -> dict[str, Label]:
        return {draw.choice(WORDS): draw.choice((Label.PATIENT, Label.DOCTOR)) for _ in range(draw.randrange(3))}

    return Mentioned(some(), some())


@pytest.mark.parametrize("seed", range(8))
def test_what_earlier_deliveries_tell_is_what_all_their_rows_tell(store, keyring, seed) -> None:
    draw = random.Random(seed)
    patients = ("p1", "p2", "p3", "p4", None)
    all_told = {
        delivery: [(draw.choice(patients), said(draw)) for _ in range(draw.randrange(9))]
        for delivery in (SECOND, FIRST, THIRD)
    }
    for delivery, told in all_told.items():
        tell(store, delivery, *told)
    for delivery in all_told:
        plain = PatientMentionIndex()
        here = {patient for patient, _ in all_told[delivery]}
        for earlier in (FIRST, SECOND, THIRD):
            if earlier.seq <= delivery.seq:
                for patient, mentions in all_told[earlier]:
                    if patient in here:
                        plain.add(patient, mentions)
        told = told_until(store, delivery, keyring)
        assert told_digests(store, delivery, keyring)[delivery] == told.digest
        assert all(told.index.by_others(each, Mentioned()) == plain.by_others(each, Mentioned()) for each in patients)


def test_of_a_delivery_without_a_patient_of_this_one_no_more_is_read_than_who_its_patients_are(
    store, keyring, read
) -> None:
    name = Mentioned({"ostrowe": Label.PATIENT})
    tell(store, FIRST, ("p1", name), ("p1", Mentioned()))
    tell(store, SECOND, ("p2", name), ("p3", Mentioned()))
    tell(store, THIRD, ("p3", name))
    for delivery in (FIRST, SECOND, THIRD):
        told_until(store, delivery, keyring)
    read.clear()
    told_until(store, THIRD, keyring)
    looked = {delivery.key: {dataset for dataset, key in read if key == delivery.key} for delivery in (FIRST, SECOND)}
    assert looked == {FIRST.key: {PATIENTS.dataset}, SECOND.key: {PATIENTS.dataset, TOLD.dataset}}


def test_what_is_found_up_to_each_delivery_is_named_as_if_each_were_asked_alone(store, keyring) -> None:
    for delivery in (SECOND, FIRST, THIRD):
        tell(store, delivery, (delivery.key, Mentioned()))
    parts = {d: [p.digest for p in store.required(tables.FIRST_PASS, d.key).parts] for d in (FIRST, SECOND, THIRD)}
    assert first_pass_digests(store, SECOND, keyring) == {
        FIRST: keyring.digest("told", *parts[FIRST]),
        SECOND: keyring.digest("told", *parts[FIRST], *parts[SECOND]),
    }


def test_what_is_told_is_named_by_what_it_is_and_of_whom_and_not_by_who_tells_it(store, keyring) -> None:
    def digests() -> list[str]:
        found = told_digests(store, THIRD, keyring)
        assert found == {each: told_until(store, each, keyring).digest for each in found}
        return list(found.values())

    ostrowe, aldous = (Mentioned({name: Label.PATIENT}) for name in ("ostrowe", "aldous"))
    assert digests() == []
    tell(store, FIRST, ("p1", ostrowe), ("p2", aldous))
    tell(store, SECOND, ("p1", Mentioned()))
    tell(store, THIRD, ("p3", Mentioned()), ("p1", ostrowe))
    before = digests()
    # Told again, by a note of another delivery, and of somebody of whom no later delivery has notes.
    tell(store, SECOND, ("p1", ostrowe))
    assert digests() == before
    tell(store, FIRST, ("p1", ostrowe), ("p2", ostrowe), ("p2", aldous))
    assert [old == new for old, new in zip(before, digests(), strict=True)] == [False, True, True]
    tell(store, FIRST, ("p1", aldous), ("p2", ostrowe))
    assert [old == new for old, new in zip(before, digests(), strict=True)] == [False, False, False]
    tell(store, FIRST, ("p1", Mentioned({"ostrowe": Label.DOCTOR})))
    tell(store, SECOND, ("p1", Mentioned()))
    assert [old == new for old, new in zip(before, digests(), strict=True)] == [False, False, False]


def test_the_name_of_the_upserts_covers_the_code_that_folds_them() -> None:
    from deid_platform.detection import DetectorSpec

    folding = (as_of.topics_as_of, tables.topics_of, Topics.folded, in_order, DetectorSpec.dictionary_digest)
    outside = {code.__module__ for code in folding if code.__module__.rpartition(".")[0] != as_of.__package__}
    assert outside == set(as_of._FOLDING)
