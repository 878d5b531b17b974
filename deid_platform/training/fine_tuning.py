"""Fine-tuning: batches by token budget, a schedule, and checkpoints from which it goes on.

Belongs here: the loop, and the mean with the weights before. Does not belong here: examples, the network, or what is
made of the result (`export.py`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from deid_platform.errors import Code, DeidError
from deid_platform.keys import plain_digest
from deid_platform.training.examples import Example
from deid_platform.training.presets import Preset

_CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True)
class Progress:
    """Where a training stands.

    Attributes:
        step: Steps done.
        steps: Of so many.
        loss: Mean over the last steps.
        seconds: Since it began or went on.
    """

    step: int
    steps: int
    loss: float
    seconds: float


def fine_tune_mean(
    network: nn.Module,
    examples: Sequence[Example],
    preset: Preset,
    folder: Path,
    *,
    teacher: nn.Module | None = None,
    told: Callable[[Progress], object] = lambda _: None,
) -> None:
    """Trains a network in place; its weights become the mean of the trained ones and, by `former`, of those before.

    What was trained last is surer of what it has read than of what it has not. The mean with the weights before finds
    more names than either (Wortsman 2022, "Model soups", section 3).

    Args:
        network: With its starting weights.
        examples: Windows.
        preset: How.
        folder: For the checkpoint.
        teacher: Its probabilities are learned too; None to learn the labels alone.
        told: Of the progress.

    Raises:
        DeidError: `input-invalid` if the checkpoint is of another training.
    """
    before = {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}
    fine_tune(network, examples, preset, folder, teacher=teacher, told=told)
    network.to("cpu")
    if preset.former:
        for name, value in network.state_dict().items():
            if value.is_floating_point():
                value.lerp_(before[name], preset.former)


def fine_tune(
    network: nn.Module,
    examples: Sequence[Example],
    preset: Preset,
    folder: Path,
    *,
    teacher: nn.Module | None = None,
    told: Callable[[Progress], object] = lambda _: None,
    every: int = 50,
    keep_every: int = 200,
) -> None:
    """Trains a network in place; a checkpoint in the folder is gone on from.

    Args:
        network: With its starting weights, on the card or the processor that it is to learn on.
        examples: Windows.
        preset: How.
        folder: For the checkpoint.
        teacher: Its probabilities are learned too; None to learn the labels alone.
        told: Of the progress.
        every: Steps between two such tellings.
        keep_every: Steps between two checkpoints.

    Raises:
        DeidError: `input-invalid` if the checkpoint is of another training.
    """
    order = seeded(preset.seed)
    batches = _planned(examples, preset, order)
    plan = plain_digest(repr(preset), _digest(examples), *(str(len(batch)) for batch in batches))
    device = device_of(network)
    network.train()
    optimizer = torch.optim.AdamW(_groups(network, preset.decay), lr=preset.rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, len(batches), preset.warmup))
    done = _resumed(folder / _CHECKPOINT, plan, network, optimizer, schedule)
    begun, losses = time.monotonic(), []
    for step in range(done, len(batches)):
        ids, features, labels, mask = (part.to(device) for part in _padded([examples[i] for i in batches[step]]))
        # Processors without matrix units for it are twice as fast in 32 bits.
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            logits = network(ids, features, mask)
            with torch.no_grad():
                taught = None if teacher is None else teacher(ids, features, mask)
        loss = _loss(logits, labels, taught)
        loss.backward()
        nn.utils.clip_grad_norm_(_trained(network).values(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(float(loss.detach()))
        if (step + 1) % every == 0 or step + 1 == len(batches):
            told(Progress(step + 1, len(batches), sum(losses) / len(losses), time.monotonic() - begun))
            losses.clear()
        if (step + 1) % keep_every == 0 or step + 1 == len(batches):
            _keep(folder / _CHECKPOINT, plan, step + 1, network, optimizer, schedule)
    network.eval()


def _loss(logits: Tensor, labels: Tensor, taught: Tensor | None) -> Tensor:
    """Of the labels; with a teacher, half of it and half of what parts the network's probabilities from the teacher's.

    The teacher's probabilities are taken as they are, without a temperature: thresholds are chosen among them.
    """
    counted = labels >= 0
    logits = logits.float()[counted]
    of_labels = nn.functional.cross_entropy(logits, labels[counted])
    if taught is None:
        return of_labels
    expected, answered = (nn.functional.log_softmax(part, -1) for part in (taught.float()[counted], logits))
    apart = nn.functional.kl_div(answered, expected, log_target=True, reduction="batchmean")
    return (of_labels + apart) / 2


def device_of(network: nn.Module) -> torch.device:
    """Where a network lies, and so where it learns."""
    return next(network.parameters()).device


def _digest(examples: Sequence[Example]) -> str:
    """Of all that is learned from: other gold may have the same shape."""
    found = hashlib.sha256()
    for example in examples:
        found.update(len(example.ids).to_bytes(4, "big"))
        for part in (example.ids, example.features, example.labels):
            found.update(part.tobytes())
    return found.hexdigest()


def _groups(network: nn.Module, decay: float) -> list[dict[str, object]]:
    """No decay for biases and norms."""
    named = list(_trained(network).items())
    return [
        {"params": [p for _, p in named if p.ndim > 1], "weight_decay": decay},
        {"params": [p for _, p in named if p.ndim < 2], "weight_decay": 0.0},
    ]


def _trained(network: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that change: all of them, or adapters and classifier."""
    return {name: value for name, value in network.named_parameters() if value.requires_grad}


