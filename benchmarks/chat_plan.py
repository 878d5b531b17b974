"""What two H100 hold of a chat model, how fast it may be, and what 10,000 notes cost: `python benchmarks/chat_plan.py`.

Nothing is measured here and nothing is loaded. Memory is the arithmetic of `deid doctor` (`llm/weights.py`). Speeds are
those of Zambare 2026, table 1, or said to follow from them by an assumption; each assumption is a constant below. The
ensemble's speed is the one that docs/model.md has measured. docs/language-models-measured.md shows what this prints.

Belongs here: shapes, published speeds, assumptions, three tables. Does not belong here: the arithmetic of a card.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deid_platform.evaluation.experiments.efficiency import PER, machine_cost
from deid_platform.llm.prompts import prompt
from deid_platform.llm.weights import GIB, Fit, Shape, fit_of

CARD = 79 * GIB
"""Assumed: what an H100 of 80 GB shows of its memory."""
CONTEXT = 8192
WORDS = 500
"""Of a note: assumed."""
TOKENS_A_WORD = 1.4
"""Of clinical English: assumed; Italian takes more."""
BYTES_A_TOKEN = 4
"""Of instructions in English: assumed."""
CARD_HOUR, CORE_HOUR = 3.0, 0.05
"""In dollars: assumed, as what clouds ask differs."""
BANDWIDTH = 3.35 / 2.04
"""Of an H100 SXM to an A100 SXM of 80 GB, in TB/s of memory, as NVIDIA's data sheets say."""
ENSEMBLE = 4960
"""Words/s on one core, docs/model.md."""


@dataclass(frozen=True)
class Model:
    """A model that is not here.

    Attributes:
        name: As this page calls it.
        parameters: Of the published model.
        shape: As its published configuration says.
        cards: Over which it is divided.
        fractions: Of a card's memory that it is given.
    """

    name: str
    parameters: int
    shape: Shape
    cards: int
    fractions: tuple[float, ...]

    @property
    def bytes(self) -> int:
        """Of its weights in bfloat16."""
        return 2 * self.parameters

    def fit(self, fraction: float) -> Fit:
        """What its cards hold beside the weights."""
        return fit_of(self.bytes, self.shape, CARD, fraction=fraction, cards=self.cards, context=CONTEXT)


# As Llama 3.3 70B and Llama 3.1 8B publish their configurations.
SEVENTY = Model("70B", 70_553_706_496, Shape(layers=80, heads=8, head_size=128, positions=131_072), 2, (0.9, 0.95))
EIGHT = Model("8B", 8_030_261_248, Shape(layers=32, heads=8, head_size=128, positions=131_072), 1, (0.9,))


@dataclass(frozen=True)
class Speed:
    """How fast one way of reading notes is.

    Attributes:
        name: What reads.
        machine: On what.
        words: A second.
        source: Whence the figure comes.
        price: An hour of the machine.
    """

    name: str
    machine: str
    words: float
    source: str
    price: float


def speeds() -> list[Speed]:
    """Published ones, and those that follow by an assumption."""
    seventy, eight = 10.0, 423.0  # words/s, Zambare 2026, table 1
    # Assumed: writing a token takes as long as reading each weight of one card once.
    prompted = seventy * (SEVENTY.bytes / SEVENTY.cards) / (EIGHT.bytes / EIGHT.cards)
    table = "Zambare 2026, table 1"
    return [
        Speed("ensemble", "1 core", ENSEMBLE, "measured, docs/model.md", CORE_HOUR),
        Speed("8B, token classification", "1 A100", eight, f"{table}, Llama-8b", CARD_HOUR),
        Speed(
            "8B, prompted", "1 H100", prompted * BANDWIDTH, "assumed from the 70B's by weights and bandwidth", CARD_HOUR
        ),
        Speed("70B, prompted", "2 A100", seventy, f"{table}, Llama-70B", 2 * CARD_HOUR),
        Speed("70B, prompted", "2 H100", seventy * BANDWIDTH, "assumed from the one above by bandwidth", 2 * CARD_HOUR),
    ]


def notes_at_once(fit: Fit) -> int:
    """Notes that are read and written out again together, whose instructions are read once for all."""
    shared = sum(len(message.content.encode()) for message in prompt("rewrite-one").about("")) // BYTES_A_TOKEN
    return int(max(0, fit.tokens - shared) // (2 * WORDS * TOKENS_A_WORD))


def memory_rows() -> Iterator[Sequence[str]]:
    """Of each model and fraction."""
    for model in (SEVENTY, EIGHT):
        for fraction in model.fractions:
            fit = model.fit(fraction)
            yield (
                *(model.name, str(model.cards), str(fraction), f"{fit.weights / GIB:.1f} GiB"),
                f"{model.shape.token_bytes // model.cards // 1024} KiB",
                *(f"{fit.tokens:,}", f"{fit.tokens / CONTEXT:.1f}", str(notes_at_once(fit))),
            )


def cost_rows() -> Iterator[Sequence[str]]:
    """Of each way of reading notes."""
    for it in speeds():
        seconds = WORDS / it.words
        cost = machine_cost(seconds, it.price)
        yield it.name, it.machine, f"{it.words:,.0f}", it.source, f"{seconds * PER / 3600:,.1f}", f"{cost:,.2f}"


def table(titles: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """In Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    print(
        table(
            (
                *("model in bfloat16", "cards", "`memory_fraction`", "weights a card", "cache a token and card"),
                *("tokens that the cache holds", f"requests of {CONTEXT:,} at once", f"notes of {WORDS} words at once"),
            ),
            memory_rows(),
        )
    )
    print()
    print(table(("what reads", "on", "words/s", "whence", f"hours for {PER:,} notes", "dollars"), cost_rows()))


if __name__ == "__main__":
    main()
