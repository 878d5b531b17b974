"""What `deid doctor` checks of the installation that a deid.toml describes.

Belongs here: checks that leave everything as it was. Does not belong here: those of models and peers (`models.py`), or
mending anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from deid_platform.corpora import NEVER_ENTERS
from deid_platform.corpora.feeds import topics_reading
from deid_platform.corpora.refusals import lines_of
from deid_platform.detection.resolve.local_words import shared_words
from deid_platform.doctor.diagnosis import Diagnosis, look, said
from deid_platform.doctor.models import of_models
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.refresh.evidence.local_words import newest_words
from deid_platform.refresh.hiding.store_and_warehouse import differences
from deid_platform.refresh.installation.rotation import told_by_former
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.intake.archive import under_way
from deid_platform.refresh.intake.check import check_delivery
from deid_platform.refresh.intake.opt_outs import misspelt_opt_outs
from deid_platform.refresh.recipe.languages import vouched_for
from deid_platform.refresh.topics.topic_columns import changed_columns
from deid_platform.warehouse.gate.queries import summary
from deid_platform.warehouse.officer.dossiers import signers
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.logins import unbounded
from deid_platform.warehouse.server.roles import Role

_HEAD = 50
"""How many rows of each file of a feed's newest delivery are read: enough for its columns, at once."""

_LISTED = 3
"""How many of what store or warehouse lacks are named."""

_FEWEST = 20
"""Notes under which a share says nothing, as in the gate's expectation `untyped_share`."""


def of_site(site: Site) -> Iterator[Diagnosis]:
    """Looks at the feeds with the newest delivery of each, the models, the key secret, the store and the warehouse."""
    yield look("exclusions", lambda: f"{len(site.exclusions.opted_out())} patients opted out")
    yield look("detector", lambda: _detector(site))
    yield from of_models(site)
    for name in site.settings.feeds:
        yield _feed(site, name)
    secret = look("key secret", lambda: f"key {site.keyring.key_id}")
    yield secret
    yield from _date_order(site)
    if secret.good:
        yield look("languages", lambda: _languages(site))
        yield look("local words", lambda: _local_words(site))
    if secret.good and site.settings.store is not None:
        store = look("note store", lambda: _note_store(site))
        yield store
        if not store.good:
            return
    if secret.good and (misspelt := _misspelt(site)):
        yield Diagnosis(
            "opt-outs",
            False,
            f"{misspelt} ids of the list are nobody's, but would be with other capitals, leading zeros or separators: "
            "they hide nobody",
        )
    if secret.good:
        warehouse = look("warehouse", lambda: _warehouse(site))
        yield warehouse
        if warehouse.good:
            yield from _server(site.warehouse)
            found = unbounded(site.warehouse.engine(Role.OFFICER))
            yield Diagnosis("logins", not found, "; ".join(found) or "no reader's login can do more than read")
            if site.settings.thresholds.signed_dossier and not signers(site.warehouse.engine(Role.OFFICER)):
                yield Diagnosis(
                    "signers", False, "dossiers count by anybody's key: `deid dossier signer` names whose do"
                )
            yield _together(site)
            yield from _rotation(site)
            # Good while it lasts: `deid archive` or `deid refresh` continues.
            for archive in under_way(site):
                yield Diagnosis("archive under way", True, str(archive))


def _misspelt(site: Site) -> int:
    try:
        return misspelt_opt_outs(site)
    except DeidError:  # told where the exclusions are looked at, or the store
        return 0


def _together(site: Site) -> Diagnosis:
    """Whether store and warehouse belong together, or one of them was restored to another day."""
    subject = "backup"
    try:
        found = differences(site)
    except DeidError as error:
        return Diagnosis(subject, False, said(error))
    lacks = {
        Code.STORE_BEHIND: [delivery.key for delivery in found.store_lacks],
        Code.WAREHOUSE_BEHIND: [delivery.key for delivery in found.warehouse_lacks]
        + [f"finding {number}" for number in found.findings],
    }
    faults = [
        f"{code.slug} [{', '.join(names[:_LISTED])}{' ...' * (len(names) > _LISTED)}]: {code.remedy}"
        for code, names in lacks.items()
        if names
    ]
    if found.keys:
        faults.append(f"withdrawals do not reach releases under {', '.join(found.keys)}: their secret is not given")
    if found.keep_outs:
        faults.append(f"{found.keep_outs} notes are kept out that the ledger forgot: `deid review quarantine`")
    if found.unmatched:
        faults.append(
            f"{found.unmatched} notes that people keep out have other keys under every given secret, and may pass: name"
            " the former secret's file in DEID_PREVIOUS_SECRET_FILES"
        )
    return Diagnosis(subject, not found, "; ".join(faults) or "note store and warehouse know the same deliveries")


def _date_order(site: Site) -> Iterator[Diagnosis]:
    """Feeds of which nobody said which number is the day, where dates are moved."""
    try:
        shifts = site.policy.shifts_dates
    except DeidError:  # told where the detector is looked at
        return
    if shifts and (unsaid := [name for name in sorted(site.settings.feeds) if site.date_writing(name).order is None]):
        said = "date_order is not set: 3/4/2019 becomes a tag in English notes that do not tell, and tags tell of dates"
        yield Diagnosis("date order", True, f"{', '.join(unsaid)}: {said}")


def _rotation(site: Site) -> Iterator[Diagnosis]:
    """What a change of the secret did not separate; nothing where no former release tells of shifts."""
    if told := told_by_former(site):
        yield Diagnosis("rotation", not any(it.other_class for it in told), "; ".join(it.said for it in told))


