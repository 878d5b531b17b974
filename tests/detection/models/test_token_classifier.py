"""A folder as a detector: the contract of models, and what a broken folder says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from detector_contract import check_model

from deid_platform.detection.api import Document
from deid_platform.detection.models.folder import CARD, NETWORK, VOCABULARY, ModelFolder
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note


@pytest.fixture
def copied(model_folder, tmp_path):
    shutil.copytree(model_folder.path, tmp_path / "copy")
    return ModelFolder(tmp_path / "copy")


def test_the_contract_of_models(model_folder):
    check_model(lambda: TokenClassifier(model_folder))


def test_what_it_finds(model_folder):
    text = "Ndoye saw Okonkwo on 3/14/2019."
    (found,) = TokenClassifier(model_folder).detect([Document(Note("1", text))])
    assert [(text[c.start : c.end], c.label.value, str(c.source)) for c in found] == [
        ("Ndoye", "DOCTOR", "model:tiny"),
        ("Okonkwo", "PATIENT", "model:tiny"),
        ("3/14/2019", "DATE", "model:tiny"),
    ]


def test_every_window_of_a_long_text_is_searched(model_folder):
    text = "saw Okonkwo\n" * 500
    (found,) = TokenClassifier(model_folder).detect([Document(Note("1", text))])
    assert [c.start for c in found] == [12 * line + 4 for line in range(500)]


@pytest.mark.parametrize("name", [NETWORK, VOCABULARY, CARD])
@pytest.mark.parametrize("broken", ["gone", "other"])
def test_a_file_that_is_gone_or_another_is_refused_by_name(copied, name, broken):
    path = copied.path / name
    if broken == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(DeidError) as raised:
        TokenClassifier(copied)
    assert (raised.value.code, raised.value.ref) == (Code.MODEL_UNUSABLE, name)


def test_the_digest_names_thresholds_and_files(copied, model_folder):
    assert copied.digest == model_folder.digest
    card = dict(copied.card)
    for change in ({"thresholds": {"DATE": 0.4}}, {"files": {**card["files"], NETWORK: "0"}}):
        (copied.path / CARD).write_text(json.dumps({**card, **change}))
        assert ModelFolder(copied.path).digest != model_folder.digest


def test_occupations_are_sought_where_they_are_wanted(model_folder: ModelFolder) -> None:
    document = Document(Note("1", "saw baker Ndoye"))
    (every,) = TokenClassifier(model_folder).detect([document])
    (named,) = TokenClassifier(model_folder, professions=False).detect([document])
    assert [c.label for c in every] == [Label.PROFESSION, Label.DOCTOR]
    assert [c.label for c in named] == [Label.DOCTOR]


@pytest.mark.process
def test_the_runtime_reports_nothing_to_its_publisher(tmp_path):
    # It would keep an identifier of the machine under the home folder, a session in the temporary one, and send both.
    program = "from deid_platform.detection import DetectorSpec; DetectorSpec('ensemble').build()"
    environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert [path for path in tmp_path.rglob("*") if "icrosoft" in path.name or path.name.startswith(".")] == []
