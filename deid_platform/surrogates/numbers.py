"""Numbers that stand in for numbers: same length, same separators, same letters-or-digits, a checksum where one was.

Belongs here: identifiers, telephone numbers and network addresses. Does not belong here: names and places.

Digits become digits and letters letters, in a way that depends only on the digits and letters themselves, so that one
number has one surrogate however it is written. Where ranges exist that nobody can have, the surrogate is from them:
social security areas 900 to 999 with groups that are no ITIN, telephone lines 555-0100 to 555-0199 and the numbers
that Ofcom keeps for drama, networks and domains kept for documentation (RFC 5737, 3849, 2606).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container
from functools import cache
from importlib import import_module

import regex

from deid_platform.text.check_digits import CHECK_DIGITS, by_stdnum

_TRIES = 4000
_ALNUM = regex.compile(r"[0-9A-Za-z]")
# Says what the number is, and nothing of whose.
_LABEL = regex.compile(r"(?:MRN?|ID|No|Acct|Ref|SSN|NPI|DEA|VIN|IMEI|IBAN)\b[\s#.:_-]+", regex.IGNORECASE)
_OTHER_LETTER = regex.compile(r"[^\P{L}A-Za-z]|[^\P{N}0-9]")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ODD_MONTHS = "ABCDEHLMPRST"  # the months of an Italian tax code
_PHONE_WORD = regex.compile(
    r"(?<!\p{L})(?:tel(?:ephone)?|ph(?:one)?|fax|cell|mobile|home|work|office|pager|pgr|p|t|f|ext(?:ension)?|x)(?!\p{L})",
    regex.IGNORECASE,
)
_EXTENSION = regex.compile(r"\s*(?:,\s*)?(?:ext(?:ension)?\.?|x)\s*:?\s*\d{1,6}$", regex.IGNORECASE)
_NO_DIGIT = regex.compile(r"\D")
_BY_THREES = regex.compile(r"\d{3}(?:[ -]\d{3}){2}")
_LETTER = regex.compile(r"\p{L}")
_MORE_THAN_A_MASK = regex.compile(r"[^\P{L}xX]")
_IPV4 = regex.compile(r"(\d{1,3})((?:\.\d{1,3}){3})((?:[:/]\d{1,5})?)")
_IPV6 = regex.compile(r"[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}")
DOCUMENTATION_NETS = ("192.0.2", "198.51.100", "203.0.113")
"""Kept for documentation, RFC 5737: nobody has an address there."""
_URL = regex.compile(r"(?P<scheme>[a-z]{3,6}://)?(?P<www>www\.)?[^/?#\s]+(?P<path>[/?#].*)?", regex.IGNORECASE)
_DOMAINS = ("example.org", "example.com", "example.net")

Draw = Callable[[str], bytes]
"""A keyed function from a text to 32 bytes."""


def keyed_draw(key: bytes) -> Draw:
    """The keyed function of one scope's secret."""
    return lambda text: hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=32).digest()


def stand_in_number(draw: Draw, surface: str, avoid: Container[str] = ()) -> str | None:
    """An identifier of the same shape.

    Args:
        draw: The scope's keyed function.
        surface: The identifier as written. Leading zeros stay, and count for nothing, so that "00718822" and
            "718822" stay one number.
        avoid: Letters and digits, without leading zeros, of numbers that may not be drawn.

    Returns:
        Another identifier that passes exactly those checks that this one passes; None where there is no digit in it,
        or a letter of another script.
    """
    if _OTHER_LETTER.search(surface):
        return None
    if label := _LABEL.match(surface):
        rest = stand_in_number(draw, surface[label.end() :], avoid)
        return None if rest is None else label[0] + rest
    compact = "".join(_ALNUM.findall(surface))
    if not any(c.isdigit() for c in compact):
        return None
    upper = compact.upper()
    # Zeros alone pass most checks and prove nothing.
    checks = {name: _check(name)(upper) for name in _checks_of(upper)} if upper.strip("0") else {}
    for counter in range(_TRIES):
        drawn = _drawn(draw, compact, counter)
        if checks.get("it.codicefiscale"):
            drawn = _tax_code_like(draw, upper, counter)
        elif checks.get("iban"):
            drawn = _iban_like(upper, drawn)
        elif checks.get("fr.nir"):
            drawn = _french_like(upper, drawn)
        free = drawn.upper() != upper and drawn.upper().lstrip("0") not in avoid
        if free and all(_check(name)(drawn.upper()) is passes for name, passes in checks.items()):
            return _as_written(surface, drawn)
    return None


