"""Policies: what ships, what is refused, and the page that shows them."""

import pickle
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.labels import HIPAA_IDENTIFIER, Label
from deid_platform.redaction.pages import policies_markdown
from deid_platform.redaction.policy import Action, NoteDateRule, load_policy, parse_policy, policy_names

SAFE_HARBOR = (resources.files("deid_platform.redaction") / "policies" / "safe_harbor.yaml").read_text(encoding="utf-8")


def changed(old: str, new: str) -> bytes:
    assert old in SAFE_HARBOR
    return SAFE_HARBOR.replace(old, new, 1).encode()


def test_the_shipped_policies_load_under_their_own_names():
    assert policy_names() == ("safe_harbor", "safe_harbor_plus_providers")
    for name in policy_names():
        policy = load_policy(name)
        assert policy.name == name
        assert "164.514(b)(2)" in policy.legal_basis
        assert set(policy.labels) == set(Label)


def test_safe_harbor_removes_every_identifier_that_hipaa_lists():
    policy = load_policy("safe_harbor")
    kept = {label for label in Label if policy.labels[label] is Action.KEEP}
    assert kept == {label for label in Label if HIPAA_IDENTIFIER[label] is None}
    assert policy.note_date is NoteDateRule.YEAR


def test_plus_providers_adds_the_five_categories_of_paper_001():
    base, more = load_policy("safe_harbor"), load_policy("safe_harbor_plus_providers")
    added = {label for label in Label if base.labels[label] != more.labels[label]}
    assert added == {Label.DOCTOR, Label.USERNAME, Label.HOSPITAL, Label.COUNTRY, Label.STATE}
    assert all(more.labels[label] is Action.TAG for label in added)


@pytest.mark.parametrize(
    ("source", "key"),
    [
        (changed("  PATIENT: tag\n", ""), "labels.PATIENT is missing"),
        (changed("  PATIENT: tag\n", "  PATIENT: tag\n  NICKNAME: tag\n"), "labels.NICKNAME is unknown"),
        (changed("  PATIENT: tag\n", "  PATIENT: burn\n"), "labels.PATIENT"),
        (changed("  PATIENT: tag\n", "  PATIENT: year\n"), "labels.PATIENT"),
        (changed("  ZIP: zip3\n", "  ZIP: age90\n"), "labels.ZIP"),
        (changed("  PATIENT: tag\n", "  PATIENT: [tag]\n"), "labels.PATIENT"),
        (changed("note_date: year", "note_date: month"), "structured.note_date"),
        (changed("structured:\n  note_date: year\n", ""), "policy.structured is missing"),
        (changed("name: safe_harbor", "name: Safe Harbor!"), "name"),
        (changed("name: safe_harbor", "name: 7"), "name"),
        (changed('tag: "[{label}]"', 'tag: "removed"'), "tag"),
        (changed('tag: "[{label}]"', 'tag: "{label}"'), "tag"),
        (changed('"[{label} {value}]"', '"[{label}]"'), "tag_with_value"),
        (b"- a\n- list\n", "policy"),
        (b"", "policy"),
        (b"\xff\xfe\x00", "not a YAML mapping without doubled keys"),
        (b"a: [", "not a YAML mapping without doubled keys"),
        (changed("  PATIENT: tag\n", "  PATIENT: tag\n  PATIENT: keep\n"), "not a YAML mapping without doubled keys"),
    ],
)
def test_an_incomplete_or_ambiguous_policy_is_refused_with_its_key(source: bytes, key: str):
    with pytest.raises(DeidError) as caught:
        parse_policy(source)
    assert caught.value.code is Code.POLICY_INVALID
    assert caught.value.ref == key


def test_a_file_of_notes_given_as_a_policy_is_not_quoted():
    source = SAFE_HARBOR + '"Mr. Orrin Vask, 18 Teasel Row": x\n'
    with pytest.raises(DeidError) as caught:
        parse_policy(source.encode())
    assert "Vask" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_policy_is_found_by_path_too(tmp_path: Path):
    path = tmp_path / "own.yaml"
    path.write_bytes(changed("name: safe_harbor", "name: own"))
    assert load_policy(path).name == "own"
    assert load_policy(str(path)).name == "own"


@pytest.mark.parametrize("name", ["no_such_policy", "nowhere/p.yaml", "", "\0"])
def test_an_unknown_policy_is_refused(name: str):
    with pytest.raises(DeidError) as caught:
        load_policy(name)
    assert caught.value.code is Code.POLICY_UNKNOWN


def test_the_digest_changes_with_what_changes_text_and_only_then():
    policy = load_policy("safe_harbor")
    assert policy.digest == load_policy("safe_harbor").digest
    assert policy.digest == replace(policy, description="Other words.").digest
    others = [
        replace(policy, labels={**policy.labels, Label.DOCTOR: Action.TAG}),
        replace(policy, tag="<{label}>"),
        replace(policy, note_date=NoteDateRule.DROP),
        load_policy("safe_harbor_plus_providers"),
    ]
    assert len({policy.digest, *(other.digest for other in others)}) == 5


def test_the_digest_follows_the_code_and_data_that_redact(monkeypatch: pytest.MonkeyPatch):
    policy = load_policy("safe_harbor")
    before = policy.digest
    monkeypatch.setattr(
        "deid_platform.redaction.policy.package_digest", {"deid_platform.redaction": "other rules"}.__getitem__
    )
    assert policy.digest != before


def test_a_policy_travels_to_worker_processes():
    policy = load_policy("safe_harbor")
    assert pickle.loads(pickle.dumps(policy)) == policy


def test_the_restricted_zip_list_is_the_seventeen_areas_of_the_2000_census():
    lines = (resources.files("deid_platform.redaction") / "data" / "restricted_zip3.txt").read_text().splitlines()
    areas = [line for line in lines if not line.startswith("#")]
    assert len(areas) == 17
    assert all(len(area) == 3 and area.isdigit() for area in areas)


def test_the_page_in_docs_is_the_generated_one():
    page = Path(__file__).parents[2] / "docs" / "policies.md"
    assert page.read_text(encoding="utf-8") == policies_markdown(), (
        "regenerate: python -c 'from deid_platform.redaction.pages import *; print(policies_markdown(), end=\"\")'"
    )
