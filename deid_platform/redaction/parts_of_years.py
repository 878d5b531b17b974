"""What tells of a time of the year by another name than a month or a day.

Belongs here: numbers of weeks, quarters and days of a year, halves and seasons of a named year or one near the note,
parts of a month and lists of its days, offsets from UTC and names of zones, which tell summer time from winter time,
the change between the two, storms with a name, and years in words. Does not belong here: other days that have a name,
which detection finds (`lexicon/data/holidays.txt`), dates (`detection/`), years in digits (`lone_years.py`).

None of them can be moved with a patient's dates: a week that was moved would have another number, which tells how far
it was moved, and one that stays tells as much. So a tag takes the place of each, with the year beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources

from deid_platform.labels import Label
from deid_platform.lexicon.month_names import LANGUAGES, month_words
from deid_platform.notes import Span
from deid_platform.surrogates.date_shapes import ZONES, any_of

SOURCE = "part-of-year"
_YEAR = r"(?:19|20)[0-9]{2}(?![0-9])"
_SHORT = r"['’]?[0-9]{2}(?![0-9])"
_WEEK_ALONE = r"(?:0?[1-9]|[1-4][0-9]|5[0-3])"
_WEEK = rf"{_WEEK_ALONE}(?![0-9]|[.,][0-9])"
_DAY = r"(?:[1-9]|0?0[1-9]|0?[1-9][0-9]|[12][0-9]{2}|3[0-5][0-9]|36[0-6])(?![0-9]|[.,][0-9])"
_ENDING = r"\s?(?:st|nd|rd|th|er?|ère|ème|[°ºª.])"
# The year behind, as each language joins it.
_CUT = r"['’][0-9]{2}(?![0-9'’])"
_BEHIND = (
    rf"(?:\s?[,/(-]?\s?{_YEAR}\)?|,?\s(?:of\s)?{_CUT}|\s?/\s?{_SHORT}"
    rf"|,?\s(?:of|in|del|de|des|von)\s(?:the\syear\s)?{_YEAR})"
)
_OF_YEAR = (
    rf"(?:,?\s(?:of|in)\s(?:(?:the|this|that|last|next|each)\s)?(?:(?:calendar|fiscal)\s)?(?:year(?!-)|{_YEAR}|{_CUT})"
    rf"|\s(?:dell['’]\s?anno|del\saño|de\sl['’]\s?année|des\s(?:Kalender)?jahres)|\s(?:del|de|des\sJahres)\s{_YEAR})"
)
_ORDINAL = (
    r"(?:first|second|third|fourth|last|1st|2nd|3rd|4th"
    r"|prim[oa]|second[oa]|terz[oa]|quart[oa]|ultim[oa]|prim(?:er|ero)|segundo|tercer(?:o)?|cuarto|último"
    r"|premier|deuxième|troisième|quatrième|dernier|[1-4](?:er?|ère|[eè]me|[°ºªa])|IV|I{1,3})"
)
_UNDER_TEN = r"(?:one|two|three|four|five|six|seven|eight|nine)"
_TEENS = r"(?:ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)"
_TENS = r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_CALENDARS = r"(?:ISO|calendar|epi(?:demiolog(?:ical|ic))?|epidemic|MMWR|CDC|flu|influenza)"
_IN_NUMBERS_OR_WORDS = rf"(?:{_WEEK}|{_TENS}(?:[\s-]{_UNDER_TEN})?|{_TEENS}|{_UNDER_TEN})"
_WEEK_NUMBER = rf"(?:week|wk)\.?(?:\s?(?:no\.?|number|nr\.?|\#))?\s?{_IN_NUMBERS_OR_WORDS}"
# The last letters of the months.
_MONTHS_END = (
    "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|ept|oct|nov|dec|ary|rch|ril|une|uly|ust|ber|aio|rzo|ile|gio|gno|lio|sto|bre"
    "|ero|ayo|nio|ier|ars|mai|uin|let|oût|uar|ärz|uni|uli)"
)
_NO_DATE_BEFORE = (
    rf"(?<![0-9][/.-])(?<![0-9]\s)(?<![0-9],\s)(?<!{_MONTHS_END}\s)(?<!{_MONTHS_END}[.,]\s)(?<!{_MONTHS_END}-)"
)
_NOT_OF_THERAPY = (
    r"(?!\s(?:of(?!\sthe\syear)|post|on|after|CT|MRI|PET|CD4|scan|labs?|visit|dose|follow|check)(?![^\W_]))"
)
_WEEKS = (
    rf"{_CALENDARS}[\s-](?:week|wk)s?\.?(?:\s?(?:no\.?|number|nr\.?|\#))?\s?{_IN_NUMBERS_OR_WORDS}"
    rf"(?:\s?(?:-|–|to|and|&)\s?{_WEEK})?{_BEHIND}?",
    rf"{_WEEK_ALONE}(?:st|nd|rd|th)\s{_CALENDARS}[\s-]week{_BEHIND}?",
    rf"{_WEEK_NUMBER},?[ ]{_YEAR}(?![/.-][0-9])",
    # "3/21/2022, week 9 of chemotherapy", "Dx 2019, week 12 CT clean": counted from a date, it is of no year.
    rf"(?=[12]){_NO_DATE_BEFORE}{_YEAR}[ ]?(?:week|wk|KW)\.?[ ]?{_WEEK}{_NOT_OF_THERAPY}",
    rf"(?=[12]){_NO_DATE_BEFORE}{_YEAR},[ ]?(?:week|wk|KW)\.?[ ]?{_WEEK}(?=\s?(?:[.,;:)\n]|\Z))",
    rf"{_WEEK_NUMBER}{_OF_YEAR}",
    rf"{_WEEK_NUMBER}(?:[ ]?\([ ]?{_YEAR}[ ]?\)|,?[ ]{_CUT})",
    rf"(?:week|wk|CW|W|SE)\.?\s?(?:n[or]\.?\s?)?{_WEEK}\s?[/-]\s?{_YEAR}",
    rf"(?:in|since|until|by|from|during)\s(?P<w>(?-i:CW)\s?{_WEEK}{_BEHIND}?)",
    rf"{_YEAR}[\s-]?W(?:0[1-9]|[1-4][0-9]|5[0-3])(?:-?[1-7])?(?![^\W_])",
    # Of Keith and Wagener, "KW 2" is a grade; "5 KW" are kilowatts.
    rf"(?<![0-9]\s)(?<![0-9])(?-i:KW)\.?\s?(?:[1-4](?=\s?[/-]\s?(?:19|20)[0-9])|(?![1-4](?![0-9])){_WEEK})"
    rf"(?:\s?(?:-|–|bis|und|/)\s?(?:KW\s?)?{_WEEK})?{_BEHIND}?",
    rf"{_WEEK_ALONE}\.\s?(?:(?-i:KW)|Kalenderwoche){_BEHIND}?",
    rf"Kalenderwoche(?:\s?(?:Nr\.?))?\s?{_WEEK}{_BEHIND}?",
    rf"Woche\s{_WEEK}{_OF_YEAR}",
    rf"(?:settimana|semana|semaine|sett\.|sem\.)\s(?:(?:n(?:[.°ºro]{{1,2}})?|número|numero|nº)\s?)?{_WEEK}"
    rf"(?:\s?[/-]\s?{_YEAR}|[ ]?\([ ]?{_YEAR}[ ]?\)|,?[ ]{_YEAR})",
    rf"(?:settimana|semana|semaine)\s(?:ISO|epidemiol[oó]gica|épidémiologique|calendaire|solare|di\scalendario)"
    rf"(?:\s?n[.°º]{{0,2}}|\snúmero)?\s?{_WEEK}{_BEHIND}?",
    rf"(?:(?:settimana|semana|semaine)\s{_WEEK}|{_WEEK_ALONE}(?:{_ENDING})?"
    rf"\s(?:week|settimana|semana|semaine|Woche)){_OF_YEAR}",
)
_DAYS = (
    rf"(?:day|giorno|día|dia|jour|Tag)\s{_DAY}{_OF_YEAR}",
    rf"[0-9]{{1,3}}{_ENDING}?\s(?:day|giorno|día|dia|jour|Tag){_OF_YEAR}",
    rf"(?:julian\s(?:day|date)|day[\s-]of[\s-](?:the[\s-])?year|(?-i:DOY))\s?[:=#]?\s?{_DAY}{_BEHIND}?",
)
_NAMED = (
    r"(?:the\s)?(?:very\s)?(?:first|last|1st|final)\sday\sof\s(?:(?:the|this|last|that)\s)?(?:(?:calendar|fiscal)\s)?(?:year"
    r"|spring|summer|fall|autumn|winter)(?!\s(?:camp|break|school|job|semester|term))",
    r"(?:the\s)?(?:longest|shortest)\sday\sof\s(?:the|this|last)\syear",
    r"(?:il\s)?(?:primo|ultimo)\sgiorno\s(?:dell['’]\s?(?:anno|estate|autunno|inverno)|di\sprimavera)",
    r"(?:el\s)?(?:primer|último)\sdía\s(?:del\s(?:año|verano|otoño|invierno)|de\s(?:la\s)?primavera)",
    r"(?:le\s)?(?:premier|dernier)\sjour\s(?:de\sl['’]\s?(?:année|été|automne|hiver)|du\sprintemps)",
    r"(?:der\s|am\s)?(?:erste[nr]?|letzte[nr]?)\sTage?\sdes\sJahres",
)
_NOT_EVERY = (
    r"(?![^\W_]|\s?[-–/]\s?[0-9]|\s?(?:hours?|hrs?|h|days?|d|weeks?|wks?|w|months?|mos?|minutes?|mins?|shifts?|prn|waves?"
    r"|dos\w+|doses?|injections?|infusions?|infused|injected|eyes?|administration|cycles?|treatments?"
    r"|leads?|[ap]m)(?![^\W_]))"
)
_BARE = rf"(?:,?[ ]|[ ]?[/(-][ ]?)(?:{_YEAR}\)?|{_CUT})"
_QUARTERS = (
    rf"(?-i:Q[1-4])[\s/-]?(?:(?:of\s)?{_YEAR}|['’/][0-9]{{2}}(?![0-9])|[FC]Y\s?{_SHORT})",
    rf"(?-i:[1-4]Q)[\s/-]?(?:{_YEAR}|['’/]?[0-9]{{2}}(?![0-9]))",
    rf"(?:(?:in|during|since|by|until|till|through|before|after|end\sof|start\sof|beginning\sof|early|late|mid|last|this"
    rf"|next|previous|fiscal|[FC]Y|im|seit|bis|en|nel|au)[\s-])(?P<a>(?-i:Q[1-4]){_NOT_EVERY}(?:\s?[-–/]\s?Q[1-4])?)",
    r"(?-i:Q[1-4])(?=\s(?:visits?|reviews?|labs?|appointments?|follow-?ups?|reports?|results?)(?![^\W_]))",
    rf"(?-i:Q[1-4]){_OF_YEAR}",
    rf"{_ORDINAL}\s(?:(?:calendar|fiscal)\s)?(?:quarter|half|trimestre|semestre|semester)(?:{_OF_YEAR}|{_BARE})",
    rf"{_ORDINAL}\s(?:calendar|fiscal)\squarter",
    rf"(?:quarter|trimestre|semestre)\s(?:[1-4]|IV|I{{1,3}})(?:{_OF_YEAR}|{_BARE})",
    # Of a game, and the last one of a drink, is a quarter that stands alone.
    r"(?:since|until|till|by|during|throughout|end\sof|start\sof|beginning\sof|(?:early|late)\sin)\sthe\s"
    r"(?P<b>(?:first|second|third|fourth|last|1st|2nd|3rd|4th)\squarter)(?=\s?(?:[.;:)\n]|\Z))",
    r"(?:(?:erste|zweite|dritte|vierte|letzte)[nrsm]?|[1-4]\.|IV\.?|I{1,3}\.?)\s?(?:Kalender)?(?:quartals?|halbjahre?s?)"
    rf"(?:\s{_YEAR})?",
    rf"(?-i:H[12])[\s/-]?{_YEAR}",
)
_SEASON = r"(?:spring|summer|autumn|winter)(?:time)?"
_SEASONS = (
    # "s/p fall 2015" is no season.
    rf"(?:{_SEASON}\s(?:of\s)?|fall\sof\s)(?:{_YEAR}|['’][0-9]{{2}}(?![0-9]))",
    rf"(?:last|this|this\spast|next|past|previous|coming)\s(?P<c>{_SEASON})(?!\s(?:time\s)?(?:camp|job|school|cottage))",
    r"(?:primavera|estate|autunno|inverno|verano|otoño|invierno)\s(?:scors[oa]|passat[oa]|prossim[oa]|pasad[oa]|próxim[oa])",
    r"(?:printemps|été|automne|hiver)\s(?:derniers?|passé|prochain)|(?:letzte[nrsm]?|vorige[nrsm]?|nächste[nrsm]?|vergangene[nrsm]?)"
    r"\s(?:Frühjahr|Frühling|Sommer|Herbst|Winter)",
    rf"(?:primavera|estate|autunno|inverno|verano|otoño|invierno|printemps|été|automne|hiver|Frühjahr|Frühling|Sommer"
    rf"|Herbst|Winter)\s(?:del?\s|des\sJahres\s)?{_YEAR}",
)
_CLOCKS = (
    r"(?:the\s(?:night|day|weekend|sunday|morning|week)\s(?:that\s)?)?(?:when\s)?(?:the\s)?clocks?\s(?:went|go|goes|were|are"
    r"|have|had|got)?\s?(?:been\s)?(?:put\s|set\s|turned\s)?(?:changed?|back|forwards?|ahead)"
    r"(?:\s(?:an|one)\shour)?(?=\s?(?:[.,;:)\n]|\Z|and\s|he\s|she\s|they\s|in\s|on\s|this\s|last\s))",
    r"(?:the\s)?(?:night|day|weekend|week|sunday)\s(?:of\s)?(?:the\s)?(?:time|clock)\schange",
    r"(?:start|end|beginning)\sof\s(?:daylight\ssavings?(?:\stime)?|summer\stime|DST)",
    # A public event has one day.
    r"(?-i:(?:Hurricane|Superstorm|Typhoon|Tropical\sStorm)\s[A-Z][a-z]{2,12})",
    r"daylight\ssavings?(?:\stime)?(?:\s(?:weekend|sunday|change|day|switch))?",
    r"(?:Zeit|Uhren)umstellung|Sommerzeit|Winterzeit|Normalzeit",
    r"cambio\s(?:dell['’]\s?ora(?:rio)?|de\s(?:la\s)?hora)|ora\s(?:legale|solare)|horario\sde\s(?:verano|invierno)",
    r"hora\sde\s(?:verano|invierno)|changement\sd['’]heure|passage\sà\sl['’]heure\sd['’](?:été|hiver)"
    r"|heure\sd['’](?:été|hiver)",
)
_PARTS = re.compile(
    "(?<![^\\W_])(?:" + "|".join((*_WEEKS, *_DAYS, *_NAMED, *_QUARTERS, *_SEASONS, *_CLOCKS)) + ")(?![^\\W_])",
    re.IGNORECASE,
)
# What every one of them has, which is sooner looked for.
_ANY = re.compile(
    r"week|wk|woche|KW|settiman|seman|semain|W[0-5][0-9]|W [0-9]|day|giorno|d[ií]a|jour|tag\s|DOY|julian|Q[1-4]|[1-4]Q"
    r"|quarter|quartal|trimestre|semest|half|halbjahr|H[12]|spring|summer|autumn|winter|fall|primavera|estate|autunno"
    r"|inverno|verano|oto[nñ]o|invierno|printemps|été|automne|hiver|frühjahr|frühling|sommer|herbst|clock|time|saving"
    r"|hurricane|storm|typhoon|umstellung|zeit|cambio|ora\s|hora|heure|\bSE|\bCW",
    re.IGNORECASE,
)
_TIME = (
    r"[0-9]{1,2}[:.h][0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?(?:\s?(?:[ap](?:\.?m)?\.?|hrs?\.?|hours|h|uhr))?"
    r"|[0-2][0-9][0-5][0-9](?:\s?(?:hrs?|hours|h|uhr))?|[0-9]{1,2}\s?[ap]\.?m\.?"
)
_OFFSET = r"(?-i:UTC|GMT)\s?[+−-]\s?(?:0?[0-9]|1[0-4])(?::?[0-5][0-9])?"
# "14:05 est venu", "um 14:05 ist sie": in small letters a zone closes the phrase.
_SMALL = (
    rf"(?!(?:ist|west)(?![^\W_])){ZONES}"
    r"(?=\s?(?:[.,;:)\n]|\Z)|\s(?:on|by|and|with|when|he|she|pt|patient)(?![^\W_]))"
)
_ZONE = re.compile(
    rf"(?<![0-9:.])(?:{_TIME})\s?\(?(?P<name>{_OFFSET}|(?-i:{ZONES})|{_SMALL})(?![^\W_])"
    r"|(?<![0-9:])(?:[0-9]{2}:[0-5][0-9]:[0-5][0-9](?:[.,][0-9]{1,9})?|T[0-9]{2}:[0-5][0-9])\s?"
    r"(?P<minus>[-−](?:0[0-9]|1[0-2])(?::?(?:00|15|30|45))?)(?![0-9:])"
    r"|(?<![0-9:])[0-9]{2}[:h][0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?\s?"
    r"(?P<plus>\+(?:0[0-9]|1[0-4])(?::?(?:00|15|30|45))?)(?![0-9:])"
    r"|(?<![0-9])(?:19|20)[0-9]{10}(?:[0-9]{2})?(?:\.[0-9]{1,6})?(?P<stamp>[+-](?:0[0-9]|1[0-4])(?:00|15|30|45))(?![0-9])"
    rf"|(?<![^\W_])(?P<utc>{_OFFSET})(?![^\W_])"
    rf"|(?<![^\W_])(?P<ahead>(?-i:{ZONES}))(?=:?\s[0-9]{{1,2}}:[0-5][0-9](?![0-9]))"
    r"|(?<![^\W_])(?P<long>(?:Eastern|Central|Mountain|Pacific|Alaska|Atlantic|British|European)\s"
    r"(?:Standard|Daylight|Summer|Winter)(?:\sSavings?)?\sTime)(?![^\W_])",
    re.IGNORECASE,
)
_ES = (
    r"(?:un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|diecis[eé]is|diecisiete"
    r"|dieciocho|diecinueve|veint[a-zúéó]{1,9}|(?:treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa)(?:\sy\s"
    r"(?:un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve))?)"
)
_FR = (
    r"(?:(?:vingt|trente|quarante|cinquante|soixante|quatre-vingts?|quatre\svingts?)(?:[\s-](?:et[\s-])?(?:une?|deux|trois"
    r"|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|dix-sept|dix-huit|dix-neuf))?"
    r"|dix-sept|dix-huit|dix-neuf|une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze"
    r"|seize)"
)
_DE = (
    r"(?:eins?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|(?:drei|vier|fünf|sech|sieb|acht|neun)zehn"
    r"|(?:(?:ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun)und)?(?:zwan|drei|vier|fünf|sech|sieb|acht|neun)[zß]ig)"
)
_IT = (
    r"(?:uno|due|tr[eé]|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|(?:tre|quattor|quin|se)dici"
    r"|dicia(?:ssette|nnove)|diciotto|(?:vent|trent|quarant|cinquant|sessant|settant|ottant|novant)[aio]?"
    r"(?:uno|due|tr[eé]|quattro|cinque|sei|sette|otto|nove)?)"
)
# Behind a word for a time alone are these a year; elsewhere as often an amount.
_MONTHS_ABROAD = (
    r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre|gennaio|febbraio|aprile"
    r"|maggio|giugno|luglio|settembre|ottobre|dicembre|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre"
    r"|novembre|décembre"
)
_CUE = (
    r"(?<![^\W_])(?:in|since|until|till|during|year|by|before|after|circa|around|and|to|or|spring|summer|fall"
    r"|(?:january|february|march|april|may|june|july|august|september|october|november|december)(?:[\s,]+of)?"
    rf"|autumn|winter|(?:{_MONTHS_ABROAD})(?:[\s,]+del?)?|(?:(?:en|desde|hasta)\s(?:el\s)?|el\s)?año(?:\sde)?"
    r"|en|del|(?:en|desde|hasta)\sel|desde|hasta|depuis|année|l['’]an|dès|nel|dal|anno)[\s,]{1,2}"
)
# Two digits of a year.
_TENS_OF_CENTURY = r"(?:thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_TENS_ABROAD = (
    r"(?:(?:treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa)(?:\sy\s(?:uno|dos|tres|cuatro|cinco|seis|siete|ocho"
    r"|nueve))?|(?:trent|quarant|cinquant|sessant|settant|ottant|novant)[aiou][a-zé]{0,8}|(?:novant|ottant|settant)otto"
    r"|(?:soixante|quatre[\s-]vingt)[\s-](?:et[\s-])?[a-z]{2,8}(?:[\s-](?:sept|huit|neuf))?)"
)
_IN_WORDS = re.compile(
    rf"(?<![^\W_])(?:(?P<a>(?:nineteen|twenty)[\s-]+(?:hundred|o(?:h|ught)?[\s-]{_UNDER_TEN}|{_TEENS}"
    rf"|{_TENS}(?:[\s-]{_UNDER_TEN})?))"
    rf"|{_CUE}(?P<b>two[\s-]thousand(?:[\s-]and)?(?:[\s-](?:{_TEENS}|{_TENS}(?:[\s-]{_UNDER_TEN})?|{_UNDER_TEN}))?)"
    rf"|(?P<c>mille\s?(?:e\s)?novecento(?:\s?{_IT})?)|(?P<d>duemila(?:\s?(?:e\s)?{_IT}))|{_CUE}(?P<e>duemila)"
    rf"|(?P<f>mil\snovecientos(?:\s{_ES})?)|{_CUE}(?P<g>dos\smil(?:\s{_ES})?)"
    rf"|(?P<h>(?:mil(?:le)?\sneuf[\s-]cents?|dix-neuf[\s-]cents?)(?:[\s-]{_FR})?)|{_CUE}(?P<i>deux[\s-]mille(?:[\s-]{_FR})?)"
    rf"|(?:back\sin|year\sof)\s(?P<l>{_TENS_OF_CENTURY}(?:[\s-]{_UNDER_TEN})?)"
    rf"|(?:in|since|back\sin)\s(?P<m>(?:oh|ought|aught)[\s-]{_UNDER_TEN})(?![\s,-]+(?:{_UNDER_TEN}|oh|zero)(?![^\W_]))"
    rf"|(?:año|anno|année|l['’]an)\s(?P<n>{_TENS_ABROAD})"
    rf"|(?P<j>neunzehnhundert{_DE}?)|(?P<k>zweitausend(?:und)?{_DE}))(?![^\W_]|[\s-](?:hundred|cent|cien)|-[^\W\d_])",
    re.IGNORECASE,
)
_ANY_IN_WORDS = re.compile(
    r"nineteen|twenty|thousand|mille|duemila|mil\s|zweitausend|neunzehn|dix-neuf|back\sin|\soh[\s-]|aught|ought|año\s|anno\s|année\s|l['’]an\s",
    re.IGNORECASE,
)


# What is measured just before a number in words, which is then no year.
_MEASURE_BEFORE = re.compile(
    r"(?<![^\W_])(?:k?cal\w{0,9}|kilocal\w{3,9}|wbc|white\s(?:blood\s)?(?:cells?|count)|counts?|platelets?|vision|acuity|VA|OD|OS|OU"
    r"|diet[ae]?|leu[ck]o\w{3,9}|globuli|globules|neutro\w{3,9}|plaquet\w{2,6}|piastrine|visus|visión|agudeza|acuité|peso|pes[aóò]"
    r"|weigh(?:t|s|ed|ing)|poids|pèse|gewicht|glucos\w|glucemia|glicemia|glycémie|troponin\w?|ferritin\w?|bnp|ck|crp|lipas[ea]"
    r"|dos(?:es?|is|i|age)|fluids?|volumes?|output|intake|total|diuresis|diuresi|diurèse)"
    r"(?:\s?[:=]|\s(?:of|de|di|is|was|at|about|around|to|es|fue|è|était|est|in|from|down|up|between)){0,3}\s{0,3}\Z",
    re.IGNORECASE,
)
_BEFORE = 48


_MONTH_NAMES = any_of(
    {word for tongue in LANGUAGES for word in month_words(tongue, short=False)}
    | {*month_words("en", short=True)} - {"May"}
)
# "too early may harm".
_MONTH = (
    rf"(?!(?-i:may)(?![^\W_]))(?:{_MONTH_NAMES})(?![^\W_])(?:\.(?=,?\s(?:19|20)[0-9]{{2}}))?"
    rf"(?:,?\s(?:of\s|del?\s)?{_YEAR})?(?!\s?[0-9])"
)
_NTH = r"[0-3]?[0-9](?:st|nd|rd|th)"
_NO_NAME = re.compile(
    r"[^\WA-Z][^A-Z]*|(?:KW|CW|SE|Sem|Sett|Semaine|Semana|Settimana|Week|Wk|WEEK|WK|Woche|Kalenderwoche)\.?"
)
_OF_MONTHS = re.compile(
    r"(?<![^\W_])(?:"
    rf"(?:early|mid|late|inizio|metà|fine|début|mi(?=-)|fin|Anfang|Mitte|Ende)[\s-](?:in\s|of\s|di\s|de\s|d['’])?{_MONTH}"
    rf"|(?:(?:beginning|start|middle|end|half|part)\sof|(?:principios|mediados|finales|comienzos|milieu)\sde)\s{_MONTH}"
    r"|(?:first|second|third|fourth|last|1st|2nd|3rd|4th)\s(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|week(?:end)?)"
    rf"\s(?:of|in)\s{_MONTH}"
    rf"|{_NTH}(?:(?:\s?,\s?(?:and\s|or\s|&\s)?|\s(?:and|or|&)\s)(?:on\s)?(?:the\s)?{_NTH}){{1,12}}\s(?:of\s)?{_MONTH})",
    re.IGNORECASE,
)


def parts_of_years(text: str, ordered: Sequence[Span], *, years_in_words: bool) -> list[Span]:
    """What tells of a time of a year, each with the dates that were found within it.

    Args:
        text: The note's text.
        ordered: What was found in it, in order, without overlap.
        years_in_words: Whether years in words are looked for too, and what tells of a time of a month.

    Returns:
        One DATE span for each, in order; but for zones, none where something else than a date stands.
    """
    found: list[Span] = []
    for start, end, zone in sorted(_places(text, years_in_words=years_in_words)):
        across = [span for span in ordered if span.start < end and span.end > start]
        dates = [span for span in across if span.label is Label.DATE]
        # A zone within a date is cut from it where it moves; one behind a time is no name, whatever was read there.
        # Nor is a word in small letters or one for a week within such a phrase: "settimana" in an English note.
        others = [
            span
            for span in across
            if span.label is not Label.DATE
            and not (start <= span.start and span.end <= end and _NO_NAME.fullmatch(text, span.start, span.end))
        ]
        if (dates and zone) or (others and not zone):
            continue
        start, end = min([start, *(s.start for s in across)]), max([end, *(s.end for s in across)])
        if found and start < found[-1].end:
            start, end = found[-1].start, max(end, found[-1].end)
            found.pop()
        found.append(Span(start, end, Label.DATE, source=SOURCE))
    return found


def is_measured(text: str, start: int) -> bool:
    """Whether what stands before a number in words is measured, so that the number is no year."""
    return _MEASURE_BEFORE.search(text, max(0, start - _BEFORE), start) is not None


def _places(text: str, *, years_in_words: bool) -> Iterator[tuple[int, int, bool]]:
    """Where each stands, and whether it is a zone."""
    if _ANY.search(text):
        yield from ((*_part(match), False) for match in _PARTS.finditer(text) if not _a_grade(match))
    yield from ((*_part(match), True) for match in _ZONE.finditer(text))
    if years_in_words:
        yield from ((*match.span(), False) for match in _OF_MONTHS.finditer(text))
    if years_in_words and _ANY_IN_WORDS.search(text):
        for match in _IN_WORDS.finditer(text):
            start, end = _part(match)
            if not is_measured(text, start) and not _amount_behind().match(text, end):
                yield start, end, False


def _part(match: re.Match[str]) -> tuple[int, int]:
    """What of a match is meant: the group that took part, where it has one."""
    return match.span(match.lastgroup) if match.lastgroup else match.span()


def _a_grade(match: re.Match[str]) -> bool:
    """Whether "KW 12" is something of an eye rather than a week."""
    if not match.group().startswith("KW"):
        return False
    around = match.string[max(0, match.start() - 40) : match.end() + 40].casefold()
    return any(word in around for word in ("retinopath", "fundus", "keith", "wagener", "lens", "linse", "iol"))


@cache
def _amount_behind() -> re.Pattern[str]:
    """What behind a number in words makes it an amount, or a sharpness of sight."""
    source = (resources.files("deid_platform.redaction") / "data" / "unit_words.txt").read_text(encoding="utf-8")
    words = [word for line in source.splitlines() if not line.startswith("#") for word in line.split()]
    units = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.compile(
        rf"[\s-]{{0,3}}(?:{units}|vision|acuity|in\s(?:both|the\s(?:left|right))|OU|OD|OS|percent|times|degrees|dollars"
        r"|days|weeks|months|years"
        r"|gramm[io]|gramos|grammes|calorías?|calorias?|Kalorien|kilocalor\w+|litros|litri|pasos|passi|células|cellul[ae]s?"
        r"|unidades|unités|unità|Einheiten|euros?|%)(?![^\W_])",
        re.IGNORECASE,
    )
