"""A scene for the gate's tests: one feed, its deliveries, and every role doing its part."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property

import pytest
from looks import looked
from sqlalchemy import Engine, create_engine, text

from deid_platform.keys import Keyring, plain_digest
from deid_platform.notes import Delivery
from deid_platform.warehouse.gate.ledger import GateRow, record_gate
from deid_platform.warehouse.gate.promotion import Hidden, Promotion, hide, promote
from deid_platform.warehouse.gate.staging import (
    Counts,
    Header,
    Inputs,
    Kind,
    Staged,
    StagedNote,
    StagedWithdrawal,
    Status,
    stage,
)
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.officer.releases import activate_release
from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.roles import Role

KEYS = Keyring(b"e7a14f0d93c25b68f1d07be4295ac386", site="clinic")
CONTENT = (
    "staging.note",
    "staging.withdrawal",
    "staging.opt_out_list",
    "research.note_version",
    "research.version_key",
    "research.withdrawal",
    "research.arrived_withdrawal",
    "research.withdrawal_source",
    "research.held",
    "research.opted_out",
    "research.retraction",
    "research.number",
    "research.shift",
    "quality.score",
    "quality.lab_score",
    "ctl.look",
    "ctl.held_out_note",
    "ctl.held_out_set",
    "ctl.extract_note",
    "ctl.extract_end",
    "ctl.extract",
    "ctl.verified_signature",
    "ctl.signature",
    "ctl.signer",
    "ctl.dossier_writing",
    "ctl.dossier",
    "ctl.publication",
    "ctl.removal_decision",
    "ctl.missed_identifier",
    "ctl.marked_note",
    "ctl.mark_dismissal",
    "ctl.ruling",
    "ctl.finding_withdrawal",
    "ctl.finding",
    "ctl.access_log",
    "ctl.gate",
    "ctl.hiding",
    "ctl.waiver_end",
    "ctl.waiver",
    "ctl.ledger",
    "ctl.delivery",
    "ctl.release",
    "ctl.project_grant",
    "ctl.project_member",
)
REQUIREMENTS = {
    "demo": ("parity", "expectations", "leaks", "bench", "languages"),
    "production": ("parity", "expectations", "leaks", "bench", "languages", "topics", "site_gold"),
}
MARKER = "Zyxwarren Quillfeather"


class Scene:
    """The feed `clinic` on its way through the gate, told in short words."""

    keys = KEYS
    marker = MARKER

    def __init__(self, warehouse: Warehouse) -> None:
        self.warehouse = warehouse
        self._measured: set[str] = set()

    def empty(self) -> None:
        """Forgets all that happened, under the `demo` profile."""
        with self.warehouse.administer() as connection:
            connection.exec_driver_sql("SET session_replication_role = replica")  # past append-only and foreign keys
            for table in CONTENT:
                connection.exec_driver_sql(f"DELETE FROM {table}")
            connection.exec_driver_sql("DELETE FROM ctl.profile WHERE name NOT IN ('demo', 'production')")
            connection.exec_driver_sql("DELETE FROM ctl.project")
        self._measured.clear()
        configure(self.warehouse.admin_engine(), "demo")

    def look(self, detector: str = "detector", **at: str) -> int:
        """The number of a look of a detector at what the bench measures on."""
        return looked(self.warehouse.engine(Role.GATEKEEPER), plain_digest(detector), **at)  # type: ignore[arg-type]

    def delivery(self, watermark: str) -> Delivery:
        return Delivery("clinic", watermark)

    def note(
        self,
        number: int,
        text: str | None = None,
        *,
        status: str = "clean",
        patient: int | None = 1,
        former: Collection[Keyring] = (),
        source: str | None = None,
        **changes: object,
    ) -> StagedNote:
        """Note `number` of patient `patient`; held back, it has no text. `source`: what was redacted to this text."""
        usual = StagedNote(
            note_key=KEYS.key("note", str(number)),
            patient_key=None if patient is None else KEYS.key("patient", str(patient)),
            status=Status(status),
            text=(text or f"note {number}") if status == "clean" else None,
            content_digest=plain_digest(f"{number} {source or text}"),
            dictionary_digest=plain_digest("dictionary"),
            note_type="progress",
            note_year=2020,
            language="en",
            former_keys=tuple(ring.key("note", str(number)) for ring in former),
        )
        return dataclasses.replace(usual, **changes)  # type: ignore[arg-type]

    def header(
        self, rows: Collection[StagedNote], withdrawals: Collection[StagedWithdrawal] = (), **changes: object
    ) -> Header:
        """What a delivery of these rows announces, with `changes` to it."""
        rejoined = sum(item.kind is Kind.REJOINED for item in withdrawals)
        usual = Header(
            release="r1",
            detector_digest=plain_digest("detector"),
            policy_digest=plain_digest("policy"),
            key_id=KEYS.key_id,
            inputs=Inputs.TOPICS,
            run_id="run-1",
            announced=Counts(
                clean=sum(row.status == Status.CLEAN for row in rows),
                quarantined=sum(row.status == Status.QUARANTINED for row in rows),
                withdrawn=len(withdrawals) - rejoined,
                rejoined=rejoined,
            ),
            demonstration=True,
        )
        return dataclasses.replace(usual, **changes)  # type: ignore[arg-type]

    def stage(
        self,
        watermark: str,
        rows: Iterable[StagedNote] = (),
        *,
        withdrawn: Iterable[int] = (),
        patients: Iterable[int] = (),
        rejoined: Iterable[int] = (),
        former: Collection[Keyring] = (),
        feed: str = "clinic",
        **changes: object,
    ) -> Staged:
        """Stages notes, and by number the notes and patients that are withdrawn and the patients who rejoin."""
        rows = list(rows)
        kinds = ((Kind.NOTE, withdrawn), (Kind.PATIENT, patients), (Kind.REJOINED, rejoined))
        withdrawals = [
            StagedWithdrawal(kind, KEYS.key(name, str(n)), tuple(ring.key(name, str(n)) for ring in former))
            for kind, numbers in kinds
            for name in ("note" if kind is Kind.NOTE else "patient",)
            for n in numbers
        ]
        return stage(
            self.warehouse.engine(Role.LOADER),
            Delivery(feed, watermark),
            rows,
            self.header(rows, withdrawals, **changes),
            withdrawals=withdrawals,
        )

    def measure(
        self,
        staged: Staged,
        *,
        only: Iterable[str] | None = None,
        failing: Collection[str] = (),
        detector: str = "detector",
        inputs: str = "topics",
        profile: str = "demo",
        known: int | None = None,
    ) -> None:
        """Gate rows for what is staged: all of the profile's, or `only` some; by default all findings are known."""
        with self.warehouse.begin(Role.GATEKEEPER) as connection:
            newest = connection.execute(text("SELECT coalesce(max(id), 0) FROM ctl.finding")).scalar_one()
        names = REQUIREMENTS[profile] if only is None else list(only)
        if "bench" in names and detector not in self._measured:
            self._measured.add(detector)
            self.look(detector)
        record_gate(
            self.warehouse.engine(Role.GATEKEEPER),
            staged,
            [GateRow(name, name not in failing, {"rows": 1}) for name in names],
            detector_digest=plain_digest(detector),
            inputs=Inputs(inputs),
            profile=profile,
            known=newest if known is None else known,
        )

    def promote(self, watermark: str, *, feed: str = "clinic") -> Promotion:
        return promote(self.warehouse.engine(Role.PROMOTER), Delivery(feed, watermark))

    def hide(self, watermark: str) -> Hidden:
        return hide(self.warehouse.engine(Role.PROMOTER), self.delivery(watermark))

    def publish(
        self,
        watermark: str,
        rows: Iterable[StagedNote] = (),
        *,
        detector: str = "detector",
        feed: str = "clinic",
        **changes: object,
    ) -> Promotion:
        """Stages, measures and promotes; activates the release if none is."""
        if detector != "detector":
            changes["detector_digest"] = plain_digest(detector)
        self.measure(self.stage(watermark, rows, feed=feed, **changes), detector=detector)
        done = self.promote(watermark, feed=feed)
        with self.warehouse.begin(Role.OFFICER) as connection:
            active = connection.execute(text("SELECT count(*) FROM ctl.release WHERE active")).scalar()
        if not active:
            activate_release(self.warehouse.engine(Role.PROMOTER), str(changes.get("release", "r1")))
        return done

    def visible(self) -> list[str]:
        """The texts that an analyst sees, in order."""
        with self.warehouse.begin(Role.DEMO_ANALYST) as connection:
            return list(connection.execute(text("SELECT text FROM research.notes ORDER BY text")).scalars())

    def events(self) -> list[str]:
        """What the ledger tells of deliveries, oldest first."""
        with self.warehouse.begin(Role.OFFICER) as connection:
            return list(
                connection.execute(text("SELECT event FROM ctl.ledger WHERE event <> 'profile' ORDER BY id")).scalars()
            )


