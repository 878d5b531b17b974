"""A street, a town, a state or a house written by a pattern.

Belongs here: what the tokens of a place's pattern stand for. Does not belong here: the plain slots (`places`), people,
dates and numbers (`forms`) or the patterns themselves (`data/ways`).

A pattern is copied as it stands, except for its tokens:

    streets (`{patient.street~%h %n %t, Apt %u}`; any `.street`)
        %h  house number          %n  name             %t %T  kind of street, short and in full
        %u  number of a unit      %d %D  a direction, its letter and in full
    towns and states (any `.city`, `.state`, `.state_name`)
        %c  the name              %a  its beginning    %x  with a slip       %3  its first three letters
    houses and firms (any `.name`)
        %f  the name              %s %S  usual abbreviations in it, without and with full stops
        %i %I  initials, plain and with full stops     %1 %2  the first word, the first two    %j  run together
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from deid_platform.corpora.hospital import slots
from deid_platform.corpora.hospital.chart import Chart
from deid_platform.corpora.hospital.places import STREET_KINDS
from deid_platform.corpora.hospital.rule import SlotRule
from deid_platform.errors import Code, DeidError
from deid_platform.surrogates.dice import Dice

_TOKEN = re.compile(r"%(.)")
_STREET = re.compile(r"(?P<house>\d+) (?P<name>.+?) (?P<kind>[A-Za-z]+)(?:,? (?:(?:Apt|Unit|Lot)\b|#).*)?")
_SHORT_KINDS = {full: short for short, full in STREET_KINDS.items()}
_DIRECTIONS = {"N": "North", "S": "South", "E": "East", "W": "West", "NE": "Northeast", "SW": "Southwest"}
_SHORT_WORDS = {
    "Hospital": "Hosp", "Medical": "Med", "Center": "Ctr", "Regional": "Reg", "Community": "Comm", "Family": "Fam",
    "Medicine": "Med", "Practice": "Prac", "Associates": "Assoc", "Orthopedics": "Ortho", "Cardiology": "Card",
    "Institute": "Inst", "Clinic": "Clin", "Health": "Hlth", "Saint": "St", "Internal": "Int", "Primary": "Prim",
    "Group": "Grp", "Company": "Co", "Pharmacy": "Pharm", "Drugs": "Drg", "Apothecary": "Apoth", "Manufacturing": "Mfg",
    "Construction": "Constr", "Insurance": "Ins", "Department": "Dept", "Authority": "Auth", "Rehabilitation": "Rehab",
    "Physical": "Phys", "Therapy": "Ther", "Women's": "Wom", "Children's": "Child", "Surgical": "Surg",
}  # fmt: skip

_Part = Callable[[str, Dice], str]


def _street(text: str, part: str) -> str:
    match = _STREET.fullmatch(text)
    return match[part] if match else text


def _shortened(name: str, stop: str) -> str:
    return " ".join(_SHORT_WORDS[word] + stop if word in _SHORT_WORDS else word for word in name.split())


def _initials(name: str) -> list[str]:
    return [word[0] for word in re.split(r"[\s-]+", name) if word[0].isalpha()]


def _direction(dice: Dice) -> str:
    return dice.pick(tuple(_DIRECTIONS))


_TOWN: Mapping[str, _Part] = {
    "c": lambda text, _: text,
    "a": lambda text, _: text[: max(3, len(text) // 2)],
    "x": lambda text, dice: slots.misspelt(text, dice.between(0, 299)),
    "3": lambda text, _: re.sub(r"\W", "", text)[:3].upper(),
}
_PARTS: Mapping[str, Mapping[str, _Part]] = {
    "street": {
        "h": lambda text, _: _street(text, "house"),
        "n": lambda text, _: _street(text, "name"),
        "t": lambda text, _: _SHORT_KINDS.get(_street(text, "kind"), _street(text, "kind")),
        "T": lambda text, _: STREET_KINDS.get(_street(text, "kind"), _street(text, "kind")),
        "u": lambda _, dice: str(dice.between(2, 48)),
        "d": lambda _, dice: _direction(dice),
        "D": lambda _, dice: _DIRECTIONS[_direction(dice)],
    },
    **dict.fromkeys(("city", "state", "state_name"), _TOWN),
    "name": {
        "f": lambda text, _: text,
        "s": lambda text, _: _shortened(text, ""),
        "S": lambda text, _: _shortened(text, ".").rstrip("."),
        "i": lambda text, _: "".join(_initials(text)),
        "I": lambda text, _: ".".join(_initials(text)),
        "1": lambda text, _: text.split()[0],
        "2": lambda text, _: " ".join(text.split()[:2]),
        "j": lambda text, _: re.sub(r"\W", "", text),
    },
}


def rule(plain: SlotRule, kind: str, pattern: str) -> SlotRule:
    """The rule that writes a place's value by a pattern.

    Args:
        plain: The rule of its plain slot.
        kind: The last part of the slot's name.
        pattern: With one token at least.

    Raises:
        DeidError: `template-invalid` if the pattern has a token that this kind has not.
    """
    parts = _PARTS.get(kind, {})
    if any(token not in parts for token in _TOKEN.findall(pattern)):
        raise DeidError(Code.TEMPLATE_INVALID, pattern)

    def write(chart: Chart) -> str:
        text = plain.value(chart)
        return _TOKEN.sub(lambda match: parts[match[1]](text, chart.dice), pattern) if text else ""

    return SlotRule(write, plain.label)
