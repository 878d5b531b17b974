"""How well planted indirect identifiers are found: by keywords, and by a language model where one is named.

    DEID_CORPORA=FOLDER python benchmarks/indirect.py [--notes 100] [--each 2] [--part test] [--resamples 1000]
        [--url http://127.0.0.1:8000/v1 --model NAME] [--context 8192]

Sentences of `corpora/indirect` are written into surrogate notes of the tuning set, in English and in Italian. `--part`
says which sentences: prompts and words are changed by what `tuning` shows, and figures are of `test`. Beside the share
of the planted that is found stands what is found elsewhere, a note, since a tagger that takes everything finds
everything; and how much of the medicine would be left if all that was found were replaced with tags.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import islice

from deid_platform.corpora.catalogue import carriers, corpus_of
from deid_platform.corpora.indirect.planting import Ways, plant
from deid_platform.corpora.injection.corpus import InjectionSpec, Part, inject
from deid_platform.corpora.injection.ways import TUNING
from deid_platform.evaluation.bootstrap import Estimate, Ratio
from deid_platform.evaluation.indirect_scores import TaggedNote, indirect_scores
from deid_platform.evaluation.retention.lexical_judge import LexicalJudge
from deid_platform.evaluation.retention.retention import Pair, note_retentions, retention
from deid_platform.labels import Indirect
from deid_platform.llm.endpoint import EndpointSpec
from deid_platform.llm.indirect.keywords import KeywordTagger
from deid_platform.llm.indirect.tagger import ChatTagger, Tagger

CORPORA = (("mtsamples", "en_US"), ("e3c_it", "it_IT"))


def shown(value: Estimate | Ratio) -> str:
    """A figure with its interval."""
    if value.value is None:
        return "none"
    return f"{value.value:.3f}" + ("" if value.low is None else f" ({value.low:.3f} to {value.high:.3f})")


def without(text: str, found: Iterable[tuple[int, int, Indirect]]) -> str:
    """A note in which a tag stands for each stretch that was found; one within another goes with it."""
    pieces, done = [], 0
    for start, end, category in sorted(found, key=lambda it: (it[0], -it[1])):
        if end > done:
            pieces += (text[done : max(done, start)], f"[{category.value}]")
            done = end
    return "".join((*pieces, text[done:]))


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
        for name, tagger in taggers.items():
            tagged = [
                TaggedNote(it.note.text, it.planted, found if isinstance(found, list) else None, it.note.patient_id)
                for it, found in zip(notes, tagger.tag(it.note for it in notes), strict=True)
            ]
            scores = indirect_scores(tagged, resamples=arguments.resamples)
            print(f"{name} on {corpus} in {locale}: {len(notes)} notes, of {scores.found.total} planted found "
                  f"{shown(scores.found)}, under their category {shown(scores.named)}; elsewhere "
                  f"{shown(scores.elsewhere)} a note; failed notes {scores.failed}")  # fmt: skip
            pairs = [Pair(it.text, without(it.text, it.found), it.cluster) for it in tagged if it.found is not None]
            kept = retention(note_retentions(pairs, judge), judge.identity, resamples=arguments.resamples)
            left = Ratio(kept.mean, kept.low, kept.high, kept.notes)
            print(f"  with tags in the place of all that it finds, {shown(left)} of the medicine is left")
            for category, share in scores.by_category.items():
                print(f"  {category.value:14} {shown(share)} of {share.total}")


if __name__ == "__main__":
    main()
