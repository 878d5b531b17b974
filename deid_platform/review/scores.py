"""The figures of a round in `quality`, where the dossier finds them.

Belongs here: which round counts, what its figures are of, and recording them. Does not belong here: the shares
(`report.py`), or how they are shown (`assets/review.py`, `reports/dossier`).

They are of the detector, policy and gold that the round was drawn with, whatever is set now: a release shows them if
its own are the same. Those of a delivery's notes without gold are a family of their own; there is none of a file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace

from deid_platform.bench.gate.held_out import look_at_sealed_unless_same, of_bench
from deid_platform.bench.lab.notes import of_share
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.bootstrap import Ratio
from deid_platform.evaluation.sources import MarkedBy, Source, notes_of_feeds
from deid_platform.labels import Label
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import ANNOTATORS
from deid_platform.review.decisions import Category, enter, standing
from deid_platform.review.report import Interval, Report, report
from deid_platform.review.rounds import DrawnWith, Removal, removals_of_round, rounds
from deid_platform.review.sources import READ, WITH_GOLD
from deid_platform.warehouse.quality.held_out import HeldOutSet, Purpose, seal
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.server.roles import Role

_FAMILY = "review"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The round that counts.

    Attributes:
        number: Of the round.
        drawn: Removals of it, without those of notes that left.
        drawn_with: What its figures are of.
        report: The round in figures.
        scores: The same as they go to `quality`.
    """

    number: int
    drawn: int
    drawn_with: DrawnWith
    report: Report
    scores: tuple[LabScore, ...]


def newest(site: Site) -> list[Reviewed]:
    """The newest round of which anything is settled: of gold notes, and of a delivery's notes without gold.

    Raises:
        DeidError: `review-unknown` if none was drawn; `input-empty` if nothing is settled in any that counts.
    """
    drawn = rounds(site.store)
    if not drawn:
        raise DeidError(Code.REVIEW_UNKNOWN, "none")
    found: dict[str, Reviewed] = {}
    for number in reversed(drawn):
        drawn_with = DrawnWith.of_round(site.store, number)
        if drawn_with is None or (family := _family(drawn_with)) in found or not standing(site, number).settled:
            continue
        members, said = len(removals_of_round(site, number)), report(site, number)
        scores = tuple(replace(it, family=family) for it in figures(said, members))
        found[family] = Reviewed(number, members, drawn_with, said, scores)
    if not found:
        raise DeidError(Code.INPUT_EMPTY, "no removal of a round is settled")
    return list(found.values())


def source(site: Site, found: Reviewed) -> Source:
    """Where the figures of a round are from."""
    on = found.drawn_with
    if on.gold == READ:
        read = set_read(site, found.number)
        return Source.of(READ, on.inputs, notes_of=read.notes_of, marked_by=read.marked_by)
    sealed = site.store.manifest(tables.GOLD_NOTES, tables.ALL)
    same = sealed is not None and of_bench(site).digest == on.held_out_set
    return Source.of_meta(sealed.meta if sealed and same else {"gold": on.gold}, on.inputs)


def record(site: Site, found: Reviewed) -> int:
    """Writes the figures to quality.lab_score, which is a look at the gold, unless the same stand there already.

    The ledger gets the decisions first: figures are of what it has.

    Returns:
        How many were recorded now.

    Raises:
        DeidError: `decisions-altered` if the ledger has others; `held-out-refused` if the bench has not sealed the gold
            of the round; `warehouse-unreachable`.
    """
    enter(site, found.number)
    on, family = found.drawn_with, _family(found.drawn_with)
    before = site.store.manifest(tables.LAB, family.replace(" ", "_"))
    gatekeeper = site.warehouse.engine(Role.GATEKEEPER)
    held_out_set = on.held_out_set
    if on.gold == READ:
        read = set_read(site, found.number)
        seal(gatekeeper, read)
        held_out_set = read.digest
    said = (on.policy, str(found.number), *(str(astuple(it)) for it in found.scores))
    taken = look_at_sealed_unless_same(
        site, held_out_set, before, *said, detector_digest=on.detector, purpose=Purpose.LABORATORY
    )
    if not taken.new:
        return 0
    measured = MeasuredOn(on.name, on.detector, on.gold, on.inputs, on.policy, look=taken.look.number)
    record_lab_scores(gatekeeper, measured, found.scores)
    meta = {"round": found.number, **taken.meta}
    site.store.write(tables.LAB, family.replace(" ", "_"), [], meta=lambda: meta)
    return len(found.scores)


