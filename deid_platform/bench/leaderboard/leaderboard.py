"""The leaderboard: any detector on any surrogate corpus, or on a site's own gold, measured once and recorded.

Belongs here: one detector on one corpus in one locale, from notes to recorded figures; a plan of many. Does not belong
here: the detectors (`detectors.py`), formulas (`evaluation/`), or the mart
(`dbt/models/marts/leaderboard.sql`).

What was measured is sealed in the note store with the digests of the detector, of the notes and of what measures. While
none of the three changes it is not measured again, so a run that stopped goes on where it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from typing import Any

from deid_platform.bench.gate.held_out import look
from deid_platform.bench.leaderboard.corpora import CorpusKey, notes_as_written, test_notes
from deid_platform.bench.leaderboard.detectors import Detectors, MeasuredDetector, word_of
from deid_platform.bench.leaderboard.paper_figures import of_names, of_patients_alone, of_tokens
from deid_platform.bench.leaderboard.plan import BenchPlan
from deid_platform.bench.leaderboard.reading import Reading
from deid_platform.bench.leaderboard.readings_released import of_codes, of_occurrences, released
from deid_platform.corpora.catalogue import corpus_of, has_gold_as_written, is_carrier
from deid_platform.detection.peers.claims import CLAIMS, claimed
from deid_platform.detection.peers.process import Peer
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.comparison.claimed import count_claimed
from deid_platform.evaluation.scores.bootstrap import Estimate
from deid_platform.evaluation.scores.scores import count_note, summarise
from deid_platform.keys import module_digest, plain_digest
from deid_platform.labels import Label
from deid_platform.notes import Note, Span, Topics
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.lock import installation_lock
from deid_platform.refresh.installation.site import Site
from deid_platform.reports.leaderboard_table import Scored
from deid_platform.runtime.stopping import check
from deid_platform.warehouse.gate.staging import Inputs
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.quality.lab import LabScore, MeasuredOn, lab_scores, record_lab_scores
from deid_platform.warehouse.server.roles import Role

_ENGLISH = "en"
_CODE = (
    *(f"deid_platform.evaluation.scores.{name}" for name in ("bootstrap", "by_length", "name_groups", "scores")),
    *(f"deid_platform.evaluation.scores.{name}" for name in ("token_scores", "tokens")),
    *(f"deid_platform.evaluation.{name}" for name in ("comparison.claimed", "panel.occurrence_counts")),
    *(f"deid_platform.evaluation.{name}" for name in ("released.tags", "retention.icd")),
    *(
        f"{__package__}.{name}"
        for name in ("detectors", "leaderboard", "paper_figures", "reading", "readings_released")
    ),
    "deid_platform.detection.peers.claims",
)
_MEASURES = ("recall", "precision", "f1", "entity_recall", "leak_rate", "clinical_retention")
_ON_CLAIMS = ("recall", "precision", "f1", "entity_recall")
_PLAIN_NAME = re.compile(r"[a-z-]{1,24}")


@dataclass(frozen=True, repr=False)
class NotesToScore:
    """The first notes of a test part, with what is true of them.

    Attributes:
        key: Which corpus and locale.
        word: What the warehouse calls their gold.
        locale: What stands beside it there; empty for gold as it is written.
        language: Of the notes.
        notes: The notes.
        gold: The spans of each.
        topics: Of their patients, and the corpus's staff and clinics; None where there are none.
        digest: Keyed, of all of these.
    """

    key: CorpusKey
    word: str
    locale: str
    language: str
    notes: Sequence[Note]
    gold: Sequence[Sequence[Span]]
    topics: Topics | None
    digest: str

    def __repr__(self) -> str:
        return f"<NotesToScore: {self.key.partition}>"

    @property
    def words(self) -> int:
        """Runs without blanks."""
        return sum(len(note.text.split()) for note in self.notes)


@dataclass(frozen=True)
class Measured:
    """What one detector scores on one corpus in one locale.

    Attributes:
        key: Which corpus and locale.
        name: The detector, as plans name it.
        scored: By what it was given.
        anew: Whether it was measured just now.
    """

    key: CorpusKey
    name: str
    scored: Sequence[Scored]
    anew: bool


@dataclass(frozen=True)
class NotMeasured:
    """What could not be measured, and the failure."""

    key: CorpusKey
    name: str
    failure: DeidError


@dataclass(frozen=True)
class WithoutNotes:
    """A corpus in a locale of which no note is in its test part."""

    key: CorpusKey


def notes_to_score(site: Site, key: CorpusKey, most: int) -> NotesToScore:
    """The first notes of the test part of a corpus; no detector has read them yet.

    Raises:
        DeidError: `input-empty` if there is none; what `test_notes` and `notes_as_written` raise.
    """
    topics: Topics | None = None
    if key.as_written:
        marked = notes_as_written(site.settings, key, most=most)
    else:
        made, topics = test_notes(site, key, most=most)
        marked = [(one.note, one.gold) for one in made]
    if not marked:
        raise DeidError(Code.INPUT_EMPTY, f"{key.partition}: no test note")
    parts: list[str] = []
    for note, gold in marked:
        spans = (f"{it.start} {it.end} {it.label.value}" for it in gold)
        parts += (note.note_id, note.patient_id or "", note.text, "\n".join(spans))
    digest = site.keyring.digest("test notes", *parts, site.spec(topics).dictionary_digest(site.keyring))
    language = corpus_of(key.corpus, site.settings).language
    notes, golds = zip(*marked, strict=True)
    return NotesToScore(key, *key.gold(site.settings), language, notes, golds, topics, digest)


class Leaderboard:
    """Measures and records, and knows what is recorded.

    Args:
        site: The installation.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._recorded: dict[str, set[tuple[str, str, str]]] = {}

    def is_measured(self, detector: MeasuredDetector, given: NotesToScore) -> bool:
        """Whether a detector was measured on these notes, and the figures are in the warehouse.

        Raises:
            DeidError: As the warehouse does.
        """
        return self._sealed(detector, given) is not None and self._is_recorded(detector, given)

    def measured(self, detector: MeasuredDetector, given: NotesToScore) -> Measured:
        """What a detector scores on notes, measured and recorded unless that was done.

        Raises:
            DeidError: `detector-failed`, `peer-failed`, `endpoint-failed`; `warehouse-not-ready` if the warehouse does
                not know the words of the figures; what the store and the warehouse raise.
        """
        sealed = self._sealed(detector, given)
        if sealed is not None and self._is_recorded(detector, given):
            return Measured(given.key, detector.name, sealed, anew=False)
        # Before any figure is computed; a warehouse that lost its figures has lost that look too.
        taken = self._look(detector, given)
        scored = sealed or list(_measure(detector, given, self._site.settings.bench.resamples))
        # Nothing else refreshes the installation meanwhile; measuring, which takes long, holds up nobody.
        with installation_lock(self._site.settings.home_path, wait=True):
            self._record(detector, given, scored, taken)
        return Measured(given.key, detector.name, scored, anew=sealed is None)

    def _look(self, detector: MeasuredDetector, given: NotesToScore) -> int:
        notes = ((note, gold, ()) for note, gold in zip(given.notes, given.gold, strict=True))
        try:
            return look(
                self._site,
                notes,
                gold=given.word,
                locale=given.locale,
                detector_digest=detector.digest,
                purpose=Purpose.COMPARE,
            ).number
        except DeidError as error:
            if (error.code, error.ref) == (Code.HELD_OUT_REFUSED, "gold"):
                # A corpus that deid.toml has had only since the last bootstrap is on no list yet.
                raise DeidError(Code.WAREHOUSE_NOT_READY, given.word) from None
            raise

    def _sealed(self, detector: MeasuredDetector, given: NotesToScore) -> list[Scored] | None:
        manifest = self._site.store.manifest(tables.DETECTOR_SCORES, _partition(detector, given.key))
        if manifest is None or manifest.meta["digests"] != self._digests(detector, given):
            return None
        return [
            Scored(**{**row, "scores": [LabScore(*figure) for figure in row["scores"]]})
            for row in manifest.meta["scored"]
        ]

    def _digests(self, detector: MeasuredDetector, given: NotesToScore) -> list[str]:
        code = plain_digest(module_digest(*_CODE), str(self._site.settings.bench.resamples))
        return [detector.digest, given.digest, code]

    def _is_recorded(self, detector: MeasuredDetector, given: NotesToScore) -> bool:
        known = self._recorded.get(detector.digest)
        if known is None:
            found = lab_scores(self._site.warehouse.engine(Role.OFFICER), detector.digest)
            known = self._recorded[detector.digest] = {(on.detector, on.gold, on.locale) for on, _ in found}
        # One detector may have two words: a site's own model in its ensemble, and the same as a plan names it.
        return (detector.word, given.word, given.locale) in known

    def _record(self, detector: MeasuredDetector, given: NotesToScore, scored: Sequence[Scored], taken: int) -> None:
        for it in scored:
            on = MeasuredOn(*(detector.word, detector.digest, given.word, it.given), locale=given.locale, look=taken)
            record_lab_scores(self._site.warehouse.engine(Role.GATEKEEPER), on, it.scores)
        self._recorded.pop(detector.digest, None)
        if not self._is_recorded(detector, given):
            # Of a word that is on no list, nobody sees a figure.
            raise DeidError(Code.WAREHOUSE_NOT_READY)
        meta = {
            "digests": self._digests(detector, given),
            "scored": [{**_plain(it), "scores": [list(astuple(figure)) for figure in it.scores]} for it in scored],
        }
        self._site.store.write(tables.DETECTOR_SCORES, _partition(detector, given.key), [], meta=lambda: meta)


