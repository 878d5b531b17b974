"""A round through Label Studio: what its tasks show, and what of an export is believed."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from command_line import deid

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.review.annotation.rounds import Role
from deid_platform.review.decisions import Category, Decision, Severity, decide, decisions_of
from deid_platform.review.missed import Mark, mark, marks_of
from deid_platform.review.rounds import removals_of_round, start
from deid_platform.review.studio import export, take_back

HIGH = Decision(Category.RELEVANT, Severity.HIGH)
PROVIDER = Decision(Category.PROVIDER)


@pytest.fixture
def site(reviewed):
    site = reviewed()
    start(site, 3)
    return site


def tasks_for(site, role, path):
    export(site, 1, role, path)
    return json.loads(path.read_text(encoding="utf-8"))


def answered(task, *regions, category=None, severity=None, **also):
    """The task as Label Studio exports it: the shown regions are copied, and the person's own come on top."""
    result = [it for it in task["predictions"][0]["result"] if it["type"] == "labels"]
    for words, label in regions:
        begin = task["data"]["text"].index(words)
        value = {"start": begin, "end": begin + len(words), "text": words, "labels": [label]}
        result.append({"id": words, "from_name": "label", "to_name": "text", "type": "labels", "value": value})
    for name, chosen in (("category", category), ("severity", severity)):
        if chosen is not None:
            value = {"choices": [chosen]}
            result.append({"id": name, "from_name": name, "to_name": "text", "type": "choices", "value": value})
    return {**task, "annotations": [{"completed_by": 1, "was_cancelled": False, "result": result, **also}]}


def words_of(site, role):
    members = removals_of_round(site, 1)
    return {
        (members[it.removal].words(it.span), it.span.label.value, it.severity.value)
        for it in marks_of(site.store, 1, role).values()
    }


def test_a_round_goes_out_and_comes_back_as_at_the_desk(site, tmp_path):
    path = tmp_path / "a.json"
    assert "3 removals" in deid("review", "export", "--as", "A", "--to", str(path)).stderr
    assert path.stat().st_mode & 0o077 == 0
    one, two, three = json.loads(path.read_text(encoding="utf-8"))
    returned = [
        answered(
            one, ("stable", "DATE low"), ("Seen", "PATIENT high"), category="clinically_relevant", severity="high"
        ),
        answered(two, category="provider_or_clinic"),
        {**three, "annotations": []},
    ]
    path.write_text(json.dumps(returned))
    assert "2 decisions kept, 2 marks" in deid("review", "import", str(path), "--as", "A").stderr
    keys = list(removals_of_round(site, 1))
    assert decisions_of(site.store, 1, Role.A) == {keys[0]: HIGH, keys[1]: PROVIDER}
    assert words_of(site, Role.A) == {("stable", "DATE", "low"), ("Seen", "PATIENT", "high")}
    # Out again it shows what was said, and taken back unchanged it changes nothing.
    shown = tasks_for(site, Role.A, path)[0]["predictions"][0]["result"]
    assert [it["value"]["labels"][0] for it in shown if it["type"] == "labels"][:2] == ["REMOVED", "HIDDEN"]
    assert [it["value"]["choices"] for it in shown if it["type"] == "choices"] == [["clinically_relevant"], ["high"]]
    path.write_text(json.dumps([answered(it) for it in tasks_for(site, Role.A, path)]))
    take_back(site, 1, Role.A, path)
    assert words_of(site, Role.A) == {("stable", "DATE", "low"), ("Seen", "PATIENT", "high")}


def test_the_second_reader_sees_nothing_of_the_first_and_the_adjudicator_both(site, tmp_path):
    before = tasks_for(site, Role.B, tmp_path / "b.json")
    key = next(iter(removals_of_round(site, 1)))
    decide(site, 1, Role.A, {key: HIGH})
    mark(site, 1, Role.A, [Mark(key, 0, 4, Label.PATIENT, Severity.HIGH)])
    assert tasks_for(site, Role.B, tmp_path / "b.json") == before
    decide(site, 1, Role.B, {key: PROVIDER})
    (task,) = tasks_for(site, Role.ADJUDICATOR, tmp_path / "c.json")
    assert task["data"]["about"].endswith(
        "A: clinically_relevant high, missed PATIENT high (Seen); B: provider_or_clinic"
    )


def broken(task, how):
    good = answered(task, category="provider_or_clinic")
    if how == "no role":
        good["meta"] = {}
    elif how == "text":
        good["data"] = {**good["data"], "text": "Another " + good["data"]["text"]}
    elif how == "two people":
        good["annotations"] *= 2
    elif how == "two categories":
        good["annotations"][0]["result"][-1]["value"]["choices"].append("clinically_relevant")
    elif how == "no such category":
        good["annotations"][0]["result"][-1]["value"]["choices"] = ["harmless"]
    elif how == "no severity":
        good = answered(task, category="clinically_relevant")
    elif how == "hidden words":
        good = answered(task, ("Thandiwe", "PATIENT high"))
    elif how == "unknown label":
        good = answered(task, ("Seen", "PATIENT"))
    elif how == "other words":
        good = answered(task, ("Seen", "PATIENT high"))
        good["annotations"][0]["result"][-1]["value"]["text"] = "Known"
    return good


@pytest.mark.parametrize(
    "how",
    ["no role", "text", "two people", "two categories", "no such category", "no severity",
     "hidden words", "unknown label", "other words", "twice"],
)  # fmt: skip
def test_what_does_not_fit_is_refused_whole_by_its_place_and_without_text(site, tmp_path, how):
    path = tmp_path / "a.json"
    first, second, _ = tasks_for(site, Role.A, path)
    good = answered(first, category="provider_or_clinic")
    path.write_text(json.dumps([good, good if how == "twice" else broken(second, how)]))
    with pytest.raises(DeidError) as refused:
        take_back(site, 1, Role.A, path)
    assert refused.value.code in (Code.INPUT_INVALID, Code.DECISION_INVALID, Code.MARK_INVALID, Code.REVIEW_ROLE)
    assert str(refused.value.ref).startswith("task ")
    assert not any(word in str(refused.value) for word in ("Thandiwe", "Seen", "harmless"))
    assert decisions_of(site.store, 1, Role.A) == {}


def test_tasks_of_one_reader_are_none_of_another_and_of_no_other_round(site, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([answered(it, category="provider_or_clinic") for it in tasks_for(site, Role.A, path)]))
    start(site, 3)
    for number, role in ((1, Role.B), (1, Role.ADJUDICATOR), (2, Role.A)):
        with pytest.raises(DeidError) as refused:
            take_back(site, number, role, path)
        assert (refused.value.code, refused.value.ref) == (Code.REVIEW_ROLE, "task 1: written for A, round 1")
        assert decisions_of(site.store, number, role) == {}


def test_a_skipped_task_is_left_as_it_is(site, tmp_path):
    path = tmp_path / "a.json"
    first, *_ = tasks_for(site, Role.A, path)
    path.write_text(json.dumps([answered(first, category="provider_or_clinic", was_cancelled=True)]))
    assert take_back(site, 1, Role.A, path) == (0, 0)


def test_the_labelling_interface_names_what_comes_back(site):
    view = ElementTree.fromstring(deid("review", "config").stdout)
    choices = {it.get("name"): [c.get("value") for c in it] for it in view.iter("Choices")}
    assert choices == {"category": [c.value for c in Category], "severity": ["high", "low"]}
    labels = [it.get("value") for it in view.iter("Label")]
    assert {"REMOVED", "HIDDEN", "PATIENT high", "PATIENT low"} <= set(labels)
