"""Runs one peer in an interpreter that has it: texts in, spans out.

    PYTHON -I adapters.py presidio|pydeid|philter|deidentify|gliner|gliner2|privacy-filter [ENGINE MODEL]

Belongs here: calling a peer as its own documentation does. Does not belong here: anything of the platform, which this
file does not import, since peers need other versions of shared libraries; which labels a kind covers (`claims.py`).

The first line out is `{"ready": true, "version": ...}`. Each line in is then a list of texts, and each line out
`{"found": [[[start, end, kind], ...], ...], "seconds": ...}`, with the processor time that the peer took. What cannot
be loaded is `{"missing": NAME}`, any other failure `{"failed": NAME OF THE EXCEPTION}`: never a text.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

Found = list[tuple[int, int, str]]
Find = Callable[[list[str]], list[Found]]


class MissingError(Exception):
    """A model or a file that a peer needs is not there; the argument names it."""


def presidio(engine: str | None = None, model: str = "") -> Find:
    """Presidio's analyzer as it comes for English, with its patterns alone or with an engine.

    Args:
        engine: None, "spacy" or "transformers".
        model: A spaCy model, by its package or folder; or a folder of a token classifier of `transformers`, and behind
            a comma the spaCy model that cuts the words (without one, `en_core_web_sm`).
    """
    import presidio_analyzer
    import spacy
    import yaml
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NlpEngineProvider, SpacyNlpEngine

    registry = RecognizerRegistry()
    if engine is None:
        nlp: Any = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": "blank"}])
        nlp.nlp = {"en": spacy.blank("en")}
        registry.load_predefined_recognizers(languages=["en"])
        registry.recognizers = [r for r in registry.recognizers if "Spacy" not in type(r).__name__]
    else:
        name, _, words = model.partition(",")
        words = name if engine == "spacy" else words or "en_core_web_sm"
        # Presidio would fetch a model that is not there.
        if not (spacy.util.is_package(words) or Path(words).is_dir()):
            raise MissingError(words)
        if engine == "transformers" and not Path(name).is_dir():
            raise MissingError(name)
        shipped = Path(presidio_analyzer.__file__).parent / "conf"
        settings = yaml.safe_load(
            (shipped / ("default.yaml" if engine == "spacy" else "transformers.yaml")).read_text(encoding="utf-8")
        )
        named = words if engine == "spacy" else {"spacy": words, "transformers": name}
        settings["models"] = [{"lang_code": "en", "model_name": named}]
        nlp = NlpEngineProvider(nlp_configuration=settings).create_engine()
        registry.load_predefined_recognizers(languages=["en"], nlp_engine=nlp)
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=nlp, supported_languages=["en"])

    def find(texts: list[str]) -> list[Found]:
        return [[(r.start, r.end, r.entity_type) for r in analyzer.analyze(text, language="en")] for text in texts]

    return find


def pydeid() -> Find:
    """pyDeid with one handler for all notes, as it treats the rows of a file; its own word lists, no spaCy."""
    from pyDeid.pyDeidBuilder import pyDeidBuilder

    types = ["names", "dates", "sin", "ohip", "mrn", "locations", "hospitals", "contact"]
    builder = pyDeidBuilder().replace_phi(True, True).set_phi_types(types)
    handler = builder.set_valid_years(30, 1900, 2050).build().handler

    def find(texts: list[str]) -> list[Found]:
        return [
            [(p["phi_start"], p["phi_end"], kind_of_pydeid(p["types"])) for p in handler.handle_string(text)[0]]
            for text in texts
        ]

    return find


def kind_of_pydeid(types: list[str]) -> str:
    """The first type of what pyDeid found, without how it was found: "First Name8 (NamePattern2)" is a first name."""
    return re.sub(r"[ \d]*(?:[(\[].*)?$", "", types[0]) if types else ""


def philter() -> Find:
    """Philter with the filters of its own `philter_delta.json`. It reads a folder of files and needs NLTK's tagger."""
    flags_at_the_start()
    import nltk
    import philter_ucsf
    from philter_ucsf.philter import Philter

    try:
        nltk.pos_tag(["a"])
    except LookupError:
        raise MissingError("averaged_perceptron_tagger") from None
    os.chdir(Path(philter_ucsf.__file__).parent)  # its paths are relative
    Philter.detect_encoding = lambda *_: {"encoding": "utf-8"}  # else a guess, which moves offsets where it is wrong

    def find(texts: list[str]) -> list[Found]:
        with tempfile.TemporaryDirectory() as name:
            for number, text in enumerate(texts):
                Path(name, f"{number:06}.txt").write_bytes(text.replace("\r", " ").encode("utf-8", "replace"))
            told = {"verbose": False, "run_eval": False, "finpath": name, "filters": "configs/philter_delta.json"}
            removed = Philter(told).map_coordinates()
            return [
                [(start, end, "PHI") for start, end in removed.get(str(Path(name, f"{n:06}.txt")), {}).items()]
                for n in range(len(texts))
            ]

    return find


