"""The catalogue of errors: every code with its meaning and its remedy.

Belongs here: one `Code` for each failure. Does not belong here: any value
that caused the failure. An error carries its code and a reference that is safe to print (a `note_key`,
a delivery, a column, a file's name), so that logs, Dagster and a terminal can show it as it is.

Raise these with `from None` wherever the cause could carry a value: pydantic, pyarrow, `int()`,
`fromisoformat`, `KeyError` and Postgres all print what they choked on.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import Enum

from deid_platform.extras import extra_of


class Code(Enum):
    """Every error code: its stable name, its meaning and its remedy."""

    # Settings and secrets
    SETTINGS_INVALID = (
        "settings-invalid",
        "A key of deid.toml is unknown, missing or of the wrong type; the reference names the key and its line.",
        "Correct that key (docs/configuration.md lists them).",
    )
    HOME_UNUSABLE = (
        "home-unusable",
        "The installation's own folder, `home` of deid.toml, cannot be made, or nothing can be written into it.",
        "Name another folder as `home`, or check who owns the folder and the one above it.",
    )
    SETTINGS_MISSING = (
        "settings-missing",
        "No deid.toml was found in the current folder or above it, or at the given path.",
        "Change to the folder of deid.toml, name it in `DEID_CONFIG`, or write one (docs/configuration.md).",
    )
    SECRET_MISSING = (
        "secret-missing",
        "No key secret is set, so no identifier can be keyed.",
        "Run `deid db bootstrap`, which makes one, or set DEID_SECRET_FILE (or DEID_SECRET) to at least 32 random "
        "bytes.",
    )
    SECRET_WEAK = (
        "secret-weak",
        "A key secret is shorter than 32 bytes, repeats itself, counts up or is a placeholder; the reference names the "
        "variable if it is a former one.",
        "Generate one: `python -c 'import secrets; print(secrets.token_hex(32))'`.",
    )
    SECRET_IN_SETTINGS = (
        "secret-in-settings",
        "deid.toml holds a password or a secret; the reference names the key.",
        "Move it to the environment or to a file (docs/configuration.md), and change it: it has been on disk.",
    )
    PASSWORD_WEAK = (
        "password-weak",
        "A role's password is shorter than 12 characters, its own name, a placeholder or made by a rule; the reference "
        "names the role.",
        "Generate one: `python -c 'import secrets; print(secrets.token_urlsafe(24))'`.",
    )
    LOGIN_INVALID = (
        "login-invalid",
        "A reader's login is not made of lower-case letters, digits and `_`, or is a role that does more than read.",
        "Choose another name, one per person.",
    )
    # Data model
    SPAN_BOUNDS = (
        "span-bounds",
        "A span is empty, reversed or reaches outside its text.",
        "The detector is faulty: report it with the detector's name.",
    )
    LABEL_UNKNOWN = (
        "label-unknown",
        "A label is neither one of the platform's nor one of the label scheme of the gold.",
        "Give a label that docs/policies.md lists, such as PATIENT; gold of another scheme is read with `--scheme`.",
    )
    CORPUS_UNKNOWN = (
        "corpus-unknown",
        "There is no corpus of that name; the reference names the nearest.",
        "See `deid corpora` for those that are known.",
    )
    CORPUS_MISSING = (
        "corpus-missing",
        "The files of a corpus are not there; the reference names the corpus.",
        "Put them into the folder that [corpora] of deid.toml, or DEID_CORPORA, names (docs/corpora.md).",
    )
    CORPUS_UNREAD = (
        "corpus-unread",
        "The identifiers that stand in the notes of this corpus have not been listed, so its gold would not be exact.",
        "Use another corpus; docs/corpora.md says how such a list is made.",
    )
    SURROGATE_FAILED = (
        "surrogate-failed",
        "A carrier could not be filled with surrogates; the reference names the corpus.",
        "Report it with the corpus and the locale: a corpus without some of its notes would flatter.",
    )
    FORMAT_UNKNOWN = (
        "format-unknown",
        "There is no such format, or it is none for this use; the reference names the nearest.",
        "See `deid corpora` for the formats.",
    )
    SCHEME_UNKNOWN = (
        "scheme-unknown",
        "There is no label scheme of that name; the reference names the known ones.",
        "Give one of them as `--scheme`.",
    )
    DELIVERY_NAME = (
        "delivery-name",
        "A delivery's name is not <feed>@<watermark>, with a watermark that orders by time.",
        "Name delivery folders by date (2026-01-05), timestamp (20260105T0600) or number.",
    )
    # Store
    STORE_TORN = (
        "store-torn",
        "A manifest or a part of the note store is missing, truncated or changed since it was sealed.",
        "Materialize the partition again; an incomplete manifest is never trusted. What people said (`review/`, "
        "`annotation/`) nothing makes again: docs/recovery.md says what helps.",
    )
    STORE_ROLLED_BACK = (
        "store-rolled-back",
        "A partition of the note store is older than the newest one that was sealed there, or the record of that is "
        "missing.",
        "Materialize the partition again. After a restore from a backup that you trust, or if heads.json is missing, "
        "run `deid accept-store`: it accepts every partition as the newest.",
    )
    STORE_UNREACHABLE = (
        "store-unreachable",
        "The place where `[store]` keeps notes does not answer, or refuses; the reference is its own word for that, if "
        "it has one. The partition is as it was.",
        "Run `deid doctor`. Check network, bucket, region, the credentials in the environment of this process and what "
        "they allow (docs/configuration.md); then run again.",
    )
    STORE_TAKEN = (
        "store-taken",
        "Another installation writes to this note store, or something else lies there. Nothing was written.",
        "Give this installation a prefix of its own in `store.uri`. If it takes the place of the other one, which is "
        "stopped for good, or if the store was copied there, run `deid accept-store` (docs/recovery.md).",
    )
    STORE_PUBLIC = (
        "store-public",
        "The place where `[store]` keeps notes can be read or listed without credentials. This run has written no note "
        "there.",
        "Close the bucket to the public, then run again; see whether anything in it was read meanwhile.",
    )
    STORE_BEHIND = (
        "store-behind",
        "The warehouse knows a delivery that the note store does not hold, so the store is older: it was restored or "
        "lost. Without that delivery's topics, names could stay in later notes. The reference is the delivery.",
        "Restore a newer backup of the store, or bring that delivery's files back and run `deid refresh`; "
        "`deid doctor` lists what is missing (docs/recovery.md).",
    )
    WAREHOUSE_BEHIND = (
        "warehouse-behind",
        "The note store staged a delivery that the warehouse does not know, so the warehouse is older: it was restored "
        "or lost. What that delivery withdrew or corrected could be shown. The reference is the delivery.",
        "Bring that delivery's files back and run `deid refresh`, or restore a newer backup of the warehouse; "
        "`deid doctor` lists what is missing (docs/recovery.md).",
    )
    STORE_WRITE = (
        "store-write",
        "The note store could not be written (full, read-only or unreachable).",
        "Check space and permissions of the store's folder, then run again.",
    )
    OUTPUT_UNUSABLE = (
        "output-unusable",
        "The output is a folder, is in a folder that does not exist, cannot be opened, or is a pipe without a reader; "
        "or it is to be a folder of files and holds something.",
        "Name a file in a folder that can be written, or /dev/stdout; for a folder of files, a new name.",
    )
    # Corpora
    OUTPUT_FULL = (
        "output-full",
        "The disk, or a quota on it, was full before all of the output was written; none of it was left behind.",
        "Free space, or name a place on another disk, and run it again.",
    )
    FEED_UNKNOWN = (
        "feed-unknown",
        "deid.toml has no feed of that name; the reference names its feeds.",
        "Give one of them, or add [feeds.NAME] to deid.toml (docs/configuration.md).",
    )
    FEED_UNREADABLE = (
        "feed-unreadable",
        "A file, or a delivery's folder, cannot be read at all: it does not exist, is damaged, or has another format.",
        "Check the path and who may read it, or deliver the file again; the reference names the feed, the delivery or "
        "the file's role.",
    )
    FEED_LINK = (
        "feed-link",
        "A delivery's folder is a symbolic link, which could lead to any file that the platform's user may read; the "
        "reference names the feed or the delivery.",
        "Deliver the folder itself; or set `follow_links = true` in [feeds.<name>], if nobody else can make links "
        "there (docs/configuration.md).",
    )
    FEED_EMPTY = (
        "feed-empty",
        "A delivery holds no notes file and no withdrawals, or every row of it was refused.",
        "`deid feed check FOLDER`, with the delivery's folder, names the lines, the reasons and the columns to map.",
    )
    FEED_WRITE = (
        "feed-write",
        "The folder of a feed, into which an archive is split, cannot be written: full or read-only; the reference is "
        "the feed.",
        "Give the platform's user the right to write there (in a container, a mount to write: docs/archive.md), or "
        "space for a second copy of the archive, and run `deid archive` again.",
    )
    ARCHIVE_FORMAT = (
        "archive-format",
        "Only an archive of tables (format `files`) can be split; the reference is the feed.",
        "For a database, set `period` of its feed and leave `initial` out; in other formats, make a folder for each "
        "delivery (docs/feeds.md).",
    )
    ARCHIVE_NAME = (
        "archive-name",
        "The folder of an archive is not named by a day, or is in the feed's own folder, or the feed has a delivery of "
        "that day.",
        "Name it by the last day that it reaches to, such as 2025-12-31, and keep it outside the feed's folder.",
    )
    ARCHIVE_SIZE = (
        "archive-size",
        "An archive has no notes, or so many that it would become more than 500 deliveries; the reference says how "
        "many.",
        "Give a larger number as `--notes`.",
    )
    ARCHIVE_BROKEN = (
        "archive-broken",
        "A file of an archive ends early or cannot be read, a row of withdrawals or rejoinings cannot be "
        "read, or the id of a note stands under two patients; the reference says which.",
        "Deliver the file again, or correct rows and ids: `deid feed check FOLDER --feed NAME` names lines.",
    )
    ARCHIVE_CHANGED = (
        "archive-changed",
        "The files of an archive, or the number of `--notes`, are not those by which it was split.",
        "Put the files back, or give that number again; `deid refresh` continues with what was split. What changed in "
        "the source arrives as a later delivery.",
    )
    FEED_URL = (
        "feed-url",
        "The variable that holds the URL of a feed's database is not set, or what it holds cannot be used; the "
        "reference names the variable and why.",
        "Set it to an SQLAlchemy URL, such as postgresql+psycopg://reader:PASSWORD@host/ehr, or set the same name with "
        "_FILE to a file that holds it, and install the database's driver (docs/feeds-sql.md).",
    )
    FEED_UNREACHABLE = (
        "feed-unreachable",
        "A feed's database does not answer, or the connection was lost; the reference names the feed.",
        "Check the server and the feed's URL; then run again: what was read so far is read anew.",
    )
    FEED_LOGIN = (
        "feed-login",
        "A feed's database refuses the login; the reference names the feed.",
        "Check name and password in the feed's URL, and who may connect from here.",
    )
    FEED_TLS = (
        "feed-tls",
        "No trusted connection to a feed's database: its certificate is expired, another host's or of an unknown "
        "authority, or only one side uses TLS; the reference names the feed.",
        "Renew the certificate, or check sslmode and sslrootcert of the feed's URL.",
    )
    FEED_STATEMENT = (
        "feed-statement",
        "A feed's database refuses to be read; the reference names the feed, the role where it is known, and the "
        "SQLSTATE or the kind of error.",
        "Check the names in tables, queries, schema and watermark of the feed, who may read them, and "
        "`timeout_seconds`; what the database says is withheld, since it may quote values.",
    )
    FEED_TABLE = (
        "feed-table",
        "A table, a view or a column that a feed needs is not there; the reference names the feed, the role and what "
        "is missing.",
        "Correct tables, queries, schema, columns or watermarks of the feed in deid.toml (docs/feeds-sql.md).",
    )
    FEED_WATERMARK = (
        "feed-watermark",
        "Rows of a feed's database have no watermark, so that they belong to no delivery; the reference names the "
        "feed, the role and their number.",
        "Give them the time at which they were written. Until then the feed's first delivery counts them as refused.",
    )
    COLUMN_UNKNOWN = (
        "column-unknown",
        "A file has columns that are neither fields nor mapped to one nor ignored; the reference is the file's role "
        "and those columns.",
        "Map them (`columns` of the feed in deid.toml, or `--columns COLUMN=field`) or leave them out (`ignore`, or "
        "`--columns COLUMN=`); docs/configuration.md lists the fields.",
    )
    TOPIC_INVALID = (
        "topic-invalid",
        "A row of a topic cannot be read, so its names would stay in the notes; the reference is the topic, the line "
        "and the reason.",
        "Correct that line; if the file ends early, get it from its source again.",
    )
    INPUT_EMPTY = (
        "input-empty",
        "A file has no usable content: no row, or gold without a single span; the reference is the file's role, or the "
        "corpus and its part.",
        "Check that it is the right file and that its columns are named as docs/configuration.md says; of a corpus "
        "without a note in that part, name a file for `test` in deid.toml.",
    )
    SCAN_READER_MISSING = (
        "scan-reader-missing",
        "A library or a program that reads scans, or its data of a language, is not installed; the reference names the "
        "package.",
        "Install it: `tesseract-ocr...` is a package of Debian and Ubuntu, the others are Python's (docs/scans.md).",
    )
    DOCUMENT_READER_MISSING = (
        "document-reader-missing",
        "A library that reads mails of Outlook or workbooks is not installed; the reference names its package.",
        "Install the package, or the platform with its extra `office` (docs/feeds-documents.md).",
    )
    OFFSETS_INVALID = (
        "offsets-invalid",
        "The file of date offsets from outside cannot be used: it is another file than the one whose SHA-256 deid.toml "
        "holds, others may read it, or a row is none; the reference says which.",
        "Get the file from whoever drew the offsets, `chmod 600` it, and set `redaction.offsets.sha256` to what "
        "`sha256sum` says (docs/date-offsets.md).",
    )
    OPT_OUTS_UNREADABLE = (
        "opt-outs-unreadable",
        "The list of patients who opted out of research is missing, empty, or has a row that cannot be read.",
        "Restore it, or remove opt_outs from [exclusions] if nobody opted out: no delivery is taken in without it.",
    )
    FEED_MAPPING = (
        "feed-mapping",
        "A column mapping names a field that does not exist, or maps two columns to one field.",
        "Correct `columns` of [feeds.<name>] in deid.toml, or `--columns`; docs/configuration.md lists the fields.",
    )
    TEMPLATE_INVALID = (
        "template-invalid",
        "A template of the synthetic hospital does not parse, or names a pool or slot that does not exist.",
        "Correct the template under corpora/hospital/data; the reference is the token.",
    )
    DICTIONARY_INVALID = (
        "dictionary-invalid",
        "A file of clinical terms does not have the format that deid.toml names; the reference names the file and the "
        "format.",
        "Correct the entry's `format`, or download the file again: one broken row may mean a broken file.",
    )
    RECOGNIZERS_INVALID = (
        "recognizers-invalid",
        "A file of a site's own recognizers is refused as a whole; the reference names the file, the recognizer and "
        "the reason.",
        "Correct that recognizer (docs/detection.md says what each key means); no note is read until then.",
    )
    ALLOW_LIST_INVALID = (
        "allow-list-invalid",
        "An allow list (`detection.keep`, `--keep`) is refused; the reference names the file, the line and the reason.",
        "Correct that line: one phrase of words on each line, and no mere name.",
    )
    # Detection and redaction
    DETECTOR_UNKNOWN = (
        "detector-unknown",
        "No detector of that name is registered.",
        "`deid doctor` lists the detectors.",
    )
    STAGE_UNKNOWN = (
        "stage-unknown",
        "The detector has no stage of that name.",
        "`deid doctor` lists the stages.",
    )
    MODEL_UNUSABLE = (
        "model-unusable",
        "A model's folder lacks a file, holds another than its card names, or has a class that no label scheme knows; "
        "the reference names the file and the class.",
        "Install the package again, export the model again with `deid train`, or save a published one anew"
        " (docs/model.md).",
    )
    TRAINING_ON_TEST = (
        "training-on-test",
        "Notes to train on are notes on which the gate measures; the reference counts them.",
        "Train on other notes: scores on notes that a model was trained on say nothing.",
    )
    EXTRA_MISSING = (
        "extra-missing",
        "A part of the platform that is installed on request is not here; the reference names it.",
        "Install it from the platform's wheel, `pip install './deid_platform-VERSION-py3-none-any.whl[ml]'` for the "
        "extra `ml`, or in a checkout, `pip install -e '.[ml]'` (docs/package.md).",
    )
    CLUSTER_OPEN = (
        "cluster-open",
        "The cluster to join would let anybody in, or lets anybody on the network read notes.",
        "Start it with a token and TLS; give the platform `RAY_AUTH_MODE=token`, the token and `RAY_USE_TLS=1`.",
    )
    CLUSTER_UNREACHABLE = (
        "cluster-unreachable",
        "The cluster does not answer, or none could be started on this machine.",
        "See whether it runs and the token is its own (`ray status`); without `ray.address` one is started here.",
    )
    DEVICE_MISSING = (
        "device-missing",
        "A model is to run on a device that is not here; the reference says what is missing.",
        'Install the extra `ml` on a machine with a card, or set `detection.device = "cpu"`; "cuda-or-cpu" takes what '
        "is there.",
    )
    DEVICE_LOST = (
        "device-lost",
        "The process that runs models on the card, or the language model of [vllm], ended or could not start; nothing "
        "more was read, and the run stopped.",
        "Look at the card's memory (`nvidia-smi`) and run again: what was finished is not done anew.",
    )
    ENDPOINT_REFUSED = (
        "endpoint-refused",
        "The endpoint of a language model is neither on this machine nor a host that is trusted with notes, or it is "
        "not reached safely; the reference says which. Nothing was sent.",
        "Serve the model on a loopback address, or name its host among the allowed ones and use https "
        "(docs/language-models.md).",
    )
    ENDPOINT_FAILED = (
        "endpoint-failed",
        "The server of a language model did not answer for some notes; the reference counts the failures by kind. "
        "Nothing was measured, since that would be of the server.",
        "See that it runs and takes the requests (docs/language-models.md#failures), and run again: answers are kept.",
    )
    LLM_MISSING = (
        "llm-missing",
        "A prompt was named, and no deid.toml in force says which language model it goes to.",
        "Write a section [llm] with `url` and `model` into deid.toml (docs/configuration.md).",
    )
    LLM_SILENT = (
        "llm-silent",
        "A language model gave no answer that could be read to any question; nothing was recorded, since it would read "
        "as if an attack had failed. The reference is the most frequent reason.",
        "Look up the reason in docs/language-models.md, mend it, and measure again.",
    )
    PROMPT_UNKNOWN = (
        "prompt-unknown",
        "There is no prompt of that name for what is asked, and no such file; the reference names the nearest and all "
        "that there are for it.",
        "Name one of those, or a file with a prompt of your own (docs/language-models.md, docs/retention.md).",
    )
    PROMPT_INVALID = (
        "prompt-invalid",
        "A prompt lacks a key, has an unknown or doubled one, not exactly one place for the note in its last message, "
        "or another task than is asked for; the reference names the prompt and the key.",
        "Correct that key (docs/language-models.md says what a prompt holds).",
    )
    PLAN_UNKNOWN = (
        "plan-unknown",
        "There is no plan of the leaderboard of that name, and no such file; the reference names the nearest.",
        "Name a shipped plan, `deid bench --plan papers`, or the path of one's own (docs/evaluation.md).",
    )
    PLAN_INVALID = (
        "plan-invalid",
        "A plan of the leaderboard lacks a key, has an unknown or doubled one, or names a detector, corpus or locale "
        "that there is not; the reference names the key.",
        "Correct that key (docs/evaluation.md shows a plan).",
    )
    PEER_UNKNOWN = (
        "peer-unknown",
        "There is no peer, or no engine of a peer, of that name; the reference names the nearest, or the engines.",
        "Name it as docs/peers.md does: `presidio:spacy:en_core_web_sm=INTERPRETER`.",
    )
    PEER_MISSING = (
        "peer-missing",
        "A peer's interpreter, package or model is not there; the reference names the peer and what is missing.",
        "Install it into an environment of its own (docs/peers.md) and name that environment's interpreter, for "
        "`deid bench` in [peers] of deid.toml.",
    )
    PEER_FAILED = (
        "peer-failed",
        "A peer stopped on a text or answered with something else; the reference names the peer and the failure.",
        "Run it by itself in its environment (docs/peers.md has the versions that were run).",
    )
    DETECTOR_FAILED = (
        "detector-failed",
        "A detector failed on a note; the note is quarantined, never passed through.",
        "See the counts of reasons in the quarantine; reproduce it in the PHI zone with the note's key.",
    )
    CHAT_REFUSED = (
        "chat-refused",
        "The language model of the detector, or a filter behind it, will not answer about a note; the note is "
        "quarantined.",
        "See whether another prompt or model answers (docs/language-models.md#in-the-detector).",
    )
    CHAT_CUT_OFF = (
        "chat-cut-off",
        "The answer of the detector's language model to a note has no end; the note is quarantined.",
        "Serve the model with a longer context and raise `context_length` in deid.toml.",
    )
    CHAT_FORM = (
        "chat-form",
        "The answer of the detector's language model to a note is not of the form that was asked for; the note is "
        "quarantined.",
        "Have the server keep answers to a form (`structured`), or choose another prompt or model.",
    )
    CHAT_STRAYED = (
        "chat-strayed",
        "The detector's language model was to write a note out and wrote something else, or took most of a note for "
        "indirect identifiers; the note is quarantined.",
        "Choose another prompt or model.",
    )
    CHAT_ABSENT = (
        "chat-absent",
        "The detector's language model lists an identifier that is not in the note; the note is quarantined.",
        "Choose another prompt or model; `deid compare` counts how often each does so.",
    )
    CHAT_DEADLINE = (
        "chat-deadline",
        "The detector's language model had no whole answer to a note in time; the note is quarantined.",
        "Run again: answers are kept. Else raise `deadline`, or lower `concurrency`, in [llm] of deid.toml.",
    )
    CHAT_NO_ANSWER = (
        "chat-no-answer",
        "The server of the detector's language model gave no answer to a note; the note is quarantined.",
        "See that it runs and takes the requests (docs/language-models.md#failures), and run again: answers are kept.",
    )
    CHAT_BUDGET = (
        "chat-budget",
        "A note was to be read by the detector's language model and no tokens were left for it; it is quarantined.",
        "Run again, which goes on where this run ended, or raise `budget_tokens` (docs/configuration.md).",
    )
    REDACTION_FAILED = (
        "redaction-failed",
        "Redaction or the leak check failed on a note; the note is withheld, never passed through.",
        "Report it, with an invented note on which it happens too.",
    )
    NOTE_LEAKS = (
        "note-leaks",
        "The leak check found something in a redacted note, which is withheld; the reference is the first kind of "
        "leak.",
        "docs/gate.md says what each kind means. Leave the note out, or give the topics that name its patient.",
    )
    LANGUAGE_UNMEASURED = (
        "language-unmeasured",
        "A note is written, or more than a few sentences of it are, in a language in which the detector was not "
        "measured; it is withheld. The reference names the languages.",
        "Accept the language with `--languages` (from Python `languages`) where you have measured the detector in it; "
        "for a refresh, put gold of it into the folder that [feeds.NAME] `gold` names (docs/gate.md).",
    )
    NOTE_INVALID = (
        "note-invalid",
        "A note's text is empty or too long, or holds a NUL or an unpaired surrogate code point; the reference is the "
        "reason.",
        "Leave the note out, or correct it at its source.",
    )
    POLICY_UNKNOWN = (
        "policy-unknown",
        "No shipped policy has that name, and no file is at that path.",
        "`deid doctor` lists the policies.",
    )
    POLICY_INVALID = (
        "policy-invalid",
        "A policy leaves a label without an action, names an unknown one, keeps a direct identifier, has the name of a "
        "shipped policy, or hides indirect identifiers where nothing tags them; the reference names the key.",
        "Give every label an action, and the policy a name of its own (docs/policies.md).",
    )
    # Warehouse and gate
    WAREHOUSE_UNREACHABLE = (
        "warehouse-unreachable",
        "The warehouse does not answer, or the connection was lost; unfinished work is rolled back.",
        "Check DEID_WAREHOUSE_URL, or start the embedded server with `deid db bootstrap`; then run again.",
    )
    WAREHOUSE_LOGIN = (
        "warehouse-login",
        "The warehouse refuses this role's login: wrong or missing password, or a rule of pg_hba.conf; the reference "
        "names the role.",
        "Check DEID_PASSWORD_<ROLE> and pg_hba.conf; `deid db bootstrap` sets the passwords from the environment "
        "again.",
    )
    WAREHOUSE_TLS = (
        "warehouse-tls",
        "No trusted connection: the certificate is expired, is another host's or is signed by an unknown authority, "
        "or only one side uses TLS.",
        "Renew the certificate, or check sslmode and sslrootcert of DEID_WAREHOUSE_URL.",
    )
    WAREHOUSE_FULL = (
        "warehouse-full",
        "The warehouse has no disk space, memory or connection left; unfinished work is rolled back.",
        "Free resources, then run again.",
    )
    WAREHOUSE_BUSY = (
        "warehouse-busy",
        "The warehouse waited too long for a lock that another session holds, or two sessions waited for each other.",
        "Run again. If the error recurs, look for a session that is idle in a transaction (pg_stat_activity).",
    )
    WAREHOUSE_STATEMENT = (
        "warehouse-statement",
        "Postgres refused a statement; the reference is its SQLSTATE.",
        "Look the SQLSTATE up; the server's detail is withheld because it carries values.",
    )
    WAREHOUSE_NOT_READY = (
        "warehouse-not-ready",
        "Roles or migrations are missing.",
        "Run `deid db bootstrap`.",
    )
    FEED_NOT_DEMONSTRATION = (
        "feed-not-demonstration",
        "The embedded server trusts its socket and is meant for demonstration data; this feed is not marked as that.",
        "Set DEID_WAREHOUSE_URL to a real server, or mark the feed `demonstration = true`.",
    )
    GATE_REFUSED = (
        "gate-refused",
        "A requirement of the gate failed or was not measured; the reference names each with its figures.",
        "`deid gate DELIVERY` shows what to do next: correct it, or let the privacy officer record a waiver.",
    )
    GATE_UNKNOWN_DELIVERY = (
        "gate-unknown-delivery",
        "Nothing of that delivery is staged yet.",
        "Run `deid refresh --delivery DELIVERY`, or materialize gate/delivery.",
    )
    DELIVERY_UNKNOWN = (
        "delivery-unknown",
        "No feed has a delivery of that name.",
        "Correct the name (`deid summary` lists what is staged); `deid waive --ahead` accepts a delivery that has not "
        "arrived yet.",
    )
    REQUIREMENT_UNKNOWN = (
        "requirement-unknown",
        "The gate has no requirement of that name.",
        "Correct the name; `deid gate DELIVERY` shows the requirements (docs/gate.md).",
    )
    WAIVER_INVALID = (
        "waiver-invalid",
        "A waiver and every other decision needs a name and a reason of at least ten characters; a waiver also needs "
        "a last day in the future and a requirement that may be waived. The reference names what is wrong.",
        "Correct --who, --why or --until; a requirement that nobody may waive has to be met (`deid gate DELIVERY`).",
    )
    WAIVER_UNKNOWN = (
        "waiver-unknown",
        "No waiver of that number is in force.",
        "`deid waivers` lists them with their numbers.",
    )
    SUITE_INVALID = (
        "suite-invalid",
        "A suite of expectations has an unknown key, type, argument or figure; the reference names it.",
        "Correct the file under deid_platform/warehouse/gate/suites.",
    )
    RELEASE_CONFLICT = (
        "release-conflict",
        "A release would mix detectors, policies or keys, or would lose deliveries that the active one has.",
        "Use a release of its own for each combination; promote every delivery into it before it is activated.",
    )
    RELEASE_DATES = (
        "release-dates",
        "Under the same secret there is or was a release with another class of dates (true, shifted by weeks, shifted "
        "within the season, year or none). "
        "Keys of patients and notes are the same in both, so one would reveal the date shifts of the other.",
        "Return to a policy of the former class. Another secret lets the new one in, but does not separate the two for "
        "readers who keep the former texts: unchanged text links the notes of both (docs/releases.md).",
    )
    DOSSIER_UNKNOWN = (
        "dossier-unknown",
        "This dossier is not the newest one of any release: it was not written here, was changed since, or a newer one "
        "of its release was written.",
        "Write it anew with `deid dossier write`, read it, and sign that file.",
    )
    DOSSIER_UNSIGNED = (
        "dossier-unsigned",
        "The profile shows a release only once its dossier is signed as fit, and until its day of reassessment.",
        "Write the dossier with `deid dossier write RELEASE`, read it, and sign it with `deid dossier sign`.",
    )
    HELD_OUT_REFUSED = (
        "held-out-refused",
        "A figure names no look of its detector at its gold, or a held-out set is known with other figures; the "
        "reference says what is wrong: `look`, `set`, `gold`, `spans`, `notes` or `purpose`.",
        "Measure again (`deid refresh`): the set is sealed and the look counted before any figure is recorded.",
    )
    DOSSIER_KEY = (
        "dossier-key",
        "The officer's key cannot be used: the file is missing, is no Ed25519 key in PEM, or its password is wrong.",
        "Name it with --key; `deid dossier key FILE` makes one. At a terminal its password is asked for, elsewhere "
        "DEID_OFFICER_KEY_PASSWORD holds it.",
    )
    SIGNATURE_INVALID = (
        "signature-invalid",
        "A signature does not belong to this dossier, to its text or to the key that was named, or its key is no "
        "signer's, or that of a signer of another name (`who`).",
        "Get dossier and signature again from whoever signed them; do not rely on this file. The administrator names a "
        "new key: `deid dossier signer`.",
    )
    RELEASE_UNKNOWN = (
        "release-unknown",
        "There is no release of that name, or none before the active one.",
        "`deid release list` lists them.",
    )
    FINDING_INVALID = (
        "finding-invalid",
        "No release holds a note with that key, or the span is not within its text or is longer than 200 characters.",
        "Give the key and the offsets (code points, end exclusive) as research.notes shows them. Hide a note with more"
        " in it by `deid retract --whole`.",
    )
    FINDING_COMMON = (
        "finding-common",
        "The string is in more notes than are hidden without asking. The reported note is hidden, the others are "
        "still shown. The reference is the number of notes that hold the string.",
        "Run the same command at a terminal, which asks, or with --hide and that number if it is an identifier in all "
        "of them.",
    )
    FINDING_UNKNOWN = (
        "finding-unknown",
        "No finding of that number is in force.",
        "`deid finding list` lists them with their numbers.",
    )
    MARK_UNKNOWN = (
        "mark-unknown",
        "No mark of a missed identifier of that name waits for an officer in that note: it is shown no more, or the "
        "mark was taken back or dismissed.",
        "`deid finding marks` lists those that wait.",
    )
    SECOND_PERSON = (
        "second-person",
        "Two people have to say so, by two logins: to withdraw a finding, or to show of a quarantined note what one "
        "may not show alone. Names that differ only in case, spaces, punctuation or accents are one name.",
        "Let somebody else run the same command, or decide the same at the desk, with their own name and reason.",
    )
    PROJECT_UNKNOWN = (
        "project-unknown",
        "There is no project of that name.",
        "`deid project list` lists the projects; `deid project set` makes one.",
    )
    GRANT_UNKNOWN = (
        "grant-unknown",
        "No feed and no note has that site or note type, or the project has no such grant to remove.",
        "Correct it: sites and note types are those of deid.toml, grants those of `deid project list`.",
    )
    MEMBER_UNKNOWN = (
        "member-unknown",
        "There is no reader's login of that name, or it is not a member of the project.",
        "`deid db login` makes a login; `deid project list` lists a project's members.",
    )
    GRANT_ENDED = (
        "grant-ended",
        "The project's last day is over, or it was granted no notes; the reference says which.",
        "Ask the privacy officer for another last day or a grant (`deid project set`, `deid project grant`).",
    )
    NOTHING_RELEASED = (
        "nothing-released",
        "Analysts see no release yet, so there is nothing to extract.",
        "Run `deid refresh`; `deid release list` shows which release waits for what.",
    )
    EXTRACT_UNKNOWN = (
        "extract-unknown",
        "The ledger has no such extract, or its manifest is not the one that was recorded.",
        "See `deid extract list`. Files that the ledger does not know are not to be used.",
    )
    EXTRACT_REFUSED = (
        "extract-refused",
        "An extract would hold no notes, or be the second of one transaction, or the login has made 100 within an "
        "hour; the reference says which. No file is left.",
        "Without notes: `deid project list` shows what the project may read. Else wait, and make fewer of them.",
    )
    EXTRACT_DAMAGED = (
        "extract-damaged",
        "A folder is no extract, or a file of it is missing, changed or not in the manifest, or holds other notes than "
        "the ledger has recorded; the reference names it.",
        "Delete the folder and make the extract again.",
    )
    EXTRACT_STALE = (
        "extract-stale",
        "An extract may not be used as it is: notes of it were hidden since, its release was withheld or has "
        "expired, or its grant ended; the reference says which.",
        "Delete it and everything made from it that holds its notes; where the grant lasts, make a new one. Then "
        "`deid extract destroyed NUMBER` (docs/releases.md).",
    )
    EXTRACT_OVERTAKEN = (
        "extract-overtaken",
        "While an extract was written, notes of it were hidden, or its grant or release ended; no file is left.",
        "Run `deid extract` again. The ledger keeps the attempt: `deid extract destroyed NUMBER`.",
    )
    NOT_MATERIALIZED = (
        "not-materialized",
        "What a step reads is missing, or something that it is made of has been made anew since; the reference names "
        "what has to be made first.",
        "Materialize that asset of the same delivery, or run the whole job (`deid refresh`).",
    )
    REFRESH_RUNNING = (
        "refresh-running",
        "Another process is refreshing this installation; two refreshes would disturb each other.",
        "Wait until it has ended, or run `deid refresh --wait`.",
    )
    INSTANCE_WRITE = (
        "instance-write",
        "Dagster's own storage, which keeps runs and their events, cannot be written: full, read-only or locked.",
        "Check space and permissions of <home>/dagster (or Dagster's database), then run again: it continues from "
        "there.",
    )
    PORT_UNUSABLE = (
        "port-unusable",
        "The port for the UI is in use, or this user may not open it; the reference is its number.",
        "Choose another, such as `deid ui --port 3001`, or stop the process that uses it, perhaps another `deid ui`.",
    )
    RUN_CONFIG_REFUSED = (
        "run-config-refused",
        "A run was launched with a configuration; the only one allowed is the console's log level.",
        "Launch it without configuration. All settings are in deid.toml.",
    )
    # The service
    SERVICE_OPEN = (
        "service-open",
        "`deid serve` would listen beyond this machine, and anybody who reaches it could ask: no token is set.",
        "Give it tokens (`--tokens FILE`, docs/serve.md), or leave `--host` out.",
    )
    TOKENS_INVALID = (
        "tokens-invalid",
        "The tokens of the service cannot be used; the reference is the line and the reason.",
        "One line a client, `name:token`, each name and token once, a token of at least 32 characters: "
        "`python -c 'import secrets; print(secrets.token_urlsafe(32))'`.",
    )
    TOKEN_REFUSED = (
        "token-refused",
        "The request has no token that the service knows.",
        "Send `Authorization: Bearer TOKEN` with one of the service's tokens.",
    )
    REQUEST_INVALID = (
        "request-invalid",
        "The service cannot read a request, or a line of a stream; the reference says what is wrong.",
        "Send what `/docs` of the service shows.",
    )
    REQUEST_TOO_LARGE = (
        "request-too-large",
        "A request, or a line of a stream, is longer than the service takes; the reference is the limit.",
        "Send fewer notes at a time, or a stream; `deid serve --max-bytes` sets the limit.",
    )
    REQUEST_SLOW = (
        "request-slow",
        "The client sent nothing, or took no answer, for longer than the service waits.",
        "Send without pauses; read answers while sending (docs/serve.md).",
    )
    SERVICE_BUSY = (
        "service-busy",
        "As many requests wait as the service holds.",
        "Ask again after the seconds of `Retry-After`; a stream waits by itself.",
    )
    SERVICE_STARTING = (
        "service-starting",
        "The service has not loaded its model yet.",
        "Ask again when `/readyz` says ready.",
    )
    DEADLINE_PASSED = (
        "deadline-passed",
        "Notes were not read within the service's limit of time, and the process that read them was ended.",
        "Send fewer or shorter notes at a time; `deid serve --seconds` sets the limit. The note gets no text.",
    )
    WORKER_LOST = (
        "worker-lost",
        "The process that read a note ended twice on it, so the note gets no text.",
        "Check the machine's memory; report the note's kind if only such notes do it.",
    )
    RESOURCE_WITHHELD = (
        "resource-withheld",
        "A FHIR resource is not answered; the reference says why.",
        "docs/serve.md lists what is taken and why a resource is withheld.",
    )
    # Evaluation
    GOLD_MISSING = (
        "gold-missing",
        "No gold spans are configured or found for this measurement.",
        "Set [feeds.<name>].gold to their folder, or let the bench use the synthetic hospital.",
    )
    GOLD_INVALID = (
        "gold-invalid",
        "A line of the gold is invalid; the reference is the line and the reason.",
        'Correct that line: {"note_id": ..., "text": ..., "spans": [[start, end, label], ...]}, offsets in characters '
        "from 0, end exclusive, inside the text.",
    )
    PLACEHOLDERS_UNFILLED = (
        "placeholders-unfilled",
        "The gold marks placeholders, such as `[**Last Name**]` or `___` of MIMIC: no identifiers stand in these "
        "notes, so that nothing can be measured on them or learned from them.",
        "Fill them first: `deid corpora fill mimic OUT`, with the notes as a corpus of deid.toml (docs/corpora.md), "
        "and name the gold in OUT.",
    )
    SPANS_INVALID = (
        "spans-invalid",
        "A line of the file of --spans is invalid; the reference is the line and the reason.",
        'Correct that line: {"note_id": ..., "spans": [[start, end, label], ...]}, offsets in characters (code points) '
        "from 0, end exclusive, inside the text. Another detector may count bytes or UTF-16 units.",
    )
    SPANS_MISSING = (
        "spans-missing",
        "Notes have no line in the file of --spans, so they were not searched; the reference is their number.",
        "Give each note a line, with an empty list of spans (`[]`) where nothing was found; check that both files use "
        "the same ids.",
    )
    RELEASED_INVALID = (
        "released-invalid",
        "A row of the file of --released cannot be used or is of no original; the reference is the row and the reason.",
        'Correct that row: {"note_id": ..., "text": ...}, one for each note, with the ids of the originals. A note '
        "that was withheld has no row.",
    )
    # Annotation by people
    ROUND_UNKNOWN = (
        "round-unknown",
        "No notes were handed out in that round of annotation; the reference names the rounds that there are.",
        "Give one of them, or begin a round with `deid annotate export`.",
    )
    ANNOTATION_INCOMPLETE = (
        "annotation-incomplete",
        "Notes of a round lack an annotator or an adjudication; gold without them would hold the easy notes alone. "
        "The reference is their number.",
        "`deid annotate agreement` says which step they wait for; an adjudicator may skip a note to leave it out.",
    )
    REVIEW_UNKNOWN = (
        "review-unknown",
        "No removals were drawn in that round of review; the reference names the rounds that there are.",
        "Give one of them, or draw a round with `deid review start`.",
    )
    DECISION_INVALID = (
        "decision-invalid",
        "A decision on a removal is not one of those that there are; the reference says what is wrong.",
        "A removal of the round, one of the five categories, and a severity for a clinically relevant one alone.",
    )
    REVIEW_ROLE = (
        "review-role",
        "A review file, or a row of it, was not written for the round and the role that it is imported as; the "
        "reference says which row, and for whom it was written. As another reader's, it would look like agreement.",
        "Import it with the --as and --round that it was exported with. Where `written_for` was lost, export again and "
        "copy the answers over.",
    )
    MARK_INVALID = (
        "mark-invalid",
        "A mark of a missed identifier is not one that a round takes; the reference says what is wrong.",
        "A removal of the round, words of the text shown with it that are not hidden already, a label, and a severity.",
    )
    DECISIONS_ALTERED = (
        "decisions-altered",
        "The decisions of a round in the note store are not those that the ledger has; the reference names the round "
        "and the role. Somebody changed them, or the store or the database was put back to an older state.",
        "Restore both from backups of one time (docs/recovery.md); the ledger's rows are in ctl.removal_decision and "
        "ctl.missed_identifier.",
    )
    RULING_REFUSED = (
        "ruling-refused",
        "A decision on a quarantined note cannot be kept; the reference says why: the note has changed or is not in "
        "the queue any more, the leak check still finds something, a span does not fit, or the reason quotes the note.",
        "Load the page again; hide what the leak check names; give a reason without words that the note hides.",
    )
    # Anything else
    INTERNAL = (
        "internal-error",
        "An unexpected failure; the reference says where. The rest is withheld: it may quote a note.",
        "Report it with the reference. `DEID_DEBUG=1`, in the PHI zone only, shows the whole error.",
    )
    # Surrogates
    LOCALE_UNKNOWN = (
        "locale-unknown",
        "There is no locale of that name; the reference names the nearest one and all of them.",
        "Name one of these.",
    )
    # Command line
    INPUT_INVALID = (
        "input-invalid",
        "An argument cannot be used; the reference says which and why.",
        "Give another file or number: the output must differ from every input, and no file may change while it is "
        "read.",
    )

    def __init__(self, slug: str, meaning: str, remedy: str) -> None:
        self.slug = slug
        self.meaning = meaning
        self.remedy = remedy

    @property
    def transient(self) -> bool:
        """Whether the same step may succeed a moment later, with nothing mended: infrastructure was away or busy."""
        return self in (
            Code.WAREHOUSE_UNREACHABLE,
            Code.WAREHOUSE_BUSY,
            Code.FEED_UNREACHABLE,
            Code.STORE_UNREACHABLE,
        )


class DeidError(Exception):
    """A failure with a code and a safe reference, and nothing else.

    Args:
        code: What happened.
        ref: Where, in terms that identify nobody: a note_key, a delivery, a column, a file's role.
    """

    def __init__(self, code: Code, ref: str | None = None) -> None:
        self.code = code
        self.ref = ref
        super().__init__(code.slug, ref)

    def __str__(self) -> str:
        where = f" [{self.ref}]" if self.ref else ""
        return f"{self.code.slug}{where}: {self.code.meaning} {self.code.remedy}"

    def __reduce__(self) -> tuple[type[DeidError], tuple[Code, str | None]]:
        # Worker processes send their errors back by pickle.
        return (DeidError, (self.code, self.ref))


def did_you_mean(given: str, known: Iterable[str], *, listed: bool = True) -> str:
    """The reference of a name that is mistyped: the nearest known one, and all of them where that is safe to print.

    Args:
        given: What was typed; it is not repeated.
        known: The names that there are.
        listed: Whether all of them may be shown.
    """
    names = sorted(known)
    folded = {name.casefold(): name for name in names}
    nearest = [folded[name] for name in get_close_matches(given.casefold(), folded, n=1)]
    said = [f"did you mean {name}?" for name in nearest]
    if listed:
        said.append(f"known: {', '.join(names) or 'none'}")
    return " ".join(said) or "no name like it"


def internal(error: BaseException) -> DeidError:
    """An error without a code as one with a code: its type and where it was raised, and nothing that it says.

    That a library is missing which belongs to an extra has a code.
    """
    if isinstance(error, ModuleNotFoundError) and (extra := extra_of(error.name)):
        return DeidError(Code.EXTRA_MISSING, extra)
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_code.co_qualname}:{frame.tb_lineno}" if frame else "?"
    return DeidError(Code.INTERNAL, f"{type(error).__name__} in {where}")


def catalogue_markdown() -> str:
    """The catalogue as the page docs/errors.md shows it."""
    rows = "\n".join(f"| `{c.slug}` | {c.meaning} | {c.remedy} |" for c in Code)
    return (
        "# Errors\n\n"
        "Every failure has a code, and a reference that identifies nobody. "
        "No message holds a value of a note, a topic or a secret.\n\n"
        "| code | meaning | what to do |\n| --- | --- | --- |\n" + rows + "\n"
    )
