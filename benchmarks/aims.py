"""What was aimed for, beside what was measured: the whole table, from what the other benchmarks kept.

    python benchmarks/aims.py FOLDER

Each benchmark that is named below writes what it measured to FOLDER with `--json FOLDER/NAME.json`; what no file there
holds is "not measured", with the command that measures it. What is printed is Markdown, as docs/model.md shows it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from deid_platform.evaluation.scores.scores import Estimate

ENSEMBLE = "ensemble.py --direct 3000"
WHOLE = "whole_notes.py"
ON_WHOLE = "whole notes: {}, {}"
DIRECT = ("PATIENT", "SSN", "MEDICALRECORD", "PHONE", "EMAIL")
RECALL, PRECISION, MISSED = "word recall, {}", "word precision, {}", "notes with a missed identifier, {}"
OF_DIRECT = "recall of {}, with topics"
LOCALES, SEXES = "recall of the worst locale behind en_US, {}", "recall of the sexes apart, {}"
LEFT_OUT = "recall that a model loses on the names of a locale that it has not seen"
SENTENCES = "clinical sentences intact"
SHARE, PEER = "speed of the whole against its network alone", "words/s against pyDeid's, text alone"
MEMORY, START = "memory of `deid redact` on one note", "seconds of `deid redact` on one note, started anew"
CARD, MEDDOCAN = "words/s on one card", "exact spans of MEDDOCAN's development part, F1"
GROWTH = "processor seconds a thousand notes"

AIMS: Mapping[str, tuple[str, str]] = {
    ON_WHOLE.format("word recall", "with topics"): (">= 0.985", WHOLE),
    ON_WHOLE.format("word recall", "text alone"): (">= 0.975", WHOLE),
    ON_WHOLE.format("word precision", "en, with topics"): (">= 0.965", WHOLE),
    **{ON_WHOLE.format("word precision", f"{it}, with topics"): (">= 0.95", WHOLE) for it in ("es", "it", "fr")},
    ON_WHOLE.format("word precision", "de, with topics"): (">= 0.93", WHOLE),
    ON_WHOLE.format("clinical words hidden", "with topics"): ("<= 0.01", WHOLE),
    ON_WHOLE.format("notes with a missed name, number, contact or street", "with topics"): ("<= 0.12", WHOLE),
    ON_WHOLE.format("patients' names, hidden whole", "with topics"): (">= 0.998", WHOLE),
    ON_WHOLE.format("patients' names, hidden whole", "text alone"): (">= 0.99", WHOLE),
    ON_WHOLE.format("eponyms kept", "with topics"): (">= 0.99", WHOLE),
    ON_WHOLE.format("brands of drugs kept", "with topics"): (">= 0.99", WHOLE),
    RECALL.format("with topics"): (">= 0.998", ENSEMBLE),
    PRECISION.format("with topics"): (">= 0.985", ENSEMBLE),
    RECALL.format("text alone"): (">= 0.990", ENSEMBLE),
    PRECISION.format("text alone"): (">= 0.970", ENSEMBLE),
    MISSED.format("with topics"): ("<= 0.05", ENSEMBLE),
    MISSED.format("text alone"): ("<= 0.20", ENSEMBLE),
    **{OF_DIRECT.format(label): (">= 0.999", ENSEMBLE) for label in DIRECT},
    SENTENCES: (">= 0.99", ENSEMBLE),
    LOCALES.format("with topics"): ("<= 0.01", ENSEMBLE),
    LOCALES.format("text alone"): ("<= 0.01", ENSEMBLE),
    SEXES.format("with topics"): ("<= 0.005", ENSEMBLE),
    SEXES.format("text alone"): ("<= 0.005", ENSEMBLE),
    LEFT_OUT: ("<= 0.01", "experiments.py leave_one_locale_out MODELS"),
    PEER: (">= 2.5", "peers.py pydeid=INTERPRETER"),
    SHARE: (">= 80%", ENSEMBLE),
    MEMORY: ("<= 1,500 MB", "start.py"),
    START: ("<= 1.5 of the processor", "start.py"),
    CARD: (">= 500,000", "device.py --device cuda"),
    MEDDOCAN: (">= 0.90", "meddocan.py MODEL --gold dev.jsonl.gz"),
    GROWTH: ("the same at 1,000 and 100,000", "growth.py"),
}
"""By measure: the aim, and which benchmark measures it."""


def estimate(value: Estimate) -> str:
    """A share with its interval."""
    if value.value is None:
        return "-"
    return f"{value.value:.4f} ({value.low:.4f}-{value.high:.4f})" if value.low is not None else f"{value.value:.4f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def beside_aims(measured: Mapping[str, str]) -> str:
    """What one benchmark measured, beside the aims."""
    rows = ((measure, measured[measure], aim) for measure, (aim, _) in AIMS.items() if measure in measured)
    return table(("measure", "measured", "aimed for"), rows)


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option by which a benchmark keeps what it measured."""
    parser.add_argument("--json", type=Path, help="a file for what was measured (aims.py)")


def keep(path: Path | None, measured: Mapping[str, str]) -> None:
    """Writes what was measured, if a file was asked for.

    Raises:
        KeyError: If there is no aim of that name.
    """
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({name: measured[name] for name in measured if AIMS[name]}, indent=1) + "\n")


def main() -> None:
    """Prints every row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    measured: dict[str, str] = {}
    for file in sorted(folder.glob("*.json")):
        measured |= json.loads(file.read_text(encoding="utf-8"))

    def rows() -> Iterator[Sequence[str]]:
        for measure, (aim, command) in AIMS.items():
            yield measure, measured.get(measure, f"not measured (`python benchmarks/{command}`)"), aim

    print(table(("measure", "measured", "aimed for"), rows()), end="")


if __name__ == "__main__":
    main()
