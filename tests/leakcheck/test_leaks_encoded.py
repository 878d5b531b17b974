r"""What detection left behind an escape, or in a disguise, is found by the leak check, or the note is withheld."""

from __future__ import annotations

import base64
from datetime import date

import pytest

from deid_platform.labels import Label
from deid_platform.leakcheck import LeakCheck
from deid_platform.notes import Note, Patient, Span, Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.redaction.redact import redact

MULLER = Patient("p1", first_name="Søren", last_name="Müller", mrn="8812345", birth_date=date(1950, 3, 4))
POLICY = load_policy("safe_harbor")
CHECK = LeakCheck.of(Topics.of([MULLER, Patient("p2", first_name="Thandiwe", last_name="Quillfeather")]), POLICY)


def left(text: str, *known_as: Patient) -> set[str]:
    """What is found in a text from which nothing was removed."""
    return {leak.kind.value for leak in CHECK.check(Note("n", text), known_as, text, ())}


@pytest.mark.parametrize(
    "text",
    [
        "M&uuml;ller", "M&#252;ller", "M&amp;uuml;ller", "M&uumlller", "Mu&shy;ller",
        r"M\'fcller", r"M\u252?ller", r"M\u252\'fcller", r"{\rtf1 M\b\u252? ller}",
        "M=FCller", "M=C3=BCller", "M=FCl=\nler", "=?iso-8859-1?Q?M=FCller?=",
        "M%C3%BCller", "M%FCller", "M%u00fcller", "S%C3%B8ren%20M%C3%BCller", "M%25C3%25BCller",
        r"M\u00fcller", r"M\xfcller", r"M\303\274ller", "M+APw-ller", "soeren@xn--mller-kva.example",
        "\u202erellüM\u202c", "\u202eMüller\u202c", "M\u0337u\u0337\u0308l\u0337l\u0337e\u0337r", "M<b>ü</b>ller",
        "Mül-\nler", "M\u00adül\u200bler", "M\U000e0041üller", "M\ufe0füller", "M\u3164üller",
        "\uff2d\u00fc\uff4c\uff4c\uff45\uff52", "\U0001d40c\u00fc\U0001d425\U0001d425\U0001d41e\U0001d42b",
        "\u24c2\u24e4\u24db\u24db\u24d4\u24e1", "\U0001f15c\U0001f164\U0001f15b\U0001f15b\U0001f154\U0001f161",
        "\U0001f1f2\U0001f1fa\U0001f1f1\U0001f1f1\U0001f1ea\U0001f1f7", "ᴍᴜʟʟᴇʀ", "Мüllеr",
        "Mu=6Cler", "Mu%6Cler",
    ],
)  # fmt: skip
def test_the_patients_name_in_a_disguise_leaks(text: str) -> None:
    assert "last-name" in left(f"seen with {text} today", MULLER)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("no. 88&#49;2345", "mrn"),
        ("no. 88%312345", "mrn"),  # three among digits may be shares: known numbers are sought all the same
        ("no. 88=312345", "mrn"),
        ("no. 88%2012345", "mrn"),
        ("seen 03&#47;04&#47;2019", "date-shape"),
        ("seen 03%2F04%2F2019", "date-shape"),
        (r"seen 03\/04\/2019", "date-shape"),
        ("mail a&#64;b.example", "email-shape"),
        ("mail a%40b.example", "email-shape"),
        ("call 617%2D555%2D0123", "phone-shape"),
        ("saw Thandiwe%20Quillfeather", "other-patient-name"),
        ("seen 03/04/2019/1/1", "date-shape"),
        ("seen 3/4/2019/1", "date-shape"),
        ("ref 1/1/03/04/2019", "date-shape"),
        ("ref 2019-03-04-1-1", "date-shape"),
        ("ref 1-2019-03-04", "date-shape"),
        ("ref 03-04-2019-17", "date-shape"),
        ("ref 03/04/19/1/1", "date-shape"),
        ("ref 03.04.2019.1", "date-shape"),
    ],
)
def test_escapes_and_numbers_around_it_hide_no_shape_and_no_number(text: str, kind: str) -> None:
    assert kind in left(text, MULLER)


NAME = base64.b64encode(b"Patient Jane Roe").decode()


@pytest.mark.parametrize(
    "text",
    [
        "&" + "amp;" * 12 + "#74;ane",  # nested deeper than anybody nests
        "J&#00000000000000074;ane",
        r"J\ud800ane",
        r"\112\141\156\145",
        "M=96l and =00=4A=01",
        "Ja%00%4Ae%01",
        "Ja%ud800ne",
        "mail xn--99999999999",
        "J<font onclick=1>ane",
        "Jane<!-- Roe -->Roe",
        "\u202dRoe\u202c",
        "\u202eeoR",
        "seen \U000e004a\U000e0061\U000e006e\U000e0065",
        "a\U000e0101\U000e0102\U000e0103",
        "a" + "\u200b\u200c" * 16 + "b",
        "Rоe and Jаꓠe",
        "J\u13aane",
        f"attached {NAME}",
        "attached U21pdGg=",
        f"attached {b'Jane Roe'.hex()}",
    ],
)
def test_what_nobody_can_read_for_certain_is_withheld(text: str) -> None:
    note = Note("n", f"seen today. {text} ")
    assert "undecoded" in left(note.text)
    # Where it is all replaced, nothing is left to be read.
    span = Span(12, 12 + len(text), Label.PATIENT)
    redacted = redact(note, [span], POLICY)
    assert CHECK.check(note, (), redacted.text, redacted.applied) == ()


@pytest.mark.parametrize(
    "text",
    [
        "SpO2 98%20 min, 98%20min, 50%ile, 50%20%30%, 60%40%20%, EF 55%2D echo, Neut%65Lymph%25, sat=95on",
        "Hgb=12, K=40 Na=35, age=65yo, a=FC, INR=20, pH=7.35, HR=88bpm, T=37C",
        "P&L, R&D, AT&T; H&P, x < 5 &gt 3, &c., A&O x3;",
        r"C:\temp C:\new\users D:\x and/or \o/ C:\101 beds, \\ward\112\\x",
        "<3 cm, x<b, 5 <p> 6, a -> b, Plan:<br>rest<br/>home<p>walk",
        "HLA+DRB-, Ca+Mg-, ++-, 1+1",
        "gastroenterologist esophagogastroduodenoscopy ThrombocytopeniaThrombocytopenia BilateralOophorectomy",
        "abcdef0123456789abcdef0123456789, 2142434445464748, HLAB27HLADR4HLADQ2abcdEFGH",
        "βhCG, αTNF, γGT, κ-light, 5μg, José, Ærø, Иван, 10² mm³ ½ ① ☑️ 🏴\U000e0067\U000e0062\U000e007f 👩‍⚕️",
        "\u200fab\u200e \u2067cd\u2069 \u202aef\u202c",
        "UID 1.2.840.3.04.2019.1, 13/32/2019/1, 10/20/30/40, 06/28/42/50/33",
    ],
)
def test_clinical_shorthand_and_ordinary_signs_are_neither(text: str) -> None:
    assert left(text) == set()
    assert left(text, MULLER) == set()
