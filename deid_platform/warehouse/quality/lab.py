"""The laboratory's figures in the warehouse, and every word that they may use.

Belongs here: the lists of words, writing figures down, reading them as analysts see them. Does not belong here:
measuring (`evaluation/`), which notes are measured (`bench/lab/measures.py`), or the words of a site's own corpora
(`corpora/gold_words.py`).

A figure names its detector, gold, family, subject and measure. Analysts read no text that one role wrote, so each of
these is a word of the lists here, which only the owner of the schema can change; to the golds the owner adds those of
deid.toml.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, Engine, text

from deid_platform.evaluation.disclosure.attacker.questions import Aim
from deid_platform.evaluation.experiments.perturbations import Perturbation
from deid_platform.evaluation.scores.missed_by_risk import Category
from deid_platform.evaluation.scores.name_groups import GROUPS as NAMES
from deid_platform.evaluation.sources import Source
from deid_platform.labels import Indirect, Label, Risk
from deid_platform.llm.known_models import KNOWN, KNOWN_STARTS
from deid_platform.warehouse.quality.held_out import Purpose
from deid_platform.warehouse.server.connection import begin

_PEERS = (
    *("presidio", "presidio-patterns", "presidio-transformers", "pydeid", "philter", "deidentify"),
    *("gliner", "gliner2", "privacy-filter"),
)
_VARIANTS = ("", "modified-")
PEERS = tuple(f"{variant}{it}" for variant in _VARIANTS for it in _PEERS)
MODELS = (
    "ensemble-own",
    *(
        f"{variant}{model}{peer}"
        for variant in _VARIANTS
        for model in ("bert", "model-own", "model-shipped")
        for peer in ("", "-presidio", "-peer")
    ),
)
"""Models that are not the site's: in the ensemble, alone, or joined with a peer. The digest tells which."""
CHATS = tuple(
    f"chat-{task}-{shots}{language}"
    for task in ("extract", "extract-groups", "rewrite", "rewrite-patient", "tag")
    for shots in ("zero", "one")
    for language in ("", "-it")
)
"""Prompts to a chat model, whichever it is: the digest tells it."""
OWN_PROMPT = "chat-own"
"""Any prompt that is not shipped: the digest tells which."""
MINILM = "minilm"
"""The encoder that experiments start from unless another is named."""
KNOWN_CHATS = tuple(f"{chat}@{model}" for chat in CHATS for model in KNOWN)
"""The same to a model that a paper measured."""
STARTS = (MINILM, *KNOWN_STARTS)
"""What a model of an experiment was trained from: architectures of Zambare 2026, and the encoder that is shipped."""
ARMS = (
    *("trained-en_US", "trained-en_US-kinds", "trained-all-locales", "trained-without-this-locale"),
    *(f"trained-{notes}-notes" for notes in (250, 500, 1000, 2000)),
)
"""What it was trained on."""
TRAINED = tuple(f"{arm}@{start}" for arm in ARMS for start in STARTS)
"""Models of experiments (`training/experiments.py`)."""
JUDGES = (
    "judge-retention-yes-no",
    *(f"judge-{name}{end}" for name in ("retention-zero", "retention-few", "panel-zero") for end in ("", "-it")),
)
"""Prompts of judges to a chat model, likewise."""
DETECTORS = (
    *("ensemble", "ensemble-unrecovered", "rules", "patterns", "gazetteer", "roster"),
    *(*PEERS, *MODELS, *CHATS, OWN_PROMPT, *KNOWN_CHATS, *TRAINED),
    *("lexical-judge", *JUDGES),
)
GOLDS = (
    *("site", "library", "synthetic_hospital"),
    *("mtsamples", "aci_bench", "primock57", "e3c_en", "e3c_es", "e3c_fr", "e3c_it"),
    *("meddocan", "eds_templates", "asq_phi", "i2b2", "conll", "mimic", "judged_pairs", "read_notes"),
    *("library_en", "library_es", "library_it", "library_fr", "hospital"),
)
FAMILIES = {
    "words": "how well identifiers are found, word by word",
    "tokens": "the same on tokens between blanks, as Aghakasiri 2025 counts them",
    "spans": "identifiers found whole or in part",
    "characters": "characters of identifiers found, and of other text hidden",
    "residue": "what is left of each identifier in the released text (Pissarra 2024)",
    "disclosure": "notes and patients with a direct identifier left",
    "linkage": "whose note it is, for an attacker who holds everybody's topics",
    "attacker": "what a language model learns of a patient from a release, among numbered choices",
    "indirect": "released notes in which something tells who somebody is although it names nobody",
    "plain sight": "identifiers left that a reader can tell from surrogates",
    "missed": "missed words by risk, as Murugadoss 2024, supplementary table 1",
    "retention": "what is left of the medicine",
    "judges": "how good the judge of lost medicine is, on pairs labelled by people",
    "occurrences": "texts of identifiers left, and placeholders beyond them, as Miranda 2025 counts (4.3)",
    "panel": "identifiers hidden or left as a panel of language models says, and how often spans say the same",
    "review": "what reviewers say of words that were hidden although no gold marks them",
    "read notes": "what reviewers say of words that were hidden in a delivery's notes, of which there is no gold",
    "utility": "a task learned from released notes beside the same from true ones",
    "stability": "the same notes in other formats",
    "length": "by length of note",
    "names": "how well words of names are found, by sex, popularity, decade and other meanings",
    "cost": "speed, memory and money",
}
MEASURES = (
    *("precision", "recall", "f1", "accuracy", "entity_recall", "leak_rate"),
    *("words_kept", "clinical_retention", "labels_claimed"),
    *("notes_failed", "recall_answered", "precision_answered", "f1_answered"),
    *("strict_f1", "overlapping_f1", "strict_recall", "overlapping_recall"),
    *("accuracy_conservative", "recall_conservative", "precision_conservative", "f1_conservative"),
    *("accuracy_two_sided", "precision_two_sided", "f1_two_sided"),
    *(f"{it}_patient_only{end}" for end in ("", "_two_sided") for it in ("accuracy", "recall", "precision", "f1")),
    *("recall_of_site", "precision_of_site", "recall_difference", "precision_difference"),
    *("identifier_characters_found", "other_characters_hidden"),
    *("alid", "levenshtein_recall", "direct_recall", "quasi_recall"),
    *("notes_disclosed", "patients_disclosed", "patient_disclosed_at_site"),
    *("notes_disclosed_raw", "patients_disclosed_raw"),
    *("first", "top_ten", "chance", "chance_top_ten", "first_raw", "top_ten_raw"),
    *("right", "right_raw", "right_by_linkage", "unanswered"),
    "notes_by_model",
    *("told_apart", "told_apart_chance", "share_missed"),
    *("lexical_retention", "cire", "chat_retention", "jsc", "nsdcg", "difference", "score_raw", "score_released"),
    *("score_transferred", "difference_transferred", "most_frequent"),
    *("kappa", "pearson", "spearman"),
    *("share_of_removals", "share_of_relevant", "share_right", "share_settled"),
    *("missed_per_note", "missed_agreement"),
    *("words_per_second", "words_per_second_deviation", "seconds_per_note", "gpu_seconds_per_note", "peak_mb"),
    "cost_per_10000_notes",
)
SEXES = ("sex F", "sex M")
LOCALES = tuple(
    f"locale {it}" for it in ("en_US", "en_GB", "en_AU", "en_CA", "es_ES", "it_IT", "fr_FR", "zh", "hi", "bn", "ar")
)
LENGTHS = ("under 100 words", "100 to 299 words", "300 to 599 words", "600 to 1,199 words", "1,200 words and more")
TOKEN_LENGTHS = (
    *("under 250 tokens", "250 to 499 tokens", "500 to 999 tokens", "1,000 to 1,999 tokens"),
    *("2,000 to 3,999 tokens", "4,000 tokens and more"),
)
"""Of each edge of `by_length.EDGES`."""
RISKS = tuple(f"risk {risk.value}" for risk in Risk)
CATEGORIES = tuple(it.value for it in Category)
POLICIES = tuple(f"surrogates {it}" for it in ("consistent", "per note", "varied"))
FORMATS = tuple(it.value for it in Perturbation)
TASKS = ("task note type", "task condition")
ATTACKS = tuple(f"attack {aim.value}" for aim in Aim)
INDIRECT = tuple(f"indirect {it.value}" for it in Indirect)
REVIEWED = (
    *("clinically relevant", "clinically irrelevant", "provider or clinic", "insensitive identifier", "missed by gold"),
    *("severity", "severity high", "severity low"),
)
"""What reviewers say of a removal."""
MIRANDA = tuple(f"category {it}" for it in ("NAME", "AGE", "LOCATION/ADDRESS", "DATE"))
"""The categories of Miranda 2025."""
JUDGED_BY = tuple(f"judged by {it}" for it in KNOWN)
"""What a language model that a paper has as a judge says."""
CLAIMS = tuple(f"claimed by {it}" for it in PEERS)
CLAIMS_OF_PROMPTS = tuple(f"claimed by {name}" for name in (*CHATS, OWN_PROMPT))
SUBJECTS = (
    *("ALL", *(it.value for it in Label)),
    *(*SEXES, *LOCALES, *LENGTHS, *TOKEN_LENGTHS, *NAMES),
    *(*RISKS, *CATEGORIES, *POLICIES, *FORMATS, *TASKS, *ATTACKS, *INDIRECT, *REVIEWED),
    *(*CLAIMS, *CLAIMS_OF_PROMPTS, *MIRANDA, *JUDGED_BY),
)
_WORDS = {
    "detector": DETECTORS,
    "family": tuple(FAMILIES),
    "measure": MEASURES,
    "subject": SUBJECTS,
    "purpose": tuple(Purpose),
}


