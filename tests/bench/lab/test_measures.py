"""The laboratory on gold that was sealed by hand: when it measures anew, and what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pyarrow as pa
import pytest
import sealed_gold
from sealed_gold import NOTES, WHO

from assets.bench import laboratory as asset
from deid_platform.bench.gate import held_out
from deid_platform.bench.lab import measures
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention import icd
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import Settings
from deid_platform.warehouse.quality.lab import LabScore
from resources import SiteResource


@pytest.fixture
def site(tmp_path, monkeypatch) -> Site:
    return sealed_gold.site_in(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def few_terms(monkeypatch) -> None:
    """Those of ICD-10-CM take seconds to read."""
    monkeypatch.setattr(icd, "icd10cm_terms", lambda: {"asthma": "J45", "gout": "M10"})


@pytest.fixture
def seal(site: Site) -> Callable[..., None]:
    return partial(sealed_gold.seal, site)


@pytest.fixture
def recorded(monkeypatch) -> list[LabScore]:
    """What goes to the warehouse."""
    found: list[LabScore] = []
    monkeypatch.setattr(measures, "record_lab_scores", lambda _engine, _on, scores: found.extend(scores))
    return found


def refreshed(site: Site) -> measures.Laboratory:
    """As the asset does."""
    found = measures.measure(site)
    measures.record(site, found)
    return found


def test_what_has_not_changed_is_not_measured_and_shows_the_same_figures(site, seal, recorded, monkeypatch) -> None:
    seal()
    first = refreshed(site)
    figures = len(recorded)
    assert not first.spared and figures == sum(map(len, first.scores.values())) > 50
    seal()  # each delivery's run seals the same anew
    monkeypatch.setattr(measures, "_measured", lambda _: pytest.fail("measured anew"))
    again = refreshed(site)
    assert again == replace(first, spared=True)
    assert len(recorded) == figures, "nor recorded"
    shown = asset(site=SiteResource(config=str(site.settings.root / "deid.toml"))).metadata
    assert shown["measured"] == "as before: nothing has changed"
    assert "identifier_characters_found" in shown["figures"].value
    assert shown["dagster/row_count"] == figures


def with_bench(site: Site, **changes) -> Settings:
    return site.settings.model_copy(update={"bench": site.settings.bench.model_copy(update=changes)})


def with_policy(site: Site, name: str) -> Settings:
    return site.settings.model_copy(update={"redaction": site.settings.redaction.model_copy(update={"policy": name})})


LONGER = [(replace(NOTES[0][0], text="Ms. Quillfeather is very well."), NOTES[0][1]), NOTES[1]]
RELABELLED = [(NOTES[0][0], [Span(4, 16, Label.DOCTOR)]), NOTES[1]]
CHANGES = {
    "a note": lambda seal: seal(LONGER, found=[NOTES[0][1], []]),
    "its gold": lambda seal: seal(RELABELLED, found=[NOTES[0][1], []]),
    "what was found": lambda seal: seal(found=[[], []]),
    "the topics": lambda seal: seal(topics=(replace(WHO, sex="M"),)),
    "whose gold it is": lambda seal: seal(gold="site"),
    "the detector": lambda seal: seal(detector_digest="e" * 32),
}
SETTINGS = {
    "the policy": lambda site: with_policy(site, "safe_harbor"),
    "the resamples": lambda site: with_bench(site, resamples=60),
}


@pytest.fixture
def times(site, seal, recorded, monkeypatch) -> list[int]:
    """How often it was measured, after the first time."""
    seal()
    refreshed(site)
    found: list[int] = []
    counted = measures._measured
    monkeypatch.setattr(measures, "_measured", lambda it: (found.append(1), counted(it))[1])
    refreshed(site)
    assert found == []
    return found


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_it_reads_brings_it_back(change, site, seal, times) -> None:
    change(seal)
    for _ in range(2):
        refreshed(site)
    assert times == [1]


@pytest.mark.parametrize("change", SETTINGS.values(), ids=SETTINGS)
def test_so_does_what_is_configured(change, site, times) -> None:
    for _ in range(2):
        refreshed(Site(change(site)))
    assert times == [1]


@pytest.mark.parametrize("package", measures._CODE)
def test_so_does_the_code_that_measures(package, site, times, monkeypatch) -> None:
    true = measures.package_digest
    monkeypatch.setattr(measures, "package_digest", lambda name: "new" if name.endswith(package) else true(name))
    for _ in range(2):
        refreshed(site)
    assert times == [1]


def sampled(site: Site, strata: dict[str, tuple], population: list[list]) -> None:
    """Seals the sample: note id -> its stratum, and how many notes each stratum has."""
    names = tables.SAMPLED_SCHEMA.names
    rows = [
        dict(zip(names, ("ehr", "ehr@1", note_id.removeprefix("ehr/"), *stratum), strict=True))
        for note_id, stratum in strata.items()
    ]
    table = pa.Table.from_pylist(rows, schema=tables.SAMPLED_SCHEMA)
    site.store.write(tables.TEST_SET, tables.ALL, [table], meta=lambda: {"strata": population})


OWN = [(replace(note, note_id=f"ehr/{note.note_id}"), gold) for note, gold in NOTES]
STRATA = {"ehr/1": ("progress note", "2025", True), "ehr/2": ("progress note", "2025", False)}
POPULATION = [["progress note", "2025", False, 90], ["progress note", "2025", True, 10]]


def test_the_sample_s_design_counts_for_the_site_s_own_gold_alone(site, seal, recorded) -> None:
    seal(OWN)
    sampled(site, STRATA, POPULATION)
    assert not refreshed(site).spared
    sampled(site, STRATA, [[*POPULATION[0][:3], 91], POPULATION[1]])
    assert refreshed(site).spared, "the gold is of the synthetic hospital"
    seal(OWN, gold="site")
    refreshed(site)
    sampled(site, STRATA, POPULATION)
    assert not refreshed(site).spared


def figure(
    found: measures.Laboratory, family: str, measure: str, subject: str = "ALL", inputs: str = "topics"
) -> LabScore:
    (it,) = (it for it in found.scores[inputs] if (it.family, it.measure, it.subject) == (family, measure, subject))
    return it


def test_a_sample_is_weighed_by_how_it_was_drawn(site, seal) -> None:
    rest = (replace(OWN[1][0], text="Mr. Orrin called."), [Span(4, 9, Label.PATIENT)])
    seal([OWN[0], rest], found=[OWN[0][1], []], gold="site")
    sampled(site, STRATA, POPULATION)
    found = measures.measure(site)
    # One word found in a note that stands for 10, one missed in a note that stands for 90.
    weighed = figure(found, "words", "recall_of_site")
    assert (weighed.value, weighed.n) == (pytest.approx(0.1), 2)
    assert figure(found, "words", "precision_of_site", inputs="text").value == 1.0


def test_by_length_stand_only_lengths_that_eleven_notes_have(site, seal) -> None:
    notes = [(Note(str(n), "Ms. Quillfeather is well.", f"p{n}"), [Span(4, 16, Label.PATIENT)]) for n in range(12)]
    notes += [
        (Note(f"l{n}", "Seen by Orrin." + " well" * 100, f"l{n}"), [Span(8, 13, Label.DOCTOR)]) for n in range(10)
    ]
    seal(notes, found=[spans if n else [] for n, (_, spans) in enumerate(notes)])
    found = measures.measure(site)
    short = figure(found, "length", "recall", "under 100 words")
    assert (short.value, short.n) == (pytest.approx(11 / 12), 12)
    assert {it.subject for it in found.scores["text"] if it.family == "length"} == {"under 100 words"}


def test_names_that_were_missed_among_consistent_surrogates_are_told_apart(site, seal) -> None:
    text = "Quillfeather came. Quillfeather sat. Quillfeather left."
    at = [0, 19, 37]
    gold = [Span(start, start + 12, Label.PATIENT) for start in at]
    seal([(Note("1", text, "p9"), gold)], found=[gold[:2]], topics=())
    assert not [it for it in measures.measure(site).scores["topics"] if it.family == "plain sight"], (
        "tags are no surrogates"
    )
    found = measures.measure(Site(with_policy(site, "surrogate")))
    told = figure(found, "plain sight", "told_apart")
    assert (told.value, told.n) == (1.0, 1)
    assert figure(found, "plain sight", "told_apart_chance").value == pytest.approx(1 / 3)


def test_where_no_rule_tells_nothing_is_told(site, seal) -> None:
    seal([(Note("1", "Quillfeather came.", "p9"), [Span(0, 12, Label.PATIENT)])], found=[[]], topics=())
    found = measures.measure(Site(with_policy(site, "surrogate")))
    assert (figure(found, "plain sight", "told_apart").value, figure(found, "plain sight", "told_apart").n) == (0.0, 1)


def test_diagnosis_codes_before_and_after(site, seal) -> None:
    notes = [(Note(n, f"Has {what}.", n), []) for n, what in (("1", "asthma"), ("2", "gout"), ("3", "a cough"))]
    seal(notes, found=[[], [Span(4, 8, Label.PATIENT)], []])  # "gout" taken for a name
    found = measures.measure(site)
    by_measure = {it.measure: (it.value, it.n) for it in found.scores["topics"] if it.family == "retention"}
    # Of two codes one is lost; the third note says none. A single code has one rank, lost or not.
    assert (by_measure["jsc"], by_measure["nsdcg"]) == ((0.5, 2), (1.0, 2))


def test_the_judge_is_measured_once_for_each_version(site, recorded, monkeypatch) -> None:
    assert measures.record_judge(site) == 4
    of_judge = {it.measure: it for it in recorded}
    # As docs/retention.md has it: 109 of 115 changed pairs, 197 of 210 as labelled.
    assert (round(of_judge["recall"].value, 3), of_judge["recall"].n) == (0.948, 115)
    assert (round(of_judge["accuracy"].value, 3), of_judge["accuracy"].n) == (0.938, 210)
    assert {it.family for it in recorded} == {"judges"}
    assert measures.record_judge(site) == 0
    assert len(recorded) == 4
    monkeypatch.setattr(measures, "judge_digest", lambda: "c" * 64)
    assert measures.record_judge(site) == 4


def test_nothing_is_measured_before_the_look_is_counted_and_figures_name_it(site, seal, monkeypatch) -> None:
    seal()
    names = []
    monkeypatch.setattr(measures, "record_lab_scores", lambda _engine, on, _scores: names.append(on.look))
    refreshed(site)
    assert names == [sealed_gold.LOOK] * 2

    def refuse(*_) -> None:
        raise DeidError(Code.HELD_OUT_REFUSED, "set")

    monkeypatch.setattr(held_out, "record_look", refuse)
    monkeypatch.setattr(measures, "of_detection", lambda *_: pytest.fail("measured without a look"))
    seal(found=[[], []])
    with pytest.raises(DeidError, match="held-out-refused"):
        measures.measure(site)


def test_figures_of_before_looks_were_counted_are_measured_anew(site, seal, times) -> None:
    sealed = dict(site.store.manifest(tables.LAB, tables.ALL).meta)
    del sealed["look"]
    site.store.write(tables.LAB, tables.ALL, [], meta=lambda: sealed)
    for _ in range(2):
        refreshed(site)
    assert times == [1]