def _detector(site: Site) -> str:
    spec = site.spec(None)
    own, allowed = spec.site_recognizers(), spec.allow_list()
    shown = [f"{spec.name} {spec.detector_digest[:12]}"]
    if own.recognizers:
        shown.append(f"{len(own.recognizers)} recognizers of the site {own.digest[:12]}")
    if allowed.phrases:
        shown.append(f"{len(allowed.phrases)} phrases kept {allowed.digest[:12]}")
    if spec.chat is not None:
        whose = "" if spec.chat.review is None else f", notes of a doubt from {spec.chat.review.doubt_from:g} on"
        shown.append(f"{spec.chat.prompt} to {spec.chat.model.identity.name}{whose}")
    if spec.indirect is not None:
        shown.append(f"indirect identifiers tagged by {spec.indirect.model.identity.name}")
    return ", ".join(shown)


def _languages(site: Site) -> str:
    """In which languages the detector was measured, on what, and whether the profile takes it."""
    given = "topics"
    found = site.measured_languages(given)
    said = []
    for code, it in sorted(found.items()):
        gold = it.source if it.notes is None else f"{it.source}, {it.notes:,} notes"
        taken = "" if vouched_for(site.settings, it) else "; the profile does not take it"
        figures = f"recall from {_share(it.recall_low)}, precision {_share(it.precision)}"
        said.append(f"{code} ({gold}: {figures}{taken})")
    others = sorted(set(site.accepted_languages(given)) - found.keys())
    if others:
        said.append(f"not measured, so that the gate holds deliveries with them back: {', '.join(others)}")
    return "; ".join((*said, f"notes in any other are quarantined as {Code.LANGUAGE_UNMEASURED.slug}"))


def _local_words(site: Site) -> str:
    """How many words that notes share are in force: shipped ones, and those of each feed's newest delivery."""
    own = (f"{name} {len(newest_words(site.store, name, site.local_words)):,}" for name in sorted(site.settings.feeds))
    return "; ".join((f"{len(shared_words()):,} shipped", *own))


def _share(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"


def _feed(site: Site, name: str) -> Diagnosis:
    found = look(f"feed {name}", lambda: f"{len(site.reader(name).deliveries())} deliveries")
    if not found.good:
        return found
    faults, shown = [], [found.detail]
    if refused := site.reader(name).refused():
        links = sum(error.code is Code.FEED_LINK for error in refused)
        named = f"{len(refused) - links} folders are not named as a delivery"
        faults += (
            [f"rows in no delivery: {error.ref}" for error in refused]
            if site.feed(name).from_database
            else [named] * (len(refused) > links) + [f"{links} folders are links"] * (links > 0)
        )
    checks: list[Callable[[], str]] = [lambda: _accepted(site, name)]
    checks += [partial(_newest, site, delivery, shown) for delivery in site.reader(name).deliveries()[-1:]]
    faults += filter(None, (look(name, check).detail for check in checks))
    # Without a secret the store says nothing, which is told elsewhere.
    if (others := look(name, lambda: _other_columns(site, name))).good and others.detail:
        shown.append(others.detail)
    return Diagnosis(found.subject, not faults, "; ".join([*shown, *faults]))


def _other_columns(site: Site, name: str) -> str:
    changed = changed_columns(site.store, {name: topics_reading(site.settings, name)})
    return "its topics are read by other columns than those of its first promotion: another release" if changed else ""


def _accepted(site: Site, name: str) -> str:
    """Nothing, or an error if the warehouse must not hold this feed."""
    site.accept(name)
    return ""


def _newest(site: Site, delivery: Delivery, shown: list[str]) -> str:
    """What speaks against a feed's newest delivery by the first rows of each of its files; empty if nothing does.

    What the rows of its topics tell is shown in any case.
    """
    feed = site.feed(delivery.feed)
    found = check_delivery(site, delivery, head=_HEAD)
    shown += found.shares
    faults = [
        f"{kind.rows} rows of {kind.file} {kind.reason.value} ({lines_of(kind)})"
        for kind in found.refusals
        if not kind.stands and kind.reason not in NEVER_ENTERS
    ]
    faults += (f"unknown columns of {role.value}: {names}" for role, names in found.refusals.unknown.items())
    if found.empty and not faults:
        faults.append("no rows")
    if found.named == 0 or (
        found.rows.get("patients", 0) >= _FEWEST and (found.named or 0) < site.settings.thresholds.min_roster_share
    ):
        faults.append("patients without a last name, whom no roster names")
    notes = found.rows.get("notes", 0)
    if notes >= _FEWEST and found.other_types > site.settings.thresholds.max_untyped_share * notes:
        faults.append(f"{found.other_types} of {notes} notes have a type that note_types does not list")
    if not faults:
        return ""
    where = f"--feed {delivery.feed}" if feed.from_database else site.settings.path(feed.path) / delivery.watermark
    return f"newest, first {_HEAD} rows of each file: {'; '.join(faults)}; `deid feed check {where}` shows more"


def _note_store(site: Site) -> str:
    """Of a store that is not in the home folder: whether it can be written, and by nobody else."""
    site.store.probe()
    where = site.location
    scheme = "http, on this machine" if (where.endpoint or "").startswith("http://") else "https"
    return f"{where.uri} over {scheme}: written, and closed to who has no credentials"


def _warehouse(site: Site) -> str:
    found = summary(site.warehouse.engine(Role.OFFICER))
    return f"{site.warehouse.describe()}, profile {found.profile}, release {found.release or 'none active'}"


def _server(warehouse: Warehouse) -> Iterator[Diagnosis]:
    """What the embedded server keeps of the version that started it; nothing where that was this one."""
    if old := warehouse.outdated():
        yield Diagnosis("server", False, f"started by an earlier version ({', '.join(old)}): run `deid db stop` once")
