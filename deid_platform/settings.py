"""deid.toml, typed and validated early, and the secrets, which are never in it.

Belongs here: what an institution configures, its defaults, and where the key secret is found. Does not
belong here: what any of it does. Paths are relative to the folder of deid.toml.

Secrets come from the environment or from a file: DEID_SECRET, DEID_SECRET_FILE, or `<home>/secret`,
which the demonstration makes for itself. DEID_PREVIOUS_SECRET and DEID_PREVIOUS_SECRET_FILES keep former
ones through a rotation. DEID_CONFIG names another deid.toml.
"""

from __future__ import annotations

import os
import re
import secrets
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from deid_platform.address import permitted
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.toml_document import line_shown, secrets_in

CONFIG_NAME = "deid.toml"
# What pydantic calls a fault, where its own word says little.
_FAULTS = {"extra_forbidden": "there is no such key", "missing": "it has to be set", "literal_error": "no such choice"}
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
PeerName = Annotated[str, Field(pattern=r"^(modified-)?[a-z]+(:[a-z]+:[^|]+)?$")]
NoteTypeTerm = Annotated[str, Field(pattern=r"[^\W_]")]
RoleName = Literal["notes", "patients", "providers", "facilities", "withdrawn", "rejoined"]
TableName = Annotated[str, Field(pattern=r"^[^.]+(\.[^.]+)?$")]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_DATABASES = ("sql", "omop")
_OF_DATABASES = {"url_env", "schema_name", "vocabulary_schema", "tables", "queries", "watermark", "watermarks"} | {
    "period",
    "timezone",
    "since",
    "initial",
    "timeout_seconds",
}


