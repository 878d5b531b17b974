"""What a file system says of files: by it, a file that was read before is known to be the same without being read.

Belongs here: which file systems are believed, and what of their words must be the same. Does not belong here: what is
remembered of files that were read, or for how long a file must have been left alone (`refresh/intake/file_digests.py`).

Size and time of change can be set by whoever may write a file. The time at which its inode changed (ctime) cannot: it
tells every write, but not what the calls for defragmenting exchange between two files (`EXT4_IOC_MOVE_EXT`,
`XFS_IOC_SWAPEXT`), which whoever may write both can misuse. Only file systems that keep ctime and the inode's number
are believed: ext, XFS, and NFS as far as its server does. FAT keeps neither; in SMB, a client may set both times; an
overlay, Btrfs and what runs in user space go by devices that the list of mounts does not name. A file of a tmpfs that
is mapped into memory changes without any time being told. Of a mount with `lazytime`, a crash may take back a time and
leave what was written.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

BELIEVED = frozenset({"ext2", "ext3", "ext4", "xfs", "nfs", "nfs4"})
_MOUNTS = Path("/proc/self/mountinfo")
_DEVICE = re.compile(r"\d+ \d+ (\d+):(\d+) ")


@dataclass(frozen=True)
class FileStates:
    """What is said of some files; where it is the same once more, so are their bytes.

    Attributes:
        parts: Of every file its name, what it is read as, size, times, inode, device and file system. PHI zone only: a
            name may be a patient's.
        changed_ns: When the last of them changed, in ns since the epoch, by the clock of the file system.
    """

    parts: tuple[str, ...] = field(repr=False)
    changed_ns: int


def states_of(folder: Path, files: Mapping[str, str]) -> FileStates | None:
    """What is said of files in a folder; none of them is opened.

    Args:
        folder: Where they are.
        files: Their names -> what they are read as.

    Returns:
        None if one is gone, is no plain file, or lies where what is said is not believed.
    """
    systems = _file_systems()
    parts: list[str] = []
    changed = 0
    for name, read_as in files.items():
        try:
            found = (folder / name).stat()
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode) or (system := systems.get(found.st_dev)) is None:
            return None
        numbers = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)
        parts += (name, read_as, *map(str, numbers), system)
        changed = max(changed, found.st_mtime_ns, found.st_ctime_ns)
    return FileStates(tuple(parts), changed)


def _file_systems() -> dict[int, str]:
    """Each device whose file system is believed, with the system's kind and source; none where nothing tells."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return {}
    believed: dict[int, str] = {}
    for line in lines:
        # Before the dash: numbers, device, place and options of the mount; after it: kind, source, options of all.
        mount, _, system = line.partition(" - ")
        kind, _, rest = system.partition(" ")
        device = _DEVICE.match(mount)
        if device and kind in BELIEVED and "lazytime" not in re.split("[ ,]", line):
            believed[os.makedev(int(device[1]), int(device[2]))] = f"{kind} {rest.partition(' ')[0]}"
    return believed
