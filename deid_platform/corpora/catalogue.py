"""The corpora that are known by name: published ones and the site's own.

Belongs here: what each is, where its files lie, and its carriers. Does not belong here: reading a format (`formats/`)
or filling carriers (`injection/`).

Published corpora are not part of the platform. They lie in one folder, a sub-folder each, as annotated JSON lines, or,
of those that a site has under a licence, as their publisher gives them; the `[corpora]` section of deid.toml or
DEID_CORPORA names it, and adds corpora of the site's own: in any format with gold, or, where nothing in them is an
identifier, in any format of files at all. The library and the synthetic hospital ship.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path

from deid_platform.corpora import Rejection
from deid_platform.corpora.formats import file_format, gold_format, is_feed, is_gold
from deid_platform.corpora.formats.gold_files import gold_files
from deid_platform.corpora.formats.jsonl import JsonLines, is_json_lines
from deid_platform.corpora.formats.scan import Scans
from deid_platform.corpora.gold import SCHEME, Gold
from deid_platform.corpora.gold_sets import scheme_for
from deid_platform.corpora.gold_words import word_of_corpus
from deid_platform.corpora.hospital import HospitalSpec, generate
from deid_platform.corpora.hospital.spec import Part as HospitalPart
from deid_platform.corpora.injection.carriers import Carrier, completed, with_gold, with_placeholders, with_reading
from deid_platform.corpora.injection.corpus import Part, part_of
from deid_platform.corpora.injection.near_copies import TrainingProse, near_copies_of
from deid_platform.corpora.injection.readings import has_reading, reading_of
from deid_platform.corpora.library.authors import FOLDER, Use, author, authors, notes_by
from deid_platform.corpora.placeholders import mimic3_placeholders, mimic4_placeholders
from deid_platform.corpora.schemes import scheme_of
from deid_platform.corpora.single_files import read_folder, read_notes
from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.notes import Note
from deid_platform.settings import CorpusSettings, Settings

FOLDER_VARIABLE = "DEID_CORPORA"
_LANGUAGES = {"en": "English", "es": "Spanish", "it": "Italian", "fr": "French"}
_GENERATED = "hospital"
"""The format of notes that are in no file."""
_GENERATED_NOTES, _SEED = 200, 3  # of each part
_PLACEHOLDERS = {"mimic3": mimic3_placeholders, "mimic4": mimic4_placeholders}


@dataclass(frozen=True)
class Corpus:
    """One corpus.

    Attributes:
        name: As `deid corpora` and the partitions have it.
        what: For people.
        files: Paths within the folder of the corpora, or of one's own.
        language: Of its notes.
        format: A format with gold; of feeds as well where `slots` is `none`.
        scheme: Its label names.
        slots: Where its identifiers stand: `gold` that people annotated or a format tells, a `reading`, or `none`.
        weave: Whether identifiers are woven in as well.
        territories: Whether its scheme has one label for towns and post codes.
        test: Those of the files that are the test part; by a hash of the note's id where none is.
        shipped: Whether its files come with the platform.
    """

    name: str
    what: str
    files: tuple[str, ...]
    language: str
    format: str = "jsonl"
    scheme: str = SCHEME
    slots: str = "reading"
    weave: bool = True
    territories: bool = False
    test: tuple[str, ...] = ()
    shipped: bool = False

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that it has: of a site that has the test part of a corpus alone, that."""
        return (Part.TEST,) if self.files and set(self.files) == set(self.test) else tuple(Part)


