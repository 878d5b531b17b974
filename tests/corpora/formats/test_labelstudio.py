"""Label Studio's JSON: offsets of every kind, what people can do to a task, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deid_platform.corpora import Reason
from deid_platform.corpora.formats import gold_format
from deid_platform.corpora.formats.labelstudio import Prediction, Task, labelling_config, write_tasks
from deid_platform.corpora.formats.labelstudio_export import Returned, _placed, read_tasks
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.schemes import scheme_of
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

M = "Zqxmark7"
SCHEME = scheme_of("i2b2-2014")
TEXT = "\U0001f600 Ann saw\r\nBo \U00020000 Fenn in Lorn."


def region(start: int, end: int, said: str | None, *labels: str, kind: str = "labels") -> dict:
    value = {"start": start, "end": end, "text": said, "labels": list(labels) or ["PATIENT"]}
    return {"id": "r", "from_name": "label", "to_name": "text", "type": kind, "value": value}


def annotation(*items: object, by: object = 3, **more: object) -> dict:
    return {"id": 1, "completed_by": by, "was_cancelled": False, "result": list(items), **more}


def task(*annotations: object, note: object = "n_b", text: object = f"{M} came.", **more: object) -> dict:
    return {"id": 9, "data": {"text": text, "note": note}, "annotations": list(annotations), "predictions": [], **more}


GOOD = annotation(region(0, 8, M))


def written(folder: Path, *tasks: object, ends: str = "]") -> Path:
    path = folder / "export.json"
    path.write_text("[" + ",\n".join(t if isinstance(t, str) else json.dumps(t) for t in tasks) + ends)
    return path


def units(text: str, at: int) -> int:
    return len(text[:at].encode("utf-16-le")) // 2


WAYS = {
    "code points": lambda at: at,
    "UTF-16 units": lambda at: units(TEXT, at),
}
FENN = TEXT.index("Bo"), TEXT.index(" in")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "said",
    [
        pytest.param("Bo \U00020000 Fenn", id="as it stands"),
        pytest.param("Bo  \U00020000 Fenn ", id="with other blanks"),
        pytest.param("Bo\\n\U00020000\nFenn", id="with a line break in two characters"),
    ],
)
def test_offsets_hold_the_text_that_is_said_in_either_way_of_counting(way, said, tmp_path):
    count = WAYS[way]
    ann = TEXT.index("Ann")
    items = [region(count(ann), count(ann + 3), "Ann"), region(*map(count, FENN), said, "DOCTOR")]
    (found,) = gold_format("labelstudio").read(
        written(tmp_path, task(annotation(*items), text=TEXT)), scheme="i2b2-2014"
    )
    assert isinstance(found, Gold)
    assert [(s.start, s.end, s.label) for s in found.spans] == [(2, 5, Label.PATIENT), (*FENN, Label.DOCTOR)]


@settings(max_examples=80, deadline=None)
@given(st.text(st.sampled_from("a \r\n\U0001f600é"), min_size=2, max_size=12), st.data())
def test_what_is_read_always_holds_what_was_said(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    by_units = data.draw(st.booleans())
    offsets = (units(text, start), units(text, end)) if by_units else (start, end)
    (found,) = _placed([(*offsets, "PATIENT", text[start:end])], text)
    ((first, last),) = found.pieces
    assert text[first:last].split() == text[start:end].split()
    if not by_units:
        assert (first, last) == (start, end)


BROKEN: list = [
    pytest.param(task(annotation(region(1, 9, M))), Reason.SPAN_MISMATCH, id="one off"),
    pytest.param(task(annotation(region(0, 8, "other"))), Reason.SPAN_MISMATCH, id="another text"),
    pytest.param(task(annotation(region(0, 8, None))), Reason.SPAN_MISMATCH, id="no text beside it"),
    pytest.param(task(annotation(region(0, 99, M))), Reason.SPAN_OUT_OF_RANGE, id="past the text"),
    pytest.param(task(annotation(region(8, 0, M))), Reason.SPAN_OUT_OF_RANGE, id="reversed"),
    pytest.param(task(annotation(region(0, 8, M, "PATIENT", "DOCTOR"))), Reason.SEVERAL_LABELS, id="two labels"),
    pytest.param(task(annotation(region(0, 8, M, M))), Reason.UNKNOWN_LABEL, id="unknown label"),
    pytest.param(
        task(annotation(region(0, 8, M), region(0, 8, M, "DOCTOR"))), Reason.SPAN_OVERLAP, id="two regions at one place"
    ),
    pytest.param(task(annotation(region(0, 8, M, kind="hypertextlabels"))), Reason.MALFORMED_ROW, id="of HTML"),
    pytest.param(task(annotation({"type": "labels"})), Reason.MALFORMED_ROW, id="no value"),
    pytest.param(task(annotation(M)), Reason.MALFORMED_ROW, id="no region"),
    pytest.param(task(annotation(result=M)), Reason.MALFORMED_ROW, id="no list of regions"),
    pytest.param(task(), Reason.MISSING_GOLD, id="nobody annotated it"),
    pytest.param(task(drafts=[GOOD]), Reason.MISSING_GOLD, id="a draft alone"),
    pytest.param(task(predictions=[{"result": GOOD["result"]}]), Reason.MISSING_GOLD, id="a prediction alone"),
    pytest.param(task(annotation(was_cancelled=True)), Reason.MISSING_GOLD, id="skipped"),
    pytest.param(task(GOOD, annotation(by=4)), Reason.SEVERAL_ANNOTATIONS, id="two people, none final"),
    pytest.param(task(GOOD, note="a"), Reason.DUPLICATE_NOTE_ID, id="a note twice"),
    pytest.param(task(GOOD, note=[M]), Reason.MISSING_NOTE_ID, id="no key"),
    pytest.param(task(GOOD, text=None), Reason.EMPTY_TEXT, id="no text"),
    pytest.param(task(GOOD, text=[M]), Reason.MALFORMED_ROW, id="text is a list"),
    pytest.param(task(annotation(), text=f"{M}\0"), Reason.NUL_CHARACTER, id="NUL"),
    pytest.param(task(annotation(), text="\ud800"), Reason.LONE_SURROGATE, id="lone surrogate"),
    pytest.param({"data": M, "annotations": []}, Reason.MALFORMED_ROW, id="no data"),
    pytest.param([M], Reason.MALFORMED_ROW, id="no task"),
    pytest.param('{"id": 1, "id": 2}', Reason.MALFORMED_ROW, id="a key twice"),
    pytest.param('{"id": NaN}', Reason.MALFORMED_ROW, id="no number"),
]


@pytest.mark.parametrize(("broken", "reason"), BROKEN)
def test_a_task_that_is_no_gold_costs_itself_alone(broken, reason, tmp_path, gold_contract, contract):
    path = written(tmp_path, task(GOOD, note="a"), broken, task(GOOD, note="z"))
    gold_contract.check_refusals(gold_format("labelstudio"), path, [(0, 2, reason)], ["a", "z"], contract)


@pytest.mark.parametrize(
    ("last", "ends", "reason"),
    [
        pytest.param(task(GOOD, note="z"), "", Reason.TRUNCATED_FILE, id="no end"),
        pytest.param(f'{{"id": "{M}', "]", Reason.MALFORMED_ROW, id="cut off"),
        pytest.param("[" * 100_000, "", Reason.MALFORMED_ROW, id="too deep"),
        pytest.param(task(GOOD, note="z"), "] x", Reason.MALFORMED_ROW, id="more after the end"),
    ],
)
def test_a_broken_file_costs_no_task_before(last, ends, reason, tmp_path, contract):
    found = list(gold_format("labelstudio").read(written(tmp_path, task(GOOD), last, ends=ends), scheme="i2b2-2014"))
    assert isinstance(found[0], Gold)
    assert found[-1].reason is reason
    contract.assert_quiet(found[-1])


@pytest.mark.parametrize("content", [b"", b"{}", b'{"note_id": 1}\n', b"\xff[]"])
def test_a_file_that_is_no_export_is_refused(content, tmp_path):
    (tmp_path / "x.json").write_bytes(content)
    (found,) = gold_format("labelstudio").read(tmp_path / "x.json", scheme="i2b2-2014")
    assert found.reason in (Reason.MALFORMED_ROW, Reason.INVALID_UTF8)


def test_what_does_not_count_is_left_aside(tmp_path):
    relation = {"type": "relation", "from_id": "r", "to_id": "q", "direction": "right"}
    comment = {"type": "textarea", "value": {"start": 0, "end": 8, "text": ["sure?"]}}
    kept = annotation(region(0, 8, M), relation, comment, by={"id": 7, "email": "ann@example.org"})
    cancelled = annotation(region(0, 8, M, "DOCTOR"), by=4, was_cancelled=True)
    path = written(tmp_path, task(kept, cancelled, drafts=[annotation(region(0, 3, "Zqx"))]))
    (gold,) = gold_format("labelstudio").read(path, scheme="i2b2-2014")
    assert [(s.start, s.end, s.label) for s in gold.spans] == [(0, 8, Label.PATIENT)]
    (found,) = read_tasks(path, SCHEME)
    assert isinstance(found, Returned)
    assert ([it.by for it in found.annotations], found.skipped_by) == (["7"], ("4",))


def test_the_final_one_of_several_annotations_is_gold(tmp_path):
    path = written(tmp_path, task(GOOD, annotation(by=4, ground_truth=True)))
    (gold,) = gold_format("labelstudio").read(path, scheme="i2b2-2014")
    assert gold.spans == ()


def test_clinical_terms_come_back_beside_the_spans(tmp_path):
    note = Note("a", "Ann has Parkinson's.")
    gold = Gold("a", (Span(0, 3, Label.PATIENT, source="gold"),), ((8, 19),), note)
    gold_format("labelstudio").write([gold], tmp_path / "x.json")
    assert list(gold_format("labelstudio").read(tmp_path / "x.json", scheme="i2b2-2014")) == [gold]


def test_a_task_without_a_key_goes_by_its_number(tmp_path):
    (gold,) = gold_format("labelstudio").read(written(tmp_path, task(GOOD, note=None)), scheme="i2b2-2014")
    assert gold.note_id == "9"


def exported(path: Path, *tasks: Task) -> list[Mapping]:
    assert write_tasks(tasks, path) == len(tasks)
    return json.loads(path.read_text(encoding="utf-8"))


def test_tasks_are_blind_or_show_predictions(tmp_path):
    spans = (Span(2, 5, Label.PATIENT, 0.9, "rules"), Span(*FENN, Label.DOCTOR, float("nan"), "given"))
    blind = Task("n_a", TEXT, {"round": 1})
    shown = Task("n_b", TEXT, {"round": 1}, (Prediction("0123abcd", spans),))
    one, other = exported(tmp_path / "tasks.json", blind, shown)
    assert one == {"data": {"text": TEXT, "note": "n_a"}, "meta": {"round": 1}}
    (prediction,) = other["predictions"]
    assert (prediction["model_version"], prediction["score"]) == ("0123abcd", 0.9)
    assert [(i["value"]["text"], i["value"]["labels"], i.get("score")) for i in prediction["result"]] == [
        ("Ann", ["PATIENT"], 0.9),
        ("Bo \U00020000 Fenn", ["DOCTOR"], None),
    ]
    assert (tmp_path / "tasks.json").stat().st_mode & 0o777 == 0o600
    assert "Ann" not in repr((blind, shown, prediction and shown.predictions))


def test_the_interface_has_every_label_in_a_colour_of_its_own_and_the_names_that_tasks_use():
    view = ElementTree.fromstring(labelling_config())
    buttons = view.findall("Labels/Label")
    assert [button.get("value") for button in buttons] == [*(label.value for label in Label), "CLINICAL"]
    assert len({button.get("background") for button in buttons}) == len(Label) + 1
    labels, text = view.find("Labels"), view.find("Text")
    assert (labels.get("name"), labels.get("toName"), text.get("name"), text.get("value")) == (
        "label", "text", "text", "$text",
    )  # fmt: skip
