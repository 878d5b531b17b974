"""The dossier's page and its verdict, from facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from html import unescape
from pathlib import Path

import pytest

from deid_platform.evaluation.sources import Source
from deid_platform.reports.dossier import (
    NOT_AT_HAND,
    NOT_TAGGED,
    Change,
    Decision,
    Dossier,
    Feed,
    Figure,
    HeldOut,
    IndirectTreatment,
    Language,
    Reading,
    Requirement,
    Standing,
    Treatment,
    Waived,
    dossier_html,
    verdict,
)
from deid_platform.reports.dossier.decide import looks
from deid_platform.reports.dossier.sections import SECTIONS
from deid_platform.reports.dossier.words import ATTACKS, measure_in_words
from deid_platform.warehouse.quality.lab import MEASURES


def reading(measure: str, value: float, *, inputs="topics", family="words", subject="ALL", gold="site") -> Reading:
    figure = Figure(value, value - 0.01, value + 0.001, 4000)
    return Reading(gold, inputs, family, subject, measure, figure, source=source(gold, inputs))


def source(gold: str, inputs: str) -> Source:
    own = {"notes_of": "site", "marked_by": "adjudicated"} if gold == "site" else {}
    return Source.of(gold, inputs, **own)


def elsewhere(readings: Sequence[Reading] = ()) -> list[Reading]:
    """The same figures on the synthetic hospital."""
    gold = "synthetic_hospital"
    return [replace(it, gold=gold, source=source(gold, it.inputs)) for it in readings or READINGS]


HELD_OUT = HeldOut("5f0c1a2b3c4d", 684, 0, date(2026, 1, 5), days=47, looks=2, detectors=1)
READINGS = [
    *(reading(name, 0.995, inputs=inputs) for name in ("recall", "precision") for inputs in ("topics", "text")),
    *(reading("leak_rate", 0.06, inputs=inputs) for inputs in ("topics", "text")),
    reading("recall", 0.97, subject="DATE"),
    reading("recall", 0.9931, subject="sex F"),
    reading("first", 0.012, family="linkage"),
    reading("chance", 0.001, family="linkage"),
    reading("notes_disclosed", 0.004, family="disclosure"),
    reading("lexical_retention", 0.98, family="retention"),
    reading("share_missed", 0.0026, family="missed", subject="patient name"),
]
FACTS = Dossier(
    site="north",
    release="r_1",
    state="active",
    as_of=datetime(2026, 3, 1, 12, tzinfo=UTC),
    profile="production",
    policy="safe_harbor",
    policy_title="Safe Harbor",
    legal_basis="45 CFR 164.514(b)(2)",
    policy_description="Removes what the rule lists.",
    policy_is_at_hand=True,
    dates="year",
    treatments=[Treatment("DATE", "year", "C", "moderate"), Treatment("PATIENT", "tag", "A", "high")],
    feeds=[Feed("ehr", 2, "ehr@2026-02-01", 2000, 4, 14, False, 684, True, named=0.98, dated=0.97, numbered=0.99)],
    notes=1986,
    versions={"detector": "ensemble abc", "policy": "safe_harbor def"},
    requirements=[Requirement("leaks", 2, 0, 0), Requirement("bench", 2, 0, 0)],
    waivers=[],
    decisions=[Decision(datetime(2026, 2, 1, tzinfo=UTC), "activated", "", "")],
    readings=READINGS,
    thresholds={"recall": 0.98, "precision": 0.95},
    held_out=HELD_OUT,
)


def test_what_is_measured_and_met_supports_a_release() -> None:
    found = verdict(FACTS)
    assert (found.standing, found.against, found.doubts) == (Standing.SUPPORTED, (), ())
    (((on, said),),) = (found.reasons,)
    assert on == "notes of this site, marked by the site's annotators (adjudicated)"
    assert said[0].startswith("With its topics, 99.50% (98.50% to 99.60%) of identifying words are found")
    assert said[1].startswith("On text alone, 99.50%")
    assert found.opening == (
        "Recall was measured on 684 notes of this site, with its topics and on text alone, marked by the site's "
        "annotators (adjudicated).",
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"requirements": [Requirement("leaks", 1, 0, 1)]}, "leaks is not met by 1"),
        (
            {"thresholds": {"recall": 0.99}},
            "The lower end of recall is 98.50% on notes of this site, with its topics, marked by the site's annotators "
            "(adjudicated); the profile asks for 99.00%",
        ),
        ({"thresholds": {"precision": 0.999}}, "Precision is 99.50%"),
        ({"policy_is_at_hand": False}, "policy is not at hand"),
    ],
)
def test_what_speaks_against_a_release(change, said: str) -> None:
    found = verdict(replace(FACTS, **change))
    assert found.standing is Standing.CONTRADICTED
    assert any(said in it for it in found.against)


WAIVED = Waived("site_gold", "all of ehr", "P. Officer", "gold comes in spring", date(2026, 6, 1), "in force")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"waivers": [WAIVED]}, "site_gold is waived for all of ehr until 2026-06-01 by P. Officer"),
        ({"readings": READINGS[:6]}, "could link notes to patients was not measured"),
        ({"feeds": [replace(FACTS.feeds[0], demonstration=True)]}, "demonstration data"),
        (
            {"readings": [replace(it, source=Source.of("site", it.inputs, notes_of="site")) for it in READINGS]},
            "Nobody has said by which hand that gold was marked",
        ),
        ({"retracted": 20}, "Readers have reported leaks"),
        ({"held_out": None}, "How often what it was measured on had been looked at was not counted"),
        (
            {"held_out": replace(HELD_OUT, former="0a0a")},
            "set 5f0c1a2b3c4d is another one than that of the former release",
        ),
    ],
)
def test_what_is_open_is_a_doubt(change, said: str) -> None:
    found = verdict(replace(FACTS, **change))
    assert found.standing is Standing.DOUBTFUL
    assert any(said in it for it in found.doubts)


LAB_FEED = Feed("lab", 1, "lab@2026-02-01", 50, 0, 0, False)


@pytest.mark.parametrize(
    ("change", "opening"),
    [
        ({"readings": elsewhere()}, ["Recall on this site's notes was not measured."]),
        ({"readings": []}, ["Recall on this site's notes was not measured."]),
        # Of a detector that was measured before sources were recorded.
        (
            {"readings": [replace(it, source=Source.of("site", it.inputs)) for it in READINGS]},
            ["Recall on this site's notes was not measured."],
        ),
        (
            {"feeds": [*FACTS.feeds, LAB_FEED]},
            ["Recall on the notes of this site's feed lab was not measured."],
        ),
        (
            {"feeds": [*FACTS.feeds, replace(LAB_FEED, gold=40)]},
            [
                "Recall on the notes of this site's feed lab was not measured.",
                "Gold of feed lab is of 40 notes, fewer than the gate asks for.",
            ],
        ),
    ],
)
def test_without_gold_of_its_own_a_release_is_at_best_not_contradicted(change, opening: list[str]) -> None:
    facts = replace(FACTS, **change)
    found = verdict(facts)
    assert found.standing is Standing.NOT_CONTRADICTED
    assert list(found.opening)[: len(opening)] == opening
    page = text_of(dossier_html(facts))
    assert unescape(page).index(opening[0]) < page.index("What was measured does not contradict this release")
    assert "support" not in page.lower()
    against = text_of(dossier_html(replace(facts, policy_is_at_hand=False)))
    assert "What was measured speaks against this release." in against and "support" not in against.lower()


OF_THE_RELEASE = ("What becomes", "Requirements", "Notes whose patient", "Languages of the notes")
"""Captions of tables that count the released notes themselves."""
OF_EACH_ROW = ("How the other figures relate", "What to look at")
"""Captions of tables whose rows say each where its figure is from."""


def test_every_figure_stands_beside_where_it_is_from() -> None:
    where = "notes of the synthetic hospital, with its own topics, marked by the program that wrote them, whose ways"
    rows = [*READINGS, *LAB[:-1], reading("precision", 0.9931, subject="sex F"), reading("patients_disclosed", 0.01)]
    disclosed = reading("patients_disclosed", 0.01, family="disclosure")
    facts = replace(FACTS, readings=[*elsewhere([*rows, disclosed]), *LAB[-3:-1]], treatments=SURROGATES)
    html = unescape(dossier_html(facts))
    captions = re.findall(r"<caption>(.*?)</caption>", html, re.S)
    shown = [it for it in captions if not it.startswith((*OF_THE_RELEASE, *OF_EACH_ROW))]
    assert len(shown) > 10
    for caption in shown:
        assert "notes of the synthetic hospital" in caption or "pairs of texts that come with the platform" in caption
    # Every share of the page is in a table with such a caption, in the first lines, or in an answer to the law.
    tables = "".join(re.findall(r"<table>\s*<caption>.*?</table>", html, re.S))
    first = html[html.index('<section class="verdict') : html.index("</section>")]
    law = section(11, html)
    assert (
        "On notes of the synthetic hospital, marked by the program" in first and "With its own topics, 99.50%" in first
    )
    assert where in law
    rest = html[html.index("<body>") :].replace(first, "")
    for table in re.findall(r"<table[^>]*>\s*<caption>.*?</table>|<svg.*?</svg>|<dl>.*?</dl>", rest, re.S):
        rest = rest.replace(table, "")
    rest = rest.replace(re.search(r'<p class="headline">.*?</p>', rest, re.S)[0], "")
    for row in re.findall(r"<tr.*?</tr>", html[html.index('id="s1"') : html.index('id="s2"')], re.S):
        assert not re.search(r"\d%(?! interval)", row) or "synthetic hospital" in row
    assert "%" in tables and not re.findall(r"\d\.\d+%", rest)


def test_the_demonstration_says_whose_author_its_notes_are_of() -> None:
    own = [replace(it, source=Source.of("site", it.inputs, notes_of="demonstration", marked_by="writer"))
           for it in READINGS]  # fmt: skip
    facts = replace(FACTS, readings=own, feeds=[replace(FACTS.feeds[0], demonstration=True)])
    assert verdict(facts).standing is Standing.DOUBTFUL
    first = text_of(dossier_html(facts))[:1200]
    assert "notes of the demonstration (the synthetic hospital), with its own topics and on text alone" in first
    assert "whose ways rules and model learned: flattery. Figures on notes of that program are too good." in first


def on_library(value: float) -> list[Reading]:
    """Scores on the library, with topics and on text alone."""
    measures = ("recall", "leak_rate", "words_kept", "precision")
    rows = [reading(it, value, inputs=given, gold="library") for it in measures for given in ("topics", "text")]
    return [replace(it, source=Source.of("library", it.inputs, authors=4)) for it in rows]


def test_whole_notes_of_many_authors_lead_and_what_a_program_wrote_stands_beside_them() -> None:
    facts = replace(FACTS, readings=[*elsewhere(), *on_library(0.95)], thresholds={"recall": 0.9, "precision": 0.9})
    found, html = verdict(facts), text_of(dossier_html(facts))
    assert found.opening[1:] == (
        "Recall was measured on 684 whole notes of 4 authors, not this site's, with the topics that they gave and on "
        "text alone, marked by those who wrote them.",
        "Recall was measured beside it on notes of the synthetic hospital, with its own topics and on text alone, "
        "marked by the program that wrote them, whose ways rules and model learned: flattery.",
        "Figures on notes of that program are too good.",
    )
    assert [on[:24] for on, _ in found.reasons] == ["whole notes of 4 authors", "notes of the synthetic h"]
    assert "Of the words that identify nobody, 95.00% (94.00% to 95.10%) are left as they were." in found.reasons[0][1]
    assert html.index("found (recall) 95.00%") < html.index("Beside it, on notes of the synthetic")
    # The laboratory measures on the hospital alone.
    assert facts.reading("first", family="linkage").gold == "synthetic_hospital"
    against = verdict(replace(facts, thresholds={"recall": 0.98})).against
    assert any("is 94.00% on whole notes of 4 authors" in it for it in against)


def test_gold_of_the_sites_own_leads_the_library_too() -> None:
    assert replace(FACTS, readings=[*on_library(0.9), *READINGS]).golds == ["site", "library"]
    own = [replace(it, source=Source.of("site", it.inputs, notes_of="demonstration", marked_by="writer"))
           for it in READINGS]  # fmt: skip
    facts = replace(FACTS, readings=[*own, *on_library(0.9)])
    assert facts.golds == ["library", "site"] and facts.unmeasured == []


def test_an_ended_waiver_is_no_doubt() -> None:
    assert verdict(replace(FACTS, waivers=[replace(WAIVED, state="ended 2026-02-01")])).standing is Standing.SUPPORTED


def text_of(html: str) -> str:
    body = html[html.index("<body>") :]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_the_first_lines_say_whether_it_is_fit_and_why() -> None:
    first = text_of(dossier_html(FACTS))[:900]
    assert "Its measurements support this release." in first
    assert "Every delivery met: leaks, bench." in first
    doubtful = text_of(dossier_html(replace(FACTS, waivers=[WAIVED])))[:1200]
    assert "with 1 open doubt" in doubtful and "Doubt: site_gold is waived" in doubtful


def test_indirect_identifiers_are_shown_as_they_were_tagged_or_not_at_all() -> None:
    def told(found: int | str) -> str:
        indirect = [IndirectTreatment("FAMILY", "remove", found)]
        return text_of(dossier_html(replace(FACTS, policy="gdpr_it", indirect=indirect)))

    assert "FAMILY remove 1,200" in told(1200) and "were tagged by a language model" in told(1200)
    for unknown in (NOT_TAGGED, NOT_AT_HAND):
        assert f"FAMILY remove {unknown}" in told(unknown) and "were not looked for in all of its notes" in told(
            unknown
        )
    # Few are as good as named.
    assert "FAMILY remove 3" not in told(3)


def test_clinical_terms_that_go_with_indirect_identifiers_are_not_said_to_be_kept() -> None:
    beside = "not counting what goes with indirect identifiers"
    for action, said in (("keep", False), ("generalise", True)):
        readings = [*READINGS, reading("clinical_retention", 0.99)]
        found = verdict(replace(FACTS, readings=readings, indirect=[IndirectTreatment("FAMILY", action, 40)]))
        (kept,) = (it for _, said in found.reasons for it in said if it.startswith("Of the clinical terms"))
        assert (beside in kept) is said
        shown = text_of(dossier_html(replace(FACTS, indirect=[IndirectTreatment("FAMILY", action, 40)])))
        assert ("what medicine goes with those that the policy takes out was not measured" in shown) is said


LAB = [
    reading("recall_difference", -0.085, family="stability", subject="lower case"),
    reading("recall", 0.961, family="length", subject="under 100 words"),
    reading("told_apart", 0.125, family="plain sight"),
    reading("told_apart_chance", 0.031, family="plain sight"),
    reading("jsc", 0.912, family="retention"),
    reading("score_released", 0.71, family="utility", subject="task note type"),
    reading("difference", -0.012, family="utility", subject="task note type"),
    reading("precision", 0.94, family="judges", inputs="text", gold="judged_pairs"),
    reading("kappa", 0.876, family="judges", inputs="text", gold="judged_pairs"),
    reading("recall_of_site", 0.9871),
]
SURROGATES = [Treatment("PATIENT", "surrogate", "A", "high")]


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (4, "lower case, with topics change in recall -8.50 points (-9.50 to -8.40)"),
        (4, "under 100 words, with topics identifying words found (recall) 96.10% (95.10% to 96.20%)"),
        (4, "recall of all notes of the site, weighed as the sample was drawn 98.71%"),
        (6, "tells from surrogates 12.50% (11.50% to 12.60%) 3.10% – lower 4,000"),
        (7, "all, with topics diagnosis codes that both texts say, of those that either says 91.20%"),
        (7, "note type, with topics change by redaction -1.20 points (-2.20 to -1.10)"),
        (7, "all of the pairs that the judge calls lost, those that are (precision) 94.00% (93.00% to 94.10%)"),
        (7, "all agreement beyond chance (kappa) 0.88 (0.87 to 0.88)"),
    ],
)
def test_what_the_laboratory_measured_stands_where_it_belongs(number: int, said: str) -> None:
    html = dossier_html(replace(FACTS, readings=[*READINGS, *LAB], treatments=SURROGATES))
    assert said in section(number, html)
    assert "Not measured: The same notes in other formats" not in text_of(html)


REVIEWED = [
    reading("share_of_removals", 0.123, family="review", subject="clinically relevant"),
    reading("share_of_relevant", 0.25, family="review", subject="severity high"),
    reading("kappa", 0.71, family="review"),
    reading("missed_per_note", 1.5, family="review"),
    reading("missed_per_note", 0.0, family="review", subject="DATE"),
    Reading("site", "topics", "review", "PATIENT", "missed_per_note", Figure(None, None, None, None)),
]


def test_what_an_attack_found_stands_beside_chance_and_the_untouched_text() -> None:
    rows = [
        reading("top_ten", 0.05, family="linkage"),
        reading("chance_top_ten", 0.02, family="linkage"),
        reading("first_raw", 0.9, family="linkage"),
        reading("notes_disclosed_raw", 0.97, family="disclosure"),
        reading("alid", 0.93, family="residue"),
        reading("right", 0.31, family="attacker", subject="attack whose note"),
        reading("chance", 0.25, family="attacker", subject="attack whose note"),
        reading("right_raw", 0.88, family="attacker", subject="attack whose note"),
    ]
    found = section(6, dossier_html(replace(FACTS, readings=[*READINGS, *rows])))
    assert "the true patient ranks first of all patients 1.20% (0.20% to 1.30%) 0.10% 90.00% lower" in found
    assert "the true patient is among the first ten 5.00% (4.00% to 5.10%) 2.00% not measured lower" in found
    assert re.search(r"notes that keep a direct identifier 0\.40% \(.*? to 0\.50%\) – 97\.00% lower", found)
    assert "nothing, where it still stands there 93.00% (92.00% to 93.10%) – 0% higher" in found
    assert "whose note, with topics right answers 31.00% (30.00% to 31.10%) 25.00% 88.00% lower" in found


def test_every_measure_that_a_dossier_may_show_has_words() -> None:
    of_no_dossier = {"labels_claimed", "notes_failed", "peak_mb", "words_per_second", "words_per_second_deviation"}
    yardsticks = {it for row in ATTACKS.values() for it in (row.chance, row.untouched) if isinstance(it, str)}
    keys = {
        it
        for it in MEASURES
        if not it.endswith(("_answered", "_per_note", "_per_10000_notes"))
        and it not in of_no_dossier | yardsticks | {"score_raw"}
    }
    assert sorted(it for it in keys if measure_in_words(it) == it.replace("_", " ") and it not in ("recall",)) == []
    readings = [reading(it, 0.5, family=family) for family, it in ATTACKS]
    readings += [reading(it, 0.5, family="linkage") for it in sorted(yardsticks)]
    readings += [reading(it, 0.5, family="retention") for it in ("lexical_retention", "cire", "jsc", "nsdcg")]
    shown = text_of(dossier_html(replace(FACTS, readings=[*READINGS, *readings])))
    assert not re.findall(r"\b(?:alid|jsc|nsdcg|cire|first raw|top ten|told apart chance)\b", shown)


def test_one_figure_leads_and_others_say_how_they_relate_to_it() -> None:
    first = section(1, dossier_html(FACTS))
    assert "6.00% (5.00% to 6.10%) of the notes keep at least one identifier, in part or whole" in first
    assert re.search(r"0\.40% \(.*? to 0\.50%\) of the notes keep a direct identifier", first)
    assert "neither follows the other" not in first
    # Where the laboratory measured on other notes than the bench, the two cannot be compared.
    other = [*on_library(0.06), *elsewhere()]
    assert section(1, dossier_html(replace(FACTS, readings=other))).count("neither follows the other") == 2
    assert "was not measured" in section(1, dossier_html(replace(FACTS, readings=[])))


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({}, "What speaks against it good : nothing"),
        ({"thresholds": {"recall": 0.999}}, "What speaks against it do not sign : 1 of the first lines"),
        ({"thresholds": {"recall": 0.999}}, "Notes that keep an identifier do not sign : 6.00%"),
        ({"marked": True}, "Leaks that readers reported do not sign"),
        ({"policy_is_at_hand": False}, "What the policy leaves do not sign : the policy is not at hand"),
        ({"waivers": [WAIVED]}, "Waivers look closer : 1 in force"),
        ({"readings": elsewhere()}, "Whose notes were measured look closer : 684 notes of the synthetic hospital"),
        (
            {"feeds": [replace(FACTS.feeds[0], demonstration=True)]},
            "What the notes are do not sign : demonstration data",
        ),
        ({}, "What an attacker makes of it look closer : 1.20% (0.20% to 1.30%), by chance 0.10%"),
    ],
)
def test_somebody_with_ten_minutes_is_told_what_to_look_at_and_when_not_to_sign(change, row: str) -> None:
    assert row in unescape(section(1, dossier_html(replace(FACTS, **change))))


def test_the_page_of_documentation_names_each_thing_to_look_at() -> None:
    page = (Path(__file__).parents[2] / "docs" / "dossier.md").read_text(encoding="utf-8")
    facts = replace(FACTS, feeds=[replace(FACTS.feeds[0], demonstration=True)])
    for look in looks(facts, verdict(facts)):
        assert f"| {look.at} | " in page


def test_sections_are_numbered_from_one_and_texts_name_them_rightly() -> None:
    for policy in ("safe_harbor", "gdpr_it"):
        html = dossier_html(replace(FACTS, policy=policy, readings=[]))
        shown = [unescape(name) for name in re.findall(r'<h2 id="s\d+">(.*?)</h2>', html)]
        assert shown == [f"{number}. {name}" for number, name in enumerate(SECTIONS, start=1)]
    law = section(11, dossier_html(FACTS))
    assert "Section 4 to section 8: counts" in law and "Section 12 names what was run" in law and "Section 14." in law


def test_the_dossier_of_a_demonstration_opens_with_what_it_is() -> None:
    facts = replace(FACTS, feeds=[replace(FACTS.feeds[0], demonstration=True)])
    assert text_of(dossier_html(facts)).startswith("This is a demonstration. Its notes are invented or published")
    mixed = replace(FACTS, feeds=[*FACTS.feeds, replace(LAB_FEED, demonstration=True)])
    assert text_of(dossier_html(mixed)).startswith("This release holds demonstration data.")
    assert text_of(dossier_html(FACTS)).startswith("Dossier of release r_1")


def section(number: int, html: str) -> str:
    return text_of("<body>" + html[html.index(f'id="s{number}"') : html.index(f'id="s{number + 1}"')])


def test_what_reviewers_say_stands_in_a_section_of_its_own() -> None:
    assert "nobody has judged what was removed although no gold marks it" in section(8, dossier_html(FACTS))
    settled = reading("share_settled", 1.0, family="review")
    found = section(8, dossier_html(replace(FACTS, readings=[*READINGS, *REVIEWED, settled])))
    assert "clinically relevant of the removals that were read 12.30% (11.30% to 12.40%) 4,000" in found
    assert "severity high of the clinically relevant removals 25.00%" in found
    assert "all agreement beyond chance (kappa) 0.71 (0.70 to 0.71)" in found
    assert "all identifiers that readers saw missed, a note 1.50 (1.49 to 1.50)" in found and "DATE ident" not in found
    assert "withheld" not in found
    assert "nobody" not in found and "flatter" not in found
    open_ = reading("share_settled", 0.98, family="review")
    assert "the shares flatter" in section(8, dossier_html(replace(FACTS, readings=[*READINGS, *REVIEWED, open_])))
    right = reading("share_right", 0.9, family="read notes", gold="read_notes")
    part = reading("share_settled", 0.5, family="read notes", gold="read_notes")
    of_notes = section(8, dossier_html(replace(FACTS, readings=[*READINGS, right, part])))
    assert (
        "of the removals, those that were right 90.00% (89.00% to 90.10%) 4,000" in of_notes and "flatter" in of_notes
    )
    # Of other notes than the release's figures are of.
    elsewhere = [replace(it, gold="synthetic_hospital") for it in REVIEWED]
    assert "nobody has judged" in section(8, dossier_html(replace(FACTS, readings=[*READINGS, *elsewhere])))


@pytest.mark.parametrize(
    "said",
    [
        "Characters; By length of note; The same notes in other formats.",
        "What is left of each identifier (Pissarra 2024); What a language model learns of a patient",
        "something that tells who somebody is although it names nobody; Identifiers left that a reader can tell from",
        "How good the judge of lost medicine is, on labelled pairs that it was not tuned on; A task learned",
    ],
)
def test_what_was_not_measured_says_so(said: str) -> None:
    page = text_of(dossier_html(replace(FACTS, treatments=SURROGATES)))
    assert said in page and page.count("Not measured: ") == 4  # and an answer to the law


def test_where_nothing_is_made_up_there_is_nothing_to_tell_apart() -> None:
    assert "tell from surrogates" not in text_of(dossier_html(FACTS))


@pytest.mark.parametrize(("conservative", "fit"), [(0.991, True), (0.9899, False)])
def test_a_threshold_of_recall_is_for_words_hidden_whole(conservative: float, fit: bool) -> None:
    readings = [*READINGS, reading("recall_conservative", conservative)]
    found = verdict(replace(FACTS, readings=readings, thresholds={"recall": 0.98}))
    assert (found.standing is Standing.SUPPORTED) is fit
    assert fit or found.against == (
        "The lower end of recall, of words hidden whole, is 97.99% on notes of this site, with its topics, marked by "
        "the site's annotators (adjudicated); the profile asks for 98.00%.",
    )


def test_the_page_needs_no_script_and_asks_nobody() -> None:
    html = dossier_html(replace(FACTS, policy="gdpr_it"))
    assert "<script" not in html and "<link" not in html and "@import" not in html
    assert not re.search(r"""(?:src|href|action)\s*=\s*["'](?!#)""", html)
    assert "url(" not in html
    assert "default-src 'none'" in html


