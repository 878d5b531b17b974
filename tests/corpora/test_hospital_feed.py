"""The hospital's deliveries on disk: a feed that the reader takes whole, and gold that it cannot see."""

from __future__ import annotations

import csv
import gzip
import json
from hashlib import sha256
from pathlib import Path

import pytest

from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.gold import read_gold
from deid_platform.corpora.hospital import HospitalSpec, generate, write
from deid_platform.errors import DeidError
from deid_platform.notes import Note, Topics

SPEC = HospitalSpec(seed=11, notes=80, patients=24)
ROLES = {"notes.jsonl.gz", "patients.csv", "providers.csv", "facilities.csv", "withdrawn.csv"}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("hospital")
    assert write(SPEC, feed_root=root / "feed", gold_root=root / "gold") == ["2026-01-05", "2026-01-12"]
    return root / "feed", root / "gold"


def digests(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_a_delivery_is_a_folder_with_a_file_a_role(written: tuple[Path, Path]) -> None:
    feed, _ = written
    assert {path.name for path in feed.iterdir()} == {"2026-01-05", "2026-01-12"}
    for folder in feed.iterdir():
        assert {path.name for path in folder.iterdir()} == ROLES


def test_the_same_seed_writes_the_same_bytes(written: tuple[Path, Path], tmp_path: Path) -> None:
    write(SPEC, feed_root=tmp_path / "a", gold_root=tmp_path / "b")
    assert digests(tmp_path / "a") == digests(written[0])
    assert digests(tmp_path / "b") == digests(written[1])


def test_writing_again_replaces_and_leaves_nothing_behind(tmp_path: Path) -> None:
    feed, gold = tmp_path / "feed", tmp_path / "gold"
    write(SPEC, feed_root=feed, gold_root=gold)
    before = digests(tmp_path)
    (feed / "2026-01-05" / "notes-0002.jsonl").write_text("left over", encoding="utf-8")
    (feed / "2026-01-12.tmp").mkdir()
    write(SPEC, feed_root=feed, gold_root=gold)
    assert digests(tmp_path) == before
    assert {path.name for path in feed.iterdir()} == {"2026-01-05", "2026-01-12"}


def test_gold_is_never_in_the_feed(written: tuple[Path, Path], tmp_path: Path) -> None:
    feed, _ = written
    assert not [path for path in feed.rglob("*") if "gold" in path.name]
    with gzip.open(feed / "2026-01-05" / "notes.jsonl.gz", "rt", encoding="utf-8") as lines:
        assert all("spans" not in json.loads(line) for line in lines)
    for inside in (tmp_path, tmp_path / "gold", tmp_path / "2026-01-05" / "deep"):
        with pytest.raises(DeidError, match="gold_root"):
            write(SPEC, feed_root=tmp_path, gold_root=inside)


def test_the_reader_takes_every_row(written: tuple[Path, Path]) -> None:
    reader = FilesFeed("hospital", written[0])
    topics, known_notes = Topics(), set()
    for delivery, expected in zip(reader.deliveries(), generate(SPEC), strict=True):
        notes = list(reader.notes(delivery))
        upserts, refused = reader.topics(delivery)
        assert refused == []
        assert notes == expected.notes
        assert upserts == expected.topics
        topics = topics.folded(upserts)
        known_notes |= {note.note_id for note in notes if isinstance(note, Note)}
        found = tuple(reader.withdrawals(delivery, known_patients=topics.patients, known_notes=known_notes))
        assert found == expected.withdrawals


def test_gold_reads_back_as_it_was_planted(written: tuple[Path, Path]) -> None:
    for expected in generate(SPEC):
        for gold in read_gold(written[1] / f"{expected.watermark}.jsonl.gz"):
            planted = expected.gold[gold.note_id]
            assert [(s.start, s.end, s.label) for s in gold.spans] == [(s.start, s.end, s.label) for s in planted]
            assert gold.clinical == expected.clinical[gold.note_id]


def test_topics_have_the_columns_of_the_data_model(written: tuple[Path, Path]) -> None:
    with (written[0] / "2026-01-05" / "patients.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == [
        "patient_id", "first_name", "middle_name", "last_name", "birth_date", "sex", "mrn", "ssn", "phone", "email",
        "street", "city", "state", "zip", "relatives", "mother_id",
    ]  # fmt: skip
    assert all(len(row["zip"]) == 5 for row in rows)


def test_progress_reaches_the_end_of_each_delivery(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    write(
        SPEC,
        feed_root=tmp_path / "feed",
        gold_root=tmp_path / "gold",
        progress=lambda done, of: calls.append((done, of)),
    )
    assert [done for done, of in calls if done == of] == [len(d.notes) for d in generate(SPEC)]
    assert all(done <= of for done, of in calls)
