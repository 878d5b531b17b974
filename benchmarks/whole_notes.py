"""What the ensemble finds in whole notes of authors of whom it has learned nothing, by language.

    python benchmarks/whole_notes.py [--use sealed] [--author NAME]... [--model NAME]... [--by-author] [--json FILE]

Notes are those of the library (docs/library.md) that serve one use: `sealed`, `test`, `thresholds` or `training`. Word
recall and precision with the 95% interval of a bootstrap over notes, with what the master index knows and on the text
alone. "Clinical words hidden" is the share of the words that are no identifier's and are hidden all the same. A name,
number, contact or street is missed if any letter of it stands. Eponyms and brands of drugs are those that readers wrote
down (`whole_notes_terms.tsv`: note, kind, term), every mention outside identifiers; one is kept if no letter of
it is hidden. The last table has how many words of patients' names get the label of staff, and the other way round. What
is printed is Markdown, as docs/model.md shows it.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import aims
import numpy as np
from aims import estimate, table

from deid_platform.corpora.formats.marked import MarkedNote
from deid_platform.corpora.library.authors import Author, Use, authors, notes_by, topics_of
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.scores.bootstrap import Estimate, Resampling, column
from deid_platform.evaluation.scores.scores import NoteCounts, count_note, summarise
from deid_platform.evaluation.scores.tokens import touched, word_offsets
from deid_platform.labels import PERSONS, Label
from deid_platform.notes import Note

RESAMPLES = 1000
INPUTS = ("topics", "text")
NAMING = frozenset(Label) - {
    *(Label.PROFESSION, Label.HOSPITAL, Label.ORGANIZATION, Label.CITY, Label.STATE, Label.COUNTRY, Label.ZIP),
    *(Label.LOCATION_OTHER, Label.AGE, Label.DATE),
}
"""Names, numbers, contacts and streets."""
TERMS = Path(__file__).with_name("whole_notes_terms.tsv")
KINDS = {"eponym": "eponyms kept", "brand": "brands of drugs kept"}


@dataclass(frozen=True)
class Counted:
    """One note's counts.

    Attributes:
        counts: By the inputs.
        patients: Names of the note's own patient, and how many of them are hidden whole, by the inputs.
        terms: Mentions of a kind of term, and how many of them are kept, by the inputs and the kind.
        persons: Words of each kind of person's names, and how many of them get the other's label, by the inputs.
    """

    language: str
    counts: Mapping[str, NoteCounts]
    patients: Mapping[str, tuple[int, int]]
    terms: Mapping[tuple[str, str], tuple[int, int]]
    persons: Mapping[str, Mapping[Label, tuple[int, int]]]


def of_author(one: Author, spec: DetectorSpec) -> list[Counted]:
    """Detects in an author's notes, in one process."""
    written = list(notes_by(one))
    notes = [item.gold.note for item in written if item.gold.note is not None]
    specs = {"topics": replace(spec, topics=topics_of(written)), "text": spec}
    found = {inputs: list(_found(item, notes)) for inputs, item in specs.items()}
    return [
        Counted(
            one.language,
            {inputs: _counts(item, found[inputs][number]) for inputs in INPUTS},
            {inputs: _patients(item, found[inputs][number]) for inputs in INPUTS},
            {
                (inputs, kind): _kept(item, found[inputs][number], _terms().get((item.gold.note_id, kind), ()))
                for inputs in INPUTS
                for kind in KINDS
            },
            {inputs: _persons(item, found[inputs][number]) for inputs in INPUTS},
        )
        for number, item in enumerate(written)
    ]


def _found(spec: DetectorSpec, notes: Sequence[Note]) -> Iterable[tuple]:
    for _, detection in LocalEngine().detect_in_two_passes(spec, lambda: notes):
        if detection.spans is None:
            raise RuntimeError(detection.error)
        yield tuple(detection.spans)


def _counts(item: MarkedNote, found: tuple) -> NoteCounts:
    return count_note(item.gold.note.text, item.gold.spans, found, cluster=item.gold.note_id)


def _patients(item: MarkedNote, found: tuple) -> tuple[int, int]:
    gold = [
        s for s, whom in zip(item.gold.spans, item.whom, strict=True) if s.label is Label.PATIENT and whom == "patient"
    ]
    counts = count_note(item.gold.note.text, gold, found)
    return counts.entities, counts.covered_entities


def _persons(item: MarkedNote, found: tuple) -> dict[Label, tuple[int, int]]:
    words = word_offsets(item.gold.note.text)

    def of(label: Label, spans: Iterable) -> np.ndarray:
        return touched(words, [(span.start, span.end) for span in spans if span.label is label])

    gold, given = ({label: of(label, spans) for label in PERSONS} for spans in (item.gold.spans, found))
    pairs = (PERSONS, PERSONS[::-1])
    return {label: (int(gold[label].sum()), int((gold[label] & given[other]).sum())) for label, other in pairs}


@cache
def _terms() -> Mapping[tuple[str, str], list[str]]:
    """Terms by note and kind."""
    terms: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in TERMS.read_text(encoding="utf-8").splitlines():
        note, kind, term = line.split("\t")
        terms[note, kind].append(term)
    return terms


def _kept(item: MarkedNote, found: tuple, terms: Sequence[str]) -> tuple[int, int]:
    """Mentions of terms outside identifiers, and how many are kept. Of terms within others the longest counts."""
    if not terms:
        return 0, 0
    text = item.gold.note.text
    longest = "|".join(map(re.escape, sorted(terms, key=len, reverse=True)))
    mentions = [match.span() for match in re.finditer(rf"(?<!\w)(?:{longest})", text)]
    mentions = [place for place in mentions if not _shares(place, item.gold.spans)]
    return len(mentions), sum(not _shares(place, found) for place in mentions)