class Lasting(Warehouse):
    """With connections of the roles that stay open: over TCP and TLS, opening them takes most of a test's time."""

    @cached_property
    def pools(self) -> dict[Role, Engine]:
        return {}

    def engine(self, role: Role) -> Engine:
        if role not in self.pools:
            # A member who leaves loses the connections that are open.
            self.pools[role] = create_engine(self.url(role), hide_parameters=True, pool_pre_ping=True)
        return self.pools[role]


@pytest.fixture(scope="module")
def emptied(fresh_database: Callable[[], AbstractContextManager[Warehouse]]) -> Iterator[Warehouse]:
    """A database for tests that change rows only; making one takes longer than most of them."""
    with fresh_database() as fresh:
        lasting = Lasting(fresh.admin_engine().url.render_as_string(hide_password=False))
        yield lasting
        for pool in lasting.pools.values():
            pool.dispose()


@pytest.fixture
def scene(emptied: Warehouse) -> Scene:
    """A scene in an empty database with the `demo` profile; for tests that change no table or function."""
    made = Scene(emptied)
    made.empty()
    return made


@pytest.fixture
def own_scene(fresh_database: Callable[[], AbstractContextManager[Warehouse]]) -> Iterator[Scene]:
    """A scene in a database of the test's own, which may do to it what it likes."""
    with fresh_database() as fresh:
        yield Scene(fresh)


@pytest.fixture(scope="module")
def shared_scene(warehouse: Warehouse) -> Scene:
    """A scene in the module's database, with one delivery published."""
    made = Scene(warehouse)
    made.publish("1", [made.note(1), made.note(2, status="quarantined")], patients=[9])
    return made
