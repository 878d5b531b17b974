"""What every corpus reader promises, whatever its format.

A format's test lays out a feed of its own and calls `check_reader` with a function that makes a reader
over it and one that writes a file of a delivery anew, with other content. The feed needs:

- two deliveries or more, of different content, and a folder or file that is no delivery where the
  format knows such a thing;
- over all deliveries at least one good note, one refused note, one topic row, one refused topic row, one
  withdrawal each of a note and of a patient, one rejoining and one refused rejoining;
- `MARKER` inside every value: ids, names, texts, and whatever is wrong in the refused rows, their file
  names included. It must come out in records only, never in a rejection, a repr or an error.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterator
from dataclasses import fields

import pytest

from deid_platform.corpora import Reader, Reason, Rejection, Role
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery, Facility, Note, Patient, Provider, Rejoining, Topics, Withdrawal

MARKER = "Zqxmark7"


def check_reader(make_reader: Callable[[], Reader], rewrite: Callable[[Delivery], object]) -> None:
    """Asserts the whole contract on one reader over one feed; the feed's files are changed at the end."""
    reader = make_reader()
    deliveries = reader.deliveries()
    _deliveries_are_ordered(deliveries)
    _reading_again_gives_the_same(reader, make_reader(), deliveries)
    _reading_survives_the_way_to_a_worker(reader, deliveries)
    _records_are_sound(reader, deliveries)
    _refusals_go_by_their_role(reader, deliveries)
    _withdrawals_are_checked_against_what_is_known(reader, deliveries)
    _rejoinings_name_each_patient_once(reader, deliveries)
    _fingerprints_tell_deliveries_apart(reader, deliveries)
    _an_unknown_delivery_is_an_error_without_values(reader, deliveries)
    _markers_tell_that_a_file_was_rewritten(reader, make_reader(), deliveries, rewrite)


def everything(reader: Reader, delivery: Delivery) -> tuple[object, ...]:
    """All that a reader returns for one delivery."""
    return (
        list(reader.notes(delivery)),
        reader.topics(delivery),
        list(reader.withdrawals(delivery, known_patients=None, known_notes=None)),
        list(reader.rejoinings(delivery)),
        reader.fingerprint(delivery),
        reader.marker(delivery),
        reader.states(delivery),
    )


def assert_quiet(thing: object) -> None:
    """No str or repr shows a value of the source, nor does any field of a rejection that its repr shows."""
    shown = [repr(thing), str(thing), f"{thing}"]
    if isinstance(thing, Rejection):
        shown += [str(getattr(thing, f.name)) for f in fields(thing) if f.repr]
    if isinstance(thing, BaseException):
        shown += [repr(thing.args), *traceback.format_exception(thing)]
    assert not any(MARKER.lower() in text.lower() for text in shown)


def _deliveries_are_ordered(deliveries: list[Delivery]) -> None:
    assert len(deliveries) >= 2
    assert len({d.feed for d in deliveries}) == 1
    seqs = [d.seq for d in deliveries]
    assert seqs == sorted(set(seqs))


def _reading_again_gives_the_same(reader: Reader, other: Reader, deliveries: list[Delivery]) -> None:
    assert other.deliveries() == deliveries
    for delivery in deliveries:
        first = everything(reader, delivery)
        assert everything(reader, delivery) == first
        assert everything(other, delivery) == first


def _reading_survives_the_way_to_a_worker(reader: Reader, deliveries: list[Delivery]) -> None:
    copy = pickle.loads(pickle.dumps(reader))
    assert [everything(copy, d) for d in deliveries] == [everything(reader, d) for d in deliveries]


def _records_are_sound(reader: Reader, deliveries: list[Delivery]) -> None:
    count = 0
    for delivery in deliveries:
        stream = reader.notes(delivery)
        assert isinstance(stream, Iterator)
        notes = [item for item in stream if isinstance(item, Note)]
        count += len(notes)
        assert len({note.note_id for note in notes}) == len(notes)
        for note in notes:
            assert note.note_id.strip()
            assert note.text.strip()
            for f in fields(note):
                value = getattr(note, f.name)
                if isinstance(value, str):
                    value.encode()  # raises on a lone surrogate
                    assert "\0" not in value
                    assert value, "a missing value is None, never an empty string"
            assert_quiet(note)
        topics, _ = reader.topics(delivery)
        assert_quiet(topics)
        _topics_are_by_id(topics)
    assert count
    assert any(reader.topics(d)[0] for d in deliveries)


