"""What is written down and what is read back: gate rows, scores, the summary and the ledger."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from deid_platform.bench.gate.measured_notes import SYNTHETIC
from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.notes import Delivery
from deid_platform.warehouse.gate.ledger import GateRow, Score, record_gate, record_scores
from deid_platform.warehouse.gate.queries import ledger, summary
from deid_platform.warehouse.gate.staging import Counts, Inputs
from deid_platform.warehouse.server.roles import Role

MARKER = "Zyxwarren Quillfeather"


def record(scene, staged, *rows):
    record_gate(
        scene.warehouse.engine(Role.GATEKEEPER),
        staged,
        rows,
        detector_digest=plain_digest("detector"),
        inputs=Inputs.TOPICS,
        profile="demo",
    )


@pytest.mark.parametrize(
    "measured", [{}, {"rows": 3}, {"by label": {"AGE": 0.5, "DATE": None}}, {"low, high": [0.1, 0.2], "met": True}]
)
def test_figures_are_recorded(shared_scene, measured):
    staged = shared_scene.stage("50", [shared_scene.note(1)])
    shared_scene.look()
    record(shared_scene, staged, GateRow("bench", True, measured))
    with shared_scene.warehouse.begin(Role.OFFICER) as connection:
        kept = connection.execute(text("SELECT measured FROM ctl.gate ORDER BY id DESC LIMIT 1")).scalar()
    assert kept == measured


@pytest.mark.parametrize("measured", [{"example": MARKER}, {"a": {"b": [MARKER]}}, {"a": object()}, {"a": b"x"}])
def test_anything_but_figures_is_refused_with_all_its_company(shared_scene, measured):
    staged = shared_scene.stage("51", [shared_scene.note(1)])
    with pytest.raises(DeidError) as caught:
        record(shared_scene, staged, GateRow("parity", True), GateRow("leaks", False, measured))
    assert (caught.value.code, caught.value.ref) == (Code.WAREHOUSE_STATEMENT, "measured")
    assert ledger(shared_scene.warehouse.engine(Role.OFFICER), Delivery("clinic", "51"))[-1].event == "staged"


def test_the_server_refuses_a_string_among_figures_too(shared_scene):
    with (
        pytest.raises(DeidError, match="23514"),
        shared_scene.warehouse.begin(Role.GATEKEEPER) as connection,
    ):
        connection.execute(
            text(
                "INSERT INTO ctl.gate (delivery, requirement, staged_digest, detector_digest, inputs, profile, passed,"
                " measured) VALUES ('clinic@1', 'leaks', 'x', 'x', 'text', 'demo', true, '{\"a\": [{\"b\": \"c\"}]}')"
            )
        )


def test_analysts_see_scores_of_eleven_and_more(shared_scene):
    scores = [
        Score("ALL", "recall", 0.97, 0.95, 0.98, n=4_000),
        Score("AGE", "recall", 0.5, 0.2, 0.8, n=10),
        Score("ZIP", "recall", 0.9, 0.7, 1.0, n=11),
        Score("ALL", "f1", 0.98765),
    ]
    detector = plain_digest("detector")
    record_scores(
        shared_scene.warehouse.engine(Role.GATEKEEPER),
        scores,
        detector_digest=detector,
        gold=SYNTHETIC,
        inputs=Inputs.TEXT,
        look=shared_scene.look(),
    )
    with shared_scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
        seen = connection.execute(
            text("SELECT label, measure, value, low, high, n, suppressed FROM quality.scores ORDER BY n, label")
        ).all()
    assert [tuple(row) for row in seen] == [
        ("ZIP", "recall", 0.9, 0.7, 1.0, 11, False),
        ("ALL", "recall", 0.97, 0.95, 0.98, 4_000, False),
        # Ten could be read back from a share of ten; of what has no count, nobody knows how few it is of.
        ("AGE", "recall", None, None, None, None, True),
        ("ALL", "f1", None, None, None, None, True),
    ]


def test_the_summary_tells_where_each_delivery_stands(scene):
    scene.publish("1", [scene.note(1), scene.note(2, status="quarantined")], patients=[9])
    staged = scene.stage("2", [scene.note(3)])
    scene.measure(staged, only=["parity", "leaks"], failing=["leaks"])
    with pytest.raises(DeidError):
        scene.promote("2")
    found = summary(scene.warehouse.engine(Role.OFFICER))
    assert (found.profile, found.release) == ("demo", "r1")
    first, second = found.deliveries
    assert (first.delivery, first.state, first.approved, first.missing) == ("clinic@1", "promoted", 1, ())
    assert first.announced == Counts(clean=1, quarantined=1, withdrawn=1)
    assert (second.state, second.approved) == ("refused", 0)
    assert second.missing == ("bench", "expectations", "languages", "leaks")
    assert first.demonstration and second.at > first.at


def test_the_ledger_of_one_delivery_counts_what_happened(scene):
    scene.publish("1", [scene.note(1), scene.note(2, status="quarantined")])
    scene.stage("2", [])
    entries = ledger(scene.warehouse.engine(Role.OFFICER), Delivery("clinic", "1"))
    assert [entry.event for entry in entries] == ["staged", *["gate-passed"] * 5, "promoted"]
    assert entries[-1].counts == {"approved": 1, "quarantined": 1, "withdrawn": 0, "rejoined": 0}
    assert (entries[-1].actor, entries[-1].release) == ("promoter", "r1")
    assert len(ledger(scene.warehouse.engine(Role.OFFICER))) > len(entries)
