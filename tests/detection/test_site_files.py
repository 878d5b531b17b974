"""What a site adds by two files: recognizers of its own and an allow list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deid_platform import load
from deid_platform.cli import app
from deid_platform.corpora.gold_sets import GoldSet
from deid_platform.detection import DetectorSpec
from deid_platform.detection.rules.engine.site_recognizers import CHECKS
from deid_platform.doctor import examine
from deid_platform.engine.engines import LocalEngine
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.files import score_file
from deid_platform.leakcheck import LeakCheck, LeakKind
from deid_platform.notes import Facility, Note, Patient, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.settings import load_settings

PAGE = (Path(__file__).parents[2] / "docs" / "detection.md").read_text("utf-8")
RECOGNIZERS, ALLOWED = (re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[1] for kind in ("yaml", "text"))
"""The examples of docs/detection.md."""
NAMES_ALONE = (
    "Grace",
    "Mr. Smith",
    "Patient John",
    "O'Brien",
    "Smith's",
    "de la Cruz",
    "John Smith",
    "his wife Mary Ann",
)
WARD = "Transferred to Cooper Ward on Monday."
FOB = "Opened with fob # KX-204."


@pytest.fixture
def files(tmp_path: Path) -> DetectorSpec:
    """The detector with both examples."""
    (tmp_path / "recognizers.yaml").write_text(RECOGNIZERS, "utf-8")
    (tmp_path / "keep.txt").write_text(ALLOWED, "utf-8")
    return DetectorSpec("rules", recognizers=tmp_path / "recognizers.yaml", keep=tmp_path / "keep.txt")


def found(spec: DetectorSpec, text: str, patient: str | None = None) -> list[str]:
    return [text[s.start : s.end] for s in spec.build().detect([Note("n", text, patient_id=patient)])[0]]


def entry(**keys: object) -> str:
    """One recognizer that is right, but for some keys; None leaves a key out."""
    right = {
        "name": "badge",
        "label": "IDNUM",
        "pattern": r"\bK-\d{4}\b",
        "hits": ["badge [[K-1234]]"],
        "misses": ["badge K-9"],
    }
    return json.dumps({key: value for key, value in {**right, **keys}.items() if value is not None})


def listed(*entries: str) -> str:
    """Recognizers as YAML, of which JSON is a part."""
    return f'{{"recognizers": [{", ".join(entries)}]}}'


# Recognizers


def test_the_example_of_the_page_finds_what_the_shipped_patterns_do_not(files: DetectorSpec) -> None:
    text = f"{FOB} Moved to 4 Cedar overnight. The diet was advanced and well taken. As in 3 Maple syrup trials."
    assert found(replace(files, recognizers=None), text) == []
    assert found(files, text) == ["KX-204", "4 Cedar"]
    sources = [span.source for span in files.build().detect([Note("n", text)])[0]]
    assert sources == ["rules:site-key-fob", "rules:site-inpatient-unit"]


def test_a_name_that_a_recognizer_found_is_hidden_wherever_it_stands_and_never_given_back(tmp_path: Path) -> None:
    written = entry(label="PATIENT", pattern=r"(?:client|Client) (?P<value>\p{Lu}\p{L}{2,20})", hits=["client [[Bru]]"])
    (tmp_path / "own.yaml").write_text(listed(written), "utf-8")
    (tmp_path / "keep.txt").write_text("Babinski walks\n", "utf-8")
    spec = DetectorSpec("rules", recognizers=tmp_path / "own.yaml", keep=tmp_path / "keep.txt")
    assert found(spec, "client Babinski walks well. Babinski left.") == ["Babinski", "Babinski"]


@pytest.mark.parametrize("text", ["Fob KX-204\u200b", "fob # KX\u200b-204", "&#70;ob # KX-204"])
def test_disguises_and_escapes_do_not_help(files: DetectorSpec, text: str) -> None:
    assert [surface.replace("\u200b", "") for surface in found(files, text)] == ["KX-204"]


@pytest.mark.parametrize("label", ["STATE", "DOCTOR", "PROFESSION"])
@pytest.mark.parametrize("pattern", [r"\bMrs\. [A-Z][a-z]{3,9}\b", r"\b[A-Z][a-z]{3,9}\b"])
def test_a_recognizer_never_shows_a_patient_by_a_label_that_the_policy_keeps(
    tmp_path: Path, label: str, pattern: str
) -> None:
    hit = "[[Mrs. Okonkwo]] came" if "Mrs" in pattern else "Mrs. [[Okonkwo]] came"
    (tmp_path / "r.yaml").write_text(listed(entry(label=label, pattern=pattern, hits=[hit])))
    deid = load(policy="safe_harbor", recognizers=tmp_path / "r.yaml")
    shown = deid.redact("Mrs. Okonkwo came. Okonkwo was well. Patient: Jane Okonkwo.").text
    assert "Okonkwo" not in shown
    assert "[PATIENT]" in shown
    spec = DetectorSpec("rules", recognizers=tmp_path / "r.yaml")
    notes = [Note("a", "Patient: Jane Okonkwo.", patient_id="p"), Note("b", "Mrs. Okonkwo came.", patient_id="p")]
    (_, _), (_, second) = LocalEngine().detect_in_two_passes(spec, lambda: notes)
    assert [span.label.value for span in second.spans or ()] == ["PATIENT"]


def test_a_check_refuses_a_wrong_check_digit(tmp_path: Path) -> None:
    written = entry(pattern=r"\bQ-\d{4}\b", check="luhn", hits=["[[Q-4176]]"])
    (tmp_path / "own.yaml").write_text(listed(written), "utf-8")
    with pytest.raises(DeidError) as refused:
        DetectorSpec("rules", recognizers=tmp_path / "own.yaml").build()
    assert refused.value.ref == "own.yaml, recognizer badge: hit 1 is not found as it is marked"
    written = entry(pattern=r"\bQ-(?P<value>\d{4})\b", check="luhn", hits=["Q-[[4176]]"], misses=["Q-4171"])
    (tmp_path / "own.yaml").write_text(listed(written), "utf-8")
    assert found(DetectorSpec("rules", recognizers=tmp_path / "own.yaml"), "Shelf Q-4176 and Q-4178.") == ["4176"]


def test_the_page_names_every_check() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| `check` |"))
    assert set(re.findall(r"`(\w+)`", row)) == {"check", *CHECKS}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("- a: [", "own.yaml: it is not YAML without doubled keys"),
        ("a: 1\na: 2\n", "own.yaml: it is not YAML without doubled keys"),
        ("", "own.yaml: it is not a list under the key `recognizers`"),
        ("recognizers: []", "own.yaml: it is not a list under the key `recognizers`"),
        ("recognizers: [Quarmby]", "own.yaml, recognizer 1: it is not a mapping"),
        (listed(entry(), entry()), "own.yaml, recognizer badge: there are two of that name"),
        (listed(entry(name="Badge Quarmby")), "recognizer 1: its name is not of small letters, digits and hyphens"),
        (listed(entry(name=None)), "recognizer 1: name is missing"),
        (listed(entry(), entry(name="other", pattern=7)), "recognizer other: pattern is not a text"),
        (listed(entry(label="BADGE")), "its label is none of docs/policies.md"),
        (listed(entry(patern="x")), "there is no key patern"),
        (listed(entry(**{"Quarmby K-1": "x"})), "it has a key that there is not"),
        (listed(entry(check="nonesuch")), "its check is none of aadhaar,"),
        (listed(entry(near="moved")), "near is not a list of 1 to 50 texts"),
        (listed(entry(window=1000)), "window is not a number from 1 to 200"),
        (listed(entry(ignore_case="maybe")), "ignore_case is neither true nor false"),
        (listed(entry(hits=None)), "hits is not a list of 1 to 20 texts"),
        (listed(entry(misses=[])), "misses is not a list of 1 to 20 texts"),
        (listed(entry(hits=["K-1234 " * 50])), "hits holds something else than texts of at most 300 characters"),
        (listed(entry(hits=["badge K-1234"])), "hit 1 does not mark by [[ ]] what is hidden"),
        (listed(entry(hits=["[[K-1234]]", "[[badge K-1234]]"])), "hit 2 is not found as it is marked"),
        (listed(entry(hits=["[[K-1234]] K-1235"])), "hit 1 is not found as it is marked"),
        (listed(entry(hits=["badge\n\n[[K-1234]]"], near=["badge"])), "hit 1 is not found as it is marked"),
        (listed(entry(misses=["badge", "K-1235"])), "something is found in miss 2"),
        (listed(entry(pattern=r"\b(K-\d{4}")), "its pattern cannot be compiled at character"),
        (listed(entry(pattern=r"(?P<PATIENT>K-\d{4})")), "its pattern names a group"),
        (listed(entry(pattern=r"K-\d{4}|" + "x" * 500)), "its pattern is longer than 500 characters"),
        (listed(entry(pattern=r"(?:K-\d{4})?")), "its pattern matches an empty text"),
        (listed(entry(pattern=r"K-\d{4}|(?=badge)")), "its pattern matches an empty text"),
        (listed(entry(pattern=r"K-\d+")), "its pattern repeats something without an end"),
        (listed(entry(pattern=r"K-[\d*]*+")), "its pattern repeats something without an end"),
        (listed(entry(pattern=r"K-\d{4,}")), "its pattern repeats something without an end"),
        (listed(entry(pattern=r"K-\d{4}(?R)?")), "its pattern repeats something without an end"),
        (listed(entry(pattern=r"K-(?:\d{1,20}){1,20}(?!\d)(?=$)")), "its pattern lingers on some texts"),
        (listed(entry(pattern=r"K-(?:\d|\d\d){2,60}\b(?!\n)")), "its pattern lingers on some texts"),
    ],
)
def test_a_wrong_recognizer_refuses_the_file_by_name_and_reason(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(content, "utf-8")
    for use in (DetectorSpec.build, lambda s: s.detector_digest):
        with pytest.raises(DeidError) as refused:
            use(DetectorSpec("rules", recognizers=path))
        assert refused.value.code is Code.RECOGNIZERS_INVALID
        assert said in str(refused.value.ref)
        assert "Quarmby" not in str(refused.value)
        assert "K-1" not in str(refused.value)


@pytest.mark.parametrize(
    "pattern", [r"K-\d{4}\b[+*]?", r"(?i)\QK\E-[*+\]\d]{4}", r"K\-\d{4}(?:\+|\*)?+", r"K-[[:digit:]]{4}"]
)
def test_a_sign_in_a_class_or_behind_a_backslash_is_no_repeat(tmp_path: Path, pattern: str) -> None:
    pattern = pattern.replace(r"\QK\E", "K")
    (tmp_path / "own.yaml").write_text(listed(entry(pattern=pattern)), "utf-8")
    assert found(DetectorSpec("rules", recognizers=tmp_path / "own.yaml"), "badge K-1234") == ["K-1234"]


def test_a_pattern_that_lingers_on_a_note_never_passes_it_however_short_it_is(tmp_path: Path) -> None:
    # Slow behind "zz" alone, which no example shows.
    slow = r"K-\d{4}|zz(?:[b-y]{1,30}){1,30}!"
    (tmp_path / "own.yaml").write_text(listed(entry(pattern=slow)), "utf-8")
    detector = DetectorSpec("rules", recognizers=tmp_path / "own.yaml").build()
    with pytest.raises(DeidError) as failed:
        detector.detect([Note("n", "zz" + "b" * 60)])
    assert (failed.value.code, failed.value.ref) == (Code.DETECTOR_FAILED, "rules:site-badge")


# The allow list


def test_the_example_of_the_page_keeps_its_phrases_in_any_case_and_over_the_end_of_a_line(files: DetectorSpec) -> None:
    for text in (WARD, WARD.upper(), "Pt moved to Cooper\nWard overnight.", "Treated at Lakeview Commons."):
        assert found(files, text) == []
    assert found(replace(files, keep=None), WARD) == ["Cooper Ward"]
    for text in ("Transferred to Coopers Ward.", "Transferred to Cooper Ward North."):
        assert found(files, text) == found(replace(files, keep=None), text) != []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Patient: Cooper Ward",
            "Dr. Cooper Ward rounded.",
            "Cooper Ward, MD",
            "Mr. Cooper came. Moved to Cooper Ward.",
        ),
        *("Cooper Ward reports pain.", "Pt Cooper Ward denies pain.", "Seen with his wife Cooper Ward, who agrees."),
    ],
)
def test_a_phrase_stays_hidden_where_somebody_is_called_so(files: DetectorSpec, text: str) -> None:
    assert found(files, text) == found(replace(files, keep=None), text) != []


def test_what_another_note_of_the_patient_names_is_never_kept(files: DetectorSpec) -> None:
    notes = [Note(str(n), text, patient_id="P1") for n, text in enumerate(("Patient: Cooper Ward", WARD, WARD))]
    notes[2] = replace(notes[2], patient_id="P2")
    looked = [detection.spans for _, detection in LocalEngine().detect_in_two_passes(files, lambda: notes)]
    assert [bool(spans) for spans in looked] == [True, True, False]


@pytest.mark.parametrize(
    "topics",
    [
        Topics.of([Patient("P1", "Cooper", None, "Ward")]),
        Topics.of([], [], [Facility("F1", "Cooper Ward")]),
        Topics.of([Patient("P1", "Ann", None, "Quill"), Patient("P2", "Cooper", None, "Ward")]),
    ],
    ids=["the patient", "a facility", "another patient"],
)
def test_what_the_topics_name_is_never_kept(files: DetectorSpec, topics: Topics) -> None:
    assert found(replace(files, topics=topics), "Seen today. Cooper Ward is stable.", "P1") == ["Cooper Ward"]


def test_the_leak_check_withholds_a_kept_phrase_that_is_the_patient(files: DetectorSpec) -> None:
    """As if the roster had missed it: detection on the text alone, the leak check with the topics."""
    note, policy = Note("n", WARD, patient_id="P1"), load_policy("safe_harbor")
    patient = Patient("P1", "Cooper", None, "Ward")
    redaction = redact(note, files.build().detect([note])[0], policy)
    assert "Cooper Ward" in redaction.text
    leaks = LeakCheck.of(Topics.of([patient]), policy).check(note, [patient], redaction.text, redaction.applied)
    assert {LeakKind.FIRST_NAME, LeakKind.LAST_NAME} & {leak.kind for leak in leaks}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Cooper Ward\nBed 12\n", "keep.txt, line 2: a phrase with a digit"),
        ("# wards\n\nED\n", "keep.txt, line 3: a word of fewer than 3 letters"),
        ("--\n", "keep.txt, line 1: a word of fewer than 3 letters"),
        ("Smith\n", "keep.txt, line 1: a name of people or places alone"),
        *((f"{name}\n", "keep.txt, line 1: a name of people or places alone") for name in NAMES_ALONE),
        ("Denver\n", "keep.txt, line 1: a name of people or places alone"),
        (f"the {'long ' * 20}ward\n", "keep.txt, line 1: a phrase of more than 60 characters"),
        ("# nothing yet\n", "keep.txt: it holds no phrase"),
    ],
)
def test_a_phrase_that_is_too_wide_refuses_the_list_by_its_line(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "keep.txt").write_text(content, "utf-8")
    with pytest.raises(DeidError) as refused:
        DetectorSpec("rules", keep=tmp_path / "keep.txt").build()
    assert refused.value.code is Code.ALLOW_LIST_INVALID
    assert said in str(refused.value.ref)


# Digests, and each as a component of its own


def test_each_file_changes_the_digest_by_what_it_does_and_not_by_what_explains_it(files: DetectorSpec) -> None:
    def digest(recognizers: str, kept: str) -> str:
        Path(str(files.recognizers)).write_text(recognizers, "utf-8")
        Path(str(files.keep)).write_text(kept, "utf-8")
        return files.detector_digest

    first = digest(RECOGNIZERS, ALLOWED)
    same = [
        digest(f"# badges\n{RECOGNIZERS}", f"# more\n{ALLOWED.upper()}"),
        digest(RECOGNIZERS.replace("at night", "at noon"), ALLOWED),
    ]
    assert same == [first, first]
    others = [
        digest(RECOGNIZERS.replace("[moved, ", "[moved, sent, "), ALLOWED),
        digest(RECOGNIZERS, f"{ALLOWED}Cooper Pavilion\n"),
        replace(files, keep=None).detector_digest,
        replace(files, recognizers=None).detector_digest,
        DetectorSpec("rules").detector_digest,
    ]
    assert len({first, *others}) == 6


def test_an_ablation_shows_what_each_contributes(files: DetectorSpec, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    rows = [{"note_id": "1", "text": FOB, "spans": [[18, 24, "IDNUM"]]}, {"note_id": "2", "text": WARD, "spans": []}]
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    def scored(spec: DetectorSpec) -> tuple[float, float]:
        scores = score_file(GoldSet(gold), spec=spec, engine=LocalEngine(), resamples=2)
        return scores.recall.value, scores.precision.value

    assert scored(files) == (1, 1)
    assert scored(replace(files, recognizers=None))[0] == 0
    assert scored(replace(files, keep=None))[1] < 1


@pytest.mark.parametrize(("detector", "key"), [("roster", "recognizers"), ("patterns", "keep")])
def test_a_detector_that_would_not_use_a_file_says_so(files: DetectorSpec, detector: str, key: str) -> None:
    other = "keep" if key == "recognizers" else "recognizers"
    with pytest.raises(DeidError) as refused:
        replace(files, name=detector, **{other: None}).build()
    assert refused.value.code is Code.SETTINGS_INVALID
    assert str(refused.value.ref).startswith(f"detection.{key}: the detector {detector} has no ")


# By a person


def deid(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_redact_and_evaluate_take_both_files(files: DetectorSpec, tmp_path: Path) -> None:
    notes, out = tmp_path / "notes.jsonl", tmp_path / "out.jsonl"
    gold = {"note_id": "1", "text": f"{FOB} {WARD}", "spans": [[18, 24, "IDNUM"]]}
    notes.write_text(json.dumps(gold) + "\n", "utf-8")
    own = ("--detector", "rules", "--recognizers", files.recognizers, "--keep", files.keep)
    assert deid("redact", notes, "-o", out, "--columns", "spans=", *own).exit_code == 0
    assert json.loads(out.read_text("utf-8"))["text"] == f"Opened with fob # [IDNUM]. {WARD}"
    assert "1.000" in deid("evaluate", notes, *own).stdout
    over = deid("redact", notes, "-o", files.keep, "--columns", "spans=", *own)
    assert isinstance(over.exception, DeidError)
    assert over.exception.ref == "output is the input"
    gone = deid("redact", notes, "-o", out, "--recognizers", tmp_path / "gone.yaml")
    assert isinstance(gone.exception, DeidError)
    assert gone.exception.ref == "gone.yaml: it cannot be read"


@pytest.fixture
def config(files: DetectorSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes a deid.toml beside both files."""
    for name in ("DEID_SECRET", "DEID_SECRET_FILE", "DEID_WAREHOUSE_URL"):
        monkeypatch.delenv(name, raising=False)

    def write(detection: str) -> Path:
        path = tmp_path / "deid.toml"
        path.write_text(f'site = "north"\n[detection]\n{detection}\n', "utf-8")
        return path

    return write


