"""Decides which of a note's spans are clinical terms and therefore not identifiers.

Belongs here: deciding that a span is recovered. Does not belong here: finding clinical terms (`finder.py`) or spans.

After Murugadoss 2024 (Methods, recovery of medically relevant terms; figure 3), but failing closed. A span is recovered
only if clinical terms cover the whole of it, and never if

- the roster found it, or its evidence is `PROVEN` (an e-mail address, a check digit);
- the topics name it, unless it is a name inside a longer term: a clinic called St. Jude stays hidden, a
  St. Jude valve does not;
- a title stands before the term: "Mr. Foley", "Dr. Wright's test";
- it is the whole term and names a person whom the note names elsewhere: in the note of a Mr. Foley, "Foley" alone is
  ambiguous, while "Foley catheter" remains clinical;
- it is the whole term and a part of an address, or the place of a visit ("treated at St. Jude");
- only its form is clinical ("Quarmby retractor", "Quarmby 20 mg"), and the note has a person of that
  name somewhere else;
- only the site's allow list has it, and it is not a name, an institution or a place that a rule or a model found: what
  the topics, the other notes of the patient or the site's own recognizers find stays hidden, and so does a phrase in a
  note that names a person by one of its words;
- its shape alone is clinical ("E11.9", "MK-3475"), and a label makes it somebody's number, here or elsewhere in the
  note (a listed code before its title is a code all the same: "ID: A41.9 sepsis");
- it is a whole date that a rule reads, or one after a word that dates are written after ("on 3/5", however strong the
  patient is).

A person's span that is longer than the term ("Murphy Sign Negative") is recovered if the other words are common
clinical words; with a word that could be a name ("Smith Foley catheter") it stays hidden. So does a place, since names
of clinics are made of such words ("Old Mill Physical Therapy"), unless a finding follows the term ("Babinski Absent").
No span is ever cut: it is recovered whole or stays whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import regex

from deid_platform.detection.api import Candidate, Document, Evidence, Source, SourceKind
from deid_platform.detection.resolve.recovery.codes import is_titled
from deid_platform.detection.resolve.recovery.finder import ClinicalTerm, ClinicalTerms, Finder
from deid_platform.detection.resolve.recovery.number_labels import is_labelled
from deid_platform.detection.resolve.recovery.terms import names_of_people_and_places, words_of_clinics
from deid_platform.labels import NAMES_AND_PLACES, PERSONS, Label
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

_NAMED = NAMES_AND_PLACES | {Label.PROFESSION}
_NO_NUMBERS = _NAMED | {Label.DATE, Label.AGE}
_PLACES = (Label.CITY, Label.STATE, Label.COUNTRY, Label.STREET)  # "CT", "LIMA": a scan, an artery, or an address
_VISITED = (Label.HOSPITAL, Label.LOCATION_OTHER)
_WENT = regex.compile(r"\b(?:at|to|from|near)(?:[ \t]+the)?[ \t]+$", regex.IGNORECASE)
_ALLOWED = "allowed"
_OF_PEOPLE_ALONE = frozenset(
    Source(SourceKind.RULES, name) for name in ("kin", "person-states", "care-acts", "care-patient-acts")
)
_WORD = regex.compile(r"\p{L}{2,}")
_ANY_WORD = regex.compile(r"[\p{L}\p{N}]+")
_NAME_FIELD = regex.compile(r"[:#][ \t]*$")
# How somebody signs with initials: behind the last sentence of a line or a gap, at its end.
_SIGNED_BEHIND = regex.compile(
    r"(?:[.!?\"”)][ \t]+|[ \t]{2}|\t|\b(?:firmado|firmato|firma|sign[eé]|signed|initials|gez\.|-)[ \t:]*)\Z",
    regex.IGNORECASE,
)
_LINE_ENDS = regex.compile(r"\.?[ \t]*(?:[\])][ \t]*)?(?:[\r\n]|\Z)")
_INITIALS = 4  # letters
_SINCE = regex.compile(r"\b(?:on|since|from|until|till|dated|before|after|thru|through)[ \t]+$", regex.IGNORECASE)
# A date with its year or its month's name is nothing else, whatever stands around it.
_WHOLE_DATE = regex.compile(r"\b\d{1,4}([/\-.])\d{1,2}\1\d{2,4}\b|\d.*\p{L}{3}|\p{L}{3}.*\d", regex.DOTALL)
_LISTED = ("term", "abbreviation")
_DOSE = 4  # digits
_WORD_REACH = 24  # code points behind a span within which its next word ends
_FINDINGS = frozenset(
    {
        *("negativo", "negativa", "positivo", "positiva", "assente", "presente", "ausente", "normale", "dubbio"),
        *("dudoso", "bilaterale", "indifferente", "negatif", "positif", "douteux", "bilateraux", "negativ", "positiv"),
        *("negative", "positive", "present", "absent", "intact", "normal", "equivocal", "unremarkable", "bilateral"),
        *("placed", "removed", "inserted", "discontinued", "draining", "clamped", "patent", "deferred"),
    }
)
"""What is said of a sign or a device, never of a person."""


class Recovery:
    """Keeps identifiers and drops clinical terms from a note's spans.

    Args:
        terms: An institution's own clinical terms, beside the lists of this package.
        allowed: Folded phrases of its allow list.
        predicted_up_to: The highest probability at which what a model marks may be a clinical term.
    """

    def __init__(self, terms: Iterable[str] = (), allowed: Iterable[str] = (), *, predicted_up_to: float = 1.0) -> None:
        self._finder = Finder(terms, allowed)
        self._predicted_up_to = predicted_up_to

    def __repr__(self) -> str:
        return "<Recovery>"

    def __call__(self, document: Document, spans: Sequence[Candidate]) -> list[Candidate]:
        """The spans that are identifiers, in the order given.

        Raises:
            DeidError: `detector-failed` if the note could not be searched to its end.
        """
        text = document.text
        judged = [(span, self._is_doubtful(text, span)) for span in spans]
        places = self._finder.places(document, {(span.start, span.end) for span, doubtful in judged if doubtful})
        if not places:
            return list(spans)
        people, numbers = _named(text, spans, places), _numbers(text, spans)
        return [
            span for span, doubtful in judged if not doubtful or not _is_clinical(text, span, places, people, numbers)
        ]

    def _is_doubtful(self, text: str, span: Candidate) -> bool:
        if span.source.kind is SourceKind.ROSTER or span.evidence is Evidence.PROVEN:
            return False
        if span.evidence is Evidence.PREDICTED and span.confidence > self._predicted_up_to:
            return False
        if span.label is not Label.DATE or span.evidence is Evidence.PREDICTED:
            return True  # no rule reads what a model alone calls a date as one: "chr17"
        return _WHOLE_DATE.search(text, span.start, span.end) is None


def _named(text: str, spans: Iterable[Candidate], places: ClinicalTerms) -> frozenset[str]:
    """The folded words of people whom a note names: with some certainty, or at all outside of clinical terms."""
    named: set[str] = set()
    for span in spans:
        near = places.touching(span.start, span.end) if span.label in PERSONS else []
        if span.label in PERSONS and _names_somebody(text, span, near):
            # What a model alone takes for a part of a name says nothing of a drug elsewhere in the note.
            things = _things(text, near) if span.evidence is Evidence.PREDICTED else ()
            named.update(word for word in _folded_words(text[span.start : span.end]) if word not in things)
    return frozenset(named)


def _things(text: str, near: Iterable[ClinicalTerm]) -> frozenset[str]:
    """The folded words of the listed drugs and devices among places."""
    return frozenset(word for p in near if p.is_thing for word in _folded_words(text[p.start : p.end]))


def _numbers(text: str, spans: Iterable[Candidate]) -> frozenset[str]:
    """What labels make somebody's numbers, folded."""
    return frozenset(
        fold_term(text[s.start : s.end])
        for s in spans
        if s.label not in _NO_NUMBERS
        and (s.evidence >= Evidence.LABELLED or is_labelled(text, s.start))
        and not is_titled(text, s.start, s.end)
    )


