"""What Italian words give away. In each line, [[value|LABEL]] marks all that must be found.

A line break inside a line is written as ⏎. Nobody in these lines exists, and no town called Vergaredo.
"""

from __future__ import annotations

import pytest
from marked_text import found_in, lines, plain

from deid_platform.detection.rules.it.words import is_italian_word
from deid_platform.labels import Label
from deid_platform.lexicon.lists import word_list

EVERY = frozenset(Label)

TITLES = """
Il sig. [[Tarcisio Bellomunno|PATIENT]] riferisce dolore
La sig.ra [[Bellomunno|PATIENT]] nega allergie
SIG.RA [[BELLOMUNNO OTTAVIA|PATIENT]]
Sig. ra [[Fulgenza Dell'Orto|PATIENT]] nega allergie
la signora [[Fulgenza D'Ambrogetti|PATIENT]] vive sola
il signor [[Pace|PATIENT]] è vigile
i signori [[Bellomunno|PATIENT]], [[Tartarini|PATIENT]] e [[Gavazzotti|PATIENT]]
Dott.ssa [[Ernestina Tartarini|DOCTOR]]
Dr.ssa [[Tartarini|DOCTOR]]; D.ssa [[E. Tartarini|DOCTOR]]; dott. [[G. B. Tartarini|DOCTOR]]
Prof.ssa [[Tartarini Ernestina|DOCTOR]]
Prof. Dott. [[Ernesto Tartarini|DOCTOR]]
inviato dal Dr. [[Tartarini|DOCTOR]] per controllo
Direttore Dott. [[Gavazzotti|DOCTOR]]
Avv. [[Gavazzotti|PATIENT]], amministratore di sostegno
Gentile Sig.ra [[Tartarini|PATIENT]],
La Sig.ra [[M.R.|PATIENT]] nega
La signora riferisce dolore, il signore nega
la signora anziana vive sola
Dott. in medicina, il dottore ha consigliato
Gentile Collega,⏎ti invio questo referto
Egregio Dottore,⏎ringrazio
il dott. [[ferretti|PATIENT]] consiglia; la signora [[ferretti|PATIENT]] riferisce
sig. [[osvaldo ferretti|PATIENT]] vigile
la signora riposa, il dott. consiglia, il sig. anziano
"""

INITIALS = """
[[B.G.|PATIENT]], 45 anni, giunge per dispnea
[[P.A.|PATIENT]] sesso M, anni 51
[[A.D.L.|PATIENT]], femmina di 60 anni
[[G.D|PATIENT]], F. 84 anni; [[B. G.|PATIENT]] (45 anni) giunge
[[M.V.|PATIENT]] ♂ di 75 aa; [[R.G.|PATIENT]] è una donna
Si ricovera [[R.G.|PATIENT]], maschio, 67 anni
La paziente [[M.R.|PATIENT]] riferisce dolore
Paziente: [[B.G.|PATIENT]]; pz. [[A.D.L.|PATIENT]] di anni 60
il sig. [[B. G.|PATIENT]] è vigile
Dott. ssa [[M.R.|DOCTOR]] ha operato
il piccolo [[G.|PATIENT]], 4 anni, ha febbre
La ragazza [[S.|PATIENT]] vive con i genitori
[[G.|PATIENT]], 7 anni, giunge in PS
la moglie [[P.A.|PATIENT]] riferisce; il figlio [[P.|PATIENT]], 8 anni
P.A. 130/80, F.C. 80 bpm, T.C. 36.5
Paziente P.A. 110/70 mmHg; paziente E.C.G. nella norma
La paziente R.M. encefalo negativa, esegue V.E.S. e P.C.R.
paziente A.O. di lunga data, paziente I.R.C., di anni 60
Paziente in P.S., 45 anni; con B.P.C.O., 70 anni
Paziente H.I.V. positivo, bambino A.P.G.A.R. 9
paziente A.S.A. III; paziente S.L.A. avanzata; N.Y.H.A. II
I.M.A. 4 anni fa; padre I.M.A. a 60 anni
Diabete di tipo 2. F., 45 anni
Diagnosi di M.C., donna di 40 anni; D.H. 6 mesi; N.B.: donna in età fertile
Vitamina D., 4 anni dopo; gruppo B., 45 anni fa
il piccolo intestino, il piccolo A. polmonare, paziente C. collaborante
"""

