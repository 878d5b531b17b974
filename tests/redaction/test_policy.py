"""Policies: what ships, what is refused, and the page that shows them."""

import pickle
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
import yaml

from deid_platform.detection import DetectorSpec
from deid_platform.errors import Code, DeidError
from deid_platform.keys import package_digest
from deid_platform.labels import DIRECT_IDENTIFIERS, HIPAA_IDENTIFIER, Label
from deid_platform.notes import Note
from deid_platform.redaction.policy import (
    Action,
    DateClass,
    NoteDateRule,
    Policy,
    load_policy,
    parse_policy,
    policy_names,
)
from deid_platform.redaction.redact import redact
from deid_platform.reports.policies.page import OWN_NAME, policies_markdown
from deid_platform.surrogates.consistency import Consistency
from deid_platform.surrogates.dates import DateShift

LEGAL_BASIS = {
    "safe_harbor": "164.514(b)(2)",
    "safe_harbor_plus_providers": "164.514(b)(2)",
    "surrogate": "164.514(b)(1)",
    "patient_only": "164.514(b)(1)",
    "limited_dataset": "164.514(e)",
    "gdpr_it": "2016/679",
}
SHIPPED = {
    name: (resources.files("deid_platform.redaction") / "policies" / f"{name}.yaml").read_text(encoding="utf-8")
    for name in LEGAL_BASIS
}
SAFE_HARBOR = SHIPPED["safe_harbor"]
# What a policy chooses only where it has something to choose.
CHOICES = ("consistency", "date_shift")


def changed(old: str, new: str) -> bytes:
    assert old in SAFE_HARBOR
    return SAFE_HARBOR.replace(old, new, 1).encode()


def dated(source: str, action: str, rule: str) -> bytes:
    """A policy with an action for dates, a rule for the note's own, and a shift where either asks for one."""
    source = re.sub(r"(?m)^  DATE: \w+$", f"  DATE: {action}", source)
    source = re.sub(r"note_date: \w+", f"note_date: {rule}", source)
    source = source.replace("date_shift: weeks\n", "")
    return (source + ("date_shift: weeks\n" if action == "surrogate" or rule == "shift" else "")).encode()


def test_the_shipped_policies_load_under_their_own_names():
    assert policy_names() == tuple(sorted(LEGAL_BASIS))
    for name, basis in LEGAL_BASIS.items():
        policy = load_policy(name)
        assert policy.name == name
        assert basis in policy.legal_basis
        assert set(policy.labels) == set(Label)


def kept(policy: Policy) -> set[Label]:
    return {label for label in Label if policy.labels[label] is Action.KEEP}


def test_surrogate_puts_a_stand_in_for_all_that_hipaa_lists_and_moves_dates_everywhere():
    policy = load_policy("surrogate")
    assert policy.uses_surrogates
    assert policy.shifts_dates
    assert policy.note_date is NoteDateRule.SHIFT
    assert kept(policy) == {Label.PROFESSION, Label.COUNTRY}
    assert policy.labels[Label.AGE] is Action.AGE90
    tags = {label for label in Label if policy.labels[label] is Action.TAG}
    assert tags == {Label.LOCATION_OTHER, Label.BIOID}


def test_patient_only_leaves_providers_clinics_and_ages_and_of_a_birth_its_year():
    policy = load_policy("patient_only")
    assert {Label.DOCTOR, Label.USERNAME, Label.HOSPITAL, Label.PROFESSION, Label.AGE} <= kept(policy)
    assert policy.labels[Label.DATE] is Action.BIRTH_YEAR
    patients_own = {Label.PATIENT, Label.STREET, Label.PHONE, Label.SSN, Label.MEDICALRECORD, Label.HEALTHPLAN}
    assert all(policy.labels[label] is Action.TAG for label in patients_own)
    assert policy.limited, "days of care and ages over 89 stay"


