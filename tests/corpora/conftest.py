"""Lends the reader contract to every test of a corpus format: tests are not an importable package."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def contract() -> ModuleType:
    """The module reader_contract.py: `contract.check_reader(make_reader, rewrite)` and `contract.MARKER`."""
    spec = spec_from_file_location("reader_contract", Path(__file__).with_name("reader_contract.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text_pdf(*pages: list[str], locked: bool = False, turned: int = 0, image: int = 0) -> bytes:
    """A PDF with a text layer: lines of ASCII from the top of each page of 400 by 300 points.

    Args:
        pages: The lines of each.
        locked: Whether it asks for a password.
        turned: Degrees by which its pages are turned when they are looked at.
        image: Width and height of a grey image that covers each page; 0 for none.
    """
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    grey = f"/Width {image} /Height {image} /BitsPerComponent 8 /ColorSpace /DeviceGray"
    objects.append(f"<< /Type /XObject /Subtype /Image {grey} /Length 1 >>\nstream\n\xd0\nendstream")
    kids = []
    for lines in pages:
        drawn = "q 400 0 0 300 0 0 cm /I Do Q " if image else ""
        for number, line in enumerate(lines):
            escaped = line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            drawn += f"BT /F 12 Tf 40 {250 - 20 * number} Td ({escaped}) Tj ET "
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
        contents = len(objects)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 300] /Rotate {turned} /Contents {contents} 0 R"
            " /Resources << /Font << /F 3 0 R >> /XObject << /I 4 0 R >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    trailer = "/Root 1 0 R"
    if locked:  # with check values that no password gives
        objects.append(f"<< /Filter /Standard /V 1 /R 2 /O <{'ab' * 32}> /U <{'cd' * 32}> /P -4 >>")
        trailer += f" /Encrypt {len(objects)} 0 R /ID [<{'00' * 16}> <{'00' * 16}>]"
    written, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(written))
        written += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} {trailer} >>\n"
    return written + f"{end}startxref\n{len(written)}\n%%EOF\n".encode()


@pytest.fixture(scope="session")
def pdf() -> Callable[..., bytes]:
    """`text_pdf`."""
    return text_pdf
