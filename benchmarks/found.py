"""How well identifiers are found, on the synthetic hospital, and who could be found by what is left.

    python benchmarks/found.py [--notes 300] [--seed 7] [--part shown] [--detector rules] [--alone] [--resamples 1000]

Notes are released with surrogates under a key of this file, without the leak check: what it would withhold is measured
too. `--alone` detects on the text alone. Intervals are bootstraps over patients. What a release's texts alone show,
`deid evaluate --policy` measures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

from accuracy import written

from deid_platform.corpora.hospital import HospitalSpec, Part
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.disclosure.adversary import at_notes_a_patient, exposure, exposure_note
from deid_platform.evaluation.disclosure.linkage import AttackedNote, link
from deid_platform.evaluation.disclosure.plain_sight import plain_sight
from deid_platform.evaluation.disclosure.plain_sight_simulation import compared
from deid_platform.evaluation.disclosure.shown_mentions import ReleasedNote, shown_mentions
from deid_platform.evaluation.experiments.stability import stability
from deid_platform.evaluation.scores.bootstrap import Estimate, Ratio
from deid_platform.evaluation.scores.characters import character_scores, count_characters
from deid_platform.evaluation.scores.missed_by_risk import ReadNote, missed_by_risk
from deid_platform.evaluation.scores.paired import Difference
from deid_platform.evaluation.scores.span_scores import span_f1
from deid_platform.evaluation.scores.token_scores import Partly, Providers, count_tokens, token_scores
from deid_platform.keys import Keyring
from deid_platform.labels import PERSONS
from deid_platform.notes import Note, Span
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.date_order import DateOrder, DateWriting
from deid_platform.surrogates.keyed import Surrogates
from deid_platform.surrogates.pools import surnames

MISS_RATES = (0.001, 0.01, 0.05)


def shown(value: Estimate | Ratio | Difference) -> str:
    """A value with its interval."""
    if value.value is None:
        return "none"
    return f"{value.value:.4f}" + ("" if value.low is None else f" ({value.low:.4f} to {value.high:.4f})")


def main() -> None:
    """Prints the figures and how long each took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--part", choices=[part.value for part in Part], default=Part.SHOWN.value)
    parser.add_argument("--detector", default="rules")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--resamples", type=int, default=1000)
    arguments = parser.parse_args()
    planted, topics = written(HospitalSpec(seed=arguments.seed, notes=arguments.notes, part=Part(arguments.part)))
    notes, gold = [each.note for each in planted], [each.gold for each in planted]
    spec = DetectorSpec(arguments.detector, topics=None if arguments.alone else topics)
    often = {"resamples": arguments.resamples}

    def find(some: Sequence[Note]) -> list[Sequence[Span]]:
        return [it.spans or () for _, it in LocalEngine().detect_in_two_passes(spec, lambda: some)]

    began = time.perf_counter()

    def done(what: str) -> None:
        nonlocal began
        print(f"  [{what}: {time.perf_counter() - began:.1f} s]")
        began = time.perf_counter()

    found = find(notes)
    clusters = [note.patient_id for note in notes]
    read = [ReadNote(n.text, g, f, n.patient_id) for n, g, f in zip(notes, gold, found, strict=True)]
    print(f"{len(notes):,} notes of {len(set(clusters)):,} patients, {sum(map(len, gold)):,} identifiers")
    done("detection")

    for partly in Partly:
        counts = [count_tokens(it.text, it.gold, it.predicted, partly=partly, cluster=it.cluster) for it in read]
        scores = token_scores(counts, **often)
        print(f"tokens, {partly.value}: {scores.counts} P {shown(scores.precision)} R {shown(scores.recall)} "
              f"F1 {shown(scores.f1)}")  # fmt: skip
    for providers in Providers:
        counts = [count_tokens(it.text, it.gold, it.predicted, providers=providers, cluster=it.cluster) for it in read]
        scores = token_scores(counts, **often)
        print(f"tokens, providers {providers.value}: P {shown(scores.precision)} R {shown(scores.recall)}")
    pairs = list(zip(gold, found, strict=True))
    for overlapping in (False, True):
        for labels in (True, False):
            f1 = span_f1(pairs, clusters, labels=labels, overlapping=overlapping, **often)
            print(f"spans, overlapping {overlapping}, labels {labels}: F1 {shown(f1)}")
    characters = character_scores(
        [count_characters(it.text, it.gold, it.predicted, cluster=it.cluster) for it in read], **often
    )
    print(f"characters: found {shown(characters.found)}, other text hidden {shown(characters.hidden)}")
    done("scores")

    table = missed_by_risk(read, **often)
    for row in table.rows:
        print(f"missed: {row.risk.value:8} {row.category or '':32} {row.share.hits:4} {shown(row.share)}")
    shares = exposure(map(exposure_note, read))
    print(f"exposed notes {shares.notes}\nexposed patients {shares.patients}")
    print(f"at 400 notes a patient: {at_notes_a_patient(shares.notes, 400).value:.3f}")
    done("misses")

    surrogates = Surrogates(
        Keyring(b"a key that is public, for this table alone", site="benchmark"),
        topics,
        writing=DateWriting(DateOrder.MONTH_FIRST),
    )
    policy = load_policy("surrogate")
    released = [redact(n, f, policy, surrogates=surrogates) for n, f in zip(notes, found, strict=True)]
    done("redaction")
    of_patients = [at for at, note in enumerate(notes) if note.patient_id]
    texts: list[tuple[str, Callable[[int], str]]] = [
        ("raw", lambda at: notes[at].text), ("released", lambda at: released[at].text)
    ]  # fmt: skip
    for name, text_of in texts:
        attacked = [AttackedNote(text_of(at), str(notes[at].patient_id), language=notes[at].language)
                    for at in of_patients]  # fmt: skip
        linked = link(attacked, topics, **often)
        print(f"linkage, {name}: first {shown(linked.first)} (chance {linked.chance_first:.4f}), "
              f"top ten {shown(linked.top)} (chance {linked.chance_top:.4f}), silent {linked.silent}")  # fmt: skip
    done("linkage")
    of_patient: dict[str, list[ReleasedNote]] = {}
    for note, spans, it in zip(notes, gold, released, strict=True):
        mine = of_patient.setdefault(note.patient_id or note.note_id, [])
        mine.append(ReleasedNote(note.text, spans, it.applied, it.replacements))
    sight = plain_sight([shown_mentions(mine) for mine in of_patient.values()], **often)
    print(f"plain sight of this release: {shown(sight.residual)} of names' words are left; best rule {sight.best}")
    for rule, of_rule in sight.rules.items():
        print(f"  {rule.value}: points at {of_rule.chance.hits} of {of_rule.chance.total} mentions, of "
              f"{of_rule.told.total} true ones at {of_rule.told.hits}")  # fmt: skip
    charts: dict[str, list[list[str]]] = {}
    for note, spans in zip(notes, gold, strict=True):
        who = [f"{s.label} {note.text[s.start : s.end].casefold()}" for s in spans if s.label in PERSONS]
        charts.setdefault(note.patient_id or note.note_id, []).append(who)
    for rate in MISS_RATES:
        ways = compared(list(charts.values()), surnames("en_US"), rate, **often)
        print(f"plain sight at {rate:.1%} misses:", ", ".join(
            f"{way.value} tells {it.told:.1%} in {it.leaking_notes:.2%} of notes ({it.best})"
            for way, it in ways.items()
        ))  # fmt: skip
    done("plain sight")
    for row in stability(list(zip(notes, gold, strict=True)), find, **often):
        print(f"{row.perturbation.value:28} {row.notes:4} notes, recall {shown(row.recall)}, "
              f"precision {shown(row.precision)}")  # fmt: skip
    done("stability")


if __name__ == "__main__":
    main()
