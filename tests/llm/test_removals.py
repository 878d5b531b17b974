"""The judge of proposed removals that is a chat model: what it may return, and that whatever fails returns nothing."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Endpoint, Reply, Script
from command_line import deid
from toy_engine import engine, weights

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.combination import Combination
from deid_platform.detection.resolve.chat_judge import FAILURES, ChatJudgeSpec
from deid_platform.detection.resolve.judgement import Judgement
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.llm.answers import AnswersAt
from deid_platform.llm.api import ChatRequest
from deid_platform.llm.engines import Engines
from deid_platform.notes import Note
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import load_settings

Serve = Callable[[Script], Endpoint]
TEXT = "Seen by Quarmby on the Lachman ward. MRN 8841207. Wrist splint by Lachman."
MODEL = Source(SourceKind.MODEL, "toy")


@pytest.fixture(autouse=True)
def no_failures_of_other_tests() -> Iterator[None]:
    FAILURES.clear()
    yield
    FAILURES.clear()


def candidate(surface: str, label: Label = Label.HOSPITAL, source: Source = MODEL, **given: Any) -> Candidate:
    start = TEXT.index(surface)
    evidence = given.get("evidence", Evidence.PREDICTED)
    return Candidate(start, start + len(surface), label, source, evidence, 0.9)


def spec_of(endpoint: Endpoint, name: str = "removals-zero", **given: Any) -> ChatJudgeSpec:
    return ChatJudgeSpec(name, endpoint.spec(tries=1), **given)


def kept(spec: ChatJudgeSpec, *candidates: Candidate, text: str = TEXT) -> list[str]:
    (found,) = Judgement(spec.build(Engines()), 1.0)([Document(Note("n", text))], [list(candidates)])
    return [text[it.start : it.end] for it in found]


def about(body: dict[str, Any]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(body["messages"][-1]["content"])["removals"]
    return found


def verdicts(*words: str) -> Reply:
    return Reply(json.dumps({"verdicts": words}))


def all_medicine(body: dict[str, Any], count: int) -> Reply:
    return verdicts(*["medicine"] * len(about(body)))


def test_what_it_calls_medicine_stays_in_the_text(serve: Serve) -> None:
    def script(body: dict[str, Any], count: int) -> Reply:
        return verdicts(*("medicine" if "splint" in it["words"] else "identifier" for it in about(body)))

    endpoint = serve(script)
    found = kept(spec_of(endpoint), candidate("Quarmby", Label.DOCTOR), candidate("Wrist splint"))
    assert found == ["Quarmby"]
    (body,) = endpoint.received
    assert about(body)[0] == {"words": "Quarmby", "before": "Seen by ", "after": TEXT[15:]}
    form = body["response_format"]["json_schema"]["schema"]["properties"]["verdicts"]
    assert (form["minItems"], form["maxItems"]) == (2, 2)


@pytest.mark.parametrize(
    "strong",
    [
        candidate("Quarmby", Label.PATIENT),
        candidate("8841207", Label.MEDICALRECORD),
        candidate("Quarmby", Label.DOCTOR, Source(SourceKind.ROSTER), evidence=Evidence.PROVEN),
        candidate("Quarmby", Label.DOCTOR, Source(SourceKind.GAZETTEER), evidence=Evidence.LISTED),
        candidate("Quarmby", Label.DOCTOR, Source(SourceKind.CROSS_NOTE), evidence=Evidence.CONTEXT),
        candidate("Quarmby", Label.DOCTOR, Source(SourceKind.RULES, "site-staff", of_site=True)),
        candidate("8841207", Label.IDNUM, Source(SourceKind.RULES, "check"), evidence=Evidence.PROVEN),
        candidate("Quarmby", Label.DOCTOR, Source(SourceKind.RULES, "by"), evidence=Evidence.LABELLED),
    ],
)
def test_what_is_known_or_direct_is_never_shown_to_it(serve: Serve, strong: Candidate) -> None:
    endpoint = serve(all_medicine)
    surface = TEXT[strong.start : strong.end]
    assert kept(spec_of(endpoint), strong, candidate("Wrist splint")) == [surface]
    assert [it["words"] for body in endpoint.received for it in about(body)] == ["Wrist splint"]
    assert kept(spec_of(endpoint), strong) == [surface]
    assert len(endpoint.received) == 1


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(None, finish="content_filter"), "refused"),
        (Reply('{"verdicts": ["medicine', finish="length"), "cut-off"),
        (Reply("medicine, medicine"), "form"),
        (verdicts("medicine"), "form"),
        (verdicts("medicine", "medicine", "medicine"), "form"),
        (verdicts("medicine", "Medicine"), "form"),
        (Reply('{"verdicts": ["medicine", 1]}'), "form"),
        (Reply('{"verdicts": "medicine"}'), "form"),
        (Reply('{"verdicts": ["identifier", "identifier"], "verdicts": ["medicine", "medicine"]}'), "form"),
        (Reply(status=503), "server"),
        (Reply(drops=True), "unreachable"),
        (Reply(status=307, headers={"Location": "http://127.0.0.1:9/v1"}), "redirect"),
        (Reply(body=b"{}"), "malformed"),
    ],
)
def test_whatever_is_no_whole_answer_returns_nothing(serve: Serve, reply: Reply, why: str) -> None:
    endpoint = serve(lambda body, count: reply)
    assert kept(spec_of(endpoint), candidate("Quarmby", Label.DOCTOR), candidate("Wrist splint")) == [
        "Quarmby",
        "Wrist splint",
    ]
    assert dict(FAILURES) == {why: 2}


def test_where_it_is_measured_a_note_without_an_answer_fails(serve: Serve, tmp_path: Path) -> None:
    notes = [Note(str(n), text) for n, text in enumerate(("She moved here from Peebles.", "He lives in Lerwick now."))]
    endpoint = serve(lambda body, count: Reply("no") if "Peebles" in str(about(body)) else all_medicine(body, count))
    spec = DetectorSpec("ensemble", combination=Combination(judge="chat:removals-zero"), chat_judge=spec_of(endpoint))
    assert spec.as_measured().detector_digest == spec.detector_digest
    in_refresh, measured = (list(LocalEngine().detect(it, notes)) for it in (spec, spec.as_measured()))
    assert [len(it.spans or ()) for it in in_refresh] == [1, 0]
    assert [it.error for it in measured] == [Code.DETECTOR_FAILED, None]
    assert DetectorSpec("ensemble").as_measured() == DetectorSpec("ensemble")


def test_a_part_that_fails_leaves_the_others(serve: Serve) -> None:
    text = " ".join(f"splint{n}" for n in range(40))
    candidates = [
        Candidate(at, at + len(word), Label.HOSPITAL, MODEL, Evidence.PREDICTED, 0.9)
        for word in text.split()
        for at in [text.index(word)]
    ]

    def script(body: dict[str, Any], count: int) -> Reply:
        return Reply("no") if any(it["words"] == "splint20" for it in about(body)) else all_medicine(body, count)

    endpoint = serve(script)
    assert kept(spec_of(endpoint), *candidates, text=text) == [f"splint{n}" for n in range(16, 32)]
    assert sorted(len(about(body)) for body in endpoint.received) == [8, 16, 16]


def test_it_is_part_of_the_detector_and_travels_to_workers(serve: Serve) -> None:
    endpoint = serve(all_medicine)
    chosen = Combination(judge="chat:removals-zero")
    specs = [
        DetectorSpec("ensemble"),
        DetectorSpec("ensemble", combination=chosen, chat_judge=spec_of(endpoint)),
        DetectorSpec("ensemble", combination=chosen, chat_judge=spec_of(endpoint, seed=1)),
        DetectorSpec(
            "ensemble",
            combination=chosen,
            chat_judge=ChatJudgeSpec("removals-zero", endpoint.spec(revision="two")),
        ),
        DetectorSpec(
            "ensemble",
            combination=Combination(judge="chat:removals-zero-it"),
            chat_judge=spec_of(endpoint, "removals-zero-it"),
        ),
    ]
    assert len({spec.detector_digest for spec in specs}) == len(specs)
    assert pickle.loads(pickle.dumps(specs[1])) == specs[1]
    assert endpoint.received == []
    with pytest.raises(DeidError, match="llm-missing"):
        DetectorSpec("ensemble", combination=chosen).build()
    with pytest.raises(DeidError, match="llm-missing"):
        DetectorSpec("ensemble", combination=chosen, chat_judge=spec_of(endpoint, "removals-zero-it")).build()


def test_what_was_answered_is_not_asked_again(serve: Serve, tmp_path: Path) -> None:
    endpoint = serve(all_medicine)
    at = AnswersAt(tmp_path / "judges.db", Keyring(b"a key for these tests alone, 7f3a91c4", site="north"))
    for _ in range(2):
        assert kept(spec_of(endpoint, answers=at), candidate("Wrist splint")) == []
    assert len(endpoint.received) == 1


@pytest.mark.process
@pytest.mark.thorough
def test_the_ablation_has_its_row_and_says_what_stayed_hidden(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEID_SECRET", "a key for these tests alone, 7f3a91c4")
    text = "She moved here from Peebles last spring. SSN 123-45-6789."
    gold = {"note_id": "n", "text": text, "spans": [[45, 56, "SSN"]]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    broken = False

    def script(body: dict[str, Any], count: int) -> Reply:
        return Reply("no") if broken else all_medicine(body, count)

    endpoint = serve(script)
    (tmp_path / "deid.toml").write_text(f'site = "north"\n[llm]\nurl = "{endpoint.url}"\nmodel = "toy"\n')
    asked = ("evaluate", "gold.jsonl", "--ablation", "--judge", "chat:removals-zero", "--json", "--resamples", "2")
    done = deid(*asked, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {row["stages"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert rows["and doubt"]["precision"] < 1 == rows["and judge"]["precision"] == rows["and judge"]["recall"]
    assert {it["words"] for body in endpoint.received for it in about(body)} == {"Peebles"}
    broken = True
    (tmp_path / ".deid" / "llm" / "judges.db").unlink()
    again = deid(*asked, folder=tmp_path)
    rows = {row["stages"]: row for row in map(json.loads, again.stdout.splitlines())}
    assert rows["and doubt"]["precision"] == rows["all"]["precision"]
    assert "no answer of the judge: form: " in again.stderr
    assert "Peebles" not in done.stderr + again.stderr + again.stdout


@pytest.mark.parametrize(
    ("judge", "toml", "code"),
    [
        ("chat:removals-zero", 'site = "north"\n', "llm-missing"),
        ("chat:removals-zero", None, "llm-missing"),
        ("chat:removal", 'site = "north"\n', "prompt-unknown"),
        ("chat:retention-few", 'site = "north"\n', "known: removals-zero, removals-zero-it"),
        ("chat", 'site = "north"\n', "detector-unknown"),
    ],
)
def test_a_judge_that_is_not_there_is_refused(tmp_path: Path, judge: str, toml: str | None, code: str) -> None:
    (tmp_path / "gold.jsonl").write_text('{"note_id": "n", "text": "Bob", "spans": [[0, 3, "PATIENT"]]}\n')
    if toml:
        (tmp_path / "deid.toml").write_text(toml)
    done = deid("evaluate", "gold.jsonl", "--judge", judge, folder=tmp_path)
    assert done.returncode == 1
    assert code in done.stderr


def test_an_installation_names_it_and_its_answers_are_kept_in_the_phi_zone(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEID_SECRET", "a key for these tests alone, 7f3a91c4")
    judge = '[detection.combination]\njudge = "chat:removals-zero"\n'
    llm = f'[llm]\nurl = "{serve(all_medicine).url}"\nmodel = "toy"\nrevision = "3"\n'
    (tmp_path / "deid.toml").write_text(f'site = "north"\n{judge}{llm}')
    spec = Site(load_settings(tmp_path / "deid.toml")).spec(None)
    (found,) = LocalEngine().detect(spec, [Note("n", "She moved here from Peebles last spring.")])
    assert found.spans == ()
    kept_at = tmp_path / ".deid" / "llm" / "judges.db"
    assert kept_at.stat().st_mode & 0o777 == 0o600
    (tmp_path / "deid.toml").write_text(f'site = "north"\n{judge}')
    with pytest.raises(DeidError, match="llm-missing"):
        Site(load_settings(tmp_path / "deid.toml")).spec(None)


def test_without_a_server_the_model_of_this_process_judges_and_its_end_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEID_SECRET", "a key for these tests alone, 7f3a91c4")
    weights(tmp_path / "weights")
    judge = '[detection.combination]\njudge = "chat:removals-zero"\n'
    (tmp_path / "deid.toml").write_text(f'site = "north"\n{judge}[vllm]\nmodel = "weights"\n')
    spec = Site(load_settings(tmp_path / "deid.toml")).spec(None)

    def says(request: ChatRequest) -> str:
        removals = json.loads(request.messages[-1].content)["removals"]
        return json.dumps({"verdicts": ["medicine"] * len(removals)})

    with engine(says) as toy:
        alone = LocalEngine()
        (found,) = alone.detect(spec, [Note("n", "She moved here from Peebles last spring.")])
        assert (found.spans, toy.loaded) == ((), 1)
        with pytest.raises(DeidError, match=r"settings-invalid.*\[vllm\] again"):
            list(LocalEngine(workers=2).detect(spec, [Note("n", "Bob")]))
        monkeypatch.setattr(toy, "lost", True)
        with pytest.raises(DeidError, match="device-lost"):
            spec.check(alone.models)
