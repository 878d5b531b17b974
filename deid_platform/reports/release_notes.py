"""Release notes: what a release changes for those who read the former one, as Markdown for analysts.

Belongs here: their content and their layout. Does not belong here: gathering them (`oversight/release_notes.py`) or the
suppression of small counts, which is the database's (`migrations/code/g_release_notes.sql`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from deid_platform.evaluation.sources import Source
from deid_platform.reports.summary import MEASURES, interval

DATES = {
    "true": "true dates",
    "shift": "dates shifted with the patient",
    "season": "dates shifted with the patient by about a whole number of years",
    "year": "years alone",
    "none": "no dates",
    None: "not known",
}
_WITHHELD = "–"
"""A count under 11, none among them, or one that nobody can make."""
Interval = tuple[float | None, float | None, float | None]


@dataclass(frozen=True)
class MadeWith:
    """What a release was made with, and how far it reaches.

    Attributes:
        release: Its name.
        detector: The detector's name and digest.
        policy: The policy's name.
        key_id: Which secret keyed its identifiers.
        dates: The class of dates that it shows.
        reach: Each feed with how many deliveries of it the release holds, and the newest.
        scores: Where they are from, then measure: value, low, high.
    """

    release: str
    detector: str
    policy: str
    key_id: str
    dates: str | None
    reach: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    scores: Mapping[Source, Mapping[str, Interval]] = field(default_factory=dict)


@dataclass(frozen=True)
class TypeLine:
    """One note type's counts, each as it may be shown; None where it is withheld."""

    note_type: str
    notes: int | None
    added: int | None
    changed: int | None
    withdrawn: int | None
    retracted: int | None
    gone: int | None


@dataclass(frozen=True)
class ReleaseNotes:
    """A release beside the one that analysts saw before it. Counts, scores and names of things; nothing of any note.

    Attributes:
        release: The release.
        former: The one before it; None for the first.
        types: Counts by note type.
        hidden: Labels that the former policy kept and this one does not, each with what becomes of it now; None where
            one of the two policies is not at hand as it was.
        kept: Labels that this policy keeps and the former did not.
        otherwise: Labels that both hide, each in its own way, with what becomes of it now.
    """

    release: MadeWith
    former: MadeWith | None
    types: Sequence[TypeLine]
    hidden: Mapping[str, str] | None = None
    kept: Sequence[str] = ()
    otherwise: Mapping[str, str] = field(default_factory=dict)

    @property
    def same_keys(self) -> bool:
        """Whether a note has the same key in both."""
        return self.former is not None and self.former.key_id == self.release.key_id


def release_notes_markdown(notes: ReleaseNotes) -> str:
    """The notes as Markdown, ready to be sent."""
    now, former = notes.release, notes.former
    title = f"# Release {now.release}"
    if former is None:
        sections = [title, "The first release.", _made_with(notes), _reach(notes), _counts(notes), _scores(notes)]
    else:
        since = f"What has changed since release {former.release}."
        sections = [title, since, _to_do(notes), _made_with(notes), _policy(notes), _reach(notes), _counts(notes)]
        sections.append(_scores(notes))
    return "\n\n".join(filter(None, sections)) + "\n"


def _to_do(notes: ReleaseNotes) -> str:
    former = notes.former
    assert former is not None  # noqa: S101 - the first release asks nothing of anyone
    told = []
    if not notes.same_keys:
        told.append(
            "The key secret has changed, and with it every key of notes, patients, providers and encounters, and every"
            " shifted date. Join nothing with tables of the former release: make them anew. Unchanged text still links"
            " notes of both, so that dates of the former release tell of the shifts of this one: delete them."
        )
    if former.dates != notes.release.dates:
        told.append(f"Dates are of another class: {DATES[notes.release.dates]} now, {DATES[former.dates]} before.")
    if former.detector != notes.release.detector or former.policy != notes.release.policy:
        told.append("Texts were made anew: offsets into texts of the former release hold no longer.")
    told.append("Delete copies of notes that are not in `research.notes` any more: they were withdrawn or retracted.")
    return "\n".join(["## What to do", "", *(f"- {line}" for line in told)])


def _made_with(notes: ReleaseNotes) -> str:
    rows = [
        ("detector", notes.release.detector, notes.former and notes.former.detector),
        ("policy", notes.release.policy, notes.former and notes.former.policy),
        ("dates", DATES[notes.release.dates], notes.former and DATES[notes.former.dates]),
        ("key", notes.release.key_id, notes.former and notes.former.key_id),
    ]
    return "## Made with\n\n" + _table(("", "now", "before"), [(a, b, c or _WITHHELD) for a, b, c in rows])


def _policy(notes: ReleaseNotes) -> str:
    if notes.hidden is None:
        said = ["One of the two policies is not at hand as it was: what they do with each label cannot be compared."]
    else:
        said = [f"- {label} is hidden now ({action}); it was kept" for label, action in notes.hidden.items()]
        said += [f"- {label} is kept now; it was hidden" for label in notes.kept]
        said += [f"- {label} is hidden otherwise now ({action})" for label, action in notes.otherwise.items()]
    return "\n".join(["## Labels", "", *(said or ["Every label is treated as before."])])


def _reach(notes: ReleaseNotes) -> str:
    before = notes.former.reach if notes.former else {}
    rows = []
    for feed in sorted({*notes.release.reach, *before}):
        (count, newest), (count_before, newest_before) = (
            reach.get(feed, (0, _WITHHELD)) for reach in (notes.release.reach, before)
        )
        rows.append((feed, f"{count:,}", newest, f"{count_before:,}", newest_before))
    titles = ("feed", "deliveries", "up to", "deliveries before", "up to")
    return "## Deliveries\n\n" + _table(titles, rows)


def _counts(notes: ReleaseNotes) -> str:
    rows = [
        (
            line.note_type,
            *(
                _WITHHELD if count is None else f"{count:,}"
                for count in (line.notes, line.added, line.changed, line.withdrawn, line.retracted, line.gone)
            ),
        )
        for line in notes.types
    ]
    titles = ("note type", "notes", "new", "other text", "withdrawn", "retracted", "not shown otherwise")
    said = ["## Notes", "", _table(titles, rows), ""]
    said.append(
        f"Of each site, counts under 11 are left out and others rounded down to tens; {_WITHHELD} stands for none or"
        " for too few to show."
    )
    if notes.former is not None and not notes.same_keys:
        said.append("Notes of two secrets cannot be told to be the same: nothing is said of what differs.")
    return "\n".join(said)


def _scores(notes: ReleaseNotes) -> str:
    own = any(source.of_site for source in notes.release.scores)
    said = "" if own else "Recall on this site's notes was not measured.\n\n"
    tables = "\n\n".join(f"On {source}:\n\n{table}" for source, table in _score_tables(notes))
    return f"## Scores\n\n{said}{tables or 'None.'}"


def _score_tables(notes: ReleaseNotes) -> Iterator[tuple[Source, str]]:
    before = notes.former.scores if notes.former else {}
    for source in sorted({*notes.release.scores, *before}, key=lambda it: (it.rank, str(it))):
        rows = []
        for measure, name in MEASURES.items():
            cells = (scores.get(source, {}).get(measure) for scores in (notes.release.scores, before))
            rows.append((name, *(interval(*cell) if cell else "not measured" for cell in cells)))
        yield source, _table(("measure", "now", "before"), rows)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return "None."
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