@dataclass(frozen=True, slots=True)
class LabScore:
    """One figure.

    Attributes:
        family: A key of `FAMILIES`.
        measure: One of `MEASURES`.
        value: The figure; None where there was nothing to measure.
        low: Lower end of its 95% interval, if it has one.
        high: Upper end.
        n: What it is a share of, or how many were measured; None of what is no share.
        subject: All, a label, a locale, a sex, a length, a group of names, a risk, a category, a format, a task, an
            attack, an indirect identifier, what reviewers say, or what a peer or a prompt claims.
    """

    family: str
    measure: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    subject: str = "ALL"


@dataclass(frozen=True, slots=True)
class MeasuredOn:
    """What figures are of: which detector, under which policy, on which gold and inputs, and by which look.

    Figures are recorded only with the number of a look (`held_out.py`); those that are read say none.
    """

    detector: str
    detector_digest: str
    gold: str
    inputs: str
    policy_digest: str = ""
    locale: str = ""
    look: int | None = None
    judge: str = ""
    """Digest of the language model that judged; empty where none did."""
    notes_of: str | None = None
    """Of what is read alone: on whose notes, a word of `evaluation.sources`; what is recorded says it by its look."""
    marked_by: str | None = None
    """By which hand, likewise."""


def record_lab_scores(gatekeeper: Engine, on: MeasuredOn, scores: Sequence[LabScore]) -> int:
    """Records figures; earlier ones of the same stay.

    Returns:
        How many.

    Raises:
        DeidError: `held-out-refused` without a look of the detector at a set of the gold; `warehouse-statement`, also
            where a figure of that look stands already; `warehouse-unreachable`.
    """
    of = {name: value for name, value in asdict(on).items() if name not in ("notes_of", "marked_by")}
    values = [{**of, **asdict(score)} for score in scores]
    columns = tuple(values[0]) if values else ()
    if values:
        names, places = ", ".join(columns), ", ".join(f":{name}" for name in columns)
        with begin(gatekeeper) as connection:
            # The names are the fields of two classes here.
            connection.execute(text(f"INSERT INTO quality.lab_score ({names}) VALUES ({places})"), values)  # noqa: S608
    return len(values)