PUBLISHED: Mapping[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        Corpus("mtsamples", "transcribed American reports, 40 specialties", ("mtsamples/notes.jsonl.gz",), "en"),
        Corpus("aci_bench", "American visit notes with sections", ("aci_bench/notes.jsonl.gz",), "en"),
        Corpus("primock57", "terse British GP notes", ("primock57/notes.jsonl.gz",), "en"),
        Corpus("e3c_en", "published case reports in English", ("e3c/en.jsonl.gz",), "en"),
        Corpus("e3c_es", "published case reports in Spanish", ("e3c/es.jsonl.gz",), "es"),
        Corpus("e3c_fr", "published case reports in French", ("e3c/fr.jsonl.gz",), "fr"),
        Corpus("e3c_it", "published case reports in Italian", ("e3c/it.jsonl.gz",), "it"),
        Corpus("meddocan", "Spanish clinical cases with people's annotations",
               ("meddocan/train.jsonl.gz", "meddocan/dev.jsonl.gz"), "es", scheme="meddocan-corrected", slots="gold",
               weave=False, territories=True, test=("meddocan/dev.jsonl.gz",)),
        Corpus("eds_templates", "French templates with slots", ("eds_pseudo_templates/templates.jsonl.gz",), "fr",
               scheme="eds", slots="gold", weave=False),
        Corpus("asq_phi", "short English queries with hard negatives", ("asq_phi/queries.jsonl.gz",), "en",
               scheme="asq-phi", slots="gold", weave=False),
    )
}  # fmt: skip

LICENSED: Mapping[str, Corpus] = {
    corpus.name: corpus
    for corpus in (
        Corpus("i2b2", "American discharge summaries of the challenge of 2014, under a licence",
               ("i2b2/train", "i2b2/test"), "en", "i2b2", scheme="i2b2-2014-without-weekdays", slots="gold",
               weave=False, test=("i2b2/test",)),
        Corpus("conll", "English newspaper articles of CoNLL-2003, under a licence",
               ("conll/eng.train", "conll/eng.testb"), "en", "conll", scheme="conll-2003", slots="gold", weave=False,
               test=("conll/eng.testb",)),
        Corpus("mimic", "notes of one American hospital, MIMIC-III, under a licence", ("mimic",), "en", "mimic3",
               scheme="mimic-iii", slots="gold", weave=False),
    )
}  # fmt: skip
"""Published corpora of which each site needs a licence; named as `gold_words.LICENSED` has them."""

_SHOWN, _HELD_OUT = HospitalPart.SHOWN.value, HospitalPart.HELD_OUT.value
_HOSPITAL = Corpus(
    "hospital", "the synthetic hospital; `deid hospital` writes as many notes as are asked for", (_SHOWN, _HELD_OUT),
    "en", _GENERATED, slots="gold", weave=False, test=(_HELD_OUT,), shipped=True,
)  # fmt: skip


@cache
def shipped() -> Mapping[str, Corpus]:
    """The corpora that come with the platform: the library by language, and the synthetic hospital."""
    return {**library(), _HOSPITAL.name: _HOSPITAL}


@cache
def library() -> Mapping[str, Corpus]:
    """The library's notes by language: those of the training authors, and as test part those of the test authors."""
    return {
        f"library_{language}": Corpus(
            f"library_{language}",
            f"whole notes by many authors in {title}",
            tuple(one.name for one in authors(Use.TRAINING, Use.TEST, language=language)),
            *(language, "marked"),
            slots="gold",
            weave=False,
            test=tuple(one.name for one in authors(Use.TEST, language=language)),
            shipped=True,
        )
        for language, title in _LANGUAGES.items()
    }


def known_corpora(settings: Settings | None) -> dict[str, Corpus]:
    """All corpora by name: published ones, those under a licence, those that ship, then those of deid.toml."""
    own = {} if settings is None else settings.corpora.sets
    return {**PUBLISHED, **LICENSED, **shipped(), **{name: _own(name, it) for name, it in own.items()}}


def _own(name: str, it: CorpusSettings) -> Corpus:
    scheme = it.scheme or scheme_for(it.format)
    language = it.language or scheme_of(scheme).language
    weave = it.weave or it.slots == "none"  # else nothing would be in it
    test = () if it.test is None else (str(it.test),)
    files = tuple(dict.fromkeys((str(it.path), *test)))
    return Corpus(name, it.what, files, language, it.format, scheme, it.slots, weave, test=test)


