"""The page of the quarantine queue, by what a reviewer does in a browser, and by what nobody else can do."""

from __future__ import annotations

import socket
import threading

import pytest
from desk_browser import BROWSER, JSON, asked, until
from held_notes import AT_HOME, LEAK, NOTES_AT_HOME, UNKNOWN, key

from deid_platform.refresh.installation.site import Site
from deid_platform.refresh.redact.decisions import Standing, decided
from deid_platform.ui.desk import server
from deid_platform.ui.guard import Login, loopback_hosts
from deid_platform.ui.queue import queue_desk


@pytest.fixture
def desk_of(site, queue):
    """Starts a person's desk on a port, and stops all of them at the end; a second start stops the first."""
    running = {}

    def stop(port):
        serving, thread, listening = running.pop(port)
        serving.should_exit = True
        thread.join(10)
        listening.close()
        assert not thread.is_alive()

    def start(who, port=0):
        if port in running:
            stop(port)
        listening = socket.create_server(("127.0.0.1", port))
        port = listening.getsockname()[1]
        login = Login(port)
        serving = server(queue_desk(Site(site.settings), who, hosts=loopback_hosts(port), login=login))
        thread = threading.Thread(target=serving.run, args=([listening],))
        thread.start()
        running[port] = serving, thread, listening
        until(lambda: serving.started)
        return f"http://127.0.0.1:{port}{login.path}", port

    yield start
    for port in list(running):
        stop(port)


def opened(tab, link):
    page = tab()
    page.open(link)
    until(lambda: "quarantine" in page.text("#outcome") or "pass" in page.text("#outcome"))
    return page


def show(page, reason):
    """Goes to the note that waits for this reason."""
    until(lambda: page.text("#what"))
    while reason not in (before := page.text("#what")):
        page.press("n")
        until(lambda was=before: page.text("#what") != was)
    until(lambda: reason in page.text("#what") and page.text("#outcome") not in ("", "Trying"))


def arrow(page, name, shift=False):
    page.ask("Input.dispatchKeyEvent", type="keyDown", key=name, modifiers=8 if shift else 0)
    page.ask("Input.dispatchKeyEvent", type="keyUp", key=name)


def write_reason(page, words):
    page.press("r")
    page.ask("Input.insertText", text=words)
    for kind in ("keyDown", "keyUp"):
        page.ask("Input.dispatchKeyEvent", type=kind, key="Escape")


def stands(site, note):
    return decided(site, "hospital").of([key(site, note)])


@pytest.mark.process
@pytest.mark.skipif(BROWSER is None, reason="needs Chromium or Chrome")
class TestInABrowser:
    def test_a_leak_is_mended_by_keyboard_and_kept(self, site, desk_of, tab):
        page = opened(tab, desk_of("A. Reader")[0])
        show(page, "leak-last-name")
        assert page.text("#context") == LEAK
        assert page.text("#context mark.leak") == "Quill-\nfeather"
        for _ in range(3):
            arrow(page, "ArrowRight")
        arrow(page, "ArrowRight", shift=True)
        page.press("a")
        assert page.text("#context mark.added") == "Quill-\nfeather"
        page.press("t")
        until(lambda: page.text("#preview") == "[PATIENT], née [PATIENT], is well.")
        page.press("m")
        until(lambda: "Refused: reason" in page.text("#lost"))
        write_reason(page, "a name over two lines")
        page.press("m")
        until(lambda: "counts at the next refresh" in page.text("#saved"))
        assert stands(site, "1").in_force.action == "mend"
        assert page.js("localStorage.length + sessionStorage.length") == 0

    def test_one_word_of_a_street_is_hidden_with_the_others_and_the_page_shows_it(self, refresh, desk_of, tab):
        refresh(NOTES_AT_HOME)
        page = opened(tab, desk_of("A. Reader")[0])
        show(page, "leak-street")
        assert page.text("#context") == AT_HOME
        for _ in range(4):
            arrow(page, "ArrowRight")
        page.press("a")
        added = "[...document.querySelectorAll('#context mark.added')].map((it) => it.textContent).join('')"
        until(lambda: page.js(added) == "12 Baker Street")

    def test_two_people_at_two_desks_let_a_note_pass(self, site, desk_of, tab):
        one = opened(tab, desk_of("A. Reader")[0])
        show(one, "roster-lost")
        write_reason(one, "it names nobody at all")
        one.press("y")
        until(lambda: "waits for a second person" in one.text("#saved"))
        show(one, "roster-lost")
        write_reason(one, "it names nobody at all")
        one.press("y")
        until(lambda: "another person has to decide" in one.text("#lost"))
        assert stands(site, "4").in_force is None
        other = opened(tab, desk_of("B. Reader")[0])
        show(other, "roster-lost")
        assert other.text("#context") == UNKNOWN
        assert other.text("#proposed").startswith('A. Reader proposes "pass"')
        write_reason(other, "I read it as well")
        other.press("y")
        until(lambda: "counts at the next refresh" in other.text("#saved"))
        assert stands(site, "4").in_force.action == "pass"

    def test_a_lost_desk_keeps_nothing_and_says_so_and_the_page_keeps_the_spans(self, site, desk_of, tab):
        link, port = desk_of("A. Reader")
        page = opened(tab, link)
        show(page, "leak-last-name")
        for _ in range(3):
            arrow(page, "ArrowRight")
        arrow(page, "ArrowRight", shift=True)
        page.press("a")
        again, _ = desk_of("A. Reader", port)
        write_reason(page, "a name over two lines")
        page.press("m")
        until(lambda: "nothing was kept" in page.text("#lost"))
        assert stands(site, "1") == Standing()
        opened(tab, again)
        page.press("m")
        until(lambda: "counts at the next refresh" in page.text("#saved"))
        assert not page.text("#lost")


def test_nobody_without_the_link_sees_or_decides_and_what_the_page_would_not_send_is_refused(site, desk_of):
    link, port = desk_of("A. Reader")
    body = {
        "key": key(site),
        "action": "keep-out",
        "added": [],
        "removed": [],
        "reason": "a reason of weight",
        "seen": "",
    }
    for path in ("/", "/items", f"/note?key={key(site)}", "/queue.js"):
        assert asked(port, "GET", path).status == 401
    assert asked(port, "POST", "/decide", body, **JSON).status == 401
    mine = {"Cookie": asked(port, "GET", link.partition(str(port))[2]).getheader("Set-Cookie", "").partition(";")[0]}
    assert asked(port, "POST", "/decide", body, Origin="https://evil.example", **JSON, **mine).status == 403
    assert asked(port, "GET", "/items", **mine).getheader("Cache-Control") == "no-store"
    places = [{"start": "x", "end": 4, "label": "PATIENT"}]
    for sent in ([], {}, {**body, "action": "release"}, {**body, "added": places}, {**body, "key": "n_x"}, body):
        assert asked(port, "POST", "/decide", sent, **JSON, **mine).status == 400
    assert stands(site, "1") == Standing()
