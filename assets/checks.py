"""What an operator sees of the gate: its requirements and its expectations, as asset checks.

The gate itself lives in Postgres. The expectations run the Great Expectations suites, write their gate row and
stop the run where one fails; a run that leaves them out is refused by `ctl.promote` for want of that row. The
requirements only mirror what the database will say: the decision, waivers included, stays there.
"""

import warnings
from collections.abc import Iterator

import dagster as dg

from assets import shown
from assets.gate import delivery
from assets.layer import DELIVERIES, coded, delivery_of, step
from deid_platform.refresh.measure import record_expectations
from deid_platform.refresh.publish import gate_requirements
from deid_platform.warehouse.expectations import EXPECTATIONS, STAGED_UNCHANGED, SUITES
from deid_platform.warehouse.suite import Severity
from resources import SiteResource

REQUIREMENTS = {
    "parity": "what is staged is what the note store holds, row by row, and no withdrawal was lost",
    "leaks": "the leak check finds nothing in what is staged",
    "bench": "recall (the lower end of its interval), precision and clinical retention reach the profile's thresholds",
    "topics": "the topics know the patients of nearly all notes; else the scores on text alone count",
    "site_gold": "recall was measured on gold of the delivery's own feed",
}
# The UI lists checks by name: what the gate demands stands first, then what is expected of staging, suite by suite.
_GATE, _STAGING = "gate_", "staging_"
SEVERITY = {Severity.CRITICAL: dg.AssetCheckSeverity.ERROR, Severity.WARNING: dg.AssetCheckSeverity.WARN}


def _expected() -> Iterator[tuple[str, str, str]]:
    """Each expectation's name, its name as a check, and what it says of which rows."""
    yield STAGED_UNCHANGED, _STAGING + "unchanged", EXPECTATIONS[STAGED_UNCHANGED]
    for suite in SUITES:
        for one in suite.expectations:
            about = f"{suite.says}, column {one.column}" if one.column else suite.says
            check = f"{_STAGING}{suite.name}_{one.name.removeprefix(f'{suite.name}_')}"
            yield one.name, check, f"{about}: {one.says}"


EXPECTED = {name: check for name, check, _ in _expected()}
"""Expectation -> the name of its check."""


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
    description="How each requirement of the active profile stands for what is staged.",
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
    specs=_specs({check: says for _, check, says in _expected()}, blocking=True),
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
            check_name=EXPECTED[outcome.name],
            passed=outcome.passed,
            severity=SEVERITY[outcome.severity],
            metadata={"if it fails": "the gate refuses" if outcome.severity is Severity.CRITICAL else "a warning"},
        )


CHECKS = [requirements, expectations]
