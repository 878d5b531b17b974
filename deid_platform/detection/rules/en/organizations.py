"""Validators of institutions: where a name ends, and whether it is more than a general term.

Belongs here: the validators that `organizations.yaml` names. Does not belong here: towns and streets (`addresses.py`),
employers (`employers.py`).
"""

from __future__ import annotations

import regex

from deid_platform.detection.rules.en.addresses import kinds_of_institution, reads_as_place
from deid_platform.detection.rules.en.people import NAME_TOKEN, bare, stops_a_name
from deid_platform.detection.rules.engine.validator import Interval, validator
from deid_platform.detection.rules.names.eponyms import names_a_thing
from deid_platform.lexicon.classes import WordClass, is_common, word_class
from deid_platform.lexicon.lists import word_list
from deid_platform.text.fold import fold_term

_NATIONS = frozenset({"american", "national", "european", "international", "world", "royal", "british", "canadian"})
_SOCIETY = regex.compile(
    r"\b(?:College|Society|Association|Academy|Institutes?|Organi[sz]ation|Board|Federation|League)\b"
)
_FIRST_VERB = regex.compile(
    r"(?i:works?|worked|attends?|attended|retired|seen|followed|admitted|transferred|referred|employed|lives?|fills"
    r"|resumes?|continues?|arranged?|orders?|ordered|start|schedule[ds]?|consult|contact|call|needs?|requires?|awaiting"
    r"|pending|recommend|consider|request(?:ed)?|await|declines?|discharged?)"
)
# Endings of medical words: one that no list knows is hardly an institution's own.
_MEDICAL_ENDING = regex.compile(
    r".*(?:ology|ologic|ological|ologist|itis|osis|emia|philia|ectomy|ostomy|otomy|oma|pathy|pathic|scopy|plasty|iatric"
    r"|iatrics|metry|tion|ing|ed|ly|ive|ous|ment|ity|ary|ory|ant|al|ic|mycin|cillin|zole|pril|olol|statin|adone|orphine)"
)
_GROUPS = frozenset({"associates", "specialists", "group"})
_KINDS_OF_ONE_WORD = frozenset({"hospital", "pharmacy", "apothecary"})
_CLINICS = frozenset({"clinic", "center", "centre", "institute"})
# What a clinic is for, between its name and its kind.
_SPECIALTIES = frozenset((
    "allergy", "arthritis", "asthma", "behavioral", "birth", "bone", "brain", "breast", "cancer", "cardiac",
    "cardiology", "children's", "dermatology", "diabetes", "dialysis", "digestive", "ear", "endocrine", "endoscopy",
    "ent", "eye", "family", "fertility", "foot", "hand", "headache", "health", "hearing", "heart", "imaging",
    "infusion", "joint", "kidney", "liver", "lung", "maternal", "medical", "memory", "nerve", "neurology",
    "neuroscience", "nose", "oncology", "orthopedic", "pain", "pediatric", "physical", "primary", "pulmonary",
    "radiology", "recovery", "rehab", "renal", "skin", "sleep", "specialty", "spine", "sports", "stroke", "surgery",
    "surgical", "therapy", "throat", "thyroid", "urology", "vascular", "vein", "vision", "wellness", "women's",
    "wound",
))  # fmt: skip
_DEPARTMENTS_ABROAD = frozenset({"servicio", "unidad", "sección", "seccion", "departamento", "servei"})
_HOSPITALS_ABROAD = frozenset({"hospital", "complejo", "complexo", "clínica", "clinica", "fundación", "fundacion"})
_WAYS_ABROAD = frozenset(
    {"avda", "av", "avenida", "calle", "ctra", "carretera", "plaza", "paseo", "travesía", "camino"}
)
_OF_STREETS = frozenset((
    "main", "high", "market", "church", "front", "broad", "court", "center", "water", "first", "second",
))  # fmt: skip
# What an institution may end in, besides the generic words; each may be all that is its own ("College Hospital").
_KINDS = frozenset({"library", "college", "church", "museum", "academy", "apothecary"})
_STATE_NEXT = regex.compile(r",[ \t]*[A-Z]{2}\b")


