"""Word documents (.docx) as texts: what their readers see, in reading order.

Belongs here: which elements of WordprocessingML show text, and which hold text that is not shown. Does not belong
here: opening the archive (`opening.py`).

Headers come first, then the body with its tables (a row a line, cells apart by tabs) and text boxes (behind their
paragraph), footnotes, endnotes, comments, and footers. Insertions that nobody has accepted are read, and deletions that
nobody has accepted are not: that is what the final text would be. Text that a run or its style hides is not read,
neither are headers and footers that no page shows, nor codes of fields, of which the result is read.

Own code, since what stays out has to be named (`[not read: ...]`): a reader of text that says nothing of what it
passes over will not do. No library's reading was compared with this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from deid_platform.corpora import Reason
from deid_platform.corpora.office import RefusedDocumentError, Unread
from deid_platform.corpora.office.opening import Archive, Related, archive_of, attribute, local

_DELETED = frozenset({"del", "moveFrom"})
# Properties, codes of fields and their defaults: none of it is shown.
_SILENT = frozenset({"delText", "instrText", "delInstrText", "ffData", "fldData", "sectPrChange", "binData"})
_WRAPPERS = frozenset({"sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"})
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_BOXES = {"Wingdings": {"a8": "\u2610", "6f": "\u2610", "fe": "\u2612", "fd": "\u2612", "fc": "\u2713", "fb": "\u2717"}}
"""Symbols that answer a question on a form."""
_OFF = frozenset({"0", "false", "off"})
_NAMED = {
    "image": "picture",
    "chart": "chart",
    "chartEx": "chart",
    "diagramData": "diagram",
    "aFChunk": "embedded document",
    "oleObject": "embedded document",
    "package": "embedded document",
    "subDocument": "embedded document",
    "control": "form control",
    "video": "recording",
    "audio": "recording",
    "media": "recording",
}


def docx_text(content: bytes) -> str:
    """The text of a document, and what of it is not read.

    Args:
        content: The file.

    Raises:
        RefusedDocumentError: `locked_file`, `unsupported_content`, `truncated_file`, `unreadable_file`,
            `limit_exceeded`.
    """
    with archive_of(content) as archive:
        try:
            return _Reader(archive, _main_part(archive)).text()
        except RecursionError:  # nested deeper than any program writes
            raise RefusedDocumentError(Reason.UNREADABLE_FILE) from None


def _main_part(archive: Archive) -> str:
    for relation in archive.related("").values():
        if relation.kind == "officeDocument" and relation.target in archive.names:
            return relation.target
    raise RefusedDocumentError(Reason.UNREADABLE_FILE)


@dataclass
class _Reader:
    """One document.

    Attributes:
        archive: Its parts.
        main: The part that holds the body.
    """

    archive: Archive
    main: str
    unread: Unread = field(default_factory=Unread)
    _hiding: frozenset[str] = frozenset()
    _related: Mapping[str, Related] = field(default_factory=dict)

    def text(self) -> str:
        self._related = self.archive.related(self.main)
        root = self.archive.xml(self.main)
        body = next((part for part in root if local(part.tag) == "body"), None)
        if body is None:
            raise RefusedDocumentError(Reason.UNREADABLE_FILE)
        self._hiding = self._hiding_styles()
        heads, feet = self._around(root)
        self._name_unread(self.main)
        parts = [*heads, self._block(body)]
        parts += self._notes("footnotes", "footnote") + self._notes("endnotes", "endnote")
        parts += self._notes("comments", "comment")
        kept = [part.strip("\n") for part in (*parts, *feet)]
        return self.unread.after("\n\n".join(part for part in kept if part.strip()))

    def _part(self, kind: str) -> str | None:
        return next(
            (r.target for r in self._related.values() if r.kind == kind and r.target in self.archive.names), None
        )

    def _around(self, root: Element) -> tuple[list[str], list[str]]:
        """The headers and the footers that some page shows, each text once."""
        shown = {*self._shown(root)}
        texts: dict[str, list[str]] = {"header": [], "footer": []}
        for relation in self._related.values():
            if relation.kind not in texts or relation.target not in self.archive.names:
                continue
            text = self._block(self.archive.xml(relation.target))
            if relation.target not in shown:
                self.unread.add("hidden text", bool(text.strip()))
                continue
            self._name_unread(relation.target)
            if text not in texts[relation.kind]:
                texts[relation.kind].append(text)
        return texts["header"], texts["footer"]

    def _shown(self, root: Element) -> Iterator[str]:
        """The parts of headers and footers that sections use."""
        settings = self._part("settings")
        even = settings is not None and _is_on(self.archive.xml(settings), "evenAndOddHeaders")
        for section in root.iter():
            if local(section.tag) != "sectPr":
                continue
            first = _is_on(section, "titlePg")
            for reference in section:
                if local(reference.tag) in ("headerReference", "footerReference"):
                    of_pages = attribute(reference, "type")
                    related = self._related.get(attribute(reference, "id") or "")
                    if related and (of_pages == "default" or (first if of_pages == "first" else even)):
                        yield related.target

    def _name_unread(self, part: str) -> None:
        for relation in self.archive.related(part).values():
            if relation.kind in _NAMED:
                self.unread.add(_NAMED[relation.kind])

    def _notes(self, kind: str, tag: str) -> list[str]:
        part = self._part(kind)
        if part is None:
            return []
        self._name_unread(part)
        found = []
        for note in self.archive.xml(part):
            if local(note.tag) != tag or attribute(note, "type") in ("separator", "continuationSeparator"):
                continue
            text = self._block(note).strip()
            mark = "[comment]" if tag == "comment" else f"[{attribute(note, 'id') or ''}]"
            if text:
                found.append(f"{mark} {text}")
        return found

    def _hiding_styles(self) -> frozenset[str]:
        """The styles whose text is not shown, by themselves or by what they are based on."""
        part = self._part("styles")
        if part is None:
            return frozenset()
        hides: dict[str, bool | None] = {}
        based: dict[str, str] = {}
        for style in self.archive.xml(part):
            known = attribute(style, "styleId") or ""
            hides[known] = _hides(style)
            based[known] = next((attribute(e, "val") or "" for e in style if local(e.tag) == "basedOn"), "")

        def hidden(style: str) -> bool:
            seen: set[str] = set()
            while style and style not in seen:
                seen.add(style)
                if (said := hides.get(style)) is not None:
                    return said
                style = based.get(style, "")
            return False

        return frozenset(style for style in hides if hidden(style))

    def _block(self, element: Element, hidden: bool = False) -> str:
        """Paragraphs and tables, a line each at least."""
        text = ""
        for child in element:
            match local(child.tag):
                case "p":
                    text += self._paragraph(child, hidden) + "\n"
                case "tbl":
                    text += self._table(child, hidden)
                case "AlternateContent":
                    # The first form that has text: the others are the same for older programs.
                    text += next((said for form in child if (said := self._block(form, hidden)).strip()), "")
                case tag if tag in _DELETED:
                    self._gone(child)
                case tag if tag.endswith("Pr") or tag in _SILENT:
                    pass
                case _ if any(local(e.tag) in ("p", "tbl") for e in child.iter()):
                    text += self._block(child, hidden)
                case _:  # a run outside any paragraph
                    text += self._paragraph([child], hidden)
        return text

    def _table(self, table: Element, hidden: bool) -> str:
        text = ""
        for row in _within(table, "tr"):
            if any(local(said.tag) == "del" for said in _properties(row, "trPr")):
                self._gone(row)
            else:
                text += "\t".join(self._block(cell, hidden).strip("\n") for cell in _within(row, "tc")) + "\n"
        return text

    def _paragraph(self, paragraph: Iterable[Element], hidden: bool) -> str:
        boxes: list[str] = []
        style = next((attribute(e, "val") for e in _properties(paragraph, "pPr") if local(e.tag) == "pStyle"), None)
        text = self._inline(paragraph, boxes, hidden or style in self._hiding)
        return "\n".join([text, *(box.strip("\n") for box in boxes if box.strip())])

    def _inline(self, elements: Iterable[Element], boxes: list[str], hidden: bool) -> str:
        text = ""
        for child in elements:
            match local(child.tag):
                case tag if tag in _DELETED:
                    self._gone(child)
                case tag if tag.endswith("Pr") or tag in _SILENT:
                    pass
                case "AlternateContent":
                    text += self._alternative(child, boxes, hidden)
                case "txbxContent":
                    boxes.append(self._block(child))
                case "textpath":  # letters drawn along a line, such as a watermark's
                    boxes.append(attribute(child, "string") or "")
                case "r":
                    text += self._run(child, boxes, hidden)
                case "t":
                    text += self._seen(child.text or "", hidden)
                case tag if not hidden and tag in _CHARACTERS:
                    text += _CHARACTERS[tag]
                case "sym":
                    text += "" if hidden else self._symbol(child)
                case "footnoteReference" | "endnoteReference":
                    text += "" if hidden else f"[{attribute(child, 'id') or ''}]"
                case _:
                    text += self._inline(child, boxes, hidden)
        return text

    def _alternative(self, element: Element, boxes: list[str], hidden: bool) -> str:
        for form in element:
            own: list[str] = []
            text = self._inline(form, own, hidden)
            if text.strip() or any(box.strip() for box in own):
                boxes += own
                return text
        return ""

    def _run(self, run: Element, boxes: list[str], hidden: bool) -> str:
        said = _hides(run)
        if said is None:
            style = next((attribute(e, "val") for e in _properties(run, "rPr") if local(e.tag) == "rStyle"), None)
            said = hidden or style in self._hiding
        return self._inline(run, boxes, said)

    def _seen(self, text: str, hidden: bool) -> str:
        if hidden and text.strip():
            self.unread.add("hidden text")
        return "" if hidden else text

    def _gone(self, element: Element) -> None:
        if any(local(e.tag) in ("delText", "t") and (e.text or "").strip() for e in element.iter()):
            self.unread.add("deleted text")

    def _symbol(self, symbol: Element) -> str:
        code = (attribute(symbol, "char") or "").lower()[-2:]
        shown = _BOXES.get(attribute(symbol, "font") or "", {}).get(code)
        if shown is None:
            self.unread.add("symbol")
        return shown or ""


def _within(element: Element, tag: str) -> Iterator[Element]:
    """The rows of a table or the cells of a row, through what is wrapped around them."""
    for child in element:
        if local(child.tag) == tag:
            yield child
        elif local(child.tag) in _WRAPPERS:
            yield from _within(child, tag)


def _properties(element: Iterable[Element], name: str) -> list[Element]:
    return [said for child in element if local(child.tag) == name for said in child]


def _hides(element: Element) -> bool | None:
    """Whether the properties of a run or a style hide its text; None if they do not say."""
    for said in _properties(element, "rPr"):
        if local(said.tag) in ("vanish", "specVanish"):
            return (attribute(said, "val") or "1").lower() not in _OFF
    return None


def _is_on(element: Element, name: str) -> bool:
    return any(local(e.tag) == name and (attribute(e, "val") or "1").lower() not in _OFF for e in element)
