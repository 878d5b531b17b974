"""From redacted rows to the warehouse: staging, the gate's measurements, promotion.

Belongs here: which rows are offered, and which figures go to the gate for them. Does not belong here: the
decision, which is the database's own (`warehouse/migrations/sql`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from deid_platform.corpora.exclusions import Exclusions
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.leaks import Released
from deid_platform.notes import Delivery, Note
from deid_platform.refresh import tables
from deid_platform.refresh.deidentify import CLEAN
from deid_platform.refresh.intake import files_digest, refuse_empty, withdrawals_lost
from deid_platform.refresh.site import Site
from deid_platform.store import Manifest
from deid_platform.warehouse.expectations import ExpectationOutcome, validate_staged
from deid_platform.warehouse.ledger import GateRow, record_gate
from deid_platform.warehouse.promotion import Promotion, hide, promote, set_opt_outs
from deid_platform.warehouse.queries import DeliverySummary, gate_state, summary
from deid_platform.warehouse.releases import activate_release, expire_releases
from deid_platform.warehouse.roles import Role
from deid_platform.warehouse.staging import (
    Counts,
    Header,
    Inputs,
    Kind,
    Staged,
    StagedNote,
    StagedWithdrawal,
    Status,
    count_differences,
    stage,
    staged_now,
)


def stage_withdrawals(site: Site, delivery: Delivery, *, run_id: str) -> int:
    """Lets a delivery's withdrawals, and the opt-outs of today, take effect at once.

    They wait for no detector, no bench and no gate. A patient who rejoins waits for the gate, as what it shows does.

    Returns:
        How many notes and patients the delivery withdraws.
    """
    hide_opted_out(site)
    gone = [item for item in _withdrawals(site, delivery) if item.kind is not Kind.REJOINED]
    if gone:
        header = _header(site, delivery, run_id, Counts(withdrawn=len(gone)), inputs=Inputs.TEXT)
        _stage(site, delivery, (), header, gone)
    return len(gone)


def hide_opted_out(site: Site) -> int:
    """Brings the warehouse's list of opted-out patients to what the site's list says now.

    Returns:
        How many keys were added or removed.
    """
    keys = [ring.key("patient", patient) for patient in site.exclusions.opted_out() for ring in site.keyrings]
    return set_opt_outs(site.warehouse.engine(Role.PROMOTER), keys)


def stage_delivery(site: Site, delivery: Delivery, *, run_id: str) -> Staged:
    """Stages a delivery's clean rows, and its quarantined ones without text, beside what it withdraws.

    What is quarantined, withdrawn or corrected is hidden at once.

    Raises:
        DeidError: `feed-not-demonstration` where the embedded server must not hold this feed; `feed-empty` where
            no row of the delivery could be read; whatever `warehouse.staging.stage` raises.
    """
    refuse_empty(site.store, delivery)
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    if manifest.meta["release"] != site.release:
        # Settings changed since these rows were made: they would be announced as what they are not.
        raise DeidError(Code.NOT_MATERIALIZED, f"{tables.REDACTED_NOTES}/{delivery.key}")
    withdrawals = _withdrawals(site, delivery)
    # Twice over the rows, so that a delivery of any size streams through.
    counts = Counter(row.status for row in _staged_rows(site, delivery, manifest))
    kinds = Counter(item.kind for item in withdrawals)
    announced = Counts(
        clean=counts[Status.CLEAN],
        quarantined=counts[Status.QUARANTINED],
        withdrawn=kinds[Kind.NOTE] + kinds[Kind.PATIENT],
        rejoined=kinds[Kind.REJOINED],
    )
    header = _header(site, delivery, run_id, announced, inputs=Inputs(manifest.meta["inputs"]))
    made_from = _offered(site, delivery)
    staged = _stage(site, delivery, _staged_rows(site, delivery, manifest), header, withdrawals)
    meta = {"made_from": made_from, "staged_digest": staged.staged_digest}
    site.store.write(tables.STAGED, delivery.key, [], meta=lambda: meta)
    return staged


def _offered(site: Site, delivery: Delivery) -> str:
    """A keyed digest of the store's content that a delivery is staged from."""
    manifests = (site.store.required(name, delivery.key) for name in (tables.REDACTED_NOTES, tables.WITHDRAWALS))
    return site.keyring.digest(*(digest for m in manifests for digest in (m.dataset, *(p.digest for p in m.parts))))


