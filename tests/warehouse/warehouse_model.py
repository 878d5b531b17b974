"""What analysts must see, as a plain model: told in the words of docs/gate.md and docs/releases.md, not in the SQL's.

Belongs here: what each event does to what is shown. Does not belong here: drawing events, or asking the database
(`test_machine.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

RELEASES = ("r1", "r2", "r3")
NOTES = (1, 2, 3)
PATIENT = {1: 1, 2: 1, 3: 2}
REQUIREMENTS = frozenset({"parity", "expectations", "leaks", "bench", "languages"})


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
    """A version of a note that passed the gate into a release, and the findings that hide it."""

    version: int
    findings: set[int] = field(default_factory=set)


@dataclass
class Finding:
    """What a reader found: where, whether in every note, and who wants it withdrawn."""

    where: tuple[str, str, int]
    everywhere: bool
    hid: set[tuple[str, Place, int, str]]
    """Release, place, note and its text."""
    doubted_by: list[str] = field(default_factory=list)
    withdrawn: bool = False


class Model:
    """What analysts must see."""

    def __init__(self) -> None:
        self.clock = count()
        self.staged: dict[Place, Content] = {}
        self.promoted: set[Place] = set()
        """Deliveries that research holds as they are staged."""
        self.measured: list[tuple[Place, Content, frozenset[str], frozenset[str], int, int]] = []
        """Where, what, the requirements measured, those that failed, the newest finding that was known, and when."""
        self.releases: dict[str, Release] = {}
        self.active: str | None = None
        self.versions: dict[tuple[str, Place, int], Version] = {}
        self.holds: set[tuple[str, Place, int]] = set()
        """Versions that did not pass, or of which nothing but their place is known any more."""
        self.gone: set[tuple[str, int, Place]] = set()
        """Notes and patients who are `withdrawn`, patients who `rejoined`: what, who, where that was said."""
        self.ahead: set[tuple[str, int, Place, int]] = set()
        """What files of deliveries withdraw that were not staged since, and the moment at which that was said."""
        self.staged_at: dict[Place, int] = {}
        self.hid: dict[tuple[Place, Content], int] = {}
        """When what a delivery held hid something last."""
        self.opted_out: set[int] = set()
        self.findings: dict[int, Finding] = {}
        self.approved = 0

    def stage(self, place: Place, content: Content) -> None:
        self.staged[place] = content
        self.staged_at[place] = next(self.clock)
        self.promoted.discard(place)
        self.releases.setdefault(content.release, Release(next(self.clock)))

    def measure(self, place: Place, requirements: frozenset[str], failing: frozenset[str]) -> None:
        self.measured.append((place, self.staged[place], requirements, failing, len(self.findings), next(self.clock)))

    def passed(self, place: Place) -> set[str]:
        """The newest measurement counts that knew of every finding in force, unless other content hid notes since."""
        newest = max((number for number, found in self.findings.items() if not found.withdrawn), default=0)
        met: set[str] = set()
        others = [at for (where, content), at in self.hid.items() if where == place and content != self.staged[place]]
        for where, content, requirements, failing, known, at in self.measured:
            if (where, content) == (place, self.staged[place]) and known >= newest and at > max(others, default=-1):
                met = (met | requirements) - failing
        return met

    def compared_at(self, place: Place) -> int:
        """When what is staged was last compared with its sources, and was the same."""
        return max(
            at
            for where, content, requirements, failing, _, at in self.measured
            if (where, content) == (place, self.staged[place]) and "parity" in requirements - failing
        )

    def hide(self, place: Place) -> None:
        """What a delivery withdraws, quarantines or corrects is hidden, gate or no gate."""
        content = self.staged[place]
        self.hid[place, content] = next(self.clock)
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

    def withdraw(self, place: Place, notes: frozenset[int], patients: frozenset[int]) -> None:
        """What a delivery's files withdraw is hidden before its run has staged it."""
        now = next(self.clock)
        self.ahead |= {("note", note, place, now) for note in notes}
        self.ahead |= {("patient", patient, place, now) for patient in patients}

    def withdrawn(self) -> set[tuple[str, int, Place]]:
        """All that is withdrawn, in a run or ahead of it, and who rejoined."""
        return self.gone | {said[:3] for said in self.ahead}

    def promote(self, place: Place) -> tuple[str, int]:
        """All of a delivery's notes are shown, if it passed; its outcome, and how many were approved."""
        self.hide(place)
        content = self.staged[place]
        release = self.releases[content.release]
        if self.passed(place) < REQUIREMENTS:
            self.promoted.discard(place)
            return "refused", 0
        self.promoted.add(place)
        # From here on the delivery says itself what it withdraws; what its files have said since holds on.
        told = min(self.staged_at[place], self.compared_at(place))
        self.ahead = {said for said in self.ahead if said[2] != place or said[3] > told}
        if release.holds.get(place) == content:
            return "unchanged", 0
        self._copied_anew(place)  # other releases share what it withdraws
        mine = (content.release, place)
        self.versions = {key: held for key, held in self.versions.items() if key[:2] != mine}
        # A text that was retracted never passes; the rest of the delivery does not wait for it.
        banned = {
            note
            for note, version in content.clean()
            if any(
                not found.withdrawn
                and (place.feed, note, wording(note, version, content.release))
                in {(at.feed, of, text) for _, at, of, text in found.hid}
                for found in self.findings.values()
            )
        }
        passing = {note: version for note, version in content.clean() if note not in banned}
        self.versions |= {(*mine, note): Version(version) for note, version in passing.items()}
        self.holds = {key for key in self.holds if key[:2] != mine}
        self.holds |= {(*mine, note) for note, _ in content.notes if note not in passing}
        self.gone = {said for said in self.gone if said[2] != place}
        self.gone |= {("note", note, place) for note in content.withdrawn}
        self.gone |= {("patient", patient, place) for patient in content.patients}
        self.gone |= {("rejoined", patient, place) for patient in content.rejoined}
        release.holds[place] = content
        if release.expired:
            release.made, release.left, release.expired = next(self.clock), None, False
        self.approved += len(passing)
        return "promoted", len(passing)

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

    def retract(self, note: int, hide: int | None) -> None:
        """The note, and every other with the same name in it, is hidden; all must be measured anew."""
        newest = max((place.seq, place) for release, place, of in self.versions if (release, of) == (self.active, note))
        name = self.versions[self.active, newest[1], note].version
        holders = {key: held for key, held in self.versions.items() if key[2] == note or held.version == name}
        everywhere = hide is None or len({(place.feed, of) for _, place, of in holders}) <= hide
        number = len(self.findings) + 1
        found = self.findings[number] = Finding((self.active, newest[1].feed, note), everywhere, set())
        for (release, place, of), held in holders.items():
            if everywhere or of == note:
                held.findings.add(number)
                found.hid.add((release, place, of, wording(of, held.version, release)))
                self.releases[release].holds[place] = None

    def doubt(self, number: int, who: str) -> str:
        """Who says that a finding is none: `unknown`, `same person`, `proposed` or `withdrawn`."""
        found = self.findings[number]
        if found.withdrawn:
            return "unknown"
        if who in found.doubted_by:
            return "same person"
        found.doubted_by.append(who)
        if len(found.doubted_by) == 1:
            return "proposed"
        for earlier, other in self.findings.items():
            if earlier == number or (
                found.everywhere and not other.everywhere and earlier < number and other.where == found.where
            ):
                other.withdrawn = True
                for release, place, _, _ in other.hid:
                    if place in self.releases[release].holds:
                        self.releases[release].holds[place] = None
                for held in self.versions.values():
                    held.findings.discard(earlier)
        return "withdrawn"

    def is_absent(self, patient: int) -> bool:
        return patient in self.opted_out or any(
            not any(
                (said, who, other.feed) == ("rejoined", patient, place.feed) and other.seq > place.seq
                for said, who, other in self.gone
            )
            for what, whom, place in self.withdrawn()
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
                for what, who, other in self.withdrawn()
            )
        )

    def visible(self) -> list[str]:
        return sorted(wording(note, self.versions[at, place, note].version, at) for at, place, note in self.shown())

    def shown(self) -> list[tuple[str, Place, int]]:
        return sorted(
            (release, place, note)
            for (release, place, note), held in self.versions.items()
            if release == self.active
            and not held.findings
            and self.is_current(release, place, note)
            and not self.is_absent(PATIENT[note])
        )
