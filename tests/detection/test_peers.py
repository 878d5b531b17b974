"""Peers without any peer installed: what they claim, how they are called, what is said where one is not there."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from detector_contract import check_model

from deid_platform.bench.leaderboard.reading import Hidden, Reading
from deid_platform.detection.api import Document
from deid_platform.detection.peers import adapters
from deid_platform.detection.peers.claims import CLAIMS, claimed
from deid_platform.detection.peers.process import Peer, PeerProcess
from deid_platform.detection.peers.spans import PeerSpan
from deid_platform.detection.peers.variants import varied
from deid_platform.detection.pipeline import Pipeline, detecting
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

HERE = Path(sys.executable)
ALL = [(peer, engine, claims) for peer, engines in CLAIMS.items() for engine, claims in engines.items()]

# Speaks as the adapters do: marks days, words in capitals, and a kind that no crosswalk has.
STUB = """
import json, re, sys
KINDS = {"DATE_TIME": r"\\d+/\\d+/\\d+", "PERSON": r"\\b[A-Z]{3,}\\b", "ODD": r"!"}
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    found = [
        [(*match.span(), kind) for kind, pattern in KINDS.items() for match in re.finditer(pattern, text)]
        for text in json.loads(line)
    ]
    print(json.dumps({"found": found, "seconds": 0.5}), flush=True)
