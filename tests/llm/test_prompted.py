"""Prompts, and what answers to them say of a note: worked by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from chat_endpoint import Reply, serving

from deid_platform.errors import DeidError
from deid_platform.labels import Label
from deid_platform.llm import extraction, rewriting, tagging
from deid_platform.llm.answered import Unusable
from deid_platform.llm.api import Failure
from deid_platform.llm.prompted import Found, NotFound, Prompted, estimated, windows
from deid_platform.llm.prompts import Task, prompt, prompt_names, read_prompt
from deid_platform.llm.rewriting import Drift

NOTE = "Mary Ode seen on March 3, 2020, by Dr. Al Ode.\nMARY ODE also takes warfarin."
NOTA = "La sig.ra Rosa D'Amico è nata a Forlì il 3/4/1950.\nTorna a Forlì."

VERSIONS = {
    "extract-groups-one": (1, "decf5dfbd743"),
    "extract-groups-one-it": (1, "41119a9cdf09"),
    "extract-groups-zero": (1, "54b722052262"),
    "extract-groups-zero-it": (1, "250909efaec1"),
    "extract-one": (1, "bd1682b78955"),
    "extract-one-it": (1, "34c5f2a16862"),
    "extract-zero": (1, "99c0f4056a52"),
    "extract-zero-it": (1, "676850f38fac"),
    "rewrite-one": (1, "cc3c073a0cba"),
    "rewrite-one-it": (1, "2633ab8145b1"),
    "rewrite-patient-one": (1, "1d8e89e860da"),
    "rewrite-patient-one-it": (1, "32147c4265a0"),
    "rewrite-patient-zero": (1, "b07be9f1e1cb"),
    "rewrite-patient-zero-it": (1, "b1d15e04d867"),
    "rewrite-zero": (1, "59d1d6c8f520"),
    "rewrite-zero-it": (1, "c068d3ef1e4f"),
    "tag-one": (1, "d22d5a205d81"),
    "tag-one-it": (1, "f474aeb5f4e3"),
    "tag-zero": (1, "2be09c7b9a71"),
    "tag-zero-it": (1, "900c98fcff9a"),
}
"""Trials set versions beside each other: whoever changes a prompt counts its version up, here too."""


def asked(name: str, reply: Callable[[str], Reply], *notes: str, context: int = 8192) -> list[Found | NotFound]:
    def script(body: dict[str, Any], count: int) -> Reply:
        return reply(body["messages"][-1]["content"])

    with serving(script) as endpoint:
        return list(Prompted(prompt(name), endpoint.model(context_length=context)).find(notes))


def shown(note: str, found: Found | NotFound) -> list[tuple[str, str | None]]:
    assert isinstance(found, Found)
    return [(note[start:end], label) for start, end, label in found.mentions]


def listed(*entities: tuple[str, str]) -> str:
    return json.dumps([{"text": text, "label": label} for text, label in entities])


def places(*found: tuple[int, int, str]) -> str:
    return json.dumps([{"first": first, "last": last, "label": label} for first, last, label in found])


def test_every_prompt_is_of_its_name_and_has_its_shots_right() -> None:
    assert {name: (prompt(name).version, prompt(name).digest[:12]) for name in prompt_names()} == VERSIONS
    for name in prompt_names():
        found = prompt(name)
        assert (found.task.value, len(found.shots)) == (name.split("-")[0], "-one" in name)
        assert (found.language == "it") == name.endswith("-it")
        for shot in found.shots:
            if found.task is Task.EXTRACT:
                entities = extraction.entities(shot.answer)
                assert entities and all(entity.label for entity in entities)
                located = extraction.located(shot.note, entities)
                assert (len(located.mentions), located.absent) == (6, 0)
            elif found.task is Task.TAG:
                mentions = tagging.tagged(shot.note, shot.answer)
                listing = prompt(name.replace("tag", "extract")).shots[0].answer
                entities = extraction.entities(listing)
                assert mentions and entities
                # A word may be longer than the identifier in it: "all'ospedale".
                for mention, entity in zip(mentions, entities, strict=True):
                    assert shot.note[mention.start : mention.end].removeprefix("all'") == entity.text
                    assert mention.label == entity.label
            else:
                read = rewriting.rewritten(shot.note, shot.answer)
                assert read.drift == Drift()
                assert len(read.mentions) == 6 and all(mention.label for mention in read.mentions)


def test_the_note_stands_in_the_last_turn_as_it_is() -> None:
    *before, last = prompt("extract-one").about("a {note} {{note}} \\1")
    assert last.content.endswith("a {note} {{note}} \\1")
    assert [turn.role for turn in before] == ["system", "user", "assistant"]


def test_an_unknown_prompt_is_refused_with_the_nearest() -> None:
    with pytest.raises(DeidError, match=r"prompt-unknown.*extract-zero"):
        prompt("extract-zer0")


GOOD = "name: a\nversion: 1\nlanguage: en\ntask: extract\nmessages:\n- {role: user, content: 'x {{note}}'}\n"


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (GOOD + "name: b\n", "not YAML"),
        (GOOD + "more: 1\n", "keys"),
        (GOOD.replace("version: 1\n", ""), "keys"),
        (GOOD.replace("{{note}}", "note"), "messages"),
        (GOOD.replace("{{note}}", "{{note}}{{note}}"), "messages"),
        (GOOD.replace("role: user", "role: system"), "messages"),
        (GOOD.replace("task: extract", "task: guess"), "task"),
        (GOOD.replace("task: extract", "task: [extract]"), "task"),
        (GOOD.replace("language: en", "language: [en]"), "language"),
        (GOOD.replace("version: 1", "version: true"), "version"),
        (GOOD + "shots:\n- {note: x}\n", "shots"),
    ],
)
def test_a_prompt_is_read_strictly(source: str, fault: str) -> None:
    assert read_prompt(GOOD.encode(), "a").version == 1
    with pytest.raises(DeidError, match=f"prompt-invalid.*a: {fault}"):
        read_prompt(source.encode(), "a")


def test_entities_are_found_wherever_they_stand() -> None:
    answer = listed(("mary ode", "PATIENT"), ("Al", "DOCTOR"), ("Ode", "doctor"), ("March 3, 2020", "DATE"))
    (found,) = asked("extract-zero", lambda _: Reply(f"```json\n{answer}\n```"), NOTE)
    # "Al" is not in "also"; "Ode" is not searched again within "Mary Ode".
    assert shown(NOTE, found) == [
        ("Mary Ode", Label.PATIENT),
        ("March 3, 2020", Label.DATE),
        ("Al", Label.DOCTOR),
        ("Ode", Label.DOCTOR),
        ("MARY ODE", Label.PATIENT),
    ]


def test_an_entity_that_is_not_in_the_note_fails_it() -> None:
    for absent in ("Bo", " ", "Mary X. Ode"):
        answer = listed(("mary ode", "PATIENT"), (absent, "CITY"))
        assert asked("extract-zero", lambda _, answer=answer: Reply(answer), NOTE) == [NotFound(Unusable.ABSENT)]


def test_entities_of_an_italian_note() -> None:
    answer = listed(("Rosa D'Amico", "PATIENT"), ("forlì", "CITY"), ("3/4/1950", "NASCITA"))
    (found,) = asked("extract-one-it", lambda _: Reply(answer), NOTA)
    assert shown(NOTA, found) == [
        ("Rosa D'Amico", Label.PATIENT),
        ("Forlì", Label.CITY),
        ("3/4/1950", None),
        ("Forlì", Label.CITY),
    ]
    assert isinstance(found, Found) and found.unlabelled == 1


def test_words_are_tagged_by_their_numbers() -> None:
    answer = places((1, 2, "PATIENT"), (5, 7, "DATE"), (10, 10, "SURGEON"), (10, 10, "DOCTOR"))
    (found,) = asked("tag-zero", lambda _: Reply(f"```json\n{answer}\n```"), NOTE)
    # Signs at the edges are left out; "MARY ODE" is another place, which the answer does not name.
    assert shown(NOTE, found) == [("Mary Ode", Label.PATIENT), ("March 3, 2020", Label.DATE), ("Al", None)]
    (found,) = asked("tag-one-it", lambda _: Reply(places((3, 4, "PATIENT"), (10, 10, "DATE"))), NOTA)
    assert shown(NOTA, found) == [("Rosa D'Amico", Label.PATIENT), ("3/4/1950", Label.DATE)]
    assert tagging.tagged("( ) Bo", places((1, 2, "DATE"))) == [(0, 3, Label.DATE)]


def test_the_form_of_a_tagging_has_room_for_numbers_of_the_note_alone() -> None:
    with serving(lambda body, count: Reply("[]")) as endpoint:
        list(Prompted(prompt("tag-one"), endpoint.model()).find([NOTE, "Seen  [9]well.\n"]))
    # Both are asked at once, and either may come first.
    long, short = sorted(endpoint.received, key=lambda body: "Mary" not in body["messages"][-1]["content"])
    for body, words in ((long, 16), (short, 2)):
        item = body["response_format"]["json_schema"]["schema"]["items"]
        assert item["properties"]["first"] == {"type": "integer", "minimum": 1, "maximum": words}
        assert item["properties"]["first"] == item["properties"]["last"]
        assert item["required"] == ["first", "last", "label"] and item["additionalProperties"] is False
        assert "Mary" not in json.dumps(body["response_format"])
    shot, last = (short["messages"][at]["content"] for at in (1, -1))
    assert last.endswith("[1]Seen  [2][9]well.\n") and "[1]Nadia [2]Okonjo," in shot


def test_an_entity_within_letters_and_over_a_line_break() -> None:
    found = extraction.located(
        "id AB77X, 1\n Elm St", [extraction.Entity("77", None), extraction.Entity("1 elm st", None)]
    )
    assert [mention[:2] for mention in found.mentions] == [(5, 7), (10, 19)]


def test_a_rewriting_says_what_each_tag_replaced() -> None:
    answer = "[PATIENT] seen on [DATE], by Dr. [DOCTOR].\n[PATIENT] also takes warfarin."
    (found,) = asked("rewrite-one", lambda _: Reply(answer), NOTE)
    # The comma within the date is not taken for the one after it.
    assert shown(NOTE, found) == [
        ("Mary Ode", Label.PATIENT),
        ("March 3, 2020", Label.DATE),
        ("Al Ode", Label.DOCTOR),
        ("MARY ODE", Label.PATIENT),
    ]
    assert isinstance(found, Found) and found.drift == Drift()


def test_a_rewriting_of_an_italian_note_that_drifts() -> None:
    answer = "La signora [PATIENT] è nata a [CITY] il [DATE].\nTorna subito a [CITY]."
    (found,) = asked("rewrite-zero-it", lambda _: Reply(answer), NOTA)
    places = shown(NOTA, found)
    assert [label for _, label in places] == [Label.PATIENT, Label.CITY, Label.DATE, Label.CITY]
    assert places[1:] == [("Forlì", Label.CITY), ("3/4/1950", Label.DATE), ("Forlì", Label.CITY)]
    assert "Rosa D'Amico" in places[0][0]
    assert isinstance(found, Found) and found.drift.changed == 1 and found.drift.inserted == 1


@pytest.mark.parametrize(
    ("note", "answer", "places", "drift"),
    [
        ("seen well today", "seen today", [], Drift(deleted=1)),
        ("seen today", "seen well today", [], Drift(inserted=1)),
        ("seen well today", "seen ill today", [], Drift(changed=1)),
        ("[DATE] Bob", "[DATE] [PATIENT]", ["Bob"], Drift()),
        ("Bob 3/4", "[PATIENT] [DATE]", ["Bob", "3/4"], Drift()),
        ("seen", "seen [DATE]", [], Drift(inserted=1)),
        ("", "", [], Drift()),
        ("Bob says pain", "[PATIENT] reports pain", ["Bob"], Drift(changed=1)),
    ],
)
def test_what_differs_beside_the_tags_is_drift(note: str, answer: str, places: list[str], drift: Drift) -> None:
    read = rewriting.rewritten(note, answer)
    assert [note[start:end] for start, end, _ in read.mentions] == places
    assert read.drift == drift


@pytest.mark.parametrize(
    ("name", "reply", "why"),
    [
        ("extract-zero", Reply(None, finish="content_filter"), Unusable.REFUSED),
        ("extract-zero", Reply("[", finish="length"), Unusable.CUT_OFF),
        ("extract-zero", Reply("[]", finish="odd"), Unusable.CUT_OFF),
        ("extract-zero", Reply("Mary Ode is the patient"), Unusable.FORM),
        ("extract-zero", Reply('{"text": "Mary", "label": "PATIENT"}'), Unusable.FORM),
        ("extract-zero", Reply('[{"text": "Mary"}]'), Unusable.FORM),
        ("extract-zero", Reply("[" * 5000), Unusable.FORM),
        ("rewrite-zero", Reply("I cannot help with that."), Unusable.STRAYED),
        ("rewrite-zero", Reply("x " * 2000), Unusable.STRAYED),
        ("rewrite-zero", Reply("[PATIENT] seen", finish="length"), Unusable.CUT_OFF),
        ("extract-zero", Reply(status=400), Failure.REQUEST),
        ("tag-zero", Reply("Mary Ode is the patient"), Unusable.FORM),
        ("tag-zero", Reply(places((0, 1, "PATIENT"))), Unusable.FORM),
        ("tag-zero", Reply(places((2, 1, "PATIENT"))), Unusable.FORM),
        ("tag-zero", Reply(places((1, 17, "PATIENT"))), Unusable.FORM),  # the note has 16 words
        ("tag-zero", Reply('[{"first": true, "last": 1, "label": "PATIENT"}]'), Unusable.FORM),
        ("tag-zero", Reply('[{"first": 1, "last": 2, "label": "PATIENT", "text": "Mary Ode"}]'), Unusable.FORM),
        ("tag-zero", Reply('[{"first": 1, "last": 2}]'), Unusable.FORM),
        ("tag-zero", Reply('[{"first": 1, "last": 9, "last": 2, "label": "DATE"}]'), Unusable.FORM),
        ("extract-zero", Reply("<think>Mary is a name, so"), Unusable.CUT_OFF),
        ("extract-zero", Reply("<think>Mary</think><think>Ode</think>[]"), Unusable.FORM),
        ("extract-zero", Reply("Well. <think>Mary</think>[]"), Unusable.FORM),
    ],
)
def test_an_answer_that_says_nothing_fails_its_note_alone(name: str, reply: Reply, why: object) -> None:
    fine = Reply("QRS narrow." if name == "rewrite-zero" else "[]")
    outcomes = asked(name, lambda said: reply if "Mary" in said else fine, "QRS narrow.", NOTE, " \n", "QRS narrow.")
    assert outcomes[1] == NotFound(why)  # type: ignore[arg-type]
    assert [isinstance(each, Found) for each in outcomes] == [True, False, True, True]
    assert "Ode" not in repr(outcomes)


@pytest.mark.parametrize(
    "thoughts", ["<think>[PATIENT]? Mary Ode.</think>\n\n", "Mary Ode is one.</think>", "\n<think></think>"]
)
def test_what_a_model_thinks_is_no_part_of_its_answer(thoughts: str) -> None:
    answer = "[PATIENT] seen on [DATE], by Dr. [DOCTOR].\n[PATIENT] also takes warfarin."
    (found,) = asked("rewrite-zero", lambda _: Reply(thoughts + answer), NOTE)
    assert [place for place, _ in shown(NOTE, found)] == ["Mary Ode", "March 3, 2020", "Al Ode", "MARY ODE"]
    assert isinstance(found, Found) and found.drift == Drift()


def test_a_note_cannot_have_a_part_of_its_answer_taken_for_a_thought() -> None:
    note = "<think>Mary Ode</think> seen well."
    outcomes = asked("rewrite-zero", lambda said: Reply(said.partition(":\n\n")[2]), note, note.replace("<think>", ""))
    assert outcomes == [NotFound(Unusable.FORM)] * 2
    (found,) = asked("rewrite-zero", lambda _: Reply("think[PATIENT]think seen well."), note)
    assert isinstance(found, Found)


def long_note() -> str:
    return "".join(f"On day {n} the wound of Bob{n} was dry and clean.\n" for n in range(120))


def test_windows_cover_a_text_and_overlap() -> None:
    for text in (long_note(), "x" * 5000, "è" * 3000 + " " * 900, "\n" * 2000 + "Bob"):
        cut = windows(text, 300)
        assert cut[0].start == 0 and cut[-1].end == len(text)
        assert all(before.start < after.start < before.end < after.end for before, after in pairwise(cut))
        assert all(estimated(text[start:end]) <= 300 for start, end in cut)
        for window in windows(text, 300, lambda said: estimated(said) + tagging.more_tokens(said)):
            assert estimated(tagging.numbered(text[window.start : window.end])) <= 300


def test_a_long_note_is_read_in_windows_and_fails_with_any_of_them() -> None:
    note = long_note()

    def rewrites(said: str) -> Reply:
        text = said.partition(":\n\n")[2]
        return Reply(rewriting._TOKEN.sub(lambda word: "[PATIENT]" if word[0].startswith("Bob") else word[0], text))

    (found,) = asked("rewrite-zero", rewrites, note, context=2000)
    assert shown(note, found) == [(f"Bob{n}", Label.PATIENT) for n in range(120)]
    assert isinstance(found, Found) and found.drift == Drift()

    outcomes = asked(
        "rewrite-zero", lambda said: Reply("x") if "Bob119 " in said else rewrites(said), note, context=2000
    )
    assert outcomes == [NotFound(Unusable.STRAYED)]


def test_the_numbers_of_words_take_room_of_a_window() -> None:
    note = long_note()

    def tags(said: str) -> Reply:
        words = said.partition(":\n\n")[2].split()
        return Reply(places(*((n, n, "PATIENT") for n, word in enumerate(words, 1) if "Bob" in word)))

    with serving(lambda body, count: tags(body["messages"][-1]["content"])) as endpoint:
        (found,) = Prompted(prompt("tag-zero"), endpoint.model(context_length=2000)).find([note])
    assert shown(note, found) == [(f"Bob{n}", Label.PATIENT) for n in range(120)]
    assert all(
        estimated(words) + body["max_tokens"] < 2000
        for body in endpoint.received
        for words in (body["messages"][-1]["content"],)
    )


def test_a_context_without_room_for_a_note_is_refused() -> None:
    with serving(lambda body, count: Reply()) as endpoint, pytest.raises(DeidError, match=r"llm\.context_length"):
        Prompted(prompt("extract-one"), endpoint.model(context_length=512))


def test_the_form_is_asked_for_and_the_digest_is_of_the_prompt_and_the_model() -> None:
    def requests_of(name: str) -> tuple[list[dict[str, Any]], str]:
        with serving(lambda body, count: Reply("[]")) as endpoint:
            prompted = Prompted(prompt(name), endpoint.model())
            list(prompted.find(["QRS narrow."]))
            return endpoint.received, prompted.digest

    (extract,), one = requests_of("extract-zero")
    (rewrite,), other = requests_of("rewrite-zero")
    assert extract["response_format"]["json_schema"]["schema"]["type"] == "array"
    assert "response_format" not in rewrite
    assert one != other
