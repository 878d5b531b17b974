"""Words on no list: how a sentence continues after a person, and a name in small letters behind a title.

Belongs here: what tells such a name from a word. Does not belong here: names on the lists (`people.py`), names that
nothing introduces, which the model finds.
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.people import NAME_TOKEN, bare
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.lexicon.alternatives import alternatives
from deid_platform.lexicon.classes import WordClass, ends_as_a_word, is_common, word_class
from deid_platform.lexicon.lists import word_list, written_terms
from deid_platform.text.compiled import compiled

_SHORTEST = 3
_NAMED = WordClass.GIVEN | WordClass.SURNAME
# How English and medical words end; not the endings of surnames as well: -al, -ar, -ic, -ed.
BUILT = compiled(
    r".*(?:ly|tions?|sions?|ments?|ness|ous|able|ible|ity|ities|isms?|ists?|ful|less|ship|ance|ence|ies|ical|ics|ular"
    r"|oid|ing|ings)"
)
_CREDENTIAL = alternatives(written_terms("credentials.sure") + written_terms("credentials.role"), any_writing=True)
# What a sentence goes on with after somebody who is named in it: it ends, says when, where, to whom, or what they do.
GOES_ON = compiled(
    r"""(?:['’]s)?(?:
    [ \t]*(?:$|[\r\n.,;:)\[\]}&"”+@>|=]|[-–—]{1,2}[ \t]|/(?!\p{Ll}))
    |[ \t]+(?:[@&(+\#\d]|x[ ]?\d|w/|[-–—]
    |(?:at|on|in|of|from|for|with|re|regarding|about|and|or|but|who|whom|whose|that|this|these|to|via|by|per|after|as
    |before|during|while|when|if|so|because|again|also|then|than|now|here|there|too|not|yet|has|had|have|is|was|were
    |will|would|can|could|did|does|may|must|should|without|until|since|over|through|prior|upon|both|today|tonight
    |tomorrow|yesterday|overnight|earlier|later|twice|once|daily|weekly|monthly|personally|directly|immediately
    |extensively|briefly|promptly|stat|asap|first|last|next|every|anytime|a|an|the|his|her|their|our|my|us|me
    |states?|stated|says?|said|reports?|reported|agree[sd]?|recommend(?:s|ed)|advise[sd]|note[sd]|feels?|felt|thinks
    |wants|wanted|asks?|asked|aware|notified|updated|informed|posted|paged|called|calling|present|attending|following|covering
    |assisting|rounding|returned|return|calls|saw|sees|seen|gave|took|made|did|done|came|comes|went|goes|left|arrived
    |relieved|confirm(?:s|ed)|verified|verifies|explained|order(?:s|ed)|placed|removed|performed|completed|started
    |denie[sd]|declined|declines|verbalized|verbalised|requested|requests|provided|provides|attempted|spoke|tried|found
    |signed|rang|phoned|brought|drove|visited|held|helped|assisted|drew|draws|sent|wrote|put|sat|told|heard|kept|fed|woke|ran|began|available|unavailable|out|off|up|back|around|ok|okay|pt|patient|<credential>
    |che|al|alla|di|da|dal|dalla|del|il|lo|la|le|e|ha|hanno|è|era|si|con|riferisce|abita|vive|viene|presente|tel|dopo)\b)
    )""".replace("<credential>", _CREDENTIAL),
    regex.VERBOSE | regex.IGNORECASE,
)
_OTHERS = ("services", "title_stopwords", "professions", "kin.weak")


@validator
def small_name(text: str, start: int, end: int) -> Interval | None:
    """A name in small letters behind a title: no word that is common, clinical, or ordinary unless a list has it."""
    words = [bare(token) for token in NAME_TOKEN.findall(text, start, end)]
    named = False
    for word in words:
        kind = word_class(word)
        if len(word) < _SHORTEST or kind & WordClass.CLINICAL or any(word in word_list(name) for name in _OTHERS):
            return None
        if kind & WordClass.ORDINARY:
            if is_common(word) or not kind & _NAMED:
                return None
            continue
        if not kind and ends_as_a_word(word):
            return None
        named = True
    return (start, end) if named else None
