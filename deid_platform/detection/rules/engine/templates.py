"""A cache for recurring text: each paragraph is searched once, and its candidates are reused for every copy.

Belongs here: splitting a note into paragraphs and the bounded cache of their candidates. Does not belong here:
recognition (`recognizer.py`), or anything that needs more than one paragraph.

The candidates of a paragraph depend only on its text and its language, so a cached result equals a new one. The cache
holds keyed digests and spans, no text. A paragraph ends at a blank line, but not after a colon or a comma: what follows
"Sincerely," or "Patient:" belongs to it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_bytes

import regex

from deid_platform.detection.api import Candidate

_BLANK_LINE = regex.compile(r"(?<![,:]\s{0,12})(?>\r\n|\r|\n)(?:[ \t]*(?>\r\n|\r|\n))+")
CAPACITY = 8_000_000
"""Code points of text whose verdicts are remembered: some thousand pages."""
LONGEST = 20_000
"""Code points of the longest paragraph that is remembered: a longer one is no template."""
_LEAST = 400  # an entry costs as much memory as the digest and spans of so much text


@dataclass(frozen=True, slots=True)
class TemplateCounts:
    """How much text was recognised and how much was remembered.

    Attributes:
        paragraphs: Paragraphs seen.
        reused: Paragraphs of them whose verdict was remembered.
        characters: Code points seen.
        characters_reused: Code points of remembered paragraphs.
        seconds: Seconds that recognising the others took.
    """

    paragraphs: int = 0
    reused: int = 0
    characters: int = 0
    characters_reused: int = 0
    seconds: float = 0.0

    def __add__(self, other: TemplateCounts) -> TemplateCounts:
        return TemplateCounts(
            self.paragraphs + other.paragraphs,
            self.reused + other.reused,
            self.characters + other.characters,
            self.characters_reused + other.characters_reused,
            self.seconds + other.seconds,
        )

    def since(self, earlier: TemplateCounts) -> TemplateCounts:
        """What has been counted after an earlier state of the same counter."""
        return TemplateCounts(
            self.paragraphs - earlier.paragraphs,
            self.reused - earlier.reused,
            self.characters - earlier.characters,
            self.characters_reused - earlier.characters_reused,
            self.seconds - earlier.seconds,
        )

    @property
    def share(self) -> float:
        """Share of all characters that were not recognised anew."""
        return self.characters_reused / self.characters if self.characters else 0.0

    @property
    def seconds_saved(self) -> float:
        """About how many seconds recognising the remembered text would have taken, at the speed of the rest."""
        recognised = self.characters - self.characters_reused
        return self.seconds * self.characters_reused / recognised if recognised else 0.0


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """The paragraphs of a text, as offsets; blank lines belong to none."""
    start = 0
    for gap in _BLANK_LINE.finditer(text):
        if gap.start() > start:
            yield start, gap.start()
        start = gap.end()
    if start < len(text):
        yield start, len(text)


class Verdicts:
    """What was found in the paragraphs seen last, by a keyed digest of their text.

    Args:
        capacity: Code points of text whose verdicts are kept; 0 remembers nothing.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._held = 0
        self._known: OrderedDict[bytes, tuple[int, tuple[Candidate, ...]]] = OrderedDict()
        # A plain digest of a short paragraph can be guessed; this key never leaves the process.
        self._key = token_bytes(32)

    def __repr__(self) -> str:
        return "<Verdicts>"

    def digest(self, text: str, language: str) -> bytes:
        """Names a paragraph."""
        return blake2b(f"{language}\n{text}".encode("utf-8", "surrogatepass"), digest_size=16, key=self._key).digest()

    def get(self, digest: bytes) -> tuple[Candidate, ...] | None:
        """The spans of a paragraph, relative to its start; None if it is not remembered."""
        known = self._known.get(digest)
        if known is None:
            return None
        self._known.move_to_end(digest)
        return known[1]

    def put(self, digest: bytes, length: int, spans: tuple[Candidate, ...]) -> None:
        """Remembers the spans of a paragraph of that many code points, and forgets what was used longest ago."""
        if length > LONGEST or digest in self._known:
            return
        weight = max(length, _LEAST)
        self._held += weight
        self._known[digest] = (weight, spans)
        while self._held > self._capacity:
            _, (weight, _) = self._known.popitem(last=False)
            self._held -= weight
