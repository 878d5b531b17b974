"""A round of annotation as a site lives it: handed out, taken back, adjudicated, accepted, and measured on."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pytest
from command_line import deid

from assets.annotation import annotation_agreement
from deid_platform.bench.gate import measured_notes, scoring
from deid_platform.corpora import Reason
from deid_platform.errors import Code, DeidError
from deid_platform.oversight.summary import release_summary
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.summary import summary_markdown
from deid_platform.review.annotation import adjudication
from deid_platform.review.annotation.returned import take_back
from deid_platform.review.annotation.rounds import Role, begin, hand_out, notes_of_round
from deid_platform.settings import load_settings
from resources import SiteResource

FIRST = "2026-01-05"
M = "Quillfeather"
PATIENTS = [
    {"patient_id": "p1", "first_name": "Thandiwe", "last_name": M, "phone": "617-555-0142"},
    {"patient_id": "p2", "first_name": "Orrin", "last_name": "Vaskhale", "phone": "617-555-0143"},
]
NOTES = [
    {"note_id": f"{M}-1", "patient_id": "p1", "text": f"\U0001f600 Ms. {M} is well.\r\nCall 617-555-0142."},
    {"note_id": f"{M}-2", "patient_id": "p1", "text": "Parkinson disease, BP 120/80."},
    {"note_id": f"{M}-3", "patient_id": "p2", "text": "Mr. Vaskhale was seen by Dr. Ruthvane."},
    {"note_id": f"{M}-4", "patient_id": "p2", "text": "Nothing more for Orrin Vaskhale."},
]
TEXTS = {note["note_id"]: note["text"] for note in NOTES}


@pytest.fixture(scope="module")
def arrived(deliver, take_in):
    delivery = deliver(FIRST, notes=NOTES, patients=PATIENTS)
    take_in(delivery)
    return delivery


@pytest.fixture
def fresh(site: Site, arrived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The installation with a sample and a note store of the test's own, but for what arrived."""
    home = tmp_path / "home"
    shutil.copytree(site.settings.home_path, home)
    config = tmp_path / "deid.toml"
    text = (site.settings.root / "deid.toml").read_text()
    deliveries = site.settings.path(site.feed("hospital").path)
    config.write_text(text.replace('path = "deliveries"', f'path = "{deliveries}"'))
    monkeypatch.setenv("DEID_CONFIG", str(config))
    mine = Site(load_settings(config))
    measured_notes.build_test_set(mine)
    return mine


def marks(text: str, *marked: tuple[str, str]) -> list[dict]:
    result = []
    for surface, label in marked:
        start = text.index(surface)
        value = {"start": start, "end": start + len(surface), "text": surface, "labels": [label]}
        result.append({"id": "r", "from_name": "label", "to_name": "text", "type": "labels", "value": value})
    return result


def annotated(path: Path, by: int, answers: dict[str, list[tuple[str, str]] | None]) -> Path:
    """What comes back of handed out tasks: a person's answers by a word of the text; None where they skip."""
    tasks = json.loads(path.read_text(encoding="utf-8"))
    for number, task in enumerate(tasks, start=1):
        text = task["data"]["text"]
        (said,) = [answer for word, answer in answers.items() if word in text] or [[]]
        task["id"] = number
        made = {"completed_by": by, "was_cancelled": said is None, "result": marks(text, *(said or []))}
        task.setdefault("annotations", []).append(made)
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


A = {
    "is well": [(M, "PATIENT"), ("617-555-0142", "PHONE")],
    "seen by": [("Vaskhale", "PATIENT"), ("Ruthvane", "DOCTOR")],
    "Nothing": [("Orrin Vaskhale", "PATIENT")],
    "disease": [("Parkinson disease", "CLINICAL"), ("BP", "CLINICAL")],
}
B = {**A, "seen by": [("Mr. Vaskhale", "PATIENT"), ("Ruthvane", "PATIENT")], "Nothing": None,
     "disease": [("Parkinson disease", "CLINICAL")]}  # fmt: skip
DECIDED = {"seen by": A["seen by"], "Nothing": None}


def handed(site: Site, folder: Path, role: Role, **more) -> Path:
    begin(site, 1)
    path = folder / f"{role.value}.json"
    hand_out(site, 1, path, role=role, **more)
    return path


def twice(site: Site, folder: Path) -> None:
    for role, by, answers in ((Role.A, 3, A), (Role.B, 4, B)):
        take_back(site, [annotated(handed(site, folder, role), by, answers)])


