"""What is proposed to a person, and what never is: real notes through detection, then the harvest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deid_platform.cli import operate
from deid_platform.errors import Code, DeidError
from deid_platform.lexicon.lists import read_terms
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.dictionaries import proposals, record
from deid_platform.refresh.installation.site import Site
from deid_platform.store import Manifest

ENOUGH = 10

# A note: how many patients have it. After "paged", whoever is named there is hidden.
PHRASES = {
    "Paged Douglas drainage.": ENOUGH,
    "Paged Clark irrigation.": ENOUGH - 1,  # one patient short
    "Paged Allen drainage.": ENOUGH,  # somebody called so arrives with the next delivery
    "Mr. Graham drainage.": ENOUGH,  # a title
    "Paged Graham jumped.": ENOUGH,  # no word of medicine
    "Paged Zebulon drainage.": ENOUGH,  # no word of any vocabulary
}


@pytest.fixture(scope="module")
def harvested(
    site: Site, deliver: Callable[..., Delivery], take_in: Callable[..., object], redacted: Callable[..., list[dict]]
) -> Manifest:
    notes: list[dict[str, str]] = []
    for text, patients in PHRASES.items():
        notes += [{"note_id": f"{len(notes)}-{i}", "patient_id": f"P{i}", "text": text} for i in range(patients)]
    # One patient often, and nobody at all, are no further patients.
    notes += [{"note_id": f"again-{i}", "patient_id": "P0", "text": "Paged Clark irrigation."} for i in range(5)]
    notes += [{"note_id": "nobody", "text": "Paged Clark irrigation."}]
    first = deliver("2026-01-05", notes=notes)
    second = deliver("2026-01-12", patients=[{"patient_id": "P77", "first_name": "Allen", "last_name": "Drainage"}])
    (site.settings.path(site.feed("hospital").path) / "2026-01-12" / "notes.jsonl").write_text(
        '{"note_id": "z", "note_type": "progress note", "patient_id": "P77", "text": "Well."}\n'
    )
    for delivery in (first, second):
        take_in(delivery)
        record.write_institution(site, delivery)
        redacted(delivery)
    return proposals.harvest(site)


def test_a_phrase_of_enough_patients_in_the_words_of_medicine_is_proposed_and_no_other(
    harvested: Manifest, site: Site
) -> None:
    rows = site.store.rows(tables.HARVESTED, tables.ALL)
    assert rows == [{"phrase": "douglas drainage", "label": "PATIENT", "patients": ENOUGH, "notes": ENOUGH}]


def test_proposals_are_lines_of_a_list_that_a_person_can_accept(harvested: Manifest, site: Site) -> None:
    assert list(proposals.proposals(site.store)) == [
        "douglas drainage  # at least 10 patients, 10 notes, hidden as PATIENT"
    ]


def test_the_command_prints_them_as_that_list(
    harvested: Manifest, installation: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    operate.proposals(installation)
    assert read_terms(capsys.readouterr().out) == ("douglas drainage",)


def test_meta_counts_and_quotes_nothing(harvested: Manifest) -> None:
    counts = harvested.meta["counts"]
    assert counts["proposed"] == 1
    assert counts["of_topics"] == 1
    assert counts["without_patient"] == 1
    assert all(isinstance(count, int) for count in counts.values())


def test_a_proposal_is_not_used_before_it_is_accepted(harvested: Manifest, site: Site) -> None:
    assert "douglas drainage" not in {row["term"] for row in _medical(site)}


def test_notes_that_left_are_not_read(harvested: Manifest, site: Site, deliver, take_in) -> None:
    take_in(deliver("2026-01-19", withdrawn=[{"note_id": "0-1"}]))
    counts = proposals.harvest(site).meta["counts"]
    assert (counts["left"], counts["notes"]) == (1, harvested.meta["counts"]["notes"] - 1)
    assert site.store.rows(tables.HARVESTED, tables.ALL) == [], "one patient short"


def test_nothing_is_proposed_before_anything_was_harvested(site: Site) -> None:
    other = site.store.__class__(site.settings.home_path / "elsewhere", site.keyring)
    with pytest.raises(DeidError) as refused:
        list(proposals.proposals(other))
    assert refused.value.code is Code.NOT_MATERIALIZED


def test_memory_is_bounded_and_what_is_forgotten_is_missed_rather_than_miscounted() -> None:
    candidates = proposals.Proposals(3, most=50)
    for patient in range(3):
        candidates.add({"kept phrase": "PATIENT"}, str(patient))
        candidates.add({f"rare phrase {patient} {i}": "PATIENT" for i in range(200)}, str(patient))
    assert set(candidates.enough()) <= {"kept phrase"}
    assert candidates.forgotten > 0
    assert "phrase" not in repr(candidates)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Douglas drainage", {"douglas drainage"}),
        ("the Douglas drainage and", {"douglas drainage"}),
        ("wound Douglas drainage", {"wound douglas", "wound douglas drainage", "douglas drainage"}),
        ("Douglas-drainage", {"douglas drainage"}),
        ("Douglas, drainage", set()),
        ("Douglas\ndrainage", set()),
        ("Dr. Douglas drainage", set()),
        ("Douglas", set()),
    ],
)
def test_a_phrase_stands_on_one_line_without_a_stop(text: str, expected: set[str]) -> None:
    start = text.index("Douglas")
    spans = [{"start": start, "end": start + 7, "label": "PATIENT", "source": "rules:given-name"}]
    words = {"douglas", "drainage", "wound", "the", "and"}
    assert set(proposals.phrases_of(text, spans, lambda word, _: word in words)) == expected


@pytest.mark.parametrize("source", ["roster", "gazetteer"])
def test_what_the_topics_hid_is_never_proposed(source: str) -> None:
    spans = [{"start": 0, "end": 7, "label": "PATIENT", "source": source}]
    assert proposals.phrases_of("Douglas drainage", spans, lambda *_: True) == {}


def _medical(site: Site) -> Iterator[dict[str, str]]:
    record.write_medical(site)
    return site.store.stream(tables.MEDICAL, tables.ALL)