def _names_somebody(text: str, span: Candidate, near: Sequence[ClinicalTerm]) -> bool:
    """Whether a person's name is one, by how sure it is and by the clinical places near it, of which most have none."""
    return not near or span.evidence >= _surely_named(span, near) or not _only_clinical(text, span, near)


def _surely_named(span: Candidate, near: Sequence[ClinicalTerm]) -> Evidence:
    """The evidence from which a person is named whatever clinical stands there.

    Of a phrase of the allow list, "referred to" says less than the list; a title, a label and what people alone do or
    are ("reports pain", "his wife") say more.
    """
    allowed = any(p.kind == _ALLOWED and p.start <= span.start and span.end <= p.end for p in near)
    if allowed and span.source in _OF_PEOPLE_ALONE:
        return Evidence.PREDICTED
    return Evidence.LABELLED if allowed else Evidence.INTRODUCED


def _only_clinical(text: str, span: Candidate, near: Sequence[ClinicalTerm]) -> bool:
    inside_one = any(p.start <= span.start and span.end <= p.end for p in near)
    return inside_one or _is_longer_than_its_terms(text, span, near) or bool(_terms_in_prose(text, span, near))


@lru_cache(maxsize=4096)
def _folded_words(surface: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(fold_term(surface)))


def _is_clinical(
    text: str, span: Candidate, places: ClinicalTerms, people: frozenset[str], numbers: frozenset[str]
) -> bool:
    near = places.touching(span.start, span.end)
    if numbers and span.label not in _NO_NUMBERS and fold_term(text[span.start : span.end]) in numbers:
        # What begins before it names the system of its codes.
        near = [p for p in near if p.start < span.start]
    if not near or _looks_signed(text, span):
        return False
    # What only the writing shows to be clinical is doubtful where the note has a person of that name.
    near = [p for p in near if p.kind in _LISTED or not _names_one_of(text, p, people)]
    if span.label is Label.DATE and _SINCE.search(text, max(0, span.start - 8), span.start):
        return False
    if any(p.start <= span.start and span.end <= p.end and _covers(text, span, p, people) for p in near):
        return True
    if _from_topics(span):
        return False
    terms = _terms_in_prose(text, span, near)
    if terms:
        return people.isdisjoint(word for p in terms for word in _folded_words(text[p.start : p.end]))
    return _is_longer_than_its_terms(text, span, near)


