"""Judges of what any system released: of a file of texts, of a peer or a prompt by its name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Endpoint, Reply, Script, asked_about, asked_of
from command_line import deid

from deid_platform.evaluation.panel.chat_panel import JudgedRelease, known
from deid_platform.evaluation.panel.panel import Counts
from deid_platform.evaluation.released.released import NoteRelease
from deid_platform.labels import Label
from deid_platform.llm.answered import Unusable
from deid_platform.llm.prompted import NotFound, Prompted
from deid_platform.llm.prompts import prompt
from deid_platform.notes import Note, Span

Serve = Callable[[Script], Endpoint]
TEXT = "Ada Lovelace was seen by Paget on 3/4/2019 and 3/5/2019. Lungs are clear, aspirin 81 mg daily."
GOLD = (("Ada Lovelace", "PATIENT"), ("Paget", "DOCTOR"), ("3/4/2019", "DATE"), ("3/5/2019", "DATE"))
# A model leaves one day, hides a finding, and halves a dose that no tag tells of.
WRITTEN = "[PATIENT] was seen by [DOCTOR] on [DATE] and 3/5/2019. [HOSPITAL] are clear, aspirin 40 mg daily."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEID_SECRET", "a key for these tests alone, 7f3a91c4")
    spans = [[TEXT.index(it), TEXT.index(it) + len(it), label] for it, label in GOLD]
    notes = [{"note_id": "zeb1", "text": TEXT}, {"note_id": "zeb2", "text": TEXT}]
    write(tmp_path / "notes.jsonl", notes)
    write(tmp_path / "gold.jsonl", [{**it, "spans": spans} for it in notes])
    write(tmp_path / "out.jsonl", [{"note_id": "zeb1", "text": WRITTEN}])
    return tmp_path


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def installed(folder: Path, endpoint: Endpoint) -> Path:
    llm = f'[llm]\nurl = "{endpoint.url}"\nmodel = "toy"\ndeadline = 20\n[judges]\nseeds = [1]\n'
    (folder / "deid.toml").write_text(f'site = "north"\n{llm}')
    return folder


def of_texts(body: dict[str, Any], count: int) -> Reply:
    """A judge that reads the texts, and a model that rewrites notes."""
    if not asked_of(body).startswith("{"):
        return Reply(WRITTEN)
    asked = asked_about(body)
    if "entities" not in asked:
        return Reply(json.dumps({"change": "dose" if "81" in asked["original"] else "none"}))
    said = ["left" if it in asked["released"] else "hidden" for it in asked["entities"]]
    return Reply(json.dumps({"entities": said, "wrongly_hidden": ["Lungs"] if asked["kind"] == "HOSPITAL" else []}))


@pytest.mark.parametrize("options", [("--released", "out.jsonl"), ("--detector", "chat:rewrite-one")])
def test_a_panel_judges_texts_of_which_no_spans_are_known(serve: Serve, folder: Path, options: tuple[str, ...]) -> None:
    endpoint = serve(of_texts)
    command = ("judge", "panel", "gold.jsonl", *options, "--notes", "1", "--json")
    done = deid(*command, folder=installed(folder, endpoint))
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    (judge,) = [it for it in records if "judge" in it]
    assert (judge["judged"], judge["tp"], judge["tn"]) == (4, 1, 3)
    labels = {it["label"]: it for it in records if "label" in it}
    assert set(labels) == {"all", "PATIENT", "DOCTOR", "DATE", "HOSPITAL"}
    assert (labels["DATE"]["known_recall"], labels["HOSPITAL"]["known_precision"]) == (0.5, 0)
    assert all(it["panel_f1"] == it["known_f1"] for it in labels.values())
    # What the judge was shown is what the model wrote, the dose too, and not the note with spans taken out.
    assert {asked_about(it)["released"] for it in endpoint.received if asked_of(it).startswith("{")} == {WRITTEN}
    assert not any(word in done.stdout + done.stderr for word in ("Lovelace", "Lungs", "zeb"))


@pytest.mark.parametrize("notes", ["notes.jsonl", "gold.jsonl"])
@pytest.mark.parametrize("options", [("--released", "out.jsonl"), ("--detector", "chat:rewrite-one")])
def test_retention_is_of_the_text_that_a_model_wrote(
    serve: Serve, folder: Path, options: tuple[str, ...], notes: str
) -> None:
    done = deid("judge", "retention", notes, *options, "--json", folder=installed(folder, serve(of_texts)))
    assert done.returncode == 0, done.stderr
    lexical, cire = map(json.loads, done.stdout.splitlines())
    withheld = "--released" in options
    assert f"withheld: {int(withheld)}" in done.stderr
    assert (cire["notes"], cire["mean"], cire["reasons"]) == (2 - withheld, 0, {"dose": 2 - withheld})
    assert lexical["mean"] == 0, "aligned to spans, the dose would have stayed as it was"


def test_a_panel_needs_gold(serve: Serve, folder: Path) -> None:
    done = deid(
        *("judge", "panel", "notes.jsonl", "--released", "out.jsonl"), folder=installed(folder, serve(of_texts))
    )
    assert (done.returncode, "gold-missing" in done.stderr) == (1, True)


def test_every_measure_of_what_a_model_wrote(serve: Serve, folder: Path) -> None:
    command = ("evaluate", "gold.jsonl", "--detector", "chat:rewrite-one", "--json", "--resamples", "5")
    command += ("--token-prices", "0.03,0.06")
    done = deid(*command, folder=installed(folder, serve(of_texts)))
    assert done.returncode == 0, done.stderr
    found = {(it["measure"], it["category"]): it["value"] for it in map(json.loads, done.stdout.splitlines())}
    assert (found["LR", "PATIENT"], found["occurrences, recall", "date"]) == (1, 0.5)
    assert found["occurrences, precision", "HOSPITAL"] == 0
    # The endpoint says 7 tokens read and 3 written of each note: 10,000 * (7 * 0.03 + 3 * 0.06) / 1000.
    assert (found["tokens read a note", "all"], found["tokens written a note", "all"]) == (7, 3)
    assert found["price of 10000 notes", "all"] == pytest.approx(3.9)
    assert found["seconds a note", "all"] > 0
    assert found["lexical retention", "all"] == 0


def test_notes_that_a_model_does_not_write_are_withheld(serve: Serve, folder: Path) -> None:
    endpoint = serve(lambda body, count: Reply(None, finish="content_filter"))
    done = deid("evaluate", "gold.jsonl", "--detector", "chat:rewrite-one", folder=installed(folder, endpoint))
    assert done.returncode == 3
    assert "withheld: 2" in done.stderr and "withheld, refused: 2" in done.stderr


def test_what_texts_say_of_a_release() -> None:
    note = Note("n", "Ana met Ana and Banana on Monday.")
    gold = (Span(0, 3, Label.PATIENT), Span(8, 11, Label.PATIENT), Span(26, 32, Label.DATE))
    judged = JudgedRelease.of_release(
        NoteRelease(note, "[NAME] met Ana and [CITY] on Xday.", gold), {Label.PATIENT, Label.DATE, Label.CITY}
    )
    assert judged.left == {(Label.PATIENT, "Ana")}
    assert judged.wrong == {Label.CITY: ("Banana",)}
    assert known([judged]).labels == {
        Label.PATIENT: Counts(fn=1), Label.DATE: Counts(tp=1), Label.CITY: Counts(fp=1)
    }  # fmt: skip


def rewritten(serve: Serve, reply: Callable[[str], Reply], *notes: str, context: int = 8192) -> list[str | NotFound]:
    def script(body: dict[str, Any], count: int) -> Reply:
        return reply(asked_of(body).removeprefix("The note:\n\n"))

    model = serve(script).model(context_length=context)
    return list(Prompted(prompt("rewrite-one"), model).rewrite(notes))


def test_a_long_note_is_written_out_window_by_window_with_nothing_twice(serve: Serve) -> None:
    note = "\n\n  " + "Bob was seen today.  \n" * 200 + "\n"
    assert rewritten(serve, lambda said: Reply(said.replace("Bob", "[NAME]")), note, " ", context=2048) == [
        note.replace("Bob", "[NAME]"),
        " ",
    ]


def test_an_answer_far_from_the_note_is_its_release_all_the_same(serve: Serve) -> None:
    answer = "The patient is well."
    assert rewritten(serve, lambda _: Reply(answer), "Bob has had a long and complicated course.") == [answer]
    assert rewritten(serve, lambda _: Reply(" \n"), "Bob.") == [NotFound(Unusable.FORM)]