def _stage(
    site: Site, delivery: Delivery, rows: Iterable[StagedNote], header: Header, withdrawals: Iterable[StagedWithdrawal]
) -> Staged:
    site.warehouse.accept(
        delivery.feed,
        demonstration=header.demonstration,
        allow_real=site.settings.warehouse.allow_real_notes_on_embedded,
    )
    staged = stage(site.warehouse.engine(Role.LOADER), delivery, rows, header, withdrawals=withdrawals)
    hide(site.warehouse.engine(Role.PROMOTER), delivery)
    return staged


def _header(site: Site, delivery: Delivery, run_id: str, announced: Counts, *, inputs: Inputs) -> Header:
    return Header(
        release=site.release,
        detector=site.settings.detection.detector,
        detector_digest=site.spec(None).detector_digest,
        policy=site.policy.name,
        policy_digest=site.policy.digest,
        key_id=site.keyring.key_id,
        inputs=inputs,
        run_id=run_id,
        announced=announced,
        demonstration=site.feed(delivery.feed).demonstration,
    )


def _withdrawals(site: Site, delivery: Delivery) -> list[StagedWithdrawal]:
    """What a delivery withdraws, and who rejoins and is not withdrawn again, under every key that is in use."""
    gone = {Kind.NOTE: _withdrawn_notes(site, delivery), Kind.PATIENT: set[str](), Kind.REJOINED: set[str]()}
    for row in site.store.rows(tables.WITHDRAWALS, delivery.key):
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


def _staged_rows(site: Site, delivery: Delivery, manifest: Manifest) -> Iterator[StagedNote]:
    """The notes that are staged of a delivery. One that arrives and is withdrawn in one delivery is withdrawn."""

    def key(kind: str, source_id: str | None) -> str | None:
        return None if source_id is None else site.keyring.key(kind, source_id)

    digest = manifest.meta["dictionary_digest"]
    withdrawn = _withdrawn_notes(site, delivery)
    for row in site.store.stream(tables.REDACTED_NOTES, delivery.key):
        if row["note_id"] in withdrawn:
            continue
        note_key, *former_keys = site.note_keys(delivery.feed, row["note_id"])
        yield StagedNote(
            note_key=note_key,
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
            former_keys=tuple(former_keys),
        )


def record_measurements(site: Site, staged: Staged) -> list[GateRow]:
    """Measures what is staged, short of the expectations, and writes the gate rows.

    Parity compares every staged row with the note store's, text and all, and every redacted row with the raw
    note that it was made from. It fails too where a row of the delivery's withdrawals or rejoinings was lost: somebody
    asked to leave, and nobody knows who. Leaks are then sought again in those same rows, since one from the cache was
    last checked by the code of its day. The bench's scores count for the detector and the inputs of this
    delivery alone, and gold for its own feed.
    """
    delivery = staged.delivery
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    expected = _staged_rows(site, delivery, manifest)
    withdrawals = _withdrawals(site, delivery)
    different = count_differences(site.warehouse.engine(Role.GATEKEEPER), staged, expected, withdrawals)
    leaks, checked, mismatched = _count_leaks(site, delivery)
    lost = withdrawals_lost(site.store, delivery)
    parity = {
        "staged": staged.counts.notes,
        "different": different,
        "mismatched": mismatched,
        "withdrawals_lost": lost,
    }
    rows = [
        GateRow("parity", not (different or mismatched or lost), parity),
        GateRow("leaks", leaks == 0, {"notes": checked, "leaks": leaks}),
        _topics_row(manifest, site.settings.thresholds.min_roster_share),
        *_bench_rows(site, delivery, manifest),
    ]
    _record(site, staged, rows, manifest)
    return rows


