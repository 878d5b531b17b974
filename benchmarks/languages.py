"""Both kinds of error of telling a note's language: `python benchmarks/languages.py FOLDER`.

FOLDER holds corpora of notes as JSON lines with `text` and `lang`, plain or gzipped, in measured languages:
whatever is told of another language is a false alarm. Notes in other languages are `tests/languages/notes.txt`.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from pathlib import Path
from time import process_time

from deid_platform.languages.shipped import SHIPPED
from deid_platform.languages.telling import languages_of

OTHERS = Path(__file__).parents[1] / "tests" / "languages" / "notes.txt"


def main(folder: Path) -> None:
    languages_of("The library is loaded with the first sentence.")
    words, started = 0, process_time()
    print("| corpus | notes | of another language | main language is not the corpus's |\n| --- | --- | --- | --- |")
    for path in sorted(folder.rglob("*.jsonl*")):
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            rows = [row for row in map(json.loads, lines) if row.get("lang") in SHIPPED and row.get("text")]
        counted: Counter[str] = Counter()
        for row in rows:
            told = languages_of(row["text"])
            counted["alarms"] += not set(told.all) <= SHIPPED.keys()
            counted["other"] += told.main != row["lang"]
            words += len(row["text"].split())
        if rows:
            print(f"| {path.relative_to(folder)} | {len(rows)} | {counted['alarms']} | {counted['other']} |")
    print(f"\n{words / (process_time() - started):,.0f} words a second of one core")
    blocks = re.split(r"^== ", OTHERS.read_text("utf-8"), flags=re.MULTILINE)[1:]
    missed = [block[:2] for block in blocks if set(languages_of(block[3:], "en").all) <= SHIPPED.keys()]
    print(f"notes in other languages: {len(blocks)}, missed: {len(missed)} {' '.join(missed)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