def stand_in_ssn(draw: Draw, surface: str) -> str | None:
    """A social security number that was never issued; where only the last four digits are written, those.

    Another country's number under the same label becomes one of its own shape; a Canadian one has three groups of
    three digits.
    """
    digits = _NO_DIGIT.sub("", surface)
    if _BY_THREES.fullmatch(surface):
        return stand_in_number(draw, surface)
    # Only what masks the rest of the number may stay.
    if len(digits) not in (4, 9) or _MORE_THAN_A_MASK.search(surface):
        return stand_in_number(draw, surface)
    raw = draw(f"ssn/{digits[-4:]}")
    last = _other(f"{1 + int.from_bytes(raw[:4], 'big') % 9999:04}", digits[-4:])
    if len(digits) == 9:
        raw = draw(f"ssn-area/{digits[:5]}")
        last = f"{900 + raw[0] % 100}{1 + raw[1] % 49:02}" + last
    return _as_written(surface, last, digits_only=True)


def stand_in_phone(draw: Draw, surface: str, area: str, avoid: Container[str] = ()) -> str | None:
    """A telephone number that rings nowhere, written in the same way.

    Args:
        draw: The scope's keyed function.
        surface: The number as written, with its extension if any.
        area: An area code of the place where the surrogate lives.
        avoid: Last four digits that may not be drawn.

    Returns:
        In the North American plan a line 555-01xx; a British number from those kept for drama; another
        international one with its country code kept; a short one (pager, extension) or one with words in it of the
        same shape.
    """
    if _OTHER_LETTER.search(surface):
        return None
    if _LETTER.search(surface) and _LETTER.search(_PHONE_WORD.sub("", surface)):
        return stand_in_number(draw, surface)
    extension = _EXTENSION.search(surface)
    body = surface[: extension.start()] if extension else surface
    tail = (stand_in_number(draw, extension[0]) or "") if extension else ""
    digits = _NO_DIGIT.sub("", body)
    if extension:
        tail = _as_written(extension[0], _NO_DIGIT.sub("", tail), digits_only=True)
    foreign = body.lstrip(" (").startswith(("+", "00")) and not digits.lstrip("0").startswith("1")
    first = draw(f"line/{digits[-4:]}")[0]
    lines = (f"01{(first + step) % 100:02}" for step in range(100))
    line = next((line for line in lines if line != digits[-4:] and line not in avoid), "")
    if not line:
        return None
    if foreign:
        made = _abroad(draw, digits)
    elif len(digits) == 7:
        made = "555" + line
    elif len(digits) == 10 or (len(digits) == 11 and digits[0] == "1"):
        made = digits[:-10] + area + "555" + line
    else:
        made = "".join(_ALNUM.findall(stand_in_number(draw, digits) or "")) if digits else ""
    return _as_written(body, made, digits_only=True) + tail if made else None


def stand_in_address(draw: Draw, surface: str) -> str | None:
    """A network address from those kept for documentation; None for what is no IP address."""
    if match := _IPV4.fullmatch(surface):
        raw = draw(f"ip/{match[1]}{match[2]}")
        made = f"{DOCUMENTATION_NETS[raw[0] % 3]}.{1 + raw[1] % 254}{match[3]}"
        return made if made != surface else f"{DOCUMENTATION_NETS[(raw[0] + 1) % 3]}.{1 + raw[1] % 254}{match[3]}"
    if _IPV6.fullmatch(surface):
        raw = draw(f"ip/{surface.lower()}")
        return f"2001:db8::{raw[0]:x}{raw[1]:02x}:{raw[2]:x}{raw[3]:02x}"
    return None


def stand_in_url(draw: Draw, surface: str) -> str | None:
    """A web address at a domain kept for documentation; its path becomes another of the same shape."""
    match = _URL.fullmatch(surface)
    if match is None or _OTHER_LETTER.search(surface):
        return None
    path = match["path"] or ""
    compact = "".join(_ALNUM.findall(path))
    moved = _as_written(path, _drawn(draw, compact, 0)) if compact else path
    return (match["scheme"] or "") + (match["www"] or "") + domain(draw, surface) + moved


def domain(draw: Draw, surface: str) -> str:
    """One of the domains kept for examples, never the one that is written."""
    first = draw(f"domain/{surface.lower()}")[0]
    choices = [name for name in _DOMAINS if name not in surface.lower()]
    return choices[first % len(choices)] if choices else f"mail.{_DOMAINS[first % 3]}"


def scrambled(draw: Draw, word: str) -> str:
    """Letters and digits in place of letters and digits, never the same word."""
    for counter in range(_TRIES):
        drawn = _drawn(draw, word, counter)
        if drawn.upper() != word.upper():
            return drawn
    return ""


