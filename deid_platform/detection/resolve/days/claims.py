"""What else than a month and a day two numbers may be: a score, a strength, a pressure, a dose, a duration.

Belongs here: what the words and signs around one pair of numbers say. Does not belong here: what the whole note shows
(`writing.py`).

Two numbers of which the first is no greater, over a maximum that scores have, are doubtful: any word of a score, a
count or an examination claims them. Others are claimed by what is measured in two numbers only.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from deid_platform.lexicon.lists import word_list
from deid_platform.text.compiled import compiled
from deid_platform.text.fold import fold_term

Verdict = int
"""How surely two numbers are a day; below 0 if they are none."""
UNREAD: Verdict = -1
"""They are no day as the note writes its days; what else they are is not known."""
CLAIMED: Verdict = -2
"""Something else claims them."""
ADDED_FROM: Verdict = 4
"""From here on no model need say so."""
KEPT_FROM: Verdict = 2
"""From here on what a model says is kept."""

_PAIR = compiled(r"(?<![\w./\-+,:])(?<!\d /)\d{1,2}[/.\-]\d{1,2}(?![\w/]|[.,\-–:]\d|%)")
_REACH = 36
_MAXIMA = frozenset((3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 24, 28, 30))
_MONTHS = 12
_SMALL = 8  # both numbers of pupils, pulses, settings
_PARTS_OF_TIME = (7, 52, 24, 40, 60)  # days, weeks, hours, of pregnancy, minutes
_LONGEST_DURATION = 28
_SIDE = r"(?:r|l|d|g|dx|sx|re|li|di|of|is|was|in)?"
_MEASURED = compiled(
    r"""
    (?: (?<!\w)(?: acuity|settings?|pressures?|visi[oóu]\w+|eyesight|va|av|snellen|ph|od|os|ou|oi|oe|iop|pio|cpap|vent
      |bipap|nippv|ipap|epap|peep|psv|ps|jet|cmv|aprv|niv|vni
      |hb|hct|ta|pa|bp|rr|abp|nibp|pas|pad|t|temp\w*|fi[eè]vre|febbre|fiebre|fieber|entresto|humalog|sacubitril\S*
        |vicryl|nylon|prol[eè]ne|ethilon
      |monocryl|furo\w*|lantus|clexane|ratio|rapporto|rapport|ago
        |wean\ to )(?!\w) [\s:=.()\-–>]{0,4} SIDE [\s:=.()]{0,3}
    | \# | (?<!\w)[×x]\s? | [+=]\s? | (?<![\->])[>≥<\-] | [nN]\d[abc]?\s?\( | \|\| )\Z
    """.replace("SIDE", _SIDE),
    regex.VERBOSE | regex.IGNORECASE,
)
_SCORED = compiled(
    r"""
    (?: (?<!\w)(?: scores?\w*|phq\w*-?\d*|gad-?7|mmse?|mms|moca|epds|gds|strength|power|forza|fuerza|force|kraft
      |mrc|grip|gcs|gsc|glasgow|pain|dolor\w*
      |douleur|schmerz\w*|nrs|vas|eva|evn|en|tof|bromage|apgars?|ap|ecog|i?adl|gir|mews|news|painad|\w{2,}plus|4at
        |amts?|c-?ssrs|audit(?:-?c)?|screener
      |ss|murmur|souffle|soffio|soplo|im|reflex\w*|dtr\w*|tap|tremor|o?edem\w*|pulses?|dp|pt|monofil\w*|mono
        |diapason|horloge|clock|orient\w*|pupil\w*
      |pirrl\w*|pirla|pup|perr?n?la|page|pages|pagina|pag|p|folio|fol[hl]a|foglio|feuille|seite|fig|figure|parte?
        |batch|n[°o]|acces\w*|sessions?|seduta
      |cycles?|ciclo|zyklus|cures?|course|dosi|doses?|dosis|days?|d[ií]a|giorno|jour|tag|d|j|wk|week|phase|fase
        |stage|grade|grado|grad|gr|level|nivel
      |stadio|stadium|st|ex|nodes?|linfonod\w*|ganglio\w*|ganglions?|blocks?|scatola|salve|compression
        |teach[\s\-]back|census|sleeps?|bottles?|abx
      |for|per|mod|rev|class\w*|used|nodule|shots|films?|in|last|shocks|count|neg
        |use )(?!\w) [\s:=.()\-–]{0,4} SIDE [\s:=.()]{0,3}
    | \d\s{1,12} | \d\s?(?:->|→)\s? | \p{Ll}\w*\s?\( )\Z
    """.replace("SIDE", _SIDE),
    regex.VERBOSE | regex.IGNORECASE,
)
_MEASURED_BEHIND = compiled(
    r"""["”″%°'’] | \s?[x×]\s?\d | \s?(?:mmhg|mg|mcg|ml|cm|mm|u|ui|min|mi|mile|tabs?|cp|comp|strength|murmur
      |demands|readings|harvest|vicryl|monocryl|gtt|months|years
    |hrs?|hours?|days?|d[ií]as|giorni|jours|tage|weeks?|wk)\b | \s?/\s?\d | [+]""",
    regex.VERBOSE | regex.IGNORECASE,
)
_SCORED_BEHIND = compiled(
    r"""\s?[+] | \s?(?:h\b(?!\s?\d)|minut\w+|d\b(?!/)|gg|mo|mois|mesi|meses|ago|nights?|blocks?|of|bilat\w*|lue|rle
      |rue|lle|arm|leg|right|left|both
    |unaided|atrophy|inflam\w*|agree|bottles|positive|negat\w*|neg|lent\w*|brisk|sluggish|equal|iso\w*|quads?|full
      |films?|bid|od|bd|tds|qds|qd|nocte
    |po|iv|sc|im|fields|q|w|n)\b | \s*,?\s*(?:item|e\d\s?v\d)""",
    regex.VERBOSE | regex.IGNORECASE,
)
# What days are written behind: prepositions, deeds, examinations, weekdays; and the beginning of a line or a cell.
_CUE = compiled(
    r"""
    (?: \b(?: al|dal|del|il|el|la|le|du|au|les|desde|hasta|depuis|jusqu['’]au|fino|entro|vom|bis|am|seit|fin
      |alt[ae]?|ing\w*|adm\w*|d/c|disch\w*|dimess[oa]
      |out|off|on|due|re-?check|repeat|rpt|since|until|till|thru|by|seen|surgery|dob|died|start\w*|begin\w*|began
        |\w{2,}ed|\w+['’]d|bm|prior|entry|to|for
      |stop\w*|sosp\w*|exp\w*|scad\w*|cad\w*|valid\w*|sent|last|lmp|next|prox\w*|pross\w*|rev\w*|rv|r/v|rdv|rcp|opa
        |tci|clinic|amb|appt|appoint\w*|cita
      |visit\w*|controllo|ctrl|labs?|an[aá]l[ií]t\w*|bio\w*|eco\w*|echo|tte|tee|ett|tc|tac|tdm|ct|mri?|rm|irm|rx
        |cxr|kub|xr|us|usg|uss|hus|pet\S*|o?e?gds?
      |colonosc\w*|cath|stent|picc|cvc|line|foley|swab|bcx|cx|cult\w*|hemoc\w*|ecbu|urocoltura|screening|bx|path
        |histo\w*|vacc\w*|inj\w*|tx|hd|addend\w*
      |nota|note|agg|aggiunta|correz\w*|fpp|fur|edd|dpa|ddr|ddg|nat[oa]|née?|nac\w*|mon|tue\w*|wed\w*|thu\w*|fri
        |sat|sun|lun\w*|mar\w*|mer\w*|gio\w*
      |ven\w*|sab\w*|dom\w*|mi[eé]\w*|jue\w*|vie\w*|s[aá]b\w*|jeu\w*|sam\w*|dim\w*|mo|di|mi|do|fr|sa|so )[\s.:,(]{1,3}
    | [(\[]\s? | (?:^|\n|\|)[\s>•\-*·]{0,8} )\Z
    """,
    regex.VERBOSE | regex.IGNORECASE,
)
_TIME_BEHIND = compiled(
    r"\s{1,3}(?:h|ore|alle|a\ las|[àa]|at|@|um)\s?\d|\s{1,2}(?:[012]?\d[:.h][0-5]\d|[012]?\dh\b|[01]\d[0-5]\d\b)",
    regex.IGNORECASE,
)
_BEHIND = compiled(
    r"\s?[:)\]]|\s?[ap]m?\b|\s*\||\s(?:clinic|visit|appt|labs?|echo|ct|mri|same|note|by|per|with|at)\b",
    regex.IGNORECASE,
)
_DAY_ALL_THE_SAME = compiled(
    r"\b(?:on|due|till|until|dob|lmp|seen|tci|opa|clinic|from|date|finished|started|valid[ ]to|sited|mon|tue\w*"
    r"|wed\w*|thu\w*|fri|sat|sun|le|el|il)[\s.:]{1,2}\Z",
    regex.IGNORECASE,
)
_PUPILS = compiled(r"\bpupil", regex.IGNORECASE)
_LAST_WORDS = compiled(r"([\p{L}\d\-]+)[ \t]*(?:(?:score|scale|index|test|is|was|of|now|at)[ \t]*)?[:=(]?[ \t]*\Z")


def pairs_in(text: str) -> Iterator[tuple[int, int]]:
    """Where two numbers of at most two digits stand by themselves with a stroke, a full stop or a hyphen between."""
    return (match.span() for match in _PAIR.finditer(text))


def is_duration(text: str, start: int, a: int, b: int) -> bool:
    """Whether a note that counts days so means a duration: "3/7", "2/52"."""
    counted = (b in _PARTS_OF_TIME and a <= _LONGEST_DURATION) or (b == _MONTHS and a <= b)
    return counted and _DAY_ALL_THE_SAME.search(text, max(0, start - _REACH), start) is None


def is_claimed(text: str, start: int, end: int, a: int, b: int) -> bool:
    """Whether the words around two numbers say that they are something else."""
    line = text.rfind("\n", 0, start) + 1
    if _MEASURED_BEHIND.match(text, end) or _MEASURED.search(text, max(line, start - _REACH), start):
        return True
    if _PUPILS.search(text, max(line, start - 60), start):
        return True
    if not _is_over_a_maximum(text, start, end, a, b):
        return False
    if _TIME_BEHIND.match(text, end):
        return False
    line = max(line, start - _REACH)
    return bool(_SCORED_BEHIND.match(text, end) or _SCORED.search(text, line, start)) or _is_a_score(text, line, start)


def _is_a_score(text: str, line: int, start: int) -> bool:
    word = _LAST_WORDS.search(text, line, start)
    return word is not None and fold_term(word[1]) in word_list("tests_and_scores")


def weight(text: str, start: int, end: int, a: int, b: int) -> int:
    """How much the numbers and what stands around them speak for a day."""
    cue = _CUE.search(text, max(0, start - _REACH), start) is not None
    behind = bool(_TIME_BEHIND.match(text, end) or _BEHIND.match(text, end))
    shape = 2 if not _is_over_a_maximum(text, start, end, a, b) else b > _MONTHS
    small = max(a, b) <= _SMALL and not cue and not behind
    return shape + cue + behind - small


def _is_over_a_maximum(text: str, start: int, end: int, a: int, b: int) -> bool:
    padded = end - start == len("01/02") and "0" in (text[start], text[start + 3])
    return a <= b and b in _MAXIMA and not padded