class FeedSettings(_Section):
    """One source of deliveries: a folder with one sub-folder a delivery, or a database."""

    format: Literal["files", "fhir", "hl7", "i2b2", "brat", "mimic3", "mimic4", "scan", "sql", "omop"] = "files"
    recognition: Literal["tesseract", "doctr"] = "tesseract"
    """What recognises characters on pages without a text layer; of the format `scan` alone."""
    path: Path = Field(default=Path(), validate_default=True)
    gold: Path | None = None
    """Folder of `<watermark>.jsonl.gz` gold files, read by the bench alone."""
    demonstration: bool = False
    """Whether the notes are synthetic or published, so that the embedded server may hold them."""
    columns: dict[str, str] = {}
    """Source column -> field of the note or topic."""
    ignore: tuple[str, ...] = ()
    """Source columns that are left out on purpose."""
    defaults: dict[str, str] = {}
    """Field -> value where the source has none, such as `note_type`."""
    note_types: tuple[str, ...] = ()
    """Note types that research may see by name; any other becomes `other`, since a type is free text."""
    max_chars: int = Field(default=1_000_000, gt=0)
    # Of databases alone: docs/feeds-sql.md.
    url_env: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$")] | None = None
    """The variable that holds the database's URL, whose password has no place in a file of settings."""
    schema_name: str | None = Field(default=None, alias="schema", min_length=1)
    """The schema of tables that are named without one."""
    vocabulary_schema: str | None = Field(default=None, min_length=1)
    """The schema of CONCEPT, if it is not that of the other tables of an OMOP database."""
    tables: dict[RoleName, TableName] = {}
    """Role -> table or view, `schema.table` if it is in another schema."""
    queries: dict[RoleName, Path] = {}
    """Role -> file with the one SELECT that gives its rows."""
    watermark: str = Field(default="", validate_default=True)
    """The column that says when a row was written or changed."""
    watermarks: dict[RoleName, str] = {}
    """Role -> that column where it has another name; empty where a topic has none."""
    period: Literal["hour", "day", "month"] = "day"
    """The span of time whose rows are one delivery."""
    timezone: str = "UTC"
    """Where the watermarks were written: a day begins and ends there."""
    since: date | None = None
    """Rows before this day are left out."""
    initial: date | None = None
    """All up to and with this day's period is one delivery, for a first load of years."""
    timeout_seconds: int = Field(default=3600, gt=0)
    """How long one statement may take, where the database can be told."""

    @property
    def from_database(self) -> bool:
        """Whether its deliveries are no folders."""
        return self.format in _DATABASES

    @field_validator("path")
    @classmethod
    def _folder(cls, path: Path, info: ValidationInfo) -> Path:
        if (info.data.get("format") not in _DATABASES) == (path == Path()):
            raise PydanticCustomError("extra_forbidden" if path != Path() else "missing", "see docs/configuration.md")
        return path

    @field_validator("watermark")
    @classmethod
    def _named(cls, watermark: str, info: ValidationInfo) -> str:
        if not watermark and info.data.get("format") == "sql":
            raise PydanticCustomError("missing", "see docs/feeds-sql.md")
        return watermark or "note_date"  # of OMOP's NOTE

    @field_validator("timezone")
    @classmethod
    def _known(cls, timezone: str) -> str:
        try:
            ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise PydanticCustomError("there is no such time zone", "see docs/feeds-sql.md") from None
        return timezone

    @model_validator(mode="after")
    def _whole(self) -> FeedSettings:
        for fault in self._faults():
            raise PydanticCustomError(fault, "see docs/feeds-sql.md")
        return self

    def _faults(self) -> Iterator[str]:
        """What is wrong with keys that are well by themselves; only names of keys are told."""
        if not self.from_database:
            yield from (
                f"{key.removesuffix('_name')} is for databases" for key in _OF_DATABASES & self.model_fields_set
            )
            return
        yield from (f"{role} is in tables and in queries" for role in self.tables if role in self.queries)
        roles = {*self.tables, *self.queries}
        if self.format == "sql":
            if not roles:
                yield "neither tables nor queries names anything"
            yield from (f"watermarks.{role}: there is no such role" for role in self.watermarks if role not in roles)
            if self.vocabulary_schema:
                yield "vocabulary_schema is for format omop"
        for role in ("notes", "withdrawn", "rejoined"):
            if self.watermarks.get(role) == "":
                yield f"watermarks.{role} must not be empty"
            if self.format == "omop" and role != "notes" and role in roles and role not in self.watermarks:
                yield f"watermarks.{role} has to be set"
        if self.since and self.initial and self.initial < self.since:
            yield "initial is before since"


class CombinationSettings(_Section):
    """What decides where the parts of the ensemble disagree; see `detection.combination`."""

    doubt_below: float = Field(default=0.001, ge=0, le=1)
    recover_up_to: float = Field(default=1.0, ge=0, le=1)
    judge: str | None = None
    judge_from: float = Field(default=1.0, gt=0, le=1)


class LlmReviewSettings(_Section):
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


class DetectionSettings(_Section):
    """Which detector runs, what the site adds to it, and over how many worker processes."""

    detector: str = "ensemble"
    models: tuple[str, ...] | None = None
    """Models of the ensemble, names or folders that `deid train` wrote; the shipped one unless told."""
    device: Literal["cpu", "cuda", "cuda-or-cpu", "torch-cpu"] = "cpu"
    """Where models run: the processor, a card, or a card if there is one."""
    workers: int = Field(default=1, ge=1)
    """Processes; with the engine `ray`, of each machine."""
    engine: Literal["local", "ray"] = "local"
    """Where they are: on this machine, or on those of a Ray cluster."""
    recognizers: Path | None = None
    """The site's own recognizers, in YAML."""
    keep: Path | None = None
    """The site's allow list: phrases that identify nobody, one a line."""
    combination: CombinationSettings = CombinationSettings()
    chat: str | None = None
    """The prompt to the language model of `[llm]`, or of `[vllm]`, that is part of the detector; none unless told."""
    llm_review: LlmReviewSettings | None = None
    """Which notes that model reads; all unless told."""
    indirect: bool = False
    """Whether the language model tags indirect identifiers in each note of a refresh."""
    indirect_budget_tokens: int | None = Field(default=None, gt=0)
    """The most tokens of that in one run, of prompts and answers together; any number unless told."""