def flags_at_the_start() -> None:
    """Lets patterns be compiled as Python 3.10 did, where a flag within a pattern counts for the whole pattern."""
    compiled = re.compile

    def compile_(pattern: Any, flags: Any = 0) -> Any:
        if isinstance(pattern, str) and (within := re.findall(r"\(\?([aiLmsux]+)\)", pattern)):
            pattern = f"(?{''.join(sorted(set(''.join(within))))})" + re.sub(r"\(\?[aiLmsux]+\)", "", pattern)
        return compiled(pattern, flags)

    vars(re)["compile"] = compile_


def deidentify(engine: str, model: str) -> Find:
    """Deidentify with a model's file: its weights are on no package index.

    Args:
        engine: "flair" or "crf".
        model: The file. A name would be looked for on the network.
    """
    if not Path(model).is_file():
        raise MissingError(model)
    from deidentify.base import Document
    from deidentify.taggers import CRFTagger, FlairTagger
    from deidentify.tokenizer import TokenizerFactory

    tokenizer = TokenizerFactory().tokenizer(corpus="ons", disable=("tagger", "ner"))
    tagger = (FlairTagger if engine == "flair" else CRFTagger)(model=model, tokenizer=tokenizer, verbose=False)

    def find(texts: list[str]) -> list[Found]:
        documents = tagger.annotate([Document(name=str(n), text=text) for n, text in enumerate(texts)])
        by_name = {document.name: document.annotations for document in documents}
        return [[(int(a.start), int(a.end), a.tag) for a in by_name[str(n)]] for n in range(len(texts))]

    return find


GLINER_TYPES = (
    *("person", "age", "date", "date of birth", "organization", "hospital"),
    *("address", "city", "country", "postal code"),
    *("phone number", "fax number", "email", "website", "ip address", "username"),
    *("social security number", "medical record number", "health insurance id number", "bank account number"),
    *("driver's license number", "license plate number", "serial number", "identity card number", "passport number"),
)
"""What GLiNER is asked for: types that its models for personal data were trained on, and three of notes (age, hospital,
medical record number). Its models take 25 at once."""
GLINER2_TYPES = (
    *("person", "full_name", "first_name", "middle_name", "last_name", "date_of_birth"),
    *("email", "phone_number", "address", "street_address", "city", "state_or_region", "postal_code", "country"),
    *("government_id", "national_id_number", "passport_number", "drivers_license_number", "license_number"),
    *("tax_id", "tax_number", "bank_account", "account_number", "routing_number", "iban"),
    *("payment_card", "card_number", "card_expiry", "card_cvv"),
    *("username", "ip_address", "account_id", "sensitive_account_id"),
    *("password", "secret", "api_key", "access_token", "recovery_code"),
    *("sensitive_date", "document_date", "expiration_date", "transaction_date"),
)
"""The 42 types of GLiNER2-PII (arXiv 2605.09973)."""
PIECE = 200
"""Words of a text that GLiNER reads at once: of more than 384 it drops the rest without a word."""
_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")  # as GLiNER cuts words


