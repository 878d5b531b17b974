"""What docs/own-notes.md says of a feed without topics and without gold, as people type it, and what may go wrong."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import deid
from small_feed import measure_library

from assets import shown
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Delivery
from deid_platform.oversight.dossier import write_dossier
from deid_platform.oversight.summary import release_summary
from deid_platform.refresh import publish
from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.staging import due
from deid_platform.reports.dossier import Standing
from deid_platform.reports.summary import summary_markdown
from deid_platform.settings import load_settings
from deid_platform.warehouse.gate.promotion import Promotion
from deid_platform.warehouse.gate.queries import ledger
from deid_platform.warehouse.migrate import configure
from deid_platform.warehouse.server.roles import Role

PAGE = (Path(__file__).parents[2] / "docs" / "own-notes.md").read_text(encoding="utf-8")
EHR = Delivery("ehr", "2026-01-05")
LATER = str(datetime.now(tz=UTC).date() + timedelta(days=90))


def recipe(command: str) -> list[str]:
    """The page's own command on the delivery, on a day that is yet to come."""
    (found,) = re.findall(rf"^ +\.venv/bin/deid ({command} ehr@(?:.*\\\n)?.*)$", PAGE, re.MULTILINE)
    return shlex.split(re.sub(r"(?<=--until )\S+", LATER, found.replace("\\\n", " ")))


def waived(*requirements: str, **changes: str) -> list[str]:
    given = {
        "delivery": EHR.key,
        "--who": "A. Officer",
        "--why": "gold is being annotated",
        "--until": LATER,
        **changes,
    }
    delivery = given.pop("delivery")
    return ["waive", delivery, *requirements, *(part for option in given.items() for part in option)]


@pytest.fixture(scope="module", autouse=True)
def site(installation, warehouse, tmp_path_factory) -> Site:
    """The page's deid.toml, with deliveries of its own and a smaller bench."""
    folder = tmp_path_factory.mktemp("own-notes")
    block = PAGE.split("Write a `deid.toml`:")[1].split("and then")[0]
    text = re.sub(r"^    ", "", block, flags=re.MULTILINE).replace("/data/deliveries", str(folder / "deliveries"), 1)
    (columns,) = (feed["columns"] for feed in tomllib.loads(text)["feeds"].values())
    note = {"note_id": "1", "note_type": "progress note", next(k for k, v in columns.items() if v == "text"): "Stable."}
    arrived = folder / "deliveries" / EHR.watermark
    arrived.mkdir(parents=True)
    (arrived / "notes.jsonl").write_text(json.dumps(note) + "\n")
    config = folder / "deid.toml"
    config.write_text(text + "\n[bench]\nsynthetic_notes = 60\nlibrary_notes = 6\n")
    configure(warehouse.admin_engine(), "production")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEID_CONFIG", str(config))
        yield Site(load_settings(config))


@pytest.fixture(scope="module")
def before(site) -> str:
    """What `deid gate` says of a delivery that waits in its feed's folder."""
    return deid("gate", EHR.key).stderr


@pytest.fixture(scope="module")
def refusal(site, before, through) -> DeidError:
    """What `deid refresh` says of it."""
    measure_library(site)
    with pytest.raises(DeidError) as refused:
        through(EHR, site)
    return refused.value


@pytest.fixture(scope="module")
def all_waived(site, refusal) -> tuple[bool, ...]:
    """Whether a run may begin with the promotion: before the waiver, after it, and where settings changed since."""
    before = EHR in due.only_to_promote(site, [EHR])
    done = deid(*recipe("waive"))
    assert done.returncode == 0, done.stderr
    after = EHR in due.only_to_promote(site, [EHR])
    settings, feed = site.settings, site.feed(EHR.feed)
    gold = settings.root / "gold"
    gold.mkdir()
    (gold / f"{EHR.watermark}.jsonl.gz").write_bytes(b"")
    stricter = settings.thresholds.model_copy(update={"min_recall": 0.999})
    changes = (
        {"profiles": {"production": stricter}},
        {"feeds": {EHR.feed: feed.model_copy(update={"gold": gold})}},
        {"redaction": settings.redaction.model_copy(update={"policy": "surrogate"})},
    )
    changed = (Site(settings.model_copy(update=change)) for change in changes)
    return before, after, *(EHR in due.only_to_promote(it, [EHR]) for it in changed)