def test_the_doctor_counts_both_and_names_what_is_wrong_with_them(
    config: Callable[[str], Path], files: DetectorSpec
) -> None:
    path = config('recognizers = "recognizers.yaml"\nkeep = "keep.txt"')
    said = next(found for found in examine(path) if found.subject == "detector")
    digests = [digest[:12] for digest in (files.site_recognizers().digest, files.allow_list().digest)]
    assert said.good
    assert said.detail.endswith(f", 2 recognizers of the site {digests[0]}, 2 phrases kept {digests[1]}")
    Path(str(files.keep)).write_text("Bed 12\n", "utf-8")
    said = next(found for found in examine(path) if found.subject == "detector")
    assert not said.good
    assert "allow-list-invalid [keep.txt, line 1: a phrase with a digit]" in said.detail


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("recognizers = 3", "detection.recognizers, line 3 (it has to be a path in quotes)"),
        ("keep = [\n  'a.txt',\n]", "detection.keep, line 3 (it has to be a path in quotes)"),
        ("workers = 1\nrecognisers = 'a.yaml'", "detection.recognisers, line 4 (there is no such key)"),
    ],
)
def test_deid_toml_names_key_and_line(config: Callable[[str], Path], written: str, said: str) -> None:
    with pytest.raises(DeidError) as refused:
        load_settings(config(written))
    assert refused.value.ref == said
