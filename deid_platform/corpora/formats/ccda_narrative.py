"""Narrative of C-CDA as text: what a stylesheet shows of a document's sections.

Belongs here: titles, paragraphs, lists and tables of sections. Does not belong here: who and when, which the head of a
document says (`ccda.py`).

Each section is its title on a line of its own and its text below, sections within it after that. What the author
struck out (`revised="delete"`), pictures and sections that have codes alone are not read; the last line says so, as of
documents (`office/`). Entries beside a text say the same in codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from deid_platform.corpora.office import Unread
from deid_platform.corpora.office.opening import local

_BLOCKS = frozenset({"paragraph", "list", "table", "caption", "footnote"})


def children(element: Element, name: str) -> list[Element]:
    """The children of an element by their name without a namespace."""
    return [child for child in element if local(child.tag) == name]


def narrative(body: Element) -> str:
    """The text of a structuredBody.

    Raises:
        RecursionError: It is nested deeper than any program writes.
    """
    unread = Unread()
    parts = [part for component in children(body, "component") for part in _sections(component, unread)]
    return unread.after("\n\n".join(part for part in parts if part))


def _sections(component: Element, unread: Unread) -> Iterator[str]:
    for section in children(component, "section"):
        title = " ".join(" ".join(" ".join(t.itertext()) for t in children(section, "title")).split())
        text = "\n".join(_block(one, unread).strip() for one in children(section, "text")).strip()
        if not text:
            unread.add("coded section", bool(children(section, "entry")))
        yield "\n".join(part for part in (title, text) if part)
        for inner in children(section, "component"):
            yield from _sections(inner, unread)


def _block(element: Element, unread: Unread) -> str:
    text = _words(element.text)
    for child in element:
        text += _element(child, unread) + _words(child.tail)
    return text


def _element(element: Element, unread: Unread) -> str:
    match local(element.tag):
        case _ if element.get("revised") == "delete":
            unread.add("deleted text", bool("".join(element.itertext()).strip()))
            return ""
        case "br":
            return "\n"
        case "renderMultiMedia":
            unread.add("picture")
            return _block(element, unread)
        case "item":
            return f"- {_block(element, unread).strip()}\n"
        case "tr":
            return "\t".join(_block(cell, unread).strip() for cell in element) + "\n"
        case "col" | "colgroup":
            return ""
        case "thead" | "tbody" | "tfoot":
            return "".join(_element(row, unread) for row in element)
        case tag if tag in _BLOCKS:
            return f"\n{_block(element, unread).strip()}\n"
        case _:
            return _block(element, unread)


def _words(text: str | None) -> str:
    """Characters between elements, where white space is one blank."""
    if not text:
        return ""
    joined = " ".join(text.split())
    return f"{' ' if text[0].isspace() else ''}{joined}{' ' if joined and text[-1].isspace() else ''}"
