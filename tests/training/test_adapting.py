"""What a model learns beside a site's few notes."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from deid_platform.corpora.library.authors import Use, authors
from deid_platform.errors import Code, DeidError
from deid_platform.training.adapting import adapted
from deid_platform.training.mixture import NAME, _library, beside, labelled

TRAINING = [one.name for one in authors(Use.TRAINING)]


def test_so_many_notes_of_the_library_stand_beside_each_with_a_surrogate_and_never_those_left_out():
    left_out = TRAINING[:3]
    notes = [note for note in _library(beside(30, without=left_out)) if note.locale == ""]
    keys = {note.key for note in notes}
    assert len(keys) == 30
    by = {key.partition("/")[0] for key in keys}
    assert by <= set(TRAINING) - set(left_out)
    assert len(by) > 5  # drawn by lot, not from the first author
    assert {note.corpus for note in notes} == {NAME}
    assert [n.key for n in _library(beside(30))] == [n.key for n in _library(beside(30))]


def test_nothing_stands_beside_where_nothing_is_wanted():
    assert list(labelled(beside(0), None)) == []


@pytest.mark.skipif(find_spec("torch") is not None, reason="tests/ml trains with torch")
def test_it_asks_for_the_extra(tmp_path):
    with pytest.raises(DeidError) as raised:
        adapted([], [], tmp_path / "own", start="minilm")
    assert raised.value.code is Code.EXTRA_MISSING
    assert not (tmp_path / "own").exists()
