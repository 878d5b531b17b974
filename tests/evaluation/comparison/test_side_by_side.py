"""`deid compare`: which detectors a command line names, and any of them on notes with gold or without."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import deid, deid_in_a_pipe

from deid_platform.detection import DetectorSpec
from deid_platform.detection.named import Joined, Own
from deid_platform.detection.peers.process import Peer
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.comparison.named_detectors import detectors

TEXT = "Ms. Ann Quillfeather met Dr. Alan Reed on 03/04/2019."
NOTES = [
    {"note_id": "zeb1", "text": TEXT, "patient_id": "p1"},
    {"note_id": "zeb2", "text": "Seen on 05/06/2019. QUILLFEATHER is well.", "patient_id": "p2"},
]
SPANS = [
    [[TEXT.index(it), TEXT.index(it) + len(it), label] for it, label in (
        ("Ann Quillfeather", "PATIENT"), ("Alan Reed", "DOCTOR"), ("03/04/2019", "DATE"))],
    [[8, 18, "DATE"], [20, 32, "PATIENT"]],
]  # fmt: skip

# An interpreter that speaks as the adapters do, whatever it is told to run: it marks words in capitals.
STUB = """#!{python} -B
import json, re, sys
print(json.dumps({{"ready": True}}), flush=True)
for line in sys.stdin:
    found = [[(*m.span(), "PERSON") for m in re.finditer(r"\\b[A-Z]{{3,}}\\b", text)] for text in json.loads(line)]
    print(json.dumps({answer}), flush=True)
