"""Plans of the leaderboard as data: which detectors are measured on which corpora, and on how many notes of each.

Belongs here: the form of a plan and reading one. Does not belong here: measuring (`leaderboard.py`), or which of its
detectors and corpora are here (`detectors.py`, `corpora/catalogue.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from deid_platform.bench.corpora import CorpusKey
from deid_platform.corpora.catalogue import PUBLISHED
from deid_platform.detection.peers.process import Peer
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.llm.prompts import prompt_names
from deid_platform.settings import Settings
from deid_platform.strict_yaml import read_yaml
from deid_platform.surrogates.locales import LOCALES

UNRECOVERED = "-unrecovered"
OURS = ("rules", "ensemble", f"ensemble{UNRECOVERED}")
"""The platform's own detectors that a plan may name; any other name is a chat model's or a peer's."""
CHAT = "chat:"
"""Before the name of a prompt to the language model of deid.toml."""
_SHIPPED = resources.files("deid_platform.bench") / "plans"
_SAFE_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
# What pydantic calls a fault, where its own word says little.
_FAULTS = {"extra_forbidden": "there is no such key", "missing": "it has to be set"}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusPlan(_Part):
    """What is measured on one corpus.

    Attributes:
        locales: Whose identifiers it is given.
        notes: The most notes of each locale; as many as the plan says unless given.
    """

    locales: Annotated[tuple[str, ...], Field(min_length=1)]
    notes: Annotated[int | None, Field(gt=0)] = None

    @field_validator("locales")
    @classmethod
    def _known(cls, locales: tuple[str, ...]) -> tuple[str, ...]:
        if not set(locales) <= set(LOCALES) or len(set(locales)) < len(locales):
            raise PydanticCustomError("locales", "each one of `deid corpora locales`, once")
        return locales


class BenchPlan(_Part):
    """A plan.

    Attributes:
        says: What it is for.
        detectors: `rules`, `ensemble`, `ensemble-unrecovered` (without recovery of clinical terms), `chat:PROMPT`, and
            peers as docs/peers.md names them.
        corpora: Published corpora by name, in the order in which they are measured.
        notes: The most notes of each corpus and locale.
    """

    says: Annotated[str, Field(min_length=1)]
    detectors: Annotated[tuple[str, ...], Field(min_length=1)]
    corpora: Annotated[dict[str, CorpusPlan], Field(min_length=1)]
    notes: Annotated[int, Field(gt=0)] = 10

    @field_validator("detectors")
    @classmethod
    def _named(cls, detectors: tuple[str, ...]) -> tuple[str, ...]:
        for name in detectors:
            if name.startswith(CHAT):
                if name.removeprefix(CHAT) not in prompt_names():
                    raise PydanticCustomError("detector", "no prompt has that name")
            elif name not in OURS:
                try:
                    Peer.parse(f"{name}=")
                except DeidError:
                    raise PydanticCustomError("detector", "no detector and no peer has that name") from None
        if len(set(detectors)) < len(detectors):
            raise PydanticCustomError("detector", "each once")
        return detectors

    @field_validator("corpora")
    @classmethod
    def _published(cls, corpora: dict[str, CorpusPlan]) -> dict[str, CorpusPlan]:
        if not set(corpora) <= set(PUBLISHED):
            # Figures in the warehouse may have no other names.
            raise PydanticCustomError("corpus", "each a published corpus")
        return corpora

    @property
    def peers(self) -> tuple[str, ...]:
        """The peers among its detectors."""
        return tuple(name for name in self.detectors if name not in OURS and not name.startswith(CHAT))

    def surrogate_corpora(self) -> Iterator[CorpusKey]:
        """Its corpora in their locales, in order."""
        for name, corpus in self.corpora.items():
            yield from (CorpusKey(name, locale) for locale in corpus.locales)

    def notes_of(self, corpus: str) -> int:
        """The most notes of a corpus in a locale, whether or not the plan has the corpus."""
        planned = self.corpora.get(corpus)
        return self.notes if planned is None or planned.notes is None else planned.notes


def plan_names() -> tuple[str, ...]:
    """The plans that ship with the platform."""
    return tuple(sorted(entry.name.removesuffix(".yaml") for entry in _SHIPPED.iterdir() if entry.name[-5:] == ".yaml"))


def load_plan(name_or_path: str | Path) -> BenchPlan:
    """A plan that ships with the platform by its name, or any plan by its file's path.

    Raises:
        DeidError: `plan-unknown` if there is neither; `plan-invalid`, naming the key, if the file is no plan.
    """
    name = str(name_or_path)
    if name in plan_names():
        return parse_plan((_SHIPPED / f"{name}.yaml").read_bytes())
    try:
        return parse_plan(Path(name_or_path).read_bytes())
    except (OSError, ValueError):
        raise DeidError(Code.PLAN_UNKNOWN, did_you_mean(name, plan_names())) from None


def plan_of(settings: Settings, asked: str | None = None) -> BenchPlan:
    """The plan that is asked for, or that of an installation, whose path is relative to its deid.toml.

    Raises:
        DeidError: As `load_plan`.
    """
    if asked is not None:
        return load_plan(asked)
    name = settings.bench.plan
    return load_plan(name if name in plan_names() else settings.path(Path(name)))


def parse_plan(source: bytes) -> BenchPlan:
    """A plan from YAML.

    Raises:
        DeidError: `plan-invalid`, naming the key that is missing, unknown, doubled or of the wrong kind.
    """
    try:
        return BenchPlan.model_validate(read_yaml(source))
    except ValidationError as error:
        faults = {
            f"{'.'.join(map(_shown, fault['loc'])) or 'plan'} ({_FAULTS.get(fault['type'], fault['type'])})"
            for fault in error.errors()
        }
        raise DeidError(Code.PLAN_INVALID, ", ".join(sorted(faults))) from None
    except ValueError:
        raise DeidError(Code.PLAN_INVALID, "not YAML without doubled keys") from None


def _shown(key: str | int) -> str:
    # A file that is no plan at all (notes, say) must not be quoted as a key.
    return str(key) if isinstance(key, int) or _SAFE_KEY.fullmatch(key) else "a key"
