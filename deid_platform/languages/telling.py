"""Which languages a note is written in, told from its text.

Belongs here: the passages of a text, the language of each, and letters of other scripts. Does not belong here: which
languages a detector was measured in (`shipped.py`, `refresh/recipe/languages.py`), or what becomes of a note in
another.

The library py3langid scores a passage by sequences of letters. A language other than the likely ones (the declared one,
those that the platform ships with) has to win by `_MARGIN`: tables, lists of drugs and addresses have few words of any
language, and stay with the note. `benchmarks/languages.py` measures both kinds of error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import regex

from deid_platform.languages import ISO_639_1, UNDETERMINED, released_language
from deid_platform.languages.model import language_model
from deid_platform.languages.shipped import SHIPPED
from deid_platform.text import readable
from deid_platform.text.deobfuscate import deobfuscate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from py3langid.langid import LanguageIdentifier

UNKNOWN = "mis"
"""Written in a script of which the library knows no language."""
MOST_LETTERS = 200
"""Letters in another language that a note may hold, about three sentences: a quotation, an address, a literature list.

What is as short is not told apart for certain, and of a whole sentence a detector finds names by their shapes and
lists. From the next sentence on, nobody has measured what it leaves.
"""
MOST_OF_NOTE = 1 / 3
"""The same of a short note, as a share of its letters."""
_FEWEST_LETTERS = 20
"""Of fewer, the language is what the source says."""
_PASSAGE_LETTERS = 60
"""Letters by which a language is told well; lines in turns of two languages are told by lines of the fewest."""
_LONGEST_PASSAGE, _LONGEST_WORD = 200, 100
"""Characters after which a passage ends at the next blank, and where it ends if none comes."""
_ENOUGH_OF_SCRIPT = 2_000
_MARGIN = 3.0
"""By how much the score of another language must be higher, over the square root of the passage's length."""
_SPARED_LETTERS = 2
"""Greek and Cyrillic letters in a row that are signs: "beta blocker" with a Greek letter, "gamma-delta T cells"."""
_NO_SCORE, _WORST = -1e30, -1e4

# Sign languages of the library with no code of two letters, and languages that no notes are written in or that are so
# close to one of the shipped ones that tables of drugs and numbers would be theirs.
_NEVER = frozenset("an br co eo fo gd la oc sa se vo wa".split())  # noqa: SIM905
_SAME = {"arz": "ar", "ary": "ar", "wuu": "zh", "yue": "zh", "nn": "no", "grc": "el", "hbo": "he"}
_ASKED = frozenset(ISO_639_1) - _NEVER | _SAME.keys()
_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "Han": ("zh", "ja"),
    "Hiragana": ("ja",),
    "Katakana": ("ja",),
    "Hangul": ("ko",),
    "Thai": ("th",),
    "Lao": ("lo",),
    "Khmer": ("km",),
    "Myanmar": ("my",),
    "Greek": ("el",),
    "Cyrillic": ("ru", "uk", "bg", "be", "sr", "mk", "kk", "ky", "mn", "tg", "tt", "ba", "uz"),
    "Arabic": ("ar", "fa", "ur", "ps", "ku", "ug"),
    "Hebrew": ("he",),
    "Devanagari": ("hi", "mr", "ne"),
    "Bengali": ("bn", "as"),
    "Gurmukhi": ("pa",),
    "Gujarati": ("gu",),
    "Oriya": ("or",),
    "Tamil": ("ta",),
    "Telugu": ("te",),
    "Kannada": ("kn",),
    "Malayalam": ("ml",),
    "Sinhala": ("si",),
    "Georgian": ("ka",),
    "Armenian": ("hy",),
    "Ethiopic": ("am",),
}
_FOREIGN = regex.compile(r"(?:(?![\p{Latin}\p{Common}\p{Inherited}])[\p{L}\p{M}])+")
_NO_LETTERS = bytes(it for it in range(256) if not (0x41 <= it <= 0x5A or 0x61 <= it <= 0x7A or it >= 0xC0))
_NO_CAPITALS = bytes(it for it in range(256) if not 0x41 <= it <= 0x5A)
_PASSAGE_ENDS = regex.compile(
    r"[.!?;:](?=\s)|\.(?=\p{Lu}\p{Ll})|[。！？।॥؟]|[\n\r\v\f\x85\u2028\u2029]"
    r"|<(?i:br|/?p|/?div|/li|/td|/tr)\b[^<>]{0,80}>|\\\.br\\"
)
_BLANK = regex.compile(r"\s")
_OF_SCRIPT = {name: regex.compile(rf"\p{{{name}}}") for name in _SCRIPTS}
_LOOKALIKES = ("Greek", "Cyrillic")


