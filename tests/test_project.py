"""What the project promises of itself: light to install, and the same on another day."""

from __future__ import annotations

import ast
import json
import re
import textwrap
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires
from itertools import zip_longest
from pathlib import Path

import yaml

from deid_platform import __version__
from deid_platform.lexicon.notice import _sources, notice

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "deid_platform"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
LAYERS = [contract for contract in PYPROJECT["tool"]["importlinter"]["contracts"] if contract["type"] == "layers"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
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


def test_every_dependency_of_base_platform_and_dev_is_pinned() -> None:
    pinned = {name.lower().replace("_", "-") for name in PINS}
    extras = PROJECT["optional-dependencies"]
    wanted = {named(r) for r in [*PROJECT["dependencies"], *extras["platform"], *extras["dev"]]}
    assert wanted <= pinned


def test_constraints_name_versions_and_no_places() -> None:
    assert not re.search(r"https?:|file:|@", (ROOT / "constraints.txt").read_text())


def _pages_of_first_hour() -> str:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs" / "tutorials").glob("*.md")]
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def test_the_commands_of_the_first_pages_are_targets() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named_there = re.findall(r"(?:^    |\| |`)make (?:-s )?([a-z-]+)", _pages_of_first_hour(), re.M)
    assert {"demo", "check", "test", "test-all", "psql", "ui", "bench"} <= set(named_there) <= targets


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    commands = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
    made = [command for command in commands if command.startswith("make ") and "||" not in command]
    assert made == ["make test", "make test-wheel", "make test-ml", "make test-llm"]


def test_nothing_tells_anybody_to_install_the_platform_by_name() -> None:
    told = re.compile(r"""install [^`\n]*['" ]deid[-_]platform(\[|['"\s=<>]|$)""", re.M)
    assert told.search("pip install 'deid-platform[ml]'")
    assert not told.search("pip install './deid_platform-0.1.0-py3-none-any.whl[ml]'")
    assert [path.name for path in _written() if told.search(path.read_text(encoding="utf-8"))] == []


def test_links_in_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
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


def test_the_licence_is_the_apache_license_wherever_it_is_named() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    shipped = ROOT / "deid_platform" / "detection" / "models" / "data" / "minilm" / "LICENSE"
    assert text.split()[:4] == ["Apache", "License", "Version", "2.0,"]
    assert text == shipped.read_text(encoding="utf-8")
    assert (PROJECT["license"], CITATION["license"]) == ("Apache-2.0", "Apache-2.0")
    assert {"LICENSE", "NOTICE"} < set(PROJECT["license-files"])


def test_notice_says_which_lists_ask_for_more_than_the_licence() -> None:
    others = [(path, source) for path, source, of_others in _sources() if of_others]
    asked = notice().split("What some lists ask for beyond the Apache License")[1].split("Libraries that are")[0]
    for path, source in others:
        asks = re.search(r"CC BY|MIT licence|SCOWL", source) is not None
        assert (path in asked) == asks, path


def test_notice_names_each_library_whose_licence_asks_for_more() -> None:
    told = (ROOT / "NOTICE").read_text(encoding="utf-8").lower()
    strict = {name for name in _installed_with("deid-platform") if _is_copyleft(name)}
    assert {"python-stdnum", "psycopg", "certifi"} <= strict
    assert {name for name in strict if name.removesuffix("-binary") not in told} == set()


def _installed_with(name: str) -> set[str]:
    """What a run-time installation of a distribution takes along, itself included, as far as it is installed here."""
    reached, ahead = set[str](), [name]
    while ahead:
        name = ahead.pop()
        if name in reached:
            continue
        try:
            needed = requires(name) or []
        except PackageNotFoundError:
            continue
        reached.add(name)
        tools = re.compile(r"extra\s*==\s*.(dev|test)")
        ahead += [named(it) for it in needed if "extra" not in it or (name == "deid-platform" and not tools.search(it))]
    return reached


def _is_copyleft(name: str) -> bool:
    about = metadata(name)
    said = [about.get("License-Expression", ""), *(it for it in about.get_all("Classifier", []) if "License" in it)]
    return re.search(r"GPL|MPL|General Public|Mozilla|EUPL|Eclipse", " ".join(said)) is not None


def test_the_citation_names_the_version_and_papers_of_the_glossary() -> None:
    glossary = " ".join((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").split())
    assert CITATION["version"] == __version__
    assert CITATION["authors"] == [{"name": "The deid-platform contributors"}]
    assert len(CITATION["references"]) == 5
    for paper in CITATION["references"]:
        families = [author["family-names"] for author in paper["authors"]]
        entry = glossary.split(f"**{families[0]} {paper['year']}**:")[1].split(" - **")[0]
        assert all(family in entry for family in families), families[0]
        assert paper["title"] in entry
        assert paper.get("doi", "").removeprefix("10.48550/arXiv.") in entry


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
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]
    assert [page.name for page in pages if unfinished.search(page.read_text(encoding="utf-8"))] == []


def test_each_packages_docstring_lists_its_modules() -> None:
    missing = {}
    for package, docstring in _packages():
        held = {path.stem for path in package.glob("*.py")} | {
            path.parent.name for path in package.glob("*/__init__.py")
        }
        mentioned = {*_listed(docstring), *re.findall(r"`(\w+)`", docstring)}
        if len(held - {"__init__"}) > 1 and (unlisted := held - {"__init__"} - mentioned):
            missing[str(package.relative_to(ROOT))] = sorted(unlisted)
    assert missing == {}


def test_what_a_packages_docstring_lists_is_there() -> None:
    gone = {}
    for package, docstring in _packages():
        there = {path.stem for path in package.glob("*.py")} | {
            path.name for path in package.iterdir() if path.is_dir()
        }
        if strangers := set(_listed(docstring)) - there:
            gone[str(package.relative_to(ROOT))] = sorted(strangers)
    assert gone == {}


def test_the_top_package_lists_its_packages_in_the_order_of_the_layers() -> None:
    layered = [
        name for layer in LAYERS[0]["layers"] for name in layer.split(" : ") if name.startswith("deid_platform.")
    ]
    assert _listed(dict(_packages())[PACKAGE]) == [name.removeprefix("deid_platform.") for name in layered]


def _packages() -> Iterator[tuple[Path, str]]:
    """Packages of the platform with their docstrings, but for migrations, whose order is that of their numbers."""
    for file in sorted(PACKAGE.rglob("__init__.py")):
        if "migrations" not in file.parts:
            # Cleaned, a docstring that ends with its list would lose the indent by which a list is known.
            yield file.parent, ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")), clean=False) or ""


def _listed(docstring: str) -> list[str]:
    """The names before each gap in the lines of a package's indented list: `    chart, people  what a note knows`."""
    entries = re.findall(r"^ {4}(\w+/?(?:, \w+/?)*) {2}", docstring, re.M)
    return [name for entry in entries for name in re.findall(r"\w+", entry)]


def test_modules_that_docstrings_name_are_there() -> None:
    gone = {}
    for file in [*PACKAGE.rglob("*.py"), *(ROOT / "assets").rglob("*.py"), *(ROOT / "resources").rglob("*.py")]:
        docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        named_there = re.findall(r"`([\w/]+\.py)`", docstring)
        # As seen from the module, from a package around it, or from the platform.
        places = [*file.parents[: len(file.relative_to(ROOT).parts)], PACKAGE]
        if strangers := [name for name in named_there if not any((place / name).is_file() for place in places)]:
            gone[str(file.relative_to(ROOT))] = strangers
    assert gone == {}


def test_contributing_draws_the_layers_as_import_linter_has_them() -> None:
    page, drawn = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), _drawn_layers()
    assert f"```text\n{drawn}\n```" in page, f"CONTRIBUTING.md draws other layers; these are pyproject.toml's:\n{drawn}"


def _drawn_layers() -> str:
    """The layers of all packages from the top down, and beside a package the layers within it from left to right."""
    whole, *within = LAYERS
    rooms = {contract["containers"][0]: " → ".join(contract["layers"]).replace(" : ", ", ") for contract in within}
    rows = []
    for layer in whole["layers"]:
        names = layer.split(" : ")
        notes = [f"{name.split('.')[-1]}: {rooms[name]}" for name in names if name in rooms]
        packages = ", ".join(name.removeprefix("deid_platform.") for name in names)
        beside = [line for note in notes for line in textwrap.wrap(note, 74, subsequent_indent="  ")]
        rows += [f"{left:<43}{right}".rstrip() for left, right in zip_longest([packages], beside, fillvalue="")]
    return "\n".join(rows)
