"""Which language a note is in, told from its text."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import wrap

import pytest

from deid_platform.languages.telling import MOST_LETTERS, Told, languages_of

_BLOCKS = re.split(r"^== ", (Path(__file__).parent / "notes.txt").read_text("utf-8"), flags=re.MULTILINE)[1:]
NOTES = [(code, text.strip()) for code, text in (block.split("\n", 1) for block in _BLOCKS)]
ENGLISH = (
    "The patient was seen in clinic today. She reports no chest pain and no fever since the last visit. Blood pressure "
    "was well controlled on the present medication, and the examination of heart and lungs was normal. We will see her "
    "again in three months. "
)
GERMAN = NOTES[0][1]
MEASURED = {"en", "es", "fr", "it"}


@pytest.mark.parametrize(("code", "text"), NOTES, ids=[code for code, _ in NOTES])
@pytest.mark.parametrize("declared", ["", "en", "es", "und"])
def test_a_note_is_of_its_language_whatever_the_source_says(code, text, declared):
    assert languages_of(text, declared).main in ({"hr", "bs", "sr"} if code == "hr" else {code})


@pytest.mark.parametrize(
    ("declared", "text", "main"),
    [
        ("en", ENGLISH, "en"),
        ("de", ENGLISH, "en"),
        ("th", ENGLISH, "en"),
        ("", "Se realiza ecografía abdominal sin hallazgos. La paciente refiere mejoría del dolor desde ayer.", "es"),
        ("", "Il paziente riferisce dolore toracico da ieri sera, senza febbre. Esame obiettivo nella norma.", "it"),
        ("", "La patiente se plaint de douleurs abdominales depuis hier soir, sans fièvre ni vomissements.", "fr"),
    ],
)
def test_notes_in_the_measured_languages(declared, text, main):
    assert languages_of(text, declared) == Told(main)


@pytest.mark.parametrize(
    "text",
    [
        "Seen by Dr. Alan Reed",
        "Vancomycin 1 g IV q12h\nAsst.: Wilhelmina van der Berg\nLumbar spondylolisthesis",
        "MEDICATIONS: 1. Fosamax 70 mg weekly. 2. Lisinopril 20 mg daily. 3. Metformin 850 mg daily. 4. Amlodipine 5 mg"
        " daily. 5. Metoprolol 150 mg b.i.d. 6. Klonopin 0.5 mg p.o. q.h.s. 7. Toprol. 8. Zocor. 9. Plavix. 10. Lasix.",
        "Na 138 K 4.1 Cl 102 CO2 24 BUN 18 Cr 0.9 Glu 104 WBC 7.2 Hgb 13.1 Hct 39.4 Plt 212 AST 22 ALT 31 ALP 88",
        "PREOPERATIVE DIAGNOSIS: Dysmenorrhea. Menorrhagia. POSTOPERATIVE DIAGNOSIS: Dysmenorrhea. Menorrhagia. Uterine"
        " fibroids. ANESTHESIA: General endotracheal. ESTIMATED BLOOD LOSS: Minimal. SPECIMENS: Uterus.",
        "HEENT: NCAT, PERRLA, EOMI. CV: RRR, no m/r/g. Resp: CTAB. Abd: s/nt/nd, +BS. Ext: no c/c/e. Neuro: A&Ox3, CN",
        "PO2 53 mmHg, PCO2 51 mmHg, HCO3 34,6 mmol/l; leucocitos 10.400/mm3; glucemia 102 mg/dl; urea 42 mg/dl; GPT 24",
        "Given a β-blocker and γδ T cell counts; 40 µg, 3 Ω, ± 2 °C, Δ 5, Nº 3, 1ª dosis, naïve, Sjögren, Ménière",
        "Hоspital follоw-up visit: nо complaints tоday, she feels well and will return in six mоnths for labs.",
    ],
)
def test_lists_tables_and_signs_are_of_no_other_language(text):
    told = languages_of(text, "en")
    assert set(told.all) <= MEASURED


@pytest.mark.parametrize(
    ("text", "declared", "told"),
    [
        ("Hr. Vogt, Zi. 4", "", Told("und")),
        ("Hr. Vogt, Zi. 4", "de-AT", Told("de")),
        ("Hr. Vogt, Zi. 4", "Klingon", Told("und")),
        ("BP 120/80", "en", Told("en")),
    ],
)
def test_too_little_text_takes_what_the_source_says(text, declared, told):
    assert languages_of(text, declared) == told


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Seen today with her son 王小明, no complaints, will return next week for the results.", "zh"),
        ("Seen today with her son สมชาย, no complaints, will return next week for the results.", "th"),
        ("Seen today with her son Дмитрий Сергеевич Громов, she returns for results.", "ru"),
        ("Seen today with her son Σπύρος, no complaints, will return next week for the results.", "el"),
        ("Seen today with her son ሰሎሞን, no complaints, will return next week for the results.", "am"),
        ("Seen today with her son ⵢⵓⴳⵔⵜⵏ, no complaints, will return next week for the results.", "mis"),
        ("王", "zh"),
        ("Seen by &#3626;&#3617;&#3594;&#3634;&#3618; today", "th"),
    ],
)
def test_a_word_in_another_script_is_never_overlooked(text, code):
    assert code in languages_of(text, "en").all


@pytest.mark.parametrize(
    "text", [GERMAN + "\n" + 2 * ENGLISH, 2 * ENGLISH + GERMAN, 5 * ENGLISH + GERMAN + 5 * ENGLISH]
)
def test_passages_of_another_language_are_told_wherever_they_stand(text):
    assert set(languages_of(text, "en").all) == {"de", "en"}


def test_a_sentence_or_two_of_another_language_are_a_quotation():
    quoted = (
        'She said: "Ich habe seit drei Wochen große Schmerzen in beiden Knien und kann kaum noch Treppen steigen." '
    )
    assert len(quoted) < MOST_LETTERS
    assert languages_of(ENGLISH + quoted + ENGLISH, "en") == Told("en")
    assert languages_of(ENGLISH + 4 * quoted + ENGLISH, "en") == Told("en", ("de",))


def test_lines_in_turns_of_two_languages_are_told_apart():
    english, german = re.split(r"(?<=\.) ", ENGLISH.strip()), re.split(r"(?<=[a-z]\.) (?=[A-Z])", GERMAN)
    text = "\n".join(line for pair in zip(2 * english, german, strict=False) for line in pair)
    assert set(languages_of(text, "en").all) == {"de", "en"}


_DUTCH = next(text for code, text in NOTES if code == "nl")
_JOINED_BY = (" ", ", ", "\r", "\v", "\f", "\x85", "\u2028", " | ", "<br>", "</p><p>", "\\.br\\", ".", "\xa0", "_")


@pytest.mark.parametrize("sign", _JOINED_BY, ids=ascii)
def test_passages_without_sentence_ends_are_told_apart(sign):
    english, dutch = (re.sub(r"[.!?;:\s]+", " ", text).strip() for text in (10 * ENGLISH, 2 * _DUTCH))
    for text in (english + sign + dutch, dutch + sign + english, english + sign + dutch + sign + english):
        assert set(languages_of(text, "en").all) == {"en", "nl"}


@pytest.mark.parametrize("sign", _JOINED_BY, ids=ascii)
def test_english_without_sentence_ends_is_english(sign):
    text = re.sub(r"[.!?;:]\s+", lambda _: sign, 6 * ENGLISH)
    assert languages_of(text, "en") == Told("en")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_short_lines_in_turns_of_two_languages_are_told_apart(width):
    lines = zip(wrap(5 * ENGLISH, width), wrap(2 * _DUTCH, 40), strict=False)
    assert set(languages_of("\n".join(line for pair in lines for line in pair), "en").all) == {"en", "nl"}


def test_short_lines_of_tables_and_names_stay_with_the_note():
    table = (
        "Metoprolol tartrate 25 mg b.i.d.\nLevothyroxine 75 mcg daily\nAtorvastatin 40 mg q.h.s.\n"
        "Hydrochlorothiazide 25 mg\nStreptococcus pneumoniae, S\nStaphylococcus aureus, R\n"
        "Fibromyalgia, cholelithiasis\nAsst.: Wilhelmina van der Berg\n"
    )
    assert set(languages_of(3 * table + ENGLISH, "en").all) <= MEASURED
