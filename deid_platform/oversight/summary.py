"""Gathers the release summary from the note store's manifests and the warehouse's control tables."""

from __future__ import annotations

from deid_platform.detection.rules.engine.templates import TemplateCounts
from deid_platform.evaluation.sources import Source
from deid_platform.notes import Delivery
from deid_platform.oversight.dossier import dossier_path
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.rotation import told_by_former
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.archive import under_way
from deid_platform.refresh.intake.sealing import withdrawals_stated
from deid_platform.refresh.recipe.judged import measurements
from deid_platform.reports.summary import DeliveryLine, ReleaseSummary, Scored
from deid_platform.warehouse.gate.queries import DeliverySummary, notes_shown, summary
from deid_platform.warehouse.officer.dossiers import newest_dossier, signed
from deid_platform.warehouse.officer.marks import open_marks
from deid_platform.warehouse.server.roles import Role

_BY_MAKE = {"query it": "make psql (as the analyst: select * from research.notes)", "browse lineage": "make ui"}
_BY_COMMAND = {
    "query it": "deid db psql (as the analyst: select * from research.notes)",
    "browse lineage": "deid ui",
}
# Nobody reads by themselves there: a reader has a login and a project.
_PRODUCTION = {"query it": "deid db psql --role LOGIN, once `deid project` let it read", "browse lineage": "deid ui"}


def release_summary(site: Site) -> ReleaseSummary:
    """The summary of everything that this installation has staged.

    Raises:
        DeidError: `warehouse-not-ready` or `warehouse-unreachable`.
    """
    found = summary(site.warehouse.engine(Role.OFFICER))
    every = measurements(site.store)
    measured = {feed for it in every for feed in it.meta["gold_by_feed"]}
    return ReleaseSummary(
        site=site.settings.site,
        profile=found.profile,
        release=found.release,
        waiting=tuple(sorted({held.release for held in found.deliveries} - {found.release})),
        archives=tuple(map(str, under_way(site))),
        policy=site.settings.redaction.policy,
        notes_shown=notes_shown(site.warehouse.engine(Role.OFFICER)),
        deliveries=tuple(_line(site, held) for held in found.deliveries),
        template_text=sum((_template_text(site, held) for held in found.deliveries), TemplateCounts()),
        scored=tuple(Scored(Source.of_meta(it.meta), it.meta["headline"]) for it in every),
        unmeasured=tuple(sorted({Delivery.parse(it.delivery).feed for it in found.deliveries} - measured)),
        warehouse=site.warehouse.describe(),
        places={
            **(_PRODUCTION if found.profile != "demo" else _BY_MAKE if _has_makefile(site) else _BY_COMMAND),
            **_dossier(site, found.release),
            **_marked(site),
            **_rotated(site),
        },
    )


def _has_makefile(site: Site) -> bool:
    """Whether deid.toml lies beside the platform's own Makefile: the demonstration of a checkout."""
    try:
        return "\npsql:" in (site.settings.root / "Makefile").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _dossier(site: Site, release: str | None) -> dict[str, str]:
    """Where the dossier of the release is that analysts see, and what was concluded from it."""
    officer = site.warehouse.engine(Role.OFFICER)
    digest = newest_dossier(officer, release) if release else None
    if release is None or digest is None:
        return {"dossier": "`deid dossier write` writes it"} if release else {}
    conclusion = signed(officer, release)
    if conclusion is None:
        said = "not signed"
    else:
        until = f"lapsed on {conclusion.reassess_by}" if conclusion.lapsed else f"until {conclusion.reassess_by}"
        said = f"{conclusion.conclusion}, by {conclusion.who}, {until if conclusion.valid else 'signature invalid'}"
    return {"dossier": str(dossier_path(site, release, digest)), "determination": said}


def _marked(site: Site) -> dict[str, str]:
    """What waits for an officer."""
    marks = len(open_marks(site.warehouse.engine(Role.OFFICER)))
    return {"marked as missed": f"{marks:,} in released notes; `deid finding marks`"} if marks else {}


def _rotated(site: Site) -> dict[str, str]:
    """What the change of the secret did not separate."""
    told = told_by_former(site)
    return {"former secrets": "; ".join(it.said for it in told)} if told else {}


def _line(site: Site, held: DeliverySummary) -> DeliveryLine:
    key = Delivery.parse(held.delivery).key
    raw = site.store.manifest(tables.RAW_NOTES, key)
    redacted = site.store.manifest(tables.REDACTED_NOTES, key)
    meta = redacted.meta if redacted else {}
    counts = meta.get("counts", {})
    stated = withdrawals_stated(site.store, Delivery.parse(held.delivery))
    return DeliveryLine(
        delivery=key,
        state=held.state,
        notes_in=raw.rows if raw else 0,
        rejected=sum(count for name in tables.ROWS_REFUSED for count in _rejected(site, name, key).values()),
        redacted=counts.get("clean", 0),
        quarantined=meta.get("reasons", {}),
        withdrawn=held.announced.withdrawn if stated is None else stated,
        promoted=held.approved,
        missing=held.missing,
        failed=held.failed,
        waived=held.waived,
        leaks=held.leaks,
        indirect=meta.get("indirect"),
        named=counts.get("with_roster", 0) / redacted.rows if redacted and redacted.rows else None,
        languages=meta.get("languages", {}),
        local_words=meta.get("local_words"),
        words_per_second=None if counts.get("cached") else counts.get("words", 0) / max(meta.get("seconds", 0), 1e-3),
    )


def _template_text(site: Site, held: DeliverySummary) -> TemplateCounts:
    redacted = site.store.manifest(tables.REDACTED_NOTES, Delivery.parse(held.delivery).key)
    return TemplateCounts(**redacted.meta.get("template_text", {})) if redacted else TemplateCounts()


def _rejected(site: Site, dataset: str, key: str) -> dict[str, int]:
    manifest = site.store.manifest(dataset, key)
    return dict(manifest.meta["rejected"]) if manifest else {}