def _shares(place: tuple[int, int], spans: Iterable) -> bool:
    return any(span.start < place[1] and place[0] < span.end for span in spans)


def _missing(counts: NoteCounts) -> bool:
    return any(c.covered_entities < c.entities for label, c in counts.labels.items() if label in NAMING)


def measures(notes: Sequence[Counted]) -> dict[str, dict[str, Estimate]]:
    """Measure to inputs to its value."""
    measured: dict[str, dict[str, Estimate]] = defaultdict(dict)
    for inputs in INPUTS:
        counts = [note.counts[inputs] for note in notes]
        scores = summarise(counts, resamples=RESAMPLES)
        rows = np.array(
            [
                (
                    one.false_positives,
                    one.words - one.true_positives - one.false_negatives,
                    _missing(one),
                    1,
                    *reversed(note.patients[inputs]),
                    *(count for kind in KINDS for count in reversed(note.terms[inputs, kind])),
                )
                for one, note in zip(counts, notes, strict=True)
            ],
            dtype=np.float64,
        )
        share = Resampling(rows, [one.cluster for one in counts], resamples=RESAMPLES, seed=0).share
        measured["word recall"][inputs] = scores.recall
        measured["word precision"][inputs] = scores.precision
        measured["clinical words hidden"][inputs] = share(column(0), column(1))
        measured["notes with a missed name, number, contact or street"][inputs] = share(column(2), column(3))
        measured["patients' names, hidden whole"][inputs] = share(column(4), column(5))
        measured["notes with a missed identifier"][inputs] = scores.leak_rate
        for number, said in enumerate(KINDS.values()):
            measured[said][inputs] = share(column(6 + 2 * number), column(7 + 2 * number))
    return measured


def by_label(notes: Sequence[Counted]) -> str:
    """Recall and precision by label."""
    scores = {inputs: summarise([n.counts[inputs] for n in notes], resamples=RESAMPLES).labels for inputs in INPUTS}
    rows = []
    for label in sorted(set(scores["topics"]) | set(scores["text"]), key=lambda item: item.value):
        both = [scores[inputs].get(label) for inputs in INPUTS]
        values = [estimate(getattr(one, name)) if one else "-" for name in ("recall", "precision") for one in both]
        rows.append((label.value, f"{both[0].recall.total:,}" if both[0] else "0", *values))
    head = (
        "label",
        "words",
        "recall with topics",
        "recall, text alone",
        "precision with topics",
        "precision, text alone",
    )
    return table(head, rows)


def of_persons(notes: Sequence[Counted]) -> str:
    """Words of each kind of person's names that get the label of the other kind."""
    rows = []
    for label, other in (PERSONS, PERSONS[::-1]):
        counts = [[note.persons[inputs][label] for note in notes] for inputs in INPUTS]
        words, wrong = (tuple(sum(pair[at] for pair in some) for some in counts) for at in (0, 1))
        shares = [f"{few:,} ({few / max(1, of):.3f})" for few, of in zip(wrong, words, strict=True)]
        rows.append((label.value, f"{words[0]:,}", other.value, *shares))
    return table(("names of", "words", "labelled", "with topics", "text alone"), rows)


def of_aims(measured: Mapping[str, Mapping[str, Mapping[str, Estimate]]]) -> dict[str, str]:
    """What was measured, by the measures that there are aims for."""
    said = {"topics": "with topics", "text": "text alone"}
    values = {
        aims.ON_WHOLE.format(measure, said[inputs] if group == "all" else f"{group}, {said[inputs]}"): estimate(value)
        for group, by_measure in measured.items()
        for measure, by_inputs in by_measure.items()
        for inputs, value in by_inputs.items()
    }
    return {name: value for name, value in values.items() if name in aims.AIMS}


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--use", default=Use.SEALED.value, choices=[use.value for use in Use])
    parser.add_argument("--author", action="append", help="only these of them")
    parser.add_argument("--detector", default="ensemble")
    parser.add_argument("--model", action="append")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--by-author", action="store_true")
    aims.add_json(parser)
    arguments = parser.parse_args()
    models = tuple(arguments.model) if arguments.model else None
    spec = DetectorSpec(arguments.detector, professions=True, models=models)
    chosen = [one for one in authors(Use(arguments.use)) if not arguments.author or one.name in arguments.author]
    with ProcessPoolExecutor(arguments.workers) as pool:
        written = dict(zip(chosen, pool.map(partial(of_author, spec=spec), chosen), strict=True))
    groups: dict[str, list[Counted]] = {"all": [], **{language: [] for language in ("en", "es", "it", "fr", "de")}}
    for one, notes in written.items():
        groups["all"] += notes
        groups[one.language] += notes
        if arguments.by_author:
            groups[one.name] = notes
    groups = {name: notes for name, notes in groups.items() if notes}
    measured = {name: measures(notes) for name, notes in groups.items()}
    for inputs, title in (("topics", "With what the master index knows"), ("text", "On the text alone")):
        print(f"{title}:\n")
        rows = [
            (group, f"{len(groups[group]):,}", *(estimate(values[inputs]) for values in by_measure.values()))
            for group, by_measure in measured.items()
        ]
        print(table(("", "notes", *measured["all"]), rows))
    print(by_label(groups["all"]), of_persons(groups["all"]), sep="\n")
    beside = of_aims(measured)
    aims.keep(arguments.json, beside)
    print(aims.beside_aims(beside))


if __name__ == "__main__":
    main()
