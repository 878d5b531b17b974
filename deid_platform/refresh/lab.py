"""The laboratory on the gate's gold: what the detector finds and leaves, and what of the medicine is left.

Belongs here: which notes, releasing them under the site's policy, and which figures go to `quality`. Does not belong
here: any formula (`evaluation/`).

Detection is measured on all gold notes, with topics and on the text alone. What an adversary sees and what is left of
the medicine is measured on the texts as they would be released, with topics; a note that the leak check withholds is
not among them, since nobody would see it.

It takes longer than the gate's own scores, and most deliveries change nothing of it: what was measured is sealed with a
digest of all that it hangs on, and stands as long as that is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace

from deid_platform.evaluation.adversary import Exact, at_notes_a_patient, exposure, exposure_note
from deid_platform.evaluation.bootstrap import Estimate, Ratio
from deid_platform.evaluation.characters import character_scores, count_characters
from deid_platform.evaluation.linkage import AttackedNote, link
from deid_platform.evaluation.missed_by_risk import ReadNote, missed_by_risk
from deid_platform.evaluation.residue import note_residue, residue
from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
from deid_platform.evaluation.retention.retention import Pair, note_retentions, retention
from deid_platform.evaluation.scores import count_note, summarise
from deid_platform.evaluation.span_scores import span_f1
from deid_platform.evaluation.token_scores import Partly, count_tokens, token_scores
from deid_platform.keys import module_digest, package_digest
from deid_platform.notes import Note, Span, Topics
from deid_platform.refresh import tables
from deid_platform.refresh.site import Site
from deid_platform.release_note import ReleaseSpec
from deid_platform.warehouse.lab import LabScore, MeasuredOn, record_lab_scores
from deid_platform.warehouse.roles import Role
from deid_platform.warehouse.staging import Inputs


@dataclass(frozen=True, repr=False)
class GoldNote:
    """A note with its gold, and what was found in it."""

    note: Note
    gold: tuple[Span, ...]
    found: tuple[Span, ...]

    def __repr__(self) -> str:
        return "<GoldNote>"

    @property
    def read(self) -> ReadNote:
        """As the measures of detection take it."""
        return ReadNote(self.note.text, self.gold, self.found, self.note.patient_id)


@dataclass(frozen=True)
class Laboratory:
    """The figures of one gold.

    Attributes:
        gold: What was measured on.
        notes: Notes with gold.
        withheld: Of these, how many the leak check withholds with topics.
        scores: Inputs -> figures.
        measured_of: Digest of all that the figures hang on.
        spared: Whether they are those of the last time, since nothing of that has changed.
    """

    gold: str
    notes: int
    withheld: int
    scores: dict[str, list[LabScore]]
    measured_of: str = ""
    spared: bool = False


_CODE = ("evaluation", "leakcheck", "lexicon", "text")
"""Packages that decide the figures; the policy's digest is of those by which it redacts."""


def measure(site: Site) -> Laboratory:
    """Measures the sealed detections on the sealed gold, unless nothing has changed since the last time.

    Raises:
        DeidError: `not-materialized` without detections; what `ReleaseSpec.build` raises.
    """
    measured_of = _measured_of(site)
    sealed = site.store.manifest(tables.LAB, tables.ALL)
    if sealed is None or sealed.meta.get("measured_of") != measured_of:
        return replace(_measured(site), measured_of=measured_of)
    meta = sealed.meta
    scores = {inputs: [LabScore(*row) for row in rows] for inputs, rows in meta["scores"].items()}
    return Laboratory(meta["gold"], meta["notes"], meta["withheld"], scores, measured_of, spared=True)


def _measured_of(site: Site) -> str:
    """A keyed digest of gold, topics and detections as they are sealed, policy, resamples and code."""
    names = (tables.GOLD_NOTES, tables.DETECTIONS, *(f"bench/{name}" for name in tables.TOPICS))
    sealed = [site.store.required(name, tables.ALL) for name in names]
    return site.keyring.digest(
        "lab",
        *(json.dumps([[part.digest for part in it.parts], dict(it.meta)], sort_keys=True) for it in sealed),
        site.policy.digest,
        str(site.settings.bench.resamples),
        *(package_digest(f"deid_platform.{package}") for package in _CODE),
        module_digest("deid_platform.labels", "deid_platform.release_note", __name__),
    )


def _measured(site: Site) -> Laboratory:
    store = site.store
    manifest = store.required(tables.DETECTIONS, tables.ALL)
    topics = tables.topics_of({name: store.rows(f"bench/{name}", tables.ALL) for name in tables.TOPICS})
    by_inputs = {inputs.value: list(_gold_notes(site, inputs.value)) for inputs in Inputs}
    resamples = site.settings.bench.resamples
    scores = {inputs: list(_of_detection(notes, topics, resamples)) for inputs, notes in by_inputs.items()}
    notes = by_inputs["topics"]
    released = list(_released(site, notes, topics))
    scores["topics"] += _of_release(released, topics, resamples)
    return Laboratory(manifest.meta["gold"], len(notes), len(notes) - len(released), scores)


def record(site: Site, found: Laboratory) -> int:
    """Writes the figures to quality.lab_score, unless they stand there already.

    Returns:
        How many figures there are.
    """
    detector = site.store.required(tables.DETECTIONS, tables.ALL).meta["detector_digest"]
    meta = {
        "measured_of": found.measured_of,
        "gold": found.gold,
        "notes": found.notes,
        "withheld": found.withheld,
        "detector_digest": detector,
        "policy_digest": site.policy.digest,
        "scores": {inputs: [list(astuple(it)) for it in some] for inputs, some in found.scores.items()},
    }
    if not found.spared:
        for inputs, some in found.scores.items():
            on = MeasuredOn(site.spec(None).name, detector, found.gold, inputs, site.policy.digest)
            record_lab_scores(site.warehouse.engine(Role.GATEKEEPER), on, some)
        site.store.write(tables.LAB, tables.ALL, [], meta=lambda: meta)
    return sum(map(len, found.scores.values()))


