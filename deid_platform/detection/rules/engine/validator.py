"""What a check is: the types that every module of checks shares.

Belongs here: the two types. Does not belong here: any check.
"""

from __future__ import annotations

from collections.abc import Callable

Interval = tuple[int, int]
Validator = Callable[[str, int, int], Interval | None]
