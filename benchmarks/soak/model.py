"""What a warehouse must show after each delivery, by a model of a few lines that knows nothing of the platform.

It reads the deliveries as files: the newest version of a note counts, and a note or a patient that was withdrawn is
gone for good.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Collection, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path

_WORDS = ("fever", "cough", "nausea", "rash", "edema", "asthma", "anemia", "sepsis", "angina", "gout")


@dataclass
class Model:
    """The notes that a source stands by: for each id its patient and the delivery of its newest version."""

    patients: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    sent: int = 0
    """Notes in deliveries, corrected ones again."""

    def take(self, folder: Path) -> None:
        """Takes in a delivery's folder, which is named after its watermark."""
        with gzip.open(folder / "notes.jsonl.gz", "rt", encoding="utf-8") as lines:
            for note in map(json.loads, lines):
                self.patients[note["note_id"]] = note["patient_id"]
                self.versions[note["note_id"]] = folder.name
                self.sent += 1
        with (folder / "withdrawn.csv").open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                self.gone |= {row["note_id"]} - {""}
                self.left |= {row["patient_id"]} - {""}

    @property
    def live(self) -> dict[str, str]:
        """Each note that nobody withdrew, and the delivery of its newest version."""
        return {
            note: version
            for note, version in self.versions.items()
            if note not in self.gone and self.patients[note] not in self.left
        }


@dataclass(frozen=True)
class Found:
    """How what is shown differs from what must be shown, in notes; 0 everywhere is what must be."""

    lost: int
    """Live, and neither shown nor held back."""
    doubled: int
    """Shown more than once."""
    gone: int
    """Shown although withdrawn or held back."""
    old: int
    """Shown in a version that was corrected."""
    heard: int
    """Shown although they hold what a reader reported, or still shown right after the report."""
    leaked: int
    """Shown with a planted identifier, or planted text found where no note may be."""
    withheld: int
    """Held back beyond one in ten: a platform that holds back every note loses none."""

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not any(astuple(self))


def compare(
    live: Mapping[str, str],
    shown: Collection[tuple[str, str]],
    *,
    held: Collection[str],
    reported: Mapping[str, str],
    planted: Mapping[str, Collection[str]],
    late: int = 0,
    elsewhere: int = 0,
) -> Found:
    """Compares what readers see with what the model says.

    Args:
        live: Notes that must be shown or held back, and the delivery of the version that counts.
        shown: Note and text, as often as it is shown; a text names its version in its last line but one.
        held: Notes that the platform says that it holds back.
        reported: Notes that readers reported, and the words that they reported.
        planted: Notes and the identifiers that were planted in them.
        late: How many notes were still shown right after they were reported.
        elsewhere: How often planted text was found where no note may be.
    """
    held, ids = set(held), [note for note, _ in shown]
    return Found(
        lost=len(live.keys() - set(ids) - held - reported.keys()),
        doubled=len(ids) - len(set(ids)),
        gone=len((set(ids) - live.keys()) | (set(ids) & held)),
        old=sum(note in live and version_words(live[note]) not in text for note, text in shown),
        heard=late + sum(_holds(text, reported.values()) for _, text in shown),
        leaked=elsewhere + sum(_holds(text, planted.get(note, ())) for note, text in shown),
        withheld=max(0, len(held & live.keys()) - len(live) // 10),
    )


def version_words(version: str) -> str:
    """The words by which a text names its version: clinical ones, which no policy hides."""
    return " ".join(_WORDS[int(digit)] for digit in version if digit.isdigit())


def spelt(number: int) -> str:
    """A word that is in no dictionary, another one for each of a million notes."""
    return (
        "".join(
            "zxvkjwrnghmt"[number // 60**place % 12] + "aeiou"[number // 60**place % 60 // 12] for place in range(4)
        )
        + "thol"
    )


def _holds(text: str, identifiers: Collection[str]) -> bool:
    return any(identifier.casefold() in text.casefold() for identifier in identifiers)
