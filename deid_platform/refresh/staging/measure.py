"""What is measured of a delivery that is staged: its gate rows.

Belongs here: which figures go to the gate, and what they are compared with. Does not belong here: the decision,
which is the database's own (`warehouse/migrations/code`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import zip_longest

from deid_platform.corpora.structured import PREFIX
from deid_platform.errors import Code
from deid_platform.leakcheck import Released
from deid_platform.notes import Delivery, Note
from deid_platform.redaction.indirect import with_indirect
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.reported import newest_known
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.sealing import withdrawals_lost
from deid_platform.refresh.recipe.judged import measurements
from deid_platform.refresh.recipe.languages import languages_row
from deid_platform.refresh.redact.delivery import CLEAN, KNOWN
from deid_platform.refresh.redact.structured_rows import structured_leaks
from deid_platform.refresh.staging import detector_in_force
from deid_platform.refresh.staging.stage import staged_rows, withdrawals_of
from deid_platform.store import Manifest
from deid_platform.warehouse.gate.expectations import ExpectationOutcome, validate_staged
from deid_platform.warehouse.gate.ledger import GateRow, record_gate
from deid_platform.warehouse.gate.staging import Inputs, Staged, count_differences, staged_now
from deid_platform.warehouse.server.roles import Role


def record_measurements(site: Site, staged: Staged) -> list[GateRow]:
    """Measures what is staged, short of the expectations, and writes the gate rows.

    Parity compares every staged row with the note store's, text and all, and every redacted row with the raw
    note that it was made from. It fails too where a row of the delivery's withdrawals or rejoinings was lost: somebody
    asked to leave, and nobody knows who. Leaks are then sought again in those same rows, since one from the cache was
    last checked by the code of its day. The bench's scores count for the detector and the inputs of this
    delivery alone, and gold for its own feed.
    """
    delivery = staged.delivery
    # Read first: what is reported while this measures, this does not know of.
    known = newest_known(site.store)
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    expected = staged_rows(site, delivery, manifest)
    withdrawals = withdrawals_of(site, delivery)
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
        *filter(None, [languages_row(site.settings, site.measured_languages(manifest.meta["inputs"]), manifest)]),
    ]
    _record(site, staged, rows, manifest, known)
    return rows


def _count_leaks(site: Site, delivery: Delivery) -> tuple[int, int, int]:
    """Notes that leak, notes checked, and rows that do not belong to the raw note in their place; tables included."""
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
                offset=recipe.offset(note.patient_id),
            )
            applied = tables.spans_of(after["spans"])
            checked += 1
            lengths = after["lengths"]
            found = tables.indirect_of(after.get("indirect"))
            text = with_indirect(note.text, after["text"], applied, lengths, found, recipe.policy)
            leaks += text is None or bool(
                recipe.leak_check.check(note, recipe.patients(note), text, applied, shown, lengths=lengths)
            )
    beside = structured_leaks(site.store, delivery, recipe, site.store.required(tables.REDACTED_NOTES, delivery.key))
    return leaks + beside[0], checked + beside[1], mismatched + beside[2]


def _topics_row(manifest: Manifest, least: float) -> GateRow:
    counts = manifest.meta["counts"]
    shares = {what: counts.get(what, 0) for what in KNOWN}
    measured = {"notes": manifest.rows, **shares, "least_share": least}
    return GateRow("topics", manifest.meta["inputs"] == "topics", measured)


def _bench_rows(site: Site, delivery: Delivery, manifest: Manifest) -> list[GateRow]:
    """The bench's verdict on this delivery's detector and inputs; an unmeasured detector has not passed.

    Judged is what was measured on the gold that comes first: a site's own, else the library's whole notes; what a
    program wrote is shown beside it. Another detector than the one in force is also compared with that one, where both
    were measured on the same notes.
    """
    every = measurements(site.store)
    metrics = every[0] if every else None
    # A measurement without a look is of before looks were counted.
    if (
        metrics is None
        or metrics.meta["detector_digest"] != manifest.meta["detector_digest"]
        or "look" not in metrics.meta
    ):
        return []
    thresholds = site.settings.thresholds
    scores: dict[str, dict[str, float | None]] = metrics.meta["headline"][manifest.meta["inputs"]]
    # The lower end of recall's interval must reach the threshold: a small bench must not pass by luck. A word of which
    # a letter is left counts as missed. A measurement of before that was counted has not passed.
    demands = [
        (scores.get("recall_conservative", {}).get("low"), thresholds.min_recall),
        (scores["precision"]["value"], thresholds.min_precision),
        (scores.get("words_kept", {}).get("value"), thresholds.min_clinical_retention),
    ]
    passed = all(value is not None and value >= least for value, least in demands)
    against = detector_in_force.compared(site, metrics, manifest.meta["inputs"])
    # Of the look the database knows where the figures are from.
    figures: dict[str, object] = {**scores, "thresholds": thresholds.model_dump(), "look": metrics.meta["look"]}
    if against is not None:
        figures["against_former"] = asdict(against)
    own = sum(int(it.meta["gold_by_feed"].get(delivery.feed, 0)) for it in every if _of_today(it, metrics))
    least = site.settings.bench.minimum_gold
    return [
        GateRow("bench", passed and detector_in_force.holds(site, against), figures),
        GateRow("site_gold", own >= least, {"notes": own, "least": least}),
    ]


def _of_today(measured: Manifest, judged: Manifest) -> bool:
    return bool(measured.meta["detector_digest"] == judged.meta["detector_digest"])


def record_expectations(site: Site, delivery: Delivery) -> list[ExpectationOutcome]:
    """Runs the expectation suite over what is staged now and writes its gate row."""
    known = newest_known(site.store)
    manifest = site.store.required(tables.REDACTED_NOTES, delivery.key)
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    staged = staged_now(gatekeeper, delivery)
    outcomes = validate_staged(
        gatekeeper,
        staged,
        note_types=site.feed(delivery.feed).note_types,
        offsets=site.settings.redaction.offsets is not None,
        row_types=[PREFIX + table for table in site.feed(delivery.feed).structured],
        policy=site.policy,
        thresholds=site.settings.thresholds,
        unmeasured=manifest.meta["reasons"].get(Code.LANGUAGE_UNMEASURED.slug, 0),
    )
    failed = sum(outcome.refuses for outcome in outcomes)
    warned = sum(not outcome.passed for outcome in outcomes) - failed
    measured = {"expectations": len(outcomes), "failed": failed, "warned": warned}
    row = GateRow("expectations", bool(outcomes) and not failed, measured)
    _record(site, staged, [row], manifest, known)
    return outcomes


def _record(site: Site, staged: Staged, rows: Sequence[GateRow], manifest: Manifest, known: int) -> None:
    record_gate(
        site.warehouse.engine(Role.GATEKEEPER),
        staged,
        rows,
        detector_digest=manifest.meta["detector_digest"],
        inputs=Inputs(manifest.meta["inputs"]),
        profile=site.settings.profile,
        known=known,
    )
