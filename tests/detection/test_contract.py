from __future__ import annotations

import hashlib
from pathlib import Path

import detector_contract as contract
import pytest

from deid_platform.detection import DetectorSpec, detector_names
from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.notes import Facility, Patient, Provider, Topics

KEYRING = Keyring(hashlib.sha256(b"one").digest(), site="test")
SECRETS = ("Zebulon", "Quarmby", "00987654", "Crossbeak", "P1")


@pytest.mark.parametrize("known", [False, True], ids=["text", "topics"])
@pytest.mark.parametrize("name", detector_names())
def test_every_recipe_keeps_the_contract(name: str, known: bool, topics: Topics) -> None:
    spec = DetectorSpec(name, topics if known else None)
    contract.check_detector(spec.build)
    contract.check_spec(spec, SECRETS)


def test_an_unknown_recipe_is_refused() -> None:
    for use in (DetectorSpec.build, lambda s: s.detector_digest, lambda s: s.inputs):
        with pytest.raises(DeidError) as refused:
            use(DetectorSpec("transformer-xxl"))
        assert refused.value.code is Code.DETECTOR_UNKNOWN


def test_the_detector_digest_is_the_recipe_s_and_not_the_topics(topics: Topics) -> None:
    assert DetectorSpec("rules", topics=topics).detector_digest == DetectorSpec("rules").detector_digest
    assert len({DetectorSpec(name).detector_digest for name in detector_names()}) == len(detector_names())


def test_the_detector_digest_follows_the_content_of_own_medical_terms(tmp_path: Path) -> None:
    def digest(*lists: str) -> str:
        paths = [tmp_path / f"{i}.txt" for i in range(len(lists))]
        for path, content in zip(paths, lists, strict=True):
            path.write_text(content)
        return DetectorSpec("rules", medical_terms=tuple(paths)).detector_digest

    one = digest("Quarmby clamp\n")
    assert one == digest("# clamps\nQuarmby clamp  # of this house\n\n"), "comments give nothing back"
    assert digest("Quarmby clamp\nWard knot\n") == digest("Ward knot\n", "Quarmby clamp\n")
    others = [DetectorSpec("rules").detector_digest, digest("Ward knot\n"), digest("Quarmby clamp\nWard knot\n")]
    assert len({one, *others}) == 4


def test_the_dictionary_digest_follows_every_value_and_the_key(topics: Topics) -> None:
    other_key = Keyring(hashlib.sha256(b"another").digest(), site="test")
    digests = [
        DetectorSpec("rules", topics=topics).dictionary_digest(KEYRING),
        DetectorSpec("rules", topics=topics).dictionary_digest(other_key),
        DetectorSpec("rules", topics=topics.folded(Topics.of([Patient("P1", "Zebulon")]))).dictionary_digest(KEYRING),
        DetectorSpec("rules").dictionary_digest(KEYRING),
    ]
    assert len(set(digests)) == len(digests)
    assert DetectorSpec("rules", topics=topics).dictionary_digest(KEYRING) == digests[0]


def test_the_dictionary_digest_follows_former_rows_and_not_medical_terms(topics: Topics, later: Topics) -> None:
    forgetful = Topics(later.patients, later.providers, later.facilities)
    digests = {DetectorSpec("rules", topics=t).dictionary_digest(KEYRING) for t in (topics, forgetful, later)}
    assert len(digests) == 3
    renamed = later.folded(Topics.of([], [Provider("D1", "Sylvia", "Crane")], [Facility("F2", "Intensive Care")]))
    forgetful = Topics(renamed.patients, renamed.providers, renamed.facilities, renamed.former, renamed.undated)
    digests |= {DetectorSpec("rules", topics=t).dictionary_digest(KEYRING) for t in (renamed, forgetful)}
    assert len(digests) == 5
    again = later.folded(Topics.of([later.patients["P1"]]))
    assert DetectorSpec("rules", topics=again, medical_terms=("unread.txt",)).dictionary_digest(KEYRING) in digests


def test_the_dictionary_digest_ignores_the_order_of_rows(topics: Topics) -> None:
    turned = Topics(dict(reversed(topics.patients.items())), topics.providers, topics.facilities)
    assert DetectorSpec("rules", topics=turned).dictionary_digest(KEYRING) == DetectorSpec(
        "rules", topics=topics
    ).dictionary_digest(KEYRING)


@pytest.mark.parametrize(
    ("name", "known", "inputs"),
    [
        ("rules", True, "topics"),
        ("rules", False, "text"),
        ("patterns", True, "text"),
        ("roster", True, "topics"),
    ],
)
def test_inputs_say_what_the_detector_really_used(name: str, known: bool, inputs: str, topics: Topics) -> None:
    assert DetectorSpec(name, topics if known else None).inputs == inputs


def test_empty_topics_count_as_text_alone() -> None:
    assert DetectorSpec("rules", topics=Topics()).inputs == "text"


def test_a_missing_list_of_medical_terms_is_refused_by_key_name(tmp_path: Path) -> None:
    spec = DetectorSpec("rules", medical_terms=(tmp_path / "missing.txt",))
    for use in (DetectorSpec.build, lambda s: s.detector_digest):
        with pytest.raises(DeidError) as refused:
            use(spec)
        assert (refused.value.code, refused.value.ref) == (
            Code.SETTINGS_INVALID,
            "dictionaries.medical_terms: missing.txt",
        )
