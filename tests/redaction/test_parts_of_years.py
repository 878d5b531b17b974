"""Weeks, quarters, days of the year, zones and years in words: hits in [[...]], and near misses."""

import re

import pytest

from deid_platform.labels import Label
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Note, Span, Topics
from deid_platform.redaction.parts_of_years import parts_of_years
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact
from deid_platform.surrogates.date_order import DateOrder, DateWriting
from deid_platform.surrogates.keyed import Surrogates
from tests.redaction.test_shifted import KEYRING, TOPICS

MARK = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
HITS = """
seen in [[ISO week 9]], [[calendar week 12]] and [[epi week 9 of 2018]]
the [[MMWR week 9/2018]]; [[flu week 3]]
in [[week 9 of the year]], in [[week 9 of 2018]], [[wk 9 of 2018]]
[[week 9, 2018]], in [[2018 week 9]], the [[9th ISO week]], [[ISO week nine]], [[calendar week twenty-two]]
in der [[KW 9 und KW 09/2018]], in der [[9. KW]], [[Kalenderwoche 9]]
[[KW 9-11]] und [[9. Kalenderwoche 2018]]
Woche: [[Woche 9 des Jahres]]
sampled [[2018-W09]], [[2018W09-3]], [[W09-2018]]
[[settimana epidemiologica 9]], [[settimana 9 dell'anno]], [[semana epidemiológica 9]], [[semana 9 del año]]
[[semaine 9 de l'année]], [[9e semaine de l'année]], the [[9th week of the year]]
on [[day 63 of the year]], the [[63rd day of the year]], [[day 63 of 2018]], [[julian day 063]], [[DOY: 63]]
[[giorno 63 dell'anno]], [[Tag 63 des Jahres]], [[día 63 del año]], [[jour 63 de l'année]]
in [[2018 week 9]], in [[2018, week 9]]. ([[2018, week 9]]) since [[2018 week 9]] he
[[Week nine of 2022]], [[week 9 (2022)]], [[week no. 9 of 2022]], [[wk 9 '22]], [[week 9 of '22]], in [[CW 9]]
[[semaine 12/2022]], [[settimana 12/2022]], [[semana 12/2022]], [[Semaine n° 12/2022]], [[sett. 12/2022]]
[[premier trimestre 2022]], [[primo trimestre 2022]], [[II trimestre 2021]], [[primer trimestre 2022]]
[[2e trimestre 2021]], [[2ème semestre 2021]], [[first quarter 2022]], [[trimestre 2 2021]], [[first half 2019]]
in [[Q1]], since [[Q3]], end of [[Q2]], last [[Q4]]; [[Q1 2018]], [[Q3'19]], [[3Q 2018]], [[Q1]] visit
Q1, by the end of the [[second quarter]].
since the [[first quarter]]; in the [[first quarter of the year]], [[first quarter of 2018]], [[third fiscal quarter]]
im [[ersten Quartal]], [[2. Quartal 2018]], [[primo trimestre dell'anno]], [[segundo trimestre del año]]
[[premier trimestre de l'année]], [[first half of 2018]], [[H2 2018]], [[zweites Halbjahr]]
[[spring 2018]], [[summer of 2018]], last [[winter]], this past [[summer]], [[verano de 2018]], [[Herbst 2018]]
[[the night the clocks went back]], [[when the clocks changed]], [[the clocks go forward]] in a week
the [[start of daylight savings]], [[Zeitumstellung]], [[cambio dell'ora]], [[cambio de hora]], [[ora legale]]
14:05 [[EST]], 2:05 pm [[EDT]], 14:05:33 [[CEST]], 1405 [[BST]], 14:05 ([[CET]])
14:05:33[[+01:00]], 14:05[[+0200]], 14:05:33[[-05:00]], T14:05[[-04:00]], [[UTC+2]], [[GMT-05:00]]
[[Eastern Daylight Time]]
2:05 P [[EDT]], 21:05 HRS [[EST]], 14:05 [[GMT+1]], 14:05 [[UTC-05:00]], 14h05 [[+0200]], [[EDT]] 14:05, 14:05 [[est]]
14:05 [[edt]] by the nurse
at 20220410140500[[+0100]], 202204101405[[-0400]]
l'[[été dernier]], [[inverno scorso]], [[verano pasado]], [[letzten Sommer]]
seen on the [[5th, on the 6th and 9th of March]], [[first Monday of May]], [[second Sunday in March 2022]]
the [[last week of March 2022]], [[2nd week of April]]
[[Beginning of February 2022]], [[early March]], [[mid-March 2022]], [[end of May]], [[fin mai 2020]], [[fine marzo]]
fell [[the last day of the year]], [[the first day of spring]], [[longest day of the year]], [[ultimo giorno dell'anno]]
lost the house in [[Hurricane Katrina]], thyroid storm
in [[nineteen ninety-eight]], [[twenty eighteen]], since [[two thousand and nine]], in [[two thousand eighteen]]
[[nineteen oh five]], nel [[duemiladiciotto]], nel [[millenovecentonovantotto]]
back in [[ninety-eight]], in [[oh-nine]], en el año [[noventa y ocho]], desde el [[dos mil diez]]
marzo de [[dos mil diez]]
en [[mil neuf cent quatre-vingt-dix-huit]], nell'anno [[novantotto]], April of [[two thousand ten]]
en [[dos mil dieciocho]], en [[mil novecientos noventa y ocho]]
en [[deux mille dix-huit]], en [[mille neuf cent quatre-vingt-dix-huit]]
[[neunzehnhundertachtundneunzig]], [[zweitausendachtzehn]]
""".strip().splitlines()
MISSES = """
Q4H, q1h, Q1 hour, q4 hours, Q6 prn, Q1-2H, Q3 days, changed in Q1H dosing
Q1: 3 points, Q2: 4 points; S1Q3T3
week 9 of chemo, week 32 of pregnancy, at 32 weeks, wk 2 post-op, cycle 2 week 3, week 6 in rehab
Drained the last quarter. Hurt in the third quarter, the first quarter, of the field; KW 12 lens, IOL in KW 12
early Q3 dosing, last Q4 dose, next Q3 injection, day 5 of the year-long trial, worse in the summer
too early may harm, start may help, Monday in March, Dr. Sommer, he first sat in March
doing fine, early marching, MI June, beginning in September, too late, end of the day
CW 9 probe, la semana 12, semaine 12 de grossesse
9 KW, 150 kW, 3.5 KW; hypertensive retinopathy KW 2, KW II; fundus: KW 3
first quarter of the femur, quarter tablet, a quarter of a tablet, in the third quarter of the game
the third quarter mile, week nine of chemo, week nine
lower quarter, hindquarter, first quarter mile, last half of the colon, first half of the day
primo trimestre di gravidanza, primer trimestre del embarazo, premier trimestre de grossesse, first trimester
day 3 of antibiotics, day 28 of cycle, day 1 of life, hospital day 9, POD 3, 3rd day of fever
first day of summer camp, last day of chemo, the first day of fever
spring allergies, winter coat, fall from bed, s/p fall, Mr. Winter, Summers
clock drawing, clocked out, biological clock, went back home at six, time changes
12 CET tablets, EST scheduled, est. 14:05 arrival, PST muscle, 14:05 PT, at 14:05 pst massage
à 14h05 est arrivé, um 14:05 ist sie, 14:05 West wing, 14:05 west, 14:05 cetirizine, EST 12 mg
08:00-12:00, 08:00 - 10:00, 14:05Z, 10:15+2, 120/80+10, pH 7.35 -01:00
Calories of two thousand ten daily, WBC of nineteen thirteen, Vision twenty twenty, VA twenty forty
weight of two thousand ten
dieta de dos mil calorías, leucocitos de mil novecientos, peso duemiladieci grammi, gasto de dos mil diez
ratio of two thousand
in oh nine one four, back pain in ninety-eight patients, el primer año dos veces
twenty twenty vision, twenty-twenty in both eyes, nineteen pounds, twenty-one days, twenty thirty minutes
two thousand units, gave two thousand mL, of two thousand milligrams, two thousand five hundred, duemila unità
duemilacinquecento, dos mil unidades, tomó mil, deux mille unités, zweitausend Einheiten, twenty-two hundred
W 9, W99, SE 9, half of the dose, H1 blocker, H2 antagonist, H2 blockers, Q10
""".strip().splitlines()


