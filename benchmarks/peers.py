"""De-identifiers of others beside the ensemble and its rules, on the same notes and in the same run.

    python benchmarks/peers.py PEER=INTERPRETER... [--gold NOTES.jsonl [--topics FOLDER]]
                               [--corpus mtsamples]... [--locale en_US]... [--notes 5] [--model minilm]
                               [--figure FILE]

PEER is `[modified-]NAME[:ENGINE:MODEL]` (docs/peers.md), INTERPRETER that of the environment that has it. NOTES.jsonl
is a gold file with texts (docs/gate.md), FOLDER holds its patients.csv, providers.csv and facilities.csv. Without a
gold file, notes are the first of the test parts of surrogate corpora in English (docs/corpora.md, DEID_CORPORA). With a
model, it is measured alone, and joined with each Presidio, varied where that is: what either finds.

Every measure is by words: a word counts as found if any character of it is covered. Two tables are printed. In the
first, all labels count. In the second, each peer has only the labels that it claims, and beside it stand the ensemble
and the rules on these labels, from the text alone, as peers read it. Of the clinical sentences, a share is intact:
nothing in them is hidden. Words a second are of processor time on one core, without start-up.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import aims

from deid_platform.bench.leaderboard.corpora import CorpusKey, notes_of_test
from deid_platform.bench.leaderboard.reading import Reading, joined, read_own, read_peer
from deid_platform.corpora import Role
from deid_platform.corpora.gold import read_gold
from deid_platform.deidentify.files import read_topics
from deid_platform.detection import DetectorSpec
from deid_platform.detection.named import own
from deid_platform.detection.peers.process import Peer, PeerProcess
from deid_platform.errors import DeidError
from deid_platform.evaluation.comparison.claimed import count_claimed
from deid_platform.evaluation.experiments.efficiency import Point, frontier
from deid_platform.evaluation.scores.scores import Scores, summarise
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.reports.drawing import BLUE, ORANGE
from deid_platform.surrogates.locales import LOCALES

SENTENCES = Path(__file__).parents[1] / "tests" / "detection" / "cases" / "clinical-sentences.txt"
ENGLISH = ("mtsamples", "aci_bench", "primock57", "e3c_en", "asq_phi")
ALL = frozenset(Label)


@dataclass(frozen=True)
class Row:
    """What one detector hid, and which labels it claims."""

    name: str
    reading: Reading
    labels: frozenset[Label] = ALL

    @property
    def seconds(self) -> float:
        """Of processor time, on one core."""
        return self.reading.seconds or 0.0


def ours(name: str, spec: DetectorSpec, notes: Sequence[Note], *, variant: bool = False) -> Row:
    """One of the platform's detectors in this process."""
    return Row(name, read_own(spec, notes, variant=variant), ALL - {Label.AGE} if variant else ALL)


def theirs(peer: Peer, notes: Sequence[Note]) -> Row:
    """A peer in its own interpreter."""
    with PeerProcess(peer) as process:
        row = Row(peer.name, read_peer(process, notes), peer.labels)
    if process.unclaimed:
        print(f"{peer.name}: kinds that are in no crosswalk: {', '.join(sorted(process.unclaimed))}", file=sys.stderr)
    return row


def scored(row: Row, notes: Sequence[Note], gold: Sequence[Sequence[Span]], labels: Collection[Label]) -> Scores:
    """The scores of a detector on some labels."""
    counts = (
        count_claimed(
            note.text,
            spans,
            [(start, end) for start, end, _ in hidden],
            [(start, end) for start, end, of in hidden if labels == ALL or of & labels],
            labels,
            cluster=note.patient_id,
        )
        for note, spans, hidden in zip(notes, gold, row.reading.hidden, strict=False)
    )
    return summarise(counts)


def shown(scores: Scores) -> tuple[str, str]:
    """Precision and recall."""
    precision, recall = ("-" if it.value is None else f"{it.value:.3f}" for it in (scores.precision, scores.recall))
    return precision, recall


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> None:
    """Prints a table in Markdown, each row as soon as it is known."""
    for line in (head, ["---"] * len(head)):
        print(f"| {' | '.join(line)} |")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print()


