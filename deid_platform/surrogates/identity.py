"""Whose name is written: from the spans of a note to the people of the topics and of the note itself.

Belongs here: resolving mentions to a person before anything is keyed. Does not belong here: taking a written name
apart (`written_names.py`) or what replaces it (`keyed.py`).

"John Smith", "Mr. Smith", "JS", "J. Smith", "Smith, John", "Smtih" and "Johnny" are one person where the topics or a
full mention in the same note say so. Two people never become one: a word that is a name on any list is no
misspelling of another, and a surname alone that two providers bear is neither of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import regex

from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Provider, Span, Topics
from deid_platform.surrogates.names import letters
from deid_platform.surrogates.persons import Person, given_places, person, words_to_replace
from deid_platform.surrogates.written_names import NamePart, Role, WrittenName, follows_title, parts_alone, read_names

_CACHED_FAMILIES = 1024
# People whom one note may introduce; in a list of hundreds the rest is known by its own words alone.
_MOST_INTRODUCED = 100
_ASIDE = regex.compile(r"\([^)]*\)")


@dataclass(frozen=True, slots=True, repr=False)
class Mention:
    """One person's name in a span.

    Attributes:
        token: Who it is; the same wherever the same person is meant.
        site: Whether the whole site knows the person.
        person: What is known of the person; None for a name that nobody is known to bear.
        parts: What is written of the name, in order.
    """

    token: tuple[str, ...]
    site: bool
    person: Person | None
    parts: tuple[NamePart, ...]

    def __repr__(self) -> str:
        return f"<Mention of {self.token[0]}>"


class Family:
    """The people whom the topics know around one patient, and what they already told of written names.

    Attributes:
        people: The patient, the mother where she is one too, and the relatives.
        told: For a text, whether a title stands before it and whether a clinician is meant: the names in it, with
            whom each is known to mean; None where it cannot be read.
    """

    def __init__(self, people: tuple[Person, ...]) -> None:
        self.people = people
        self.told: dict[tuple[str, bool, bool], tuple[tuple[WrittenName, Mention | None], ...] | None] = {}

    def __repr__(self) -> str:
        return f"<Family of {len(self.people)}>"


class Directory:
    """The people of the topics, ready to be recognised.

    Args:
        topics: Patients and providers of the institution.
    """

    def __init__(self, topics: Topics | None) -> None:
        self._topics = topics or Topics()
        rows: dict[str, list[Provider]] = {}
        for provider in self._topics.every_provider():
            rows.setdefault(provider.provider_id, []).append(provider)
        self._providers = rows
        self._by_surname: dict[str, list[str]] = {}
        # Topics name people in the order in which deliveries brought them.
        self._arrived = {provider_id: place for place, provider_id in enumerate(rows)}
        for provider_id in rows:
            for word in {word for row in rows[provider_id] for word in words_to_replace(row.last_name)}:
                self._by_surname.setdefault(word, []).append(provider_id)
        self._provider = lru_cache(maxsize=8192)(self._provider_person)
        self._colleagues = lru_cache(maxsize=8192)(self._colleagues_of)
        self._family = lru_cache(maxsize=_CACHED_FAMILIES)(self._family_of)

    def __repr__(self) -> str:
        return "<Directory>"

    def family(self, patient_id: str | None) -> Family:
        """Whom the topics know around a patient; nobody for a note without one."""
        return Family(()) if patient_id is None else self._family(patient_id)

    def surnames(self) -> Iterable[str]:
        """The folded words of all providers' surnames."""
        return self._by_surname.keys()

    def bearers(self, surnames: Iterable[str]) -> list[tuple[str, dict[str, int]]]:
        """The providers who have one of some folded surnames, each with that surname and the given names as `Person`
        has them, in the order of their arrival."""
        found = [(self._arrived[key], word, key) for word in surnames for key in self._by_surname.get(word, ())]
        if len(found) < 2:
            return []
        rows = ((word, self._providers[key]) for _, word, key in sorted(found))
        return [(word, given_places(row.first_name for row in same)) for word, same in rows]

    def colleagues(self, name: WrittenName) -> list[tuple[Person, tuple[NamePart, ...]]]:
        """The providers whose name a written one may be, two at the most: of several it is nobody in particular."""
        return self._colleagues(name)

    def _colleagues_of(self, name: WrittenName) -> list[tuple[Person, tuple[NamePart, ...]]]:
        ids = dict.fromkeys(key for token in name.tokens for key in self._by_surname.get(token.key, ()))
        if not ids and len(name.tokens) > 1:
            joined = "".join(token.key for token in name.tokens[-2:])
            ids = dict.fromkeys(self._by_surname.get(joined, ()))
        return _fitting(name, map(self._provider, ids))

    def _provider_person(self, provider_id: str) -> Person:
        rows = ((row.first_name, None, row.last_name) for row in self._providers[provider_id])
        return person(("provider", provider_id), rows, site=True)

    def _family_of(self, patient_id: str) -> Family:
        rows = self._topics.patients_known_as(patient_id)
        if not rows:
            return Family(())
        found = [_patient(rows)]
        mother = next((row.mother_id for row in rows if row.mother_id), None)
        if mother is not None and mother != patient_id and (known := self._topics.patients_known_as(mother)):
            found.append(_patient(known))
        for row in rows:
            for written in (row.relatives or "").split(";"):
                relative = _relative(written)
                if relative is not None and relative.token not in {p.token for p in found}:
                    found.append(relative)
        return Family(tuple(found))