def corpus_of(name: str, settings: Settings | None) -> Corpus:
    """One corpus.

    Raises:
        DeidError: `corpus-unknown` with the nearest name.
    """
    known = known_corpora(settings)
    if name not in known:
        raise DeidError(Code.CORPUS_UNKNOWN, did_you_mean(name, known))
    return known[name]


def is_carrier(corpus: Corpus, settings: Settings | None) -> bool:
    """Whether a corpus is here and can be filled: its own identifiers are known, or it has none."""
    return bool(paths_of(corpus, settings)) and (corpus.slots != "reading" or has_reading(corpus.name))


def has_gold_as_written(corpus: Corpus, settings: Settings | None) -> bool:
    """Whether a corpus can be measured as it is: it is the site's, and its spans are gold.

    Placeholders are gold once they are filled. What ships is measured as it is by `bench/metrics`, and published notes
    have been read by whoever wrote the rules.
    """
    own = corpus.name in LICENSED or (settings is not None and corpus.name in settings.corpora.sets)
    return own and corpus.slots == "gold" and corpus.format not in _PLACEHOLDERS


def gold_word(corpus: Corpus, locale: str, settings: Settings | None) -> str:
    """What the warehouse calls the gold of a corpus in a locale, or as it is written."""
    own = settings is not None and corpus.name in settings.corpora.sets
    return word_of_corpus(corpus.name, locale, own=own, scheme=corpus.scheme)


def paths_of(corpus: Corpus, settings: Settings | None, part: Part | None = None) -> list[Path]:
    """The files of a corpus, or of one of its parts, that are there."""
    names = corpus.files
    if part is not None and corpus.test:
        names = tuple(name for name in names if (name in corpus.test) is (part is Part.TEST))
    if corpus.shipped:
        return [FOLDER / name for name in names]
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder is not None:
        root = Path(folder)
    elif settings is not None:
        root = settings.path(settings.corpora.folder)
    else:
        return []
    own = settings is not None and corpus.name in settings.corpora.sets
    places = (settings.path(Path(name)) if own and settings else root / name for name in names)
    return [path for path in places if path.exists()]


def read_corpus(
    corpus: Corpus, settings: Settings | None, part: Part | None = None, *, refused: Callable[[Rejection], object]
) -> Iterator[Gold]:
    """The notes of a corpus, streamed, with the spans that its files have.

    Args:
        corpus: Which.
        settings: The installation's; None where there is none.
        part: The training or the test part; both unless given.
        refused: Told of each note that cannot be used.

    Raises:
        DeidError: `corpus-missing`; `scheme-unknown`, `format-unknown`.
    """
    for item in chain.from_iterable(_read(corpus, path) for path in _present(corpus, settings, part)):
        if isinstance(item, Rejection):
            refused(item)
        elif part is None or corpus.test or part_of(item.note_id) is part:
            yield item


def _present(corpus: Corpus, settings: Settings | None, part: Part | None) -> list[Path]:
    paths = paths_of(corpus, settings, part)
    if not paths:
        raise DeidError(Code.CORPUS_MISSING, corpus.name)
    return paths


def _read(corpus: Corpus, path: Path) -> Iterator[Gold | Rejection]:
    """A file's or a folder's notes: with its spans where those are the gold, else without."""
    if corpus.shipped:
        return _generated(HospitalPart(path.name)) if corpus.format == _GENERATED else _library(path.name)
    if corpus.slots == "gold":
        if not is_gold(corpus.format):
            raise DeidError(Code.FORMAT_UNKNOWN, f"{corpus.name}: {corpus.format} has no gold")
        return _gold(corpus, path)
    return (item if isinstance(item, Rejection) else Gold(item.note_id, (), note=item) for item in _bare(corpus, path))


