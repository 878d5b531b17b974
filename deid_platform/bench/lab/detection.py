"""What the laboratory measures of the spans that were found in gold notes.

Belongs here: which measures of detection go to `quality`, under which names. Does not belong here: any formula
(`evaluation/`), or what is measured of released texts (`bench/lab/release.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from deid_platform.bench.lab.notes import GoldNote, of_exact, of_ratio, of_share
from deid_platform.bench.leaderboard.paper_figures import of_tokens
from deid_platform.evaluation.disclosure.adversary import at_notes_a_patient, exposure, exposure_note
from deid_platform.evaluation.scores.characters import character_scores, count_characters
from deid_platform.evaluation.scores.design_weights import Design, Stratum, weighted_scores
from deid_platform.evaluation.scores.missed_by_risk import ReadNote, missed_by_risk
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN, NoteCounts, count_note, summarise
from deid_platform.evaluation.scores.span_scores import span_f1
from deid_platform.notes import Topics
from deid_platform.warehouse.quality.lab import LENGTHS, LabScore

FROM_WORDS = (0, 100, 300, 600, 1200)
"""Words from which on a note is of each of `LENGTHS`."""


def of_detection(notes: Sequence[GoldNote], topics: Topics, resamples: int) -> Iterator[LabScore]:
    """Every figure of the spans that were found."""
    patients = [one.note.patient_id for one in notes]
    counts = [count_note(it.note.text, it.gold, it.found, cluster=it.note.patient_id) for it in notes]
    sexes = {patient_id: patient.sex for patient_id, patient in topics.patients.items()}
    for sex in ("F", "M"):
        of_sex = [some for it, some in zip(notes, counts, strict=True) if sexes.get(it.note.patient_id or "") == sex]
        scores = summarise(of_sex, resamples=resamples)
        for measure, estimate in (("recall", scores.recall), ("precision", scores.precision)):
            yield of_share("words", measure, estimate, f"sex {sex}")
    yield from _by_length(counts, resamples)
    yield from of_tokens([(it.note.text, it.gold, it.found, it.note.patient_id) for it in notes], resamples)
    pairs = [(it.gold, it.found) for it in notes]
    for overlapping, measure in ((False, "strict_f1"), (True, "overlapping_f1")):
        yield of_ratio(
            "spans", measure, span_f1(pairs, patients, labels=False, overlapping=overlapping, resamples=resamples)
        )
    characters = character_scores(
        (count_characters(it.note.text, it.gold, it.found, cluster=it.note.patient_id) for it in notes),
        resamples=resamples,
    )
    yield of_share("characters", "identifier_characters_found", characters.found)
    yield of_share("characters", "other_characters_hidden", characters.hidden)
    table = missed_by_risk((it.read for it in notes), resamples=resamples)
    for row in (*table.by_risk, *table.by_category):
        subject = f"risk {row.risk.value}" if row.category is None else row.category.value
        yield of_share("missed", "share_missed", row.share, subject)
    exposed = exposure(exposure_note(it.read) for it in notes)
    yield of_exact("disclosure", "notes_disclosed", exposed.notes)
    yield of_exact("disclosure", "patients_disclosed", exposed.patients)
    untouched = exposure(exposure_note(ReadNote(it.note.text, it.gold, (), it.note.patient_id)) for it in notes)
    yield of_exact("disclosure", "notes_disclosed_raw", untouched.notes)
    yield of_exact("disclosure", "patients_disclosed_raw", untouched.patients)
    at_site = at_notes_a_patient(exposed.notes, len(notes) / max(1, len(set(patients))))
    yield of_exact("disclosure", "patient_disclosed_at_site", at_site)


def _by_length(counts: Sequence[NoteCounts], resamples: int) -> Iterator[LabScore]:
    """Words found by the words of the note; a length that few notes have is left out."""
    ends = (*FROM_WORDS[1:], None)
    for subject, least, below in zip(LENGTHS, FROM_WORDS, ends, strict=True):
        some = [it for it in counts if it.words >= least and (below is None or it.words < below)]
        if len(some) >= SMALLEST_SHOWN:
            scores = summarise(some, resamples=resamples)
            for measure in ("recall", "precision", "f1"):
                yield of_share("length", measure, getattr(scores, measure), subject)


def of_site(
    notes: Sequence[GoldNote], strata: Mapping[str, Stratum], population: Mapping[Stratum, int], resamples: int
) -> Iterator[LabScore]:
    """Recall and precision as all of the site's notes would have them, from a sample of them.

    Args:
        notes: Sampled notes with gold.
        strata: Note id -> where each sampled note belongs.
        population: Notes of each stratum.
        resamples: Of the bootstrap.
    """
    counts = [count_note(it.note.text, it.gold, it.found, cluster=it.note.patient_id) for it in notes]
    of_each = [strata[it.note.note_id] for it in notes]
    scores = weighted_scores(counts, of_each, Design(population, Counter(of_each)), resamples=resamples)
    yield of_ratio("words", "recall_of_site", scores.recall)
    yield of_ratio("words", "precision_of_site", scores.precision)
