"""A trained network as the folder that the detector loads.

    python -m deid_platform.training.export FOLDER

writes the graph of a model that was exported before with attention as one operator, and its digest into its card;
weights and all else stay as they are, and a graph that has it already does not change.

Belongs here: ONNX, int8, the card's file. Does not belong here: the card's scores (`run.py`).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import onnx
import onnx.utils
import torch
from onnx import helper

from deid_platform.detection.models.bert import Network
from deid_platform.detection.models.folder import CARD, NETWORK, VOCABULARY, ModelFolder
from deid_platform.runtime.silence import silent_onnxruntime
from deid_platform.training.examples import LABELS

_CONTRIB = "com.microsoft"
"""The operators that onnxruntime has beside those of ONNX."""


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
    heads = network.encoder.encoder["layer"][0].attention["self"].heads  # type: ignore[index,union-attr]
    _with_whole_attention(folder / NETWORK, heads)
    shutil.copyfile(vocabulary, folder / VOCABULARY)


def _without_origin(path: Path) -> None:
    """Drops what the exporter notes of where each part is from: lines of code, with folders of this machine."""
    model = onnx.load(path)
    graph = model.graph
    for part in (model, graph, *graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        del part.metadata_props[:]
    onnx.save(model, path)


def _with_whole_attention(path: Path, heads: int) -> None:
    """Makes one operator of each layer's attention.

    The exporter writes a dozen, most of which only move numbers, and onnxruntime does not join them by itself.
    """
    model = onnx.load(path)
    graph = model.graph
    made = {name: node for node in graph.node for name in node.output}
    user = {name: node for node in graph.node for name in node.input}
    attention = [node for node in graph.node if node.op_type == "Softmax"]
    if not attention:
        return
    for layer, softmax in enumerate(attention):
        of_layer = f"encoder.encoder.layer.{layer}.attention.self"
        taken = [user[f"{of_layer}.{part}.bias"].output[0] for part in ("query", "key", "value")]
        node = softmax
        while node.op_type != "Reshape":  # the heads of each piece, side by side again
            node = user[node.output[0]]
        whole = helper.make_node("MultiHeadAttention", taken, node.output, of_layer, domain=_CONTRIB, num_heads=heads)
        made[node.output[0]].CopyFrom(whole)
    model.opset_import.append(helper.make_opsetid(_CONTRIB, 1))
    ends = ([value.name for value in values] for values in (graph.input, graph.output))
    onnx.save(onnx.utils.Extractor(model).extract_model(*ends), path)  # without what nothing uses any more


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


def join_attention(folder: Path) -> None:
    """Writes the graph of a model that was exported before with attention as one operator, and its digest."""
    card = json.loads((folder / CARD).read_bytes())
    _with_whole_attention(folder / NETWORK, card["size"]["num_attention_heads"])
    card["files"][NETWORK] = hashlib.sha256((folder / NETWORK).read_bytes()).hexdigest()
    (folder / CARD).write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    join_attention(Path(sys.argv[1]))