def _rate(step: int, steps: int, warmup: float) -> float:
    """Up in a line, then down in a line to a fiftieth."""
    rising = max(1, int(steps * warmup))
    if step < rising:
        return (step + 1) / rising
    return max(0.02, (steps - step) / max(1, steps - rising))


def _planned(examples: Sequence[Example], preset: Preset, order: torch.Generator) -> list[list[int]]:
    """The batches of all epochs: windows of like length together, batches in a drawn order."""
    lengths = np.array([len(example.ids) for example in examples])
    planned: list[list[int]] = []
    whole, part = divmod(preset.epochs, 1)
    for epoch in range(int(whole) + (part > 0)):
        shuffled = torch.randperm(len(examples), generator=order).numpy()
        if epoch == int(whole):
            shuffled = shuffled[: int(part * len(shuffled))]
        batches: list[list[int]] = []
        for chunk in np.array_split(shuffled, max(1, len(shuffled) // 1024)):
            batches += _cut(chunk[np.argsort(lengths[chunk], kind="stable")], lengths, preset.tokens)
        planned += [batches[i] for i in torch.randperm(len(batches), generator=order).tolist()]
    return planned


def _cut(indices: np.ndarray, lengths: np.ndarray, tokens: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for index in indices.tolist():
        if batch and (len(batch) + 1) * lengths[index] > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _padded(batch: Sequence[Example]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    longest = max(len(example.ids) for example in batch)
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    features, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    labels = torch.full_like(ids, -1)
    for row, example in enumerate(batch):
        length = len(example.ids)
        ids[row, :length] = torch.from_numpy(example.ids)
        features[row, :length] = torch.from_numpy(example.features)
        labels[row, :length] = torch.from_numpy(example.labels)
        mask[row, :length] = 1
    return ids, features, labels, mask


def _keep(
    path: Path,
    plan: str,
    step: int,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(".tmp")
    torch.save(
        {
            "plan": plan,
            "step": step,
            "network": {name: value.detach() for name, value in _trained(network).items()},
            "optimizer": optimizer.state_dict(),
            "schedule": schedule.state_dict(),
            "random": torch.get_rng_state(),
        },
        made,
    )
    made.replace(path)


def _resumed(
    path: Path,
    plan: str,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
) -> int:
    if not path.exists():
        return 0
    kept = torch.load(path, weights_only=True)
    if kept["plan"] != plan:
        raise DeidError(Code.INPUT_INVALID, path.name)
    network.load_state_dict(kept["network"], strict=False)
    optimizer.load_state_dict(kept["optimizer"])
    schedule.load_state_dict(kept["schedule"])
    torch.set_rng_state(kept["random"])
    return int(kept["step"])


def seeded(seed: int) -> torch.Generator:
    """Sets the seed of everything drawn, and returns a generator of its own for the order of examples."""
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)
