"""Tables beside the notes of a database: read by the period of their own watermark, column by column as mapped."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.sql.feed import SqlFeed
from deid_platform.corpora.structured import StructuredRow
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Delivery
from deid_platform.settings import FeedSettings

NOTES = "CREATE TABLE notes (note_id VARCHAR(40), patient_id VARCHAR(40), text TEXT, changed TIMESTAMP)"
LABS = (
    "CREATE TABLE labs (result_id INTEGER, pat VARCHAR(40), drawn TIMESTAMP, mrn VARCHAR(40), test VARCHAR(40),"
    " value NUMERIC(6, 2), comment VARCHAR(40), entered TIMESTAMP)"
)
MAPPED = {
    "row": "RESULT_ID",  # databases fold capitals
    "patient": "PAT",
    "columns": {"drawn": "DATE", "mrn": "MEDICALRECORD"},
    "keep": {"test": "names of the laboratory's own list", "value": "a measured figure"},
    "watermark": "entered",
}
FIRST, SECOND = "2026-01-05 08:00:00", "2026-01-12 23:59:59"


def row(number: int | None, entered: str | None = FIRST, **more: object) -> dict[str, object]:
    values = {"pat": "p1", "drawn": "2026-01-02 10:30:00", "mrn": "48151623", "test": "Potassium", "value": 4.25}
    return {"result_id": number, **values, "comment": "SECRET", "entered": entered, **more}


@pytest.fixture
def labs(source) -> Any:
    """The database with a table `labs`, and what opens the feed that maps it."""
    source.run(NOTES, LABS)
    source.add("notes", {"note_id": "n1", "patient_id": "p1", "text": "Seen today.", "changed": FIRST})
    return source


def feed_of(source: Any, **keys: object) -> SqlFeed:
    keys = {"table": "labs"} | keys
    return source.feed(tables={"notes": "notes"}, watermark="changed", structured={"labs": MAPPED | keys})


def rows_of(feed: SqlFeed, watermark: str = "2026-01-05") -> list[StructuredRow | Rejection]:
    return list(feed.structured(Delivery("ehr", watermark)))


def test_rows_have_the_columns_that_are_mapped_and_no_other(labs) -> None:
    labs.add("labs", row(7), row(8, drawn=None))
    first, second = rows_of(feed_of(labs))
    assert first.text == "drawn: 2026-01-02\nmrn: 48151623\ntest: Potassium\nvalue: 4.25\n"
    assert [(span.label, first.text[span.start : span.end]) for span in first.spans] == [
        (Label.DATE, "2026-01-02"),
        (Label.MEDICALRECORD, "48151623"),
    ]
    assert (first.note_id, first.patient_id) == ("structured:labs/7", "p1")
    assert second.text == "mrn: 48151623\ntest: Potassium\nvalue: 4.25\n"
    assert feed_of(labs).kept_back() == {"labs": ["comment", "entered"]}


def test_a_row_that_cannot_be_used_is_refused_by_itself(labs) -> None:
    labs.add("labs", row(1), row(1, mrn="2"), row(None), row(2, pat=" "), row(3, None), row(4))
    found = rows_of(feed_of(labs))
    assert [item.note_id for item in found if isinstance(item, StructuredRow)] == [
        "structured:labs/1",
        "structured:labs/4",
    ]
    assert Counter((item.reason, item.note_id) for item in found if isinstance(item, Rejection)) == Counter(
        [
            (Reason.DUPLICATE_ID, None),
            (Reason.MISSING_ID, None),
            (Reason.MISSING_ID, "structured:labs/2"),
            (Reason.MISSING_WATERMARK, "structured:labs/3"),
        ]
    )
    (undated,) = feed_of(labs).refused()
    assert undated.ref == "ehr: structured-labs, 1"


def test_a_table_has_deliveries_of_its_own_and_makes_them_others(labs) -> None:
    labs.add("labs", row(1), row(2, SECOND), row(3, f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}"))
    feed = feed_of(labs)
    first, second = feed.deliveries()
    assert (first.watermark, second.watermark) == ("2026-01-05", "2026-01-12")
    assert [item.note_id for item in rows_of(feed, "2026-01-12")] == ["structured:labs/2"]
    assert feed.waiting() == 1
    before = [(feed.fingerprint(one), feed.marker(one), feed.markers([one])[one]) for one in (first, second)]
    assert before[1][1] == before[1][2]
    labs.add("labs", row(9, SECOND))
    after = [(feed.fingerprint(one), feed.marker(one), feed.markers([one])[one]) for one in (first, second)]
    assert after[0] == before[0]
    assert not {*after[1]} & {*before[1]}


def test_the_rows_of_a_query(labs, tmp_path: Path) -> None:
    labs.add("labs", row(1), row(2))
    (tmp_path / "labs.sql").write_text("SELECT * FROM labs WHERE result_id > 1;")
    (only,) = rows_of(feed_of(labs, table=None, query=tmp_path / "labs.sql"))
    assert only.note_id == "structured:labs/2"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"table": "nowhere"}, "ehr: structured-labs"),
        ({"columns": {"drawn": "DATE", "ward": "HOSPITAL"}}, "ehr: structured-labs, a column that is mapped"),
        ({"watermark": "changed"}, "ehr: structured-labs, column of the watermark"),
    ],
)
def test_what_is_not_there_is_refused_before_any_row_is_read(labs, keys: dict[str, object], said: str) -> None:
    labs.add("labs", row(1))
    with pytest.raises(DeidError) as caught:
        feed_of(labs, **keys).deliveries()
    assert (caught.value.code, caught.value.ref) == (Code.FEED_TABLE, said)


@pytest.mark.parametrize(
    ("feed", "keys", "said"),
    [
        ({"format": "sql", "tables": {"notes": "n"}, "watermark": "w"}, {}, "either a table or a query"),
        (
            {"format": "sql", "tables": {"notes": "n"}, "watermark": "w"},
            {"table": "labs", "query": "labs.sql"},
            "either a table or a query",
        ),
        ({"format": "omop"}, {"table": "measurement", "watermark": None}, "structured.labs.watermark has to be set"),
        ({"path": "deliveries"}, {"table": "labs"}, "are for databases"),
        ({"path": "deliveries"}, {}, "are for databases"),  # a watermark
    ],
)
def test_keys_that_do_not_go_together(feed: dict[str, object], keys: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        FeedSettings(**feed, structured={"labs": MAPPED | keys})
