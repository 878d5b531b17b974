"""The figures of a round in `quality`: what they are of, recorded once, and nothing where nobody has decided."""

from __future__ import annotations

import pyarrow as pa
import pytest
from sealed_gold import seal
from sqlalchemy import text

from assets.review import review_removals
from deid_platform.bench.gate.held_out import seal_bench
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import Role
from deid_platform.review.decisions import Category, Decision, Severity, decide
from deid_platform.review.missed import Mark, mark
from deid_platform.review.rounds import DrawnWith, removals_of_round, start
from deid_platform.review.scores import newest
from deid_platform.review.sources import Source
from deid_platform.settings import load_settings
from deid_platform.warehouse.quality.lab import REVIEWED, lab_scores
from deid_platform.warehouse.server.roles import Role as Database
from resources import SiteResource

TEXT = "Seen with Thandiwe Quillfeather. Known Cushing palsy."
DETECTOR = "d" * 32
DELIVERY = "clinic@2026-01-05"
HIGH = Decision(Category.RELEVANT, Severity.HIGH)
LOW = Decision(Category.RELEVANT, Severity.LOW)
PROVIDER = Decision(Category.PROVIDER)


@pytest.fixture
def site(tmp_path, monkeypatch) -> Site:
    """An installation whose detector hides a word too many in each of 30 notes."""
    config = tmp_path / "deid.toml"
    config.write_text('site = "north"\nprofile = "demo"\n[detection]\ndetector = "rules"\n')
    monkeypatch.setenv("DEID_SECRET", "0f3b9a71c2e84d5566a8b7c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f70819203")
    made = Site(load_settings(config))
    true = Span(TEXT.index("Thandiwe"), TEXT.index("."), Label.PATIENT)
    wrong = Span(TEXT.index("Cushing"), TEXT.index(" palsy"), Label.DOCTOR)
    notes = [(Note(f"n{n}", TEXT, patient_id=f"p{n}", note_type="letter"), [true]) for n in range(30)]
    seal(made, notes, found=[[true, wrong] for _ in notes], detector_digest=DETECTOR)
    return made


def judged(site: Site, number: int = 1) -> None:
    """16 clinically relevant and 8 of clinics, all agreed; on 2 the readers differ, and 4 lack one."""
    keys = list(removals_of_round(site, number))
    agreed = {
        **dict.fromkeys(keys[:12], HIGH),
        **dict.fromkeys(keys[12:16], LOW),
        **dict.fromkeys(keys[16:24], PROVIDER),
    }
    decide(site, number, Role.A, {**agreed, keys[24]: HIGH, keys[25]: LOW})
    decide(site, number, Role.B, {**agreed, keys[24]: PROVIDER, keys[25]: PROVIDER})


def marked(site: Site, keys: list[str], label: Label | None = Label.PROFESSION) -> None:
    """Both readers mark "palsy" beside these removals, or take that back."""
    at = removals_of_round(site, 1)[keys[0]].text.index("palsy")
    severity = Severity.LOW if label else None
    for role in (Role.A, Role.B):
        mark(site, 1, role, [Mark(key, at, at + 5, label, severity) for key in keys])


def delivered(site: Site, **told: str) -> None:
    """30 notes of a delivery as a refresh leaves them, redacted with a span each."""
    raw, redacted = [], []
    for n in range(30):
        note = Note(f"d{n}", f"Seen {n} with Thandiwe.", patient_id=f"p{n}")
        raw.append({**tables.to_row(note), "content_digest": "x"})
        start_at = note.text.index("Thandiwe")
        spans = tables.span_rows([Span(start_at, start_at + 8, Label.PATIENT)])
        redacted.append({"note_id": note.note_id, "status": "clean", "spans": spans})
    meta = {"detector_digest": site.spec(None).detector_digest, "policy_digest": site.policy.digest, "inputs": "topics"}
    for dataset, rows, schema in (
        (tables.RAW_NOTES, raw, tables.RAW_SCHEMA),
        (tables.REDACTED_NOTES, redacted, tables.REDACTED_SCHEMA),
    ):
        table = pa.Table.from_pylist(rows, schema=schema)
        site.store.write(dataset, DELIVERY, [table], meta=lambda: {**meta, **told})


def test_categories_and_severities_are_words_that_figures_may_use() -> None:
    said = {*(it.value.replace("_", " ") for it in Category), *(f"severity {it.value}" for it in Severity), "severity"}
    assert said == set(REVIEWED)


