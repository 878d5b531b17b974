"""What of a patient's own row in the topics is left in a text.

Belongs here: looking for one known person's identifiers, each in the ways it is commonly written. Does
not belong here: looking for identifiers in general (`shapes.py`), for other people's (`strangers.py`), or
the verdict on a note (`check.py`).

Numbers are compared by their digits, whatever parts them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from deid_platform.leakcheck.births import birth_date_left
from deid_platform.leakcheck.comparable import ComparableText, digits_of, fold, line_of, tokens_of, word_list
from deid_platform.leakcheck.kinds import LeakKind
from deid_platform.leakcheck.names import SHORTEST_NAME, PersonForms, is_ordinary, names_left
from deid_platform.notes import Note, Patient

LOCAL_NUMBER = 7
NATIONAL_NUMBER = 10
LONG_NUMBER = 6
SSN_DIGITS = 9
_SHORTEST_MRN = 4
_SHORTEST_USER = 5
_PATIENTS_KEPT = 4096

_EXTENSION = re.compile(r"\s*(?:extension|ext\.?|x|#)\s*\d+\s*$", re.IGNORECASE)
# "xxx-xx-6789", "last four of the SSN: 6789".
_LAST_FOUR = re.compile(
    r"(?:[x*#•]{2,4}[\s-]{0,3}|\blast (?:4|four)\b\D{0,24}|\bending (?:in|with)\D{0,5})(\d{4})(?!\d)"
)
_DIRECTIONS = frozenset("n s e w ne nw se sw north south east west".split())  # noqa: SIM905 - a list would be longer
_STREET_TYPES = {
    "avenue": ("ave", "av"), "boulevard": ("blvd",), "circle": ("cir",), "court": ("ct",), "drive": ("dr",),
    "highway": ("hwy",), "lane": ("ln",), "parkway": ("pkwy",), "place": ("pl",), "road": ("rd",), "square": ("sq",),
    "street": ("st", "str"), "terrace": ("ter",), "trail": ("trl",), "way": ("wy",), "row": (), "alley": ("aly",),
    "crescent": ("cres",), "close": (), "loop": (), "plaza": ("plz",), "pike": (), "run": (),
}  # fmt: skip
_TYPE_OF = {form: (full, *short) for full, short in _STREET_TYPES.items() for form in (full, *short)}


@dataclass(frozen=True, slots=True, repr=False)
class RosterForms:
    """A patient's row, in the forms in which it is sought.

    Attributes:
        person: Names.
        numbers: Digits of telephone, social security and record numbers, without leading zeros.
        phrases: Lines of tokens.
        last_four: Of the social security number.
        town: Where the patient lives, after a word of place; None where the row names none that stands for itself.
        patient: The row itself, for its date of birth.
    """

    person: PersonForms
    numbers: tuple[tuple[LeakKind, frozenset[str]], ...]
    phrases: tuple[tuple[LeakKind, tuple[str, ...]], ...]
    email: str
    last_four: str
    town: re.Pattern[str] | None
    patient: Patient


@lru_cache(maxsize=_PATIENTS_KEPT)
def forms_of(patient: Patient) -> RosterForms:
    """A row's forms; kept, since a patient's notes lie close together."""
    ssn = digits_of(patient.ssn or "")
    email = fold(patient.email or "").strip()
    numbers = (
        (LeakKind.PHONE, frozenset(phone_forms(patient.phone or ""))),
        (LeakKind.SSN, frozenset(_long(ssn))),
        (LeakKind.MRN, frozenset(_mrn_numbers(patient.mrn or ""))),
    )
    phrases = (
        (LeakKind.MRN, tuple(_mrn_phrases(patient.mrn or ""))),
        (LeakKind.EMAIL, tuple(_user_phrases(email))),
        (LeakKind.STREET, tuple(_street_phrases(patient.street or ""))),
        (LeakKind.CITY, tuple(_city_phrases(patient))),
        (LeakKind.ZIP, tuple(_zip_phrases(patient.zip or ""))),
    )
    return RosterForms(
        PersonForms.of(patient),
        tuple((kind, forms) for kind, forms in numbers if forms),
        tuple((kind, forms) for kind, forms in phrases if forms),
        email,
        ssn[-4:] if len(ssn) == SSN_DIGITS else "",
        _town(patient.city or ""),
        patient,
    )


def roster_residue(reading: ComparableText, patient: Patient) -> Iterator[LeakKind]:
    """The kinds of the patient's identifiers that a text still shows, possibly repeated."""
    forms = forms_of(patient)
    yield from names_left(forms.person, reading)
    for kind, numbers in forms.numbers:
        if not numbers.isdisjoint(reading.numbers):
            yield kind
    if forms.last_four in reading.words and forms.last_four in _LAST_FOUR.findall(reading.folded):
        yield LeakKind.SSN
    for kind, phrases in forms.phrases:
        if any(phrase in reading.line for phrase in phrases):
            yield kind
    if forms.town is not None and forms.town.search(reading.text):
        yield LeakKind.CITY
    if forms.email and forms.email in reading.folded:
        yield LeakKind.EMAIL
    if patient.birth_date and birth_date_left(patient.birth_date, reading):
        yield LeakKind.BIRTH_DATE