def _terms_in_prose(text: str, span: Candidate, near: Sequence[ClinicalTerm]) -> list[ClinicalTerm]:
    """The listed terms of what a model alone marks, if all words beside them are nobody's name.

    Such a word is a common one, or, beside a term that begins with a capital, one in small letters that is on no list
    of names: "Started Leqembi last", "Jardiance domani". A number of a dose may stand there too. Of other terms one
    alone counts, beside small letters and no deed: "Tinel poignet", never "Babinski called". Places and institutions
    are made of common words: there, nothing but a drug or a device counts, and only beside words in small letters.
    """
    if span.evidence is not Evidence.PREDICTED or span.label not in _NAMED:
        return []
    inside = [p for p in near if p.kind in _LISTED and span.start <= p.start and p.end <= span.end]
    rest = [
        m[0]
        for m in _ANY_WORD.finditer(text, span.start, span.end)
        if not any(p.start <= m.start() and m.end() <= p.end for p in inside)
    ]
    terms = [p for p in inside if p.is_thing]
    if not terms and span.label in PERSONS and rest and not _acts(text, span, rest):
        # Two eponyms may be a first and a last name.
        terms = [p for p in inside if p.kind == "term" and p.end - p.start > _INITIALS]
        terms = terms if len({p.start for p in terms}) == 1 and not any(word.istitle() for word in rest) else []
    cased = any(text[p.start].isupper() and not text[p.start : p.end].isupper() for p in terms)
    if span.label not in PERSONS and (not cased or any(word[0].isupper() for word in rest)):
        return []
    return terms if all(_is_nobody(word, cased=cased) for word in rest) else []


