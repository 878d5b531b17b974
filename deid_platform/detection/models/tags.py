"""The classes of a token classifier by their names: a label, and where in an identifier a piece stands.

Belongs here: reading tags such as "B-HOSP", of any label scheme that is known. Does not belong here: the schemes
(`labels.py`), or how tags become candidates (`decoding.py`).

Published classifiers name their classes in many ways: bare labels; IOB2, which has B- and I-; BILOU, which has L- for
the last piece and U- for the only one; IOBES, which calls these E- and S-.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from deid_platform.errors import Code, DeidError
from deid_platform.labels import CROSSWALKS, Label

NONE = "O"
"""What a class is called that is no identifier."""
BEGINS, GOES_ON = frozenset("BUS"), frozenset("ILE")
"""Marks before a label: the piece is the first of an identifier, or a further one."""
_TAG = re.compile(r"([BILUES])-(.+)")
_PLAIN = re.compile(r"[\w./+-]{1,40}")


class Tags(NamedTuple):
    """The classes of a network, in their order.

    Attributes:
        scheme: The label scheme that knows all of them, a key of `labels.CROSSWALKS`.
        labels: Of each class, None for no identifier. Several may have one label.
        begins: The classes of pieces with which an identifier begins; empty where tags do not say.
        goes_on: The classes of its further pieces.
    """

    scheme: str
    labels: tuple[Label | None, ...]
    begins: tuple[int, ...] = ()
    goes_on: tuple[int, ...] = ()


def read_tags(names: Sequence[str], file: str) -> Tags:
    """What the names of classes mean, by the first scheme that knows all of them.

    Args:
        names: Of the classes, in their order.
        file: Where they stand, for the message.

    Raises:
        DeidError: `model-unusable` with the first tag that the scheme nearest to all of them does not know, or where no
            class is that of no identifier.
    """
    split = [match.groups() if (match := _TAG.fullmatch(name)) else ("", name) for name in names]
    bare = [name for _, name in split if name != NONE]
    scheme = max(CROSSWALKS, key=lambda it: sum(name in CROSSWALKS[it] for name in bare))
    known = CROSSWALKS[scheme]
    for at, (_, name) in enumerate(split):
        if name not in (NONE, *known):
            shown = names[at] if _PLAIN.fullmatch(names[at]) else f"class {at}"  # of another form, it may be anything
            raise DeidError(Code.MODEL_UNUSABLE, f"{file}: {shown} is a tag of no label scheme")
    if len(bare) == len(names):
        raise DeidError(Code.MODEL_UNUSABLE, f"{file}: no class {NONE}")
    labels = tuple(None if name == NONE else known[name] for _, name in split)
    begins, goes_on = (
        tuple(at for at, (mark, _) in enumerate(split) if mark in marks and labels[at] is not None)
        for marks in (BEGINS, GOES_ON)
    )
    return Tags(scheme, labels, *((begins, goes_on) if begins and goes_on else ((), ())))
