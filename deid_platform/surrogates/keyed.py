"""What stands in for each identifier of a note: people first, then everything else by its label.

Belongs here: bringing together who is meant, what is drawn for them and how it was written. Does not belong here:
the rules of each kind (`identity.py`, `names.py`, `people.py`, `numbers.py`, `places.py`, `institutions.py`,
`written_dates.py`) or which labels a policy replaces (`redaction/`).

Every surrogate is a function of the note, the topics and the secret: there is no table to steal. Patients and those
around them are keyed within the patient, providers and institutions within the site. Nothing that the topics say of
the note's own patient (names of the family, nicknames, street, city) is ever drawn for anybody in the patient's notes.
A policy may have people and numbers keyed within the note as well, or change people's within it (`consistency.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial

import regex

from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Note, Span, Topics
from deid_platform.surrogates import numbers, places
from deid_platform.surrogates.consistency import Chain, Consistency
from deid_platform.surrogates.date_order import NOTHING_SAID, DateWriting
from deid_platform.surrogates.dates import DateShift, GivenShifts, note_shift_days
from deid_platform.surrogates.household import Household
from deid_platform.surrogates.household_names import HouseholdNames
from deid_platform.surrogates.identity import Directory, Mention, resolve
from deid_platform.surrogates.institutions import Institutions, stand_in_institution
from deid_platform.surrogates.names import Deck, load_pools
from deid_platform.surrogates.numbers import Draw, keyed_draw
from deid_platform.surrogates.people import People, dressed, written
from deid_platform.surrogates.pools import Share
from deid_platform.surrogates.site_names import SiteNames
from deid_platform.surrogates.written_dates import shift_text
from deid_platform.surrogates.written_names import Role
from deid_platform.text.fold import fold_term

_CACHED_HOUSEHOLDS = 512
_LONGEST = 200  # code points of an identifier; a longer span is none that could be read
_APOSTROPHE = regex.compile(r"['’](?![^\W_])")
_RUN = regex.compile(r"[A-Za-z]+|\d+")
_JOINT = regex.compile(r"\s*,?\s*")
_NAMES = frozenset((Label.PATIENT, Label.DOCTOR))
_IDS = frozenset(
    {
        *(Label.MEDICALRECORD, Label.HEALTHPLAN, Label.ACCOUNT, Label.LICENSE, Label.VEHICLE, Label.DEVICE),
        *(Label.BIOID, Label.IDNUM),
    }
)


class Surrogates:
    """Says what stands in for each identifier of a note.

    Args:
        keyring: Signs everything that is drawn.
        topics: Who the people and institutions are, as far as that is known.
        share: Draws names of people from this share alone: training data must not use up what is measured on.
            From a third of the names, strangers more often get the same one.
        links: Topics that say who shares whose date shift, where more is known of that than these tell.
        consistency: Where a person and a number have one surrogate.
        date_shift: Among which shifts a patient's is.
        writing: How the site writes dates in numbers.
        given: Offsets of dates from outside.

    Attributes:
        consistency, date_shift: As given.
    """

    def __init__(
        self,
        keyring: Keyring,
        topics: Topics | None,
        *,
        share: Share | None = None,
        links: Topics | None = None,
        consistency: Consistency = Consistency.CONSISTENT,
        date_shift: DateShift = DateShift.WEEKS,
        writing: DateWriting = NOTHING_SAID,
        given: GivenShifts | None = None,
    ) -> None:
        load_pools(share)
        self._keyring = keyring
        self._topics = topics
        self._share = share
        self._links = topics if links is None else links
        self.consistency, self.date_shift = consistency, date_shift
        self._writing = writing
        self._given = given
        self._directory = Directory(topics)
        self._institutions = Institutions(topics)
        site_key = keyring.mac("surrogate", "site")
        self._site_deck, self._site_draw = Deck(site_key, share), keyed_draw(site_key)
        self._site_names = SiteNames(self._site_deck, self._directory)
        self._institution = lru_cache(maxsize=4096)(self._institution_of)
        self._household = lru_cache(maxsize=_CACHED_HOUSEHOLDS)(self._household_of)
        self._people = lru_cache(maxsize=_CACHED_HOUSEHOLDS)(self._people_of)

    def __repr__(self) -> str:
        return "<Surrogates>"

    def __reduce__(self) -> tuple[Callable[..., Surrogates], tuple[Keyring, Topics | None]]:
        # Worker processes get the secret and the topics, and remember for themselves.
        made = partial(
            Surrogates,
            share=self._share,
            links=self._links,
            consistency=self.consistency,
            date_shift=self.date_shift,
            writing=self._writing,
            given=self._given,
        )
        return made, (self._keyring, self._topics)

    def knowing(self, topics: Topics) -> Surrogates:
        """The same surrogates, by other topics."""
        return Surrogates(
            self._keyring,
            topics,
            share=self._share,
            links=None if self._links is self._topics else self._links,
            consistency=self.consistency,
            date_shift=self.date_shift,
            writing=self._writing,
        )

    def replace(self, note: Note, spans: Sequence[Span]) -> list[str | None]:
        """The surrogate of each span.

        Args:
            note: The note. One without a patient is a scope of its own.
            spans: What is to be replaced, in the order of the text.

        Returns:
            One entry a span; None where a tag has to stand: for labels that nothing plausible stands in for
            (age, profession, country, other places), and for texts that cannot be read whole.
        """
        scope = ("note", note.note_id) if note.patient_id is None else ("patient", note.patient_id)
        household = self._household(scope)
        surfaces = [note.text[span.start : span.end] for span in spans]
        made: list[str | None] = [None] * len(spans)
        short = [len(surface) <= _LONGEST for surface in surfaces]
        people = [i for i, span in enumerate(spans) if span.label in _NAMES and short[i]]
        resolved = resolve(note, [spans[i] for i in people], self._directory) if people else []
        sets = self._sets(note, household, scope, [mention for each in resolved for mention in each or ()])
        chain = Chain(sets(0).number) if self.consistency is Consistency.VARIED else None
        for i, mentions in zip(people, resolved, strict=True):
            told = [(m, sets(chain.next((str(m.site), *m.token)) if chain else 0)) for m in mentions or ()]
            drawn = written(surfaces[i], told) if told else None
            made[i] = drawn and _before_apostrophe(drawn, surfaces[i], note.text[spans[i].end :][:2])
        addresses = _addresses(note, spans)
        named = tuple(s for s, span in zip(surfaces, spans, strict=True) if span.label is Label.HOSPITAL and " " in s)
        days: int | None = None
        dates = tuple(surface for span, surface in zip(spans, surfaces, strict=True) if span.label is Label.DATE)
        for i, span in enumerate(spans):
            if span.label in _NAMES or not short[i]:
                continue
            if span.label is Label.DATE:
                if days is None:
                    days = note_shift_days(self._keyring, self._links, note, self.date_shift, self._given)
                made[i] = shift_text(
                    surfaces[i],
                    days,
                    language=note.language,
                    note_date=note.note_date,
                    beside=dates,
                    writing=self._writing,
                )
            elif span.label in (Label.HOSPITAL, Label.ORGANIZATION):
                made[i] = self._institution(surfaces[i], named)
            elif i in addresses:
                made[i] = self._address(household, note, span.label, surfaces[i], *addresses[i])
            else:
                made[i] = self._other(household, sets(0), span.label, surfaces[i])
        return made

    def _sets(
        self, note: Note, household: Household, scope: tuple[str, str], mentions: Sequence[Mention]
    ) -> Callable[[int], People]:
        """The sets of surrogates of people that a note draws from: one after another where they vary, else the first.

        Numbers are drawn with the first.
        """
        if self.consistency is Consistency.CONSISTENT:
            return lambda _: self._people(scope)
        # Of staff, those whom this note names: who has one surname and who has another is asked here alone.
        surnames = {
            word: None
            for mention in mentions
            if mention.site
            for word in (
                *(mention.person.surname if mention.person else ()),
                *(part.word for part in mention.parts if part.role is Role.SURNAME and not part.initial),
            )
        }

        def drawn(turn: int) -> People:
            mine, ours = (
                self._keyring.mac("surrogate-note", of, *scope, note.note_id, str(turn)) for of in ("patient", "site")
            )
            deck, site_deck = (
                Deck(key, self._share, lasting=lasting)
                for key, lasting in ((mine, household.deck), (ours, self._site_deck))
            )
            return People(
                lambda: household.names_from(deck),
                lambda: SiteNames(site_deck, self._directory, surnames),
                deck,
                keyed_draw(mine),
                keyed_draw(ours),
            )

        return cache(drawn)

    def _institution_of(self, surface: str, here: tuple[str, ...]) -> str | None:
        return stand_in_institution(self._site_deck, self._site_draw, surface, self._institutions, here)

    def _household_of(self, scope: tuple[str, str]) -> Household:
        patient_id = scope[1] if scope[0] == "patient" else None
        rows = self._topics.patients_known_as(patient_id) if self._topics else ()
        key = self._keyring.mac("surrogate", *scope)
        return Household(key, lambda: self._directory.family(patient_id).people, rows, self._share)

    def _people_of(self, scope: tuple[str, str]) -> People:
        """The one set of surrogates of a patient's notes."""
        household = self._household(scope)
        return People(
            lambda: household.names_from(household.deck),
            lambda: self._site_names,
            household.deck,
            household.draw,
            self._site_draw,
        )

    def _address(
        self, household: Household, note: Note, label: Label, surface: str, city: str | None, state: str | None
    ) -> str | None:
        """A city, state or ZIP code that agrees with the others of its line."""
        code = places.home_state(city, state) or household.state_of(city, surface if label is Label.ZIP else None)
        if label is Label.STATE:
            return places.written_state(household.deck, surface)
        place = places.place_for(household.deck, city or household.city_of(surface), code, household.cities)
        if label is Label.ZIP:
            return places.stand_in_zip(household.draw, surface, place, note.language, household.numbers)
        drawn = places.stand_in_city(household.deck, surface, place, note.language)
        return None if drawn is None else dressed(drawn, surface)

    def _area(self, household: Household, phone: str) -> str:
        """An area code where the place of this one has moved to, else where the patient has."""
        digits = "".join(filter(str.isdigit, phone)).removeprefix("1")
        return places.area_for(household.deck, digits[:3]) or household.area

    def _other(self, household: Household, people: People, label: Label, surface: str) -> str | None:
        draw = people.draw
        match label:
            case Label.STREET:
                return places.stand_in_street(household.deck, household.draw, surface, household.streets)
            case Label.PHONE | Label.FAX:
                return numbers.stand_in_phone(draw, surface, self._area(household, surface), household.lines)
            case Label.SSN:
                return numbers.stand_in_ssn(draw, surface)
            case Label.EMAIL:
                return _email(draw, people.names, surface)
            case Label.URL:
                return numbers.stand_in_url(draw, surface)
            case Label.IPADDR:
                return numbers.stand_in_address(draw, surface)
            case Label.USERNAME:
                return (numbers.scrambled(people.site_draw, surface) or None) if _is_plain(surface) else None
            case label if label in _IDS:
                return numbers.stand_in_number(draw, surface, household.numbers)
            case _:
                return None


