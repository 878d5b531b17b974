"""Whatever happens to deliveries, in whatever order, analysts see what a plain model of the rules says.

The same examples run every time, fewer in `make test`; DEID_TEST_EXAMPLES=1000 draws as many at random.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

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
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.labels import Label
from deid_platform.notes import Delivery
from deid_platform.warehouse.gate.promotion import hide, set_opt_outs
from deid_platform.warehouse.gate.staging import Kind, Staged
from deid_platform.warehouse.gate.withdrawals import withdraw
from deid_platform.warehouse.officer.findings import retract, withdraw_finding
from deid_platform.warehouse.officer.releases import activate_release, expire_releases, switch_release
from deid_platform.warehouse.server.roles import Role

sys.path.append(str(Path(__file__).parent))

from warehouse_model import NOTES, PATIENT, PLACES, RELEASES, REQUIREMENTS, Content, Model, Place, wording


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


class Deliveries(RuleBasedStateMachine):
    """Random sequences of what may happen to deliveries, done to the database and to the model."""

    scene = None  # set by the test

    @initialize()
    def begin(self) -> None:
        self.scene.empty()
        self.model = Model()
        self.found: dict[Place, Staged] = {}
        self.numbers: list[int] = []  # of the findings, as the database counts them
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

    @rule(place=st.sampled_from(PLACES), notes=some(NOTES), patients=some((1, 2)))
    def withdraw(self, place: Place, notes: frozenset[int], patients: frozenset[int]) -> None:
        """A delivery that has arrived, or whose files have changed, says who leaves; its run is yet to come."""
        self.model.withdraw(place, notes, patients)
        keys, (note, patient) = self.scene.keys, (Kind.NOTE, Kind.PATIENT)
        gone = [(note, keys.key("note", str(n)), keys.key_id) for n in notes]
        gone += [(patient, keys.key("patient", str(n)), keys.key_id) for n in patients]
        withdraw(self.promoter, Delivery(place.feed, str(place.seq)), gone, marker="any")

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
            back = self.model.active is not None and release.made < self.model.releases[self.model.active].made
            switch_release(self.officer, name, who="A. Officer", reason="it hides doses")
            self.model.show(name, withhold=back)

    @rule(keep=st.sampled_from((0, 0, 1)))
    def expire(self, keep: int) -> None:
        assert list(expire_releases(self.promoter, keep=keep, days=0, step=3)) == self.model.expire(keep)

    @rule(patients=some((1, 2)))
    def opt_out(self, patients: frozenset[int]) -> None:
        keys = [self.scene.keys.key("patient", str(n)) for n in patients]
        set_opt_outs(self.scene.warehouse.engine(Role.LOADER), self.promoter, {self.scene.keys.key_id: keys})
        self.model.opted_out = set(patients)

    @precondition(lambda self: self.model.shown())
    @rule(data=st.data(), hide=st.sampled_from((None, None, 1)))
    def retract(self, data: st.DataObject, hide: int | None) -> None:
        _, _, note = data.draw(st.sampled_from(self.model.shown()))
        span = wording(note, 1, "r1").index("name")
        found = retract(
            self.officer,
            [self.scene.keys.key("note", str(note))],
            span,
            span + len("name1"),
            label=Label.PATIENT,
            who="A. Reader",
            hide=hide,
        )
        self.model.retract(note, hide)
        self.numbers.append(found.number)

    @precondition(lambda self: self.model.findings)
    @rule(data=st.data(), who=st.sampled_from(("A. Officer", "B. Officer")))
    def doubt(self, data: st.DataObject, who: str) -> None:
        number = data.draw(st.sampled_from(sorted(self.model.findings)))
        expected = self.model.doubt(number, who)
        if expected in ("proposed", "withdrawn"):
            done = withdraw_finding(
                self.officer, self.promoter, self.numbers[number - 1], who=who, reason="it is a common word"
            )
            assert done.withdrawn == (expected == "withdrawn")
        else:
            with pytest.raises(DeidError) as caught:
                withdraw_finding(
                    self.officer, self.promoter, self.numbers[number - 1], who=who, reason="it is a common word"
                )
            assert caught.value.code is (Code.FINDING_UNKNOWN if expected == "unknown" else Code.SECOND_PERSON)

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


def test_analysts_see_what_the_model_says_whatever_happens_to_deliveries(scene, sampling):
    class Machine(Deliveries):
        pass

    Machine.scene = scene

    drawn = int(os.environ.get("DEID_TEST_EXAMPLES", "0"))
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=drawn or sampling.number(everything=100, sample=30),
            stateful_step_count=25,
            derandomize=not drawn,
            deadline=None,
            phases=[p for p in Phase if p is not Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
