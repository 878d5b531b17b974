"""The encoder all-mpnet-base-v2, of which five installed packages hold parts of one zip file.

Belongs here: finding the parts, joining them, and checking what comes of them. Does not belong here: loading it
(`transformers_start.py`).
"""

from __future__ import annotations

import hashlib
import shutil
import zlib
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO
from zipfile import BadZipFile, ZipFile

from deid_platform.detection.models.folder import CONFIG, VOCABULARY, WEIGHTS
from deid_platform.errors import Code, DeidError

NAME = "all-mpnet-base-v2"
_PARTS = 5
_DIGESTS = {
    CONFIG: "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
    WEIGHTS: "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    VOCABULARY: "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
}


def joined(beneath: Path) -> Path:
    """The encoder's folder; made of the packages' parts unless it is there.

    Args:
        beneath: The folder that holds it, or will.

    Raises:
        DeidError: `model-unusable` with the first package that is missing, or the file that is not the known one.
    """
    folder = beneath / NAME
    if _other(folder) is None:
        return folder
    parts = [_part(number) for number in range(1, _PARTS + 1)]
    beneath.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=beneath, prefix=f"{NAME}.") as scratch:
        with (Path(scratch) / "zip").open("w+b") as whole:
            for part in parts:
                with part.open("rb") as one:
                    shutil.copyfileobj(one, whole)
            _unpack(whole, Path(scratch))
        if other := _other(Path(scratch) / NAME):
            raise DeidError(Code.MODEL_UNUSABLE, other)
        shutil.rmtree(folder, ignore_errors=True)
        (Path(scratch) / NAME).rename(folder)
    return folder


def _part(number: int) -> Path:
    """The file of a part."""
    package = find_spec(f"{NAME}-pypi-part_{number:03}")
    file = Path(package.origin).parent / "input" / f"{NAME}.zip.{number:03}" if package and package.origin else None
    if file is None or not file.is_file():
        raise DeidError(Code.MODEL_UNUSABLE, f"{NAME}-pypi-part-{number:03}")
    return file


def _unpack(whole: IO[bytes], into: Path) -> None:
    try:
        with ZipFile(whole) as packed:
            for name in _DIGESTS:
                packed.extract(f"{NAME}/{name}", into)
    except (BadZipFile, KeyError, EOFError, zlib.error):
        raise DeidError(Code.MODEL_UNUSABLE, f"{NAME}.zip") from None


def _other(folder: Path) -> str | None:
    """The first file that is missing, or is not the known one."""
    for name, known in _DIGESTS.items():
        try:
            with (folder / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return name
        if digest != known:
            return name
    return None
