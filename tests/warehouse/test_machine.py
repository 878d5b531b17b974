"""Whatever happens to deliveries, in whatever order, analysts see what a plain model of the rules says.

The model is told in the words of docs/gate.md and docs/releases.md, not in those of the SQL. The same examples run
every time; DEID_TEST_EXAMPLES=1000 draws as many at random.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Engine, create_engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.notes import Delivery
from deid_platform.warehouse.connection import Warehouse
from deid_platform.warehouse.findings import retract
from deid_platform.warehouse.promotion import hide, set_opt_outs
from deid_platform.warehouse.releases import activate_release, expire_releases, switch_release
from deid_platform.warehouse.roles import LOGIN_ROLES, Role
from deid_platform.warehouse.staging import Staged

pytestmark = pytest.mark.warehouse

RELEASES = ("r1", "r2", "r3")
NOTES = (1, 2, 3)
PATIENT = {1: 1, 2: 1, 3: 2}
REQUIREMENTS = frozenset({"parity", "expectations", "leaks", "bench"})


def wording(note: int, version: int, release: str) -> str:
    """A version's text as a release redacts it; the name in it, of the version, stands in other notes too."""
    return f"note{note} name{version} {release}"


class Place(NamedTuple):
    """A delivery's feed and place in its order. No two feeds share a place, so that the newest note is one."""

    feed: str
    seq: int


PLACES = (*(Place("clinic", seq) for seq in (2, 4, 6)), *(Place("ward", seq) for seq in (3, 5)))


@dataclass(frozen=True)
class Content:
    """What is staged for a delivery, by numbers of notes and patients; of each note its version, negative where it
    is quarantined."""

    release: str
    notes: frozenset[tuple[int, int]] = frozenset()
    withdrawn: frozenset[int] = frozenset()
    patients: frozenset[int] = frozenset()
    rejoined: frozenset[int] = frozenset()

    def clean(self) -> list[tuple[int, int]]:
        return [(note, version) for note, version in self.notes if version > 0]


@dataclass
class Release:
    """A release's life; `made` and `left` are moments, None for never."""

    made: int
    left: int | None = None
    withheld: bool = False
    expired: bool = False
    holds: dict[Place, Content | None] = field(default_factory=dict)
    """What was promoted into it; None where something of that was hidden since."""


@dataclass
class Version:
    """A version of a note that passed the gate into a release."""

    version: int
    retracted: bool = False