def _drawn(draw: Draw, compact: str, counter: int) -> str:
    """Other characters of the same classes; leading zeros stay, and a first digit that is none stays none."""
    bare = compact.lstrip("0")
    zeros = len(compact) - len(bare)
    raw = b"".join(draw(f"{bare.upper()}/{counter}/{i}") for i in range(len(bare) // 32 + 1))
    made = []
    for i, (c, byte) in enumerate(zip(bare, raw, strict=False)):
        if c.isdigit():
            made.append(str(1 + byte % 9 if i == 0 else byte % 10))
        else:
            letter = _LETTERS[byte % 26]
            made.append(letter if c.isupper() else letter.lower())
    if not bare and zeros:
        return f"{1 + raw[0] % 9}" + "0" * (zeros - 1)
    return "0" * zeros + "".join(made)


def _as_written(surface: str, compact: str, *, digits_only: bool = False) -> str:
    """The characters of `compact` in the places of the surface's letters and digits."""
    made = iter(compact)
    return "".join(
        next(made, c) if (c in "0123456789" or (not digits_only and _ALNUM.fullmatch(c))) else c for c in surface
    )


def _other(drawn: str, original: str) -> str:
    """A drawn number, or the next one where it is the original."""
    if drawn != original:
        return drawn
    return drawn[:-1] + str((int(drawn[-1]) + 1) % 10)


def _abroad(draw: Draw, digits: str) -> str:
    national = digits.lstrip("0")
    prefix = digits[: len(digits) - len(national)]
    if national.startswith("44") and 11 <= len(national) <= 13:
        # 07700 900000 to 900999, kept by Ofcom for drama; a written trunk zero stays.
        trunk = "0" if national[2] == "0" else ""
        raw = draw(f"line/{national[-6:]}")
        made = f"44{trunk}7700900{int.from_bytes(raw[:4], 'big') % 1000:03}"
        return prefix + (made if len(made) == len(national) else made[: len(national)].ljust(len(national), "0"))
    code = 1 if national[:1] == "7" else 2 if national[1:2] in _SECOND_DIGITS.get(national[:1], "-") else 3
    rest = stand_in_number(draw, national[code:])
    return prefix + national[:code] + rest if rest else ""


# Country codes of two digits by their first; all others have three, but 7, which has one.
_SECOND_DIGITS = {
    "2": "07", "3": "0123469", "4": "013456789", "5": "12345678", "6": "0123456", "8": "1246", "9": "0123458",
}  # fmt: skip


# Length and shape of a compact identifier, upper case, to the checks that could be meant by it.
_SHAPES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\d{8}", ("au.tfn",)),
    (r"\d{9}", ("ca.sin", "au.tfn", "us.rtn")),
    (r"\d{10}", ("npi", "gb.nhs", "au_medicare")),
    (r"\d{11}", ("de.idnr", "au.abn", "it.iva", "pl.pesel", "au_medicare")),
    (r"\d{12}", ("in_.aadhaar",)),
    (r"\d{13}", ("fr.nir", "ean")),
    (r"[12]\d{5}[0-9AB]\d{8}", ("fr.nir", "imei", "luhn")),
    (r"\d{14,19}", ("luhn",)),
    (r"\d{8}[A-Z]", ("es.dni",)),
    (r"[XYZ]\d{7}[A-Z]", ("es.nie",)),
    (r"[A-Z]{5}\d{4}[A-Z]", ("in_.pan",)),
    (r"[A-Z]{6}[0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]", ("it.codicefiscale",)),
    (r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", ("iban",)),
    (r"[A-HJ-NPR-Z0-9]{17}", ("vin",)),
    (r"[A-Z]{2}\d{7}", ("dea",)),
)
_COMPILED = tuple((regex.compile(shape), names) for shape, names in _SHAPES)


@cache
def _check(name: str) -> Callable[[str], bool]:
    return CHECK_DIGITS.get(name) or by_stdnum(name)


def _checks_of(upper: str) -> list[str]:
    return [name for shape, names in _COMPILED if shape.fullmatch(upper) for name in names]


def _iban_like(compact: str, drawn: str) -> str:
    """An account of the same country and shape with the check digits that belong to it."""
    body = drawn[4:].upper()
    number = "".join(str(int(c, 36)) for c in body + compact[:2] + "00")
    return f"{compact[:2]}{98 - int(number) % 97:02}{body}"


def _french_like(compact: str, drawn: str) -> str:
    """A French number with its sex: year, month, a department of the mainland, and the key that belongs to it.

    The letter of a Corsican one does not stay: few are born there.
    """
    month, department = (1 + int(drawn[at : at + 2]) % last for at, last in ((3, 12), (8, 19)))
    body = f"{compact[0]}{drawn[1:3]}{month:02}{department:02}{drawn[7:13]}"
    key: str = import_module("stdnum.fr.nir").calc_check_digits(body)
    return body + key


def _tax_code_like(draw: Draw, compact: str, counter: int) -> str:
    """An Italian tax code: letters, year, month, day with the sex kept, place, check letter."""
    raw = draw(f"{compact}/{counter}/tax")
    letters = "".join(_LETTERS[byte % 26] for byte in raw[:6])
    day = 1 + raw[7] % 28 + (40 if compact[9:11].isdigit() and int(compact[9:11]) > 40 else 0)
    body = f"{letters}{raw[8] % 100:02}{_ODD_MONTHS[raw[9] % 12]}{day:02}{_LETTERS[raw[10] % 9]}{1 + raw[11] * 3:03}"
    check: str = import_module("stdnum.it.codicefiscale").calc_check_digit(body)
    return body + check
