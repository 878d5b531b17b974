"""What a named detector releases of notes: the platform's own, a prompt to a language model, or a peer.

Belongs here: from a detector's name to released texts, which every measure of a release takes. Does not belong here:
which names there are (`evaluation/comparison/named_detectors.py`), releases from a file (`corpora/released_texts.py`),
or a measure.

A prompt that asks for the note written out again releases what the model wrote, not the spans that it is aligned to. Of
any other detector the policy replaces what it finds, as it would in a release of ours; the leak check, which is ours
too, withholds notes of our detectors alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from deid_platform.deidentify.release_note import ReleaseSpec, settled
from deid_platform.detection.named import Own
from deid_platform.engine.engines import Engine
from deid_platform.evaluation.comparison.named_detectors import Chat, Named
from deid_platform.evaluation.comparison.side_by_side import ready
from deid_platform.evaluation.release_measures import Asked
from deid_platform.evaluation.released.released import NoteRelease
from deid_platform.llm.prompted import NotFound, Prompted
from deid_platform.llm.prompts import Task
from deid_platform.notes import Note, Span

Gold = tuple[Span, ...] | None
OnBatch = Callable[[int], None]


@dataclass(frozen=True)
class Releases:
    """Notes with what was released of them.

    Attributes:
        notes: In the order of the notes.
        withheld: Why notes were withheld -> how many.
        asked: What it took to ask a language model for them; None of any other release.
    """

    notes: Sequence[NoteRelease]
    withheld: Counter[str]
    asked: Asked | None = None


def released_by(
    named: Named,
    notes: Sequence[Note],
    gold: Sequence[Gold],
    release: ReleaseSpec,
    engine: Engine,
    on_batch: OnBatch = lambda _: None,
) -> Releases:
    """What a detector releases of notes.

    Args:
        named: The detector, as `named_detectors.detectors` reads its name.
        notes: The originals.
        gold: Of each; it plays no part in the release.
        release: The policy, and the leak check with the topics that the detector has.
        engine: Where our detectors run.
        on_batch: Called with the number of notes done since the last call.

    Raises:
        DeidError: What `ReleaseSpec.build`, `side_by_side.ready` and detection raise.
    """
    began, asked = perf_counter(), None
    if isinstance(named, Chat) and named.prompt.task is Task.REWRITE:
        prompted = named.prompted(engine.models)
        made = list(_written_out(prompted, notes, on_batch))
        asked = Asked(len(notes), perf_counter() - began, prompted.tokens)
    else:
        made = list(_replaced(named, notes, release, engine, on_batch))
    withheld = Counter(why for one, why in made if one.text is None)
    return Releases([replace(one, gold=spans) for (one, _), spans in zip(made, gold, strict=True)], withheld, asked)


def _written_out(prompted: Prompted, notes: Sequence[Note], on_batch: OnBatch) -> Iterator[tuple[NoteRelease, str]]:
    for note, outcome in zip(notes, prompted.rewrite(note.text for note in notes), strict=True):
        on_batch(1)
        if isinstance(outcome, NotFound):
            yield NoteRelease(note, None), outcome.why.value
        else:
            yield NoteRelease(note, outcome), ""


def _replaced(
    named: Named, notes: Sequence[Note], release: ReleaseSpec, engine: Engine, on_batch: OnBatch
) -> Iterator[tuple[NoteRelease, str]]:
    releaser = release.build()
    for note, spans in zip(notes, _found(named, notes, engine, on_batch), strict=True):
        if spans is None:
            yield NoteRelease(note, None), "detector-failed"
            continue
        made = releaser.release(note, spans if isinstance(named, Own) else settled(spans, release.policy))
        leaks = made.withheld is not None and (isinstance(named, Own) or made.redaction is None)
        if made.redaction is None or leaks:
            why = made.withheld
            yield NoteRelease(note, None), "" if why is None else why.ref or why.code.slug
        else:
            yield NoteRelease(note, made.redaction.text, redaction=made.redaction), ""


def _found(named: Named, notes: Sequence[Note], engine: Engine, on_batch: OnBatch) -> Iterator[Sequence[Span] | None]:
    """The spans in each note; None where the detector failed."""
    if isinstance(named, Own) and not named.variant:
        for _, detection in engine.detect_in_two_passes(named.spec, lambda: notes, on_batch=on_batch):
            yield detection.spans
        return
    with ready([named], engine) as (finder,):
        detector, hidden = finder.hidden(notes, on_batch)
    for number, places in enumerate(hidden):
        failed = number in detector.failed_on
        yield None if failed else [Span(it.start, it.end, it.label, source="given") for it in places]
