"""For whom a review file was written: a token beside each removal, which only its own reader's import accepts.

Belongs here: making a token and reading one. Does not belong here: the files (`sheets.py`, `studio.py`).

Without it a file of A's could come back as B's, and the two would agree in everything. The token is keyed and bound to
the round, the role and the removal, so rows may be sorted or left out, and none fits another row. It begins with
letters, since a spreadsheet rounds what looks like a number.
"""

from __future__ import annotations

from deid_platform.errors import Code, DeidError
from deid_platform.keys import Keyring
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import Role
from deid_platform.review.rounds import rounds

WRITTEN_FOR = "written_for"
"""What the token is called in a file."""


def token(ring: Keyring, number: int, role: Role, removal: str) -> str:
    """Says for whom a removal was written."""
    return f"for_{ring.digest('review file', str(number), role.value, removal)}"


def check_reader(site: Site, number: int, role: Role, removal: str, said: object) -> None:
    """Accepts a token of this round, role and removal, under the secret of today or of then.

    Raises:
        DeidError: `review-role`, naming the round and the role that it was written for, if it was for any.
    """
    every = ((number, role), *((of, who) for of in rounds(site.store) for who in Role))
    for of, who in every:
        if any(said == token(ring, of, who, removal) for ring in site.keyrings):
            if (of, who) == (number, role):
                return
            raise DeidError(Code.REVIEW_ROLE, f"written for {who.value}, round {of}")
    raise DeidError(Code.REVIEW_ROLE, "it does not say for whom it was written")
