"""`deid redact` in a pipe and on plain text: what is read as what, and nothing shown that was not checked."""

from __future__ import annotations

import gzip
import json
import os
import pty
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import deid_in_a_pipe

DEID = Path(sys.executable).with_name("deid")
SEEN = "Seen by Dr. Alan Reed\r\non 03/04/2019.\n"
REDACTED = "Seen by Dr. [DOCTOR]\r\non [DATE 2019].\n"


def redact(*arguments: str | Path, stdin: str | bytes = b"") -> tuple[int, str, str]:
    """Exit status, standard output and standard error, code point by code point."""
    given = stdin if isinstance(stdin, bytes) else stdin.encode()
    return deid_in_a_pipe("redact", *map(str, arguments), given=given)


@pytest.mark.parametrize("output", [(), ("-o", "-"), ("-o", "/dev/stdout")])
def test_a_text_in_a_pipe_comes_out_redacted_and_as_it_was_between(output: tuple[str, ...]) -> None:
    status, shown, told = redact("-", *output, "--policy", "gdpr_it", stdin=SEEN)
    assert (status, shown) == (0, "Seen by Dr. [DOCTOR]\r\non [DATE].\n")
    assert "standard input was read as text" in told
    assert "Reed" not in told


def test_json_lines_in_a_pipe_come_out_as_json_lines() -> None:
    lines = "\n" + "".join(json.dumps({"note_id": key, "text": SEEN}) + "\n" for key in "ba")
    status, shown, told = redact("-", stdin=lines)
    assert status == 0, told
    rows = [json.loads(line) for line in shown.splitlines()]
    assert [row["note_id"] for row in rows] == ["b", "a"]
    assert {SEEN[start:end] for start, end, _ in rows[0]["spans"]} == {"Alan Reed", "03/04/2019"}


def test_notes_without_a_text_are_json_lines_all_the_same_and_refused() -> None:
    status, shown, told = redact("-", stdin=json.dumps({"note_id": "1", "NOTE_TXT": SEEN}))
    assert (status, shown) == (3, "")
    assert "1 row refused: empty_text, line 1" in told
    assert "--columns NOTE_TXT=text" in told


@pytest.mark.parametrize("text", ["{\\rtf1 Seen by Dr. Alan Reed}", "{ Seen by Dr. Alan Reed }", "[1] Dr. Alan Reed"])
def test_a_text_may_begin_like_no_json_object(text: str) -> None:
    status, shown, told = redact("-", stdin=text)
    assert (status, shown) == (0, text.replace("Alan Reed", "[DOCTOR]")), told


@pytest.mark.parametrize("place", ["-", "notes.txt", "notes.txt.gz"])
@pytest.mark.parametrize(
    "rows",
    [
        "note_id;patient_id;text;last_name\nn1;P001;Pt well;OKONKWO\n",
        "\ufeff\nNOTE_ID|PATIENT_ID|NOTE_TEXT\r\nn1|OKONKWO|Pt well\r\n",
        '[{"note_id": "n1", "text": "Pt well", "mother": "OKONKWO"}]\n',
        '{"note_id": "n1", "text": "Pt well", "mother": "OKONKWO"}\n',
    ],
)
def test_a_table_without_a_name_that_says_so_is_not_shown_as_a_text(tmp_path: Path, place: str, rows: str) -> None:
    source = place if place == "-" else tmp_path / place
    if place != "-":
        content = rows.encode()
        (tmp_path / place).write_bytes(gzip.compress(content) if place.endswith(".gz") else content)
    _, shown, told = redact(source, "-o", "-", stdin=rows)
    assert "was read as " in told
    assert "OKONKWO" not in shown + told


@pytest.mark.parametrize("text", ["Text, language and speech are normal.\n", "site, date\n", '"Well," she says\n'])
def test_a_text_may_begin_with_commas(text: str) -> None:
    assert redact("-", stdin=text)[:2] == (0, text)


def test_the_format_may_be_said() -> None:
    table = "note_id,text\r\nn1,Seen by Dr. Alan Reed\r\n"
    _, shown, told = redact("-", "--format", "csv", stdin=table)
    assert json.loads(shown) == {"note_id": "n1", "text": "Seen by Dr. [DOCTOR]", "spans": [[12, 21, "DOCTOR"]]}
    assert "was read as" not in told
    _, shown, _ = redact("-", "--format", "text", stdin='{"Seen": "by Dr. Alan Reed"}\n')
    assert shown == '{"Seen": "by Dr. [DOCTOR]"}\n'


@pytest.mark.parametrize("name", ["letter.txt", "letter.txt.gz", "letter"])
def test_a_text_file_is_one_note(tmp_path: Path, name: str) -> None:
    content = SEEN.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    said = ("--format", "text") if name == "letter" else ()
    status, shown, told = redact(tmp_path / name, "-o", tmp_path / "out.txt", *said)
    assert (status, shown) == (0, ""), told
    assert (tmp_path / "out.txt").read_bytes().decode() == REDACTED
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o600


