"""What somebody is by trade. In each line, [[value|LABEL]] marks all that must be found.

Nobody in these lines exists.
"""

from __future__ import annotations

import pytest
from marked_text import found_in, lines, plain

from deid_platform.detection import DetectorSpec
from deid_platform.labels import Label
from deid_platform.lexicon.lists import word_list
from deid_platform.notes import Note, Patient, Topics
from deid_platform.redaction.policy import load_policy, policy_names

LABELLED = """
Occupation: [[glazier|PROFESSION]]
OCCUPATION: [[WELDER|PROFESSION]]
Occupation: [[Software Engineer|PROFESSION]]
Occupation: Retired [[Teacher|PROFESSION]]
Occupation: retired, ex [[lobsterman|PROFESSION]]
Occupation: retired [[machinist|PROFESSION]] at [[Vantor Aerospace|ORGANIZATION]]
Occupation is [[cheesemaker|PROFESSION]]
Job title: [[line supervisor|PROFESSION]]
Job title: [[Quality Control Inspector|PROFESSION]]
Professione: [[idraulico|PROFESSION]]
Professione: pensionato, ex [[muratore|PROFESSION]]
Occupation: [[teacher|PROFESSION]] [[Quarmby|PATIENT]]
Occupation: [[Quarmby Widgets|ORGANIZATION]]
Occupation: retired
Occupation: unemployed
Occupation: disabled since then
Occupation: student
Occupation: The patient is in school
Occupation: none. Lives alone
Occupation: N/A
OCCUPATION: RETIRED
Occupation: Self-employed
Occupation: RN
Occupation: registered nurse
Occupation: physical therapist
Occupation: cardiologist
Professione: casalinga
Professione: medico di base
Occupational therapy: daily
Job: lifting
"""

IN_PROSE = """
works as a [[glazier|PROFESSION]]
works as a self-employed master [[carpenter|PROFESSION]] at [[Vantor|ORGANIZATION]]
worked for 30 years as a [[schoolteacher|PROFESSION]]
employed as an [[electrician|PROFESSION]]
He is a retired [[coal miner|PROFESSION]]
former [[tool and die maker|PROFESSION]] with COPD
ex-[[plumber|PROFESSION]]
a [[luthier|PROFESSION]] by trade
he is a [[bookbinder|PROFESSION]] by profession
[[idraulico|PROFESSION]] di professione
di professione [[liutaio|PROFESSION]], di professione medico
pensionato, ex [[operaio edile|PROFESSION]]
Lavora come [[operaio|PROFESSION]] presso [[Ceramiche Gavazzotti di Vergaredo|ORGANIZATION]]
fa il [[falegname|PROFESSION]]
retired, retired from teaching
works as tolerated, works as directed
the valve works as a team, works as a diuretic
works as a nurse, employed as a physical therapist
retired nurse, former physician, ex infermiere
former smoker, ex smoker, former drinker
retired Captain [[Quarmby|PATIENT]]
nurse by profession, is active by profession
known by trade name
ex fumatore, ex vivo, ex operato
served as control, years as such
"""


@pytest.mark.parametrize("line", lines(LABELLED, IN_PROSE))
def test_exactly_the_marked_professions_are_found(line: str) -> None:
    assert found_in(plain(line), frozenset(Label)) == line


def test_a_profession_takes_the_label_of_nothing_else() -> None:
    topics = Topics.of([Patient("P1", "Zebulon", None, "Glazier")], [], [])
    text = "Occupation: cheesemaker glazier"
    spans = DetectorSpec(topics=topics, professions=True).build().detect([Note("n", text, patient_id="P1")])[0]
    assert [(text[s.start : s.end], s.label) for s in spans] == [("cheesemaker glazier", Label.PATIENT)]


def test_no_state_and_no_role_of_a_care_team_is_on_the_list() -> None:
    states = {"retired", "unemployed", "disabled", "student", "homemaker", "casalinga", "pensionato"}
    roles = {"nurse", "physician", "surgeon", "therapist", "pharmacist", "paramedic", "medico", "infermiere", "aide"}
    assert not word_list("professions") & (states | roles)


@pytest.mark.parametrize("name", policy_names())
def test_they_are_sought_where_a_policy_hides_them(name: str) -> None:
    policy = load_policy(name)
    assert policy.hides_professions == (name == "gdpr_it")
    note = Note("n", "Occupation: glazier")
    spans = DetectorSpec(professions=policy.hides_professions).build().detect([note])[0]
    assert bool(spans) == policy.hides_professions
    patterns = DetectorSpec("patterns", professions=policy.hides_professions).build().detect([note])[0]
    assert bool(patterns) == policy.hides_professions
