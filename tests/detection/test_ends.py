"""Where candidates end, whatever found them."""

from __future__ import annotations

import pytest

from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.resolve.ends import ends
from deid_platform.labels import Label
from deid_platform.notes import Note

MODEL, RULE = Source(SourceKind.MODEL, "tiny"), Source(SourceKind.RULES, "some")


def cut(
    marked: str, label: Label, source: Source = MODEL, evidence: Evidence = Evidence.PREDICTED, language: str = "en"
) -> list[str]:
    """What remains of the stretch between brackets."""
    before, rest = marked.split("⟦")
    inside, after = rest.split("⟧")
    text = before + inside + after
    found = Candidate(len(before), len(before) + len(inside), label, source, evidence, 0.9)
    return [text[c.start : c.end] for c in ends(Document(Note("n", text, language=language)), [found])]


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("⟦Dr. Quarmby⟧", ["Quarmby"]),
        ("seen by ⟦Dr⟧", []),
        ("seen by ⟦Dr⟧. Quarmby", []),
        ("⟦husb Luis⟧ called", ["Luis"]),
        ("⟦said LORETTO,WAYDE⟧ &", ["LORETTO,WAYDE"]),
        ("⟦Archambeault, APRN⟧, FNP-C", ["Archambeault"]),
        ("was ⟦Eberhart NP⟧ in", ["Eberhart"]),
        ("⟦atty Pauline Gilliam⟧", ["Pauline Gilliam"]),
        ("⟦cc atty Pauline Gilliam (⟧release", ["Pauline Gilliam"]),
        ("⟦hablado con Quiñonero busca⟧", ["Quiñonero"]),
        ("⟦dal figlio Ivan⟧", ["Ivan"]),
        ("⟦Marlène passera⟧ jeudi", ["Marlène"]),
        ("⟦MERE GÜLAY 33 A⟧,", ["GÜLAY 33 A"]),
        ("⟦Herr Quandt⟧ kommt", ["Quandt"]),
        ("⟦Lea w⟧ wife", ["Lea"]),
        ("⟦Sheila M.            Copia AMARILLA⟧", ["Sheila M", "AMARILLA"]),
        ("⟦Quarmby\t⟧ x", ["Quarmby"]),
        ("x ⟦(x).⟧", ["x"]),
        ("⟦MELGAR, EMILIA     MRN⟧: 7232715", ["MELGAR, EMILIA"]),
        ("⟦1ngrid⟧", ["1ngrid"]),
        ("⟦Addilynn 5hetty⟧ 26103", ["Addilynn 5hetty"]),
        ("⟦--⟧", []),
        ("⟦Hermana RN1 Noa⟧", ["RN1 Noa"]),
    ],
)
def test_words_at_the_ends_of_a_name_are_cut(marked, expected):
    assert cut(marked, Label.PATIENT) == expected


@pytest.mark.parametrize(
    "marked",
    [
        "⟦Ana de la Cruz⟧",
        "⟦de la Cruz⟧",
        "⟦van der Berg⟧",
        "⟦May⟧ called",
        "⟦Lo Presti⟧ R.",
        "⟦Faimon, Del⟧",
        "⟦Will Green⟧",
        "⟦AS⟧, nurse",
        "⟦RD⟧",
        "⟦LT, DWK⟧",
        "⟦MD Rahman⟧",
        "⟦J. R. Quarmby⟧",
        "⟦Quar-\nnby⟧",
        "⟦kaur singh⟧ ate",
        "⟦Darre11⟧",
        "⟦M. Quarmby⟧",
    ],
)
def test_what_is_part_of_a_name_stays(marked):
    inside = marked.split("⟦")[1].split("⟧")[0]
    assert cut(marked, Label.DOCTOR) == [inside]


def test_a_french_m_is_a_title_and_behind_a_title_an_initial():
    assert cut("voit ⟦M. Mukendi⟧", Label.PATIENT, language="fr") == ["Mukendi"]
    assert cut("Dr ⟦M. Mukendi⟧", Label.PATIENT, language="fr") == ["M. Mukendi"]


@pytest.mark.parametrize(
    ("marked", "label", "expected"),
    [
        ("⟦NHC 1120087⟧", Label.MEDICALRECORD, ["1120087"]),
        ("⟦IPP 59G07-11844⟧", Label.MEDICALRECORD, ["59G07-11844"]),
        ("⟦tlfno 981 00 07 52⟧", Label.PHONE, ["981 00 07 52"]),
        ("⟦RPPS 10002290071⟧", Label.LICENSE, ["10002290071"]),
        ("⟦SN PJN7702289⟧", Label.DEVICE, ["PJN7702289"]),
        ("⟦5091184 58M⟧", Label.IDNUM, ["5091184"]),
        ("⟦W2005 24 006914⟧", Label.DEVICE, ["W2005 24 006914"]),
        ("⟦AB 1234567⟧", Label.IDNUM, ["AB 1234567"]),
        ("⟦Holbeck Royal Infirmary Dr Zander⟧", Label.HOSPITAL, ["Holbeck Royal Infirmary"]),
        ("⟦du CHRU Salengro⟧", Label.HOSPITAL, ["CHRU Salengro"]),
        ("⟦Villa di⟧ Lissone", Label.CITY, ["Villa"]),
        ("⟦12 Oak Dr⟧", Label.STREET, ["12 Oak Dr"]),
        ("⟦via Dante 211⟧", Label.STREET, ["via Dante 211"]),
        ("⟦Hospital de la Luz⟧", Label.HOSPITAL, ["Hospital de la Luz"]),
        ("⟦Thurs 1 May AM⟧", Label.DATE, ["Thurs 1 May"]),
        ("⟦12SEP24 1417⟧", Label.DATE, ["12SEP24"]),
        ("⟦7/5 00⟧:10", Label.DATE, ["7/5"]),
        ("⟦2. 9/27⟧", Label.DATE, ["9/27"]),
        ("⟦14 nov\n6⟧  Richiesta", Label.DATE, ["14 nov"]),
        ("⟦March 14, 2019⟧", Label.DATE, ["March 14, 2019"]),
        ("⟦28 Jan 2016⟧", Label.DATE, ["28 Jan 2016"]),
        ("⟦March\n14, 2024⟧", Label.DATE, ["March\n14, 2024"]),
    ],
)
def test_numbers_places_and_dates(marked, label, expected):
    assert cut(marked, label) == expected


@pytest.mark.parametrize("kind", [SourceKind.ROSTER, SourceKind.GAZETTEER, SourceKind.CROSS_NOTE])
def test_what_the_topics_found_stays(kind):
    assert cut("⟦Sister Mary⟧", Label.PATIENT, Source(kind), Evidence.PROVEN) == ["Sister Mary"]


def test_a_rule_s_candidate_is_never_cut_to_nothing():
    assert cut("⟦Dr⟧", Label.DOCTOR, RULE, Evidence.INTRODUCED) == ["Dr"]


def test_the_word_of_a_room_is_nobody():
    assert cut("⟦Sala⟧ 2, puesto", Label.PATIENT, RULE, Evidence.CONTEXT) == []
    assert cut("⟦Sala⟧ called", Label.PATIENT, RULE, Evidence.CONTEXT) == ["Sala"]