def test_a_text_that_leaks_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("patient_id,first_name,last_name\np1,Ann,Quillfeather\n")
    (tmp_path / "letter.txt").write_text("the ann quillfeather chart")
    known = ("--patients", tmp_path / "patients.csv", "--detector", "patterns", "--policy", "safe_harbor")
    for source in ("-", tmp_path / "letter.txt"):
        status, shown, told = redact(source, "-o", "-", *known, stdin="the ann quillfeather chart")
        assert (status, shown) == (3, "")
        assert "1 note withheld: leak-" in told
        assert "quillfeather" not in told


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 1, "input-empty [notes]"),
        (b" \n\n", 1, "input-empty [notes]"),
        (b"Seen by Jos\xe9 Reed", 3, "1 row refused: invalid_utf8, line 1"),
        (b"Seen by \0 Reed", 3, "1 row refused: nul_character, line 1"),
        (b"x" * 4 * 10**7, 3, "1 row refused: text_too_long, line 1"),
        (gzip.compress(b"Seen by Dr. Alan Reed", mtime=0), 3, "1 row refused: invalid_utf8, line 1"),
    ],
)
def test_what_is_no_text_is_refused_and_shows_nothing(content: bytes, status: int, code: str) -> None:
    found, shown, told = redact("-", stdin=content)
    assert (found, shown) == (status, "")
    assert code in told
    assert "Reed" not in told


def test_two_texts_share_neither_date_shift_nor_surrogates(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("6d1f0c8a94e7b25310fd86a2c7e95b40")
    options = ("--policy", "surrogate", "--secret-file", tmp_path / "key")
    shown = []
    for letter in "AB":
        text = f"Patient: Ann Quillfeather, seen 3/4/2019. Letter {letter}."
        (tmp_path / "letter.txt").write_text(text)
        status, made, told = redact("-", *options, stdin=text)
        assert (status, redact(tmp_path / "letter.txt", "-o", "-", *options)[1]) == (0, made), told
        shown.append(made.split(". Letter")[0].split(", seen "))
    (one, day), (other, other_day) = shown
    assert one != other
    assert day != other_day


def test_an_output_is_asked_for_where_the_notes_are_a_file(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text(SEEN)
    status, shown, told = redact(tmp_path / "letter.txt")
    assert (status, shown) == (2, "")
    assert "--output" in told


@pytest.mark.process
def test_the_output_may_not_replace_the_file_behind_standard_input(tmp_path: Path) -> None:
    notes = tmp_path / "letter.txt"
    notes.write_bytes(SEEN.encode())
    with notes.open() as stdin:
        command = [str(DEID), "redact", "-", "-o", str(notes)]
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "input-invalid [output is the input]" in done.stderr
    assert notes.read_bytes() == SEEN.encode()


def test_the_output_may_not_replace_the_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("6d1f0c8a94e7b25310fd86a2c7e95b40")
    monkeypatch.setenv("DEID_SECRET_FILE", str(tmp_path / "key"))
    status, shown, told = redact("-", "-o", tmp_path / "key", stdin=SEEN)
    assert (status, shown) == (1, "")
    assert "input-invalid [output is the input]" in told
    assert (tmp_path / "key").read_text() == "6d1f0c8a94e7b25310fd86a2c7e95b40"


@pytest.mark.process
def test_a_socket_is_an_output_too() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        subprocess.run([str(DEID), "redact", "-"], input=SEEN.encode(), stdout=theirs, capture_output=False, check=True)
        theirs.close()
        assert ours.recv(1000).decode() == REDACTED


@pytest.mark.process
def test_a_terminal_is_input_and_output() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "r+b", buffering=0) as screen:
        with subprocess.Popen(
            [str(DEID), "redact", "-"], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE
        ) as running:
            os.close(theirs)
            screen.write(b"Seen by Dr. Alan Reed\n\x04")
            assert running.wait() == 0, running.stderr
        assert b"Seen by Dr. [DOCTOR]" in screen.read(1000)


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="files need a name here")
def test_standard_input_lies_in_no_folder_while_it_is_worked_on(tmp_path: Path) -> None:
    kept = tmp_path / "tmp"
    kept.mkdir()
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "pipe")
    environment = {**os.environ, "TMPDIR": str(kept)}
    command = [str(DEID), "redact", "-", "-o", str(tmp_path / "pipe")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
        assert running.stdin
        running.stdin.write(SEEN.encode() * 100)
        running.stdin.close()
        # It has read all and opens the pipe, which nobody reads yet.
        with (tmp_path / "pipe").open() as pipe:
            assert not list(kept.iterdir())
            assert "Reed" not in pipe.read()
    assert not list(kept.iterdir())
    assert not list((tmp_path / "out").iterdir())
