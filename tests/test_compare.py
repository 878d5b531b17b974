"""`deid compare` from a command line to the page that a person reads."""

from __future__ import annotations

import json
import stat
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from chat_endpoint import Reply, serving
from command_line import deid
from toy_engine import engine, weights

from deid_platform.detection.peers.process import PeerProcess

HOSTILE = 'Seen 3/4/2019 by Dr. <script>alert("x")</script>\u202e Ada Lovelace.\nCall (614) 555-0142.'
NOTES = [
    {"note_id": "n1", "patient_id": "p1", "text": HOSTILE},
    {"note_id": "n2", "patient_id": "p2", "text": "Seen on 4/5/2019. QRS narrow & well."},
]
# Finds dates and words in capitals, as a peer would say it.
PEER = """
import json, re, sys
KINDS = {"DATE_TIME": r"\\d+/\\d+/\\d+", "PERSON": r"\\b[A-Z]{3,}\\b"}
print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    found = [
        [(*match.span(), kind) for kind, pattern in KINDS.items() for match in re.finditer(pattern, text)]
        for text in json.loads(line)
    ]
    print(json.dumps({"found": found, "seconds": 0.5}), flush=True)
"""
BOTH = f"rules,presidio={sys.executable}"


class Page(HTMLParser):
    """What a page shows and what it would ask for."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.asked: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.in_cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.asked += [value or "" for name, value in attrs if name in ("src", "href", "action", "onload")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = self.in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.in_cell:
            self.rows[-1][-1] += data


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in NOTES), encoding="utf-8")
    script = tmp_path / "peer.py"
    script.write_text(PEER, encoding="utf-8")
    monkeypatch.setitem(PeerProcess.__init__.__kwdefaults__, "script", script)
    return tmp_path


@pytest.mark.process
def test_without_gold_it_says_where_they_differ_and_shows_no_text_in_the_terminal(folder: Path) -> None:
    done = deid("compare", "notes.jsonl", "--detectors", BOTH, "--html", "page.html", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "without gold" in done.stderr
    assert "Cohen's kappa" in done.stdout
    said = done.stdout + done.stderr
    assert not any(word in said for word in ("Lovelace", "QRS", "555-0142", "script"))

    path = folder / "page.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    html = path.read_text(encoding="utf-8")
    page = Page(html)
    assert "script" not in page.tags
    assert all(asked.startswith("#") for asked in page.asked)
    assert '<script>alert("x")</script>' in page.text  # as text
    assert "\u202e" not in html
    assert "Hidden by rules, not by presidio" in page.text
    assert "(614) 555-0142" in page.text


@pytest.mark.process
def test_the_page_has_the_numbers_of_the_computation(folder: Path) -> None:
    done = deid("compare", "notes.jsonl", "--detectors", BOTH, "--html", "page.html", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    hides = {it["detector"]: it for it in records if "hidden_words" in it}
    assert set(hides) == {"rules", "presidio"}
    # "QRS" is no name to the rules; the two dates both find.
    assert hides["presidio"]["hidden_words"] == 7
    assert hides["presidio"]["hidden_by_it_alone"] == 1
    rows = Page((folder / "page.html").read_text(encoding="utf-8")).rows
    shown = {row[0]: row for row in rows if len(row) == 5 and row[0] in hides}
    for name, record in hides.items():
        assert shown[name][2] == f"{record['hidden_words']:,}"
        assert shown[name][4] == f"{record['hidden_by_it_alone']:,}"


@pytest.mark.process
def test_gold_is_scored(folder: Path) -> None:
    start = NOTES[1]["text"].index("4/5/2019")
    gold = {**NOTES[1], "spans": [[0, 4, "DOCTOR"], [start, start + 8, "DATE"]]}
    (folder / "gold.jsonl").write_text(json.dumps(gold) + "\n", encoding="utf-8")
    done = deid("compare", "gold.jsonl", "--detectors", BOTH, "--resamples", "2", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "gold has 2 identifiers" in done.stderr
    assert "Against gold, all labels" in done.stdout
    assert "on the labels that both it and rules look for" in done.stdout


@pytest.mark.parametrize(
    ("detectors", "code"),
    [
        ("rules,preside=/nowhere/python", "peer-unknown"),
        ("rules,presidio", "peer-missing"),
        pytest.param("rules,presidio=/nowhere/python", "peer-missing", marks=pytest.mark.process),
        ("rules,rulse", "detector-unknown"),
        ("rules,rules", "input-invalid"),
        ("rules,model:/nowhere", "detector-unknown"),
    ],
)
def test_what_cannot_run_is_refused_before_a_note_is_read(folder: Path, detectors: str, code: str) -> None:
    (folder / "notes.jsonl").write_text("\0", encoding="utf-8")
    done = deid("compare", "notes.jsonl", "--detectors", detectors, "--html", "page.html", folder=folder)
    assert done.returncode != 0
    assert code in done.stderr
    assert not (folder / "page.html").exists()


@pytest.mark.process
def test_a_peer_may_stand_in_the_installations_settings(folder: Path) -> None:
    (folder / "deid.toml").write_text(f'site = "north"\n[peers]\npresidio = "{sys.executable}"\n')
    done = deid("compare", "notes.jsonl", "--detectors", "rules,presidio", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "presidio" in done.stdout


def test_one_detector_is_no_comparison(folder: Path) -> None:
    done = deid("compare", "notes.jsonl", "--detectors", "rules", folder=folder)
    assert done.returncode == 2
    assert "deid evaluate" in done.stderr.replace("\n", " ")


@pytest.mark.process
def test_a_prompt_to_a_language_model_beside_the_rules(folder: Path) -> None:
    gold = [
        {**NOTES[0], "spans": [[HOSTILE.index("Ada"), HOSTILE.index(".\nCall"), "DOCTOR"]]},
        {**NOTES[1], "spans": [[8, 16, "DATE"]]},
    ]
    (folder / "gold.jsonl").write_text("".join(json.dumps(note) + "\n" for note in gold), encoding="utf-8")

    def script(body: dict[str, Any], count: int) -> Reply:
        if "QRS" in body["messages"][-1]["content"]:
            return Reply("I would rather not.")
        return Reply('[{"text": "ada lovelace", "label": "DOCTOR"}]')

    with serving(script) as endpoint:
        (folder / "deid.toml").write_text(f'site = "north"\n[llm]\nurl = "{endpoint.url}"\nmodel = "toy"\n')
        asked = ("compare", "gold.jsonl", "--detectors", "rules,chat:extract-zero", "--json", "--resamples", "2")
        done = deid(*asked, folder=folder)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    chat = next(record for record in records if record["detector"] == "chat:extract-zero")
    assert (chat["hidden_words"], chat["notes_failed"]) == (2, 1)
    assert chat["recall"]["value"] == 2 / 5  # the date of the note on which it failed is missed
    without = chat["without_failed_notes"]
    assert (without["notes"], without["scores"]["recall"]["value"], without["scores"]["precision"]["value"]) == (
        1,
        1,
        1,
    )
    assert "chat:extract-zero: notes failed: form: 1" in done.stderr
    assert not any(word in done.stdout + done.stderr for word in ("Lovelace", "QRS", "rather"))
    assert [body["model"] for body in endpoint.received] == ["toy", "toy"]
    with serving(script) as endpoint:
        (folder / "deid.toml").write_text(f'site = "north"\n[llm]\nurl = "{endpoint.url}"\nmodel = "toy"\n')
        shown = deid(*(word for word in asked if word != "--json"), folder=folder)
    assert "The same, without the notes on which it failed" in shown.stdout


def test_a_prompt_of_ones_own_to_a_model_of_this_process_beside_the_rules(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mine.yaml").write_text(
        "name: mine\nversion: 1\nlanguage: en\ntask: rewrite\nmessages:\n- {role: user, content: '{{note}}'}\n"
    )
    (folder / "deid.toml").write_text(f'site = "north"\n[vllm]\nmodel = "{weights(folder / "toy")}"\n')
    monkeypatch.setenv("DEID_CONFIG", str(folder / "deid.toml"))
    with engine(lambda request: request.messages[-1].content.replace("Ada", "***patient_Name***")) as running:
        done = deid("compare", "notes.jsonl", "--detectors", "rules,chat:mine.yaml", "--json", folder=folder)
        assert running.loaded == 1
    assert done.returncode == 0, done.stderr
    (chat,) = [it for it in map(json.loads, done.stdout.splitlines()) if it.get("detector") == "chat:mine.yaml"]
    assert (chat["hidden_words"], chat["notes_failed"]) == (1, 0)


@pytest.mark.process
@pytest.mark.parametrize(
    ("toml", "detector", "code"),
    [
        (None, "chat:extract-zero", "llm-missing"),
        ('site = "north"\n', "chat:extract-zero", "llm-missing"),
        ('site = "north"\n[llm]\nurl = "http://10.0.0.1/v1"\nmodel = "toy"\n', "chat:extract-zero", "endpoint-refused"),
        ('site = "north"\n[llm]\nurl = "http://10.0.0.1/v1"\nmodal = "toy"\n', "chat:extract-zero", "llm.modal"),
        (None, "chat:guess", "prompt-unknown"),
    ],
)
def test_a_prompt_that_has_nobody_to_go_to_is_refused(folder: Path, toml: str | None, detector: str, code: str) -> None:
    if toml is not None:
        (folder / "deid.toml").write_text(toml)
    done = deid("compare", "notes.jsonl", "--detectors", f"rules,{detector}", folder=folder)
    assert done.returncode not in (0, 3)
    assert code in done.stderr
