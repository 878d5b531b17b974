"""One delivery with a marker in every field of notes and topics, in every kind of bad row and in every file's name.

Belongs here: which values arrive, and what each is called. Does not belong here: looking for them
(`sentinel_search.py`) or breaking anything (`sentinel_faults.py`).

Each delivery has people, words and numbers of its own, made from its name, so that a find tells which delivery it
comes from. The words are made up of syllables that are in no dictionary.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sentinel_search import Marker

from deid_platform.notes import Facility, Note, Patient, Provider

TYPE = "progress note"
DRUG = "metoprolol"
PLAIN = (
    "The visit today was for a routine check. There has been no change in appetite, sleep or energy since the "
    "last one, and no pain in the chest or the legs. Blood pressure was taken at home every morning and was in "
    "the usual range. The lungs are clear, the heart sounds are regular, and there is no swelling of the ankles. "
    "We will go on as before and see how things are in three months, or earlier if there is any trouble with "
    "breathing."
)
"""So much English that made-up names and addresses are not told as notes in another language."""
_ONSETS = ("z", "x", "qu", "v", "k", "j", "w", "zh", "kr", "vl", "gz", "xh")
_VOWELS = "aeiou"


def word(name: str) -> str:
    """A made-up word of four syllables, always the same for a name."""
    noise = hashlib.sha256(name.encode()).digest()
    syllables = (_ONSETS[noise[i] % len(_ONSETS)] + _VOWELS[noise[i + 1] % len(_VOWELS)] for i in range(0, 8, 2))
    return "".join(syllables).capitalize()


def number(name: str, digits: int) -> str:
    """A made-up number, always the same for a name; it starts with 2 to 5."""
    noise = hashlib.sha256(name.encode()).digest()
    return str(2 + noise[-1] % 4) + str(int.from_bytes(noise[:12], "big")).zfill(40)[-digits + 1 :]


def _value(name: str, column: str) -> str:
    """A value as such a column holds it."""
    n = number(name, 10)
    match column:
        case "ssn":
            return f"{n[:3]}-{1 + int(n[3]):02}-{1000 + int(n[4:7])}"
        case "phone":
            return f"({n[:3]}) {2 + int(n[3]) % 8}{n[4:6]}-{n[6:]}"
        case "zip":
            return f"{n[:5]}-{n[5:9]}"
        case "npi" | "mrn":
            return n
        case "email":
            return f"{word(name).lower()}@{word(name + 'host').lower()}.example"
        case "birth_date" | "note_date":
            return f"19{30 + int(n[1:3]) % 60}-{1 + int(n[3]):02}-{11 + int(n[4]):02}"
        case "street":
            return f"{int(n[:4])} {word(name)} Lane"
        case "last_name":
            # Accents are written in more ways than one.
            return f"{word(name)}é"
        case "language":
            return f"en-{word(name)[:8]}"
        case _:
            return word(name)


@dataclass
class Scene:
    """What one delivery brings.

    Attributes:
        watermark: The delivery's name, and the seed of all its values.
        faulty: Words in a note's text that set a fault off (`sentinel_faults.py`), one note each. Such a note is
            quarantined, so that not a word of it may be found anywhere.
    """

    watermark: str
    faulty: tuple[str, ...] = ()
    bad_rows: bool = False
    markers: list[Marker] = field(default_factory=list, init=False, repr=False)

    @property
    def opted_out(self) -> str:
        """A patient who takes no part in research."""
        return self._marked("opted-out patient")

    def write(self, feed: Path, gold: Path) -> list[Marker]:
        """Writes the delivery and its gold, and returns its markers."""
        folder = feed / self.watermark
        folder.mkdir(parents=True)
        patients = [self._record(Patient), self._record(Patient, "second patient")]
        provider, facility = self._record(Provider), self._record(Facility)
        for name, records in (("patients", patients), ("providers", [provider]), ("facilities", [facility])):
            _csv(folder / f"{name}-{self._marked(f'name of {name} file')}.csv", records)
        notes = list(self._notes(patients, provider, facility))
        lines = [json.dumps(note).encode() for note in notes]
        if self.bad_rows:
            lines += self._bad_rows()
            self._bad_files(folder)
        (folder / f"notes-{self._marked('name of notes file')}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        self._write_gold(gold, notes[: len(patients)])
        return self.markers

    def _marked(self, name: str, column: str = "", *, prose: bool = False) -> str:
        value = _value(f"{self.watermark} {name}", column)
        # Of an address the word is rare, the number before it may be anything.
        sought = next((part for part in value.split() if part.isalpha()), value)
        self.markers.append(Marker(f"{self.watermark} {name}", sought, prose))
        return value

    def _record(self, kind: type[Any], name: str = "", **known: str) -> dict[str, str]:
        """A record with a marker in every field that is not `known`, those that are added one day included."""
        name = name or kind.__name__
        return {f.name: known.get(f.name) or self._marked(f"{name}.{f.name}", f.name) for f in fields(kind)}

    def _notes(
        self, patients: list[dict[str, str]], provider: dict[str, str], facility: dict[str, str]
    ) -> Iterator[dict[str, str]]:
        """A note of each patient that passes and names everybody, then the faulty ones, which name them too."""
        for patient in patients:
            named = self._naming(patient, provider, facility)
            which = f"note of {patient['patient_id']}"
            said = self._marked(f"prose of the {which}", prose=True)
            known = {"patient_id": patient["patient_id"], "provider_id": provider["provider_id"], "note_type": TYPE}
            # A made-up word with a dose is a drug to recovery, whatever a model takes it for.
            text = f"{named} Takes {said.lower()} 20 mg daily and {DRUG}."
            yield self._record(Note, which, text=text, **known)
        for fault in self.faulty:
            said = self._marked(f"prose of the note that has {fault}")
            text = f"{self._naming(patients[0], provider, facility)} {fault} Feels {said.lower()} today."
            yield self._record(Note, f"note that has {fault}", text=text, patient_id=patients[0]["patient_id"])

    def _naming(self, patient: dict[str, str], provider: dict[str, str], facility: dict[str, str]) -> str:
        year, month, day = patient["birth_date"].split("-")
        self.markers.append(Marker(f"{self.watermark} birth date as the note writes it", f"{month}/{day}/{year}"))
        return (
            f"{patient['first_name']} {patient['middle_name']} {patient['last_name']}, MRN {patient['mrn']}, "
            f"SSN {patient['ssn']}, born {month}/{day}/{year}, of {patient['street']}, {patient['city']} "
            f"{patient['zip']}, phone {patient['phone']}, e-mail {patient['email']}. Seen by Dr. "
            f"{provider['first_name']} {provider['last_name']} at {facility['name']}, phone {facility['phone']}. "
            f"{PLAIN}"
        )

    def _bad_rows(self) -> list[bytes]:
        """One row for each reason to refuse it."""

        def row(reason: str, **cells: Any) -> dict[str, Any]:
            text = f"{self._marked(f'{reason}: text')} is unwell."
            return {"note_id": self._marked(f"{reason}: note_id"), "text": text, **cells}

        surrogate = json.dumps(row("lone surrogate", site="\ud800"))
        broken = json.dumps(row("broken JSON"))[:-1]
        bad_bytes = json.dumps(row("invalid UTF-8")).encode().replace(b" is unwell", b"\xff\xfe is unwell")
        first, again = (row("duplicate id") for _ in range(2))
        good = {
            "unknown column": row("unknown column", **{self._marked("name of a column"): self._marked("its cell")}),
            "impossible date": row("impossible date", note_date=f"31-02-{self._marked('date')}"),
            "date from the future": row("date from the future", note_date="2987-03-04"),
            "NUL": row("NUL", site="\0" + self._marked("NUL: site")),
            "wrong type": row("wrong type", patient_id=[self._marked("list")]),
            "no text": row("no text", text=" "),
            "no id": row("no id", note_id=""),
            "excluded type": row("excluded type", note_type="Psychotherapy Note"),
            "opted out": row("opted out", patient_id=self.opted_out),
            "first": first,
            "again": again,
        }
        return [*(json.dumps(r).encode() for r in good.values()), broken.encode(), surrogate.encode(), bad_bytes]

    def _bad_files(self, folder: Path) -> None:
        """Files that cannot be read, rows of topics that are refused in part, and withdrawals of the unknown."""
        (folder / f"notes-{self._marked('name of a file of no format')}.xlsx").write_text(self._marked("its content"))
        (folder / f"notes-{self._marked('name of a cut file')}.jsonl.gz").write_bytes(
            gzip.compress(json.dumps(self._record(Note, "cut short")).encode())[:-12]
        )
        rows = [self._record(Note, "in Parquet", note_date=self._marked("in Parquet: no date", ""))]
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        (folder / f"notes-{self._marked('name of a Parquet file')}.parquet.gz").write_bytes(
            gzip.compress(sink.getvalue().to_pybytes())
        )
        dated = self._record(Patient, "patient with an impossible date", birth_date="1990-02-31")
        _csv(folder / f"patients-{self._marked('name of a second patients file')}.csv", [dated])
        for role, column in (("withdrawn", "note_id"), ("withdrawn", "patient_id"), ("rejoined", "patient_id")):
            rows = [{column: self._marked(f"{role} {column}")}]
            _csv(folder / f"{role}-{self._marked(f'name of {role} {column} file')}.csv", rows)

    def _write_gold(self, gold: Path, notes: list[dict[str, str]]) -> None:
        gold.mkdir(exist_ok=True)
        with gzip.open(gold / f"{self.watermark}.jsonl.gz", "wt", encoding="utf-8") as stream:
            for note in notes:
                name = note["text"].split(",", 1)[0]
                drug = note["text"].index(DRUG)
                row = {
                    "note_id": note["note_id"],
                    "spans": [[0, len(name), "PATIENT", name]],
                    "clinical": [[drug, drug + len(DRUG)]],
                    "text": note["text"],
                }
                stream.write(json.dumps(row) + "\n")


def _csv(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