def test_a_limited_data_set_keeps_dates_ages_town_state_and_zip_and_no_direct_identifier():
    policy = load_policy("limited_dataset")
    places = {Label.CITY, Label.STATE, Label.ZIP, Label.COUNTRY}
    assert kept(policy) == {Label.DATE, Label.AGE, Label.PROFESSION, *places}
    assert all(policy.labels[label] is Action.TAG for label in set(Label) - kept(policy))
    assert policy.limited
    assert policy.note_date is NoteDateRule.KEEP
    assert [name for name in policy_names() if load_policy(name).limited] == ["limited_dataset", "patient_only"]


def test_gdpr_it_removes_ages_and_dates_whole_and_says_that_the_rest_is_personal_data_still():
    policy = load_policy("gdpr_it")
    assert set(policy.labels.values()) == {Action.TAG}
    assert policy.note_date is NoteDateRule.DROP
    assert "remains personal data" in policy.description
    assert policy.hides_ages, "tests/deidentify/test_files.py shows it"


@pytest.mark.parametrize("name", LEGAL_BASIS)
def test_a_policy_that_moves_dates_shows_no_true_one_beside_them(name: str):
    policy = load_policy(name)
    shifted = {policy.labels[Label.DATE] is Action.SURROGATE, policy.note_date is NoteDateRule.SHIFT}
    assert len(shifted) == 1


@pytest.mark.parametrize("name", LEGAL_BASIS)
@pytest.mark.parametrize("rule", NoteDateRule)
@pytest.mark.parametrize("action", ["tag", "keep", "year", "birth_year", "surrogate"])
def test_only_what_tells_no_shift_can_be_combined(name: str, rule: NoteDateRule, action: str):
    source = dated(SHIPPED[name], action, rule.value)
    allowed = {
        "tag": {"year", "shift", "drop"},
        "keep": {"keep"},
        "year": {"year", "drop"},
        "birth_year": {"year", "drop"},
        "surrogate": {"shift", "drop"},
    }
    if rule.value in allowed[action]:
        assert parse_policy(source).note_date is rule
        return
    with pytest.raises(DeidError) as caught:
        parse_policy(source)
    assert caught.value.ref == "structured.note_date"


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
        (changed("  AGE: age90\n", "  AGE: surrogate\n"), "labels.AGE"),
        (changed("  ZIP: zip3\n", "  ZIP: birth_year\n"), "labels.ZIP"),
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


def chosen(surrogate: str = "", **choices: str) -> bytes:
    """The policy `surrogate` with other choices, or the policy of another name with some."""
    source = re.sub(r"(?m)^(consistency|date_shift): .*\n", "", SHIPPED[surrogate or "surrogate"])
    return (source + "".join(f"{key}: {value}\n" for key, value in choices.items())).encode()


@pytest.mark.parametrize("way", Consistency)
@pytest.mark.parametrize("by", DateShift)
def test_surrogates_and_shifts_are_a_policys_choice(way: Consistency, by: DateShift):
    policy = parse_policy(chosen(consistency=way.value, date_shift=by.value))
    assert (policy.consistency, policy.date_shift) == (way, by)
    shipped = load_policy("surrogate")
    assert (shipped.consistency, shipped.date_shift) == (Consistency.CONSISTENT, DateShift.WEEKS)
    assert (policy == shipped) is ((way, by) == (Consistency.CONSISTENT, DateShift.WEEKS))


@pytest.mark.parametrize(
    ("source", "key"),
    [
        (chosen(date_shift="weeks"), "policy.consistency is missing"),
        (chosen(consistency="varied"), "policy.date_shift is missing"),
        (chosen(consistency="sometimes", date_shift="weeks"), "consistency"),
        (chosen(consistency="per_note", date_shift="years"), "date_shift"),
        (chosen(consistency="[varied]", date_shift="weeks"), "consistency"),
        (chosen("gdpr_it", consistency="varied"), "consistency without surrogates"),
        (chosen("safe_harbor", date_shift="season"), "date_shift without shifted dates"),
        # Dates move with the patient, whatever else is consistent.
        (dated(SAFE_HARBOR, "surrogate", "shift") + b"consistency: varied\n", "consistency without surrogates"),
    ],
)
def test_a_choice_is_made_where_there_is_one_and_nowhere_else(source: bytes, key: str):
    with pytest.raises(DeidError) as caught:
        parse_policy(source)
    assert (caught.value.code, caught.value.ref) == (Code.POLICY_INVALID, key)


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
    surrogate = load_policy("surrogate")
    chosen = [replace(surrogate, consistency=way, date_shift=by) for way in Consistency for by in DateShift]
    assert len({policy.digest for policy in chosen}) == 6


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("safe_harbor", "deid_platform.redaction"),
        ("safe_harbor", "deid_platform.text"),
        ("safe_harbor", "deid_platform.surrogates"),
        ("surrogate", "deid_platform.lexicon"),
    ],
)
def test_the_digest_follows_the_code_and_data_that_redact(name: str, changed: str, monkeypatch: pytest.MonkeyPatch):
    policy = load_policy(name)
    before = policy.digest
    monkeypatch.setattr(
        "deid_platform.redaction.policy.package_digest",
        lambda package: "other rules" if package == changed else package_digest(package),
    )
    assert policy.digest != before