def _count_leaks(site: Site, delivery: Delivery) -> tuple[int, int, int]:
    """Notes that leak, notes checked, and rows that do not belong to the raw note in their place."""
    recipe = site.recipe(delivery)
    leaks = checked = mismatched = 0
    raw = site.store.stream(tables.RAW_NOTES, delivery.key)
    redacted = site.store.stream(tables.REDACTED_NOTES, delivery.key)
    for before, after in zip_longest(raw, redacted):
        if before is None or after is None or before["content_digest"] != after["content_digest"]:
            mismatched += 1
        elif after["status"] == CLEAN:
            note = tables.from_row(Note, before)
            ids = (("patient", note.patient_id), ("provider", note.provider_id), ("encounter", note.encounter_id))
            shown = Released(
                note_type=after["note_type"],
                language=after["language"],
                note_year=after["note_year"],
                shifted_date=after["shifted_date"],
                site=site.settings.site,
                keys=(
                    site.note_key(delivery.feed, note.note_id),
                    *(site.keyring.key(kind, i) for kind, i in ids if i is not None),
                ),
            )
            applied = tables.spans_of(after["spans"])
            checked += 1
            leaks += bool(recipe.leak_check.check(note, recipe.patients(note), after["text"], applied, shown))
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
    outcomes = validate_staged(
        gatekeeper,
        staged,
        note_types=site.feed(delivery.feed).note_types,
        policy=site.policy,
        thresholds=site.settings.thresholds,
    )
    failed = sum(outcome.refuses for outcome in outcomes)
    warned = sum(not outcome.passed for outcome in outcomes) - failed
    measured = {"expectations": len(outcomes), "failed": failed, "warned": warned}
    row = GateRow("expectations", bool(outcomes) and not failed, measured)
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
        the old one has been promoted in it: never a mixture. One that a person withheld is not shown again.
    """
    release = site.store.required(tables.REDACTED_NOTES, delivery.key).meta["release"]
    try:
        activate_release(site.warehouse.engine(Role.PROMOTER), release)
    except DeidError as error:
        if error.code is Code.RELEASE_CONFLICT:
            return False
        raise
    return True


def expire(site: Site) -> tuple[str, ...]:
    """Forgets releases that analysts no longer see and that the settings do not ask to keep."""
    kept = site.settings.releases
    return expire_releases(site.warehouse.engine(Role.PROMOTER), keep=kept.keep, days=kept.keep_days)


def pending(site: Site, deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Those deliveries that research does not hold as they stand, in the order given.

    A delivery is held if it is promoted with nothing missing under the profile of today, and every link from its
    files to research is whole: they are the files that were taken in, its rows were made of what was taken in and by
    the recipe of today (detector, topics, policy, key, note types), and those rows are what was staged and promoted.
    A run may have been killed between any two of these.

    Raises:
        DeidError: `opt-outs-unreadable`; `warehouse-not-ready` or `warehouse-unreachable`.
    """
    exclusions = site.exclusions
    state = {held.delivery: held for held in summary(site.warehouse.engine(Role.OFFICER)).deliveries}
    return [each for each in deliveries if not _is_held(site, each, state.get(each.key), exclusions)]


def _is_held(site: Site, delivery: Delivery, held: DeliverySummary | None, exclusions: Exclusions) -> bool:
    raw = site.store.manifest(tables.RAW_NOTES, delivery.key)
    redacted = site.store.manifest(tables.REDACTED_NOTES, delivery.key)
    staged = site.store.manifest(tables.STAGED, delivery.key)
    if held is None or raw is None or redacted is None or staged is None:
        return False
    if (held.state, held.release, held.missing) != ("promoted", site.release, ()):
        return False
    if (held.published, _offered(site, delivery)) != (staged.meta["staged_digest"], staged.meta["made_from"]):
        return False
    files = files_digest(site.reader(delivery.feed), delivery, site.keyring, exclusions)
    if not files == raw.meta["files"] == redacted.meta.get("files"):
        return False
    return bool(redacted.meta["recipe"] == site.recipe(delivery).digest)