def test_rounds_are_recorded_once_for_what_they_were_drawn_with(site, warehouse, monkeypatch) -> None:
    monkeypatch.setenv("DEID_WAREHOUSE_URL", warehouse.admin_engine().url.render_as_string(hide_password=False))
    seal_bench(site)
    start(site, 30)
    judged(site)
    keys = list(removals_of_round(site, 1))
    marked(site, keys[:13])
    policy = site.policy.digest
    # What is set and measured afterwards is not what people judged.
    seal(site, [(Note("x", "Well.", patient_id="p"), [])], detector_digest="e" * 32)

    def looks() -> list[str]:
        with warehouse.begin(Database.OFFICER) as connection:
            return list(connection.execute(text("SELECT detector_digest FROM ctl.look")).scalars())

    resource = SiteResource(config=str(site.settings.root / "deid.toml"))
    shown = review_removals(site=resource).metadata
    found = {(it.subject, it.measure): (on, it) for on, it in lab_scores(warehouse.engine(Database.OFFICER), DETECTOR)}
    assert {(on.gold, on.policy_digest, it.family) for on, it in found.values()} == {
        ("synthetic_hospital", policy, "review")
    }
    shares = {key: (it.value, it.n) for key, (_, it) in found.items()}
    assert shares["clinically relevant", "share_of_removals"] == (pytest.approx(16 / 24, abs=1e-4), 24)
    assert shares["severity high", "share_of_relevant"] == (0.75, 16)
    assert shares["severity", "kappa"] == (1.0, 16)
    assert shares["ALL", "share_settled"] == (0.8, 30)
    assert shares["ALL", "kappa"][1] == 26 and 0.7 < shares["ALL", "kappa"][0] < 1
    assert shares["ALL", "missed_per_note"] == shares["PROFESSION", "missed_per_note"] == (0.5, 26)
    assert shares["severity low", "missed_per_note"] == (0.5, 26) and shares["ALL", "missed_agreement"] == (1.0, 26)
    assert shares["severity high", "missed_per_note"] == shares["DATE", "missed_per_note"] == (0.0, 26)
    for subject, measure in (
        ("clinically relevant", "share_of_removals"),
        ("ALL", "kappa"),
        ("ALL", "missed_per_note"),
    ):
        figure = found[subject, measure][1]
        assert figure.low < figure.value < figure.high
    assert "| PROFESSION | missed per note | 0.5" in shown["removals"].value
    assert "| DATE " not in shown["removals"].value
    assert "| clinically relevant | share of removals | 0.667" in shown["removals"].value
    assert "| lack a reader | <11 |" in shown["removals_by_standing"].value
    assert "Cushing" not in str(shown) and "Quillfeather" not in str(shown)

    assert looks() == [DETECTOR]
    assert "before" in review_removals(site=resource).metadata["recorded"]
    assert looks() == [DETECTOR]
    decide(site, 1, Role.ADJUDICATOR, {keys[24]: PROVIDER})
    marked(site, keys[:13], None)
    assert review_removals(site=resource).metadata["recorded"] == "now"
    assert looks() == [DETECTOR] * 2
    after = {(it.subject, it.measure): it.value for _, it in lab_scores(warehouse.engine(Database.OFFICER), DETECTOR)}
    assert after["PROFESSION", "missed_per_note"] == 0  # and not what was taken back

    delivered(site)
    start(site, 30, source=Source(DELIVERY))
    keys = list(removals_of_round(site, 2))
    for role in (Role.A, Role.B):
        right = dict.fromkeys(keys[:18], Decision(Category.MISSED_BY_GOLD))
        decide(site, 2, role, right | dict.fromkeys(keys[18:], PROVIDER))
    shown = review_removals(site=resource).metadata
    assert (shown["review_round"], shown["review_round_without_gold"]) == (1, 2)
    assert "before" in shown["recorded"] and shown["recorded_without_gold"] == "now"
    assert "| ALL | share right | 0.600 " in shown["removals_without_gold"].value
    detector = site.spec(None).detector_digest
    found = {(it.subject, it.measure): (on, it) for on, it in lab_scores(warehouse.engine(Database.OFFICER), detector)}
    assert {(on.gold, on.policy_digest, on.inputs, it.family) for on, it in found.values()} == {
        ("read_notes", site.policy.digest, "topics", "read notes")
    }
    right = found["ALL", "share_right"][1]
    assert (right.value, right.n) == (0.6, 30) and right.low < 0.6 < right.high
    assert found["provider or clinic", "share_of_removals"][1].value == 0.4
    assert ("missed by gold", "share_of_removals") not in found
    assert "before" in review_removals(site=resource).metadata["recorded_without_gold"]
    assert looks() == [DETECTOR, DETECTOR, detector]
    assert "Thandiwe" not in str(shown)


def test_figures_over_few_are_not_shown(site) -> None:
    start(site, 30)
    keys = list(removals_of_round(site, 1))
    for role in (Role.A, Role.B):
        decide(site, 1, role, dict.fromkeys(keys[:3], HIGH))
    found = {(it.subject, it.measure): it.n for it in newest(site)[0].scores}
    assert found["severity high", "share_of_relevant"] == found["ALL", "kappa"] == 3  # and so hidden by the view


def test_the_newest_round_of_which_something_is_settled_counts(site) -> None:
    with pytest.raises(DeidError) as none:
        newest(site)
    assert none.value.code is Code.REVIEW_UNKNOWN
    start(site, 26)
    with pytest.raises(DeidError) as undecided:
        newest(site)
    assert undecided.value.code is Code.INPUT_EMPTY
    judged(site)
    start(site, 4)
    assert [it.number for it in newest(site)] == [1]


def test_a_round_that_does_not_say_what_it_was_drawn_with_does_not_count(site) -> None:
    start(site, 26)
    judged(site)
    table = pa.Table.from_pylist(site.store.rows(tables.REVIEW_ROUNDS, "1"), schema=tables.REVIEW_SCHEMA)
    site.store.write(tables.REVIEW_ROUNDS, "1", [table], meta=lambda: {"drawn_from": 30})
    with pytest.raises(DeidError) as old:
        newest(site)
    assert old.value.code is Code.INPUT_EMPTY


@pytest.mark.parametrize("told", [{"detector_digest": "e" * 32}, {"policy_digest": "e" * 32}])
def test_a_delivery_that_another_detector_or_policy_redacted_has_no_figures_of_a_release(site, told) -> None:
    delivered(site, **told)
    start(site, 30, source=Source(DELIVERY))
    assert DrawnWith.of_round(site.store, 1) is None


def test_whoever_chooses_the_notes_of_a_file_makes_no_figures_of_a_release(site, tmp_path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text('{"note_id": "a", "text": "Call 212-555-0147."}\n')
    start(site, 30, source=Source(path=path))
    assert DrawnWith.of_round(site.store, 1) is None
