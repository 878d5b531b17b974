"""The baseline: indirect identifiers by a few words that often introduce them, without a model.

Belongs here: the words. Does not belong here: anything that needs to understand a sentence: of most categories nothing
is found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex

from deid_platform.labels import Indirect
from deid_platform.llm.answered import Why
from deid_platform.notes import IndirectMention, Note

_REST = r"[^.;\n]{0,80}"
_WORDS = {
    "en": {
        Indirect.FAMILY: r"lives with|mother of|father of|(?:is|has) a twin"
        r"|ha[sv]e? (?=(?:\w+ ){1,2}(?:children|grandchildren|brothers|sisters|sons|daughters)\b)",
        Indirect.OCCUPATION: r"(?:works|worked|working|employed) (?:as|at|for|in)|retired (?:as|from)|occupation:",
        Indirect.APPEARANCE: r"tattoos?|tattooed|dyed hair|piercings?",
        Indirect.STANDING: r"incarcerated|in prison|in jail|homeless|veteran|bankruptcy",
        Indirect.ORIGIN: r"speaks|immigrated|emigrated|refugees?|originally from",
    },
    "it": {
        Indirect.FAMILY: r"vive con|madre di|padre di|gemell[oiae]"
        r"|ha (?=\w+ (?:figli|figlie|nipoti|fratelli|sorelle)\b)",
        Indirect.OCCUPATION: r"lavora(?:va)? (?:come|in|presso)|di professione|professione:|in pensione da",
        Indirect.APPEARANCE: r"tatuaggi|tatuaggio|tatuat[oaie]|piercing",
        Indirect.STANDING: r"carcere|detenut[oa]|senza fissa dimora|fallimento",
        Indirect.ORIGIN: r"parla|originari[oa] di|profug[oa]|profughi|immigrat[oa]",
    },
}
"""What often introduces an indirect identifier; it and the rest of its clause are taken for one."""
_PATTERNS = {
    language: {
        category: regex.compile(rf"\b(?:{pattern})(?!\w){_REST}", regex.IGNORECASE)
        for category, pattern in words.items()
    }
    for language, words in _WORDS.items()
}


class KeywordTagger:
    """A tagger by words (`Tagger`), which never fails; of other languages than English and Italian it knows nothing."""

    def tag(self, notes: Iterable[Note]) -> Iterator[list[IndirectMention] | Why]:
        """What is found in each note, in order."""
        for note in notes:
            patterns = _PATTERNS.get(note.language, {})
            yield sorted(
                IndirectMention(match.start(), match.end(), category)
                for category, pattern in patterns.items()
                for match in pattern.finditer(note.text)
            )
