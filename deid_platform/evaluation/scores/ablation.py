"""What each kind of knowledge of an ensemble adds: the rows of Murugadoss 2024, table 1.

Belongs here: which stages each row has. Does not belong here: running or scoring them (`files.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deid_platform.detection.rules import RULE_STEPS

_RULES = {*RULE_STEPS, "propagation", "staff_initials", "days", "ends"}
_TOPICS = {"gazetteer", "roster"}
_UNITED = {"models", *_RULES, *_TOPICS, "recovery", "doubt", "local_words"}
_ROWS: Sequence[tuple[str, set[str]]] = (
    ("model", {"models"}),
    ("rules", _RULES),
    ("model and rules", {"models", *_RULES}),
    ("and gazetteer and roster", {"models", *_RULES, *_TOPICS}),
    ("and recovery", {"models", *_RULES, *_TOPICS, "recovery"}),
    ("and doubt", {"models", *_RULES, *_TOPICS, "recovery", "doubt"}),
    ("and local words", _UNITED),
    ("and language model", {*_UNITED, "chat"}),
    ("and judge", {*_UNITED, "chat", "judge"}),
)


def ablations(stages: Sequence[str], *, topics: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The rows of the ablation of a detector, and the stages that each leaves out; the last leaves none out.

    A row that would repeat another is left out.

    Args:
        stages: Of the detector, in their order.
        topics: Whether it knows the institution's topics.
    """
    working = set(stages) if topics else set(stages) - _TOPICS
    shown: list[set[str]] = [set()]
    for name, kept in _ROWS:
        if (present := kept & working) not in shown:
            shown.append(present)
            yield name, tuple(stage for stage in stages if stage not in kept)
    yield "all", ()
