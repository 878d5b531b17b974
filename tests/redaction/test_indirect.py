"""What is taken out of a redacted note beside the direct identifiers: pieces, tags and what may not go with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deid_platform.redaction
from deid_platform.deidentify.release_note import ReleaseSpec
from deid_platform.errors import DeidError
from deid_platform.keys import Keyring
from deid_platform.labels import Indirect, Label
from deid_platform.notes import IndirectMention, Note, Span
from deid_platform.redaction.indirect import with_indirect, without_indirect
from deid_platform.redaction.policy import GENERAL, IndirectAction, load_policy, parse_policy
from deid_platform.redaction.redact import redact
from deid_platform.reports.policies.page import EXAMPLE_KEY

KEEP, REMOVE, GENERALISE = IndirectAction
SOURCE = Path(deid_platform.redaction.__file__).parent / "policies" / "safe_harbor.yaml"
SHIPPED = load_policy("safe_harbor_plus_providers")
POLICY = replace(SHIPPED, indirect={Indirect.FAMILY: REMOVE, Indirect.EVENT: GENERALISE, Indirect.ORIGIN: GENERALISE})
TEXT = "Ann, one of triplets, was in the news after the flood of 1997."
NAME = Span(0, 3, Label.PATIENT)


def at(words: str, category: Indirect) -> IndirectMention:
    start = TEXT.index(words)
    return IndirectMention(start, start + len(words), category)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ([at("one of triplets", Indirect.FAMILY)], "[PATIENT], [INDIRECT], was in the news after the flood of 1997."),
        ([at("in the news", Indirect.EVENT)], "[PATIENT], one of triplets, was [an event] after the flood of 1997."),
        (
            [at("one of triplets", Indirect.CARE)],
            "[PATIENT], one of triplets, was in the news after the flood of 1997.",
        ),
        # Of two that overlap, the union goes; what is to be removed is not told by the other.
        (
            [at("triplets, was in the news", Indirect.EVENT), at("one of triplets", Indirect.FAMILY)],
            "[PATIENT], [INDIRECT] after the flood of 1997.",
        ),
        # A category that is kept takes nothing with it.
        (
            [at("triplets, was", Indirect.CARE), at("one of triplets", Indirect.FAMILY)],
            "[PATIENT], [INDIRECT], was in the news after the flood of 1997.",
        ),
        ([at("Ann, ", Indirect.FAMILY)], "[PATIENT], one of triplets, was in the news after the flood of 1997."),
        ([IndirectMention(0, len(TEXT), Indirect.EVENT)], "[PATIENT][an event]"),
    ],
)
def test_what_goes_and_what_stands_in_its_place(found: list[IndirectMention], shown: str) -> None:
    note = Note("1", TEXT)
    assert without_indirect(TEXT, redact(note, [NAME], POLICY), found, POLICY).text == shown


PLACES = st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 20), st.sampled_from(list(Indirect)))


@given(st.lists(PLACES, max_size=6))
def test_only_what_was_tagged_goes_and_no_direct_identifier_comes_back(tagged: list[tuple[int, int, Indirect]]) -> None:
    found = [IndirectMention(start, min(len(TEXT), start + n), category) for start, n, category in tagged]
    direct = redact(Note("1", TEXT), [NAME, Span(57, 61, Label.DATE)], POLICY)
    shown = without_indirect(TEXT, direct, found, POLICY)
    going = {i for start, end, it in found if POLICY.indirect_action(it) is not KEEP for i in range(start, end)}
    assert all(set(range(piece.start, piece.end)) <= going for piece in shown.indirect)
    assert not {i for piece in shown.indirect for i in range(piece.start, piece.end)} & {*range(3), *range(57, 61)}
    # Letters and digits that were tagged are gone, and all else is where it was.
    hidden = {i for it in (*shown.applied, *shown.indirect) for i in range(it.start, it.end)}
    assert not any(TEXT[i].isalnum() for i in going - hidden)
    assert with_indirect(TEXT, shown.text, shown.applied, shown.lengths, found, POLICY) == direct.text


def test_what_a_note_that_nobody_tagged_was_before_is_known_if_nothing_was_to_go() -> None:
    assert with_indirect(TEXT, TEXT, (), (), None, SHIPPED) == TEXT
    assert with_indirect(TEXT, TEXT, (), (), None, POLICY) is None


def test_a_policy_names_every_category_or_none() -> None:
    def read(section: str) -> dict[Indirect, IndirectAction]:
        own = SOURCE.read_text(encoding="utf-8").replace("name: safe_harbor\n", "name: own\n")
        base = f"{own}\n{section}"
        return dict(parse_policy(base.encode()).indirect)

    every = "".join(f"  {it.value}: generalise\n" for it in Indirect)
    assert read("") == {} and read(f"indirect:\n{every}") == dict.fromkeys(Indirect, GENERALISE)
    for wrong, said in (
        (every.replace("  CARE: generalise\n", ""), r"indirect\.CARE is missing"),
        (every.replace("CARE: generalise", "CARE: tag"), r"indirect\.CARE"),
        (every + "  NAME: keep\n", r"indirect\.NAME is unknown"),
    ):
        with pytest.raises(DeidError, match=rf"policy-invalid.*{said}"):
            read(f"indirect:\n{wrong}")


def test_every_category_has_general_words_of_its_own_without_a_digit() -> None:
    assert set(GENERAL) == set(Indirect) and len(set(GENERAL.values())) == len(Indirect)
    assert not any(character.isdigit() for words in GENERAL.values() for character in words)


def test_a_policy_that_hides_them_releases_nothing_that_nobody_tagged() -> None:
    with pytest.raises(DeidError, match=r"policy-invalid.*detection\.indirect"):
        ReleaseSpec(POLICY).build()
    releaser = ReleaseSpec(POLICY, tagged=True).build()
    assert releaser.release(Note("1", "Asthma."), []).withheld is not None
    released = releaser.release(
        Note("1", "Asthma, one of triplets."), [], None, [IndirectMention(8, 23, Indirect.FAMILY)]
    )
    assert released.redaction is not None and released.redaction.text == "Asthma, [INDIRECT]."


def test_surrogates_beside_a_removed_one_pass_the_leak_check() -> None:
    policy = replace(load_policy("surrogate"), indirect={Indirect.FAMILY: REMOVE})
    text = "Mrs. Grete Holloway, mother of triplets, is well."
    spans, found = [Span(5, 19, Label.PATIENT)], [IndirectMention(21, 39, Indirect.FAMILY)]
    release = (
        ReleaseSpec(policy, keyring=Keyring(EXAMPLE_KEY, site="example"), tagged=True)
        .build()
        .release(Note("1", text, patient_id="p"), spans, None, found)
    )
    assert release.withheld is None and release.redaction is not None
    assert release.redaction.text.endswith(", [INDIRECT], is well.") and "Holloway" not in release.redaction.text


def test_a_leak_of_which_a_part_is_taken_out_is_one_all_the_same() -> None:
    text = "SSN 219-09-9999 on file."
    found = [IndirectMention(4, 10, Indirect.FAMILY)]
    release = ReleaseSpec(POLICY, tagged=True).build().release(Note("1", text), [], None, found)
    assert release.withheld is not None and (release.withheld.ref or "").startswith("leak-")
