"""What each choice of surrogates and of date shifts costs and hides, as docs/policies.md shows it: Markdown.

    python benchmarks/surrogates.py [--notes 600] [--seed 7] [--draws 10] [--only names|dates]

Notes of the synthetic hospital are released by the policy `surrogate` under each consistency, with a key of this file.
Names are missed in three ways: each mention by chance; a writing of a name in all notes of a patient or in none, as by
a detector that does not know it; and as the rules really miss them on the text alone. A reader sees all notes of a
patient and knows the way (`evaluation/disclosure/plain_sight.py`): his best rule of those that tell, found with the
truth at hand. Misses are drawn `--draws` times.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from accuracy import Planted, written
from aims import table

from deid_platform.corpora.hospital import HospitalSpec, Part
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import LocalEngine
from deid_platform.evaluation.disclosure.plain_sight import Knowledge, PlainSight, Record, plain_sight
from deid_platform.evaluation.disclosure.shift_secrecy import FITS, left_by_knowledge, left_by_pairs
from deid_platform.evaluation.disclosure.shown_mentions import ReleasedNote, shown_mentions
from deid_platform.keys import Keyring
from deid_platform.labels import PERSONS, Label
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Note, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.consistency import MOST_REPEATS, Consistency
from deid_platform.surrogates.date_order import DateOrder, DateWriting
from deid_platform.surrogates.dates import POSSIBLE_WEEKS, DateShift, season_weeks
from deid_platform.surrogates.keyed import Surrogates
from deid_platform.surrogates.names import Kind, letters, pool_for
from deid_platform.surrogates.written_names import full_names

RATES = (0.001, 0.01, 0.05)
NUMBERS = (Label.MEDICALRECORD, Label.PHONE, Label.FAX, Label.SSN, Label.IDNUM, Label.EMAIL, Label.USERNAME)
PLACES = (Label.HOSPITAL, Label.ORGANIZATION, Label.STREET, Label.CITY, Label.STATE, Label.ZIP)
KEYRING = Keyring(b"a key that is public, for this table alone", site="benchmark")
Missed = Callable[[Note, Span], bool]
Found = Callable[[Planted], Sequence[Span]]


def makeable(shown: str) -> bool:
    """Whether a name could be a surrogate: the lists that they are drawn from are public, and so are nicknames."""
    word = letters(shown)
    drawable = any(word in pool_for(kind, word).place for kind in (Kind.GIVEN, Kind.SURNAME))
    return drawable or len(word) <= 3 or bool(full_names(word))


class Release:
    """The same notes under one consistency."""

    def __init__(self, consistency: Consistency, topics: Topics) -> None:
        self.policy = replace(load_policy("surrogate"), consistency=consistency)
        self.surrogates = Surrogates(
            KEYRING, topics, consistency=consistency, writing=DateWriting(DateOrder.MONTH_FIRST)
        )
        self.check = LeakCheck.of(topics, self.policy)
        self.topics = topics
        self.knowledge = Knowledge(makeable, MOST_REPEATS if consistency is Consistency.VARIED else None)

    def notes(self, planted: Sequence[Planted], found: Found, *, checked: bool) -> Iterator[tuple[Note, ReleasedNote]]:
        """What is released, with or without the leak check."""
        for each in planted:
            known_as = self.topics.patients_known_as(each.note.patient_id)
            born = known_as[0].birth_date if known_as else None
            done = redact(each.note, found(each), self.policy, birth_date=born, surrogates=self.surrogates)
            if checked and self.check.check(each.note, known_as, done.text, done.applied, lengths=done.lengths):
                continue
            yield each.note, ReleasedNote(each.note.text, each.gold, done.applied, done.replacements)

    def records(
        self, planted: Sequence[Planted], found: Found, labels: Collection[Label], *, checked: bool = False
    ) -> list[Record]:
        """What a reader sees, patient by patient."""
        charts: dict[str, list[ReleasedNote]] = defaultdict(list)
        for note, released in self.notes(planted, found, checked=checked):
            charts[note.patient_id or note.note_id].append(released)
        return [shown_mentions(chart, labels) for chart in charts.values()]


def by_chance(rate: float, labels: Collection[Label], seed: int) -> Found:
    """Each mention is missed by itself."""

    def found(each: Planted) -> list[Span]:
        dice = random.Random(f"{seed}/{each.note.note_id}")
        return [span for span in each.gold if not (dice.random() < rate and span.label in labels)]

    return found


def in_one_writing(rate: float, labels: Collection[Label], seed: int) -> Found:
    """A writing of a name is missed in all notes of a patient, or in none."""

    def missed(note: Note, span: Span) -> bool:
        written_so = note.text[span.start : span.end].casefold()
        return random.Random(f"{seed}/{note.patient_id}/{span.label}/{written_so}").random() < rate

    return lambda each: [span for span in each.gold if not (span.label in labels and missed(each.note, span))]


def told(sight: PlainSight) -> str:
    """What the best rule tells, in how many notes, and what chance would."""
    best = sight.best
    if best is None:
        return "nothing"
    of = sight.rules[best]
    return f"{of.told.value:.0%} in {of.notes.value or 0:.2%} ({best.value}; chance {of.chance.value:.1%})"


def hiding(
    releases: Mapping[Consistency, Release],
    planted: Sequence[Planted],
    misses: Sequence[tuple[str, Sequence[Found]]],
    labels: Collection[Label],
    *,
    checked: bool = False,
) -> str:
    """A row a way of missing: how many words are missed, and what a reader tells of them under each consistency."""
    rows = []
    for name, draws in misses:
        cells, residual = [], 0
        for release in releases.values():
            records = [record for draw in draws for record in release.records(planted, draw, labels, checked=checked)]
            sight = plain_sight(records, release.knowledge, resamples=2)
            residual = sight.residual.hits
            cells.append(told(sight))
        rows.append((name, f"{residual:,}", *cells))
    return table(("missed", "words left", *(each.value for each in releases)), rows)


def reading(releases: Mapping[Consistency, Release], planted: Sequence[Planted]) -> str:
    """What each costs a reader, and the machine."""
    rows = []
    for consistency, release in releases.items():
        began = time.perf_counter()
        charts = release.records(planted, lambda each: each.gold, PERSONS)
        seconds = time.perf_counter() - began
        in_note: dict[object, set[str]] = defaultdict(set)
        in_chart: dict[object, set[str]] = defaultdict(set)
        mentions: dict[object, int] = defaultdict(int)
        for number, chart in enumerate(charts):
            for mention in chart:
                in_note[number, mention.entity, mention.note].add(mention.shown.casefold())
                in_chart[number, mention.entity].add(mention.shown.casefold())
                mentions[number, mention.entity, mention.note] += 1
        again = [who for who, times in mentions.items() if times > 1]
        withheld = len(planted) - sum(1 for _ in release.notes(planted, lambda each: each.gold, checked=True))
        rows.append(
            (
                consistency.value,
                f"{sum(len(in_note[who]) for who in again) / len(again):.2f}",
                f"{sum(map(len, in_chart.values())) / len(in_chart):.2f}",
                f"{withheld}",
                f"{seconds:.1f}",
            )
        )
    return table(
        ("", "names of one in a note that names them twice or more", "in all notes of a patient",
         "notes that the leak check holds back", "seconds"),
        rows,
    )  # fmt: skip


def names(notes: int, seed: int, draws: int) -> None:
    """What each consistency hides."""
    planted, topics = written(HospitalSpec(seed=seed, notes=notes, part=Part.SHOWN))
    releases = {consistency: Release(consistency, topics) for consistency in Consistency}
    patients = len({each.note.patient_id for each in planted})
    print(f"{len(planted):,} notes of {patients:,} patients. Share of words left that the best rule tells, of notes.\n")

    def ways(labels: Collection[Label]) -> list[tuple[str, Sequence[Found]]]:
        return [
            (f"{rate:.1%} {name}", [way(rate, labels, draw) for draw in range(draws)])
            for name, way in (("of mentions", by_chance), ("of writings", in_one_writing))
            for rate in RATES
        ]

    spec = DetectorSpec("rules", topics=None)
    detected = {
        note.note_id: it.spans or ()
        for note, it in LocalEngine().detect_in_two_passes(spec, lambda: [each.note for each in planted])
    }
    really = ("by rules, text alone", [lambda each: detected[each.note.note_id]])
    print("Names\n\n" + hiding(releases, planted, [*ways(PERSONS), really], PERSONS) + "\n")
    print("Names, of notes that pass the leak check\n\n"
          + hiding(releases, planted, [*ways(PERSONS)[1:2], really], PERSONS, checked=True) + "\n")  # fmt: skip
    print("Numbers\n\n" + hiding(releases, planted, ways(NUMBERS)[1:3], NUMBERS) + "\n")
    print("Places and institutions\n\n" + hiding(releases, planted, ways(PLACES)[1:3], PLACES) + "\n")
    print(reading(releases, planted) + "\n")


def dates(seed: int) -> None:
    """What each set of shifts leaves."""
    print(table(("shifts by up to", *(f"{years} years" for years in (1, 2, 3, 5, 10))),
                [("season kept", *(str(len(season_weeks(years))) for years in (1, 2, 3, 5, 10)))]) + "\n")  # fmt: skip
    some = [date(2016, 1, 1) + timedelta(days=7 * step + step % 7) for step in range(208)]
    rows = []
    for known, fits in FITS.items():
        cells = [left_by_knowledge(by, fits, some) for by in DateShift]
        rows.append((known, *(f"{it.mean:.1f} ({it.bits:.1f} bits)" for it in cells)))
    for text, name in (("%B %Y", "month"), ("%Y", "year")):
        for pairs in (1, 2, 4, 8):
            cells = [left_by_pairs(by, text, pairs, some, seed=seed) for by in DateShift]
            of = f"the {name} of {pairs} beside the shifted day"
            rows.append((of, *(f"{it.mean:.1f} ({it.bits:.1f} bits)" for it in cells)))
    heads = (f"of {len(POSSIBLE_WEEKS[by])} by {by.value}" for by in DateShift)
    print(table(("known of one event", *heads), rows))


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=600)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", choices=("names", "dates"))
    asked = parser.parse_args()
    if asked.only != "dates":
        names(asked.notes, asked.seed, asked.draws)
    if asked.only != "names":
        dates(asked.seed)


if __name__ == "__main__":
    main()
