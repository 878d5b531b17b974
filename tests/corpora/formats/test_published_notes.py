"""Every published note that is there, read as JSON lines, written in each other format and read back.

Run with DEID_CORPORA set to the folder of the corpora; the tests are skipped without it.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from deid_platform.corpora import Reason, Rejection
from deid_platform.corpora.formats import gold_format
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.single_files import read_notes
from deid_platform.labels import CROSSWALKS

# Set: its scheme, notes, and annotations that are spans here, no identifiers, and known errors.
SETS = {
    "meddocan/train": ("meddocan", 500, 10156, 1177, 0),
    "meddocan/dev": ("meddocan", 250, 5248, 553, 0),
    "asq_phi/queries": ("asq-phi", 493, 1400, 0, 0),
    "aci_bench/notes": ("aci-bench", 207, 360, 0, 0),
    "eds_pseudo_templates/templates": ("eds", 232, 1925, 0, 0),
    "mtsamples/notes": ("i2b2-2014", 1403, 0, 0, 0),
    "primock57/notes": ("i2b2-2014", 57, 0, 0, 0),
}
# Published texts alone: notes, and no gold.
TEXTS = {"e3c/en": 235, "e3c/es": 243, "e3c/fr": 249, "e3c/it": 157}


def read(published, name):
    return list(gold_format("jsonl").read(published / f"{name}.jsonl.gz", scheme=SETS[name][0]))


@pytest.mark.parametrize("name", SETS)
def test_every_annotation_is_read(name, published):
    found = read(published, name)
    assert not [item for item in found if isinstance(item, Rejection)]
    counts = [
        sum(counted) for counted in zip(*((len(g.spans), g.no_identifiers, g.known_errors) for g in found), strict=True)
    ]
    assert (len(found), *counts) == SETS[name][1:]


@pytest.mark.parametrize("name", SETS)
def test_every_label_that_occurs_is_mapped(name, published):
    with gzip.open(published / f"{name}.jsonl.gz", "rt") as lines:
        labels = {span[2] for line in lines for span in json.loads(line)["spans"]}
    assert labels <= CROSSWALKS[SETS[name][0]].keys()


@pytest.mark.parametrize("name", TEXTS)
def test_texts_without_spans_are_notes_and_no_gold(name, published):
    found = list(gold_format("jsonl").read(published / f"{name}.jsonl.gz", scheme="i2b2-2014"))
    assert [item.reason for item in found] == [Reason.MISSING_GOLD] * TEXTS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SETS, *TEXTS])
def test_every_note_survives_every_format_with_its_offsets(name, published, tmp_path, gold_contract):
    if name in SETS:
        notes = read(published, name)
    else:
        texts = read_notes(published / f"{name}.jsonl.gz", columns={"lang": "language"}, strict=False)
        notes = [Gold(note.note_id, (), (), note) for note in texts]
        assert len(notes) == TEXTS[name]
    notes = [replace(gold, clinical=()) for gold in notes]
    # None is left out: no note has a character that XML cannot hold.
    gold_contract.check_round_trip(gold_format("i2b2"), notes, tmp_path / "i2b2")
    gold_contract.check_round_trip(gold_format("brat"), notes, tmp_path / "brat")
    gold_contract.check_round_trip(gold_format("jsonl"), notes, tmp_path / "set.jsonl.gz")
    gold_contract.check_round_trip(gold_format("labelstudio"), notes, tmp_path / "set.json")
    gold_contract.check_round_trip(gold_format("conll"), notes, tmp_path / "set.conll", lossless=False)


def test_the_known_errors_of_meddocan(published):
    errors = 0
    for part in ("train", "dev"):
        path = published / "meddocan" / f"{part}.jsonl.gz"
        errors += sum(gold.known_errors for gold in gold_format("jsonl").read(path, scheme="meddocan-corrected"))
    assert errors == 68


def test_the_invented_i2b2_sample(published):
    sample = published / "format_samples" / "sample_i2b2_2014_style_INVENTED.xml"
    (gold,) = gold_format("i2b2").read(sample, scheme="i2b2-2014")
    assert len(gold.spans) == 11
