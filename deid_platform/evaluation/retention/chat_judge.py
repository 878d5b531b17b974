"""The judge that is a chat model, and several of them by majority.

Belongs here: what it is asked for, what its answer says, and the majority of some judges. Does not belong here: the
prompts (`llm/prompts/judges/`), or how good a judge is (`judge_validation.py`).

After Aghakasiri 2025 (6.2.2, figure 6), in words of our own. A prompt whose form is `yes-no` asks what the paper asks,
and the retention by it is CIRE. The others have an answer name what changed, and a grammar keeps it to these words
where the server can be given one: theirs is chat retention. An answer that is none of them is a failed judgement, which
says why; nothing is read into it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import regex

from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.retention.judges import ChunkPair, Identity, Judge, Kind, Verdict
from deid_platform.llm.api import Schema
from deid_platform.llm.prompts import YES_NO, Task
from deid_platform.llm.questions import Asked, NoAnswer, Question

UNCHANGED = "none"
CHANGES = (
    *("drug", "dose", "diagnosis", "procedure", "result", "instruction", "history", "negation", "side", "severity"),
    *("age", "birth_year", "other"),
)
"""What an answer may name."""
SCHEMA = Schema.of_json(
    {
        "type": "object",
        "properties": {"change": {"enum": [UNCHANGED, *CHANGES]}},
        "required": ["change"],
        "additionalProperties": False,
    }
)
"""The form of the answer."""
_YES_OR_NO = regex.compile(r"\W*(?:output:\s*)?(yes|no|s[iì])\b\W*(?:\(.*\)\W*)?", regex.IGNORECASE | regex.DOTALL)
"""One word, and the reason in brackets that the paper's examples have."""
_MAX_TOKENS = 1024
"""Far more than a verdict takes: a reasoning model thinks before it."""


class ChatJudge:
    """Judges chunks by asking a chat model (`Judge`).

    Args:
        asked: The prompt, the model, and how it is asked.

    Raises:
        DeidError: `settings-invalid` if the prompt asks for something else.
    """

    def __init__(self, asked: Asked) -> None:
        if asked.prompt.task is not Task.RETENTION:
            raise DeidError(Code.SETTINGS_INVALID, f"{asked.prompt.name} is no prompt of a judge of retention")
        self._asked = asked
        self._yes_or_no = asked.prompt.form == YES_NO

    def __repr__(self) -> str:
        return f"<ChatJudge: {self._asked.name}>"

    @property
    def identity(self) -> Identity:
        """Which judge it is: the digest is of the prompt, the form, the model as far as it is known, and the seed."""
        form = YES_NO if self._yes_or_no else SCHEMA.source
        digest = sha256(f"{self._asked.digest} {form} {_MAX_TOKENS}".encode())
        kind = Kind.YES_OR_NO if self._yes_or_no else Kind.CHAT
        return Identity(kind, self._asked.name, f"sha256:{digest.hexdigest()}")

    def judge(self, pairs: Sequence[ChunkPair]) -> list[Verdict]:
        """A verdict a pair, in their order.

        Raises:
            DeidError: `endpoint-refused`; what keeping answers raises.
        """
        return list(self.verdicts(pairs))

    def verdicts(self, pairs: Sequence[ChunkPair]) -> Iterator[Verdict]:
        """The same one by one, as they come."""
        for said in self._asked.answers(map(self._question, pairs)):
            if isinstance(said, NoAnswer):
                yield Verdict(None, failure=said.why)
            else:
                yield Verdict(said != (UNCHANGED,), tuple(it for it in said if it != UNCHANGED))

    def _question(self, pair: ChunkPair) -> Question[tuple[str, ...]]:
        about = dict(zip(("original", "released"), pair, strict=True))
        if self._yes_or_no:
            return Question(about, None, _yes_or_no, _MAX_TOKENS, parsed=str)
        return Question(about, SCHEMA, _changes, _MAX_TOKENS)


class Majority:
    """Some judges as one, by what more than half of them say (`Judge`).

    Half is of all of them: one that gives no answer votes for nothing, and a pair without a majority has none. The
    reasons are those that more than half name.

    Args:
        judges: All of one kind.

    Raises:
        DeidError: `input-invalid` with fewer than two, with two that are the same, or of different kinds.
    """

    def __init__(self, judges: Sequence[Judge]) -> None:
        found = [judge.identity for judge in judges]
        if len(found) < 2 or len({it.digest for it in found}) < len(found) or len({it.kind for it in found}) > 1:
            raise DeidError(Code.INPUT_INVALID, "a majority is of two or more judges of one kind, each another")
        self._judges = judges
        digest = sha256(" ".join(sorted(it.digest for it in found)).encode())
        self.identity = Identity(found[0].kind, f"majority of {len(found)}", f"sha256:{digest.hexdigest()}")

    def __repr__(self) -> str:
        return f"<Majority of {len(self._judges)}>"

    def judge(self, pairs: Sequence[ChunkPair]) -> list[Verdict]:
        """A verdict a pair, in their order."""
        return majority([judge.judge(pairs) for judge in self._judges])


def majority(verdicts: Sequence[Sequence[Verdict]]) -> list[Verdict]:
    """What more than half of some judges say of each pair.

    Args:
        verdicts: By judge, then by pair.
    """
    return [_of_pair(of_pair) for of_pair in zip(*verdicts, strict=True)]


def _of_pair(verdicts: Sequence[Verdict]) -> Verdict:
    half = len(verdicts) / 2
    changed = next((it for it in (True, False) if sum(v.changed is it for v in verdicts) > half), None)
    named = Counter(reason for verdict in verdicts for reason in verdict.reasons)
    return Verdict(changed, tuple(sorted(it for it, n in named.items() if n > half)) if changed else ())


def _yes_or_no(said: str) -> tuple[str, ...] | None:
    """What changed, of which the answer says no more than that something did; None where it is neither yes nor no."""
    answer = _YES_OR_NO.fullmatch(said)
    if answer is None:
        return None
    return (UNCHANGED,) if answer[1].casefold() == "no" else ()


def _changes(said: Any) -> tuple[str, ...] | None:
    if not isinstance(said, dict) or set(said) != {"change"}:
        return None
    change = said["change"]
    return (change,) if isinstance(change, str) and change in (UNCHANGED, *CHANGES) else None
