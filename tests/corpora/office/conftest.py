"""Documents as their programs write them, in as few bytes as they can be."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO

import pytest

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_NAMESPACES = (
    f'{_WORD} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml"'
)
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def word_document(body: str, parts: Mapping[str, str] | None = None, *, root: str = "") -> bytes:
    """A document of Word: `parts` are others by kind (`header:first`, `footnotes`), as XML of their content."""
    files = {"_rels/.rels": _relations({"r": ("officeDocument", "word/document.xml")})}
    relations, references = {}, ""
    for number, (key, content) in enumerate((parts or {}).items()):
        kind, _, of_pages = key.partition(":")
        name = f"{kind}{number}.xml"
        relations[f"id{number}"] = (kind, name)
        tag = {"header": "hdr", "footer": "ftr"}.get(kind, kind)
        files[f"word/{name}"] = f"<w:{tag} {_NAMESPACES}>{content}</w:{tag}>"
        if kind in ("header", "footer"):
            references += f'<w:{kind}Reference w:type="{of_pages}" r:id="id{number}"/>'
    files["word/_rels/document.xml.rels"] = _relations(relations)
    section = f"<w:sectPr>{references}{root}</w:sectPr>"
    files["word/document.xml"] = f"<w:document {_NAMESPACES}><w:body>{body}{section}</w:body></w:document>"
    return zipped(files)


def _relations(targets: Mapping[str, tuple[str, str]]) -> str:
    said = (f'<Relationship Id="{k}" Type="{_TYPES}/{kind}" Target="{to}"/>' for k, (kind, to) in targets.items())
    return f'<Relationships xmlns="x">{"".join(said)}</Relationships>'


def zipped(files: Mapping[str, str]) -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    said = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:p><w:r>{said}<w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


_TEXT, _LONG, _TIME = 0x001F, 0x0003, 0x0040
_ENTRY = 128
_SECTOR = 512
_NONE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def outlook_file(
    texts: Mapping[int, str],
    attachments: tuple[Mapping[int, str], ...] = (),
    people: tuple[Mapping[int, str], ...] = (),
) -> bytes:
    """A message of Outlook: the texts of its properties by their number, and those of attachments and recipients."""
    tree: dict[str, object] = _properties(texts, 32)
    for name, ones in (("__attach_version1.0_#", attachments), ("__recip_version1.0_#", people)):
        for number, one in enumerate(ones):
            tree[f"{name}{number:08X}"] = _properties(one, 8)
    return _compound(tree)


def _properties(texts: Mapping[int, str], head: int) -> dict[str, object]:
    rows = b"".join(struct.pack("<HHIII", _TEXT, key, 6, 2 * len(text) + 2, 0) for key, text in texts.items())
    streams: dict[str, object] = {f"__substg1.0_{key:04X}001F": text.encode("utf-16-le") for key, text in texts.items()}
    return {"__properties_version1.0": bytes(head) + rows, **streams}


def _compound(tree: Mapping[str, object]) -> bytes:
    """A compound file: small streams in the stream of the root, its folders as chains of siblings to the right."""
    entries: list[list[object]] = [["Root Entry", 5, _NONE, _NONE, b""]]
    small = bytearray()
    places: list[int] = []

    def add(children: Mapping[str, object], parent: int) -> None:
        before = None
        for name in sorted(children, key=lambda key: (len(key), key.upper())):
            child, number = children[name], len(entries)
            folder = isinstance(child, dict)
            entries.append([name, 1 if folder else 2, _NONE, _NONE, b"" if folder else child])
            entries[before if before is not None else parent][2 if before is not None else 3] = number
            before = number
            if isinstance(child, dict):
                add(child, number)

    add(tree, 0)
    chains: list[int] = []
    rows = b""
    for _, kind, _, _, content in entries:
        assert isinstance(content, bytes)
        places.append(len(small) // 64 if content else 0 if kind != 2 else _END)
        if content:
            count = -(-len(content) // 64)
            start = len(chains)
            chains += [*range(start + 1, start + count), _END]
            small += content.ljust(64 * count, b"\0")
    for (name, kind, right, child, content), place in zip(entries, places, strict=True):
        assert isinstance(name, str) and isinstance(content, bytes)
        said = name.encode("utf-16-le") + b"\0\0"
        size = len(small) if kind == 5 else len(content)
        rows += (
            said.ljust(64, b"\0") + struct.pack("<HBB", len(said), kind, 1) + struct.pack("<III", _NONE, right, child)
        )
        rows += bytes(36) + struct.pack("<IQ", 0 if kind == 5 else place, size)
    rows = rows.ljust(-(-len(rows) // _SECTOR) * _SECTOR, b"\0")
    mini_fat = struct.pack(f"<{len(chains)}I", *chains)
    mini_fat += b"\xff" * (-len(mini_fat) % _SECTOR)
    stream = bytes(small) + bytes(-len(small) % _SECTOR)
    # Sectors: the stream of small streams, the directory, the small allocation table, the allocation table.
    counts = [len(stream) // _SECTOR, len(rows) // _SECTOR, len(mini_fat) // _SECTOR]
    fat: list[int] = []
    for count in counts:
        fat += [*range(len(fat) + 1, len(fat) + count), _END]
    table = len(fat)
    fat.append(_FAT)
    assert len(fat) <= _SECTOR // 4
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIIII", 0, 1, counts[0], 0, 4096, counts[0] + counts[1], counts[2], _END, 0, table)
    return (
        head.ljust(_SECTOR, b"\xff")
        + stream
        + rows
        + mini_fat
        + struct.pack(f"<{len(fat)}I", *fat).ljust(_SECTOR, b"\xff")
    )


@pytest.fixture(scope="session")
def docx() -> Callable[..., bytes]:
    """`word_document`."""
    return word_document


@pytest.fixture(scope="session")
def para() -> Callable[..., str]:
    """`paragraph`."""
    return paragraph


@pytest.fixture(scope="session")
def archive() -> Callable[[Mapping[str, str]], bytes]:
    """`zipped`."""
    return zipped


@pytest.fixture(scope="session")
def msg() -> Callable[..., bytes]:
    """`outlook_file`."""
    return outlook_file