def here(site: Site, plan: BenchPlan) -> tuple[list[CorpusKey], list[str]]:
    """The corpora of a plan that are here, in their locales; and the names of those that are not.

    Raises:
        DeidError: `corpus-unknown`; `plan-invalid` for a corpus that cannot be measured as it is written.
    """
    corpora = {name: corpus_of(name, site.settings) for name in plan.corpora}
    for key in plan.corpus_keys():
        if key.as_written and not has_gold_as_written(corpora[key.corpus], site.settings):
            raise DeidError(Code.PLAN_INVALID, f"corpora.{key.corpus}.locales (it has no gold as it is written)")
    found = {name: is_carrier(corpus, site.settings) for name, corpus in corpora.items()}
    return [key for key in plan.corpus_keys() if found[key.corpus]], [
        name for name, is_here in found.items() if not is_here
    ]


def carried_out(
    site: Site, plan: BenchPlan, keys: Iterable[CorpusKey], detectors: Detectors
) -> Iterator[Measured | NotMeasured | WithoutNotes]:
    """Measures detectors on corpora, each on the languages that it reads; one without test notes is left out.

    Args:
        site: The installation.
        plan: Says how many notes of each corpus.
        keys: Which corpora, in which locales.
        detectors: Of these, a peer that fails is started anew for the next corpus.

    Raises:
        KeyboardInterrupt: The process was asked to stop.
        DeidError: What `Leaderboard.measured` raises but failures of detectors.
    """
    board = Leaderboard(site)
    for given in notes_of_plan(site, plan, keys):
        if isinstance(given, WithoutNotes):
            yield given
            continue
        for detector in detectors:
            check()
            if not detector.reads(given.language):
                continue
            try:
                yield board.measured(detector, given)
            except DeidError as error:
                if error.code not in (Code.PEER_FAILED, Code.DETECTOR_FAILED, Code.ENDPOINT_FAILED):
                    raise
                detectors.again(detector.name)
                yield NotMeasured(given.key, detector.name, error)


