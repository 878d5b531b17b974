"""`deid evaluate --released`: every measure of a release by its texts, whoever made it, with gold and without."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import deid

from deid_platform.corpora.formats import gold_format
from deid_platform.corpora.gold import read_gold
from deid_platform.evaluation.release_measures import Figure, measures, of_shift
from deid_platform.evaluation.released.released import NoteRelease
from deid_platform.labels import Label
from deid_platform.notes import Note, Span
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.dates import DateShift

TEXT = "Ms. Ann Quillfeather met Dr. Alan Reed on 03/{}/2019 in Bam. She has type 2 diabetes mellitus. BP 120/80."
IDENTIFIERS = ("Ann Quillfeather", Label.PATIENT), ("Alan Reed", Label.DOCTOR), ("Bam", Label.CITY)
NOTES = 12


def text_of(number: int) -> str:
    return TEXT.format(10 + number)


def gold_of(number: int) -> list[list[object]]:
    text = text_of(number)
    places = [[text.index(it), text.index(it) + len(it), label.value] for it, label in IDENTIFIERS]
    at = text.index(f"03/{10 + number}")
    return [*places, [at, at + 10, "DATE"]]


def released(number: int) -> str:
    """The names are tagged, the date too; the town is left, and a third of the notes lose their diagnosis."""
    text = text_of(number).replace("Ann Quillfeather", "[NOME]").replace("Alan Reed", "[DOCTOR]")
    text = text.replace(f"03/{10 + number}/2019", "[DATA] [DATA]")
    return text.replace(" She has type 2 diabetes mellitus.", "") if number % 3 == 0 else text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    notes = [
        {"note_id": f"zeb{it}", "text": text_of(it), "patient_id": f"p{it}", "note_type": "visit"}
        for it in range(NOTES)
    ]
    write(tmp_path / "notes.jsonl", notes)
    write(tmp_path / "gold.jsonl", [{**note, "spans": gold_of(it)} for it, note in enumerate(notes)])
    # The last note was withheld.
    write(tmp_path / "out.jsonl", [{"note_id": f"zeb{it}", "text": released(it)} for it in range(NOTES - 1)])
    return tmp_path


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def figures(shown: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["measure"], row["category"]): row for row in map(json.loads, shown.splitlines())}


def evaluated(folder: Path, *arguments: str) -> dict[tuple[str, str], dict[str, Any]]:
    done = deid("evaluate", *arguments, "--json", "--resamples", "20", folder=folder)
    assert done.returncode == 0, done.stderr
    return figures(done.stdout)


def test_every_measure_of_a_file_of_released_texts(folder: Path) -> None:
    done = deid("evaluate", "gold.jsonl", "--released", "out.jsonl", "--json", "--resamples", "20", folder=folder)
    found = figures(done.stdout)
    assert "12 notes with released texts; withheld: 1" in done.stderr
    of = {key: (row["value"], row["n"]) for key, row in found.items()}
    # Residue: of four identifiers a note one is left; the patient's name is the only direct one.
    assert of["LR", "all"] == (0.75, 44)
    assert of["LR", "CITY"] == (0, 11)
    assert (of["LRDI", "direct identifiers"], of["LRQI", "quasi-identifiers"]) == ((1, 11), (pytest.approx(2 / 3), 11))
    assert 0 < of["ALID", "all"][0] < 1
    # Occurrences by the paper's categories: two tags for one date, and none for the town.
    assert of["occurrences, recall", "name"] == (1, 22)
    assert of["occurrences, precision", "date"] == (0.5, 22)
    assert of["occurrences, recall", "place"] == (0, 11)
    assert of["occurrences, f1", "all"] == (pytest.approx(2 * 33 / (2 * 33 + 11 + 11)), 44)
    # Tokens: Ann, Quillfeather, Alan, Reed, the date; Bam is missed; what was left out with the diagnosis is wrong.
    assert of["tokens, recall", "generous, providers counted"][0] == pytest.approx(5 / 6)
    assert of["tokens, recall", "generous, providers ordinary"][0] == pytest.approx(3 / 4)
    assert of["tokens, precision", "generous, providers counted"][0] == pytest.approx(55 / (55 + 4 * 6))
    length = "from 0 tokens to 249, generous, providers ordinary"
    assert of["tokens, f1", length] == of["tokens, f1", "generous, providers ordinary"]
    # A tag is no plausible name; nobody knows under which label a text alone replaced it.
    assert (of["replaced whole", "all"], of["replaced plausibly", "all"]) == ((0.75, 44), (0, 44))
    assert ("replaced under the right label", "all") not in found
    # Medicine.
    assert of["lexical retention", "all"] == (pytest.approx(7 / 11), 11), "a note is one chunk here"
    assert of["JSC", "all"] == (pytest.approx(7 / 11), 11)
    assert all(row["low"] <= row["value"] <= row["high"] for row in found.values() if row["low"] is not None)
    assert "zeb" not in done.stdout + done.stderr


def test_without_gold_what_needs_none(folder: Path) -> None:
    found = evaluated(folder, "notes.jsonl", "--released", "out.jsonl")
    assert {measure for measure, _ in found} == {"lexical retention", "JSC", "NSDCG"}
    assert found == {key: row for key, row in evaluated(folder, "gold.jsonl", "--released", "out.jsonl").items()
                     if key in found}  # fmt: skip


def test_a_task_is_learned_where_notes_have_types(folder: Path) -> None:
    rows = [
        {"note_id": f"n{it}", "text": f"{'Cough and fever.' if it % 2 else 'Hip fracture.'} Seen by Ann.",
         "patient_id": f"p{it}", "note_type": "lung" if it % 2 else "bone"}
        for it in range(24)
    ]  # fmt: skip
    write(folder / "typed.jsonl", rows)
    write(folder / "typed-out.jsonl", [{**row, "text": "Seen by [NAME]."} for row in rows])
    found = evaluated(folder, "typed.jsonl", "--released", "typed-out.jsonl")
    assert found["utility, raw", "note type"]["value"] == 1
    assert found["utility, most frequent class", "note type"]["value"] == 0.5
    assert found["utility, lost", "note type"]["value"] < 0


def test_a_detector_by_name_is_measured_by_what_it_releases(folder: Path) -> None:
    done = deid(
        *("evaluate", "gold.jsonl", "--detector", "patterns", "--policy", "safe_harbor", "--json"),
        *("--resamples", "20", "--save-released", "ours.jsonl"),
        folder=folder,
    )
    found = figures(done.stdout)
    assert "12 notes by patterns, policy safe_harbor; withheld: 0" in done.stderr
    assert found["LR", "DATE"]["value"] == 1
    assert found["replaced under the right label", "all"]["value"] <= found["replaced whole", "all"]["value"]
    # What was saved is read again, and measured alike but for what spans alone say.
    again = evaluated(folder, "gold.jsonl", "--released", "ours.jsonl")
    same = [key for key in found if key[0].startswith(("ALID", "LR", "occurrences", "lexical", "JSC", "NSDCG"))]
    assert [again[key] for key in same] == [found[key] for key in same]
    assert stat.S_IMODE((folder / "ours.jsonl").stat().st_mode) == 0o600


def test_surrogates_are_measured_as_replacements_and_by_what_is_left_of_their_shift(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEID_SECRET", "a key for these tests alone, 7f3a91c4")
    rows = [json.loads(line) for line in (folder / "gold.jsonl").read_text().splitlines()]
    write(folder / "dated.jsonl", [{**row, "note_date": "2019-03-15"} for row in rows])
    found = evaluated(folder, "dated.jsonl", "--detector", "patterns", "--policy", "surrogate")
    # Of 3/10, 3/11 and 3/12 nothing says which number is the day: they become tags, which are no dates.
    assert found["replaced validly", "DATE"]["value"] == 9 / 12
    bits = {it[1]: row["value"] for it, row in found.items() if it[0] == "bits of the date shift left"}
    assert bits["knowing nothing"] > 0 == bits["knowing its day"]


@pytest.mark.parametrize("form", ["i2b2", "brat"])
def test_originals_of_a_published_format(folder: Path, form: str) -> None:
    golds = read_gold(folder / "gold.jsonl", with_text=True)
    gold_format(form).write(golds, folder / "theirs")
    found = evaluated(folder, "theirs", "--released", "out.jsonl")
    assert (found["LR", "all"]["value"], found["LR", "all"]["n"]) == (0.75, 44)


@pytest.mark.process
def test_a_peer_is_measured_by_its_release_under_our_policy(folder: Path) -> None:
    stub = folder / "python"
    stub.write_text(
        f"#!{sys.executable} -B\nimport json, re, sys\nprint(json.dumps({{'ready': True}}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    found = [[(*m.span(), 'PERSON') for m in re.finditer('Ann Quillfeather', t)] for t in json.loads(line)]\n"
        "    print(json.dumps({'found': found, 'seconds': 0.5}), flush=True)\n"
    )
    stub.chmod(0o700)
    found = evaluated(folder, "gold.jsonl", "--detector", f"presidio:spacy:en=core={stub}")
    assert (found["LR", "PATIENT"]["value"], found["LR", "DOCTOR"]["value"]) == (1, 0)


def test_other_formats_are_written_released_and_compared(folder: Path) -> None:
    done = deid("evaluate", "gold.jsonl", "--write-formats", "formats", folder=folder)
    assert done.returncode == 0, done.stderr
    upper = [json.loads(line) for line in (folder / "formats" / "upper-case.jsonl").read_text().splitlines()]
    assert upper[0]["text"] == text_of(0).upper() and upper[0]["spans"] == sorted(gold_of(0))
    # A system that finds the town in capitals alone, and that finds everything else whatever the case.
    (folder / "released").mkdir()
    write(
        folder / "released" / "upper-case.jsonl",
        [{"note_id": it["note_id"], "text": it["text"].replace("BAM", "[CITY]").replace("ANN QUILLFEATHER", "[NAME]")}
         for it in upper],
    )  # fmt: skip
    write(
        folder / "mixed.jsonl",
        [{"note_id": it["note_id"], "text": text_of(number).replace("Ann Quillfeather", "[NAME]")}
         for number, it in enumerate(upper)],
    )  # fmt: skip
    found = evaluated(folder, "gold.jsonl", "--released", "mixed.jsonl", "--released-formats", "released")
    rows = {key: row for key, row in found.items() if key[0].startswith("stability")}
    assert set(rows) == {(f"stability, {it} difference", "upper case") for it in ("recall", "precision")}
    # Words: Ann, Quillfeather, Alan, Reed, the three parts of the date, Bam.
    assert rows["stability, recall difference", "upper case"]["value"] == pytest.approx(1 / 8)
    assert rows["stability, recall difference", "upper case"]["n"] == NOTES


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (("--released", "out.jsonl", "--misses", "m.jsonl"), 2, "cannot be combined with a release"),
        (("--released", "out.jsonl", "--detector", "rules"), 2, "cannot be combined with --released"),
        (("--save-released", "x.jsonl"), 2, "name --released, --policy"),
        (("--codes", "model"), 2, "name --released, --policy"),
        (("--released", "out.jsonl", "--token-prices", "dear"), 2, "two numbers"),
        (("--released", "none.jsonl"), 1, "feed-unreadable"),
        (("--released", "out.jsonl", "--save-released", "gold.jsonl"), 1, "input-invalid"),
        (("--released", "out.jsonl", "--save-released", "out.jsonl"), 1, "input-invalid"),
        (("--released", "gold-of-others.jsonl"), 1, "released-invalid [row 1: of no original]"),
        (("--detector", "chat:rewrite-one"), 1, "llm-missing"),
        (("--detector", "ruls"), 1, "detector-unknown"),
        (("--detector", "rules,ensemble", "--policy", "safe_harbor"), 2, "name one"),
    ],
)
def test_what_makes_no_sense_is_refused(folder: Path, options: tuple[str, ...], status: int, said: str) -> None:
    write(folder / "gold-of-others.jsonl", [{"note_id": "another", "text": "Well."}])
    done = deid("evaluate", "gold.jsonl", *options, folder=folder)
    assert done.returncode == status, done.stderr
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_all_withheld(folder: Path) -> None:
    write(folder / "none.jsonl", [{"note_id": "zeb0", "text": ""}])
    done = deid("evaluate", "gold.jsonl", "--released", "none.jsonl", folder=folder)
    assert (done.returncode, "withheld: 12" in done.stderr) == (3, True)


def test_known_spans_say_under_which_label_an_identifier_was_replaced() -> None:
    note = Note("n", "Seen by Ann Lee on Monday.")
    gold = (Span(8, 15, Label.PATIENT),)
    made = redact(note, [Span(8, 15, Label.DOCTOR)], load_policy("safe_harbor_plus_providers"))
    found = {it.measure: it for it in measures([NoteRelease(note, made.text, gold, made)], resamples=2)}
    assert found["replaced under the right label"] == Figure("replaced under the right label", "all", 0, n=1)


def test_what_is_left_of_a_shift_to_those_who_know_more() -> None:
    from datetime import date

    dated = [Note("n", "Well.", note_date=date(2020, 3, day)) for day in (2, 16)]
    found = {it.category: it.value for it in of_shift(DateShift.WEEKS, dated)}
    assert found["knowing its day"] == 0
    assert (
        (found["knowing nothing"] or 0) > (found["knowing its year"] or 0) > (found["knowing its month and year"] or 0)
    )
    assert list(of_shift(DateShift.WEEKS, [Note("n", "Well.")])) == []
