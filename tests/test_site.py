"""The site of the documentation: built without a warning, searched in the browser, and asking no other host."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = [pytest.mark.process, pytest.mark.slow]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages; the settings are strict, so that a warning is a failure."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


class Loads(HTMLParser):
    """What a browser asks for by itself when it shows a page: scripts, styles, pictures, frames, fonts."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("script", "img", "iframe", "source", "video", "audio", "embed", "object", "use"):
            self.addresses += [given.get(name, "") for name in ("src", "srcset", "data", "xlink:href")]
        if tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.addresses.append(given.get("href", ""))
        self.text.append(given.get("style", ""))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def elsewhere(address: str) -> bool:
    return address.startswith(("http:", "https:", "//"))


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        loads = Loads()
        html = page.read_text(encoding="utf-8")
        loads.feed(html)
        assert any(address.endswith(".js") for address in loads.addresses), page.name
        assert [address for address in loads.addresses if elsewhere(address)] == [], page.name
        # The theme's script would fetch a library for diagrams, and a forge's figures, where a page has these.
        assert 'class="mermaid"' not in html
        assert 'data-md-component="source"' not in html


def test_no_style_loads_anything_from_elsewhere(site: Path) -> None:
    styles = sorted(site.rglob("*.css"))
    assert styles
    for style in styles:
        text = style.read_text(encoding="utf-8")
        addresses = re.findall(r"""url\(["']?([^)"']+)|@import\s+["']([^"']+)""", text)
        assert [address for pair in addresses for address in pair if elsewhere(address)] == [], style.name


def test_every_page_of_the_index_is_in_the_navigation_and_searched(site: Path) -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    listed = {
        page.removesuffix(".md") + ".html" for page in re.findall(r"^\| \[.+?\]\((\S+\.md)\)", index, re.MULTILINE)
    }
    searched = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    assert listed <= {entry["location"].split("#")[0] for entry in searched}
    home = (site / "index.html").read_text(encoding="utf-8")
    assert [page for page in sorted(listed) if f'href="{page}"' not in home] == []
    assert any("quarantine queue" in entry["text"] for entry in searched)


def test_a_code_block_within_a_list_is_one(site: Path) -> None:
    """The site's reader of Markdown counts blanks otherwise than the hosting platform does."""
    page = (site / "installation.html").read_text(encoding="utf-8")
    assert re.search(r"<li>\s*<p>Users and program:</p>\s*<div class=\"highlight\">", page)
