"""Which named days the patterns find in a text alone: [[value|DATE]] marks all that must be found in a line.

A line break inside a line is written as ⏎.
"""

from __future__ import annotations

import pytest
from marked_text import found_in, lines, plain

from deid_platform.lexicon.lists import written_terms

HOLIDAYS = """
on [[Christmas Eve|DATE]]
home for [[Thanksgiving|DATE]] with family
fell on [[New Year's Day|DATE]]
last drink on the [[4th of July|DATE]]
fasting for [[Ramadan|DATE]]
since [[Mother's Day|DATE]]
a visit at [[Easter|DATE]]
on [[christmas eve|DATE]] and ON [[CHRISTMAS DAY|DATE]] HE
over [[Xmas|DATE]] and at [[X-mas|DATE]]
2 days before [[Christmas|DATE]]
the morning after [[Thanksgiving|DATE]]
over [[Thanksgiving weekend|DATE]] and the week of [[Thanksgiving|DATE]]
at [[T-giving|DATE]] and on [[Turkey Day|DATE]]
on [[New Year’s Eve|DATE]], [[New Years Eve|DATE]] and [[new year's eve|DATE]]
since [[New Years|DATE]], since [[new years|DATE]] and on [[NYE|DATE]]
over [[New Year|DATE]] he fell
on the [[4th of july|DATE]], the [[Fourth of July|DATE]] and [[July Fourth|DATE]]
on [[MLK Day|DATE]] and [[Martin Luther King Day|DATE]]
on [[Labor Day|DATE]], since [[labor day|DATE]] and over [[Labor Day weekend|DATE]]
on [[memorial day|DATE]] and [[Veterans' Day|DATE]]
on [[Presidents' Day|DATE]] and [[Columbus Day|DATE]]
on [[juneteenth|DATE]] and [[HALLOWEEN|DATE]]
on [[St. Patrick's Day|DATE]] and [[St Paddy's Day|DATE]]
on [[mother's day|DATE]] and [[Fathers Day|DATE]]
on [[Super Bowl Sunday|DATE]] and [[Black Friday|DATE]]
on [[Mardi Gras|DATE]] and [[Ash Wednesday|DATE]]
on [[good friday|DATE]] and [[easter sunday|DATE]]
gave up meat for [[Lent|DATE]]
on [[All Saints' Day|DATE]] and [[Pentecost|DATE]]
at [[Orthodox Easter|DATE]]
on [[Yom Kippur|DATE]], [[Rosh Hashanah|DATE]] and [[yom kippur|DATE]]
during [[Hanukkah|DATE]], [[Sukkot|DATE]] and [[Passover|DATE]]
after [[Eid al-Fitr|DATE]] and on [[Eid|DATE]]
on [[Diwali|DATE]] and on [[Holi|DATE]]
over [[Lunar New Year|DATE]] and during [[Tet|DATE]]
on [[election day|DATE]] and [[Groundhog Day|DATE]]
on [[Boxing Day|DATE]] and the [[August Bank Holiday|DATE]]
since [[9/11|DATE]]
a [[Natale|DATE]], a [[pasqua|DATE]] e a [[Ferragosto|DATE]]
alla [[vigilia di Natale|DATE]]
il [[Venerdì Santo|DATE]] e a [[Pasquetta|DATE]]
all'[[Epifania|DATE]] e per l'[[Immacolata|DATE]]
la [[Festa della Repubblica|DATE]]
en [[Nochebuena|DATE]] y en [[Semana Santa|DATE]]
à [[Noël|DATE]], à [[Pâques|DATE]]
an [[Heiligabend|DATE]] und zu [[Weihnachten|DATE]]
before [[Labor⏎Day|DATE]] he
on [[New Year's⏎Eve|DATE]] he
"""

NO_HOLIDAYS = """
Christmas disease
Christmas tree bladder
a christmas tree pattern
a Christmas card
Christmas Island
Easter egg allergy
labor day 2
Labor Day #2
in labor day
labor and delivery
functional independence, day program
mother's day shift
her mother's day program
Memorial Day Surgery
in the New Year
happy new year
an epiphany about drinking
EID
TET spells
she lent him money
flag day
tax return day
fat Tuesday
black friable mass
città natale
cute immacolata
boxing injury
advent of symptoms
valentine
"""


@pytest.mark.parametrize("line", lines(HOLIDAYS))
def test_exactly_the_marked_days_are_found(line: str) -> None:
    assert found_in(plain(line).replace("⏎", "\n")).replace("\n", "⏎") == line


@pytest.mark.parametrize("line", lines(NO_HOLIDAYS))
def test_things_and_words_called_like_a_day_are_none(line: str) -> None:
    assert found_in(line) == line


def test_every_listed_day_is_found_after_a_word_of_dates() -> None:
    missed = [name for name in written_terms("holidays") if f"[[{name}|DATE]]" not in found_in(f"ill since {name}, he")]
    assert missed == []
