"""Finding indirect identifiers: what a chat model lists, what it fails at, and a few keywords."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chat_endpoint import Reply, serving

from deid_platform.labels import HIPAA_IDENTIFIER, Indirect, Label
from deid_platform.llm.answered import Unusable
from deid_platform.llm.indirect.keywords import KeywordTagger
from deid_platform.llm.indirect.tagger import ChatTagger, prompt_in
from deid_platform.notes import IndirectMention, Note

TEXT = "Worked as a bell founder.\nHas a twin.\nBP 120/80, cured by a bell founder."


def tagged(reply: Reply, *notes: Note) -> tuple[list[list[IndirectMention] | Any], list[dict[str, Any]]]:
    with serving(lambda body, count: reply) as endpoint:
        return list(ChatTagger(endpoint.model()).tag(notes)), endpoint.received


def listed(*found: tuple[str, str]) -> Reply:
    return Reply(json.dumps([{"text": text, "category": category} for text, category in found]))


def test_categories_are_no_labels_and_no_identifiers_of_the_law() -> None:
    assert len(Indirect) == 9
    assert not any(isinstance(it, Label) for it in Indirect) and not set(HIPAA_IDENTIFIER) & {*Indirect}


def test_what_a_model_lists_is_where_it_stands_in_the_note() -> None:
    reply = listed(("bell Founder", "OCCUPATION"), ("twin", "FAMILY"), ("Has a twin", "CARE"), ("a pilot", "EVENT"))
    (found,), _ = tagged(reply, Note("1", TEXT))
    assert [(TEXT[start:end], category) for start, end, category in found] == [
        ("bell founder", "OCCUPATION"), ("Has a twin", "CARE"), ("twin", "FAMILY"), ("bell founder", "OCCUPATION"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply("none"), Unusable.FORM), (Reply("{}"), Unusable.FORM), (listed(("twin", "PATIENT")), Unusable.FORM),
        (Reply('[{"text": "twin"}]'), Unusable.FORM), (Reply("[]", "length"), Unusable.CUT_OFF),
        (Reply("", "content_filter"), Unusable.REFUSED),
    ],
)  # fmt: skip
def test_an_answer_that_cannot_be_read_fails_its_note(reply: Reply, why: Unusable) -> None:
    assert tagged(reply, Note("1", TEXT))[0] == [why]


@pytest.mark.parametrize(
    ("text", "entity", "taken"),
    [
        ("the " * 50 + "pill " * 10, "the", True), ("the " * 51 + "pill " * 50, "the", False),
        ("the " * 51 + "pill " * 51, "the", True), ("tree " * 50, "e", True), ("tree " * 51, "e", False),
    ],
)  # fmt: skip
def test_where_a_release_rests_on_it_an_answer_takes_half_of_the_words_at_most(text: str, entity: str, taken) -> None:
    with serving(lambda body, count: listed((entity, "FAMILY"))) as endpoint:
        loose, strict = (
            next(ChatTagger(endpoint.model(), strict=strict).tag([Note("1", text)])) for strict in (False, True)
        )
    assert isinstance(loose, list) and len(loose) > 49
    assert strict == (loose if taken else Unusable.STRAYED)


def test_notes_keep_their_order_and_an_empty_one_is_not_asked_about() -> None:
    found, asked = tagged(listed(("twin", "FAMILY")), Note("1", " "), Note("2", TEXT), Note("3", ""), Note("4", "x"))
    assert list(map(len, found)) == [0, 1, 0, 0]
    assert len(asked) == 2


def test_a_long_note_is_read_in_windows_and_fails_if_one_does() -> None:
    text = "".join(f"Line {n}.\n" for n in range(900)) + "The last has a twin.\n"

    def script(body: dict[str, Any], count: int) -> Reply:
        last = "twin" in body["messages"][-1]["content"]
        return listed(("twin", "FAMILY")) if last else Reply("[]")

    with serving(script) as endpoint:
        (found,) = ChatTagger(endpoint.model(context_length=4096)).tag([Note("1", text)])
        assert len(endpoint.received) > 2
    assert [(text[start:end], category) for start, end, category in found] == [("twin", Indirect.FAMILY)]

    with serving(lambda body, count: script(body, count) if "Line 899." in str(body) else Reply("no")) as endpoint:
        assert list(ChatTagger(endpoint.model(context_length=4096)).tag([Note("1", text)])) == [Unusable.FORM]


@pytest.mark.parametrize("language", ["en", "it"])
def test_a_prompt_names_every_category_and_asks_in_the_notes_language(language: str) -> None:
    found = prompt_in(language)
    assert found.language == language
    assert all(f"{it.value}:" in found.messages[0].content for it in Indirect)
    _, asked = tagged(Reply("[]"), Note("1", "x", language=language))
    assert asked[0]["messages"][0]["content"] == found.messages[0].content


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "She worked as a tailor. Well.", [("worked as a tailor", "OCCUPATION")]),
        ("en", "Lives with her two aunts.", [("Lives with her two aunts", "FAMILY")]),
        ("en", "The works are done. BP 120/80.", []),
        ("it", "Lavorava come sarto.", [("Lavorava come sarto", "OCCUPATION")]),
        ("it", "Ha la febbre.", []),
        ("es", "Works as a tailor", []),
    ],
)
def test_keywords_find_what_they_introduce(language: str, text: str, found: list[tuple[str, str]]) -> None:
    (mentions,) = KeywordTagger().tag([Note("1", text, language=language)])
    assert [(text[start:end], category) for start, end, category in mentions] == found
