"""Speed, memory and money."""

from __future__ import annotations

import pytest

from deid_platform.evaluation.experiments.efficiency import (
    Efficiency,
    Point,
    Run,
    api_cost,
    efficiency,
    frontier,
    machine_cost,
)

# Murugadoss 2024, table 6: total seconds for 217 documents, GPUs, GPU seconds, seconds a document, and the hourly price
# of the supplement with the printed cost of 10,000 documents.
TABLE = [
    ("Llama-3-8B", 63.21, 8, 505.68, 0.29, 8.0, 7),
    ("Llama-3-70B", 311.72, 8, 2493.76, 1.43, 8.0, 32),
    ("Mixtral 8 x 7B", 106.22, 8, 849.76, 0.49, 8.0, 10),
    ("ensemble", 21.70, 1, 21.70, 0.10, 0.71, 1),
]


@pytest.mark.parametrize("name, total, gpus, gpu_seconds, per_note, price, cost", TABLE, ids=[row[0] for row in TABLE])
def test_the_papers_table(
    name: str, total: float, gpus: int, gpu_seconds: float, per_note: float, price: float, cost: float
) -> None:
    run = Run(217, 1, total, gpus)
    assert run.gpu_seconds == pytest.approx(gpu_seconds)
    found = efficiency([run])
    assert found.seconds_per_note == pytest.approx(per_note, abs=0.01)
    # Printed as whole dollars, some rounded and some cut off: 6.47 as 7, 10.88 as 10, 0.20 as less than 1.
    assert machine_cost(found.seconds_per_note, price) == pytest.approx(cost, abs=1)


@pytest.mark.parametrize("total, printed", [(668.36, 3.08), (2778.06, 12.80), (1725.97, 7.95)])
def test_the_papers_calls_of_an_api(total: float, printed: float) -> None:
    assert efficiency([Run(217, 1, total)]).seconds_per_note == pytest.approx(printed, abs=0.005)


def test_the_papers_misprint() -> None:
    """GPT-3.5 zero shot: 1323.78 s for 217 documents, printed as 4.75 s each."""
    found = efficiency([Run(217, 1, 1323.78)]).seconds_per_note
    assert found == pytest.approx(6.10, abs=0.005)
    assert found != pytest.approx(4.75, abs=1)


def test_prices_of_tokens() -> None:
    # 500 tokens in and 77 out for GPT-4 at $0.03 and $0.06 a thousand: 10,000 * (15 + 4.62) / 1000.
    assert api_cost(500, 77, 0.03, 0.06) == pytest.approx(196.2)
    # GPT-3.5 costs a 60th for input and a 40th for output, so the paper's $196 and $5 agree at best just so.
    assert 196 / 60 < api_cost(500, 77, 0.0005, 0.0015) < 196 / 40


def test_runs_by_hand() -> None:
    found = efficiency([Run(10, 1000, 2.0, 1, 300), Run(10, 1000, 4.0, 1, 500), Run(10, 1000, 5.0, 1)])
    # 500, 250 and 200 words a second: mean 950/3; deviations 183.33, -66.67, -116.67.
    assert found == Efficiency(
        runs=3,
        words_per_second=pytest.approx(950 / 3),
        words_per_second_sd=pytest.approx(((183.333**2 + 66.667**2 + 116.667**2) / 2) ** 0.5, rel=1e-4),
        seconds_per_note=pytest.approx(11 / 30),
        gpu_seconds_per_note=pytest.approx(11 / 30),
        peak_bytes=500,
    )
    assert efficiency([Run(1, 5, 1.0)]).words_per_second_sd is None


def test_runs_of_other_notes_are_not_averaged() -> None:
    with pytest.raises(ValueError):
        efficiency([Run(10, 100, 1.0), Run(11, 100, 1.0)])
    with pytest.raises(ValueError):
        efficiency([])
    with pytest.raises(ValueError):
        Run(1, 1, 0.0)


def test_the_frontier_of_recall_against_speed() -> None:
    rules, encoder = Point("rules", "rules", 9000, 0.7), Point("encoder", "encoder", 3000, 0.95)
    worse, large = Point("old", "encoder", 2500, 0.9), Point("llm", "large", 20, 0.99)
    twin = Point("twin", "encoder", 3000, 0.95)
    assert frontier([large, worse, twin, rules, encoder]) == [rules, encoder, twin, large]
