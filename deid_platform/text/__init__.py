"""What a text says to its reader, and where each character of that stands in the text as it was written.

    offsets, decoded                      intervals of code points, and the way back from a text that was changed
    markup, transport, literals, display  escapes of documents, of mail and URLs, of programs; accents and direction
    deobfuscate                           disguises taken out
    readable                              all of these in a chain: what a reader sees
    fold, normalize                       a text for comparison and for searching
    tokens, names                         a line of whole words; parts and spellings of names
    numerals, check_digits                numbers in words; numbers by arithmetic
    table_heads, lookbehind               the head over a cell; what stands right before a place
    compiled, strict_yaml                 compiled patterns that are kept; YAML without duplicate keys

Belongs here: escapes of HTML, RTF, mail, URLs and programs, accents written apart, directional overrides, and the
arithmetic of offsets between a text and what it reads as. Does not belong here: anything about identifiers, or how
two texts are compared (case, accents, look-alikes), which detection and the leak check each settle for themselves.
"""

from deid_platform.text.decoded import Decoded
from deid_platform.text.readable import readable, views

__all__ = ["Decoded", "readable", "views"]
