"""Which brackets in a text are tags, and which of those the policy writes, as the server reads them."""

from __future__ import annotations

import dataclasses

import pytest
from sqlalchemy import text

from deid_platform.labels import Label
from deid_platform.redaction.policy import Policy, load_policy
from deid_platform.warehouse.connection import Warehouse
from deid_platform.warehouse.roles import Role
from deid_platform.warehouse.tags import tag_patterns

pytestmark = pytest.mark.warehouse

KEEPS_DOCTORS = load_policy("safe_harbor")
TAGS_DOCTORS = load_policy("safe_harbor_plus_providers")
ANGLED = dataclasses.replace(KEEPS_DOCTORS, tag="<<{label}>>", tag_with_value="<<{label}: {value}>>")


def foreign(warehouse: Warehouse, policy: Policy, body: str) -> int:
    """How many tags of a text are not the policy's."""
    statement = text("SELECT regexp_count(:body, :alike) - regexp_count(:body, :written)")
    with warehouse.begin(Role.GATEKEEPER) as connection:
        found = connection.execute(statement, {"body": body, **tag_patterns(policy)._asdict()})
        return int(found.scalar_one())


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Seen by [PATIENT] at [LOCATION-OTHER].", 0),
        ("[PATIENT][DATE 2019][ZIP 277]", 0),
        ("since the [DATE 1990s], again in [DATE 2018-2019]", 0),
        # Clinicians' own
        ("[x] yes [ ] no [X] maybe [CT] [1] []", 0),
        ("[see below] [sic] [Smith et al.] [3-5 mg]", 0),
        ("Dear [PATIENT NAME], born [DATE OF BIRTH], BP [120/80] [BP 120/80]", 0),
        # In capitals as tags are: nobody can tell
        ("[DNR]", 1),
        # Another language's, another policy's
        ("Visto il [DATA] da [NOME]", 2),
        ("[DOCTOR] saw [PATIENT]", 1),
        # More of a value than redaction leaves
        ("[DATE 03/04/2019]", 1),
        ("[DATE 20190304] [DATE March 4, 2019] [DATE 2019-03]", 3),
        ("[ZIP 27701] [ZIP 277-01]", 2),
        ("[AGE 45] [PATIENT 12]", 2),
        # A bracket that is not closed on its line
        ("[DATE 2019", 0),
        ("[AGE\n45]", 0),
    ],
)
def test_tags_are_told_from_clinicians_own_brackets(warehouse: Warehouse, body: str, expected: int) -> None:
    assert foreign(warehouse, KEEPS_DOCTORS, body) == expected


def test_a_tag_is_set_as_the_policy_sets_it(warehouse: Warehouse) -> None:
    assert foreign(warehouse, ANGLED, "<<PATIENT>>, <<DATE: 2019>>, [NOME]") == 0
    assert foreign(warehouse, ANGLED, "<<NOME>>, <<DATE: 3/4/2019>>, <<DATE 3/4/2019>>") == 2


@pytest.mark.parametrize("policy", [KEEPS_DOCTORS, TAGS_DOCTORS, ANGLED], ids=["keeps", "tags", "angled"])
def test_whatever_the_policy_writes_is_its_own(warehouse: Warehouse, policy: Policy) -> None:
    kept = {Label.DOCTOR, Label.USERNAME, Label.PROFESSION, Label.HOSPITAL, Label.STATE, Label.COUNTRY}
    written = [
        *(policy.tagged(label) for label in Label if label not in kept),
        policy.tagged(Label.DATE, "2019"),
        policy.tagged(Label.ZIP, "000"),
    ]
    assert foreign(warehouse, policy, " ".join(written)) == 0
