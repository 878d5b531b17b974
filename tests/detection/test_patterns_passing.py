"""Names and places in passing: hits beside what only looks like them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Find = Callable[..., list[tuple[str, str]]]

HITS = [
    ("She saw her dentist in Vrindelton before that.", ["Vrindelton"]),
    ("He lives alone near Oskarvik, with two cats.", ["Oskarvik"]),
    ("Studies done at Westerhagen: none.", ["Westerhagen"]),
    ("She goes back to Oskarvik if stable.", ["Oskarvik"]),
    ("Brought in from Willow Bend after a fall.", ["Willow Bend"]),
    ("Admitted to Tarnview Psych for two weeks.", ["Tarnview Psych"]),
    ("Pt from Westerhagen SNF with fever.", ["Westerhagen"]),
    ("From Oskarvik, speaks Norwegian.", ["Oskarvik"]),
    ("Stylist @ Vrindels.", ["Vrindels"]),
    ("Belongings given to Abernathy, valuables locked.", ["Abernathy"]),
    ("PCP at baseline is unclear, maybe Abernathy or a partner.", ["Abernathy"]),
    ("Paged ortho, Abernathy will come.", ["Abernathy"]),
    ("Abernathy going to the lab now.", ["Abernathy"]),
    (
        "Her children (Obinzo, Kemiyo, Femiyo) are well, son Kemiyo visits.",
        ["Obinzo", "Kemiyo", "Femiyo", "Kemiyo"],
    ),
    ("Bartender at O'Malley's; drinks on shift.", ["O'Malley"]),
    ("Mrs. Ostrowe of Westerhagen", ["Ostrowe", "Westerhagen"]),
    # by what stands beside a place
    ("He lives in the Tarnview area.", ["Tarnview"]),
    ("Seen in the Tarnview office.", ["Tarnview"]),
    ("Transferred from Mercy for NSTEMI.", ["Mercy"]),
    ("Per Hopkins records stable.", ["Hopkins"]),
    ("Transferred from OSH (Tarnfield) for care.", ["Tarnfield"]),
    ("Social: lives on Kapiolani w/ his brother.", ["Kapiolani"]),
    ("GP: Dr Vance, The Limes Surgery", ["Vance", "Limes Surgery"]),
    ("Practice letter, Station Road, Hexhamby.", ["Station Road", "Hexhamby"]),
    ("He served in the 101st Airborne.", ["101st Airborne"]),
    ("Served aboard the USS Tarnow.", ["USS Tarnow"]),
    ("He is a deacon at New Hope Baptist.", ["New Hope Baptist"]),
    ("Lives at Cabrini Towers, apt 9F.", ["Cabrini Towers", "apt 9F"]),
    ("Please come to:\nSuite 410\nVrindel", ["Suite 410"]),
    ("It is in the Kirbyn Building.", ["Kirbyn Building"]),
    ("Records of Tacoma General 3/18 reviewed.", ["Tacoma General", "3/18"]),
    ("He was under them at The Alfred and improved.", ["The Alfred"]),
    ("Pt is a freshman at Ole Miss, home for break.", ["Ole Miss"]),
    ("Agree w/ Hunnicutt note above.", ["Hunnicutt"]),
    ("Gets methadone at BRMC daily.", ["BRMC"]),
    ("lives alone in laredo, no pets", ["laredo"]),
    ("works @ home depot", ["home depot"]),
    ("Comparison: Lenox Hill CT of last year.", ["Lenox Hill"]),
    # people
    ("The ex, Marlon, has custody.", ["Marlon"]),
    ("He is also known as Bunny to family.", ["Bunny"]),
    ("Paged ortho (Nwachukwu, pager 31877).", ["Nwachukwu", "31877"]),
    ("Dictated by MJT / kls", ["MJT", "kls"]),
    ("RN present. Peds: Abernethy. No meds.", ["Abernethy"]),
    ("Supported by Aunty Marlee, who visits.", ["Marlee"]),
    ("Attending addendum (Winterbourne): seen.", ["Winterbourne"]),
    ("Dear parents of Siddharth, hello.", ["Siddharth"]),
    ("Renata Vrindel, CDE, saw them.", ["Renata Vrindel"]),
    ("Addendum 6/3 0915 AKB: called.", ["6/3", "AKB"]),
    ("The son DJ says no.", ["DJ"]),
    ("Whitfield funeral home was notified.", ["Whitfield"]),
    ("Mail it to PO Box 88, Winslow.", ["PO Box 88", "Winslow"]),
    ("REPORT CALLED TO NURSE AT MAGNOLIA MANOR.", ["MAGNOLIA MANOR"]),
    ("Transferred from Pelican Bay 10/1.", ["Pelican Bay", "10/1"]),
    # numbers
    ("Facebook: tiff.marie.82", ["tiff.marie.82"]),
    ("Username bjorn.k was reset.", ["bjorn.k"]),
    ("Email lw77 at gmail", ["lw77 at gmail"]),
    ("P. Vance, OT, x2231.", ["P. Vance", "x2231"]),
    ("Mesh lot HUDR1123, kept.", ["HUDR1123"]),
    ("CHN U88213 and NHI ZAC5361.", ["U88213", "ZAC5361"]),
    ("OHIP 4412-883-201-XK", ["4412-883-201-XK"]),
    ("Plan: member 881-22-0034-A.", ["881-22-0034-A"]),
    ("Phone interpreter id 392817 was used.", ["392817"]),
    ("Key under mat; door code 4471.", ["4471"]),
    ("Carer comes four times. Key safe 1966.", ["1966"]),
    # dates
    ("Hospitalised in spring 2016 and the fall of 2009.", ["spring 2016", "fall of 2009"]),
    ("MDT on Tuesday 4th, visit Thursday the 9th.", ["4th", "9th"]),
    ("Concentrator delivered 10/4; last worked 12/3.", ["10/4", "12/3"]),
]
NEAR_MISSES = [
    "Suite 410 for the stress test, vaccine lot EW0170.",
    "Bone age by Greulich and Pyle is 7 years.",
    "The extremity was wrapped in Esmarch prior to inflation.",
    "Irrigated with saline and Kantrex, closed with Monocril.",
    "A locking plate from Leibinger was used.",
    "He had some exposure to Strep and an allergy to Sulfa.",
    "Taken to Postanesthesia Care Unit in stable condition.",
    "Fulgurated using Bugbee electrodes; a Kitner was placed.",
    "The fungus, known as Trichophyton, thrives.",
    "Fluffs, Kling, and Ace wrap were applied.",
    "A #20 Hank dilator; we left an 18-French Robinson in place.",
    "Scale adapted from Osei, 2019; as in Osei et al.",
    "In spring she is worse; fall risk; summer colds.",
    "Fall 3 feet from a ladder; code 4 called; code status full.",
    "The general area is tender; the right area is warm.",
    "Discharged to home in good condition; to Rehab when able.",
    "Seen in Clinic today, in Hospice care.",
    "Serial troponins, lot of pain, model of care, ref range 120000.",
    "Monday and Thursday, third visit.",
    "Surgery went well. Practice breathing.",
    "in target range, from apple juice, in general, at best",
    "Transferred from ED 2/2 pain; 2/2 sepsis.",
    "Ambulated in Hallway, void in Urinal, lesion near Falx.",
    "Baby Aspirin daily; little improvement, old MI.",
]


@pytest.mark.parametrize(("text", "found"), HITS)
def test_names_and_places_in_passing(text: str, found: list[str], find: Find) -> None:
    assert [surface for surface, _ in find(text)] == found


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_only_looks_like_them_stays(text: str, find: Find) -> None:
    assert find(text) == []
