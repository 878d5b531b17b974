"""The gate's commands: waive.

Belongs here: arguments and what a person reads of the answers. Does not belong here: what any of it does
(`warehouse/promotion.py`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from deid_platform.cli.terminal import Config, Who, Why, console, officer_of


def waive(
    delivery: Annotated[str, typer.Argument(help="`<feed>@<watermark>`.")],
    requirements: Annotated[list[str], typer.Argument(help="What is waived, such as topics site_gold.")],
    who: Who,
    why: Why,
    until: Annotated[datetime, typer.Option(formats=["%Y-%m-%d"], help="The last day on which it holds.")],
    config: Config = None,
) -> None:
    """Record the privacy officer's waiver of requirements for one delivery; `deid refresh` then promotes it."""
    from deid_platform.notes import Delivery
    from deid_platform.warehouse.promotion import waive as record

    officer = officer_of(config)
    for requirement in requirements:
        record(officer, requirement, who=who, reason=why, until=until.date(), delivery=Delivery.parse(delivery))
        console.print(f"waived {requirement} for {delivery} until {until.date()}", highlight=False)