def _addresses(note: Note, spans: Sequence[Span]) -> dict[int, tuple[str | None, str | None]]:
    """The city and the state of the line that each city, state and ZIP code belongs to."""
    found: dict[int, tuple[str | None, str | None]] = {}
    line: list[int] = []
    kinds = (Label.CITY, Label.STATE, Label.ZIP)
    for i, span in enumerate((*spans, None)):
        if span is not None and span.label not in kinds:
            continue
        joined = (
            span is not None
            and line
            and kinds.index(span.label) > kinds.index(spans[line[-1]].label)
            and _JOINT.fullmatch(note.text, spans[line[-1]].end, span.start)
        )
        if not joined:
            written = {spans[k].label: note.text[spans[k].start : spans[k].end] for k in line}
            found.update(dict.fromkeys(line, (written.get(Label.CITY), written.get(Label.STATE))))
            line = []
        if span is not None:
            line.append(i)
    return found


def _before_apostrophe(drawn: str, surface: str, behind: str) -> str:
    """A name before an apostrophe alone, which belongs to a final s: "the Walters' son"."""
    if not _APOSTROPHE.match(behind) or surface[-1:] not in "sS" or drawn[-1:].casefold() in "sxz":
        return drawn
    return drawn + ("S" if surface.isupper() else "s")


def _email(draw: Draw, names: HouseholdNames, surface: str) -> str | None:
    """An address at a domain for examples; the family's names in it become their surrogates."""
    local, at, host = surface.rpartition("@")
    if not at or not local.isascii():
        return None
    changed = _RUN.sub(lambda run: names.plain_word(run[0]) or numbers.scrambled(draw, run[0]), local)
    return f"{changed}@{numbers.domain(draw, host)}"


def _is_plain(surface: str) -> bool:
    return bool(surface) and surface.isascii() and any(c.isalnum() for c in fold_term(surface))