def lab_scores(reader: Engine, detector_digest: str) -> Iterable[tuple[MeasuredOn, LabScore]]:
    """The newest figures of a detector, as analysts see them: those over fewer than 11 are None."""
    statement = text(
        "SELECT detector, detector_digest, gold, inputs, policy_digest, locale, NULL, judge, notes_of, marked_by,"
        " family, measure, value, low, high, n, subject FROM quality.lab_scores WHERE detector_digest = :d"
        " ORDER BY gold, locale, inputs, family, subject, measure"
    )
    with begin(reader) as connection:
        rows = connection.execute(statement, {"d": detector_digest}).all()
    return [(MeasuredOn(*row[:10]), LabScore(*row[10:])) for row in rows]


def list_words(connection: Connection, own: Iterable[str] = ()) -> None:
    """Makes the lists in the database those of this version. Of whoever owns the schema.

    Args:
        connection: As the owner.
        own: Golds of the site's own corpora (`corpora.gold_words.words_of_own`), which each call says anew.
    """
    connection.execute(text("DELETE FROM quality.word"))
    golds = (*GOLDS, *own)
    listed = {**_WORDS, "gold": golds}
    rows = [{"kind": kind, "word": word} for kind, words in listed.items() for word in words]
    connection.execute(text("INSERT INTO quality.word (kind, word) VALUES (:kind, :word)"), rows)
    connection.execute(text("DELETE FROM quality.gold_source"))
    sources = [{"gold": gold, **Source.of(gold, "topics").words} for gold in golds]
    statement = text("INSERT INTO quality.gold_source VALUES (:gold, :notes_of, :topics_of, :marked_by)")
    connection.execute(statement, sources)