def _acts(text: str, span: Candidate, rest: Iterable[str]) -> bool:
    """Whether a word of a span or the one behind it says what people do: "called", "reports"."""
    following = _ANY_WORD.search(text, span.end, span.end + _WORD_REACH)
    words = [*rest, *([following[0]] if following else [])]
    return any(fold_term(word) in word_list("deeds") for word in words)


def _is_nobody(word: str, *, cased: bool) -> bool:
    folded = fold_term(word)
    if folded in words_of_clinics() or (folded.isdigit() and len(folded) <= _DOSE):
        return True
    return cased and word.islower() and folded not in names_of_people_and_places()


def _from_topics(span: Candidate) -> bool:
    return span.source.kind is SourceKind.GAZETTEER


def _covers(text: str, span: Candidate, place: ClinicalTerm, people: frozenset[str]) -> bool:
    """Whether a place around a span makes it clinical."""
    if place.kind == _ALLOWED:
        return span.label in NAMES_AND_PLACES and span.source.kind in (SourceKind.RULES, SourceKind.MODEL)
    longer = place.end - place.start > span.end - span.start + len("'s")
    if _from_topics(span):
        return longer and span.label in _NAMED and place.kind == "term"
    if longer:
        return True
    if span.label not in PERSONS:
        visited = (
            span.label in _VISITED and place.kind == "term" and _WENT.search(text, max(0, span.start - 12), span.start)
        )
        # A model alone calls a drug or an operation a town: no listed town is a term. States have two letters.
        is_term = place.kind in _LISTED and place.end - place.start > len("CT")
        return (span.label not in _PLACES or (span.evidence is Evidence.PREDICTED and is_term)) and not visited
    if place.kind == "abbreviation" and span.evidence < Evidence.LABELLED:
        return not _NAME_FIELD.search(text, max(0, span.start - 4), span.start)
    return people.isdisjoint(_folded_words(text[span.start : span.end]))


def _looks_signed(text: str, span: Candidate) -> bool:
    """Whether letters in capitals stand where initials do, whatever they abbreviate elsewhere: "Pt stable. AMS"."""
    surface = text[span.start : span.end]
    return (
        (span.label in PERSONS or span.label is Label.HOSPITAL)
        and len(surface) <= _INITIALS
        and surface.isalpha()
        and surface.isupper()
        and _SIGNED_BEHIND.search(text, max(0, span.start - 12), span.start) is not None
        and _LINE_ENDS.match(text, span.end) is not None
    )


def _names_one_of(text: str, place: ClinicalTerm, people: frozenset[str]) -> bool:
    return not people.isdisjoint(_folded_words(text[place.start : place.end]))


def _is_longer_than_its_terms(text: str, span: Candidate, near: Sequence[ClinicalTerm]) -> bool:
    """Whether a span consists of a clinical term and words that are nobody's name.

    One word that is a term by itself ("Murphy") is not enough, unless a finding follows it.
    """
    if span.label not in _NAMED:
        return False
    inside = [p for p in near if span.start <= p.start < span.end and p.kind not in ("expression", _ALLOWED)]
    if not inside:
        return False
    rest = [
        fold_term(m[0])
        for m in _ANY_WORD.finditer(text, span.start, span.end)
        if not any(p.start <= m.start() and m.end() <= p.end for p in inside)
    ]
    if not rest:
        # Two terms side by side ("CCS Pulmozyme"); two eponyms may be a first and a last name.
        one = any(p.start <= span.start and span.end <= p.end for p in inside)
        return span.label in PERSONS and not one and any(p.words >= 2 or p.kind == "abbreviation" for p in inside)
    if any(p.words >= 2 for p in inside) and span.label in PERSONS:
        return all(word in words_of_clinics() for word in rest)
    return all(word in _FINDINGS for word in rest) and span.evidence < Evidence.INTRODUCED
