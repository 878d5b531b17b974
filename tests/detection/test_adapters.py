"""Adapters of peers whose weights are on no package index: called as their documentation says, with stand-ins."""

from __future__ import annotations

import sys
import types

import pytest

from deid_platform.detection.peers import adapters
from deid_platform.detection.peers.claims import CLAIMS
from deid_platform.labels import Label

# Deidentify, whose weights are on no index: its documented interface, with a tagger that knows one name


def test_the_adapter_of_deidentify(monkeypatch, tmp_path) -> None:
    class Document:
        def __init__(self, name: str, text: str) -> None:
            self.name, self.text, self.annotations = name, text, []

    class Tagger:
        def __init__(self, model: str, tokenizer: str, verbose: bool) -> None:
            self.model, self.tokenizer = model, tokenizer

        def annotate(self, documents: list[Document]) -> list[Document]:
            for document in documents:
                if (start := document.text.find("Jan Jansen")) >= 0:
                    found = types.SimpleNamespace(text="Jan Jansen", start=start, end=start + 10, tag="Name")
                    document.annotations = [found]
            return documents[::-1]

    class TokenizerFactory:
        def tokenizer(self, corpus: str, disable: tuple[str, ...]) -> str:
            return corpus

    for name, members in {
        "deidentify": {},
        "deidentify.base": {"Document": Document},
        "deidentify.taggers": {"FlairTagger": Tagger, "CRFTagger": None},
        "deidentify.tokenizer": {"TokenizerFactory": TokenizerFactory},
    }.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    (model := tmp_path / "final-model.pt").touch()
    found = adapters.deidentify("flair", str(model))(["Dhr. Jan Jansen", "geen naam"])
    assert found == [[(5, 15, "Name")], []]
    assert CLAIMS["deidentify"]["flair"]["Name"] == (Label.PATIENT, Label.DOCTOR)


# Models for personal data with a folder of weights: their documented interfaces, with networks that know some words


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **members: object) -> None:
    module = types.ModuleType(name)
    vars(module).update(members)
    monkeypatch.setitem(sys.modules, name, module)


KNOWN = {"person": "Ann Roe", "date of birth": "3/4/1990", "date_of_birth": "3/4/1990"}


def test_the_adapter_of_gliner(monkeypatch, tmp_path) -> None:
    asked = []

    class GLiNER:
        @classmethod
        def from_pretrained(cls, model_id: str, *, local_files_only: bool) -> GLiNER:
            assert (model_id, local_files_only) == (str(tmp_path), True)
            return cls()

        def predict_entities(self, text: str, labels: list[str], threshold: float) -> list[dict[str, object]]:
            asked.append(len(text.split()))
            assert threshold == 0.5
            return [
                {"start": at, "end": at + len(KNOWN[label]), "text": KNOWN[label], "label": label, "score": 0.9}
                for label in labels
                if label in KNOWN and (at := text.find(KNOWN[label])) >= 0
            ]

    stand_in(monkeypatch, "gliner", GLiNER=GLiNER)
    long = "seen again " * 150 + "\nAnn Roe, born 3/4/1990"
    found = adapters.gliner("pii", str(tmp_path))([long, "", "nothing"])
    assert [[(text[start:end], kind) for start, end, kind in spans] for text, spans in ((long, found[0]),)] == [
        [("Ann Roe", "person"), ("3/4/1990", "date of birth")]
    ]
    assert found[1:] == [[], []]
    assert sum(asked) == len(adapters.pieces(long, 10**6)[0][1].split()) + 1 and max(asked) <= adapters.PIECE