"""
FOUND = '{"found": found, "seconds": 0.5}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in NOTES))
    gold = ({**row, "spans": spans} for row, spans in zip(NOTES, SPANS, strict=True))
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    return tmp_path


def peer(folder: Path, answer: str = FOUND) -> str:
    path = folder / "python"
    path.write_text(STUB.format(python=sys.executable, answer=answer))
    path.chmod(0o700)
    return f"presidio:spacy:en=core={path}"


def records(shown: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in shown.splitlines()]


# Names


BASE = DetectorSpec("ensemble")


def test_detectors_by_their_names() -> None:
    peers = "presidio:transformers:/m,en_core=/p/python,modified-philter=/q/python"
    found = detectors(["rules, ensemble:minilm", f"model:minilm,{peers},presidio:transformers:/m=/p/python"], BASE)
    assert [it.name for it in found] == [
        "rules",
        "ensemble:minilm",
        "model:minilm",
        "presidio:transformers:/m,en_core",
        "modified-philter",
        "presidio:transformers:/m",
    ]
    rules, ensemble, model, presidio, *_ = found
    assert isinstance(rules, Own) and isinstance(ensemble, Own) and isinstance(model, Own)
    assert isinstance(presidio, Peer) and presidio.python == Path("/p/python")
    assert (rules.spec.models, ensemble.spec.models) == (None, ("minilm",))
    assert model.spec.stages == ("models",)


def test_what_ours_have_in_common_goes_to_those_that_use_it(tmp_path: Path) -> None:
    (keep := tmp_path / "keep.txt").write_text("Bruce protocol\n")
    found = detectors(["rules,patterns,model:minilm"], DetectorSpec("ensemble", keep=keep))
    assert [it.spec.keep for it in found if isinstance(it, Own)] == [keep, None, None]


def test_a_model_joined_with_a_peer_by_their_names() -> None:
    (both,) = detectors(["modified-model:minilm+modified-presidio:transformers:/m+n,en_core=/p/python"], BASE)
    assert isinstance(both, Joined)
    assert both.name == "modified-model:minilm+modified-presidio:transformers:/m+n,en_core"
    assert (both.model.variant, both.model.spec.stages, both.model.kind) == (
        True,
        ("models",),
        "modified-model-shipped",
    )
    assert (both.peer.variant, both.peer.model, both.peer.python) == (True, "/m+n,en_core", Path("/p/python"))
    # A folder may have a plus in its name, unless a peer's name follows.
    with pytest.raises(DeidError, match="minilm") as error:
        detectors(["model:/models/a+b"], BASE)
    assert error.value.code is Code.DETECTOR_UNKNOWN


@pytest.mark.parametrize(
    ("written", "code", "said"),
    [
        ("rules,model:minilm+presidio", Code.PEER_MISSING, "presidio: no interpreter"),
        ("rules,ensemble+presidio=py", Code.DETECTOR_UNKNOWN, "only a model alone"),
        ("rules,modified-ensemble", Code.DETECTOR_UNKNOWN, "ensemble"),
        ("rules,model:", Code.DETECTOR_UNKNOWN, "model"),
        ("ruls,ensemble", Code.DETECTOR_UNKNOWN, "rules"),
        ("rules,model:nowhere", Code.DETECTOR_UNKNOWN, "minilm"),
        ("rules:minilm,ensemble", Code.SETTINGS_INVALID, "the detector rules has no models"),
        ("rules,presidoi=py", Code.PEER_UNKNOWN, "presidio"),
        ("rules,presidio:spacy:en", Code.PEER_MISSING, "presidio: no interpreter"),
        ("rules,presidio:spacy=py", Code.PEER_UNKNOWN, "spacy"),
        ("rules,ensemble,rules", Code.INPUT_INVALID, "rules comes twice"),
    ],
)
def test_detectors_that_there_are_not(written: str, code: Code, said: str) -> None:
    with pytest.raises(DeidError, match=said) as error:
        detectors([written], BASE)
    assert error.value.code is code


# The command


def test_notes_without_gold(folder: Path) -> None:
    shown = deid("compare", str(folder / "notes.jsonl"), "--detectors", "patterns,gazetteer", "--json")
    assert shown.returncode == 0, shown.stderr
    patterns, gazetteer = records(shown.stdout)
    assert (patterns["notes"], patterns["words"], gazetteer["hidden_words"]) == (2, 19, 0)
    assert patterns["hidden_by_it_alone"] == patterns["hidden_words"] >= 8
    assert patterns["hidden_by_it_alone_by_label"]["DATE"] == 6
    assert gazetteer["kappa"]["patterns"]["value"] == 0
    assert "recall" not in patterns
    assert "2 notes, 19 words; without gold" in shown.stderr


def test_gold_is_known_by_its_spans_and_scored(folder: Path) -> None:
    (folder / "patients.csv").write_text("patient_id,last_name\np2,Quillfeather\n")
    command = ("compare", str(folder / "gold.jsonl"), "--detectors", "patterns,gazetteer")
    known = ("--patients", str(folder / "patients.csv"))
    shown = deid(*command, *known, "--json")
    assert shown.returncode == 0, shown.stderr
    patterns, gazetteer = records(shown.stdout)
    assert (patterns["inputs"], gazetteer["inputs"]) == ("text", "topics")
    scored = deid("evaluate", str(folder / "gold.jsonl"), "--detector", "patterns", "--json")
    assert patterns["recall"]["value"] == json.loads(scored.stdout.splitlines()[0])["recall"]
    less = gazetteer["recall"]["value"] - patterns["recall"]["value"]
    assert gazetteer["recall_less_first"]["value"] == pytest.approx(less)
    assert less < 0
    assert "gold has 5 identifiers" in shown.stderr
    assert "recall" not in records(deid(*command, "--no-gold", "--json").stdout)[0]
    table = deid(*command, *known)
    assert "Against gold, all labels" in table.stdout and "recall less that of patterns" in table.stdout
    refused = deid("compare", str(folder / "notes.jsonl"), "--gold", "--detectors", "patterns,gazetteer")
    assert (refused.returncode, "gold-invalid [line 1: no spans]" in refused.stderr) == (1, True)


def test_the_page_is_its_owners_alone_and_the_terminal_shows_no_text(folder: Path) -> None:
    page = folder / "page.html"
    page.write_text("of before")
    page.chmod(0o644)
    command = ("compare", str(folder / "gold.jsonl"), "--detectors", "patterns,gazetteer", "--html", str(page))
    shown = deid(*command)
    assert shown.returncode == 0, shown.stderr
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    html = page.read_text()
    assert "Quillfeather" in html and "zeb1" in html
    assert "belongs into the PHI zone" in shown.stderr
    for word in ("Quillfeather", "QUILLFEATHER", "Reed", "2019", "zeb"):
        assert word not in shown.stdout + shown.stderr


def test_the_page_replaces_no_input_and_is_no_standard_output(folder: Path) -> None:
    notes = folder / "notes.jsonl"
    content = notes.read_text()
    (folder / "link").symlink_to(notes)
    for target in (notes, folder / "link"):
        refused = deid("compare", str(notes), "--detectors", "patterns,gazetteer", "--html", str(target))
        assert "input-invalid [output is the input]" in refused.stderr
    refused = deid("compare", str(notes), "--detectors", "patterns,gazetteer", "--html", "-")
    assert (refused.returncode, "--html" in refused.stderr) == (2, True)
    assert notes.read_text() == content


def test_one_detector_is_no_comparison(folder: Path) -> None:
    refused = deid("compare", str(folder / "notes.jsonl"), "--detectors", "rules")
    assert refused.returncode == 2 and "at least two" in refused.stderr


def test_rows_that_are_refused_are_told_after_the_rest(folder: Path) -> None:
    with (folder / "notes.jsonl").open("a") as file:
        file.write('{"note_id": "zeb3"}\n')
    done = deid("compare", str(folder / "notes.jsonl"), "--detectors", "patterns,gazetteer")
    assert done.returncode == 3
    assert "What each hides" in done.stdout and "1 row refused: empty_text, line 3" in done.stderr
    (folder / "notes.jsonl").write_text("")
    assert "input-empty [notes]" in deid("compare", str(folder / "notes.jsonl"), "--detectors", "patterns,rules").stderr


def test_notes_of_standard_input() -> None:
    given = json.dumps({**NOTES[0], "spans": SPANS[0]}).encode()
    status, shown, said = deid_in_a_pipe("compare", "-", "--detectors", "patterns,gazetteer", "--json", given=given)
    assert (status, records(shown)[0]["notes"]) == (0, 1), said
    status, shown, said = deid_in_a_pipe(
        "compare", "-", "--detectors", "patterns,roster", "--json", given=TEXT.encode()
    )
    assert (status, "recall" in records(shown)[0]) == (0, False), said


@pytest.mark.process
def test_a_peer_beside_ours(folder: Path) -> None:
    written = f"patterns,{peer(folder)}"
    shown = deid("compare", str(folder / "gold.jsonl"), "--detectors", written, "--json")
    assert shown.returncode == 0, shown.stderr
    _, found = records(shown.stdout)
    assert (found["detector"], found["inputs"], found["hidden_words"]) == ("presidio:spacy:en=core", "text", 1)
    assert found["precision"]["value"] == 1
    assert found["recall"]["value"] == pytest.approx(1 / 11)
    shared = found["on_shared_labels"]
    assert shared["labels"] == 15
    assert shared["scores"]["recall"]["value"] == pytest.approx(1 / 11)  # all five are among its labels


@pytest.mark.process
def test_a_model_joined_with_a_peer_hides_what_either_finds(folder: Path) -> None:
    written = peer(folder)
    shown = deid(
        *("compare", str(folder / "gold.jsonl"), "--json"),
        *("--detectors", f"model:minilm,modified-model:minilm,{written},model:minilm+{written}"),
    )
    assert shown.returncode == 0, shown.stderr
    model, varied, alone, both = records(shown.stdout)
    assert both["detector"] == "model:minilm+presidio:spacy:en=core"
    assert max(model["hidden_words"], alone["hidden_words"]) <= both["hidden_words"]
    assert both["hidden_words"] <= model["hidden_words"] + alone["hidden_words"]
    assert both["recall"]["value"] >= model["recall"]["value"] > alone["recall"]["value"] > 0
    assert varied["hidden_words"] == model["hidden_words"]  # no age, no birth date in these


@pytest.mark.process
def test_a_peer_that_is_not_there_or_fails(folder: Path) -> None:
    nowhere = f"patterns,presidio={folder / 'nowhere'}"
    refused = deid("compare", str(folder / "notes.jsonl"), "--detectors", nowhere)
    assert refused.returncode == 1 and "peer-missing [presidio: no interpreter]" in refused.stderr
    # Before a note is read: these are none.
    (folder / "empty.jsonl").write_text("")
    assert "peer-missing" in deid("compare", str(folder / "empty.jsonl"), "--detectors", nowhere).stderr
    failing = f"patterns,{peer(folder, json.dumps({'failed': 'ValueError'}))}"
    page = folder / "page.html"
    failed = deid("compare", str(folder / "notes.jsonl"), "--detectors", failing, "--html", str(page))
    assert failed.returncode == 1 and "peer-failed [presidio: ValueError]" in failed.stderr
    assert not page.exists()
    assert "Quillfeather" not in failed.stderr + failed.stdout


# Released texts


def texts(folder: Path, name: str, *rows: tuple[str, str]) -> str:
    path = folder / name
    path.write_text("".join(json.dumps({"note_id": note, "text": text}) + "\n" for note, text in rows))
    return str(path)


def test_released_texts_stand_beside_detectors(folder: Path) -> None:
    whole = TEXT.replace("Ann Quillfeather", "[NAME]").replace("Alan Reed", "Bob Roe").replace("03/04/2019", "[DATE]")
    theirs = texts(folder, "theirs.jsonl", ("zeb1", whole))
    others = texts(folder, "others.jsonl", ("zeb1", TEXT), ("zeb2", "Seen on [DATE]. QUILLFEATHER is well."))
    shown = deid(
        *("compare", str(folder / "gold.jsonl"), "--detectors", "patterns", "--json", "--resamples", "5"),
        *("--released", theirs, "--released", f"north={others}"),
    )
    assert shown.returncode == 0, shown.stderr
    rows = {it["detector"]: it for it in records(shown.stdout) if it.get("record") == "detector" or "recall" in it}
    assert set(rows) >= {"patterns", "released", "north"}
    # Ann, Quillfeather, Alan, Reed and the date's three parts of the first note; the second was withheld.
    assert rows["released"]["recall"]["value"] == pytest.approx(7 / 11)
    assert rows["north"]["recall"]["value"] == pytest.approx(3 / 11)
    assert "released: notes withheld: 1" in shown.stderr
    assert "zeb" not in shown.stdout + shown.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--released", "theirs.jsonl"), "name at least two"),
        (("--detectors", "rules", "--released", "nowhere.jsonl"), "feed-unreadable [released: no such file]"),
        (("--released", "theirs.jsonl", "--released", "theirs.jsonl"), "released comes twice"),
        (("--released", "theirs.jsonl", "--released", "b=strange.jsonl"), "released-invalid [row 1: of no original]"),
    ],
)
def test_released_texts_that_cannot_be_compared(folder: Path, options: tuple[str, ...], said: str) -> None:
    texts(folder, "theirs.jsonl", ("zeb1", TEXT))
    texts(folder, "strange.jsonl", ("zeb3", TEXT))
    done = deid("compare", "notes.jsonl", *options, folder=folder)
    assert done.returncode and said in " ".join(done.stderr.replace("│", " ").split())
