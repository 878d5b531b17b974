"""What a run's configuration may set: the console's log level, and nothing else.

Belongs here: the executor, the logger, the IO manager and the wrapper of resources that all jobs share, none of which
takes configuration, and the refusal of a run that brings some all the same. Does not belong here: any one resource.

Whoever may launch a run writes its configuration. A resource that reads it (the program that dbt is, the deid.toml
with the gate's thresholds) would hand that person the platform. Settings are deid.toml's alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg

from deid_platform.errors import Code, DeidError

CONSOLE = "console"
LOG_LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")

# A process for each step would load the libraries anew: the multiprocess executor costs seconds a step.
EXECUTOR = dg.in_process_executor.configured(lambda _: {}, name="in_process", config_schema={})

LOGGER = dg.colored_console_logger.configured(
    lambda config: {"name": "dagster", "log_level": config["log_level"]},
    config_schema={
        "log_level": dg.Field(
            dg.Enum("LogLevel", [dg.EnumValue(level) for level in LOG_LEVELS]),
            is_required=False,
            default_value="WARNING",
        )
    },
)


class NoConfig(dg.Config):
    """The configuration of an asset whose decorator takes no schema: none."""


# No value passes between steps. Dagster's own manager would take the folder that it writes to from the run.
IO_MANAGER = dg.IOManagerDefinition(lambda _: dg.InMemoryIOManager(), config_schema={})  # type: ignore[no-untyped-call]


def closed(resource: object) -> dg.ResourceDefinition:
    """A resource that runs get as it was made; no run can configure it."""
    return dg.ResourceDefinition(lambda _: resource, config_schema={})


def refuse_run_config(run_config: Mapping[str, Any]) -> None:
    """Refuses a run with any other configuration, where Dagster's own check of its schema let it pass.

    Sections that are empty set nothing: the UI's "Scaffold all default config" writes one for each op and resource.

    Raises:
        DeidError: `run-config-refused`.
    """
    allowed = [{"loggers": {CONSOLE: {"config": {"log_level": level}}}} for level in LOG_LEVELS]
    if (given := _without_empty(run_config)) and given not in allowed:
        raise DeidError(Code.RUN_CONFIG_REFUSED)


def _without_empty(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration without the sections in which nothing is."""
    kept = {key: _without_empty(value) if isinstance(value, Mapping) else value for key, value in config.items()}
    return {key: value for key, value in kept.items() if value != {}}