def test_small_counts_are_withheld() -> None:
    assert "people decided: none." in text_of(dossier_html(FACTS))
    page = text_of(dossier_html(replace(FACTS, retracted=3, ruled={"mend": 12, "keep-out": 3})))
    assert "people decided: keep-out <11, mend 12." in page.replace("&lt;", "<")
    assert "Quarantined notes: <11" in page.replace("&lt;", "<")
    assert "Notes hidden after readers reported a leak: <11" in page.replace("&lt;", "<")
    hidden = Reading("site", "topics", "words", "SSN", "recall", Figure(None, None, None, None))
    facts = replace(FACTS, treatments=[Treatment("SSN", "tag", "G", "high")], readings=[*READINGS, hidden])
    assert ">SSN</td><td>tag" in dossier_html(facts)  # what the policy does is said, what was measured is not
    assert not re.search(r"SSN</td><td>high</td><td>\d", dossier_html(facts))


def test_what_people_wrote_is_no_markup() -> None:
    html = dossier_html(replace(FACTS, waivers=[replace(WAIVED, who="<b>P</b>", reason='"><script>1</script>')]))
    assert "<b>P</b>" not in html and "<script>" not in html


def test_the_same_facts_make_the_same_file() -> None:
    assert dossier_html(FACTS) == dossier_html(replace(FACTS))


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        ("safe_harbor", "distinguishability"),
        ("gdpr_it", "motivated intruder"),
        ("gdpr_it", "HealthDCAT-AP"),
        *(("gdpr_it", f"article {it})?") for it in ("66(1)", "66(2)", "66(3)", "71", "73")),
        ("gdpr_it", "articles 77 and 78)?"),
        ("gdpr_it", "Italy, law 132 of 2025, article 8(2)"),
    ],
)
def test_the_questions_are_those_of_the_law(policy: str, asked: str) -> None:
    assert asked in text_of(dossier_html(replace(FACTS, policy=policy)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "of 684 notes, sealed on 2026-01-05, 47 days before this release's detector was last measured on it"),
        ({}, "had been computed from its gold 2 times, with 1 detector."),
        ({"looks": 1}, "computed from its gold once, with 1 detector."),
        ({"looks": 1_200, "detectors": 30}, "1,200 times, with 30 detectors. Whoever has seen figures"),
        ({"days": 3}, "less than 30 days before"),
        (
            {"seen": 670, "other_sets": 3, "other_looks": 12, "every_detector": 5},
            "no new set: 670 of its notes were in sets before it. Other sets with notes of it were looked at 12 times; "
            "all of them together with 5 detectors.",
        ),
        ({"seen": 4}, "no new set: <11 of its notes"),
        ({"own_sets": 3}, "measured on 3 sets of this gold; the newest figures are shown"),
    ],
)
def test_how_often_the_held_out_set_was_looked_at_stands_beside_the_figures(change, said: str) -> None:
    page = text_of(dossier_html(replace(FACTS, held_out=replace(HELD_OUT, **change))))
    assert said in unescape(page)


