"""A chat model in the detector: it only adds, what it cannot answer fails its note alone, nothing is asked twice."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Endpoint, Reply, asking, serving

from deid_platform.detection import DetectorSpec
from deid_platform.detection.api import Candidate, Document, Evidence, Likelihoods, NotesFailedError, Source, SourceKind
from deid_platform.detection.chat.review import Review, doubt_at, doubt_of
from deid_platform.detection.chat.spec import ChatSpec
from deid_platform.detection.models.loading import Models
from deid_platform.detection.pipeline import Candidates
from deid_platform.detection.resolve.asked import beside_others
from deid_platform.detection.resolve.chat_judge import ChatJudgeSpec
from deid_platform.detection.resolve.merge import merge
from deid_platform.engine.detection_job import outcomes_in
from deid_platform.engine.engines import LocalEngine, detect_in
from deid_platform.engine.ray_engine import RayEngine
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.llm.answers import AnswersAt
from deid_platform.llm.api import ChatAnswer, Failed, Failure
from deid_platform.llm.budget import Budgeted
from deid_platform.llm.engines import EngineSpec
from deid_platform.llm.vllm_engine import EngineSettings
from deid_platform.notes import Note, Patient, Topics
from deid_platform.settings import load_settings

WITHOUT = ("models", "doubt")
"""So that nothing is loaded; the stage takes what there is."""
ANSWERS = {
    "Blorf": [("Blorf", "CITY"), ("Zebulon Quarmby", "DOCTOR")],
    "absent": [("Nobody Here", "PATIENT")],
    "empty": [(" ", "PATIENT")],
    "whatever": [("whatever", "SHOE SIZE"), ("a welder", "PROFESSION")],
}
FAILING = {
    "refuses": Reply(None, finish="content_filter"),
    "cut": Reply('[{"text": "cu', finish="length"),
    "prose": Reply("I think there is a name."),
    "other": Reply('{"text": "other"}'),
    "garbage": Reply(body=b"\x00\xff"),
    "drops": Reply(drops=True),
    "slow": Reply(never=True),
    "away": Reply(status=302, headers={"Location": "http://192.0.2.7/v1"}),
}
CODES = {
    "refuses": Code.CHAT_REFUSED,
    "cut": Code.CHAT_CUT_OFF,
    "prose": Code.CHAT_FORM,
    "other": Code.CHAT_FORM,
    "garbage": Code.CHAT_NO_ANSWER,
    "drops": Code.CHAT_NO_ANSWER,
    "slow": Code.CHAT_DEADLINE,
    "away": Code.CHAT_NO_ANSWER,
    "absent": Code.CHAT_ABSENT,
    "empty": Code.CHAT_ABSENT,
}


def replied(body: dict[str, Any], count: int) -> Reply:
    text = body["messages"][-1]["content"]
    for word, reply in FAILING.items():
        if word in text:
            return reply
    listed = [
        {"text": surface, "label": label}
        for word, found in ANSWERS.items()
        if word in text
        for surface, label in found
        if surface in text or word == "absent"
    ]
    return Reply(json.dumps(listed))


@contextmanager
def detector(**given: Any) -> Iterator[tuple[Endpoint, DetectorSpec]]:
    with serving(replied) as endpoint:
        model = endpoint.spec(tries=1, deadline=given.pop("deadline", 20.0))
        chat = ChatSpec("extract-zero", model, **given)
        yield endpoint, DetectorSpec("ensemble", without=WITHOUT, chat=chat)


def notes(*texts: str) -> list[Note]:
    return [Note(str(at), text, patient_id="P1") for at, text in enumerate(texts)]


def test_it_adds_what_only_it_finds_and_takes_nothing_from_what_is_known() -> None:
    topics = Topics.of([Patient("P1", first_name="Zebulon", last_name="Quarmby")], [], [])
    with detector() as (_, spec):
        (found,) = LocalEngine().detect(
            replace(spec, topics=topics), notes("Zebulon Quarmby, SSN 900-12-3456, of Blorf.")
        )
        (of_nothing,) = LocalEngine().detect(replace(spec, topics=topics), notes("Quarmby, SSN 900-12-3456: nothing"))
    by_label = {span.label: span for span in found.spans or ()}
    assert by_label[Label.CITY].source == "model:chat/extract-zero"
    # The roster says who it is, whatever the model calls him, and a number stays that nobody but a rule has found.
    assert (by_label[Label.PATIENT].source, by_label[Label.SSN].source) == ("roster", "rules:ssn")
    assert {span.label for span in of_nothing.spans or ()} == {Label.PATIENT, Label.SSN}


def test_a_site_may_name_a_file_and_its_text_is_part_of_the_digest(tmp_path: Path) -> None:
    own = tmp_path / "mine.yaml"
    body = "version: 1\nlanguage: en\ntask: extract\nmessages:\n- {role: user, content: 'x {{note}}'}\n"
    own.write_text(f"name: mine\n{body}")
    toml = 'site = "north"\n[llm]\nurl = "http://127.0.0.1:9/v1"\nmodel = "toy"\n'
    (tmp_path / "deid.toml").write_text(f'{toml}[detection]\nchat = "mine.yaml"\n')
    settings = load_settings(tmp_path / "deid.toml")
    chat = ChatSpec.of(settings, "mine.yaml")  # beside deid.toml, whatever the current folder
    assert (chat.prompt, ChatSpec.of(settings, "extract-zero").own) == ("mine", None)
    own.write_text(f"name: mine\n{body.replace('x {{', 'y {{')}")
    assert ChatSpec.of(settings, "mine.yaml").digest != chat.digest == pickle.loads(pickle.dumps(chat)).digest
    with pytest.raises(DeidError, match="prompt-unknown"):
        ChatSpec.of(settings, "retention-few")


CHAT, OTHER = Source(SourceKind.MODEL, "chat/extract-zero"), Source(SourceKind.MODEL, "toy")


@pytest.mark.parametrize(
    ("others", "asked", "expected"),
    [
        # Longer, surer or a bridge: what others found keeps its label, the rest has the model's.
        ([(4, 7, Label.PATIENT, OTHER)], (0, 7, Label.DOCTOR), [(0, 4, Label.DOCTOR), (4, 7, Label.PATIENT)]),
        ([(4, 7, Label.PATIENT, OTHER)], (4, 7, Label.DOCTOR), [(4, 7, Label.PATIENT)]),
        ([(4, 7, Label.PROFESSION, OTHER)], (4, 7, Label.DOCTOR), [(4, 7, Label.PROFESSION)]),
        (
            [(0, 3, Label.PATIENT, OTHER), (8, 15, Label.DOCTOR, Source(SourceKind.RULES))],
            (0, 15, Label.DOCTOR),
            [(0, 3, Label.PATIENT), (4, 7, Label.DOCTOR), (8, 15, Label.DOCTOR)],
        ),
        # Of the same label it may join them; white space alone is nothing.
        ([(0, 3, Label.PATIENT, OTHER)], (0, 7, Label.PATIENT), [(0, 7, Label.PATIENT)]),
        ([(0, 3, Label.PATIENT, OTHER)], (0, 4, Label.DOCTOR), [(0, 3, Label.PATIENT)]),
    ],
)
def test_no_answer_changes_the_label_of_what_others_found(others, asked, expected) -> None:
    document = Document(Note("1", "Ann Bo. Carlson"))
    found = [Candidate(*it, Evidence.PREDICTED, 0.4) for it in (*others, (*asked, CHAT))]
    merged = merge(beside_others(document, found))
    covered = [(it.start, it.end, it.label) for it in merged]
    assert [(a, b, c) for a, b, c in covered if c is not Label.DOCTOR] == [
        (a, b, c) for a, b, c in expected if c is not Label.DOCTOR
    ]
    hidden = {at for start, end, _ in covered for at in range(start, end)}
    assert {at for start, end, _ in expected for at in range(start, end)} <= hidden


@pytest.mark.parametrize(
    "answer", ["Seen with Blorf. Then call the sister", "Seen with [PATIENT]. Then call the other one back."]
)
def test_a_rewriting_that_lacks_or_changes_some_of_the_note_fails_it(answer: str) -> None:
    with serving(lambda body, count: Reply(answer)) as endpoint:
        chat = ChatSpec("rewrite-zero", endpoint.spec(tries=1))
        spec = DetectorSpec("ensemble", without=WITHOUT, chat=chat)
        (found,) = LocalEngine().detect(spec, notes("Seen with Blorf. Then call the sister of hers back."))
    assert (found.spans, found.error) == (None, Code.CHAT_STRAYED)


def test_a_rewriting_of_the_whole_note_counts() -> None:
    with serving(lambda body, count: Reply("Seen with [PATIENT]. Then call back.")) as endpoint:
        chat = ChatSpec("rewrite-zero", endpoint.spec(tries=1))
        found = _one(DetectorSpec("ensemble", without=WITHOUT, chat=chat), "Seen with Blorf. Then call back.")
    assert [(span.start, span.end, span.label) for span in found] == [(10, 15, Label.PATIENT)]


def test_a_place_without_a_label_is_hidden_and_an_occupation_only_where_the_policy_hides_them() -> None:
    with detector() as (_, spec):
        shown = {
            professions: [
                (span.label, span.start) for span in _one(replace(spec, professions=professions), "whatever, a welder")
            ]
            for professions in (False, True)
        }
    assert shown[False] == [(Label.IDNUM, 0)]
    assert shown[True] == [(Label.IDNUM, 0), (Label.PROFESSION, 10)]


def _one(spec: DetectorSpec, text: str) -> Sequence[Any]:
    (found,) = LocalEngine().detect(spec, notes(text))
    assert found.spans is not None
    return found.spans


@pytest.mark.parametrize("word", CODES)
def test_a_note_that_is_not_answered_fails_alone_with_its_code_and_nobody_is_asked_again(word: str) -> None:
    with detector(deadline=2.0 if word == "slow" else 20.0) as (endpoint, spec):
        texts = ("Saw Blorf.", f"It {word} Blorf Quarmby.", "nothing")
        found = list(LocalEngine().detect(spec, notes(*texts)))
        assert [one.error for one in found] == [None, CODES[word], None]
        assert (found[1].spans, len(found[0].spans or ())) == (None, 1)
        assert len(endpoint.received) == 3
        with pytest.raises(DeidError) as raised:
            detect_in(spec.build(), notes(*texts)[1])
    assert raised.value.code is CODES[word]
    assert "Quarmby" not in str(raised.value) + repr(raised.value) and raised.value.__context__ is None


def test_a_note_that_got_no_answer_may_be_tried_again() -> None:
    with serving(lambda _, count: Reply(drops=True) if count == 1 else Reply("[]")) as endpoint:
        chat = ChatSpec("extract-zero", endpoint.spec(tries=1))
        built = DetectorSpec("ensemble", without=WITHOUT, chat=chat).build()
        with pytest.raises(DeidError, match="chat-no-answer"):
            detect_in(built, notes("Well.")[0])
        assert detect_in(built, notes("Well.")[0]) == ()


def test_whoever_takes_a_batch_as_one_has_none_of_it() -> None:
    with detector() as (_, spec):
        pipeline = spec.pipeline()
        with pytest.raises(NotesFailedError) as raised:
            pipeline.detect(notes("Saw Blorf.", "It refuses."))
        with pytest.raises(DeidError, match="chat-refused"):
            pipeline.candidates(notes("Saw Blorf.", "It refuses."))
    assert [isinstance(each, Code) for each in raised.value.outcomes] == [False, True]


def test_where_another_stage_raises_the_notes_of_its_batch_are_not_asked_again() -> None:
    def failing(documents: Sequence[Document], candidates: Candidates) -> Candidates:
        if any("nothing" in document.text for document in documents):
            raise ValueError
        return candidates

    class Broken(DetectorSpec):
        def build(self, models: Models | None = None) -> Any:
            pipeline = self.pipeline(models)
            pipeline.stages["relatives"] = failing
            return pipeline

    with detector() as (endpoint, spec):
        broken = Broken("ensemble", without=WITHOUT, chat=spec.chat)
        found = list(LocalEngine().detect(broken, notes("Saw Blorf.", "nothing", "It refuses.")))
        assert [one.error for one in found] == [None, Code.DETECTOR_FAILED, Code.CHAT_REFUSED]
        assert len(endpoint.received) == 3


def test_every_reading_of_a_note_has_to_be_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deid_platform.detection.documents._LONGEST", 60)
    monkeypatch.setattr("deid_platform.detection.documents._OVERLAP", 10)
    text = "Saw Blorf, who is well and eats.\n" * 4 + "It refuses.\n"
    with detector() as (_, spec):
        (found,) = LocalEngine().detect(spec, notes(text))
        (whole,) = LocalEngine().detect(spec, notes(text.replace("It refuses.", "Blorf")))
    assert (found.spans, found.error) == (None, Code.CHAT_REFUSED)
    assert len(whole.spans or ()) == 5


def test_answers_that_are_kept_are_not_asked_for_again_and_failures_are(tmp_path: Path) -> None:
    kept = AnswersAt(tmp_path / "llm" / "a.db", Keyring(hashlib.sha256(b"keys").digest(), site="s"))
    texts = ("Saw Blorf.", "It refuses.", "It drops.", "nothing")
    with detector(answers=kept) as (endpoint, spec):
        first = list(LocalEngine().detect(spec, notes(*texts)))
        again = list(LocalEngine().detect(spec, notes(*texts)))
        assert first == again
        # A refusal is an answer; a connection that ended is none.
        assert sorted(asked.rsplit("\n", 1)[-1] for asked in endpoint.asked[4:]) == ["It drops."]
    assert kept.path.stat().st_mode & 0o777 == 0o600 and kept.path.parent.stat().st_mode & 0o777 == 0o700
    assert b"Saw Blorf" not in kept.path.read_bytes()


def test_all_that_decides_an_answer_is_part_of_the_digest() -> None:
    endpoint = Endpoint(1).spec()
    base = DetectorSpec("ensemble", chat=ChatSpec("extract-zero", endpoint))
    chat = base.chat
    assert chat is not None
    others = [
        None,
        replace(chat, prompt="extract-one"),
        replace(chat, temperature=0.7),
        replace(chat, seed=1),
        replace(chat, model=replace(endpoint, model="another")),
        replace(chat, model=replace(endpoint, revision="2")),
        replace(chat, model=replace(endpoint, context_length=2048)),
        replace(chat, model=replace(endpoint, structured=False)),
        replace(chat, review=Review(1.0)),
        replace(chat, review=Review(2.0)),
        replace(chat, review=Review(1.0, frozenset((Label.CITY,)))),
        replace(chat, review=Review(1.0, budget_tokens=5)),
    ]
    digests = {replace(base, chat=other).detector_digest for other in others} | {base.detector_digest}
    assert len(digests) == 1 + len(others)
    # Where it is and how fast it is asked decides nothing.
    elsewhere = replace(chat, model=replace(endpoint, url="http://127.0.0.1:2/v1", concurrency=1, deadline=1.0))
    assert replace(base, chat=elsewhere).detector_digest == base.detector_digest
    assert "chat" in base.stages and "chat" not in replace(base, chat=None).stages


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (DetectorSpec("rules", chat=ChatSpec("extract-zero", Endpoint(1).spec())), "settings-invalid.*detection.chat"),
        (DetectorSpec("ensemble", chat=ChatSpec("extract-zer0", Endpoint(1).spec())), "prompt-unknown.*extract-zero"),
        (
            DetectorSpec("ensemble", chat=ChatSpec("extract-zero", Endpoint(1).spec(url="http://192.0.2.7/v1"))),
            "endpoint-refused",
        ),
        (
            DetectorSpec("ensemble", chat=ChatSpec("extract-one", Endpoint(1).spec(context_length=300))),
            "settings-invalid.*context_length",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_note(spec: DetectorSpec, said: str) -> None:
    with pytest.raises(DeidError, match=said):
        list(LocalEngine().detect(spec, notes("Saw Blorf.")))


def test_a_model_of_this_process_has_one_worker() -> None:
    chat = ChatSpec("extract-zero", EngineSpec(EngineSettings(Path("nowhere"))))
    with pytest.raises(DeidError, match=r"settings-invalid.*\[vllm\] again"):
        list(LocalEngine(workers=2).detect(DetectorSpec("ensemble", chat=chat), notes("Saw Blorf.")))


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        ({"chat": ChatSpec("extract-zero", Endpoint(1).spec())}, "chat"),
        ({"chat_judge": ChatJudgeSpec("removals-zero", Endpoint(1).spec())}, "combination.judge"),
    ],
)
def test_other_machines_ask_nobody(asked: dict[str, Any], key: str) -> None:
    with pytest.raises(DeidError, match=rf"settings-invalid.*\({key}\)"):
        list(RayEngine(workers=2).detect(DetectorSpec("ensemble", **asked), notes("Saw Blorf.")))


@pytest.mark.parametrize(("workers", "each"), [(1, 8), (3, 2), (20, 1)])
def test_workers_divide_the_requests_that_run_at_once(workers: int, each: int) -> None:
    endpoint = Endpoint(1).spec(concurrency=8)
    asked = {"chat": ChatSpec("extract-zero", endpoint), "chat_judge": ChatJudgeSpec("removals-zero", endpoint)}
    for some in (asked, {"chat": asked["chat"]}, {"chat_judge": asked["chat_judge"]}):
        spec = DetectorSpec("ensemble", **some)  # type: ignore[arg-type]
        shared = spec.for_workers(workers)
        assert shared.chat is None or shared.chat.model.concurrency == each  # type: ignore[union-attr]
        assert shared.chat_judge is None or shared.chat_judge.model.concurrency == each  # type: ignore[union-attr]
        assert (shared.chat is None, shared.chat_judge is None) == (spec.chat is None, spec.chat_judge is None)
        assert shared.detector_digest == spec.detector_digest


def test_a_server_that_is_gone_is_tried_once_a_batch_until_it_answers() -> None:
    gone = True

    def script(body: dict[str, Any], _: int) -> Reply:
        return Reply(drops=True) if gone else Reply("[]")

    with serving(script) as endpoint:
        chat = ChatSpec("extract-zero", endpoint.spec(tries=1))
        built = DetectorSpec("ensemble", without=WITHOUT, chat=chat).build()

        def errors(*texts: str) -> list[Code | None]:
            return [each if isinstance(each, Code) else None for each in outcomes_in(built, notes(*texts))]

        texts = [f"BP {n}." for n in range(40)]
        assert errors(*texts[:20]) == [Code.CHAT_NO_ANSWER] * 20
        assert errors(*texts[20:30]) == [Code.CHAT_NO_ANSWER] * 10
        assert len(endpoint.received) == 21
        gone = False
        assert errors(*texts[30:]) == [None] * 10
        assert len(endpoint.received) == 31


@pytest.mark.process
def test_workers_ask_too_and_the_note_fails_alone() -> None:
    with detector() as (_, spec):
        texts = ["Saw Blorf.", "It refuses.", "nothing"] * 2
        found = list(LocalEngine(workers=2, batch_size=3).detect(spec, notes(*texts)))
    assert [one.error for one in found] == [None, Code.CHAT_REFUSED, None] * 2


# The second reader


def likely(text: str, **probabilities: float) -> Document:
    document = Document(Note("n", text))
    starts = [0, *(at + 1 for at, letter in enumerate(text) if letter == " ")]
    words = text.split(" ")
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    document.likelihoods.append(Likelihoods(starts, ends, [probabilities.get(word, 0.0) for word in words]))
    return document


def test_doubt_is_how_many_words_may_be_identifiers_where_nothing_was_found() -> None:
    document = likely("saw Blorf Quarmby today", Blorf=0.25, Quarmby=0.5, today=0.0009)
    found = Candidate(10, 17, Label.PATIENT, Source(SourceKind.ROSTER), Evidence.PROVEN, 1.0)
    # Two of four words, and one of them: over the root of four.
    assert (doubt_of(document, []), doubt_of(document, [found])) == (1.0, 0.5)
    document.likelihoods.append(Likelihoods([0], [3], [1.0]))
    assert doubt_of(document, [found]) == 1.0
    assert doubt_of(likely("", Blorf=1.0), []) == 0.0
    assert doubt_of(Document(Note("n", "unread")), []) == float("inf")


def test_a_share_is_a_threshold_that_falls_as_the_share_grows() -> None:
    at = [doubt_at(share / 100) for share in range(1, 101)]
    assert at == sorted(at, reverse=True) and at[-1] == 0.0 and at[0] > at[50] > 0
    # A hundredth is one, whatever its binary fraction; a smaller share than one is as one.
    assert len(set(at[:40])) == 40 and doubt_at(0.001) == at[0]


class Unsure:
    """A model that finds nothing and doubts where the text says so."""

    def detect(self, documents: Sequence[Document]) -> list[list[Candidate]]:
        for document in documents:
            doubts = 0.9 if "unsure" in document.text else 0.0
            document.likelihoods.append(Likelihoods([0], [len(document.text)], [doubts]))
        return [[] for _ in documents]


def test_only_doubtful_notes_are_read_whatever_their_neighbours_and_only_some_labels_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from deid_platform.detection.registry import MODELS, Model

    monkeypatch.setitem(MODELS, "unsure", Model(lambda *_: Unsure(), lambda: "1"))
    with detector(review=Review(0.5, frozenset((Label.CITY,)))) as (endpoint, spec):
        spec = replace(spec, models=("unsure",), without=("doubt",))
        texts = ("Saw Blorf.", "An unsure Blorf with Zebulon Quarmby.", "An unsure one refuses.", "It refuses.")
        found = list(LocalEngine().detect(spec, notes(*texts)))
        alone = [next(iter(LocalEngine().detect(spec, notes(text)))) for text in texts]
        assert len(endpoint.received) == 4  # two by two
    assert [one.error for one in found] == [None, None, Code.CHAT_REFUSED, None]
    by_model = [[s.label for s in one.spans or () if s.source.startswith("model:chat")] for one in found]
    assert by_model == [[], [Label.CITY], [], []]
    assert [(one.spans, one.error) for one in alone] == [(one.spans, one.error) for one in found]


def test_a_budget_that_is_spent_fails_the_rest_and_what_is_known_costs_nothing(tmp_path: Path) -> None:
    kept = AnswersAt(tmp_path / "a.db", Keyring(hashlib.sha256(b"keys").digest(), site="s"))
    texts = tuple(f"Saw Blorf {n}." for n in range(6))
    # The endpoint tells of 10 tokens a request; before it is sent, some 4,000 are set aside for it.
    with detector(answers=kept, review=Review(0.0, budget_tokens=5000)) as (endpoint, spec):
        errors: list[list[Code | None]] = []
        while not errors or Code.CHAT_BUDGET in errors[-1]:
            errors.append([one.error for one in LocalEngine().detect(spec, notes(*texts))])
            assert set(errors[-1]) <= {None, Code.CHAT_BUDGET}
        # Each run goes on where the one before ended, and asks nothing twice.
        assert len(errors) > 1 and all(before.count(None) < after.count(None) for before, after in pairwise(errors))
        assert len(endpoint.received) == 6


def test_a_budget_is_that_of_a_run_whichever_processes_build_its_detector() -> None:
    # Some 4,000 tokens are set aside for a request, and it takes 10 of them.
    with detector(review=Review(0.0, budget_tokens=4_500)) as (endpoint, spec):
        with LocalEngine(workers=2)._served(spec) as (served, _):
            assert served.detector_digest == spec.detector_digest

            def read(text: str) -> bool:
                """By a detector that is built anew, as where the process that built the former one was killed."""
                (outcome,) = outcomes_in(served.build(), notes(text))
                assert outcome is Code.CHAT_BUDGET or isinstance(outcome, tuple)
                return isinstance(outcome, tuple)

            done = [read(f"Saw Blorf {n}.") for n in range(60)]
        assert 0 < done.count(True) == len(endpoint.received) < 60
        assert done == sorted(done, reverse=True)
        assert served.chat is not None and served.chat.spent is not None and not served.chat.spent.exists()
        (of_the_next_run,) = LocalEngine().detect(spec, notes("Saw Blorf again."))
    assert of_the_next_run.error is None


@pytest.mark.process
def test_workers_share_the_budget_of_their_run() -> None:
    def dear(body: dict[str, Any], time: int) -> Reply:
        reply = json.loads(replied(body, time).content)
        return Reply(body=json.dumps({**reply, "usage": {"prompt_tokens": 2000, "completion_tokens": 2000}}).encode())

    with serving(dear) as endpoint:
        chat = ChatSpec("extract-zero", endpoint.spec(tries=1), review=Review(0.0, budget_tokens=20_000))
        spec = DetectorSpec("ensemble", without=WITHOUT, chat=chat)
        texts = [f"Saw Blorf {n}." for n in range(24)]
        found = list(LocalEngine(workers=3, batch_size=4).detect(spec, notes(*texts)))
    assert {one.error for one in found} == {None, Code.CHAT_BUDGET}
    assert 0 < len(endpoint.received) <= 5


def test_a_budget_is_kept_over_many_requests_at_once_and_outcomes_keep_their_order() -> None:
    with serving(lambda body, _: Reply(body["messages"][-1]["content"])) as endpoint:
        model = Budgeted(endpoint.model(), 1000)
        heard = list(model.answer(asking(str(n), max_tokens=1 if n % 2 else 5000) for n in range(9)))
        assert len(endpoint.received) == 4
    assert [h.text if isinstance(h, ChatAnswer) else h for h in heard] == [
        str(n) if n % 2 else Failed(Failure.BUDGET) for n in range(9)
    ]
