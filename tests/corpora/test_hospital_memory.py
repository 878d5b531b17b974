"""The hospital is written note by note: what grows in memory with a hundred thousand of them are the patients."""

import subprocess
import sys
from pathlib import Path

import pytest

# What `deid hospital` does, in a process that has done nothing else. Its VmHWM is asked for, in kB, since ru_maxrss
# would be that of the process that started it, if that is the larger.
WRITE = """
import re, sys
from pathlib import Path
from deid_platform.corpora.hospital import HospitalSpec, write

root, notes = Path(sys.argv[1]), int(sys.argv[2])
write(HospitalSpec(notes=notes), feed_root=root / "feed", gold_root=root / "gold")
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
# Measured: 43 MB for 1,000 notes, 54 for 16,000: 0.7 kB a note, which is patients, a quarter as many.
# Were notes kept, each would take some kB more, for its text and its gold.
MOST_A_NOTE = 1.5  # kB


def peak(root: Path, notes: int) -> int:
    """The most memory that writing so many notes takes, in kB."""
    done = subprocess.run([sys.executable, "-c", WRITE, str(root), str(notes)], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there is no /proc/self/status elsewhere")
def test_memory_grows_by_the_patients_and_not_by_the_notes(tmp_path: Path):
    small, large = (peak(tmp_path / str(notes), notes) for notes in (2_000, 10_000))
    assert (large - small) / 8_000 < MOST_A_NOTE
    # So a hundred thousand fit into a quarter of a gigabyte.
    assert large + (100_000 - 10_000) * MOST_A_NOTE < 256 * 1024
