"""Answers are kept by what was asked and of whom, belong to their owner alone, and are asked for again if changed."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from chat_endpoint import asking

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.llm.answers import AnswersAt, KeptAnswers
from deid_platform.llm.api import ChatAnswer, ChatRequest, Failed, Failure, Finish, ModelIdentity

KEYRING = Keyring(b"a key for these tests alone, 7f3a91c4", site="north")


class Echo:
    """Says what it was asked, in capitals; dies at what it is told to."""

    context_length = 100

    def __init__(self, *, digest: str = "d1", dies_at: str = "") -> None:
        self.identity = ModelIdentity("toy", digest)
        self.asked: list[str] = []
        self._dies_at = dies_at

    def answer(self, requests: Iterable[ChatRequest]) -> Iterator[ChatAnswer | Failed]:
        for request in requests:
            word = request.messages[-1].content
            self.asked.append(word)
            if word == self._dies_at:
                raise KeyboardInterrupt
            yield Failed(Failure.BUSY) if word == "busy" else ChatAnswer(word.upper(), Finish.STOP, 7, 3, 0.5)


@pytest.fixture
def at(tmp_path: Path) -> AnswersAt:
    return AnswersAt(tmp_path / "phi" / "answers.db", KEYRING)


def asked(model: Echo, at: AnswersAt, *words: str, **given: float) -> list[ChatAnswer | Failed]:
    return list(KeptAnswers(model, at).answer([asking(word, **given) for word in words]))


def test_what_was_answered_is_not_asked_again(at: AnswersAt) -> None:
    first = asked(Echo(), at, "a", "b", "a")
    model = Echo()
    assert asked(model, at, "a", "c", "b") == [first[0], ChatAnswer("C", Finish.STOP, 7, 3, 0.5), first[1]]
    assert model.asked == ["c"]


def test_a_run_that_died_goes_on_where_it_was(at: AnswersAt) -> None:
    with pytest.raises(KeyboardInterrupt):
        asked(Echo(dies_at="c"), at, "a", "b", "c", "d")
    model = Echo()
    assert [answer.text for answer in asked(model, at, "a", "b", "c", "d")] == ["A", "B", "C", "D"]
    assert model.asked == ["c", "d"]


@pytest.mark.parametrize("given", [{"temperature": 0.7}, {"seed": 4}, {"max_tokens": 9}])
def test_other_parameters_are_another_question(at: AnswersAt, given: dict[str, float]) -> None:
    asked(Echo(), at, "a")
    model = Echo()
    asked(model, at, "a", **given)
    assert model.asked == ["a"]


def test_another_model_is_asked_anew_and_a_failure_is_not_kept(at: AnswersAt) -> None:
    asked(Echo(), at, "a", "busy")
    other, same = Echo(digest="d2"), Echo()
    asked(other, at, "a")
    assert asked(same, at, "busy") == [Failed(Failure.BUSY)]
    assert (other.asked, same.asked) == (["a"], ["busy"])


def test_the_file_is_its_owners_and_says_nothing_of_what_was_asked(at: AnswersAt) -> None:
    asked(Echo(), at, "Zebulon Quarmby")
    files = list(at.path.parent.iterdir())
    assert files
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert b"Zebulon" not in file.read_bytes()  # the answer quotes it in capitals


def test_an_answer_that_was_changed_is_asked_for_again(at: AnswersAt) -> None:
    asked(Echo(), at, "a", "b")
    with closing(sqlite3.connect(at.path, isolation_level=None)) as connection:
        connection.execute("UPDATE answers SET answer = replace(answer, '\"A\"', '\"X\"')")
    model = Echo()
    assert [answer.text for answer in asked(model, at, "a", "b")] == ["A", "B"]
    assert model.asked == ["a"]


def test_a_file_that_cannot_be_used_has_a_code(tmp_path: Path) -> None:
    (tmp_path / "answers.db").write_bytes(b"no database, whatever it is called\n" * 40)
    with pytest.raises(DeidError) as refused:
        KeptAnswers(Echo(), AnswersAt(tmp_path / "answers.db", KEYRING))
    assert refused.value.code is Code.STORE_WRITE