@validator
def organization(text: str, start: int, end: int) -> Interval | None:
    """An institution's name with at least one word of its own: not "Primary Care" or "Emergency Department"."""
    start, end = _within_signature(text, start, end)
    tokens, _ = _own_words(text, start, end)
    stop = _without_tail(text, tokens, end) if tokens else end
    tokens, own = _own_words(text, start, stop)
    return (tokens[0].start(), stop) if own and not _learned_society(text, tokens, stop) else None


def _within_signature(text: str, start: int, end: int) -> Interval:
    """The hospital in a Spanish signature, which has the writer and the department before it, the street behind it."""
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    words = [bare(t[0]) for t in tokens]
    department = next((i for i, word in enumerate(words) if word in _DEPARTMENTS_ABROAD), None)
    if department is None:
        return start, end
    kind = next((i for i in range(department, len(words)) if words[i] in _HOSPITALS_ABROAD), department)
    street = next((t for t, word in zip(tokens[kind:], words[kind:], strict=True) if word in _WAYS_ABROAD), None)
    stop = text[: street.start()].rstrip() if street is not None else text[:end]
    return tokens[kind].start(), len(stop)


@validator
def own_organization(text: str, start: int, end: int) -> Interval | None:
    """As `organization`, where the generic part is everyday clinical prose as well ("Physical Therapy", "Drugs").

    One of its own words must then be no common one, or two of them must read as a place ("Old Mill").
    """
    place = organization(text, start, end)
    if place is None:
        return None
    _, own = _own_words(text, *place)
    words = [w for w in own if w[:1].isalpha()]
    rare = any(not (stops_a_name(w) or word_class(w) & WordClass.CLINICAL) or w in word_list("cities") for w in words)
    words = [bare(t) for t in NAME_TOKEN.findall(text, *place)]
    scenic = reads_as_place(words) or (words[0] in _OF_STREETS and words[1:2] == ["street"])
    return place if rare or scenic else None


@validator
def hospital_abroad(text: str, start: int, end: int) -> Interval | None:
    """A hospital whose kind stands first, "Ospedale Niguarda": a later word must be no common one."""
    later = [bare(t) for t in NAME_TOKEN.findall(text, start, end)[1:]]
    return (start, end) if any(len(w) > 2 and not stops_a_name(w) for w in later) else None


def _learned_society(text: str, tokens: list[regex.Match[str]], end: int) -> bool:
    """Whether the name is a society's whose guidelines notes quote ("American College of Rheumatology")."""
    return bare(tokens[0][0]) in _NATIONS and _SOCIETY.search(text, tokens[0].start(), end) is not None


def _own_words(text: str, start: int, end: int) -> tuple[list[regex.Match[str]], list[str]]:
    """The words of an institution's name from the first that can begin it, and those that are its own, folded."""
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    generic = word_list("generic_institution_words")
    while tokens and (
        (word := fold_term(tokens[0][0]).strip(".'-")) in word_list("title_stopwords")
        or (len(word) == 1 and not _initials_of_a_name(tokens))
        or (len(tokens) > 1 and _FIRST_VERB.fullmatch(tokens[0][0]))
    ):
        tokens.pop(0)
    if not tokens or fold_term(text[tokens[0].start() : end]) in word_list("generic_phrases"):
        return tokens, []
    words = [fold_term(t[0]).removesuffix("'s").strip(".'-") for t in tokens]
    own = [w for w in words if w not in generic and (w not in word_list("clinical_words") or w in word_list("cities"))]
    return tokens, own


def _initials_of_a_name(tokens: list[regex.Match[str]]) -> bool:
    """Whether a name follows the initials with which an institution begins ("J Paul Jones Hospital")."""
    following = next((t[0] for t in tokens if len(bare(t[0])) > 1), "")
    kind = word_class(following)
    if bare(following) in word_list("generic_institution_words"):
        return False
    initial = tokens[0][0][0].isupper() and bare(tokens[0][0]) not in {"a", "i"}
    return initial and (bool(kind & (WordClass.GIVEN | WordClass.SURNAME)) or not stops_a_name(bare(following)))


