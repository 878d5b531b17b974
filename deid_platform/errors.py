"""The catalogue of failures that may cross from one room to another.

Belongs here: one `Code` a failure, with what it means and what to do. Does not belong here: any value
that caused the failure. An error carries its code and a reference that is safe to print (a `note_key`,
a delivery, a column, a file's name), so that logs, Dagster and a terminal can show it as it is.

Raise these with `from None` wherever the cause could carry a value: pydantic, pyarrow, `int()`,
`fromisoformat`, `KeyError` and Postgres all print what they choked on.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import Enum


class Code(Enum):
    """Every error code: its stable name, its meaning and its remedy."""

    # Settings and secrets
    SETTINGS_INVALID = (
        "settings-invalid",
        "A key of deid.toml is unknown, missing or of the wrong type; the reference names the key and its line.",
        "Correct that key (docs/configuration.md lists them).",
    )
    SETTINGS_MISSING = (
        "settings-missing",
        "No deid.toml was found where it was looked for.",
        "Run `deid hospital` for a demonstration, or write a deid.toml (docs/configuration.md).",
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
        "A reader's login has another form than lower-case letters, digits and `_`, or is a role that does more than "
        "read.",
        "Choose another name, one a person.",
    )
    # Data model
    SPAN_BOUNDS = (
        "span-bounds",
        "A span is empty, reversed or reaches outside its text.",
        "A detector is faulty: report it with the detector's name.",
    )
    LABEL_UNKNOWN = (
        "label-unknown",
        "A label is not one of the platform's, nor of the scheme that the gold is read by.",
        "Give a label that docs/policies.md lists, such as PATIENT; gold of another scheme is read with `--scheme`.",
    )
    SCHEME_UNKNOWN = (
        "scheme-unknown",
        "There is no label scheme of that name; the reference names those there are.",
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
        "A manifest or a part of the note store is missing, truncated or not what was sealed.",
        "Materialize the partition again; its manifest is never trusted half-written.",
    )
    STORE_ROLLED_BACK = (
        "store-rolled-back",
        "A partition of the note store is older than what was sealed there last, or the record of that is gone.",
        "Materialize the partition again. After a restore from a backup that you trust, or where heads.json itself is "
        "gone, run `deid accept-store`: it takes what is there for the newest.",
    )
    STORE_WRITE = (
        "store-write",
        "The note store could not be written (full, read-only or unreachable).",
        "Check space and permissions of the store's folder, then run again.",
    )
    OUTPUT_UNUSABLE = (
        "output-unusable",
        "The output is a folder, lies in a folder that is not there, cannot be opened, or is a pipe that nobody reads.",
        "Name a file in a folder that can be written, or /dev/stdout.",
    )
    # Corpora
    FEED_UNKNOWN = (
        "feed-unknown",
        "deid.toml has no feed of that name; the reference names those it has.",
        "Give one of them, or add [feeds.NAME] to deid.toml (docs/configuration.md).",
    )
    FEED_UNREADABLE = (
        "feed-unreadable",
        "A file, or a delivery's folder, cannot be read at all: it is not there, is damaged, or is not of that format.",
        "Check the path and who may read it, or deliver the file again; the reference names the feed, the delivery or "
        "the file's role.",
    )
    FEED_EMPTY = (
        "feed-empty",
        "A delivery holds no notes file and no withdrawals, or every row of it was refused.",
        "`deid feed check FOLDER`, with the delivery's folder, names the lines, the reasons and the columns to map.",
    )
    COLUMN_UNKNOWN = (
        "column-unknown",
        "A file has columns that are no field, are not mapped to one and are not ignored; the reference is its role "
        "and those columns.",
        "Map them (`columns` of the feed in deid.toml, or `--columns COLUMN=field`) or leave them out (`ignore`, or "
        "`--columns COLUMN=`); docs/configuration.md lists the fields.",
    )
    TOPIC_INVALID = (
        "topic-invalid",
        "A row of a topic cannot be read, so that the names in it would stay in the notes; the reference is the topic, "
        "the line and the reason.",
        "Correct that line, and take the file again from its source if it ends early.",
    )
    INPUT_EMPTY = (
        "input-empty",
        "A file holds nothing to work on: no row, or gold without a single span; the reference is its role.",
        "Check that it is the file that was meant and that its columns are named as docs/configuration.md says.",
    )
    OPT_OUTS_UNREADABLE = (
        "opt-outs-unreadable",
        "The list of patients who opted out of research is missing, empty, or has a row that cannot be read.",
        "Restore it, or remove opt_outs from [exclusions] if nobody opted out: nothing is taken in without it.",
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
        "A file of clinical terms is not of the format that deid.toml says; the reference names it and the format.",
        "Correct the entry's `format`, or fetch the release again: one broken row may mean a broken file.",
    )
    RECOGNIZERS_INVALID = (
        "recognizers-invalid",
        "A file of a site's own recognizers cannot be used as a whole; the reference names the file, the recognizer "
        "and the reason.",
        "Correct that recognizer (docs/detection.md says what each key means); nothing is read without it.",
    )
    ALLOW_LIST_INVALID = (
        "allow-list-invalid",
        "An allow list (`detection.keep`, `--keep`) cannot be used; the reference names the file, the line and the "
        "reason.",
        "Correct that line: a phrase is of words alone, one a line, and no name by itself.",
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
    DETECTOR_FAILED = (
        "detector-failed",
        "A detector raised on a note; the note is quarantined, never passed through.",
        "See the quarantine's reason counts; reproduce on the PHI side with the note's key.",
    )
    REDACTION_FAILED = (
        "redaction-failed",
        "Redaction or the leak check raised on a note; the note is withheld, never passed through.",
        "Report it, with a made-up note on which it happens too.",
    )
    NOTE_LEAKS = (
        "note-leaks",
        "The leak check found something in a redacted note, which is withheld; the reference is the first kind of "
        "leak.",
        "docs/gate.md says what each kind means. Leave the note out, or give the topics that name its patient.",
    )
    NOTE_INVALID = (
        "note-invalid",
        "A note's text is empty or too long, or holds a NUL or half a surrogate pair; the reference is the reason.",
        "Leave the note out, or correct it at its source.",
    )
    POLICY_UNKNOWN = (
        "policy-unknown",
        "No redaction policy of that name ships with the platform or lies at that path.",
        "`deid doctor` lists the policies.",
    )
    POLICY_INVALID = (
        "policy-invalid",
        "A policy leaves a label without an action, names an unknown one, keeps a direct identifier, or bears the name "
        "of a shipped policy; the reference names the key.",
        "Give every label an action, and the policy a name of its own (docs/policies.md).",
    )
    # Warehouse and gate
    WAREHOUSE_UNREACHABLE = (
        "warehouse-unreachable",
        "The warehouse does not answer, or went away in the middle; what had begun is undone.",
        "Check DEID_WAREHOUSE_URL, or start the embedded server with `deid db bootstrap`; then run again.",
    )
    WAREHOUSE_LOGIN = (
        "warehouse-login",
        "The warehouse does not let this role in: wrong or missing password, or pg_hba.conf refuses it; the reference "
        "names the role.",
        "Check DEID_PASSWORD_<ROLE> and pg_hba.conf; `deid db bootstrap` sets the passwords of the environment anew.",
    )
    WAREHOUSE_TLS = (
        "warehouse-tls",
        "No trusted connection: the certificate is expired, another host's or signed by an authority not known here, "
        "or one side insists on TLS and the other has none.",
        "Renew the certificate, or check sslmode and sslrootcert of DEID_WAREHOUSE_URL.",
    )
    WAREHOUSE_FULL = (
        "warehouse-full",
        "The warehouse has no disk space, memory or connection left; what had begun is undone.",
        "Make room, then run again.",
    )
    WAREHOUSE_BUSY = (
        "warehouse-busy",
        "The warehouse waited too long for a lock that another session holds, or two sessions waited for each other.",
        "Run again. If it says so again, look for a session that is idle in a transaction (pg_stat_activity).",
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
        "The embedded server trusts its socket and is meant for demonstration data; this feed is not marked as such.",
        "Set DEID_WAREHOUSE_URL to a real server, or mark the feed `demonstration = true`.",
    )
    GATE_REFUSED = (
        "gate-refused",
        "A requirement of the gate failed or was not measured; the reference names each with its figures.",
        "`deid gate DELIVERY` shows what to do next: mend it, or let the privacy officer record a waiver.",
    )
    GATE_UNKNOWN_DELIVERY = (
        "gate-unknown-delivery",
        "Nothing of that delivery is staged yet.",
        "Run `deid refresh --delivery DELIVERY`, or materialize gate/delivery.",
    )
    DELIVERY_UNKNOWN = (
        "delivery-unknown",
        "No feed has brought a delivery of that name.",
        "Correct the name (`deid summary` lists what is staged); `deid waive --ahead` takes one that is yet to come.",
    )
    REQUIREMENT_UNKNOWN = (
        "requirement-unknown",
        "The gate has no requirement of that name.",
        "Correct the name; `deid gate DELIVERY` shows the requirements (docs/gate.md).",
    )
    WAIVER_INVALID = (
        "waiver-invalid",
        "Whoever answers for it gives a name and a reason of at least ten characters; a waiver also needs a last "
        "day ahead and a requirement that may be waived. The reference names what is wrong.",
        "Correct --who, --why or --until; a requirement that nobody may waive has to be met (`deid gate DELIVERY`).",
    )
    WAIVER_UNKNOWN = (
        "waiver-unknown",
        "No waiver of that number is in force.",
        "`deid waivers` lists them with their numbers.",
    )
    SUITE_INVALID = (
        "suite-invalid",
        "A suite of expectations has a key, type, argument or figure that does not exist; the reference names it.",
        "Correct the file under deid_platform/warehouse/suites.",
    )
    RELEASE_CONFLICT = (
        "release-conflict",
        "A release would mix detectors, policies or keys, or would lose deliveries that the active one has.",
        "Give each combination a release of its own; promote every delivery into it before it is activated.",
    )
    RELEASE_DATES = (
        "release-dates",
        "Under the same secret there is or was a release with another class of dates (true, shifted, year or none): "
        "keys of patients and notes are the same in both, so that one would tell how far the other's dates were moved.",
        "Rotate the key secret first (docs/releases.md), or go back to a policy of the former class.",
    )
    RELEASE_UNKNOWN = (
        "release-unknown",
        "There is no release of that name, or none before the one that analysts see.",
        "`deid release list` names them.",
    )
    FINDING_INVALID = (
        "finding-invalid",
        "No release holds a note of that key, or the span does not lie within its text.",
        "Give the key and the offsets (code points, end exclusive) as research.notes shows them.",
    )
    FINDING_COMMON = (
        "finding-common",
        "The string stands in more notes than are hidden without asking. The reported note is hidden, the others that "
        "hold it are still shown. The reference tells how many notes hold it.",
        "Run the same command at a terminal, which asks, or with --hide and that number if it is an identifier in all.",
    )
    FINDING_UNKNOWN = (
        "finding-unknown",
        "No finding of that number is in force.",
        "`deid finding list` lists them with their numbers.",
    )
    SECOND_PERSON = (
        "second-person",
        "Whoever proposed to withdraw a finding cannot withdraw it too, nor can the same login. Names that differ in "
        "case, blanks, signs or accents alone are one name.",
        "Let somebody else run the same command with their own name and reason.",
    )
    PROJECT_UNKNOWN = (
        "project-unknown",
        "There is no project of that name.",
        "`deid project list` names them; `deid project set` makes one.",
    )
    GRANT_UNKNOWN = (
        "grant-unknown",
        "No feed names that site or note type and no note has it, or the project has no such grant to take back.",
        "Correct it: sites and note types are those of deid.toml, grants those of `deid project list`.",
    )
    MEMBER_UNKNOWN = (
        "member-unknown",
        "There is no reader's login of that name, or it does not belong to the project.",
        "`deid db login` makes a login; `deid project list` names a project's members.",
    )
    NOT_MATERIALIZED = (
        "not-materialized",
        "A step was started before the one that it reads from; the reference names what is missing.",
        "Materialize the upstream asset of the same delivery first, or run the whole job (`deid refresh`).",
    )
    REFRESH_RUNNING = (
        "refresh-running",
        "Another process is refreshing this installation; two at once would get in each other's way.",
        "Wait until it has ended, or let `deid refresh --wait` do so.",
    )
    INSTANCE_WRITE = (
        "instance-write",
        "Dagster's own storage, which keeps runs and their events, cannot be written: full, read-only or locked.",
        "Check space and permissions of <home>/dagster (or Dagster's database), then run again: it goes on from there.",
    )
    PORT_UNUSABLE = (
        "port-unusable",
        "The port for the UI is in use, or may not be opened by this user; the reference is its number.",
        "Name another, such as `deid ui --port 3001`, or stop what uses it: another `deid ui`, perhaps.",
    )
    RUN_CONFIG_REFUSED = (
        "run-config-refused",
        "A run was launched with a configuration of its own; the only one allowed is the console's log level.",
        "Launch it without configuration. What can be set is set in deid.toml.",
    )
    # Evaluation
    GOLD_MISSING = (
        "gold-missing",
        "No gold spans are configured or found for this measurement.",
        "Point [feeds.<name>].gold at them, or let the bench use the synthetic hospital.",
    )
    GOLD_INVALID = (
        "gold-invalid",
        "A line of the gold cannot be used; the reference is the line and the reason.",
        'Correct that line: {"note_id": ..., "text": ..., "spans": [[start, end, label], ...]}, offsets in characters '
        "from 0, end exclusive, inside the text.",
    )
    SPANS_INVALID = (
        "spans-invalid",
        "A line of the file of --spans cannot be used; the reference is the line and the reason.",
        'Correct that line: {"note_id": ..., "spans": [[start, end, label], ...]}, offsets in characters (code points) '
        "from 0, end exclusive, inside the text. Another detector may count bytes or UTF-16 units.",
    )
    SPANS_MISSING = (
        "spans-missing",
        "A note has no line in the file of --spans, so that nobody looked at it; the reference is how many have none.",
        "Give each note a line, without spans (`[]`) where nothing was found; check that both files use the same ids.",
    )
    # Anything else
    INTERNAL = (
        "internal-error",
        "Something failed that should not have; the reference says where. The rest is withheld: it may quote a note.",
        "Report it with the reference. `DEID_DEBUG=1`, on the PHI side only, shows the whole of it.",
    )
    # Command line
    INPUT_INVALID = (
        "input-invalid",
        "What was given cannot be used as it stands; the reference says what.",
        "Give another file or number: the output has to be another file than each input, and no file may change while "
        "it is read.",
    )

    def __init__(self, slug: str, meaning: str, remedy: str) -> None:
        self.slug = slug
        self.meaning = meaning
        self.remedy = remedy

    @property
    def transient(self) -> bool:
        """Whether the same step may succeed a moment later, with nothing mended: infrastructure was away or busy."""
        return self in (Code.WAREHOUSE_UNREACHABLE, Code.WAREHOUSE_BUSY)


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
    """An error without a code as one with a code: its type and where it was raised, and nothing that it says."""
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
