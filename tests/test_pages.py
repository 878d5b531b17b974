"""What the pages show is what a command prints today, and every page has its one place in the index."""

from __future__ import annotations

import hashlib
import json
import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from command_line import deid

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLE = DOCS / "example"
LANGUAGES = {"English": "en", "Spanish": "es", "Italian": "it", "French": "fr"}


def quoted(after: str) -> str:
    """The first indented block of README behind some words."""
    lines = README[README.index(after) :].splitlines()[1:]
    block = re.search(r"(?:^    .*\n?)+", "\n".join(lines), re.MULTILINE)
    assert block is not None
    return re.sub(r"^    ", "", block[0], flags=re.MULTILINE).rstrip("\n")


def test_the_readme_is_about_a_hundred_lines() -> None:
    assert len(README.splitlines()) <= 110


def test_the_note_before_is_the_one_that_ships() -> None:
    (note,) = (json.loads(line) for line in (EXAMPLE / "notes.jsonl").read_text(encoding="utf-8").splitlines())
    assert quoted("A note that nobody ever wrote") == note["text"]


@pytest.mark.parametrize("policy", ["safe_harbor_plus_providers", "surrogate"])
def test_the_note_after_is_what_the_readmes_command_makes(
    policy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DEID_SECRET", hashlib.sha256(b"readme").hexdigest())
    (command,) = re.findall(r"\.venv/bin/deid (redact docs/example.*) --output -", README)
    done = deid(*command.split(), "--output", str(tmp_path / "out.jsonl"), "--policy", policy, folder=ROOT)
    assert done.returncode == 0, done.stderr
    assert quoted(f"`{policy}`") == json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))["text"]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_of_accuracy_is_that_of_the_models_card() -> None:
    card = (DOCS / "model.md").read_text(encoding="utf-8")
    header, rows = [], {}
    for line in card[: card.index("On the text alone:")].splitlines():
        if line.startswith("|  | notes |"):
            header = cells(line)
        elif header and line.startswith("| ") and "---" not in line:
            rows[cells(line)[0]] = dict(zip(header, cells(line), strict=True))
    shown = re.findall(r"^\| (English|Spanish|Italian|French) \| (.*) \|$", README, re.MULTILINE)
    assert [language for language, _ in shown] == list(LANGUAGES)
    columns = {
        "word precision": 3,
        "word recall": 3,
        "clinical words hidden": 3,
        "notes with a missed name, number, contact or street": 2,
    }
    for language, line in shown:
        measured = rows[LANGUAGES[language]]
        assert cells(line) == [as_shown(measured[column], digits) for column, digits in columns.items()]


def as_shown(figure: str, digits: int) -> str:
    """A figure of the card with its interval, in as many digits as README has."""
    shown = (Decimal(part).quantize(Decimal(10) ** -digits, ROUND_HALF_UP) for part in re.findall(r"\d\.\d+", figure))
    value, low, high = shown
    return f"{value} ({low} to {high})"


def test_every_page_is_listed_once_in_the_index() -> None:
    pages = {str(page.relative_to(DOCS)) for page in [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]} - {"README.md"}
    listed = re.findall(r"^\| \[[^]]+\]\(([^)]+)\)", (DOCS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(pages)
