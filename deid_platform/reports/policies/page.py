"""The page docs/policies.md: every policy, its legal basis, its actions and an example.

Belongs here: turning policies into that page. Does not belong here: policies themselves (`redaction/policies/`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from importlib import resources

from deid_platform.keys import Keyring
from deid_platform.labels import DIRECT_IDENTIFIERS, HIPAA_IDENTIFIER, Indirect, Label
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.policy import (
    ACTION_LABEL,
    GENERAL,
    REMOVED,
    Action,
    IndirectAction,
    NoteDateRule,
    Policy,
    load_policy,
    note_date_rules,
    policy_names,
)
from deid_platform.redaction.redact import redact
from deid_platform.reports.policies.compared import choices, compared
from deid_platform.surrogates.consistency import MOST_REPEATS, Consistency
from deid_platform.surrogates.date_order import DateOrder, DateWriting
from deid_platform.surrogates.dates import MAX_WEEKS, DateShift
from deid_platform.surrogates.keyed import Surrogates

# The policy whose file the page shows, and the name that it bears there.
_SHOWN, OWN_NAME = "safe_harbor_plus_providers", "our_safe_harbor"
_MARK = re.compile(r"\{([A-Z-]+)\|([^}]*)\}")
_ACTIONS = {
    Action.TAG: "a tag, such as [PATIENT]; for dates, years that stand alone become tags too",
    Action.KEEP: "the text stays",
    Action.SURROGATE: "a surrogate of the same kind, for a person and a number the same one as far as the policy's "
    "[consistency](#which-surrogates) says, for places in all notes of a patient, for institutions of a site; dates "
    "move with the patient, and one without a day (March 2019) as a full date of "
    "that month in its note does, else as its middle. Years that stand alone are dates. "
    "A tag where there is no surrogate: holidays, dates that cannot be parsed or that reveal an age over 89",
    Action.YEAR: "a tag with the year, if it can be parsed and reveals no age over 89",
    Action.BIRTH_YEAR: "dates of care stay; a date of birth becomes a tag with the year",
    Action.ZIP3: "a tag with the first three digits of a US ZIP code; 000 for areas of 20,000 people or fewer by the "
    "census of 2000 or 2020, and for those that the census of 2020 does not know",
    Action.AGE90: "ages up to 89 stay, older ones become 90+; a tag where the age cannot be parsed",
}
_COUNTRIES = (
    "Safe Harbor lists geographic subdivisions smaller than a state (45 CFR 164.514(b)(2)(i)(B)), so names of states "
    "and of countries, such as Ohio, United States or Russian Federation, stay wherever a policy below keeps STATE and "
    "COUNTRY. Where a policy hides COUNTRY, detection knows the names in `deid_platform/lexicon/data/countries.txt`, "
    "some official ones among them. Names that are also words or names of people (Chad, Turkey), and UK and "
    'UAE, it hides only after words such as "born in" or "is from". Other abbreviations (USA) and adjectives (Mexican) '
    "stay, and of an official name that is not on the list (Kingdom of Norway) only the listed part is hidden."
)
_NOTE_DATES = {
    NoteDateRule.YEAR: "its year, unless the patient is over 89 in it",
    NoteDateRule.SHIFT: "shifted by a whole number of weeks, the same for all notes of a patient",
    NoteDateRule.DROP: "nothing",
    NoteDateRule.KEEP: "all of it",
}
_CONSISTENCIES = {
    Consistency.CONSISTENT: "a person has one surrogate in all notes of a patient, staff of the site",
    Consistency.PER_NOTE: "another one in each note",
    Consistency.VARIED: f"another one after {MOST_REPEATS} mentions in a row at the most",
}
_SHIFTS = {
    DateShift.WEEKS: f"by 1 to {MAX_WEEKS} weeks",
    DateShift.SEASON: "by about one to five whole years",
}
_TWO_NOTES = (
    "{PATIENT|Grete Holloway} fell. Mrs. {PATIENT|Holloway} walks again; {PATIENT|Grete} goes home.",
    "Mrs. {PATIENT|Holloway} is well. {PATIENT|G. Holloway} may drive.",
)
_INDIRECT_EXAMPLE = ("remove", "generalise", "remove", "keep", "keep", "keep", "keep", "generalise", "keep")
"""An action for each category, in their order."""
_NOTE_DATE, _BIRTH_DATE = date(2019, 4, 2), date(1926, 3, 9)
# Public, for this page alone: whoever knows a key can undo what it shifted. A site's own is random and secret.
EXAMPLE_KEY = b"41c7d08e6fb2935a1de40b7c8f5296a3"
_PATIENT = Patient("example", first_name="Grete", last_name="Holloway", sex="F", birth_date=_BIRTH_DATE)


def policies_markdown() -> str:
    """The whole page."""
    note, spans = _example()
    parts = [
        "# Policies",
        *_compared(),
        "## What a policy is",
        "A policy says what replaces each label, and on which legal basis. "
        "`deid redact --policy NAME` and `[redaction]` in deid.toml choose one: a name from this page or a path to "
        "a YAML file of [that form](#a-policy-of-your-own). A policy that leaves a label without an action is refused, "
        "as is one that keeps "
        f"a direct identifier ({', '.join(DIRECT_IDENTIFIERS)}) or has the name of a shipped one. "
        "The text between the identifiers is not changed. Surrogates need the key "
        "secret (`--secret-file`, or as [configuration](configuration.md) says); and dates are shifted in the text and "
        "beside it together or not at all: a true date or year beside a shifted one would reveal the shift, so a "
        "policy that mixes them is refused. A policy that keeps days of care, streets, towns, ZIP codes or ages "
        "over 89 as they are is limited: its releases are in the schema of limited data sets.",
        "One key secret shows one class of dates: true, shifted by weeks, shifted within the season, years or none. "
        "Keys of patients and notes are the same in all releases of a secret, so that true dates or years in one, or "
        "other shifts, would reveal the shifts of another; a policy of another class needs a new secret first, which "
        "does not separate the two for readers who keep the former texts "
        "([releases](releases.md#the-dates-of-a-secret)).",
        "Each redacted note goes through the [leak check](gate.md#the-leak-check), in the warehouse and in `deid "
        "redact`: a note that leaks is quarantined or left out.",
        "This page is generated from the policies by `deid_platform.reports.policies.page`.",
        "## Actions",
        _table(("action", "what is left"), [(f"`{a.value}`", text) for a, text in _ACTIONS.items()]),
        *_choices(),
        "## States and countries",
        _COUNTRIES,
        *_own_policy(),
        *_indirect(),
        "## The example before redaction",
        f"Written on {_NOTE_DATE.isoformat()}. People and places are invented; the topics know the patient's name and "
        "date of birth. Surrogates and shifts are made here with a key that is public, for this page alone.",
        _block(note.text),
    ]
    for name in policy_names():
        parts += _policy(load_policy(name), note, spans)
    return "\n\n".join(parts) + "\n"


def _compared() -> list[str]:
    """The shipped policies side by side, label by label, and how to choose among them."""
    dates = {rule: text.partition(",")[0] for rule, text in _NOTE_DATES.items()}
    return [
        "What becomes of each label under the policies that ship. Labels that all of them treat alike share a row; "
        "what an [action](#actions) leaves is said below.",
        _table(*compared(dates)),
        "## How to choose",
        "By what the reader has to have, and then by what your lawyer can defend:",
        _table(("you need", "choose", "and mind"), choices()),
        "If two fit, take the one that keeps less. What fits none of them is [a policy of your "
        "own](#a-policy-of-your-own). Changing it later makes a [new "
        "release](releases.md#a-new-policy-detector-or-secret), never a mixture; changing what becomes of dates needs "
        "a new key secret too.",
    ]


def example_surrogates(consistency: Consistency = Consistency.CONSISTENT) -> Surrogates:
    """Surrogates under the public example key."""
    keyring = Keyring(EXAMPLE_KEY, site="example")
    topics = Topics.of(patients=[_PATIENT])
    return Surrogates(keyring, topics, consistency=consistency, writing=DateWriting(DateOrder.MONTH_FIRST))


def _choices() -> list[str]:
    """Which consistency and which shifts to choose, and why: measured figures, and two notes under each consistency."""
    text = (resources.files(__package__) / "data" / "choosing.md").read_text(encoding="utf-8")
    marked = [_marked(line) for line in _TWO_NOTES]
    rows = []
    for consistency in Consistency:
        policy = replace(load_policy("surrogate"), consistency=consistency)
        notes = [
            redact(Note(f"example {i}", text, patient_id="example"), spans, policy,
                   surrogates=example_surrogates(consistency)).text
            for i, (text, spans) in enumerate(marked)
        ]  # fmt: skip
        rows.append((f"`{consistency.value}`", *notes))
    example = _table(("", "one note", "the next"), [("as written", *(text for text, _ in marked)), *rows])
    return [text.replace("{example}", example).rstrip()]


def _own_policy() -> list[str]:
    """How a policy is written: one that ships, every key of it, and what is refused."""
    source = (resources.files("deid_platform.redaction") / "policies" / f"{_SHOWN}.yaml").read_text(encoding="utf-8")
    own = source.replace(f"name: {_SHOWN}\n", f"name: {OWN_NAME}\n")
    labels = ", ".join(label.value for label in Label)
    reading = ", ".join(f"`{action.value}` for {label.value} alone" for action, label in ACTION_LABEL.items())
    dates = "; ".join(
        f"`{action.value}`: {', '.join(f'`{rule.value}`' for rule in NoteDateRule if rule in note_date_rules(action))}"
        for action in Action
        if ACTION_LABEL.get(action, Label.DATE) is Label.DATE
    )
    return [
        "## A policy of your own",
        f"A file of YAML in UTF-8, for instance `{OWN_NAME}.yaml`, named by its path: `deid redact --policy "
        f"./{OWN_NAME}.yaml ...`. This one does what `{_SHOWN}` does, under its own name:",
        _block(own, "yaml"),
        "All of these keys are required, but `indirect`, and the last two only where they have something to choose, "
        "and refused elsewhere; no others are allowed, and each may occur once:",
        _table(
            ("key", "what it holds"),
            [
                (
                    "`name`",
                    "a small letter, then up to 39 small letters, digits and `_`; not the name of a shipped one",
                ),
                ("`title`, `legal_basis`, `description`", "text, not empty: for whoever reads the dossier"),
                (
                    "`tag`",
                    "what replaces a removed span, with `{label}` in it once, between marks at both ends: "
                    '`"[{label}]"`',
                ),
                ("`tag_with_value`", 'the same with `{label}` and `{value}` once each: `"[{label} {value}]"`'),
                ("`labels`", f"an [action](#actions) for each of {labels}"),
                (
                    "`structured`",
                    "`note_date`, what remains of the note's own date: "
                    + "; ".join(f"`{rule.value}`, {text}" for rule, text in _NOTE_DATES.items()),
                ),
                (
                    "`indirect`",
                    "may be left out: what becomes of each category of [indirect identifiers](#indirect-identifiers)",
                ),
                (
                    "`consistency`",
                    "where any label but DATE has a `surrogate`: "
                    + "; ".join(f"`{way.value}`, {text}" for way, text in _CONSISTENCIES.items()),
                ),
                (
                    "`date_shift`",
                    "where dates are shifted: " + "; ".join(f"`{by.value}`, {text}" for by, text in _SHIFTS.items()),
                ),
            ],
        ),
        f"Of the actions, {reading}; `surrogate` for any but {Label.AGE}; `keep` for no direct identifier. What may be "
        f"left of the note's date goes by the action of DATE: {dates}.",
        "Any other file is refused as a whole, before a note is read; the message names the wrong key and "
        "never a value: `policy-invalid [labels.PATIENT is missing]`.",
    ]


def _indirect() -> list[str]:
    """What a policy may do with indirect identifiers."""
    example = "".join(f"  {it.value}: {action}\n" for it, action in zip(Indirect, _INDIRECT_EXAMPLE, strict=True))
    return [
        "## Indirect identifiers",
        "A policy of your own may take out what tells who somebody is although it names nobody, where a refresh has a "
        "language model [tag it](language-models.md#indirect-identifiers-in-a-refresh). No shipped policy does. Each "
        "of the nine categories gets an action:",
        _block("indirect:\n" + example.rstrip(), "yaml"),
        _table(
            ("action", "what is left"),
            [
                (f"`{IndirectAction.KEEP.value}`", "the text as it is"),
                (f"`{IndirectAction.REMOVE.value}`", f"`[{REMOVED}]`, the same for all categories"),
                (
                    f"`{IndirectAction.GENERALISE.value}`",
                    "words for the category, in English whatever the note's language: "
                    + ", ".join(f"`[{words}]` for {it.value}" for it, words in GENERAL.items()),
                ),
            ],
        ),
        "Tags stand between the marks of the policy's `tag`. Where two categories overlap, all that either covers "
        "goes, and the tag is that of a removed one if one of them is removed, else that of the longer. What replaces "
        "a direct identifier stays in its place: of an indirect one that it lies in, only the words around it go. The "
        "leak check reads the note as it was before this. A policy that hides a category is refused by `deid redact`, "
        "`deid_platform.load` and a refresh without `detection.indirect`.",
    ]


def _policy(policy: Policy, note: Note, spans: list[Span]) -> list[str]:
    kept = [label.value for label in Label if policy.labels[label] is Action.KEEP]
    chosen = [f"`consistency: {policy.consistency.value}`"] if policy.draws_surrogates else []
    chosen += [f"`date_shift: {policy.date_shift.value}`"] if policy.dates.moved else []
    return [
        f"## `{policy.name}`: {policy.title}",
        f"Legal basis: {policy.legal_basis}. {policy.description.strip()}",
        f"Stays: {', '.join(kept) or 'nothing'}. Of the structured note date remains: {_NOTE_DATES[policy.note_date]}."
        + (f" Chosen: {', '.join(chosen)}." if chosen else ""),
        _table(
            ("label", "164.514(b)(2)(i)", "action"),
            [
                (label.value, HIPAA_IDENTIFIER[label] or "not listed", f"`{policy.labels[label].value}`")
                for label in Label
            ],
        ),
        "The example:",
        _block(redact(note, spans, policy, birth_date=_BIRTH_DATE, surrogates=example_surrogates()).text),
    ]


def _example() -> tuple[Note, list[Span]]:
    """The marked-up example as a note and its spans."""
    source = (resources.files(__package__) / "data" / "example_note.txt").read_text(encoding="utf-8")
    text, spans = _marked("".join(line for line in source.splitlines(keepends=True) if not line.startswith("#")))
    return Note("example", text, patient_id="example", note_date=_NOTE_DATE), spans


def _marked(source: str) -> tuple[str, list[Span]]:
    """A text in which `{LABEL|text}` marks an identifier, and its spans."""
    text, spans, position = "", [], 0
    for match in _MARK.finditer(source):
        text += source[position : match.start()]
        spans.append(Span(len(text), len(text) + len(match[2]), Label(match[1]), source="example"))
        text += match[2]
        position = match.end()
    return text + source[position:], spans


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = (header, ("---",) * len(header), *rows)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _block(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```"