def test_tasks_are_keyed_private_and_blind_unless_asked(fresh, tmp_path):
    path = handed(fresh, tmp_path, Role.A)
    tasks = json.loads(path.read_text(encoding="utf-8"))
    assert sorted(task["data"]["text"] for task in tasks) == sorted(TEXTS.values())
    keys = {task["data"]["note"] for task in tasks}
    assert keys == {fresh.note_key("hospital", note_id) for note_id in TEXTS}
    assert [task["data"]["note"] for task in tasks] == sorted(keys)
    assert not any("predictions" in task for task in tasks)
    assert {json.dumps(task["meta"]) for task in tasks} == {'{"round": 1, "role": "A"}'}
    assert path.stat().st_mode & 0o777 == 0o600


def test_predictions_are_those_of_the_configured_detector(fresh, tmp_path):
    tasks = json.loads(handed(fresh, tmp_path, Role.A, predicted=True).read_text(encoding="utf-8"))
    (task,) = [task for task in tasks if "is well" in task["data"]["text"]]
    (prediction,) = task["predictions"]
    assert prediction["model_version"] == fresh.spec(None).detector_digest
    shown = {item["value"]["text"]: item["value"]["labels"] for item in prediction["result"]}
    assert shown[M] == ["PATIENT"]


def test_a_round_keeps_its_notes_and_the_next_has_others(fresh):
    assert begin(fresh, 1, most=3) == 3
    assert begin(fresh, 1, most=1) == 3
    assert begin(fresh, 2) == 1
    assert not set(notes_of_round(fresh.store, 1)) & set(notes_of_round(fresh.store, 2))
    with pytest.raises(DeidError) as error:
        begin(fresh, 3)
    assert error.value.code is Code.INPUT_EMPTY


def test_withdrawn_notes_are_handed_to_nobody(fresh, tmp_path):
    begin(fresh, 1)
    rows = [{"note_id": None, "patient_id": "p2", "rejoined": False}]
    fresh.store.write(
        tables.WITHDRAWALS, f"hospital@{FIRST}", [pa.Table.from_pylist(rows, schema=tables.WITHDRAWAL_SCHEMA)]
    )
    done = hand_out(fresh, 1, tmp_path / "a.json")
    assert (done.notes, done.left_out) == (2, 2)


def test_notes_of_a_patient_who_left_by_another_feed_are_handed_to_nobody(fresh, tmp_path):
    begin(fresh, 1)
    rows = [{"note_id": None, "patient_id": "p2", "rejoined": False}]
    fresh.store.write(
        tables.WITHDRAWALS, "clinic@2026-01-03", [pa.Table.from_pylist(rows, schema=tables.WITHDRAWAL_SCHEMA)]
    )
    done = hand_out(fresh, 1, tmp_path / "a.json")
    assert (done.notes, done.left_out) == (2, 2)


def test_from_two_annotators_and_an_adjudicator_to_gold_that_the_bench_measures_on(fresh, tmp_path):
    twice(fresh, tmp_path)
    found = adjudication.standing(fresh)
    assert (len(found.agreed), len(found.disputed), len(found.undecided), found.waiting) == (2, 2, 2, ())
    with pytest.raises(DeidError) as error:
        adjudication.accept(fresh)
    assert (error.value.code, error.value.ref) == (Code.ANNOTATION_INCOMPLETE, "round 1: 2 of 4 notes")

    assert adjudication.hand_to_adjudicator(fresh, None, tmp_path / "c.json") == 2
    tasks = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    (task,) = [task for task in tasks if "seen by" in task["data"]["text"]]
    shown = {p["model_version"]: [i["value"]["text"] for i in p["result"]] for p in task["predictions"]}
    assert shown == {"agreed": [], "A": ["Vaskhale", "Ruthvane"], "B": ["Mr. Vaskhale", "Ruthvane"]}
    assert "annotations" not in task
    take_back(fresh, [annotated(tmp_path / "c.json", 5, DECIDED)])

    done = adjudication.accept(fresh)
    assert (done.notes, done.spans, done.left_out, done.deliveries) == (3, 4, 1, (f"hospital@{FIRST}",))
    path = fresh.settings.path(fresh.feed("hospital").gold) / f"{FIRST}.jsonl.gz"
    assert path.stat().st_mode & 0o777 == 0o600
    held = {note_id: len(line["spans"]) for note_id, line in gold_lines(path).items()}
    assert held == {f"{M}-1": 2, f"{M}-2": 0, f"{M}-3": 2}
    assert gold_lines(path)[f"{M}-2"]["clinical"] == [[0, 17]]
    assert not any(surface in path.read_bytes().decode("latin-1") for surface in ("Ruthvane", "Vaskhale"))

    measured_notes.build_test_set(fresh)
    gold = measured_notes.collect_gold(fresh)
    assert (gold.by_feed, gold.spans) == ({"hospital": 3}, 4)
    assert gold.source.words["marked_by"] == "adjudicated"
    scoring.run_detector(fresh)
    assert scoring.measure(fresh).gold == "site"


