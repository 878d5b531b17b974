"""A model made a site's own: notes that people mark for it, and the training that follows.

    drawing    draws notes for people to mark
    exchange   hands them out and takes them back
    members    keeps them
    own_model  trains with them and compares

Belongs here: the steps from a drawn note to a model that is compared. Does not belong here: how unsure a model is
(`training/uncertainty.py`), or the bench's gold (`review/annotation/rounds.py`).

One person marks a note.
"""

from deid_platform.review.annotation.adaptation.drawing import POOL, draw
from deid_platform.review.annotation.adaptation.exchange import Taken, hand_out, take, take_mended
from deid_platform.review.annotation.adaptation.members import Marked, Member, marked, members, parts, unmarked

__all__ = [
    "POOL",
    "Marked",
    "Member",
    "Taken",
    "draw",
    "hand_out",
    "marked",
    "members",
    "parts",
    "take",
    "take_mended",
    "unmarked",
]
