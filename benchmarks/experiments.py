"""Experiments on what a model learns, as Markdown: leave_one_locale_out, one_locale, cross_format,
learning_curve.

    DEID_CORPORA=... python benchmarks/experiments.py NAME FOLDER [--notes 700] [--epochs 4] [--locale zh]...

Needs the extra `ml`. Models stay in the folder: one that is there is not trained anew. Each is measured by itself, on
the text alone, on notes of the test parts (docs/corpora.md). With --start WEIGHTS each is trained from that folder with
the settings of Zambare 2026, for as many passes as it says. Of leave_one_locale_out a second table says what recall
loses, with the 95% interval of a bootstrap over patients, paired note by note.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import aims

from deid_platform.bench.leaderboard.experiments import Size, results, unseen
from deid_platform.engine.engines import LocalEngine
from deid_platform.surrogates.locales import LOCALES
from deid_platform.training.experiments import EXPERIMENTS, LEAVE_ONE_OUT


def main() -> None:
    """Prints the table, a line as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=EXPERIMENTS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=Size.notes)
    parser.add_argument("--epochs", type=float, default=Size.epochs)
    parser.add_argument("--test-notes", type=int, default=Size.test_notes)
    parser.add_argument("--locale", action="append", choices=LOCALES)
    parser.add_argument("--start", metavar="WEIGHTS", help="folder of a model of the library transformers")
    parser.add_argument("--workers", type=int, default=2)
    aims.add_json(parser)
    arguments = parser.parse_args()
    size = Size(arguments.notes, arguments.epochs, arguments.test_notes, tuple(arguments.locale or LOCALES))
    print("| model | notes | measured on | notes | recall | precision |\n| --- | --- | --- | --- | --- | --- |")
    found = []
    engine = LocalEngine(arguments.workers)
    for it in results(arguments.name, arguments.folder, None, size=size, start=arguments.start, engine=engine):
        found.append(it)
        recall, precision = it.scores.recall, it.scores.precision
        print(f"| {it.arm} | {it.trained_on:,} | {it.test} | {it.scores.notes:,} | {recall.value:.4f} "
              f"({recall.low:.4f}-{recall.high:.4f}) | {precision.value:.4f} |", flush=True)  # fmt: skip
    if arguments.name == LEAVE_ONE_OUT:
        print("\n| locale left out | recall, less that of all locales |\n| --- | --- |")
        lost = {}
        for locale, less in unseen(found):
            lost[locale] = f"{-less.value:.4f} ({-less.high:.4f} to {-less.low:.4f})"
            print(f"| {locale} | {less.value:+.4f} ({less.low:+.4f} to {less.high:+.4f}) |")
        aims.keep(arguments.json, {aims.LEFT_OUT: f"{lost['together']} over all locales"})


if __name__ == "__main__":
    main()