def _gold(corpus: Corpus, path: Path) -> Iterator[Gold | Rejection]:
    """The notes of a format with gold, in the language of the corpus where a line of JSON does not say another."""
    chosen = gold_format(corpus.format)
    if isinstance(chosen, JsonLines):
        yield from replace(chosen, language=corpus.language).read(path, scheme=corpus.scheme)
        return
    for item in chosen.read(path, scheme=corpus.scheme):
        if isinstance(item, Rejection) or item.note is None:
            yield item
        else:
            yield replace(item, note=replace(item.note, language=corpus.language))


def _library(name: str) -> Iterator[Gold]:
    """The notes of one author."""
    return (written.gold for written in notes_by(author(name)))


def _generated(part: HospitalPart) -> Iterator[Gold]:
    """Notes of one part of the synthetic hospital, the same at each call."""
    for delivery in generate(HospitalSpec(seed=_SEED, notes=_GENERATED_NOTES, deliveries=1, part=part)):
        for note in delivery.notes:
            named = replace(note, note_id=f"{part.value}-{note.note_id}")
            yield Gold(named.note_id, tuple(delivery.gold[note.note_id]), note=named)


def _bare(corpus: Corpus, path: Path) -> Iterator[Note | Rejection]:
    """The notes alone: as a feed reads them, else as the format's gold, without its spans."""
    if corpus.format == "jsonl":
        folder, names = gold_files(path, is_json_lines)
        for name in names:
            yield from read_notes(
                folder / name, columns={"lang": "language"}, defaults={"language": corpus.language}, strict=False
            )
    elif is_feed(corpus.format):
        chosen = file_format(corpus.format)
        if isinstance(chosen, Scans):
            chosen = replace(chosen, language=corpus.language)
        yield from read_folder(path, chosen, defaults={"language": corpus.language})
    else:
        for item in _gold(corpus, path):
            if isinstance(item, Rejection):
                yield item
            elif item.note is not None:
                yield item.note


def carriers(
    corpus: Corpus, settings: Settings | None, part: Part, *, refused: Callable[[Rejection], object]
) -> Iterator[Carrier]:
    """The carriers of one part of a corpus; arguments and errors as for `read_corpus`.

    A test note whose prose stands in a training part is none.

    Raises:
        DeidError: `corpus-unread` for a corpus whose own identifiers nobody has listed.
    """
    _present(corpus, settings, part)
    copies = near_copies_of(corpus.name) if part is Part.TEST else frozenset()
    notes = (gold for gold in read_corpus(corpus, settings, part, refused=refused) if gold.note_id not in copies)
    if corpus.slots == "reading":
        if not has_reading(corpus.name):
            raise DeidError(Code.CORPUS_UNREAD, corpus.name)
        return with_reading((gold.note for gold in notes if gold.note is not None), reading_of(corpus.name))
    if corpus.slots == "gold" and corpus.format in _PLACEHOLDERS:
        return with_placeholders(notes, _PLACEHOLDERS[corpus.format])
    whole = completed(notes, reading_of(corpus.name)) if has_reading(corpus.name) else notes
    return with_gold(whole, territories=corpus.territories)


def found_near_copies(settings: Settings | None) -> Iterator[tuple[str, str]]:
    """Published test notes whose prose stands in a training part of any published corpus, in order: corpus and id.

    Raises:
        DeidError: `corpus-missing` if one of them is not here: the list would lack its notes.
    """

    def notes(corpus: Corpus, part: Part) -> Iterator[Gold]:
        return read_corpus(corpus, settings, part, refused=lambda _: None)

    training = TrainingProse(chain.from_iterable(notes(corpus, Part.TRAINING) for corpus in PUBLISHED.values()))
    for name, corpus in PUBLISHED.items():
        for note_id in sorted(training.near_copies(notes(corpus, Part.TEST))):
            yield name, note_id