def test_the_same_set_as_that_of_the_former_release_is_no_doubt() -> None:
    assert verdict(replace(FACTS, held_out=replace(HELD_OUT, former=HELD_OUT.name))).standing is Standing.SUPPORTED


def test_what_changed_stands_beside_the_former_release() -> None:
    figures = Figure(0.98, 0.97, 0.99, 4000), Figure(0.99, 0.98, 0.995, 4000)
    change = Change("r_0", "safe_harbor", "aaaa", *figures, source("synthetic_hospital", "topics"))
    page = text_of(dossier_html(replace(FACTS, change=change)))
    assert "Analysts saw r_0 before: policy safe_harbor, detector aaaa ; recall 98.00% (97.00% to 99.00%)" in page
    assert "with its own topics, marked by the program that wrote them" in section(
        13, dossier_html(replace(FACTS, change=change))
    )
    assert "It is the first release" in text_of(dossier_html(FACTS))


@pytest.mark.parametrize(
    ("share", "said"), [(0.99996, "over 99.99%"), (0.00001, "under 0.01%"), (1.0, "100%"), (0, "0%")]
)
def test_almost_all_is_never_rounded_to_all(share: float, said: str) -> None:
    readings = [reading("recall", 0.99), Reading("site", "topics", "words", "DATE", "recall", Figure(share, n=50))]
    assert said in text_of(dossier_html(replace(FACTS, readings=readings)))


def test_the_languages_are_named_with_what_was_measured_and_no_small_count() -> None:
    said = [Language("en", 1980, 0, "site", 600, 0.991, 0.97), Language("es", 6, 0, "shipped", None, 0.9917, 0.9304)]
    facts = replace(FACTS, languages=[*said, Language("th", 0, 4)])
    found = verdict(facts)
    assert found.standing is Standing.DOUBTFUL
    assert found.doubts == ("Not measured on this institution's own notes: recall in es.",)
    table = dossier_html(facts).split("Languages of the notes")[1].split("</table>")[0]
    rows = [re.sub(r"<[^>]+>", "|", row) for row in table.split("</tr>")]
    assert any("|en|" in row and "|1,980|" in row and "|99.10%|" in row for row in rows)
    assert any("|th|" in row and "|nothing|" in row and "|4|" not in row for row in rows)
    assert not any("|6|" in row for row in rows)
