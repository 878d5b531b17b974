"""From redacted rows to the warehouse: staging, the gate's measurements, promotion.

Belongs here: which rows are offered, and which figures go to the gate for them. Does not belong here: the
decision, which is the database's own (`warehouse/migrations/sql`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.leaks import find_leaks
from deid_platform.notes import Delivery, Note
from deid_platform.refresh import tables
from deid_platform.refresh.deidentify import CLEAN, OTHER_TYPE
from deid_platform.refresh.intake import files_digest, topics_as_of
from deid_platform.refresh.site import Site
from deid_platform.store import Manifest
from deid_platform.warehouse.expectations import ExpectationOutcome, validate_staged
from deid_platform.warehouse.ledger import GateRow, record_gate
from deid_platform.warehouse.promotion import Promotion, activate_release, hide, promote
from deid_platform.warehouse.queries import DeliverySummary, gate_state, summary
from deid_platform.warehouse.roles import Role
from deid_platform.warehouse.staging import (
    Counts,
    Header,
    Inputs,
    Staged,
    StagedNote,
    Status,
    count_differences,
    stage,
    staged_now,
)


def stage_withdrawals(site: Site, delivery: Delivery, *, run_id: str) -> int:
    """Lets a delivery's withdrawals take effect at once: they wait for no detector, no bench and no gate.

    Returns:
        How many notes and patients the delivery withdraws.
    """
    notes, patients = _withdrawals(site, delivery)
    if notes or patients:
        digest = site.keyring.digest("withdrawals alone")
        header = _header(site, delivery, run_id, Counts(0, 0, len(notes), len(patients)), inputs=Inputs.TEXT)
        _stage(site, delivery, _tombstones(site, delivery, notes, digest), header, patients)
    return len(notes) + len(patients)


def stage_delivery(site: Site, delivery: Delivery, *, run_id: str) -> Staged:
    """Stages a delivery's clean rows, and its quarantined and withdrawn ones as tombstones without text.

    The tombstones take effect at once.

    Raises:
        DeidError: `feed-not-demonstration` where the embedded server must not hold this feed; whatever
            `warehouse.staging.stage` raises.
    """
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    if manifest.meta["release"] != site.release:
        # Settings changed since these rows were made: they would be announced as what they are not.
        raise DeidError(Code.NOT_MATERIALIZED, f"{tables.REDACTED_NOTES}/{delivery.key}")
    notes, patients = _withdrawals(site, delivery)
    # Twice over the rows, so that a delivery of any size streams through.
    counts = Counter(row.status for row in _staged_rows(site, delivery, manifest, notes))
    announced = Counts(counts[Status.CLEAN], counts[Status.QUARANTINED], counts[Status.WITHDRAWN], len(patients))
    header = _header(site, delivery, run_id, announced, inputs=Inputs(manifest.meta["inputs"]))
    return _stage(site, delivery, _staged_rows(site, delivery, manifest, notes), header, patients)


def _stage(
    site: Site, delivery: Delivery, rows: Iterable[StagedNote], header: Header, patients: Iterable[str]
) -> Staged:
    site.warehouse.accept(
        delivery.feed,
        demonstration=header.demonstration,
        allow_real=site.settings.warehouse.allow_real_notes_on_embedded,
    )
    keys = [site.keyring.key("patient", patient) for patient in patients]
    staged = stage(site.warehouse.engine(Role.LOADER), delivery, rows, header, withdrawn_patients=keys)
    hide(site.warehouse.engine(Role.PROMOTER), delivery)
    return staged


def _header(site: Site, delivery: Delivery, run_id: str, announced: Counts, *, inputs: Inputs) -> Header:
    return Header(
        release=site.release,
        detector_digest=site.spec(None).detector_digest,
        policy_digest=site.policy.digest,
        key_id=site.keyring.key_id,
        inputs=inputs,
        run_id=run_id,
        announced=announced,
        demonstration=site.feed(delivery.feed).demonstration,
    )


def _withdrawals(site: Site, delivery: Delivery) -> tuple[list[str], list[str]]:
    """Ids of the notes and of the patients that a delivery withdraws."""
    rows = site.store.rows(tables.WITHDRAWALS, delivery.key)
    notes = {row["note_id"] for row in rows if row["note_id"] is not None}
    patients = {row["patient_id"] for row in rows if row["patient_id"] is not None}
    return sorted(notes), sorted(patients)


def _staged_rows(site: Site, delivery: Delivery, manifest: Manifest, withdrawn: Sequence[str]) -> Iterator[StagedNote]:
    """What is staged of a delivery. A note that arrives and is withdrawn in one delivery is withdrawn."""

    def key(kind: str, source_id: str | None) -> str | None:
        return None if source_id is None else site.keyring.key(kind, source_id)

    digest = manifest.meta["dictionary_digest"]
    gone = set(withdrawn)
    for row in site.store.stream(tables.REDACTED_NOTES, delivery.key):
        if row["note_id"] in gone:
            continue
        yield StagedNote(
            note_key=site.note_key(delivery.feed, row["note_id"]),
            status=Status(row["status"]),
            text=row["text"],
            content_digest=row["content_digest"],
            dictionary_digest=digest,
            patient_key=key("patient", row["patient_id"]),
            provider_key=key("provider", row["provider_id"]),
            encounter_key=key("encounter", row["encounter_id"]),
            site=site.settings.site,
            note_type=row["note_type"],
            note_year=row["note_year"],
            shifted_date=row["shifted_date"],
            language=row["language"],
        )
    yield from _tombstones(site, delivery, withdrawn, digest)


def _tombstones(site: Site, delivery: Delivery, notes: Sequence[str], dictionary_digest: str) -> Iterator[StagedNote]:
    for note_id in notes:
        yield StagedNote(
            note_key=site.note_key(delivery.feed, note_id),
            status=Status.WITHDRAWN,
            text=None,
            content_digest=site.keyring.digest("withdrawn", note_id),
            dictionary_digest=dictionary_digest,
            site=site.settings.site,
        )


def record_measurements(site: Site, staged: Staged) -> list[GateRow]:
    """Measures what is staged, short of the expectations, and writes the gate rows.

    Parity compares every staged row with the note store's, text and all, and every redacted row with the raw
    note that it was made from; leaks are then sought again in those same rows, since one from the cache was
    last checked by the code of its day. The bench's scores count for the detector and the inputs of this
    delivery alone, and gold for its own feed.
    """
    delivery = staged.delivery
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    notes, patients = _withdrawals(site, delivery)
    expected = _staged_rows(site, delivery, manifest, notes)
    different = count_differences(site.warehouse.engine(Role.GATEKEEPER), staged, expected, len(patients))
    leaks, checked, mismatched = _count_leaks(site, delivery)
    rows = [
        GateRow(
            "parity",
            not different and not mismatched,
            {"staged": staged.counts.notes, "different": different, "mismatched": mismatched},
        ),
        GateRow("leaks", leaks == 0, {"notes": checked, "leaks": leaks}),
        _topics_row(manifest, site.settings.thresholds.min_roster_share),
        *_bench_rows(site, delivery, manifest),
    ]
    _record(site, staged, rows, manifest)
    return rows


def _count_leaks(site: Site, delivery: Delivery) -> tuple[int, int, int]:
    """Notes that leak, notes checked, and rows that do not belong to the raw note in their place."""
    topics = topics_as_of(site.store, delivery)
    leaks = checked = mismatched = 0
    raw = site.store.stream(tables.RAW_NOTES, delivery.key)
    redacted = site.store.stream(tables.REDACTED_NOTES, delivery.key)
    for before, after in zip_longest(raw, redacted):
        if before is None or after is None or before["content_digest"] != after["content_digest"]:
            mismatched += 1
        elif after["status"] == CLEAN:
            note = tables.from_row(Note, before)
            known_as = topics.patients_known_as(note.patient_id)
            checked += 1
            leaks += bool(find_leaks(note, known_as, after["text"], tables.spans_of(after["spans"])))
    return leaks, checked, mismatched


def _topics_row(manifest: Manifest, least: float) -> GateRow:
    counts = manifest.meta["counts"]
    measured = {"notes": manifest.rows, "with_roster": counts.get("with_roster", 0), "least_share": least}
    return GateRow("topics", manifest.meta["inputs"] == "topics", measured)


def _bench_rows(site: Site, delivery: Delivery, manifest: Manifest) -> list[GateRow]:
    """The bench's verdict on this delivery's detector and inputs; an unmeasured detector has not passed."""
    metrics = site.store.manifest(tables.METRICS, tables.ALL)
    if metrics is None or metrics.meta["detector_digest"] != manifest.meta["detector_digest"]:
        return []
    thresholds = site.settings.thresholds
    scores: dict[str, dict[str, float | None]] = metrics.meta["headline"][manifest.meta["inputs"]]
    # The lower end of recall's interval must reach the threshold: a small bench must not pass by luck.
    demands = [
        (scores["recall"]["low"], thresholds.min_recall),
        (scores["precision"]["value"], thresholds.min_precision),
        (scores["clinical_retention"]["value"], thresholds.min_clinical_retention),
    ]
    passed = all(value is not None and value >= least for value, least in demands)
    own = int(metrics.meta["gold_by_feed"].get(delivery.feed, 0))
    least = site.settings.bench.minimum_gold
    return [
        GateRow("bench", passed, {**scores, "thresholds": thresholds.model_dump()}),
        GateRow("site_gold", own >= least, {"notes": own, "least": least}),
    ]


def record_expectations(site: Site, delivery: Delivery) -> list[ExpectationOutcome]:
    """Runs the expectation suite over what is staged now and writes its gate row."""
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    staged = staged_now(gatekeeper, delivery)
    outcomes = validate_staged(gatekeeper, staged, note_types=(*site.feed(delivery.feed).note_types, OTHER_TYPE))
    failed = sum(not outcome.passed for outcome in outcomes)
    row = GateRow("expectations", bool(outcomes) and not failed, {"expectations": len(outcomes), "failed": failed})
    _record(site, staged, [row], manifest)
    return outcomes


def _record(site: Site, staged: Staged, rows: Sequence[GateRow], manifest: Manifest) -> None:
    record_gate(
        site.warehouse.engine(Role.GATEKEEPER),
        staged,
        rows,
        detector_digest=manifest.meta["detector_digest"],
        inputs=Inputs(manifest.meta["inputs"]),
        profile=site.settings.profile,
    )


def gate_states(site: Site, delivery: Delivery) -> dict[str, str]:
    """How each requirement of the active profile stands for what is staged."""
    return gate_state(site.warehouse.engine(Role.OFFICER), delivery)


def promote_delivery(site: Site, delivery: Delivery) -> Promotion:
    """Asks the gate.

    Raises:
        DeidError: `gate-refused` with the requirements that are not met.
    """
    return promote(site.warehouse.engine(Role.PROMOTER), delivery)


def activate(site: Site, delivery: Delivery) -> bool:
    """Lets analysts see the delivery's release as soon as it holds all that the active one holds.

    Returns:
        Whether that release is the one that analysts see now. A new release waits until every delivery of
        the old one has been promoted in it: never a mixture.
    """
    release = site.store.required(tables.REDACTED_NOTES, delivery.key).meta["release"]
    try:
        activate_release(site.warehouse.engine(Role.PROMOTER), release)
    except DeidError as error:
        if error.code is Code.RELEASE_CONFLICT:
            return False
        raise
    return True


def pending(site: Site, deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Those deliveries that research does not hold as they stand, in the order given.

    A delivery is held if its files are those that were taken in, its rows were made by the recipe of today
    (detector, topics, policy, key, note types), and it is promoted with nothing missing under the profile of
    today.
    """
    state = {held.delivery: held for held in summary(site.warehouse.engine(Role.OFFICER)).deliveries}
    return [delivery for delivery in deliveries if not _is_held(site, delivery, state.get(delivery.key))]


def _is_held(site: Site, delivery: Delivery, held: DeliverySummary | None) -> bool:
    raw = site.store.manifest(tables.RAW_NOTES, delivery.key)
    redacted = site.store.manifest(tables.REDACTED_NOTES, delivery.key)
    if held is None or raw is None or redacted is None:
        return False
    if (held.state, held.release, held.missing) != ("promoted", site.release, ()):
        return False
    if raw.meta["files"] != files_digest(site.reader(delivery.feed), delivery, site.keyring):
        return False
    return bool(redacted.meta["recipe"] == site.recipe(delivery).digest)
