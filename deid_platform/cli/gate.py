"""The gate's commands: gate, waive, waivers, waivers revoke.

Belongs here: arguments and what a person reads of the answers. Does not belong here: what any of it does
(`refresh/next_steps.py`, `warehouse/gate/waivers.py`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from deid_platform.cli.terminal import Config, Json, Value, Who, Why, officer_of, say, show, site_of

waivers = typer.Typer(help="Waivers of requirements by the privacy officer.", invoke_without_command=True)

_SOURCE = ("notes_of", "topics_of", "marked_by")
DeliveryName = Annotated[str, typer.Argument(help="`<feed>@<watermark>`.")]


def gate(delivery: DeliveryName, as_json: Json = False, config: Config = None) -> None:
    """Show each requirement of the gate for one delivery: its figures, its thresholds, and what to do next."""
    from deid_platform.notes import Delivery
    from deid_platform.refresh.next_steps import delivery_standing, next_step, next_steps
    from deid_platform.refresh.staging.due import why_due

    site, chosen = site_of(config), Delivery.parse(delivery)
    found = delivery_standing(site, chosen)
    columns = ["requirement", "state", "figure", "value", "demanded", "may be waived by", "waived until"]
    columns += ["measured on"]
    if as_json:  # a command is too long for a table; whoever reads that finds it below
        columns += ["threshold", "next", *_SOURCE]
    records: list[list[Value]] = []
    for each in found.requirements:
        for figure in each.figures or (None,):
            measured = [figure.name, figure.value, figure.demand] if figure else [None, None, None]
            record: list[Value] = [each.name, each.shown_state, *measured, each.waived_by, each.waived_until]
            record.append(each.measured_on if as_json else each.measured_of)
            if as_json:
                record += [figure.threshold if figure else None, next_step(found, each)]
                words = each.source.words if each.source else {}
                record += [words.get(name) for name in _SOURCE]
            records.append(record)
    show(columns, records, as_json=as_json)
    for each in found.requirements:
        if each.source:
            say(f"{each.name} was measured on {each.measured_on}")
    say(f"{found.delivery}: {found.state}, gate profile {found.profile}")
    # A delivery whose files are gone is due no more.
    for reasons in why_due(site, [each for each in site.deliveries(chosen.feed) if each == chosen]).values():
        say(f"due: {', '.join(reasons)}")
    for step in next_steps(found):
        say(f"next: {step}")


def waive(
    delivery: DeliveryName,
    requirements: Annotated[list[str], typer.Argument(help="The requirements to waive, such as topics site_gold.")],
    who: Who,
    why: Why,
    until: Annotated[datetime, typer.Option(formats=["%Y-%m-%d"], help="The last day on which it is valid.")],
    ahead: Annotated[bool, typer.Option("--ahead", help="The delivery has not arrived yet.")] = False,
    config: Config = None,
) -> None:
    """Record the privacy officer's waiver of requirements for one delivery; `deid refresh` then promotes it."""
    from deid_platform.notes import Delivery
    from deid_platform.refresh.next_steps import refuse_unknown
    from deid_platform.warehouse.gate.waivers import waive as record
    from deid_platform.warehouse.server.roles import Role

    site, named = site_of(config), Delivery.parse(delivery)
    refuse_unknown(site, named, ahead=ahead)
    officer = site.warehouse.engine(Role.OFFICER)
    numbers = record(officer, requirements, who=who, reason=why, until=until.date(), delivery=named)
    for number, requirement in zip(numbers, requirements, strict=True):
        say(f"waived {requirement} for {named.key} until {until.date()}, waiver {number}")
    say(f"next: deid refresh --delivery {named.key}")


@waivers.callback()
def list_waivers(context: typer.Context, as_json: Json = False, config: Config = None) -> None:
    """List every waiver, in force or ended, oldest first."""
    if context.invoked_subcommand:
        return
    from deid_platform.warehouse.gate.waivers import waivers as every

    columns = ("waiver", "delivery", "requirement", "who", "reason", "until", "state", "ended by", "because")
    records = (
        (w.number, w.covers, w.requirement, w.who, w.reason, w.until, w.state, w.ended_by, w.ended_because)
        for w in every(officer_of(config))
    )
    show(columns, records, as_json=as_json)


@waivers.command("revoke")
def revoke(
    number: Annotated[int, typer.Argument(help="The waiver's, as `deid waivers` shows it.")],
    who: Who,
    why: Why,
    config: Config = None,
) -> None:
    """End a waiver before its last day; the gate no longer accepts it."""
    from deid_platform.warehouse.gate.waivers import end_waiver

    ended = end_waiver(officer_of(config), number, who=who, reason=why)
    say(f"waiver {number} ended: {ended.requirement} for {ended.covers}")
    say("what was promoted while it held stays in research; `deid release rollback` takes a release away")