def test_gold_of_other_notes_stays_and_that_of_the_round_is_replaced(fresh, tmp_path):
    folder = fresh.settings.path(fresh.feed("hospital").gold)
    folder.mkdir()
    with gzip.open(folder / f"{FIRST}.jsonl.gz", "wt") as lines:
        for note_id in ("elsewhere", f"{M}-2", f"{M}-4"):
            lines.write(json.dumps({"note_id": note_id, "spans": [[0, 2, "PATIENT"]], "clinical": [[3, 5]]}) + "\n")
    twice(fresh, tmp_path)
    adjudication.hand_to_adjudicator(fresh, 1, tmp_path / "c.json")
    take_back(fresh, [annotated(tmp_path / "c.json", 5, DECIDED)])
    adjudication.accept(fresh, 1)
    held = gold_lines(folder / f"{FIRST}.jsonl.gz")
    assert set(held) == {"elsewhere", f"{M}-1", f"{M}-2", f"{M}-3"}  # the skipped one has none any more
    assert (held["elsewhere"]["clinical"], held[f"{M}-2"]["spans"]) == ([[3, 5]], [])


def test_accepted_notes_stay_in_the_sample_while_they_are_the_newest(fresh, tmp_path):
    twice(fresh, tmp_path)
    adjudication.hand_to_adjudicator(fresh, 1, tmp_path / "c.json")
    take_back(fresh, [annotated(tmp_path / "c.json", 5, DECIDED)])
    adjudication.accept(fresh, 1)
    fewest = fresh.settings.bench.model_copy(update={"size": 1, "minimum_per_group": 1})
    small = Site(fresh.settings.model_copy(update={"bench": fewest}))
    assert len(measured_notes.build_test_set(small).note_ids) < 4
    assert {f"{M}-{i}" for i in (1, 2, 3)} <= {r["note_id"] for r in small.store.rows(tables.TEST_SET, tables.ALL)}


@pytest.mark.parametrize("secret", ["", "another"])
def test_accepted_gold_is_not_measured_on_once_its_note_has_another_text(fresh, tmp_path, monkeypatch, secret):
    twice(fresh, tmp_path)
    adjudication.hand_to_adjudicator(fresh, 1, tmp_path / "c.json")
    take_back(fresh, [annotated(tmp_path / "c.json", 5, DECIDED)])
    adjudication.accept(fresh, 1)
    (kept,) = fresh.store.read(tables.ANNOTATION_ACCEPTED, tables.ALL)
    if secret:  # nobody can tell any more
        kept = kept.set_column(kept.column_names.index("key_id"), "key_id", pa.array(["0" * 12] * kept.num_rows))
        fresh.store.write(tables.ANNOTATION_ACCEPTED, tables.ALL, [kept])
    (raw,) = fresh.store.read(tables.RAW_NOTES, f"hospital@{FIRST}")
    files = dict(fresh.store.required(tables.RAW_NOTES, f"hospital@{FIRST}").meta)
    # The delivery came once more, with as long a text.
    texts = [f"{'X' * 3}{row['text'][3:]}" if row["note_id"] == f"{M}-1" else row["text"] for row in raw.to_pylist()]
    raw = raw.set_column(raw.column_names.index("text"), "text", pa.array(texts, pa.large_string()))
    fresh.store.write(tables.RAW_NOTES, f"hospital@{FIRST}", [raw], meta=lambda: files)
    measured_notes.build_test_set(fresh)
    assert measured_notes.collect_gold(fresh).notes == (3 if secret else 2)


def gold_lines(path: Path) -> dict[str, dict]:
    with gzip.open(path, "rt") as lines:
        return {line["note_id"]: line for line in map(json.loads, lines)}


def first_task(path: Path, change) -> Path:
    tasks = json.loads(path.read_text(encoding="utf-8"))
    (task,) = [task for task in tasks if "is well" in task["data"]["text"]]
    change(task)
    path.write_text(json.dumps([task]), encoding="utf-8")
    return path