class RaySettings(_Section):
    """The cluster of `detection.engine = "ray"`."""

    address: str | None = None
    """Of a cluster to join; without it, one is started on this machine."""
    card_share: float = Field(default=1, gt=0, le=1)
    """How much of a card the models of one machine's workers take, with `detection.device = "cuda"`."""


class TermsFileSettings(_Section):
    """One file of clinical terms."""

    path: Path
    format: Literal["list", "rxnorm", "openfda", "snomed", "umls", "nci"] = "list"


class DictionarySettings(_Section):
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


class RedactionSettings(_Section):
    """Which policy turns spans into text: a shipped name or a path to YAML."""

    policy: str = "safe_harbor_plus_providers"


class BenchSettings(_Section):
    """The test set (Murugadoss 2024, Methods) and how it is scored."""

    size: int = Field(default=10_000, gt=0)
    minimum_per_group: int = Field(default=10, ge=0)
    seed: int = 0
    periods: tuple[tuple[int, int], ...] = ()
    """First and last year of each period; by default each calendar year is one."""
    synthetic_notes: int = Field(default=400, gt=0)
    """Notes of the synthetic hospital that stand in where a site has no gold."""
    resamples: int = Field(default=1000, ge=2)
    minimum_gold: int = Field(default=30, ge=1)
    """Notes with gold that a feed needs for its recall to count as measured."""
    on_request_notes: int = Field(default=100, gt=0)
    """Notes of the gold in which the assets `bench/stability` and `bench/cost` detect anew."""
    trial_notes: int = Field(default=10, gt=0)
    """Notes for tuning on which `bench/prompt_trials` tries a prompt."""
    price_per_hour: float | None = Field(default=None, ge=0)
    """Of what one worker process has, a core or a card, in any currency; for the asset `bench/cost`."""
    contribution_notes: int = Field(default=20, gt=0)
    """Notes of each surrogate corpus on which the asset `bench/contributions` says what each recognizer adds."""
    plan: str = "papers"
    """The plan of the leaderboard (`bench/plan.py`): a shipped name or a path to YAML."""


class CorpusSettings(_Section):
    """A corpus of the site's own, for surrogate corpora and their scores."""

    path: Path
    format: str = "jsonl"
    scheme: str = "i2b2-2014"
    language: str | None = None
    """Of its notes; that of the scheme unless given."""
    what: str = "a corpus of the site"
    slots: Literal["gold", "none"] = "gold"
    """Where its identifiers stand: spans and placeholders of its format, or nowhere: then all are woven in, and the
    format may be any of files."""
    weave: bool = False
    """Whether identifiers are woven in as well."""


class CorporaSettings(_Section):
    """Where published corpora lie, and the site's own."""

    folder: Path = Path("corpora")
    sets: dict[Identifier, CorpusSettings] = {}


class LlmSettings(_Section):
    """The language model that prompts go to (docs/language-models.md)."""

    url: str
    """Where its interface lies, up to `/v1`."""
    model: str = Field(min_length=1)
    revision: str = ""
    """What the site calls the weights behind that name."""
    context_length: int = Field(default=8192, gt=0)
    """Tokens of a request and its answer together."""
    allowed_hosts: tuple[str, ...] = ()
    """Hosts beside this machine that are trusted with notes."""
    api_key_file: Path | None = None
    ca_file: Path | None = None
    concurrency: int = Field(default=8, ge=1)
    deadline: float = Field(default=300, gt=0)
    """Seconds that a request may take, all tries together."""
    temperature: float = Field(default=0, ge=0, le=2)
    seed: int = 0
    structured: bool = True
    """Whether the server can be given the form of an answer."""


