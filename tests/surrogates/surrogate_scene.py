"""A small site and notes with their identifiers marked, for the tests of this folder. No real people."""

import hashlib
import re
from datetime import date

from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Facility, Note, Patient, Provider, Span, Topics
from deid_platform.surrogates.keyed import Surrogates

KEYRING = Keyring(hashlib.sha256(b"one").digest(), site="test")
OTHER = Keyring(hashlib.sha256(b"another").digest(), site="test")
TOPICS = Topics.of(
    patients=[
        Patient(
            "p1", "John", "Michael", "Smith", sex="M", street="18 Teasel Row", city="Akron", state="OH", zip="44308",
            relatives="Mary Smith; Smith, Tobin; Anna de la Cruz (friend)",
        ),
        Patient("p2", "Maria", None, "Rossi", sex="F"),
        Patient("p3", "Baby", None, "Rossi", sex="F", mother_id="p2"),
        Patient("p4", "Rajiv", None, "Das", sex="M"),
    ],
    providers=[
        Provider("d1", "Ann", "Zeller"), Provider("d2", "Bob", "Zeller"), Provider("d3", "Ines", "Marchetti"),
    ],
    facilities=[Facility("f1", "Larkmoor General Hospital", "LGH"), Facility("f2", "Fernbridge Cardiology")],
)  # fmt: skip
SURROGATES = Surrogates(KEYRING, TOPICS)
_MARK = re.compile(r"\{([A-Z-]+)\|([^}]*)\}")


def marked(source: str, *, patient_id: str | None = "p1", language: str = "en", note_id: str = "n1"):
    """The note and the spans of a text in which `{LABEL|text}` marks an identifier."""
    text, spans, position = "", [], 0
    for match in _MARK.finditer(source):
        text += source[position : match.start()]
        spans.append(Span(len(text), len(text) + len(match[2]), Label(match[1])))
        text += match[2]
        position = match.end()
    text += source[position:]
    return Note(note_id, text, patient_id=patient_id, note_date=date(2019, 4, 2), language=language), spans


def replaced(source: str, surrogates: Surrogates = SURROGATES, **about) -> list[str | None]:
    """What stands in for each mark."""
    return surrogates.replace(*marked(source, **about))


def people(*texts: str, label: str = "PATIENT", **about) -> list[str | None]:
    """What stands in for names that are written one after another."""
    return replaced("; ".join(f"{{{label}|{text}}}" for text in texts), **about)
