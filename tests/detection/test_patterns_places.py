"""What a text alone gives away about places and institutions. [[value|LABEL]] marks all that must be found.

A line break inside a line is written as ⏎. The addresses are invented.
"""

from __future__ import annotations

import pytest
from marked_text import found_in, lines, plain

from deid_platform.labels import Label

STREETS = """
Mail: [[County Rd 39|STREET]]. Home: [[Hwy 30|STREET]]. Home: US 2 views
Mail: [[SW Eighth St|STREET]]. Home: [[East Eighth|STREET]]. Home: 2 cats
Mail to [[POB 1196|STREET]] or [[Lock Box 4483|STREET]]
Lives at [[R.R. 11, Box 5613|STREET]]
POB was clear, the lock box is shut
lives at [[1749 Orchard Drive, Apt G 101|STREET]]
[[40 CROSSBEAK RD|STREET]], [[ROCHESTER|CITY]], [[MN|STATE]]
[[123 Elm St|STREET]], [[Harlow Falls|CITY]], [[IL|STATE]] [[62704|ZIP]]
[[123 N. 5th Street Suite 200|STREET]]
[[2908 Willow Bend St|STREET]], [[Hamilton|CITY]], [[OH|STATE]] [[45011|ZIP]]
[[3720 Aspen Street, Apt. 46|STREET]], [[Rochester|CITY]] [[NY|STATE]] [[14604|ZIP]]
[[P.O. Box 123|STREET]]
[[RR 2 Box 44|STREET]]
[[PSC 1234, Box 5678|STREET]], [[APO|CITY]] [[AE|STATE]] [[09321|ZIP]]
[[88 quarmby road|STREET]]
[[4120 County Road 19|STREET]]
stays at the corner of [[Maple|STREET]] and [[Third|STREET]]
[[12 Kestrel Close|STREET]], [[Leeds|CITY]] [[LS6 2AB|ZIP]]
[[44 Rideau Crescent|STREET]], [[Ottawa|CITY]], [[ON|STATE]] [[K1N 5Y3|ZIP]]
[[9 Banksia Road|STREET]], [[Geelong|CITY]] [[VIC|STATE]] [[3220|ZIP]]
lives on [[Orchard Drive|STREET]]
Domicilio: [[Paseo Largo 86, 13 A|STREET]].
abita in [[Via Roma 12|STREET]], [[20121|ZIP]] [[Milano|CITY]]
[[Calle Mayor 14|STREET]], [[28013|ZIP]] [[Madrid|CITY]]
[[12 rue de Rivoli|STREET]], [[75004|ZIP]] [[Paris|CITY]]
[[Lindenstraße 5|STREET]], [[80331|ZIP]] [[München|CITY]]
mailing address [[3241 Quarry Avenue|STREET]], [[Marietta|CITY]] [[45750|ZIP]]. Her son
Address | [[4849 Ninth Ave|STREET]] | [[Athens|CITY]] | [[OH|STATE]] | [[45701|ZIP]]
Address: [[1385 Prairie Avenue|STREET]]; [[Youngstown|CITY]]; [[OH|STATE]]; [[44503|ZIP]].
[[5141 Ravine Pl|STREET]]; [[Dayton|CITY]]. Oxygen
lives off [[Osprey Street|STREET]], [[Toledo|CITY]].
EMS: [[686 NUTMEG DRIVE, APT. 46|STREET]] [[GROVE CITY|CITY]].
[[6848 COVERED BRIDGE LANE|STREET]] [[NEWARK|CITY]].
lives near [[Ravine Avenue|STREET]] & [[Woodland Drive|STREET]].
near [[Ravine Avenue|STREET]] and [[Woodland Drive|STREET]]
House number [[860, Briarcliff Blvd|STREET]]
walks to the bus stop on [[Main Drive|STREET]]
Home visit at [[6970 orchard st apt. 9|STREET]] today
lives at [[12 Elm St, Apt C|STREET]], [[12 elm street apt c|STREET]]
[[221B Baker Street|STREET]] and [[221b Baker Street|STREET]]
[[12 1/2 Elm St|STREET]] and [[12½ Elm St|STREET]]
[[１２３ Elm Street|STREET]]
sits in [[apt 4|STREET]] all day
apt 4 weeks
10m Timed Walk
5 feet down the road
2 stitches in place
at 11:20 PM Dr. called
chest, CT of
has 608 white cells, 625 RBCs. Head CT is pending
Circle of Willis
Canal of Guyon
1 way valve
given via PEG tube
a 3 point restraint
calle
L4 5MG tablet
"""

