"""The reviewer's desk, by what a reviewer does in a browser and by what nobody else can do.

One browser for all tests; each desk is a server of its own on a port of its own, as `deid review open` starts it.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from desk_browser import BROWSER, JSON, asked, until

from deid_platform.labels import Label
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.installation.site import Site
from deid_platform.review.annotation.rounds import Role
from deid_platform.review.decisions import Category, Decision, Severity, decisions_of, standing
from deid_platform.review.missed import marks_of
from deid_platform.review.rounds import removals_of_round, start
from deid_platform.ui.desk import desk, server
from deid_platform.ui.guard import Login, loopback_hosts

HIGH, PROVIDER, IRRELEVANT = (
    Decision(Category.RELEVANT, Severity.HIGH),
    Decision(Category.PROVIDER),
    Decision(Category.IRRELEVANT),
)


class Desk:
    """A desk that is started and stopped; a second start has a link of its own, on the same port."""

    def __init__(self, site: Site, role: Role) -> None:
        self._site, self._role, self.port = site, role, 0

    def start(self) -> str:
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listening.getsockname()[1]
        login = Login(self.port)
        self._server = server(desk(self._site, 1, self._role, hosts=loopback_hosts(self.port), login=login))
        self._thread = threading.Thread(target=self._server.run, args=([self._listening],))
        self._thread.start()
        until(lambda: self._server.started)
        return f"http://127.0.0.1:{self.port}{login.path}"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._listening.close()
        assert not self._thread.is_alive()


@pytest.fixture
def site(reviewed: Callable[[], Site]) -> Site:
    site = reviewed()
    start(site, 3)
    return site


@pytest.fixture
def desks(reviewed: Callable[[], Site], site: Site) -> Iterator[Callable[[Role], Desk]]:
    made: list[Desk] = []

    def one(role: Role) -> Desk:
        made.append(Desk(reviewed(), role))
        return made[-1]

    yield one
    for each in made:
        if each.port:
            each.stop()


def said(site: Site, role: Role = Role.A) -> list[Decision | None]:
    kept = decisions_of(site.store, 1, role)
    return [kept.get(key) for key in removals_of_round(site, 1)]


@pytest.mark.process
@pytest.mark.skipif(BROWSER is None, reason="needs Chromium or Chrome")
class TestInABrowser:
    def test_three_removals_by_keyboard_one_taken_back_and_all_kept(self, site, desks, tab):
        page = tab()
        page.open(desks(Role.A).start())
        shown = [member.removed for member in removals_of_round(site, 1).values()]
        assert page.text("#context .own") == shown[0]
        page.press("1h3")
        assert page.text("#context .own") == shown[2]
        page.press("2")
        until(lambda: said(site) == [HIGH, PROVIDER, IRRELEVANT])
        page.press("u")
        until(lambda: said(site) == [HIGH, PROVIDER, None])
        assert page.text("#context .own") == shown[2]
        page.press("2")
        until(lambda: said(site) == [HIGH, PROVIDER, IRRELEVANT])
        until(lambda: page.text("#saved") == "Saved")
        assert page.text("#progress") == "3 of 3 decided"
        assert page.js("localStorage.length + sessionStorage.length") == 0

    def test_missed_words_are_marked_by_keyboard_taken_back_and_saved_at_once(self, site, desks, tab):
        page, first = tab(), next(iter(removals_of_round(site, 1).values()))
        page.open(desks(Role.A).start())
        assert page.text("#context .hidden") == "Thandiwe Quillfeather"

        def marked():
            found = marks_of(site.store, 1, Role.A).values()
            return [(first.text[it.span.start : it.span.end], it.span.label, it.severity) for it in found]

        page.move(-2)
        page.press("m")
        assert page.text("#saved") == "These words are hidden already"
        page.move(3 + len(first.removed.split()))  # the last word, whose full stop is no part of it
        page.press("m")
        assert marked() == []
        page.press("h")
        until(lambda: marked() == [("stable", Label.PATIENT, Severity.HIGH)])
        until(lambda: page.text("#saved") == "Saved")
        assert page.text("#context .leak") == "stable"
        assert "deid retract" in page.text("#released")
        assert page.text("#progress") == "0 of 3 decided"
        page.press("u")
        until(lambda: marked() == [])
        page.move(-9)
        page.press("ml3")  # the first word is a missed one; then the removal's category
        until(lambda: marked() == [("Seen", Label.PATIENT, Severity.LOW)])
        until(lambda: said(site)[0] == PROVIDER)

    def test_a_severity_without_a_relevant_removal_does_nothing_and_help_swallows_keys(self, site, desks, tab):
        page = tab()
        page.open(desks(Role.A).start())
        page.press("h1n?3")
        assert page.js("document.querySelector('#keys').open")
        assert page.text("#progress") == "0 of 3 decided"
        assert said(site) == [None, None, None]

    def test_two_reviewers_at_once_neither_sees_the_other_and_the_adjudicator_sees_both(self, site, desks, tab):
        one, other = tab(), tab()
        one.open(desks(Role.A).start())
        other.open(desks(Role.B).start())
        for mine, yours in zip(("1h", "3", "2"), ("1h", "2", "2"), strict=True):
            one.press(mine)
            other.press(yours)
        until(lambda: len(standing(site, 1).settled) == 2)
        assert said(site, Role.A) == [HIGH, PROVIDER, IRRELEVANT]
        assert said(site, Role.B) == [HIGH, IRRELEVANT, IRRELEVANT]
        assert other.js("items.every(it => Object.keys(it.readers).length === 0)")
        judge = tab()
        judge.open(desks(Role.ADJUDICATOR).start())
        assert judge.text("#readers") == "A: Provider or clinic; B: Clinically irrelevant"
        judge.press("3")
        until(lambda: len(standing(site, 1).settled) == 3)

    def test_decisions_of_a_lost_connection_are_held_told_and_sent(self, site, desks, tab):
        page, here = tab(), desks(Role.A)
        page.open(here.start())
        page.press("3")
        until(lambda: said(site)[0] == PROVIDER)
        here.stop()
        page.press("21h")
        until(lambda: "2 not saved" in page.text("#lost"))
        assert said(site) == [PROVIDER, None, None]
        again = here.start()
        until(lambda: "open its new link" in page.text("#lost"))
        another = tab()
        another.open(again)
        until(lambda: said(site) == [PROVIDER, IRRELEVANT, HIGH])
        until(lambda: page.text("#saved") == "Saved" and not page.text("#lost"))

    def test_a_decision_on_what_was_withdrawn_meanwhile_is_refused_alone_and_told(self, site, desks, tab):
        page, here = tab(), desks(Role.A)
        page.open(here.start())
        here.stop()
        page.press("332")
        until(lambda: "3 not saved" in page.text("#lost"))
        second = list(removals_of_round(site, 1).values())[1]
        gone = [{"note_id": second.note_id, "patient_id": None, "rejoined": False}]
        site.store.write(tables.WITHDRAWALS, "ehr@1", [pa.Table.from_pylist(gone, schema=tables.WITHDRAWAL_SCHEMA)])
        another = tab()
        another.open(here.start())
        until(lambda: said(site) == [PROVIDER, IRRELEVANT])
        until(lambda: "refused a decision" in page.text("#lost"))
        assert another.text("#context .own") != second.removed

    def test_a_closed_tab_loses_nothing_that_was_acknowledged(self, site, desks, tab):
        page, here = tab(), desks(Role.A)
        link = here.start()
        page.open(link)
        page.press("31l")
        until(lambda: page.text("#saved") == "Saved" and page.text("#progress") == "2 of 3 decided")
        page.close()
        kept = said(site)
        assert kept == [PROVIDER, Decision(Category.RELEVANT, Severity.LOW), None]
        after = tab()
        after.open(f"http://127.0.0.1:{here.port}/")
        assert after.text("#progress") == "2 of 3 decided"
        assert after.text("#what").startswith("Removal 3 of 3")


def test_the_desk_answers_who_used_the_link_and_nobody_else_and_nothing_is_stored(site, desks):
    here = desks(Role.A)
    link = here.start()
    port = here.port
    removal = next(iter(removals_of_round(site, 1)))
    decision = [{"removal": removal, "category": "provider_or_clinic", "severity": None}]
    for path in ("/", "/items", "/desk.js"):
        assert asked(port, "GET", path).status == 401
    assert asked(port, "POST", "/decide", decision, **JSON).status == 401
    entered = asked(port, "GET", link.partition(str(port))[2])
    cookie = entered.getheader("Set-Cookie", "")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    mine = {"Cookie": cookie.partition(";")[0]}
    assert asked(port, "GET", link.partition(str(port))[2]).status == 401  # it works once
    for foreign in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        assert asked(port, "GET", "/items", **mine, **foreign).status == 403
        assert asked(port, "POST", "/decide", decision, **JSON, **mine, **foreign).status == 403
    assert asked(port, "POST", "/decide", decision, Content_Type="text/plain", **mine).status == 405
    assert said(site) == [None, None, None]
    for path in ("/", "/items", "/desk.js", "/desk.css", "/nowhere"):
        answer = asked(port, "GET", path, **mine)
        assert answer.getheader("Cache-Control") == "no-store"
        assert answer.getheader("Content-Security-Policy", "").startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in answer.getheader("Content-Security-Policy", "")
    assert asked(port, "POST", "/decide", decision, **JSON, **mine).status == 200
    assert said(site)[0] == PROVIDER


@pytest.mark.parametrize(
    "body",
    [{}, 3, ["x"], [{}], [{"removal": "no such", "category": "provider_or_clinic"}], [{"removal": 1, "category": []}]],
)
def test_what_the_page_would_not_send_is_refused_whole_and_not_repeated(site, desks, body):
    here = desks(Role.A)
    link = here.start()
    cookie = asked(here.port, "GET", link.partition(str(here.port))[2]).getheader("Set-Cookie", "")
    good = {"removal": next(iter(removals_of_round(site, 1))), "category": "provider_or_clinic", "severity": None}
    sent = [good, *body] if isinstance(body, list) else body
    answer = asked(here.port, "POST", "/decide", sent, **JSON, Cookie=cookie.partition(";")[0])
    assert (answer.status, json.loads(answer.said)) == (400, {"error": "decision-invalid"})  # type: ignore[attr-defined]
    assert said(site) == [None, None, None]


def test_the_page_asks_no_other_host():
    files = Path(desk.__code__.co_filename).with_name("desk_files")
    texts = [path.read_text(encoding="utf-8") for path in files.iterdir()]
    assert len(texts) == 5
    assert not any(word in text for text in texts for word in ("http:", "https:", "innerHTML", "Storage."))