def test_the_adapter_of_gliner2(monkeypatch, tmp_path) -> None:
    class AutoExtractor:
        @classmethod
        def from_pretrained(cls, folder: str) -> AutoExtractor:
            assert folder == str(tmp_path)
            return cls()

        def extract_entities(self, text: str, types: list[str], *, threshold: float, include_spans: bool) -> object:
            assert (threshold, include_spans) == (0.5, True)
            places = {
                kind: [{"text": KNOWN[kind], "start": at, "end": at + len(KNOWN[kind])}]
                for kind in types
                if kind in KNOWN and (at := text.find(KNOWN[kind])) >= 0
            }
            return {"entities": {kind: places.get(kind, []) for kind in types}}

    stand_in(monkeypatch, "gliner2", AutoExtractor=AutoExtractor)
    assert adapters.gliner2("pii", str(tmp_path))(["Seen: Ann Roe 3/4/1990", ""]) == [
        [(6, 13, "person"), (14, 22, "date_of_birth")],
        [],
    ]


def test_the_adapter_of_the_privacy_filter(monkeypatch, tmp_path) -> None:
    def pipeline(task: str, *, model: str, device: str, aggregation_strategy: str) -> object:
        assert (task, model, device) == ("token-classification", str(tmp_path), "cpu")
        assert aggregation_strategy == "none"  # of the others, none knows E and S
        return lambda text: [] if "nobody" in text else tokens

    tags = ("B-private_person", "E-private_person", "S-private_person", "S-private_date", "I-secret")
    places = ((4, 8), (8, 12), (12, 16), (17, 25), (26, 27))
    tokens = [
        {"entity": tag, "score": 0.9, "index": at + (at == 4), "word": "x", "start": start, "end": end}
        for at, (tag, (start, end)) in enumerate(zip(tags, places, strict=True))
    ]
    stand_in(monkeypatch, "transformers", pipeline=pipeline)
    text = "Seen Ann Roe Lee 3/4/1990 x"
    found = adapters.privacy_filter("transformers", str(tmp_path))([text, "\n", "by nobody"])
    assert [(text[start:end], kind) for start, end, kind in found[0]] == [
        ("Ann Roe", "private_person"),
        ("Lee", "private_person"),
        ("3/4/1990", "private_date"),
        ("x", "secret"),  # goes on with nothing
    ]
    assert found[1:] == [[], []]


def test_what_a_model_for_personal_data_is_asked_for_is_what_it_claims() -> None:
    assert CLAIMS["gliner"]["pii"].keys() == set(adapters.GLINER_TYPES)
    assert CLAIMS["gliner2"]["pii"].keys() == set(adapters.GLINER2_TYPES)
    assert len(set(adapters.GLINER_TYPES)) == 25
    assert len(set(adapters.GLINER2_TYPES)) == 42
    for peer in ("gliner", "gliner2"):
        assert CLAIMS[peer]["pii"]["person"] == (Label.PATIENT, Label.DOCTOR)
    assert CLAIMS["gliner2"]["pii"]["password"] == CLAIMS["privacy-filter"]["transformers"]["secret"] == ()


@pytest.mark.parametrize("name", ["gliner", "gliner2", "privacy_filter"])
def test_weights_are_in_a_folder_and_nothing_is_fetched(monkeypatch, tmp_path, name) -> None:
    for module in ("gliner", "gliner2", "transformers"):
        stand_in(monkeypatch, module, GLiNER=None, GLiNER2=None, pipeline=None)
    with pytest.raises(adapters.MissingError, match="some/name"):
        getattr(adapters, name)("pii", "some/name")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n ", []),
        ("a b c d e f g", [(0, "a b c d e f"), (12, "g")]),
        ("a b c d e\nf g", [(0, "a b c d e"), (10, "f g")]),  # before a line
        ("a\nb c d e f g", [(0, "a\nb c d e f"), (12, "g")]),  # which begins too early
        ("\n3/14/99 x, y", [(1, "3/14/99 x"), (10, ", y")]),  # signs count
    ],
)
def test_a_text_is_read_in_pieces(text, expected) -> None:
    assert adapters.pieces(text, 6) == expected
    assert all(text[at : at + len(piece)] == piece for at, piece in expected)