"""


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    path = tmp_path / "stub.py"
    path.write_text(STUB, encoding="utf-8")
    return path


def saying(folder: Path, *answers: str) -> Path:
    """A script that is ready, then answers each line with the next of these, and ends."""
    path = folder / "says.py"
    lines = [f"sys.stdin.readline(); print({answer!r}, flush=True)" for answer in answers]
    path.write_text("\n".join(["import sys", "print('{\"ready\": true}', flush=True)", *lines]), encoding="utf-8")
    return path


# Crosswalks


@pytest.mark.parametrize(("peer", "engine", "claims"), ALL, ids=[f"{peer}-{engine}" for peer, engine, _ in ALL])
def test_a_crosswalk_names_labels_each_once(peer, engine, claims) -> None:
    assert all(label in set(Label) for labels in claims.values() for label in labels)
    assert all(len(set(labels)) == len(labels) for labels in claims.values())
    assert Label.DATE in claimed(claims)


def test_every_peer_has_an_adapter_and_claims() -> None:
    assert CLAIMS.keys() == adapters.PEERS.keys()


def test_patterns_alone_claim_no_names() -> None:
    patterns, with_spacy = (claimed(CLAIMS["presidio"][engine]) for engine in (None, "spacy"))
    assert {Label.PATIENT, Label.DOCTOR, Label.CITY}.isdisjoint(patterns)
    assert with_spacy - patterns == {
        *(Label.PATIENT, Label.DOCTOR, Label.CITY, Label.STATE, Label.COUNTRY, Label.LOCATION_OTHER)
    }


def test_kinds_that_are_no_identifiers_here_claim_nothing() -> None:
    assert CLAIMS["presidio"]["spacy"]["NRP"] == CLAIMS["pydeid"][None]["Time"] == ()


# Names of peers


def test_a_peer_by_its_name() -> None:
    peer = Peer.parse("modified-presidio:spacy:some=folder=/opt/peers/bin/python")
    assert (peer.adapter, peer.engine, peer.model, peer.variant) == ("presidio", "spacy", "some=folder", True)
    assert peer.python == Path("/opt/peers/bin/python")
    assert Label.AGE not in peer.labels
    assert {Label.PATIENT, Label.PHONE, Label.STREET, Label.ZIP, Label.HEALTHPLAN} <= peer.labels
    assert {Label.CITY, Label.EMAIL, Label.SSN}.isdisjoint(peer.labels)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("presidoi=py", "presidio"),
        ("presidio:stanza:en=py", "spacy"),
        ("philter:crf:x=py", "none"),
        ("presidio:spacy=py", "spacy"),
    ],
)
def test_a_peer_that_there_is_not(written, said) -> None:
    with pytest.raises(DeidError, match=said) as error:
        Peer.parse(written)
    assert error.value.code is Code.PEER_UNKNOWN


@pytest.mark.parametrize(
    ("types", "kind"),
    [
        (["First Name8 (NamePattern2)", "Last Name (un)"], "First Name"),
        (["Month/Day/Year [mm/dd/yy(yy)]"], "Month/Day/Year"),
        (["Month/Year 1 [mm/yy(yy)]"], "Month/Year"),
        (["Day Month Year (2) [dd of Month, yy(yy)]"], "Day Month Year"),
        (["Year (4 digits)"], "Year"),
        (["Telephone/Fax (1)"], "Telephone/Fax"),
        (["MRN"], "MRN"),
    ],
)
def test_a_type_of_pydeid_without_how_it_was_found(types, kind) -> None:
    assert adapters.kind_of_pydeid(types) == kind
    assert kind in CLAIMS["pydeid"][None]


def test_a_pattern_with_a_flag_within_is_compiled_as_before_3_11(monkeypatch) -> None:
    monkeypatch.setattr(adapters.re, "compile", adapters.re.compile)  # put back afterwards
    adapters.flags_at_the_start()
    assert adapters.re.compile(r"(?:a|(?i)b)c").search("BC")
    assert not adapters.re.compile(r"(?i:a)b").search("AB")


# The variant of Aghakasiri 2025


def marked(text: str) -> tuple[str, list[PeerSpan]]:
    """The text without marks `[KIND|words]`, and the spans that they mark."""
    spans, plain = [], ""
    for number, piece in enumerate(adapters.re.split(r"\[([^|\]]+\|[^\]]+)\]", text)):
        kind, _, words = piece.rpartition("|") if number % 2 else ("", "", piece)
        if kind:
            spans.append(PeerSpan(len(plain), len(plain) + len(words), kind))
        plain += words
    return plain, spans


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("[DATE_TIME|45 years old], seen [DATE_TIME|3/4/2019]", ["3/4/2019"]),
        ("A [DATE_TIME|45-year-old] man since [DATE_TIME|two years]", ["two years"]),
        ("DOB: [DATE_TIME|12/03/1997] seen [DATE_TIME|12/03/2021]", ["12/03/", "12/03/2021"]),
        ("born on [DATE_TIME|1997-03-12]", ["-03-12"]),
        ("Date of birth [DATE_TIME|1997]", []),
        ("[PERSON|Ann Roe] of [LOCATION|Leeds], [URL|a.org], tel [PHONE_NUMBER|555 0123]", ["Ann Roe", "555 0123"]),
        ("lives at 12 Elm Tree Road, Calgary T2P 1J9", ["12 Elm Tree Road", "T2P 1J9"]),
        ("PHN 12345-6789, NHS number: 943 476 5919", ["12345-6789", "943 476 5919"]),
        ("BP 120 over 80, T2P alone, 12 elm trees, health good", []),
    ],
)
def test_the_variant_of_presidio(text, hidden) -> None:
    plain, spans = marked(text)
    found = sorted(varied(plain, spans, "presidio"))
    assert [plain[span.start : span.end] for span in found] == hidden


def test_the_variant_of_another_peer_keeps_its_kinds_but_ages() -> None:
    plain, spans = marked("[Name|Jan], [Age|64 jaar], [Hospital|UMCU], [Date|10 oktober]")
    assert [span.kind for span in varied(plain, spans, "deidentify")] == ["Name", "Hospital", "Date"]


# The benchmark


@pytest.fixture(scope="module")
def benchmark() -> Iterator[types.ModuleType]:
    folder = Path(__file__).parents[2] / "benchmarks"
    spec = spec_from_file_location("peers_benchmark", folder / "peers.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # for its dataclasses
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        spec.loader.exec_module(module)
        yield module


@pytest.mark.process
def test_the_benchmark_joins_a_model_with_presidio_and_varies_both(benchmark, stub, monkeypatch) -> None:
    monkeypatch.setattr(PeerProcess.__init__, "__kwdefaults__", {"script": stub})
    note = Note("1", "Okonkwo was seen by ROE, DOB 3/4/1990, at 45 years of age")
    peers = [benchmark.peer_of(f"{name}presidio:spacy:x={HERE}") for name in ("", "modified-")]
    arguments = types.SimpleNamespace(model="minilm", topics=None, peers=peers)
    rows = {row.name: row for row in benchmark.measured(arguments, [note])}
    model, both, varied = (
        {note.text[it.start : it.end] for it in rows[name].reading.hidden[0]}
        for name in ("model:minilm", *(f"{one}model:minilm+{one}presidio:spacy:x" for one in ("", "modified-")))
    )
    assert both > model > set()
    assert "ROE" in both & varied
    assert "3/4/1990" in both
    assert "3/4/1990" not in varied and not any("1990" in words for words in varied)
    assert rows["model:minilm+presidio:spacy:x"].seconds == pytest.approx(
        rows["model:minilm"].seconds + rows["presidio:spacy:x"].seconds
    )


def test_the_benchmark_scores_on_claimed_labels_by_what_a_kind_covers(benchmark) -> None:
    note = Note("1", "ROE seen 3/4/1990 in Leeds")
    gold = [Span(0, 3, Label.PATIENT), Span(9, 17, Label.DATE), Span(21, 26, Label.CITY)]
    person = frozenset(CLAIMS["presidio"]["spacy"]["PERSON"])
    hidden = [Hidden(0, 3, person), Hidden(4, 8, frozenset()), Hidden(18, 20, person), Hidden(21, 26, person)]
    row = benchmark.Row("peer", Reading([hidden], 1.0))
    on_all = benchmark.scored(row, [note], [gold], benchmark.ALL)
    assert (on_all.precision.hits, on_all.precision.total, on_all.recall.total) == (2, 4, 5)
    persons = benchmark.scored(row, [note], [gold], person)
    # The city is left out, and "seen" is hidden under no claim; "in" is wrong.
    assert (persons.precision.hits, persons.precision.total, persons.recall.hits, persons.recall.total) == (1, 2, 1, 1)


# The process


@pytest.mark.process
def test_a_peer_in_its_process(stub) -> None:
    with PeerProcess(Peer.parse(f"presidio:spacy:x={HERE}"), script=stub) as peer:
        assert peer.find(["ROE 3/4/2019", "", "Ça va\n!"]) == [
            [(4, 12, "DATE_TIME"), (0, 3, "PERSON")],
            [],
            [(6, 7, "ODD")],
        ]
        assert peer.unclaimed == {"ODD"}
        assert peer.find([]) == []
        assert peer.find(["again 1/2/2003"]) == [[(6, 14, "DATE_TIME")]]
        assert peer.seconds == 1.0
        (found,) = peer.detect([Document(Note("1", "ROE 3/4/2019!"))])
        assert [candidate.label for candidate in found] == [Label.DATE, Label.PATIENT, Label.IDNUM]


@pytest.mark.process
def test_a_variant_in_its_process(stub) -> None:
    with PeerProcess(Peer.parse(f"modified-presidio:spacy:x={HERE}"), script=stub) as peer:
        text = "ROE, DOB 3/4/1990!"
        assert [text[span.start : span.end] for span in peer.find([text])[0]] == ["3/4/", "ROE", "DOB"]


@pytest.fixture
def running(stub) -> Iterator[list[PeerProcess]]:
    peers: list[PeerProcess] = []
    yield peers
    for peer in peers:
        peer.close()


@pytest.mark.process
def test_a_peer_keeps_the_contract_of_models_and_is_a_stage(stub, running) -> None:
    def make() -> PeerProcess:
        running.append(PeerProcess(Peer.parse(f"presidio:spacy:x={HERE}"), script=stub))
        return running[-1]

    check_model(make)
    (spans,) = Pipeline({"peer": detecting(make())}).detect([Note("1", "ROE seen 3/4/2019")])
    assert [(span.start, span.end, span.label, span.source) for span in spans] == [
        (0, 3, Label.PATIENT, "model:presidio"),
        (9, 17, Label.DATE, "model:presidio"),
    ]


@pytest.mark.process
@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ((), "its process ended"),
        (("nothing of JSON",), "its process ended"),
        (('{"found": [], "seconds": 1}',), "another form"),
        (('{"found": [[["a", 2, "PERSON"]]], "seconds": 1}',), "another form"),
        (('{"failed": "ValueError"}',), "ValueError"),
    ],
)
def test_a_peer_that_fails_on_a_text(tmp_path, answers, said) -> None:
    with (
        PeerProcess(Peer.parse(f"presidio={HERE}"), script=saying(tmp_path, *answers)) as peer,
        pytest.raises(DeidError, match=said) as error,
    ):
        peer.find(["Zebulon"])
    assert error.value.code is Code.PEER_FAILED
    assert "Zebulon" not in str(error.value)


@pytest.mark.process
def test_spans_end_with_their_text(tmp_path) -> None:
    says = saying(tmp_path, '{"found": [[[0, 99, "URL"], [5, 6, "URL"], [2, 2, "URL"]]], "seconds": 1}')
    with PeerProcess(Peer.parse(f"presidio={HERE}"), script=says) as peer:
        assert peer.find(["a.org"]) == [[(0, 5, "URL")]]


def test_a_peer_says_its_version_and_that_of_a_model_that_is_a_package(monkeypatch) -> None:
    installed = {"presidio-analyzer": "2.2", "en_core_web_sm": "3.8"}

    def version(name: str) -> str:
        if name not in installed:
            raise adapters.metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(adapters.metadata, "version", version)
    said = adapters.version_of("presidio", "/models/clinical,en_core_web_sm")
    assert said == "presidio-analyzer 2.2, en_core_web_sm 3.8"
    assert adapters.version_of("philter") == ""


# What is not installed


@pytest.mark.process
@pytest.mark.parametrize(
    ("written", "missing"),
    [("pydeid", "pyDeid"), ("philter", "nltk"), ("deidentify:flair:/nowhere/final-model.pt", "final-model.pt")],
)
def test_a_peer_that_is_not_installed(written, missing) -> None:
    with pytest.raises(DeidError) as error:
        PeerProcess(Peer.parse(f"{written}={HERE}"))
    assert error.value.code is Code.PEER_MISSING
    assert f"{written.partition(':')[0]}: {missing}" in str(error.value)
    assert "docs/peers.md" in str(error.value)


@pytest.mark.process
def test_an_interpreter_that_is_not_there(tmp_path) -> None:
    with pytest.raises(DeidError, match="no interpreter") as error:
        PeerProcess(Peer.parse(f"presidio={tmp_path / 'python'}"))
    assert error.value.code is Code.PEER_MISSING
