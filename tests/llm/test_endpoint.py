"""An endpoint is asked many things at once and answers in order, or says by a code why not; never a note's words."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Reply, asking

from deid_platform.errors import Code, DeidError
from deid_platform.llm.api import ChatAnswer, Failed, Failure, Finish, Schema, SchemaKind
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.settings.address import permitted

SECRET = "Zebulon Quarmby"


def echo(body: dict[str, Any], count: int) -> Reply:
    return Reply(body["messages"][-1]["content"].upper())


# Which addresses


@pytest.mark.parametrize(
    ("url", "reached"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("http://127.8.9.1:8000/v1/", "http://127.8.9.1:8000/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("http://localhost:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://localhost/v1", "https://127.0.0.1:443/v1"),
        ("http://127.0.0.1", "http://127.0.0.1:80"),
        ("https://gpu.north.example:8443/v1", "https://gpu.north.example:8443/v1"),
        ("https://10.0.0.7/v1", "https://10.0.0.7:443/v1"),
    ],
)
def test_this_machine_and_named_hosts_may_be_asked(url: str, reached: str) -> None:
    assert permitted(url, ("gpu.north.example", "10.0.0.7:443")).url == reached


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "http://gpu.north.example:8000/v1",  # named, but not over TLS
        "https://gpu.north.example.evil.example/v1",
        "https://10.0.0.7:444/v1",  # named with another port
        "http://0.0.0.0:8000/v1",
        "http://10.0.0.7:8000/v1",
        "http://169.254.169.254/v1",
        "http://2130706433:8000/v1",
        "http://0x7f000001:8000/v1",
        "http://127.1:8000/v1",
        "http://127.0.0.1.nip.io:8000/v1",
        "http://localhost.localdomain:8000/v1",
        "http://localhost.:8000/v1",
        "http://local.evil.example:8000/v1",
        "http://[::ffff:127.0.0.1]:8000/v1",
        "http://127.0.0.1@evil.example/v1",
        "http://me:tops3cret@127.0.0.1:8000/v1",
        "http://127.0.0.1:8000\\@evil.example/v1",
        "http://127.0.0.1:8000/v1?key=tops3cret",
        "http://127.0.0.1:8000/v1#x",
        "http://127.0.0.1:8000/../v1",
        "http://127.0.0.1:99999/v1",
        "http://127.0.0.1 :8000/v1",
        "HTTP://127.0.0.1:8000/v1",
        "file:///v1",
        "127.0.0.1:8000",
        "",
    ],
)
def test_any_other_address_is_refused_before_anything_is_sent(url: str) -> None:
    with pytest.raises(DeidError) as refused:
        EndpointSpec(url, "toy", allowed_hosts=("gpu.north.example", "10.0.0.7:443")).build()
    assert refused.value.code is Code.ENDPOINT_REFUSED
    assert "tops3cret" not in str(refused.value)
    assert not url or url not in str(refused.value)


def test_the_environment_sends_nothing_elsewhere(serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home, elsewhere = serve(echo), serve(echo)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, elsewhere.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password tops3cret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    assert len(list(home.model().answer([asking("a")]))) == 1
    assert (len(home.received), len(elsewhere.received)) == (1, 0)
    assert "authorization" not in home.headers[0]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_and_is_never_followed(serve, status: int) -> None:
    elsewhere = serve(echo)
    home = serve(lambda body, count: Reply(status=status, headers={"Location": f"{elsewhere.url}/chat/completions"}))
    assert list(home.model().answer([asking(SECRET)])) == [Failed(Failure.REDIRECT)]
    assert (len(home.received), len(elsewhere.received)) == (1, 0)


# What is asked


def test_answers_come_in_the_order_of_requests_with_their_tokens(serve) -> None:
    home = serve(echo)
    words = [f"word {i}" for i in range(40)]
    answers = list(home.model().answer(asking(word) for word in words))
    assert [answer.text for answer in answers] == [word.upper() for word in words]
    assert {(a.finish, a.prompt_tokens, a.completion_tokens) for a in answers} == {(Finish.STOP, 7, 3)}
    assert sorted(home.asked) == sorted(words)


def test_requests_are_read_as_they_can_be_worked_on(serve) -> None:
    read = []

    def requests():
        for i in range(100):
            read.append(i)
            yield asking(str(i))

    answers = serve(echo).model(concurrency=2).answer(requests())
    next(answers)
    assert len(read) <= 5
    answers.close()


def test_nothing_is_connected_to_for_no_request(serve) -> None:
    assert list(EndpointSpec("http://127.0.0.1:1/v1", "toy").build().answer([])) == []


def test_a_request_says_what_it_was_given(serve, tmp_path: Path) -> None:
    home = serve(echo)
    (tmp_path / "key").write_text("k-123\n")
    schema = Schema.of_json({"type": "object", "properties": {"b": {}, "a": {}}})
    form = Schema(SchemaKind.REGEX, "yes|no")
    model = home.model(api_key_file=tmp_path / "key")
    list(model.answer([asking("a", temperature=0.7, seed=3, max_tokens=9, schema=schema)]))
    list(model.answer([asking("b", seed=None, schema=form)]))
    list(home.model(structured=False).answer([asking("c", schema=schema)]))
    first, second, third = home.received
    assert first["messages"] == [{"role": "system", "content": "You are a toy."}, {"role": "user", "content": "a"}]
    assert (first["model"], first["temperature"], first["seed"], first["max_tokens"]) == ("toy", 0.7, 3, 9)
    assert first["response_format"]["json_schema"]["schema"]["properties"] == {"b": {}, "a": {}}
    assert second["structured_outputs"] == {"regex": "yes|no"}
    assert "seed" not in second
    assert not {"response_format", "structured_outputs"} & third.keys()
    assert [headers.get("authorization") for headers in home.headers] == ["Bearer k-123", "Bearer k-123", None]


def test_half_a_surrogate_pair_moves_no_offset(serve) -> None:
    home = serve(echo)
    assert len(list(home.model().answer([asking("a\ud800b")]))) == 1
    assert home.asked == ["a?b"]


@pytest.mark.parametrize("content", [None, "", " ", "a b", "kéy"])
def test_a_key_that_is_none_is_refused_by_its_setting(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "key").write_text(content, encoding="utf-8")
    with pytest.raises(DeidError) as refused:
        EndpointSpec("http://127.0.0.1:8000/v1", "toy", api_key_file=tmp_path / "key").build()
    assert (refused.value.code, refused.value.ref) == (Code.SETTINGS_INVALID, "llm.api_key_file")


# What comes back


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply("so far", finish="length"), ("so far", Finish.LENGTH)),
        (Reply(None, finish="content_filter"), ("", Finish.REFUSED)),
        (Reply(body=b'{"choices": [{"message": {"content": null, "refusal": "no"}}]}'), ("", Finish.REFUSED)),
        (Reply("called", finish="tool_calls"), ("called", Finish.OTHER)),
        (Reply(None), Failure.MALFORMED),
        (Reply(body=b"<html>"), Failure.MALFORMED),
        (Reply(body=b'{"choices": []}'), Failure.MALFORMED),
        (Reply(body=b'{"choices": [{"message": {"content": ["a"]}}]}'), Failure.MALFORMED),
        (Reply(body=b'"x"'), Failure.MALFORMED),
        (Reply(body=b"[" * 100_000), Failure.MALFORMED),
        (Reply(headers={"Content-Encoding": "gzip"}), Failure.MALFORMED),
        (Reply(status=400, body=b'{"error": {"code": "context_length_exceeded"}}'), Failure.TOO_LONG),
        (Reply(status=400, body=b"This model's maximum context length is 8 tokens"), Failure.TOO_LONG),
        (Reply(status=413), Failure.TOO_LONG),
        (Reply(status=404, body=b"no such model"), Failure.REQUEST),
        (Reply(status=401), Failure.REQUEST),
    ],
)
def test_an_outcome_is_an_answer_or_a_code_and_is_not_asked_again(serve, reply: Reply, outcome: object) -> None:
    home = serve(lambda body, count: reply)
    (got,) = home.model().answer([asking(SECRET)])
    assert (got.failure if isinstance(got, Failed) else (got.text, got.finish)) == outcome
    assert len(home.received) == 1


@pytest.mark.parametrize("bad", [Reply(status=429), Reply(status=500), Reply(status=503), Reply(drops=True)])
def test_what_may_pass_is_asked_again(serve, bad: Reply) -> None:
    home = serve(lambda body, count: bad if count < 3 else Reply("fine"))
    (answer,) = home.model().answer([asking("a")])
    assert isinstance(answer, ChatAnswer)
    assert home.waits == [0.25, 0.5], "half, by the jitter of the test, of 0.5 and 1 s"


def test_a_server_may_say_how_long_to_wait(serve) -> None:
    home = serve(lambda body, count: Reply(status=429, headers={"Retry-After": "7"}) if count < 2 else Reply())
    assert len(list(home.model().answer([asking("a")]))) == 1
    assert home.waits == [7.0]


@pytest.mark.parametrize(
    ("bad", "failure"),
    [
        (Reply(status=429), Failure.BUSY),
        (Reply(status=500), Failure.SERVER),
        (Reply(drops=True), Failure.UNREACHABLE),
    ],
)
def test_after_the_last_try_it_is_a_failure(serve, bad: Reply, failure: Failure) -> None:
    home = serve(lambda body, count: bad)
    assert list(home.model(tries=3).answer([asking("a")])) == [Failed(failure)]
    assert len(home.received) == 3


def test_where_nobody_listens_each_request_fails_by_itself() -> None:
    model = EndpointSpec("http://127.0.0.1:1/v1", "toy", tries=1).build()
    assert list(model.answer([asking("a"), asking("b")])) == [Failed(Failure.UNREACHABLE)] * 2


def test_a_server_that_dies_in_the_middle_fails_what_it_had_not_answered(serve) -> None:
    home = serve(lambda body, count: Reply(drops=body["messages"][-1]["content"] >= "5"))
    outcomes = list(home.model(tries=1).answer(asking(str(i)) for i in range(10)))
    assert [isinstance(outcome, ChatAnswer) for outcome in outcomes] == [True] * 5 + [False] * 5


def test_a_request_that_takes_too_long_fails(serve) -> None:
    home = serve(lambda body, count: Reply(never=True))
    assert list(home.model(deadline=0.05).answer([asking("slow")])) == [Failed(Failure.DEADLINE)]


def test_a_slow_answer_holds_up_no_other(serve) -> None:
    others = threading.Barrier(3)

    def script(body: dict[str, Any], count: int) -> Reply:
        if body["messages"][-1]["content"] in ("slow", "a", "b"):
            others.wait()  # each of the three until all are here
        return echo(body, count)

    outcomes = list(serve(script).model().answer([asking("slow"), asking("a"), asking("b"), asking("c")]))
    assert [outcome.text for outcome in outcomes] == ["SLOW", "A", "B", "C"]


def test_whoever_stops_asking_waits_for_nothing(serve) -> None:
    home = serve(lambda body, count: Reply(never=body["messages"][-1]["content"] != "a"))
    answers = home.model(deadline=3600).answer([asking("a"), asking("b"), asking("c")])
    assert isinstance(next(answers), ChatAnswer)
    answers.close()


def test_no_word_of_a_note_is_logged_or_shown(serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    home = serve(lambda body, count: Reply(f"{SECRET} left", status=200 if count > 1 else 500))
    request = asking(SECRET)
    (answer,) = home.model().answer([request])
    shown = [repr(it) for it in (request, request.messages, answer, home.model(), Schema.of_json({"x": SECRET}))]
    assert not any("Zebulon" in text or "Quarmby" in text for text in (*shown, caplog.text))
