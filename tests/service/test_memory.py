"""What grows with requests: nothing without a bound, and no process that reads them lives for long."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256

import pytest
from service_client import InThisProcess, client_of, note, service_of

from deid_platform.notes import Note
from deid_platform.service import setting_up
from deid_platform.service.setting_up import job_of, staff_of
from deid_platform.service.work import Asked

POLICY = "safe_harbor_plus_providers"
TEXT = "Ms. {0}{1} was seen on 3/{2}/2019 by Dr. {1}{0}. MRN 44{2}902.\n\nMs. {0}{1} lives at 12 {0} Street."
FIRST = ("Ash", "Black", "Hart", "Raven", "Thorn", "Wood")
LAST = ("field", "ford", "ley", "wick", "worth")


def asked(number: int, policy: str = POLICY) -> Asked:
    """A request unlike any other up to 30."""
    first, last = FIRST[number % len(FIRST)], LAST[number % len(LAST)]
    return Asked((Note(f"n{number}", TEXT.format(first, last, 1 + number % 28), patient_id="p"),), (), policy)


def unbounded_caches() -> dict[str, int]:
    """Entries of each cache that has no bound."""
    caches = (one for one in gc.get_objects() if isinstance(one, functools._lru_cache_wrapper))
    return {
        f"{cache.__module__}.{cache.__qualname__}": cache.cache_info().currsize
        for cache in caches
        if cache.cache_info().maxsize is None
    }


@pytest.mark.parametrize("policy", [POLICY, "surrogate"])
def test_no_cache_without_a_bound_grows_with_the_notes(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEID_SECRET", sha256(b"memory").hexdigest())
    staff = InThisProcess(policies=[policy], site="north")

    def ask(numbers: range) -> None:
        for number in numbers:
            ((outcome,),) = staff.answer([asked(number, policy)])[0]
            assert outcome.withheld is None

    ask(range(10))
    before = unbounded_caches()
    assert before
    ask(range(10, 30))
    grown = {name: size - before.get(name, 0) for name, size in unbounded_caches().items()}
    assert {name: more for name, more in grown.items() if more > 10} == {}


def test_metrics_have_a_line_an_address_and_none_a_client_or_a_note() -> None:
    client = client_of(service_of(InThisProcess()))

    def ask(numbers: range) -> int:
        for number in numbers:
            client.post("/v1/redact", json={"notes": [note(f"Seen by Dr. Reed {number}", note_id=f"n{number}")]})
            client.get(f"/{number}", headers={"User-Agent": str(number)})
        return len(client.get("/metrics").text.splitlines())

    ask(range(1))  # its own line is counted after it was answered
    assert ask(range(1, 2)) == ask(range(2, 12))


@pytest.fixture
def renewed(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """One process of the service, for two requests each time."""
    monkeypatch.setattr(setting_up, "RENEWED_AFTER", 2)
    staff = staff_of(job_of(policies=[POLICY], detector="rules"), 1)
    with closing(staff):
        try:
            yield staff
        finally:
            staff.kill()


@pytest.mark.process
@pytest.mark.slow
def test_a_process_ends_after_some_requests_and_costs_no_answer(renewed) -> None:
    worker = renewed._workers[0]
    processes = []
    for number in range(6):
        ((outcome,),) = renewed.answer([asked(number)])[0]
        assert outcome.withheld is None
        processes.append(worker._process)
    first, second, third = processes[::2]
    assert processes == [first, first, second, second, third, third]
    assert len({first, second, third}) == 3
