"""De-identification of clinical text, measured on every refresh.

From Python, `load` gives a `Deidentifier`, which has `detect` and `redact` (docs/python.md). Nothing else is imported
before `load` is called.

The packages from the top of the layers to the bottom; each may import those below it (`Arrows point down` in
pyproject.toml). The assets and resources of Dagster, in `assets/` and `resources/` beside this package, come after
`definitions`.

    cli            the commands
    main_job       `deid refresh`: the main job from the command line
    ui             Dagster's webserver behind a guard, and the pages on which people review
    service        `deid serve`: notes in by HTTP, redacted notes out
    definitions    every asset, check, job, sensor and schedule of the platform
    oversight      what people who answer for a release read, sign and hand out
    review         people judge removals, decide about quarantined notes and annotate
    doctor         what is missing or wrong on this machine
    bench          what is measured: gold and scores for the gate, detectors side by side, the laboratory
    refresh        the steps of the main job as plain functions
    training       from notes with gold to the folder of a model
    deidentify     from a note to what may be released of it
    warehouse      Postgres, and the gate before what analysts see
    reports        tables, figures and pages of what was measured
    evaluation     formulas: scores, disclosure, what is left of the medicine
    leakcheck      the independent verdict on a redacted note
    redaction      policies, and how spans become redacted text
    corpora        readers of notes and gold, and notes that are made to measure on
    surrogates     keyed names, places, numbers and dates
    engine         a task over many notes: worker processes, machines of a cluster
    detection      documents in, spans out
    llm            language models that are asked
    store          the note store: sealed Parquet files
    orchestration  Dagster at one installation
    settings       deid.toml and the key secret
    keys           keyed identifiers and digests
    large_tables   tables that are too large for dictionaries of Python
    notes          notes, spans, topics and deliveries
    labels         PHI labels, and the crosswalks from other schemes
    lexicon        word lists, and what they say of a word
    languages      codes of languages, and which one a note is in
    text           decoding, folding, tokens, offsets
    runtime        output, warnings and the end of a process
    errors         error codes with their remedies
    extras         which libraries are installed on request
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from os import PathLike

    from deid_platform.deidentify.deidentifier import Deidentifier, TopicFiles
    from deid_platform.notes import Topics

__version__ = "0.1.0"


def load(
    detector: str = "ensemble",
    *,
    topics: Topics | TopicFiles | None = None,
    policy: str | PathLike[str] = "safe_harbor_plus_providers",
    secret_file: str | PathLike[str] | None = None,
    site: str | None = None,
    recognizers: str | PathLike[str] | None = None,
    keep: str | PathLike[str] | None = None,
    chat: str | None = None,
    date_order: str | None = None,
    languages: Collection[str] = (),
) -> Deidentifier:
    """Loads what finds, hides and checks; takes a second or two, and longer with many topics.

    Args:
        detector: A registered detector.
        topics: Patients, providers and facilities, or the files of them by `patients`, `providers` and `facilities`.
        policy: A shipped policy or a path to YAML.
        secret_file: The key secret, for a policy with surrogates; by default that of the environment or of deid.toml.
        site: Whose surrogates; by default deid.toml's site, or `local`.
        recognizers: The site's own recognizers, in YAML (docs/detection.md).
        keep: Phrases that identify nobody at the site, one a line.
        chat: A prompt, by name or file, to the language model of deid.toml; may only add (docs/language-models.md).
        date_order: `dmy` or `mdy`: which of two numbers is the day in a date that is shifted, where the note does not
            tell; by default what deid.toml says.
        languages: Codes of languages of which notes pass too, beside en, es, fr and it, which were measured.

    Raises:
        DeidError: `detector-unknown`, `recognizers-invalid`, `allow-list-invalid`, `settings-invalid` for either with a
            detector that has no use for it, `policy-unknown`, `policy-invalid`, `secret-missing`, `secret-weak`,
            `llm-missing`, `prompt-unknown`, `endpoint-refused`, `input-invalid` for a topic of another name or what is
            no language, and for topics what `workbench.read_topics` raises.
    """
    from deid_platform.deidentify.deidentifier import Deidentifier

    return Deidentifier(detector, topics, policy, secret_file, site, recognizers, keep, chat, date_order, languages)