KIN = """
la moglie, [[Ottavia Bellomunno|PATIENT]], riferisce
la moglie, [[Daisy Snow|PATIENT]], riferisce
accompagnato dal fratello [[Osvaldino|PATIENT]]
con i figli [[Gianfilippa|PATIENT]] e [[Osvaldino|PATIENT]]
dalla figlia ([[Gianfilippa|PATIENT]])
vedova di [[Tarcisio|PATIENT]], vive con la cugina [[Ottavia|PATIENT]]
Figlia: [[Gianfilippa Bellomunno|PATIENT]]
dopo l'intervento il fratello [[Osvaldino|PATIENT]] torna a casa
presso la famiglia [[Gavazzotti|PATIENT]]
madre Diabete, padre IMA
Padre: ipertensione; Madre: K mammella
Madre HCV positiva, fratello Down
padre deceduto, nonna paterna Alzheimer
Ipertensione (madre), Diabete (padre)
Padre: Mesotelioma Pleurico; madre: Tiroidite
Figli: due, sani. Figlio sano
presente [[Ottavia Ferretti|PATIENT]] (sua figlia)
presente [[Ottavia Ferretti|PATIENT]], la moglie.
Riferisce Cefalea (la madre), Vertigini (il padre)
"""

ROLES = """
medico curante: [[Ernesto Tartarini|DOCTOR]]
Si affida al medico curante, [[S. Tartarini|DOCTOR]], per il controllo
MMG: [[Tartarini Ernesto|DOCTOR]]
l'infermiera [[Gianfilippa|DOCTOR]] rileva i parametri
la psicologa [[Ernestina Tartarini|DOCTOR]] ha eseguito il colloquio
Equipe: [[Tartarini|DOCTOR]], [[Gavazzotti|DOCTOR]], [[Bellomunno|DOCTOR]]
refertata da [[Ernesto Tartarini|DOCTOR]]
Firmato digitalmente da: [[TARTARINI ERNESTO|DOCTOR]]
Il Medico Radiologo⏎[[Ernesto Tartarini|DOCTOR]]
medico di guardia, Medico curante informato
Medico della Continuità Assistenziale
ortopedico: ECG nella norma, chirurgo Consiglia intervento
cardiologo: ECG nella norma, il cardiologo consiglia Holter
seguito da Neurologia, inviato da Pronto Soccorso, richieste dal MMG
operato da Ernia inguinale
eseguita da Laboratorio, Visto il quadro clinico
Firmato consenso informato
La sottoscritta [[Ottavia Bellomunno|PATIENT]] dichiara
Il sottoscritto Paziente dichiara, la sottoscritta, informata
Cordiali saluti [[Ernesto Tartarini|DOCTOR]]
Cordiali saluti, in fede
Distintamente Palpabile la milza
"""

PATIENTS = """
[[Bellomunno Tarcisio|PATIENT]] nato il [[3/4/1950|DATE]]
Il paziente [[Tarcisio Bellomunno|PATIENT]], nato a [[Vergaredo|CITY]] ([[MI|STATE]]) il [[12/08/1957|DATE]]
[[Tarcisio Bellomunno|PATIENT]], 64 anni, iperteso
Nominativo: [[Bellomunno Tarcisio|PATIENT]]
Donna, 64 anni. Uomo, 64 anni. Bambina, 6 anni
Donna di anni 74 ricoverata in PS
Donna - aa. 30
Donna di 50 anni, caucasica
Ella si presentava pallida
La paziente Diabetica, il pz Iperteso
Esame obiettivo: Paziente vigile e collaborante
Nome: Augmentin 1 g
[[Ottavia Bellomunno|PATIENT]] di anni 64
Donna di anni 64, Ipertensione da anni 10
"""

