"""From Python: load, detect, redact, as docs/python.md shows them."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import deid_platform
from deid_platform.deidentify.deidentifier import Deidentifier
from deid_platform.errors import Code, DeidError
from deid_platform.labels import Label
from deid_platform.notes import Note, Patient, Span, Topics

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
SECRET = "6d1f0c8a94e7b25310fd86a2c7e95b40"


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    return deid_platform.load(topics=Topics.of([Patient("p1", first_name="Ann", last_name="Quillfeather")]))


def raised_by(call, *arguments) -> tuple[Code, str | None]:
    with pytest.raises(DeidError) as error:
        call(*arguments)
    return error.value.code, error.value.ref


@pytest.mark.process
def test_the_example_of_the_page_prints_what_the_page_says(tmp_path: Path) -> None:
    example, output = re.findall(r"```(?:python)?\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, output), done.stderr


def test_the_page_shows_the_arguments_that_there_are() -> None:
    shown = re.search(r"`load\((.*?)\)`", PAGE.read_text(encoding="utf-8"), re.S)[1]
    parameters = inspect.signature(deid_platform.load).parameters.values()
    assert re.findall(r"(\w+)=", shown) == [parameter.name for parameter in parameters]


def test_a_sites_own_files_are_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("Cooper Ward\n")
    entry = {"name": "fob", "label": "IDNUM", "pattern": r"KX-\d{3}", "hits": ["Fob [[KX-204]]"], "misses": ["Fob"]}
    (tmp_path / "own.yaml").write_text(json.dumps({"recognizers": [entry]}))
    own = deid_platform.load("rules", recognizers=tmp_path / "own.yaml", keep=tmp_path / "keep.txt")
    text = "Admitted to Cooper Ward, fob KX-204."
    assert own.redact(text).text == "Admitted to Cooper Ward, fob [IDNUM]."
    code, ref = raised_by(lambda: deid_platform.load(recognizers=tmp_path / "gone.yaml"))
    assert (code, ref) == (Code.RECOGNIZERS_INVALID, "gone.yaml: it cannot be read")


def test_a_note_in_a_language_that_nobody_measured_is_withheld() -> None:
    text = "Die Patientin klagt seit gestern über starke Schmerzen im rechten Knie, kein Fieber. Gez. Hannelore Vogt"
    assert raised_by(lambda: deid_platform.load("rules").redact(text)) == (Code.LANGUAGE_UNMEASURED, "de")
    assert deid_platform.load("rules", languages=["de"]).redact(text).text
    code, ref = raised_by(lambda: deid_platform.load("rules", languages=["german"]))
    assert (code, ref) == (Code.INPUT_INVALID, "languages: 'german' is no code of ISO 639-1, such as de")


@pytest.mark.process
def test_importing_the_package_imports_nothing_of_it() -> None:
    script = "import sys, deid_platform; print([name for name in sys.modules if name.startswith('deid_platform.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_spans_are_offsets_into_the_text_that_was_given(deid: Deidentifier) -> None:
    text = "Seen \u2028 by Dr. Alan Reed on 03/04/2019."
    spans = deid.detect(text)
    assert [(text[s.start : s.end], s.label) for s in spans] == [
        ("Alan Reed", Label.DOCTOR),
        ("03/04/2019", Label.DATE),
    ]
    result = deid.redact(text)
    assert (result.text, list(result.spans)) == ("Seen \u2028 by Dr. [DOCTOR] on [DATE 2019].", spans)


def test_a_note_is_read_with_what_is_known_of_its_patient(deid: Deidentifier) -> None:
    text = "the quillfeather chart"
    assert deid.redact(Note("n", text, patient_id="p1")).text == "the [PATIENT] chart"


def test_a_note_that_leaks_raises_and_says_nothing_of_it() -> None:
    known = Topics.of([Patient("p1", first_name="Ann", last_name="Quillfeather")])
    patterns = deid_platform.load("patterns", topics=known)
    leaking = Note("n", "the quillfeather chart", patient_id="p1")
    assert patterns.detect(leaking) == []
    with pytest.raises(DeidError) as error:
        patterns.redact(leaking)
    assert (error.value.code, error.value.ref) == (Code.NOTE_LEAKS, "leak-last-name")
    assert "quillfeather" not in str(error.value).lower()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty_text"),
        ("\ud800", "lone_surrogate"),
        ("a\0b", "nul_character"),
        ("a" * 1_000_001, "text_too_long"),
    ],
)
def test_what_a_file_could_not_hold_is_refused(deid: Deidentifier, text: str, reason: str) -> None:
    for call in (deid.detect, deid.redact):
        for note in (text, Note("n", text)):
            assert raised_by(call, note) == (Code.NOTE_INVALID, reason)


class Faulty:
    """A detector that raises, or says what cannot be."""

    def __init__(self, spans: tuple[Span, ...] | None) -> None:
        self.spans = spans

    def detect(self, notes):
        if self.spans is None:
            raise ValueError(notes[0].text)
        return [self.spans for _ in notes]


@pytest.mark.parametrize("spans", [None, (Span(2, 99, Label.DATE),), (Span(0, 3, Label.DATE), Span(2, 4, Label.DATE))])
def test_a_detector_that_fails_gives_no_text(spans: tuple[Span, ...] | None) -> None:
    deid = deid_platform.load("patterns")
    deid._detector = Faulty(spans)
    assert raised_by(deid.redact, "Seen by Reed.") == (Code.DETECTOR_FAILED, None)


def test_topics_may_be_files_and_surrogates_are_those_of_a_secret(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRET)
    (tmp_path / "patients.csv").write_text(
        "patient_id,first_name,last_name,birth_date\np1,Ann,Quillfeather,03/04/1950\n"
    )
    with pytest.warns(UserWarning, match="patients: invalid dates left out: 1") as said:
        deid = deid_platform.load(
            topics={"patients": tmp_path / "patients.csv"},
            policy="surrogate",
            secret_file=tmp_path / "key",
            site="north",
        )
    assert said[0].filename == __file__
    note = Note("n", "Patient: Ann Quillfeather, seen 3/4/2019.", patient_id="p1")
    result = deid.redact(note)
    assert result.text == deid.redact(note).text
    person, seen = (result.text[span.start : span.end] for span in result.spans)
    assert result.text == f"Patient: {person}, seen {seen}."
    assert (person, seen) != ("Ann Quillfeather", "3/4/2019")


def test_texts_share_neither_date_shift_nor_surrogates(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRET)
    deid = deid_platform.load(policy="surrogate", secret_file=tmp_path / "key", site="north")
    texts = [f"Patient: Ann Quillfeather, seen 3/4/2019. Letter {letter}." for letter in "ABCDEFGH"]
    shown = []
    for text in texts:
        result = deid.redact(text)
        assert result == deid.redact(text)
        found = {span.label: result.text[span.start : span.end] for span in result.spans}
        shown.append((found[Label.PATIENT], found[Label.DATE]))
    people, days = (set(column) for column in zip(*shown, strict=True))
    assert len(people) > 4
    assert len(days) > 4


def test_what_cannot_be_loaded_is_said_by_its_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DEID_SECRET", "DEID_SECRET_FILE", "DEID_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    load = deid_platform.load
    assert raised_by(load, "oracle")[0] is Code.DETECTOR_UNKNOWN
    assert raised_by(lambda: load(policy="none"))[0] is Code.POLICY_UNKNOWN
    assert raised_by(lambda: load(policy="surrogate"))[0] is Code.SECRET_MISSING
    code, ref = raised_by(lambda: load(topics={"patient": "p.csv"}))
    assert code is Code.INPUT_INVALID
    assert ref.startswith("topics: did you mean patients?")


def test_no_record_shows_a_value(deid: Deidentifier) -> None:
    assert (repr(deid), repr(deid.redact("Seen by Dr. Reed."))) == ("<Deidentifier>", "<Redacted>")
