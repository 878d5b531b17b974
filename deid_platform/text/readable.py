"""The chain of decoders that makes of a text what its reader sees.

Belongs here: their order, and how often they are tried. Does not belong here: any of their grammars.

Escapes may be escaped again ("&amp;#49;"), so the chain runs until it changes nothing, and `ROUNDS` times at the most:
what is nested deeper is left as it is, for the leak check to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from deid_platform.text.decoded import Decoded, Edit
from deid_platform.text.display import composed_letters, overridden
from deid_platform.text.literals import program_escapes
from deid_platform.text.markup import html_references, html_tags, rtf_characters, rtf_control_words
from deid_platform.text.transport import encoded_words, percent_signs, punycode, quoted_printable, utf7

ROUNDS = 6
_DECODERS: tuple[Callable[[str], Iterable[Edit]], ...] = (
    html_references,
    html_tags,
    # Before the escapes of programs, which begin with the same sign.
    rtf_characters,
    rtf_control_words,
    program_escapes,
    encoded_words,
    quoted_printable,
    percent_signs,
    utf7,
    punycode,
    composed_letters,
)
# Without any of these nothing is escaped.
_SIGNS = ("&", "<", "\\", "=", "%", "+", "n--", "N--")


def readable(text: str) -> Decoded:
    """A text as its reader sees it, in the order in which it is stored.

    Of a text in which nothing is escaped it is the very text.
    """
    decoded = Decoded(text)
    if text.isascii() and not any(sign in text for sign in _SIGNS):
        return decoded
    for _ in range(ROUNDS):
        before = decoded
        for decoder in _DECODERS:
            decoded = decoded.replacing(decoder(decoded.text))
        if decoded is before:
            break
    return decoded


def views(text: str) -> tuple[Decoded, ...]:
    """A text as its reader sees it: as it is stored and, where an override turns runs of it around, as it is shown."""
    stored = readable(text)
    shown = stored.replacing(overridden(stored.text))
    return (stored,) if shown is stored else (stored, shown)
