"""The gate as an operator sees it: its requirements and its expectations, as asset checks.

The gate itself lives in Postgres. The expectations run the Great Expectations suites, write their gate row and
stop the run where one fails; a run that leaves them out is refused by `ctl.promote` for want of that row. The
requirements only mirror what the database will say: the decision, waivers included, stays there.
"""

import warnings
from collections.abc import Iterator

import dagster as dg

from assets import shown
from assets.gate import delivery
from assets.layer import DELIVERIES, RefusalError, coded, delivery_of, step
from deid_platform.errors import Code
from deid_platform.refresh.publish import gate_requirements
from deid_platform.refresh.staging.measure import record_expectations
from deid_platform.warehouse.gate.expectations import EXPECTATIONS, STAGED_UNCHANGED, SUITES
from deid_platform.warehouse.gate.suite import Severity
from resources import SiteResource

REQUIREMENTS = {
    "parity": "what is staged is what the note store holds, row by row, and no withdrawal was lost",
    "leaks": "the leak check finds nothing in what is staged",
    "bench": "recall (the lower end of its interval), precision and clinical retention reach the profile's thresholds, "
    "and recall is not lower than that of the detector in force",
    "topics": "the topics know the patients of nearly all notes; else the scores on text alone count",
    "languages": "the detector was measured in each language in which notes would be published",
    "site_gold": "recall was measured on gold of the delivery's own feed",
}
SEVERITY = {Severity.CRITICAL: dg.AssetCheckSeverity.ERROR, Severity.WARNING: dg.AssetCheckSeverity.WARN}
# The UI lists checks by name: what the gate demands stands before what is expected of staged rows.
_GATE, _STAGED = "gate_", "staged_"


def _expected() -> Iterator[tuple[str, str]]:
    """Each expectation's name, and what it says of which rows."""
    yield STAGED_UNCHANGED, EXPECTATIONS[STAGED_UNCHANGED]
    for suite in SUITES:
        for one in suite.expectations:
            yield (
                one.name,
                f"{suite.says}, column {one.column}: {one.says}" if one.column else f"{suite.says}: {one.says}",
            )


def expectation_check(name: str) -> str:
    """What the check of an expectation is called."""
    return name if name.startswith(_STAGED) else _STAGED + name


def _specs(described: dict[str, str], *, blocking: bool) -> list[dg.AssetCheckSpec]:
    with warnings.catch_warnings():
        # Partitioned checks are a preview in this version of Dagster. It is pinned, and the gate does not rest on them.
        warnings.simplefilter("ignore", dg.PreviewWarning)
        return [
            dg.AssetCheckSpec(name, asset=delivery, description=meaning, blocking=blocking, partitions_def=DELIVERIES)
            for name, meaning in described.items()
        ]


@dg.multi_asset_check(
    name="requirements",
    specs=_specs({_GATE + name: says for name, says in REQUIREMENTS.items()}, blocking=False),
    config_schema={},
    description="The state of each requirement of the active profile for the staged rows.",
)
def requirements(context: dg.AssetCheckExecutionContext, site: SiteResource) -> Iterator[dg.AssetCheckResult]:
    """Mirrors the gate's own view of the staged content."""
    with coded("gate/delivery:requirements"):
        stands = {found.name: found for found in gate_requirements(site.site, delivery_of(context))}
    for name in REQUIREMENTS:
        found = stands.get(name)
        yield dg.AssetCheckResult(
            asset_key=delivery.key,
            check_name=_GATE + name,
            passed=found is None or found.met,
            metadata=shown.requirement(found) if found else {"state": "not demanded"},
        )


@dg.multi_asset_check(
    name="expectations",
    specs=_specs({expectation_check(name): says for name, says in _expected()}, blocking=True),
    config_schema={},
    description="The Great Expectations suites over staging. Results are yes or no: any other format quotes values.",
)
def expectations(context: dg.AssetCheckExecutionContext, site: SiteResource) -> Iterator[dg.AssetCheckResult]:
    """Runs the suites and writes their gate row before the first result is shown."""
    with step("gate/delivery:expectations", site):
        outcomes = record_expectations(site.site, delivery_of(context))
    for outcome in outcomes:
        yield dg.AssetCheckResult(
            asset_key=delivery.key,
            check_name=expectation_check(outcome.name),
            passed=outcome.passed,
            severity=SEVERITY[outcome.severity],
            metadata={"if it fails": "the gate refuses" if outcome.severity is Severity.CRITICAL else "a warning"},
        )
    if any(outcome.severity is Severity.CRITICAL and not outcome.passed for outcome in outcomes):
        failed = ", ".join(expectation_check(outcome.name) for outcome in outcomes if not outcome.passed)
        # Before Dagster says it, with a stack.
        where = {"code": Code.GATE_REFUSED.slug, "where": "gate/delivery:expectations"}
        raise RefusalError(dg.Failure(f"checks failed: {failed}", where))


CHECKS = [requirements, expectations]
