"""Validators of ages at any value: whether a number of years, months or weeks is somebody's age or how long it lasted.

Belongs here: the validators that `any_ages.yaml` names. Does not belong here: ages over 89, which are found under every
policy (`en/ages.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.ages import is_measured
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.text.numerals import LANGUAGES, numerals

_OLDEST = 125
_BEFORE, _BEHIND, _NEAR = 60, 40, 24  # code points that are read on either side


def _any(*words: str) -> str:
    """Any of some patterns, which stand between blanks; `_` is white space."""
    return "(?:" + "|".join(word.replace("_", r"\s+") for line in words for word in line.split()) + ")"


_PERSON = _any(
    r"patient(?:e|in|en)?s? pt pte pcte pac paciente pazient[ei] paz pz p\.?te infant sex[oe]? sesso",
    r"donna uomo femmina maschio bambin[oa] bimb[oa] ragazz[oa] anzian[oa] signor[ea] sig(?:\.?\s?ra)?",
    r"lattante neonat[oa] padre madre figli[oa]? fratell[oi] sorell(?:a|e|ina) marito",
    r"moglie nonn[oa] zi[oa] maschile femminile",
    r"enferm[oa] mujer hombre var[oó]n hembra niñ[oa] señora? sra? joven chic[oa] lactante hij[oa]s? herman[oa]s?",
    r"marido espos[oa] abuel[oa] t[ií][oa] masculino femenin[oa]",
    r"femme homme fille garçon fillette enfant dame monsieur madame mme mr? nourrisson p[eè]re m[eè]re fils frères?",
    r"s(?:œ|oe)urs? mari masculin féminin",
    r"frau herrn? mann kind mädchen junge säugling mutter vater sohn tochter bruder schwester männlich weiblich",
)
_SEX = "[MFHVDW]"
_ABOUT = _any(
    "circa quasi oltre più_di almeno ormai già unos alrededor_de m[aá]s_de al_menos casi environ plus_de presque",
    r"au_moins etwa fast mehr_als mindestens ca\.? gli los les den der die pari_a di de d['’]",
)
# What lasts, lies back or recurs is no age.
_LASTS = regex.compile(
    r"(?:\b"
    + _any(
        "da dai per dopo entro ogni ultim[ie] nei negli dagli gli fra tra prima_dei",
        r"hace durante por desde(?!_los_\Z) cada tras unos últimos en luego_de al_cabo_de posterior_a",
        "depuis pendant (?:il_)?y_a avant tous_les toutes_les dans après sur ces",
        "seit vor nach alle für über letzten innerhalb binnen",
    )
    + rf"\s+(?:{_ABOUT}\s+){{0,2}}|[=<>+×x*/]\s?|\b(?:più\s+di|m[aá]s\s+de|plus\s+de|mehr\s+als)\s+)\Z",
    regex.IGNORECASE,
)
_OF_WHAT_LASTS = regex.compile(
    r"\b"
    + _any(
        r"stori[ae] anamnesi distanza period[oi] durat[ae] follow[\s-]?up fup sopravvivenza terapi[ae]",
        r"arco interval\p{L}* cors[oi] abuso fum(?:o|at\p{L}+) cicl[oi] trattamento decors[oi]",
        r"menopausa meno oltre esperienza",
        "contratto primi total[ei] media controll[oi] visita",
        r"evoluci[oó]n(?:_era)? historia (?:ex[\s\-]?)?fumador[ae]? seguimiento período tratamiento plazo",
        "supervivencia duraci[oó]n antecedentes h[aá]bito tiempo consumo curso cuadro dolor",
        "clínica síntomas menos primeros control",
        "suivi durée intervalle délai histoire période traitement évolution recul survie ancienneté tabagisme moins",
        r"hormonothérapie bilan visite contrôle",
    )
    + rf"\s+(?:(?:clínic[oa]|aproximad[oa]|total|di\s+malattia)\s+)?(?:di|de|d['’])\s*(?:{_ABOUT}\s+)?\Z",
    regex.IGNORECASE,
)
_LAY_BACK = regex.compile(
    r"\s+fa\b|[\s,]*\b"
    + _any(
        r"or_?sono\b dopo\b prima\b addietro\b più_tardi\b dal(?:la|l['’]|\s) dall\p{L}* con_aumento",
        r"consecutiv\p{L}* di_(?!et[àa]) d['’](?!et|[aâ]ge)",
        r"atrás\b despu[eé]s\b antes\b m[aá]s_tarde\b del\s de_la\s de_(?!edad|d['’]?[aâ]ge) libre\b",
        r"avant\b apr[eè]s\b plus_tard\b du\s sans\b später\b zuvor\b lang\b seit\b der\s nach\s vor\s bestehend",
    ),
    regex.IGNORECASE,
)
_OLD_BEHIND = regex.compile(
    r"\s+"
    + _any(
        r"di_(?:et[àa]|vita) de_(?:edad|vida|vie) d['’]\s?[aâ]ge alt(?:e[rn]?)?",
        "de_(?:sexo|raza|nacionalidad|procedencia|origen|profesión)",
    )
    + r"\b",
    regex.IGNORECASE,
)
_OF_PERSON = regex.compile(
    rf"(?:(?i:\b{_PERSON}|\b{_SEX})\.?[\s,:(/\-–]{{1,3}}(?i:di\s|de\s|d['’]|von\s)?"
    rf"|(?i:\b{_PERSON})\.?[ ]\p{{L}}+[ ,]{{1,3}}"
    r"|(?i:\b"
    + _any(
        "di de d['’] von ha tiene ten[ií]a aveva a à a_los hasta_los desde_los mit im_alter_von alter con",
        "et[àa] edad [aâ]ge compiuto compie cumple cumplió cumplido è ist war sono avait avoir as? jetzt suoi sus ses",
        "ihre gemelli apparent[ei]",
    )
    + rf"[\s:]\s{{0,3}}(?:{_ABOUT}\s+){{0,2}})"
    r"|(?:\A|[.:;!?)\]*|\-–][ ]*[\r\n]+|\n\s*\n|[(\[|;·])[\s\-–•*]{0,4}|[\p{L}\d)][ ]?,\s|[♀♂)][ ]{1,4})\Z"
)
# Not in German, whose nouns are all capitalised.
_NAMED = regex.compile(
    r"\b(?!(?i:suivi|durée|ancienneté|tabac|durata|duración|[ck]ontr[oô]l|visit|follow|fum|diab|ipert|hta|rdv|rv|rx))"
    r"(?:\p{Lu}[\p{L}'’\-]{1,24}\.?|\p{Lu}\.)[ ]?[,;]?[ ]{1,8}(?:\(\s?)?\Z"
)
_GERMAN = regex.compile(r"\b(?:J\.|[Jj]ahren?)")
# Years that nothing lasts, unless something says so: few write "30 a" of anything but a person.
_LONGEST, _LONG = 60, {"a": 18, "aa": 30}
_MONTHS_OF_PERSON = regex.compile(
    rf"(?:\b{_PERSON}\.?(?:[ ]\p{{L}}+)?[\s,:(\-–]{{1,3}}(?:di\s|de\s|d['’]|von\s)?"
    r"|\b(?:et[àa]|edad|[aâ]ge|alter)\b(?:\s+(?:di|de|von))?[\s:]{1,4}|\bâgée?\s+de\s+"
    r"|(?:anni|años|ans|jahre)\s+(?:e|y|et|und)\s+)\Z",
    regex.IGNORECASE,
)
_SEX_BEHIND = regex.compile(rf"[\s,;/(\-–]{{1,3}}(?i:(?:de|d['’]|di)\s)?(?:(?i:{_PERSON})|{_SEX})\b")
_UNIT_OLD = regex.compile(r"[\s\-–]{0,3}\p{L}+\.?[\s\-–]{0,3}(?:old|of[\s\-]age)?", regex.IGNORECASE)
_THING = regex.compile(
    r"[\s\-]{1,2}(?:(?:left|right|healing|healed|closed|open|surgical|old|known)\s+)?"
    + _any(
        r"wounds? incisions? fractures? injur\p{L}+ lesions? rash\p{L}* bruis\p{L}+ lacerations? burns? sutures?",
        r"stitches infarct\p{L}* strokes? bleeds? ha?ematomas? scars? thrombus clots? blood specimens? cultures?",
        r"grafts? stents? pacemakers? implants? prosthe\p{L}+ devices? hardware pumps? catheters? lines? tubes? films?",
        r"images? studies study labs? results? history records? data prescriptions? cars?",
        r"houses? homes? dogs? cats? dentures? shoes",
        r"glasses crutches walkers? wheelchairs? mattress\p{L}*",
    )
    + r"\b",
    regex.IGNORECASE,
)
_COUNTED = regex.compile(
    r"(?:\b(?:page|pg|ward|floor|level|grade|stage|type|no|nr|number|unit|size|x)\.?|#)[ :]{0,2}\Z", regex.IGNORECASE
)
_INSTRUMENT = regex.compile(
    r"\b"
    + _any(
        r"foley sheath cath\p{L}* tubes? drains? pigtail ports? needles? stents? guiding radiale? introduc\p{L}+ picc",
        r"sng ballo+n\p{L}* sondes? sonda nelaton french fr ch temp tmax",
    )
    + r"\b",
    regex.IGNORECASE,
)
# "97 aa" is a saturation in room air too ("aria ambiente", "air ambiant"), in tables without its name.
_IN_ROOM_AIR = regex.compile(r"(?i:aa)\.?\Z")
_MEASURED = regex.compile(
    r"(?:\b(?:sat\p{L}*|spo2|so2|sao2|fr|fc|ta|pa|tc)\b[^\r\n]*|\d[\s|]{1,8})\Z", regex.IGNORECASE
)
_UNIT = regex.compile(r"[ \-]{0,2}\p{L}+\.?")
_NOT_YEARS = regex.compile(
    r"[ \-](?:days?|weeks?|months?|hours?|pack|patients?|cases?|mg|ml|percent|people)\b", regex.IGNORECASE
)


@validator
def age_of_anybody(text: str, start: int, end: int) -> Interval | None:
    """A number that a word for age makes one, up to the oldest, where it is no pulse, pressure or temperature."""
    return (start, end) if _years(text[start:end]) <= _OLDEST and not is_measured(text, start) else None


@validator
def age_of_no_thing(text: str, start: int, end: int) -> Interval | None:
    """A number before "years old", unless that is a wound, a device or whatever else may be so many years old."""
    behind = _UNIT_OLD.match(text, end)
    return None if behind and _THING.match(text, behind.end()) else age_of_anybody(text, start, end)


@validator
def age_of_sex(text: str, start: int, end: int) -> Interval | None:
    """A number before a letter or a word for a sex, where nothing near speaks of a ward or of the size of a tube."""
    near = max(0, start - _NEAR)
    if _COUNTED.search(text, near, start) or _INSTRUMENT.search(text, near, min(len(text), end + _NEAR)):
        return None
    return age_of_anybody(text, start, end)


@validator
def age_in_years_abroad(text: str, start: int, end: int) -> Interval | None:
    """A number before a word for years that is not English: an age by what stands before and behind."""
    unit = _UNIT.match(text, end)
    if unit is None or _years(text[start:end]) > _OLDEST:
        return None
    place, before = unit.end(), text[max(0, start - _BEFORE) : start]
    if _IN_ROOM_AIR.search(unit[0]) and (is_measured(text, start) or _MEASURED.search(before)):
        return None
    if _OLD_BEHIND.match(text, place, place + _BEHIND):
        return start, end
    if _LASTS.search(before) or _OF_WHAT_LASTS.search(before) or _LAY_BACK.match(text, place, place + _BEHIND):
        return None
    if _years(text[start:end]) >= _LONG.get(unit[0].strip(" .-").casefold(), _LONGEST):
        return start, end
    named = _NAMED.search(before) and not _GERMAN.search(unit[0])
    of_person = named or _OF_PERSON.search(before) or _SEX_BEHIND.match(text, place, place + _BEHIND)
    return (start, end) if of_person else None


@validator
def age_in_months_abroad(text: str, start: int, end: int) -> Interval | None:
    """A number before a word for months, weeks or days: an age only of somebody, since most of them last."""
    unit = _UNIT.match(text, end)
    if unit is None:
        return None
    place, before = unit.end(), text[max(0, start - _BEFORE) : start]
    if _OLD_BEHIND.match(text, place, place + _BEHIND):
        return start, end
    if _LASTS.search(before) or _LAY_BACK.match(text, place, place + _BEHIND):
        return None
    return (start, end) if _MONTHS_OF_PERSON.search(before) else None


@validator
def spelled_age(text: str, start: int, end: int) -> Interval | None:
    """A number in words at the end of some words, before what makes an age of it."""
    begun = _spelled(text[start:end])
    return None if begun is None else age_of_no_thing(text, start + begun, end)


@validator
def spelled_age_behind(text: str, start: int, end: int) -> Interval | None:
    """A number in words at the beginning of some words, behind a word for age."""
    ends = [
        numbers[0].end
        for language in LANGUAGES
        if (numbers := numerals(text[start:end], language))
        and (numbers[0].start, numbers[0].spelled) == (0, True)
        and numbers[0].value <= _OLDEST
    ]
    place = start + max(ends, default=0)
    return None if not ends or _NOT_YEARS.match(text, place) else (start, place)


@validator
def spelled_age_abroad(text: str, start: int, end: int) -> Interval | None:
    """A number in words before a word for years that is not English; see `age_in_years_abroad`."""
    begun = _spelled(text[start:end])
    return None if begun is None else age_in_years_abroad(text, start + begun, end)


@validator
def spelled_months_abroad(text: str, start: int, end: int) -> Interval | None:
    """A number in words before a word for months or weeks; see `age_in_months_abroad`."""
    begun = _spelled(text[start:end])
    return None if begun is None else age_in_months_abroad(text, start + begun, end)


def _spelled(words: str) -> int | None:
    """Where a number in words begins that ends where the words do, in any language; the earliest."""
    starts = [
        numbers[-1].start
        for language in LANGUAGES
        if (numbers := numerals(words, language))
        and (numbers[-1].end, numbers[-1].spelled) == (len(words), True)
        and numbers[-1].value <= _OLDEST
    ]
    return min(starts, default=None)


def _years(written: str) -> int:
    """The whole number with which an age begins; 0 of one in words."""
    digits = regex.match(r"\d+", written)
    return int(digits[0]) if digits else 0