def notes_of_plan(site: Site, plan: BenchPlan, keys: Iterable[CorpusKey]) -> Iterator[NotesToScore | WithoutNotes]:
    """The notes of each corpus in a locale.

    Raises:
        DeidError: What `notes_to_score` raises but `input-empty`.
    """
    for key in keys:
        try:
            yield notes_to_score(site, key, plan.notes_of(key.corpus))
        except DeidError as error:
            if error.code is not Code.INPUT_EMPTY:
                raise
            yield WithoutNotes(key)


def _measure(detector: MeasuredDetector, given: NotesToScore, resamples: int) -> Iterator[Scored]:
    """The one place where a detector reads notes of a test part for the leaderboard."""
    for inputs, reading in detector.read(given.notes, given.topics):
        scores = list(_figures(reading, given, resamples))
        if given.language == _ENGLISH and inputs is Inputs.TEXT:
            own = detector.claims is not None
            # Of a prompt, whichever model was asked.
            whose = detector.word.partition("@")[0]
            claims = {whose: detector.claims} if detector.claims is not None else claims_of_peers()
            for word, labels in claims.items():
                scores += _on_claims(reading, given, word, labels, resamples, own=own)
        yield Scored(
            *(detector.name, inputs.value, given.language == _ENGLISH, len(given.notes), given.words),
            *(reading.seconds, scores),
        )