ABROAD = """
He lives at [[12 rue de la Paix|STREET]], [[75002|ZIP]] [[Paris|CITY]].
She moved to [[Hauptstr. 5|STREET]], [[10115|ZIP]] [[Berlin|CITY]] last year.
Her address is [[Via Roma 3|STREET]], [[20121|ZIP]] [[Milano|CITY]] and she speaks Italian.
lives at [[Flat 4, 22 Elm Road|STREET]], [[Leeds|CITY]] [[LS6 2AB|ZIP]] with her son
lives at [[22 Elm Road|STREET]], [[London|CITY]] [[SW1A 2AA|ZIP]].
Mail goes to [[Keizersgracht 62|STREET]], [[1015 CS|ZIP]] [[Amsterdam|CITY]].
Home: [[Unit 5/120 George St|STREET]], [[Sydney|CITY]] [[NSW|STATE]] [[2000|ZIP]]
[[Unit 12, 45 Bourke Street|STREET]], [[Melbourne|CITY]] [[VIC|STATE]] [[3000|ZIP]]
staying at [[1-2-3 Shibuya|STREET]], [[Tokyo|CITY]] [[150-0002|ZIP]]
[[2-8-1 Nishi-Shinjuku|STREET]], [[Shinjuku|CITY]], [[Tokyo|CITY]] [[163-8001|ZIP]]
resides at [[221 rue Sainte-Catherine|STREET]], [[Montréal|CITY]] [[QC|STATE]] [[H3B 1A7|ZIP]]
sent to [[Prinsenstraat 5|STREET]], [[3511 AB|ZIP]] [[Utrecht|CITY]]
[[Rua Augusta 25|STREET]], [[1100-053|ZIP]] [[Lisboa|CITY]]
[[Vesterbrogade 12|STREET]], [[1620|ZIP]] [[København|CITY]]
[[Drottninggatan 4|STREET]], [[111 51|ZIP]] [[Stockholm|CITY]]
[[ul. Marszałkowska 10|STREET]], [[00-590|ZIP]] [[Warszawa|CITY]]
[[Unter den Linden 77|STREET]], [[10117|ZIP]] [[Berlin|CITY]]
lives at [[Rue de la Loi 12|STREET]], [[1000|ZIP]] [[Bruxelles|CITY]]
take 1-2-3 tablets, Tokyo guidelines 2018
given 5 mg, 10115 units, Berlin criteria
BMI 22 kg, 1015 CS measured; unit 5/120 ml, level 4, 22 years old
Fire Brigade 12, 2000 Units; take 12, 1100-053 Tablets
Smith et al. 2010, WBC 5/ul. Repeat 12
"""