@pytest.mark.parametrize("line", HITS)
def test_what_tells_of_a_time_of_the_year_is_found_whole(line: str):
    text = MARK.sub(r"\1", line)
    found = parts_of_years(text, [], years_in_words=True)
    assert [text[span.start : span.end] for span in found] == MARK.findall(line)


@pytest.mark.parametrize(
    "text",
    [
        "Seen 3/21/2022, week 9 of chemotherapy",
        "March 21, 2022 week 12 of pregnancy",
        "since Mar. 2022, week 9, and 21-MAR-2022 week 3",
        "Dx 2019, week 12 CT clean",
        "Dx 2019 week 12 of chemo",
        "enrolled 3/2022, week 24 CD4 500",
        "2022\nweek 9: well. Week 24\n2022 labs",
    ],
)
def test_a_week_counted_from_a_date_is_of_no_year(text: str):
    assert parts_of_years(text, [], years_in_words=True) == []


@pytest.mark.parametrize("line", MISSES)
def test_what_only_looks_so_stays(line: str):
    assert [line[s.start : s.end] for s in parts_of_years(line, [], years_in_words=True)] == []


def test_a_word_in_small_letters_within_it_is_no_name():
    text = "settimana 12/2022, Sommer 2018, KW 12/2022"
    names = [Span(0, 9, Label.PATIENT), Span(19, 25, Label.PATIENT), Span(32, 34, Label.HOSPITAL)]
    found = parts_of_years(text, names, years_in_words=True)
    assert [text[s.start : s.end] for s in found] == ["settimana 12/2022", "KW 12/2022"]


