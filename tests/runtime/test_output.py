"""Where a command writes: files whole or not at all, links and devices as what they are."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from deid_platform.errors import Code, DeidError
from deid_platform.runtime.output import Output


def write(target: Path, text: str = "new\n") -> None:
    with Output.at(target).opened() as lines:
        lines.write(text)


def test_a_file_is_private_and_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("old\n")
    before = target.stat().st_ino
    output = Output.at(target)

    def interrupted() -> None:
        with output.opened() as lines:
            lines.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.jsonl", "old\n")]
    write(target)
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new\n", 0o600)
    assert target.stat().st_ino != before


def test_two_at_once_write_each_their_own(tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    with Output.at(target).opened() as one:
        one.write("one\n")
        with Output.at(target).opened() as other:
            other.write("other\n")
        assert target.read_text() == "other\n"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.jsonl", "one\n")]


@pytest.mark.parametrize("trap", ["a link", "a file that others read"])
def test_what_waits_at_the_place_of_the_temporary_file_is_not_written_to(tmp_path: Path, trap: str) -> None:
    output = Output.at(tmp_path / "out.jsonl")
    assert output.temporary is not None
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("old\n")
    if trap == "a link":
        output.temporary.symlink_to(elsewhere)
    else:
        elsewhere.chmod(0o644)
        output.temporary.hardlink_to(elsewhere)
    with pytest.raises(DeidError) as error, output.opened():
        pass
    assert error.value.code is Code.OUTPUT_UNUSABLE
    assert elsewhere.read_text() == "old\n"
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, there: bool) -> None:
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "out.jsonl"
    if there:
        target.write_text("old\n")
    (tmp_path / "link").symlink_to(Path("far") / "out.jsonl")
    (tmp_path / "link of a link").symlink_to(tmp_path / "link")
    write(tmp_path / "link of a link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "link of a link").is_symlink()
    assert target.read_text() == "new\n"
    assert [path.name for path in (tmp_path / "far").iterdir()] == ["out.jsonl"]


def test_a_device_is_written_to_and_stays_one(tmp_path: Path) -> None:
    write(Path(os.devnull))
    (tmp_path / "nowhere").symlink_to(os.devnull)
    write(tmp_path / "nowhere")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["nowhere"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writing = threading.Thread(target=write, args=(pipe,))
    writing.start()
    assert pipe.read_text() == "new\n"
    writing.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_pipe_that_nobody_reads_any_more_is_told_by_its_code() -> None:
    reader, writer = os.pipe()
    output = Output.at(Path(f"/proc/self/fd/{writer}"))
    with pytest.raises(DeidError) as error, output.opened() as lines:
        os.close(reader)
        lines.write("new\n")
    os.close(writer)
    assert error.value.code is Code.OUTPUT_UNUSABLE


def test_what_is_open_already_is_added_to(tmp_path: Path) -> None:
    """As `deid redact -o /dev/stdout >> all.jsonl` means it."""
    collected = tmp_path / "all.jsonl"
    collected.write_text("old\n")
    with collected.open("a") as file:
        write(Path(f"/proc/self/fd/{file.fileno()}"))
        file.write("after\n")
    assert collected.read_text() == "old\nnew\nafter\n"


@pytest.mark.parametrize("kind", ["a folder", "a link to a folder", "no such folder", "a circle of links", "a socket"])
def test_what_cannot_be_written_is_refused_by_its_code(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "out"
    match kind:
        case "a folder":
            target.mkdir()
        case "a link to a folder":
            target.symlink_to(tmp_path)
        case "no such folder":
            target = tmp_path / "none" / "out"
        case "a circle of links":
            target.symlink_to(target)
        case _:
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(str(target))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DeidError) as error:
        write(target)
    assert error.value.code is Code.OUTPUT_UNUSABLE
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.process
def test_redacted_notes_go_to_the_standard_output(tmp_path: Path) -> None:
    notes = tmp_path / "notes.jsonl"
    notes.write_text('{"note_id": "a", "text": "seen on 3/14/2019"}\n')
    deid = Path(sys.executable).with_name("deid")
    done = subprocess.run(
        [str(deid), "redact", str(notes), "-o", "/dev/stdout"], capture_output=True, text=True, check=True
    )
    assert '"seen on [DATE 2019]"' in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["notes.jsonl"]
