"""The notes that a model is trained on.

Belongs here: which corpora, locales and houses of style, and how much of each. Does not belong here: making surrogate
notes (`corpora/injection`), pieces and windows (`examples.py`).

All of it is of the training parts: names, ways of writing and carriers that no test corpus shares, nor a near copy of
any of its carriers. Carriers that nobody has read serve here too, without the lines on which the ensemble finds an
identifier: what is left of a note may still hold one that nobody labelled, so such notes are never measured on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from deid_platform.corpora.catalogue import PUBLISHED, Corpus, carriers, read_corpus
from deid_platform.corpora.gold import Gold
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.hospital.spec import Part as HospitalPart
from deid_platform.corpora.injection.carriers import Carrier
from deid_platform.corpora.injection.corpus import InjectionSpec, Part, inject
from deid_platform.corpora.injection.ways import OPEN, TUNING
from deid_platform.corpora.library.authors import NAME, Use, authors, notes_by
from deid_platform.corpora.library.refill import refilled
from deid_platform.corpora.noise import NoiseSpec, noisy
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.loading import Models
from deid_platform.notes import Note
from deid_platform.settings import Settings
from deid_platform.surrogates.dice import Dice
from deid_platform.surrogates.locales import LOCALES
from deid_platform.surrogates.pools import Share
from deid_platform.training.labelled import Labelled
from deid_platform.training.negatives import negatives

_BATCH = 32
_KEPT_BACK = 16
_SURROGATES, _NEGATIVES = 4, 2500
_TUNING = 8  # as much of each corpus as of so many for training
BESIDE = 100
"""Notes of the library that are learned beside the few notes of a site that people mark for `deid adapt`."""


@dataclass(frozen=True)
class Mixture:
    """How much of what; by default woven notes alone.

    Attributes:
        corpora: Corpus to the most notes of it in each locale.
        locales: Whose names.
        hospital: Notes of the synthetic hospital.
        library: How many surrogates of each note of the library's training authors; beside them the note itself.
        library_most: The most notes of the library, not counting surrogates, drawn by lot; all unless given.
        without: Authors of the library that are left out.
        negatives: Texts without any identifier, drawn from vocabularies (`negatives.py`).
        plain: Notes of each carrier corpus without any identifier.
        noisy: Share of the notes that are written once more with the noise of scans or of a hurried hand.
        lower: Share of the notes in small letters.
        upper: Share of the notes in capital letters.
        seed: The same seed gives the same notes.
        ways: Sets of ways of naming identifiers.
        kept_back: Whether it is of the carriers that are kept back from training, one in 16, or of all others.
    """

    corpora: tuple[tuple[str, int], ...] = (
        ("mtsamples", 140),
        ("aci_bench", 32),
        ("primock57", 18),
        ("e3c_en", 32),
        ("e3c_es", 40),
        ("e3c_fr", 40),
        ("e3c_it", 40),
        ("meddocan", 50),
        ("eds_templates", 40),
        ("asq_phi", 50),
    )
    locales: tuple[str, ...] = LOCALES
    hospital: int = 1500
    library: int = 0
    library_most: int | None = None
    without: tuple[str, ...] = ()
    negatives: int = 0
    plain: int = 240
    noisy: float = 0.12
    lower: float = 0.06
    upper: float = 0.03
    seed: int = 11
    ways: tuple[str, ...] = OPEN
    kept_back: bool = False

    @property
    def tuning(self) -> Mixture:
        """Notes for the thresholds: those of the threshold authors; without the library, carriers that are kept back,
        in the ways of an author who is kept back too.
        """
        if self.library:
            return replace(self, corpora=(), hospital=0, negatives=0, plain=0, kept_back=True)
        fewer = tuple((name, max(1, most // _TUNING)) for name, most in self.corpora)
        return replace(self, corpora=fewer, negatives=0, plain=self.plain // _TUNING, ways=(TUNING,), kept_back=True)

    @property
    def with_library(self) -> Mixture:
        """The same beside as much of the library as the shipped model has learned from."""
        return replace(self, library=_SURROGATES, negatives=_NEGATIVES)

    def more(self, times: float) -> Mixture:
        """So many times as many woven notes: of carriers that are few, the same ones in more locales."""
        corpora = tuple((name, round(most * times)) for name, most in self.corpora)
        return replace(self, corpora=corpora, hospital=round(self.hospital * times))

    def takes(self, corpus: str, key: str) -> bool:
        """Whether it is of this carrier: by a hash of its name."""
        return (hashlib.sha256(f"{corpus}{key}".encode()).digest()[1] < 256 // _KEPT_BACK) == self.kept_back


def beside(notes: int = BESIDE, *, hospital: int = 20, without: Collection[str] = ()) -> Mixture:
    """What is learned beside a site's own notes, so that nothing is forgotten: the library, all languages alike.

    Args:
        notes: How many of the library's training authors, beside a surrogate of each.
        hospital: How many of the synthetic hospital, where there are any; hardly fewer can be asked of it.
        without: Authors that are left out.
    """
    return Mixture(
        corpora=(),
        hospital=hospital if notes else 0,
        library=1 if notes else 0,
        library_most=notes,
        plain=0,
        without=tuple(sorted(without)),
    )


def labelled(mixture: Mixture, settings: Settings | None, models: Models | None = None) -> Iterator[Labelled]:
    """The notes of a mixture, corpus by corpus.

    Args:
        mixture: Which notes.
        settings: Say where published corpora lie.
        models: Load the ensemble's, which screens notes whose identifiers nobody knows; its own unless given.

    Raises:
        DeidError: `corpus-missing` if a corpus is not here.
    """
    for name, most in mixture.corpora:
        corpus = PUBLISHED[name]
        chosen = (it for it in _carriers(corpus, settings, models) if mixture.takes(name, it.note.note_id))
        shuffled = _shuffled(chosen, mixture.seed)
        for number, locale in enumerate(mixture.locales):
            # Each locale takes other carriers of the corpus, as far as they reach.
            begin = number * most % max(1, len(shuffled))
            some = (shuffled[begin:] + shuffled[:begin])[:most]
            spec = InjectionSpec(name, locale, Part.TRAINING, weave=corpus.weave, seed=mixture.seed, sets=mixture.ways)
            for made in inject(spec, some):
                text, spans = made.note.text, made.gold
                yield from _varied(Labelled(made.note.note_id, name, locale, text, spans), mixture)
        if corpus.slots == "reading":
            for carrier in shuffled[: mixture.plain]:
                if not carrier.slots:
                    yield Labelled(carrier.note.note_id, name, "", carrier.note.text, ())
    yield from _hospital(mixture)
    yield from _library(mixture)
    yield from negatives(mixture.negatives, mixture.seed)


def _library(mixture: Mixture) -> Iterator[Labelled]:
    """Notes of the training authors and surrogates of them; of the threshold authors the notes alone."""
    if not mixture.library:
        return
    for gold in _written(mixture):
        if gold.note is None:
            continue
        whole = Labelled(gold.note_id, NAME, "", gold.note.text, gold.spans)
        yield whole
        if mixture.kept_back:
            continue
        for number in range(mixture.library):
            text, spans = refilled(gold, mixture.seed + number)
            yield from _varied(replace(whole, locale=str(number), text=text, spans=spans), mixture)


def _written(mixture: Mixture) -> list[Gold]:
    """Notes of the library: all of a mixture's authors, or as many as it takes, drawn by lot."""
    use = Use.THRESHOLDS if mixture.kept_back else Use.TRAINING
    chosen = (one for one in authors(use) if one.name not in mixture.without)
    every = [written.gold for one in chosen for written in notes_by(one)]
    if mixture.library_most is None:
        return every
    lots = {gold.note_id: Dice(mixture.seed, "library", gold.note_id).between(0, 1 << 30) for gold in every}
    return sorted(every, key=lambda it: lots[it.note_id])[: mixture.library_most]


