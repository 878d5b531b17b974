"""A reader reports a leak: the note is hidden everywhere at once, and the gate opens only for what a new run made."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.warehouse.findings import reported_since, retract
from deid_platform.warehouse.releases import activate_release
from deid_platform.warehouse.roles import Role

pytestmark = pytest.mark.warehouse

LEAK = "Mr. Quillfeather is well."
NAME = slice(4, 16)


def report(scene, number=1, *, span=NAME, who="A. Reader", hide=None):
    keys = [scene.keys.key("note", str(number))]
    return retract(
        scene.warehouse.engine(Role.OFFICER),
        keys,
        span.start,
        span.stop,
        label=Label.PATIENT,
        who=who,
        hide=hide,
    )


def refused(scene, watermark):
    with pytest.raises(DeidError) as caught:
        scene.promote(watermark)
    return set(caught.value.ref.partition(": ")[2].split(", "))


def test_the_note_is_hidden_in_every_release_and_every_other_note_with_the_string_too(scene):
    rows = [
        scene.note(1, LEAK),
        scene.note(2, "QUILLFEATHER called."),
        scene.note(3, "Quillfeathers."),
        scene.note(4, "Well."),
    ]
    scene.publish("1", rows)
    scene.publish("1", rows, release="r2", detector="better")
    found = report(scene)
    assert (found.length, found.releases, found.matches, found.hidden) == (12, 2, 1, 2)
    assert scene.visible() == ["Quillfeathers.", "Well."]
    assert activate_release(scene.warehouse.engine(Role.PROMOTER), "r2")
    assert scene.visible() == ["Quillfeathers.", "Well."]


def test_the_string_is_neither_in_the_database_nor_in_the_servers_log(scene, log_of_server):
    scene.publish("1", [scene.note(1, "Mr. Ztranquebor is well.")])
    report(scene, span=slice(4, 15))
    assert "Ztranquebor" not in log_of_server()
    with scene.warehouse.administer() as connection:
        for table in ("ctl.finding", "ctl.ledger", "research.retraction"):
            rows = connection.execute(text(f"SELECT count(*) FROM {table} t WHERE t::text ILIKE '%ztranquebor%'"))
            assert rows.scalar_one() == 0, table


def test_a_string_that_stands_everywhere_hides_the_reported_note_alone(scene):
    scene.publish("1", [scene.note(n, f"{LEAK} {n}") for n in range(1, 6)])
    found = report(scene, hide=3)
    assert (found.matches, found.hidden) == (4, 1)
    assert len(scene.visible()) == 4
    (reported,) = reported_since(scene.warehouse.engine(Role.OFFICER), found.number - 1)
    assert not reported.everywhere


def test_words_that_the_span_cuts_belong_to_it(scene):
    scene.publish("1", [scene.note(1, "Seen by Quillfeather-Moon, well."), scene.note(2, "Quillfeather-Moon")])
    found = report(scene, span=slice(12, 22))
    assert (found.length, found.releases, found.matches) == (len("Quillfeather-Moon"), 1, 1)
    (reported,) = reported_since(scene.warehouse.engine(Role.OFFICER), found.number - 1)
    assert (reported.string, reported.everywhere) == ("Quillfeather-Moon", True)


def test_tags_at_its_ends_do_not_belong_to_it(scene):
    scene.publish("1", [scene.note(1, "Lives with Marlenka on [DATE 2020] at home."), scene.note(2, "Marlenka on")])
    found = report(scene, span=slice(14, 31))
    (reported,) = reported_since(scene.warehouse.engine(Role.OFFICER), found.number - 1)
    assert reported.string == "Marlenka on"
    assert found.matches == 1


def test_signs_in_the_string_mean_themselves(scene):
    scene.publish(
        "1", [scene.note(1, "Call (617) 555-0199."), scene.note(2, "6175550199"), scene.note(3, "Or (617) 555-0199")]
    )
    assert report(scene, span=slice(5, 19)).matches == 1
    assert scene.visible() == ["6175550199"]


def test_what_was_measured_without_knowing_counts_no_more_for_any_delivery(scene):
    scene.publish("1", [scene.note(1, LEAK)])
    staged = scene.stage("2", [scene.note(2)])
    scene.measure(staged)
    report(scene)
    demanded = {"parity", "expectations", "leaks", "bench"}
    assert refused(scene, "2") == demanded
    # Nor does what was measured since by someone who did not know.
    scene.measure(staged, known=0)
    assert refused(scene, "2") == demanded
    scene.measure(staged)
    assert scene.promote("2").approved == 1


def test_the_same_text_never_passes_again_whatever_is_measured_and_holds_nothing_else_up(scene):
    scene.publish("1", [scene.note(1, LEAK), scene.note(2)])
    report(scene)
    scene.measure(scene.stage("1", [scene.note(1, LEAK), scene.note(2)]))
    done = scene.promote("1")
    assert (done.approved, done.hidden) == (1, 1)
    assert scene.visible() == ["note 2"]
    assert scene.promote("1").outcome == "unchanged"


def test_a_new_run_that_removes_the_string_shows_the_note_again(scene):
    scene.publish("1", [scene.note(1, LEAK), scene.note(2, "Quillfeather, too."), scene.note(3)])
    report(scene)
    assert scene.visible() == ["note 3"]
    rows = [scene.note(1, "Mr. [PATIENT] is well."), scene.note(2, "[PATIENT], too."), scene.note(3)]
    scene.publish("1", rows)
    assert scene.visible() == ["Mr. [PATIENT] is well.", "[PATIENT], too.", "note 3"]


def test_the_ledger_has_the_finding_with_its_counts(scene):
    scene.publish("1", [scene.note(1, LEAK)])
    number = report(scene).number
    with scene.warehouse.begin(Role.OFFICER) as connection:
        finding = connection.execute(text("SELECT id, actor, who, label, span_start, span_end FROM ctl.finding")).one()
        entry = connection.execute(text("SELECT event, who, counts FROM ctl.ledger ORDER BY id DESC LIMIT 1")).one()
    assert tuple(finding) == (number, "officer", "A. Reader", "PATIENT", 4, 16)
    assert tuple(entry) == ("retracted", "A. Reader", {"finding": number, "releases": 1, "matches": 0, "hidden": 1})


@pytest.mark.parametrize(
    ("wrong", "code", "ref"),
    [
        ({"number": 9}, Code.FINDING_INVALID, "no such note"),
        ({"span": slice(4, 400)}, Code.FINDING_INVALID, "span"),
        ({"span": slice(4, 4)}, Code.FINDING_INVALID, "span"),
        ({"span": slice(3, 4)}, Code.FINDING_INVALID, "span"),
        ({"span": slice(-1, 4)}, Code.FINDING_INVALID, "span"),
        ({"who": ""}, Code.WAIVER_INVALID, "who"),
        ({"span": slice(25, 36)}, Code.FINDING_INVALID, "span"),
    ],
    ids=["another note", "beyond the end", "empty", "a space", "before the start", "nobody", "a tag"],
)
def test_a_report_of_nothing_is_refused(scene, wrong, code, ref):
    leak = f"{LEAK} [DATE 2020]"
    scene.publish("1", [scene.note(1, leak)])
    with pytest.raises(DeidError) as caught:
        report(scene, **wrong)
    assert (caught.value.code, caught.value.ref) == (code, ref)
    assert scene.visible() == [leak]


def test_a_release_under_another_secret_is_reached_by_the_notes_other_key(scene):
    scene.publish("1", [scene.note(1, LEAK), scene.note(1, LEAK, note_key="n_former")])
    keys = [scene.keys.key("note", "1"), "n_former"]
    found = retract(scene.warehouse.engine(Role.OFFICER), keys, 4, 16, label=Label.PATIENT, who="A. Reader")
    assert (found.matches, found.hidden) == (0, 2)
    assert scene.visible() == []
