"""How well planted indirect identifiers are found: by keywords, and by a language model where one is named.

    DEID_CORPORA=FOLDER python benchmarks/indirect.py [--notes 100] [--each 2] [--part test] [--resamples 1000]
        [--url http://127.0.0.1:8000/v1 --model NAME] [--context 8192]

Sentences of `corpora/indirect` are written into surrogate notes of the tuning set, in English and in Italian. `--part`
says which sentences: prompts and words are changed by what `tuning` shows, and figures are of `test`. Beside the share
of the planted that is found stands what is found elsewhere, a note, since a tagger that takes everything finds
everything; and what a policy would cost that removes all that was found: words, clinical words among them, and how
much of the medicine is left. What was planted, as a perfect tagger would find it, stands beside.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from attacker import shown

from deid_platform.corpora.catalogue import carriers, corpus_of
from deid_platform.corpora.indirect.planting import PlantedNote, Ways, plant
from deid_platform.corpora.injection.corpus import InjectionSpec, Part, inject
from deid_platform.corpora.injection.ways import TUNING
from deid_platform.evaluation.retention.lexical_context import is_clinical
from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
from deid_platform.evaluation.retention.lexical_text import words
from deid_platform.evaluation.retention.retention import Pair, note_retentions, retention
from deid_platform.evaluation.scores.bootstrap import Ratio
from deid_platform.evaluation.scores.indirect_scores import Place, TaggedNote, indirect_scores
from deid_platform.labels import Indirect
from deid_platform.llm.answered import Why
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.llm.indirect.keywords import KeywordTagger
from deid_platform.llm.indirect.tagger import ChatTagger, Tagger
from deid_platform.notes import IndirectMention, Note
from deid_platform.redaction.indirect import without_indirect
from deid_platform.redaction.policy import IndirectAction, load_policy
from deid_platform.redaction.redact import Redaction

CORPORA = (("mtsamples", "en_US"), ("e3c_it", "it_IT"))


class Perfect:
    """Finds what was planted and nothing else (`Tagger`): what removing costs at the least."""

    def __init__(self, notes: Iterable[PlantedNote]) -> None:
        self._planted = {it.note.note_id: it.planted for it in notes}

    def tag(self, notes: Iterable[Note]) -> Iterator[list[IndirectMention] | Why]:
        """What was planted in each note."""
        for note in notes:
            yield [IndirectMention(*place) for place in self._planted[note.note_id]]


REMOVING = replace(load_policy("safe_harbor"), indirect=dict.fromkeys(Indirect, IndirectAction.REMOVE))


def without(text: str, found: Iterable[Place]) -> Redaction:
    """A note without what was found, and with its direct identifiers."""
    return without_indirect(text, Redaction(text, (), ()), map(IndirectMention._make, found), REMOVING)


def cost(notes: Sequence[TaggedNote]) -> str:
    """Words that go, and clinical words among them, of all notes that a tagger read."""
    counts: Counter[str] = Counter()
    for note in notes:
        taken = without(note.text, note.found or ()).indirect
        for word in words(note.text):
            kinds = ("words", "clinical words") if is_clinical(word.written) else ("words",)
            counts.update(kinds)
            if any(piece.start < word.end and word.start < piece.end for piece in taken):
                counts.update(f"{kind} removed" for kind in kinds)
    return ", ".join(
        f"{counts[f'{kind} removed']:,} of {counts[kind]:,} {kind}" for kind in ("words", "clinical words")
    )


def main() -> None:
    """Prints the figures of each tagger in each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=100)
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--part", choices=[ways.value for ways in Ways], default=Ways.TEST.value)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--url")
    parser.add_argument("--model")
    parser.add_argument("--context", type=int, default=8192)
    arguments = parser.parse_args()
    taggers: dict[str, Tagger] = {"keywords": KeywordTagger()}
    if arguments.url:
        endpoint = EndpointSpec(arguments.url, arguments.model or "", context_length=arguments.context)
        taggers[endpoint.model] = ChatTagger(endpoint.build())
    judge = LexicalJudge()
    for corpus, locale in CORPORA:
        known = corpus_of(corpus, None)
        spec = InjectionSpec(corpus, locale, Part.TRAINING, weave=known.weave, sets=(TUNING,))
        made = islice(inject(spec, carriers(known, None, Part.TRAINING, refused=lambda _: None)), arguments.notes)
        notes = [plant(it.note, it.gold, Ways(arguments.part), each=arguments.each) for it in made]
        for name, tagger in {"the planted themselves": Perfect(notes), **taggers}.items():
            tagged = [
                TaggedNote(it.note.text, it.planted, found if isinstance(found, list) else None, it.note.patient_id)
                for it, found in zip(notes, tagger.tag(it.note for it in notes), strict=True)
            ]
            scores = indirect_scores(tagged, resamples=arguments.resamples)
            print(f"{name} on {corpus} in {locale}: {len(notes)} notes, of {scores.found.total} planted found "
                  f"{shown(scores.found)}, under their category {shown(scores.named)}; elsewhere "
                  f"{shown(scores.elsewhere)} a note; failed notes {scores.failed}")  # fmt: skip
            read = [it for it in tagged if it.found is not None]
            pairs = [Pair(it.text, without(it.text, it.found or ()).text, it.cluster) for it in read]
            kept = retention(note_retentions(pairs, judge), judge.identity, resamples=arguments.resamples)
            left = Ratio(kept.mean, kept.low, kept.high, kept.notes)
            print(f"  removing all that it finds takes {cost(read)}; {shown(left)} of the medicine is left")
            for category, share in scores.by_category.items():
                print(f"  {category.value:14} {shown(share)} of {share.total}")


if __name__ == "__main__":
    main()