class JudgeSettings(_Section):
    """The panels of chat models that judge releases (docs/retention.md); each model, prompt and seed is a judge."""

    models: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Their names at the endpoint of `[llm]`; its model unless told."""
    seeds: tuple[int, ...] = Field(default=(1, 2, 3), min_length=1)
    temperature: float = Field(default=0.7, ge=0, le=2)
    """Above 0, so that seeds make a difference (Miranda 2025, 4.2.1)."""


class TrainingSettings(_Section):
    """What the asset `models/trained` trains; as the options of `deid train`."""

    folder: Path = Path("models/own")
    gold: tuple[Path, ...] = ()
    scheme: str = "i2b2-2014"
    start: str | None = None
    epochs: float | None = Field(default=None, gt=0)
    seed: int = 5
    preset: Literal["default", "site", "paper004", "paper004-binary"] | None = None


class ExperimentSettings(_Section):
    """What the experiments on what a model learns may cost; see `bench.experiments.Size`."""

    notes: int = Field(default=700, gt=0)
    epochs: float = Field(default=4, gt=0)
    test_notes: int = Field(default=4, gt=0)
    locales: tuple[str, ...] | None = None


class VllmSettings(_Section):
    """A language model whose weights lie on this machine; see `llm.vllm_engine.EngineSettings`."""

    model: Path
    """A folder as the library `transformers` saves it."""
    adapters: dict[Identifier, Path] = {}
    """LoRA adapters, folders as `peft` saves them."""
    adapter: Identifier | None = None
    """The one that answers; the weights by themselves unless told."""
    tensor_parallel: int = Field(default=1, ge=1)
    memory_fraction: float = Field(default=0.9, gt=0, le=1)
    cache_gib: float | None = Field(default=None, gt=0)
    max_length: int | None = Field(default=None, ge=128)
    at_once: int = Field(default=64, ge=1)
    structured_outputs: Literal["guidance", "xgrammar"] = "guidance"
    prefix_caching: bool = True
    compiled: bool = True
    precision: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    seed: int = Field(default=0, ge=0)
    template: dict[str, bool | str] = {}
    """What the chat template is told beside the messages."""


class ExclusionSettings(_Section):
    """Notes that never enter: kinds that the law sets apart, and those of patients who opted out of research."""

    note_types: tuple[NoteTypeTerm, ...] = (
        # Psychotherapy notes: 45 CFR 164.501, 164.508(a)(2)
        "psychotherapy",
        "psychotherapy note",  # also where it is written as one word
        "telepsychotherapy",
        "psychotherapist",
        # Records of substance use disorder programmes: 42 CFR Part 2
        "42 CFR Part 2",
        "substance use",
        "substance abuse",
        "substance misuse",
        "SUD",
        "addiction",
        "chemical dependency",
        "chemical dependence",
        "drug and alcohol",
        "alcohol and drug",
        "alcohol and other drug",
        "opioid treatment",
        "methadone",
    )
    """Terms that are found in a note's type as whole words; docs/configuration.md says how."""
    untyped: bool = False
    """Whether a note without a type never enters either."""
    opt_outs: Path | None = None
    """The whole current list of patients who opted out, column `patient_id`, as JSONL, CSV or Parquet."""


class StoreSettings(_Section):
    """Where the note store is, if not in the home folder."""

    uri: Annotated[str, Field(pattern=r"^(s3|gs)://[a-z0-9][a-z0-9.-]+[a-z0-9](/[A-Za-z0-9][A-Za-z0-9._-]*)+$")]
    """`s3://bucket/prefix` or `gs://bucket/prefix`: a prefix that nothing else uses."""
    endpoint: str | None = None
    """Of a server other than Amazon's that speaks S3."""
    region: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")] | None = None

    @field_validator("endpoint")
    @classmethod
    def _safe(cls, endpoint: str | None, info: ValidationInfo) -> str | None:
        if endpoint is None:
            return None
        if not info.data.get("uri", "s3:").startswith("s3:"):
            raise PydanticCustomError("endpoint is for S3", "see docs/configuration.md")
        try:
            address = permitted(endpoint, None)
        except DeidError as error:
            raise PydanticCustomError(str(error.ref), "see docs/configuration.md") from None
        scheme, _, host = address.url.partition("://")
        if "/" in host:
            raise PydanticCustomError("endpoint has a path", "see docs/configuration.md")
        # As a request names its host: with a port only where it is another than the usual one.
        return f"{scheme}://{host.removesuffix(':443' if scheme == 'https' else ':80')}"