class Model:
    """What analysts must see."""

    def __init__(self) -> None:
        self.clock = count()
        self.staged: dict[Place, Content] = {}
        self.promoted: set[Place] = set()
        """Deliveries that research holds as they are staged."""
        self.passed: dict[tuple[Place, Content], frozenset[str]] = {}
        self.releases: dict[str, Release] = {}
        self.active: str | None = None
        self.versions: dict[tuple[str, Place, int], Version] = {}
        self.holds: set[tuple[str, Place, int]] = set()
        """Versions that did not pass, or of which nothing but their place is known any more."""
        self.gone: set[tuple[str, int, Place]] = set()
        """Notes and patients who are `withdrawn`, patients who `rejoined`: what, who, where that was said."""
        self.opted_out: set[int] = set()
        self.banned: set[tuple[str, int, str]] = set()
        self.approved = 0

    def stage(self, place: Place, content: Content) -> None:
        self.staged[place] = content
        self.promoted.discard(place)
        self.releases.setdefault(content.release, Release(next(self.clock)))

    def measure(self, place: Place, requirements: frozenset[str], failing: frozenset[str]) -> None:
        key = (place, self.staged[place])
        self.passed[key] = self.passed.get(key, frozenset()) | requirements - failing
        self.passed[key] -= failing

    def hide(self, place: Place) -> None:
        """What a delivery withdraws, quarantines or corrects is hidden, gate or no gate."""
        content = self.staged[place]
        before = self.holds | self.gone
        for note, version in content.notes:
            mine = self.versions.get((content.release, place, note))
            if version < 0 or mine is None or mine.version != version:
                self.holds.add((content.release, place, note))
            # Elsewhere the note is as it was, unless the source has changed it.
            self.holds |= {
                (release, place, note)
                for (release, where, of), held in self.versions.items()
                if (where, of) == (place, note) and held.version != abs(version)
            }
        self.gone |= {("note", note, place) for note in content.withdrawn}
        self.gone |= {("patient", patient, place) for patient in content.patients}
        if self.holds | self.gone != before:
            self._copied_anew(place)

    def promote(self, place: Place) -> tuple[str, int]:
        """All of a delivery's notes are shown, if it passed; its outcome, and how many were approved."""
        self.hide(place)
        content = self.staged[place]
        release = self.releases[content.release]
        if self.passed.get((place, content), frozenset()) < REQUIREMENTS or any(
            (place.feed, note, wording(note, version, content.release)) in self.banned
            for note, version in content.clean()
        ):
            self.promoted.discard(place)
            return "refused", 0
        self.promoted.add(place)
        if release.holds.get(place) == content:
            return "unchanged", 0
        self._copied_anew(place)  # other releases share what it withdraws
        mine = (content.release, place)
        self.versions = {key: held for key, held in self.versions.items() if key[:2] != mine}
        self.versions |= {(*mine, note): Version(version) for note, version in content.clean()}
        self.holds = {key for key in self.holds if key[:2] != mine}
        self.holds |= {(*mine, note) for note, version in content.notes if version < 0}
        self.gone = {said for said in self.gone if said[2] != place}
        self.gone |= {("note", note, place) for note in content.withdrawn}
        self.gone |= {("patient", patient, place) for patient in content.patients}
        self.gone |= {("rejoined", patient, place) for patient in content.rejoined}
        release.holds[place] = content
        if release.expired:
            release.made, release.left, release.expired = next(self.clock), None, False
        self.approved += len(content.clean())
        return "promoted", len(content.clean())

    def _copied_anew(self, place: Place) -> None:
        """The next promotion of this delivery is no repetition, in whichever release."""
        for release in self.releases.values():
            if place in release.holds:
                release.holds[place] = None

    def may_activate(self, name: str) -> bool:
        """Nothing is lost by it, and nobody took it away."""
        held = set(self.releases[self.active].holds) if self.active else set()
        release = self.releases[name]
        return not release.withheld and bool(release.holds) and held <= set(release.holds)

    def show(self, name: str, *, withhold: bool) -> None:
        if self.active:
            self.releases[self.active].left = next(self.clock)
            self.releases[self.active].withheld = withhold
        self.active = name
        self.releases[name].left, self.releases[name].withheld = None, False

    def expire(self, keep: int) -> list[str]:
        """All releases but the active one, those being built, and the last that were left; texts go, order stays."""
        active = self.releases[self.active].made if self.active else -1
        left = {
            name: release.made if release.left is None else release.left
            for name, release in self.releases.items()
            if name != self.active and not release.expired and (release.left is not None or release.made < active)
        }
        gone = sorted(left, key=lambda name: -left[name])[keep:]
        for name in gone:
            self.releases[name].holds, self.releases[name].expired = {}, True
        # It stays known what the newest version of a note was, unless what stays says it too.
        self.holds |= {
            (release, place, note)
            for release, place, note in self.versions
            if release in gone
            and not any(
                (of, other.feed) == (note, place.feed)
                and (other.seq > place.seq or (other.seq == place.seq and elsewhere not in gone))
                for elsewhere, other, of in self.versions
            )
        }
        self.versions = {key: held for key, held in self.versions.items() if key[0] not in gone}
        return sorted(gone)

    def retract(self, note: int) -> None:
        """The note, and every other with the same name in it, is hidden; all must be measured anew."""
        newest = max((place.seq, place) for release, place, of in self.versions if (release, of) == (self.active, note))
        name = self.versions[self.active, newest[1], note].version
        for (release, place, of), held in self.versions.items():
            if of == note or held.version == name:
                held.retracted = True
                self.banned.add((place.feed, of, wording(of, held.version, release)))
                self.releases[release].holds[place] = None
        self.passed.clear()

    def is_absent(self, patient: int) -> bool:
        return patient in self.opted_out or any(
            not any(
                (said, who, other.feed) == ("rejoined", patient, place.feed) and other.seq > place.seq
                for said, who, other in self.gone
            )
            for what, whom, place in self.gone
            if (what, whom) == ("patient", patient)
        )

    def is_current(self, release: str, place: Place, note: int) -> bool:
        """No newer version is known, in any release, and nobody withdrew it."""
        known = {(r, p) for r, p, n in (*self.versions, *self.holds) if (n, p.feed) == (note, place.feed)}
        return (
            all(other.seq <= place.seq for _, other in known)
            and (release, place, note) not in self.holds
            and not any(
                (what, who, other.feed) == ("note", note, place.feed) and other.seq >= place.seq
                for what, who, other in self.gone
            )
        )

    def visible(self) -> list[str]:
        return sorted(wording(note, self.versions[at, place, note].version, at) for at, place, note in self.shown())

    def shown(self) -> list[tuple[str, Place, int]]:
        return sorted(
            (release, place, note)
            for (release, place, note), held in self.versions.items()
            if release == self.active
            and not held.retracted
            and self.is_current(release, place, note)
            and not self.is_absent(PATIENT[note])
        )