def _without_tail(text: str, tokens: list[regex.Match[str]], end: int) -> int:
    """Where a facility's name ends: behind its last generic word only a place stands ("Family Medicine Lynford")."""
    kinds = kinds_of_institution()
    heads = [bare(t[0]).partition("-")[0] for t in tokens]
    generic = [i for i, head in enumerate(heads) if head in kinds or head in _KINDS]
    if not generic:
        return end
    for position in range(generic[-1] + 1, len(tokens)):
        kind = word_class(tokens[position][0])
        place = bare(tokens[position][0]) in word_list("cities")
        if not place and (
            kind & (WordClass.ORDINARY | WordClass.CLINICAL)
            or tokens[position][0].isupper() != text[tokens[0].start() : end].isupper()
        ):
            before: int = tokens[position - 1].end()
            return before
    return end


@validator
def saint(text: str, start: int, end: int) -> Interval | None:
    """A place named after a saint or a mountain, of which no disease is ("St. Vitus dance")."""
    second = list(NAME_TOKEN.finditer(text, start, end))[1:2]
    ordinary = bool(second) and second[0][0][:1].isupper() and word_class(second[0][0]) & WordClass.ORDINARY
    longer = text.count(" ", start, end) > 1
    if not longer and _STATE_NEXT.match(text, end):
        return None  # left to the recognizers that call it a city
    return None if names_a_thing(text, end) or (ordinary and not longer) else (start, end)


@validator
def shop(text: str, start: int, end: int) -> Interval | None:
    """A pharmacy that calls itself "Rx": the whole of it, or from the first word that is no common one."""
    if text[start : start + 3].lower() == "rx ":
        return start, end
    return own_organization(text, start, end)


@validator
def facility_code(text: str, start: int, end: int) -> Interval | None:
    """Capitals by which a clinic goes where one is meant: no abbreviation that the lists know ("seen at OSH")."""
    word = text[start:end].lower()
    lists = ("abbreviations", "short_abbreviations", "initials_stopwords", "ordinary_words", "tests_and_scores")
    known = is_common(word) or word_class(word) & (WordClass.CLINICAL | WordClass.ORDINARY)
    return None if known or any(word in word_list(name) for name in lists) else (start, end)


@validator
def lowercase_institution(text: str, start: int, end: int) -> Interval | None:
    """An institution in small letters, "copper hills regional hospital": back to the last word that may name one.

    Such a word is rare and not medical, part of a generic name, or beside a noun of nature or settlement.
    """
    tokens = list(NAME_TOKEN.finditer(text, start, end))
    words = [bare(t[0]) for t in tokens]
    nature, generic, stops = (
        word_list(name) for name in ("place_nouns", "generic_institution_words", "title_stopwords")
    )
    clinic = words[-1] in _CLINICS and len(words) > 2 and words[-2] in _SPECIALTIES
    kind = len(words) - (1 if words[-1] in _KINDS_OF_ONE_WORD else 2)
    if (words[-1] in _GROUPS and words[-2] not in generic) or (words[-1] in _CLINICS and not clinic):
        return None
    first, own = kind, False
    for position in range(kind - 1, -1, -1):
        word = words[position]
        before = words[position - 1] if position else ""
        rare = is_rare(word)
        scenic = word in nature and bool(before) and before not in stops
        beside = position + 1 < kind and words[position + 1] in nature
        specialty = clinic and word in _SPECIALTIES
        if word in stops or not (rare or scenic or beside or specialty or word in generic):
            break
        first, own = position, own or rare or beside
    while first < kind and words[first] in generic and not is_rare(words[first]) and words[first + 1] not in nature:
        first += 1
    return (tokens[first].start(), end) if own and first < kind else None


def is_rare(word: str) -> bool:
    """Whether a word is in no list of common, ordinary or clinical words and has no medical ending."""
    known = stops_a_name(word) or word_class(word) & (WordClass.CLINICAL | WordClass.ORDINARY)
    return len(word) > 3 and (word in word_list("cities") or not (known or _MEDICAL_ENDING.fullmatch(word)))
