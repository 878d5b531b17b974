"""The model of the library py3langid, unpacked once for all processes.

Belongs here: that model, and the files beside the package's bytecode that hold it unpacked. Does not belong here: what
its scores say (`telling.py`).

Unpacking takes most of a second and 80 MB, and each command and each worker would do both again. The files are written
like bytecode, by the first process that may write there, unless writing bytecode is disabled, and are trusted like
bytecode; all processes read them from the same memory. Without them, the model is unpacked where it is needed.
"""

from __future__ import annotations

import os
import shutil
import sys
from array import array
from collections.abc import Collection
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_ARRAYS = ("weights", "priors", "classes", "moves", "rows", "features")
_READABLE, _ENTERABLE = 0o644, 0o755  # for every user, since they hold what the library ships


def language_model(languages: Collection[str]) -> LanguageIdentifier:
    """The library's model of some languages.

    Args:
        languages: Its labels of them; of one that it does not know nothing is said.
    """
    place = _place(languages)
    kept = _kept(place)
    if kept is not None:
        return kept
    found = _unpacked(languages)
    if not sys.dont_write_bytecode:
        _keep(found, place)
    return found


def _unpacked(languages: Collection[str]) -> LanguageIdentifier:
    from py3langid.langid import LanguageIdentifier  # deferred: numpy

    model = LanguageIdentifier.from_model_file("data/model.npz.xz")
    model.set_languages([label for label in model.labels if label in languages])
    model.nb_ptc = model.nb_ptc.astype("float32")  # half the size before, and several times slower to reckon with
    return model


def _kept(place: Path) -> LanguageIdentifier | None:
    """The model as its files hold it; None where they are missing or torn."""
    import numpy as np  # deferred: seconds for who tells no language
    from py3langid.langid import LanguageIdentifier

    try:
        read = {name: np.load(place / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS}
    except (OSError, ValueError):
        return None
    moves, rows = array(read["moves"].dtype.char), array(read["rows"].dtype.char)
    moves.frombytes(memoryview(read["moves"]).cast("B"))
    rows.frombytes(memoryview(read["rows"]).cast("B"))
    return LanguageIdentifier(
        np.asarray(read["weights"]), np.asarray(read["priors"]), read["classes"].tolist(), moves,
        read["features"].tolist(), tk_row=rows,
    )  # fmt: skip


def _keep(model: LanguageIdentifier, place: Path) -> None:
    """Writes the files, all or none, where files can be written."""
    import numpy as np

    arrays = (model.nb_ptc, model.nb_pc, model.nb_classes, model.tk_nextmove, model.tk_row, model.tk_output)
    draft = place.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        try:
            draft.mkdir()
            for name, values in zip(_ARRAYS, arrays, strict=True):
                np.save(draft / f"{name}.npy", np.asarray(values), allow_pickle=False)
                (draft / f"{name}.npy").chmod(_READABLE)
            draft.chmod(_ENTERABLE)
            draft.replace(place)  # refused where another process was faster
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _place(languages: Collection[str]) -> Path:
    of_what = sha256(" ".join([version("py3langid"), sys.byteorder, *sorted(languages)]).encode()).hexdigest()[:12]
    return Path(cache_from_source(__file__)).with_name(f"languages-{of_what}.arrays")
