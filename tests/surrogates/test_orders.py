"""Secret orders: every number has one place, every place one number, and the secret alone says which."""

import hashlib
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deid_platform.surrogates.orders import Order


@settings(max_examples=60)
@given(st.binary(min_size=1, max_size=40), st.integers(1, 400))
def test_every_number_has_one_rank_and_every_rank_one_number(seed: bytes, size: int):
    order = Order(seed, size)
    ranks = [order.rank(number) for number in range(size)]
    assert sorted(ranks) == list(range(size))
    assert [order.at(rank) for rank in ranks] == list(range(size))


def test_the_order_depends_on_the_seed_alone():
    one, again, other = (Order(seed, 200) for seed in (b"one", b"one", b"other"))
    numbers = range(200)
    assert [one.rank(n) for n in numbers] == [again.rank(n) for n in numbers]
    assert sum(one.rank(n) == other.rank(n) for n in numbers) < 10


def test_the_order_is_the_same_on_every_machine():
    assert [Order(b"seed", 20).at(rank) for rank in range(5)] == [4, 1, 13, 10, 6]


@pytest.mark.parametrize("size", [17, 45, 100])
def test_whoever_comes_next_may_be_anybody(size: int):
    # Chi-squared over who comes after the first number, under 2000 seeds; its mean is size - 2, and no more than six
    # standard deviations above that is asked for.
    after: Counter[int] = Counter()
    for n in range(2000):
        order = Order(hashlib.sha256(str(n).encode()).digest(), size)
        after[order.at((order.rank(0) + 1) % size)] += 1
    assert after[0] == 0
    expected = 2000 / (size - 1)
    squares = sum((after[number] - expected) ** 2 / expected for number in range(1, size))
    assert squares < (size - 2) + 6 * (2 * (size - 2)) ** 0.5


def test_knowing_where_one_number_comes_says_nothing_of_its_neighbour():
    steps = Counter(
        (order.rank(1) - order.rank(0)) % 50
        for order in (Order(hashlib.sha256(str(n).encode()).digest(), 50) for n in range(3000))
    )
    expected = 3000 / 49
    squares = sum((steps[step] - expected) ** 2 / expected for step in range(1, 50))
    assert squares < 48 + 6 * (2 * 48) ** 0.5


def test_its_repr_shows_nothing():
    assert repr(Order(b"secret", 9)) == "<Order>"