TOWNS = """
nata ad [[Acquafreddola|CITY]] il [[3 marzo 1960|DATE]] e residente in [[Vergaredo|CITY]]
residente a [[Vergaredo|CITY]] in [[via dei Tigli 12/B|STREET]]
abita a [[Vergaredo sul Naviglio|CITY]] con la moglie
vive a [[Vergaredo Superiore|CITY]]
proveniente da [[Sant'Eufemiano a Mare|CITY]]
Luogo di nascita: [[Vergaredo|CITY]] ([[MO|STATE]])
Prov: [[MO|STATE]]
Via dell'Artigianato ⏎[[41058|ZIP]] [[Vergaredo|CITY]] ([[MO|STATE]])
[[Vergaredo|CITY]], [[12/03/2019|DATE]]
[[Vergaredo|CITY]] lì [[12.3.2019|DATE]]
un architetto di [[Vergaredo|CITY]] di 36 anni
PS di [[Vergaredo|CITY]], Cardiologia di [[Vergaredo|CITY]]
trasferito a [[Bologna|CITY]]
nata a termine, nato a 38 settimane da parto eutocico
ricoverato in Medicina, trasferito in Cardiologia
vive in RSA, vive in Casa di Riposo, vive a casa
proveniente da Pronto Soccorso, proveniente da domicilio
rientrato da Rianimazione, domiciliato presso la figlia
criteri di Roma IV, criteri di Milano, score di Padova
La Risonanza Magnetica (RM) e la Pressione Arteriosa (PA)
Parametri in ingresso: PA: 100/60 mmHg, PA max 180
PTCA e DES su Cx, MO e IVA, recente impianto di PM
colorazione con rosso Congo
via endovenosa, via orale, per via sottocutanea 2 volte
Via EV 500 mg, via OS 3 volte al giorno
Chirurgia d'Urgenza, Medicina di Laboratorio
[[Vergaredo|CITY]], [[3 marzo 2019|DATE]]
[[Vergaredo|CITY]] lì [[3 marzo 2019|DATE]]
CAP [[41058|ZIP]]; C.A.P.: [[41058|ZIP]]
Controllo, [[3 marzo 2019|DATE]]
CAP 41058/2 copie, polmonite (CAP) 2 g al giorno
"""

INSTITUTIONS = """
presso l'[[Ospedale Civile di Vergaredo|HOSPITAL]]
dall'[[Ospedale di Vergaredo|HOSPITAL]] all'[[Ospedale Sant'Eufemiano|HOSPITAL]]
[[OSPEDALE CIVILE DI VERGAREDO|HOSPITAL]]
[[RSA Villa dei Tigli|HOSPITAL]]
[[Casa di Cura Villa Gelsomina|HOSPITAL]]
[[Presidio Ospedaliero di Vergaredo|HOSPITAL]]
[[P.O. San Gaudolfo|HOSPITAL]]
[[ASL di Vergaredo|HOSPITAL]], [[ASL Roma 2|HOSPITAL]], [[ASL n. 4|HOSPITAL]], [[ASL TO3|HOSPITAL]]
[[Ospedale Maggiore|HOSPITAL]]
clinica privata, [[clinica San Gaudolfo|HOSPITAL]]
del [[Centro Diabetologico di Vergaredo|HOSPITAL]]
seguito al [[Niguarda|HOSPITAL]]
trasferito al [[San Gaudolfo|HOSPITAL]]
[[Farmacia Gelsomina|ORGANIZATION]]
Presidio Ospedaliero Unico, Centro Antidiabetico, Centro Trasfusionale
giunse alla nostra osservazione in Clinica Chirurgica.
Clinica Medica, Clinica Ortopedica e Traumatologica
la diagnosi clinica Morbo di Parkinson
presso il nostro Ospedale, ospedale di riferimento, Ospedale di Comunità, Policlinico Universitario
Istituto Superiore di Sanità, Day Hospital
Farmacia Ospedaliera, farmacia comunale
villi intestinali, adenoma villoso, villocentesi
presso la UOC Lungodegenza
ricoverata presso la [[clinica Villa Gelsomina|HOSPITAL]]
presso la clinica Medica, dalla clinica Oculistica
"""

