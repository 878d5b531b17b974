"""Every way in which a patient's name, birth date and address are written, with near misses beside the hits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deid_platform.detection import DetectorSpec
from deid_platform.lexicon.nicknames import nicknames_of
from deid_platform.notes import Note, Patient, Topics
from deid_platform.text.names import spellings, street_lines

PATIENTS = {
    "smith": Patient(
        "1001-A",
        "Robert",
        "Miles",
        "Smith",
        date(1950, 3, 4),
        street="40 Crossbeak Road, Apt 3",
        email="rsmith50@example.org",
        relatives="Ann Tait Lopez; Zeb Quarmby (brother); Wife: May Green; Ndiaye, Awa",
    ),
    "green": Patient("2", "Will", None, "Green"),
    "max": Patient("3", "Max", None, "Young"),
    "may": Patient("4", "May", "Grace", "White"),
    "cruz": Patient("5", "María José", None, "de la Cruz"),
    "obrien": Patient("6", "Seán", "P", "O’Brien"),
    "aubigne": Patient("7", "Marie", None, "d'Aubigné"),
    "jones": Patient("8", "Ann-Marie", None, "Smith-Jones"),
    "kowalski": Patient("9", "Carla", "X", "Kowalski"),
    "turner": Patient("10", "Paul", None, "Turner"),
    "burnett": Patient("11", "Margaret", None, "Burnett"),
    "berg": Patient("12", "Jan", None, "van der Berg"),
    "williams": Patient("13", "John", "S", "Williams"),
    "ruiz": Patient("14", "Jose", None, "Ruiz"),
    "day": Patient("15", "April", None, "Day"),
    "bob": Patient("16", "Bob", None, "Mac Gregor"),
    "mueller": Patient("17", "Jürgen", None, "Müller"),
    "colan": Patient("18", "Ana", None, "Colan"),
    "hope": Patient("19", "Hope", "Joy", "Price"),
    "chase": Patient("20", "Mark", None, "Chase"),
    "de": Patient("21", "Tarak", None, "De"),
    "barlow": Patient("22", "Pia", None, "Barlow", relatives="Eileen Diaz"),
    "li": Patient("23", "伟", None, "李", relatives="王小芳"),
    "quint": Patient("26", "Jorge", "Liam", "Quint"),
    "kim": Patient("24", "민수", None, "김"),
    "tanaka": Patient("25", "さくら", None, "田中"),
}


@pytest.fixture(scope="module")
def find() -> Callable[[str, str], list[str]]:
    detector = DetectorSpec("roster", Topics.of(PATIENTS.values())).build()

    def _find(patient: str, text: str) -> list[str]:
        note = Note("n", text, patient_id=PATIENTS[patient].patient_id)
        return [text[s.start : s.end] for s in detector.detect([note])[0]]

    return _find


# patient, text with what must be found in [brackets]; a text without brackets is a near miss
NICKNAMES = [
    ("smith", "[Bob] is here"),
    ("smith", "[Bobby Smith]'s leg"),
    ("smith", "seen [bob] today"),
    ("smith", "goes by [Rob]"),
    ("smith", "to rob a bank"),
    ("burnett", "[Peggy] called"),
    ("burnett", "[Daisy] called"),
    ("burnett", "a PEG tube, a daisy chain"),
    ("bob", "[Robert] and [Rob] are one"),
    ("williams", "[Jack] slept well"),
    ("jones", "Bob is here"),
    ("cruz", "[MJ] is here"),
    ("burnett", "[Margie] slept; [Marge] too. It was [Maggie]"),  # of the list, and made of the beginning
    ("turner", "[Pauly] called, a pall"),
    ("kowalski", "[Carly] slept; Care and Car"),
    ("may", "Maybe later; maya is a word"),
]
INITIALS = [
    # letters that mean nothing else: wherever they stand for themselves
    ("quint", "saw [JQ] today, [JQ] - resting, [JLQ] to OR; plan for [JQ]: walk, ([JQ])/wife"),
    ("quint", "anti-JQ, JQ-2, JQ 4.5, JQ=3, JQ: 12 and XJQ"),
    ("quint", "[jq] denies pain, mr. [jq]; jq and jqx"),
    ("quint", "[J.Q.] and [J. L. Q.], [J Q] denies"),
    ("quint", "Ride arranged for [j.q]. Diet changed for [J Q]; order placed for [jlq], results released to [J.Q]"),
    ("quint", "arranged for jq2 and j.q5; changed the jq for good"),
    ("quint", "SEEN WITH [JQ] IN THE HALL"),
    # letters that a clinic uses: what persons do, have, are, and are told
    ("barlow", "[PB] asks, [PB] fell, [PB] c/o pain, [PB] to OR, [PB] extubated, [PB], a 45-year-old, [PB] (45F)"),
    ("barlow", "spoke with [PB] today; mother of [PB]; saw [PB]. Told [PB] about it; room 12 [PB]; [PB]'s chart"),
    ("barlow", "with PB, on PB; PB was normal, PB has been low; saw PB level; PB's rise; mother PB, father PB"),
    ("turner", "met with PT; PT to OR; spoke with PT today; mother of PT"),
    # initials that every clinic uses, charted as a person's
    ("barlow", "18:22 [PB] up to void, 238 mL"),
    ("barlow", "[PB] and family agree; ([PB]) no events; Pt [PB] doing well"),
    ("barlow", "[P.B.] was seen and examined"),
    ("barlow", "PB level 3, PB was normal, PB/12"),
    ("barlow", "[BARLOW^PIA] and [EileenDiaz] have proxy access"),
    ("de", "[DE T]  4271680"),
    ("de", "de novo"),
    ("de", "seen by Ely Day, PA-T.  [DE, TARAK] was discharged"),
    ("smith", "[R.S.] denies pain"),
    ("smith", "[R. S.] is 72"),
    ("smith", "[RS] reports pain"),
    ("smith", "Pt [RS] called"),
    ("smith", "Mr. [RS]"),
    ("smith", "[RMS] is well"),
    ("smith", "[R. Smith] and [R.M. Smith] and [R M Smith]"),
    ("smith", "[Smith, R]; [Smith, R.M.]; [Smith RM]"),
    ("smith", "RS 98% on room air"),
    ("smith", "rs and r.s."),
    ("smith", "J. [Smith] is somebody else's initial"),
    ("green", "search by [green,w]; green, w and green,x"),
    ("smith", "search by [smith,r] and [smith, r]; [smith] r and [smith],x"),
    ("kowalski", "CK is elevated, CK-MB 12, total CK 200"),
    ("kowalski", "[CK] denies chest pain"),
    ("kowalski", "[CXK] left"),
    ("turner", "PT denies pain; PT 12.5; P.T. recommended"),
    ("turner", "Mr. [PT]"),
    ("may", "Ms. [MW]"),
    ("williams", "[J.S.W.] tolerated it"),
    ("smith", "07:43 [RS] up to void; ([RS]) no events; [RS] and family agree"),
]
ONE_EDIT = [
    ("smith", "[Smtih] was seen"),  # exchanged
    ("smith", "[Smitth] was seen"),  # inserted
    ("smith", "[Smih] was seen"),  # left out
    ("smith", "[Snith] was seen"),  # taken for another
    ("smith", "[Smiht, Robert]"),
    ("smith", "[robert smtih]"),
    ("smith", "[Robret] called"),
    ("smith", "[SMTIH] WAS SEEN"),
    ("smith", "Mr. [smtih]"),
    ("smith", "smtih in small letters alone"),
    ("williams", "seen [willaims] today"),
    ("smith", "the [Smiths]"),
    ("smith", "Smart, Swift and Sooth"),
    ("smith", "Dr. Smyth called"),  # a surname of its own, with a title that is not the patient's
    ("colan", "Colon and colon"),
    ("ruiz", "[Jsoe Ruiz]"),
    ("ruiz", "Mr. [Jsoe]"),
    ("obrien", "Mr. [O'Brein] called"),
    ("cruz", "[Maria de la Curz]"),
    ("ruiz", "Jsoe alone, Rui alone"),  # four letters and fewer only beside another part
    ("smith", "[5mith] and [R0bert]"),
    ("williams", "[Wi11iams]; [Williarns]"),
    ("burnett", "[Bumett] is here"),
]
ORDER_AND_CASE = [
    ("smith", "[Smith, Robert]"),
    ("smith", "[SMITH,ROBERT MILES]"),
    ("smith", "[Smith Robert]"),
    ("smith", "[smith]’s leg, [SMITH]'S arm, [robert]"),
    ("smith", "[Robert M. Smith], Jr."),
    ("smith", "[Robert\nSmith]"),
    ("smith", "[Smith]. [Robert] came too"),
    ("smith", "Smithson, Smithfield and Robertson"),
]
HYPHENS_ACCENTS_PARTICLES = [
    ("jones", "[Smith-Jones]; [Smith Jones]; [Smithjones]; [SMITH‑JONES]; [Jones] or [Smith]"),
    ("jones", "[Ann-Marie]; [Ann Marie]; [Annmarie]; [AnnMarie]"),
    ("obrien", "[O'Brien]; [OBrien]; [O Brien]; [O’BRIEN]; [Obrien]"),
    ("obrien", "[S. O'Brien] and [Sean O'Brien] and [SEA\u0301N O'BRIEN]"),
    ("aubigne", "[d'Aubigné]; [D'Aubigne]; [Daubigne]; [d’AUBIGNÉ]; [Aubigne]"),
    ("cruz", "[de la Cruz]; [DeLaCruz]; [Dela Cruz]; [DE LA CRUZ]; [cruz]"),
    ("cruz", "[Maria Jose de la Cruz]; [Mariajose]; [Cruz, María]"),
    ("cruz", "a la carte, de novo"),
    ("berg", "[van der Berg]; [Vanderberg]; [VAN DER BERG]; [Berg]"),
    ("berg", "van der Waals forces, van, der"),
    ("bob", "[Mac Gregor]; [MacGregor]; [Macgregor]"),
    ("mueller", "[Müller]; [Muller]; [Mueller]; [Juergen]"),
]
RUN_TOGETHER_AND_SPLIT = [
    ("smith", "[RobertSmith]; [SmithRobert]; [ROBERTSMITH]"),
    ("smith", "[Sm ith, Robert]"),
    ("smith", "Mr. [Sm ith]"),
    ("smith", "S mith, Sm ith"),
    ("smith", "spelled [S-M-I-T-H]; [S.M.I.T.H]; a b c d e"),
    ("smith", "[Smi-\nth] called, [Rob-\r\nert] too, [Smi- th]"),
    ("smith", "[Smi\u00adth]; [Smi\u200bth]"),
    ("smith", "Smi-ling"),
]
USER_NAMES = [
    ("smith", "[rsmith]; [smithr1]; [rsmith50]; [RSmith]"),
    ("smith", "[robert.smith]; [robert_smith]"),
    ("smith", "[rsmith@example.com]; [robert.smith@example.com]"),
    ("smith", "jjsmith, blacksmith, smithereens"),
]
COMMON_WORDS = [
    ("green", "[Will] returns today. [Will]'s leg. I saw [Will] today. Seen with [Will Green]."),
    ("green", "[will] denies pain, mr. [green] agrees"),
    ("green", "She Will follow up. Will return to clinic. He will. Patient Will return. PATIENT WILL RETURN."),
    ("green", "Green sputum, has Green sputum, green light, Follow Up Plan Will Be Made"),
    ("green", "LAST: [GREEN]  FIRST: [WILL]; Surname: [GREEN]   Given name: [Will]"),
    ("green", "1631  [GREEN W]  63893349; [W. Green]; [Green, W.]; GREEN M"),
    ("green", "Pt [Will] reports pain. Name: [Will]"),
    ("max", "[Max] is feeling better. Saw [Max] today. Mr [Young] and [Max Young]. [Max], 34 y/o, slept."),
    ("max", "Max dose, max dose, effort grade Max, Max assist, Max was 120, max"),
    ("max", "Young adult, a Young woman, young"),
    ("may", "May 3, may take, in May, May 2020, early May. May repeat."),
    ("may", "[May] takes her pills; saw [May] today; [may] denies pain; [May White]"),
    ("may", "White count, White male, Race: White, white, the White blood cells"),
    ("may", "[Grace] is well; Ms. [White]; with [Grace]"),
    ("day", "April 3, in April, Hospital Day 3, Day 2, POD day"),
    ("day", "[April] reports; [April Day]; Ms. [Day]"),
    ("berg", "Jan 3, in Jan 2020; [Jan] is here"),
    ("hope", "[Hope] feels better; hope for the best; Hope this helps; saw [Joy] and [Hope Price]"),
    ("chase", "Mark the site; page 2; [Mark] says so; Mr. [Chase]; cut to the chase"),
]
RELATIVES = [
    ("smith", "brother [Zeb], Mr. [Quarmby]; [Zeb Quarmby]"),
    ("smith", "[Ann Lopez]; [Lopez]; [Ann Tait Lopez]"),
    ("smith", "his niece [Annette Smith] and [Kerstin Smith]; in May Smithers came"),
    ("smith", "wife [May]; [May Green], in May, green sputum"),
    ("smith", "[Awa Ndiaye]; [Ndiaye, Awa]"),
]
BIRTH_AND_ADDRESS = [
    ("smith", "DOB [3/4], DOB: [03/04/50], born on [4 March 1950], born [4.3.1950]; [March 4th, '50]"),
    ("smith", "born in [March 1950], her birthday is [March 4]; [March 4] is his birthday, DOB [3-4]"),
    ("smith", "nacido el [4 de marzo de 1950], nato il [4 marzo 1950]; [4 mars 1950]; [4. März 1950]"),
    ("smith", "seen 3/4, on March 4 and in March; 120/50; 3/4/51; born in 1950"),
    ("smith", "[40 Crossbeak Rd, Apt. 3]; [40 CROSSBEAK ROAD #3]; [40 Crossbeak], on [Crossbeak Rd]"),
    ("smith", "40 mg, crossbeak alone, 41 Main Rd"),
]
CLASSES = {
    "nicknames": NICKNAMES,
    "initials": INITIALS,
    "one letter wrong": ONE_EDIT,
    "order and case": ORDER_AND_CASE,
    "hyphens, accents and particles": HYPHENS_ACCENTS_PARTICLES,
    "run together and split": RUN_TOGETHER_AND_SPLIT,
    "user names": USER_NAMES,
    "names that are common words": COMMON_WORDS,
    "relatives": RELATIVES,
    "birth and address": BIRTH_AND_ADDRESS,
}


def _marked(text: str) -> tuple[str, list[str]]:
    """A text without its brackets, and what stood in them."""
    found = [part.partition("]")[0] for part in text.split("[")[1:]]
    return text.replace("[", "").replace("]", ""), found


@pytest.mark.parametrize(
    ("patient", "marked"),
    [pytest.param(*case, id=f"{name}: {case[1]!r}") for name, cases in CLASSES.items() for case in cases],
)
def test_what_names_the_patient_is_found_and_what_resembles_it_is_left(
    patient: str, marked: str, find: Callable[[str, str], list[str]]
) -> None:
    text, expected = _marked(marked)
    assert find(patient, text) == expected


@pytest.mark.parametrize(
    ("patient", "marked"),
    [
        pytest.param("kowalski", "[CK] is feeling better today after the treatment.", id="initials"),
        pytest.param("williams", "Spoke with [Wiliams] about the results.", id="misspelt name"),
        pytest.param("burnett", "[Maggie] was resting comfortably.", id="nickname"),
        pytest.param("green", "[Will] tolerated the infusion.", id="common English word: Will"),
        pytest.param("max", "Visited [Max] on the ward.", id="common English word: Max"),
        pytest.param("may", "[Grace] lives with her son.", id="common English word: Grace"),
    ],
)
def test_the_six_leaks_of_paper_001_are_closed(
    patient: str, marked: str, find: Callable[[str, str], list[str]]
) -> None:
    text, expected = _marked(marked)
    assert find(patient, text) == expected


@pytest.mark.parametrize("text", ["Smtih catheter", "Bob protocol", "RMS sign"])
def test_a_variant_is_the_roster_s_and_never_given_back(text: str) -> None:
    detector = DetectorSpec("rules", Topics.of([PATIENTS["smith"]])).build()
    spans = detector.detect([Note("n", text, patient_id="1001-A")])[0]
    assert [(s.start, s.score, s.source) for s in spans] == [(0, 1.0, "roster")]


GIVEN = st.sampled_from(["Zebulon", "Margaret", "José", "Ann-Marie", "Tomasz", "Oluwaseun", "Siobhán", "Aurélie"])
FAMILY = st.sampled_from(["Quarmby", "de la Cruz", "O’Brien", "Smith-Jones", "van der Meulen", "Kowalska", "Müller"])
VARIANTS: dict[str, Callable[[str, str], str]] = {
    "full": lambda g, f: f"{g} {f}",
    "reversed": lambda g, f: f"{f}, {g}",
    "reversed without comma": lambda g, f: f"{f} {g}",
    "capitals": lambda g, f: f"{g} {f}".upper(),
    "small letters": lambda g, f: f"{g} {f}".lower(),
    "given name": lambda g, _: g,
    "surname": lambda _, f: f,
    "initial before": lambda g, f: f"{g[0]}. {f}",
    "initial after": lambda g, f: f"{f}, {g[0]}",
    "middle initial": lambda g, f: f"{g} Q. {f}",
    "possessive": lambda _, f: f"{f}’s",
    "without hyphen": lambda g, f: f"{g} {f}".replace("-", " "),
    "closed up": lambda _, f: f.replace("-", "").replace(" ", ""),
    "plain apostrophe": lambda _, f: f.replace("’", "'"),
    "no apostrophe": lambda _, f: f.replace("’", ""),
    "two letters exchanged": lambda g, f: f"{g} {f[:-3]}{f[-2]}{f[-3]}{f[-1]}",
    "last letter lost": lambda g, f: f"{g} {f[:-1]}",
    "over a line": lambda g, f: f"{g}\n{f}",
    "hyphenated over a line": lambda g, _: f"{g[:3]}-\n{g[3:]}",
    "soft hyphen": lambda _, f: f"{f[:3]}\u00ad{f[3:]}",
    "run together": lambda g, f: f"{g}{f}".replace(" ", "").replace("-", "").replace("’", "").replace("'", ""),
    "title": lambda _, f: f"Mr. {f}",
}


@settings(max_examples=150, deadline=None)
@given(
    first=GIVEN, last=FAMILY, variant=st.sampled_from(sorted(VARIANTS)), before=st.sampled_from(["", "We saw ", "- "])
)
def test_every_supported_variant_of_a_name_is_covered(first: str, last: str, variant: str, before: str) -> None:
    written = VARIANTS[variant](first, last)
    text = f"{before}{written} on the ward, and the wound was clean."
    detector = DetectorSpec("roster", Topics.of([Patient("1", first, None, last)])).build()
    spans = detector.detect([Note("n", text, patient_id="1")])[0]
    covered = {i for s in spans for i in range(s.start, s.end)}
    start = len(before) + (4 if variant == "title" else 0)
    end = len(before) + len(written) - (2 if variant == "possessive" else 0)
    left = "".join(text[i] for i in range(start, end) if i not in covered)
    assert not any(c.isalnum() for c in left.replace("Q", "")), (variant, text, left)
    assert all(i < len(before) + len(written) for i in covered)


@pytest.mark.parametrize(
    ("patient", "text", "found"),
    [
        ("li", "李伟 was seen", ["李伟"]),
        ("li", "患者李伟，男", ["李伟"]),
        ("li", "李 伟 was seen", ["李 伟"]),
        ("li", "李先生 came with 王小芳", ["李", "王小芳"]),
        ("li", "伟大 and 李子 are words", []),
        ("kim", "환자 김민수", ["김민수"]),
        ("kim", "민수씨", ["민수"]),
        ("tanaka", "田中さくらさん", ["田中さくら"]),
        ("tanaka", "田中さん", ["田中"]),
        ("tanaka", "田んぼ", []),
    ],
)
def test_names_are_found_in_scripts_that_set_no_space_between_words(
    find: Callable[[str, str], list[str]], patient: str, text: str, found: list[str]
) -> None:
    assert find(patient, text) == found


def test_nicknames_hold_both_ways_and_do_not_mix_two_names() -> None:
    assert {"bob", "rob", "bobby"} <= nicknames_of("robert")
    assert {"robert", "bob"} <= nicknames_of("bobby")
    assert "richard" not in nicknames_of("bobby")
    assert {"patricia", "patrick"} <= nicknames_of("pat")
    assert "paddy" not in nicknames_of("pat"), "somebody called Pat may be a Patricia"
    assert nicknames_of("quarmby") == frozenset()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("de la Cruz", {"de la cruz", "delacruz", "dela cruz", "de lacruz"}),
        ("O’Brien", {"o brien", "obrien"}),
        ("Smith-Jones", {"smith jones", "smithjones"}),
        ("McDonald", {"mcdonald", "mc donald"}),
        ("Müller", {"muller", "mueller"}),
        ("Smith, Jr.", {"smith"}),
        ("", set()),
        (None, set()),
    ],
)
def test_a_name_is_spelt_in_all_the_ways_in_which_its_words_run_together(name: str | None, expected: set[str]) -> None:
    assert set(spellings(name)) == expected


def test_a_street_is_known_with_its_suffix_long_and_short_and_without_its_unit() -> None:
    assert street_lines("302 N. Main Street, Suite 4") == (
        "302 n main street",
        "302 north main street",
        "302 n main st",
    )
    assert street_lines("7 Oak") == ()
    assert street_lines(None) == ()