@cache
def claims_of_peers() -> Mapping[str, frozenset[Label]]:
    """The labels that each kind of peer claims, by its word in the leaderboard; of variants none."""
    found: dict[str, frozenset[Label]] = {}
    for adapter, engines in CLAIMS.items():
        for engine, claims in engines.items():
            peer = Peer.parse(f"{adapter}:{engine}:model=" if engine else f"{adapter}=")
            found[word_of(peer)] = claimed(claims)
    return found


def _figures(reading: Reading, given: NotesToScore, resamples: int) -> Iterator[LabScore]:
    found = [
        [Span(it.start, it.end, min(it.labels, default=Label.IDNUM)) for it in hidden] for hidden in reading.hidden
    ]
    read = list(zip(given.notes, given.gold, found, strict=True))
    counts = [count_note(note.text, gold, spans, cluster=note.patient_id) for note, gold, spans in read]
    words = summarise(counts, resamples=resamples)
    for measure in _MEASURES:
        yield from _share("words", measure, getattr(words, measure))
    if (failed := reading.failed) is not None:
        # Beside all of these, where failed notes are missed: without them, as Murugadoss 2024 counts.
        yield LabScore("words", "notes_failed", len(failed) / len(counts), n=len(counts))
        answered = summarise([it for number, it in enumerate(counts) if number not in failed], resamples=resamples)
        for measure in ("recall", "precision", "f1"):
            yield from _share("words", f"{measure}_answered", getattr(answered, measure))
    texts = [(note.text, gold, spans, note.patient_id) for note, gold, spans in read]
    yield from (it for it in of_tokens(texts, resamples) if it.n)
    if given.topics is not None:  # of gold as it is written, neither
        yield from (it for it in of_patients_alone(texts, resamples) if it.n)
        sexes = {patient_id: patient.sex or "" for patient_id, patient in given.topics.patients.items()}
        yield from of_names(texts, sexes, given.locale, resamples)
    releases = released(given.notes, given.gold, reading)
    yield from of_occurrences(releases)
    yield from of_codes(releases, resamples)
    if reading.seconds is not None:
        seconds = max(reading.seconds, 1e-6)
        yield LabScore("cost", "words_per_second", given.words / seconds)
        yield LabScore("cost", "seconds_per_note", seconds / len(given.notes))


def _on_claims(
    reading: Reading, given: NotesToScore, word: str, labels: frozenset[Label], resamples: int, *, own: bool
) -> Iterator[LabScore]:
    """Figures on the labels that a peer claims: of the peer itself, or of another detector beside it."""
    counts = (
        count_claimed(
            note.text,
            gold,
            [(it.start, it.end) for it in hidden],
            [(it.start, it.end) for it in hidden if it.labels & labels],
            labels,
            cluster=note.patient_id,
        )
        for note, gold, hidden in zip(given.notes, given.gold, reading.hidden, strict=True)
    )
    scores = summarise(counts, resamples=resamples)
    subject = f"claimed by {word}"
    for measure in _ON_CLAIMS if own else _ON_CLAIMS[:2]:
        yield from _share("words", measure, getattr(scores, measure), subject)
    if own:
        yield LabScore("words", "labels_claimed", float(len(labels)), n=scores.recall.total, subject=subject)


def _share(family: str, measure: str, it: Estimate, subject: str = "ALL") -> Iterator[LabScore]:
    if it.total:  # published notes have no clinical terms, and some detectors hide nothing
        yield LabScore(family, measure, it.value, it.low, it.high, it.total, subject)


def _partition(detector: MeasuredDetector, key: CorpusKey) -> str:
    plain = _PLAIN_NAME.fullmatch(detector.name)
    name = detector.name if plain else f"{detector.word}-{plain_digest(detector.name)[:8]}"
    return f"{key.partition}.{name}"


def _plain(it: Scored) -> dict[str, Any]:
    return {name: value for name, value in vars(it).items() if name != "scores"}
