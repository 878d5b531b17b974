"""Figures: whole pictures that give no small count away."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from deid_platform.evaluation.scores.sampling import EligibleNote, sample
from deid_platform.evaluation.scores.scores import count_note, summarise
from deid_platform.labels import Label
from deid_platform.notes import Span
from deid_platform.reports.figures import sample_figure, scores_figure


def population(sizes: dict[str, int]) -> list[EligibleNote]:
    return [EligibleNote(f"{t}{i}", f"p{i}", t, "2020", 100, True) for t, n in sizes.items() for i in range(n)]


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that were saved, so that a test can read their texts and where they lie."""
    figures: list[Figure] = []
    save = Figure.savefig

    def spy(self: Figure, *args: object, **kwargs: object) -> None:
        figures.append(self)
        save(self, *args, **kwargs)

    monkeypatch.setattr(Figure, "savefig", spy)
    return figures


def texts(figure: Figure) -> list[str]:
    axes = figure.axes[0]
    own = [t.get_text() for t in (*figure.texts, *axes.texts, *axes.get_yticklabels())]
    return [t for t in own if t]


def size_of(png: bytes) -> tuple[int, int]:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", png[16:24])


@pytest.mark.parametrize("groups", [0, 1, 4, 40])
def test_no_text_of_a_sample_figure_is_cut_off(groups: int, drawn: list[Figure]):
    sizes = {f"Type of note number {i} with a long name": 200 + i for i in range(groups)}
    width, height = size_of(sample_figure(sample(population(sizes), size=50 * groups)))
    figure = drawn[0]
    for text in (*figure.texts, *figure.axes[0].texts, *figure.axes[0].get_yticklabels()):
        box = text.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height, text.get_text()


def test_beyond_forty_groups_the_smallest_share_a_row(drawn: list[Figure]):
    sample_figure(sample(population({f"t{i:02d}": 20 + i for i in range(45)}), size=900))
    labels = [t.get_text() for t in drawn[0].axes[0].get_yticklabels()]
    assert len(labels) == 40
    assert labels[-1] == "6 smaller groups"
    assert "t05, 2020" not in labels
    assert "t06, 2020" in labels


def test_small_counts_are_neither_written_nor_drawn(drawn: list[Figure]):
    sample_figure(sample(population({"big": 500, "mid": 60, "rare": 7, "rarer": 3}), size=200))
    shown = texts(drawn[0])
    assert "<11 → <11" in shown
    assert not any("7" in t.split(" → ") or "3" in t.split(" → ") for t in shown)
    rows_with_marks = {line.get_ydata()[0] for line in drawn[0].axes[0].lines}
    assert rows_with_marks == {0, 1}


def test_a_single_small_count_is_not_given_away_by_the_total(drawn: list[Figure]):
    sample_figure(sample(population({"big": 500, "mid": 60, "rare": 7}), size=200))
    counts = [t.split(" → ")[0] for t in texts(drawn[0]) if " → " in t and "notes" not in t]
    assert sorted(counts) == sorted(["500", "–", "<11"])


def test_scores_are_drawn_by_label_with_the_total_first(drawn: list[Figure], tmp_path: Path):
    hit = count_note("Orrin 2019", [Span(0, 5, Label.PATIENT), Span(6, 10, Label.DATE)], [Span(0, 5, Label.PATIENT)])
    rare = count_note("abc", [Span(0, 3, Label.SSN)], [])
    png = scores_figure(summarise([hit] * 20 + [rare]), tmp_path / "scores.png", title="Rules on the hospital")
    assert (tmp_path / "scores.png").read_bytes() == png
    axes = drawn[0].axes[0]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["All labels", "PATIENT", "DATE", "SSN"]
    assert "<11 words" in texts(drawn[0])
    assert "Rules on the hospital" in texts(drawn[0])
    ssn = [line for line in drawn[0].axes[0].lines if abs(line.get_ydata()[0] - 3) < 0.3]
    assert ssn == []
    # Every date is missed and no patient is; nothing of them is wrongly hidden, which is drawn where the axis begins.
    missed = {round(line.get_ydata()[0] + 0.16): line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"}
    assert axes.get_xscale() == "log"
    assert (missed[1], missed[2]) == (axes.get_xlim()[0], 1)
    assert size_of(png)[0] == 700


def test_a_measurement_of_nothing_is_still_a_picture():
    assert size_of(scores_figure(summarise([])))[0] > 500
    assert size_of(sample_figure(sample([])))[0] > 500


def test_a_note_type_cannot_start_a_formula(drawn: list[Figure]):
    sample_figure(sample(population({"cost $x_{1$ and $": 50}), size=20))
    assert drawn


@pytest.mark.process
def test_matplotlib_is_loaded_only_when_a_figure_is_drawn():
    code = "import sys, deid_platform.reports.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
