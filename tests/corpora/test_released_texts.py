"""Released texts from a file: which note each is of, and what is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deid_platform.corpora.released_texts import ReleasedTexts
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note

ROWS = [{"note_id": "zeb1", "text": "Seen by [DOCTOR]."}, {"note_id": "2", "text": "Well.", "spans": [[0, 4, "X"]]}]
IDS = ("zeb1", "2", "3")


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def release(texts: ReleasedTexts, note_id: str) -> str | None:
    return texts.of(Note(note_id, "whatever"))


@pytest.mark.parametrize("name", ["out.jsonl", "out", "out.txt", "out.jsonl.gz", "out.csv", "out.parquet"])
def test_any_table_that_redact_reads_and_what_it_writes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in ROWS).encode()))
    elif name.endswith(".csv"):
        path.write_text("note_id,text\nzeb1,Seen by [DOCTOR].\n2,Well.\n")
    elif name.endswith(".parquet"):
        pq.write_table(pa.table({"note_id": ["zeb1", "2"], "text": ["Seen by [DOCTOR].", "Well."]}), path)
    else:
        written(path, *ROWS)
    texts = ReleasedTexts.read(path, IDS)
    assert [release(texts, it) for it in IDS] == ["Seen by [DOCTOR].", "Well.", None]


def test_a_folder_has_a_text_a_note(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(DeidError, match=r"no \.txt in the folder"):
        ReleasedTexts.read(folder, IDS)
    (folder / "zeb1.txt").write_bytes("\ufeffSeen by [DOCTOR].\r\n".encode())
    (folder / "2.txt").write_text("  \n")
    (folder / "zeb1.ann").write_text("")
    texts = ReleasedTexts.read(folder, IDS)
    assert [release(texts, it) for it in IDS] == ["Seen by [DOCTOR].\r\n", None, None]
    (folder / "zeb9.txt").write_text("Well.")
    with pytest.raises(DeidError, match="row 3: of no original") as raised:
        ReleasedTexts.read(folder, IDS)
    assert "zeb" not in str(raised.value), "a file may be named after a patient"
    (folder / "zeb9.txt").unlink()
    (folder / "3.txt").write_bytes(b"\xff")
    with pytest.raises(DeidError, match="row 2: invalid utf8"):
        ReleasedTexts.read(folder, IDS)


def test_columns_by_other_names_shifted_dates_and_empty_texts(tmp_path: Path) -> None:
    rows = [{"DOC": "zeb1", "OUT": "Well.", "note_date": "2931-01-01"}, {"DOC": "2", "OUT": ""}]
    texts = ReleasedTexts.read(written(tmp_path / "out.jsonl", *rows), IDS, columns={"DOC": "note_id", "OUT": "text"})
    assert release(texts, "zeb1") == "Well.", "a date of a release may be shifted into the future"
    assert release(texts, "2") is None, "an empty release is a withheld note"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*ROWS, {"note_id": "zeb9", "text": "Well."}], "row 3: of no original"),
        ([ROWS[0], {"note_id": "zeb9", "text": ""}], "row 2: empty text"),  # of no original either
        ([*ROWS, ROWS[0]], "row 3: duplicate note id"),
        ([{"text": "Well."}], "row 1: missing note id"),
        (["Well."], "row 1: malformed row"),
    ],
)
def test_what_fits_no_original_is_refused_without_a_word_of_it(tmp_path: Path, rows: list[object], said: str) -> None:
    with pytest.raises(DeidError) as error:
        ReleasedTexts.read(written(tmp_path / "out.jsonl", *rows), IDS)
    assert (error.value.code, error.value.ref) == (Code.RELEASED_INVALID, said)
    assert "zeb" not in str(error.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DeidError, match="released") as error:
        ReleasedTexts.read(tmp_path / "none.jsonl", IDS)
    assert error.value.code is Code.FEED_UNREADABLE
