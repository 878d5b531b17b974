"""Validators of initials in Italian text: whether letters with points are a person's initials or an abbreviation.

Belongs here: the validators that `initials.yaml` names. Does not belong here: names that are written out
(`people.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.engine.validator import Interval, validator

# What Italian records write with points, though a person may have the same initials.
# Source: the project's own, from general knowledge of Italian records.
_ABBREVIATIONS = frozenset(
    """
    adi af ao aou ap apgr apr ar asa asl asp bav bcg bmi bpco ca cad cb cc cf ch chc cht ci cpap crp cta ctu cv cvc
    de dh dm dpt ds ea ecg ecmo eeg ef ega egds em emg en eo eog ep epo er ete ev fa fans fc fe fev fkt fr fv ga gb gcs
    gh gr hb hbv hcv hdl hiv hpv icd ictu ig im ima inr ira irc irs iv ivg ivu kw la ldl les lla lma lmc mav mc mcv mi
    mmg mts mv nac nas npt nyha od oe om os osas pa pac pacs pb pc pcr pcv pe peg pet pit pl plt pm pnx po pp ppi ps
    psa pt pta ptt pv pvc ra rao rbc rcp rgo rm rmn rsa rt rx sa sao sc scad sert sl sla sm sn snc sng snp so spdc
    ss ssn ssr sv svt ta tac tao tb tbc tc td te tea tep ti tia tipss tnf tp tr ts tsa tsh tso tt tv tvp ud uo uoc
    uos usl uti utic va vas ve ves vm vn vni vs wbc
    """.split()  # noqa: SIM905 - a list literal would take forty lines
)
_FEW = 2  # letters of initials that an age behind them makes somebody's, whatever else they stand for
_OF_A_PERSON = regex.compile(
    r"[ ]?[,(]?[ ]{0,2}(?:(?:di[ ]|circa[ ]){0,2}\d{1,3}[ ]?(?:anni|aa)|(?:di[ ])?(?:anni|aa\.?|età)[ ]\d"
    r"|[FM]\.?,?[ ]\d|[♂♀]|(?i:sesso|(?:una?[ ])?(?:donna|uomo|maschio|femmina|bambin[oa]|ragazz[oa])|nat[oa]"
    r"|riferi(?:sce|va)|nega(?:va)?|lamenta(?:va)?|giunge(?:va)?|vive(?:va)?"
    r"|vien[ei](?:va)?[ ](?:ricoverat|visitat|dimess|trasferit|inviat)[oa])(?!\p{L}))"
)
_BEGINS = regex.compile(r"(?:^|[\r\n]|[.!?;:][ \t])[ \t]*\Z")


@validator
def italian_initials(text: str, start: int, end: int) -> Interval | None:
    """Initials; a common abbreviation is a person's only if an age, a sex or a person's verb follows."""
    letters = _letters(text[start:end])
    somebody = letters not in _ABBREVIATIONS or (len(letters) <= _FEW and _OF_A_PERSON.match(text, end) is not None)
    return (start, end) if somebody else None


@validator
def italian_initials_first(text: str, start: int, end: int) -> Interval | None:
    """As `italian_initials`; a common abbreviation is a person's only at the start of a sentence."""
    begins = _BEGINS.search(text, max(0, start - 8), start) is not None
    return italian_initials(text, start, end) if begins or _letters(text[start:end]) not in _ABBREVIATIONS else None


def _letters(surface: str) -> str:
    return "".join(c for c in surface.lower() if c.isalpha())
