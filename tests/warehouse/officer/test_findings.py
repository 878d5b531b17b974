"""A reader reports a leak: the note is hidden everywhere at once, and the gate opens only for what a new run made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.warehouse.gate.promotion import set_opt_outs
from deid_platform.warehouse.gate.queries import ledger
from deid_platform.warehouse.officer.findings import (
    findings,
    preview,
    reported_since,
    retract,
    retract_note,
    withdraw_finding,
    withdrawn_findings,
)
from deid_platform.warehouse.officer.releases import activate_release
from deid_platform.warehouse.server.roles import Role

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


def withdraw(scene, number, *people, reason="it is a common word"):
    """Each of these people in turn says that a finding is none."""
    done = None
    for who in people:
        done = withdraw_finding(
            scene.warehouse.engine(Role.OFFICER), scene.warehouse.engine(Role.PROMOTER), number, who=who, reason=reason
        )
    return done


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
    (reported,) = reported_since(scene.warehouse.engine(Role.GATEKEEPER), found.number - 1)
    assert not reported.everywhere


def test_words_that_the_span_cuts_belong_to_it(scene):
    scene.publish("1", [scene.note(1, "Seen by Quillfeather-Moon, well."), scene.note(2, "Quillfeather-Moon")])
    found = report(scene, span=slice(12, 22))
    assert (found.length, found.releases, found.matches) == (len("Quillfeather-Moon"), 1, 1)
    (reported,) = reported_since(scene.warehouse.engine(Role.GATEKEEPER), found.number - 1)
    assert (reported.string, reported.everywhere) == ("Quillfeather-Moon", True)


def test_tags_at_its_ends_do_not_belong_to_it(scene):
    scene.publish("1", [scene.note(1, "Lives with Marlenka on [DATE 2020] at home."), scene.note(2, "Marlenka on")])
    found = report(scene, span=slice(14, 31))
    (reported,) = reported_since(scene.warehouse.engine(Role.GATEKEEPER), found.number - 1)
    assert reported.string == "Marlenka on"
    assert found.matches == 1


@pytest.mark.parametrize("said", ["Marlenka Vask", "MARLENKA", "Patient: Marlenka", "DATE of Marlenka", "Marlenka]"])
def test_what_a_clinician_put_in_brackets_is_no_tag(scene, said):
    written = f"Lives with [{said}] on [DATE 2020] and [PATIENT]."
    scene.publish("1", [scene.note(1, written)])
    at = written.lower().index("marlenka")
    found = report(scene, span=slice(at, at + 8))
    (reported,) = reported_since(scene.warehouse.engine(Role.GATEKEEPER), found.number - 1)
    assert reported.string.lower() == "marlenka"
    assert scene.visible() == []


def test_every_tag_that_a_policy_writes_is_one(scene):
    tags = [f"[{label}]" for label in (*Label, "INDIRECT")] + [
        "[DATE 2020]",
        "[DATE 1990s]",
        "[DATE 2018-2019]",
        "[ZIP 430]",
    ]
    scene.publish("1", [scene.note(1, " ".join(tags))])
    at = 0
    for tag in tags:
        with pytest.raises(DeidError, match="span"):
            report(scene, span=slice(at, at + len(tag)))
        at += len(tag) + 1


@pytest.mark.parametrize("name", ["Иванова", "王小明"])
def test_a_name_in_any_script_can_be_reported(scene, name):
    scene.publish("1", [scene.note(1, f"with {name} today"), scene.note(2, f"{name}."), scene.note(3, "well")])
    assert report(scene, span=slice(5, 5 + len(name))).hidden == 2
    assert scene.visible() == ["well"]


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
    demanded = {"parity", "expectations", "leaks", "bench", "languages"}
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


# How far it would reach


def rows_of(scene, *tables):
    with scene.warehouse.administer() as connection:
        return [connection.execute(text(f"SELECT * FROM {table} t ORDER BY t::text")).all() for table in tables]


def test_a_preview_counts_what_a_report_hides_and_writes_nothing(scene):
    scene.publish("1", [scene.note(n, f"{LEAK} {n}") for n in (1, 2, 3)] + [scene.note(4), scene.note(5)])
    scene.publish("1", [scene.note(1, LEAK)], release="r2", detector="better")
    tables = ("ctl.finding", "ctl.ledger", "ctl.publication", "research.retraction")
    before = rows_of(scene, *tables)
    keys = [scene.keys.key("note", "1")]
    reach = preview(scene.warehouse.engine(Role.OFFICER), keys, 5, 9)
    assert rows_of(scene, *tables) == before
    assert (reach.length, reach.releases, reach.matches, reach.holders, reach.notes) == (12, 2, 2, 3, 5)
    assert reach.share == 0.6
    done = report(scene)
    assert (done.length, done.releases, done.matches, done.holders, done.hidden) == (12, 2, 2, 3, 3)
    assert scene.visible() == ["note 4", "note 5"]


def test_a_preview_of_nothing_is_refused_as_a_report_of_it_is(scene):
    scene.publish("1", [scene.note(1, LEAK)])
    officer = scene.warehouse.engine(Role.OFFICER)
    for keys, start, end, ref in ((["n_none"], 4, 16, "no such note"), ([scene.keys.key("note", "1")], 4, 400, "span")):
        with pytest.raises(DeidError) as caught:
            preview(officer, keys, start, end)
        assert (caught.value.code, caught.value.ref) == (Code.FINDING_INVALID, ref)


@pytest.mark.parametrize(
    ("holding", "others", "hidden"),
    [(10, 0, 10), (11, 0, 1), (12, 1188, 12), (13, 1187, 1)],
    ids=["ten", "more than ten", "one in a hundred", "more than one in a hundred"],
)
def test_more_than_one_in_a_hundred_and_more_than_ten_are_not_hidden_unasked(scene, holding, others, hidden):
    scene.publish("1", [scene.note(n, f"{LEAK} {n}" if n <= holding else None) for n in range(1, holding + others + 1)])
    found = report(scene)
    assert (found.holders, found.hidden) == (holding, hidden)
    assert len(scene.visible()) == holding + others - hidden


def test_a_report_that_hid_its_note_alone_is_made_wide_by_a_second_one(scene):
    scene.publish("1", [scene.note(n, f"{LEAK} {n}") for n in range(1, 13)])
    assert report(scene).hidden == 1
    assert report(scene, hide=11).hidden == 1
    wide = report(scene, hide=12)
    assert (wide.hidden, scene.visible()) == (12, [])
    (*_, reported) = reported_since(scene.warehouse.engine(Role.GATEKEEPER), 0)
    assert (reported.finding, reported.everywhere) == (wide.number, True)


# What the officer's login alone does not read


LONG = "Seen by " + " ".join(["Quillfeather"] * 40) + "."


@pytest.mark.parametrize("ask", [retract, preview])
@pytest.mark.parametrize(("length", "refused"), [(15 * 13 + 5, False), (16 * 13, True), (len(LONG), True)])
def test_a_text_is_no_identifier(scene, ask, length, refused):
    """A word that the span cuts belongs to it."""
    scene.publish("1", [scene.note(1, LONG)])
    said = {} if ask is preview else {"label": Label.PATIENT, "who": "A. Reader"}
    officer, keys = scene.warehouse.engine(Role.OFFICER), [scene.keys.key("note", "1")]
    if not refused:
        assert ask(officer, keys, 8, min(8 + 14 * 13 + 5, len(LONG)), **said).length <= 200
        return
    with pytest.raises(DeidError) as caught:
        ask(officer, keys, 8, min(8 + length, len(LONG)), **said)
    assert (caught.value.code, caught.value.ref) == (Code.FINDING_INVALID, "more than 200 characters")
    assert scene.visible() == [LONG]


def test_the_officer_who_reports_a_string_reads_none_and_each_read_is_logged(scene):
    scene.publish("1", [scene.note(1, LEAK)])
    scene.publish("2", withdrawn=[1])
    report(scene)
    with pytest.raises(DeidError, match="42501"):
        reported_since(scene.warehouse.engine(Role.OFFICER), 0)
    gatekeeper = scene.warehouse.engine(Role.GATEKEEPER)
    (reported,) = reported_since(gatekeeper, 0)
    assert reported.string == "Quillfeather"
    assert reported_since(gatekeeper, reported.finding) == ()
    with scene.warehouse.begin(Role.OFFICER) as connection:
        logged = connection.execute(text("SELECT login, relation FROM ctl.access_log")).all()
    assert [tuple(row) for row in logged] == [("gatekeeper", "ctl.reported_since")]


def test_a_whole_note_is_hidden_whatever_is_made_of_it_and_hands_out_nothing(scene):
    scene.publish("1", [scene.note(1, LONG), scene.note(2, LONG)])
    keys, officer = [scene.keys.key("note", "1")], scene.warehouse.engine(Role.OFFICER)
    done = retract_note(officer, keys, label=Label.PATIENT, who="A. Reader")
    assert (done.hidden, scene.visible()) == (1, [LONG])
    (reported,) = reported_since(scene.warehouse.engine(Role.GATEKEEPER), 0)
    assert (reported.finding, reported.string, reported.everywhere) == (done.number, "", False)
    scene.publish("1", [scene.note(1, "Seen by [DOCTOR]."), scene.note(2, LONG)])
    scene.publish("2", [scene.note(1, "Seen again by [DOCTOR].")])
    scene.publish("1", [scene.note(1, "Seen."), scene.note(2, LONG)], release="r2", detector="better")
    assert scene.visible() == [LONG]
    assert withdraw(scene, done.number, "A. Officer", "B. Officer").withdrawn
    scene.publish("2", [scene.note(1, "Seen again by [DOCTOR].")])
    assert scene.visible() == ["Seen again by [DOCTOR].", LONG]
    for given, who, code in (((), "A. Reader", Code.FINDING_INVALID), (keys, " ", Code.WAIVER_INVALID)):
        with pytest.raises(DeidError) as caught:
            retract_note(officer, given, label=Label.PATIENT, who=who)
        assert caught.value.code is code


# Withdrawn


def test_two_people_withdraw_a_finding_and_what_it_hid_is_shown_again(scene):
    scene.publish("1", [scene.note(1, LEAK), scene.note(2, "Quillfeather, too."), scene.note(3)])
    scene.measure(scene.stage("2", [scene.note(4)]))
    number = report(scene).number
    proposed = withdraw(scene, number, "A. Officer")
    assert (proposed.withdrawn, proposed.shown, scene.visible()) == (False, 0, ["note 3"])
    assert refused(scene, "2") == {"parity", "expectations", "leaks", "bench", "languages"}
    done = withdraw(scene, number, "B. Officer", reason="a word of the language")
    assert (done.withdrawn, done.shown) == (True, 2)
    assert scene.visible() == [LEAK, "Quillfeather, too.", "note 3"]
    # What was measured before it counts again.
    assert scene.promote("2").approved == 1
    (found,) = findings(scene.warehouse.engine(Role.OFFICER))
    assert (found.state, found.hidden, found.withdrawn_by) == ("withdrawn", 2, ("A. Officer", "B. Officer"))
    assert found.reasons == ("it is a common word", "a word of the language")
    entries = [e for e in ledger(scene.warehouse.engine(Role.OFFICER)) if e.event.startswith("finding-")]
    assert [(e.event, e.who, e.reason, e.counts) for e in entries] == [
        ("finding-withdrawal-proposed", "A. Officer", "it is a common word", {"finding": number, "shown": 0}),
        ("finding-withdrawn", "B. Officer", "a word of the language", {"finding": number, "shown": 2}),
    ]


def test_a_text_that_a_promotion_left_out_meanwhile_passes_again(scene):
    rows = [scene.note(1, LEAK), scene.note(2)]
    scene.publish("1", rows)
    number = report(scene).number
    assert scene.publish("1", rows).approved == 1
    assert withdraw(scene, number, "A. Officer", "B. Officer").shown == 0
    assert scene.visible() == ["note 2"]  # until a promotion
    assert scene.promote("1").approved == 2
    assert scene.visible() == [LEAK, "note 2"]


def test_what_anything_else_hides_stays_hidden(scene):
    held = {
        1: LEAK,
        2: "Quillfeather left.",
        3: "Quillfeather out.",
        4: "Quillfeather Osgrave.",
        5: "Quillfeather old.",
    }
    rows = [scene.note(n, said, patient=n) for n, said in held.items()]
    scene.publish("1", [*rows, scene.note(6, "Quillfeather held.", patient=6)])
    number = report(scene).number
    set_opt_outs(
        scene.warehouse.engine(Role.LOADER),
        scene.warehouse.engine(Role.PROMOTER),
        {scene.keys.key_id: [scene.keys.key("patient", "3")]},
    )
    report(scene, 4, span=slice(13, 20))
    scene.stage("2", [scene.note(5, "Corrected."), scene.note(6, status="quarantined")], patients=[2])
    scene.hide("2")
    assert withdraw(scene, number, "A. Officer", "B. Officer").shown == 1
    assert scene.visible() == [LEAK]


def test_one_of_two_findings_of_a_string_goes_on_hiding_it(scene):
    scene.publish("1", [scene.note(1, LEAK), scene.note(2, LEAK), scene.note(3)])
    staged = scene.stage("2", [scene.note(4)])
    first, second = report(scene, 1).number, report(scene, 2).number
    assert withdraw(scene, first, "A. Officer", "B. Officer").shown == 0
    assert scene.visible() == ["note 3"]
    scene.measure(staged, known=first)
    assert refused(scene, "2")
    assert withdraw(scene, second, "A. Officer", "B. Officer").shown == 2
    assert scene.promote("2").approved == 1


def test_with_a_finding_those_are_withdrawn_that_it_made_wide_and_no_others(scene):
    scene.publish("1", [scene.note(n, f"{LEAK} {n}") for n in range(1, 13)])
    narrow, wide = report(scene).number, report(scene, hide=12).number
    another = report(scene, 2, hide=1).number
    assert withdraw(scene, wide, "A. Officer", "B. Officer").shown == 11
    assert withdrawn_findings(scene.warehouse.engine(Role.OFFICER)) == {narrow, wide}
    assert f"{LEAK} 2" not in scene.visible()
    with pytest.raises(DeidError, match="finding-unknown"):
        withdraw(scene, narrow, "A. Officer")
    assert withdraw(scene, another, "A. Officer", "B. Officer").shown == 1


def test_what_was_withdrawn_can_be_reported_again(scene):
    scene.publish("1", [scene.note(1, LEAK)])
    withdraw(scene, report(scene).number, "A. Officer", "B. Officer")
    again = report(scene).number
    assert scene.visible() == []
    assert withdraw(scene, again, "B. Officer").withdrawn is False
    assert scene.visible() == []


@pytest.mark.parametrize(
    "other",
    [
        "A. Officer",
        "a.  officer ",
        "A. OFFICER\n",
        "A Officer",
        "\uff21. \uff2ffficer",
        "\u00c1. Officer",
    ],
    ids=["itself", "case and blanks", "a line break", "no dot", "wide letters", "an accent"],
)
def test_one_person_is_not_two_however_the_name_is_written(scene, other):
    scene.publish("1", [scene.note(1, LEAK)])
    number = report(scene).number
    withdraw(scene, number, "A. Officer")
    with pytest.raises(DeidError) as caught:
        withdraw(scene, number, other)
    assert (caught.value.code, caught.value.ref) == (Code.SECOND_PERSON, f"finding {number}")
    assert scene.visible() == []


@pytest.mark.parametrize("other", ["A.\tOfficer", "\u200bA. Officer", "A. Offi\u00adcer"], ids=ascii)
def test_nor_is_a_name_one_that_holds_signs_that_are_not_seen(scene, other):
    scene.publish("1", [scene.note(1, LEAK)])
    number = report(scene).number
    withdraw(scene, number, "A. Officer")
    with pytest.raises(DeidError) as caught:
        withdraw(scene, number, other)
    assert (caught.value.code, caught.value.ref) == (Code.WAIVER_INVALID, "who")
    assert scene.visible() == []


@pytest.mark.parametrize(("one", "same"), [("Ms. Strauß", "MS. STRAUSS"), ("σοφός", "ΣΟΦΌΣ")], ids=["sz", "sigma"])
def test_capitals_make_no_other_person(scene, one, same):
    scene.publish("1", [scene.note(1, LEAK)])
    number = report(scene).number
    withdraw(scene, number, one)
    with pytest.raises(DeidError, match="second-person"):
        withdraw(scene, number, same)
    assert scene.visible() == []


@pytest.mark.parametrize(
    ("who", "reason", "ref"),
    [
        ("", "it is a common word", "who"),
        (" .\u200b ", "it is a common word", "who"),
        ("B. Officer", "no   ", "reason"),
    ],
    ids=["nobody", "no letter", "no reason"],
)
@pytest.mark.parametrize("proposed", [False, True], ids=["first", "second"])
def test_each_of_the_two_gives_a_name_and_a_reason(scene, who, reason, ref, proposed):
    scene.publish("1", [scene.note(1, LEAK)])
    number = report(scene).number
    if proposed:
        withdraw(scene, number, "A. Officer")
    with pytest.raises(DeidError) as caught:
        withdraw(scene, number, who, reason=reason)
    assert (caught.value.code, caught.value.ref) == (Code.WAIVER_INVALID, ref)
    assert scene.visible() == []


def test_a_finding_is_withdrawn_once(scene):
    scene.publish("1", [scene.note(1, LEAK)])
    number = report(scene).number
    withdraw(scene, number, "A. Officer", "B. Officer")
    before = rows_of(scene, "ctl.finding_withdrawal", "ctl.ledger")
    for who in ("A. Officer", "B. Officer", "C. Officer"):
        for wrong in (number, number + 1):
            with pytest.raises(DeidError, match="finding-unknown"):
                withdraw(scene, wrong, who)
    assert rows_of(scene, "ctl.finding_withdrawal", "ctl.ledger") == before


def test_one_person_at_many_terminals_at_once_is_one(scene):
    scene.publish("1", [scene.note(1, LEAK)])
    number = report(scene).number

    def say(who):
        with suppress(DeidError):
            return withdraw(scene, number, who)

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(say, ["A. Officer", "a. officer", "A. OFFICER", "A.Officer"]))
    assert sum(each is not None for each in done) == 1
    assert scene.visible() == []
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(say, ["B. Officer", "C. Officer", "D. Officer", "E. Officer"]))
    assert [each.withdrawn for each in done if each] == [True]
    assert scene.visible() == [LEAK]


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_nobody_withdraws_by_an_old_view_of_things(scene, level):
    scene.publish("1", [scene.note(1, LEAK)])
    number = report(scene).number
    officer = scene.warehouse.engine(Role.OFFICER).execution_options(isolation_level=level)
    with pytest.raises(DeidError, match="25000"):
        withdraw_finding(
            officer, scene.warehouse.engine(Role.PROMOTER), number, who="A. Officer", reason="it is a common word"
        )


@pytest.mark.parametrize(
    "action", ["UPDATE ctl.finding_withdrawal SET who = who", "DELETE FROM ctl.finding_withdrawal"]
)
def test_who_withdrew_a_finding_cannot_be_changed_even_by_the_owner(scene, action):
    scene.publish("1", [scene.note(1, LEAK)])
    withdraw(scene, report(scene).number, "A. Officer")
    with pytest.raises(DeidError, match="42501"), scene.warehouse.administer() as connection:
        connection.execute(text(action))


def test_the_string_of_a_withdrawn_finding_is_told_to_nobody(scene):
    scene.publish("1", [scene.note(1, LEAK)])
    number = report(scene).number
    withdraw(scene, number, "A. Officer", "B. Officer")
    (reported,) = reported_since(scene.warehouse.engine(Role.GATEKEEPER), 0)
    assert (reported.finding, reported.string, reported.everywhere) == (number, "", False)