def pieces(text: str, most: int = PIECE) -> list[tuple[int, str]]:
    """Pieces of at most so many words, cut before a line if one begins in the last third, and where each begins."""
    words = [match.span() for match in _WORD.finditer(text)]
    found = []
    start = 0
    while start < len(words):
        end = min(start + most, len(words))
        if end < len(words):
            lines = (n for n in range(end, start + 2 * most // 3, -1) if "\n" in text[words[n - 1][1] : words[n][0]])
            end = next(lines, end)
        found.append((words[start][0], text[words[start][0] : words[end - 1][1]]))
        start = end
    return found


def folder_of(model: str) -> str:
    """The folder of a model's weights; a name would be looked for on the network."""
    if not Path(model).is_dir():
        raise MissingError(model)
    return model


def gliner(engine: str, model: str) -> Find:  # noqa: ARG001
    """GLiNER with a folder of weights for personal data, such as `urchade/gliner_multi_pii-v1`."""
    from gliner import GLiNER

    folder = folder_of(model)
    network = GLiNER.from_pretrained(folder, local_files_only=True)

    def find(texts: list[str]) -> list[Found]:
        return [
            [
                (at + it["start"], at + it["end"], it["label"])
                for at, piece in pieces(text)
                for it in network.predict_entities(piece, list(GLINER_TYPES), threshold=0.5)
            ]
            for text in texts
        ]

    return find


def gliner2(engine: str, model: str) -> Find:  # noqa: ARG001
    """GLiNER2 with a folder of weights for personal data, such as `fastino/gliner2-privacy-filter-PII-multi`."""
    import gliner2 as package

    folder = folder_of(model)
    loader = getattr(package, "AutoExtractor", None) or package.GLiNER2  # versions before 2 have the one kind
    network = loader.from_pretrained(folder)

    def find(texts: list[str]) -> list[Found]:
        return [
            [
                (at + it["start"], at + it["end"], kind)
                for at, piece in pieces(text)
                for kind, places in network.extract_entities(
                    piece, list(GLINER2_TYPES), threshold=0.5, include_spans=True
                )["entities"].items()
                for it in places
            ]
            for text in texts
        ]

    return find


def privacy_filter(engine: str, model: str) -> Find:  # noqa: ARG001
    """OpenAI's privacy filter in the library `transformers`, with the folder of its weights.

    Its own program chooses the likeliest row of tags; the library, and so this, the likeliest tag of each piece.
    """
    from transformers import pipeline

    tagged = pipeline("token-classification", model=folder_of(model), device="cpu", aggregation_strategy="none")

    def find(texts: list[str]) -> list[Found]:
        return [spans_of_tags(text, tagged(text)) if text.strip() else [] for text in texts]

    return find


def spans_of_tags(text: str, tokens: list[dict[str, Any]]) -> Found:
    """Spans from pieces with tags of IOBES: I and E go on with what the piece before began."""
    found: Found = []
    last = -1
    for token in tokens:
        mark, _, kind = token["entity"].partition("-")
        start, end = token["start"], token["end"]
        while start < end and text[start].isspace():  # pieces begin with their blank
            start += 1
        if found and mark in ("I", "E") and kind == found[-1][2] and token["index"] == last + 1:
            found[-1] = (found[-1][0], end, kind)
        elif start < end:
            found.append((start, end, kind))
        last = token["index"]
    return found


PEERS: dict[str, Callable[..., Find]] = {
    "presidio": presidio,
    "pydeid": pydeid,
    "philter": philter,
    "deidentify": deidentify,
    "gliner": gliner,
    "gliner2": gliner2,
    "privacy-filter": privacy_filter,
}


DISTRIBUTIONS = {
    "presidio": "presidio-analyzer",
    "pydeid": "pyDeid",
    "philter": "philter-ucsf",
    "deidentify": "deidentify",
    "gliner": "gliner",
    "gliner2": "gliner2",
    "privacy-filter": "transformers",
}


def version_of(name: str, model: str = "") -> str:
    """The version of a peer, and of each of its models that is a package."""
    found = []
    for distribution in (DISTRIBUTIONS[name], *filter(None, model.split(","))):
        try:
            found.append(f"{distribution} {metadata.version(distribution)}")
        except (metadata.PackageNotFoundError, ValueError):
            continue  # a folder or a file, or not installed as a package
    return ", ".join(found)


def main(arguments: list[str]) -> None:
    """Makes the peer that the arguments name, and answers until there is no further line."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # peers print

    def answer(said: object) -> None:
        answers.write(json.dumps(said) + "\n")
        answers.flush()

    name, *options = arguments
    try:
        find = PEERS[name](*options)
        answer({"ready": True, "version": version_of(name, *options[1:])})
        for line in sys.stdin:
            texts = json.loads(line)
            start = time.process_time()
            found = find(texts)
            answer({"found": found, "seconds": time.process_time() - start})
    except MissingError as error:
        answer({"missing": Path(str(error)).name})
    except ImportError as error:
        answer({"missing": error.name or name})
    except Exception as error:
        answer({"failed": type(error).__name__})


if __name__ == "__main__":
    main(sys.argv[1:])
