"""A locale: everybody and everything that is drawn of one country or language.

Belongs here: the one class that a corpus asks. Does not belong here: what it is made of: names (`naming.py`), towns
(`places.py`), streets and institutions (`words.py`), numbers (`numbers/`).

All is drawn from the `Dice` that is given, so that the same dice draw the same. Whatever takes a `share` draws names,
towns and words of that share alone; a corpus hands the same share to all.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import NamedTuple

from anyascii import anyascii

from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.labels import Label
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales.faker_values import or_of_faker
from deid_platform.surrogates.locales.institutions import abbreviation
from deid_platform.surrogates.locales.name_pools import PARTICLES, Pool, names_of
from deid_platform.surrogates.locales.naming import draw_person
from deid_platform.surrogates.locales.numbers import NUMBERS
from deid_platform.surrogates.locales.patterns import pattern
from deid_platform.surrogates.locales.places import towns
from deid_platform.surrogates.locales.records import Address, Person
from deid_platform.surrogates.locales.words import Words, words
from deid_platform.surrogates.pools import Share

UNLISTED = 0.7
"""The share of drawn names that detection has on no list of names, where the pools allow it."""
INSTITUTIONS = ("hospital", "practice", "pharmacy", "insurer", "employer", "school", "landmark")
_DOMAINS = ("example.org", "example.com", "example.net")
_MAILBOXES = ("{first}.{last}", "{initial}{last}", "{first}_{last}", "{last}.{first}", "{first}{year}", "{last}{year}")
_POSTCODE_TAIL = {"en_GB": " #??", "en_CA": " #?#"}


class _About(NamedTuple):
    country: str
    title: str
    writes: str  # the country's name on an envelope
    language: str


_LOCALES: Mapping[str, _About] = {
    "en_US": _About("US", "American names, United States", "USA", "en"),
    "en_GB": _About("GB", "British names, Great Britain", "United Kingdom", "en"),
    "en_AU": _About("AU", "Australian names, Australia", "Australia", "en"),
    "en_CA": _About("CA", "Canadian names, Canada", "Canada", "en"),
    "es_ES": _About("ES", "Spanish names, Spain", "España", "es"),
    "it_IT": _About("IT", "Italian names, Italy", "Italia", "it"),
    "fr_FR": _About("FR", "French names, France", "France", "fr"),
    "zh": _About("CN", "Mandarin names, China", "China", "en"),
    "hi": _About("IN", "Hindi names, India", "India", "en"),
    "bn": _About("BD", "Bengali names, Bangladesh", "Bangladesh", "en"),
    "ar": _About("SA", "Arabic names, Saudi Arabia", "Saudi Arabia", "en"),
}
LOCALES = tuple(_LOCALES)
"""The locales, the American one first."""


@cache
def locale(name: str) -> Locale:
    """The locale of that name.

    Raises:
        DeidError: LOCALE_UNKNOWN; the reference names the nearest one and all of them.
    """
    if name not in _LOCALES:
        raise DeidError(Code.LOCALE_UNKNOWN, did_you_mean(name, LOCALES))
    return Locale(name)


class Locale:
    """Draws of one locale; get one by `locale(name)`.

    Attributes:
        name: One of `LOCALES`.
        country: Its country's ISO code.
        title: Whose names and which country, for people to read.
        language: The language of its institutions' names, ISO 639-1.
        national_id_label: The label of what `national_id` draws.
    """

    def __init__(self, name: str) -> None:
        about = _LOCALES[name]
        self.name = name
        self.country = about.country
        self.title = about.title
        self.language = about.language
        self._writes = about.writes
        self._numbers = NUMBERS[name]
        self.national_id_label: Label = self._numbers.label

    def __repr__(self) -> str:
        return f"<Locale {self.name}>"

    def person(
        self,
        dice: Dice,
        sex: str | None,
        share: Share,
        *,
        surname: str | None = None,
        listed: bool | None = None,
        unlisted: float = UNLISTED,
    ) -> Person:
        """Somebody.

        Args:
            dice: Where chance comes from.
            sex: F, M, or None for either.
            share: Only names of this share.
            surname: That of a relative; drawn where it is None.
            listed: Only names that stand on one of detection's lists of names, or only others; None for both.
            unlisted: With `listed` None, the share of names on no list; less where a locale has too few of them.
        """
        sex = sex or ("F" if dice.chance(0.5) else "M")
        return draw_person(self.name, dice, sex, share, surname=surname, listed=listed, unlisted=unlisted)

    def address(self, dice: Dice, share: Share | None = None) -> Address:
        """An address whose city, state, postcode and area code belong together."""
        town = dice.pick(towns(self.name, share))
        postcode = dice.pick(town.postcodes)
        tail = _POSTCODE_TAIL.get(self.name, "")
        return Address(
            or_of_faker(self._words.draw("street", dice, share, town.city), "street", self.name, share),
            town.city,
            town.state,
            pattern(dice, postcode + tail) if tail or "#" in postcode else postcode,
            self._writes,
            town.area,
            town.code,
        )

    def town(self, dice: Dice, share: Share | None = None) -> str:
        """The name of a town."""
        return dice.pick(towns(self.name, share)).city

    def phone(self, dice: Dice, place: Address | None = None) -> str:
        """A line where that place is, or anywhere; `numbers/` says from which ranges."""
        return self._numbers.phone(dice, place.area if place else dice.pick(towns(self.name)).area)

    def mobile(self, dice: Dice) -> str:
        """A mobile telephone."""
        return self._numbers.mobile(dice)

    def national_id(self, dice: Dice, person: Person, birth: date) -> str:
        """What the country knows a person by; see `national_id_label`."""
        return self._numbers.national_id(dice, person, birth)

    def health_plan(self, dice: Dice) -> str:
        """A number of a health insurance."""
        return self._numbers.plan(dice) if self._numbers.plan else self._plain("plan", dice)

    def mrn(self, dice: Dice) -> str:
        """A medical record number."""
        return self._plain("mrn", dice)

    def license(self, dice: Dice) -> str:
        """A doctor's licence or registration."""
        return self._numbers.license(dice) if self._numbers.license else self._plain("license", dice)

    def plate(self, dice: Dice) -> str:
        """A vehicle's plate."""
        return or_of_faker(self._plain("plate", dice), "plate", self.name, None)

    def account(self, dice: Dice) -> str:
        """An account, of a bank or of a hospital's patient."""
        return self._numbers.account(dice) if self._numbers.account else self._plain("account", dice)

    def hospital(self, dice: Dice, place: Address | None = None, share: Share | None = None) -> tuple[str, str]:
        """A hospital and the abbreviation that its staff use."""
        name = self._named("hospital", dice, place, share)
        return name, abbreviation(name)

    def practice(self, dice: Dice, place: Address | None = None, share: Share | None = None) -> str:
        """A doctor's practice, a clinic or a health centre."""
        return self._named("practice", dice, place, share)

    def employer(self, dice: Dice, place: Address | None = None, share: Share | None = None) -> str:
        """Where somebody works."""
        return or_of_faker(self._named("employer", dice, place, share), "employer", self.name, share)

    def pharmacy(self, dice: Dice, place: Address | None = None, share: Share | None = None) -> str:
        """A pharmacy."""
        return self._named("pharmacy", dice, place, share)

    def insurer(self, dice: Dice, place: Address | None = None, share: Share | None = None) -> str:
        """A health insurance."""
        return self._named("insurer", dice, place, share)

    def school(self, dice: Dice, place: Address | None = None, share: Share | None = None) -> str:
        """A school or a university."""
        return self._named("school", dice, place, share)

    def landmark(self, dice: Dice, place: Address | None = None, share: Share | None = None) -> str:
        """A place that people know by its name: a park, a church, a home for the old."""
        return self._named("landmark", dice, place, share)

    def profession(self, dice: Dice, language: str | None = None) -> str:
        """What somebody is by trade, in small letters.

        Args:
            dice: Where chance comes from.
            language: ISO 639-1, that of the note; that of the locale for None, and English where there is no list.
        """
        trades = words("professions")
        wanted = language or self.language
        return trades.draw(wanted if wanted in trades else "en", dice)

    def user_name(self, dice: Dice, person: Person) -> str:
        """What somebody logs in with: ASCII letters and digits."""
        first, last = ascii_slug(person.first), _first_surname(person.last)
        way = dice.between(0, 3)
        if way == 0:
            return f"{first[:1]}{last}"
        if way == 1:
            return f"{last[:5]}{first[:2]}{dice.digits(2)}"
        return f"{first}.{last}" if way == 2 else f"{first[:1]}{last[:6]}{dice.between(1, 99)}"

    def email(self, dice: Dice, person: Person) -> str:
        """An address under a domain that is kept for examples (RFC 2606)."""
        first, last = ascii_slug(person.first), _first_surname(person.last)
        box = dice.pick(_MAILBOXES).format(first=first, last=last, initial=first[:1], year=dice.between(40, 99))
        return f"{box}@{dice.pick(_DOMAINS)}"

    def url(self, dice: Dice, institution: str) -> str:
        """The web address of an institution, under a domain that is kept for examples."""
        host = ascii_slug(institution)[:24]
        return dice.pick(("www.{}.{}", "https://www.{}.{}", "https://{}.{}/", "http://www.{}.{}/info")).format(
            host, dice.pick(_DOMAINS)
        )

    def counts(self, share: Share | None = None) -> Mapping[str, int]:
        """How many distinct values there are of each type; of names, `..._unlisted` how many of them are on no list.

        Compound names, second surnames and numbers are not counted: of the first there are as many as pairs.
        """
        names, places = names_of(self.name, share), towns(self.name, share)
        parts: dict[str, Pool] = {"given_F": names.given["F"], "given_M": names.given["M"], "surnames": names.surnames}
        found = {part: len(pool) for part, pool in parts.items()}
        found |= {f"{part}_unlisted": len(pool.unlisted) for part, pool in parts.items()}
        found |= {"cities": len({town.city for town in places}), "postcodes": _postcodes(self.name, share)}
        found["streets"] = self._words.ways("street", share)
        return found | {kind: self._words.ways(kind, share) for kind in INSTITUTIONS}

    @property
    def _words(self) -> Words:
        return words(self.name)

    def _plain(self, name: str, dice: Dice) -> str:
        return pattern(dice, dice.pick(self._words.entries(name)))

    def _named(self, name: str, dice: Dice, place: Address | None, share: Share | None) -> str:
        city = place.city if place else dice.pick(towns(self.name, share)).city
        return self._words.draw(name, dice, share, city)


def ascii_slug(name: str) -> str:
    """The ASCII letters and digits of a name in small letters."""
    return "".join(c for c in (name if name.isascii() else anyascii(name)).lower() if c.isalnum())


def _first_surname(last: str) -> str:
    """The first surname with what stands before it, as one word: "Al Hamawi" is alhamawi, "Soto Mora" soto."""
    words = last.split(" ")
    end = next((at for at, word in enumerate(words) if word.lower() not in PARTICLES), 0)
    return ascii_slug("".join(words[: end + 1]))


def _postcodes(name: str, share: Share | None) -> int:
    tail = _POSTCODE_TAIL.get(name, "")
    return sum(
        10 ** (stem + tail).count("#") * 23 ** (stem + tail).count("?")
        for town in towns(name, share)
        for stem in town.postcodes
    )