def _topics_are_by_id(topics: Topics) -> None:
    kinds = ((topics.patients, Patient, "patient_id"), (topics.providers, Provider, "provider_id"))
    for rows, kind, name in (*kinds, (topics.facilities, Facility, "facility_id")):
        for key, row in rows.items():
            assert isinstance(row, kind)
            assert getattr(row, name) == key
            assert_quiet(row)


def _refusals_go_by_their_role(reader: Reader, deliveries: list[Delivery]) -> None:
    of_notes = [item for d in deliveries for item in reader.notes(d) if isinstance(item, Rejection)]
    of_topics = [item for d in deliveries for item in reader.topics(d)[1]]
    assert of_notes
    assert of_topics
    of_rejoinings = [item for d in deliveries for item in reader.rejoinings(d) if isinstance(item, Rejection)]
    assert of_rejoinings
    assert {r.role for r in of_rejoinings} == {Role.REJOINED}
    assert {r.role for r in of_notes} == {Role.NOTES}
    assert {r.role for r in of_topics} <= {Role.PATIENTS, Role.PROVIDERS, Role.FACILITIES}
    for rejection in of_notes + of_topics + of_rejoinings:
        assert isinstance(rejection.reason, Reason)
        assert rejection.row >= 1
        assert_quiet(rejection)


def _withdrawals_are_checked_against_what_is_known(reader: Reader, deliveries: list[Delivery]) -> None:
    def read(**known: frozenset[str] | None) -> list[Withdrawal | Rejection]:
        known = {"known_patients": None, "known_notes": None, **known}
        return [item for d in deliveries for item in reader.withdrawals(d, **known)]

    unchecked = read()
    withdrawn = [item for item in unchecked if isinstance(item, Withdrawal)]
    patients = frozenset(w.patient_id for w in withdrawn if w.patient_id)
    notes = frozenset(w.note_id for w in withdrawn if w.note_id)
    assert patients
    assert notes
    assert read(known_patients=patients, known_notes=notes) == unchecked
    for known, gone, reason in (
        ({"known_patients": frozenset[str]()}, "patient_id", Reason.UNKNOWN_PATIENT),
        ({"known_notes": frozenset[str]()}, "note_id", Reason.UNKNOWN_NOTE),
    ):
        checked = read(**known)
        assert len(checked) == len(unchecked)
        for before, after in zip(unchecked, checked, strict=True):
            if isinstance(before, Withdrawal) and getattr(before, gone):
                assert isinstance(after, Rejection)
                assert (after.role, after.reason) == (Role.WITHDRAWN, reason)
            assert_quiet(after)


def _rejoinings_name_each_patient_once(reader: Reader, deliveries: list[Delivery]) -> None:
    found = [[item for item in reader.rejoinings(d) if isinstance(item, Rejoining)] for d in deliveries]
    assert any(found)
    for back in found:
        assert len({rejoining.patient_id for rejoining in back}) == len(back)
        for rejoining in back:
            assert rejoining.patient_id.strip()
            assert_quiet(rejoining)


def _fingerprints_tell_deliveries_apart(reader: Reader, deliveries: list[Delivery]) -> None:
    prints = [reader.fingerprint(d) for d in deliveries]
    assert len(set(prints)) == len(prints)
    for digest in prints:
        assert_quiet(digest)


def _an_unknown_delivery_is_an_error_without_values(reader: Reader, deliveries: list[Delivery]) -> None:
    absent = Delivery(deliveries[0].feed, "1999-12-31")
    calls: tuple[Callable[[], object], ...] = (
        lambda: list(reader.notes(absent)),
        lambda: reader.topics(absent),
        lambda: list(reader.withdrawals(absent, known_patients=None, known_notes=None)),
        lambda: list(reader.rejoinings(absent)),
        lambda: reader.fingerprint(absent),
        lambda: reader.marker(absent),
    )
    for call in calls:
        with pytest.raises(DeidError) as caught:
            call()
        assert caught.value.code is Code.FEED_UNREADABLE
        assert caught.value.__suppress_context__
        assert_quiet(caught.value)


def _markers_tell_that_a_file_was_rewritten(
    reader: Reader, other: Reader, deliveries: list[Delivery], rewrite: Callable[[Delivery], object]
) -> None:
    changed, untouched = deliveries[0], deliveries[1:]
    before = {d: reader.marker(d) for d in deliveries}
    states = {d: reader.states(d) for d in deliveries}
    for said in (*before.values(), *states.values()):
        assert_quiet(said)
    rewrite(changed)
    for any_reader in (reader, other):
        assert any_reader.marker(changed) != before[changed]
        assert states[changed] is None or any_reader.states(changed) != states[changed]
        assert [any_reader.marker(d) for d in untouched] == [before[d] for d in untouched]