EMPLOYERS = """
Lavora come [[operaio|PROFESSION]] presso [[Ceramiche Gavazzotti di Vergaredo|ORGANIZATION]]
lavora presso [[Fratelli Bellomunno|ORGANIZATION]] di [[Sant'Eufemiano a Mare|CITY]]
impiegata presso il Comune di [[Vergaredo|CITY]]
barista al [[Bar Gelsomina|ORGANIZATION]]
iscritto al [[Liceo Scientifico G. Galvaroni|ORGANIZATION]]
ex [[operaia|PROFESSION]] presso [[Officine Meccaniche Tartarini|ORGANIZATION]]
lavora presso il nostro ospedale, lavora in fabbrica
lavora al Computer, servizio alla Persona, studente di Medicina
impiegato per Stenosi aortica, titolare per Amiodarone
lavora come [[operaio|PROFESSION]] in [[Ceramiche Gavazzotti|ORGANIZATION]]
[[F.lli Bellomunno|ORGANIZATION]] S.n.c.
fornito da [[Ceramiche Gavazzotti Srl|ORGANIZATION]]
lavora in Ospedale, assunto per Dolore
Terapia Orale spa
"""

NUMBERS = """
tel. [[0852/965565|PHONE]], [[02-1234567|PHONE]]
contattare il [[349/1234567|PHONE]]
al numero [[0247/606445|PHONE]]
C.F. [[BLLTRSRTM12FN0RX|IDNUM]]
codice fiscale: [[bll trs 57m12 f205x|IDNUM]]
tessera sanitaria n. [[80380001234567890123|HEALTHPLAN]]
cartella clinica n. [[2019/12345|MEDICALRECORD]]
verbale PS n. [[2019/004512|MEDICALRECORD]]
impegnativa [[0300A4012345678|IDNUM]]
numero piastrine 350.000/mmc, PLT 320 000 GB 12500
esame n. 3, campione n. 2, scheda 4, numero 3 compresse
protocollo FOLFOX 6, protocollo AIEOP 2009
targa [[AB123CD|VEHICLE]], ambulanza targata [[AB 123 CD|VEHICLE]]
auto AB 12 CD, targa ossea AB1234
"""

DAYS = """
dal [[3/3|DATE]] al [[7/3|DATE]]; esami del [[12.03|DATE]]
ricoverato dal [[3 al 7 marzo 2019|DATE]]
l'[[8 marzo|DATE]], il [[due giugno 2020|DATE]]
controllo a [[marzo|DATE]], a fine [[aprile|DATE]], [[marzo '19|DATE]]
il [[12|DATE]] u.s., lunedì [[12|DATE]], martedì [[3|DATE]] alle ore 9
visita del [[12.3.19|DATE]]
paziente di anni [[93|AGE]], [[94|AGE]]enne, [[ultranovantenne|AGE]], [[95|AGE]] aa
paziente di anni 73, settantenne, 54enne, negli anni 90
al 1/3 medio di femore, il 2/3 distale, i 2/3 inferiori
forza 4/5, soffio 3/6 alla punta, GCS 15/15
lunedì e giovedì 2 compresse, lunedì 10 mg, martedì 5 gocce
dal 10 al 15 %, il 20.5 mg, il 3.5 cm, 93% in aria ambiente
dall'[[agosto|DATE]], nell'[[ottobre del 2018|DATE]]
"""

