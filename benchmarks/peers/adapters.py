"""Runs one peer over notes, in an interpreter that has it: notes in, spans and seconds out.

    PYTHON adapters.py PEER[:ENGINE] < notes.jsonl > spans.jsonl

Belongs here: calling a peer as its own documentation does, and which labels it claims to find. Does not belong here:
scoring (`__main__.py`). It imports nothing of the platform, since peers need other versions of shared libraries.

Each line in is `{"text": ...}`; each line out a list of `[start, end]`, then a list of the labels of i2b2-2014 that the
peer claims, and last the processor seconds spent after one warming note.

- `pydeid` 1.0.1 (GEMINI-Medicine/pyDeid; the package of that name on the index is another), default types, its own word
  lists, no spaCy.
- `philter` 1.0.3 (philter_ucsf) with the filters of its own `philter_delta.json`; needs Python 3.10 or older and the
  data of NLTK's tagger.
- `presidio`: its predefined pattern recognizers for the United States and in general. `presidio:ENGINE` adds a
  named-entity model: a model of spaCy by its name, or a token classifier of `transformers` by its folder.
- `presidio-modified[:ENGINE]`: as Aghakasiri 2025 changed it. Patterns of other countries, of postal codes and of
  health numbers, names, places and telephones alone: dates, ages and years of birth stay.
- `deidentify:MODEL` (nedap/deidentify) with one of its taggers. Its weights are on no index: install and download them
  as its documentation says.
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
from typing import Any

Spans = list[tuple[int, int]]
Run = Callable[[], list[Spans]]

_NAMES = ("PATIENT", "DOCTOR")
_PLACES = ("STREET", "CITY", "STATE", "COUNTRY", "ZIP", "LOCATION-OTHER")
_CONTACTS = ("PHONE", "FAX", "EMAIL", "URL", "IPADDR")
_NUMBERS = ("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "BIOID", "IDNUM")
_SAFE_HARBOR = (*_NAMES, *_PLACES, *_CONTACTS, *_NUMBERS, "DATE", "AGE")
_MODIFIED = ("PERSON", "PHONE_NUMBER", "LOCATION", "POSTAL_CODE", "HEALTH_NUMBER", "UK_NHS", "ES_NIF", "IT_FISCAL_CODE")


def pydeid(engine: str, texts: list[str]) -> tuple[Run, tuple[str, ...]]:
    """pyDeid with one handler for all notes, as it treats the rows of a file."""
    del engine
    from pyDeid.pyDeidBuilder import pyDeidBuilder

    types = ["names", "dates", "sin", "ohip", "mrn", "locations", "hospitals", "contact"]
    builder = pyDeidBuilder().replace_phi(True, True).set_phi_types(types)
    handler = builder.set_valid_years(30, 1900, 2050).build().handler

    def run() -> list[Spans]:
        return [[(p["phi_start"], p["phi_end"]) for p in handler.handle_string(text)[0]] for text in texts]

    handler.handle_string(texts[0])
    return run, (*_NAMES, *_PLACES, *_CONTACTS, "HOSPITAL", "DATE", "SSN", "HEALTHPLAN", "MEDICALRECORD")


def philter(engine: str, texts: list[str]) -> tuple[Run, tuple[str, ...]]:
    """Philter, which reads a folder of files; its paths are relative to its package."""
    del engine
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

    return run, _SAFE_HARBOR


def presidio(engine: str, texts: list[str]) -> tuple[Run, tuple[str, ...]]:
    """Presidio's recognizers, with a named-entity model where one is named."""
    analyzer = _analyzer(engine, [])

    def run() -> list[Spans]:
        return [[(r.start, r.end) for r in analyzer.analyze(text, language="en")] for text in texts]

    analyzer.analyze(texts[0], language="en")
    learned = (*_NAMES, "CITY", "STATE", "COUNTRY", "LOCATION-OTHER") if engine else ()
    return run, (*_CONTACTS, "DATE", "SSN", "ACCOUNT", "LICENSE", *learned)


