"""Stages a delivery: its rows under keys and its withdrawals, which hide notes at once.

Belongs here: which rows are staged, under which keys, and when. Does not belong here: what is measured of them
(`measure.py`), or the way into the database (`warehouse/gate/staging.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from deid_platform.corpora.structured import PREFIX
from deid_platform.keys import package_digest
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.sealing import refuse_empty
from deid_platform.refresh.redact.structured_rows import structured_to_stage
from deid_platform.refresh.staging.findings import learn
from deid_platform.refresh.staging.marks import name_marked_notes
from deid_platform.refresh.staging.provenance import require_release
from deid_platform.store import Manifest
from deid_platform.warehouse.gate.promotion import hide, set_opt_outs
from deid_platform.warehouse.gate.staging import (
    Counts,
    Header,
    Inputs,
    Kind,
    Staged,
    StagedNote,
    StagedWithdrawal,
    Status,
    stage,
)
from deid_platform.warehouse.server.roles import Role


def stage_withdrawals(site: Site, delivery: Delivery, *, run_id: str) -> int:
    """Lets a delivery's withdrawals, and the opt-outs of today, take effect at once.

    What readers reported is learned first, so that every later step knows of it. Withdrawals wait for no detector, no
    bench and no gate. A patient who rejoins waits for the gate, as what it shows does.

    Returns:
        How many notes and patients the delivery withdraws.
    """
    learn(site)
    hide_opted_out(site)
    gone = [item for item in withdrawals_of(site, delivery) if item.kind is not Kind.REJOINED]
    if gone:
        header = _header(site, delivery, run_id, Counts(withdrawn=len(gone)), inputs=Inputs.TEXT)
        _stage(site, delivery, (), header, gone)
    return len(gone)


def hide_opted_out(site: Site) -> int:
    """Brings the warehouse's list of opted-out patients to what the site's list says now.

    Returns:
        How many keys were added or removed.
    """
    patients = site.exclusions.opted_out()
    keys = {ring.key_id: [ring.key("patient", patient) for patient in patients] for ring in site.keyrings}
    return set_opt_outs(site.warehouse.engine(Role.LOADER), site.warehouse.engine(Role.PROMOTER), keys)


def stage_delivery(site: Site, delivery: Delivery, *, run_id: str) -> Staged:
    """Stages a delivery's clean rows, and its quarantined ones without text, beside what it withdraws.

    What is quarantined, withdrawn or corrected is hidden at once. Which notes reviewers marked is told the warehouse
    before: after a change of the secret they have other keys.

    Raises:
        DeidError: `not-materialized` if settings, decisions on quarantined notes or later rows of their patients
            changed what the rows are made by;
            `feed-not-demonstration` where the embedded server must not hold this feed; `feed-empty` where
            no row of the delivery could be read; whatever `name_marked_notes` and `warehouse.staging.stage` raise.
    """
    refuse_empty(site.store, delivery)
    manifest = require_release(site, delivery)
    name_marked_notes(site)
    withdrawals = withdrawals_of(site, delivery)
    # Twice over the rows, so that a delivery of any size streams through.
    counts = _statuses(site, delivery, manifest)
    kinds = Counter(item.kind for item in withdrawals)
    announced = Counts(
        clean=counts[Status.CLEAN],
        quarantined=counts[Status.QUARANTINED],
        withdrawn=kinds[Kind.NOTE] + kinds[Kind.PATIENT],
        rejoined=kinds[Kind.REJOINED],
    )
    header = _header(site, delivery, run_id, announced, inputs=Inputs(manifest.meta["inputs"]))
    made_from = staged_from(site, delivery)
    staged = _stage(site, delivery, staged_rows(site, delivery, manifest), header, withdrawals)
    meta = {
        "made_from": made_from,
        "staged_digest": staged.staged_digest,
        "measured_by": measured_by(site, delivery),
    }
    site.store.write(tables.STAGED, delivery.key, [], meta=lambda: meta)
    return staged


def staged_from(site: Site, delivery: Delivery) -> str:
    """A keyed digest of the store's content that a delivery is staged from."""
    manifests = [site.store.required(name, delivery.key) for name in (tables.REDACTED_NOTES, tables.WITHDRAWALS)]
    manifests += filter(None, [site.store.manifest(tables.REDACTED_STRUCTURED, delivery.key)])
    return site.keyring.digest(*(digest for m in manifests for digest in (m.dataset, *(p.digest for p in m.parts))))


def measured_by(site: Site, delivery: Delivery) -> str:
    """A keyed digest of what a delivery that is staged is measured by: code, profile, thresholds, gold of its feed."""
    thresholds, bench = site.settings.thresholds.model_dump_json(), site.settings.bench.model_dump_json()
    code = package_digest("deid_platform")
    return site.keyring.digest(code, site.settings.profile, thresholds, bench, site.gold_files(delivery.feed))