@pytest.fixture(scope="module")
def promoted(site, all_waived) -> Promotion:
    return publish.promote_delivery(site, EHR)


def rows(*arguments: str) -> list[dict]:
    shown = deid(*arguments, "--json")
    assert shown.returncode == 0, shown.stderr
    return [json.loads(line) for line in shown.stdout.splitlines()]


def test_of_a_delivery_that_nobody_staged_the_gate_says_how(before) -> None:
    assert "gate-unknown-delivery [ehr@2026-01-05]" in before
    assert "deid refresh --delivery" in before


def test_the_refusal_tells_what_failed_by_value_and_threshold(refusal) -> None:
    assert refusal.code is Code.GATE_REFUSED
    # On whole notes of others the detector does not reach what the profile asks for.
    assert re.search(r"bench failed \(.*conservative recall \(lower end\) 0\.\d+, at least 0\.980", refusal.ref)
    assert "site_gold failed (notes with gold 0, at least 30)" in refusal.ref
    assert "topics failed (share of notes whose patient has a last name 0.000, at least 0.950)" in refusal.ref
    assert "deid gate DELIVERY" in str(refusal)


def test_so_does_the_summary_and_it_names_the_next_command(site, refusal) -> None:
    told = summary_markdown(release_summary(site))
    assert (
        "refused; failed: bench, languages, site_gold, topics; `deid gate ehr@2026-01-05` shows what to do next" in told
    )
    assert re.search(r"- \*\*recall, own notes\*\*: not measured; below: (<11|\d+) whole notes of", told)
    library, hospital = (
        re.search(rf"Measured on (<11|\d+) {notes}", told)
        for notes in ("whole notes of ", "notes of the synthetic hospital, with its own topics and on text alone")
    )
    assert library.start() < hospital.start()
    assert "deid db psql --role LOGIN" in told  # in production, there is no demonstration's analyst


def test_the_gate_shows_every_requirement_and_the_command_to_run(refusal) -> None:
    shown = deid(*recipe("gate"))
    assert shown.returncode == 0, shown.stderr
    assert {line.split("\t")[0] for line in shown.stdout.splitlines()[1:]} == {
        *("bench", "expectations", "languages", "leaks", "parity", "site_gold", "topics")
    }
    assert "ehr@2026-01-05: refused, gate profile production" in shown.stderr
    assert re.search(r"^bench\t.*\t\d+ whole notes of several authors, not this site's$", shown.stdout, re.M)
    assert "bench was measured on " in shown.stderr and "not this site's, on text alone" in shown.stderr
    assert "next: deid waive ehr@2026-01-05 bench languages site_gold topics --who" in shown.stderr
    assert shown.stderr.rstrip().endswith("next: deid refresh --delivery ehr@2026-01-05")
    assert set(recipe("waive")[2:6]) == {"bench", "languages", "site_gold", "topics"}


def test_as_json_each_figure_is_a_number_beside_its_threshold(refusal) -> None:
    found = {(row["requirement"], row["figure"]): row for row in rows("gate", EHR.key)}
    gold = found["site_gold", "notes with gold"]
    assert (gold["state"], gold["value"], gold["threshold"]) == ("failed", 0, 30)
    assert (gold["may_be_waived_by"], gold["waived_until"]) == ("the privacy officer", None)
    assert gold["next"].startswith("deid waive ehr@2026-01-05 site_gold --who")
    assert gold["measured_on"] == "notes of this delivery's feed" and gold["notes_of"] is None
    recall = found["bench", "conservative recall (lower end)"]
    # The detector is judged on the text alone, on notes that the platform brings.
    assert [recall[name] for name in ("notes_of", "topics_of", "marked_by")] == ["library", "none", "authors"]
    assert re.match(
        r"\d+ whole notes of several authors, not this site's, on text alone, marked", recall["measured_on"]
    )
    leaks = found["leaks", "notes that leak"]
    assert (leaks["state"], leaks["demanded"], leaks["may_be_waived_by"], leaks["next"]) == (
        *("passed", "at most 0", "nobody"),
        None,
    )