@pytest.mark.parametrize(
    "period",
    [
        "early 2022",
        "late 2022",
        "mid-2022",
        "end of 2022",
        "beginning of 2022",
        "début 2022",
        "fin 2022",
        "metà 2022",
        "inizio 2022",
        "principios de 2022",
        "mediados de 2022",
        "Anfang 2022",
        "early February 2022",
    ],
)
def test_a_word_for_a_part_of_a_year_goes_with_it(period: str):
    assert released(f"on {{2/3/2022}}, {period}, in 2021").split(", ")[1] == "[DATE]"
    # A day beside the month is a date, and "MI 2017" no middle of a year.
    text = "discharged early March 3, 2022, MI March 2022"
    assert parts_of_years(text, [Span(17, 30, Label.DATE)], years_in_words=True) == []


def test_a_date_within_goes_with_it_and_nothing_else_does():
    text = "in KW 9/2018 at Q1 2018"
    found = parts_of_years(text, [Span(6, 12, Label.DATE)], years_in_words=False)
    assert [text[s.start : s.end] for s in found] == ["KW 9/2018", "Q1 2018"]
    assert parts_of_years("Bay 2018-W09", [Span(4, 12, Label.IDNUM)], years_in_words=False) == []


@pytest.mark.parametrize("label", [Label.DOCTOR, Label.HOSPITAL])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("on 4/10/2022 at 2:05 PM {EDT}", "on 4/10/2022 at 2:05 PM [DATE]"),
        ("at 21:05 {HRS EST} now", "at 21:05 [DATE] now"),
        ("at 14:05 {Eastern Daylight Time}", "at 14:05 [DATE]"),
        ("{EDT} 14:05", "[DATE] 14:05"),
    ],
)
def test_a_zone_beside_a_time_is_no_name_and_leaks_as_one(text: str, shown: str, label: Label):
    start, end = text.index("{"), text.index("}") - 1
    text = text.replace("{", "").replace("}", "")
    span = Span(start, end, label)
    rules = load_policy("surrogate")
    surrogates = Surrogates(KEYRING, TOPICS, writing=DateWriting(DateOrder.MONTH_FIRST))
    note = Note("n1", text, "p1")
    assert redact(note, [span], rules, surrogates=surrogates).text == shown
    named = f"{text[:start]}RWP{text[end:]}"
    check = LeakCheck.of(Topics(), rules)
    kinds = {leak.kind.value for leak in check.check(note, (), named, [span], lengths=[3])}
    assert "date-shape" in kinds
    # A name that stands behind a time is no zone.
    other = Note("n2", "at 14:05 Kim", "p1")
    assert check.check(other, (), "at 14:05 RWP", [Span(9, 12, label)], lengths=[3]) == ()