PLACES = """
Adjusted by [[Tolliver|DOCTOR]], DC.
zip code [[62704|ZIP]]
lives in [[Harlow Falls|CITY]]
lives with his niece in [[Lorain|CITY]]
moved to [[Ohio|STATE]]
lives with his aunt in [[Altoona|CITY]], [[PA|STATE]]
hometown: [[Harlow Falls|CITY]]
Localidad/ Provincia: [[Valencia|CITY]].
[[Harlow Medical Center|HOSPITAL]], [[Zanesville|CITY]]
visited [[Portugal|COUNTRY]]
returned from [[Vietnam|COUNTRY]]
a 66-year-old woman from [[Toledo|CITY]]
a hospital in [[Wichita|CITY]]
born in [[Houston|CITY]], [[Texas|STATE]]
[[Washington|CITY]], [[DC|STATE]] office
lives out past [[Birch Point Marina|LOCATION-OTHER]]
found near [[Larkin Mobile Home Park|LOCATION-OTHER]]
from [[Lucas County|LOCATION-OTHER]]
[[CHILLICOTHE|CITY]], [[OHIO|STATE]]. His mother
City: [[Springfield|CITY]]  State: [[OH|STATE]]  Zip: [[45503|ZIP]]
a 51-year-old man, [[Two Harbors|CITY]]
lives in [[Lima|CITY]] with her husband
lives in [[North Bend|CITY]]
has family in [[Huntington|CITY]] and [[Grove City|CITY]].
[[Stride Ahead Rehabilitation|HOSPITAL]] ([[Athens|CITY]]). Prior
[[Mercy Hospital|HOSPITAL]] in [[Round Top|CITY]].
[[Harlow Hospital - Fairview|HOSPITAL]] in [[Windsor|CITY]].
[[Cobalt Drugs|ORGANIZATION]] in [[Findlay|CITY]].
[[Hamilton|CITY]] resident. Lives alone
lives in [[Sodus|CITY]], [[MI|STATE]]. No pets
lives in [[Saint Louis|CITY]], [[MI|STATE]].
lives in [[Baltimore|CITY]], [[MD|STATE]].
[[Gordon|CITY]], [[TX|STATE]].
[[Toledo|CITY]], [[OH|STATE]]
Provider: [[Arlo Norman|DOCTOR]], MD
Signed by: [[Leach, Norman|DOCTOR]], MD
lives out past [[Halfmoon Lake|LOCATION-OTHER]]
drove in from [[Cutler Reservoir|LOCATION-OTHER]]
near [[Pike's Landing|LOCATION-OTHER]]
stays at [[Camp Tamarack|LOCATION-OTHER]]
near [[the Hollins Ferry exit|LOCATION-OTHER]]
[[Lowell|CITY]], [[Mass.|STATE]] He
from [[Albany|CITY]], [[N.Y.|STATE]] by bus
lives in [[dayton|CITY]], [[oh|STATE]]
mail goes to [[dayton|CITY]], [[oh|STATE]] [[45402|ZIP]]
12 tablets, in 10000 units
[[SPRINGFIELD|CITY]] [[IL|STATE]] [[62704|ZIP]]
[[Harlow Falls|CITY]] [[IN|STATE]] [[46204|ZIP]]
[[Muncie|CITY]], [[IN|STATE]] [[25000|ZIP]]
[[Cranbury|CITY]] [[ME|STATE]] [[94401|ZIP]]
[[BOSTON|CITY]] [[MA|STATE]] [[15000|ZIP]]
[[MA|STATE]] [[02115|ZIP]]
[[NY|STATE]] [[62704|ZIP]]
[[Portland|CITY]], [[OR|STATE]] [[97201|ZIP]] patients
HEPARIN IN 25000 UNITS
HEPARIN, IN 25000 units/250 mL
Heparin Drip IN 25000/250
MA 15000
PA 20000
IN 10000 PATIENTS
OCCURS IN 10000 BIRTHS
PLATELETS IN 50000 RANGE
PLT OR 20000
ERGOCALCIFEROL IN 50000 UNIT CAPSULE
titer OR 10240
[[Portland|CITY]] ([[ME|STATE]])
[[DAYTON|CITY]] [[OH|STATE]]
City=[[Cranbury|CITY]], State=[[ME|STATE]], ZIP=[[04401|ZIP]]
[[12 Oak St|STREET]] / [[Cranbury|CITY]] / [[ME|STATE]] / [[04401|ZIP]]
zip+4: [[04401-2211|ZIP]]
lives at [[12 Elm|STREET]]
[[W1234 State Hwy 29|STREET]]
emigrated from [[Chad|COUNTRY]]
stationed in [[Korea|COUNTRY]]
[[Cincinnati|CITY]]-born
First-born
SNF: [[MEADOWBROOK SENIOR LIVING|HOSPITAL]], [[CINCINNATI|CITY]].
near [[Old Tannery Flats|LOCATION-OTHER]]
Abdomen: soft. Mass. None
lives in assisted living
lives in Section 8 housing
surgery resident, who saw her
LIMA to LAD
Bridge to transplant
Lake Louise criteria
Rocky Mountain spotted fever
Ommaya Reservoir
Indiana pouch
Minnesota tube
Philadelphia chromosome
California Verbal Learning Test
India ink negative
West Nile virus
Lyme titer
Boston Scientific
placed on the Jackson table
WBC 12000
resident in training
pain came from nowhere
discharged to home in stable condition
born in hospital
travel to and from dialysis
"""

