"""The figure of what marked notes of a site are worth."""

from __future__ import annotations

from deid_platform.evaluation.scores.scores import NoteCounts, summarise
from deid_platform.reports.adaptation_figure import adaptation_figure


def test_it_has_a_row_for_each_site_and_number_of_notes() -> None:
    counts = [NoteCounts(100, 9, 1, 1, 5, 4, cluster=str(number)) for number in range(5)]
    scores = summarise(counts, resamples=20)
    one, two = (adaptation_figure({"north": [(0, scores), (10, scores)][:rows]}) for rows in (1, 2))
    assert one.startswith(b"\x89PNG")
    assert one != two