def released(text: str, policy: str = "surrogate") -> str:
    """A note in which detection found the dates in braces; the leak check has nothing against what comes out."""
    rules = load_policy(policy)
    plain = text.replace("{", "").replace("}", "")
    spans, gone = [], 0
    for match in re.finditer(r"\{(.*?)\}", text):
        spans.append(Span(match.start() - gone, match.end() - gone - 2, Label.DATE))
        gone += 2
    surrogates = Surrogates(KEYRING, TOPICS, writing=DateWriting(DateOrder.MONTH_FIRST))
    note = Note("n1", plain, "p1")
    done = redact(note, spans, rules, surrogates=surrogates if rules.uses_surrogates else None)
    assert LeakCheck.of(Topics(), rules).check(note, (), done.text, done.applied, lengths=done.lengths) == ()
    return done.text


@pytest.mark.parametrize("policy", ["surrogate", "gdpr_it"])
def test_a_tag_takes_its_place_where_dates_move_or_become_tags(policy: str):
    text = "in ISO week 9, KW {9/2018}, Q3 {2018}, day 63 of the year, in nineteen ninety-eight, at 14:05 CEST"
    assert released(text, policy) == "in [DATE], [DATE], [DATE], [DATE], in [DATE], at 14:05 [DATE]"


def test_under_safe_harbor_what_is_finer_than_a_year_goes_and_a_year_in_words_stays():
    text = "in ISO week 9 of 2018, in {2018}, in nineteen ninety-eight, Q3 visit"
    assert released(text, "safe_harbor") == "in [DATE], in [DATE 2018], in nineteen ninety-eight, [DATE] visit"
    assert released(text, "limited_dataset") == text.replace("{", "").replace("}", "")


def test_under_safe_harbor_the_year_of_a_season_stays():
    text = (
        "in the fall of 2002, spring of 2007, verano de 2018; last winter, winter of 1925, ISO week 9 of 2018, s/p fall"
    )
    shown = "in the [DATE 2002], [DATE 2007], [DATE 2018]; last [DATE], [DATE], [DATE], s/p fall"
    assert released(text, "safe_harbor") == shown


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("2019-03-04T14:05:00+01:00", "T14:05:00"),
        ("2019-03-04T14:05:00-05:00", "T14:05:00"),
        ("2019-03-04T14:05-05:00", "T14:05"),
        ("2019-03-04 14:05 EST", " 14:05"),
        ("2019-03-04 2:05 PM EDT", " 2:05 PM"),
        ("2019-03-04T14:05:00.000+02:00", "T14:05:00.000"),
        ("2019-03-04T14:05:00Z", "T14:05:00Z"),
        ("20190304140500-0400", "140500"),
        ("20190304140500+0100", "140500"),
        ("2019-03-04 14:05-15:30", " 14:05-15:30"),
    ],
)
def test_summer_and_winter_time_are_cut_from_a_date_that_moves(written: str, time: str):
    assert re.fullmatch(r"at \d{4}-?\d\d-?\d\d" + re.escape(time), released(f"at {{{written}}}"))
