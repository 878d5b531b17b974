"""Sections about what is found and what becomes of it: `[detection]`, `[ray]`, `[dictionaries]`, `[redaction]`.

Belongs here: keys, defaults, and which keys go together. Does not belong here: detection or redaction.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from deid_platform.labels import Label
from deid_platform.settings.section import Section, Sha256


class CombinationSettings(Section):
    """What decides where the parts of the ensemble disagree; see `detection.combination`."""

    doubt_below: float = Field(default=0.001, ge=0, le=1)
    recover_up_to: float = Field(default=1.0, ge=0, le=1)
    local_patients: Literal[0] | Annotated[int, Field(ge=5, le=50)] = 10
    local_introduced: float = Field(default=0.02, ge=0, le=0.1)
    local_growth: float = Field(default=0.2, gt=0)
    judge: str | None = None
    judge_from: float = Field(default=1.0, gt=0, le=1)


class LlmReviewSettings(Section):
    """Which notes the language model of the detector reads; see `detection.chat.review`."""

    share: float | None = Field(default=None, gt=0, le=1)
    """About this share of the notes, those in which the other models are least sure."""
    doubt_from: float | None = Field(default=None, ge=0)
    """Instead of a share: the doubt from which on a note is read."""
    labels: tuple[Label, ...] = ()
    """Of what the model adds; all unless told."""
    budget_tokens: int | None = Field(default=None, gt=0)
    """The most tokens of one run, of prompts and answers together."""

    @model_validator(mode="after")
    def _one_threshold(self) -> LlmReviewSettings:
        if (self.share is None) == (self.doubt_from is None):
            raise PydanticCustomError("one of share and doubt_from has to be set", "see docs/configuration.md")
        return self


class DetectionSettings(Section):
    """Which detector runs, what the site adds to it, and over how many worker processes."""

    detector: str = "ensemble"
    models: tuple[str, ...] | None = None
    """Models of the ensemble, names or folders that `deid train` wrote; the shipped one unless told."""
    device: Literal["cpu", "cuda", "cuda-or-cpu", "torch-cpu"] = "cpu"
    """Where models run: the processor, a card, or a card if there is one."""
    workers: int = Field(default=1, ge=1)
    """Processes; with the engine `ray`, of each set: a machine has as many sets as its processors allow."""
    engine: Literal["local", "ray"] = "local"
    """Where they are: on this machine, or on those of a Ray cluster."""
    recognizers: Path | None = None
    """The site's own recognizers, in YAML."""
    keep: Path | None = None
    """The site's allow list: phrases that identify nobody, one a line."""
    combination: CombinationSettings = CombinationSettings()
    chat: str | None = None
    """The prompt, by name or file, to the language model of `[llm]` or `[vllm]` that is part of the detector."""
    llm_review: LlmReviewSettings | None = None
    """Which notes that model reads; all unless told."""
    indirect: bool = False
    """Whether the language model tags indirect identifiers in each note of a refresh."""
    indirect_budget_tokens: int | None = Field(default=None, gt=0)
    """The most tokens of that in one run, of prompts and answers together; any number unless told."""


class RaySettings(Section):
    """The cluster of `detection.engine = "ray"`."""

    address: str | None = None
    """Of a cluster to join; without it, one is started on this machine."""
    card_share: float = Field(default=1, gt=0, le=1)
    """How much of a card the models of one set of workers take, with `detection.device = "cuda"`."""


class TermsFileSettings(Section):
    """One file of clinical terms."""

    path: Path
    format: Literal["list", "rxnorm", "openfda", "snomed", "umls", "nci"] = "list"


class DictionarySettings(Section):
    """What detection keeps beside the shipped lists, and what is proposed for keeping."""

    medical_terms: tuple[Path | TermsFileSettings, ...] = ()
    """The site's own clinical terms to recover; a bare path is a list with one term a line."""
    harvest_minimum_patients: int = Field(default=10, ge=2)
    """Least number of patients in whose notes a phrase must stand to be proposed (Murugadoss 2024, Methods)."""
    recovered_sample: int = Field(default=1000, gt=0)
    """Notes of which the asset `dictionaries/recovered` says what recovery keeps."""

    @property
    def terms_files(self) -> tuple[TermsFileSettings, ...]:
        """The files of `medical_terms`, each with its format."""
        return tuple(TermsFileSettings(path=t) if isinstance(t, Path) else t for t in self.medical_terms)


class OffsetSettings(Section):
    """Offsets of dates that somebody outside drew, in place of keyed shifts: a trial, a registry."""

    file: Path
    """Columns `patient_id` and `days`; nobody but its owner may read it."""
    sha256: Sha256
    """Of the file, so that no other one takes its place unseen."""
    missing: Literal["refuse", "keyed"] = "refuse"
    """What becomes of notes of patients whom it does not name: quarantined, or moved by the keyed shift."""


class RedactionSettings(Section):
    """Which policy turns spans into text, a shipped name or a path to YAML, and how the notes write dates."""

    policy: str = "safe_harbor_plus_providers"
    date_order: Literal["dmy", "mdy"] | None = None
    """Which of two numbers is the day in a date whose note does not tell; a feed may say otherwise."""
    date_zeros: bool | None = None
    """Whether a zero stands before a digit in shifted dates; by default with the day first alone."""
    offsets: OffsetSettings | None = None
    """None: dates are shifted by the key secret."""
