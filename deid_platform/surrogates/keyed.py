"""What stands in for each identifier of a note: people first, then everything else by its label.

Belongs here: bringing together who is meant, what is drawn for them and how it was written. Does not belong here:
the rules of each kind (`identity.py`, `names.py`, `numbers.py`, `places.py`, `institutions.py`, `written_dates.py`)
or which labels a policy replaces (`redaction/`).

Every surrogate is a function of the note, the topics and the secret: there is no table to steal. Patients and those
around them are keyed within the patient, providers and institutions within the site. Nothing that the topics say of
the note's own patient (names of the family, nicknames, street, city) is ever drawn for anybody in the patient's notes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import regex
from anyascii import anyascii

from deid_platform.keys import Keyring
from deid_platform.labels import Label
from deid_platform.notes import Note, Span, Topics
from deid_platform.surrogates import numbers, places
from deid_platform.surrogates.dates import note_shift_days
from deid_platform.surrogates.household import Household
from deid_platform.surrogates.identity import Directory, Mention, resolve
from deid_platform.surrogates.institutions import Institutions, stand_in_institution
from deid_platform.surrogates.names import Deck, letters, load_pools
from deid_platform.surrogates.numbers import Draw, keyed_draw
from deid_platform.surrogates.pools import Share
from deid_platform.surrogates.site_names import SiteNames
from deid_platform.surrogates.written_dates import shift_text
from deid_platform.surrogates.written_names import Role
from deid_platform.text.fold import fold_term

_CACHED_HOUSEHOLDS = 512
_LONGEST = 200  # code points of an identifier; a longer span is none that could be read
_APOSTROPHE = regex.compile(r"['’](?![^\W_])")
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:['’ʼ]\p{L}+)*")
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
    """

    def __init__(
        self, keyring: Keyring, topics: Topics | None, *, share: Share | None = None, links: Topics | None = None
    ) -> None:
        load_pools(share)
        self._keyring = keyring
        self._topics = topics
        self._share = share
        self._links = topics if links is None else links
        self._directory = Directory(topics)
        self._institutions = Institutions(topics)
        site_key = keyring.mac("surrogate", "site")
        self._site_deck, self._site_draw = Deck(site_key, share), keyed_draw(site_key)
        self._site_names = SiteNames(self._site_deck, self._directory)
        self._institution = lru_cache(maxsize=4096)(self._institution_of)
        self._household = lru_cache(maxsize=_CACHED_HOUSEHOLDS)(self._household_of)

    def __repr__(self) -> str:
        return "<Surrogates>"

    def __reduce__(self) -> tuple[Callable[..., Surrogates], tuple[Keyring, Topics | None]]:
        # Worker processes get the secret and the topics, and remember for themselves.
        return partial(Surrogates, share=self._share, links=self._links), (self._keyring, self._topics)

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
        if people:
            resolved = resolve(note, [spans[i] for i in people], self._directory)
            for i, mentions in zip(people, resolved, strict=True):
                drawn = None if mentions is None else self._name(household, surfaces[i], mentions)
                made[i] = drawn and _before_apostrophe(drawn, surfaces[i], note.text[spans[i].end :][:2])
        addresses = _addresses(note, spans)
        named = tuple(s for s, span in zip(surfaces, spans, strict=True) if span.label is Label.HOSPITAL and " " in s)
        days: int | None = None
        dates = tuple(surface for span, surface in zip(spans, surfaces, strict=True) if span.label is Label.DATE)
        for i, span in enumerate(spans):
            if span.label in _NAMES or not short[i]:
                continue
            if span.label is Label.DATE:
                days = note_shift_days(self._keyring, self._links, note) if days is None else days
                made[i] = shift_text(surfaces[i], days, language=note.language, note_date=note.note_date, beside=dates)
            elif span.label in (Label.HOSPITAL, Label.ORGANIZATION):
                made[i] = self._institution(surfaces[i], named)
            elif i in addresses:
                made[i] = self._address(household, note, span.label, surfaces[i], *addresses[i])
            else:
                made[i] = self._other(household, span.label, surfaces[i])
        return made

    def _institution_of(self, surface: str, here: tuple[str, ...]) -> str | None:
        return stand_in_institution(self._site_deck, self._site_draw, surface, self._institutions, here)

    def _household_of(self, scope: tuple[str, str]) -> Household:
        patient_id = scope[1] if scope[0] == "patient" else None
        rows = self._topics.patients_known_as(patient_id) if self._topics else ()
        key = self._keyring.mac("surrogate", *scope)
        return Household(key, lambda: self._directory.family(patient_id).people, rows, self._share)

    def _name(self, household: Household, surface: str, mentions: tuple[Mention, ...]) -> str | None:
        """A span's names with every part replaced; what stands between them stays."""
        key = (surface, *((m.token, m.site, m.parts, m.person.middle if m.person else ()) for m in mentions))
        if key not in household.said:
            household.said[key] = self._render(household, surface, mentions)
        return household.said[key]

    def _render(self, household: Household, surface: str, mentions: tuple[Mention, ...]) -> str | None:
        pieces: list[str] = []
        kept: list[str] = []
        names = household.names
        position = 0
        for mention in mentions:
            written: dict[Role, str] = {}
            for part in mention.parts:
                drawn = self._site_names.word(mention, part) if mention.site else names.word(mention, part)
                if drawn is None:
                    return None
                written[part.role] = letters(drawn)
                kept.append(surface[position : part.start])
                pieces += (kept[-1], _dressed(drawn, surface[part.start : part.end]))
                position = part.end
            if mention.site and (written.get(Role.GIVEN), written.get(Role.SURNAME)) in names.people:
                return None
        kept.append(surface[position:])
        pieces.append(kept[-1])
        # Titles and particles stay, but never a word that is a name in this family.
        if any(letters(word) in names.known for word in _WORD.findall("\n".join(kept))):
            return None
        made = "".join(pieces)
        if made == surface:
            return _other_initials(self._site_draw if all(m.site for m in mentions) else household.draw, surface)
        return made

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
        return None if drawn is None else _dressed(drawn, surface)

    def _area(self, household: Household, phone: str) -> str:
        """An area code where the place of this one has moved to, else where the patient has."""
        digits = "".join(filter(str.isdigit, phone)).removeprefix("1")
        return places.area_for(household.deck, digits[:3]) or household.area

    def _other(self, household: Household, label: Label, surface: str) -> str | None:
        draw = household.draw
        match label:
            case Label.STREET:
                return places.stand_in_street(household.deck, draw, surface, household.streets)
            case Label.PHONE | Label.FAX:
                return numbers.stand_in_phone(draw, surface, self._area(household, surface), household.lines)
            case Label.SSN:
                return numbers.stand_in_ssn(draw, surface)
            case Label.EMAIL:
                return _email(draw, household, surface)
            case Label.URL:
                return numbers.stand_in_url(draw, surface)
            case Label.IPADDR:
                return numbers.stand_in_address(draw, surface)
            case Label.USERNAME:
                return (numbers.scrambled(self._site_draw, surface) or None) if _is_plain(surface) else None
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