class Told(NamedTuple):
    """The languages of a note, as ISO 639-1 codes or `mis`.

    Attributes:
        main: The one that most of it is written in; `und` where too little is written and the source says none.
        others: Those of which it holds more than `MOST_LETTERS` letters, or any word in another script.
    """

    main: str
    others: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Every language that can be told."""
        return tuple(code for code in (self.main, *self.others) if code != UNDETERMINED)


def languages_of(text: str, declared: str = "") -> Told:
    """Which languages a text is written in.

    Args:
        text: As its source wrote it.
        declared: What the source says, a hint: it is believed where the text is too short to tell, or tells nothing
            else.
    """
    shown = deobfuscate(readable(text).text).text
    hint = released_language(declared)
    scripts = {} if shown.isascii() else _other_scripts(shown)
    passages = [_scores(passage) for passage in _passages(shown, _PASSAGE_LETTERS)]
    letters = sum(passage.letters for passage in passages)
    if letters < _FEWEST_LETTERS:
        main = next(iter(scripts), hint)
        return Told(main, tuple(code for code in scripts if code != main))
    likely = (hint, *SHIPPED)
    first, *rest = passages
    total = _Scored("", letters, sum(it.bytes for it in passages), sum((it.scores for it in rest), start=first.scores))
    main = _likeliest(total, likely)
    scored = {passage.text: passage for passage in passages}
    lines = [scored.get(it[0]) or _scores(it) for it in _passages(shown, _FEWEST_LETTERS)]
    likely, most = (main, *likely), min(MOST_LETTERS, letters * MOST_OF_NOTE)
    written = {*_also_in(passages, likely, most), *_also_in(lines, likely, max(most, _PASSAGE_LETTERS))}
    return Told(main, tuple(sorted(written | {code for code in scripts if not _writes(main, code)})))


def _also_in(parts: Sequence[_Scored], likely: tuple[str, ...], most: float) -> Iterator[str]:
    """Languages other than the first likely one that more letters are in than a quotation has at most."""
    others: Counter[str] = Counter()
    for part in parts:
        if part.letters >= _FEWEST_LETTERS:
            others[_likeliest(part, likely)] += part.letters
    yield from (code for code, many in others.items() if code != likely[0] and many > most)


class _Scored(NamedTuple):
    """A passage with the score of each language of `_model`."""

    text: str
    letters: int
    bytes: int
    scores: NDArray[np.float32]


def _likeliest(scored: _Scored, likely: tuple[str, ...]) -> str:
    """The language of the highest score, or the first likely one that comes near; of the shipped ones, the nearest."""
    codes, places, _ = _model()
    best = codes[int(scored.scores.argmax())]
    least = float(scored.scores.max()) - _MARGIN * sqrt(scored.bytes)
    first, *shipped = likely
    near = {code: float(scored.scores[places[code]]) for code in likely if code in places}
    if near.get(first, least) > least:
        return first
    nearest = max(shipped, key=lambda code: near.get(code, least))
    return nearest if near.get(nearest, least) > least else best


def _scores(passage: tuple[str, int]) -> _Scored:
    text, letters = passage
    _, places, identifier = _model()
    scores = identifier._decide(text)
    best = scores.max()
    scores = scores - best if best > _NO_SCORE else scores * 0  # of no sequence that it knows
    for label, code in _SAME.items():
        scores[places[code]] = max(scores[places[code]], scores[places[label]])
        scores[places[label]] = _WORST
    scores[scores < _WORST] = _WORST
    return _Scored(text, letters, len(text.encode()), scores)


def _passages(text: str, least: int) -> Iterator[tuple[str, int]]:
    """Sentences and lines of so many letters or more, shorter ones together, with their letters.

    What has no end for long ends at a blank: of two languages in one passage, one hides the other.
    """
    start = 0
    for end in (*(found.end() for found in _PASSAGE_ENDS.finditer(text)), len(text)):
        while end - start > _LONGEST_PASSAGE + _LONGEST_WORD:
            blank = _BLANK.search(text, start + _LONGEST_PASSAGE, start + _LONGEST_PASSAGE + _LONGEST_WORD)
            cut = blank.end() if blank else start + _LONGEST_PASSAGE + _LONGEST_WORD
            if letters := _letters(text[start:cut]):
                yield _plain(text[start:cut]), letters
            start = cut
        letters = _letters(text[start:end])
        if letters >= least or end == len(text):
            if letters:
                yield _plain(text[start:end]), letters
            start = end


def _plain(passage: str) -> str:
    """A passage in small letters where it is mostly in capitals: the library was trained on sentences."""
    capitals = len(passage.encode("ascii", "ignore").translate(None, _NO_CAPITALS))
    return passage.lower() if 2 * capitals > _letters(passage) else passage


def _letters(passage: str) -> int:
    """How many letters it has; signs beyond ASCII count as letters."""
    return len(passage.encode("utf-8", "replace").translate(None, _NO_LETTERS))


def _other_scripts(text: str) -> dict[str, int]:
    """Letters in words of scripts other than the Latin one, by language; single signs and disguises left out."""
    by_script: Counter[str] = Counter()
    words: dict[str, list[str]] = {}
    for found in _FOREIGN.finditer(text):
        word = found.group()
        script = next((name for name, sign in _OF_SCRIPT.items() if sign.match(word)), UNKNOWN)
        if script in _LOOKALIKES and len(word) <= _SPARED_LETTERS:
            continue
        by_script[script] += len(word)
        words.setdefault(script, []).append(word)
    told: Counter[str] = Counter()
    for script, many in by_script.items():
        told[_language_in(script, " ".join(words[script]))] += many
    return dict(told.most_common())


def _language_in(script: str, words: str) -> str:
    codes = _SCRIPTS.get(script, (UNKNOWN,))
    if len(codes) == 1:
        return codes[0]
    scores, (_, places, _) = _scores((words[:_ENOUGH_OF_SCRIPT], len(words))).scores, _model()
    return max((code for code in codes if code in places), key=lambda code: float(scores[places[code]]))


def _writes(main: str, other: str) -> bool:
    """Whether both are written in one script, so that a word of it needs no second language."""
    return (
        main == other or any({main, other} <= {*codes} for codes in _SCRIPTS.values()) or {main, other} == {"ja", "zh"}
    )


@cache
def _model() -> tuple[list[str], dict[str, int], LanguageIdentifier]:
    """The library's languages, their places in a row of scores, and its model."""
    identifier = language_model(_ASKED)
    labels: list[str] = list(identifier.nb_classes)
    return labels, {label: labels.index(label) for label in labels}, identifier
