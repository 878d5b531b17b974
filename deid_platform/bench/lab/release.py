"""What the laboratory measures of gold notes as they would be released.

Belongs here: releasing them under the site's policy, and which measures of the texts go to `quality`. Does not belong
here: any formula (`evaluation/`), or what is measured of spans (`bench/lab/detection.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from deid_platform.bench.lab.notes import GoldNote, of_ratio, of_share
from deid_platform.deidentify.release_note import ReleaseSpec
from deid_platform.evaluation.disclosure.linkage import AttackedNote, link
from deid_platform.evaluation.disclosure.plain_sight import plain_sight
from deid_platform.evaluation.disclosure.residue import note_residue, residue
from deid_platform.evaluation.disclosure.shown_mentions import ReleasedNote, shown_mentions
from deid_platform.evaluation.retention.icd import TermCoder, code_agreement, note_codes
from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
from deid_platform.evaluation.retention.retention import Pair, note_retentions, retention
from deid_platform.labels import PERSONS, Label
from deid_platform.notes import Note, Topics
from deid_platform.redaction.policy import Action, Policy
from deid_platform.redaction.redact import Redaction
from deid_platform.refresh.installation.site import Site
from deid_platform.surrogates.date_order import DateWriting
from deid_platform.warehouse.quality.lab import LabScore


@dataclass(frozen=True, repr=False)
class ReleasedGold:
    """A gold note and what would be released of it."""

    gold: GoldNote
    redaction: Redaction

    def __repr__(self) -> str:
        return "<ReleasedGold>"

    @property
    def note(self) -> Note:
        """The original."""
        return self.gold.note

    @property
    def text(self) -> str:
        """Its release."""
        return self.redaction.text


def released_notes(site: Site, notes: Sequence[GoldNote], topics: Topics) -> Iterator[ReleasedGold]:
    """Notes with what would be released of them; without those that would be withheld."""
    said = site.settings.redaction
    writing = DateWriting.of(said.date_order, said.date_zeros)
    releaser = ReleaseSpec(site.policy.of_direct_alone, topics, site.keyring, writing=writing).build()
    for it in notes:
        release = releaser.release(it.note, it.found)
        if release.withheld is None and release.redaction is not None:
            yield ReleasedGold(it, release.redaction)


def of_release(released: Sequence[ReleasedGold], topics: Topics, policy: Policy, resamples: int) -> Iterator[LabScore]:
    """Every figure of the released texts."""
    left = residue(
        (note_residue(it.note.text, it.gold.gold, it.text, cluster=it.note.patient_id) for it in released),
        resamples=resamples,
    )
    yield of_ratio("residue", "alid", left.alid)
    yield of_share("residue", "levenshtein_recall", left.lr)
    yield of_share("residue", "direct_recall", left.lrdi)
    yield of_ratio("residue", "quasi_recall", left.lrqi)
    yield from _linked(released, topics, resamples)
    if hidden := [label for label in PERSONS if policy.labels[label] is Action.SURROGATE]:
        yield from _in_plain_sight(released, hidden, resamples)
    judge = LexicalJudge()
    pairs = [Pair(it.note.text, it.text, it.note.patient_id) for it in released]
    kept = retention(note_retentions(pairs, judge), judge.identity, resamples=resamples)
    yield LabScore("retention", "lexical_retention", kept.mean, kept.low, kept.high, kept.notes)
    yield from _coded(released, resamples)


def _linked(released: Sequence[ReleasedGold], topics: Topics, resamples: int) -> Iterator[LabScore]:
    known = [(it.note, it.text) for it in released if it.note.patient_id in topics.patients]
    if not known:
        return

    def attacked(note: Note, text: str) -> AttackedNote:
        year = note.note_date.year if note.note_date else None
        return AttackedNote(text, note.patient_id or "", year, note.language or "en")

    after = link([attacked(note, text) for note, text in known], topics, resamples=resamples)
    before = link([attacked(note, note.text) for note, _ in known], topics, resamples=resamples)
    yield of_ratio("linkage", "first", after.first)
    yield of_ratio("linkage", "top_ten", after.top)
    yield LabScore("linkage", "chance", after.chance_first, n=len(known))
    yield LabScore("linkage", "chance_top_ten", after.chance_top, n=len(known))
    yield of_ratio("linkage", "first_raw", before.first)
    yield of_ratio("linkage", "top_ten_raw", before.top)


def _in_plain_sight(released: Sequence[ReleasedGold], labels: Collection[Label], resamples: int) -> Iterator[LabScore]:
    """What a reader's best rule tells of names that were missed among surrogates; other labels the policy leaves."""
    records: defaultdict[tuple[str, str], list[ReleasedNote]] = defaultdict(list)
    for it in released:
        whose = ("note", it.note.note_id) if it.note.patient_id is None else ("patient", it.note.patient_id)
        redaction = it.redaction
        records[whose].append(ReleasedNote(it.note.text, it.gold.gold, redaction.applied, redaction.replacements))
    sight = plain_sight((shown_mentions(mine, labels) for mine in records.values()), resamples=resamples)
    if sight.best is not None:
        yield of_share("plain sight", "told_apart", sight.rules[sight.best].told)
        yield of_share("plain sight", "told_apart_chance", sight.rules[sight.best].chance)
        return
    # No rule is right as often as wrong, so that it would be followed: nothing is pointed at.
    missed, mentions = sight.residual.hits, sight.residual.total
    yield LabScore("plain sight", "told_apart", 0.0 if missed else None, n=missed)
    yield LabScore("plain sight", "told_apart_chance", 0.0 if mentions else None, n=mentions)


def _coded(released: Sequence[ReleasedGold], resamples: int) -> Iterator[LabScore]:
    """Whether the same diagnosis codes are said, by terms; a note without a code is not counted."""
    codes = note_codes([(it.note.text, it.text) for it in released], TermCoder())
    agreement = code_agreement(codes, [it.note.patient_id for it in released], resamples=resamples)
    for measure, ratio in agreement.items():
        yield of_ratio("retention", measure, ratio)