def _hospital(mixture: Mixture) -> Iterator[Labelled]:
    if not mixture.hospital:
        return
    spec = HospitalSpec(seed=mixture.seed, notes=mixture.hospital, part=HospitalPart.SHOWN, names=Share.TRAINING)
    for delivery in generate(spec):
        for note in (note for note in delivery.notes if mixture.takes("hospital", note.note_id)):
            one = Labelled(note.note_id, "hospital", "", note.text, tuple(delivery.gold[note.note_id]))
            yield from _varied(one, mixture)


def _varied(one: Labelled, mixture: Mixture) -> Iterator[Labelled]:
    """A note, and now and then another writing of it."""
    dice = Dice(mixture.seed, "varied", one.corpus, one.locale, one.key)
    drawn = dice.between(0, 9999) / 10000
    if drawn < mixture.lower:
        yield replace(one, text=_folded(one.text, str.lower))
        return
    if drawn < mixture.lower + mixture.upper:
        yield replace(one, text=_folded(one.text, str.upper))
        return
    yield one
    if drawn > 1 - mixture.noisy:
        spec = NoiseSpec(identifiers=0.4, outside=0.02, seed=dice.between(0, 9999))
        worse = noisy(Gold(one.key, one.spans, note=Note(one.key, one.text)), spec).gold
        if worse.note is not None:
            yield replace(one, text=worse.note.text, spans=worse.spans)


def _folded(text: str, change: Callable[[str], str]) -> str:
    """A text in another case, each character in the place where it was."""
    return "".join(new if len(new := change(old)) == 1 else old for old in text)


def _shuffled(items: Iterable[Carrier], seed: int) -> list[Carrier]:
    return sorted(items, key=lambda carrier: Dice(seed, carrier.note.note_id).between(0, 1 << 30))


def _carriers(corpus: Corpus, settings: Settings | None, models: Models | None) -> list[Carrier]:
    """The carriers of a training part: those whose identifiers are known, else what the ensemble leaves of them."""
    if corpus.slots == "gold":
        return list(carriers(corpus, settings, Part.TRAINING, refused=lambda _: None))
    notes = [g.note for g in read_corpus(corpus, settings, Part.TRAINING, refused=lambda _: None) if g.note is not None]
    return [Carrier(note, ()) for note in screened(notes, models)]


def screened(notes: Sequence[Note], models: Models | None = None) -> Iterator[Note]:
    """Notes without the lines on which the ensemble finds an identifier or anything that stands for one."""
    detector = DetectorSpec("ensemble", professions=True).build(models)
    rest = iter(notes)
    while batch := list(islice(rest, _BATCH)):
        for note, spans in zip(batch, detector.detect(batch), strict=True):
            kept, at = [], 0
            for line in note.text.splitlines(keepends=True):
                end = at + len(line)
                if not any(s.start < end and s.end > at for s in spans) and not _stands_for_one(line):
                    kept.append(line)
                at = end
            text = "".join(kept).strip()
            if len(text) > 200:
                yield replace(note, text=text)


def _stands_for_one(line: str) -> bool:
    return "__" in line or any(word in line for word in ("Dr.", "Mr.", "Mrs.", "Ms.", "XYZ", "ABC", "XX", "Sample"))
