"""What a text says to its reader, and where each character of that stands in the text as it was written.

Belongs here: escapes of HTML, RTF, mail, URLs and programs, accents written apart, directional overrides, and the
arithmetic of offsets between a text and what it reads as. Does not belong here: anything about identifiers, or how
two texts are compared (case, accents, look-alikes), which detection and the leak check each settle for themselves.
"""

from deid_platform.text.decoded import Decoded
from deid_platform.text.readable import readable, views

__all__ = ["Decoded", "readable", "views"]
