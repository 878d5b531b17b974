"""The hospital's deliveries on disk: a feed that the reader takes whole, and gold that it cannot see."""

from __future__ import annotations

import csv
import gzip
import json
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deid_platform.cli import app
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.gold import read_gold
from deid_platform.corpora.hospital import HELD_OUT_STYLES, Document, HospitalSpec, deliveries, generate, library, write
from deid_platform.corpora.hospital.deliveries import NotePlan, document
from deid_platform.corpora.hospital.people import Institution
from deid_platform.corpora.hospital.selection import is_held_out_way
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


def test_notes_are_made_one_by_one_as_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def counted(place: Institution, note: NotePlan) -> Document:
        made.append(note.note_id)
        return document(place, note)

    monkeypatch.setattr(deliveries, "document", counted)
    first = next(deliveries.plans(HospitalSpec(notes=400)))
    notes = deliveries.documents(first)
    assert len(first.notes) > 300
    assert made == []
    for _ in range(3):
        next(notes)
    assert made == [plan.note_id for plan in first.notes[:3]]


def test_gold_says_the_style_and_the_way_of_each_identifier(written: tuple[Path, Path]) -> None:
    expected = next(generate(SPEC))
    with gzip.open(written[1] / f"{expected.watermark}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            assert row["style"] == expected.styles[row["note_id"]]
            assert tuple(row["ways"]) == expected.ways[row["note_id"]]


def test_gold_says_what_each_note_is_mostly_about(written: tuple[Path, Path]) -> None:
    known = {condition.key for condition in library.conditions()}
    deliveries_ = {made.watermark: made for made in generate(SPEC)}
    for path in sorted(written[1].iterdir()):
        made = deliveries_[path.name.removesuffix(".jsonl.gz")]
        said = {gold.note_id: gold.condition for gold in read_gold(path)}
        assert said == dict(made.conditions)
        assert set(said.values()) <= known
    # It is what the prose was drawn for: notes about diabetes speak of it, most others do not.
    notes = {note.note_id: note.text for made in deliveries_.values() for note in made.notes}
    about = {note_id: it for made in deliveries_.values() for note_id, it in made.conditions.items()}
    diabetic = [notes[note_id] for note_id, it in about.items() if it == "t2dm"]
    others = [notes[note_id] for note_id, it in about.items() if it != "t2dm"]
    words = ("diabetes", "T2DM", "A1c", "metformin", "Metformin", "insulin", "sugar")
    shares = [sum(any(w in text for w in words) for text in some) / len(some) for some in (diabetic, others)]
    assert shares[0] > 0.9 > 0.5 > shares[1]


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


def test_the_command_writes_the_held_out_part_alone(tmp_path: Path) -> None:
    config = tmp_path / "deid.toml"
    config.write_text(
        'site = "north"\nprofile = "demo"\n[feeds.hospital]\npath = "in"\ngold = "gold"\ndemonstration = true\n'
    )
    done = CliRunner().invoke(app, ["hospital", "--held-out", "--notes", "60", "--config", str(config)])
    assert done.exit_code == 0
    with gzip.open(tmp_path / "gold" / "2026-01-05.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    ways = {way for row in rows for way in row["ways"] if way}
    assert ways
    assert all(is_held_out_way(way) for way in ways)
    assert {row["style"] for row in rows} >= HELD_OUT_STYLES