FACILITIES = """
treated at [[NY Presbyterian|HOSPITAL]] in [[May|DATE]]; seen at [[UCLA Med Center|HOSPITAL]]
seen at [[Tolland Med. Center|HOSPITAL]] on
transferred to ICU General; to PT General
COURSE IN HOSPITAL: stable
RETURN TO CLINIC: 2 weeks
VOCATIONAL REHABILITATION: none
[[COPPER HILLS HOSPITAL|HOSPITAL]]
[[COPPER HILLS GENERAL HOSPITAL|HOSPITAL]] DISCHARGE SUMMARY
[[Copper Hills Clinic|HOSPITAL]] Visit Summary
Slides at [[Twin Forks Surgery Ctr|HOSPITAL]], done.
OSH records ([[Wexcombe Memorial|HOSPITAL]]) reviewed.
Biopsy sent to [[Merrowdale Labs|HOSPITAL]].
(Medical Intensive) results (General) sent to Central Labs for review
Home health through [[Hartsfell Visiting Nurse Association|HOSPITAL]], start of care pending
[[Visiting Nurse Service of Tarnbrook|HOSPITAL]] called
The visiting nurse came
went to [[St. Mary's Hospital|HOSPITAL]]
an MRI at [[Uniontown Hospital|HOSPITAL]]
CT at [[Mercy Hospital|HOSPITAL]]
at [[Harlow Falls Medical Center|HOSPITAL]]
[[Westbrook Primary Care-Lynford|HOSPITAL]] Follow up
cc: [[Eastgate Obstetrics & Gynecology|HOSPITAL]]
[[Quarmby Family Medicine Lynford|HOSPITAL]] called
records from [[Cedar Ridge Physical Therapy|HOSPITAL]]
seen at [[Bluffton Therapy & Wellness|HOSPITAL]]
[[University Hospital of Marrakech|HOSPITAL]]
[[Children's Hospital of Wichita|HOSPITAL]]
transferred to [[Ochsner|HOSPITAL]]
[[Ospedale Niguarda|HOSPITAL]]
[[Kindred Rx|ORGANIZATION]] called
[[Hartsell Joint Institute|HOSPITAL]]
films from [[Shoreline Infectious Disease|HOSPITAL]]
[[ELLERY VASCULAR & HEART GROUP|HOSPITAL]]
SNF: [[AMBER LANTERN HOME CARE|HOSPITAL]], [[ATHENS|CITY]].
lives at [[The Gables at Orchard Hill|HOSPITAL]] since then
SNF: [[THE GABLES AT ORCHARD HILL|HOSPITAL]], [[LORAIN|CITY]].
[[J Paul Jones Hospital|HOSPITAL]]
[[D W McMillan Memorial Hospital|HOSPITAL]]
[[Sharp Coronado Hospital and Healthcare Ctr|HOSPITAL]] called
[[Summit Healthcare Regional Medical Center|HOSPITAL]] called
[[Wakemed, Raleigh Campus|HOSPITAL]]
at [[University College Hospital|HOSPITAL]]
seen at [[Brightwater|HOSPITAL]]. Then home
at [[copper hills regional hospital|HOSPITAL]] for a week
[[wabash bend urgent care|HOSPITAL]] sent no report
Transfer: [[TWIN FORKS SURGERY CENTER|HOSPITAL]] -> [[BRRMC|HOSPITAL]]
[[BRRMC|HOSPITAL]] | DISCHARGE |
unit 5E, [[BRRMC|HOSPITAL]]. Deep
labs drawn at [[BRFMDAY|HOSPITAL]] today
[[Cranford Gen Hosp|HOSPITAL]]
admitted to [[Cranford Memorial|HOSPITAL]] last week
discharged to [[Larkspur|HOSPITAL]] SNF
[[cloverdale family practice|HOSPITAL]] sent no report
[[elmhurst pulmonary associates|HOSPITAL]] sent no report
pharm: [[rx express|ORGANIZATION]].
[[prairie diabetes & thyroid center|HOSPITAL]] sent no report
seen at [[old quarry neuroscience center|HOSPITAL]] once
[[hartsell joint institute|HOSPITAL]] sent it
Transfer: [[STONEBROOK NEUROLOGY|HOSPITAL]] -> ward
Transfer: [[MAPLE HEIGHTS DIALYSIS|HOSPITAL]].
REFERRED TO PEDIATRIC NEUROLOGY.
TRANSFER FROM DIALYSIS.
at the wound care center, a pain clinic, the fracture clinic
to the community health center, at an outpatient heart failure clinic
called the poison control center
to General Surgery
at a support group
outside cardiology group
F  Hosp. No.: see below
Ref Cardiology
seen at OSH
transferred to MICU
seen at Baseline
films from MRI
drawn at bedside
an outside hospital
a provincial hospital
the local pharmacy
at the surgery center
HOME HEALTH
RESUME HOME HEALTH
Arrange Home Care
Interventional Radiology and Neurology Departments
Emergency Department
Primary Care
the Radiology Department
Internal Medicine Clinic
Maternal Fetal Medicine
Breast Imaging Reporting and Data System
American College of Rheumatology criteria
Combined Cardiology and Cardiothoracic Surgery
HOSPITAL COURSE
the Hospital
Continue Physical Therapy
Home Health
Pain Management
Ochsner and Kocher clamps
a straight Ochsner was placed
Maryland dissector
Mental Health History
St. Vitus dance
"""

