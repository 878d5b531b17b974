"""An attacker who reads: by a server that knows, one that guesses, one that refuses, and one that reads names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from hashlib import sha256
from itertools import pairwise
from typing import Any

import pytest
from chat_endpoint import Reply, serving

from deid_platform.errors import DeidError
from deid_platform.evaluation.disclosure.attacker.attack import Success, attack
from deid_platform.evaluation.disclosure.attacker.profiles import band, profile
from deid_platform.evaluation.disclosure.attacker.questions import Aim, Questioner, Target, chosen, prompt_of
from deid_platform.evaluation.disclosure.linkage import AttackedNote, link
from deid_platform.labels import Label
from deid_platform.llm.answered import Unusable
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact

POLICY = load_policy("safe_harbor_plus_providers")
TOWNS = ("Millbrook", "Ashton", "Corby", "Deepvale")
JOBS = ("welder", "baker", "pilot", "tailor")
PATIENTS = [
    Patient(
        f"secret-id-{n}", first_name=f"Ann{'abcdefghij'[n % 10]}{'kl'[n // 10]}",
        last_name=f"Quill{'abcdefghij'[n % 10]}{'kl'[n // 10]}", sex="FM"[n % 2],
        birth_date=date(1930 + n, 5, 6), city=TOWNS[n % 4],
    ) for n in range(20)
]  # fmt: skip
TOPICS = Topics.of(PATIENTS)


def target(n: int, *, hides: bool = True) -> Target:
    """A note whose name is hidden or left, and in which the town stands as it is."""
    who = PATIENTS[n]
    text, spans = "", []
    for words, label in (
        ("Seen: ", None), (f"{who.first_name} {who.last_name}", Label.PATIENT), (", a ", None),
        (JOBS[n % 4], Label.PROFESSION), (" of ", None), (who.city, None), (f". Well {n}.", None),
    ):  # fmt: skip
        if label is not None:
            spans.append(Span(len(text), len(text) + len(words), label))
        text += words
    note = Note(f"n{n}", text, who.patient_id, note_date=date(2020, 1, 1))
    if not hides:
        return Target(note, text, gold=tuple(spans))
    made = redact(note, [span for span in spans if span.label is Label.PATIENT], POLICY)
    return Target(note, made.text, made.applied, made.replacements, tuple(spans))


HIDDEN = [target(n) for n in range(20)]
LEFT = [target(n, hides=False) for n in range(20)]

Chooses = Callable[[list[str], str], int]
"""From the choices and the note to the number of one choice."""


def attacked(chooses: Chooses | Reply, targets: list[Target], **given: Any) -> dict[Aim, Success]:
    def script(body: dict[str, Any], count: int) -> Reply:
        if isinstance(chooses, Reply):
            return chooses
        choices, note = asked(body["messages"][-1]["content"])
        return Reply(json.dumps({"choice": chooses(choices, note)}))

    with serving(script) as endpoint:
        return attack(endpoint.model(), targets, TOPICS, resamples=20, **given)


def asked(content: str) -> tuple[list[str], str]:
    choices, _, note = content.partition("\n\n")
    return [line.partition(". ")[2] for line in choices.splitlines()], note


def knows(targets: list[Target]) -> Chooses:
    """Knows every true answer by the text of the note, with and without a mark."""
    true = {}
    for it in targets:
        for question in Questioner(targets, TOPICS).about(it):
            true[question.request.messages[-1].content] = question.true
    return lambda choices, note: true["\n".join(f"{n}. {it}" for n, it in enumerate(choices, 1)) + "\n\n" + note]


def reads(choices: list[str], note: str) -> int:
    """The first choice of which a name stands in the note; else the first."""
    names = (set(re.findall(r"Quill\w+", choice)) for choice in choices)
    return next((n for n, some in enumerate(names, 1) if any(it in note for it in some)), 1)


def test_a_server_that_knows_is_always_right() -> None:
    found = attacked(knows(HIDDEN), HIDDEN)
    assert {aim: (it.right.value, it.right.total, it.failed) for aim, it in found.items()} == dict.fromkeys(
        Aim, (1.0, 20, 0)
    )
    assert found[Aim.WHOSE].chance == pytest.approx(1 / 10)
    assert found[Aim.MASKED].chance == pytest.approx(1 / 10)
    assert found[Aim.PLACE].chance == found[Aim.OCCUPATION].chance == pytest.approx(1 / 4)
    assert found[Aim.SEX].chance == pytest.approx(1 / 2)
    # Born 1930 to 1949: of 20, 15 were 75 to 89 years old, more than the seventh that a guess gets.
    assert found[Aim.AGE].chance == pytest.approx(15 / 20)


def test_a_server_that_guesses_is_right_as_often_as_chance() -> None:
    def guesses(choices: list[str], note: str) -> int:
        return 1 + int(sha256("".join((*choices, note)).encode()).hexdigest(), 16) % len(choices)

    found = attacked(guesses, HIDDEN, aims=[Aim.WHOSE, Aim.MASKED, Aim.PLACE, Aim.OCCUPATION], choices=4)
    right = sum(it.right.hits for it in found.values())
    assert sum(it.right.total for it in found.values()) == 80
    assert 8 <= right <= 32, "a quarter of 80, give or take three standard deviations"


def test_a_server_that_refuses_learns_nothing_and_is_counted() -> None:
    found = attacked(Reply("", "content_filter"), HIDDEN, aims=[Aim.WHOSE, Aim.SEX])
    for it in found.values():
        assert (it.right.value, it.right.total, it.failures) == (0.0, 20, {Unusable.REFUSED: 20})
    # The laboratory's own attack does not hang on the server: towns are left, and of ten people some share one.
    assert found[Aim.WHOSE].linked is not None and 0.1 < (found[Aim.WHOSE].linked.value or 0) < 1


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply("The patient is number 3."), "form"), (Reply('{"choice": 11}'), "form"),
        (Reply('{"choice": true}'), "form"), (Reply('{"choice": 1', "length"), "cut-off"),
        (Reply(status=400), "request"), (Reply(drops=True), "unreachable"),
    ],
)  # fmt: skip
def test_what_is_no_choice_is_a_failure_and_a_wrong_answer(reply: Reply, why: str) -> None:
    found = attacked(reply, HIDDEN[:3], aims=[Aim.WHOSE])[Aim.WHOSE]
    assert (found.right.value, found.right.total) == (0.0, 3)
    assert {it.value: count for it, count in found.failures.items()} == {why: 3}


def test_a_failure_of_some_leaves_the_others_and_success_is_of_all() -> None:
    sure = knows(HIDDEN)

    def often(choices: list[str], note: str) -> int:
        return 99 if "Corby" in note else sure(choices, note)

    found = attacked(often, HIDDEN, aims=[Aim.PLACE])[Aim.PLACE]
    assert (found.right.value, found.right.total, found.failed) == (0.75, 20, 5)


def test_a_name_that_is_left_leads_to_its_patient_and_one_that_is_hidden_does_not() -> None:
    left = attacked(reads, LEFT, aims=[Aim.WHOSE])[Aim.WHOSE]
    hidden = attacked(reads, HIDDEN, aims=[Aim.WHOSE])[Aim.WHOSE]
    assert left.right.value == 1.0 and (left.right.low or 0) > (left.chance or 1)
    assert hidden.right.low is not None and hidden.right.low <= 0.15
    assert left.linked is not None and left.linked.value == 1.0


def test_the_masked_place_is_marked_where_something_was_replaced_and_shows_what_the_release_shows() -> None:
    (question,) = Questioner(HIDDEN, TOPICS).about(HIDDEN[3], [Aim.MASKED])
    choices, note = asked(question.request.messages[-1].content)
    assert "Seen: ⟦[PATIENT]⟧, a tailor of Deepvale. Well 3." in note
    who = PATIENTS[3]
    assert choices[question.true - 1] == f"{who.first_name} {who.last_name}"
    assert len(set(choices)) == len(choices) == 10


def test_a_place_between_others_is_marked_after_what_they_moved() -> None:
    note = Note("x", "Al saw Bob and Cy.", "secret-id-1")
    spans = [Span(0, 2, Label.PATIENT), Span(7, 10, Label.PATIENT), Span(15, 17, Label.PATIENT)]
    made = redact(note, spans, POLICY)
    it = Target(note, made.text, made.applied, made.replacements)
    seen = set()
    for seed in range(12):
        (question,) = Questioner([it], TOPICS, seed=seed).about(it, [Aim.MASKED])
        choices, text = asked(question.request.messages[-1].content)
        masked = re.split("[⟦⟧]", text.partition("\n")[0])
        seen.add((choices[question.true - 1], masked[0]))
        assert masked[1] == "[PATIENT]" and "".join(masked) == made.text
    assert seen == {("Al", ""), ("Bob", "[PATIENT] saw "), ("Cy", "[PATIENT] saw [PATIENT] and ")}


def test_nothing_is_asked_of_which_nothing_is_known() -> None:
    stranger = replace(HIDDEN[0], note=replace(HIDDEN[0].note, patient_id="nobody", note_date=None), gold=())
    assert [it.aim for it in Questioner([stranger, HIDDEN[1]], TOPICS).about(stranger)] == [Aim.MASKED]
    assert not list(Questioner([stranger], TOPICS).about(stranger)), "no wrong choice"
    found = attacked(reads, [stranger], aims=[Aim.WHOSE])[Aim.WHOSE]
    assert (found.right.value, found.right.total, found.chance) == (None, 0, None)


def test_the_ids_of_notes_and_patients_are_not_told() -> None:
    for question in Questioner(HIDDEN, TOPICS).about(HIDDEN[0]):
        assert "secret-id" not in "".join(message.content for message in question.request.messages)
        assert "Quill" not in repr(question) + repr(HIDDEN[0])
    whole = replace(PATIENTS[0], middle_name="Joy", mrn="441-7702", relatives="Bo Quill;\nCy Quill")
    assert profile(whole) == "Annak Joy Quillak; F; 1930-05-06; Millbrook; 441-7702; Bo Quill; Cy Quill"


def test_what_is_asked_hangs_on_the_seed_alone() -> None:
    def contents(seed: int) -> list[str]:
        asking = Questioner(HIDDEN, TOPICS, seed=seed)
        return [question.request.messages[-1].content for it in HIDDEN for question in asking.about(it)]

    assert contents(1) == contents(1) != contents(2)
    at = [next(Questioner(HIDDEN, TOPICS).about(it, [Aim.WHOSE])).true for it in HIDDEN]
    assert len(set(at)) > 5, "the true choice stands anywhere"


def test_an_attacker_elsewhere_is_refused_before_it_is_told_anything() -> None:
    with pytest.raises(DeidError, match="endpoint-refused"):
        EndpointSpec("https://attacker.example/v1", "m").build()


@pytest.mark.parametrize("language", ["en", "it"])
@pytest.mark.parametrize("aim", list(Aim))
def test_every_aim_has_a_prompt_in_both_languages(aim: Aim, language: str) -> None:
    found = prompt_of(aim, language)
    assert found.language == language and found.name.startswith(aim.value.replace(" ", "-"))
    assert found.about("a {note}")[-1].content.startswith("a {note}\n")


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ('{"choice": 3}', 3), ('```json\n{"choice": 1}\n```', 1), ("2", 2), ('{"choice": "2"}', None),
        ('{"choice": 0}', None), ("[2]", None), ("", None), ('{"choice": 2.0}', None), ("[" * 100_000, None),
    ],
)  # fmt: skip
def test_answers(answer: str, number: int | None) -> None:
    assert chosen(answer, 3) == number


def test_bands_meet_without_a_gap() -> None:
    assert [band(date(1930, 5, 6), date(2020, 5, day)) for day in (5, 6)] == [5, 6]
    assert band(date(2021, 1, 1), date(2020, 1, 1)) is None
    ages = [band(date(2000, 1, 1), date(year, 1, 1)) for year in range(2000, 2131)]
    assert None not in ages and all(later - earlier in (0, 1) for earlier, later in pairwise(ages))


def test_linkage_may_look_among_some() -> None:
    notes = [AttackedNote("Seen in Millbrook", "secret-id-0"), AttackedNote("Seen", "secret-id-1")]
    some = [["secret-id-0", "secret-id-1"], ["secret-id-1", "secret-id-2", "secret-id-3", "secret-id-4"]]
    found = link(notes, TOPICS, among=some, resamples=2)
    assert found.first.value == pytest.approx((1 + 1 / 4) / 2)
    assert found.chance_first == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert link(notes[:1], TOPICS, among=[["secret-id-2", "secret-id-3"]], resamples=2).first.value == 0.0
