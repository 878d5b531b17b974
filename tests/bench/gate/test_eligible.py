"""What the sampler is told of each note: what reading all notes would tell, of which only new ones are read."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from pathlib import Path

import pytest
from small_feed import taken_in

from deid_platform.bench.gate import eligible, measured_notes
from deid_platform.bench.gate.eligible import population
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.sampling import EligibleNote
from deid_platform.evaluation.scores.tokens import word_offsets
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings
from deid_platform.store import NoteStore

FIRST, SECOND, THIRD = "2026-01-05", "2026-01-12", "2026-01-19"
TYPE = "progress note"
SETTINGS = """site = "north"
profile = "demo"
home = "home"
[detection]
detector = "rules"
[bench]
periods = {periods}
[feeds.hospital]
path = "hospital"
gold = "gold"
demonstration = true
note_types = {types}
[feeds.clinic]
path = "clinic"
demonstration = true
note_types = ["progress note"]
"""


def configured(folder: Path, *, types: list[str] | None = None, periods: list[list[int]] | None = None) -> Site:
    (folder / "deid.toml").write_text(SETTINGS.format(types=json.dumps(types or [TYPE]), periods=periods or []))
    return Site(load_settings(folder / "deid.toml"))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("DEID_SECRET", hashlib.sha256(b"eligible").hexdigest())
    monkeypatch.setenv("DEID_WAREHOUSE_URL", "postgresql+psycopg://nobody@127.0.0.1:1/none")
    monkeypatch.delenv("DEID_SECRET_FILE", raising=False)
    return configured(tmp_path)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Deliveries of which raw notes were read, in order."""
    seen: list[str] = []
    before = NoteStore.read

    def watched(self: NoteStore, dataset: str, partition: str):
        if dataset == tables.RAW_NOTES:
            seen.append(partition)
        return before(self, dataset, partition)

    monkeypatch.setattr(NoteStore, "read", watched)
    return seen


