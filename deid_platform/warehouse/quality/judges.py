"""Language models that judge releases: what the digest beside a figure stands for.

Belongs here: writing a judge down, and reading some back. Does not belong here: its figures (`bench/lab/measures.py`),
or judging.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from sqlalchemy import Engine, text

from deid_platform.warehouse.server.connection import begin

_LONGEST = 200
"""Characters of a model's name."""


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A judge.

    Attributes:
        digest: Names all that decides what it says.
        model: Its name at the endpoint; of a panel, all names.
        prompt: What it is asked.
        prompt_digest: Digest of that.
    """

    digest: str
    model: str
    prompt: str
    prompt_digest: str

    @property
    def name(self) -> str:
        """As a dossier calls it."""
        return f"{self.model}, {self.prompt}, digest {self.digest[:12]}"


def record_judge(gatekeeper: Engine, judge: JudgeRow) -> None:
    """Writes a judge down, unless it is known.

    Raises:
        DeidError: `warehouse-statement`; `warehouse-unreachable`.
    """
    statement = text(
        "INSERT INTO quality.judge (digest, model, prompt, prompt_digest)"
        " VALUES (:digest, :model, :prompt, :prompt_digest) ON CONFLICT DO NOTHING"
    )
    with begin(gatekeeper) as connection:
        connection.execute(statement, {**asdict(judge), "model": judge.model[:_LONGEST]})


def judges_of(officer: Engine, digests: Iterable[str]) -> dict[str, JudgeRow]:
    """Judges by digest, those that are known."""
    statement = text(
        "SELECT digest, model, prompt, prompt_digest FROM quality.judge WHERE digest = ANY(CAST(:digests AS text[]))"
    )
    with begin(officer) as connection:
        rows = connection.execute(statement, {"digests": sorted(digests)}).all()
    return {row.digest: JudgeRow(**row._mapping) for row in rows}
