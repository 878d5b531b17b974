"""How the parts of the ensemble are combined.

Belongs here: what can be chosen, and the default with its reason. Does not belong here: the stages that do it
(`resolve/`).

By default the parts are united: what any of them finds is an identifier, since a missed one costs more than a word too
many (Murugadoss 2024). Three exceptions take words back, and none may touch what the roster, a check digit, the site's
own recognizers or other notes of the patient say.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

from deid_platform.keys import plain_digest


@dataclass(frozen=True, slots=True)
class Combination:
    """What decides where the parts disagree.

    Attributes:
        doubt_below: Names and places that rules alone mark are left out where each model gives their words a lower
            probability of being an identifier; 0 for a plain union.
        recover_up_to: A clinical term that only models mark is kept up to this probability; at 1 always, since a term
            of the lists is far oftener medicine than a name even where a model is sure.
        local_patients: In how many patients' notes of a feed a word stands, at the least, that is the institution's
            vocabulary (`resolve/word_counts.py`); 0 for the shipped words alone.
        local_introduced: The largest share of the notes with it in which something introduces it as a name.
        local_growth: By which share of the words in force new ones have to come for any to come in.
        judge: Weighs what is weakly founded for its clinical relevance; None for no judge.
        judge_from: The weight, 0 to 1, from which on the judge's word is taken.
    """

    doubt_below: float = 0.001
    recover_up_to: float = 1.0
    local_patients: int = 10
    local_introduced: float = 0.02
    local_growth: float = 0.2
    judge: str | None = None
    judge_from: float = 1.0

    @property
    def digest(self) -> str:
        """Names the choice, which is part of the detector's digest."""
        return plain_digest(*map(str, astuple(self)))


UNITED = Combination()
"""The default: what any part finds, but for what every model is sure of and for clinical terms."""
