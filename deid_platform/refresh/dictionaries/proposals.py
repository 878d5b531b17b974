"""Phrases that detection often hides although they may be clinical: proposals for review.

Belongs here: counting such phrases over the notes of the store, after Murugadoss 2024 (Methods, expansion of the
medical dictionary; figure 2). Does not belong here: using them. A proposal changes nothing: whoever accepts one
writes it into a list that `[dictionaries] medical_terms` names, and the bench then approves another detector.

A phrase is proposed if

- it has two to five words, one or more of which detection hid by its patterns (not by the topics);
- each of its words is of the medical dictionary's vocabulary, all of ICD-10-CM and the eponyms included, or of
  the shipped list of clinical words; one that was not hidden is no word of common English, unless that list has
  it; and none is a title, nor is the word before;
- it stands in the notes of at least `harvest_minimum_patients` patients, of whom none has left;
- no term of the topics lies in it.

The paper asks that the phrase as such stands in public literature. That takes a corpus that a site does not
have, so here its words must, and a person decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest
from typing import Any

import pyarrow as pa
import regex

from deid_platform.detection.resolve.recovery import clinical_terms, eponym_heads
from deid_platform.labels import Label
from deid_platform.lexicon.lists import word_list
from deid_platform.lexicon.vocabularies.icd10cm import titles
from deid_platform.notes import Delivery
from deid_platform.refresh.datasets import tables
from deid_platform.refresh.dictionaries.record import institution
from deid_platform.refresh.hiding.departed import WhoLeft, who_left
from deid_platform.refresh.installation.site import Site
from deid_platform.store import Manifest, NoteStore
from deid_platform.text.fold import fold, fold_term

MOST_CANDIDATES = 200_000
"""How many phrases are counted at once; beyond it, those of the fewest patients are forgotten."""
_LABELS = frozenset(
    label.value
    for label in (
        *(Label.PATIENT, Label.DOCTOR, Label.HOSPITAL, Label.ORGANIZATION, Label.LOCATION_OTHER),
        *(Label.CITY, Label.STATE, Label.COUNTRY, Label.STREET, Label.PROFESSION),
    )
)
_KNOWN_BY_TOPICS = ("roster", "gazetteer")
_MOST_WORDS = 5
_REACH = 60  # code points on either side of a span; a phrase of five words is seldom longer
Holds = Callable[[str, bool], bool]
"""Whether a folded word may be in a phrase, by the word and whether it was hidden."""
_WORD = regex.compile(r"[\p{L}\p{M}][\p{L}\p{M}\p{N}'’]*")
_JOIN = regex.compile(r"[ \t]|-")  # what may stand between two words of a phrase
_TITLES = frozenset(
    {
        *("mr", "mrs", "ms", "miss", "mx", "dr", "drs", "doctor", "prof", "professor", "nurse", "md", "do", "rn", "np"),
        *("pa", "phd", "sir", "madam", "patient", "pt", "mother", "father", "daughter", "son", "wife", "husband"),
    }
)


@dataclass
class Proposal:
    """What is known of one phrase.

    Attributes:
        patients: Who they are, until there are enough of them.
        notes: In how many notes it stands.
        labels: What its words were hidden as.
    """

    patients: set[str] = field(default_factory=set)
    notes: int = 0
    labels: Counter[str] = field(default_factory=Counter)


class Proposals:
    """Phrases with their patients, in bounded memory.

    Args:
        minimum: How many patients are enough.
        most: How many phrases are kept at once. A phrase that is forgotten begins anew, so that one is missed
            rather than counted for patients that it does not have.
    """

    def __init__(self, minimum: int, *, most: int = MOST_CANDIDATES) -> None:
        self._minimum = minimum
        self._most = most
        self._found: dict[str, Proposal] = {}
        self.forgotten = 0

    def __repr__(self) -> str:
        return "<Candidates>"

    def add(self, phrases: Mapping[str, str], patient: str) -> None:
        """Counts one note's phrases, each with the label that its words were hidden as."""
        for phrase, label in phrases.items():
            candidate = self._found.setdefault(phrase, Proposal())
            candidate.notes += 1
            candidate.labels[label] += 1
            if len(candidate.patients) < self._minimum:
                candidate.patients.add(patient)
        fewest = 1
        while len(self._found) > self._most:
            kept = {p: c for p, c in self._found.items() if len(c.patients) > fewest}
            self.forgotten += len(self._found) - len(kept)
            self._found = kept
            fewest += 1

    def enough(self) -> dict[str, Proposal]:
        """The phrases of enough patients."""
        return {p: c for p, c in self._found.items() if len(c.patients) >= self._minimum}


def harvest(site: Site) -> Manifest:
    """Writes the proposals of all redacted deliveries; `meta` counts, and names nothing.

    Raises:
        DeidError: `not-materialized` if a delivery's notes are not there; `opt-outs-unreadable`.
    """
    known = _Vocabulary(site.spec(None).own_terms())
    candidates = Proposals(site.settings.dictionaries.harvest_minimum_patients)
    counts: Counter[str] = Counter()
    deliveries = [Delivery.parse(key) for key in site.store.partitions(tables.REDACTED_NOTES)]
    left = who_left(site)
    for delivery in deliveries:
        for text, patient, spans in _hidden(site.store, delivery, left, counts):
            candidates.add(phrases_of(text, spans, known.holds), patient)
    found = {p: c for p, c in candidates.enough().items() if p not in known.terms}
    told = _of_topics(site, deliveries, found)
    rows = [
        {"phrase": phrase, "label": c.labels.most_common(1)[0][0], "patients": len(c.patients), "notes": c.notes}
        for phrase, c in sorted(found.items(), key=lambda item: (-item[1].notes, item[0]))
        if phrase not in told
    ]
    counts.update(proposed=len(rows), of_topics=len(told), forgotten=candidates.forgotten)
    table = pa.Table.from_pylist(rows, schema=tables.HARVEST_SCHEMA)
    return site.store.write(tables.HARVESTED, tables.ALL, [table], meta=lambda: {"counts": dict(counts)})


