"""What the project promises of itself: light to install, and the same on another day."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

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
    heavy = {"torch", "transformers", "vllm", "ray", "onnxruntime"}
    assert heavy.isdisjoint(map(named, PROJECT["dependencies"]))
    assert heavy.isdisjoint(PINS)


def test_every_dependency_of_base_and_dev_is_pinned() -> None:
    pinned = {name.lower().replace("_", "-") for name in PINS}
    wanted = {named(r) for r in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]}
    assert wanted <= pinned


def test_constraints_name_versions_and_no_places() -> None:
    assert not re.search(r"https?:|file:|@", (ROOT / "constraints.txt").read_text())


def test_the_readmes_commands_are_targets() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    named_there = re.findall(r"(?:^    |\| |`)make (?:-s )?([a-z]+)", (ROOT / "README.md").read_text(), re.M)
    assert {"demo", "test", "psql", "ui", "bench"} <= set(named_there) <= targets


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
    assert commands[-1] == "make test"


def test_links_in_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