class WarehouseSettings(_Section):
    """The embedded server's database; DEID_WAREHOUSE_URL replaces the whole server."""

    database: Identifier = "deid"
    allow_real_notes_on_embedded: bool = False


class ReleaseSettings(_Section):
    """How long a release stays after another one took its place."""

    keep: int = Field(default=1, ge=0)
    """How many of those that were left last stay whatever their age, so that there is one to go back to."""
    keep_days: int = Field(default=30, ge=0)


class ScheduleSettings(_Section):
    """The backstop behind the sensor."""

    cron: str = "0 6 * * 1"
    timezone: str = "UTC"
    sensor_seconds: int = Field(default=60, ge=5)
    keep_runs_days: int = Field(default=180, ge=0)
    """How long Dagster keeps a finished run, except each delivery's last success."""
    # A week, and what the weekly refresh may take.
    warn_after_days: float = Field(default=7.5, gt=0)
    """How long after its last refresh Dagster warns that research is not fresh."""
    stale_after_days: float = Field(default=8.0, gt=0)
    """And how long after it research counts as stale."""

    @model_validator(mode="after")
    def _warned_first(self) -> ScheduleSettings:
        if self.warn_after_days >= self.stale_after_days:
            raise PydanticCustomError("warn_after_days is not before stale_after_days", "see docs/configuration.md")
        return self


class ProfileSettings(_Section):
    """Thresholds of one gate profile. What each profile demands at all is fixed in the warehouse."""

    min_recall: Share
    min_precision: Share
    min_clinical_retention: Share
    max_recall_drop: Share = 0.002
    """How much recall a detector may lose against the one in force: the lower end of the difference's interval."""
    min_roster_share: Share = 0.95
    """Least share of a delivery's notes whose patient the topics must know for it to count as with topics."""
    max_quarantined_share: Share = 0.05
    """Largest share of a delivery's notes that may be quarantined; of fewer than 20 notes, any."""
    max_untyped_share: Share = 0.50
    """Largest share of note type `other` before the checks warn, where the feed names types."""
    max_foreign_tag_share: Share = 0.10
    """Largest share of a language's clean notes with a tag in capitals that the policy does not write."""
    signed_dossier: bool = False
    """Whether analysts see a release only once its dossier is signed as fit, and until its day of reassessment."""


PROFILES: dict[str, ProfileSettings] = {
    # The demonstration shows rules alone, without a model; production asks for what Murugadoss 2024's baseline reached.
    "demo": ProfileSettings(
        min_recall=0.90,
        min_precision=0.90,
        min_clinical_retention=0.95,
        max_recall_drop=0.05,
        max_quarantined_share=0.20,
    ),
    "production": ProfileSettings(min_recall=0.98, min_precision=0.95, min_clinical_retention=0.97),
}


