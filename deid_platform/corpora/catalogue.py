"""The corpora that are known by name: published ones and the site's own.

Belongs here: what each is, where its files lie, and its carriers. Does not belong here: reading a format (`formats/`)
or filling carriers (`injection/`).

Published corpora are not part of the platform. They lie in one folder, a sub-folder each, as annotated JSON lines; the
`[corpora]` section of deid.toml or DEID_CORPORA names it, and adds corpora of the site's own: in any format with gold,
or, where nothing in them is an identifier, in any format of files at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from pathlib import Path

from deid_platform.corpora import Rejection
from deid_platform.corpora.formats import file_format, gold_format, is_feed, is_gold
from deid_platform.corpora.formats.gold_files import gold_files
from deid_platform.corpora.formats.jsonl import JsonLines, is_json_lines
from deid_platform.corpora.formats.scan import Scans
from deid_platform.corpora.gold import SCHEME, Gold
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
    """All corpora by name: the published ones, the library, then those of deid.toml."""
    own = {} if settings is None else settings.corpora.sets
    return {**PUBLISHED, **library(), **{name: _own(name, it) for name, it in own.items()}}


def _own(name: str, it: CorpusSettings) -> Corpus:
    language = it.language or scheme_of(it.scheme).language
    weave = it.weave or it.slots == "none"  # else nothing would be in it
    return Corpus(name, it.what, (str(it.path),), language, it.format, it.scheme, it.slots, weave)


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


def paths_of(corpus: Corpus, settings: Settings | None, part: Part | None = None) -> list[Path]:
    """The files of a corpus, or of one of its parts, that are there."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if corpus.shipped:
        root = FOLDER
    elif folder is not None:
        root = Path(folder)
    elif settings is not None:
        root = settings.path(settings.corpora.folder)
    else:
        return []
    names = corpus.files
    if part is not None and corpus.test:
        names = tuple(name for name in names if (name in corpus.test) is (part is Part.TEST))
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
    if corpus.slots == "gold":
        if not is_gold(corpus.format):
            raise DeidError(Code.FORMAT_UNKNOWN, f"{corpus.name}: {corpus.format} has no gold")
        return _gold(corpus, path)
    return (item if isinstance(item, Rejection) else Gold(item.note_id, (), note=item) for item in _bare(corpus, path))


def _gold(corpus: Corpus, path: Path) -> Iterator[Gold | Rejection]:
    """The notes of a format with gold, in the language of the corpus where a line of JSON does not say another."""
    if corpus.shipped:
        yield from (written.gold for written in notes_by(author(path.name)))
        return
    chosen = gold_format(corpus.format)
    if isinstance(chosen, JsonLines):
        yield from replace(chosen, language=corpus.language).read(path, scheme=corpus.scheme)
        return
    for item in chosen.read(path, scheme=corpus.scheme):
        if isinstance(item, Rejection) or item.note is None:
            yield item
        else:
            yield replace(item, note=replace(item.note, language=corpus.language))


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


@dataclass(frozen=True)
class Overview:
    """What is here of a corpus.

    Attributes:
        readable: Whether its files are here.
        notes: Part -> notes that can be read.
        carriers: Part -> those of them that have gold once they are filled.
        left_out: Other notes: nobody has read them, or nobody could list their own identifiers for sure.
        near_copies: Still others, of the test part, whose prose stands in a training part of any corpus.
        unknown_types: Placeholders of a type that nobody knows, which are filled by a number.
    """

    readable: bool
    notes: Mapping[Part, int] = field(default_factory=dict)
    carriers: Mapping[Part, int] = field(default_factory=dict)
    left_out: int | None = None
    near_copies: int | None = None
    unknown_types: int = 0


def overview(corpus: Corpus, settings: Settings | None) -> Overview:
    """Counts of a corpus; reads it whole."""
    if not paths_of(corpus, settings):
        return Overview(readable=False)
    whole = corpus.slots != "reading" and not has_reading(corpus.name)
    read = reading_of(corpus.name).digests if has_reading(corpus.name) else {}
    near = near_copies_of(corpus.name)
    left_out = copies = unknown = 0
    notes, found = dict.fromkeys(Part, 0), dict.fromkeys(Part, 0)
    for part, gold in _parted(corpus, settings):
        note_id = gold.note_id
        notes[part] += 1
        unknown += gold.unknown_types
        if not whole and note_id not in read:
            left_out += 1
        elif part is Part.TEST and note_id in near:
            copies += 1
        else:
            found[part] += 1
    return Overview(True, notes, found, left_out, copies, unknown)


def _parted(corpus: Corpus, settings: Settings | None) -> Iterator[tuple[Part, Gold]]:
    """Each note and the part that it is of."""
    for part in Part if corpus.test else (None,):
        for gold in read_corpus(corpus, settings, part, refused=lambda _: None):
            yield part or part_of(gold.note_id), gold