def proposals(store: NoteStore) -> Iterator[str]:
    """The proposals as lines of a list of terms, each with a comment that says how often it was hidden, and as what.

    Raises:
        DeidError: `not-materialized` if none were harvested yet.
    """
    for row in store.stream(tables.HARVESTED, tables.ALL):
        yield f"{row['phrase']}  # at least {row['patients']} patients, {row['notes']} notes, hidden as {row['label']}"


def phrases_of(text: str, spans: Iterable[Mapping[str, Any]], holds: Holds) -> dict[str, str]:
    """The phrases around a note's hidden words, folded, with the label that hid them.

    Args:
        text: The raw note.
        spans: Rows of `tables.SPANS`, as offsets into it.
        holds: Whether a folded word may be in a phrase.
    """
    found: dict[str, str] = {}
    for span in spans:
        if span["label"] in _LABELS and (span["source"] or "").partition(":")[0] not in _KNOWN_BY_TOPICS:
            words = [
                (m.start(), m.end()) for m in _WORD.finditer(text, max(0, span["start"] - _REACH), span["end"] + _REACH)
            ]
            for phrase in _phrases(text, words, span["start"], span["end"], holds):
                found.setdefault(phrase, span["label"])
    return found


def _phrases(text: str, words: list[tuple[int, int]], start: int, end: int, holds: Holds) -> Iterator[str]:
    for i in range(len(words)):
        if i and fold_term(text[slice(*words[i - 1])]) in _TITLES:
            continue
        phrase: list[str] = []
        for j in range(i, min(i + _MOST_WORDS, len(words))):
            a, b = words[j]
            if j > i and not _JOIN.fullmatch(text, words[j - 1][1], a):
                break
            word = fold_term(text[a:b].replace("’", "'")).removesuffix("'s")
            if word in _TITLES or not holds(word, start < b and a < end):
                break
            phrase.append(word)
            whole = words[i][0] <= start and end <= b
            if len(phrase) >= 2 and whole and _is_phrase(words[i : j + 1], phrase, start, end):
                yield " ".join(phrase)


def _is_phrase(places: list[tuple[int, int]], phrase: list[str], start: int, end: int) -> bool:
    """Whether it neither begins nor ends with a word that only joins others, and says more than what was hidden."""
    if {phrase[0], phrase[-1]} & word_list("title_stopwords"):
        return False
    return any(not (start < b and a < end) for a, b in places) or phrase[-1] in eponym_heads()


class _Vocabulary:
    """The words that phrases may be made of."""

    def __init__(self, own: Iterable[str]) -> None:
        self.terms = {_plain(term) for term, _ in clinical_terms(own)}
        words = {word for term in self.terms for word in term.split()}
        self._medical = frozenset(word.removesuffix("'s") for word in words) | _shipped()

    def __repr__(self) -> str:
        return "<Vocabulary>"

    def holds(self, word: str, hidden: bool) -> bool:
        """Whether a phrase may have this word."""
        if hidden or word not in word_list("common_words"):
            return word in self._medical
        return word in _ordinary()


@cache
def _shipped() -> frozenset[str]:
    """Folded words of ICD-10-CM, of eponyms, and of the shipped list of clinical words."""
    icd = _WORD.findall(fold("\n".join(dict.fromkeys(titles()))).text)
    return frozenset(icd) | word_list("eponym_names") | _ordinary()


@cache
def _ordinary() -> frozenset[str]:
    return eponym_heads() | word_list("clinical_words")


def _plain(term: str) -> str:
    return " ".join(word.removesuffix("'s") for word in _WORD.findall(fold_term.__wrapped__(term).replace("-", " ")))


def _hidden(
    store: NoteStore, delivery: Delivery, left: WhoLeft, counts: Counter[str]
) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Text, patient and spans of each note that was redacted as it now stands and has not left, one part at a time."""
    raw_rows = store.stream(tables.RAW_NOTES, delivery.key)
    redacted_rows = store.stream(tables.REDACTED_NOTES, delivery.key)
    # Redacted rows are in the order of the raw ones; after a new intake the two may differ until the next redaction.
    for raw, redacted in zip_longest(raw_rows, redacted_rows):
        if raw is None or redacted is None or raw["content_digest"] != redacted["content_digest"]:
            counts["unmatched"] += 1
        elif raw["patient_id"] is None:
            counts["without_patient"] += 1
        elif left.has(delivery, raw["note_id"], raw["patient_id"]):
            counts["left"] += 1
        else:
            counts["notes"] += 1
            yield raw["text"], raw["patient_id"], redacted["spans"] or []


def _of_topics(site: Site, deliveries: Iterable[Delivery], found: Iterable[str]) -> set[str]:
    """The phrases that hold a term of the topics, by the newest institution dictionary of each feed."""
    parts: dict[str, set[str]] = {}
    for phrase in found:
        words = phrase.split()
        for i in range(len(words)):
            for j in range(i + 1, len(words) + 1):
                parts.setdefault(" ".join(words[i:j]), set()).add(phrase)
    newest: dict[str, Delivery] = {}
    for delivery in deliveries:
        if delivery.feed not in newest or newest[delivery.feed].seq < delivery.seq:
            newest[delivery.feed] = delivery
    return {
        phrase
        for delivery in newest.values()
        for part in institution(site, delivery)
        for term in part["term"].to_pylist()
        for phrase in parts.get(_plain(term), ())
    }