def set_read(site: Site, number: int) -> HeldOutSet:
    """What people were given to read, as a set that looks are counted at: all that was drawn, whatever left since.

    Its notes are known as far as they are shown.
    """
    feed = str(site.store.required(tables.REVIEW_ROUNDS, str(number)).meta["source"]).partition("@")[0]
    members = [Removal.of(row) for row in site.store.stream(tables.REVIEW_ROUNDS, str(number))]
    notes = {it.note_id: it for it in members}.values()
    strata = Counter(it.note_type for it in notes)
    # A feed that deid.toml names no more brought real notes, for all that is known.
    configured = site.settings.feeds.get(feed)
    words = (site.keyring.digest("held-out note", *it.text.casefold().split())[:16] for it in notes)
    return HeldOutSet(
        digest=site.keyring.digest("held-out set", READ, *sorted(it.removal for it in members)),
        gold=READ,
        locale="",
        patients=len({it.patient for it in notes} - {None}),
        strata=len(strata),
        smallest_stratum=min(strata.values(), default=0),
        spans=dict(sorted(Counter(it.label for it in members).items())),
        notes=tuple(words),
        notes_of=notes_of_feeds([configured is not None and configured.demonstration]).value,
        marked_by=MarkedBy.READERS.value,
    )


def _family(on: DrawnWith) -> str:
    return "read notes" if on.gold == READ else _FAMILY


def figures(found: Report, drawn: int) -> Iterator[LabScore]:
    """Shares of categories and severities, missed identifiers, how far readers agree, and how much is settled."""
    for category, share in found.categories.items():
        if category is Category.MISSED_BY_GOLD and found.source not in WITH_GOLD:
            yield of_share(_FAMILY, "share_right", share)  # no gold lacks it
        else:
            yield of_share(_FAMILY, "share_of_removals", share, category.value.replace("_", " "))
    for severity, share in found.severities.items():
        yield of_share(_FAMILY, "share_of_relevant", share, f"severity {severity.value}")
    one, other = (found.standing.by_role[role] for role in ANNOTATORS)
    relevant = sum(bool(one[key].severity and other[key].severity) for key in one.keys() & other.keys())
    yield _agreement(found.kappa, found.kappa_interval, found.read_twice, "ALL")
    yield _agreement(found.kappa_severity, found.kappa_severity_interval, relevant, "severity")
    missed = found.missed
    yield _of_missed("missed_per_note", missed.per_note)
    # Each label, also without a mark: one whose marks were taken back would else keep its former figure.
    none = Ratio(0.0 if missed.notes else None, None, None, missed.notes)
    for label in Label:
        yield _of_missed("missed_per_note", missed.labels.get(label, none), label.value)
    for severity, ratio in missed.severities.items():
        yield _of_missed("missed_per_note", ratio, f"severity {severity.value}")
    yield _of_missed("missed_agreement", missed.agreement)
    yield LabScore(_FAMILY, "share_settled", len(found.standing.settled) / drawn if drawn else None, n=drawn)


def _agreement(kappa: float | None, interval: Interval | None, pairs: int, subject: str) -> LabScore:
    low, high = interval or (None, None)
    return LabScore(_FAMILY, "kappa", kappa, low, high, pairs, subject)


def _of_missed(measure: str, ratio: Ratio, subject: str = "ALL") -> LabScore:
    return LabScore(_FAMILY, measure, ratio.value, ratio.low, ratio.high, ratio.n, subject)