def _dressed(drawn: str, surface: str) -> str:
    """A name in the case of the original, and without accents where that has none."""
    if surface.isascii() and not drawn.isascii():
        drawn = anyascii(drawn)
    if surface.isupper() and (len(surface) > 1 or len(drawn) == 1):
        return drawn.upper()
    return drawn.lower() if surface.islower() else drawn


def _before_apostrophe(drawn: str, surface: str, behind: str) -> str:
    """A name before an apostrophe alone, which belongs to a final s: "the Walters' son"."""
    if not _APOSTROPHE.match(behind) or surface[-1:] not in "sS" or drawn[-1:].casefold() in "sxz":
        return drawn
    return drawn + ("S" if surface.isupper() else "s")


def _other_initials(draw: Draw, surface: str) -> str | None:
    """Other letters, for initials that came out as they were."""
    return numbers.scrambled(draw, surface) if surface.isascii() and len(surface) <= 8 else None


def _email(draw: Draw, household: Household, surface: str) -> str | None:
    """An address at a domain for examples; the family's names in it become their surrogates."""
    local, at, host = surface.rpartition("@")
    if not at or not local.isascii():
        return None
    changed = _RUN.sub(lambda run: household.names.plain_word(run[0]) or numbers.scrambled(draw, run[0]), local)
    return f"{changed}@{numbers.domain(draw, host)}"


def _is_plain(surface: str) -> bool:
    return bool(surface) and surface.isascii() and any(c.isalnum() for c in fold_term(surface))