class Settings(_Section):
    """All of deid.toml."""

    site: Identifier
    profile: Literal["demo", "production"] = "production"
    home: Path = Path(".deid")
    feeds: dict[Identifier, FeedSettings] = {}
    detection: DetectionSettings = DetectionSettings()
    ray: RaySettings = RaySettings()
    dictionaries: DictionarySettings = DictionarySettings()
    redaction: RedactionSettings = RedactionSettings()
    exclusions: ExclusionSettings = ExclusionSettings()
    vllm: VllmSettings | None = None
    bench: BenchSettings = BenchSettings()
    corpora: CorporaSettings = CorporaSettings()
    peers: dict[PeerName, Path] = {}
    """De-identifiers of others, `presidio:spacy:MODEL` and the like -> the interpreter that has it (docs/peers.md)."""
    llm: LlmSettings | None = None
    """None: nothing asks a language model."""
    judges: JudgeSettings = JudgeSettings()
    training: TrainingSettings = TrainingSettings()
    experiments: ExperimentSettings = ExperimentSettings()
    store: StoreSettings | None = None
    """None: the note store is in the home folder."""
    warehouse: WarehouseSettings = WarehouseSettings()
    releases: ReleaseSettings = ReleaseSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    profiles: dict[Literal["demo", "production"], ProfileSettings] = {}
    root: Path = Field(default=Path(), exclude=True)
    """The folder of deid.toml, against which paths are read."""

    @property
    def thresholds(self) -> ProfileSettings:
        """The thresholds of the profile in force."""
        return self.profiles.get(self.profile, PROFILES[self.profile])

    def feed(self, name: str) -> FeedSettings:
        """One feed's settings.

        Raises:
            DeidError: `feed-unknown`, with the nearest name, if deid.toml has no such feed.
        """
        if name not in self.feeds:
            raise DeidError(Code.FEED_UNKNOWN, did_you_mean(name, self.feeds))
        return self.feeds[name]

    @property
    def home_path(self) -> Path:
        """Where this instance keeps the note store, the embedded server and the Dagster instance."""
        return self.path(self.home)

    @property
    def store_path(self) -> Path:
        """This machine's folder for notes: the note store, or its record and temporary files if it is elsewhere."""
        return self.home_path / "store"

    def path(self, relative: Path) -> Path:
        """A path of deid.toml made absolute."""
        return (self.root / relative).absolute()

    @property
    def secret_path(self) -> Path:
        """Where the key secret lies if no environment variable names it."""
        return self.home_path / "secret"

    def keyring(self) -> Keyring:
        """The site's keys.

        Raises:
            DeidError: `secret-missing` or `secret-weak`.
        """
        return Keyring(self._secret(), site=self.site)

    def keyrings(self) -> tuple[Keyring, ...]:
        """The site's keys, the current ones first, then those of former secrets by which older releases know a note.

        Former secrets are those of DEID_PREVIOUS_SECRET and of the files in DEID_PREVIOUS_SECRET_FILES (separated
        as in PATH), newest first. One that is still in use counts once.

        Raises:
            DeidError: `secret-missing` or `secret-weak`, naming the variable if it is a former secret's.
        """
        rings = {ring.key_id: ring for ring in (self.keyring(), *self._former_keyrings())}
        return tuple(rings.values())

    def _former_keyrings(self) -> Iterator[Keyring]:
        if text := os.environ.get("DEID_PREVIOUS_SECRET"):
            yield self._former(text.encode(), "DEID_PREVIOUS_SECRET")
        for name in filter(None, os.environ.get("DEID_PREVIOUS_SECRET_FILES", "").split(os.pathsep)):
            yield self._former(_secret_file(Path(name), "DEID_PREVIOUS_SECRET_FILES"), "DEID_PREVIOUS_SECRET_FILES")

    def _former(self, secret: bytes, variable: str) -> Keyring:
        try:
            return Keyring(secret, site=self.site, former=True)
        except DeidError as error:
            raise DeidError(error.code, variable) from None

    def _secret(self) -> bytes:
        given = _secret_of_environment()
        return _secret_file(self.secret_path) if given is None else given


