"""How far the authors of the library and its second readers agree, by language.

    python benchmarks/library_agreement.py REVISION ...

A second reader, the author of another place, read each note with its marks and changed what was wrong. The authors'
marks are those of a git revision from before that, the first of those named that has the author; the readers' are those
of the working tree. Kappa is Cohen's over the
words of the notes, whatever the label; F1 is of spans with the same offsets and label. A reader who sees the marks
agrees more readily than one who does not: these figures count the mistakes that reading found, not those that both
overlooked.
"""

from __future__ import annotations

import argparse
import subprocess

from aims import table

from deid_platform.corpora.formats.marked import ENDING, MarkedNote, marked_note
from deid_platform.corpora.gold import SCHEME
from deid_platform.corpora.library.authors import Author, authors, notes_by
from deid_platform.corpora.schemes import scheme_of
from deid_platform.evaluation.scores.agreement import Agreement, PairedNote, agreement


def at_revision(one: Author, note_id: str, revision: str) -> MarkedNote:
    """A note as its author marked it."""
    name = note_id.removeprefix(f"{one.name}/")
    path = f"{revision}:./{one.name}/{name}{ENDING}"
    shown = subprocess.run(["git", "show", path], cwd=one.folder.parent, capture_output=True, check=True)
    return marked_note(shown.stdout.decode(), name, scheme_of(SCHEME))


def first_with(one: Author, revisions: list[str]) -> str:
    """The first revision that has an author's notes."""
    for revision in revisions:
        named = ["git", "cat-file", "-e", f"{revision}:./{one.name}"]
        if subprocess.run(named, cwd=one.folder.parent, capture_output=True, check=False).returncode == 0:
            return revision
    raise SystemExit(f"{one.name}: in none of the revisions")


def paired(one: Author, revision: str) -> list[PairedNote]:
    """An author's notes with both sets of marks."""
    notes = []
    for read in notes_by(one):
        before = at_revision(one, read.gold.note_id, revision)
        if before.gold.note.text != read.gold.note.text:
            raise SystemExit(f"{read.gold.note_id}: another text at {revision}")
        notes.append(PairedNote(read.gold.note_id, read.gold.note.text, before.gold.spans, read.gold.spans))
    return notes


def row(name: str, found: Agreement) -> tuple[str, ...]:
    """One line of the table."""
    kappa, spans = found.kappa, found.spans
    interval = f"{kappa.value:.4f} ({kappa.low:.4f}-{kappa.high:.4f})"
    counts = (found.notes, spans.other, kappa.only_other, kappa.only_one)
    return name, *(f"{count:,}" for count in counts), interval, f"{spans.exact:.4f}", f"{spans.exact_any_label:.4f}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revisions", nargs="+", help="with the authors' own marks, the oldest first")
    revisions = parser.parse_args().revisions
    notes = {one: paired(one, first_with(one, revisions)) for one in authors()}
    rows = [row("all", agreement(note for some in notes.values() for note in some))]
    for language in dict.fromkeys(one.language for one in notes):
        chosen = (note for one, some in notes.items() if one.language == language for note in some)
        rows.append(row(language, agreement(chosen)))
    head = ("language", "notes", "identifiers", "words that the reader marked", "words that the reader unmarked",
            "kappa over words", "F1 of spans and labels", "F1 of spans")  # fmt: skip
    print(table(head, rows))


if __name__ == "__main__":
    main()
