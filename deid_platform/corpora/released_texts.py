"""Released texts of any system beside the originals: what a language model wrote, a peer, another hospital.

Belongs here: reading them, and telling which note each is of. Does not belong here: spans of another detector
(`given_spans.py`), gold (`gold_sets.py`), or what is measured of a release (`evaluation/`).

    {"note_id": ..., "text": ...}

JSON lines, CSV or Parquet, as `deid redact` reads notes and as it writes them; other columns are left aside. A folder
has a text a note instead, `NOTE_ID.txt`. A note without a row or a file, or with an empty text, was withheld. A row
that cannot be used, or of a note that there is not, is an error and no withheld note: what is compared may not belong
together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from deid_platform.corpora import Format, Reason, Rejection, Role
from deid_platform.corpora.formats.delimited import written_as
from deid_platform.corpora.rows import shapes
from deid_platform.corpora.single_files import read_notes
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Note

_FIELDS = ("note_id", "text")


@dataclass(frozen=True, slots=True, repr=False)
class ReleasedTexts:
    """The released texts of a file, by note; made by `read`."""

    _by_note: Mapping[str, str]

    def __repr__(self) -> str:
        return "<ReleasedTexts>"

    @classmethod
    def read(cls, path: Path, originals: Collection[str], *, columns: Mapping[str, str] | None = None) -> ReleasedTexts:
        """The released texts of a file.

        Args:
            path: The file; its name says the format, else it is JSON lines. Or a folder of texts.
            originals: Ids of all notes that there are.
            columns: Source column to field, where the file has other names.

        Raises:
            DeidError: `feed-unreadable` if there is nothing, or no text in a folder; `released-invalid` with the row
                (of a folder the place of its file) and the reason.
        """
        if path.is_dir():
            return cls(dict(_texts_of(path, originals)))
        if not path.is_file():
            raise DeidError(Code.FEED_UNREADABLE, "released: no such file")
        by_note: dict[str, str] = {}
        form = None if written_as(path)[0] else Format.JSONL
        mapped = {column: name for column, name in (columns or {}).items() if name in _FIELDS}
        # Whatever else a release says is of no use here, such as a date that was shifted into the future.
        others = {column for column, name in shapes(mapped)[Role.NOTES].columns.items() if name not in _FIELDS}
        rows = read_notes(path, columns=mapped, ignore=others, strict=False, table_format=form)
        for number, item in enumerate(rows, start=1):
            if isinstance(item, Rejection):
                if item.reason is Reason.EMPTY_TEXT and item.note_id in originals:
                    continue
                raise _invalid(number, item.reason.value.replace("_", " "))
            if item.note_id not in originals:
                raise _invalid(number, "of no original")
            by_note[item.note_id] = item.text
        return cls(by_note)

    def of(self, note: Note) -> str | None:
        """What was released of a note; None if it was withheld."""
        return self._by_note.get(note.note_id)


def _texts_of(folder: Path, originals: Collection[str]) -> Iterator[tuple[str, str]]:
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise DeidError(Code.FEED_UNREADABLE, "released: no .txt in the folder")
    for number, file in enumerate(files, start=1):
        if file.stem not in originals:
            raise _invalid(number, "of no original")
        try:
            text = file.read_bytes().decode("utf-8-sig")
        except OSError:
            raise DeidError(Code.FEED_UNREADABLE, f"released: text {number}") from None
        except UnicodeDecodeError:
            raise _invalid(number, "invalid utf8") from None
        if text.strip():
            yield file.stem, text


def _invalid(row: int, fault: str) -> DeidError:
    return DeidError(Code.RELEASED_INVALID, f"row {row}: {fault}")
