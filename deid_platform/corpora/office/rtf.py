r"""Rich text (.rtf) as text: what its readers see, in reading order.

Belongs here: which control words of RTF 1.9 show text, and which hold text that is not shown. Does not belong here:
opening files (`opening.py`).

The order is that of `docx.py`: headers, the body with text boxes behind their paragraphs, footnotes, comments, footers.
Text under `\v` (hidden) and `\deleted` is not read, nor are codes of fields, of which the result is read.

striprtf, the library that was looked at, leaves headers, footers, notes and text boxes out without a word, and gives
deleted and hidden text as if it stood there.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field, replace

from deid_platform.corpora import Reason
from deid_platform.corpora.office import RefusedDocumentError, Unread

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|([^\\{}\r\n]+)|\\|[\r\n]+"
)
_CHARACTERS = {
    "par": "\n", "line": "\n", "sect": "\n\n", "page": "\n\n", "column": "\n", "row": "\n", "nestrow": "\n",
    "cell": "\t", "nestcell": "\t", "tab": "\t", "emdash": "\u2014", "endash": "\u2013", "emspace": "\u2003",
    "enspace": "\u2002", "qmspace": "\u2005", "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019",
    "ldblquote": "\u201c", "rdblquote": "\u201d", "~": "\u00a0", "_": "-", "\n": "\n", "\r": "\n", "{": "{", "}": "}",
    "\\": "\\",
}  # fmt: skip
_SECTIONS = {
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "header"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "footer"),
    "footnote": "footnote",
    "annotation": "comment",
    **dict.fromkeys(("shptxt", "dptxbxtext"), "box"),
}
"""Groups that have a place of their own in the text."""
_CONTAINERS = frozenset({"shp", "shpinst", "shpgrp", "shppict", "do", "dpgroup", "upr"})
"""Groups that are no text, but in which a text box, a picture or text in Unicode (`ud`) may lie."""
_SILENT_WORDS = (
    "fonttbl colortbl stylesheet info listtable listoverridetable revtbl rsidtbl generator themedata "
    "colorschememapping datastore latentstyles xmlnstbl filetbl fldinst fldtype bkmkstart bkmkend xe tc rxe "
    "shprslt nonshppict atnid atnauthor atntime atnicn atnref atndate atnparent atrfstart atrfend sp sn sv "
    "objclass objname objalias objsect template background formfield ffname ffdeftext ffl pnseclvl pgptbl "
    "ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn falt panose fontemb mmathPr userprops docvar nonesttables"
)
_SILENT = frozenset(_SILENT_WORDS.split())
_NAMED = {"pict": "picture", "objdata": "embedded document"}
_CODE_PAGES = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
    254: "cp437", 255: "cp850",
}  # fmt: skip
"""By the character set of a font."""


def rtf_text(content: bytes) -> str:
    """The text of a document, and what of it is not read.

    Args:
        content: The file.

    Raises:
        RefusedDocumentError: `unreadable_file` if it is no RTF, `truncated_file` if it ends within a group.
    """
    if not content.lstrip()[:5].lower() == b"{\\rtf":
        raise RefusedDocumentError(Reason.UNREADABLE_FILE)
    reader = _Reader(content.lstrip().decode("latin-1"))
    reader.read()
    return reader.text()


@dataclass(frozen=True)
class _Group:
    """What holds within a pair of braces.

    Attributes:
        section: Where its text goes: `body`, `header`; empty for nowhere.
        parent: Where the text of a group within goes that has a place of its own; empty for nowhere.
        hidden, deleted: Whether its text is not shown.
        skip: How many characters stand behind one of Unicode, for older programs.
        font: Its number.
        starred: Whether it may be passed over by whoever does not know it.
    """

    section: str = "body"
    parent: str = "body"
    hidden: bool = False
    deleted: bool = False
    skip: int = 1
    font: str = ""
    starred: bool = False


@dataclass
class _Reader:
    source: str
    unread: Unread = field(default_factory=Unread)
    _group: _Group = _Group()
    _stack: list[_Group] = field(default_factory=list)
    _texts: dict[str, list[str]] = field(default_factory=lambda: {"body": []})
    _notes: list[tuple[str, str]] = field(default_factory=list)
    _bytes: bytearray = field(default_factory=bytearray)
    _left: int = 0
    _code_page: str = "cp1252"
    _fonts: dict[str, str] = field(default_factory=dict)
    _default_font: str = ""
    _in_fonts: int = 0
    _opened: dict[str, int] = field(default_factory=dict)
    """The sections whose group is open -> how deep it lies."""

    def read(self) -> None:
        place = 0
        while place < len(self.source):
            token = _TOKEN.match(self.source, place)
            assert token is not None  # noqa: S101  one of the forms always fits
            place = token.end()
            word, number, code, sign, brace, plain = token.groups()
            if code is not None:
                self._add_byte(int(code, 16))
                continue
            if plain is not None:
                self._add_plain(plain)
                continue
            if token[0][0] in "\r\n":
                continue
            self._flush()
            if brace == "{":
                self._stack.append(self._group)
            elif brace == "}":
                self._close()
                if not self._stack:
                    self.unread.add("trailing text", bool(self.source[place:].strip("\0\r\n\t ")))
                    return
            elif word is not None:
                place += self._word(word, number)
            elif sign is not None:
                self._sign(sign)
        raise RefusedDocumentError(Reason.TRUNCATED_FILE)

    def text(self) -> str:
        of_pages: dict[str, list[str]] = {"header": [], "footer": []}
        marked: dict[str, list[str]] = {"footnote": [], "comment": []}
        for section, text in self._notes:
            if section in of_pages and text not in of_pages[section]:
                of_pages[section].append(text)
            elif section in marked:
                number = len(marked[section]) + 1
                marked[section].append(f"[comment] {text}" if section == "comment" else f"[{number}] {text}")
        body = "".join(self._texts["body"]).strip("\n")
        parts = [*of_pages["header"], body, *marked["footnote"], *marked["comment"], *of_pages["footer"]]
        text = "\n\n".join(part for part in parts if part.strip()).replace("\t\n", "\n").rstrip("\t")
        # A character beyond 16 bits is written as two.
        return self.unread.after(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    def _close(self) -> None:
        closed, depth = self._group, len(self._stack)
        self._group = self._stack.pop()
        self._in_fonts = self._in_fonts if depth > self._in_fonts else 0
        if self._opened.get(closed.section) != depth:
            return
        del self._opened[closed.section]
        text = "".join(self._texts.pop(closed.section)).strip("\n")
        kind = closed.section.rpartition("/")[2]
        if not text.strip():
            return
        outside = self._texts[self._group.section or self._group.parent]
        if kind == "box":
            outside.append(f"\n{text}\n")
            return
        self._notes.append((kind, text))
        if kind == "footnote":
            outside.append(f"[{sum(known == kind for known, _ in self._notes)}]")

    def _word(self, word: str, number: str | None) -> int:
        """What a control word does; how many characters of the source it covers behind itself."""
        value = int(number) if number else None
        outer = self._group.section or self._group.parent
        if word == "bin":
            return max(value or 0, 0)
        if word in _NAMED and outer:
            self.unread.add(_NAMED[word])
        if word in _SECTIONS and outer:
            depth = len(self._stack)
            section = f"{outer}/{depth}/{_SECTIONS[word]}"
            self._texts[section], self._opened[section] = [], depth
            self._go(section, section)
        elif word == "ud":
            self._go(self._group.parent, self._group.parent)
        elif word in _CONTAINERS:
            self._go("", outer)
        elif word in _SILENT or word in _NAMED or self._group.starred:
            self._in_fonts = len(self._stack) if word == "fonttbl" else self._in_fonts
            self._go("", "")
        else:
            self._format(word, value, number or "")
        return 0

    def _go(self, section: str, parent: str) -> None:
        self._group = replace(self._group, section=section, parent=parent, starred=False)

    def _format(self, word: str, value: int | None, number: str) -> None:
        match word:
            case "v":
                self._group = replace(self._group, hidden=value != 0)
            case "deleted":
                self._group = replace(self._group, deleted=value != 0)
            case "plain":
                self._group = replace(self._group, hidden=False, deleted=False, font=self._default_font)
            case "deff":
                self._default_font = number
                self._group = replace(self._group, font=number)
            case "uc":
                self._group = replace(self._group, skip=max(value or 0, 0))
            case "u" if value is not None:
                self._add(chr(value % 0x10000))
                self._left = self._group.skip
            case "f" if number:
                self._group = replace(self._group, font=number)
            case "fcharset" if self._in_fonts and value in _CODE_PAGES:
                self._fonts[self._group.font] = _CODE_PAGES[value]
            case "ansicpg":
                self._code_page = _known(f"cp{number}") or self._code_page
            case "mac":
                self._code_page = "mac_roman"
            case _ if word in _CHARACTERS:
                self._add(_CHARACTERS[word])
            case _:
                pass

    def _sign(self, sign: str) -> None:
        if sign == "*":
            self._group = replace(self._group, starred=True)
        elif sign in _CHARACTERS:
            self._add(_CHARACTERS[sign])

    def _add_plain(self, plain: str) -> None:
        skipped = min(self._left, len(plain))
        self._left -= skipped
        self._bytes += plain[skipped:].encode("latin-1")

    def _add_byte(self, byte: int) -> None:
        if self._left:
            self._left -= 1
        else:
            self._bytes.append(byte)

    def _flush(self) -> None:
        """Decodes the bytes that came one after the other: a character may be two of them."""
        self._left = 0
        if self._bytes:
            said = self._bytes.decode(self._fonts.get(self._group.font, self._code_page), "replace")
            self._bytes.clear()
            self._add(said)

    def _add(self, text: str) -> None:
        if not self._group.section:
            return
        if self._group.hidden or self._group.deleted:
            self.unread.add("deleted text" if self._group.deleted else "hidden text", bool(text.strip()))
        else:
            self._texts[self._group.section].append(text)


def _known(code_page: str) -> str | None:
    try:
        return codecs.lookup(code_page).name
    except LookupError:
        return None