def resolve(note: Note, spans: Sequence[Span], directory: Directory) -> list[tuple[Mention, ...] | None]:
    """Who is meant by each span of a person's name.

    Args:
        note: The note.
        spans: What was found in it.
        directory: The people of the topics.

    Returns:
        One entry a span: the people in it, of whom there are two in "John and Mary Smith"; None for a span of
        another label, or one that holds more than names.
    """
    family = directory.family(note.patient_id)
    found: list[list[Mention | None] | None] = []
    # The topics first, then full names that the note itself introduces, then what is left of both.
    here: dict[tuple[str, ...], Person] = {}
    left: list[tuple[int, int, WrittenName, bool]] = []
    for i, span in enumerate(spans):
        found.append(None)
        if span.label is not Label.PATIENT and span.label is not Label.DOCTOR:
            continue
        clinician = span.label is Label.DOCTOR
        told = _told(
            note.text[span.start : span.end], follows_title(note.text, span.start), clinician, family, directory
        )
        if told is None:
            continue
        found[i] = [mention for _, mention in told]
        for k, (name, mention) in enumerate(told):
            if mention is None:
                left.append((i, k, name, clinician))
            elif mention.person is not None and mention.person.site:
                here[mention.token] = mention.person
    partial = []
    for entry in left:
        i, k, name, clinician = entry
        surface = note.text[spans[i].start : spans[i].end]
        parts = parts_alone(name, clinician=clinician)
        if not _is_full(parts):
            partial.append(entry)
            continue
        fitting = _fitting(name, (p for p in here.values() if p.site is clinician))
        if len(fitting) == 1:
            someone, parts = fitting[0]
        else:
            someone = _introduced(surface, parts, site=clinician)
            if len(here) < _MOST_INTRODUCED:
                here.setdefault(someone.token, someone)
        _set(found, i, k, Mention(someone.token, clinician, someone, parts))
    for i, k, name, clinician in partial:
        _set(found, i, k, _partial(name, clinician, here.values(), directory))
    return [None if names is None else tuple(m for m in names if m is not None) for names in found]


def _set(found: list[list[Mention | None] | None], i: int, k: int, mention: Mention) -> None:
    names = found[i]
    assert names is not None  # noqa: S101 - only spans that were read come here
    names[k] = mention


def _told(
    surface: str, titled: bool, clinician: bool, family: Family, directory: Directory
) -> tuple[tuple[WrittenName, Mention | None], ...] | None:
    """The names in a text, with whom the topics alone know each to mean."""
    key = (surface, titled, clinician)
    if key not in family.told:
        names = read_names(surface, titled)
        family.told[key] = (
            None if names is None else tuple((n, _known(n, clinician, family.people, directory)) for n in names)
        )
    return family.told[key]


