"""Faker's generators: where they are run, with names of the share alone, and nothing else of a corpus changed."""

from __future__ import annotations

import sys

import pytest

from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import faker_values, locale
from deid_platform.surrogates.locales.faker_values import kinds_of_faker, or_of_faker
from deid_platform.surrogates.locales.name_pools import in_share, names_of
from deid_platform.surrogates.pools import Share

CELLS = [(kind, where) for kind, locales in kinds_of_faker().items() for where in locales]
SHARES = (Share.TRAINING, Share.HELD_OUT)


def of_faker(kind: str, where: str, share: Share, count: int = 200) -> list[str]:
    """Values that stand in place of others."""
    drawn = {str(n): or_of_faker(str(n), kind, where, share) for n in range(count)}
    return [value for before, value in drawn.items() if value != before]


@pytest.mark.parametrize(("kind", "where"), CELLS)
def test_half_of_the_values_are_of_faker_and_always_the_same(kind: str, where: str) -> None:
    found = of_faker(kind, where, Share.TRAINING)
    assert 60 < len(found) < 140
    assert len(set(found)) > 0.9 * len(found)
    assert found == of_faker(kind, where, Share.TRAINING)
    assert not any("\n" in value or "{{" in value or value != value.strip() for value in found)


@pytest.mark.parametrize(("kind", "where"), [it for it in CELLS if it[0] != "plate"])
@pytest.mark.parametrize("share", SHARES)
def test_whoever_they_are_named_after_is_of_the_share(
    kind: str, where: str, share: Share, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    drawn = faker_values._People._drawn

    def noting(self: faker_values._People, pool: object) -> str:
        asked.append(drawn(self, pool))
        return asked[-1]

    monkeypatch.setattr(faker_values._People, "_drawn", noting)
    text = " ".join(of_faker(kind, where, share))
    assert len(asked) > 40
    assert all(name in text and in_share(name, share) for name in asked)


@pytest.mark.parametrize(("kind", "where"), [it for it in CELLS if it[0] == "employer"])
def test_a_company_of_faker_is_told_from_a_person(kind: str, where: str) -> None:
    surnames = {name for pool in (names_of(where, None).surnames,) for name in (*pool.listed, *pool.unlisted)}
    found = of_faker(kind, where, Share.HELD_OUT)
    assert [value for value in found if value in surnames] == []
    assert all(" " in value for value in found)


@pytest.mark.parametrize("where", ["en_GB", "zh", "hi", "bn", "ar"])
def test_where_faker_writes_no_names_of_the_country_our_own_stay(where: str) -> None:
    for kind in kinds_of_faker():
        assert or_of_faker("as drawn", kind, where, Share.TRAINING) == "as drawn"


def test_without_a_share_nothing_is_named_after_anybody() -> None:
    assert {or_of_faker(str(n), "employer", "en_US", None) for n in range(50)} == set(map(str, range(50)))


@pytest.mark.parametrize("where", ["es_ES", "fr_FR"])
def test_what_a_corpus_draws_next_is_the_same_with_and_without_faker(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn() -> list[tuple[str, str, str]]:
        dice, it = Dice(7, where), locale(where)
        some = []
        for _ in range(30):
            address = it.address(dice, Share.TRAINING)
            it.employer(dice, address, Share.TRAINING)
            it.plate(dice)
            some.append((address.city, address.postcode, it.phone(dice, address)))
        return some

    with_faker = drawn()
    module = sys.modules["deid_platform.surrogates.locales.locale"]  # the package has a function of that name
    monkeypatch.setattr(module, "or_of_faker", lambda value, *_: value)
    assert drawn() == with_faker