def source_id_left(note: Note, reading: ComparableText) -> bool:
    """Whether a text shows the source's own id of the note, its patient or its encounter.

    Only ids of six characters or more with four digits: a shorter one could be any number.
    """
    for source_id in (note.note_id, note.patient_id, note.encounter_id):
        tokens = tokens_of(fold(source_id or ""))
        whole = "".join(tokens)
        if len(whole) >= LONG_NUMBER and sum(c.isdigit() for c in whole) >= 4 and line_of(tokens) in reading.line:
            return True
    return False


def phone_forms(phone: str) -> Iterator[str]:
    """A telephone number with and without its country code, and its last seven digits, which a local call
    writes alone."""
    digits = digits_of(_EXTENSION.sub("", fold(phone)))
    national = digits[-NATIONAL_NUMBER:]
    for number in (digits, national):
        for form in _long(number):
            yield form
            if len(form) >= NATIONAL_NUMBER:
                yield f"1{form}"
    if len(digits) >= LOCAL_NUMBER:
        yield from _long(national[-LOCAL_NUMBER:])


def mrn_of(mrn: str) -> str:
    """A record number without separators and leading zeros."""
    return "".join(tokens_of(fold(mrn))).lstrip("0")


def _long(number: str) -> Iterator[str]:
    wanted = number.lstrip("0")
    if len(wanted) >= LONG_NUMBER:
        yield wanted


def _mrn_numbers(mrn: str) -> Iterator[str]:
    """By digits where there are enough of them to tell."""
    if mrn_of(mrn).isdigit() and len(mrn_of(mrn)) >= _SHORTEST_MRN:
        yield mrn_of(mrn)
    yield from _long(digits_of(mrn))


def _mrn_phrases(mrn: str) -> Iterator[str]:
    """A record number with letters counts as a whole, parted anyhow."""
    tokens = tokens_of(fold(mrn))
    whole = "".join(tokens)
    if whole.isdigit() or len(whole) < _SHORTEST_MRN:
        return
    yield line_of(tokens)
    yield line_of(tokens_of(whole))


def _user_phrases(email: str) -> Iterator[str]:
    """The part before the @, which tells a person as the whole address does."""
    tokens = tokens_of(email.partition("@")[0])
    if len("".join(tokens)) < _SHORTEST_USER or (len(tokens) == 1 and tokens[0] in word_list("common_words")):
        return
    yield line_of(tokens)
    yield line_of(tokens_of("".join(tokens)))


def _street_phrases(street: str) -> Iterator[str]:
    """House number and street together, and a street of two words or more by its name alone."""
    tokens = tokens_of(fold(street))
    if tokens[:3] == ["p", "o", "box"]:
        tokens = ["po", *tokens[2:]]
    if tokens[:2] == ["po", "box"]:
        yield from (line_of(tokens[:3]), line_of(["p", "o", *tokens[1:3]]), line_of(tokens[1:3]))
        return
    numbered = bool(tokens) and tokens[0].isdigit()
    way = [token for token in tokens[numbered:] if token not in _DIRECTIONS]
    if not way:
        return
    if numbered:
        # The number is also told as "18 B" or with the direction that the row leaves out.
        between = ([], *([d] for d in sorted(_DIRECTIONS)), ["a"], ["b"], ["c"])
        length = 1 if len(tokens[0]) + len(way[0]) >= _SHORTEST_USER else 2
        yield from (line_of([tokens[0], *extra, *way[:length]]) for extra in between)
    kind = next((place for place, token in enumerate(way) if place and token in _TYPE_OF), None)
    if kind is not None and len("".join(way[:kind])) >= _SHORTEST_USER and all(t.isalpha() for t in way[:kind]):
        yield from (line_of([*way[:kind], form]) for form in _TYPE_OF[way[kind]])
    elif not numbered and len("".join(way)) >= _SHORTEST_USER:
        yield line_of(tokens)


def _town(city: str) -> re.Pattern[str] | None:
    """The city in any case behind a word of place, unless a name goes on from there: "in Fresno Heart Clinic"."""
    words = tokens_of(fold(city))
    if len("".join(words)) < SHORTEST_NAME or all(map(is_ordinary, words)):
        return None
    written = (words, city.split())
    town = "|".join(r"[\s.'-]{1,3}".join(map(re.escape, way)) for way in written)
    return re.compile(rf"(?i:\b(?:in|from|near|outside|around|to)\s{{1,3}}(?:{town}))\b(?![\s-]{{1,3}}[A-Z]|['’-]\w)")


def _city_phrases(patient: Patient) -> Iterator[str]:
    """The city beside its state or its ZIP code; alone it is in the names of clinics and of criteria."""
    city = tokens_of(fold(patient.city or ""))
    if city:
        for beside in (patient.state, patient.zip):
            if tokens := tokens_of(fold(beside or "")):
                yield line_of([*city, *tokens[:1]] if beside is patient.zip else [*city, *tokens])


def _zip_phrases(zip_code: str) -> Iterator[str]:
    tokens = tokens_of(fold(zip_code))
    if tokens and len(tokens[0]) >= 5 and tokens[0].isdigit():
        yield line_of([tokens[0][:5]])
        yield f" {''.join(tokens)} "
