"""The classes of published token classifiers, by their names alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from detector_contract import check_model

from deid_platform.detection.api import Document
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.tags import read_tags
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note

MakeModel = Callable[[Mapping[str, str]], ModelFolder]
OBI = ("AGE", "DATE", "EMAIL", "HOSP", "ID", "LOC", "OTHERPHI", "PATIENT", "PATORG", "PHONE", "STAFF")
STANFORD = ("O", "VENDOR", "DATE", "HCW", "HOSPITAL", "ID", "PATIENT", "PHONE")


def marked(marks: str, labels: tuple[str, ...]) -> list[str]:
    return [*(f"{mark}-{label}" for mark in marks for label in labels), "O"]


@pytest.mark.parametrize(
    ("names", "scheme", "expected"),
    [
        pytest.param(marked("BILU", OBI), "obi", {Label.DOCTOR, Label.HOSPITAL, Label.ORGANIZATION}, id="obi, BILOU"),
        pytest.param(STANFORD, "stanford-aimi", {Label.DOCTOR, Label.ORGANIZATION, Label.IDNUM}, id="StanfordAIMI"),
        pytest.param(marked("BI", ("DOCTOR", "LOCATION-OTHER")), "i2b2-2014", {Label.LOCATION_OTHER}, id="i2b2, IOB2"),
        pytest.param(marked("BIES", ("PATIENT", "ID", "LOCATION")), "i2b2-2014", {Label.IDNUM}, id="i2b2, IOBES"),
        pytest.param(marked("BI", ("NOMBRE_SUJETO_ASISTENCIA", "FECHAS")), "meddocan", {Label.DATE}, id="MEDDOCAN"),
        pytest.param(marked("BI", ("PER", "LOC", "ORG", "MISC")), "conll-2003", {Label.PATIENT, None}, id="CoNLL"),
    ],
)
def test_published_tag_sets_are_read_with_a_crosswalk(names, scheme, expected) -> None:
    tags = read_tags(names, "config.json")
    assert tags.scheme == scheme
    assert expected < set(tags.labels)
    assert len(tags.labels) == len(names) and tags.labels[names.index("O")] is None


def test_tags_say_where_a_piece_stands() -> None:
    names = ["O", "B-HOSP", "I-HOSP", "L-HOSP", "U-HOSP", "U-STAFF"]
    tags = read_tags(names, "config.json")
    assert (tags.begins, tags.goes_on) == ((1, 4, 5), (2, 3))
    assert read_tags(STANFORD, "config.json")[2:] == ((), ())  # bare labels say nothing
    assert read_tags(["O", "I-HOSP", "I-STAFF"], "config.json")[2:] == ((), ())  # nor do those without a beginning


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["O", "B-STAFF", "B-HOSP", "I-WARD"], "config.json: I-WARD is"),
        (["LABEL_0", "LABEL_1"], "config.json: LABEL_0 is"),
        (["O", "B-DATE", "Zebulon Quill"], "config.json: class 2 is"),
        (["B-DATE", "I-DATE"], "config.json: no class O"),
    ],
)
def test_what_cannot_be_read_says_which_tag(names, said) -> None:
    with pytest.raises(DeidError) as error:
        read_tags(names, "config.json")
    assert error.value.code is Code.MODEL_UNUSABLE
    assert str(error.value.ref).startswith(said)


def found(model: ModelFolder, text: str) -> list[tuple[str, str]]:
    (candidates,) = TokenClassifier(model).detect([Document(Note("1", text))])
    return [(text[it.start : it.end], it.label.value) for it in candidates]


BILOU = {"ndoye": "U-STAFF", "oko": "B-PATIENT", "##nkwo": "I-PATIENT", "baker": "L-PATIENT", "3": "U-DATE",
         "14": "U-DATE", "2019": "L-DATE"}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("saw Okonkwo Baker x", [("Okonkwo Baker", "PATIENT")], id="begun and ended"),
        pytest.param("Okonkwo Okonkwo", [("Okonkwo", "PATIENT")] * 2, id="neighbours that B parts"),
        pytest.param("3 14 2019", [("3", "DATE"), ("14 2019", "DATE")], id="neighbours that U parts"),
        pytest.param("3/14/2019", [("3/14/2019", "DATE")], id="one word for those who made the model"),
        pytest.param("Baker Baker", [("Baker Baker", "PATIENT")], id="nothing begins"),
    ],
)
def test_neighbours_stay_apart_where_the_tags_say_so(model_of: MakeModel, text, expected) -> None:
    assert found(model_of(BILOU), text) == expected


def test_tags_without_a_beginning_part_nobody(model_of: MakeModel) -> None:
    assert found(model_of({"oko": "PATIENT", "##nkwo": "PATIENT"}), "Okonkwo Okonkwo") == [
        ("Okonkwo Okonkwo", "PATIENT")
    ]


def test_a_published_tag_set_keeps_the_contract_of_models(model_of: MakeModel) -> None:
    model = model_of(BILOU)
    check_model(lambda: TokenClassifier(model))