def bring(site: Site, watermark: str, notes: list[dict], patients: list[dict] = (), *, feed: str = "hospital") -> str:
    """Writes a delivery and takes it in; returns its key."""
    folder = site.settings.path(site.feed(feed).path) / watermark
    folder.mkdir(parents=True, exist_ok=True)
    rows = ({"note_type": TYPE, "note_date": "2025-03-01", **note} for note in notes)
    (folder / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with (folder / "patients.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, ["patient_id", "last_name"])
        table.writeheader()
        table.writerows(patients)
    delivery = Delivery(feed, watermark)
    taken_in(site, delivery)
    return delivery.key


def note(note_id: str, text: str = "Stable.", patient_id: str | None = "p1", **more: str | None) -> dict:
    return {"note_id": note_id, "text": text, "patient_id": patient_id, **more}


def groups(site: Site) -> dict[str, tuple[str, str, bool]]:
    return {it.note_id.partition("/")[2]: (it.note_type, it.period, it.has_phi) for it in population(site)}


def test_all_that_the_sampler_needs_is_told_of_each_note(site) -> None:
    texts = {"1": "Mrs. Quillfeather's BP is 120/80.", "2": "血圧 ok", "3": "..."}
    bring(
        site,
        FIRST,
        [
            note("1", texts["1"]),
            note("2", texts["2"], None, note_date=None, note_type=None),
            note("3", texts["3"], "p9", note_type="of Mrs. Quillfeather"),
        ],
        [{"patient_id": "p1", "last_name": "Quillfeather"}],
    )
    words = {name: len(word_offsets(text)) for name, text in texts.items()}
    found = population(site)
    assert len(found) == 3
    assert list(found) == [
        EligibleNote("hospital/1", "p1", TYPE, "2025", words["1"], True),
        EligibleNote("hospital/2", None, "other", "undated", words["2"], False),
        EligibleNote("hospital/3", "p9", "other", "2025", words["3"], False),
    ]
    assert found.strata() == {
        (TYPE, "2025", True): 1,
        ("other", "undated", False): 1,
        ("other", "2025", False): 1,
    }


def test_a_refresh_reads_the_notes_of_new_deliveries_alone(site, read) -> None:
    bring(site, FIRST, [note("1")])
    measured_notes.build_test_set(site)
    second = bring(site, SECOND, [note("2")])
    read.clear()
    measured_notes.build_test_set(site)
    assert set(read) == {second}
    read.clear()
    measured_notes.build_test_set(site)
    assert read == []
    assert {row["note_id"] for row in site.store.stream(tables.TEST_SET, tables.ALL)} == {"1", "2"}


def test_a_delivery_that_changed_is_read_again(site, read) -> None:
    first = bring(site, FIRST, [note("1")])
    bring(site, SECOND, [note("2")])
    before = {it.note_id: it.words for it in population(site)}
    bring(site, FIRST, [note("1", "Stable. Goes home.")])
    read.clear()
    assert {it.note_id: it.words for it in population(site)} == {**before, "hospital/1": 3}
    assert set(read) == {first}


def test_what_other_code_made_is_made_anew(site, read, monkeypatch) -> None:
    first = bring(site, FIRST, [note("1")])
    population(site)
    monkeypatch.setattr(eligible, "_DECIDING", ("deid_platform.labels",))
    read.clear()
    population(site)
    assert set(read) == {first}


def test_other_types_and_periods_count_at_once_and_no_note_is_read(site, read, tmp_path) -> None:
    bring(site, FIRST, [note("1"), note("2", note_type="letter")])
    assert groups(site) == {"1": (TYPE, "2025", False), "2": ("other", "2025", False)}
    read.clear()
    assert groups(configured(tmp_path, types=["letter"], periods=[[2024, 2026]])) == {
        "1": ("other", "2024-2026", False),
        "2": ("letter", "2024-2026", False),
    }
    assert read == []


def named(site: Site) -> dict[str, bool]:
    return {note_id: has_phi for note_id, (_, _, has_phi) in groups(site).items()}


def test_a_patient_is_known_by_what_had_been_told_when_the_note_arrived(site, read) -> None:
    text = "Mrs. Quillfeather came."
    bring(site, FIRST, [note("1", text)])
    second = bring(site, SECOND, [note("2", text)], [{"patient_id": "p1", "last_name": "Quillfeather"}])
    third = bring(site, THIRD, [note("3", text)])
    assert named(site) == {"1": False, "2": True, "3": True}
    # Another feed's topics are not this feed's.
    bring(site, FIRST, [note("9", text)], feed="clinic")
    assert named(site) == {"1": False, "2": True, "3": True, "9": False}
    read.clear()
    # An earlier delivery that says otherwise now concerns what came after it.
    bring(site, SECOND, [note("2", text)], [{"patient_id": "p1", "last_name": "Ostrowe"}])
    assert named(site) == {"1": False, "2": False, "3": False, "9": False}
    assert set(read) == {second, third}


def test_the_newest_version_of_a_note_counts_in_its_own_feed(site) -> None:
    bring(site, FIRST, [note("1"), note("2")])
    second = bring(site, SECOND, [note("1", "Stable. Goes home.")])
    clinic = bring(site, FIRST, [note("1", "Came by.")], feed="clinic")
    found = population(site)
    assert {it.note_id: it.words for it in found} == {"clinic/1": 2, "hospital/1": 3, "hospital/2": 1}
    places = {name: delivery.key for name, (_, delivery) in found.named(["clinic/1", "hospital/1", "none/1"]).items()}
    assert places == {"clinic/1": clinic, "hospital/1": second}
    measured_notes.build_test_set(site)
    sealed = {(row["delivery"], row["note_id"]) for row in site.store.stream(tables.TEST_SET, tables.ALL)}
    assert sealed == {(clinic, "1"), (second, "1"), (f"hospital@{FIRST}", "2")}


def test_without_notes_there_is_no_population(site) -> None:
    assert (list(population(site)), population(site).strata()) == ([], {})
    bring(site, FIRST, [], [{"patient_id": "p1", "last_name": "Quillfeather"}])
    assert (list(population(site)), population(site).strata()) == ([], {})
    assert measured_notes.build_test_set(site).note_ids == ()


def test_gold_is_sought_in_deliveries_of_chosen_notes_alone(site, read) -> None:
    bring(site, FIRST, [note("1")])
    second = bring(site, SECOND, [note("1", "Mrs. Ostrowe is stable."), note("2")])
    folder = site.settings.path(site.feed("hospital").gold)
    folder.mkdir()
    (folder / f"{FIRST}.jsonl.gz").write_bytes(b"no gold at all")
    with gzip.open(folder / f"{SECOND}.jsonl.gz", "wt") as lines:
        lines.write(json.dumps({"note_id": "1", "spans": [[5, 12, "PATIENT"]]}) + "\n")
    measured_notes.build_test_set(site)
    read.clear()
    assert measured_notes.collect_gold(site).by_feed == {"hospital": 1}
    assert set(read) == {second}
    (row,) = site.store.rows(tables.GOLD_NOTES, tables.ALL)
    assert (row["note_id"], row["text"]) == ("hospital/1", "Mrs. Ostrowe is stable.")
    assert [(span["start"], span["end"]) for span in row["gold"]] == [(5, 12)]


# Who has left


def withdraw(site: Site, watermark: str, rows: list[dict], *, feed: str = "hospital") -> None:
    """A delivery that says nothing but who leaves, or with `rejoined` who is back."""
    folder = site.settings.path(site.feed(feed).path) / watermark
    folder.mkdir(parents=True, exist_ok=True)
    for name, back in (("withdrawn", False), ("rejoined", True)):
        said = [{"note_id": "", **row} for row in rows if row.get("back", False) == back]
        with (folder / f"{name}.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, ["patient_id"] if back else ["note_id", "patient_id"], extrasaction="ignore")
            table.writeheader()
            table.writerows(said)
    taken_in(site, Delivery(feed, watermark))


def measured_on(site: Site) -> set[str]:
    measured_notes.build_test_set(site)
    sealed = {f"{row['feed']}/{row['note_id']}" for row in site.store.stream(tables.TEST_SET, tables.ALL)}
    meta = site.store.required(tables.TEST_SET, tables.ALL).meta
    assert meta["population"] == sum(row[-1] for row in meta["strata"]) == len(sealed)
    return sealed


def test_notes_that_left_are_not_measured_on_and_count_in_no_stratum(site) -> None:
    bring(site, FIRST, [note("1"), note("2"), note("3", patient_id=None)])
    bring(site, FIRST, [note("1")], feed="clinic")
    withdraw(site, SECOND, [{"note_id": "1"}])
    assert measured_on(site) == {"hospital/2", "hospital/3", "clinic/1"}
    # A version that came later is back.
    bring(site, THIRD, [note("1", "Stable again.")])
    assert measured_on(site) == {"hospital/1", "hospital/2", "hospital/3", "clinic/1"}


def test_notes_of_a_patient_who_left_one_feed_are_measured_on_in_none_until_it_lets_them_back(site) -> None:
    bring(site, FIRST, [note("1", patient_id="p1"), note("2", patient_id="p2")])
    bring(site, FIRST, [note("7", patient_id="p1")], feed="clinic")
    withdraw(site, SECOND, [{"patient_id": "p1"}])
    assert measured_on(site) == {"hospital/2"}
    withdraw(site, "2026-02-01", [{"patient_id": "p1", "back": True}], feed="clinic")
    assert measured_on(site) == {"hospital/2"}, "another feed takes nothing back"
    withdraw(site, THIRD, [{"patient_id": "p1", "back": True}])
    assert measured_on(site) == {"hospital/1", "hospital/2", "clinic/7"}


def test_a_note_that_was_corrected_by_what_never_enters_is_not_measured_on_as_it_was(site) -> None:
    bring(site, FIRST, [note("1"), note("2")])
    bring(site, SECOND, [{**note("1"), "note_date": None, "text": ""}, note("3")])
    assert measured_on(site) == {"hospital/2", "hospital/3"}


def test_patients_who_opted_out_are_not_measured_on_before_their_deliveries_are_taken_in_anew(site, tmp_path) -> None:
    bring(site, FIRST, [note("1", patient_id="p1"), note("2", patient_id="p2")])
    (tmp_path / "out.csv").write_text("patient_id\np1\n")
    text = (tmp_path / "deid.toml").read_text()
    (tmp_path / "deid.toml").write_text(text.replace("[bench]", '[exclusions]\nopt_outs = "out.csv"\n[bench]'))
    assert measured_on(Site(load_settings(tmp_path / "deid.toml"))) == {"hospital/2"}


# Gold that is not of the note


def gold_of(site: Site, watermark: str, *lines: dict) -> None:
    folder = site.settings.path(site.feed("hospital").gold)
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / f"{watermark}.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([{"note_id": "1", "spans": []}], "a note has two lines"),
        ([{"note_id": " 1 ", "spans": [[5, 12, "PATIENT"]]}], "a note has two lines"),
        ([{"note_id": "2", "spans": [], "text": "Stable."}], "gold is of another text of its note"),
    ],
)
def test_gold_that_says_less_than_there_is_stops_the_bench(site, more, said) -> None:
    bring(site, FIRST, [note("1", "Mrs. Ostrowe is stable."), note("2", "Mrs. Ostrowe goes home.")])
    measured_notes.build_test_set(site)
    whole = {"note_id": "1", "spans": [[5, 12, "PATIENT"]], "text": "Mrs. Ostrowe is stable."}
    gold_of(site, FIRST, whole)
    assert measured_notes.collect_gold(site).spans == 1
    gold_of(site, FIRST, whole, *more)
    with pytest.raises(DeidError) as refused:
        measured_notes.collect_gold(site)
    assert (refused.value.code, refused.value.ref) == (Code.GOLD_INVALID, f"hospital@{FIRST}: {said}")


def test_gold_without_a_text_is_of_the_text_that_it_was_first_used_for(site) -> None:
    bring(site, FIRST, [note("1", "Mrs. Ostrowe is stable."), note("2")])
    gold_of(site, FIRST, {"note_id": "1", "spans": [[5, 12, "PATIENT"]]}, {"note_id": "2", "spans": []})
    measured_notes.build_test_set(site)
    for _ in range(2):
        assert measured_notes.collect_gold(site).spans == 1
    bring(site, FIRST, [note("1", "Seen: Mrs. Ostrowe, stable."), note("2")])
    measured_notes.build_test_set(site)
    for _ in range(2):
        with pytest.raises(DeidError) as refused:
            measured_notes.collect_gold(site)
        said = f"hospital@{FIRST}: gold is of another text of its note"
        assert (refused.value.code, refused.value.ref) == (Code.GOLD_INVALID, said)
    # Written anew, it is other gold, or says of which text it is.
    gold_of(site, FIRST, {"note_id": "1", "spans": [[11, 18, "PATIENT"]]}, {"note_id": "2", "spans": []})
    assert measured_notes.collect_gold(site).notes == 2
    (site.settings.home_path / "store" / tables.GOLD_TEXTS / tables.ALL / "manifest.json").write_text("{}")
    assert measured_notes.collect_gold(site).notes == 2, "what cannot be read stops nothing"
