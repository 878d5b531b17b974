"""A trained network as the folder that the detector loads.

Belongs here: ONNX, int8, the card's file. Does not belong here: the card's scores (`run.py`).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import onnx
import torch

from deid_platform.detection.models.bert import Network
from deid_platform.detection.models.folder import CARD, NETWORK, VOCABULARY, ModelFolder
from deid_platform.silence import silent_onnxruntime
from deid_platform.training.examples import LABELS


def export(network: Network, vocabulary: Path, folder: Path) -> None:
    """Writes `model.onnx` with int8 weights, one scale a channel, and `tokenizer.json`.

    Weights have seven bits: sums of two products of eight bits overflow on processors without VNNI, and spans would
    depend on the machine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    network = network.to("cpu").float().eval()
    network.encoder.embeddings.fold()
    ids, features = torch.ones(1, 24, dtype=torch.long), torch.zeros(1, 24, dtype=torch.long)
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / NETWORK
        pieces = torch.export.Dim("pieces", min=3, max=network.encoder.embeddings.position_embeddings.num_embeddings)
        torch.onnx.export(
            network,
            (ids, features),
            whole,
            input_names=["ids", "features"],
            output_names=["logits"],
            dynamic_shapes=({1: pieces}, {1: pieces}),
            external_data=False,
            dynamo=True,
            verbose=False,
        )
        silent_onnxruntime()
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(whole, folder / NETWORK, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
    _without_origin(folder / NETWORK)
    shutil.copyfile(vocabulary, folder / VOCABULARY)


def _without_origin(path: Path) -> None:
    """Drops what the exporter notes of where each part is from: lines of code, with folders of this machine."""
    model = onnx.load(path)
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        del part.metadata_props[:]
    onnx.save(model, path)


def write_card(folder: Path, thresholds: Mapping[str, float] | str, about: Mapping[str, object]) -> None:
    """Writes `model.json`: thresholds, digests of the other files, and what is said about the model."""
    names = (ModelFolder(folder).network, VOCABULARY)
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    card = {
        "labels": LABELS,
        "thresholds": thresholds if isinstance(thresholds, str) else dict(thresholds),
        "files": files,
        **about,
    }
    (folder / CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