TERSE = """
Inf. [[Bellomunno|DOCTOR]]: paziente tranquillo
Inf.ra [[Tartarini|DOCTOR]]: medicazione eseguita
Turno notte: inf. [[Gavazzotti|DOCTOR]] e [[Bellomunno|DOCTOR]].
1° op. [[Tartarini|DOCTOR]], 2° op. [[Gavazzotti|DOCTOR]], anest. [[Bellomunno|DOCTOR]].
OSS [[Ferretti|DOCTOR]] riferisce che ha mangiato poco
Autista: [[Gennaro|DOCTOR]]; la maestra [[Patrizia|DOCTOR]].
Inf. respiratoria ricorrente; IMA inf. nel passato; FKT motoria, OSS presente
h 14:30 [[A.G.|DOCTOR]]: parametri stabili
ore 03:15 [[Ferretti|DOCTOR]]: pz agitato
h 14:30 Lasix: 1 fiala
[[Rizzo S|PATIENT]].: parametri nella norma
[[FERRETTI|DOCTOR]] / [[RIZZO|DOCTOR]] - I e II operatore
Letto 5: [[Ferretti|PATIENT]] - Letto 6: [[Rizzo|PATIENT]] - Letto 7: libero
letto 14 [[Ferretti|PATIENT]], in attesa; letto 15 monitorizzato
Pz [[N. B.|PATIENT]], 72 anni
Denuncia ai Carabinieri di [[Vergaredo|CITY]]
arriva con 118 da [[Vergaredo|CITY]]
118 da casa, stazione di pompaggio, porto a termine
seguito dal CSM di [[via Livorno|STREET]]
abita in [[via Mazzini 8|STREET]], [[Vergaredo|CITY]]
abita in [[via dei Gelsomini 9/b, scala C|STREET]], [[Vergaredo|CITY]]
Prossimo controllo [[lun 15/5|DATE]]
Utente: [[mrossi2|USERNAME]]; utente: paziente
[[ASL Napoli 2 Nord|HOSPITAL]], distretto 44
Ex [[operaio|PROFESSION]] della [[Bellomunno SpA|ORGANIZATION]]
"[[Gianluca|PATIENT]] non dorme"
tra il [[3 e il 4 gennaio|DATE]]
cell [[339.1122.445|PHONE]]
"""
PROSE = """
Morbo di Parkinson, morbo di Crohn, sindrome di Sjögren, segno di Murphy positivo
Nel sospetto di sindrome di Miller Fisher è stata eseguita una rachicentesi
manovra di Giordano negativa, Blumberg negativo, Lasègue positivo
Terapia: Lasix 25 mg, Cardioaspirina 100, Pantorc 40 mg, Augmentin 1 g
Pia madre e dura madre indenni
Intervento secondo Billroth II, tecnica di Seldinger, protocollo di Bruce
Terapia a domicilio: Pariet, Duoplavin
Addome trattabile, Torace: MV presente. Famiglia: padre vivente e sano
"""

ALL = lines(TITLES, INITIALS, KIN, ROLES, PATIENTS, TOWNS, INSTITUTIONS, EMPLOYERS, NUMBERS, DAYS, TERSE, PROSE)


@pytest.mark.parametrize("line", ALL)
def test_exactly_the_marked_is_found(line: str) -> None:
    text = plain(line).replace("⏎", "\n")
    assert found_in(text, EVERY).replace("\n", "⏎") == line


@pytest.mark.parametrize("name", ["Costa", "Testa", "Grasso", "Gamba", "Leone", "Rosa", "Norma", "Marina"])
def test_the_list_of_words_holds_no_common_surname_or_given_name(name: str) -> None:
    assert name.lower() not in word_list("italian_words")


@pytest.mark.parametrize(
    "word", ["mesotelioma", "ecocardiografia", "successivamente", "ipertrofia", "marzo", "diagnosi"]
)
def test_words_of_medicine_are_known_by_list_or_ending(word: str) -> None:
    assert is_italian_word(word)


@pytest.mark.parametrize("name", ["margherita", "ambrosi", "liguria", "benedetta", "bellomunno"])
def test_no_name_is_taken_for_a_word_by_its_ending(name: str) -> None:
    assert not is_italian_word(name)
