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

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from deid_platform.bench.leaderboard.corpora import CorpusKey
from deid_platform.corpora.gold_words import AS_WRITTEN
from deid_platform.detection.named import UNRECOVERED, is_model, is_own, parted
from deid_platform.detection.peers.process import Peer
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.llm.prompts import DEIDENTIFY, is_shipped, prompt_of
from deid_platform.settings import Settings
from deid_platform.surrogates.locales import LOCALES
from deid_platform.text.strict_yaml import read_yaml

OURS = ("rules", "ensemble", UNRECOVERED)
"""The platform's own detectors as the site has them; the last without recovery of clinical terms."""
CHAT = "chat:"
"""Before the name of a prompt to the language model of deid.toml."""
_SHIPPED = resources.files(__package__) / "plans"
_CORPUS = re.compile(r"[a-z][a-z0-9_]{0,39}")  # as `settings.Identifier`
_SAFE_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
# What pydantic calls a fault, where its own word says little.
_FAULTS = {"extra_forbidden": "there is no such key", "missing": "it has to be set"}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusPlan(_Part):
    """What is measured on one corpus.

    Attributes:
        locales: Whose identifiers it is given; `as-written` for a site's own gold as it is.
        notes: The most notes of each locale; as many as the plan says unless given.
    """

    locales: Annotated[tuple[str, ...], Field(min_length=1)]
    notes: Annotated[int | None, Field(gt=0)] = None

    @field_validator("locales")
    @classmethod
    def _known(cls, locales: tuple[str, ...]) -> tuple[str, ...]:
        if not set(locales) <= {*LOCALES, AS_WRITTEN} or len(set(locales)) < len(locales):
            raise PydanticCustomError("locales", "each one of `deid corpora locales`, once")
        return locales


class BenchPlan(_Part):
    """A plan.

    Attributes:
        says: What it is for.
        detectors: `rules`, `ensemble`, `ensemble-unrecovered` (without recovery of clinical terms), `ensemble:MODEL`,
            `model:MODEL`, `chat:PROMPT`, peers as docs/peers.md names them, and a model joined with one,
            `model:MODEL+PEER`. A prompt's file is beside the plan's.
        corpora: Corpora by the names that `deid corpora` lists, in the order in which they are measured.
        notes: The most notes of each corpus and locale.
    """

    says: Annotated[str, Field(min_length=1)]
    detectors: Annotated[tuple[str, ...], Field(min_length=1)]
    corpora: Annotated[dict[str, CorpusPlan], Field(min_length=1)]
    notes: Annotated[int, Field(gt=0)] = 10

    @field_validator("detectors")
    @classmethod
    def _named(cls, detectors: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        beside = (info.context or {}).get("beside", Path())
        named, shown = zip(*(_detector(name, beside) for name in detectors), strict=True)
        if len(set(shown)) < len(shown):
            raise PydanticCustomError("detector", "each once")
        return named

    @field_validator("corpora")
    @classmethod
    def _named_corpora(cls, corpora: dict[str, CorpusPlan]) -> dict[str, CorpusPlan]:
        if not all(map(_CORPUS.fullmatch, corpora)):
            raise PydanticCustomError("corpus", "each a name of `deid corpora`")
        return corpora

    @property
    def peers(self) -> tuple[str, ...]:
        """The peers among its detectors, those that are joined with a model too."""
        others = (name for name in self.detectors if not _is_ours(name) and not name.startswith(CHAT))
        return tuple(dict.fromkeys((parted(name) or ("", name))[1] for name in others))

    def corpus_keys(self) -> Iterator[CorpusKey]:
        """Its corpora in their locales, in order."""
        for name, corpus in self.corpora.items():
            yield from (CorpusKey(name, locale) for locale in corpus.locales)

    def notes_of(self, corpus: str) -> int:
        """The most notes of a corpus in a locale, whether or not the plan has the corpus."""
        planned = self.corpora.get(corpus)
        return self.notes if planned is None or planned.notes is None else planned.notes


def _detector(name: str, beside: Path) -> tuple[str, str]:
    """A detector's name, of a prompt's file with its whole path, and what the leaderboard calls it."""
    try:
        if name.startswith(CHAT):
            chosen = name.removeprefix(CHAT)
            asked = prompt_of(chosen, *DEIDENTIFY, beside=beside)
            return name if is_shipped(asked) else f"{CHAT}{beside / chosen}", f"{CHAT}{asked.name}"
        model, peer = parted(name) or ("", name)
        if not _is_ours(name):
            Peer.parse(f"{peer}=")
    except DeidError:
        raise PydanticCustomError("detector", "no detector, prompt or peer has that name") from None
    if model and not is_model(model):
        raise PydanticCustomError("detector", "only a model alone is joined with a peer")
    return name, name


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
        return parse_plan(Path(name_or_path).read_bytes(), Path(name_or_path).absolute().parent)
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


def models_of(settings: Settings) -> tuple[str, ...]:
    """The models that an installation's plan names, alone, in the ensemble or joined; none of an unreadable plan.

    A name with a bar, which parts the dimensions of a partition, is left out.
    """
    try:
        names = plan_of(settings).detectors
    except DeidError:  # `deid bench` says why
        return ()
    return tuple(name for name in names if name not in OURS and (parted(name) or is_own(name)) and "|" not in name)


def parse_plan(source: bytes, beside: Path = Path()) -> BenchPlan:
    """A plan from YAML.

    Args:
        source: The document.
        beside: The folder that relative paths in it are in.

    Raises:
        DeidError: `plan-invalid`, naming the key that is missing, unknown, doubled or of the wrong kind.
    """
    try:
        return BenchPlan.model_validate(read_yaml(source), context={"beside": beside})
    except ValidationError as error:
        faults = {
            f"{'.'.join(map(_shown, fault['loc'])) or 'plan'} ({_FAULTS.get(fault['type'], fault['type'])})"
            for fault in error.errors()
        }
        raise DeidError(Code.PLAN_INVALID, ", ".join(sorted(faults))) from None
    except ValueError:
        raise DeidError(Code.PLAN_INVALID, "not YAML without doubled keys") from None


def _is_ours(name: str) -> bool:
    """Whether it is a detector of the platform, with the site's models or with one that the plan names."""
    return name in OURS or (is_own(name) and ":" in name)


def _shown(key: str | int) -> str:
    # A file that is no plan at all (notes, say) must not be quoted as a key.
    return str(key) if isinstance(key, int) or _SAFE_KEY.fullmatch(key) else "a key"