def test_the_checks_of_the_ui_say_where_a_figure_is_from(site, refusal) -> None:
    shown_of = {it.name: shown.requirement(it) for it in publish.gate_requirements(site, EHR)}
    assert "not this site's, on text alone, marked by those who wrote them" in shown_of["bench"]["measured on"]
    assert (
        shown_of["bench"]["marked_by"] == "authors" and shown_of["topics"]["measured on"] == "this delivery's own notes"
    )


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (waived("site_gol"), "requirement-unknown [did you mean site_gold? known: bench, expectations, languages"),
        (waived("topics", "leaks"), "waiver-invalid [requirement leaks: nobody may waive it under the profile product"),
        (waived("topics", "bnech"), "requirement-unknown [did you mean bench?"),
        (waived("topics", **{"--why": "short"}), "waiver-invalid [reason]"),
        (
            waived("topics", delivery="ehr@2026-01-06"),
            "delivery-unknown [ehr@2026-01-06: did you mean ehr@2026-01-05?]",
        ),
        (waived("topics", delivery="her@2026-01-05"), "delivery-unknown [her@2026-01-05: feed her: did you mean ehr?"),
        ([*waived("topics", delivery="her@2026-01-05"), "--ahead"], "delivery-unknown [her@2026-01-05"),
        (["gate", "ehr@2026-01-06"], "delivery-unknown [ehr@2026-01-06: did you mean ehr@2026-01-05?]"),
        (
            ["waivers", "revoke", "99", "--who", "A", "--why", "there is none"],
            "waiver-unknown [no waiver of that number",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:3]),
)
def test_what_is_mistyped_is_refused_with_what_was_meant_and_nothing_is_recorded(refusal, command, said) -> None:
    assert said in deid(*command).stderr
    assert rows("waivers") == []


def test_after_a_waiver_a_run_begins_with_the_promotion_unless_it_would_measure_something_else(all_waived) -> None:
    before, after, *changed = all_waived
    assert (before, after) == (False, True)
    assert changed == [False, False, False]


def test_readmes_recipe_ends_promoted(promoted) -> None:
    assert promoted.approved == 1
    assert promoted.waived == ("bench", "languages", "site_gold", "topics")
    found = {row["requirement"]: row for row in rows("gate", EHR.key)}
    assert (found["topics"]["state"], found["topics"]["waived_until"]) == ("waived", LATER)
    said = deid("gate", EHR.key).stderr
    assert "ehr@2026-01-05: promoted" in said
    assert "next:" not in said


def test_a_promoted_delivery_waits_for_no_promotion(site, promoted) -> None:
    assert due.only_to_promote(site, [EHR]) == frozenset()


def test_under_waivers_the_dossier_does_not_say_that_anything_supports_the_release(site, promoted) -> None:
    written = write_dossier(site, site.release)
    # The threshold that was waived is not reached, whoever answered for it.
    assert written.verdict.standing is Standing.CONTRADICTED
    assert any("on whole notes of" in it for it in written.verdict.against)
    assert written.verdict.opening[0] == "Recall on this site's notes was not measured."
    page = written.path.read_text(encoding="utf-8").lower()
    assert "support" not in page and "speaks against this release" in page
    assert " contradicted" in deid("dossier", "write").stderr


def test_waivers_are_listed_and_one_is_ended_with_a_reason(site, promoted) -> None:
    assert deid(*waived("topics", delivery="ehr@2026-01-12"), "--ahead").returncode == 0
    listed = rows("waivers")
    assert [row["requirement"] for row in listed] == ["topics", "site_gold", "languages", "bench", "topics"]
    assert {(row["who"], row["reason"]) for row in listed[:4]} == {tuple(recipe("waive")[i] for i in (7, 9))}
    assert {(row["until"], row["state"]) for row in listed} == {(LATER, "in force")}
    number = str(listed[0]["waiver"])
    revoked = [deid("waivers", "revoke", number, "--who", "B. Officer", "--why", "topics never came") for _ in range(2)]
    assert [done.returncode for done in revoked] == [0, 1]
    assert "waiver-unknown" in revoked[1].stderr
    ended = rows("waivers")[0]
    assert ended["state"].startswith("ended ")
    assert (ended["ended_by"], ended["because"]) == ("B. Officer", "topics never came")
    (entry,) = (e for e in ledger(site.warehouse.engine(Role.OFFICER), EHR) if e.event == "waiver-ended")
    assert (entry.requirements, entry.who, entry.reason) == (("topics",), "B. Officer", "topics never came")
    with pytest.raises(DeidError, match="topics failed"):
        publish.promote_delivery(site, EHR)
