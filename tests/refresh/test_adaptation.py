"""A model of the site's own: notes drawn for people, handed out, and taken back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import deid
from drawn_notes import KINDS, ODD, PATIENTS, answered, drawing_site, notes_of_feed

from deid_platform.corpora import Reason
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.paired import difference
from deid_platform.evaluation.scores.scores import NoteCounts, summarise
from deid_platform.labels import Label
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation import adaptation
from deid_platform.review.annotation.adaptation.own_model import Comparison, adapt
from deid_platform.training.plan import text_digest
from deid_platform.training.uncertainty import Part, part_of

__all__ = ["drawing_site"]


@pytest.fixture
def site(drawing_site: Site) -> Site:
    return drawing_site


def sampled(site: Site) -> set[str]:
    return {row["note_id"] for row in site.store.rows(tables.TEST_SET, tables.ALL)}


def ids(some: dict[str, adaptation.Member]) -> set[str]:
    return {it.note.note_id for it in some.values()}


def test_no_note_is_drawn_that_is_measured_on_and_none_twice(site: Site) -> None:
    first = adaptation.draw(site, 10)
    assert len(sampled(site)) == 4
    assert not ids(first) & sampled(site)
    assert {it.part for it in first.values()} == set(Part)
    assert all(part_of(f"p{it.note.note_id[1:]}") is it.part for it in first.values())
    second = adaptation.draw(site, 10)
    assert not ids(second) & (ids(first) | sampled(site))
    assert adaptation.members(site).keys() == first.keys() | second.keys()
    while adaptation.draw(site, 30):
        if len(adaptation.members(site)) == PATIENTS - 4:
            break
    with pytest.raises(DeidError) as raised:
        adaptation.draw(site, 10)
    assert raised.value.code is Code.INPUT_EMPTY


def test_the_notes_to_learn_from_are_those_of_which_the_model_is_least_sure(site: Site) -> None:
    drawn = adaptation.draw(site, 6)
    learn = [it.note.note_id for it in drawn.values() if it.part is Part.LEARN]
    odd = {row["note_id"] for row in notes_of_feed() if ODD in row["text"]} - sampled(site)
    mine = {note_id for note_id in odd if part_of(f"p{note_id[1:]}") is Part.LEARN}
    assert mine & set(learn)
    kinds = {row["note_id"]: row["note_type"] for row in notes_of_feed()}
    assert {kinds[note_id] for note_id in learn} == set(KINDS)


def test_without_a_sample_nothing_is_drawn(site: Site) -> None:
    bare = Site(site.settings.model_copy(update={"home": "another"}))
    with pytest.raises(DeidError) as raised:
        adaptation.draw(bare, 6)
    assert raised.value.code is Code.NOT_MATERIALIZED


def test_only_notes_to_learn_from_show_what_the_detector_finds(site: Site, tmp_path: Path) -> None:
    drawn = adaptation.draw(site, 10)
    count, left_out = adaptation.hand_out(site, drawn, tmp_path / "tasks.json")
    assert (count, left_out) == (len(drawn), 0)
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    shown = {task["data"]["note"] for task in tasks if "predictions" in task}
    assert shown == {key for key, it in drawn.items() if it.part is Part.LEARN}
    assert not any("p1" in json.dumps(task["meta"]) or "note_id" in json.dumps(task) for task in tasks)
    assert (tmp_path / "tasks.json").stat().st_mode & 0o777 == 0o600
    adaptation.hand_out(site, drawn, tmp_path / "blind.json", blind=True)
    assert "predictions" not in (tmp_path / "blind.json").read_text()


def test_what_people_marked_is_taken_back_note_by_note(site: Site, tmp_path: Path) -> None:
    drawn = adaptation.draw(site, 10)
    adaptation.hand_out(site, drawn, tmp_path / "tasks.json")
    changed, strange, *_, skipped = drawn

    def change(task: dict) -> None:
        if task["data"]["note"] == changed:
            task["data"]["text"] += " more"
        if task["data"]["note"] == strange:
            task["data"]["note"] = "another"
        if task["data"]["note"] == skipped:
            task["annotations"][0]["was_cancelled"] = True

    done = adaptation.take(site, [answered(tmp_path / "tasks.json", change)])
    assert (done.notes, done.skipped) == (len(drawn) - 2, 1)
    assert {it.reason for it in done.refused} == {Reason.CHANGED_TEXT, Reason.UNKNOWN_NOTE}
    marked = adaptation.marked(site)
    assert {it.member.note.key for it in marked} == drawn.keys() - {changed, strange, skipped}
    assert "Quillfeather" in {it.note.text[s.start : s.end] for it in marked for s in it.spans}
    assert adaptation.unmarked(site).keys() == {changed, strange}


def test_marked_text_goes_out_and_comes_back(site: Site, tmp_path: Path) -> None:
    drawn = adaptation.draw(site, 10)
    adaptation.hand_out(site, drawn, tmp_path / "texts", as_text=True, blind=True)
    files = sorted((tmp_path / "texts").iterdir())
    assert [file.stem for file in files] == sorted(drawn)
    assert "p1" not in files[0].name
    for file in files:
        file.write_text(file.read_text().replace("Quillfeather", "⟦Quillfeather|DOCTOR⟧"))
    files[0].write_text(files[0].read_text().replace("Case", "case"))
    files[1].write_text(files[1].read_text().replace("DOCTOR⟧", "WIZARD⟧"))
    done = adaptation.take(site, [tmp_path / "texts"])
    assert done.notes == len(drawn) - 2
    assert {it.reason for it in done.refused} == {Reason.CHANGED_TEXT, Reason.UNKNOWN_LABEL}
    (label,) = {span.label for it in adaptation.marked(site) for span in it.spans}
    assert label is Label.DOCTOR


def test_a_training_needs_notes_of_every_part_and_none_that_is_measured_on(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DeidError) as raised:
        adapt(site)
    assert (raised.value.code, raised.value.ref) == (Code.INPUT_EMPTY, "no marked note to learn")
    adaptation.hand_out(site, adaptation.draw(site, 10), tmp_path / "tasks.json", blind=True)
    adaptation.take(site, [answered(tmp_path / "tasks.json")])
    text = text_digest(adaptation.marked(site)[0].note.text)
    monkeypatch.setattr("deid_platform.review.annotation.adaptation.own_model.measured_on", lambda _: frozenset({text}))
    with pytest.raises(DeidError) as raised:
        adapt(site)
    assert raised.value.code is Code.TRAINING_ON_TEST


def test_a_preset_for_other_architectures_is_refused(site: Site) -> None:
    training = site.settings.training.model_copy(update={"preset": "paper004"})
    with pytest.raises(DeidError) as raised:
        adapt(Site(site.settings.model_copy(update={"training": training})))
    assert raised.value.code is Code.SETTINGS_INVALID


def test_a_person_draws_and_takes_by_commands(site: Site, tmp_path: Path) -> None:
    drawn = deid("adapt", "draw", "--notes", "10", "--to", str(tmp_path / "tasks.json"))
    assert drawn.returncode == 0, drawn.stderr
    assert "10 notes: 6 to learn from, 2 for the thresholds, 2 for the comparison" in drawn.stderr
    again = deid("adapt", "draw", "--again", "--to", str(tmp_path / "again.json"))
    assert again.returncode == 0, again.stderr
    one, other = (json.loads((tmp_path / name).read_text()) for name in ("tasks.json", "again.json"))
    assert {task["data"]["note"] for task in one} == {task["data"]["note"] for task in other}
    taken = deid("adapt", "take", str(answered(tmp_path / "tasks.json")))
    assert taken.returncode == 0, taken.stderr
    assert "marked so far: 6 to learn from, 2 for the thresholds, 2 for the comparison" in taken.stderr
    assert "Quillfeather" not in drawn.stderr + taken.stderr + taken.stdout
    (tmp_path / "strange.json").write_text('[{"id": 1, "data": {"text": "Ann", "note": "k"}, "annotations": []}]')
    refused = deid("adapt", "take", str(tmp_path / "strange.json"))
    assert refused.returncode == 3
    assert "unknown_note" in refused.stdout
    assert deid("adapt", "take").returncode == 2


def compared(*pairs: tuple[tuple[int, int, int], tuple[int, int, int]]) -> Comparison:
    """Of notes with right, missed and wrong words, of the one in use and of the new one."""
    before, after = (
        [NoteCounts(100, right, wrong, missed, 1, 1, cluster=str(at)) for at, (right, missed, wrong) in enumerate(some)]
        for some in zip(*pairs, strict=True)
    )
    less = (difference(after, before, measure, resamples=20) for measure in ("recall", "precision"))
    recall, precision = less
    return Comparison(summarise(before, resamples=20), summarise(after, resamples=20), recall, precision)


@pytest.mark.parametrize(
    ("before", "after", "better"),
    [
        ((8, 2, 1), (9, 1, 1), True),
        ((8, 2, 1), (8, 2, 1), False),
        ((8, 2, 3), (8, 2, 1), True),  # as many missed, fewer hidden in vain
        ((8, 2, 1), (7, 3, 0), False),  # one missed more
        ((8, 2, 40), (7, 3, 0), False),  # however much precision is gained
        ((8, 2, 1), (9, 1, 6), True),  # a missed word weighs as much as five hidden in vain, and some more
        ((8, 2, 1), (9, 1, 7), False),
    ],
)
def test_the_new_model_is_better_if_it_misses_no_more_and_is_worth_more(
    before: tuple[int, int, int], after: tuple[int, int, int], better: bool
) -> None:
    assert compared((before, after), ((5, 0, 0), (5, 0, 0))).better is better
