"""Fixtures of a small feed, written by hand, so that each test says what arrives: of `refresh` and `bench`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest
from looks import looked

from deid_platform.bench.gate import measured_notes, scoring
from deid_platform.corpora.exclusions import Exclusions
from deid_platform.engine.engines import LocalEngine
from deid_platform.notes import Delivery
from deid_platform.refresh import publish
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.hiding.late_names import hide_named_since, redact_delivery
from deid_platform.refresh.installation.reported import newest_known
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake import sealing
from deid_platform.refresh.redact.delivery import deidentify
from deid_platform.refresh.staging import measure, stage
from deid_platform.settings import RedactionSettings, load_settings
from deid_platform.warehouse.gate.ledger import GateRow, record_gate
from deid_platform.warehouse.gate.promotion import Promotion
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.server.roles import Role

Rows = Iterable[Mapping[str, object]]
TYPE = "progress note"


def taken_in(site: Site, delivery: Delivery, exclusions: Exclusions | None = None) -> sealing.Intake:
    """Takes in topics, then notes, as the source assets do."""
    reader = site.reader(delivery.feed)
    for name in tables.TOPICS:
        sealing.take_in_topic(reader, delivery, name, store=site.store)
    return sealing.take_in_notes(
        reader, delivery, store=site.store, keyring=site.keyring, exclusions=exclusions or site.exclusions
    )


def measure_bench(site: Site) -> None:
    """The steps of the bench: test set, gold, detection, figures; of the site's gold, else the hospital's."""
    measured_notes.build_test_set(site)
    measured_notes.collect_gold(site)
    _measure(site, tables.OWN)


def measure_library(site: Site) -> None:
    """The same of the library's notes, of which a refresh measures too: for tests that are about them."""
    measured_notes.collect_library(site)
    _measure(site, tables.LIBRARY)


def _measure(site: Site, of: tables.BenchSet) -> None:
    scoring.run_detector(site, of)
    scoring.record(site, scoring.measure(site, of))


def seen(site: Site) -> set[str]:
    """The texts that analysts of the demonstration read."""
    with site.warehouse.begin(Role.DEMO_ANALYST) as connection:
        return set(connection.exec_driver_sql("SELECT text FROM research.notes").scalars())


@pytest.fixture(scope="module")
def site(installation: Path) -> Site:
    return Site(load_settings(installation))


@pytest.fixture(scope="module")
def shifting(site: Site) -> Site:
    """The installation, under the policy `surrogate`."""
    return Site(site.settings.model_copy(update={"redaction": RedactionSettings(policy="surrogate", date_order="mdy")}))


@pytest.fixture(scope="module")
def deliver(site: Site) -> Callable[..., Delivery]:
    """Writes one delivery folder of the `hospital` feed."""

    def write(
        watermark: str, *, notes: Rows = (), patients: Rows = (), withdrawn: Rows = (), rejoined: Rows = ()
    ) -> Delivery:
        folder = site.settings.path(site.feed("hospital").path) / watermark
        folder.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps({"note_type": TYPE, **row}) + "\n" for row in notes)
        (folder / "notes.jsonl").write_text("".join(lines), encoding="utf-8")
        tables = {"patients": list(patients), "withdrawn": list(withdrawn), "rejoined": list(rejoined)}
        for name, rows in tables.items():
            if rows:
                with (folder / f"{name}.csv").open("w", newline="") as stream:
                    table = csv.DictWriter(stream, fieldnames=sorted({column for row in rows for column in row}))
                    table.writeheader()
                    table.writerows(rows)
        return Delivery("hospital", watermark)

    return write


@pytest.fixture(scope="module")
def take_in(site: Site) -> Callable[..., sealing.Intake]:
    """As `taken_in`, at the site unless told otherwise."""

    def run(delivery: Delivery, exclusions: Exclusions | None = None, at: Site = site) -> sealing.Intake:
        return taken_in(at, delivery, exclusions)

    return run


@pytest.fixture(scope="module")
def redacted(site: Site) -> Callable[..., list[dict]]:
    """Runs detection, redaction and the leak check, and returns the rows."""

    def run(delivery: Delivery, engine: LocalEngine | None = None) -> list[dict]:
        deidentify(delivery, store=site.store, recipe=site.recipe(delivery), engine=engine or site.engine)
        return site.store.rows("deid/redacted_notes", delivery.key)

    return run


def promoted(site: Site, delivery: Delivery) -> None:
    """What follows detection, with measurements that pass as they are: for tests that are not about the bench."""
    staged = stage.stage_delivery(site, delivery, run_id="run-1")
    detector = site.spec(None).detector_digest
    looked(site.warehouse.engine(Role.GATEKEEPER), detector)
    record_gate(
        site.warehouse.engine(Role.GATEKEEPER),
        staged,
        [GateRow(requirement, True) for requirement in ("parity", "expectations", "leaks", "bench", "languages")],
        detector_digest=detector,
        inputs=Inputs(site.store.required(tables.REDACTED_NOTES, delivery.key).meta["inputs"]),
        profile="demo",
        known=newest_known(site.store),
    )
    publish.promote_delivery(site, delivery)
    publish.activate(site, delivery)


@pytest.fixture(scope="module")
def run(site: Site, take_in: Callable[..., sealing.Intake]) -> Callable[..., None]:
    """Runs a delivery through the gate, where need be at another opening of the site, without the bench."""

    def through(delivery: Delivery, at: Site = site) -> None:
        take_in(delivery, at=at)
        stage.stage_withdrawals(at, delivery, run_id="run-1")
        hide_named_since(at, delivery)
        redact_delivery(at, delivery)
        promoted(at, delivery)

    return through


@pytest.fixture(scope="module")
def through() -> Callable[[Delivery, Site], Promotion]:
    """Runs every step of the job for one delivery; the bench is measured once."""
    measured = False

    def run(delivery: Delivery, site: Site) -> Promotion:
        nonlocal measured
        taken_in(site, delivery)
        stage.stage_withdrawals(site, delivery, run_id="run-1")
        hide_named_since(site, delivery)
        redact_delivery(site, delivery)
        if not measured:
            measured = True
            measure_bench(site)
        measure.record_measurements(site, stage.stage_delivery(site, delivery, run_id="run-1"))
        measure.record_expectations(site, delivery)
        done = publish.promote_delivery(site, delivery)
        publish.activate(site, delivery)
        return done

    return run
