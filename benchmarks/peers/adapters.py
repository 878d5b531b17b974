"""Runs one rule-based peer over notes, in an interpreter that has it: notes in, spans and seconds out.

    PYTHON adapters.py pydeid|philter|presidio < notes.jsonl > spans.jsonl

Belongs here: calling a peer as its own documentation does. Does not belong here: scoring (`__main__.py`). It imports
nothing of the platform, since peers need other versions of shared libraries.

Each line in is `{"text": ...}`; each line out a list of `[start, end]`, and the last line the processor seconds spent
after one warming note.

- pyDeid 1.0.1 (GEMINI-Medicine/pyDeid), default types, its own word lists, no spaCy.
- Philter 1.0.3 (philter_ucsf) with the filters of its own `philter_delta.json`; needs Python 3.10 or older and the
  data of NLTK's tagger.
- Presidio analyzer: its predefined pattern recognizers for the United States and in general, no named-entity model.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

Spans = list[tuple[int, int]]


def pydeid(texts: list[str]) -> Callable[[], list[Spans]]:
    """pyDeid with one handler for all notes, as it treats the rows of a file."""
    from pyDeid.pyDeidBuilder import pyDeidBuilder

    types = ["names", "dates", "sin", "ohip", "mrn", "locations", "hospitals", "contact"]
    builder = pyDeidBuilder().replace_phi(True, True).set_phi_types(types)
    handler = builder.set_valid_years(30, 1900, 2050).build().handler

    def run() -> list[Spans]:
        return [[(p["phi_start"], p["phi_end"]) for p in handler.handle_string(text)[0]] for text in texts]

    handler.handle_string(texts[0])
    return run


def philter(texts: list[str]) -> Callable[[], list[Spans]]:
    """Philter, which reads a folder of files; its paths are relative to its package."""
    import philter_ucsf
    from philter_ucsf.philter import Philter

    folder = Path(tempfile.mkdtemp())
    for number, text in enumerate(texts):
        (folder / f"{number:06}.txt").write_text(text, encoding="utf-8")
    os.chdir(Path(philter_ucsf.__file__).parent)
    filterer = Philter(
        {"verbose": False, "run_eval": False, "finpath": str(folder), "filters": "configs/philter_delta.json"}
    )

    def run() -> list[Spans]:
        removed = filterer.map_coordinates()
        return [
            sorted((start, end) for start, end in removed.get(str(folder / f"{n:06}.txt"), {}).items())
            for n in range(len(texts))
        ]

    return run


def presidio(texts: list[str]) -> Callable[[], list[Spans]]:
    """Presidio's pattern recognizers over a blank English tokenizer."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__(models=[{"lang_code": "en", "model_name": "blank"}])
            self.nlp = {"en": spacy.blank("en")}

    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    registry.recognizers = [r for r in registry.recognizers if "Spacy" not in type(r).__name__]
    engine = AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])

    def run() -> list[Spans]:
        return [[(r.start, r.end) for r in engine.analyze(text, language="en")] for text in texts]

    engine.analyze(texts[0], language="en")
    return run


PEERS = {"pydeid": pydeid, "philter": philter, "presidio": presidio}


def main() -> None:
    """Reads all notes, runs the peer named by the first argument, writes spans and seconds."""
    texts = [json.loads(line)["text"] for line in sys.stdin]
    with contextlib.redirect_stdout(sys.stderr):  # peers print
        run = PEERS[sys.argv[1]](texts)
        start = time.process_time()
        found = run()
        spent = time.process_time() - start
    for spans in found:
        print(json.dumps(spans))
    print(json.dumps(spent))


if __name__ == "__main__":
    main()