def notes_of(arguments: argparse.Namespace) -> tuple[list[Note], list[Sequence[Span]]]:
    """Notes with their gold, of a file or of surrogate corpora."""
    if arguments.gold:
        read = [one for one in read_gold(arguments.gold) if one.note is not None]
        return [one.note for one in read], [one.spans for one in read]
    notes: list[Note] = []
    gold: list[Sequence[Span]] = []
    for corpus in arguments.corpus or ENGLISH:
        for where in arguments.locale or LOCALES:
            made, _ = notes_of_test(None, CorpusKey(corpus, where), most=arguments.notes)
            # Ids are those of one corpus and locale.
            whose = f"{corpus}/{where}/"
            notes += [Note(whose + one.note.note_id, one.note.text, whose + str(one.note.patient_id)) for one in made]
            gold += [one.gold for one in made]
    return notes, gold


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers", nargs="*", metavar="PEER=INTERPRETER", type=peer_of)
    parser.add_argument("--gold", type=Path)
    parser.add_argument("--topics", type=Path)
    parser.add_argument("--corpus", action="append")
    parser.add_argument("--locale", action="append", choices=LOCALES)
    parser.add_argument("--notes", type=int, default=5, help="the most of each corpus and locale")
    aims.add_json(parser)
    parser.add_argument("--figure", type=Path, help="a PNG of recall against speed")
    parser.add_argument("--model", help="a shipped model or a folder, alone and joined with each Presidio")
    arguments = parser.parse_args()
    notes, gold = notes_of(arguments)
    lines = SENTENCES.read_text("utf-8").splitlines()
    sentences = [Note(f"s{i}", line) for i, line in enumerate(lines) if line and not line.startswith("#")]
    everything = [*notes, *sentences]
    words = sum(len(note.text.split()) for note in notes)
    print(f"{len(notes):,} notes, {words:,} words, {len(sentences):,} clinical sentences\n", flush=True)
    words += sum(len(note.text.split()) for note in sentences)

    kept: dict[str, Row] = {}
    points: list[Point] = []

    def rows() -> Iterator[Sequence[str]]:
        for row in measured(arguments, everything):
            kept[row.name] = row
            intact = sum(not spans for spans in row.reading.hidden[len(notes) :]) / len(sentences)
            speed, scores = words / max(row.seconds, 1e-6), scored(row, notes, gold, ALL)
            points.append(Point(row.name.removesuffix(", text alone"), "", speed, scores.recall.value or 0.0))
            yield row.name, *shown(scores), f"{intact:.3f}", f"{speed:,.0f}"

    table(("all labels", "precision", "recall", "sentences intact", "words/s"), rows())

    if arguments.figure is not None:
        draw(points, arguments.figure)
    ratio = {name: row.seconds / kept[OURS[0]].seconds for name, row in kept.items() if name.startswith("pydeid")}
    if ratio:
        aims.keep(arguments.json, {aims.PEER: ", ".join(f"{it:.2f}" for it in ratio.values())})

    def of_claims() -> Iterator[Sequence[str]]:
        for row in kept.values():
            if row.labels != ALL:
                beside = (row, kept[OURS[0]], kept[OURS[1]])
                measures = (measure for it in beside for measure in shown(scored(it, notes, gold, row.labels)))
                some = sum(span.label in row.labels for spans in gold for span in spans)
                yield row.name, str(len(row.labels)), f"{some:,}", *measures

    head = ("claimed labels", "labels", "identifiers", "precision", "recall")
    table((*head, *(f"{name}, {it}" for name in ("ensemble", "rules") for it in ("precision", "recall"))), of_claims())


OURS = ("ensemble, text alone", "rules, text alone")


def draw(points: Sequence[Point], path: Path) -> None:
    """Recall against words a second, as Zambare 2026, figure 1; those that none beats in both are joined."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.subplots()
    best = sorted(frontier(points), key=lambda it: it.words_per_second)
    axes.plot([it.words_per_second for it in best], [it.recall for it in best], color=ORANGE, linestyle="--")
    for it in points:
        axes.plot(it.words_per_second, it.recall, color=BLUE, marker="o")
        axes.annotate(it.detector, (it.words_per_second, it.recall), (5, -11), textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel("words a second of processor time, one core, logarithmic")
    axes.set_ylabel("share of identifying words found")
    axes.set_ylim(0, 1.05)
    axes.margins(x=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def peer_of(written: str) -> Peer:
    """A peer of the command line."""
    try:
        return Peer.parse(written)
    except DeidError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def measured(arguments: argparse.Namespace, notes: Sequence[Note]) -> Iterator[Row]:
    """Each detector in turn: ours, then peers, and a model with them."""
    known: list[tuple[str, Callable[[str], DetectorSpec]]] = [
        ("text alone", lambda name: DetectorSpec(name, professions=True))
    ]
    if arguments.topics:
        roles = (Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES)
        topics = read_topics({role: arguments.topics / f"{role.value}.csv" for role in roles})[0]
        known.insert(0, ("with topics", lambda name: DetectorSpec(name, topics=topics, professions=True)))
    for name in ("ensemble", "rules"):
        for inputs, spec in known:
            yield ours(f"{name}, {inputs}", spec(name), notes)
    base = DetectorSpec("ensemble", professions=True)
    model = varied = None
    if arguments.model:
        alone = own(f"model:{arguments.model}", base)
        model = ours(alone.name, alone.spec, notes)
        yield model
    for peer in arguments.peers:
        row = theirs(peer, notes)
        yield row
        if model is None or peer.adapter != "presidio":
            continue
        if peer.variant and varied is None:
            varied = ours(f"modified-{model.name}", alone.spec, notes, variant=True)
        mine = varied if peer.variant and varied is not None else model
        yield Row(f"{mine.name}+{peer.name}", joined(mine.reading, row.reading), mine.labels | row.labels)


if __name__ == "__main__":
    main()
