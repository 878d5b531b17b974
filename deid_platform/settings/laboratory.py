"""Sections about measuring and training: `[bench]`, `[corpora]`, `[training]`, `[experiments]`.

Belongs here: keys, defaults, and which keys go together. Does not belong here: what is measured (`bench/`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from deid_platform.settings.section import Identifier, Section, SurrogateCorpus


class BenchSettings(Section):
    """The test set (Murugadoss 2024, Methods) and how it is scored."""

    size: int = Field(default=10_000, gt=0)
    minimum_per_group: int = Field(default=10, ge=0)
    seed: int = 0
    periods: tuple[tuple[int, int], ...] = ()
    """First and last year of each period; by default each calendar year is one."""
    synthetic_notes: int = Field(default=400, gt=0)
    """Notes of the synthetic hospital that stand in where a site has no gold."""
    library_notes: int = Field(default=1000, gt=0)
    """The most notes of the library, as many of each author, on which the detector is measured."""
    resamples: int = Field(default=1000, ge=2)
    minimum_gold: int = Field(default=30, ge=1)
    """Notes with gold that a feed needs for its recall to count as measured."""
    on_request_notes: int = Field(default=100, gt=0)
    """Notes of the gold in which the assets `bench/stability` and `bench/cost` detect anew."""
    trial_notes: int = Field(default=10, gt=0)
    """Notes for tuning on which `bench/prompt_trials` tries a prompt."""
    cost_runs: int = Field(default=3, ge=1)
    """How often the asset `bench/cost` reads its notes: speed is the mean of so many runs."""
    price_per_hour: float | None = Field(default=None, ge=0)
    """Of what one worker process has, a core or a card, in any currency; for the asset `bench/cost`."""
    contribution_notes: int = Field(default=20, gt=0)
    """Notes of each surrogate corpus on which the asset `bench/contributions` says what each recognizer adds."""
    plan: str = "papers"
    """The plan of the leaderboard (`bench/leaderboard/plan.py`): a shipped name or a path to YAML."""


class CorpusSettings(Section):
    """A corpus of the site's own, for surrogate corpora and their scores."""

    path: Path
    test: Path | None = None
    """Its test part, where its publisher split it; `path` is the training part then, or the same. By default half of
    its notes, by a hash of their ids."""
    format: str = "jsonl"
    scheme: str | None = None
    """What its labels are called; as its format has them unless given."""
    language: str | None = None
    """Of its notes; that of the scheme unless given."""
    what: str = "a corpus of the site"
    slots: Literal["gold", "none"] = "gold"
    """Where its identifiers stand: spans and placeholders of its format, or nowhere: then all are woven in, and the
    format may be any of files."""
    weave: bool = False
    """Whether identifiers are woven in as well."""


class CorporaSettings(Section):
    """Where published corpora lie, and the site's own."""

    folder: Path = Path("corpora")
    made: tuple[SurrogateCorpus, ...] = ()
    """Surrogate corpora that `deid refresh` makes too, and anew where they would be others."""
    sets: dict[Identifier, CorpusSettings] = {}


class TrainingSettings(Section):
    """What the asset `models/trained` trains; as the options of `deid train`, and the surrogate corpora of the site."""

    folder: Path = Path("models/own")
    gold: tuple[Path, ...] = ()
    corpora: tuple[SurrogateCorpus, ...] = ()
    """Surrogate corpora that are made (`bench/surrogate_notes`), whose training parts are gold as well."""
    scheme: str | None = None
    start: str | None = None
    epochs: float | None = Field(default=None, gt=0)
    seed: int = 5
    preset: Literal["default", "woven", "library", "fast", "site", "large", "paper004", "paper004-binary"] | None = None


class ExperimentSettings(Section):
    """What the experiments on what a model learns may cost; see `bench.experiments.Size`."""

    notes: int = Field(default=700, gt=0)
    epochs: float = Field(default=4, gt=0)
    test_notes: int = Field(default=4, gt=0)
    locales: tuple[str, ...] | None = None
    start: Path | None = None