def test_a_policy_travels_to_worker_processes():
    policy = load_policy("safe_harbor")
    assert pickle.loads(pickle.dumps(policy)) == policy


def test_a_policy_with_surrogates_follows_the_pools_that_they_are_drawn_from(monkeypatch: pytest.MonkeyPatch):
    names = ("surrogate", "safe_harbor")
    before = [load_policy(name).digest for name in names]
    monkeypatch.setattr("deid_platform.surrogates.pools.POOLS_VERSION", "another")
    after = [load_policy(name).digest for name in names]
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True]


def test_the_page_in_docs_is_the_generated_one():
    page = Path(__file__).parents[2] / "docs" / "policies.md"
    assert page.read_text(encoding="utf-8") == policies_markdown(), (
        "regenerate: python -c 'from deid_platform.reports.policies.page import *; "
        'print(policies_markdown(), end="")\''
    )


@pytest.mark.parametrize(
    ("policy", "shown"),
    [
        ("safe_harbor", "is from Turkey, in the United States; the Russian Federation, Republic of Korea, USA."),
        (
            "safe_harbor_plus_providers",
            "is from [COUNTRY], in the [COUNTRY]; the [COUNTRY], [COUNTRY], USA.",
        ),
    ],
)
def test_countries_stay_or_go_as_the_page_says(policy: str, shown: str):
    note = Note("1", "He is from Turkey, in the United States; the Russian Federation, Republic of Korea, USA.")
    (spans,) = DetectorSpec("rules").build().detect([note])
    assert redact(note, spans, load_policy(policy)).text.endswith(shown)


@pytest.mark.parametrize("label", DIRECT_IDENTIFIERS)
def test_a_policy_that_keeps_a_direct_identifier_is_refused(label: Label):
    with pytest.raises(DeidError) as caught:
        parse_policy(changed(f"  {label}: tag\n", f"  {label}: keep\n"))
    assert (caught.value.code, caught.value.ref) == (Code.POLICY_INVALID, f"labels.{label} is a direct identifier")


@pytest.mark.parametrize(
    ("old", "new", "limited"),
    [
        ("  STREET: tag\n", "  STREET: keep\n", True),
        ("  CITY: tag\n", "  CITY: keep\n", True),
        ("  ZIP: zip3\n", "  ZIP: keep\n", True),
        ("  AGE: age90\n", "  AGE: keep\n", True),
        ("  DATE: year\n", "  DATE: birth_year\n", True),
        ("  AGE: age90\n", "  AGE: tag\n", False),
        ("  STATE: keep\n", "  STATE: tag\n", False),
        ("  DATE: year\n", "  DATE: tag\n", False),
    ],
)
def test_a_policy_that_keeps_days_of_care_addresses_or_ages_over_89_is_limited(old: str, new: str, limited: bool):
    assert parse_policy(changed(old, new)).limited is limited