def _stage(
    site: Site, delivery: Delivery, rows: Iterable[StagedNote], header: Header, withdrawals: Iterable[StagedWithdrawal]
) -> Staged:
    site.accept(delivery.feed)
    staged = stage(site.warehouse.engine(Role.LOADER), delivery, rows, header, withdrawals=withdrawals)
    hide(site.warehouse.engine(Role.PROMOTER), delivery)
    return staged


def _header(site: Site, delivery: Delivery, run_id: str, announced: Counts, *, inputs: Inputs) -> Header:
    return Header(
        release=site.release,
        detector=site.settings.detection.detector,
        detector_digest=site.spec(None).detector_digest,
        policy=site.policy.name,
        limited=site.policy.limited,
        # Two shifts of one patient tell of each other: never both under one secret.
        dates="given" if site.settings.redaction.offsets is not None else site.policy.dates.value,
        policy_digest=site.policy.digest,
        key_id=site.keyring.key_id,
        inputs=inputs,
        run_id=run_id,
        announced=announced,
        demonstration=site.feed(delivery.feed).demonstration,
    )


def withdrawals_of(site: Site, delivery: Delivery) -> list[StagedWithdrawal]:
    """What a delivery withdraws, and who rejoins and is not withdrawn again, under every key that is in use."""
    gone: dict[Kind, set[str]] = {kind: set() for kind in Kind}
    for row in site.store.rows(tables.WITHDRAWALS, delivery.key):
        if row["note_id"] is not None:
            gone[Kind.NOTE].add(row["note_id"])
        if row["patient_id"] is not None:
            gone[Kind.REJOINED if row.get("rejoined") else Kind.PATIENT].add(row["patient_id"])
    gone[Kind.REJOINED] -= gone[Kind.PATIENT]

    def keys(kind: Kind, source_id: str) -> tuple[str, ...]:
        if kind is Kind.NOTE:
            return site.note_keys(delivery.feed, source_id)
        return tuple(ring.key("patient", source_id) for ring in site.keyrings)

    every = ((kind, keys(kind, source_id)) for kind, ids in gone.items() for source_id in sorted(ids))
    return [StagedWithdrawal(kind, key, tuple(former)) for kind, (key, *former) in every]


def _withdrawn_notes(site: Site, delivery: Delivery) -> set[str]:
    rows = site.store.rows(tables.WITHDRAWALS, delivery.key)
    return {row["note_id"] for row in rows if row["note_id"] is not None}


def _statuses(site: Site, delivery: Delivery, manifest: Manifest) -> Counter[Status]:
    """How many notes, and rows of tables beside them, of each status `staged_rows` gives."""
    withdrawn = _withdrawn_notes(site, delivery)
    counts: Counter[Status] = Counter()
    for table in site.store.read(tables.REDACTED_NOTES, delivery.key):
        about = zip(table["note_id"].to_pylist(), table["status"].to_pylist(), strict=True)
        counts.update(Status(status) for note_id, status in about if note_id not in withdrawn)
    beside = structured_to_stage(site.store, delivery, manifest)
    counts.update(Status(row["status"]) for row in beside if row["note_id"] not in withdrawn)
    return counts


def staged_rows(site: Site, delivery: Delivery, manifest: Manifest) -> Iterator[StagedNote]:
    """The notes that are staged of a delivery, and the rows of tables beside them, which have a type of their own.

    One that arrives and is withdrawn in one delivery is withdrawn.
    """

    def key(kind: str, source_id: str | None) -> str | None:
        return None if source_id is None else site.keyring.key(kind, source_id)

    def staged(row: Mapping[str, Any]) -> StagedNote:
        note_key, *former_keys = site.note_keys(delivery.feed, row["note_id"])
        return StagedNote(
            note_key=note_key,
            status=Status(row["status"]),
            text=row["text"],
            content_digest=row["content_digest"],
            dictionary_digest=digest,
            patient_key=key("patient", row["patient_id"]),
            # A row of a table beside the notes has neither these nor a date.
            provider_key=key("provider", row.get("provider_id")),
            encounter_key=key("encounter", row.get("encounter_id")),
            site=site.settings.site,
            note_type=PREFIX + row["table"] if "table" in row else row["note_type"],
            note_year=row.get("note_year"),
            shifted_date=row.get("shifted_date"),
            shift_key=row.get("shift_key"),
            language=row.get("language"),
            former_keys=tuple(former_keys),
        )

    digest = manifest.meta["dictionary_digest"]
    withdrawn = _withdrawn_notes(site, delivery)
    notes = site.store.stream(tables.REDACTED_NOTES, delivery.key)
    for row in chain(notes, structured_to_stage(site.store, delivery, manifest)):
        if row["note_id"] not in withdrawn:
            yield staged(row)
