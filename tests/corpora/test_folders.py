"""Links in deliveries: seen when a folder is listed, and never followed when a file is opened."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deid_platform.corpora import Reason, Rejection, Role
from deid_platform.corpora.files import FilesFeed
from deid_platform.corpora.folders import Delivered
from deid_platform.corpora.formats import file_format
from deid_platform.corpora.gold import read_gold
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery

DAY = Delivery("ehr", "2026-01-05")
SECRET = "Quillfeather, who is in no delivery"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ehr" / DAY.watermark).mkdir(parents=True)
    return tmp_path / "ehr"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def _table(folder: Path, name: str, text: str = SECRET) -> Path:
    path, table = folder / name, f'note_id,text\ns,"{text}"\n'.encode()
    match name.rpartition(".")[2]:
        case "gz":
            table = gzip.compress(table)
        case "zst":
            table = bytes(pa.Codec("zstd").compress(table))
        case "parquet":
            sink = pa.BufferOutputStream()
            pq.write_table(pa.table({"note_id": ["s"], "text": [text]}), sink)
            table = sink.getvalue().to_pybytes()
        case "jsonl":
            table = f'{{"note_id": "s", "text": "{text}"}}\n'.encode()
    path.write_bytes(table)
    return path


def _read(feed: FilesFeed, role: Role = Role.NOTES) -> tuple[list[str], list[tuple[str, Reason]]]:
    """The texts of a role's notes, and the rows that were refused."""
    found = list(feed.inspect(DAY)) if role is Role.NOTES else []
    return (
        [note.text for note in found if not isinstance(note, Rejection)],
        [(refused.file, refused.reason) for refused in found if isinstance(refused, Rejection)],
    )


NAMES = ("notes-2.csv", "notes-2.csv.gz", "notes-2.csv.zst", "notes-2.parquet", "notes-2.jsonl")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_a_link_is_refused_by_name_and_the_others_stand(root: Path, elsewhere: Path, name: str) -> None:
    folder = root / DAY.watermark
    _table(folder, "notes-1.jsonl", "mine")
    (folder / name).symlink_to(_table(elsewhere, name))
    assert _read(FilesFeed("ehr", root)) == (["mine"], [("notes[1]", Reason.LINK)])
    assert _read(FilesFeed("ehr", root, follow_links=True)) == (["mine"], [("notes[1]", Reason.DUPLICATE_NOTE_ID)])


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_becomes_a_link_after_the_folder_was_listed_is_not_followed(
    root: Path, elsewhere: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = root / DAY.watermark
    path, target = _table(folder, name, "mine"), _table(elsewhere, name)
    # At the last moment: what looks for links has looked.
    monkeypatch.setattr(Delivered, "is_symlink", lambda self: False)
    monkeypatch.setattr(Delivered, "is_file", lambda self: True)
    assert _read(FilesFeed("ehr", root)) == (["mine"], [])
    path.unlink()
    path.symlink_to(target)
    assert _read(FilesFeed("ehr", root)) == ([], [("notes[0]", Reason.UNREADABLE_FILE)])


def test_a_folder_that_becomes_a_link_after_it_was_listed_is_not_followed(
    root: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _table(elsewhere, "notes.csv")
    (root / DAY.watermark).rmdir()
    (root / DAY.watermark).symlink_to(elsewhere)
    feed = FilesFeed("ehr", root)
    with pytest.raises(DeidError) as error:
        list(feed.notes(DAY))
    assert (error.value.code, error.value.ref) == (Code.FEED_LINK, DAY.key)
    monkeypatch.setattr(Delivered, "is_symlink", lambda self: False)
    assert _read(feed) == ([], [("notes[0]", Reason.UNREADABLE_FILE)])


def test_a_delivery_s_folder_that_is_a_link_is_no_delivery_and_the_feed_s_own_may_be_one(
    root: Path, elsewhere: Path, tmp_path: Path
) -> None:
    _table(root / DAY.watermark, "notes.csv", "mine")
    (root / "2026-01-12").symlink_to(elsewhere)
    (tmp_path / "mounted").symlink_to(root)
    feed = FilesFeed("ehr", tmp_path / "mounted")
    assert feed.deliveries() == [DAY]
    assert [(error.code, error.ref) for error in feed.refused()] == [(Code.FEED_LINK, "ehr[1]")]
    assert _read(feed) == (["mine"], [])
    followed = FilesFeed("ehr", root, follow_links=True)
    assert (len(followed.deliveries()), followed.refused()) == (2, [])


# What a format's file is called, so that it is claimed
CLAIMED = {
    "files": "notes.csv",
    "fhir": "DocumentReference.ndjson",
    "hl7": "messages.hl7",
    "mimic3": "NOTEEVENTS.csv",
    "mimic4": "discharge.csv",
    "i2b2": "note.xml",
    "brat": "note.txt",
    "scan": "letter.pdf",
}


@pytest.mark.parametrize("name", CLAIMED)
def test_links_are_refused_in_every_format(root: Path, elsewhere: Path, name: str) -> None:
    (elsewhere / "secret").write_text(SECRET)
    (root / DAY.watermark / CLAIMED[name]).symlink_to(elsewhere / "secret")
    (root / DAY.watermark / "withdrawn.csv").symlink_to(elsewhere / "secret")
    found = list(FilesFeed("ehr", root, file_format=file_format(name)).inspect(DAY))
    assert {item.reason for item in found if isinstance(item, Rejection)} == {Reason.LINK}
    assert all(isinstance(item, Rejection) for item in found)
    assert {item.role for item in found if isinstance(item, Rejection)} >= {Role.NOTES, Role.WITHDRAWN}


def test_a_link_counts_as_unread_in_the_fingerprint_and_its_target_does_not_change_it(
    root: Path, elsewhere: Path
) -> None:
    (root / DAY.watermark / "notes.csv").symlink_to(_table(elsewhere, "notes.csv"))
    feed, unread = FilesFeed("ehr", root), []
    before = feed.fingerprint(DAY, unread=lambda: unread.append(1))
    _table(elsewhere, "notes.csv", "something else")
    assert (feed.fingerprint(DAY), unread, feed.states(DAY)) == (before, [1], None)


def test_a_gold_file_that_is_a_link_is_not_read(root: Path, elsewhere: Path) -> None:
    (elsewhere / "gold.jsonl").write_text(f'{{"note_id": "s", "text": "{SECRET}", "spans": []}}\n')
    (root / "2026-01-05.jsonl").symlink_to(elsewhere / "gold.jsonl")
    assert [gold.note_id for gold in read_gold(root / "2026-01-05.jsonl")] == ["s"]
    with pytest.raises(DeidError) as error:
        list(read_gold(Delivered(root / "2026-01-05.jsonl")))
    assert SECRET not in str(error.value)


def test_a_hard_link_is_a_file(root: Path, elsewhere: Path) -> None:
    (root / DAY.watermark / "notes.csv").hardlink_to(_table(elsewhere, "notes.csv"))
    assert _read(FilesFeed("ehr", root)) == ([SECRET], [])


def test_a_delivered_file_is_read_and_never_written(root: Path) -> None:
    path = Delivered(_table(root / DAY.watermark, "notes.csv"))
    for mode in ("w", "wb", "ab", "r"):
        with pytest.raises(OSError, match="deliveries are read"):
            path.open(mode)
    assert isinstance(path.parent / "other", Delivered)