@pytest.mark.parametrize(
    ("action", "rule", "dates"),
    [
        ("tag", "shift", DateClass.SHIFT),
        ("tag", "year", DateClass.YEAR),
        ("tag", "drop", DateClass.NONE),
        ("year", "drop", DateClass.YEAR),
        ("birth_year", "year", DateClass.TRUE),
        ("keep", "keep", DateClass.TRUE),
        ("surrogate", "drop", DateClass.SHIFT),
    ],
)
def test_the_class_of_dates_is_the_one_that_tells_the_most(action: str, rule: str, dates: DateClass):
    source = dated(SAFE_HARBOR, action, rule)
    assert parse_policy(source).dates is dates
    seasons = parse_policy(source.replace(b"date_shift: weeks", b"date_shift: season")).dates
    assert seasons is (DateClass.SEASON if dates is DateClass.SHIFT else dates)
    assert seasons.moved is dates.moved is (dates is DateClass.SHIFT)


def test_a_file_may_not_bear_the_name_of_a_shipped_policy_unless_it_is_that_policy(tmp_path: Path):
    path = tmp_path / "own.yaml"
    path.write_bytes(changed("  DOCTOR: keep\n", "  DOCTOR: tag\n"))
    with pytest.raises(DeidError) as caught:
        load_policy(path)
    assert (caught.value.code, caught.value.ref) == (Code.POLICY_INVALID, "name is that of a shipped policy")
    path.write_text(SAFE_HARBOR, encoding="utf-8")
    assert load_policy(path).digest == load_policy("safe_harbor").digest


PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## A policy of your own\n")[2].partition("\n## ")[0]


def test_the_page_opens_with_all_policies_side_by_side_and_says_how_to_choose():
    first, choosing, *_ = PAGE.split("\n## ")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in first.splitlines() if line.startswith("|")
    ]
    named = [re.search(r"`(\w+)`", cell)[1] for cell in rows[0][1:]]
    assert sorted(named) == sorted(policy_names())
    said = {label: row[1:] for row in rows[2:] for label in row[0].split(", ")}
    for at, policy in enumerate(map(load_policy, named)):
        for label in Label:
            kept = policy.labels[label] is Action.KEEP
            assert said[label.value][at] == ("**stays**" if kept else f"`{policy.labels[label].value}`")
        assert f"| `{policy.name}` |" in choosing


def test_the_file_that_the_page_shows_is_a_policy_under_a_name_of_its_own(tmp_path: Path):
    (written,) = re.findall(r"```yaml\n(.*?)```", SECTION, re.DOTALL)
    path = tmp_path / "own.yaml"
    path.write_text(written, encoding="utf-8")
    policy, shipped = load_policy(path), load_policy("safe_harbor_plus_providers")
    assert policy.name == OWN_NAME not in policy_names()
    assert replace(policy, name=shipped.name) == shipped


def test_the_page_names_every_key_and_every_value_that_a_policy_may_have():
    keys = re.findall(r"`(\w+)`", " ".join(re.findall(r"(?m)^\| (`.*?`) \|", SECTION)))
    every = {*yaml.safe_load(SAFE_HARBOR), *CHOICES}
    assert every == set(yaml.safe_load(SHIPPED["surrogate"])) and set(keys) == {*every, "indirect"}
    for value in (*Action, *NoteDateRule, *Consistency, *DateShift):
        assert f"`{value.value}`" in PAGE
    for label in Label:
        assert re.search(rf"(?m)^\| `labels` \|.*\b{label.value}\b", SECTION)


def test_what_the_page_says_of_dates_is_what_is_let_through():
    said = SECTION.partition("goes by the action of DATE: ")[2].partition(".")[0]
    rules = dict(part.split(": ", 1) for part in said.split("; "))
    assert len(rules) == 5
    for action, allowed in rules.items():
        for rule in NoteDateRule:
            source = dated(SAFE_HARBOR, action.strip("`"), rule.value)
            if f"`{rule.value}`" in allowed:
                assert parse_policy(source).note_date is rule
            else:
                with pytest.raises(DeidError):
                    parse_policy(source)


def test_what_the_page_says_is_refused_is_refused_so():
    (said,) = re.findall(r"`policy-invalid \[(.*?)\]`", SECTION)
    with pytest.raises(DeidError) as caught:
        parse_policy(changed("  PATIENT: tag\n", ""))
    assert caught.value.ref == said