REFUSED = {
    "a text that was edited": (lambda t: t["data"].update(text=t["data"]["text"] + "!"), Reason.CHANGED_TEXT),
    "line ends that were converted": (
        lambda t: (
            t["data"].update(text=t["data"]["text"].replace("\r\n", "\n")),
            t["annotations"][0].update(result=[]),
        ),
        Reason.CHANGED_TEXT,
    ),
    "a note of no round": (lambda t: t["data"].update(note="n_other"), Reason.UNKNOWN_NOTE),
    "a round that never was": (lambda t: t["meta"].update(round=9), Reason.UNKNOWN_NOTE),
    "two annotations of one annotator's task": (
        lambda t: t["annotations"].append(t["annotations"][0]),
        Reason.SEVERAL_ANNOTATIONS,
    ),
    "a task that nobody annotated": (lambda t: t.update(annotations=[]), Reason.MISSING_GOLD),
    "a span that holds other text": (
        lambda t: t["annotations"][0]["result"][0]["value"].update(text="another"),
        Reason.SPAN_MISMATCH,
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_the_round_s_is_refused_and_shows_nothing(what, fresh, tmp_path):
    change, reason = REFUSED[what]
    path = first_task(annotated(handed(fresh, tmp_path, Role.A), 3, A), change)
    done = take_back(fresh, [path])
    assert ([r.reason for r in done.refused], dict(done.notes)) == ([reason], {})
    shown = deid("annotate", "import", str(path))
    assert shown.returncode == 3
    assert reason.value in shown.stdout
    assert M not in shown.stdout + shown.stderr + repr(done)


def test_a_task_of_another_annotator_or_round_than_is_said_is_refused(fresh, tmp_path):
    begin(fresh, 1, most=3)
    begin(fresh, 2)
    path = annotated(handed(fresh, tmp_path, Role.A), 3, A)
    for other in ({"role": Role.B}, {"number": 2}, {"role": Role.ADJUDICATOR, "number": 1}):
        done = take_back(fresh, [path], **other)
        assert ({r.reason for r in done.refused}, done.notes) == ({Reason.HANDED_TO_ANOTHER}, {})
    shown = deid("annotate", "import", str(path), "--annotator", "B")
    assert shown.returncode == 3 and "handed_to_another" in shown.stdout
    assert take_back(fresh, [path], number=1, role=Role.A).notes == {(1, Role.A): 3}


def test_a_task_that_does_not_say_whose_it_is_is_that_annotator_s(fresh, tmp_path):
    path = annotated(handed(fresh, tmp_path, Role.A), 3, A)
    tasks = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps([{**task, "meta": {}} for task in tasks]), encoding="utf-8")
    assert take_back(fresh, [path], role=Role.B).notes == {(1, Role.B): 4}


def test_a_note_that_changed_since_it_was_handed_out_is_not_taken_back(fresh, tmp_path):
    path = annotated(handed(fresh, tmp_path, Role.A), 3, A)
    rows = fresh.store.rows(tables.RAW_NOTES, f"hospital@{FIRST}")
    rows[0]["text"] += " Amended."
    meta = dict(fresh.store.manifest(tables.RAW_NOTES, f"hospital@{FIRST}").meta)
    table = pa.Table.from_pylist(rows, schema=tables.RAW_SCHEMA)
    fresh.store.write(tables.RAW_NOTES, f"hospital@{FIRST}", [table], meta=lambda: meta)
    done = take_back(fresh, [path])
    assert [r.reason for r in done.refused] == [Reason.CHANGED_TEXT]
    assert done.notes == {(1, Role.A): 3}


def test_an_annotation_that_comes_again_replaces_the_former_one(fresh, tmp_path):
    take_back(fresh, [annotated(handed(fresh, tmp_path, Role.A), 3, A)])
    take_back(fresh, [annotated(handed(fresh, tmp_path, Role.A), 3, B)])
    take_back(fresh, [annotated(handed(fresh, tmp_path, Role.B), 4, B)])
    found = adjudication.standing(fresh)
    assert len(found.disputed) == 1  # the one that both skip, which the adjudicator is asked about


def test_two_people_in_one_project_are_a_and_b(fresh, tmp_path):
    begin(fresh, 1)
    path = tmp_path / "both.json"
    hand_out(fresh, 1, path)
    annotated(annotated(path, 12, B), 9, A)
    done = take_back(fresh, [path])
    assert (done.notes, done.skipped) == (
        {(1, Role.A): 4, (1, Role.B): 4},
        {(1, Role.A): 0, (1, Role.B): 1},
    )
    annotated(path, 30, A)
    assert {r.reason for r in take_back(fresh, [path]).refused} == {Reason.SEVERAL_ANNOTATIONS}


def test_the_commands_lead_through_a_round_and_show_no_text(fresh, tmp_path):
    said = []

    def run(*arguments: str, status: int = 0) -> str:
        done = deid("annotate", *arguments)
        assert done.returncode == status, done.stderr
        said.append(done.stdout + done.stderr)
        return said[-1]

    a, b, c = (str(tmp_path / f"{name}.json") for name in "abc")
    assert "round-unknown [none]" in run("agreement", status=1)
    assert "round 1, for A, blind: 4 notes" in run("export", "--annotator", "a", "--to", a)
    assert "PHI" in said[-1]
    run("export", "--round", "1", "--annotator", "B", "--to", b)
    annotated(Path(a), 3, A)
    annotated(Path(b), 4, B)
    assert "round 1, A: 4 notes" in run("import", a)
    assert "next: 4 notes lack an annotator" in run("agreement")
    assert "round 1, B: 4 notes, 1 skipped" in run("import", b)
    assert "annotation-incomplete [round 1: 2 of 4 notes]" in run("accept", status=1)
    table = run("agreement")
    assert "next: 2 notes to decide; deid annotate adjudicate --to FILE" in table
    rows = {line.split("\t")[0]: line.split("\t") for line in table.splitlines() if "\t" in line}
    assert rows["label"][:3] == ["label", "A spans", "B spans"]
    assert rows["all"][1:4] == ["4", "4", "0.5"]
    places = [json.loads(line) for line in run("agreement", "--disagreements", "--json").splitlines() if "{" in line]
    assert [(p["kind"], p["A_label"], p["B_label"]) for p in places] == [
        ("boundaries", "PATIENT", "PATIENT"),
        ("label", "DOCTOR", "PATIENT"),
    ]
    assert "for the adjudicator: 2 notes" in run("adjudicate", "--to", c)
    annotated(Path(c), 5, DECIDED)
    assert "round 1, adjudicator: 2 notes, 1 skipped" in run("import", c)
    assert "3 notes, 4 spans; 1 left out" in run("accept")
    assert "<Label value=" in run("config")
    words = (M, "Vaskhale", "Ruthvane", "555-01")
    assert [word for word in words for output in said if word in output] == []


def test_an_annotator_that_is_none_is_answered_with_the_roles(fresh):
    done = deid("annotate", "export", "--annotator", "Ann", "--to", "x.json")
    assert done.returncode == 2
    assert "Ann" not in done.stdout


def test_the_asset_shows_agreement_without_small_counts_or_text(fresh, tmp_path):
    twice(fresh, tmp_path)
    resource = SiteResource(config=str(fresh.settings.root / "deid.toml"))
    with dg.DagsterInstance.ephemeral() as instance:
        assert dg.materialize([annotation_agreement], resources={"site": resource}, instance=instance,
                              selection=["annotation/agreement"]).success  # fmt: skip
        event = instance.get_latest_materialization_event(dg.AssetKey(["annotation", "agreement"]))
    shown = event.asset_materialization.metadata
    assert shown["dagster/row_count"].value == 3
    assert shown["f1_exact"].value == 0.5
    table = shown["agreement"].value
    assert "| all | <11 | <11 | – |" in table
    assert "data:image/png" in shown["picture"].value
    everything = json.dumps([str(value.value) for value in shown.values()])
    assert [
        word for word in (M, "Vaskhale", "Ruthvane", "555-01", "n_") if word in everything.split("data:image")[0]
    ] == []


def test_the_asset_without_a_round_fails_with_a_code(fresh):
    resource = SiteResource(config=str(fresh.settings.root / "deid.toml"))
    with dg.DagsterInstance.ephemeral() as instance:
        done = dg.materialize([annotation_agreement], resources={"site": resource}, instance=instance,
                              raise_on_error=False)  # fmt: skip
        assert not done.success
        said = done.failure_data_for_node("annotation__agreement").user_failure_data.description
    assert said.startswith("round-unknown")


def test_the_release_summary_says_that_recall_was_measured_on_the_site_s_notes(fresh, through, arrived, tmp_path):
    twice(fresh, tmp_path)
    adjudication.hand_to_adjudicator(fresh, 1, tmp_path / "c.json")
    take_back(fresh, [annotated(tmp_path / "c.json", 5, DECIDED)])
    adjudication.accept(fresh)
    through(arrived, fresh)
    said = summary_markdown(release_summary(fresh))
    assert (
        "<11 notes of demonstration data, with its own topics and on text alone, marked by the site's annotators"
        in said
    )
