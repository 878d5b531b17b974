"""A refresh whose detector has a language model: a note that is not answered is quarantined, and no note is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from chat_endpoint import Endpoint, Reply, Script, asked_of, serving

from deid_platform.bench.lab.on_request import _found
from deid_platform.engine.engines import LocalEngine, detect_in
from deid_platform.errors import Code, DeidError
from deid_platform.llm import engines
from deid_platform.llm.api import ChatAnswer, ChatRequest, Finish, ModelIdentity
from deid_platform.notes import Delivery, Note
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.settings import DetectionSettings, LlmSettings, VllmSettings, load_settings

CLEAN = "Saw Blorf Vantongeren."
HIDDEN = "Saw [PATIENT]."
REASONS = {
    "refuses": "chat-refused",
    "cut off": "chat-cut-off",
    "prose": "chat-form",
    "garbage": "chat-no-answer",
    "absent": "chat-absent",
    "slow": "chat-deadline",
}


@pytest.fixture(scope="module")
def site(installation_without_warehouse: Path) -> Site:
    return Site(load_settings(installation_without_warehouse))


def answered(note: str) -> Reply:
    entities = [{"text": "Blorf Vantongeren", "label": "PATIENT"}] if "Blorf" in note else []
    if "absent" in note:
        entities.append({"text": "Mireille Okonjo", "label": "PATIENT"})
    return {
        "refuses": Reply("I cannot help with that.", finish="content_filter"),
        "cut off": Reply('[{"text": "Bl', finish="length"),
        "prose": Reply("There is one name in it."),
        "garbage": Reply(body=b"\x1f\x8b\x00not gzip"),
        "slow": Reply(never=True),
    }.get(next((word for word in REASONS if word in note), ""), Reply(json.dumps(entities)))


@pytest.fixture
def with_chat(site: Site) -> Callable[..., Any]:
    @contextmanager
    def running(script: Script, **given: Any) -> Iterator[tuple[Endpoint, Site]]:
        with serving(script) as endpoint:
            llm = LlmSettings(url=endpoint.url, model="toy", **{"deadline": 20.0, "concurrency": 2, **given})
            detection = DetectionSettings(chat="extract-zero")
            yield endpoint, Site(site.settings.model_copy(update={"llm": llm, "detection": detection}))

    return running


def redact(site: Site, delivery: Delivery, **given: Any) -> list[dict[str, Any]]:
    engine = LocalEngine(batch_size=2, models=site.models)
    deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=engine, **given)
    return site.store.rows("deid/redacted_notes", delivery.key)


def noted(*texts: str) -> list[dict[str, str]]:
    return [{"note_id": str(at), "text": text} for at, text in enumerate(texts)]


@pytest.mark.slow
def test_each_failure_quarantines_its_note_and_the_others_go_on(with_chat, deliver, take_in) -> None:
    texts = [text for word in REASONS for text in (CLEAN.replace(".", f" {word}y."), f"It is {word}: Blorf.")]
    texts = [text if n % 2 else f"{CLEAN} No {n}." for n, text in enumerate(texts)]
    delivery = deliver("2026-03-01", notes=noted(*texts))
    take_in(delivery)
    with with_chat(lambda body, _: answered(asked_of(body)), deadline=2) as (endpoint, site):
        rows = redact(site, delivery)
        assert len(endpoint.received) == len(texts)
        assert [row["note_id"] for row in rows] == [str(n) for n in range(len(texts))]
        for n, row in enumerate(rows):
            if n % 2:
                assert (row["status"], row["reason"], row["text"]) == (
                    "quarantined",
                    list(REASONS.values())[n // 2],
                    None,
                )
            else:
                assert (row["status"], row["text"]) == ("clean", f"{HIDDEN} No {n}.")
        # Run again, what failed is tried again: answers are kept, so only those without one are asked for.
        before = len(endpoint.received)
        assert redact(site, delivery) == rows
        again = [asked_of(body) for body in endpoint.received[before:]]
        assert len(again) == 2 and {word for word in REASONS for text in again if word in text} == {"garbage", "slow"}


@pytest.mark.slow
def test_a_server_that_dies_amid_a_batch_loses_no_note_and_releases_none_unread(with_chat, deliver, take_in) -> None:
    delivery = deliver("2026-03-02", notes=noted(*(f"{CLEAN} Day {n}" for n in range(5))))
    take_in(delivery)
    dead = False

    def script(body: dict[str, Any], _: int) -> Reply:
        nonlocal dead
        # Of the second batch, whose two questions come in any order.
        dead = dead or asked_of(body).endswith(("Day 2", "Day 3"))
        return Reply(drops=True) if dead else answered(asked_of(body))

    # The deadline comes before the last of the tries.
    with with_chat(script, deadline=2) as (endpoint, site):
        rows = redact(site, delivery)
        assert [row["text"] for row in rows] == [f"{HIDDEN} Day 0", f"{HIDDEN} Day 1", None, None, None]
        assert {row["reason"] for row in rows[2:]} <= {"chat-no-answer", "chat-deadline"}
        dead, asked = False, len(endpoint.received)
    with with_chat(lambda body, _: answered(asked_of(body))) as (endpoint, site):
        assert [row["text"] for row in redact(site, delivery)] == [f"{HIDDEN} Day {n}" for n in range(5)]
        # What the first server has answered is not asked of the second one.
        assert asked > 2 and len(endpoint.received) == 3


class Killed(BaseException):
    """Nothing after it is done."""


def test_a_run_that_was_killed_goes_on_without_asking_again(with_chat, deliver, take_in) -> None:
    delivery = deliver("2026-03-03", notes=noted(*(f"{CLEAN} Week {n}" for n in range(6))))
    take_in(delivery)

    def progress(_: int) -> None:
        raise Killed

    with with_chat(lambda body, _: answered(asked_of(body))) as (endpoint, site):
        with pytest.raises(Killed):
            redact(site, delivery, progress=progress)
        assert site.store.manifest("deid/redacted_notes", delivery.key) is None
        assert len(endpoint.received) == 2
        assert [row["text"] for row in redact(site, delivery)] == [f"{HIDDEN} Week {n}" for n in range(6)]
        assert sorted(asked_of(body)[-6:] for body in endpoint.received) == [f"Week {n}" for n in range(6)]


class Dying:
    """Stands for an engine of this process, and ends before it answers to the third day, once."""

    asked: ClassVar[list[str]] = []
    mortal: ClassVar[bool] = True

    def __init__(self, _: object) -> None:
        self.lost = False
        self.identity, self.context_length = ModelIdentity("weights", "f" * 32), 8192

    def __enter__(self) -> Dying:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def model(self, _: str | None) -> Dying:
        return self

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer]:
        for request in requests:
            note = request.messages[-1].content
            if "Day 2" in note and Dying.mortal:
                self.lost, Dying.mortal = True, False
            if self.lost:
                raise DeidError(Code.DEVICE_LOST)
            self.asked.append(note[-5:])
            lists_indirect = request.schema is not None and "category" in request.schema.source
            yield ChatAnswer("[]" if lists_indirect else answered(note).text or "", Finish.STOP)


@pytest.mark.parametrize(
    ("day", "detection"),
    [("2026-03-05", {"chat": "extract-zero"}), ("2026-03-06", {"indirect": True})],
    ids=["a reader", "tagging indirect identifiers"],
)
def test_an_engine_of_this_process_that_dies_stops_the_run_and_the_next_one_goes_on(
    site, deliver, take_in, tmp_path, monkeypatch, day, detection
) -> None:
    monkeypatch.setattr(engines, "VllmEngine", Dying)
    monkeypatch.setattr(Dying, "asked", [])
    monkeypatch.setattr(Dying, "mortal", True)
    sizes = ("hidden_size", "num_attention_heads", "num_hidden_layers", "max_position_embeddings")
    (tmp_path / "config.json").write_text(json.dumps(dict(zip(sizes, (64, 1, 1, 8192), strict=True))))
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    told = {"vllm": VllmSettings(model=tmp_path), "detection": DetectionSettings(**detection)}
    chatting = Site(site.settings.model_copy(update=told))
    delivery = deliver(day, notes=noted(*(f"{CLEAN} Day {n}" for n in range(5))))
    take_in(delivery)
    try:
        with pytest.raises(DeidError) as stopped:
            redact(chatting, delivery)
        assert stopped.value.code is Code.DEVICE_LOST
        # No note counts as one that the detector failed on, and nothing of the delivery can be staged.
        for dataset in (tables.FIRST_PASS, tables.REDACTED_NOTES):
            assert site.store.manifest(dataset, delivery.key) is None
        assert Dying.asked == ["Day 0", "Day 1"]
        # Whoever asks before the run has ended is told the same: a note in Python, a measurement on request.
        lost = chatting.spec(None).build(chatting.models)
        note = Note("5", f"{CLEAN} Day 5")
        asking = (lambda: detect_in(lost, note), lambda: _found(lost, [note, note])) if chatting.spec(None).chat else ()
        for ask in asking:
            with pytest.raises(DeidError) as stopped:
                ask()
            assert stopped.value.code is Code.DEVICE_LOST
        chatting.models.release()  # as the resource gpu does at the end of a run
        assert [row["text"] for row in redact(chatting, delivery)] == [f"{HIDDEN} Day {n}" for n in range(5)]
        assert Dying.asked == [f"Day {n}" for n in range(5)]  # what was answered before is not asked again
    finally:
        chatting.models.release()


def test_the_model_is_part_of_what_the_gate_approves(with_chat, site, deliver) -> None:
    with with_chat(lambda body, _: Reply()) as (endpoint, chatting):
        digest = chatting.spec(None).detector_digest
        assert digest != site.spec(None).detector_digest and not endpoint.received
        llm = chatting.settings.llm.model_copy(update={"temperature": 0.7})
        assert Site(chatting.settings.model_copy(update={"llm": llm})).spec(None).detector_digest != digest
        assert chatting.release != Site(chatting.settings.model_copy(update={"llm": llm})).release


@pytest.mark.parametrize(
    ("detection", "said"),
    [
        ({"chat": "extract-zero"}, "llm-missing"),
        ({"llm_review": {"share": 0.1}}, r"settings-invalid.*detection\.chat is not set"),
    ],
)
def test_settings_that_leave_a_question_are_refused(site: Site, detection: dict[str, Any], said: str) -> None:
    settings = site.settings.model_copy(update={"detection": DetectionSettings(**detection)})
    with pytest.raises(DeidError, match=said):
        Site(settings).spec(None)
