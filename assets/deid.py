"""Redacted notes: spans are replaced, and a note in which the leak check finds something is quarantined."""

from __future__ import annotations

import dagster as dg

from assets import shown
from assets.bench import metrics
from assets.dictionaries import institution, medical
from assets.layer import DELIVERIES, ENGINEERS, Counts, delivery_of, layer_asset
from assets.source import facilities, patients, providers, raw_notes
from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.dictionaries import record
from deid_platform.refresh.hiding.late_names import redact_delivery
from resources import Gpu, SiteResource

NOT_TAGGED = "not tagged"
_MADE_WITH = {
    "detector_digest": "the detector",
    "dictionary_digest": "its dictionaries",
    "policy_digest": "the policy",
    "key_id": "the key secret",
    "recipe": "all of these together",
    "files": "the delivery's files",
    "told": "what the patients' other notes say of them",
    "shifts": "how far dates are moved",
    "rulings": "what people decided about quarantined notes",
    "later": "rows of later deliveries that name a patient in these notes",
}
"""What rows were made with: a delivery is redacted again when one of these digests changes."""


@layer_asset(
    "deid/redacted_notes",
    owner=ENGINEERS,
    kinds={"parquet", "phi"},
    partitions=DELIVERIES,
    # Measured first: a note in a language that the detector was not measured in is quarantined.
    deps=[raw_notes, patients, providers, facilities, institution, medical, metrics],
    # Whoever puts a model on a GPU runs one of these at a time.
    pool="gpu",
    metadata=shown.columns(
        tables.REDACTED_SCHEMA,
        {"text": "the redacted text; empty where the note is quarantined"},
    ),
)
def redacted_notes(
    context: dg.AssetExecutionContext,
    site: SiteResource,
    gpu: dg.ResourceParam[Gpu],
) -> Counts:
    """Each note after detection, redaction and the leak check; a note on which one of them fails is quarantined."""
    it, delivery = site.using(gpu), delivery_of(context)
    looked_up = record.in_force(it, delivery)
    meta = dict(redact_delivery(it, delivery).meta)
    labels = sorted(meta["labels"].items(), key=lambda item: -item[1])
    counted, reused = meta["counts"], TemplateCounts(**meta["template_text"])
    return shown.counts(
        counted.get("clean", 0) + counted.get("quarantined", 0),
        clean=counted.get("clean", 0),
        quarantined=counted.get("quarantined", 0),
        quarantined_why=shown.table(("reason", "notes"), sorted(meta["reasons"].items())),
        taken_over_unchanged=counted.get("detected_before", 0),
        of_patients_with_last_name=counted.get("with_roster", 0),
        of_patients_with_birth_date=counted.get("with_birth_date", 0),
        of_patients_with_record_number=counted.get("with_number", 0),
        words=counted.get("words", 0),
        detection_seconds=meta["seconds"],
        template_text_share=round(reused.share, 4),
        template_text_seconds_saved=round(reused.seconds_saved, 2),
        spans_by_label=shown.table(("label", "spans"), labels),
        languages=shown.table(
            ("language", "clean", "withheld since nobody measured it"),
            [(code, it.get("clean", 0), it.get("withheld", 0)) for code, it in sorted(meta["languages"].items())],
        ),
        indirect_identifiers=shown.table(("category", "in released notes"), sorted((meta["indirect"] or {}).items()))
        if meta.get("indirect") is not None
        else NOT_TAGGED,
        release=meta["release"],
        policy=meta["policy"],
        detector_was_given=meta["inputs"],
        institution_dictionary=looked_up.institution,
        medical_dictionary=looked_up.medical,
        made_with=shown.table(("digest of", "is"), [(what, meta[name]) for name, what in _MADE_WITH.items()]),
    )


ASSETS = [redacted_notes]