def _gold_notes(site: Site, inputs: str) -> Iterator[GoldNote]:
    found = {
        row["note_id"]: tables.spans_of(row["spans"])
        for row in site.store.stream(tables.DETECTIONS, tables.ALL)
        if row["inputs"] == inputs
    }
    for row in site.store.stream(tables.GOLD_NOTES, tables.ALL):
        note = tables.from_row(Note, row)
        yield GoldNote(note, tables.spans_of(row["gold"]), found[note.note_id])


def _of_detection(notes: Sequence[GoldNote], topics: Topics, resamples: int) -> Iterator[LabScore]:
    patients = [one.note.patient_id for one in notes]
    sexes = {patient_id: patient.sex for patient_id, patient in topics.patients.items()}
    for sex in ("F", "M"):
        of_sex = [it for it in notes if sexes.get(it.note.patient_id or "") == sex]
        counts = [count_note(it.note.text, it.gold, it.found, cluster=it.note.patient_id) for it in of_sex]
        scores = summarise(counts, resamples=resamples)
        for measure, estimate in (("recall", scores.recall), ("precision", scores.precision)):
            yield _share("words", measure, estimate, f"sex {sex}")
    for partly in Partly:
        end = "" if partly is Partly.GENEROUS else f"_{partly.value}"
        tokens = token_scores(
            (count_tokens(it.note.text, it.gold, it.found, partly=partly, cluster=it.note.patient_id) for it in notes),
            resamples=resamples,
        )
        for measure in ("recall", "precision", "f1"):
            yield _share("tokens", f"{measure}{end}", getattr(tokens, measure))
    pairs = [(it.gold, it.found) for it in notes]
    for overlapping, measure in ((False, "strict_f1"), (True, "overlapping_f1")):
        yield _ratio(
            "spans", measure, span_f1(pairs, patients, labels=False, overlapping=overlapping, resamples=resamples)
        )
    characters = character_scores(
        (count_characters(it.note.text, it.gold, it.found, cluster=it.note.patient_id) for it in notes),
        resamples=resamples,
    )
    yield _share("characters", "identifier_characters_found", characters.found)
    yield _share("characters", "other_characters_hidden", characters.hidden)
    table = missed_by_risk((it.read for it in notes), resamples=resamples)
    for row in (*table.by_risk, *table.rows):
        subject = f"risk {row.risk.value}" if row.category is None else row.category.value
        yield _share("missed", "share_missed", row.share, subject)
    exposed = exposure(exposure_note(it.read) for it in notes)
    yield _exact("disclosure", "notes_disclosed", exposed.notes)
    yield _exact("disclosure", "patients_disclosed", exposed.patients)
    at_site = at_notes_a_patient(exposed.notes, len(notes) / max(1, len(set(patients))))
    yield _exact("disclosure", "patient_disclosed_at_site", at_site)


def _released(site: Site, notes: Sequence[GoldNote], topics: Topics) -> Iterator[tuple[GoldNote, str]]:
    """Notes with the text that would be released; without those that would be withheld."""
    releaser = ReleaseSpec(site.policy, topics, site.keyring).build()
    for it in notes:
        release = releaser.release(it.note, it.found)
        if release.withheld is None and release.redaction is not None:
            yield it, release.redaction.text


def _of_release(released: Sequence[tuple[GoldNote, str]], topics: Topics, resamples: int) -> Iterator[LabScore]:
    left = residue(
        (note_residue(it.note.text, it.gold, text, cluster=it.note.patient_id) for it, text in released),
        resamples=resamples,
    )
    yield _ratio("residue", "alid", left.alid)
    yield _share("residue", "levenshtein_recall", left.lr)
    yield _share("residue", "direct_recall", left.lrdi)
    yield _ratio("residue", "quasi_recall", left.lrqi)
    yield from _linked(released, topics, resamples)
    judge = LexicalJudge()
    pairs = [Pair(it.note.text, text, it.note.patient_id) for it, text in released]
    kept = retention(note_retentions(pairs, judge), judge.identity, resamples=resamples)
    yield LabScore("retention", "lexical_retention", kept.mean, kept.low, kept.high, kept.notes)


def _linked(released: Sequence[tuple[GoldNote, str]], topics: Topics, resamples: int) -> Iterator[LabScore]:
    known = [(it.note, text) for it, text in released if it.note.patient_id in topics.patients]
    if not known:
        return

    def attacked(note: Note, text: str) -> AttackedNote:
        year = note.note_date.year if note.note_date else None
        return AttackedNote(text, note.patient_id or "", year, note.language or "en")

    after = link([attacked(note, text) for note, text in known], topics, resamples=resamples)
    before = link([attacked(note, note.text) for note, _ in known], topics, resamples=resamples)
    yield _ratio("linkage", "first", after.first)
    yield _ratio("linkage", "top_ten", after.top)
    yield LabScore("linkage", "chance", after.chance_first, n=len(known))
    yield _ratio("linkage", "first_raw", before.first)
    yield _ratio("linkage", "top_ten_raw", before.top)


def _share(family: str, measure: str, it: Estimate, subject: str = "ALL") -> LabScore:
    return LabScore(family, measure, it.value, it.low, it.high, it.total, subject)


def _ratio(family: str, measure: str, it: Ratio) -> LabScore:
    return LabScore(family, measure, it.value, it.low, it.high, it.n)


def _exact(family: str, measure: str, it: Exact) -> LabScore:
    return LabScore(family, measure, it.value, it.low, it.high, it.total)
