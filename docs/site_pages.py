"""What the site of the documentation needs beyond its pages: mkdocs calls these functions (mkdocs.yml).

Belongs here: the navigation, which is that of the index; pages that lie beside README; Markdown that is read otherwise
there than on the hosting platform. Does not belong here: anything that a page says.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
BESIDE = {"README.md": "overview.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages of the repository's top level, and what they are called on the site."""
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)#\s]*)(#[^)\s]*)?\)")
_ITEM = re.compile(r"( *)([-*]|\d+\.) +(?=\S)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Makes the navigation of the index: a part for each of its sections, in its order."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    parts = re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", index, re.MULTILINE | re.DOTALL)
    nav: list[object] = [{"Documentation": ["README.md", {"What it is": BESIDE["README.md"]}]}]
    for title, rows in parts:
        nav.append(
            {title: [{name: page} for name, page in re.findall(r"^\| \[(.+?)\]\((\S+\.md)\)", rows, re.MULTILINE)]}
        )
    nav.append({"Project": [{"Contributing": BESIDE["CONTRIBUTING.md"]}, {"Changes": BESIDE["CHANGELOG.md"]}]})
    config.nav = nav
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that lie beside README."""
    for name, called in BESIDE.items():
        files.append(File.generated(config, called, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: object) -> str:
    """Links as the site has its pages, and lists as its reader of Markdown indents them."""
    called = page.file.src_uri
    source = next((name for name, it in BESIDE.items() if it == called), f"docs/{called}")
    return indented(_LINK.sub(lambda link: linked(link, source, called, files), markdown))


def linked(link: re.Match[str], source: str, called: str, files: Files) -> str:
    """A link of a page of the repository as one of the site; what is no page of it is named, and not linked."""
    image, text, target, heading = link.groups(default="")
    if not target or ":" in target:
        return link[0]
    there = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    page = BESIDE.get(there, there.removeprefix("docs/") if there.startswith("docs/") else None)
    if page is None or files.get_file_from_path(page) is None:
        return text
    return f"{image}[{text}]({posixpath.relpath(page, posixpath.dirname(called) or '.')}{heading})"


def indented(markdown: str) -> str:
    """What belongs to an item of a list, by four blanks a level, instead of as many as its mark takes."""
    lines: list[str] = []
    levels: list[int] = []
    fenced = in_list = False
    for line in markdown.split("\n"):
        if not line.strip():
            lines.append(line)
            continue
        indent = len(line) - len(line.lstrip(" "))
        while levels and indent < levels[-1] and not fenced:
            levels.pop()
        at = levels[-1] if levels else 0
        item = None if fenced or indent >= at + 4 else _ITEM.match(line)
        if item and not in_list and lines and lines[-1].strip():
            lines.append("")  # here a list may follow a paragraph at once
        lines.append(" " * 4 * len(levels) + line[at:])
        if item:
            levels.append(item.end())
        fenced ^= line.strip().startswith("```")
        in_list = bool(levels) or (in_list and bool(lines[-2:-1]) and bool(lines[-2].strip()))
    return "\n".join(lines)
