"""Sets of notes with gold are read and written note by note: what grows in memory are the ids alone."""

import subprocess
import sys
from pathlib import Path

import pytest

# A process that has done nothing else; its VmHWM is asked for, in kB, since ru_maxrss would be that of the process that
# started it, if that is the larger.
RUN = """
import re, sys
from pathlib import Path
from deid_platform.corpora.formats import gold_format
from deid_platform.corpora.gold import Gold
from deid_platform.labels import Label
from deid_platform.notes import Note, Span

name, path, notes = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])

def made():
    for i in range(notes):
        text = f"Ann {i} came.\\n" * 150
        spans = tuple(Span(at, at + 3, Label.PATIENT) for at in range(0, 1000, 50))
        yield Gold(f"n{i}", spans, (), Note(f"n{i}", text))

assert gold_format(name).write(made(), path) == notes
assert sum(len(gold.spans) for gold in gold_format(name).read(path, scheme="i2b2-2014")) == 20 * notes
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
# Measured: 0.3 to 0.5 kB a note, which is its id, and its file's name while a folder is listed. Were notes kept, each
# would take 4 kB more, for its text and its spans.
MOST_A_NOTE = 1.0  # kB


def peak(name: str, path: Path, notes: int) -> int:
    """The most memory that writing and reading so many notes takes, in kB."""
    done = subprocess.run([sys.executable, "-c", RUN, name, path, str(notes)], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc/self/status elsewhere")
@pytest.mark.parametrize(
    ("name", "path"),
    [("jsonl", "set.jsonl.gz"), ("conll", "set.conll"), ("i2b2", "set"), ("brat", "set")],
)
def test_memory_grows_by_the_ids_and_not_by_the_notes(name: str, path: str, tmp_path: Path) -> None:
    small, large = (peak(name, tmp_path / f"{notes}-{path}", notes) for notes in (500, 3_000))
    assert (large - small) / 2_500 < MOST_A_NOTE
