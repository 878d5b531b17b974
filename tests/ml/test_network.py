"""The network against the library it takes its weights from, and what export and reading back keep of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from transformers import BertModel

from deid_platform.detection.models.bert import Network
from deid_platform.detection.models.folder import NETWORK, VOCABULARY, ModelFolder
from deid_platform.errors import Code, DeidError
from deid_platform.training import export as exporting
from deid_platform.training.export import export, write_card
from deid_platform.training.starting import encoder, from_encoder, trained


@pytest.fixture(scope="module")
def network(encoder_folder: Path) -> Network:
    torch.manual_seed(7)
    network = from_encoder(encoder_folder).eval()
    for value in network.parameters():
        if value.ndim == 1:  # drawn too: equal ones would become one in the export
            torch.nn.init.normal_(value, mean=float(value.mean()), std=0.1)
    torch.nn.init.normal_(network.features.weight)
    return network


@pytest.fixture(scope="module")
def exported(network: Network, encoder_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> ModelFolder:
    folder = tmp_path_factory.mktemp("exported")
    export(network, encoder_folder / VOCABULARY, folder)
    write_card(folder, {}, {"size": encoder(encoder_folder).said["size"]})
    return ModelFolder(folder)


def window(length: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randint(4, 90, (1, length)), torch.randint(0, 41, (1, length))


def test_the_encoder_is_that_of_transformers(encoder_folder: Path) -> None:
    ids, _ = window(30)
    known = BertModel.from_pretrained(encoder_folder).eval()
    ours = from_encoder(encoder_folder).encoder.eval()
    with torch.no_grad():
        assert torch.allclose(known(ids).last_hidden_state, ours(ids, torch.zeros(1, 30, 32), None), atol=1e-5)


def test_padding_changes_nothing(network: Network) -> None:
    ids, features = window(20)
    longer = [torch.cat([part, torch.full((1, 9), 5)], dim=1) for part in (ids, features)]
    mask = torch.tensor([[1] * 20 + [0] * 9])
    with torch.no_grad():
        assert torch.allclose(network(ids, features), network(*longer, mask)[:, :20], atol=1e-5)


@pytest.mark.parametrize("length", [3, 24, 128])
def test_the_exported_network_says_nearly_the_same(network: Network, exported: ModelFolder, length: int) -> None:
    ids, features = window(length)
    (found,) = onnxruntime.InferenceSession(exported.path / NETWORK).run(
        None, {"ids": ids.numpy(), "features": features.numpy()}
    )
    with torch.no_grad():
        wanted = network(ids, features).numpy()
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() < 0.1 * np.abs(wanted).max()


def test_a_graph_of_before_gets_its_attention_as_one_operator(
    network: Network, encoder_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(exporting, "_with_whole_attention", lambda *_: None)
        export(network, encoder_folder / VOCABULARY, tmp_path)
    write_card(tmp_path, {}, {"size": encoder(encoder_folder).said["size"]})
    feed = {name: part.numpy() for name, part in zip(("ids", "features"), window(24), strict=True)}
    (wanted,) = onnxruntime.InferenceSession(tmp_path / NETWORK).run(None, feed)
    exporting.join_attention(tmp_path)
    whole = (tmp_path / NETWORK).read_bytes()
    assert {node.op_type for node in onnx.load_from_string(whole).graph.node}.isdisjoint({"Softmax", "Transpose"})
    (found,) = onnxruntime.InferenceSession(ModelFolder(tmp_path).verified().path / NETWORK).run(None, feed)
    assert np.abs(found - wanted).max() < 0.01 * np.abs(wanted).max()
    exporting.join_attention(tmp_path)
    assert (tmp_path / NETWORK).read_bytes() == whole


def test_a_trained_model_is_read_back(network: Network, exported: ModelFolder) -> None:
    again = trained(exported).network.state_dict()
    for name, value in network.state_dict().items():
        assert again[name].shape == value.shape
        assert torch.allclose(again[name], value, atol=0.02 * float(value.abs().max())), name


def test_an_encoder_without_its_weights_is_refused(encoder_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_bytes((encoder_folder / "config.json").read_bytes())
    with pytest.raises(DeidError) as raised:
        encoder(tmp_path)
    assert (raised.value.code, raised.value.ref) == (Code.MODEL_UNUSABLE, "model.safetensors")