def _known(name: WrittenName, clinician: bool, family: tuple[Person, ...], directory: Directory) -> Mention | None:
    """Whom the topics alone can tell it is."""
    kin = None if clinician else _best(name, family)
    if kin is not None:
        return kin
    words = sum(len(token.key) > 1 for token in name.tokens)
    if len(name.tokens) > 1 and words:
        colleagues = directory.colleagues(name)
        if len(colleagues) == 1:
            someone, parts = colleagues[0]
            return Mention(someone.token, True, someone, parts)
        if clinician and not colleagues and words > 1:
            return _best(name, family)
    return None


def _partial(name: WrittenName, clinician: bool, here: Iterable[Person], directory: Directory) -> Mention:
    """Whom a part of a name means, after every full name of the note is known."""
    fitting = _fitting(name, (p for p in here if p.site is clinician))
    if clinician and not fitting:
        fitting = directory.colleagues(name)
    if len(fitting) == 1:
        someone, fitted = fitting[0]
        return Mention(someone.token, someone.site, someone, fitted)
    parts = parts_alone(name, clinician=clinician)
    return Mention(("name", *(part.word for part in parts)), clinician, None, parts)


def _best(name: WrittenName, people: Iterable[Person]) -> Mention | None:
    """The person whom most words name exactly; of two the first, who is the patient before the relatives."""
    best: tuple[int, Mention] | None = None
    for someone in people:
        fitted = someone.fit(name)
        if fitted is not None and (best is None or fitted[0] > best[0]):
            best = fitted[0], Mention(someone.token, someone.site, someone, fitted[1])
    return best[1] if best else None


def _fitting(name: WrittenName, people: Iterable[Person]) -> list[tuple[Person, tuple[NamePart, ...]]]:
    """The people whose name it may be, two at the most: then it is ambiguous, however many more there are."""
    fitting = ((someone, fitted[1]) for someone in people if (fitted := someone.fit(name)) is not None)
    return list(islice(fitting, 2))


def _is_full(parts: tuple[NamePart, ...]) -> bool:
    written = {part.role for part in parts if not part.initial}
    return Role.GIVEN in written and Role.SURNAME in written


def _introduced(surface: str, parts: tuple[NamePart, ...], *, site: bool) -> Person:
    """The person of a full name that the topics do not know."""
    row = _row(surface, parts)
    given = next(part.word for part in parts if part.role is Role.GIVEN and not part.initial)
    return person(("named", given, letters(row[2])), [(given, *row[1:])], site=site)


def _patient(rows: tuple[Patient, ...]) -> Person:
    sex = next((row.sex for row in rows if row.sex), None)
    names = ((row.first_name, row.middle_name, row.last_name) for row in rows)
    return person(("patient", rows[0].patient_id), names, sex=sex)


def _relative(written: str) -> Person | None:
    """A relative from one entry of the topics, "Ann Smith", "Smith, Ann" or "Ann Smith (wife)"."""
    written = _ASIDE.sub("", written).strip()
    names = read_names(written, False)
    if names is None or len(names) != 1:
        return None
    parts = parts_alone(names[0], clinician=False)
    row = _row(written, parts)
    return person(("relative", letters(row[0]), letters(row[2])), [row])


def _row(surface: str, parts: tuple[NamePart, ...]) -> tuple[str, str, str]:
    """The given, middle and last name that are written, the last one with its particles."""
    named = {role: [p for p in parts if p.role is role and not p.initial] for role in Role}
    given, middle = (" ".join(surface[p.start : p.end] for p in named[role]) for role in (Role.GIVEN, Role.MIDDLE))
    last = ""
    if named[Role.SURNAME]:
        start = named[Role.SURNAME][0].start
        before = max((p.end for p in parts if p.end <= start), default=0)
        last = surface[before : named[Role.SURNAME][-1].end].strip(" ,.")
    return given, middle, last
