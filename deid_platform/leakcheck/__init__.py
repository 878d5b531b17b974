"""The leak check: is anything of a patient left in a redacted note?

    kinds                                  the kinds of leak
    comparable, encoded                    how a text is read for comparison; what still looks encoded
    said                                   numbers that a text says in words
    names, births, roster                  what remains of a patient: name, date of birth, row of the topics
    kin, strangers                         names of relatives; other patients
    institution                            the institution's own names
    shapes                                 what has the shape of an identifier
    shifts, intervals, constants, seasons  true dates, and what tells how far dates were moved
    ages, old_ages                         ages over 89, and years that tell one
    columns                                what the columns beside the text tell
    reported                               what readers reported as leaked
    check                                  the verdict on one note

Belongs here: a judgement on the outcome that shares no code with detection, so that it does not repeat
what detection missed. Does not belong here: what to do with a note that leaks (the gate).

It asks: is the text the original with its spans replaced and nothing else? Does anything from the rows of the
patient in the topics remain, former ones included (`names`, `births`, `roster`)? The name of a relative (`kin`)?
Any other patient's rare full name or number (`strangers`)? Anything that still has the shape of an identifier
(`shapes`), or, where dates are shifted, of a true date (`shifts`)? A true year beside dates that are hidden? Does
what stands for a removed text show it? Do the columns beside the text tell what the policy hides (`columns`)? Is
there anything that was reported as leaked before?
"""

from deid_platform.leakcheck.check import LeakCheck
from deid_platform.leakcheck.columns import Released
from deid_platform.leakcheck.kinds import Leak, LeakKind

__all__ = ["Leak", "LeakCheck", "LeakKind", "Released"]