def keyring_for(secret_file: Path | None, site: str | None) -> Keyring:
    """Keys for a command on files, which may run without an installation.

    Args:
        secret_file: Holds the key secret; by default the environment's, or that of the deid.toml in force.
        site: The institution; by default the one of the deid.toml in force, else `local`.

    Raises:
        DeidError: `secret-missing` or `secret-weak`; `settings-invalid` if there is a deid.toml that cannot be read.
    """
    try:
        settings = load_settings()
    except DeidError as error:
        if error.code is not Code.SETTINGS_MISSING:
            raise
        settings = None
    secret = _secret_of_environment() if secret_file is None else _secret_file(secret_file)
    if secret is None and settings is None:
        raise DeidError(Code.SECRET_MISSING) from None
    if secret is None and settings is not None:
        secret = _secret_file(settings.secret_path)
    return Keyring(secret or b"", site=site or (settings.site if settings else "local"))


def files_in_force() -> tuple[Path, ...]:
    """The deid.toml and the files of the key secret that commands on files read unasked; no output may replace them."""
    named = os.environ.get("DEID_SECRET_FILE")
    files = [Path(named)] if named else []
    with suppress(DeidError):
        files.append(config_path())
        files.append(load_settings().secret_path)
    return tuple(files)


def _secret_of_environment() -> bytes | None:
    if text := os.environ.get("DEID_SECRET"):
        return text.encode()
    if path := os.environ.get("DEID_SECRET_FILE"):
        return _secret_file(Path(path))
    return None


def _secret_file(path: Path, variable: str | None = None) -> bytes:
    try:
        return path.read_bytes().strip()
    except OSError:
        raise DeidError(Code.SECRET_MISSING, variable) from None


def config_path(given: str | Path | None = None) -> Path:
    """Which deid.toml counts: the one given, DEID_CONFIG, or the one in this folder or above it.

    Raises:
        DeidError: `settings-missing` if there is none.
    """
    if chosen := given or os.environ.get("DEID_CONFIG"):
        path = Path(chosen).absolute()
        if path.is_file():
            return path
        raise DeidError(Code.SETTINGS_MISSING)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
    raise DeidError(Code.SETTINGS_MISSING)


def load_settings(given: str | Path | None = None) -> Settings:
    """Reads and checks deid.toml.

    Raises:
        DeidError: `settings-missing`; `settings-invalid` or `secret-in-settings` with the key's name.
    """
    path = config_path(given)
    try:
        text = path.read_text(encoding="utf-8")
        document: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # The rest of what it says may quote a value.
        line = re.search(r"\(at (line \d+)", str(error))
        raise DeidError(Code.SETTINGS_INVALID, f"{CONFIG_NAME} is not TOML{f', {line[1]}' if line else ''}") from None
    except UnicodeDecodeError:
        raise DeidError(Code.SETTINGS_INVALID, f"{CONFIG_NAME} is not UTF-8") from None
    if misplaced := sorted(secrets_in(document)):
        raise DeidError(Code.SECRET_IN_SETTINGS, ", ".join(misplaced))
    if "root" in document:
        raise DeidError(Code.SETTINGS_INVALID, "root")
    try:
        return Settings(**document, root=path.parent)
    except ValidationError as error:
        # pydantic's own text prints the value; the key's name, its line and the kind of fault are enough.
        faults = (
            f"{'.'.join(map(str, fault['loc']))}{line_shown(text, fault['loc'])} ({_FAULTS.get(kind, kind)})"
            for fault, kind in ((fault, fault["type"]) for fault in error.errors())
        )
        raise DeidError(Code.SETTINGS_INVALID, ", ".join(sorted(faults))) from None


def ensure_secret(settings: Settings) -> None:
    """Makes a random key secret for a new instance, readable by its owner alone; keeps an existing one."""
    if os.environ.get("DEID_SECRET") or os.environ.get("DEID_SECRET_FILE") or settings.secret_path.exists():
        return
    settings.home_path.mkdir(parents=True, exist_ok=True)
    beside = settings.secret_path.with_name(f".secret-{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(secrets.token_hex(32))
        stream.flush()
        os.fsync(stream.fileno())
    try:
        # Whole or not at all, and never over one that another process has made meanwhile.
        os.link(beside, settings.secret_path)
    except FileExistsError:
        return
    finally:
        beside.unlink()
