"""What the project promises of itself: light to install, and the same on another day."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from deid_platform.notice import notice

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = dict(
    line.split("==")
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if line and not line.startswith("#")
)


def named(requirement: str) -> str:
    return re.split(r"[\[<>=~! ]", requirement)[0].lower().replace("_", "-")


def test_the_base_install_needs_no_torch() -> None:
    heavy = {"torch", "transformers", "vllm", "ray"}
    assert heavy.isdisjoint(map(named, PROJECT["dependencies"]))
    assert heavy.isdisjoint(PINS)


def test_every_dependency_of_base_and_dev_is_pinned() -> None:
    pinned = {name.lower().replace("_", "-") for name in PINS}
    wanted = {named(r) for r in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]}
    assert wanted <= pinned


def test_constraints_name_versions_and_no_places() -> None:
    assert not re.search(r"https?:|file:|@", (ROOT / "constraints.txt").read_text())


def test_the_readmes_commands_are_targets() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named_there = re.findall(r"(?:^    |\| |`)make (?:-s )?([a-z-]+)", (ROOT / "README.md").read_text(), re.M)
    assert {"demo", "check", "test", "test-all", "psql", "ui", "bench"} <= set(named_there) <= targets


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
    made = [command for command in commands if command.startswith("make ") and "||" not in command]
    assert made == ["make test", "make test-ml", "make test-llm"]


def test_links_in_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target, heading in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page.read_text(encoding="utf-8")):
            if target.startswith("http"):
                continue
            there = page.parent / target if target else page
            assert there.exists(), f"{page.name}: {target}"
            assert not heading or heading in _headings(there), f"{page.name}: {target}#{heading}"


def _headings(page: Path) -> set[str]:
    """Where links may lead to in a page: its headings as a reader of Markdown names them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_notice_lists_every_word_list_with_its_source() -> None:
    assert (ROOT / "NOTICE").read_text(encoding="utf-8") == notice()


def test_papers_are_called_by_their_authors_and_the_glossary_says_which_they_are() -> None:
    cited = set()
    for path in _written():
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\bpapers? 00\d", text, re.I), path
        cited.update(re.findall(r"\b(?:Aghakasiri|Miranda|Murugadoss|Osborne|Pissarra|Zambare) 20\d\d", text))
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert cited == set(re.findall(r"^- \*\*(.+)\*\*:", glossary, re.M))


def _written() -> Iterator[Path]:
    """Whatever people read: code, documents, configuration."""
    for folder in ("deid_platform", "assets", "resources", "dbt", "docs", "benchmarks", "deploy"):
        kinds = {".py", ".md", ".yaml", ".yml", ".sql", ".txt", ".toml"}
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in kinds)
    yield from (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))


def test_the_notebook_ships_with_what_it_showed_of_a_demonstration_and_with_nothing_of_a_machine() -> None:
    text = (ROOT / "docs" / "analysts.ipynb").read_text(encoding="utf-8")
    notebook = json.loads(text)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    shown = [cell for cell in code[1:] if cell["outputs"]]
    assert len(shown) == len(code) - 1  # the first connects
    kinds = {kind for cell in shown for output in cell["outputs"] for kind in output.get("data", {})}
    assert {"text/html", "image/png"} <= kinds
    assert not any(output["output_type"] in ("error", "stream") for cell in code for output in cell["outputs"])
    pictures = re.compile(r'"image/png": "[^"]*"')
    assert not re.search(
        r"/(?:home|root|tmp|work|opt|Users)\b|\bat 0x[0-9a-f]+|localhost|127\.0\.0\.1", pictures.sub("", text)
    )
    assert not any(cell["metadata"] for cell in notebook["cells"])  # times of running among them
    assert "demonstration of 400 invented notes" in text


def test_no_page_has_a_place_that_was_to_be_filled_in() -> None:
    unfinished = re.compile(r"\b(?:TABLE_[A-Z]+|TODO|FIXME|TBD|XXX)\b")
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
    assert [page.name for page in pages if unfinished.search(page.read_text(encoding="utf-8"))] == []