def presidio_modified(engine: str, texts: list[str]) -> tuple[Run, tuple[str, ...]]:
    """As Aghakasiri 2025, section 5.6, describes its modified Presidio."""
    from presidio_analyzer import Pattern, PatternRecognizer

    added = {
        "POSTAL_CODE": r"\b(?:[A-Z]\d[A-Z] ?\d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|\d{5}(?:-\d{4})?)\b",
        "HEALTH_NUMBER": r"\b\d{3}[ -]?\d{3}[ -]?\d{3,4}\b|\b\d{9,10}\b",
    }
    own = [
        PatternRecognizer(supported_entity=name, patterns=[Pattern(name, expression, 0.6)])
        for name, expression in added.items()
    ]
    analyzer = _analyzer(engine, own)
    known = set(analyzer.get_supported_entities("en"))
    entities = [name for name in _MODIFIED if name in known]

    def run() -> list[Spans]:
        return [[(r.start, r.end) for r in analyzer.analyze(text, language="en", entities=entities)] for text in texts]

    analyzer.analyze(texts[0], language="en", entities=entities)
    learned = (*_NAMES, "CITY", "STATE", "COUNTRY", "LOCATION-OTHER") if engine else ()
    return run, ("PHONE", "FAX", "ZIP", "HEALTHPLAN", *learned)


def _analyzer(engine: str, own: list[Any]) -> Any:
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine, TransformersNlpEngine

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__(models=[{"lang_code": "en", "model_name": "blank"}])
            self.nlp = {"en": spacy.blank("en")}

    if not engine:
        nlp: Any = Blank()
    elif Path(engine).is_dir():
        models = [{"lang_code": "en", "model_name": {"spacy": "en_core_web_sm", "transformers": engine}}]
        nlp = TransformersNlpEngine(models=models)
    else:
        nlp = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": engine}])
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"], nlp_engine=nlp if engine else None)
    if not engine:
        registry.recognizers = [r for r in registry.recognizers if "Spacy" not in type(r).__name__]
    for recognizer in own:
        registry.add_recognizer(recognizer)
    return AnalyzerEngine(registry=registry, nlp_engine=nlp, supported_languages=["en"])


def deidentify(engine: str, texts: list[str]) -> tuple[Run, tuple[str, ...]]:
    """Deidentify with one of its Flair taggers."""
    from deidentify.base import Document
    from deidentify.taggers import FlairTagger
    from deidentify.tokenizer import TokenizerFactory

    tokenizer = TokenizerFactory().tokenizer(corpus="ons", disable=("tagger", "ner"))
    tagger = FlairTagger(model=engine, tokenizer=tokenizer, verbose=False)
    documents = [Document(name=str(number), text=text) for number, text in enumerate(texts)]

    def run() -> list[Spans]:
        return [[(a.start, a.end) for a in found.annotations] for found in tagger.annotate(documents)]

    tagger.annotate(documents[:1])
    return run, (*_SAFE_HARBOR, "HOSPITAL", "ORGANIZATION", "PROFESSION")


PEERS: dict[str, Callable[[str, list[str]], tuple[Run, tuple[str, ...]]]] = {
    "pydeid": pydeid,
    "philter": philter,
    "presidio": presidio,
    "presidio-modified": presidio_modified,
    "deidentify": deidentify,
}


def main() -> None:
    """Reads all notes, runs the peer named by the first argument, writes spans, labels and seconds."""
    texts = [json.loads(line)["text"] for line in sys.stdin]
    name, _, engine = sys.argv[1].partition(":")
    with contextlib.redirect_stdout(sys.stderr):  # peers print
        run, claims = PEERS[name](engine, texts)
        start = time.process_time()
        found = run()
        spent = time.process_time() - start
    for spans in found:
        print(json.dumps(spans))
    print(json.dumps(claims))
    print(json.dumps(spent))


if __name__ == "__main__":
    main()
