"""Which brackets in a text are tags, and which of those the policy writes, as the server reads them."""

from __future__ import annotations

import dataclasses

import pytest
from sqlalchemy import text

from deid_platform.labels import Label
from deid_platform.redaction.policy import Policy, load_policy
from deid_platform.warehouse.gate.tags import FOREIGN_TAG, tag_patterns
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

KEEPS_DOCTORS = load_policy("safe_harbor")
TAGS_DOCTORS = load_policy("safe_harbor_plus_providers")
ANGLED = dataclasses.replace(KEEPS_DOCTORS, tag="<<{label}>>", tag_with_value="<<{label}: {value}>>")


def foreign(warehouse: Warehouse, policy: Policy, body: str) -> bool:
    """Whether a text has a tag that is not the policy's."""
    statement = text(f"SELECT {FOREIGN_TAG} FROM (SELECT CAST(:body AS text) AS text) note")
    with warehouse.begin(Role.GATEKEEPER) as connection:
        return bool(connection.execute(statement, {"body": body, **tag_patterns(policy)}).scalar_one())


@pytest.mark.parametrize(
    "body",
    [
        "Seen by [PATIENT] at [LOCATION-OTHER].",
        "[PATIENT][DATE 2019][ZIP 277]",
        "since the [DATE 1990s], again in [DATE 2018-2019]",
        "[x] yes [ ] no [X] maybe [CT] [1] []",
        "[see below] [sic] [Smith et al.] [3-5 mg]",
        "Dear [PATIENT NAME], born [DATE OF BIRTH], BP [120/80] [BP 120/80]",
        "[DATE 2019, and the line ends\n03/04]",
        "[AGE\n45]",
    ],
)
def test_clinicians_own_brackets_and_the_policys_tags_are_not_foreign(warehouse: Warehouse, body: str) -> None:
    assert not foreign(warehouse, KEEPS_DOCTORS, body)


@pytest.mark.parametrize(
    "tag",
    [
        "[NOME]",  # another language's
        "[PHONE_NUMBER]",  # another scheme's
        "[DOCTOR]",  # another policy's
        "[DNR]",  # a clinician's own, in capitals as tags are: nobody can tell
        # More of a value than redaction leaves
        "[DATE 03/04/2019]",
        "[DATE 20190304]",
        "[DATE March 4, 2019]",
        "[DATE 2019-03]",
        "[ZIP 27701]",
        "[ZIP 277-01]",
        "[AGE 45]",
        "[PATIENT 12]",
    ],
)
def test_other_tags_are_foreign(warehouse: Warehouse, tag: str) -> None:
    assert foreign(warehouse, KEEPS_DOCTORS, tag)
    assert foreign(warehouse, KEEPS_DOCTORS, f"[see [PATIENT], [DATE 2019]{tag}, [x]")


def test_a_tag_is_set_as_the_policy_sets_it(warehouse: Warehouse) -> None:
    assert not foreign(warehouse, ANGLED, "<<PATIENT>>, <<DATE: 2019>>, [NOME], <<DATE 3/4/2019>>, pH << 7 >> 3")
    assert foreign(warehouse, ANGLED, "<<PATIENT>>, <<NOME>>")
    assert foreign(warehouse, ANGLED, "<<DATE: 3/4/2019>>")


@pytest.mark.parametrize("policy", [KEEPS_DOCTORS, TAGS_DOCTORS, ANGLED], ids=["keeps", "tags", "angled"])
def test_whatever_the_policy_writes_is_its_own(warehouse: Warehouse, policy: Policy) -> None:
    kept = {Label.DOCTOR, Label.USERNAME, Label.PROFESSION, Label.HOSPITAL, Label.STATE, Label.COUNTRY}
    written = [
        *(policy.tagged(label) for label in Label if label not in kept),
        policy.tagged(Label.DATE, "2019"),
        policy.tagged(Label.ZIP, "000"),
    ]
    assert not foreign(warehouse, policy, " ".join(written))
