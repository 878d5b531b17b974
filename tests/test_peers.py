"""Other de-identifiers beside ours: a process of their own, and scores on what they claim."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.peers.__main__ import Answer, joined, peer, scored
from deid_platform.corpora.gold import Gold
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

TEXT = "Ann Lee, born 3/14, Boston."
#       0   4    9     14   20
GOLD = Gold("1", (Span(0, 7, Label.PATIENT), Span(14, 18, Label.DATE), Span(20, 26, Label.CITY)), note=Note("1", TEXT))

PEER = """
import json, sys
texts = [json.loads(line)["text"] for line in sys.stdin]
if sys.argv[1] != "stub:small":
    sys.exit("No module named 'stub'")
for text in texts:
    print(json.dumps([[text.index("3/14"), text.index("3/14") + 4]]))
print(json.dumps(["DATE"]))
print(json.dumps(0.25))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "peer.py"
    path.write_text(PEER)
    return path


@pytest.mark.process
def test_a_peer_answers_from_its_own_interpreter(script: Path) -> None:
    answer = peer("stub:small", Path(sys.executable), [Note("1", TEXT)], script=script)
    assert answer == Answer([[(14, 18)]], 0.25, frozenset({Label.DATE}))


@pytest.mark.process
def test_a_peer_that_is_not_there_is_named(script: Path) -> None:
    with pytest.raises(SystemExit, match="other did not run: No module named 'stub'"):
        peer("other", Path(sys.executable), [Note("1", TEXT)], script=script)


@pytest.mark.process
def test_adapters_tell_what_is_missing() -> None:
    with pytest.raises(SystemExit, match="deidentify"):
        peer("deidentify:none", Path(sys.executable), [Note("1", TEXT)])


def test_on_its_labels_a_peer_misses_nothing_that_it_does_not_claim() -> None:
    # Of "Ann", "Lee", "3", "14" and "Boston" it finds two; on dates alone two of two.
    assert scored([GOLD], [[(14, 18)]]).recall.value == pytest.approx(2 / 5)
    assert scored([GOLD], [[(14, 18)]], {Label.DATE}).recall.value == 1.0
    assert scored([GOLD], [[(14, 18)]], {Label.CITY}).recall.value == 0.0


def test_spans_past_the_end_are_cut() -> None:
    assert scored([GOLD], [[(20, 99), (99, 120)]]).recall.value == pytest.approx(1 / 5)


def test_two_find_what_either_finds() -> None:
    both = joined(Answer([[(0, 7)]], 1.0), Answer([[(14, 18)]], 0.5, frozenset({Label.DATE})))
    assert both == Answer([[(0, 7), (14, 18)]], 1.5)
