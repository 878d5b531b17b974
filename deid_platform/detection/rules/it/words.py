"""Italian words: which are common in records, which join the words of a name, which things are named after people.

Belongs here: what the lists, the form and the context of an Italian word say of it. Does not belong here: where a name,
a town or an institution ends (the other modules of this package).
"""

from __future__ import annotations

from functools import lru_cache

from deid_platform.detection.rules.en.people import bare, stops_a_name
from deid_platform.lexicon.classes import WordClass, is_clinics_word, is_common, word_class
from deid_platform.lexicon.lists import word_list
from deid_platform.text.compiled import compiled
from deid_platform.text.names import PARTICLES

LINKS = PARTICLES | frozenset(
    """
    a ad ai agli al all alla alle allo con d da dagli dai dal dall dalla dalle dallo de degli dei del dell della delle
    dello di e ed i il in l la le li lo nel nell nella nelle nello sui sul sull sulla sulle sullo
    """.split()  # noqa: SIM905 - a list literal would take forty lines
)
"""Small words inside the names of people, towns and institutions, which on their own name nothing."""
LONGEST_ABBREVIATION = 4
# As `NAME_TOKEN`, but an elided article or preposition is a word of its own ("all'Ospedale").
WORD = compiled(r"(?:d|dell|dall|nell|sull|all|l|un)['’](?=\p{L})|\p{L}[\p{L}\p{M}'’.\-]*")
# Endings of Italian medical words, of adverbs and of abstract nouns.
_ENDING = compiled(
    r".{3,}(?:[zs]ion[ei]|ologi[ae]|ologic[aohi]{1,2}|iatri[ae]|iatric[aohi]{1,2}|urgi[ae]|terapi[ae]|scopi[ae]|scopic[aohi]{1,2}"
    r"|grafi[ae]|grafic[aohi]{1,2}|gramma|metri[ae]|pati[ae]|patic[aohi]{1,2}|emi[ae]|emic[aohi]{1,2}|uri[ae]|algi[ae]"
    r"|algic[aohi]{1,2}|ectomi[ae]|otomi[ae]|ostomi[ae]|plegi[ae]|paresi|trofi[ae]|trofic[aohi]{1,2}|penia|megali[ae]|genesi"
    r"|genic[aohi]{1,2}|lisi|stasi|..osi|..oma|itic[aohi]{1,2}|ism[oi]|(?:al|iv|os|id|ic|il|ar|abil)ita|[ai]ment[oi]|..mente"
    r"|cillina|micina|prazolo|sartan|statina|ololo|floxacina|azepam|olamide|parina)"
)
_SHORTEST_WORD = 8  # shorter ones that end so are names as well: "Rita", "Elisi", "Rosi"
_THING = (
    r"\b(?i:sindrom[ei]|morbo|malatti[ae]|segn[oi]|manovr[ae]|test|prov[ae]|scal[ae]|score|classificazione|criteri[o]?|tecnic[ae]"
    r"|metod[oi]|metodica|intervent[oi]|operazione|procedura|punt[oi]|legge|triade|tetralogia|regola|fenomeno|rifless[oi]"
    r"|corp[oi]|ansa|cellul[ae]|canale|anello|tubercolo|ghiandol[ae]|valvol[ae]|tub[ae]|legament[oi]|frattur[ae]|lussazione"
    r"|erni[ae]|tumor[ei]|linfom[ai]|sarcom[ai]|diverticol[oi]|cist[ie]|nodul[oi]|paralisi|neuralgia|corea|anemia|porpora"
    r"|tiroidite|artrite|encefalopatia|demenza|epatite|febbre|virus|batterio|catetere|sond[ae]|sondino|pinz[ae]|drenaggio"
    r"|colorazione|reazione|dieta|protocoll[oi]|indic[ei]|formula|equazione|posizione|stecca|angolo|linea|spazio|fossa|lobo"
    r"|nucle[oi]|fasci[oa]|area|poligono|consensus|conferenza|dichiarazione|accord[oi]|convenzione|carta|studio|trial"
    r"|statement|guida|raccomandazioni|questionario|stadio|classe|terapia|schema|sec\.|secondo|tipo)"
)
# Before the name of whoever described a thing: "segno di Murphy", "criteri diagnostici di Roma", "secondo Billroth".
_CALLED_AFTER = compiled(_THING + r"(?:(?:[ ]\p{Ll}{4,14})?[ ](?:(?:di|del|della|dello|de|von)[ ]|d['’])|[ ])\Z")
_REACH = 60


@lru_cache(maxsize=16384)
def is_italian_word(word: str) -> bool:
    """Whether a folded word is one of Italian records, or is built like one of Italian medicine."""
    if word in word_list("italian_words") or word in word_list("months"):
        return True
    if len(word) < _SHORTEST_WORD or _ENDING.fullmatch(word) is None:
        return False
    return not word_class(word) & (WordClass.GIVEN | WordClass.SURNAME)


# What stands behind a town's own name although it is a word of records ("Nocera Superiore").
SITUATIONS = frozenset(
    {
        *("superiore", "inferiore", "marittima", "marittimo", "interna", "centrale", "centro", "alta", "alto", "nord"),
        *("sud", "est", "ovest"),
    }
)


def is_called_after(text: str, start: int) -> bool:
    """Whether what stands before a name makes it an eponym or the name of criteria ("criteri di Roma")."""
    return _CALLED_AFTER.search(text, max(0, start - _REACH), start) is not None


def written_in_capitals(text: str, start: int, end: int) -> bool:
    """Whether a run of words is written in capitals, and is no abbreviation alone."""
    words = WORD.findall(text, start, end)
    return text[start:end].isupper() and any(len(word) > LONGEST_ABBREVIATION for word in words)


def may_follow(surface: str, *, capitals: bool) -> bool:
    """Whether a word may be part of a name where nothing but its place says so.

    Args:
        surface: The word.
        capitals: Whether the words around it are written in capitals, so that its own say nothing.
    """
    word = bare(surface)
    if is_italian_word(word):
        return False
    listed = word_class(word) & (WordClass.GIVEN | WordClass.SURNAME)
    if not capitals and surface.isupper() and len(word) <= LONGEST_ABBREVIATION and not listed:
        return False
    if word_class(word) & WordClass.CLINICAL and not listed:
        return False
    if listed & WordClass.GIVEN and not is_clinics_word(word):
        return True  # "Daisy", "Joy": no word of Italian
    return not stops_a_name(word) or (bool(listed) and not is_common(word))


def may_be_trusted(word: str) -> bool:
    """Whether a folded word after a title is a name although it is a common English word ("sig. Pace")."""
    return not is_italian_word(word) and word not in word_list("title_stopwords")


def may_be_surname(word: str) -> bool:
    """Whether a folded word after a given name is a surname although it is a common word ("Daisy Snow")."""
    return bool(word_class(word) & WordClass.SURNAME) and not is_clinics_word(word) and not is_italian_word(word)