def some(of: tuple[int, ...]) -> st.SearchStrategy[frozenset[int]]:
    """Mostly none."""
    return st.one_of(*[st.just(frozenset())] * 4, st.frozensets(st.sampled_from(of), max_size=2))


releases = st.sampled_from(("r1", "r1", "r1", "r2", "r2", "r3"))
versions = st.sampled_from((1, 2, 1, 2, -1, -2))
mostly_passing = st.sampled_from(((), (), ("leaks",)))
contents = st.builds(
    Content,
    release=releases,
    notes=st.dictionaries(st.sampled_from(NOTES), versions, min_size=1).map(lambda found: frozenset(found.items())),
    withdrawn=some(NOTES),
    patients=some((1, 2)),
    rejoined=some((1, 2)),
)


class Lasting(Warehouse):
    """With connections that stay open: opening them would take most of the time of a thousand steps."""

    @cache  # noqa: B019 - as long as the test
    def engine(self, role: Role) -> Engine:
        return create_engine(self.url(role), hide_parameters=True)


class Deliveries(RuleBasedStateMachine):
    """Random sequences of what may happen to deliveries, done to the database and to the model."""

    scene = None  # set by the test

    @initialize()
    def begin(self) -> None:
        self.scene.empty()
        self.model = Model()
        self.found: dict[Place, Staged] = {}
        self.promoter = self.scene.warehouse.engine(Role.PROMOTER)
        self.officer = self.scene.warehouse.engine(Role.OFFICER)
        # From the middle, so that what comes next may be older or newer.
        self.refresh(Place("clinic", 4), Content("r1", frozenset({(1, 1), (2, 1), (3, 2)})), ())

    # What the refresh does

    @rule(place=st.sampled_from(PLACES), content=contents)
    def stage(self, place: Place, content: Content) -> None:
        self.model.stage(place, content)
        rows = [
            self.scene.note(
                note,
                wording(note, version, content.release),
                status="clean" if version > 0 else "quarantined",
                patient=PATIENT[note],
                content_digest=plain_digest(f"{note} {abs(version)}"),
            )
            for note, version in content.notes
        ]
        self.found[place] = self.scene.stage(
            str(place.seq),
            rows,
            feed=place.feed,
            withdrawn=content.withdrawn,
            patients=content.patients,
            rejoined=content.rejoined,
            release=content.release,
            detector_digest=plain_digest(content.release),
        )

    @rule(place=st.sampled_from(PLACES), content=contents, failing=mostly_passing)
    def refresh(self, place: Place, content: Content, failing: tuple[str, ...]) -> None:
        """The usual way: staged, hidden, measured, promoted or refused, shown if nothing is lost by it."""
        self.stage(place, content)
        self.hide(place)
        self.measure(place, REQUIREMENTS, frozenset(failing))
        self.promote(place)
        self.activate(content.release)

    @precondition(lambda self: self.model.shown())
    @rule(data=st.data(), version=versions, release=releases, failing=st.sampled_from(((), ("leaks",))))
    def change(self, data: st.DataObject, version: int, release: str, failing: tuple[str, ...]) -> None:
        """A delivery comes again, with a note changed or quarantined that analysts see, perhaps for another release."""
        _, place, note = data.draw(st.sampled_from(self.model.shown()))
        notes = {**dict(self.model.staged[place].notes), note: version}
        self.refresh(place, replace(self.model.staged[place], notes=frozenset(notes.items()), release=release), failing)

    @rule(measured=st.booleans())
    def run_again(self, measured: bool) -> None:
        """A refresh over what is staged already."""
        for place in sorted(self.found):
            if measured:
                self.measure(place, REQUIREMENTS, frozenset())
            self.promote(place)

    @rule(place=st.sampled_from(PLACES), patient=st.sampled_from((1, 2)), back=st.booleans(), failing=mostly_passing)
    def refresh_patient(self, place: Place, patient: int, back: bool, failing: tuple[str, ...]) -> None:
        """A delivery that tells nothing but that a patient leaves or comes back."""
        who = frozenset({patient})
        content = Content(self.model.active or "r1", **{"rejoined" if back else "patients": who})
        self.refresh(place, content, failing)

    @precondition(lambda self: self.found)
    @rule(
        data=st.data(),
        requirements=st.just(REQUIREMENTS) | st.frozensets(st.sampled_from(sorted(REQUIREMENTS)), min_size=1),
        failing=st.sampled_from((frozenset(), frozenset(), frozenset({"leaks"}))),
    )
    def measure_again(self, data: st.DataObject, requirements: frozenset[str], failing: frozenset[str]) -> None:
        self.measure(data.draw(st.sampled_from(sorted(self.found))), requirements, failing)

    def measure(self, place: Place, requirements: frozenset[str], failing: frozenset[str]) -> None:
        self.model.measure(place, requirements, failing & requirements)
        self.scene.measure(
            self.found[place],
            only=sorted(requirements),
            failing=failing,
            detector=self.model.staged[place].release,
        )

    @precondition(lambda self: self.found)
    @rule(data=st.data())
    def hide_again(self, data: st.DataObject) -> None:
        self.hide(data.draw(st.sampled_from(sorted(self.found))))

    def hide(self, place: Place) -> None:
        self.model.hide(place)
        hide(self.promoter, Delivery(place.feed, str(place.seq)))

    @precondition(lambda self: self.found)
    @rule(data=st.data(), times=st.sampled_from((1, 2)))
    def promote_again(self, data: st.DataObject, times: int) -> None:
        place = data.draw(st.sampled_from(sorted(self.found)))
        for _ in range(times):
            outcome = self.promote(place)
        assert times == 1 or outcome in ("unchanged", "refused")

    def promote(self, place: Place) -> str:
        expected = self.model.promote(place)
        try:
            done = self.scene.promote(str(place.seq), feed=place.feed)
            found = (str(done.outcome), done.approved)
        except DeidError as error:
            assert error.code is Code.GATE_REFUSED
            found = ("refused", 0)
        assert found == expected
        return found[0]

    # What people and time do

    @rule(name=st.sampled_from(RELEASES))
    def activate(self, name: str) -> None:
        if name not in self.model.releases or name == self.model.active:
            return
        if self.model.may_activate(name):
            assert activate_release(self.promoter, name)
            self.model.show(name, withhold=False)
        else:
            with pytest.raises(DeidError) as caught:
                activate_release(self.promoter, name)
            assert caught.value.code is Code.RELEASE_CONFLICT

    @rule(name=st.sampled_from(RELEASES))
    def switch(self, name: str) -> None:
        release = self.model.releases.get(name)
        if release is None or not release.holds or name == self.model.active:
            with pytest.raises(DeidError) as caught:
                switch_release(self.officer, name, who="A. Officer", reason="it hides doses")
            assert caught.value.code is Code.RELEASE_CONFLICT
        else:
            switch_release(self.officer, name, who="A. Officer", reason="it hides doses")
            self.model.show(name, withhold=True)

    @rule(keep=st.sampled_from((0, 0, 1)))
    def expire(self, keep: int) -> None:
        assert list(expire_releases(self.promoter, keep=keep, days=0)) == self.model.expire(keep)

    @rule(patients=some((1, 2)))
    def opt_out(self, patients: frozenset[int]) -> None:
        set_opt_outs(self.promoter, [self.scene.keys.key("patient", str(n)) for n in patients])
        self.model.opted_out = set(patients)

    @precondition(lambda self: self.model.shown())
    @rule(data=st.data())
    def retract(self, data: st.DataObject) -> None:
        _, _, note = data.draw(st.sampled_from(self.model.shown()))
        span = wording(note, 1, "r1").index("name")
        retract(
            self.officer,
            [self.scene.keys.key("note", str(note))],
            span,
            span + len("name1"),
            label=Label.PATIENT,
            who="A. Reader",
        )
        self.model.retract(note)

    # What must hold whatever happened

    @invariant()
    def analysts_see_what_the_model_says(self) -> None:
        assert self.scene.visible() == self.model.visible()

    @invariant()
    def the_ledger_counts_what_was_approved_and_names_nobody(self) -> None:
        keys = [self.scene.keys.key("note", str(n)) for n in NOTES] + [
            self.scene.keys.key("patient", str(n)) for n in (1, 2)
        ]
        with self.scene.warehouse.begin(Role.OFFICER) as connection:
            approved, named = connection.execute(
                text(
                    "SELECT coalesce(sum((counts ->> 'approved')::integer), 0),"
                    " count(*) FILTER (WHERE l::text ~ :someone) FROM ctl.ledger l"
                ),
                {"someone": "|".join([*keys, r"note\d", r"name\d"])},
            ).one()
        assert (approved, named) == (self.model.approved, 0)


def test_analysts_see_what_the_model_says_whatever_happens_to_deliveries(emptied, scene):
    lasting = Lasting(emptied.admin_engine().url.render_as_string(hide_password=False))

    class Machine(Deliveries):
        pass

    Machine.scene = type(scene)(lasting)

    drawn = int(os.environ.get("DEID_TEST_EXAMPLES", "0"))
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=drawn or 100,
            stateful_step_count=25,
            derandomize=not drawn,
            deadline=None,
            phases=[p for p in Phase if p is not Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    for role in LOGIN_ROLES:
        lasting.engine(role).dispose()
