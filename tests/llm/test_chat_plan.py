"""The plan for two cards: what docs/language-models-measured.md shows is what the arithmetic says, by hand too."""

from __future__ import annotations

from pathlib import Path

import pytest

from deid_platform.llm.weights import GIB

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_the_program_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import chat_plan

    chat_plan.main()
    page = (ROOT / "docs/language-models-measured.md").read_text(encoding="utf-8")
    for printed in capsys.readouterr().out.split("\n\n"):
        assert printed.strip() in page

    fit = chat_plan.SEVENTY.fit(0.9)
    # 141.1 GB over two cards; each has 71.1 GiB, of which 2 GiB are to work with.
    assert fit.weights == 70_553_706_496
    # 2 (key, value) x 80 layers x 4 of 8 heads x 128 numbers x 2 bytes
    assert fit.tokens == (int(79 * GIB * 0.9) - 70_553_706_496 - 2 * GIB) // (2 * 80 * 4 * 128 * 2)
    # 22,228 tokens, less some hundreds of instructions, by 700 that are read and 700 that are written.
    assert chat_plan.notes_at_once(fit) == 15
    ensemble, *_, seventy, _ = chat_plan.speeds()
    assert (ensemble.words, seventy.words) == (4960, 10)
    rows = list(chat_plan.cost_rows())
    assert rows[-2][-2:] == ("138.9", "833.33")  # 5,000,000 words at 10 a second; 6 dollars an hour