ORGANIZATIONS = """
Pharmacy [[MedwayDrug|ORGANIZATION]]; before that [[CornerApothecary|ORGANIZATION]], once [[PILLAR PHARM|ORGANIZATION]]
Incarcerated at [[Stonehaven Correctional|ORGANIZATION]].
She uses the [[Rendle|ORGANIZATION]]'s pharmacy. At the Inpatient pharmacy.
County Jail, to Outpatient pharmacy
[[RITE AID|ORGANIZATION]]-[[17 S ELM ST|STREET]]
[[Quarmby Pharmacy|ORGANIZATION]] called
sent to [[Medway Drug|ORGANIZATION]].
works at [[Quarmby Widgets|ORGANIZATION]] as a clerk
Employer ([[Hearthside Bakery|ORGANIZATION]]) needs a note
transferred with [[Google|ORGANIZATION]].
attends [[Quarmby Elementary School|ORGANIZATION]]
a student at [[University of Toledo|ORGANIZATION]]
insured by [[Pellworth Insurance|ORGANIZATION]]
E-prescribed: [[Main Street Drug|ORGANIZATION]], today
[[RX EXPRESS|ORGANIZATION]] called
pharm: [[tri-county drug|ORGANIZATION]].
usually fills at [[Dunn & Avery Apothecary|ORGANIZATION]]
drives a truck for [[Westering Paper|ORGANIZATION]].
transferred here with [[Inkwell Books|ORGANIZATION]].
attends [[School House Baptist Church|ORGANIZATION]]
retired from [[Orchard State College|ORGANIZATION]].
letter faxed to [[Amity Public Library|ORGANIZATION]]
form faxed to [[Wexler Railcar|ORGANIZATION]].
member of [[Grace Lutheran Church|ORGANIZATION]]
goes to [[Harmon High|ORGANIZATION]]
night shift at [[Tolland Ironworks|ORGANIZATION]]
Employer: [[Tolland Ironworks|ORGANIZATION]]
hurt lifting pallets at [[Inkwell Books|ORGANIZATION]]
dialysis at [[DaVita|ORGANIZATION]]
enrolled in the GUSTO trial
goes to Physical Therapy
attends Physical Therapy
Recreational Street Drugs: none
Maverick RX 2.75mm
a local drug store
Pharmacy: none
NO KNOWN DRUG ALLERGIES
Recreational Drugs: none
Urine Drugs: negative
High School graduate
CVS: S1 and S2 normal
works as a nurse
works from home
Newborn Nursery
Organ Systems
"""


SPANISH = """
Dra. [[Lucinda Bravo Ortuño|DOCTOR]] Servicio de Anatomía Patológica [[Hospital Infanta Berta|HOSPITAL]]. Madrugada
Servicio de Urología. [[Complejo Hospitalario Universitario de Valdelinares|HOSPITAL]]. Consulta
[[Facultad de Ciencias de la Salud, Universidad de Granada|ORGANIZATION]]. Consulta
visto en el Servicio de Digestivo del [[Hospital Son Valero|HOSPITAL]] y dado de alta
ingresado en nuestro hospital. Servicio de Urología: alta
[[Callejón de las Moreras, 11, 4.º E|STREET]]. [[02004|ZIP]] [[Albacete|CITY]]
[[c/ del Abedul 5-7, 2º dcha|STREET]] [[28036|ZIP]] [[Madrid|CITY]], [[España|COUNTRY]]
[[Carretera de Toledo km 12,500|STREET]] [[28905|ZIP]] [[Getafe|CITY]]
[[Travesía Mayor, 14|STREET]]. [[13600|ZIP]] [[Alcázar de San Juan|CITY]] ([[Ciudad Real|CITY]])
[[Av. Sol, s/n|STREET]], [[28041|ZIP]], [[Madrid|CITY]] E-mail:
Localidad/ Provincia: [[Santiago de Compostela|CITY]], [[A Coruña|CITY]].
25000 Unidades de Heparina; 12000 Leucocitos de predominio mixto
Rosa de Bengala positivo
moved from [[Viet Nam|COUNTRY]] and the [[Republic of Korea|COUNTRY]]
moved here from the [[United States|COUNTRY]], born in the [[Russian Federation|COUNTRY]]
per the United States Preventive Services Task Force
"""

ALL = lines(STREETS, ABROAD, PLACES, FACILITIES, ORGANIZATIONS, SPANISH)


@pytest.mark.parametrize("line", ALL)
def test_exactly_the_marked_places_and_institutions_are_found(line: str) -> None:
    text = plain(line).replace("⏎", "\n")
    assert found_in(text, frozenset(Label)).replace("\n", "⏎") == line
