"""Answers in the forms of the papers' prompts, and prompts of one's own that say what form theirs have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Endpoint, Reply, serving

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.llm.answered import Unusable
from deid_platform.llm.prompted import Found, NotFound, Prompted
from deid_platform.llm.prompts import DEIDENTIFY, Prompt, Task, is_shipped, names_for, prompt, prompt_of, read_prompt

LETTER = "Rosa Quill, born aug 26/1997, has lupus. Call (780) 555-1234. Seen by Dr. Al Ode on March 3."
NOTA = "La sig.ra Rosa D'Amico, 47 anni, nata a Forlì il 3/4/1950, prende warfarin."


def own(task: str, more: str = "") -> Prompt:
    source = f"name: own\nversion: 1\nlanguage: en\ntask: {task}\n{more}"
    return read_prompt(f"{source}messages:\n- {{role: user, content: 'x {{{{note}}}}'}}\n".encode(), "own")


def asked(prompt: Prompt, answer: str, note: str) -> tuple[Found | NotFound, Endpoint]:
    with serving(lambda body, count: Reply(answer)) as endpoint:
        (found,) = Prompted(prompt, endpoint.model()).find([note])
    return found, endpoint


def shown(note: str, prompt: Prompt, answer: str) -> list[tuple[str, str | None]]:
    found, _ = asked(prompt, answer, note)
    assert isinstance(found, Found)
    return [(note[start:end], label) for start, end, label in found.mentions]


@pytest.mark.parametrize("name", ["***patient_Name***", "patient_Name"])
def test_placeholders_in_stars_are_aligned_with_or_without_the_stars(name: str) -> None:
    answer = (
        f"{name}, born ***patient_Date_of_Birth(DOB)***/1997, has lupus. Call ***patient_Phone_Number***. "
        "Seen by Dr. Al Ode on March 3."
    )
    assert shown(LETTER, own("rewrite"), answer) == [
        ("Rosa Quill", Label.PATIENT),
        ("aug 26", Label.DATE),
        ("(780) 555-1234", Label.PHONE),
    ]


def test_stars_that_the_note_has_itself_are_no_placeholder() -> None:
    note = "***STAT*** potassium for Rosa Quill, patient_id field left out"
    assert shown(note, own("rewrite"), note.replace("Rosa Quill", "***patient_Name***")) == [
        ("Rosa Quill", Label.PATIENT)
    ]
    assert shown(note, own("rewrite"), note) == []


@pytest.mark.parametrize("age", ["ETÀ", "ETA\u0300", "ETA"])
def test_italian_tags_have_their_labels_slash_and_accent_too(age: str) -> None:
    answer = f"La sig.ra [NOME], [{age}] anni, nata a [LUOGO/INDIRIZZO] il [DATA], prende warfarin."
    assert shown(NOTA, own("rewrite"), answer) == [
        ("Rosa D'Amico", Label.PATIENT),
        ("47", Label.AGE),
        ("Forlì", Label.LOCATION_OTHER),
        ("3/4/1950", Label.DATE),
    ]


def test_a_dictionary_of_lists_is_searched_as_a_list_of_entities_is() -> None:
    answer = {"FIRST_NAME": ["rosa"], "LAST_NAME": ["Quill", "Ode"], "PHONE": ["(780) 555-1234"], "DATE": []}
    found = shown(LETTER, own("extract"), f"```json\n{json.dumps(answer)}\n```")
    assert found == [
        ("Rosa", Label.PATIENT),
        ("Quill", Label.PATIENT),
        ("(780) 555-1234", Label.PHONE),
        ("Ode", Label.PATIENT),
    ]


@pytest.mark.parametrize("answer", ['{"NAME": "Rosa Quill"}', '{"NAME": [1]}', '{"NAME": ["Rosa"], "NAME": []}', '"x"'])
def test_a_dictionary_of_anything_else_is_not_of_the_form(answer: str) -> None:
    assert asked(own("extract"), answer, LETTER)[0] == NotFound(Unusable.FORM)


def test_keys_of_medicine_hide_nothing_and_unknown_ones_do() -> None:
    answer = json.dumps({"DISEASE": ["lupus", "not in the note"], "SHOE SIZE": ["March 3"]})
    assert shown(LETTER, own("extract"), answer) == [("March 3", None)]


def test_a_prompt_that_asks_for_a_dictionary_sends_that_form_with_its_own_labels() -> None:
    labels = "labels: {WHO: PATIENT, WHEN: DATE, PILL: null}\n"
    answer = json.dumps({"WHO": ["Rosa Quill"], "WHEN": ["March 3"], "PILL": ["lupus"]})
    found, endpoint = asked(own("extract", f"form: dictionary\n{labels}"), answer, LETTER)
    assert isinstance(found, Found)
    assert [label for _, _, label in found.mentions] == [Label.PATIENT, Label.DATE]
    schema = endpoint.received[0]["response_format"]["json_schema"]["schema"]
    texts = {"type": "array", "items": {"type": "string"}}
    assert (schema["type"], schema["properties"]) == ("object", dict.fromkeys(("WHO", "WHEN", "PILL"), texts))


@pytest.mark.parametrize(
    ("task", "answer"),
    [
        ("rewrite", LETTER.replace("Rosa Quill", "[WHO]").replace("lupus", "[PILL]")),
        ("tag", '[{"first": 1, "last": 2, "label": "WHO"}, {"first": 6, "last": 6, "label": "PILL"}]'),
        ("extract", '[{"text": "Rosa Quill", "label": "WHO"}, {"text": "lupus", "label": "PILL"}]'),
    ],
)
def test_labels_of_a_prompt_are_read_whatever_its_task(task: str, answer: str) -> None:
    assert shown(LETTER, own(task, "labels: {WHO: PATIENT, PILL: null}\n"), answer) == [("Rosa Quill", Label.PATIENT)]


@pytest.mark.parametrize(
    ("task", "more", "fault"),
    [
        ("rewrite", "form: dictionary\n", "form"),
        ("extract", "form: yes-no\n", "form"),
        ("extract", "form: [list]\n", "form"),
        ("extract", "labels: [PATIENT]\n", "labels"),
        ("extract", "labels: {WHO: SOMEBODY}\n", "labels"),
        ("extract", "claims: [SOMEBODY]\n", "claims"),
    ],
)
def test_forms_and_labels_are_read_strictly(task: str, more: str, fault: str) -> None:
    with pytest.raises(DeidError, match=f"prompt-invalid.*own: {fault}"):
        own(task, more)


def test_the_prompts_for_the_patient_alone_keep_those_who_treat() -> None:
    names = [name for name in names_for(Task.REWRITE) if "-patient-" in name]
    assert len(names) == 4
    for name in names:
        claims = prompt(name).claims or frozenset()
        assert Label.PATIENT in claims
        assert not claims & {Label.DOCTOR, Label.HOSPITAL, Label.AGE, Label.PROFESSION, Label.DATE}
        for shot in prompt(name).shots:
            assert all(kept in shot.answer for kept in ("Ferrand", "47", "1978"))
            assert "Larkhill Clinic" in shot.answer or "ospedale Allodola" in shot.answer


def test_a_prompt_is_a_name_or_a_file_and_the_hint_names_those_for_the_task(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nversion: 1\nlanguage: en\ntask: tag\nmessages:\n- {role: user, content: '{{note}}'}\n")
    assert prompt_of("mine.yaml", *DEIDENTIFY, beside=tmp_path) == prompt_of(str(file), Task.TAG)
    assert not is_shipped(prompt_of(str(file), Task.TAG))
    assert is_shipped(prompt_of("retention-few", Task.RETENTION))
    for name, tasks, others in (("retention-fev", (Task.RETENTION,), "extract"), ("extract", DEIDENTIFY, "retention")):
        with pytest.raises(DeidError) as error:
            prompt_of(name, *tasks)
        assert error.value.code is Code.PROMPT_UNKNOWN
        assert all(known in str(error.value.ref) for known in names_for(*tasks))
        assert others not in str(error.value.ref)
    # One that is shipped for something else is none for this; neither is a file of another task.
    with pytest.raises(DeidError, match="prompt-unknown"):
        prompt_of("extract-one", Task.RETENTION)
    with pytest.raises(DeidError, match=r"prompt-invalid.*the file: task is none of retention"):
        prompt_of(str(file), Task.RETENTION)


def test_a_shipped_text_that_was_changed_is_a_prompt_of_ones_own(tmp_path: Path) -> None:
    body: dict[str, Any] = {"name": "extract-one", "version": 1, "language": "en", "task": "extract"}
    body["messages"] = [{"role": "user", "content": "x {{note}}"}]
    (tmp_path / "extract-one.yaml").write_text(json.dumps(body))
    assert not is_shipped(prompt_of(str(tmp_path / "extract-one.yaml"), Task.EXTRACT))


def test_the_prompt_that_the_page_shows_is_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "language-models.md").read_text("utf-8")
    body = page.partition("```yaml\nname: mine\n")[2].partition("```")[0]
    found = read_prompt(f"name: mine\n{body}".encode(), "x")
    assert (found.name, found.form, found.claims) == ("mine", "dictionary", {Label.PATIENT, Label.DATE})
    assert found.labels == (("WHO", Label.PATIENT), ("WHEN", Label.DATE), ("PILL", None))
