"""What keeps a delivery from being promoted, and what to do about it.

Belongs here: the next step for each requirement, and whether a delivery that somebody names exists. Does not belong
here: what was measured (`refresh/staging/measure.py`), how it is read (`warehouse/gate/standing.py`), or the decision,
which is the database's.
"""

from __future__ import annotations

from collections.abc import Sequence

from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.notes import Delivery
from deid_platform.refresh.installation.site import Site
from deid_platform.warehouse.gate.queries import known_deliveries
from deid_platform.warehouse.gate.standing import Requirement, Standing, standing
from deid_platform.warehouse.server.roles import Role

_REMEDIES = {
    "parity": "mend the delivery's files where rows were refused (`rows refused` in `deid summary`)",
    "expectations": "the checks of gate/delivery in `deid ui` name the expectations that failed; "
    "if a common word was reported as a leak: `deid finding withdraw`",
    "leaks": "the notes are made anew, and those that leak are quarantined",
    "bench": "`deid evaluate` on gold of your own shows what is missed, and where a detector finds less than the one "
    "in force; thresholds stand in deid.toml ([profiles])",
    "topics": "deliver patients.csv with each patient's last name, and map its columns in deid.toml ([feeds.NAME]); "
    "`deid feed check` shows what would be read",
    "languages": "put gold of each of these languages into the folder that [feeds.NAME] `gold` names",
    "site_gold": "put gold into the folder that [feeds.NAME] `gold` names",
}


def delivery_standing(site: Site, delivery: Delivery) -> Standing:
    """Where a delivery stands at the gate.

    Raises:
        DeidError: `gate-unknown-delivery` if it arrived and nothing of it is staged; `delivery-unknown` if no feed has
            brought it.
    """
    try:
        return standing(site.warehouse.engine(Role.OFFICER), delivery)
    except DeidError as error:
        if error.code is Code.GATE_UNKNOWN_DELIVERY:
            refuse_unknown(site, delivery)
        raise


def refuse_unknown(site: Site, delivery: Delivery, *, ahead: bool = False) -> None:
    """Refuses a delivery that nobody has seen: neither the warehouse nor its feed's folder.

    Args:
        site: The installation.
        delivery: What somebody named.
        ahead: It may be one that is yet to arrive, of a feed that there is.

    Raises:
        DeidError: `delivery-unknown`, with the nearest name; `feed-unreadable`.
    """
    known = set(known_deliveries(site.warehouse.engine(Role.OFFICER)))
    if delivery.key in known:
        return
    if delivery.feed in site.settings.feeds:
        known |= {arrived.key for arrived in site.deliveries(delivery.feed)}
        if ahead or delivery.key in known:
            return
        raise DeidError(Code.DELIVERY_UNKNOWN, f"{delivery.key}: {did_you_mean(delivery.key, known, listed=False)}")
    # Of another feed's name the watermark may be right.
    near = did_you_mean(delivery.feed, site.settings.feeds)
    raise DeidError(Code.DELIVERY_UNKNOWN, f"{delivery.key}: feed {delivery.feed}: {near}")


def waive_command(delivery: str, requirements: Sequence[str]) -> str:
    """The command by which the privacy officer waives requirements; what is in capitals is to be filled in."""
    return f'deid waive {delivery} {" ".join(requirements)} --who "NAME" --why "REASON" --until YYYY-MM-DD'


def next_step(found: Standing, requirement: Requirement) -> str | None:
    """What to do about one requirement, the command to run first; None if it is met."""
    if requirement.met:
        return None
    again = f"deid refresh --delivery {found.delivery}"
    if requirement.state == "missing":
        return again
    remedy = _REMEDIES.get(requirement.name)
    if requirement.waivable:
        return f"{waive_command(found.delivery, [requirement.name])}; or {remedy}"
    return f"{again}; {remedy}" if remedy else again


def next_steps(found: Standing) -> tuple[str, ...]:
    """What to do about the whole delivery, in order: measure, mend or waive, refresh; nothing if it is promoted."""
    unmet = found.unmet
    if not unmet and found.state == "promoted":
        return ()
    again = f"deid refresh --delivery {found.delivery}"
    failed = [requirement for requirement in unmet if requirement.state == "failed"]
    if len(failed) < len(unmet):
        # What was never measured cannot be waived.
        return (again,)
    mend = tuple(f"{each.name}: {_REMEDIES[each.name]}" for each in failed if each.name in _REMEDIES)
    waivable = [each.name for each in failed if each.waivable]
    waive = (waive_command(found.delivery, waivable),) if waivable else ()
    return (*mend, *waive, again)
